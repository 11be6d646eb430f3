"""Pencils: a task holds lines along z, then along y, then along x, and two exchanges turn one into the other.

Grid RxC: R tasks in a row (first exchange), C tasks in a column (second exchange). Grid rank r = q*R + p: row q holds the
ranks of one q, position p in the row is also the number of the column. In the row exchange of row q, task p sends its
y-block of the z-block of p'; in the column exchange task q sends its x-block of the y-block of q'.
"""

from functools import lru_cache

import numpy as np

from pencilmap.model.decompositions.decomposition import Decomposition, ExchangeStage, GridDimension, LocalPass

MOST_TASKS = 4096        # above this number the least crossing is taken as k (P-k)


def least_crossing(shape: tuple[int, ...], k: np.ndarray) -> np.ndarray:
    """Return L(k): the least C sum x (R-x) + R sum y (C-y) over all sets of k cells of a grid of C rows of R.

    Parameters
    ----------
    shape : (int, int)
        R and C.
    k : int array
        Numbers of tasks on one side of a cut.

    Returns
    -------
    int array
        Of the shape of k. For more than MOST_TASKS tasks k (P-k), a lower bound: both exchanges together connect every two
        tasks.

    Notes
    -----
    A row with x of its R tasks on one side of a cut sends x (R-x) messages of D_T / (P R) across, a column with y of C
    sends y (C-y) of D_T / (P C). With sum x = sum y = k the least is 2 P k - C sum x^2 - R sum y^2. Pushing the cells of
    every row to the left and sorting the rows by length keeps all x. The columns' y then majorise the y before (Gale,
    Ryser), and sum y^2, which is Schur-convex, does not fall. So some Young diagram is best, rows l_1 >= l_2 >= ..., for
    which sum y^2 = sum (2q-1) l_q: one knapsack over row lengths in falling order.

    References
    ----------
    Compression as in J. H. Lindsey, "Assignment of numbers to vertices", Amer. Math. Monthly 71 (1964).

    Examples
    --------
    >>> least_crossing((2, 2), np.arange(5)).tolist()      # one task sends to two others, two of a row to the other row
    [0, 4, 4, 4, 0]
    """
    P = shape[0] * shape[1]
    return k * (P - k) if P > MOST_TASKS else _least_crossing(max(shape), min(shape))[k]


@lru_cache(maxsize=32)
def _least_crossing(R, C):
    P = R * C
    half = P // 2  # the other tasks send as much
    squares = np.full((C + 1, half + 1), -1 << 62, dtype=np.int64)
    squares[0, 0] = 0
    for length in range(R, 0, -1):
        for q in range(min(C, half // length)):
            low, high = q * length, min(half - length, q * R) + 1  # tasks in q columns
            there = squares[q + 1, low + length:high + length]
            gain = C * length**2 + R * (2 * q + 1) * length
            np.maximum(there, squares[q, low:high] + gain, out=there)
    found = 2 * P * np.arange(half + 1, dtype=np.int64) - squares.max(axis=0)
    return np.concatenate([found, found[P - half - 1::-1]])


PENCIL = Decomposition(
    name="pencil",
    dimensions=(GridDimension("row", "R"), GridDimension("column", "C")),
    start=("c", "r", ""),
    stages=(LocalPass("z"), ExchangeStage("row", "r", gathered="y", divided="z"),
            LocalPass("y"), ExchangeStage("column", "c", gathered="x", divided="y"),
            LocalPass("x")),
    example="8x64 for rows of 8 tasks and columns of 64",
    least_crossing=least_crossing,
)
