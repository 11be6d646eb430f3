"""The best relative sizes of the chunks of `overlap`.

Idea: T is linear in the sizes except for the largest over the links in each phase. So the best sizes are the solution of a
linear program. The program is a chain: a phase has the sizes of two neighbours. T is t if the least of (T - t times all
sizes) is 0 with the first chunk as the unit. Begin with the last chunk. The worth of a chunk follows from the next chunk,
whose best ratio is a ratio at which the busiest link changes. Bisection finds t. If rows and columns are alike, the chunks
are equal. If they use different links, the sizes form a geometric series with ratio t_column / t_row. Neither is a special
case here. Blocks hold whole elements, so the sizes are then rounded, and single elements move from chunk to chunk as long
as T falls.
Source: the program of flow shops with lots (see `overlap`); W. Dinkelbach, "On nonlinear fractional programming",
Management Science 13 (1967). No solver of linear programs is used, because loading a solver takes longer than all other
work for advice.
Cost: K^2 evaluations of T for each element moved; milliseconds.
"""

from collections.abc import Sequence

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.traffic.joint_loads import JointLoads

HALVINGS = 60  # of t: below the rounding of its digits


def overlap_length(sizes: Sequence[float], pairs: Floats) -> float:
    """Return T of these sizes, on the scale of `pairs`.

    Parameters
    ----------
    sizes : sequence of float
    pairs : float array, shape (k, 2)
        Loads of both exchanges on the links that can decide.

    Examples
    --------
    >>> overlap_length([1, 1], np.array([[4.0, 0.0], [0.0, 4.0]]))
    6.0
    """
    c = np.asarray(sizes, dtype=float) / sum(sizes)
    ramp = c[0] * pairs[:, 0].max() + c[-1] * pairs[:, 1].max()
    return float(ramp + (np.outer(c[1:], pairs[:, 0]) + np.outer(c[:-1], pairs[:, 1])).max(axis=1).sum())


def best_shares(pairs: Floats, chunks: int) -> Floats:
    """Return the shares of `chunks` chunks with the least T: float array of non-negative numbers, shape (chunks,).

    >>> best_shares(np.array([[2.0, 0.0], [0.0, 4.0]]), 3).round(3).tolist()
    [0.143, 0.286, 0.571]
    """
    row, column = pairs.T
    most_row, most_column = float(row.max()), float(column.max())
    ratios, phases = _corners(row, column)

    def least(t):
        """Return the least T minus t times all sizes if the first chunk is 1, and the ratios of neighbours."""
        worth, found = most_column - t, list[float]()
        for _ in range(chunks - 1):
            if worth < -most_row:
                return -np.inf, found  # the next chunk is worth any size
            sums = phases + ratios * worth
            best = int(sums.argmin())
            worth = float(sums[best]) - t
            found.append(ratios[best])
        return most_row + worth, found[::-1]

    low, high = 0.0, overlap_length([1.0] * chunks, pairs)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if least(middle)[0] >= 0 else (low, middle)
    shares = np.cumprod([1.0, *least(low)[1]])
    return np.asarray(shares / shares.sum(), dtype=float)


def _corners(row, column):
    """Return the ratios r of neighbouring chunks at which the busiest link changes, and the phase, max(column + r row)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.subtract.outer(column, column) / np.subtract.outer(row, row).T
    ratios = np.unique(np.concatenate([[0.0], crossings[np.isfinite(crossings) & (crossings > 0)]]))
    return ratios, (column + np.outer(ratios, row)).max(axis=1)


def best_sizes(loads: JointLoads, chunks: int, block: int, backward: bool = False) -> tuple[int, ...]:
    """Return the lengths of chunks with the least T, each at least 1.

    Chunks are equal, by the cut rule, if nothing is better by more than a rounding error.

    Parameters
    ----------
    loads : JointLoads
    chunks : int
        Number of chunks.
    block : int
        Elements of the block.
    backward : bool
        Whether the second exchange comes first.
    """
    pairs = loads.weighted[:, ::-1] if backward else loads.weighted
    equal = [block * (k + 1) // chunks - block * k // chunks for k in range(chunks)]
    best = min((_polished(start, pairs) for start in (equal, _rounded(best_shares(pairs, chunks), block))),
               key=lambda sizes: overlap_length(sizes, pairs))
    return tuple(best if overlap_length(best, pairs) < overlap_length(equal, pairs) * (1 - 1e-9) else equal)


def _rounded(shares, block):
    """Return whole numbers of 1 or more in these proportions that add up to `block`."""
    exact = np.maximum(shares * block, 1.0)
    exact = 1.0 + (exact - 1.0) * ((block - len(shares)) / max((exact - 1.0).sum(), 1e-300))
    sizes = np.floor(exact + 1e-9).astype(int)
    for k in np.argsort(sizes - exact)[:block - sizes.sum()]:
        sizes[k] += 1
    return sizes.tolist()


def _polished(sizes, pairs):
    """Move single elements from one chunk to another as long as T falls."""
    now, one = overlap_length(sizes, pairs), np.eye(len(sizes), dtype=int)
    moves = (one[:, None] - one)[~one.astype(bool)]  # to one chunk, from another
    while True:
        moved = np.asarray(sizes) + moves
        moved = moved[moved.min(axis=1, initial=1) > 0]
        lengths = _lengths(moved, pairs)
        least = lengths.min(initial=np.inf)
        if least >= now * (1 - 1e-12):
            return sizes
        now, sizes = least, min(moved[lengths == least].tolist())


def _lengths(sizes, pairs):
    """Return `overlap_length` of many sizes of one sum: shape (n, K) to (n,)."""
    c = sizes / sizes.sum(axis=1, keepdims=True)
    ramps = c[:, 0] * pairs[:, 0].max() + c[:, -1] * pairs[:, 1].max()
    return ramps + (c[:, 1:, None] * pairs[:, 0] + c[:, :-1, None] * pairs[:, 1]).max(axis=2).sum(axis=1)
