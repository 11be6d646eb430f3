"""The messages of remaps of bricks: from each task to each other the elements that change hands, and no others.

Bricks and pencils are both products of blocks of the three axes. So the overlap of two boxes is the product of the overlaps
of their blocks of each axis, and the messages are a product of three short lists. Elements that stay on a task are not
sent.
"""

from math import prod

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GridError
from pencilmap.model.base.factors import factorisations
from pencilmap.model.decompositions.decomposition import AXES, Decomposition
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import TYPES, Transform, block_lengths
from pencilmap.model.traffic.exchange import Exchange

REMAPS = ("remap_in", "remap_out")


def bricks_of(decomposition: Decomposition, n_tasks: int, transform: Transform) -> tuple[int, int, int]:
    """Return the bricks along x, y and z of the decomposition, by default the division of the tasks with the least surface.

    Raises
    ------
    GridError
        If the number of bricks is not the number of tasks.

    Examples
    --------
    >>> from pencilmap.model.decompositions.brick import BRICK
    >>> bricks_of(BRICK, 8, Transform(16, 16, 16)), bricks_of(BRICK, 8, Transform(16, 4, 64))
    ((2, 2, 2), (1, 1, 8))
    """
    if decomposition.bricks is None:
        n = transform.nx, transform.ny, transform.nz
        return min(((int(p), int(q), int(s)) for p, q, s in factorisations(n_tasks, 3)),
                   key=lambda b: (sum(parts / extent for parts, extent in zip(b, n)), b))
    if prod(decomposition.bricks) != n_tasks:
        told = "x".join(map(str, decomposition.bricks))
        raise GridError(f"{told} bricks are {prod(decomposition.bricks)}, but there are {n_tasks} tasks; take "
                        f"brick:PxQxS with P*Q*S = {n_tasks}")
    return decomposition.bricks


def remaps(grid: ProcessGrid, transform: Transform) -> tuple[Exchange, ...]:
    """Return the remaps at the input and at the output of a forward transform, as single messages; none without bricks.

    In a backward transform their messages travel the other way.

    >>> from pencilmap.model.decompositions import decomposition_named
    >>> before, after = remaps(ProcessGrid(2, 1, decomposition=decomposition_named("brick:1x1x2")), Transform(4, 4, 4))
    >>> before.members.tolist(), before.group_weight.tolist(), len(after.members)
    ([[1, 0], [0, 1]], [16, 16], 0)
    """
    if not grid.decomposition.has_bricks:
        return ()
    divisions = [division for _, division in grid.decomposition.layouts()]
    bricks, halved = bricks_of(grid.decomposition, grid.n_tasks, transform), TYPES[transform.type].half
    real_bytes = transform.point_bytes // (2 if halved else 1)
    before = _remap(REMAPS[0], bricks=bricks, division=divisions[0], grid=grid,
                    extents=(transform.nx, transform.ny, transform.nz), unit_bytes=real_bytes, transform=transform)
    after = _remap(REMAPS[1], bricks=bricks, division=divisions[-1], grid=grid, extents=transform.exchanged,
                   unit_bytes=transform.point_bytes, transform=transform, inwards=False)
    return before, after


def _remap(name, bricks, division, grid, extents, unit_bytes, transform, inwards=True):
    strides = dict(zip(grid.decomposition.letters, np.cumprod([1, *grid.shape])))
    brick, pencil, volume = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64)
    for axis, extent, parts, step in zip(AXES, extents, bricks, np.cumprod([1, *bricks])):
        letter = division[axis]
        a, b, length = _overlaps(block_lengths(extent, parts), block_lengths(extent, grid.extent(letter) if letter else 1))
        brick = np.add.outer(brick, step * a).ravel()
        pencil = np.add.outer(pencil, strides.get(letter, 0) * b).ravel()
        volume = np.multiply.outer(volume, length).ravel()
    sent = brick != pencil
    pairs = np.stack([brick, pencil] if inwards != transform.backward else [pencil, brick], axis=1)[sent]
    return Exchange(name, letters="", members=pairs, group_weight=volume[sent], send_weight=np.array([1, 0]),
                    receive_weight=np.array([0, 1]), unit_bytes=unit_bytes, total_bytes=transform.total_bytes)


def _overlaps(one: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the overlapping blocks of two divisions of an axis, and the lengths of the overlaps: int arrays of one shape.

    >>> [found.tolist() for found in _overlaps(np.array([3, 3, 2]), np.array([4, 4]))]
    [[0, 1, 1, 2], [0, 0, 1, 1], [3, 1, 2, 2]]
    """
    ends = np.unique(np.concatenate([[0], np.cumsum(one), np.cumsum(other)]))
    starts = ends[:-1]
    return (np.searchsorted(np.cumsum(one), starts, side="right"), np.searchsorted(np.cumsum(other), starts, side="right"),
            np.diff(ends))
