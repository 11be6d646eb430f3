"""Outputs of osu_alltoall: two figures are found again, and each bad line is named."""

from math import inf

import pytest

from pencilmap.mapper.runs.osu import osu_figures, read_osu
from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.judged import exchange_work
from pencilmap.model.times.published import MeasuredExchange

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
    assert found.injection_per_node == pytest.approx(1e10, rel=1e-3) and found.fitted_nodes == 16
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
