"""Run records of both versions and of distributed lines: what a schema cannot express, and comparison with the model."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pencilmap.mapper.place import placed_lines
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.runs.compare import _bandwidth, compare_records
from pencilmap.mapper.runs.records import SCHEMA, line_problem_of_record, read_records
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import PlacementError, RecordError
from pencilmap.model.decompositions import PENCIL, SLAB, decomposition_named
from pencilmap.model.kinds import network_named
from pencilmap.model.lines.line_plan import line_time
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.times.costs import Costs
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


@pytest.mark.parametrize("changes, words", [
    ({"decomposition": "brock"}, "decomposition 'brock' is unknown (did you mean brick?); known are pencil, slab"),
    ({"grid": [4, 4]}, "has 2 dimensions, but that of a slab decomposition is P"),
    ({"stages": [{"name": "row"}]}, "a slab decomposition has slab"),
    ({"phases": {"total": slab_record()["phases"]["total"]}}, "exchange_slab is missing"),
    ({"schema": "pencilmap-run-record/3"}, "schema"),
    ({"schema": "pencilmap-run-record/1"}, "not a run record of pencilmap-run-record/1"),
])
def test_records_that_contradict_themselves_are_refused(changes, words, tmp_path):
    with pytest.raises(RecordError) as error:
        read_records(written(tmp_path / "r.jsonl", slab_record() | changes))
    assert words in str(error.value) and "r.jsonl line 1" in str(error.value)


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


@pytest.mark.parametrize("problem, changes, words", [
    (0, {"size": [96, 1]}, "a line has one extent, and a grid of all ranks"),
    (0, {"grid": [1, 12]}, "a line has one extent, and a grid of all ranks"),
    (3, {"size": [96]}, "bricks of lines have three, and a grid of all ranks"),
    (0, {"algorithm": "dft"}, "stages: such a line has gather"),
    (0, {"stages": []}, "stages: such a line has to_columns, to_rows, to_blocks"),
    (0, {"algorithm": "none"}, "algorithm 'none' of a line is unknown"),
    (1, {"size": [97]}, "97 points are not a multiple of 12 ranks"),
    (3, {"decomposition": "brick:2x2x2"}, "lines run on one brick for each of 12 ranks, brick:PxQxS, not on brick:2x2x2"),
    (0, {"phases": {"total": line_record(PROBLEMS[0])["phases"]["total"]}}, "phases: exchange_to_columns is missing")])
def test_records_of_lines_that_contradict_themselves_are_refused(problem, changes, words, tmp_path):
    with pytest.raises(RecordError) as error:
        read_records(written(tmp_path / "r", line_record(PROBLEMS[problem]) | changes))
    assert words in str(error.value)


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
