"""Minimal routes of a dragonfly: at most one global cable, and the fewest hops with it.

Idea: plain shortest paths may use two global cables in place of a local cable, which routers of dragonflies do not do. If
several cables between two groups need as few local hops, the load is split evenly over them.
Source: J. Kim and others, ISCA 2008, section 4.1 (MIN).
Cost: see `pencilmap.model.routing.group_routes`.
"""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.dragonfly import Dragonfly
from pencilmap.model.routing.group_routes import GroupLoads
from pencilmap.model.routing.host_links import between_switches, loads_with_hosts
from pencilmap.model.routing.legs import Legs, minimal_legs
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.known_loads import kept
from pencilmap.model.traffic.loads import LinkLoads


@dataclass(frozen=True)
class Minimal(Rule):
    """The rule as a value."""

    def loads(self, network: Dragonfly, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        used, traffic = by_groups(network, exchange, node_of_rank)
        found = GroupLoads(network)
        found.add_inside(used, traffic)
        found.add_minimal(used, used, traffic)
        return loads_with_hosts(network, exchange, node_of_rank, found.classes())

    def legs(self, network: Dragonfly, routers: Ints) -> Legs:
        """Return the routes as a table."""
        return minimal_legs(network, routers)


def by_groups(network: Dragonfly, exchange: Exchange, ends: np.ndarray) -> tuple[Ints, Floats]:
    """Return the groups with traffic, shape (U,), and the bytes between their switches, shape (U, n, U, n)."""
    return kept(("groups", exchange.unit_bytes), network, exchange, ends, lambda: _by_groups(network, exchange, ends))


def _by_groups(network, exchange, ends):
    traffic, n = between_switches(network, exchange, ends), network.per_group
    is_used = np.zeros((network.groups, n), dtype=bool)
    for some in (traffic.row, traffic.col):
        is_used.ravel()[some] = True
    used = np.flatnonzero(is_used.any(axis=1))
    found, number = np.zeros((len(used) * n,) * 2), np.zeros((network.groups, n), dtype=np.int64)
    number[used] = np.arange(len(used) * n).reshape(-1, n)
    found.ravel()[number.ravel()[traffic.row] * len(found) + number.ravel()[traffic.col]] = traffic.data
    found.setflags(write=False)
    return used, found.reshape(len(used), n, len(used), n)


RULE = without_argument("minimal", "on a dragonfly: at most one global cable, evenly over those with the fewest hops",
                        Minimal())
