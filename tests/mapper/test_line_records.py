"""Records of distributed lines and of bricks of lines, without the runner: comparison with the model, and refusals."""

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.runs.compare import compare_records
from pencilmap.mapper.runs.records import line_problem_of_record, read_records
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.lines import placed_lines
from pencilmap.model.base.errors import PlacementError, RecordError
from pencilmap.model.lines.line_plan import line_time
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid, Transform
from pencilmap.model.times.costs import Costs
from tests.mapper.run_records import record, written

COSTS = Costs(message_cost_s=1e-6, exchange_cost_s=1e-5)
LABELS = {"link_bandwidth": "100 MB/s", "message_cost": "1 us", "exchange_cost": "10 us"}
PROBLEMS = [LineProblem((96,)), LineProblem((96,), algorithm="binary4", order="transposed", fields=3, precision="single"),
            LineProblem((97,), algorithm="dft"), LineProblem((12, 7, 9), (2, 3, 2), order="transposed"),
            LineProblem((12, 9, 8), (2, 3, 2), "binary2", fields=2)]


def mapping(seed=3):
    """Return twelve ranks on random nodes of a torus of twelve nodes."""
    torus = Torus((4, 3), bandwidth=(1e8, 1e8))
    return Mapping(torus, ProcessGrid(1, 12), 1, np.random.default_rng(seed).permutation(12), np.zeros(12, dtype=int))


def line_record(problem, direction="forward", labels=LABELS):
    """Return the record of a run that takes exactly the model's time."""
    placed = mapping()
    found = record(placed, Transform(8, 8, 8), Costs(), labels)
    forecast = problem.forecast(placed, COSTS, backward=direction == "backward")
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
