"""Bounds of tori beyond cuts: known optima, floors by distances, and weights on links."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log2
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.reading import own_table
from pencilmap.model.bounds.cuts import rounded_down
from pencilmap.model.kinds import routing
from pencilmap.model.kinds.kind import Bound, Optima, nearest
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.kinds.torus_spread import spread_floor
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.torus import Torus, as_torus, parse_torus, ring_link_loads
from pencilmap.model.placement.allocation import Site
from pencilmap.model.routing.routes import WeightedRoutes

# The true optima of small tori and meshes, found by trying every placement.
#
# They hold for even blocks, equal links, and dimension order with ties split. A grid RxC has the optimum of CxR. A torus
# has the optimum of the torus with its dimensions in reversed order, because every route is reversed.
# The table is `model/data/optima.csv`.

def optima(torus: Torus, tasks_per_node: int, R: int, C: int) -> Optima | None:
    """Return the optima of an RxC grid on all slots of a torus, or None if not all placements were tried.

    >>> found = optima(Torus((4, 4)), 1, 2, 8)
    >>> str(found.sequence), str(found.joint)
    ('3', '2')
    >>> optima(Torus((5, 5)), 1, 5, 5), optima(Torus((4, 2), bandwidth=(1.0, 2.0)), 1, 2, 4)
    (None, None)
    """
    if len(set(torus.bandwidth or (1.0,))) > 1 or max(torus.cables) > 1:
        return None
    small = reduced_torus(torus)
    stored = _table_of_optima().get((str(small), tasks_per_node, min(R, C), max(R, C)))
    if stored is None:
        return None
    node = _nodes(torus, small)
    return Optima(stored.sequence, stored.joint, *(
        _placed(rows, node, R > C) for rows in (stored.rows_sequence, stored.rows_joint)))


@lru_cache
def reduced_torus(torus: Torus) -> Torus:
    """Return the torus or mesh that represents all with the same optima: without extents of 1, in one of the two orders.

    >>> str(reduced_torus(Torus((3, 1, 2), (False, True, False))))
    '2wx3'
    """
    kept = [(n, torus.is_ring(i) or n == 2) for i, n in enumerate(torus.shape) if n > 1]
    kept = min(kept, kept[::-1])
    return Torus(tuple(n for n, _ in kept), tuple(wrap for _, wrap in kept)) if kept else Torus((1,))


def _nodes(torus: Torus, small: Torus) -> Ints:
    """Return the node of a torus that represents each node of the reduced torus: int array."""
    where = small.coordinates(np.arange(small.n_nodes))
    kept = [i for i, n in enumerate(torus.shape) if n > 1]
    kinds = [(torus.shape[i], torus.is_ring(i) or torus.shape[i] == 2) for i in kept]
    full = np.zeros((small.n_nodes, torus.n_dimensions), dtype=np.int64)
    full[:, kept] = where if kinds <= kinds[::-1] else where[:, ::-1]
    return torus.node(full)


def _placed(rows: Sequence[Sequence[int]], node: Ints, turned: bool) -> tuple[tuple[int, ...], ...]:
    nodes = tuple(tuple(int(node[at]) for at in row) for row in rows)
    return tuple(zip(*nodes)) if turned else nodes


@lru_cache(maxsize=1)
def _table_of_optima() -> dict[tuple[str, int, int, int], Optima]:
    table = {}
    for line in own_table("optima.csv"):
        R, C = map(int, line["grid"].split("x"))
        table[line["torus"], int(line["tasks_per_node"]), R, C] = Optima(
            Fraction(line["sequence"]), Fraction(line["joint"]), _rows(line["placement"]), _rows(line["placement_joint"]))
    return table


def _rows(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, row.split("."))) for row in text.split("/"))


def every_case() -> list[tuple[Torus, int, int, int]]:
    """Return torus, tasks on a node and grid of each line of the table."""
    return [(parse_torus(torus), T, R, C) for torus, T, R, C in _table_of_optima()]


# The least possible worst length of an exchange, for any form of the other exchange.
#
# All lengths are on the m scale, with slower links counted longer, for even blocks. A group has `size` tasks of an
# exchange. Proofs are in docs/theory.md.
#
# *Distances.* Every task has size-1 partners, which are at best on the nearest slots. A message over h hops loads h links.
# The floor is the sum of these hops divided by the capacity of all links.
#
# *First hops*, under dimension order. In the first dimension in which a group takes more than one coordinate, its messages
# leave on the line of their source. Of k >= 2 coordinates one holds c <= size/k of its tasks. A node there sends size - c
# messages through at most two links, so one link carries half of 1 - 1/k of a task's data: the floor is 2 (1 - 1/k) N/P. On
# an open line the first and the last coordinate send all one way, and one coordinate holds at most half of the tasks: the
# floor is 2 N/P. The same holds for two coordinates of a ring that are not opposite. For two opposite coordinates, on a
# ring of even extent, the floor is 1 N/P, for three or more at least 4/3 N/P.
#
# *First hops and distances*, under dimension order. Let a be the worst length, as if there were one task a node, and a < 2.
# In the first dimension in which a group varies, a share w of the group on one coordinate sends 1-w through two links, at
# most a/4 through each. So w >= e = 1 - a/2. Half the ring or less cannot hold the whole group, because its outermost
# coordinates would send all one way. So every arc of half a ring holds between e and 1-e of the group, and its messages go
# n e (1-e) hops in this dimension in the mean. The same holds for the last dimension in which the group varies, in which
# messages arrive. Open lines and pairs of nodes cannot be first or last at all. A group that is too large for a line has
# two such dimensions. If every group had both here, the links of the dimension would carry 2 n e (1-e). So not all groups
# find room unless a >= 2 - d/n, on d rings of n nodes. For a group on a line the first dimension can be the last.
#
# *Spread.* Hops against entropy, `pencilmap.model.kinds.torus_spread`: mostly the best if groups are not too large.
#
# *Computation.* For some small tori and sizes a floor was proved by trying all remaining cases, if rows of equal size fill
# a torus with one task a node, for equal links and dimension order with ties split. `model/data/row_floors.csv` has these.
#
# *One node.* All messages from a node's tasks to tasks elsewhere leave by its links (if no slot is idle).

STEPS = 20         # of halving, towards the least length
MOST_NODES = 2048  # of a machine with holes: distances between all nodes


def floor_of(site: Site, capacity: list[Fraction], size: int, n_tasks: int, ordered: bool, split: bool = False) -> Fraction:
    """Return the best floor on the worst length of an exchange on a torus.

    Parameters
    ----------
    site : Site
    capacity : list of Fraction
        Cables of a link in each dimension over its weight.
    size : int
        Tasks of a group.
    n_tasks : int
        Tasks of all groups together.
    ordered : bool
        Whether messages take dimension order, in any order of the dimensions.
    split : bool
        Whether messages half round a ring then go both ways, half each.

    Examples
    --------
    >>> floor_of(Site(Torus((8, 8, 8), (False,) * 3)), [Fraction(1)] * 3, 8, 512, True)
    Fraction(2, 1)
    """
    torus, floor = as_torus(site.network), max((Fraction(0), *_floors(site, capacity, size, n_tasks, ordered)))
    if not ordered or size <= site.tasks_per_node or torus.n_nodes == 1:
        return floor
    if split and site.tasks_per_node == 1 and n_tasks == torus.n_nodes and len(set(capacity)) == 1:
        floor = max(floor, proved_floor(torus, size) / capacity[0])
    return spread_floor(_dimensions(torus, capacity), size, site.tasks_per_node, Fraction(torus.n_nodes, n_tasks), split,
                        floor)


def _floors(site: Site, capacity: list[Fraction], size: int, n_tasks: int, ordered: bool) -> Iterator[Fraction]:
    torus, T = as_torus(site.network), site.tasks_per_node
    if size <= 1 or torus.n_nodes == 1:
        return
    every = sum(2 * torus.lines(i) * torus.cable_positions(i) * capacity[i] for i in range(torus.n_dimensions))
    yield Fraction(4 * torus.n_nodes * _distances(site, size, n_tasks), n_tasks * size) / every
    if size <= T:
        return
    if ordered:
        slab = [_largest_slab(site, i) for i in range(torus.n_dimensions)]
        yield min(_first_hop(torus, i, -(-size // slab[i])) / capacity[i] for i in range(torus.n_dimensions)
                  if torus.shape[i] > 1) * Fraction(torus.n_nodes, n_tasks)
        yield _least_spread(torus, capacity, size, n_tasks, T)
    if n_tasks == site.n_slots:
        leaving = _least_ends(site, capacity)
        yield Fraction(4 * torus.n_nodes * T * (size - T), n_tasks * size) / leaving


def _dimensions(torus: Torus, capacity: list[Fraction]) -> tuple[tuple[int, bool, Fraction, Fraction], ...]:
    """Return the dimensions in the form that `spread_floor` takes."""
    return tuple((n, torus.is_ring(i), capacity[i],
                  2 * torus.lines(i) * torus.cable_positions(i) * capacity[i] / (4 * torus.n_nodes))
                 for i, n in enumerate(torus.shape) if n > 1)


def _first_hop(torus: Torus, i: int, least: int) -> Fraction:
    """Return the floor by first hops in dimension i, in units of N/P, if a group takes `least` coordinates or more."""
    if not torus.is_ring(i):
        return Fraction(2)
    if torus.shape[i] % 2 == 0 and least <= 2:
        return Fraction(1)
    return 2 - Fraction(2, max(3, least))


def _least_spread(torus: Torus, capacity: list[Fraction], size: int, n_tasks: int, T: int) -> Fraction:
    """Return the least length at which all groups find room, by first hops and distances, rounded down."""
    low, high = Fraction(0), 2 * Fraction(torus.n_nodes, n_tasks) / min(capacity)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _room(torus, capacity, size, n_tasks, T, middle) >= 1 else (middle, high)
    return low


def _room(torus: Torus, capacity: list[Fraction], size: int, n_tasks: int, T: int, length: Fraction) -> Fraction:
    """Return the largest share of all groups that has room if no length is above `length`."""
    room = Fraction(0)
    for i, n in enumerate(torus.shape):
        if n == 1:
            continue
        slots = length * capacity[i]
        least = 1 - slots * n_tasks / (2 * torus.n_nodes)               # of a group, on one coordinate
        if least > 0 and (not torus.is_ring(i) or least > Fraction(1, 2)):
            continue
        two = _cost(n, max(least, Fraction(0))) / slots
        one = _cost(n, max(least, 1 - Fraction((n + 1) // 2 * T, size))) / slots if size <= T * n else None
        room += _most_groups(one, two)
    return room


def _cost(n: int, least: Fraction) -> Fraction:
    """Return the length that all groups cause along a ring of n nodes if every half holds `least` of each group or more."""
    least = min(least, Fraction(1, 2))
    return 2 * n * least * (1 - least)


def _most_groups(one: Fraction | None, two: Fraction) -> Fraction:
    """Return the largest p + x/2 with one p + two x <= 1 and p + x <= 1; without p if `one` is None."""
    half = min(Fraction(1), 1 / two) / 2 if two else Fraction(1, 2)
    if one is None:
        return half
    if one <= 1:
        return Fraction(1)
    both = 1 - (one - 1) / (one - two) / 2 if two < 1 else Fraction(0)      # p + x = 1
    return max(half, 1 / one, both)


def _largest_slab(site: Site, i: int) -> int:
    """Return the most slots that share a coordinate."""
    torus = as_torus(site.network)
    if site.allocation.is_complete:
        return torus.lines(i) * site.tasks_per_node
    where = torus.coordinates(site.allocation.nodes)[:, i]
    return int(np.bincount(where).max()) * site.tasks_per_node


def _least_ends(site: Site, capacity: list[Fraction]) -> Fraction | int:
    """Return the least capacity of the links that leave a usable node."""
    torus, nodes = as_torus(site.network), site.allocation.nodes if not site.allocation.is_complete else None
    if nodes is None:
        return sum((1 if not torus.is_ring(i) else 2) * capacity[i] for i in range(torus.n_dimensions) if torus.shape[i] > 1)
    ends = [np.full(len(nodes), 2) if torus.is_ring(i) else (where > 0).astype(int) + (where < n - 1)
            for i, (n, where) in enumerate(zip(torus.shape, torus.coordinates(nodes).T))]
    return min(sum(int(end) * cables for end, cables in zip(node, capacity)) for node in np.unique(ends, axis=1).T)


def _distances(site: Site, size: int, n_tasks: int) -> int:
    """Return the hops from a task to its nearest `size` slots with its own, summed over the `n_tasks` best tasks."""
    torus, T = as_torus(site.network), site.tasks_per_node
    if site.allocation.is_complete:
        near = _nearest_of_all(torus, size, T)
        return near * n_tasks
    nodes = site.allocation.nodes
    if len(nodes) > MOST_NODES:
        return _nearest_of_all(torus, size, T) * n_tasks
    hops = np.sort(hops_between(torus, nodes), axis=1)
    return nearest(hops, size, T, n_tasks)


def _nearest_of_all(torus: Torus, size: int, T: int) -> int:
    """Return the hops to the nearest `size` slots, from a node with the most nodes nearby."""
    at = np.ones(1, dtype=object)                            # nodes at each distance
    for n in torus.shape:
        at_distance = np.bincount(np.abs(np.arange(n) - n // 2)).astype(object)
        at = np.convolve(at, at_distance)
    hops, left = 0, size
    for distance, nodes in enumerate(at):
        used = min(left, int(nodes) * T)
        hops, left = hops + used * distance, left - used
    return hops


def hops_between(torus: Torus, nodes: Any) -> np.ndarray:
    """Return the hops between every two of some nodes: int array, shape (n, n)."""
    where = torus.coordinates(nodes)
    total = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
    for i, n in enumerate(torus.shape):
        apart = np.abs(where[:, None, i] - where[None, :, i])
        total += np.minimum(apart, n - apart) if torus.is_ring(i) else apart
    return total


def proved_floor(torus: Torus, size: int) -> Fraction:
    """Return the least length of rows of `size` nodes on a torus, on the m scale; 0 without a proof.

    >>> proved_floor(Torus((4, 4, 4)), 8), proved_floor(Torus((4, 4, 4)), 2)
    (Fraction(2, 1), Fraction(0, 1))
    """
    return _table().get((str(reduced_torus(torus)), size), Fraction(0))


@lru_cache
def _table() -> dict[tuple[str, int], Fraction]:
    return {(row["torus"], int(row["size"])): Fraction(row["floor"]) for row in own_table("row_floors.csv")}


# A lower bound for every placement on the nodes of a job, from the eigenvalues of weighted distances.
#
# Idea: give every link a weight, all weights together 1. The largest load of an exchange is no smaller than the weighted
# mean of its loads, which is a sum of weighted distances over the messages. Let S be the mean of these distances there and
# back between the slots of all P tasks, less any numbers Z >= 0, for messages are not negative. Rows and columns are two
# orthogonal projections in the space of the tasks: onto the vectors that are constant on every row, and on every column.
# Both contain the constant vectors 1 and are otherwise orthogonal to each other. So the two lengths add up to at least
#
#     4 N / P (2 1'S1 / P + the sum of the R + C - 2 smallest eigenvalues of S on the vectors of sum 0)
#
# for all weights and all Z. Ascent finds both: links that the eigenvectors load most get more weight, and pairs between
# which the eigenvectors have negative messages get a larger Z. Messages of scattered nodes crowd on few lines, and a
# placement can spare only some of these messages.
# Source: the projection bound of quadratic assignment, S. W. Hadley, F. Rendl, H. Wolkowicz, "A new lower bound via
# projection for the quadratic assignment problem", Math. Oper. Res. 17 (1992); the length of the steps by B. T. Polyak,
# USSR Comput. Math. Math. Phys. 9 (1969). Weights on links are ours, with a proof in docs/theory.md. Distances: a leg in
# dimension i lies on one line, and the two ends of the message alone decide the line. So the number of (line, from, to) is
# computed once for every pair of nodes. Then distances are looked up in a table of all legs of all lines, and loads are
# sums of the traffic over these legs. The ascent follows eigenvectors in single precision; only its first and its best
# point are evaluated with all digits.
# Cost: O(n^3) for each of `ROUNDS` / n rounds: 0.4 s for 300 nodes, 1.2 s for 700, 3 s for 1000. The ascent stops early if
# the rest of its rounds cannot be expected to reach the bound of other arguments.

MOST_WEIGHTED_NODES = 1024   # above this number the eigenvalues take too long
ROUNDS = 24_000     # over the number of nodes, and at most:
MOST_ROUNDS = 96
FEWEST_ROUNDS = 22
ENOUGH = 128        # eigenvectors, or a quarter of all: more improve the weights little
FEW = 3             # times fewer vectors than nodes: then it is faster to compute only these
AIM = 0.3           # the first step aims this far above the best bound so far; later steps aim lower
MOMENTUM = 0.75
LONGEST_STEP = 2.0  # of the logarithm of a weight
FIRST_POWER = 3     # of the loads of an all-to-all, as the first weights
HOPE = 0.35         # the most that the rounds gain; in proportion to the square of the rounds that are left
LOOK = 4            # rounds before the first decision to stop
WITH_WEIGHTS_ALONE = 0.1  # of the rounds
SPARED = 0.01       # weight of a step of Z beside a step of the weights
FLAT = 1e-20        # relative slopes too small for a step
ROUNDING = 1e-12    # of the largest eigenvalue, for each node: more than LAPACK errs


def spectral_bound(site: Site, sizes: tuple[int, int], routing_name: str, known: float = 0.0) -> Bound | None:
    """Return the bound for even blocks, under that routing and any schedule, or None if unknown or too slow.

    Parameters
    ----------
    site : Site
    sizes : (int, int)
        R and C; there is no bound for idle slots, or if one exchange has no messages.
    routing_name : str
    known : float
        A bound from other arguments: the ascent ends if it is unlikely to exceed this.

    Returns
    -------
    (Fraction, str) or None
        Bound and argument.
    """
    torus, nodes, k = site.network, site.allocation.nodes, sum(sizes) - 2
    if len(nodes) > MOST_WEIGHTED_NODES or min(sizes) == 1 or sizes[0] * sizes[1] != site.n_slots:
        return None
    aimed = min(1 << round(log2(k)), max(ENOUGH, len(nodes) // 4), len(nodes) - 1)
    ascent = _ascent(as_torus(torus), nodes.tobytes(), site.tasks_per_node, routing_name, aimed)
    if ascent is None:
        return None
    value = rounded_down(max(0.0, ascent.bound(k, known)))
    return (value, "weighted distances in all rows and columns")


def weighted_routes(torus: Torus, nodes: Ints, order: Sequence[int], tie: str = "split") -> WeightedRoutes:
    """Return the routes between some nodes in an order of the dimensions, with a rule at half a ring."""
    return WeightedRoutes(torus, nodes, tuple(order), [_carried(torus, i, tie) for i in range(torus.n_dimensions)])


def _carried(torus: Torus, i: int, tie: str) -> Floats:
    """Return the share of a leg that each link of its line carries: shape (n^2 legs, 2 n links)."""
    n = torus.shape[i]
    legs = np.eye(n * n, dtype=np.int64).reshape(n * n, n, n)
    return ring_link_loads(legs, torus.is_ring(i), tie).reshape(n * n, 2 * n) / 2


class _Ascent:
    """The rounds of an ascent so far. Each grid looks at them from the first, so its bound depends on no other grid.

    Parameters
    ----------
    routes : WeightedRoutes
    n : int
        Nodes.
    tasks_per_node : int
    aimed : int
        The R + C - 2 for which weights are sought.
    """

    def __init__(self, routes: WeightedRoutes, n: int, tasks_per_node: int, aimed: int) -> None:
        torus = routes.torus
        self._worth = np.array([float(weight / cables) for weight, cables in zip(link_weights(torus), torus.cables)])[
            :, None, None]
        self._routes, self._n, self._idle, self._aimed = routes, n, n * (tasks_per_node - 1), aimed
        self._unit = 4 * torus.n_nodes / n  # eigenvalues of nodes times the tasks of a node
        carried = self._worth * routes.loads(np.ones((n, n)))
        first = carried**FIRST_POWER
        self._best = first / (first.sum() or 1.0), np.zeros((n, n))
        self._first = self._bounds(*self._best)
        self._done, self._rounds = list[tuple[float, float]](), self._climb() if carried.any() else iter(())

    def bound(self, k: int, known: float) -> float:
        """Return the bound for R + C - 2 = k, after all rounds that may make it exceed a known bound."""
        first = float(self._first[k])
        for number, (done, gain) in enumerate(self._all(), 1):
            if number >= LOOK and first * gain * (1 + HOPE * (1 - done)**2) <= known:
                return first
        return max(first, float(self._last[k]))

    @cached_property
    def _last(self) -> Floats:
        return self._bounds(*self._best)

    def _all(self) -> Iterator[tuple[float, float]]:
        """The rounds that are done, then further ones."""
        yield from self._done
        for one in self._rounds:
            self._done.append(one)
            yield one

    def _climb(self) -> Iterator[tuple[float, float]]:
        """Yield the share of the rounds that are done, and their gain as a factor, with eigenvectors in single precision."""
        n, unit, worth, routes = self._n, self._unit, self._worth, self._routes
        weights, spared = self._best
        rounds = max(FEWEST_ROUNDS, min(MOST_ROUNDS, ROUNDS // n))
        step, spared_step = np.zeros(weights.shape), np.zeros((n, n))
        start = best = 0.0
        for done in range(rounds):
            inner, mean = self._inner(weights, spared)
            values, vectors = _lowest(inner, self._aimed)
            low = values < 0
            reached = unit * (2 * n * mean + float(values[low].sum()))
            if not done:
                start = best = reached
            elif reached > best:
                best, self._best = reached, (weights, spared)
            yield (done + 1) / rounds, best / start if start > 0 else 1.0
            vectors = vectors[:, low]
            messages = 2 / n + (vectors @ vectors.T).astype(np.float64)
            uphill = unit * worth * routes.loads(messages)
            level = (weights * uphill).sum()
            uphill -= level
            may_spare = ((spared > 0) | (messages < 0)) & (done >= WITH_WEIGHTS_ALONE * rounds)
            spare = np.where(may_spare, -unit * messages, 0.0)
            np.fill_diagonal(spare, 0.0)
            steepness = (weights * uphill**2).sum() + SPARED * np.vdot(spare, spare)
            if steepness <= FLAT * level**2:
                return  # all links with a weight carry the same load
            length = ((1 + AIM * (1 - done / rounds)**2) * best - reached) / steepness
            spared_step = MOMENTUM * spared_step + length * SPARED * spare
            spared = np.maximum(0.0, spared + spared_step)
            step = MOMENTUM * step + length * uphill
            step *= LONGEST_STEP / max(LONGEST_STEP, step.max())
            weights = weights * np.exp(step)
            weights /= weights.sum()

    def _inner(self, weights: Floats, spared: Floats) -> tuple[Floats, float]:
        """Return the distances less `spared` on the vectors of sum 0, and their mean."""
        distances = self._routes.distances(self._worth * weights)
        distances = (distances + distances.T) / 2 - spared
        mean, rows = distances.mean(), distances.mean(axis=1)
        return distances - (rows[:, None] + (rows - mean)[None, :]), mean

    def _bounds(self, weights: Floats, spared: Floats) -> Floats:
        """Return the bound for every R + C - 2, with all digits."""
        n, (inner, mean) = self._n, self._inner(weights, spared)
        values = np.linalg.eigvalsh(inner)
        every = np.sort(np.concatenate([values, np.zeros(self._idle)]))
        error = ROUNDING * n * (np.abs(values).max() + n * abs(mean))
        return self._unit * (2 * n * mean + np.concatenate([[0.0], every[:-1].cumsum()]) - error)


@lru_cache(maxsize=16)
def _ascent(torus: Torus, nodes: bytes, tasks_per_node: int, routing_name: str, aimed: int) -> _Ascent | None:
    """Return an ascent to weights that are good for an R + C - 2 of `aimed`, for many grids; None if routes are unknown."""
    where, rule = np.frombuffer(nodes, dtype=np.int64), routing(routing_name, torus) if routing_name else None
    if not isinstance(rule, DimensionOrder):
        return None
    return _Ascent(weighted_routes(torus, where, rule.dimensions(torus), rule.tie), len(where), tasks_per_node, aimed)


def _lowest(inner: Floats, k: int) -> tuple[Floats, Floats]:
    """Return at least the k smallest eigenvalues, and their vectors, in single precision."""
    if k * FEW > len(inner):
        values, vectors = np.linalg.eigh(inner)
        return values[:k], vectors[:, :k].astype(np.float32)
    from scipy.linalg import eigh  # slow to import, and few vectors of many nodes alone need it
    return eigh(inner.astype(np.float32), subset_by_index=(0, k - 1), check_finite=False, overwrite_a=True)
