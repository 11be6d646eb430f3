"""Networks without coordinates on the page: a panel for each exchange with the busiest cables, before and after."""

from collections.abc import Sequence
from typing import Any

from pencilmap.model.base.units import plural
from pencilmap.scripts.pictures.loads_table import load_rows
from pencilmap.scripts.pictures.report.bars import LAUNCHED, placement_in_words
from pencilmap.scripts.pictures.report.tori import AT_ONCE, Placed, PlacedTraffic

MOST_UNITS = 24  # rows of a panel; the last row has the others


def panels(placed: Sequence[Placed | PlacedTraffic | None], amounts: Sequence[float | None]) -> dict[str, Any] | None:
    """Return the panels of the launcher's order and the best placement, on one scale; None without such a network.

    Exchanges are never added, unless they travel at once.

    Parameters
    ----------
    placed : sequence of Placed, PlacedTraffic or None
    amounts : sequence of float or None
        Time or load of each; less is better.
    """
    known = [(one, amount) for one, amount in zip(placed, amounts) if isinstance(one, Placed) and amount
             and not one.mapping.network.has_products]
    if not known:
        return None
    before = next((pair for pair in known if pair[0].name == LAUNCHED), max(known, key=lambda pair: pair[1]))
    others = [(one, amount) for one, amount in known if one.mapping.network == before[0].mapping.network
              and one.mapping.node_of_rank.tolist() != before[0].mapping.node_of_rank.tolist()]
    alike = [(one, amount) for one, amount in others if one.beside == before[0].beside]
    pair = [before, *([min(alike or others, key=lambda other: other[1])] if others else [])]
    first = before[0]
    names = [AT_ONCE] if first.beside else [name for name, tasks in zip(first.mapping.grid.decomposition.names,
                                                                         first.mapping.grid.shape) if tasks > 1]
    loads = [[one.link_loads(name) for one, _ in pair] for name in names]
    table = load_rows([each for some in loads for each in some], first.transform is not None,
                      len(set(first.mapping.node_of_rank.tolist())), MOST_UNITS)
    most, width = table.top or 1.0, len(pair)
    found = []
    for k, name in enumerate(names):
        rows = [(unit, values[k * width:(k + 1) * width]) for unit, values in table.rows]
        found.append({"name": name if name == AT_ONCE else plural(name, 2), "rows": [
            {"unit": unit, "numbers": [table.number(value) for value in values],
             "before": f"{100 * values[0] / most:.2f}", "after": f"{100 * values[-1] / most:.2f}"}
            for unit, values in rows if max(values) > 0]})
    return {"panels": found, "unit": f"{table.unit} a cable" if table.unit else "times the data of a node, on a cable",
            "titles": [placement_in_words(one.name) for one, _ in pair], "routing": first.routing, "idle": table.idle,
            "factor": before[1] / pair[-1][1] if others else None}
