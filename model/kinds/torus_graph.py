"""Graphs that were recognised as a torus or mesh: routings of any graph, and routings and bounds of the torus."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from pencilmap.model.kinds import graph, torus
from pencilmap.model.kinds.kind import Bound, Kind, Optima
from pencilmap.model.kinds.torus_site import of_torus
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing.rule import Rule
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.program import Traffic


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


KIND = TorusGraphKind(
    "torus-graph", "", "a torus or mesh that was recognised in the cables of a file", "link", TorusGraph, graph.KIND.parse,
    (*graph.KIND.rules, *(_carried(rule) for rule in torus.KIND.rules if rule.name not in graph.KIND.routings)))
