"""Loads of the links between hosts and switches, which no routing decides, and the network between the switches alone."""

from collections.abc import Callable, Iterable
from functools import lru_cache, singledispatch

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs, Network, leaves
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.traffic.counted import between, crossing
from pencilmap.model.traffic.exchange import Exchange, messages_between, node_totals
from pencilmap.model.traffic.known_loads import kept
from pencilmap.model.traffic.loads import LinkLoads, without_rounding
from pencilmap.model.traffic.pairs import Traffic, together


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


@singledispatch
def routers_of_ends(network: Network) -> tuple[Ints, int]:
    """Return the router of each end, of hosts with links to several switches that of the first link; and the routers."""
    return np.arange(network.n_nodes), network.n_nodes


@routers_of_ends.register
def _first_switches(network: SwitchedNetwork) -> tuple[Ints, int]:
    return network.planes()[0].switch, network.n_switches


@singledispatch
def router_arcs(network: Network) -> Arcs:
    """Return the links between routers as arcs: all links, or those between switches if hosts are on switches.

    Switches are numbered from 0, and `index` is then the number of the link.
    """
    return network.arcs()


@router_arcs.register
@lru_cache(maxsize=8)
def _switch_arcs(network: SwitchedNetwork) -> Arcs:
    arcs, n = network.arcs(), network.n_nodes
    links = np.flatnonzero((arcs.source >= n) & (arcs.target >= n))
    return Arcs(network.n_switches, arcs.source[links] - n, arcs.target[links] - n, links, arcs.capacity[links],
                arcs.ways[links])


def loads_beyond_leaves(network: Network, exchange: Exchange, ends: np.ndarray,
                        even: Callable[[Arcs, Traffic], Floats]) -> LinkLoads:
    """Return the loads of all links of a graph: those of leaves, which no routing decides, and the others by `even`."""
    arcs = network.arcs()
    is_leaf, home, inner = leaves(arcs, network.n_nodes)
    values = np.zeros(len(arcs.source))
    values[inner.index] = even(inner, messages_between(exchange, home[ends], inner.n_vertices))
    for vertex, held in zip((arcs.source, arcs.target), node_totals(exchange, ends, network.n_nodes)):
        links = np.flatnonzero(is_leaf[vertex])
        values[links] = held[vertex[links]]
    flat = np.zeros(int(np.prod(network.link_shape)))
    flat[arcs.index] = without_rounding(values)
    return LinkLoads(network, flat.reshape(network.link_shape), exchange.total_bytes)


def loads_beyond_hosts(network: SwitchedNetwork, exchange: Exchange, ends: np.ndarray,
                       even: Callable[[Arcs, Traffic], Floats]) -> LinkLoads:
    """Return the same for hosts on switches."""
    arcs, found = _switch_arcs(network), loads_with_hosts(network, exchange, ends, ())
    on_arcs = even(arcs, between_switches(network, exchange, ends))
    found.values.reshape(-1)[network.place_of_link[arcs.index]] = without_rounding(on_arcs)
    return found
