"""Routes between places as tables of links, for searches that move ranks one by one.

Idea: the links of a message follow from the routers at its ends: the nodes of a torus or a graph, the switches of hosts. On
a torus a leg in one dimension depends on two coordinates alone, so a small table for each dimension holds all routes. Other
networks have one table for all pairs of routers; the links of hosts are kept apart, because no routing decides about them.
Rules say which table is theirs (`pencilmap.model.routing.rule.Rule.legs`).
Cost: sum of n^2 links for the dimensions of a torus; V^2 routes between V routers elsewhere.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Network
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.network.torus import Torus, ring_link_loads
from pencilmap.model.routing.legs import Legs, joined
from pencilmap.model.routing.rule import Rule

MOST_ENTRIES = 1 << 26  # links of all routes of a table


@dataclass(frozen=True)
class RouteTables:
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


@singledispatch
def route_tables(network: Network, rule: Rule, node: Ints, slot: Ints) -> RouteTables | None:
    """Return the routes between places under a rule, or None if they are too many.

    Parameters
    ----------
    network : Network
    rule : Rule
    node, slot : int arrays, shape (S,)
        The places, node by node.
    """
    at, router = np.unique(node, return_inverse=True)
    return None if len(at) ** 2 * 4 > MOST_ENTRIES else _one_table(rule.legs(network, at), len(at), node, router)


def _rates(network: Network) -> Floats:
    """Return the bandwidth of the fastest class over that of each class."""
    rates = np.array(network.bandwidth or (1.0,) * len(network.link_classes))
    return np.asarray(rates.max() / rates)


# ---- tori ------------------------------------------------------------------------------------------------------------


@route_tables.register
def _torus_tables(torus: Torus, rule, node, slot):
    order = tuple(getattr(rule, "order", None) or range(torus.n_dimensions))
    tie = getattr(rule, "tie", "split")
    counts, links, loads, first, N = [np.zeros(1, np.int64)], [], [], [], torus.n_nodes
    for i in order:
        n, rate = torus.shape[i], _rates(torus)[i] / torus.cables[i]
        legs = np.eye(n * n, dtype=np.int64).reshape(n * n, n, n)
        carried = ring_link_loads(legs, torus.is_ring(i), tie).reshape(n * n, 2 * n) / 2
        leg, place = np.nonzero(carried)
        first.append(sum(map(len, counts)) - 1)
        counts.append(np.bincount(leg, minlength=n * n))
        links.append((2 * i + place // n) * N + place % n * torus.strides[i])
        loads.append(carried[leg, place] * rate)
    none = np.full(len(node), -1)
    return RouteTables(node, node, none, none, 0.0, torus.coordinates(np.arange(N))[:, list(order)],
                       np.array(torus.shape)[list(order)], np.array(torus.strides)[list(order)], np.array(first),
                       np.cumsum(np.concatenate(counts)), np.concatenate(links), np.concatenate(loads),
                       2 * torus.n_dimensions * N)


# ---- one table for all pairs of routers ------------------------------------------------------------------------------


def _one_table(legs: Legs, V: int, host: Ints, router: Ints, up: Ints | None = None, host_load: float = 0.0) -> RouteTables:
    order = np.argsort(legs.pair, kind="stable")
    start = np.zeros(V * V + 1, np.int64)
    np.cumsum(np.bincount(legs.pair, minlength=V * V), out=start[1:])
    none, n_links = np.full(len(host), -1), legs.n_links
    ends = 0 if up is None else int(up.max()) + 1
    return RouteTables(host, router, none if up is None else n_links + up, none if up is None else n_links + ends + up,
                       host_load, np.arange(V)[:, None], np.array([V]), np.array([0]), np.array([0]), start,
                       legs.link[order], legs.load[order], n_links + 2 * ends)


@route_tables.register
def _switched_tables(network: SwitchedNetwork, rule, node, slot):
    end, planes = network.ends(node, slot), network.planes()
    switches = np.stack([plane.switch[end] for plane in planes], axis=1)
    used, router = np.unique(switches, axis=0, return_inverse=True)
    V = len(used)
    if V * V * 4 * len(planes) > MOST_ENTRIES:
        return None
    parts = [_of_plane(rule, network, some, float(plane.share)) for plane, some in zip(planes, used.T)]
    legs = joined((part[:3] for part in parts), parts[0].n_links)
    ends = np.unique(end, return_inverse=True)[1]
    return _one_table(legs, V, node, router.ravel(), ends, _rates(network)[0] * float(planes[0].share))


def _of_plane(rule, network, switches, share):
    """Return the legs between switches, which may occur several times, for a share of each message."""
    from scipy.sparse import coo_array  # slow to import

    some, number = np.unique(switches, return_inverse=True)
    pair, link, load, n_links = rule.legs(network, some)
    if len(some) < len(switches):
        n = len(some)
        rows = coo_array((load, (pair, link)), shape=(n * n, n_links)).tocsr()
        legs = rows[(number[:, None] * n + number).ravel()].tocoo()
        pair, link, load = legs.row, legs.col, legs.data
    return Legs(pair, link, load * share, n_links)


def largest_loads(network: Network, loads: Any) -> float:
    """Return the load of the busiest link on the scale of `RouteTables`."""
    return float(max((float(load) * rate for load, rate in zip(loads.largest(), _rates(network))), default=0.0))
