"""Routes between places as tables of links, for searches that move ranks one by one.

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

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs, Network

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
    here, there = root * V + head[arc], root * V + tail[arc]  # pairs of root and vertex
    level = distance.ravel()[here]
    size = len(numbers) * V
    paths, width = np.zeros(size), np.bincount(here, arcs.ways[arc], size)
    paths[np.arange(len(numbers)) * V + routers[numbers]] = 1
    number = np.full(V, -1)
    number[routers] = np.arange(n)
    last = csr_array((size, A))
    for hops in range(int(far.max(initial=0)) + 1):
        some = level == hops
        at, before, on = here[some], there[some], arc[some]
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


def rates(network: Network) -> Floats:
    """Return the bandwidth of the fastest class over that of each class."""
    rates = np.array(network.bandwidth or (1.0,) * len(network.link_classes))
    return np.asarray(rates.max() / rates)


def largest_loads(network: Network, loads: Any) -> float:
    """Return the load of the busiest link on the scale of `Routes`."""
    return float(max((float(load) * rate for load, rate in zip(loads.largest(), rates(network))), default=0.0))
