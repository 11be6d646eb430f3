"""Sentences that compare predictions: under several routings, of several grids, exchange by exchange."""

from collections.abc import Iterable, Sequence

from pencilmap.model.base.units import milliseconds, plural
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.grid import USUAL, Library
from pencilmap.model.predict import ANY_ROUTING, Prediction
from pencilmap.model.predict.ranking import TRANSFORM, order, ranked, worth
from pencilmap.scripts.command_line.answers import SAME_TIME, agrees, between, capitalised, grid_title
from pencilmap.scripts.command_line.predictions import SAME, factor, is_scheduled, range_words, value


def by_routing(found: Sequence[Prediction], name: str, library: Library = USUAL) -> list[str]:
    """Return the sentences about a placement under all routing rules."""
    first, *_, last = sorted((p for p in found if p.routing != ANY_ROUTING), key=lambda p: p.worth) * 2
    low, high = value(first), value(last)
    words = next((range_words(p) for p in found if p.likely), "")  # of one rule only
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
    told = f"{milliseconds(spent)} of it for remaps, {best.moved_bytes / 1e6:.4g} MB move to another task"
    if not others or best.time_s is None:
        return told
    second = min(others, key=lambda p: p.order)
    same = abs(float(second.worth) / float(best.worth) - 1) < SAME_TIME
    why = f"the same time, but {second.moved_bytes / 1e6:.4g} MB" if same else value(second, by)
    return f"{told} (pencils of {second.grid}: {why})"


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
