"""Tori, meshes, tori folded into boxes, and hypercubes, whose nodes are their switches."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from pencilmap.model.base.errors import NetworkError
from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds import torus_cuts
from pencilmap.model.kinds.kind import Bound, Kind, Optima, is_full
from pencilmap.model.kinds.reading import Rates, bandwidths
from pencilmap.model.kinds.torus_adaptive import MINIMAL_ADAPTIVE
from pencilmap.model.kinds.torus_cuts import least_factor, why_unreachable
from pencilmap.model.kinds.torus_floors import floor_of, optima
from pencilmap.model.kinds.torus_routes import DIMENSION_ORDER, OPTIMAL
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus, as_torus, parse_torus
from pencilmap.model.network.twisted_torus import FoldedTorus, parse_folded
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import Exchange


class TorusKind(Kind):
    """A kind whose networks are tori or meshes without twists."""

    def cut_bound(self, network: Torus, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of planes: the paper's equations 4 to 15."""
        position = network.coordinates(ends)[exchange.members]
        return tuple(torus_cuts.worst_cut(network, torus_cuts.plane_traffic(n, exchange, position[..., i]), i)
                     for i, n in enumerate(network.shape))

    def machine_bound(self, network: Torus) -> tuple[Fraction, ...]:
        """Return the bound of planes."""
        return torus_cuts.machine_bound(network)

    def together(self, site: Site, grid: ProcessGrid, transform: Transform | None) -> Iterable[Bound]:
        """Return the bound of planes for a full machine, of boxes, planes, blocks and distances otherwise."""
        if not is_full(site, grid):
            return torus_cuts.with_idle_slots(site, grid, transform)
        crossing, torus = Crossing(grid, transform), as_torus(site.network)
        if crossing.transform is None:
            return [self.of_full_machine(torus, crossing)]
        half = [n // 2 * torus.lines(i) * site.tasks_per_node for i, n in enumerate(torus.shape)]  # tasks on one side
        links = [torus.g(i) * torus.lines(i) * cables for i, cables in enumerate(torus_cuts.capacity_of(torus))]
        return [(4 * torus.n_nodes * crossing.exactly(k) / across,
                 f"all-to-all of the full machine across {axis}, with these blocks")
                for k, across, axis in zip(half, links, torus.axes)]

    def alone(self, site: Site, grid: ProcessGrid, size: int, ordered: bool, split: bool) -> Fraction:
        """Return the best floor."""
        return floor_of(site, torus_cuts.capacity_of(as_torus(site.network)), size, grid.n_tasks, ordered, split)

    def in_turn(self, site: Site, grid: ProcessGrid, sizes: tuple[int, int], ordered: bool, split: bool,
                brief: bool) -> Iterable[Bound]:
        """Return the bounds of floors, cuts and translations."""
        return torus_cuts.rows_and_columns(site, grid, sizes, ordered, split, brief)

    def optima(self, site: Site, grid: ProcessGrid) -> Optima | None:
        """Return the optima of small machines."""
        if grid.decomposition is not PENCIL or not is_full(site, grid):
            return None
        return optima(as_torus(site.network), site.tasks_per_node, *grid.shape)

    def joint_factor(self, site: Site, grid: ProcessGrid) -> Fraction:
        """Return the factor of binding dimensions."""
        if grid.decomposition is not PENCIL or not is_full(site, grid):
            return Fraction(1)
        return least_factor(as_torus(site.network), *grid.shape)

    def why_unreachable(self, site: Site, grid: ProcessGrid) -> str | None:
        """Return the reason of binding dimensions."""
        return why_unreachable(site, grid)

    def spectral(self, site: Site, sizes: tuple[int, int], routing_name: str, known: float) -> Bound | None:
        """Return the bound by weights on links."""
        from pencilmap.model.kinds.torus_floors import spectral_bound

        return spectral_bound(site, sizes, routing_name, known)


def parsed_by(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Return a parser of texts and options that reads bandwidths as all kinds do."""
    def parsed(text: str, bandwidth: Rates | None = None, **options: Any) -> Any:
        torus = parse(text, **options)
        return replace(torus, bandwidth=bandwidths(bandwidth, torus.link_classes))

    return parsed


CUBE_USAGE = "hypercube:6"


def parse_cube(text: str, bandwidth: Rates | None = None) -> Torus:
    """Read the number of dimensions of a hypercube.

    >>> parse_cube("3").shape
    (2, 2, 2)
    """
    if not re.fullmatch(r"[1-9]", text) or int(text) > MAX_DIMENSIONS:
        raise NetworkError(f"network hypercube: {text[:40]!r} is not understood; write {CUBE_USAGE} with 1 to "
                           f"{MAX_DIMENSIONS} dimensions, or hyperx:2x2x2,hosts=4 for several hosts on a switch")
    cube = Torus((2,) * int(text))
    return Torus(cube.shape, bandwidth=bandwidths(bandwidth, cube.link_classes))


_RULES = DIMENSION_ORDER, MINIMAL_ADAPTIVE, OPTIMAL
_AXES = "one for each dimension, with the letter of its axis"
KIND = TorusKind(
    "torus", "4x4x8, 4x4x8:mesh or 4wx4x8w",
    "torus, mesh, or a mixture of both: w marks dimensions that wrap; 6 is a ring, 6:mesh a line", _AXES, Torus,
    parsed_by(parse_torus), _RULES)
FOLDED = TorusKind(
    "folded-torus", "4x12x4:box=2x4x2x2x3wx2",
    "torus laid into a box of twice as many dimensions: each axis is a ring through a pair of them",
    "one for each dimension of the box, with the letter of its axis", FoldedTorus, parsed_by(parse_folded), _RULES)
CUBE = TorusKind("hypercube", CUBE_USAGE, "a torus of rings of two nodes", _AXES, Torus, parse_cube, _RULES)
