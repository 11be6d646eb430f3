"""Grids with idle tasks: marked, and ranked last unless they are known to be faster."""

from dataclasses import replace
from math import prod

import pytest

from pencilmap.mapper.setting import setting
from pencilmap.model.decompositions import PENCIL, SLAB
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.transform import parse_transform
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
