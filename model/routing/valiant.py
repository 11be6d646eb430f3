"""Valiant routes of a dragonfly: every message between two groups goes through a third group, all of them evenly.

Idea: this is the worst that adaptive routers do on purpose, and it makes any traffic as good as random traffic. From its
switch a message takes the nearest cable to the third group, and from the switch where it arrives a minimal route. Messages
inside a group stay there. With two groups there is no third group, so routes are minimal.
Source: J. Kim and others, ISCA 2008, section 4.1 (VAL), after L. G. Valiant, "A scheme for fast parallel communication",
SIAM J. Comput. 11 (1982).
Cost: twice that of minimal routes, and switches squared x switches of a group.
"""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.routing.group_routes import GroupLoads
from pencilmap.model.routing.host_links import loads_with_hosts
from pencilmap.model.routing.minimal import Minimal, by_groups
from pencilmap.model.routing.rule import without_argument
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads


@dataclass(frozen=True)
class Valiant(Minimal):
    """The rule as a value; searches use the minimal routes."""

    def loads(self, network: Dragonfly, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        traffic = by_groups(network, exchange, node_of_rank)
        found = GroupLoads(network)
        found.add_inside(traffic)
        group = np.arange(network.groups)
        traffic[group, :, group, :] = 0
        found.add_minimal(traffic if network.groups < 3 else _through_groups(network, found, traffic))
        return loads_with_hosts(network, exchange, node_of_rank, found.classes())


def _through_groups(network, found, traffic):
    """Add the first legs to the loads, and return the traffic of the second legs, from the switches where they begin."""
    G, n = network.groups, network.per_group
    part = 1 / (G - 2)
    to_group = traffic.sum(axis=3)                                             # (G, n, G)
    first = (to_group.sum(axis=2, keepdims=True) - to_group) * part            # through each other group
    first[np.arange(G), :, np.arange(G)] = 0
    shares = found.add_to_group(first)                                         # (G, n, G, K)
    links, inside = network.cables_of_pair
    second = np.zeros_like(traffic)
    for s in np.flatnonzero(traffic.any(axis=(1, 2, 3))).tolist():
        for k in range(links.shape[2]):                                        # one cable to each third group
            third = np.flatnonzero(links[s, :, k] >= 0)
            legs = (shares[s][:, third, k].T @ traffic[s].reshape(n, -1) * part).reshape(-1, G, n)
            legs[np.arange(len(third)), third] = 0                             # not through the target group
            second[third, inside[third, s, k]] += legs
    return second


RULE = without_argument("valiant", "on a dragonfly: through a third group, over all of them evenly", Valiant())
