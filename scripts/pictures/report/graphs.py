"""Networks without coordinates on the page: the launcher's order and the best placement, on one scale of loads."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from pencilmap.model.base.errors import FigureError
from pencilmap.scripts.pictures.figures.graph import MAX_VERTICES, cable_loads, draw_graph
from pencilmap.scripts.pictures.report.bars import LAUNCHED
from pencilmap.scripts.pictures.report.inline import plain_svg
from pencilmap.scripts.pictures.report.tori import AT_ONCE, Placed, PlacedTraffic


def graph_pair(placed: Sequence[Placed | PlacedTraffic | None], amounts: Sequence[float | None]) -> dict[str, Any] | None:
    """Return two pictures and the factor between them; one without a second placement; None if no network is drawn.

    Parameters
    ----------
    placed : sequence of Placed, PlacedTraffic or None
    amounts : sequence of float or None
        Time or load of each; less is better.
    """
    known = [(one, amount) for one, amount in zip(placed, amounts) if isinstance(one, Placed) and amount
             and not one.mapping.network.has_products and one.mapping.network.arcs().n_vertices <= MAX_VERTICES]
    if not known:
        return None
    before = next((pair for pair in known if pair[0].name == LAUNCHED), max(known, key=lambda pair: pair[1]))
    others = [(one, amount) for one, amount in known if one.mapping.network == before[0].mapping.network
              and one.mapping.node_of_rank.tolist() != before[0].mapping.node_of_rank.tolist()]
    alike = [(one, amount) for one, amount in others if one.beside == before[0].beside]
    pair = [before, *([min(alike or others, key=lambda other: other[1])] if others else [])]
    shown = _busiest(before[0])
    loads = [one.link_loads(shown) for one, _ in pair]
    most = max(float(max(cable_loads(each))) for each in loads)
    pictures = [{"title": one.title, "svg": _drawn(one, each, most, f"network-{k}")}
                for k, ((one, _), each) in enumerate(zip(pair, loads), 1)]
    return {"pictures": pictures, "factor": before[1] / pair[-1][1] if others else None, "shown": shown,
            "busiest": [f"{float(max(cable_loads(each))):.4g}" for each in loads]}


def _busiest(placed):
    """The exchange with the largest load of a cable."""
    names = [name for name in placed.shown if name != AT_ONCE]
    return max(names, key=lambda name: max(cable_loads(placed.link_loads(name))))


def _drawn(placed, loads, most, name):
    groups = {dimension.name: 0 for dimension in placed.mapping.grid.decomposition.dimensions}
    label = f"{placed.title}: the busiest link carries {max(cable_loads(loads)):.4g}, the darkest colour is {most:.4g}"

    def draw(target: BytesIO) -> None:
        draw_graph(placed.mapping, loads, groups, target, "", most)

    try:
        return plain_svg(draw, label, name)
    except FigureError as error:
        return f"<p>{error}</p>"
