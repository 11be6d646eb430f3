"""Valiant routes of a dragonfly: every message between two groups goes through a third group, all of them evenly.

Idea: this is the worst that adaptive routers do on purpose, and it makes any traffic as good as random traffic. From its
switch a message takes the nearest cable to the third group, and from the switch where it arrives a minimal route. Messages
inside a group stay there. With two groups there is no third group, so routes are minimal.
Source: J. Kim and others, ISCA 2008, section 4.1 (VAL), after L. G. Valiant, "A scheme for fast parallel communication",
SIAM J. Comput. 11 (1982).
Cost: that of minimal routes from all groups to those with tasks.
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
        used, traffic = by_groups(network, exchange, node_of_rank)
        found, group = GroupLoads(network), np.arange(len(used))
        found.add_inside(used, traffic)
        traffic = traffic.copy()
        traffic[group, :, group, :] = 0
        if network.groups < 3:
            found.add_minimal(used, used, traffic)
        else:
            found.add_minimal(np.arange(network.groups), used, _through_groups(network, found, used, traffic))
        return loads_with_hosts(network, exchange, node_of_rank, found.classes())


def _through_groups(network, found, used, traffic):
    """Add the first legs to the loads, and return the traffic of the second legs, from the switches where they begin."""
    G, U, n = network.groups, len(used), network.per_group
    part = 1 / (G - 2)
    to_group = np.zeros((U, n, G))
    to_group[:, :, used] = traffic @ np.ones(n)  # faster than a sum
    first = (to_group.sum(axis=2, keepdims=True) - to_group) * part            # through each other group
    first[np.arange(U), :, used] = 0
    shares = found.add_to_group(used, first)                                   # (U, n, G, K)
    links, inside = network.cables_of_pair
    if links.shape[2] == 1:                                                    # all switches of a group use the same cable
        third, of = np.nonzero(links[used, :, 0].T >= 0)
        arrives = np.zeros((G * n, U))
        arrives[third * n + inside[third, used[of], 0], of] = 1
        second = (arrives @ traffic.sum(axis=1).reshape(U, U * n)).reshape(G, n, U, n) * part
        second[used, :, np.arange(U)] = 0                                      # not through the target group
        return second
    second = np.zeros((G, n, U, n))
    for i in np.flatnonzero(traffic.any(axis=(1, 2, 3))).tolist():
        for k in range(links.shape[2]):                                        # one cable to each third group
            third = np.flatnonzero(links[used[i], :, k] >= 0)
            legs = (shares[i][:, third, k].T @ traffic[i].reshape(n, -1) * part).reshape(-1, U, n)
            legs[third[:, None] == used] = 0                                   # not through the target group
            second[third, inside[third, used[i], k]] += legs
    return second


RULE = without_argument("valiant", "on a dragonfly: through a third group, over all of them evenly", Valiant())
