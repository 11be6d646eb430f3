"""Patterns in the traffic of a program: grids of ranks, halos, and transforms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints, divisors, factorisations
from pencilmap.model.traffic.program import COLLECTIVE, MODELLED, POINT, Traffic

# Coordinates of ranks in a Cartesian grid, from who talks to whom, whatever the numbers of the ranks.
#
# Idea: the pairs that exchange most are the faces of a halo, a product of rings or paths. In such a product two edges at a
# vertex belong to different factors if they are sides of exactly one square; then the opposite sides belong to the same
# factors. (A ring of 4 counts as two factors of 2.) If they span no square, or several, they belong to one factor. This
# closes to classes of edges, the axes. The components without the edges of an axis are its positions.
# Source: after J. Feigenbaum, J. Hershberger, A. A. Schaeffer, "A polynomial time algorithm for finding the prime factors
# of Cartesian-product graphs", Discrete Appl. Math. 12 (1985), for small degrees. Rows and columns of an FFT are a product
# of two complete graphs. The rank with number 0 and two of its cliques give the coordinates of all others: each has a
# single neighbour in either clique.
# Cost: degree^2 for each rank; for an FFT the number of pairs.

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
        pairs = keys[weight >= level]
        columns = _rows_and_columns(n_ranks, pairs // n_ranks, pairs % n_ranks)
        if columns is None and n_ranks - 1 <= len(pairs) <= n_ranks * MOST_DEGREE // 2:
            columns = _factored(n_ranks, pairs // n_ranks, pairs % n_ranks)
        if columns is not None:
            return columns
    return None


def _levels(weight: Floats) -> list[float]:
    """Return the thresholds below the largest gaps of the bytes, all pairs last."""
    values = np.unique(weight)
    gaps = values[1:] / values[:-1]
    places = np.sort(np.argsort(-gaps, kind="stable")[:MOST_LEVELS])[::-1] + 1
    return [*values[places].tolist(), *values[:1].tolist()]


def _rows_and_columns(n: int, low: Ints, high: Ints) -> RankGrid | None:
    """Return the R x C grid, R and C at least 3, in which the pairs are those of equal rows or columns; None without."""
    degree = np.bincount(np.concatenate([low, high]), minlength=n)
    if not len(low) or degree.min() != degree.max() or degree[0] < 4:
        return None

    def beside(rank: int) -> Ints:
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


def _factored(n: int, low: Ints, high: Ints) -> RankGrid | None:
    neighbours: list[dict[int, int]] = [{} for _ in range(n)]  # neighbour -> edge
    for edge, (a, b) in enumerate(zip(low.tolist(), high.tolist())):
        neighbours[a][b] = neighbours[b][a] = edge
    if max(map(len, neighbours)) > MOST_DEGREE or not min(map(len, neighbours)):
        return None
    parent = list(range(len(low)))

    def root(edge: int) -> int:
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


def _positions(n: int, low: Ints, high: Ints, axis: Ints) -> RankGrid | None:
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


def _along(count: int, low: Ints, high: Ints) -> Ints | None:
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


def _joined(extents: Sequence[int], coordinates: Ints) -> RankGrid:
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


# Patterns in the traffic of a program: the R x C grid of an FFT, all-to-alls of groups, and the grid of a halo.
#
# A pattern is recognised if it has at least `ENOUGH` of the bytes. An FFT shows in its communicators: there are C
# communicators of R successive ranks, and R communicators of C ranks with stride R. In each of them every member sends to
# every other. All-to-alls show in pairs of ranks that fall apart into groups in which everyone talks to everyone. A halo
# shows in its pairs of ranks: for some extents, all pairs are neighbours in the grid, all neighbours along an axis talk,
# and have most of the bytes.

FFT, ALL_TO_ALL, HALO, CARTESIAN = "FFT", "all-to-all", "halo", "Cartesian communicator"
ENOUGH = 0.8  #: least part of the bytes of a pattern
MOST_AXES = 4
FEW = 1000  #: pairs that most grids fail at
SMALL = 0.02  #: a pair with less than this part of the largest pair's bytes is no part of a pattern (e.g. a sum to one rank)


@dataclass(frozen=True)
class Pattern:
    """A pattern that was recognised.

    kind : `FFT`, `ALL_TO_ALL`, `HALO` or `CARTESIAN`
    extents : R and C of an FFT, where rank = r + R c; the size of groups of all-to-alls; of a halo, the last fastest
    periodic : for each extent, whether the ends are neighbours; empty for an FFT and for all-to-alls
    bytes : bytes of the messages of the pattern
    shuffled : whether the ranks have other numbers than in the grid
    """

    kind: str
    extents: tuple[int, ...]
    periodic: tuple[bool, ...] = ()
    bytes: int = 0
    shuffled: bool = False

    def __str__(self) -> str:
        return self._plain() + (", its ranks in another order" if self.shuffled else "")

    def _plain(self) -> str:
        shape = "x".join(map(str, self.extents))
        if self.kind == FFT:
            return f"an FFT on a {shape} grid"
        if self.kind == ALL_TO_ALL:
            low, high = min(self.extents), max(self.extents)
            size = f"{low} to {high}" if low < high else str(low)
            return f"an all-to-all of {size} ranks" if len(self.extents) == 1 else \
                f"all-to-alls in {len(self.extents)} groups of {size} ranks"
        ends = "periodic" if all(self.periodic) else "not periodic" if not any(self.periodic) else \
            "periodic along " + ", ".join(str(i + 1) for i, end in enumerate(self.periodic) if end)
        return f"a {self.kind} of {shape} ranks, {ends}"


def patterns(traffic: Traffic) -> tuple[Pattern, ...]:
    """Return the patterns of a program: of its communicators, its messages, and those of each phase.

    Examples
    --------
    >>> from pencilmap.model.traffic.program import one_phase, pairs_of
    >>> ring = one_phase(6, pairs_of(np.arange(6), (np.arange(6) + 1) % 6, 80))
    >>> [str(found) for found in patterns(ring)]
    ['a halo of 6 ranks, periodic']
    """
    points = [phase.pairs.of([POINT]) for phase in (traffic.total, *traffic.phases)]
    halos = [find_halo(traffic.n_ranks, pairs.source, pairs.target, pairs.bytes) for pairs in points]
    enough = ENOUGH * int(traffic.pairs.bytes.sum())
    result: dict[str, Pattern] = {}
    for pattern in [*_ffts(traffic), *_cartesian(traffic), *filter(None, [_groups(traffic), *halos])]:
        if pattern.bytes and pattern.bytes >= enough:
            result.setdefault(str(pattern), pattern)
    if not result and (hidden := _hidden(traffic)) and hidden.bytes >= enough:
        result[str(hidden)] = hidden
    return tuple(result.values())


def _groups(traffic: Traffic) -> Pattern | None:
    """Return the all-to-alls of groups of more than three ranks, for three are also a ring; None if there are none."""
    from scipy.sparse.csgraph import connected_components  # slow to import

    sent = traffic.total.bytes.astype(float)
    sent.data[sent.data <= SMALL * sent.data.max(initial=0)] = 0
    sent.eliminate_zeros()
    _, group = connected_components(sent, directed=False)
    sizes = np.bincount(group)
    members, talking = sizes[sizes > 1], np.bincount(group[sent.tocoo().row], minlength=len(sizes))[sizes > 1]
    if not len(members) or members.min() <= 3 or (talking != members * (members - 1)).any():
        return None
    return Pattern(ALL_TO_ALL, tuple(members.tolist()), bytes=int(sent.sum()))


def _hidden(traffic: Traffic) -> Pattern | None:
    """Return the pattern of the pairs alone, whatever the numbers of the ranks."""
    n, pairs = traffic.n_ranks, traffic.pairs
    grid = grid_of(n, pairs.source, pairs.target, pairs.bytes)
    if grid is None:
        return None
    number = grid.number
    pattern = Pattern(FFT, grid.extents[::-1], bytes=int(pairs.bytes.sum())) if grid.is_fft else \
        find_halo(n, number[pairs.source], number[pairs.target], pairs.bytes)
    return pattern and replace(pattern, shuffled=bool((number != np.arange(n)).any()))


# ---- FFT --------------------------------------------------------------------------------------------------------------


def _ffts(traffic: Traffic) -> Iterator[Pattern]:
    """Yield the grids R x C for which there are communicators, with traffic between all members."""
    groups: dict[tuple[int, int], dict[int, list[int]]] = {}  # stride and size -> first rank -> number
    for number, communicator in enumerate(traffic.communicators):
        members = communicator.members
        stride = int(members[1] - members[0]) if len(members) > 1 else 0
        if stride > 0 and not communicator.inter and (np.diff(members) == stride).all():
            groups.setdefault((stride, len(members)), {}).setdefault(int(members[0]), []).append(number)
    n, pairs = traffic.n_ranks, traffic.pairs.of(COLLECTIVE)
    for r in divisors(n)[1:-1]:
        rows, columns = groups.get((1, r), {}), groups.get((r, n // r), {})
        if set(rows) >= set(range(0, n, r)) and set(columns) >= set(range(r)):
            numbers = [number for group in (rows, columns) for item in group.values() for number in item]
            same_row, same_column = pairs.source // r == pairs.target // r, pairs.source % r == pairs.target % r
            inside = (np.isin(pairs.communicator, numbers) | (pairs.communicator < 0)) & (pairs.kind != MODELLED)
            row, column = (pairs.where(inside & same) for same in (same_row, same_column))
            if all(len(np.unique((part.source * n + part.target)[part.bytes > 0])) == n * (size - 1)
                   for part, size in ((row, r), (column, n // r))):
                yield Pattern(FFT, (r, n // r), bytes=int(row.bytes.sum() + column.bytes.sum()))


def _cartesian(traffic: Traffic) -> Iterator[Any]:
    for number, communicator in enumerate(traffic.communicators):
        known = communicator.extents and len(communicator.members) == traffic.n_ranks > 1 and not communicator.inter
        if known and (communicator.members == np.arange(traffic.n_ranks)).all():
            inside = traffic.pairs.communicator == number
            yield Pattern(CARTESIAN, communicator.extents, communicator.periodic, int(traffic.pairs.bytes[inside].sum()))


# ---- halo --------------------------------------------------------------------------------------------------------------


def find_halo(n_ranks: int, source: Ints, target: Ints, n_bytes: Ints) -> Pattern | None:
    """Return the halo whose messages these are, None if there is none. The grid with fewest axes is taken.

    Parameters
    ----------
    n_ranks : int
    source, target, n_bytes : int arrays of one length

    Examples
    --------
    The faces of a 2 x 3 grid, which is not periodic:

    >>> pairs = [(a, b) for a in range(6) for b in range(6)
    ...          if abs(a // 3 - b // 3) + abs(a % 3 - b % 3) == 1]
    >>> source, target = np.array(pairs).T
    >>> str(find_halo(6, source, target, np.full(len(pairs), 8)))
    'a halo of 2x3 ranks, not periodic'
    """
    keys, at = np.unique(source * n_ranks + target, return_inverse=True)
    sums = np.bincount(at, n_bytes, len(keys))
    kept = sums > SMALL * sums.max(initial=0)
    large, sums = keys[kept], sums[kept]
    pairs = np.stack([large // n_ranks, large % n_ranks])
    if not len(large) or (len(large) == n_ranks * (n_ranks - 1) and n_ranks > 3):  # nothing, or an all-to-all
        return None
    for axes in range(1, MOST_AXES + 1):
        for extents in factorisations(n_ranks, axes):
            if min(extents) > 1 and _are_neighbours(pairs[:, :FEW], extents) and _are_neighbours(pairs, extents):
                periodic = _neighbours_along(pairs, extents, sums)
                if periodic is not None:
                    return Pattern(HALO, extents, periodic, int(sums.sum()))
    return None


def _are_neighbours(pairs: Ints, extents: tuple[int, ...]) -> bool:
    """Return whether source and target of each pair are at most one step apart along each axis of a periodic grid."""
    size = np.array(extents)[:, None]
    apart = np.array(np.unravel_index(pairs[1], extents)) - np.array(np.unravel_index(pairs[0], extents))
    return bool((np.abs((apart + size // 2) % size - size // 2) <= 1).all())


def _neighbours_along(pairs: Any, extents: tuple[int, ...], n_bytes: Any) -> tuple[bool, ...] | None:
    """Return for each axis whether it is periodic; None if some neighbours along an axis do not talk.

    If all axes are short, almost all ranks are neighbours. Then most bytes must go along the axes.
    """
    apart = np.array(np.unravel_index(pairs[1], extents)) - np.array(np.unravel_index(pairs[0], extents))
    moved = np.abs(apart).astype(bool).sum(axis=0)
    if max(extents) <= 3 and n_bytes[moved == 1].sum() < n_bytes.sum() / 2:
        return None
    periodic = []
    for axis, n in enumerate(extents):
        along = (moved == 1) & (apart[axis] != 0)
        steps = [int((along & (apart[axis] == step)).sum()) for step in (1, -1)]
        if max(steps) != prod(extents) // n * (n - 1):
            return None
        periodic.append(bool((along & (np.abs(apart[axis]) > 1)).any()))
    return tuple(periodic)
