"""Tables of the routes between all points of a network, for searches that move one rank at a time.

Idea: under most rules the route of a message depends on its ends alone. So a table of the links between every two points,
each with its share of the message, gives the loads of a rank's messages as a sum of rows. A row holds both directions.
Of hosts with links to several switches only the first link counts, so a table is then a guide and no load.
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

MOST_ENTRIES = 40_000_000  # of static routes
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


def _table(points: Ints, n: int, legs: Legs) -> RouteTable:
    from scipy.sparse import coo_array  # slow to import, and only searches need it

    source, target = np.divmod(legs.pair, n)
    both = np.minimum(source, target) * n + np.maximum(source, target)
    rows = coo_array((legs.load, (both, legs.link)), shape=(n * n, legs.n_links)).tocsr()
    return RouteTable(points, legs.n_links, rows.indptr.astype(np.int64), rows.indices.astype(np.int64),
                      rows.data.astype(float))


@singledispatch
def guiding_routes(network: Network) -> RouteTable | None:
    """Return the routes between routers under the default rule, None if they are too many; on a fat tree `static_routes`."""
    arcs = router_arcs(network)
    return None if arcs.n_vertices**2 * len(arcs.source) > MOST_WORK else _default_routes(network)


def _default_routes(network: Network) -> RouteTable:
    points, n = routers_of_ends(network)
    return _table(points, n, routing(default_routing(network)).legs(network, np.arange(n)))


guiding_routes.register(Dragonfly, _default_routes)


@guiding_routes.register
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
    return _table(np.arange(n), n, Legs(np.concatenate(pair), np.concatenate(link), np.concatenate(weight), first))
