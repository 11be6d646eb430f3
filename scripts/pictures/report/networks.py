"""Networks on the page: tori with the loads of exchanges, and the busiest cables of other networks, before and after."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.units import plural
from pencilmap.model.kinds import routing
from pencilmap.model.kinds.dragonfly_network import GLOBAL
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.program import Traffic
from pencilmap.scripts.pictures.links import link_values
from pencilmap.scripts.pictures.text import LoadRows, load_rows

LAUNCHED = "default"  # the placement that names the launcher's order
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
        rule, exchanges_ = routing(self.routing, network), exchanges(self.mapping.grid, self.transform)
        loads = [rule.loads(network, exchange, self.mapping.ends) for exchange in exchanges_
                 if shown in (exchange.name, AT_ONCE)]
        common = lcm(*(load.denominator for load in loads))
        return replace(loads[0], values=np.sum([load.values * (common // load.denominator) for load in loads], axis=0),
                       denominator=common)

    def view(self) -> dict[str, Any]:
        """Return the data for the script of the page."""
        grid, hosts = self.mapping.grid, {str(node): name for node, name in self.hosts.items()}
        return _view(self, self.title, {name: link_values(self.link_loads(name), self.in_mb) for name in self.shown}) | {
            "grid": list(grid.shape), "dimensions": [d.name for d in grid.decomposition.dimensions], "hosts": hosts}


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
        """Return the data for the script of the page. There is no grid, and loads are in MB."""
        rule = routing(self.routing, self.mapping.network)
        phases = [phase for phase in self.traffic.phases if phase.bytes.nnz]
        shown = [("all phases", self.traffic.total), *((f"phase {k}", phase) for k, phase in enumerate(phases, 1))]
        loads = {name: link_values(rule.loads(self.mapping.network, phase.exchange, self.mapping.ends), with_bytes=True)
                 for name, phase in (shown if len(phases) > 1 else shown[:1])}
        return _view(self, ", ".join(filter(None, (self.program, str(self.mapping.network), self.name))), loads)


def _view(placement: Placed | PlacedTraffic, title: str, loads: dict[str, Floats]) -> dict[str, Any]:
    """Return the data of a placement on a torus.

    ``nodes`` (one int32 for each rank) and ``loads`` (float32, shape (d, 2, N), one cable, nan if there is no link) are
    base64, little-endian.
    """
    torus = as_torus(placement.mapping.network)
    return {"title": title, "placement": placement.placement, "shape": list(torus.shape),
            "ring": [torus.is_ring(i) for i in range(torus.n_dimensions)], "axes": torus.axes, "grid": [], "dimensions": [],
            "routing": placement.routing, "nodes": _base64(placement.mapping.node_of_rank, "<i4"), "hosts": {},
            "loads": {name: _base64(values, "<f4") for name, values in loads.items()}}


def views(entries: Iterable[Placed | PlacedTraffic | None]) -> tuple[list[dict[str, Any]], list[int | None]]:
    """Return the data of the tori, a single dict for equal placements, and for each placement the number of its view.

    The number is None for a placement that is None, or has a torus too large to draw or another network.
    """
    numbers, views_, of_placed = dict[str, int](), list[dict[str, Any]](), list[int | None]()
    for one in entries:
        drawn = one and one.mapping.network.has_products and one.mapping.network.n_nodes <= MAX_NODES
        view = one.view() if one and drawn else None
        key = str(sorted((k, v) for k, v in view.items() if k not in ("title", "placement"))) if view else ""
        if view and key not in numbers:
            numbers[key] = len(views_)
            views_.append(view)
        of_placed.append(numbers.get(key))
    return views_, of_placed


def _base64(values: Ints | Floats, kind: str) -> str:
    return b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


MOST_UNITS, BUSIEST = 24, 13  # rows of a panel; of more units the busiest are shown, and a row has the others
OF_GROUPS = 6                 # rows beside the square of the groups of a dragonfly
MOST_GROUPS = 24              # along the side of a square
MOST_RANKS = 8192             # in the list of hosts


def panels(entries: Sequence[Placed | PlacedTraffic | None], amounts: Sequence[float | None]) -> dict[str, Any] | None:
    """Return the panels of the launcher's order and the best placement, on one scale; None without such a network.

    Exchanges are never added, unless they travel at once.

    Parameters
    ----------
    entries : sequence of Placed, PlacedTraffic or None
    amounts : sequence of float or None
        Time or load of each; less is better.
    """
    known = [(one, amount) for one, amount in zip(entries, amounts) if isinstance(one, Placed) and amount
             and not one.mapping.network.has_products]
    if not known:
        return None
    before = next((pair for pair in known if pair[0].placement == LAUNCHED), max(known, key=lambda pair: pair[1]))
    others = [(one, amount) for one, amount in known if one.mapping.network == before[0].mapping.network
              and one.mapping.node_of_rank.tolist() != before[0].mapping.node_of_rank.tolist()]
    alike = [(one, amount) for one, amount in others if one.beside == before[0].beside]
    pair = [before, *([min(alike or others, key=lambda other: other[1])] if others else [])]
    first = before[0]
    names = [AT_ONCE] if first.beside else [name for name, tasks in zip(first.mapping.grid.decomposition.names,
                                                                         first.mapping.grid.shape) if tasks > 1]
    loads = [[one.link_loads(name) for one, _ in pair] for name in names]
    every, job = [load for loads_ in loads for load in loads_], first.mapping.node_of_rank
    is_dragonfly = first.mapping.network.has_groups

    def rows_of(most: int) -> LoadRows:
        return load_rows(every, first.transform is not None, len(set(job.tolist())), most, job)

    table = rows_of(OF_GROUPS if is_dragonfly else MOST_UNITS)
    if not is_dragonfly and any(" other " in name for name, *_ in table.rows):
        table = rows_of(BUSIEST)
    most, width = table.top or 1.0, len(pair)
    squares = [[_between_groups(load) * (1.0 if table.unit else len(set(job.tolist())) / load.total_bytes)
                for load in alike] for alike in loads] if is_dragonfly else []
    busy = np.max([square.max(axis=axis) for alike in squares for square in alike for axis in (0, 1)] or [[0.0]], axis=0)
    groups = sorted(np.argsort(-busy, kind="stable")[:min(MOST_GROUPS, np.count_nonzero(busy))].tolist())
    peak = float(busy.max())
    panels_ = []
    for k, name in enumerate(names):
        rows = [(unit, values[k * width:(k + 1) * width], hosts) for unit, values, hosts in table.rows]
        panels_.append({"name": name if name == AT_ONCE else plural(name, 2),
                      "squares": [_square(square, groups, peak, table) for square in squares[k]] if groups else [], "rows": [
            {"unit": unit, "hosts": hosts, "numbers": [table.number(value) for value in values],
             "before": f"{100 * values[0] / most:.2f}", "after": f"{100 * values[-1] / most:.2f}"}
            for unit, values, hosts in rows if max(values) > 0]})
    return {"panels": panels_, "unit": f"{table.unit} a cable" if table.unit else "times the data of a node, on a cable",
            "titles": [one.name for one, _ in pair], "routing": first.routing, "idle": table.idle,
            "hosts": _hosts(pair[-1][0]), "peak": table.number(peak) if groups else "", "groups": groups,
            "without": busy.size - len(groups), "factor": before[1] / pair[-1][1] if others else None}


def _hosts(one: Placed) -> list[tuple[str, str]]:
    """Return the name and the ranks of each host of a placement; nothing if there are too many ranks to read."""
    mapping = one.mapping
    if mapping.n_tasks > MOST_RANKS:
        return []
    ranks: dict[int, list[int]] = {}
    for rank, node in enumerate(mapping.node_of_rank.tolist()):
        ranks.setdefault(node, []).append(rank)
    return [(one.hosts.get(node) or mapping.network.node_name(node), ", ".join(map(str, ranks_)))
            for node, ranks_ in sorted(ranks.items())]


def _between_groups(loads: LinkLoads) -> Floats:
    """Return the bytes of the busiest global cable from each group of a dragonfly to each other: float array (G, G)."""
    network: Any = loads.network
    links, _ = network.cables_of_pair
    cables = np.array([float(strength) for strength in network.cables])
    values = np.asarray(loads.bytes(), dtype=float).reshape(-1)[network.place_of_link] / cables
    of_class = values[np.flatnonzero(network.class_of_link == network.link_classes.index(GLOBAL))]
    return np.where(links >= 0, of_class[links], 0.0).max(axis=2)


def _square(values: Ints | Floats, groups: Sequence[int], peak: float, table: LoadRows) -> dict[str, Any]:
    """Return a square of some groups for the template: a line for each group, with a cell for each other group."""
    def words(a: Any, b: Any) -> str:
        return f"group {a} to group {b}: {table.number(values[a, b])} {table.unit}".strip()

    a, b = np.unravel_index(int(values.argmax()), values.shape)
    return {"lines": [[None if a == b else {"share": f"{values[a, b] / peak:.3f}", "words": words(a, b)} for b in groups]
                      for a in groups],
            "busiest": words(a, b) if values[a, b] else "no global cable is used"}
