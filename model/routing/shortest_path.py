"""Shortest paths on any graph, with the load split evenly over all of them.

Idea: count the shortest paths from a source to every vertex level by level. Then go back from the farthest level: split the
load that enters a vertex over its predecessors in proportion to their numbers of paths. Floats are summed for all sources
at once (`pencilmap.model.routing.even_ways`), fractions source by source.
Source: U. Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25 (2001); this is its accumulation
with bytes instead of pairs.
Hosts with one link are taken together at the vertex on which they hang.
Cost: O(L) for each source node, or each source switch, L links. Every cable of a link is a path of its own.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import numpy as np

from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.network.network import Network
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.network.twisted_torus import TwistedTorus
from pencilmap.model.routing.even_ways import even_loads_of_arcs
from pencilmap.model.routing.host_links import loads_beyond_hosts, loads_beyond_leaves
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.routing.tree_loads import even_loads
from pencilmap.model.routing.twisted_paths import twisted_loads
from pencilmap.model.traffic.exchange import Exchange, messages_between
from pencilmap.model.traffic.loads import LinkLoads


@dataclass(frozen=True)
class ShortestPath(Rule):
    """The rule as a value."""

    def loads(self, network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        return _loads(network, exchange, node_of_rank)


RULE = without_argument("shortest-path", "split evenly over all shortest paths, each cable as a path of its own",
                        ShortestPath())


def shortest_path_loads(network: Network, exchange: Exchange, node_of_rank: np.ndarray, exact: bool = False) -> LinkLoads:
    """Return the load of every link if each message is split evenly over all its shortest paths.

    Parameters
    ----------
    network : Network
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    exact : bool
        Whether loads are fractions instead of floats: for small cases.
    """
    if not exact:
        return loads_beyond_leaves(network, exchange, node_of_rank, even_loads_of_arcs)
    arcs = network.arcs()
    flat = np.full(int(np.prod(network.link_shape)), Fraction(0))
    flat[arcs.index] = _exact(arcs, messages_between(exchange, node_of_rank, arcs.n_vertices))
    return LinkLoads(network, flat.reshape(network.link_shape), exchange.total_bytes)


def _between_switches(network, exchange, ends):
    return loads_beyond_hosts(network, exchange, ends, even_loads_of_arcs)


_loads = singledispatch(shortest_path_loads)  # host by host; kinds with faster ways are listed
_loads.register(SwitchedNetwork, _between_switches)
_loads.register(FatTree, even_loads)
_loads.register(TwistedTorus, twisted_loads)


def _exact(arcs, traffic):
    """Return the same as `even_loads_of_arcs` in fractions."""
    values = np.full(len(arcs.source), Fraction(0))
    for source in np.unique(traffic.row).tolist():
        wanted, some = np.full(arcs.n_vertices, Fraction(0)), traffic.row == source
        wanted[traffic.col[some]] = [Fraction(b) for b in traffic.data[some].tolist()]
        _add_tree(values, arcs, arcs.distances([source])[0], source, wanted)
    return values


def _add_tree(values, arcs, distance, source, wanted):
    """Add the traffic from one source to every vertex to `values`."""
    by_level = _arcs_by_level(arcs, distance)
    paths, cables = np.zeros_like(wanted), arcs.ways.astype(int)
    paths[source] = 1
    for level in by_level:
        np.add.at(paths, arcs.target[level], paths[arcs.source[level]] * cables[level])
    for level in reversed(by_level):
        tail, head = arcs.source[level], arcs.target[level]
        share = wanted[head] * paths[tail] * cables[level] / paths[head]
        values[level] += share
        np.add.at(wanted, tail, share)


def _arcs_by_level(arcs, distance):
    """Return the arcs that lead one hop away from the source, nearest first: list of int arrays."""
    near = distance[arcs.source]
    forward = np.flatnonzero(np.isfinite(near) & (distance[arcs.target] == near + 1))
    order = forward[np.argsort(near[forward], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(near[order])) + 1) if order.size else []
