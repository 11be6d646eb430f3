"""The one plain line below a table: what to take, and why."""

from collections.abc import Sequence

from pencilmap.mapper.setting import Setting
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.predict import SEQUENCE, Prediction
from pencilmap.model.product import Product
from pencilmap.model.ranking import ranked
from pencilmap.model.schedules.schedule import FORWARD
from pencilmap.model.units import milliseconds
from pencilmap.scripts.command_line.tables import exchanges_of, from_optimal

DEFAULT = "default"
MOST_TASKS_ROUTED = 4096  # up to this many the launcher's order is routed message by message, in less than a second
SAME = 0.01  # times that differ by less than this share are called the same


def launchers_order(where: Setting, like: Prediction, routing: str | None = None, exchange: str = DEFAULT_ALGORITHM,
                    direction: str = FORWARD) -> Prediction | None:
    """The launcher's order on the same grid in sequence, otherwise asked alike; None where it would take long to predict."""
    placed = where.place(DEFAULT, like.grid)
    if not isinstance(placed, Product) and like.grid.n_tasks > MOST_TASKS_ROUTED:
        return None
    return where.predict(placed, routing, DEFAULT, exchange, direction=direction)


def answer(predictions: Sequence[Prediction], default: Prediction | None = None,
           alone: Prediction | None = None) -> str:
    """The line for the best of some predictions of one routing.

    Parameters
    ----------
    default : Prediction, optional
        The launcher's order on the grid of the best, in sequence.
    alone : Prediction, optional
        The best in sequence, where schedules were ranked.
    """
    best = ranked(predictions)[0]
    found = exchanges_of(best)
    schedule = f", {found.schedule}" if found.schedule != SEQUENCE else ""
    clauses = [f"take {best.grid} {best.placement}{schedule}: exchanges {_worth(found)}"]
    if best.placement == DEFAULT and not schedule:
        clauses.append("the launcher's own order")
    elif default is not None:
        clauses.append(_against(found, default, "the launcher's order" + (" in sequence" if schedule else "")))
    if alone is not None and (schedule or alone.grid != best.grid):
        clauses.append(_against(found, alone, f"the best in sequence, {alone.grid}"))
    clauses.append(_proof(found.certificate))
    return ", ".join(clause for clause in clauses if clause)


def _worth(found):
    if found.time_s is None:
        return f"load the busiest links with {float(found.cost):.4g}"
    return milliseconds(found.time_s)


def _against(found, other, name):
    theirs = exchanges_of(other)
    timed = found.time_s is not None and theirs.time_s is not None
    mine, others = (float(each.time_s if timed else each.cost) for each in (found, theirs))
    if not mine or not others:
        return ""
    ratio = others / mine
    if abs(ratio - 1) < SAME:
        return f"as fast as {name}"
    return f"{ratio:.2f} times faster than {name}" if ratio > 1 else f"{1 / ratio:.2f} times slower than {name}"


def _proof(certificate):
    if certificate is None:
        return ""
    if certificate <= 1 + 1e-9:
        return "and no placement of this grid has less busy links"
    return f"at most {from_optimal(certificate)}"
