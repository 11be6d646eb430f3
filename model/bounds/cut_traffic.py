"""The least traffic of all exchanges of a transform across a cut with k of P tasks on one side, for real blocks.

Even blocks: L(k) / P^2 of D_T, if the decomposition knows L (`Decomposition.least_crossing`).

Uneven blocks. Let a(s) be the share of the array that task s holds before the transform, and b(t) the share of task t after
it. Then the exchanges together send at least a(S) (1 - b(S)) D_T from a set S of tasks to the others. The reason, for
pencils: let X_q and W_q be the blocks of x (before) and of y (after) among the C tasks of a column, and Y_p and Z_p the
blocks of y (before) and of z (after) among the R tasks of a row. Give every pair of tasks (p,q), (p',q') the weight
X_q Y_p Z_p' W_q' / ny and lead the weight through task (p',q). The row message from p to p' in row q is the sum of these
weights over q'. The column message from q to q' in column p' is their sum over p. So the messages are no less than the
weights that must cross. With one exchange between all tasks (slabs) the weights are the messages.

In the other direction the bound is (1 - a(S)) b(S). The larger of both is max(a, b) (1 - min(a, b)) >= m (1 - m) with
m = max(a, b). For k tasks, a and b lie between the sum of the k smallest shares and the sum of the k largest. m (1 - m) is
concave, so its least value is at one end.

A second bound is better for few tasks: no message is smaller than r times its mean, which gives r L(k) / P^2.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product as cartesian
from math import prod

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.decompositions.decomposition import AXES
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, block_lengths
from pencilmap.model.traffic.product_blocks import stage_blocks

_FINE = 1 << 48  # parts of D_T in which crossings of uneven blocks are counted, rounded down


class Crossing:
    """Least traffic across a cut in the direction with more bytes. Without a transform all blocks are equal, and both
    directions carry the same.
    """

    def __init__(self, grid: ProcessGrid, transform: Transform | None = None) -> None:
        self.grid = grid
        self.transform = None if transform is None or transform.divides_evenly(grid) else transform

    @cached_property
    def smallest(self) -> Fraction:
        """r: the smallest message of an exchange over its mean message, the least of all exchanges; 1 for even blocks."""
        if self.transform is None:
            return Fraction(1)
        return min(Fraction(prod(int(vector.min()) for vector in (blocks.send, blocks.receive, *blocks.groups.values()))
                            * blocks.unit_bytes * self.grid.n_tasks * len(blocks.send), blocks.total_bytes)
                   for blocks in stage_blocks(self.grid, self.transform))

    @property
    def whole(self) -> int:
        """Number of parts of D_T in `least`."""
        return self.grid.n_tasks**2 if self.transform is None else _FINE

    def least(self) -> Ints:
        """Return the least traffic for every k of 0..P, in parts of which D_T has `whole`: int array, shape (P + 1,)."""
        P = self.grid.n_tasks
        even = self.grid.decomposition.least_crossing(self.grid.shape, np.arange(P + 1, dtype=np.int64))
        if self.transform is None:
            return even
        if self.grid.decomposition.has_equal_blocks:  # no message is below the mean
            return np.floor(float(self.smallest) * (1 - 1e-12) * even / P**2 * _FINE).astype(np.int64)
        low, high = (np.maximum.reduce(ends) for ends in zip(*(self._ends(shares) for shares in self._shares())))
        least = np.minimum(low * (1 - low), high * (1 - high))
        least = np.maximum(least, float(self.smallest) * even / P**2)
        return np.floor(np.maximum(least - 1e-12, 0.0) * _FINE).astype(np.int64)  # rounding errors are below 1e-12

    def exactly(self, k: int) -> Fraction:
        """Return the least traffic with k tasks on one side, as a part of D_T, without an array over the tasks."""
        P = self.grid.n_tasks
        if self.transform is None:
            return Fraction(k * (P - k), P**2)
        if self.grid.decomposition.has_equal_blocks:
            return self.smallest * k * (P - k) / P**2
        ends = [(_sum(shares, k), 1 - _sum(shares, P - k)) for shares in self._shares()]
        return min(m * (1 - m) for m in map(max, zip(*ends)))

    def _ends(self, shares):
        """Return the least and the largest sum of k shares for every k: two float arrays, shape (P + 1,)."""
        value, count = zip(*shares)
        sums = np.concatenate([[0.0], np.cumsum(np.repeat(np.array(value, dtype=float), count))])
        return sums, 1.0 - sums[::-1]

    def _shares(self) -> Iterator[list[tuple[Fraction, int]]]:
        """Yield the shares of the tasks before and after the transform: share and number of tasks, smallest share first."""
        assert self.transform is not None
        extents = dict(zip(AXES, self.transform.exchanged))
        after = dict(zip(AXES, self.grid.decomposition.start))
        for stage in self.grid.decomposition.exchanges:
            after |= {stage.gathered: "", stage.divided: stage.letters}
        for division in (dict(zip(AXES, self.grid.decomposition.start)), after):
            divided = [axis for axis in AXES if division[axis]]
            factors = [np.unique(block_lengths(extents[axis], self.grid.extent(division[axis])), return_counts=True)
                       for axis in divided]
            cells = prod(extents[axis] for axis in divided)
            yield sorted((Fraction(prod(int(v) for v, _ in some), cells), prod(int(c) for _, c in some))
                         for some in cartesian(*(zip(*factor) for factor in factors)))


def _sum(shares, k):
    """Return the sum of the k smallest shares."""
    total = Fraction(0)
    for share, count in shares:
        total += share * min(count, k)
        k -= min(count, k)
    return total
