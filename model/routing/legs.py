"""The routes between routers as tables of links, for searches that move ranks one by one.

Idea: under most rules the route of a message depends on the routers at its ends alone: the nodes of a graph, the switches of
hosts. No routing decides about the links of hosts, so they are left out. The shares of a message on the links towards a
router follow from those of the routers one hop nearer, for all pairs of routers at once.
Cost: a row of links for each pair of routers.
"""

from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.network.network import Arcs, Network, link_weights
from pencilmap.model.routing.host_links import router_arcs

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


@singledispatch
def shortest_legs(network: Network, routers: Ints, by_hop: bool = False) -> Legs:
    """Return the legs on shortest paths: evenly over the paths, or evenly at each hop.

    Parameters
    ----------
    network : Network
    routers : int array, shape (n,)
        Different routers.
    by_hop : bool
    """
    arcs = router_arcs(network)
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


@shortest_legs.register
def _tree_legs(tree: FatTree, leaves: Ints, by_hop: bool = False) -> Legs:
    """Return the legs between leaves: a cable upwards of each unit of the source, one downwards of each of the target.

    All cables upwards of a unit carry the same, so one of them stands for all.
    """
    pair, (a, b) = np.arange(len(leaves) ** 2), np.divmod(np.arange(len(leaves) ** 2), len(leaves))
    found, base, total = [], 0, sum(map(len, tree.cables_up))
    for above, cables, weight in zip(tree.above, tree.cables_up, link_weights(tree)[1:]):
        load = float(weight) / np.maximum(cables, 1)
        here, there = above[leaves[a]], above[leaves[b]]
        apart = here != there
        for unit, direction in ((here, 0), (there, 1)):
            found.append((pair[apart], base + direction * total + unit[apart], load[unit[apart]]))
        base += len(cables)
    return joined(found, 2 * total)


def minimal_legs(network: Dragonfly, switches: Ints) -> Legs:
    """Return the legs of a dragonfly with at most one global cable, see `pencilmap.model.routing.minimal`.

    Parameters
    ----------
    network : Dragonfly
    switches : int array, shape (n,)
        Different switches.
    """
    n, per = len(switches), network.per_group
    n_local, n_global = 2 * len(network.local_ends), 2 * len(network.global_ends)
    _, local, across = map(float, link_weights(network))
    group, inside = np.divmod(switches, per)
    members = {g: np.flatnonzero(group == g) for g in np.unique(group).tolist()}
    near: list[Part] = []  # local legs, from switch to switch of a group
    over: list[Part] = []  # global cables
    links, leaves = network.cables_of_pair
    for s, here in members.items():
        for t, there in members.items():
            pair = here[:, None] * n + there
            a, b = inside[here], inside[there]
            if s == t:
                near.append((pair.ravel(), (switches[here][:, None] * per + b).ravel(), np.ones(pair.size)))
                continue
            real = links[s, t] >= 0
            cable, leave, arrive = links[s, t][real], leaves[s, t][real], leaves[t, s][real]
            far = network.local_hops[a[:, None], leave][:, None, :] + network.local_hops[arrive[:, None], b].T
            chosen = far == far.min(axis=2, keepdims=True)
            i, j, k = np.nonzero(chosen)
            value = (chosen / chosen.sum(axis=2, keepdims=True))[i, j, k]
            near += [(pair[i, j], leg, value) for leg in (switches[here][i] * per + leave[k],
                                                          (t * per + arrive[k]) * per + b[j])]
            over.append((pair[i, j], n_local + cable[k], value * across))
    return joined([_local_legs(network, joined(near, 0), local), *over], n_local + n_global)


def _local_legs(network, legs, weight):
    """Return local links for shares of legs ``switch * per_group + switch inside``."""
    from scipy.sparse import coo_array

    n, half = network.per_group, len(network.local_ends)
    S = network.groups * n
    low, high = network.local_ends.T
    forth, back = low * n + high % n, high * n + low % n
    ways = coo_array((np.ones(2 * half), (np.concatenate([forth, back]), np.arange(2 * half))),
                     shape=(S * n, 2 * half)).tocsr()
    if network.spines:                                  # between two leaves, or two spines, over all of the others
        switch, middle, other = (grid.ravel() for grid in np.mgrid[:S, :n, :n])
        leaf, middle_leaf, other_leaf = (some % n < n - network.spines for some in (switch, middle, other))
        kept = (leaf != middle_leaf) & (leaf == other_leaf) & (switch % n != other)
        switch, middle, other = switch[kept], middle[kept], other[kept]
        value = 1 / np.where(leaf[kept], network.spines, n - network.spines)
        row = switch * n + other
        over = coo_array((np.tile(value, 2), (np.tile(row, 2), np.concatenate(
            [switch * n + middle, (switch // n * n + middle) * n + other]))), shape=(S * n, S * n)).tocsr()
        ways = ways + over @ ways
    used, number = np.unique(legs.pair, return_inverse=True)
    table = (coo_array((legs.load, (number, legs.link)), shape=(len(used), S * n)).tocsr() @ ways).tocoo()
    return used[table.row], table.col, table.data * weight
