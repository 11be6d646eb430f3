"""Shortest paths with an even split at each hop, as switches with equal-cost routes choose cables by a hash.

Idea: each switch splits the traffic for a target evenly over all cables that lead one hop nearer to it. On trees this is the
same as an even split over all shortest paths. Elsewhere a cable with few paths behind it carries as much as the others. For
each target, the traffic moves one level nearer after the other, from the farthest switches on.
Source: C. Hopps, "Analysis of an equal-cost multi-path algorithm", RFC 2992 (2000).
Cost: O(L) for each target, L links.
"""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs, Network
from pencilmap.model.routing.host_links import between_routers, loads_of_arcs, router_arcs
from pencilmap.model.routing.legs import Legs, shortest_legs
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads


@dataclass(frozen=True)
class EachHop(Rule):
    """The rule as a value."""

    def loads(self, network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        values = even_at_each_hop(router_arcs(network), between_routers(network, exchange, node_of_rank))
        return loads_of_arcs(network, exchange, node_of_rank, values)

    def legs(self, network: Network, routers: Ints) -> Legs:
        """Return the routes as a table."""
        return shortest_legs(network, routers, by_hop=True)


def even_at_each_hop(arcs: Arcs, traffic: Floats) -> Floats:
    """Return the load of each arc if each vertex splits the traffic for a target evenly over the cables towards it.

    Parameters
    ----------
    arcs : Arcs
    traffic : float array, shape (n, n)
        Between the first n vertices.
    """
    found = np.zeros(len(arcs.source))
    n = len(traffic)
    back = Arcs(arcs.n_vertices, arcs.target, arcs.source, arcs.index, arcs.capacity)
    for target in np.flatnonzero(traffic.any(axis=0)).tolist():
        away = back.distances([target])[0]
        held = np.zeros(arcs.n_vertices)
        held[:n] = traffic[:, target]
        near = np.flatnonzero(np.isfinite(away[arcs.source]) & (away[arcs.target] + 1 == away[arcs.source]))
        width = np.bincount(arcs.source[near], arcs.capacity[near], arcs.n_vertices)
        level = away[arcs.source[near]]
        for distance in np.unique(level)[::-1]:
            here = near[level == distance]
            share = held[arcs.source[here]] * arcs.capacity[here] / width[arcs.source[here]]
            found[here] += share
            np.add.at(held, arcs.target[here], share)
    return found


RULE = without_argument("each-hop", "along shortest paths, split evenly over the cables at each hop (equal-cost routes)",
                        EachHop())
