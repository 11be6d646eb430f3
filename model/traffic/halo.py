"""The messages of a halo exchange: the part of a task's block that lies in the halo of another task.

Every task sends at most one message to each other. Blocks are products of blocks of the three axes, and a block with its
halo is a product of enlarged blocks. So the overlap of two tasks, all periodic images together, is also a product. The
messages follow from three small tables, a table for each axis: the number of indices of each block in each enlarged block.
Edges and corners come from their owners, so each element travels once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GridError
from pencilmap.model.decompositions.decomposition import AXES, ExchangeStage
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import TYPES, Transform, block_lengths
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.remap import bricks_of

HALO = "halo"  # the name of this exchange


@dataclass(frozen=True)
class Halo:
    """Halos of the input of a transform.

    Parameters
    ----------
    width : int
        Planes on every side of each block.
    weight : float
        Number of these halos for each transform.

    Raises
    ------
    GridError
        If the width is less than 1, or the weight is not above 0.
    """

    width: int
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.width < 1:
            raise GridError(f"a halo of {self.width} planes; give 1 or more with `halo`")
        if not (isfinite(self.weight) and self.weight > 0):
            raise GridError(f"{self.weight:g} halos for each transform; give a number above 0 with `weight`")

    def messages(self, grid: ProcessGrid, transform: Transform) -> Exchange:
        """Return the messages of one halo, see `halo`.

        Raises
        ------
        GridError
            If the halo is wider than the array.
        """
        return halo(grid, transform, "input", (self.width,) * 3)


def halo(grid: ProcessGrid, transform: Transform, array: str | int, low: Sequence[int],
         high: Sequence[int] | None = None) -> Exchange:
    """Return the messages of a halo, as single messages of a forward exchange. The adjoint sends them the other way.

    Parameters
    ----------
    grid : ProcessGrid
    transform : Transform
    array : str or int
        "input", "output", "inner input", "inner output", or the number of exchanges before the array.
    low, high : sequence of int
        Planes below and above each block along x, y and z, each from 0 to the extent; by default `high` is `low`.

    Raises
    ------
    GridError
        For widths that are negative or beyond the extent, and along z of an array whose z is halved.

    Examples
    --------
    Two slabs of four planes each of 16 elements of 16 bytes; with a halo of one plane each gets two planes of the other:

    >>> found = halo(ProcessGrid(1, 2), Transform(8, 4, 4), "input", (1, 0, 0))
    >>> found.members.tolist(), (found.group_weight * found.unit_bytes).tolist()
    ([[0, 1], [1, 0]], [512, 512])

    The overlap of a rank with itself, alone along an axis, is no message:

    >>> len(halo(ProcessGrid(1, 2), Transform(8, 4, 4), "input", (0, 2, 4)).members)
    0
    """
    high = low if high is None else high
    division, extents, unit_bytes = _array(grid, transform, array)
    for axis, n, width in [(axis, n, width) for widths in (low, high) for axis, n, width in zip(AXES, extents, widths)]:
        if not 0 <= width <= n or (width and axis == "z" and n != transform.nz):
            raise GridError(f"a halo of {width} planes along {axis}, where the array has {n}; give 0 to "
                            f"{n if axis != 'z' or n == transform.nz else 0}")
    source, target, volume = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64)
    for n, (parts, step), below, above in zip(extents, division, low, high):
        a, b, length = _taken(block_lengths(n, parts), below, above)
        source = np.add.outer(source, step * a).ravel()
        target = np.add.outer(target, step * b).ravel()
        volume = np.multiply.outer(volume, length).ravel()
    sent = source != target
    order = np.lexsort((target[sent], source[sent]))
    pairs = np.stack([source, target], axis=1)[sent][order]
    return Exchange(HALO, letters="", members=pairs, group_weight=volume[sent][order], send_weight=np.array([1, 0]),
                    receive_weight=np.array([0, 1]), unit_bytes=unit_bytes, total_bytes=transform.total_bytes)


def _array(grid, transform, array):
    """Return the blocks of each axis with their step in ranks, the extents, and the bytes of an element."""
    stages = list(grid.decomposition.layouts())
    divisions = [division for stage, division in stages if isinstance(stage, ExchangeStage)] + [stages[-1][1]]
    numbers = {"input": 0, "inner input": 0, "output": -1, "inner output": -1} | dict(enumerate(range(len(divisions))))
    if array not in numbers:
        raise GridError(f"array {array!r} is unknown; known are {', '.join(map(str, numbers))}")
    halved, is_input = TYPES[transform.type].half, array in ("input", "inner input")
    unit = transform.array_bytes // (2 if halved and is_input else 1)
    extents = (transform.nx, transform.ny, transform.nz) if is_input else transform.exchanged
    if grid.decomposition.has_bricks and array in ("input", "output"):
        bricks = bricks_of(grid.decomposition, grid.n_tasks, transform)
        return list(zip(bricks, np.cumprod([1, *bricks]))), extents, unit
    steps = dict(zip(grid.decomposition.letters, np.cumprod([1, *grid.shape])))
    letters = [divisions[numbers[array]][axis] for axis in AXES]
    return [(grid.extent(letter), steps[letter]) if letter else (1, 0) for letter in letters], extents, unit


def _taken(lengths: Ints, below: int, above: int) -> tuple[Ints, Ints, Ints]:
    """Return the indices that each block has in each block with its halo, in a periodic array. An empty block has no halo.

    >>> [found.tolist() for found in _taken(np.array([3, 3, 2]), 1, 0)]
    [[0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [3, 1, 3, 1, 1, 2]]
    """
    n, ends = int(lengths.sum()), np.cumsum(lengths)
    owner = np.searchsorted(ends, np.arange(n), side="right")
    found: dict[tuple[int, int], int] = {}
    for b, (end, length) in enumerate(zip(ends.tolist(), lengths.tolist())):
        if not length:
            continue
        held, counts = np.unique(owner[np.arange(end - length - below, end + above) % n], return_counts=True)
        found |= {(int(a), b): int(count) for a, count in zip(held, counts)}
    sources, targets = (np.array([pair[i] for pair in sorted(found)], np.int64) for i in (0, 1))
    return sources, targets, np.array([found[pair] for pair in sorted(found)], np.int64)
