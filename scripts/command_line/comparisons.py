"""Sentences that compare: predictions by routing, grid and exchange, and measured with predicted times."""

from collections.abc import Iterable, Sequence
from math import log
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING, Any

from pencilmap.model.base.units import capitalised, milliseconds, plural
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.grid import USUAL, Library
from pencilmap.model.predict import ANY_ROUTING, Prediction
from pencilmap.model.predict.ranking import TRANSFORM, order, ranked, worth
from pencilmap.scripts.command_line.answers import SAME_TIME, agrees, between, grid_title
from pencilmap.scripts.command_line.predictions import SAME, factor, is_scheduled, range_words, value

if TYPE_CHECKING:
    from pencilmap.mapper.runs.compare import Comparison


def by_routing(predictions: Sequence[Prediction], name: str, library: Library = USUAL) -> list[str]:
    """Return the sentences about a placement under all routing rules."""
    first, *_, last = sorted((p for p in predictions if p.routing != ANY_ROUTING), key=lambda p: p.worth) * 2
    low, high = value(first), value(last)
    words = next((range_words(p) for p in predictions if p.likely), "")  # of one rule only
    spent = f"{low}{words} under any rule" if low == high else f"{between(low, high)}, by the routing"
    return [f"{agrees(name, 'takes')} {spent} (predicted).",
            f"{grid_title(first.grid, library)}: the least is that of {first.routing}."]


def wrapped(predictions: Sequence[Prediction], by: str = TRANSFORM) -> list[str]:
    """Return the sentence about torus and open mesh: the best of each, and how much longer the other takes; else nothing."""
    best = list({p.network: p for p in reversed(ranked(predictions, by))}.values())[::-1]
    if len(best) != 2:
        return []
    first, other = best
    times = float(worth(first, by)), float(worth(other, by))
    ratio = times[0] / times[1] if times[1] else 1.0
    said = "is as fast" if ratio > 1 - SAME else f"is {factor(ratio, ratio)}"
    kinds = ["the torus" if any(as_torus(p.network).wrap) else "the open mesh" for p in (first, other)]
    return [f"{capitalised(kinds[1])} {said}: {value(other, by, likely=True)} on grid {other.grid}, "
            f"{value(first, by, likely=True)} on {kinds[0]} with "
            f"grid {first.grid}"]


def between_bricks(best: Prediction, predictions: Sequence[Prediction], by: str) -> str:
    """Return the reason for these pencils: the remaps' share of the time, and the time of the next grid."""
    others = [p for p in predictions if p.grid != best.grid]
    spent = sum(r.time_s or 0.0 for r in best.remaps)
    remaps = f"{milliseconds(spent)} of it for remaps, {best.moved_bytes / 1e6:.4g} MB move to another task"
    if not others or best.time_s is None:
        return remaps
    second = min(others, key=lambda p: p.order)
    same = abs(float(second.worth) / float(best.worth) - 1) < SAME_TIME
    why = f"the same time, but {second.moved_bytes / 1e6:.4g} MB" if same else value(second, by)
    return f"{remaps} (pencils of {second.grid}: {why})"


def decided_in_tie(best: Prediction, predictions: Iterable[Prediction], by: str = TRANSFORM) -> str:
    """Return a sentence about a best prediction that is not the fastest: it leaves fewer tasks idle, or sends fewer, larger
    messages; "" if it is the fastest.
    """
    fastest = min(predictions, key=lambda p: order(p, by))
    if worth(fastest, by) >= worth(best, by):
        return ""
    reason = ("with fewer idle tasks" if best.idle_tasks < fastest.idle_tasks else
              f"in {best.n_messages} messages of each task in place of {fastest.n_messages}"
              if best.n_messages < fastest.n_messages else "too near to tell which is faster")
    return f"{best.grid} comes first because it is within 1 % of {fastest.grid}, {reason}"


def each_exchange(p: Prediction, other: Prediction | None) -> str:
    """Return the sentence about the time of each exchange beside the launch order's; "" if it says nothing more.

    It does so without times, for a single exchange, under routers that adapt, and under a schedule.
    """
    if other is None or p.bracket or is_scheduled(p) or p.placement == other.placement:
        return ""
    stages = [(mine, theirs) for mine, theirs in zip(p.stages, other.stages) if mine.time_s or theirs.time_s]
    if len(stages) < 2:
        return ""
    said = [f"{plural(mine.name, 2)} {'take ' * (k == 0)}{(now := milliseconds(mine.time_s))}, "
            + ("as before" if now == (before := milliseconds(theirs.time_s)) else f"not {before.removesuffix(' ms')}")
            for k, (mine, theirs) in enumerate(stages)]
    return f"{capitalised('; '.join(said))} (predicted)."


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
    result = [_gain(list(runs.values())) for runs in setups.values() if len({run[0].placement for run in runs.values()}) > 1]
    if not result or len({(best.placement, other.placement) for best, other, *_ in result}) > 1:
        return ""
    best_rows, other_rows, seconds, gains, expected = zip(*result)
    best, other = _title(best_rows), _title(other_rows)
    if best is None or other is None:
        return ""
    if max(gains) < 1 + SAME:
        return f"{best} and {other} took the same time, within 1 %"
    if len(result) == 1:
        predicted = f"; predicted {expected[0]:.2f}x" if expected[0] else ""
        faster = f"{agrees(best, 'is')} {factor(gains[0], gains[0])} than {other}"
        return f"{faster}: exchanges of {milliseconds(seconds[0])}{predicted}"
    return f"{agrees(best, 'is')} {factor(min(gains), max(gains))} than {other}, in each of {len(result)} cases"


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
        number = sum(judgement[0] for _, judgement in judged)
        return f"every claim holds: {len(judged)}, of {number} times in all"
    text, least, most = broken[0]
    return f"{len(broken)} of {len(judged)} claims do NOT hold: {text}; found {least:.3f} to {most:.3f}"
