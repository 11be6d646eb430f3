"""Routes between places as tables of links, for searches that move ranks one by one.

Idea: the links of a message follow from the routers at its ends: the nodes of a torus or a graph, the switches of hosts. On
a torus a leg in one dimension depends on two coordinates alone, so a small table for each dimension holds all routes. Other
networks have one table for all pairs of routers; the links of hosts are kept apart, because no routing decides about them.
All cables upwards of a unit of a fat tree carry the same, so one of them stands for all.
Rules without a table are searched with the table of the network's default rule.
Cost: sum of n^2 links for the dimensions of a torus; V^2 routes between V routers elsewhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.network.network import Arcs, Network
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.network.torus import Torus, ring_link_loads
from pencilmap.model.routing.each_hop import EachHop
from pencilmap.model.routing.host_links import switch_arcs
from pencilmap.model.routing.shortest_path import ShortestPath

MOST_ENTRIES = 1 << 26  # links of all routes of a table
Legs = tuple[Ints, Ints, Floats]  # pair of routers, link, load of the link for a byte


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


def route_tables(network: Network, rule: Any, node: Ints, slot: Ints) -> RouteTables | None:
    """Return the routes between places under a rule, or None if they are too many.

    Parameters
    ----------
    network : Network
    rule : Rule
    node, slot : int arrays, shape (S,)
        The places, node by node.
    """
    if isinstance(network, Torus):
        return _torus_tables(network, rule, node)
    if isinstance(network, SwitchedNetwork):
        return _switched_tables(network, rule, node, slot)
    at, router = np.unique(node, return_inverse=True)
    if len(at) ** 2 * 4 > MOST_ENTRIES:
        return None
    arcs = network.arcs()
    legs = _shortest(arcs, at, rule)
    worth = 1 / arcs.capacity
    return _one_table((legs[0], legs[1], legs[2] * worth[legs[1]]), len(at), len(arcs.source), node, router)


def _rates(network: Network) -> Floats:
    """Return the bandwidth of the fastest class over that of each class."""
    rates = np.array(network.bandwidth or (1.0,) * len(network.link_classes))
    return np.asarray(rates.max() / rates)


# ---- tori ------------------------------------------------------------------------------------------------------------


def _torus_tables(torus, rule, node):
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


def _one_table(legs: Legs, V: int, n_links: int, host: Ints, router: Ints, up: Ints | None = None,
               host_load: float = 0.0) -> RouteTables:
    pair, link, load = legs
    order = np.argsort(pair, kind="stable")
    start = np.zeros(V * V + 1, np.int64)
    np.cumsum(np.bincount(pair, minlength=V * V), out=start[1:])
    none = np.full(len(host), -1)
    ends = 0 if up is None else int(up.max()) + 1
    return RouteTables(host, router, none if up is None else n_links + up, none if up is None else n_links + ends + up,
                       host_load, np.arange(V)[:, None], np.array([V]), np.array([0]), np.array([0]), start, link[order],
                       load[order], n_links + 2 * ends)


def _switched_tables(network, rule, node, slot):
    end, planes, rates = network.ends(node, slot), network.planes(), _rates(network)
    switches = np.stack([plane.switch[end] for plane in planes], axis=1)
    used, router = np.unique(switches, axis=0, return_inverse=True)
    V = len(used)
    if V * V * 4 * len(planes) > MOST_ENTRIES:
        return None
    if isinstance(network, FatTree):
        legs_of: Callable[[Ints], Legs] = lambda some: _tree(network, rates, some)  # noqa: E731
        n_links = 2 * sum(len(cables) for cables in network.cables_up)
    else:
        arcs = switch_arcs(network)
        worth, n_links = rates[network.class_of_link[arcs.index]], len(arcs.source)
        make = _minimal if isinstance(network, Dragonfly) and not isinstance(rule, ShortestPath | EachHop) else _shortest

        def legs_of(some):
            pair, link, load = make(arcs, some, rule) if make is _shortest else make(network, arcs, some)
            return pair, link, load * worth[link]
    parts = [(pair, link, load * float(plane.share)) for plane, some in zip(planes, used.T)
             for pair, link, load in [legs_of(some)]]
    legs = tuple(np.concatenate(column) for column in zip(*parts))
    ends = np.unique(end, return_inverse=True)[1]
    return _one_table(legs, V, n_links, node, router.ravel(), ends, rates[0] * float(planes[0].share))


def _pairs(V):
    a, b = (grid.ravel() for grid in np.mgrid[:V, :V])
    return np.arange(V * V), a, b


def _tree(tree, rates, leaves) -> Legs:
    """Return the legs between leaves: a cable upwards of each unit of the source, one downwards of each of the target."""
    pair, a, b = _pairs(len(leaves))
    found, base, total = [], 0, sum(len(cables) for cables in tree.cables_up)
    for level, (above, cables) in enumerate(zip(tree.above, tree.cables_up)):
        rate = rates[1 + level] / np.maximum(cables, 1)
        here, there = above[leaves[a]], above[leaves[b]]
        apart = here != there
        for unit, direction in ((here, 0), (there, 1)):
            found.append((pair[apart], base + direction * total + unit[apart], rate[unit[apart]]))
        base += len(cables)
    return tuple(np.concatenate(column) for column in zip(*found))  # type: ignore[return-value]


def _shortest(arcs: Arcs, routers: Ints, rule: Any) -> Legs:
    """Return the legs on shortest paths: evenly over the paths, or evenly at each hop if the rule says so."""
    from scipy.sparse import coo_array, csr_array  # slow to import

    by_hop = isinstance(rule, EachHop)
    tail, head = (arcs.target, arcs.source) if by_hop else (arcs.source, arcs.target)  # each hop: seen from the target
    turned = Arcs(arcs.n_vertices, tail, head, arcs.index, arcs.capacity)
    V, A, n = arcs.n_vertices, len(tail), len(routers)
    distances, found = turned.distances(routers.tolist()), []
    for number, distance in enumerate(distances):
        share = csr_array((V, A))
        paths = np.zeros(V)
        paths[routers[number]] = 1
        far = distance[routers].max()
        near = np.flatnonzero(np.isfinite(distance[tail]) & (distance[tail] + 1 == distance[head]) & (distance[head] <= far))
        width = np.bincount(head[near], arcs.capacity[near], V)
        for level in range(1, int(far) + 1):
            here = near[distance[head[near]] == level]
            np.add.at(paths, head[here], paths[tail[here]])
            part = arcs.capacity[here] / width[head[here]] if by_hop else paths[tail[here]] / paths[head[here]]
            step = coo_array((part, (head[here], tail[here])), shape=(V, V)).tocsr()
            share = share + step @ share + coo_array((part, (head[here], here)), shape=(V, A)).tocsr()
        rows = share[routers].tocoo()
        pair = rows.row * n + number if by_hop else number * n + rows.row
        found.append((pair, rows.col, rows.data))
    return tuple(np.concatenate(column) for column in zip(*found))  # type: ignore[return-value]


def _minimal(network: Dragonfly, arcs: Arcs, switches: Ints) -> Legs:
    """Return the legs of a dragonfly with at most one global cable, see `pencilmap.model.routing.minimal`."""
    n = network.per_group
    number = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(arcs.source, arcs.target))
              if a // n == b // n}
    global_arcs = np.flatnonzero(arcs.source // n != arcs.target // n)
    assert network.class_of_link is not None
    kind = network.class_of_link[arcs.index[global_arcs]]
    place = np.empty(2 * len(network.global_ends), np.int64)
    place[network.place_of_link[arcs.index[global_arcs]] - kind * network.link_shape[1]] = global_arcs
    links, inside = network.cables_of_pair
    hops, spines = network.local_hops, network.spines
    leaves = n - spines
    found: list[tuple[int, int, float]] = []

    def local(pair, group, a, b, part):
        if a == b:
            return
        if hops[a, b] == 1:
            found.append((pair, number[group * n + a, group * n + b], part))
            return
        middle = range(leaves, n) if a < leaves else range(leaves)
        for m in middle:
            found.append((pair, number[group * n + a, group * n + m], part / len(middle)))
            found.append((pair, number[group * n + m, group * n + b], part / len(middle)))

    for x, u in enumerate(switches.tolist()):
        for y, v in enumerate(switches.tolist()):
            (s, a), (t, b), pair = divmod(u, n), divmod(v, n), x * len(switches) + y
            if s == t:
                local(pair, s, a, b, 1.0)
                continue
            real = np.flatnonzero(links[s, t] >= 0)
            far = hops[a, inside[s, t, real]] + hops[inside[t, s, real], b]
            chosen = real[far == far.min()]
            for k in chosen.tolist():
                part = 1 / len(chosen)
                local(pair, s, a, int(inside[s, t, k]), part)
                found.append((pair, int(place[links[s, t, k]]), part))
                local(pair, t, int(inside[t, s, k]), b, part)
    columns = list(zip(*found)) or [(), (), ()]
    return np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], float)


def largest_loads(network: Network, loads: Any) -> float:
    """Return the load of the busiest link on the scale of `RouteTables`."""
    return float(max((float(load) * rate for load, rate in zip(loads.largest(), _rates(network))), default=0.0))
