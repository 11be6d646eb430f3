"""Graphs: hosts, switches and cables of a file, of which nothing more is known, or which were recognised as a torus."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from pencilmap.model.base.errors import GraphError
from pencilmap.model.kinds import torus
from pencilmap.model.kinds.kind import Bound, Kind, Optima
from pencilmap.model.network.graph import GraphNetwork, TorusGraph
from pencilmap.model.network.network import link_weights
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL
from pencilmap.model.routing.rule import Rule
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.program import Traffic


def _only_from_files(text: str, **options: Any) -> Any:
    raise GraphError(f"network graph:{text[:60]}: a graph has no text form; give the file of its cables")


KIND = Kind("graph", "", "hosts, switches and cables of a file", "link", GraphNetwork, _only_from_files,
            (SHORTEST_PATH, EACH_HOP, OPTIMAL_MINIMAL))


def of_torus(site: Site) -> Site:
    """Return the same site on the torus that its network was recognised as; the site itself if there is none.

    Bounds and costs of placements are the same there.
    """
    graph = site.network
    return _moved(site, graph, graph.torus) if isinstance(graph, TorusGraph) else site


def in_order(site: Site) -> Site:
    """Return the same site on the same graph in the order of its torus."""
    graph = cast(TorusGraph, site.network)
    return _moved(site, graph, graph.in_order)


def _moved(site, graph, network):
    allocation = site.allocation
    whole = allocation.order is None and (graph.node_of_host == np.arange(graph.n_nodes)).all()
    hosts = None if allocation.hosts is None else graph.node_of_host[allocation.hosts]
    return replace(site, network=network, allocation=Allocation(
        network, None if whole else graph.node_of_host[allocation.nodes], hosts, allocation.listed))


def on_graph(mapping: Mapping, graph: TorusGraph) -> Mapping:
    """Return a mapping to the nodes of a torus, or to the graph in its order, as a mapping to the hosts of the graph."""
    return replace(mapping, network=graph, node_of_rank=graph.host_of_node[mapping.node_of_rank])


@dataclass(frozen=True)
class Carried(Rule):
    """A rule of the torus: loads are computed there and carried over to the links of the graph."""

    rule: Any

    def loads(self, network: TorusGraph, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link of the graph."""
        found = self.rule.loads(network.torus, exchange, network.node_of_host[node_of_rank])
        values = found.values.reshape(-1)[network.place_in_torus].reshape(network.link_shape)
        return LinkLoads(network, values, found.total_bytes, found.denominator)


class TorusGraphKind(Kind):
    """Graphs with the bounds of their torus."""

    def cut_bound(self, network: TorusGraph, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of planes."""
        return _of_torus(network.torus, torus.KIND.cut_bound(network.torus, exchange, network.node_of_host[ends]))

    def machine_bound(self, network: TorusGraph) -> tuple[Fraction, ...]:
        """Return the bound of planes."""
        return _of_torus(network.torus, torus.KIND.machine_bound(network.torus))

    def together(self, site: Site, grid: ProcessGrid, transform: Transform | None) -> Iterable[Bound]:
        """Return the bounds of the torus."""
        return torus.KIND.together(of_torus(site), grid, transform)

    def alone(self, site: Site, grid: ProcessGrid, size: int, ordered: bool, split: bool) -> Fraction:
        """Return the best floor on the torus."""
        return torus.KIND.alone(of_torus(site), grid, size, ordered, split)

    def in_turn(self, site: Site, grid: ProcessGrid, sizes: tuple[int, int], ordered: bool, split: bool,
                brief: bool) -> Iterable[Bound]:
        """Return the bounds of the torus."""
        return torus.KIND.in_turn(of_torus(site), grid, sizes, ordered, split, brief)

    def program_bound(self, site: Site, traffic: Traffic) -> float:
        """Return the bound of the torus."""
        return super().program_bound(of_torus(site), traffic)

    def optima(self, site: Site, grid: ProcessGrid) -> Optima | None:
        """Return the optima of small machines."""
        return torus.KIND.optima(of_torus(site), grid)

    def joint_factor(self, site: Site, grid: ProcessGrid) -> Fraction:
        """Return the factor of binding dimensions."""
        return torus.KIND.joint_factor(of_torus(site), grid)

    def why_unreachable(self, site: Site, grid: ProcessGrid) -> str | None:
        """Return the reason of binding dimensions."""
        return torus.KIND.why_unreachable(of_torus(site), grid)

    def spectral(self, site: Site, sizes: tuple[int, int], routing_name: str, known: float) -> Bound | None:
        """Return the bound by weights on links, for the routings of the torus or for any routing."""
        is_known = routing_name.partition(":")[0] in torus.KIND.routings
        return torus.KIND.spectral(of_torus(site), sizes, routing_name if is_known else "", known)


def _of_torus(network, bound):
    """Return the bound of the class whose links take longest, for all links in one class."""
    return (max(load * weight for load, weight in zip(bound, link_weights(network))),)


def _carried(rule):
    return replace(rule, make=lambda argument: Carried(rule.make(argument)))


TORUS = TorusGraphKind(
    "torus-graph", "", "a torus or mesh that was recognised in the cables of a file", "link", TorusGraph, KIND.parse,
    (*KIND.rules, *(_carried(rule) for rule in torus.KIND.rules if rule.name not in KIND.routings)))
