"""The least traffic of rows and columns across a cut: the less the rows send, the more the columns must, and vice versa.

Let S be the tasks on one side of a cut, a share t of all, and s = min(t, 1-t). Let x_q be the share of row q in S, and y_p
the share of column p. In each direction the rows send alpha = E[x (1-x)] of D_T across the cut, and the columns beta =
E[y (1-y)].

*Closed form.* (u - alpha) (u - beta) <= u^3 with u = 1-s, hence beta >= u (s u - alpha) / (u - alpha). Both sides are equal
if the larger side of the cut is a rectangle. Proof in docs/theory.md.

*Exact.* Push the tasks of S in every row to the left and sort the rows. This keeps x and does not lessen E[y^2]. So the
best sets are Young diagrams: rows l_1 >= l_2 >= ... with sum y^2 = sum (2q-1) l_q. A dynamic program over row lengths in
falling order finds, for every sum of l^2, the largest sum of y^2.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.bounds.chosen_slots import Cut, widest

MOST_LENGTHS = 1 << 20
MOST_STEPS = 600_000_000  # additions of the dynamic program as `steps` counts them; at most a tenth of a second


def least_other(sent: Any, share: Any) -> Any:
    """Return the least traffic of the columns across a cut if the rows send `sent` or less, or vice versa, in parts of D_T.

    Parameters
    ----------
    sent : number, Fraction or array
    share : number, Fraction or array
        Share of the tasks on the smaller side of the cut.

    Examples
    --------
    >>> least_other(Fraction(1, 8), Fraction(1, 2))          # half the rows in two halves: 1/8 of 1/4
    Fraction(1, 6)
    >>> least_other(Fraction(1, 4), Fraction(1, 2)), least_other(Fraction(0), Fraction(1, 3))
    (Fraction(0, 1), Fraction(2, 9))
    """
    rest = 1 - share
    if isinstance(sent, np.ndarray) or isinstance(share, np.ndarray):
        return rest * np.maximum(share * rest - sent, 0.0) / np.maximum(rest - sent, 1e-300)
    return rest * max(share * rest - sent, 0 * sent) / (rest - sent) if sent < share * rest else 0 * sent


def least_other_of_few(sent: Floats, R: int, C: int, k: int) -> Floats:
    """Return the least traffic of the columns if the rows send `sent` or less, for a few tasks.

    This is sharper than `least_other` if k is small beside R and C, when a part of a task in a column would be best.

    Parameters
    ----------
    sent : float array
        In parts of D_T.
    R, C : int
        Extents of the grid.
    k : int
        Tasks on one side of the cut.

    Returns
    -------
    float array
        Infinite if the rows of k tasks send more in any case.

    Notes
    -----
    Let a task have m mates of its row and n of its column inside the cut, itself included. The rows send the sum of
    R - m over the k tasks, so they fix the mean of m, and some row has a tasks, at least the mean. A column has at most
    one of these, so n is at most k - a + 1 for each of the other k - a tasks. For the a tasks the sum of n is at most k.
    In the same way the mean of n bounds the sum of m.
    """
    within = np.maximum(k, R * (k - R * C * sent))                              # the sum of m
    others = np.maximum(0.0, k - within / k)
    beside = (np.sqrt(1 + 4 * (within - k)) - 1) / 2                            # k minus the largest mean of n
    most = np.minimum(k + others * (others + 1), k * (k - beside))              # the sum of n
    return np.where(within > k * k * (1 + 1e-9), np.inf, np.maximum(0.0, k * C - most) / (R * C * C))


def least_total(capacity: Any, share: Any, rows: Any, columns: Any) -> Any:
    """Return the least sum of the two lengths, given that they are at least `rows` and `columns`.

    The least length of an exchange is a concave function of the length of the other. So the least sum is at an end.

    Parameters
    ----------
    capacity : number, Fraction or array
        The part of D_T that a length of 1 carries across the cut.
    share : number, Fraction or array
        Share of the tasks on the smaller side of the cut.
    rows, columns : number, Fraction or array
        Floors of the two lengths.

    Examples
    --------
    >>> least_total(Fraction(1, 32), Fraction(1, 2), Fraction(2), Fraction(2))     # a cut of 8:mesh
    Fraction(62, 7)
    """
    ends = [(one, other, least_other(one * capacity, share) / _positive(capacity))
            for one, other in ((rows, columns), (columns, rows))]
    if isinstance(capacity, np.ndarray) or isinstance(share, np.ndarray):
        return np.minimum(*(one + np.maximum(other, least) for one, other, least in ends))
    return min(one + max(other, least) for one, other, least in ends)


def least_whole(capacity: float, share: float, floors: tuple[float, float], units: tuple[float, float]) -> float:
    """Return the least sum as `least_total`, with lengths and floors that are multiples of the length of one message.

    Parameters
    ----------
    capacity, share : float
        As for `least_total`.
    floors : (float, float)
        Floors of the row length and the column length.
    units : (float, float)
        Length of a message of each exchange.

    Examples
    --------
    >>> least_whole(1 / 32, 0.5, (2.0, 2.0), (0.5, 0.5))
    9.0
    """
    (row, column), (step, across) = floors, units
    count = min(MOST_LENGTHS, max(0, int((share * (1 - share) / capacity - row) / step)) + 2)
    if count == MOST_LENGTHS:
        return float(least_total(np.array(capacity), np.array(share), row, column))
    some = row + step * np.arange(count)
    least = np.maximum(column, least_other(some * capacity, share) / capacity)
    return float((some + across * np.ceil(least / across - 1e-9)).min())


def _positive(capacity):
    return np.where(capacity > 0, capacity, np.inf) if isinstance(capacity, np.ndarray) else capacity


def steps(R: int, C: int, k: int) -> int:
    """Return the number of additions of `exact_frontier` if it kept every sum of l^2, as a measure of its time."""
    k = min(k, R * C - k)
    return R * C * k * (k * min(R, C) // 2)


@lru_cache(maxsize=64)
def exact_frontier(R: int, C: int, k: int) -> Floats | None:
    """Return the non-dominated traffic of rows and columns across a cut.

    Parameters
    ----------
    R, C : int
        Extents of the grid.
    k : int
        Tasks on one side of the cut.

    Returns
    -------
    float array, shape (points, 2), or None
        Parts of D_T for even blocks, the rows' part rising. None if the computation would take too long.

    Examples
    --------
    >>> exact_frontier(2, 2, 2).tolist()        # a whole column, a whole row
    [[0.0, 0.25], [0.25, 0.0]]
    """
    if R > C:
        turned = exact_frontier(C, R, k)
        return None if turned is None else turned[::-1, ::-1]
    k, P = min(k, R * C - k), R * C
    if k == 0:  # all tasks on one side
        return np.zeros((1, 2))
    if steps(R, C, k) > MOST_STEPS:
        return None
    squares = (_of_few_lengths if R <= 3 else _of_lengths)(R, C, k)
    found = np.flatnonzero(squares > 0)
    rows = (k * R - (2 * found + k)) / (P * R)
    columns = (k * C - squares[found]) / (P * C)
    order = np.argsort(rows)
    rows, columns = rows[order], columns[order]
    kept = columns < np.concatenate([[np.inf], np.minimum.accumulate(columns)[:-1]])
    return np.stack([rows[kept], columns[kept]], axis=1)


def _of_few_lengths(R, C, k):
    """Return `_of_lengths` for R <= 3 from all numbers of rows of length 3 and 2; the others have length 1."""
    threes, twos = np.arange(k // 3 + 1 if R == 3 else 1)[:, None], np.arange(k // 2 + 1 if R > 1 else 1)
    every = k - 2 * threes - twos                                                   # rows
    possible = (every >= threes + twos) & (every <= C)
    squares = np.zeros(k * (R - 1) // 2 + 1, dtype=np.int64)
    np.maximum.at(squares, (3 * threes + twos)[possible], (threes**2 + (threes + twos)**2 + every**2)[possible])
    return squares


def _of_lengths(R, C, k):
    """Return the largest sum of y^2 of k cells in at most C rows of at most R, for each (sum of l^2 - k) / 2; else 0."""
    kind = np.dtype(np.uint16 if 2 * k * C < (1 << 16) - 1 else np.int32)
    start = k * C + 1  # a value of 0 is unreached, also with additions; memory of zeros is taken when it is written
    middle = R // 2    # with the rows and the cells, the sum of the excesses gives that of l^2, but takes far fewer values
    excess = [(length - middle) * (length - middle - 1) // 2 for length in range(R + 1)]
    best = np.zeros((C + 1, k + 1, C * max(excess[1], excess[R]) + 1), dtype=kind)  # rows so far, cells, sum of excesses
    best[0, 0, 0] = start
    room = np.empty(best[0].size, dtype=kind)
    for length in range(R, 0, -1):
        step = excess[length]
        for q in range(min(C, k // length)):
            low, high = max(q * length, k - (C - q) * length), min(k - length, q * R)  # others do not lead to k cells
            widest = min(q * max(step, excess[R]), high * excess[R] // R + q * step * (length < middle))
            here = best[q, low:high + 1, :widest + 1]
            there = best[q + 1, low + length:high + length + 1, step:step + here.shape[1]]
            sums = np.add(here, kind.type((2 * q + 1) * length), out=room[:here.size].reshape(here.shape))
            np.maximum(there, sums, out=there)
    squares = np.zeros(k * (R - 1) // 2 + 1, dtype=kind)                             # for each (sum of l^2 - cells) / 2
    for q, reached in enumerate(best[:, k]):
        some = np.flatnonzero(reached > start)
        place = some + middle * k - q * middle * (middle + 1) // 2
        squares[place] = np.maximum(squares[place], reached[some])
    return np.maximum(squares.astype(np.int64) - start, 0)


def exact_total(frontier: Floats, capacity: float, rows: float, columns: float,
                units: tuple[float, float] | None = None) -> float:
    """Return the least sum as `least_total`, over the points of an exact frontier; lengths are multiples of any `units`."""
    lengths = np.maximum(frontier / capacity, (rows, columns))
    if units is not None:
        lengths = np.ceil(lengths / units - 1e-9) * units
    return float(lengths.sum(axis=1).min())


def rounded_down(value: float) -> Fraction:
    """Return a fraction that is not above a number with rounding errors.

    >>> rounded_down(4.25)
    Fraction(17, 4)
    """
    near = Fraction(value).limit_denominator(10_000)
    if abs(float(near) - value) < 1e-12 * max(1.0, value):
        return near
    return Fraction(int((value - 1e-9) * 1_000_000), 1_000_000)


def across(carried: Fraction, share: Fraction, k: int | None, sizes: tuple[int, int], rows: Fraction, columns: Fraction,
           units: tuple[Fraction, Fraction] | None = None) -> Fraction:
    """Return the least sum of both lengths across a cut, with `k` tasks on one side, or at least a share of the tasks.

    Parameters
    ----------
    carried : Fraction
        The part of D_T that a length of 1 carries across the cut.
    share : Fraction
        Share of the tasks on the smaller side of the cut.
    k : int or None
        Tasks on one side, if known.
    sizes : (int, int)
        Extents of the grid.
    rows, columns : Fraction
        Floors of the two lengths.
    units : (Fraction, Fraction) or None
        Numbers of which the two lengths are multiples, if known.
    """
    value = least_total(carried, share, rows, columns)
    if units is not None:
        value = max(value, rounded_down(least_whole(float(carried), float(share), (float(rows), float(columns)),
                                                    (float(units[0]), float(units[1])))))
    exact = None if k is None else exact_frontier(*sizes, k)
    if exact is not None:
        whole = None if units is None else (float(units[0]), float(units[1]))
        total = exact_total(exact, float(carried), float(rows), float(columns), whole)
        value = max(value, rounded_down(total))
    return value


def across_cuts(N: int, cuts: Iterable[tuple[list[Cut], str]], sizes: tuple[int, int], rows: Fraction = Fraction(0),
                columns: Fraction = Fraction(0), most: int = MOST_STEPS) -> Iterator[tuple[Fraction, str]]:
    """Yield the bounds across cuts, with arguments: of each list of cuts, across the best of them for a placement.

    Parameters
    ----------
    N : int
        Nodes of the network.
    cuts : iterable of (list of Cut, str)
        Lists of cuts of which one has tasks between its limits inside, with an argument.
    sizes : (int, int)
        Extents of the grid.
    rows, columns : Fraction
        Floors of the two lengths.
    most : int
        `steps` of an exact frontier.
    """
    P = sizes[0] * sizes[1]
    for some, argument in cuts:
        if not some or not all(cut.cables for cut in some):
            continue
        found = []
        for low, high, cables in widest(some):
            k = low if len(some) == 1 and low == high and steps(sizes[0], sizes[1], low) <= most else None
            found.append(across(Fraction(cables) / (4 * N), Fraction(min(low, P - high), P), k, sizes, rows, columns))
        yield min(found), f"rows and columns across {argument}"
