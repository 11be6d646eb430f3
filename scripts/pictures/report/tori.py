"""The tori on the page: placements with the loads of their exchanges, separately and all at once."""

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import lcm
from typing import Any

import numpy as np

from pencilmap.model.kinds import routing
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.program import Traffic
from pencilmap.scripts.pictures.figures.loads import link_values

AT_ONCE = "all exchanges at once"
MAX_NODES = 20_000  # of the largest torus that is drawn


@dataclass(frozen=True)
class Placed:
    """A placement whose links have loads, from a run or from a prediction."""

    mapping: Mapping
    placement: str
    name: str  #: of the placement, for a reader
    routing: str
    transform: Transform | None
    beside: bool  #: whether the schedule has concurrent exchanges: then their combined loads are shown first
    hosts: dict[int, str] = field(default_factory=dict)  #: node -> name, as far as known
    schedule: str = ""  #: if exchanges are beside each other
    in_mb: bool = False  #: whether loads on a torus are megabytes, otherwise they are on the scale of m

    @property
    def title(self) -> str:
        return ", ".join(filter(None, (str(self.mapping.network), f"grid {self.mapping.grid}", self.name, self.schedule)))

    @property
    def shown(self) -> list[str]:
        """Return the items with link loads: each exchange alone, and all at once."""
        names = list(self.mapping.grid.decomposition.names)
        once = [AT_ONCE] * (len(names) > 1)
        return once + names if self.beside else names + once

    def link_loads(self, shown: str) -> LinkLoads:
        """Return the loads of all links in an exchange, or in all at once."""
        network = self.mapping.network
        rule, found = routing(self.routing, network), exchanges(self.mapping.grid, self.transform)
        loads = [rule.loads(network, each, self.mapping.ends) for each in found if shown in (each.name, AT_ONCE)]
        common = lcm(*(each.denominator for each in loads))
        return replace(loads[0], values=np.sum([each.values * (common // each.denominator) for each in loads], axis=0),
                       denominator=common)

    def view(self) -> dict[str, Any]:
        """Return the data for the script of the page.

        ``nodes`` (one int32 for each rank) and ``loads`` (float32, shape (d, 2, N), one cable, nan if there is
        no link) are base64, little-endian."""
        mapping, torus = self.mapping, as_torus(self.mapping.network)
        return {
            "title": self.title, "placement": self.placement,
            "shape": list(torus.shape),
            "ring": [torus.is_ring(i) for i in range(torus.n_dimensions)], "axes": torus.axes,
            "grid": list(mapping.grid.shape), "dimensions": [d.name for d in mapping.grid.decomposition.dimensions],
            "routing": self.routing,
            "nodes": _base64(mapping.node_of_rank, "<i4"), "hosts": {str(node): name for node, name in self.hosts.items()},
            "loads": {name: _base64(link_values(self.link_loads(name), self.in_mb), "<f4") for name in self.shown},
        }


@dataclass(frozen=True)
class PlacedTraffic:
    """A placement of a program, with the loads of its phases in MB."""

    mapping: Mapping
    placement: str
    name: str  #: of the placement, for a reader
    routing: str
    traffic: Traffic
    program: str = ""  #: its name if there are several

    def view(self) -> dict[str, Any]:
        """Return the data for the script of the page, see `Placed.view`. There is no grid, and loads are in MB."""
        torus, rule = as_torus(self.mapping.network), routing(self.routing, self.mapping.network)
        phases = [phase for phase in self.traffic.phases if phase.bytes.nnz]
        shown = [("all phases", self.traffic.total), *((f"phase {k}", phase) for k, phase in enumerate(phases, 1))]
        loads = {name: link_values(rule.loads(self.mapping.network, phase.exchange, self.mapping.ends), with_bytes=True)
                 for name, phase in (shown if len(phases) > 1 else shown[:1])}
        return {"title": ", ".join(filter(None, (self.program, str(torus), self.name))), "placement": self.placement,
                "shape": list(torus.shape), "axes": torus.axes,
                "ring": [torus.is_ring(i) for i in range(torus.n_dimensions)], "grid": [], "dimensions": [],
                "routing": self.routing, "nodes": _base64(self.mapping.node_of_rank, "<i4"), "hosts": {},
                "loads": {name: _base64(values, "<f4") for name, values in loads.items()}}


def views(placed: Iterable[Placed | PlacedTraffic | None]) -> tuple[list[dict[str, Any]], list[int | None]]:
    """Return the data of the tori, a single dict for equal placements, and for each placement the number of its view.

    The number is None for a placement that is None, or has a torus too large to draw or another network.
    """
    numbers, found, of_placed = dict[str, int](), list[dict[str, Any]](), list[int | None]()
    for one in placed:
        drawn = one and one.mapping.network.has_products and one.mapping.network.n_nodes <= MAX_NODES
        view = one.view() if one and drawn else None
        key = str(sorted((k, v) for k, v in view.items() if k not in ("title", "placement"))) if view else ""
        if view and key not in numbers:
            numbers[key] = len(found)
            found.append(view)
        of_placed.append(numbers.get(key))
    return found, of_placed


def _base64(values, kind):
    return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")
