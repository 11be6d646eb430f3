"""Traffic between places of a network as pairs of places, with numpy alone, because scipy is slow to import.

Idea: only the places that a group uses have traffic. So list these cells (group, place) with the sums of the weights there,
then all pairs of cells of a group, and add up equal pairs. If they use many places, a product of matrices is faster.
Cost: the sum over the groups of the square of their places.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints

_AT_ONCE = 1 << 22  # pairs of cells
_DENSE = 1 << 16    # entries of a matrix that costs less than sorting
_MULTIPLIED = 256   # products of two numbers, by matrices, in the time of a pair of cells


@dataclass(frozen=True, eq=False)
class Traffic:
    """Bytes from place to place, each pair of different places with traffic once, ordered by row and column.

    Parameters
    ----------
    n : int
        Number of places.
    row, col : int array, shape (nnz,)
    data : array, shape (nnz,)
    """

    n: int
    row: Ints
    col: Ints
    data: np.ndarray

    @property
    def nnz(self) -> int:
        return len(self.data)

    def toarray(self) -> np.ndarray:
        """Return a matrix, shape (n, n)."""
        found = np.zeros((self.n, self.n), dtype=self.data.dtype)
        found[self.row, self.col] = self.data
        return found

    def tocsr(self) -> Any:
        """Return a sparse array of scipy, shape (n, n)."""
        from scipy.sparse import coo_array  # slow to import

        return coo_array((self.data, (self.row, self.col)), shape=(self.n, self.n)).tocsr()


def together(parts: Iterable[tuple[Traffic, float]]) -> Traffic:
    """Return the sum of some traffic between the same places, each with a factor.

    >>> one = Traffic(2, np.array([0]), np.array([1]), np.array([3]))
    >>> together([(one, 1), (one, 0.5)]).toarray().tolist()
    [[0.0, 4.5], [0.0, 0.0]]
    """
    some = list(parts)
    if len(some) == 1 and some[0][1] == 1:
        return some[0][0]
    key = np.concatenate([each.row * each.n + each.col for each, _ in some])
    return _added(some[0][0].n, key, np.concatenate([each.data * factor for each, factor in some]))


def traffic_within(part: Ints, place: Ints, send: Ints, receive: Ints, n: int) -> Traffic:
    """Return the bytes between places if every task sends ``send * receive`` bytes to each other task of its part.

    Parameters
    ----------
    part, place : int array, shape (P,)
        Part and place of each task.
    send, receive : int array, shape (P,)
        Factors of the tasks as sender and as receiver.
    n : int
        Number of places.

    Examples
    --------
    >>> part, place, one = np.zeros(4, dtype=int), np.array([0, 0, 2, 1]), np.ones(4, dtype=int)
    >>> traffic_within(part, place, one, one, 3).toarray().tolist()
    [[0, 2, 2], [2, 0, 1], [2, 1, 0]]
    """
    cells, cell = np.unique(part * n + place, return_inverse=True)
    group, where = cells // n, cells % n
    sent, received = summed(cell, send, len(cells)), summed(cell, receive, len(cells))
    number = np.bincount(group)
    is_exact = float(sent.sum()) * float(received.max(initial=0)) < 1 << 53
    used, column = np.unique(where, return_inverse=True)
    if is_exact and 0 < len(number) * len(used) ** 2 <= _MULTIPLIED * int((number**2).sum()):
        cell = group * len(used) + column
        found = _of_matrix(*(np.bincount(cell, held, len(number) * len(used)).reshape(len(number), len(used))
                             for held in (sent, received)))
        return Traffic(n, used[found.row], used[found.col], found.data)
    begin, number = (np.cumsum(number) - number)[group], number[group]
    keys, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for some in np.split(np.arange(len(cells)), np.flatnonzero(np.diff(np.cumsum(number) // _AT_ONCE)) + 1):
        count = number[some]
        first = np.repeat(some, count)
        second = np.arange(len(first)) + np.repeat(begin[some] - (np.cumsum(count) - count), count)
        data = sent[first] * received[second]
        kept = (where[first] != where[second]) & (data != 0)
        keys.append((where[first] * n + where[second])[kept])
        values.append(data[kept])
    return _added(n, np.concatenate(keys), np.concatenate(values))


def _of_matrix(sent, received):
    """Return the traffic if each group sends and receives so much at each place: float arrays of whole numbers, (G, n)."""
    whole = (sent.T @ received).astype(np.int64)
    np.fill_diagonal(whole, 0)
    n, place = len(whole), np.flatnonzero(whole)
    row = np.repeat(np.arange(n), np.count_nonzero(whole, axis=1))
    return Traffic(n, row, place - row * n, whole.ravel()[place])


def _added(n, key, data):
    """Return traffic from the keys ``row * n + col`` of its parts; pairs that add up to nothing are left out."""
    if n * n <= max(_DENSE, 2 * len(key)):
        whole = summed(key, data, n * n) if data.dtype.kind == "i" else np.bincount(key, data, n * n)
        found = np.flatnonzero(whole)
        return Traffic(n, found // n, found % n, whole[found])
    order = np.argsort(key, kind="stable")
    key, data = key[order], data[order]
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    data = np.add.reduceat(data, begin) if len(begin) else data
    found = key[begin][data != 0]
    return Traffic(n, found // n, found % n, data[data != 0])


def summed(place: Ints, weight: Ints, n: int) -> Ints:
    """Return the sums of weights by place, exact: int array, shape (n,). `weight` is broadcast to the shape of `place`."""
    found = np.zeros(n, dtype=np.int64)
    weight = np.broadcast_to(weight, place.shape)
    if int(np.abs(weight).max(initial=0)) * place.size < 1 << 53:  # floats are exact, and much faster
        return np.bincount(place.ravel(), weight.ravel(), n).astype(np.int64)
    np.add.at(found, place.ravel(), weight.ravel())
    return found
