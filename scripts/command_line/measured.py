"""Sentences about measured beside predicted times: the fastest placement, the error of the prediction, claims."""

from collections.abc import Iterable, Sequence
from math import log
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING, Any

from pencilmap.model.base.units import milliseconds
from pencilmap.scripts.command_line.answers import agrees
from pencilmap.scripts.command_line.predictions import SAME, factor

if TYPE_CHECKING:
    from pencilmap.mapper.runs.compare import Comparison

FAR = 1.1  # measured over predicted, or its inverse; from this ratio on, the line names the worst exchange


def agreement(comparisons: Sequence["Comparison"]) -> str:
    """Return the line for measured and predicted times: the fastest placement and the error of the prediction.

    The fastest placement is named if several were tried on the same grid. The line is empty if no time is predicted. Whole
    transforms of a published table do not count, because they are no exchanges.
    """
    rows = [c for c in comparisons if c.stage != "total"]
    return "; ".join(filter(None, (_fastest(rows), nearness(rows))))


def _fastest(rows: Iterable["Comparison"]) -> str:
    """For each setup with several placements: the fastest, and its gain over the first or else the slowest."""
    setups: dict[tuple[Any, ...], dict[str, list[Comparison]]] = {}
    for row in rows:
        setup = (row.network, row.torus, row.tasks_per_node, row.grid, row.transform)
        setups.setdefault(setup, {}).setdefault(row.source, []).append(row)
    found = [_gain(list(runs.values())) for runs in setups.values() if len({run[0].placement for run in runs.values()}) > 1]
    if not found or len({(best.placement, other.placement) for best, other, *_ in found}) > 1:
        return ""
    best_rows, other_rows, seconds, gains, expected = zip(*found)
    best, other = _title(best_rows), _title(other_rows)
    if best is None or other is None:
        return ""
    if max(gains) < 1 + SAME:
        return f"{best} and {other} took the same time, within 1 %"
    if len(found) == 1:
        predicted = f"; predicted {expected[0]:.2f}x" if expected[0] else ""
        faster = f"{agrees(best, 'is')} {factor(gains[0], gains[0])} than {other}"
        return f"{faster}: exchanges of {milliseconds(seconds[0])}{predicted}"
    return f"{agrees(best, 'is')} {factor(min(gains), max(gains))} than {other}, in each of {len(found)} cases"


def _gain(runs: Sequence[list["Comparison"]]) -> tuple["Comparison", "Comparison", float, float, float | None]:
    """First rows of the fastest run and of the one it is compared with, seconds, measured and predicted gain."""
    measured = [sum(row.measured_s for row in run) for run in runs]
    best = min(range(len(runs)), key=measured.__getitem__)
    rest = [k for k, run in enumerate(runs) if run[0].placement != runs[best][0].placement]
    other = 0 if rest[0] == 0 else max(rest, key=measured.__getitem__)
    expected = [sum(row.time_s or 0.0 for row in runs[k]) for k in (other, best)]
    return (runs[best][0], runs[other][0], measured[best], measured[other] / measured[best],
            expected[0] / expected[1] if all(expected) else None)


def _title(rows: Sequence["Comparison"]) -> str | None:
    """The placement of some rows with its order, None if the orders differ by more than the slots."""
    order = max((row.order for row in rows), key=len)
    if not all(order.endswith(row.order) for row in rows):
        return None
    return f"{rows[0].name} ({order})" if order else rows[0].name


def nearness(rows: Iterable["Comparison"]) -> str:
    """Return how near the predicted times are to the measured ones; empty if no time is predicted."""
    timed = [(ratio, row) for row in rows if (ratio := row.time_ratio)]
    if not timed:
        return ""
    ratios = sorted(ratio for ratio, _ in timed)
    least, most = f"{ratios[0]:.3f}", f"{ratios[-1]:.3f}"
    if least == most:
        return f"measured times are {most} times the predicted ones"
    said = f"measured times are {least} to {most} times the predicted ones"
    far, furthest = max(((abs(log(ratio)), row) for ratio, row in sorted(timed, key=itemgetter(0))), key=itemgetter(0))
    if len(timed) > 2 and far > log(FAR):
        said += (f", in the middle {median(ratios):.3f}; furthest is the {furthest.stage} exchange "
                 f"of {furthest.grid} under {furthest.name}, {furthest.transform}")
    return said


def claims_answer(judged: Sequence[tuple[str, tuple[int, float, float, bool]]]) -> str:
    """Return the line for claims: (text, (number, least, most, whether the claim holds)) of each."""
    broken = [(text, least, most) for text, (_, least, most, holds) in judged if not holds]
    if not broken:
        number = sum(found[0] for _, found in judged)
        return f"every claim holds: {len(judged)}, of {number} times in all"
    text, least, most = broken[0]
    return f"{len(broken)} of {len(judged)} claims do NOT hold: {text}; found {least:.3f} to {most:.3f}"
