"""Tables of the routes between the points of a network in use, for searches that move one rank at a time.

Idea: under most rules the route of a message depends on its ends alone. So a table of the links between every two points,
each with its share of the message, gives the loads of a rank's messages as a sum of rows. A row holds both directions.
If hosts have links to several switches, only the first link counts: the table then guides a search, and gives no loads.
Cost: a row for each pair of points.
"""

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.network.network import Network, link_weights
from pencilmap.model.network.switched import HOST
from pencilmap.model.routing import default_routing, routing
from pencilmap.model.routing.host_links import router_arcs, routers_of_ends
from pencilmap.model.routing.legs import Legs
from pencilmap.model.routing.tree_loads import static_cables

MOST_ENTRIES = 10_000_000  # of static routes
MOST_WORK = 2_000_000_000  # points squared times links, of shortest paths


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


def _table(points: Ints, n: int, legs: Legs, directed: bool) -> RouteTable:
    from scipy.sparse import coo_array  # slow to import, and only searches need it

    source, target = np.divmod(legs.pair, n)
    pair = legs.pair if directed else np.minimum(source, target) * n + np.maximum(source, target)
    rows = coo_array((legs.load, (pair, legs.link)), shape=(n * n, legs.n_links)).tocsr()
    return RouteTable(points, legs.n_links, rows.indptr.astype(np.int64), rows.indices.astype(np.int64),
                      rows.data.astype(float))


@singledispatch
def guiding_routes(network: Network, ends: Ints, directed: bool = False) -> RouteTable | None:
    """Return the routes between routers of some ends under the default rule; on a fat tree `static_routes`.

    Parameters
    ----------
    network : Network
    ends : int array, shape (k,)
        The ends in use, see `Network.ends`.
    directed : bool
        Whether the two directions of a pair have rows of their own.

    Returns
    -------
    RouteTable or None
        None if the routes are too many.
    """
    arcs = router_arcs(network)
    used = len(np.unique(routers_of_ends(network)[0][ends]))
    return None if used * arcs.n_vertices * len(arcs.source) > MOST_WORK else _default_routes(network, ends, directed)


def _default_routes(network: Network, ends: Ints, directed: bool = False) -> RouteTable:
    routers, point = np.unique(routers_of_ends(network)[0][ends], return_inverse=True)
    legs = routing(default_routing(network)).legs(network, routers)
    return _table(_points(network, ends, point), len(routers), legs, directed)


def _points(network, ends, point):
    points = np.full(routers_of_ends(network)[0].shape, -1)
    points[ends] = point
    return points


guiding_routes.register(Dragonfly, _default_routes)


@guiding_routes.register
def static_routes(tree: FatTree, ends: Ints, directed: bool = False) -> RouteTable | None:
    """Return the static destination routes of some hosts of a fat tree, without the hosts' links.

    The result is None if there are no such routes or too many.
    """
    uneven = any(len(set(cables.tolist())) > 1 for cables in tree.cables_up)
    hosts, point = np.unique(ends, return_inverse=True)
    n = len(hosts)
    if uneven or len(tree.planes()) > 1 or tree.n_nodes != len(tree.switch_of_link) \
            or n * n * 2 * len(tree.above) > MOST_ENTRIES:
        return None
    source, target = (grid.ravel() for grid in np.mgrid[:n, :n])
    pair, link, weight, first = [], [], [], 0
    weights = link_weights(tree)[tree.link_classes.index(HOST) + 1:]
    for level, (above, cables) in enumerate(zip(tree.above, tree.cables_up)):
        unit, k = above[tree.switch_of_link[hosts]], int(cables[0])
        port = static_cables(tree, hosts, level)
        apart = unit[source] != unit[target]
        for end, half in ((source, 0), (target, len(cables) * k)):
            pair.append((source * n + target)[apart])
            link.append((first + half + unit[end] * k + port[target])[apart])
            weight.append(np.full(len(pair[-1]), float(weights[level])))
        first += 2 * len(cables) * k
    legs = Legs(np.concatenate(pair), np.concatenate(link), np.concatenate(weight), first)
    return _table(_points(tree, ends, point), n, legs, directed)
