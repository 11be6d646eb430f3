"""Shortest paths on any graph, with the load split evenly over all of them, or evenly at each hop.

Idea: count the shortest paths from a source to every vertex level by level. Then go back from the farthest level: split the
load that enters a vertex over its predecessors in proportion to their numbers of paths. Floats are summed for all sources
at once (`pencilmap.model.routing.even_ways`), fractions source by source. Hosts with one link are taken together at the
vertex on which they hang.

Split at each hop, as switches with equal-cost routes choose cables by a hash: each switch splits the traffic for a target
evenly over all cables that lead one hop nearer to it, whatever their rates, because a hash knows no rates. On trees this is
the same. Elsewhere a cable with few paths behind it carries as much as the others.
Source: U. Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25 (2001); this is its accumulation
with bytes instead of pairs. C. Hopps, "Analysis of an equal-cost multi-path algorithm", RFC 2992 (2000).
Cost: O(L) for each source node, or each source switch, L links. Every cable of a link is a path of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs, Network, leaves
from pencilmap.model.routing.even_ways import even_loads_of_arcs
from pencilmap.model.routing.routes import Legs, shortest_legs
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.traffic.exchange import Exchange, Traffic, messages_between, node_totals
from pencilmap.model.traffic.loads import LinkLoads, without_rounding


@dataclass(frozen=True)
class ShortestPath(Rule):
    """The rule as a value."""

    by_hop: bool = False

    def loads(self, network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        return loads_beyond_leaves(network, exchange, node_of_rank, self.even)

    @property
    def even(self) -> Callable[[Arcs, Traffic], Floats]:
        """The load of each arc for some traffic."""
        return partial(even_loads_of_arcs, by_hop=self.by_hop)

    def legs(self, network: Network, routers: Ints) -> Legs:
        """Return the routes between routers."""
        return shortest_legs(network.router_arcs(), routers, self.by_hop)


SHORTEST_PATH = without_argument("shortest-path", "split evenly over all shortest paths, each cable as a path of its own",
                                 ShortestPath())
EACH_HOP = without_argument("each-hop", "along shortest paths, split at each hop evenly over the cables (ECMP), whatever "
                            "their rates", ShortestPath(by_hop=True))


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


def exact_loads(network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
    """Return the load of every link in fractions if each message is split evenly over all its shortest paths.

    For small cases.
    """
    arcs = network.arcs()
    flat = np.full(int(np.prod(network.link_shape)), Fraction(0))
    flat[arcs.index] = _exact(arcs, messages_between(exchange, node_of_rank, arcs.n_vertices))
    return LinkLoads(network, flat.reshape(network.link_shape), exchange.total_bytes)


def _exact(arcs: Arcs, traffic: Traffic) -> NDArray[np.object_]:
    """Return the same as `even_loads_of_arcs` in fractions."""
    values = np.full(len(arcs.source), Fraction(0))
    for source in np.unique(traffic.row).tolist():
        wanted, some = np.full(arcs.n_vertices, Fraction(0)), traffic.row == source
        wanted[traffic.col[some]] = [Fraction(b) for b in traffic.data[some].tolist()]
        _add_tree(values, arcs, arcs.distances([source])[0], source, wanted)
    return values


def _add_tree(values: NDArray[np.object_], arcs: Arcs, distance: Floats, source: int, wanted: NDArray[np.object_]) -> None:
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


def _arcs_by_level(arcs: Arcs, distance: Floats) -> list[Ints]:
    """Return the arcs that lead one hop away from the source, nearest first: list of int arrays."""
    near = distance[arcs.source]
    forward = np.flatnonzero(np.isfinite(near) & (distance[arcs.target] == near + 1))
    order = forward[np.argsort(near[forward], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(near[order])) + 1) if order.size else []
