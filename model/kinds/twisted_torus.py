"""Twisted tori: rules of routing by displacement, and their bounds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.bounds.cut_traffic import Crossing
from pencilmap.model.kinds.kind import Bound, Kind, with_smallest
from pencilmap.model.kinds.torus import parsed_by
from pencilmap.model.kinds.torus_routes import DIMENSION_ORDER, DimensionOrder, parse
from pencilmap.model.kinds.twisted_cuts import all_cables, all_to_all_bound, plane_cuts, twisted_bound
from pencilmap.model.kinds.twisted_routes import twisted_loads
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus, parse_twisted
from pencilmap.model.placement.allocation import Site
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL, OptimalMinimal
from pencilmap.model.routing.routes import Routes
from pencilmap.model.routing.rule import Rule
from pencilmap.model.routing.shortest_path import SHORTEST_PATH, ShortestPath
from pencilmap.model.traffic.exchange import Exchange, messages_between
from pencilmap.model.traffic.loads import LinkLoads, m_scale


@dataclass(frozen=True)
class TwistedPaths(ShortestPath):
    """Shortest paths, counted from one node of each class."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        return twisted_loads(network, exchange, node_of_rank)


@dataclass(frozen=True)
class TwistedOrder(DimensionOrder):
    """The shortest vector of each displacement, one dimension after the other."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link; half of each tie goes each way."""
        if self.tie != "split":
            raise RoutingError(f"dimension-order:{self.tie} does not work on {network.title}, where more than half a ring "
                               "can tie; use dimension-order")
        return twisted_loads(network, exchange, node_of_rank, self.dimensions(network))

    def routes(self, network: Any, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes on shortest paths, for searches."""
        return Rule.routes(self, network, node, slot)


@dataclass(frozen=True)
class TwistedOptimum(OptimalMinimal):
    """The best routing along shortest paths."""

    def symmetries(self, network: TwistedTorus) -> Iterator[Ints]:
        """Yield the shifts of all nodes."""
        nodes = np.arange(network.n_nodes)
        return (network.sums(nodes[[shift]], nodes)[0] for shift in nodes)


def _ordered(argument):
    plain = parse(argument)
    return TwistedOrder(plain.order, plain.tie)


class TwistedKind(Kind):
    """The kind of twisted tori, which look the same from every node."""

    def cut_bound(self, network: TwistedTorus, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of hops and planes."""
        return _in_every_class(network, twisted_bound(network, messages_between(exchange, ends, network.n_nodes)))

    def machine_bound(self, network: TwistedTorus) -> tuple[Fraction, ...]:
        """Return the bound of hops and planes."""
        return _in_every_class(network, m_scale(all_to_all_bound(network), network, network.n_nodes**2))

    def of_full_machine(self, network: TwistedTorus, crossing: Crossing) -> Bound:
        """Return the bound of all links."""
        value = self.machine_bound(network)[0] * link_weights(network)[0]
        return with_smallest((value, "all-to-all of the full machine over all links"), crossing)

    def halves(self, network: TwistedTorus) -> tuple[tuple[int, Fraction], ...]:
        """Return the halves of the planes of each dimension."""
        return plane_cuts(network)

    def every_cable(self, network: TwistedTorus) -> Fraction:
        """Return the cables of all links."""
        return all_cables(network)

    def hops(self, site: Site) -> Ints:
        """Return the distances, which are the same for each node of a whole torus."""
        network: Any = site.network
        if not site.allocation.is_complete:
            return super().hops(site)
        return np.broadcast_to(np.sort(network.hops), (network.n_nodes,) * 2)


def _in_every_class(torus, load):
    """Return a bound for the links of all classes together as a load of each class that takes the same time."""
    return tuple(load / weight for weight in link_weights(torus))


KIND = TwistedKind(
    "twisted-torus", "4x4x8:twisted or 4x4x8:twist=xz4,yz4",
    "torus whose rings come back with an offset: past the end of x, z grows by 4",
    "one for each dimension, with the letter of its axis", TwistedTorus, parsed_by(parse_twisted),
    (SHORTEST_PATH.by(TwistedPaths()), replace(DIMENSION_ORDER, make=_ordered, variants=("",)),
     OPTIMAL_MINIMAL.by(TwistedOptimum())))
