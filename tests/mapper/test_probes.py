"""Results of network_probe and osu_alltoall without a run: reading, refusals, and figures for a machine file."""

import json
from dataclasses import replace
from math import inf

import pytest

from pencilmap.mapper.runs.probes import (
    link_rates,
    machine_of_probe,
    machine_text,
    osu_figures,
    probed_figures,
    range_text,
    read_osu,
    read_probes,
)
from pencilmap.model.base.errors import CalibrationError, RecordError
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.machines.probe import Cut, FitQuality, ProbeFit, fit_probe
from pencilmap.model.network.torus import Torus
from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.costs import Costs, MessageRange
from pencilmap.model.times.published import MeasuredExchange, exchange_work
from tests.mapper.run_records import written

SIZES, BIG = (0, 1024, 65536, 1 << 20), 1 << 24


def result(**changes):
    """Return two rings of three nodes and links of 1 GB/s: a message starts in 1 us and takes 0.1 us for each hop."""
    trips = [{"hops": hops, "from": 0, "to": to, "bytes": size, "seconds": 1e-6 + 1e-7 * hops + 1e-9 * size, "least": 1e-6}
             for to, hops in ((1, 1), (3, 1), (4, 2), (8, 2)) for size in SIZES]
    streams = [{"axis": axis, "pairs": pairs, "bytes": BIG, "seconds": 1e-6 + 1e-9 * BIG, "least": 1e-6}
               for axis, every in (("x", [[0, 1], [3, 4], [6, 7]]), ("y", [[0, 3], [1, 4], [2, 5]]))
               for pairs in (every[:1], every)]
    return {"schema": "pencilmap-network-probe/1", "program": {"name": "network_probe", "version": "0"}, "mpi": "none",
            "ranks": 9, "nodes": 9, "torus": "3x3", "tasks_per_node": 1, "coordinate_source": "assumed", "reps": 1,
            "rounds": 1, "labels": {}, "round_trips": trips, "bursts": [], "streams": streams} | changes


def test_a_probe_becomes_a_machine_file_that_is_read_back(tmp_path):
    probe = read_probes([written(tmp_path / "a", result())])
    machine, fit = machine_of_probe(probe, "mine"), fit_probe(probe)
    assert machine.tasks_per_node == 1 and str(machine.torus) == "3x3"
    figures = probed_figures(machine, fit, "a")
    path = tmp_path / "mine.toml"
    path.write_text(machine_text(machine, figures))
    found = load_machine(str(path))
    assert found.torus.bandwidth == pytest.approx((1e9, 1e9), rel=1e-3)
    [messages] = found.costs.messages
    assert (messages.start_s, messages.rate) == pytest.approx((1e-6, 1e9), rel=0.01) and messages.ports == 1
    assert found.costs.hop_latency_s == pytest.approx(1e-7, rel=0.02)
    assert "at least that along x, y: streams did not slow each other" in figures["link_bandwidth"].note
    assert not figures["link_bandwidth"].certain and figures["messages"].certain
    assert "off in the mean" in figures["hop_latency"].note and "network_probe" in figures["shape"].source


def test_results_of_one_network_are_one(tmp_path):
    one, other = written(tmp_path / "a", result(), result()), written(tmp_path / "b", result(bursts=[
        {"from": 0, "to": [1, 3], "bytes": 8, "seconds": 1.0, "least": 1.0}]))
    both = read_probes([one, other])
    assert len(both.trips) == 48 and len(both.streams) == 12 and both.bursts[0].to == (1, 3)
    for changes, words in (({"tasks_per_node": 2}, "3x3 with 1 tasks a node and 3x3 with 2 tasks a node"),
                           ({"labels": {"routing": "minimal-adaptive"}}, "of several networks"),
                           ({"torus": None, "tasks_per_node": None}, "no torus with unknown tasks a node")):
        with pytest.raises(CalibrationError, match=words):
            read_probes([one, written(tmp_path / "c", result(**changes))])


@pytest.mark.parametrize("content, words", [
    ("\n", "has no result of a probe: network_probe writes one"), ("\n[", "line 2 is not JSON"),
    ("[]", "line 1 is not a result of network_probe"),
    (json.dumps(result(reps="1")), "reps: '1' is not of type 'integer'"),
    (json.dumps(result(round_trips=[result()["round_trips"][0] | {"to": 9}])), "node 9 is outside of torus 3x3"),
    (json.dumps(result(streams=[result()["streams"][0] | {"pairs": [[0, 10]]}])), "node 10 is outside"),
    (json.dumps(result(bursts=[{"from": 11, "to": [1], "bytes": 8, "seconds": 1.0, "least": 1.0}])), "node 11 is outside"),
    (json.dumps(result(streams=[result()["streams"][0] | {"axis": "z"}])), "axis z is none of torus 3x3")])
def test_what_is_no_result_is_refused(content, words, tmp_path):
    (tmp_path / "a").write_text(content)
    with pytest.raises(RecordError) as error:
        read_probes([tmp_path / "a"])
    assert words in str(error.value)


def cut(axis, rate, slowed=True):
    return Cut(axis, 1, 1.0, 1.0, rate, 1.0, slowed)


FIT = ProbeFit((MessageRange(4096.0, 1e-6, 2), MessageRange(float("inf"), 5e-6, 1, 1e9, 3e9)), None, (),
               (FitQuality("messages alone", 3, 0.25, 0.4), FitQuality("streams across a cut", 2, 0.3, 0.3)), ("a note",))


@pytest.mark.parametrize("rates, told", [
    ({}, None), ({"x": None}, None), ({"x": 2e9}, "2000 MB/s"), ({"x": 1e9, "y": 1.02e9}, "1010 MB/s"),
    ({"x": 1e9, "y": 1.04e9}, ["1000 MB/s", "1040 MB/s"]), ({"x": 1e9, "y": 2e9}, ["1000 MB/s", "2000 MB/s"])])
def test_dimensions_that_are_nearly_alike_have_one_bandwidth(rates, told):
    """A dimension without streams gets the bandwidth of the fastest dimension with streams."""
    assert link_rates(Torus((3, 3)), replace(FIT, cuts=tuple(cut(*each) for each in rates.items()))) == told


def test_what_a_probe_does_not_tell_stays_and_what_it_contradicts_goes():
    machine = load_machine("bluegene-l")
    figures = probed_figures(machine, FIT, "p")
    assert figures["link_bandwidth"] == machine.figures["link_bandwidth"] and "message_cost" not in figures
    assert "hop_latency" not in figures or figures["hop_latency"] == machine.figures["hop_latency"]
    assert figures["messages"].value == [range_text(each) for each in FIT.messages] and not figures["messages"].certain
    assert figures["messages"].note == "fit: 25 % off in the mean, 40 % at most; a note"
    quiet = probed_figures(machine, replace(FIT, notes=(), cuts=(cut("x", 1e8),), hop_latency_s=1e-7), "p")
    assert quiet["messages"].certain and not quiet["link_bandwidth"].certain and quiet["hop_latency"].value == "0.1 us"
    bare = replace(machine, figures={})
    with pytest.raises(CalibrationError, match="needs the link bandwidth, and the probe has no streams"):
        probed_figures(bare, FIT, "p")


HEAD = ("# OSU MPI All-to-All Personalized Exchange Latency Test v7.4\n# Datatype: MPI_CHAR.\n"
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n")


def output(nodes, tasks):
    """As the benchmark prints it, with times of 10 GB/s and 0.2 us a message; small messages take another time."""
    costs, lines = Costs(injection_per_node=1e10, node_message_cost_s=2e-7), []
    for size in (1 << k for k in range(21)):
        work = exchange_work(MeasuredExchange("", "", inf, "", "", nodes, tasks, nodes * tasks, 1, size, 1.0))
        us = 1e6 * Sample("", "exchange", "", work, 1.0).time_s(costs) if size >= 1024 else 50.0
        lines.append(f"{size:<18}{us:18.2f}{us * 0.9:18.2f}{us * 1.1:18.2f}{1000:12d}")
    return HEAD + "\n".join(lines) + "\n"


def test_two_figures_of_two_outputs_are_written_to_a_machine_file(tmp_path, pencilmap):
    for nodes in (2, 16):
        (tmp_path / f"{nodes}.txt").write_text(output(nodes, load_machine("athena").tasks_per_node))
    words = [word for nodes in (2, 16) for word in ("--osu", f"{nodes}={tmp_path / f'{nodes}.txt'}")]
    target = tmp_path / "mine.toml"
    status, out, _ = pencilmap("study", "calibrate", *words, "-m", "athena", "-o", target)
    assert status == 0
    found = load_machine(str(target)).costs
    assert found.injection_per_node == pytest.approx(1e10, rel=1e-3)
    assert (found.fitted_nodes, found.fitted_message) == (16, 1024)
    assert found.node_message_cost_s == pytest.approx(2e-7, rel=1e-2) and "0.2 us for a message" in out


def test_each_bad_line_is_named():
    text = HEAD + "1024 31.04\n2048\n4096 fast\n-1 3.0\n8192 nan\n"
    with pytest.raises(CalibrationError, match="5 '2048', 6 '4096 fast', 7 '-1 3.0', 8 '8192 nan'"):
        read_osu(text, "a.txt")
    assert read_osu(HEAD + "1024 31.04\n", "a.txt") == [(1024, pytest.approx(31.04e-6))]


@pytest.mark.parametrize("files, text, words", [
    ({2: "a"}, HEAD + "1024 1.0\n", "two numbers of nodes"),
    ({2: "a", 4: "a"}, HEAD + "8 1.0\n", "no messages of 1024 bytes"),
    ({2: "a", 4: "a"}, HEAD + "512 2.0\n65536 900.0\n", "all messages have 65536 bytes")])
def test_what_cannot_be_fitted_is_refused(files, text, words, tmp_path):
    (tmp_path / "a").write_text(text)
    with pytest.raises(CalibrationError, match=words):
        osu_figures(load_machine("athena"), {nodes: str(tmp_path / name) for nodes, name in files.items()})


def test_two_files_of_the_same_nodes_are_refused(pencilmap):
    status, _, err = pencilmap("study", "calibrate", "-m", "athena", "--osu", "2=a", "--osu", "2=b", "--osu", "4=c")
    assert status == 2 and "two files are of 2 nodes" in err
