"""Rules of routing for hosts on switches: loads of the links of hosts, which no routing decides, and shortest paths.

The network between the switches stands alone: traffic between hosts is traffic between their switches.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.routing.routes import MOST_ENTRIES, Legs, Routes, joined, rates, table_of
from pencilmap.model.routing.rule import Rule
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH, ShortestPath
from pencilmap.model.traffic.counted import between, crossing
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.known_loads import kept
from pencilmap.model.traffic.loads import LinkLoads, without_rounding
from pencilmap.model.traffic.pairs import Traffic, together


class OnSwitches(Rule):
    """A rule whose tables of routes are those between switches."""

    def routes(self, network: SwitchedNetwork, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes between places as a table: of each plane, with the links of the hosts."""
        end, planes = network.ends(node, slot), network.planes()
        switches = np.stack([plane.switch[end] for plane in planes], axis=1)
        used, router = np.unique(switches, axis=0, return_inverse=True)
        V = len(used)
        if V * V * 4 * len(planes) > MOST_ENTRIES:
            return None
        parts = [_of_plane(self, network, some, float(plane.share)) for plane, some in zip(planes, used.T)]
        legs = joined((part[:3] for part in parts), parts[0].n_links)
        ends = np.unique(end, return_inverse=True)[1]
        return table_of(legs, V, node, router.ravel(), ends, rates(network)[0] * float(planes[0].share))


@dataclass(frozen=True)
class BetweenSwitches(OnSwitches, ShortestPath):
    """Shortest paths between switches."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        arcs, found = network.router_arcs(), loads_with_hosts(network, exchange, node_of_rank, ())
        on_arcs = self.even(arcs, between_switches(network, exchange, node_of_rank))
        found.values.reshape(-1)[network.place_of_link[arcs.index]] = without_rounding(on_arcs)
        return found


ROUTINGS = SHORTEST_PATH.by(BetweenSwitches()), EACH_HOP.by(BetweenSwitches(by_hop=True))


def host_of_end(network: SwitchedNetwork) -> Ints | None:
    """Return the host of each end, or None if hosts have one end."""
    return network.host_of_end if network.use == "task" and network.links_per_host > 1 else None


def loads_with_hosts(network: SwitchedNetwork, exchange: Exchange, ends: np.ndarray,
                     classes: Iterable[Floats]) -> LinkLoads:
    """Return the loads of all links from the loads of the classes between switches.

    Parameters
    ----------
    network : SwitchedNetwork
    exchange : Exchange
    ends : int array, shape (P,)
        End of the network of each rank.
    classes : iterable of float array
        For each class after the first, the bytes on its links.
    """
    values = np.zeros(network.link_shape)
    L, planes = len(network.switch_of_link), network.planes()
    up, down = _of_hosts(network, exchange, ends, len(planes[0].links))
    for plane in planes:
        values[0, plane.links] = up * float(plane.share)
        values[0, L + plane.links] = down * float(plane.share)
    for row, loads in zip(values[1:], classes):
        row[:len(loads)] = loads
    for row in values:
        row[:] = without_rounding(row)
    return LinkLoads(network, values, exchange.total_bytes)


def _of_hosts(network, exchange, ends, n):
    """Return the bytes that leave each of n ends of a plane, and the bytes that enter the end, whatever the routing."""
    both = kept(("hosts", exchange.unit_bytes), network, exchange, ends,
                lambda: crossing(exchange, ends, np.arange(n), n, host_of_end(network)))
    return [each[:, 0] for each in both]


def between_switches(network: SwitchedNetwork, exchange: Exchange, ends: np.ndarray) -> Traffic:
    """Return the bytes from each switch to each other switch, all planes together."""
    n, host = network.n_switches, host_of_end(network)
    return kept(("switches", exchange.unit_bytes), network, exchange, ends, lambda: together(
        (between(exchange, ends, plane.switch, n, host), float(plane.share)) for plane in network.planes()))


def _of_plane(rule, network, switches, share):
    """Return the legs between switches, which may occur several times, for a share of each message."""
    from scipy.sparse import coo_array  # slow to import

    some, number = np.unique(switches, return_inverse=True)
    pair, link, load, n_links = rule.legs(network, some)
    if len(some) < len(switches):
        n = len(some)
        rows = coo_array((load, (pair, link)), shape=(n * n, n_links)).tocsr()
        legs = rows[(number[:, None] * n + number).ravel()].tocoo()
        pair, link, load = legs.row, legs.col, legs.data
    return Legs(pair, link, load * share, n_links)
