"""Shortest paths with an even split at each hop, as switches with equal-cost routes choose cables by a hash.

Idea: each switch splits the traffic for a target evenly over all cables that lead one hop nearer to it, whatever their
rates, because a hash knows no rates. On trees this is the
same as an even split over all shortest paths. Elsewhere a cable with few paths behind it carries as much as the others. For
each target, the traffic moves one level nearer after the other, from the farthest switches on.
Source: C. Hopps, "Analysis of an equal-cost multi-path algorithm", RFC 2992 (2000).
Cost: O(L) for each target, L links.
"""

from dataclasses import dataclass
from functools import partial, singledispatch

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.network import Network
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.routing.even_ways import even_loads_of_arcs
from pencilmap.model.routing.host_links import loads_beyond_hosts, loads_beyond_leaves
from pencilmap.model.routing.legs import Legs, shortest_legs
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads


@dataclass(frozen=True)
class EachHop(Rule):
    """The rule as a value."""

    def loads(self, network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        return _loads(network, exchange, node_of_rank, partial(even_loads_of_arcs, by_hop=True))

    def legs(self, network: Network, routers: Ints) -> Legs:
        """Return the routes as a table."""
        return shortest_legs(network, routers, by_hop=True)


_loads = singledispatch(loads_beyond_leaves)
_loads.register(SwitchedNetwork, loads_beyond_hosts)
RULE = without_argument("each-hop", "along shortest paths, split at each hop evenly over the cables (ECMP), whatever their "
                        "rates", EachHop())
