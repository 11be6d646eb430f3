"""Routes between places as tables of links, for searches that move ranks one by one, and for bounds.

Idea: under most rules the route of a message depends on the routers at its ends alone: the nodes of a torus or a graph, the
switches of hosts. No routing decides about the links of hosts, so they are kept apart. The shares of a message on the links
towards a router follow from those of the routers one hop nearer, for all pairs of routers at once. On a torus a leg in one
dimension depends on two coordinates alone, so a small table for each dimension holds all routes. Other networks have one
table for all pairs of routers.
Cost: a row of links for each pair of routers; sum of n^2 links for the dimensions of a torus.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs, Network
from pencilmap.model.network.torus import Torus

MOST_ENTRIES = 1 << 26  # links of all routes of a table
AT_ONCE = 1 << 24  # routers times links whose distances are compared in one step


class Legs(NamedTuple):
    """Links of the routes between n routers, in any order. Pair a n + b leads from router a to router b."""

    pair: Ints
    link: Ints
    load: Floats  #: of the link for a byte, in units of a cable of the fastest class
    n_links: int


Part = tuple[Ints, Ints, Floats]  # pair, link, load


def joined(parts: Iterable[Part], n_links: int) -> Legs:
    """Return the legs of several parts."""
    pair, link, load = (np.concatenate(column) for column in zip(*parts))
    return Legs(pair, link, load, n_links)


def shortest_legs(arcs: Arcs, routers: Ints, by_hop: bool = False) -> Legs:
    """Return the legs on shortest paths: evenly over the paths, or evenly at each hop.

    Parameters
    ----------
    arcs : Arcs
        The links between routers.
    routers : int array, shape (n,)
        Different routers.
    by_hop : bool
    """
    n, A = len(routers), len(arcs.source)
    parts = np.array_split(np.arange(n), max(1, n * A // AT_ONCE))
    return joined((part for numbers in parts for part in _shortest(arcs, routers, numbers, by_hop)), A)


def _shortest(arcs: Arcs, routers: Ints, numbers: Ints, by_hop: bool) -> Iterator[Part]:
    """Yield the legs from some routers to all, one hop farther each time; those towards them if each hop is even."""
    from scipy.sparse import coo_array, csr_array  # slow to import

    tail, head = (arcs.target, arcs.source) if by_hop else (arcs.source, arcs.target)
    V, A, n = arcs.n_vertices, len(tail), len(routers)
    distance = (arcs.back if by_hop else arcs).distances(routers[numbers].tolist())
    far = distance[:, routers].max(axis=1, keepdims=True)
    root, arc = np.nonzero((distance[:, tail] + 1 == distance[:, head]) & (distance[:, head] <= far))
    source, after = root * V + head[arc], root * V + tail[arc]  # pairs of root and vertex
    level = distance.ravel()[source]
    size = len(numbers) * V
    paths, width = np.zeros(size), np.bincount(source, arcs.ways[arc], size)
    paths[np.arange(len(numbers)) * V + routers[numbers]] = 1
    number = np.full(V, -1)
    number[routers] = np.arange(n)
    last = csr_array((size, A))
    for hops in range(int(far.max(initial=0)) + 1):
        pairs = level == hops
        at, before, on = source[pairs], after[pairs], arc[pairs]
        np.add.at(paths, at, paths[before] * arcs.ways[on])
        part = arcs.ways[on] * (1 / width[at] if by_hop else paths[before] / paths[at])
        step = coo_array((part, (at, before)), shape=(size, size)).tocsr()
        last = step @ last + coo_array((part, (at, on)), shape=(size, A)).tocsr()
        rows = last.tocoo()
        root, vertex = np.divmod(rows.row.astype(np.int64), V)
        kept = number[vertex] >= 0
        near, away, link = numbers[root[kept]], number[vertex[kept]], rows.col[kept]
        pair = away * n + near if by_hop else near * n + away
        yield pair, link, rows.data[kept] / arcs.capacity[link]


@dataclass(frozen=True)
class Routes:
    """Routes between the places of a job.

    The load of a link is the bytes of a cable, times the bandwidth of the fastest class over the bandwidth of its class.

    Parameters
    ----------
    host, router : int arrays, shape (S,)
        Host and router of each place; messages inside a host use no links.
    up, down : int arrays, shape (S,)
        Links between host and router, -1 without.
    host_load : float
        Load of these links for a byte.
    at : int array, shape (V, d)
        Coordinates of each router.
    shape, stride, first : int arrays, shape (d,)
        Extents and strides in the order of routing; the first row of each dimension in `start`.
    start, link, load : int array, int array, float array
        The links of the leg from a to b in dimension i are those of row first[i] + a n_i + b, with their loads for a byte.
        Numbers of links are relative to the router with coordinate 0 in dimension i.
    n_links : int
    """

    host: Ints
    router: Ints
    up: Ints
    down: Ints
    host_load: float
    at: Ints
    shape: Ints
    stride: Ints
    first: Ints
    start: Ints
    link: Ints
    load: Floats
    n_links: int

    def hops(self, routers: Ints, others: Ints) -> Ints:
        """Return the number of links on the routes between routers: int array, shape (n, m)."""
        count = np.diff(self.start)
        legs = [count[first + self.at[routers, i][:, None] * n + self.at[others, i][None, :]]
                for i, (first, n) in enumerate(zip(self.first, self.shape))]
        return np.asarray(sum(legs[1:], legs[0]))


def table_of(legs: Legs, V: int, host: Ints, router: Ints, up: Ints | None = None, host_load: float = 0.0) -> Routes:
    """Return one table for all pairs of V routers.

    Parameters
    ----------
    legs : Legs
    V : int
    host, router : int arrays, shape (S,)
    up : int array, shape (S,), optional
        Link of its host that each place uses, of the links used; without it hosts are routers.
    host_load : float
        Load of this link for a byte.
    """
    order = np.argsort(legs.pair, kind="stable")
    start = np.zeros(V * V + 1, np.int64)
    np.cumsum(np.bincount(legs.pair, minlength=V * V), out=start[1:])
    none, n_links = np.full(len(host), -1), legs.n_links
    ends = 0 if up is None else int(up.max()) + 1
    return Routes(host, router, none if up is None else n_links + up, none if up is None else n_links + ends + up,
                       host_load, np.arange(V)[:, None], np.array([V]), np.array([0]), np.array([0]), start,
                       legs.link[order], legs.load[order], n_links + 2 * ends)


class RouteTable(NamedTuple):
    """The routes between n points.

    The links between points a < b are ``link[start[a * n + b]:start[a * n + b + 1]]``. If a sends one unit to b and b one
    unit to a, their loads are `weight`, in units of a cable of the fastest class. In a directed table these are the links
    from any a to b, and their loads if a sends one unit to b.
    """

    points: Ints  #: int array, shape (ends,); point of each end of the network, -1 for ends that are not in use
    n_links: int
    start: Ints
    link: Ints
    weight: Floats


def table_of_pairs(points: Ints, n: int, legs: Legs, directed: bool) -> RouteTable:
    """Return the legs between n points as a table; `points` are those of each end of the network, -1 for ends not in use."""
    from scipy.sparse import coo_array  # slow to import, and only searches need it

    source, target = np.divmod(legs.pair, n)
    pair = legs.pair if directed else np.minimum(source, target) * n + np.maximum(source, target)
    rows = coo_array((legs.load, (pair, legs.link)), shape=(n * n, legs.n_links)).tocsr()
    return RouteTable(points, legs.n_links, rows.indptr.astype(np.int64), rows.indices.astype(np.int64),
                      rows.data.astype(float))


class WeightedRoutes:
    """The routes between some nodes of a torus; all arrays of links have shape (d, 2, N), as `LinkLoads.values`.

    Parameters
    ----------
    torus : Torus
    nodes : int array, shape (n,)
    order : tuple of int
        The dimensions in the order of routing.
    legs : list of float array
        For each dimension the share of a leg that each link of its line carries, shape (n^2 legs, 2 n links).
    """

    def __init__(self, torus: Torus, nodes: Ints, order: tuple[int, ...], legs: list[Floats]) -> None:
        self.torus, self.order, self._legs = torus, order, legs
        where = torus.coordinates(nodes)
        self._pairs = [self._numbers(where, i) for i in range(torus.n_dimensions)]

    def distances(self, weights: Floats) -> Floats:
        """Return the sum of the weights of the links on the way from each node to each other: shape (n, n)."""
        hops: Any = 0.0
        for i, numbers in enumerate(self._pairs):
            table = self._by_line(weights[i], i) @ self._legs[i].T
            hops = hops + table.reshape(-1).take(numbers)
        return hops

    def loads(self, traffic: Floats) -> Floats:
        """Return the load of every link if `traffic[a, b]` goes from node a to node b."""
        result = np.empty((len(self._pairs), 2, self.torus.n_nodes))
        for i, numbers in enumerate(self._pairs):
            n = self.torus.shape[i]
            table = np.bincount(numbers.reshape(-1), traffic.reshape(-1), self.torus.n_nodes * n)
            result[i] = self._by_node(table.reshape(-1, n * n) @ self._legs[i], i)
        return result

    def _numbers(self, where: Ints, i: int) -> Ints:
        """Return for every pair of nodes the number of its leg in dimension `i`: line, then from, then to."""
        n, lines = self.torus.shape[i], np.zeros((len(where),) * 2, dtype=np.int32)
        for j, extent in reversed(list(enumerate(self.torus.shape))):
            if j != i:
                ends = where[None, :, j] if self.order.index(j) < self.order.index(i) else where[:, None, j]
                lines = lines * np.int32(extent) + ends.astype(np.int32)
        places = where[:, i].astype(np.int32)
        return ((lines * np.int32(n) + places[:, None]) * np.int32(n) + places[None, :]).astype(np.intp)

    def _by_line(self, values: NDArray[Any], i: int) -> NDArray[Any]:
        """Return (2, N) as (lines, 2 n)."""
        grid = values.reshape(2, *self.torus.shape[::-1])  # the first dimension is the fastest
        return np.moveaxis(np.moveaxis(grid, -1 - i, -1), 0, -2).reshape(-1, 2 * self.torus.shape[i])

    def _by_node(self, lines: Floats, i: int) -> Floats:
        """Return (lines, 2 n) as (2, N), the inverse of `_by_line`."""
        others = [extent for j, extent in reversed(list(enumerate(self.torus.shape))) if j != i]
        grid = np.moveaxis(lines.reshape(*others, 2, self.torus.shape[i]), -2, 0)
        return np.moveaxis(grid, -1, -1 - i).reshape(2, -1)


def rates(network: Network) -> Floats:
    """Return the bandwidth of the fastest class over that of each class."""
    rates = np.array(network.bandwidth or (1.0,) * len(network.link_classes))
    return np.asarray(rates.max() / rates)


def largest_loads(network: Network, loads: Any) -> float:
    """Return the load of the busiest link on the scale of `Routes`."""
    return float(max((float(load) * rate for load, rate in zip(loads.largest(), rates(network))), default=0.0))
