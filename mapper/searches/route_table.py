"""Tables of the routes between the points of a network in use, for searches that move one rank at a time.

Idea: under most rules the route of a message depends on its ends alone. So a table of the links between every two points,
each with its share of the message, gives the loads of a rank's messages as a sum of rows. A row holds both directions.
If hosts have links to several switches, only the first link counts: the table then guides a search, and gives no loads.
Cost: a row for each pair of points.
"""

from typing import NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.kinds import kind_of
from pencilmap.model.network.network import Network
from pencilmap.model.routing.routes import Legs


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


def guiding_routes(network: Network, ends: Ints, directed: bool = False) -> RouteTable | None:
    """Return the routes that guide a search on a network, between the points of some ends.

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
        None if there are none, or too many.
    """
    guide = kind_of(network).guide(network, ends)
    if guide is None:
        return None
    point, legs = guide
    points = np.full(network.router_of_end.shape, -1)
    points[ends] = point
    return _table(points, int(point.max()) + 1, legs, directed)
