"""Grids with idle tasks: marked, and ranked last unless they are known to be faster."""

from dataclasses import replace
from math import prod

import pytest

from pencilmap.mapper.setting import setting
from pencilmap.model.decompositions import PENCIL, SLAB
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.times.costs import Costs


@pytest.mark.parametrize("size", ["8x8x8", "5x7x6", "6x4x9:r2c", "3x3x3"])
@pytest.mark.parametrize("decomposition", [PENCIL, SLAB], ids=lambda d: d.name)
def test_idle_tasks_are_counted(size, decomposition):
    """Block b of an axis is empty if it gets no plane; a task is idle if its block of some axis is empty."""
    transform = parse_transform(size)
    nx, ny, nz = transform.exchanged
    stages = ([(nx, "c"), (ny, "r")], [(nx, "c"), (nz, "r")], [(ny, "c"), (nz, "r")]) if decomposition is PENCIL else (
        [(nx, "s")], [(ny, "s")])
    for grid in all_grids(16, decomposition):
        busy = [prod(sum(b < n for b in range(grid.extent(letter))) for n, letter in stage) for stage in stages]
        assert transform.idle_tasks(grid) == 16 - min(busy) and (transform.idle_tasks(grid) == 0) == transform.fills(grid)


def test_a_grid_with_idle_tasks_comes_last_where_computing_has_no_time(pencilmap, pencilmap_json):
    """2x32 has the least link time, but 48 of its 64 tasks hold no data."""
    options = ["--network", "4x4:mesh", "-t", "4", "--fft", "8", "--bandwidth", "1 GB/s", "-p", "default:nt"]
    options += ["--effort", "quick", "--decomposition", "pencil", "--schedule", "sequence", "-e", "alltoallv", "--top", "99"]
    status, out, err = pencilmap("plan", *options, "--notes")
    assert status == 0, err
    assert out.startswith("Use grid 8x8, ") and "\n2x32*" in out and "8x8*" not in out
    assert "48 of 64 on 2x32" in " ".join(out.split())
    found = pencilmap_json("plan", *options)
    assert found[0]["grid"] == [8, 8] and "idle_tasks" not in found[0]
    assert {tuple(p["grid"]): p["idle_tasks"] for p in found[1:]}[2, 32] == 48
    assert min(p["t_s"] for p in found) < found[0]["t_s"]


def test_it_is_taken_where_nothing_else_is_possible_and_the_answer_says_so(pencilmap):
    _, out, _ = pencilmap("plan", "--network", "4x4", "-t", "4", "--fft", "4", "--bandwidth", "1 GB/s", "-p", "default",
                          "--effort", "quick")
    assert "of its 64 tasks hold nothing" in " ".join(out.split())


def test_it_is_taken_where_the_whole_transform_is_faster_by_more_than_a_tie():
    """With cheap computing the idle grid is first; with expensive computing the busy grid is first."""
    where = setting(network="4x4:mesh", tasks_per_node=4, fft="8", bandwidth="1 GB/s")
    for rate, first in ((1e15, (2, 32)), (1e7, (8, 8))):
        costly = replace(where, costs=Costs(fft_rate_per_task=rate))
        found = costly.predictions(placements=["default:nt"])
        assert found[0].grid.shape == first and not any(p.is_last for p in found)
    grids = [ProcessGrid(8, 8), ProcessGrid(2, 32)]
    tied = [replace(p, stages=found[0].stages, schedule=found[0].schedule) for p in found if p.grid in grids]
    assert [p.idle_tasks for p in ranked(tied[::-1])] == [0, 48] == [p.idle_tasks for p in ranked(tied)]


def test_a_transform_that_fills_every_grid_has_no_mark(pencilmap):
    _, out, _ = pencilmap("plan", "--network", "4x4", "--fft", "64", "--bandwidth", "1 GB/s", "-p", "default", "--effort",
                          "quick", "--top", "99")
    assert "hold nothing" not in out and Transform(64, 64, 64).idle_tasks(ProcessGrid(4, 4)) == 0


def test_plan_says_that_it_ranks_no_grid_with_free_slots(pencilmap):
    words = ("plan", "--network", "5", "--effort", "quick", "--idle")
    assert "all ranked grids have 5 tasks; with --idle, name a grid of fewer with --grid" in " ".join(
        pencilmap(*words, "--notes")[1].split())
    assert "all ranked grids" not in pencilmap(*words, "--grid", "2x2", "--notes")[1] + pencilmap(*words[:-1], "--notes")[1]
