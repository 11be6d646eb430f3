"""Coordinates of ranks in a Cartesian grid, from who talks to whom, whatever the numbers of the ranks.

Idea: the pairs that exchange most are the faces of a halo, a product of rings or paths. In such a product two edges at a
vertex belong to different factors if they are sides of exactly one square; then the opposite sides belong to the same
factors. (A ring of 4 counts as two factors of 2.) If they span no square, or several, they belong to one factor. This closes
to classes of edges, the axes. The components without the edges of an axis are its positions.
Source: after J. Feigenbaum, J. Hershberger, A. A. Schaeffer, "A polynomial time algorithm for finding the prime factors of
Cartesian-product graphs", Discrete Appl. Math. 12 (1985), for small degrees.
Rows and columns of an FFT are a product of two complete graphs. The rank with number 0 and two of its cliques give the
coordinates of all others: each has a single neighbour in either clique.
Cost: degree^2 for each rank; for an FFT the number of pairs.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from pencilmap.model.base.arrays import Ints

MOST_DEGREE = 16  # two neighbours along each of eight axes
MOST_LEVELS = 8  # thresholds of bytes that are tried


@dataclass(frozen=True)
class RankGrid:
    """Extents, and coordinates of each rank: int array, shape (P, d)."""

    extents: tuple[int, ...]
    coordinates: Ints
    is_fft: bool = False  #: whether all ranks along an axis exchange, and not only neighbours

    @property
    def number(self) -> Ints:
        """Number of each rank in the grid, whose last axis counts fastest."""
        return np.ravel_multi_index(tuple(self.coordinates.T), self.extents)


def grid_of(n_ranks: int, source: Ints, target: Ints, n_bytes: Ints) -> RankGrid | None:
    """Return the grid of the pairs that exchange most, or None if they form none.

    Parameters
    ----------
    n_ranks : int
    source, target, n_bytes : int arrays of one length

    Examples
    --------
    A 3 x 4 grid without periodic ends, with shuffled ranks:

    >>> name = np.random.default_rng(1).permutation(12)
    >>> pairs = [(a, b) for a in range(12) for b in range(12) if abs(a // 4 - b // 4) + abs(a % 4 - b % 4) == 1]
    >>> source, target = name[np.array(pairs).T]
    >>> sorted(grid_of(12, source, target, np.full(len(pairs), 8)).extents)
    [3, 4]
    """
    low, high = np.minimum(source, target), np.maximum(source, target)
    keys, at = np.unique(low * n_ranks + high, return_inverse=True)
    weight = np.bincount(at, n_bytes, len(keys))
    kept = (keys // n_ranks != keys % n_ranks) & (weight > 0)
    keys, weight = keys[kept], weight[kept]
    for level in _levels(weight):
        some = keys[weight >= level]
        found = _rows_and_columns(n_ranks, some // n_ranks, some % n_ranks)
        if found is None and n_ranks - 1 <= len(some) <= n_ranks * MOST_DEGREE // 2:
            found = _factored(n_ranks, some // n_ranks, some % n_ranks)
        if found is not None:
            return found
    return None


def _levels(weight):
    """Return the thresholds below the largest gaps of the bytes, all pairs last."""
    values = np.unique(weight)
    gaps = values[1:] / values[:-1]
    places = np.sort(np.argsort(-gaps, kind="stable")[:MOST_LEVELS])[::-1] + 1
    return [*values[places].tolist(), *values[:1].tolist()]


def _rows_and_columns(n, low, high):
    """Return the R x C grid, R and C at least 3, in which the pairs are those of equal rows or columns; None without."""
    degree = np.bincount(np.concatenate([low, high]), minlength=n)
    if not len(low) or degree.min() != degree.max() or degree[0] < 4:
        return None

    def beside(rank):
        return np.concatenate([high[low == rank], low[high == rank]])

    around = beside(0)
    row = np.union1d([0, around.min()], np.intersect1d(around, beside(around.min())))
    column = np.union1d([0], np.setdiff1d(around, row))
    if min(len(row), len(column)) < 3 or len(row) * len(column) != n:
        return None
    coordinates = np.full((n, 2), -1)
    for axis, (clique, other) in enumerate(((column, row), (row, column))):
        position = np.full(n, -1)
        position[clique] = np.arange(len(clique))
        for a, b in ((low, high), (high, low)):
            coordinates[b[position[a] >= 0], axis] = position[a[position[a] >= 0]]
        coordinates[clique, axis], coordinates[other, axis] = position[clique], 0
    first, second = coordinates.T
    fits = coordinates.min() >= 0 and len(np.unique(first * len(row) + second)) == n and \
        ((first[low] == first[high]) ^ (second[low] == second[high])).all()
    return RankGrid((len(column), len(row)), coordinates, True) if fits else None


def _factored(n, low, high):
    neighbours: list[dict[int, int]] = [{} for _ in range(n)]  # neighbour -> edge
    for edge, (a, b) in enumerate(zip(low.tolist(), high.tolist())):
        neighbours[a][b] = neighbours[b][a] = edge
    if max(map(len, neighbours)) > MOST_DEGREE or not min(map(len, neighbours)):
        return None
    parent = list(range(len(low)))

    def root(edge):
        while parent[edge] != edge:
            parent[edge] = parent[parent[edge]]
            edge = parent[edge]
        return edge

    for v in range(n):
        around = list(neighbours[v])
        for i, a in enumerate(around):
            for b in around[:i]:
                corners = [w for w in neighbours[a] if w != v and w in neighbours[b]]
                if len(corners) == 1 and b not in neighbours[a]:
                    w = corners[0]
                    parent[root(neighbours[v][a])] = root(neighbours[b][w])
                    parent[root(neighbours[v][b])] = root(neighbours[a][w])
                else:
                    parent[root(neighbours[v][a])] = root(neighbours[v][b])
    axis = np.unique([root(edge) for edge in range(len(low))], return_inverse=True)[1]
    return _positions(n, low, high, axis)


def _positions(n, low, high, axis):
    """Return the grid whose axes are these classes of edges, None if the extents do not multiply to n."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    extents, columns = [], []
    for number in range(int(axis.max()) + 1):
        ends = low[axis != number].astype(np.int32), high[axis != number].astype(np.int32)
        count, layer = connected_components(coo_array((np.ones(len(ends[0])), ends), shape=(n, n)), directed=False)
        along = axis == number
        order = _along(count, layer[low[along]], layer[high[along]])
        if order is None:
            return None
        extents.append(count)
        columns.append(order[layer])
    coordinates = np.stack(columns, axis=1)
    if prod(extents) != n or len(np.unique(np.ravel_multi_index(tuple(coordinates.T), extents))) != n:
        return None
    return _joined(extents, coordinates)


def _along(count, low, high):
    """Return the position of each layer on its path or ring, None if it is neither."""
    beside: list[set[int]] = [set() for _ in range(count)]
    for a, b in zip(low.tolist(), high.tolist()):
        beside[a].add(b)
        beside[b].add(a)
    if max(map(len, beside), default=0) > 2:
        return None
    position = np.full(count, -1)
    at = next((k for k in range(count) if len(beside[k]) == 1), 0)
    for number in range(count):
        position[at] = number
        following = [k for k in sorted(beside[at]) if position[k] < 0]
        if not following and number < count - 1:
            return None
        at = following[0] if following else at
    return position


def _joined(extents, coordinates):
    """Join pairs of axes of 2, which are rings of 4."""
    twos = [i for i, n in enumerate(extents) if n == 2]
    while len(twos) > 1:
        i, j = twos.pop(), twos.pop()
        gray = coordinates[:, i] * 2 + (coordinates[:, i] ^ coordinates[:, j])
        kept = [k for k in range(len(extents)) if k not in (i, j)]
        extents = [*(extents[k] for k in kept), 4]
        coordinates = np.concatenate([coordinates[:, kept], gray[:, None]], axis=1)
        twos = [k for k, n in enumerate(extents) if n == 2]
    return RankGrid(tuple(extents), coordinates)
