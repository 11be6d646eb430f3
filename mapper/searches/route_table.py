"""Tables of the routes between all points of a network, for searches that move one rank at a time.

Idea: under most rules the route of a message depends on its ends alone. So a table of the links between every two points,
each with its share of the message, gives the loads of a rank's messages as a sum of rows. A row holds both directions.
Of hosts with links to several switches only the first link counts, so a table is then a guide and no load.
Cost: a row for each pair of points; `MOST_ENTRIES` entries in all.
"""

from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import Arcs, link_weights
from pencilmap.model.network.switched import HOST, SwitchedNetwork
from pencilmap.model.routing.host_links import switch_arcs
from pencilmap.model.routing.tree_loads import static_cables

MOST_ENTRIES = 40_000_000
MOST_WORK = 2_000_000_000  # points squared times links, of shortest paths


class RouteTable(NamedTuple):
    """The routes between n points.

    The links between points a < b are ``link[start[a * n + b]:start[a * n + b + 1]]``. If a sends one unit to b and b one
    unit to a, their loads are `weight`, in units of a cable of the fastest class.
    """

    points: Ints  #: int array, shape (ends,); point of each end of the network
    n_links: int
    start: Ints
    link: Ints
    weight: Floats


def _table(points, n, pair, link, weight, n_links) -> RouteTable:
    """Return the table of entries ``pair = source * n + target``, in any order."""
    from scipy.sparse import coo_array  # slow to import, and only searches need it

    source, target = np.divmod(pair, n)
    both = np.minimum(source, target) * n + np.maximum(source, target)
    rows = coo_array((weight, (both, link)), shape=(n * n, n_links)).tocsr()
    return RouteTable(points, n_links, rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(float))


def shortest_routes(network: GraphNetwork) -> RouteTable | None:
    """Return the even split over all shortest paths, between switches if hosts are on switches; None if it is too large."""
    if isinstance(network, SwitchedNetwork):
        arcs, points, n = switch_arcs(network), network.planes()[0].switch, network.n_switches
    else:
        arcs, points, n = network.arcs(), np.arange(network.n_nodes), network.n_nodes
    if n * n * len(arcs.source) > MOST_WORK:
        return None
    hops, paths = _paths(arcs)
    pairs, links, weights = [], [], []
    for source in range(n):
        far, count = hops[source], paths[source]
        target, link = np.nonzero((far[arcs.source] + 1)[None, :] + hops[arcs.target, :n].T == far[:n, None])
        pairs.append(source * n + target)
        links.append(link)
        weights.append(count[arcs.source[link]] * paths[arcs.target[link], target] / count[target] / arcs.capacity[link])
        if sum(map(len, links)) > MOST_ENTRIES:
            return None
    return _table(points, n, np.concatenate(pairs), np.concatenate(links), np.concatenate(weights), len(arcs.source))


def _paths(arcs: Arcs) -> tuple[Floats, Floats]:
    """Return hops and the number of shortest paths between all vertices."""
    from scipy.sparse import coo_array

    hops = arcs.distances()
    step = coo_array((np.ones(len(arcs.source)), (arcs.source, arcs.target)), shape=hops.shape).tocsr()
    step.data[:] = 1
    paths = np.eye(len(hops))
    for level in range(1, int(hops[np.isfinite(hops)].max(initial=0)) + 1):
        before = np.where(hops == level - 1, paths, 0)
        paths = np.where(hops == level, (step.T @ before.T).T, paths)
    return hops, paths


def minimal_routes(network: Dragonfly) -> RouteTable:
    """Return the minimal routes of a dragonfly between its switches."""
    G, n = network.groups, network.per_group
    S, n_local, n_global = G * n, 2 * len(network.local_ends), 2 * len(network.global_ends)
    weights = [float(w) for w in link_weights(network)]
    group = np.arange(S) // n
    pair, leg, share = [], [], []                       # local legs from switch to switch of a group
    a, b = (grid.ravel() for grid in np.mgrid[:S, :n])
    pair.append(a * S + group[a] * n + b)
    leg.append(a * n + b)
    share.append(np.ones(S * n))
    links, leaves = network.cables_of_pair
    on_global: list[list[Any]] = [[], [], []]
    for s in range(G):
        for t in np.flatnonzero(np.arange(G) != s):
            real = links[s, t] >= 0
            cable, leave, arrive = links[s, t][real], leaves[s, t][real], leaves[t, s][real]
            far = network.local_hops[:, leave][:, None, :] + network.local_hops[arrive].T[None, :, :]      # (n, n, K)
            chosen = far == far.min(axis=2, keepdims=True)
            part = chosen / chosen.sum(axis=2, keepdims=True)
            i, j, k = np.nonzero(chosen)
            here, value = (s * n + i) * S + t * n + j, part[i, j, k]
            pair += [here, here]
            leg += [(s * n + i) * n + leave[k], (t * n + arrive[k]) * n + j]
            share += [value, value]
            for column, some in zip(on_global, (here, n_local + cable[k], value * weights[2])):
                column.append(some)
    found = _legs(network, np.concatenate(pair), np.concatenate(leg), np.concatenate(share))
    pair_of, link_of, weight_of = (np.concatenate([first, *rest]) for first, rest in
                                   zip((*found[:2], found[2] * weights[1]), on_global))
    return _table(network.planes()[0].switch, S, pair_of, link_of, weight_of, n_local + n_global)


def _legs(network, pair, leg, share):
    """Return pair, local link and share for shares of local legs ``switch * per_group + switch inside``."""
    from scipy.sparse import coo_array

    n, half = network.per_group, len(network.local_ends)
    S = network.groups * n
    low, high = network.local_ends.T
    forth, back = low * n + high % n, high * n + low % n
    legs, on = np.concatenate([forth, back]), np.arange(2 * half)
    ways = coo_array((np.ones(2 * half), (legs, on)), shape=(S * n, 2 * half)).tocsr()
    if network.spines:                                  # between two leaves, or two spines, over all of the others
        leaves = n - network.spines
        switch, middle = (grid.ravel() for grid in np.mgrid[:S, :n])
        crossed = (switch % n < leaves) != (middle < leaves)
        switch, middle = switch[crossed], middle[crossed]
        of_kind = np.where(switch % n < leaves, network.spines, leaves)
        first, rows, columns = switch * n + middle, [], []
        for other in range(n):
            alike = ((switch % n < leaves) == (other < leaves)) & (switch % n != other)
            for part in (first[alike], ((switch // n * n + middle) * n + other)[alike]):
                rows.append((switch * n + other)[alike])
                columns.append(part)
        value = 1 / np.concatenate([of_kind[((switch % n < leaves) == (o < leaves)) & (switch % n != o)]
                                    for o in range(n) for _ in range(2)])
        over = coo_array((value, (np.concatenate(rows), np.concatenate(columns))), shape=(S * n, S * n)).tocsr()
        ways = ways + over @ ways
    used, number = np.unique(pair, return_inverse=True)
    table = (coo_array((share, (number, leg)), shape=(len(used), S * n)).tocsr() @ ways).tocoo()
    return used[table.row], table.col, table.data


def static_routes(tree: FatTree) -> RouteTable | None:
    """Return the static destination routes of a fat tree, without the hosts' links; None if there are none or too many."""
    uneven = any(len(set(cables.tolist())) > 1 for cables in tree.cables_up)
    n = tree.n_nodes
    if uneven or len(tree.planes()) > 1 or n != len(tree.switch_of_link) or n * n * 2 * len(tree.above) > MOST_ENTRIES:
        return None
    source, target = (grid.ravel() for grid in np.mgrid[:n, :n])
    pair, link, weight, first = [], [], [], 0
    weights = link_weights(tree)[tree.link_classes.index(HOST) + 1:]
    for level, (above, cables) in enumerate(zip(tree.above, tree.cables_up)):
        unit, k = above[tree.switch_of_link], int(cables[0])
        port = static_cables(tree, np.arange(n), level)
        apart = unit[source] != unit[target]
        for end, half in ((source, 0), (target, len(cables) * k)):
            pair.append((source * n + target)[apart])
            link.append((first + half + unit[end] * k + port[target])[apart])
            weight.append(np.full(len(pair[-1]), float(weights[level])))
        first += 2 * len(cables) * k
    return _table(np.arange(n), n, np.concatenate(pair), np.concatenate(link), np.concatenate(weight), first)
