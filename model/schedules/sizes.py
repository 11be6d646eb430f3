"""The best relative sizes of the chunks of `overlap`.

Idea: T is linear in the sizes but for the largest over the links in each phase, so the best sizes are a linear program: one
variable for each chunk and one for each phase in which both exchanges travel, one inequality for each such phase and link
that can decide. Where rows and columns are alike the answer is equal chunks, where they use different links a geometric
series with ratio t_column / t_row; neither is a special case here. Blocks hold whole elements, so the sizes are then
rounded, and single elements moved from chunk to chunk as long as T falls.
Source: the program of flow shops with lots (see `overlap`). Solved by HiGHS through scipy.
Cost: K^2 evaluations of T for each element moved; milliseconds.
"""

from collections.abc import Sequence

import numpy as np

from pencilmap.model.arrays import Floats
from pencilmap.model.joint import JointLoads


def overlap_length(sizes: Sequence[float], pairs: Floats) -> float:
    """T of these sizes, on the scale of `pairs`, loads of both exchanges on the links that can decide: shape (k, 2).

    >>> overlap_length([1, 1], np.array([[4.0, 0.0], [0.0, 4.0]]))
    6.0
    """
    c = np.asarray(sizes, dtype=float) / sum(sizes)
    ramp = c[0] * pairs[:, 0].max() + c[-1] * pairs[:, 1].max()
    return float(ramp + (np.outer(c[1:], pairs[:, 0]) + np.outer(c[:-1], pairs[:, 1])).max(axis=1).sum())


def best_shares(pairs: Floats, chunks: int) -> Floats:
    """The shares of so many chunks with the least T: float array, shape (chunks,); any real numbers of 0 or more.

    >>> best_shares(np.array([[2.0, 0.0], [0.0, 4.0]]), 3).round(3).tolist()
    [0.143, 0.286, 0.571]
    """
    from scipy.optimize import linprog  # slow to import, and most predictions do without

    K = chunks
    goal = np.zeros(2 * K - 1)
    goal[0], goal[K:] = pairs[:, 0].max(), 1.0
    goal[K - 1] += pairs[:, 1].max()
    above = np.zeros(((K - 1) * len(pairs), 2 * K - 1))
    for j in range(K - 1):
        rows = slice(j * len(pairs), (j + 1) * len(pairs))
        above[rows, j + 1], above[rows, j], above[rows, K + j] = pairs[:, 0], pairs[:, 1], -1.0
    whole = np.concatenate([np.ones(K), np.zeros(K - 1)])[None]
    found = linprog(goal, A_ub=above if len(above) else None, b_ub=np.zeros(len(above)) if len(above) else None, A_eq=whole,
                    b_eq=[1.0], bounds=(0, None))
    return np.maximum(found.x[:K], 0.0)


def best_sizes(loads: JointLoads, chunks: int, block: int) -> tuple[int, ...]:
    """The lengths of so many chunks of a block of `block` elements, each at least 1, with the least T.

    Equal chunks, as the cut rule makes them, where nothing is better by more than a rounding error.
    """
    pairs = loads.weighted
    equal = [block * (k + 1) // chunks - block * k // chunks for k in range(chunks)]
    best = min((_polished(start, pairs) for start in (equal, _rounded(best_shares(pairs, chunks), block))),
               key=lambda sizes: overlap_length(sizes, pairs))
    return tuple(best if overlap_length(best, pairs) < overlap_length(equal, pairs) * (1 - 1e-9) else equal)


def _rounded(shares, block):
    """Whole numbers of 1 or more in these proportions that add up to `block`."""
    exact = np.maximum(shares * block, 1.0)
    exact = 1.0 + (exact - 1.0) * ((block - len(shares)) / max((exact - 1.0).sum(), 1e-300))
    sizes = np.floor(exact + 1e-9).astype(int)
    for k in np.argsort(sizes - exact)[:block - sizes.sum()]:
        sizes[k] += 1
    return sizes.tolist()


def _polished(sizes, pairs):
    """Single elements moved from one chunk to another as long as that is better."""
    now = overlap_length(sizes, pairs)
    while True:
        tried = []
        for a in range(len(sizes)):
            for b in range(len(sizes)):
                if a != b and sizes[a] > 1:
                    moved = list(sizes)
                    moved[a] -= 1
                    moved[b] += 1
                    tried.append((overlap_length(moved, pairs), moved))
        if not tried or min(tried)[0] >= now * (1 - 1e-12):
            return sizes
        now, sizes = min(tried)
