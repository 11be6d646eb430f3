"""Records of runs, probes and calibration: read, compared, and refused."""

import json
import re
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from pencilmap.mapper.place import placed_lines
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.runs.compare import _bandwidth, compare_records, published_samples, record_samples
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
from pencilmap.mapper.runs.records import SCHEMA, line_problem_of_record, read_records
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import CalibrationError, PlacementError, RecordError
from pencilmap.model.decompositions import PENCIL, SLAB, decomposition_named
from pencilmap.model.kinds import network_named
from pencilmap.model.lines.line_plan import line_time
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.machines.machine import load_machine, machine_names
from pencilmap.model.machines.probe import Cut, FitQuality, ProbeFit, fit_probe
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.times.calibrate import Sample
from pencilmap.model.times.costs import Costs, MessageRange
from pencilmap.model.times.published import MeasuredExchange, exchange_work
from tests.documents import run_by
from tests.mapper.run_records import record, written

VERSION_1 = Path(__file__).parent / "version_1.jsonl"  # written by fft_runner
TORUS = Torus((4, 4), bandwidth=(148e6, 148e6))
COSTS = Costs(message_cost_s=1e-6, fft_rate_per_task=1e9)
LABELS = {"link_bandwidth": "148 MB/s", "message_cost": "1 us"}


def slab_record(placement="default"):
    grid = ProcessGrid(16, decomposition=SLAB)
    mapping = as_mapping(place(placement, Site(TORUS), grid), placement)
    return record(mapping, Transform(64, 64, 64), COSTS, LABELS)


def test_the_achieved_bandwidth_is_that_of_the_class_of_links_that_bounds():
    """Four tasks of a leaf send half of their data over two cables up, which bound the exchange."""
    network = network_named("fat-tree:leaves=2,hosts=4,up=2", bandwidth="host=10 GB/s,up=4 GB/s")
    transform = Transform(64, 64, 64)
    found = predict(place("default", Site(network), ProcessGrid(1, 8)), transform)
    stage = found.stage("column")
    assert _bandwidth(stage, found, transform, 2 * stage.bound_s) == pytest.approx(2e9)


def test_version_1_is_read_as_version_2():
    old = json.loads(VERSION_1.read_text())
    assert old["schema"].endswith("/1") and "exchanges" in old
    new, = read_records(VERSION_1)
    assert (new["schema"], new["decomposition"], new["grid"]) == (SCHEMA, PENCIL.name, old["grid"])
    assert {s["name"]: s["exchange"] for s in new["stages"]} == {k: v["name"] for k, v in old["exchanges"].items()}
    for stage in new["stages"]:
        assert all(stage[key] == old["exchanges"][stage["name"]][key] for key in ("means", "tried_s", "bytes", "messages"))
    assert new["phases"] == old["phases"] and "exchanges" not in new
    assert [c.stage for c in compare_records([new], "v1")] == ["row", "column"]


def test_a_version_1_that_did_not_tell_its_exchanges_is_read(tmp_path):
    old = json.loads(VERSION_1.read_text())
    del old["exchanges"]
    new, = read_records(written(tmp_path / "r.jsonl", old))
    assert [(s["name"], s["exchange"]) for s in new["stages"]] == [("row", old["exchange"]), ("column", old["exchange"])]


@pytest.mark.parametrize("tasks, placement, label, words", [
    (1, "default:xyt", "default", "x fastest"), (1, "default:yxt", "launcher", "y fastest"),
    (2, "default:txy", "default", "ranks fill each node first, x fastest"),
    (2, "default:yxt", "default", "ranks go round the nodes, y fastest"),
    (2, "box:2x2", "default", "in no order of the axes"), (2, "default:xyt", "lines", "")])
def test_a_comparison_tells_the_order_of_a_default_placement(tasks, placement, label, words):
    """The order follows from the places of the ranks, with any launcher."""
    grid = ProcessGrid(4, 4 * tasks)
    mapping = as_mapping(place(placement, Site(TORUS, tasks), grid), placement)
    rows = compare_records([record(mapping, Transform(64, 64, 64), COSTS, LABELS | {"placement": label})], "r")
    assert {row.order for row in rows} == {words} == {row.as_dict()["order"] for row in rows}


@pytest.mark.parametrize("decomposition, names, problem", [
    ("pencil", "row column", ""), ("pencil", "remap_in row column remap_out", ""), ("pencil", "remap_in row column", ""),
    ("pencil", "column row", "a pencil decomposition has row, column"), ("brick:4x2x2", "remap_in row column remap_out", ""),
    *(("brick:4x2x2", names, "a brick:4x2x2 decomposition has remap_in, row, column, remap_out")
      for names in ("row column", "remap_in row column"))])
def test_any_run_may_remap_its_boxes_and_one_of_bricks_does(decomposition, names, problem, tmp_path):
    grid = ProcessGrid(4, 4, decomposition=decomposition_named(decomposition))
    found = record(as_mapping(place("default", Site(TORUS), grid), "default"), Transform(64, 64, 64), COSTS, LABELS)
    found["stages"] = [{"name": name, "exchange": "alltoallv"} for name in names.split()]
    found["phases"] |= {f"exchange_{name}": found["phases"]["total"] for name in names.split()}
    path = written(tmp_path / "r.jsonl", found)
    if problem:
        with pytest.raises(RecordError, match=problem):
            read_records(path)
    else:
        assert read_records(path) == [found]


@pytest.mark.parametrize("wrong, words", [
    (True, "True is not of type 'number'"), ("1", "'1' is not of type 'number'"), (None, "None is not of type 'number'"),
    (-1e-9, "-1e-09 is less than the minimum of 0"), ([0.5], "[0.5] is not of type 'number'")])
def test_one_wrong_number_in_a_list_is_found(wrong, words, tmp_path):
    bad = slab_record()
    bad["phases"]["total"]["max_s"] = [1, 0.5, wrong]
    with pytest.raises(RecordError, match="phases.total.max_s.2: " + re.escape(words)):
        read_records(written(tmp_path / "r.jsonl", bad))
    bad["phases"]["total"]["max_s"] = [1, 0.5, 0]
    assert read_records(written(tmp_path / "r.jsonl", bad))
    for times in ([1, 0.5], [0.5] * 4):
        bad["phases"]["total"]["max_s"] = times
        with pytest.raises(RecordError, match=f"phases: [a-z_]+ does not have {len(times)} times in each list"):
            read_records(written(tmp_path / "r.jsonl", bad))
    bad["phases"]["total"]["max_s"] = [1, 0.5, 0]
    with pytest.raises(RecordError, match="size.1: 8.5 is not of type 'integer'"):
        read_records(written(tmp_path / "r.jsonl", bad | {"size": [8, 8.5, 8]}))


def scheduled(text, wait_s, network="simulated"):
    """Return a record of a run under a schedule whose ranks waited so long in each exchange."""
    mapping = as_mapping(place("default", Site(TORUS), ProcessGrid(4, 4)), "default")
    made = record(mapping, Transform(64, 64, 64), COSTS, {"link_bandwidth": "100 MB/s", "network": network})
    for name in ("row", "column"):
        made["phases"][f"exchange_{name}"]["max_s"] = [wait_s] * 3
    return {**made, "schedule": text}


@pytest.mark.parametrize("text, chunks", [("overlap:2:x", 2), ("overlap:4:x", 4), ("two-way", None)])
def test_exchanges_that_travel_together_are_compared_together(text, chunks):
    once = 2 * 16 * 64**3 / (4 * 16 * 100e6)        # joint load 2 on the m scale
    row, = compare_records([scheduled(text, 0.01)], "runs")
    expected = once if chunks is None else once * (1 + 1 / chunks)
    assert (row.stage, row.measured_s, row.link_bandwidth, row.m) == ("row+column", 0.02, None, 2)
    assert row.t_s == pytest.approx(expected) and row.time_s == pytest.approx(expected)
    assert row.time_range_s is None and row.unmeasured == "simulated"


@pytest.mark.parametrize("text, joint", [("opposite", 2), ("sequence", 4)])
def test_a_pair_is_compared_with_the_time_of_both_transforms(text, joint):
    row, = compare_records([scheduled(text, 0.01) | {"direction": "pair"}], "runs")
    assert (row.stage, row.measured_s, row.t_s) == ("row+column", 0.02, pytest.approx(2 * joint * 16 * 64**3 / (64 * 100e6)))
    assert row.note == ""


LINE_COSTS = Costs(message_cost_s=1e-6, exchange_cost_s=1e-5)
LINE_LABELS = {"link_bandwidth": "100 MB/s", "message_cost": "1 us", "exchange_cost": "10 us"}
PROBLEMS = [LineProblem((96,)), LineProblem((96,), algorithm="binary4", order="transposed", fields=3, precision="single"),
            LineProblem((97,), algorithm="dft"), LineProblem((12, 7, 9), (2, 3, 2), order="transposed"),
            LineProblem((12, 9, 8), (2, 3, 2), "binary2", fields=2)]


def mapping(seed=3):
    """Return twelve ranks on random nodes of a torus of twelve nodes."""
    torus = Torus((4, 3), bandwidth=(1e8, 1e8))
    return Mapping(torus, ProcessGrid(1, 12), 1, np.random.default_rng(seed).permutation(12), np.zeros(12, dtype=int))


def line_record(problem, direction="forward", labels=LINE_LABELS):
    """Return the record of a run that takes exactly the model's time."""
    placed = mapping()
    found = record(placed, Transform(8, 8, 8), Costs(), labels)
    forecast = problem.forecast(placed, LINE_COSTS, backward=direction == "backward")
    phases = {f"exchange_{stage.name}": {key: [0.9 * stage.time_s, stage.time_s, 2 * stage.time_s]
                                         for key in ("max_s", "mean_s", "min_s")} for stage in forecast}
    return found | {"decomposition": problem.decomposition, "size": list(problem.size), "grid": [12], "direction": direction,
                    "algorithm": problem.algorithm, "order": problem.order, "fields": problem.fields,
                    "precision": problem.precision, "phases": phases | {"total": found["phases"]["total"]},
                    "stages": [{"name": stage.name, "exchange": "alltoallv"} for stage in forecast]}


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.told)
def test_times_of_lines_are_held_against_the_model(problem, direction, tmp_path):
    [read] = read_records(written(tmp_path / "r", line_record(problem, direction)))
    assert line_problem_of_record(read) == problem
    rows = compare_records([read], "r")
    assert [row.stage for row in rows] == list(problem.stages(12)) and {row.transform for row in rows} == {problem.told}
    for row in rows:
        assert row.time_ratio == pytest.approx(1) and row.spread == pytest.approx((0.9 * row.time_s, 2 * row.time_s))
        assert row.time_s > row.t_s > 0 and row.tasks_per_node == 1 and row.torus == "4x3"
        assert row.unmeasured == "distributed lines not measured" and row.time_range_s is None
        assert row.grid == ("12" if problem.bricks is None else "2x3x2")


@pytest.mark.parametrize("problem, changes, words", [  # of a slab, or of a line by its number
    (None, {"decomposition": "brock"}, "decomposition 'brock' is unknown (did you mean brick?); known are pencil, slab"),
    (None, {"grid": [4, 4]}, "has 2 dimensions, but that of a slab decomposition is P"),
    (None, {"stages": [{"name": "row"}]}, "a slab decomposition has slab"),
    (None, {"phases": {"total": slab_record()["phases"]["total"]}}, "exchange_slab is missing"),
    (None, {"schema": "pencilmap-run-record/3"}, "schema"),
    (None, {"schema": "pencilmap-run-record/1"}, "not a run record of pencilmap-run-record/1"),
    (0, {"size": [96, 1]}, "a line has one extent, and a grid of all ranks"),
    (0, {"grid": [1, 12]}, "a line has one extent, and a grid of all ranks"),
    (3, {"size": [96]}, "bricks of lines have three, and a grid of all ranks"),
    (0, {"algorithm": "dft"}, "stages: such a line has gather"),
    (0, {"stages": []}, "stages: such a line has to_columns, to_rows, to_blocks"),
    (0, {"algorithm": "none"}, "algorithm 'none' of a line is unknown"),
    (1, {"size": [97]}, "97 points are not a multiple of 12 ranks"),
    (3, {"decomposition": "brick:2x2x2"}, "lines run on one brick for each of 12 ranks, brick:PxQxS, not on brick:2x2x2"),
    (0, {"phases": {"total": line_record(PROBLEMS[0])["phases"]["total"]}}, "phases: exchange_to_columns is missing")])
def test_records_that_contradict_themselves_are_refused(problem, changes, words, tmp_path):
    made = slab_record() if problem is None else line_record(PROBLEMS[problem])
    with pytest.raises(RecordError) as error:
        read_records(written(tmp_path / "r.jsonl", made | changes))
    assert words in str(error.value) and "r.jsonl line 1" in str(error.value)


def test_lines_are_placed_on_the_grid_with_which_they_take_least():
    """A pattern uses one of both grids, the launcher's order uses both."""
    where, problem = setting(network="4x3", bandwidth="100 MB/s"), PROBLEMS[3]
    grids = problem.grids(12)
    assert [grid.shape for grid in grids] == [(2, 6), (6, 2)]
    assert placed_lines(where, problem, "digits:x=r2c2").grid == grids[0]
    assert placed_lines(where, problem, "digits:x=r2c2,y=r3").grid == grids[1]
    with pytest.raises(PlacementError, match="makes grid 4x3"):
        placed_lines(where, problem, "digits:x=r4")
    for text in ("default", "default:yxt"):
        times = [line_time(problem.forecast(as_mapping(where.place(text, grid), text))) for grid in grids]
        assert line_time(problem.forecast(placed_lines(where, problem, text))) == min(times)
    assert placed_lines(where, LineProblem((24,)), "default").grid.shape == (1, 12)


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


BANDWIDTH = 2e8
TRUTH = Costs(injection_per_task=1.9e8, message_cost_s=1e-6, exchange_cost_s=30e-6, contention=0.5, fft_rate_per_task=1e9,
              memory_bandwidth_per_node=4e9)
RUNS = [("8x8x8", "8x64", "box:2x2x2", 1), ("8x8x8", "64x8", "box:4x4x4", 1), ("8x8x8", "8x64", "default", 1),
        ("8x8x8", "16x64", "box:2x2x2", 2), ("8x8x8", "128x8", "box:4x4x4", 2)]


def mapping_of(shape, grid, placement, tasks):
    torus = parse_torus(shape)
    torus = parse_torus(shape, bandwidth=(BANDWIDTH,) * torus.n_dimensions)
    return as_mapping(place(placement, Site(torus, tasks), parse_grid(grid)), placement)


@pytest.fixture(scope="module")
def records():
    """Return five placements at three sizes, without a bandwidth."""
    mappings = [mapping_of(*run) for run in RUNS]
    return [record(mapping, Transform(n, n, n), TRUTH) for n in (128, 256, 512) for mapping in mappings]


def write(records, path, **labels):
    path.write_text("".join(json.dumps(r | {"labels": r["labels"] | labels}) + "\n" for r in records), "utf-8")
    return path


@pytest.mark.thorough
def test_the_machine_file_holds_the_figures_behind_the_records(records, tmp_path, pencilmap):
    runs = write([r for r in records if r["placement"]["tasks_per_node"] == 1], tmp_path / "runs.jsonl",
                 link_bandwidth=f"{BANDWIDTH}byte/s")
    out = pencilmap.out("study", "calibrate", runs, "-o", tmp_path / "found.toml")
    found = load_machine(str(tmp_path / "found.toml"))
    assert str(found.torus) == "8x8x8" and found.torus.bandwidth == (BANDWIDTH,) * 3
    assert found.costs.injection_per_task == pytest.approx(TRUTH.injection_per_task, rel=0.02)
    assert found.costs.contention == pytest.approx(TRUTH.contention, rel=0.02)
    assert found.costs.message_cost_s == pytest.approx(TRUTH.message_cost_s, rel=0.05)
    assert found.figures["contention"].source == f"pencilmap study calibrate {runs} (rule all, 36 of 36 times fitted)"
    assert re.search(r"injection_per_node .*cannot be\s+separated", out)


@pytest.mark.thorough
@pytest.mark.parametrize("command", run_by(__file__))
def test_the_command_of_the_document_writes_what_it_names(command, records, tmp_path, pencilmap, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(records, tmp_path / "runs.jsonl")
    pencilmap.out(*command.split()[1:])
    assert load_machine("mymachine.toml").costs.fft_rate_per_task == pytest.approx(1e9, rel=0.02)


def test_the_work_of_a_record_is_that_of_its_placement(records):
    samples, refused = record_samples({"r": records[0]}, (BANDWIDTH,))
    assert refused == []
    assert [s.phase for s in samples] == ["row", "column", "fft", "copy"]
    for sample in samples:
        assert sample.time_s(TRUTH) == pytest.approx(sample.measured_s, rel=1e-6)


def test_assumed_coordinates_give_no_exchange_and_simulated_runs_no_computing():
    mapping, transform = mapping_of(*RUNS[0]), Transform(128, 128, 128)
    assumed, refused = record_samples({"r": record(mapping, transform, TRUTH, coordinate_source="assumed")}, (BANDWIDTH,))
    assert [s.phase for s in assumed] == ["fft", "copy"] and "assumed" in refused[0]
    simulated, refused = record_samples({"r": record(mapping, transform, TRUTH, {"network": "simulated"})}, (BANDWIDTH,))
    assert [s.phase for s in simulated] == ["row", "column"] and refused == []


def test_figures_in_the_labels_of_a_record_are_in_its_full_time():
    mapping, transform = mapping_of(*RUNS[0]), Transform(128, 128, 128)
    costs = Costs(injection_per_node=1e8, hop_latency_s=1e-6)
    labels = {"link_bandwidth": f"{BANDWIDTH}byte/s", "injection_per_node": "100 MB/s", "hop_latency": "1 us"}
    for row in compare_records([record(mapping, transform, costs, labels)], "r"):
        assert row.time_ratio == pytest.approx(1, rel=1e-6)
        assert row.time_s > row.t_s


@pytest.mark.parametrize("name", machine_names())
def test_every_machine_of_the_package_is_written_and_read_back(name, tmp_path):
    machine = load_machine(name)
    path = tmp_path / f"{name}.toml"
    path.write_text(machine_text(machine, machine.figures), "utf-8")
    again = load_machine(str(path))
    assert (again.costs, again.figures) == (machine.costs, machine.figures)
    assert (again.network.title, again.network.bandwidth) == (machine.network.title, machine.network.bandwidth)


@pytest.mark.thorough
def test_figures_that_the_records_say_nothing_of_stay(tmp_path, pencilmap):
    """Computing alone does not contradict the injection limit of an earlier calibration."""
    cached = replace(TRUTH, cache_per_node=load_machine("bluegene-l").costs.cache_per_node)
    alone = [record(mapping_of(*run), Transform(n, n, n), cached, coordinate_source="assumed")
             for n in (128, 256, 512) for run in RUNS]
    runs = write(alone, tmp_path / "runs.jsonl")
    pencilmap.out("study", "calibrate", runs, "-m", "bluegene-l", "-o", tmp_path / "f.toml")
    before, after = load_machine("bluegene-l"), load_machine(str(tmp_path / "f.toml"))
    assert after.figures["injection_per_task"] == before.figures["injection_per_task"]
    assert after.figures["fft_rate_per_task"] != before.figures["fft_rate_per_task"]


@pytest.mark.thorough
def test_an_earlier_calibration_that_is_not_borne_out_goes(tmp_path, pencilmap):
    mapping = mapping_of("8x8x8", "8x64", "default", 1)
    free = [record(mapping, Transform(n, n, n), Costs(exchange_cost_s=30e-6)) for n in (64, 128, 256, 512)]
    runs = write(free, tmp_path / "runs.jsonl")
    base = tmp_path / "base.toml"
    machine = load_machine("bluegene-l")
    base.write_text(machine_text(machine, machine.figures).replace("148 MB/s", "200 MB/s"), "utf-8")
    assert pencilmap("study", "calibrate", runs, "-m", base, "-o", tmp_path / "f.toml")[0] == 0
    after = load_machine(str(tmp_path / "f.toml"))
    assert "injection_per_task" not in after.figures and "partition" in after.figures
    assert after.costs.exchange_cost_s == pytest.approx(30e-6, rel=0.02)


BAD = [
    ((), "name files of run records, or --published"),
    (("runs.jsonl", "--published", "bluegene-l"), "name files of run records, or --published"),
    (("runs.jsonl", "-o", "x.txt"), "a machine file ends in .toml"),
    (("nowhere.jsonl",), "cannot be read"),
    (("runs.jsonl", "-m", "nix"), "machine 'nix' is unknown"),
    (("--published", "bluegene-l", "-o", "nowhere/x.toml"), "cannot be written"),
    (("alone.jsonl", "-o", "x.toml"), "a machine file needs the link bandwidth"),
    (("shapes.jsonl",), "the records are of 2 shapes of machine (4x4, 8x8x8); name the machine with --machine"),
]


@pytest.mark.parametrize("arguments, message", BAD)
def test_bad_input_is_one_clear_sentence(arguments, message, records, tmp_path, pencilmap, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(records[:2], tmp_path / "runs.jsonl")
    write([records[0] | {"placement": records[0]["placement"] | {"coordinate_source": "assumed"}}], tmp_path / "alone.jsonl")
    other = record(mapping_of("4x4", "4x4", "default", 1), Transform(64, 64, 64), TRUTH)
    write([records[0], other], tmp_path / "shapes.jsonl")
    status, _, err = pencilmap("study", "calibrate", *arguments)
    assert status in (1, 2) and message in " ".join(err.split())
    assert not (tmp_path / "x.toml").exists()


def test_unknown_published_measurements_are_refused():
    with pytest.raises(CalibrationError, match="known are bluegene-l"):
        published_samples("cray", load_machine("bluegene-l").torus)
