"""The plain line below a table: the recommended choice and its reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import median
from typing import TYPE_CHECKING

from pencilmap.mapper.other_grids import faster_choices
from pencilmap.mapper.placements.best import is_searched
from pencilmap.mapper.searches.limit import EFFORTS
from pencilmap.mapper.where import BEST, Where
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.units import milliseconds, to_limit
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.product import Product, product_of
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import TRANSFORM, order, quick, ranked, worth
from pencilmap.model.predict.results import Prediction, likely_ratio
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.predictions import (
    certificate_of,
    exchanges_of,
    gain,
    gains,
    is_scheduled,
    percent,
    value,
)

if TYPE_CHECKING:
    from pencilmap.mapper.runs.compare import Comparison

DEFAULT = "default"
MOST_TASKS_ROUTED = 4096  # up to this many, the launch order is routed message by message, in less than a second
FAR = 1.1  # measured over predicted, or its inverse; from this ratio on, the line names the worst exchange
SAME_TIME = 1e-9
SAME = 0.01  # times that differ by less than this share count as equal


@dataclass(frozen=True)
class Launched:
    """The launch order on the grid of an answer, in sequence.

    orders : a phrase for each possible order of the launcher, and its prediction; empty if no prediction was made
    unknown : the reason if the order is unknown, else ""
    """

    orders: tuple[tuple[str, Prediction], ...] = ()
    unknown: str = ""

    @property
    def first(self) -> Prediction | None:
        """The prediction of the most likely order."""
        return self.orders[0][1] if self.orders else None


def launched(where: Where, like: Prediction, question: Question = Question(),
             most: int = MOST_TASKS_ROUTED, is_quick: bool = False) -> Launched:
    """Predict the launch order on the same grid, otherwise asked alike. Above `most` tasks only products are predicted."""
    site, launch, found = where.site, where.site.launch, []
    if not launch.orders:
        return Launched(unknown=f"{launch.title}, {launch.reason}")
    if like.grid.n_tasks < site.n_slots:  # launchers differ in the slots that they leave idle
        site = replace(site, launch=replace(launch, certain=False))
    for k, text in enumerate(launch.orders):
        name = f"{DEFAULT}:{text}" if k else DEFAULT
        placed = where.place(name, like.grid)
        if like.grid.n_tasks <= most or isinstance(placed, Product) or product_of(placed):
            shown = where.shown(placed, question, name)
            found.append((site.launch_phrase(text), quick(shown) if is_quick else shown))
    return Launched(tuple(found))


def answer(predictions: Sequence[Prediction], launch: Launched | None = None, start: str | None = None,
           by: str = TRANSFORM, effort: str = "", best: Prediction | None = None) -> str:
    """Return the line for the best of some predictions of one routing.

    It says what to take, its time, its gain over the launch order, and its distance to the proved limit.

    Parameters
    ----------
    launch : Launched, optional
        The launch order on the grid of the best, in sequence.
    start : str, optional
        Subject of the line; by default, the recommended choice.
    by : {"transform", "exchanges"}
        Which time counts.
    effort : str
        Name of the effort of the search behind the predictions; "" if nothing was asked to search.
    best : Prediction, optional
        The best, if it is known.
    """
    best = best or ranked(predictions, by)[0]
    schedule = exchanges_of(best).schedule
    scheduled = f", {schedule}" if is_scheduled(best) else ""
    exchange = best.stages[0].algorithm
    exchanged = "" if exchange == DEFAULT_ALGORITHM else f", exchange {exchange}"
    found = f"busiest links carry {value(best, by)}" if best.t_s is None else value(best, by)
    kind = f"{best.grid.decomposition.name} " if len(best.grid.shape) == 1 else ""  # as in --decomposition slab
    clauses = [f"{start or f'take {kind}{best.grid} {best.placement}{exchanged}{scheduled}'}: {found}"]
    clauses += _against_launch(best, launch or Launched(), by, " in sequence" if scheduled else "", effort)
    if best.idle_tasks:
        clauses.append(f"{best.idle_tasks} of its {best.grid.n_tasks} tasks hold nothing")
    if best.remaps:
        clauses.append(_between_bricks(best, predictions, by))
    clauses.append(_proof(best))
    return ", ".join(clause for clause in clauses if clause) + _unsearched(best, effort)


def wrapped(predictions: Sequence[Prediction], by: str = TRANSFORM) -> list[str]:
    """Return the sentence about torus and open mesh: the best of each, and how much longer the other takes; else nothing."""
    best = list({p.network: p for p in reversed(ranked(predictions, by))}.values())[::-1]
    if len(best) != 2:
        return []
    first, other = best
    ratio = float(worth(other, by)) / float(worth(first, by)) if worth(first, by) else 1.0
    said = "is as fast" if ratio < 1 + SAME else f"takes {percent(ratio)} longer"
    kinds = ["the torus" if any(as_torus(p.network).wrap) else "the open mesh" for p in (first, other)]
    load = "load " if other.t_s is None else ""
    return [f"{kinds[1]} {said}: {load}{value(other, by)} with {other.grid} {other.placement}, beside "
            f"{load}{value(first, by)} on {kinds[0]}"]


def schedule_notes(best: Prediction, schedule: str | None) -> list[str]:
    """Return a note for codes without the schedule of the best, if the user named no `schedule` and the best has one."""
    if schedule is not None or best.schedule is None or best.schedule.name == SEQUENCE:
        return []
    return [f"note: only a code that has schedule {exchanges_of(best).schedule} takes this time; if yours makes one "
            "exchange after the other, as most codes do, add --schedule sequence for its best placement and gain"]


def launch_as_before(best: Prediction, launch: Launched) -> list[str]:
    """Return a sentence if the best is no faster than any possible launch order."""
    if not launch.orders or not all(_gains_nothing(best, other) for _, other in launch.orders):
        return []
    return [f"no gain: launch as before, without the file, on grid {best.grid}"]


def _gains_nothing(best, other):
    """Whether the best is no faster; a range of gains is compared in whole percents, as it is printed."""
    ratio = gain(best, other)
    least, most = gains(best, other) or (ratio or 0.0, ratio or 0.0)
    return 0 < most < 1 + (1.5 * SAME if most - least > SAME else SAME)


def ways_faster(where: Where, found: Prediction, schedule: str | None, command: str,
                routing: str | None = None) -> list[str]:
    """Return a sentence if the best placement of the grid is much faster by a quick look, and one for the best other grid.

    `command` is the command that writes the better placement. For the other arguments see `faster_choices`.
    """
    placement, grid = faster_choices(where, found, schedule, routing)
    said = []
    if placement:
        said.append(f"another placement of this grid is {_faster(placement, found)}: {command} writes it")
    if grid:
        said.append(f"grid {grid.grid} is {_faster(grid, found)}, with its best placement: pencilmap plan ranks the grids")
    return said


def _faster(choice, found):
    return f"{percent(gain(choice.prediction, found))} faster"


def _against_launch(best, launch, by, suffix, effort):
    """A clause for each possible order of the launcher."""
    if launch.unknown:
        return [f"no gain is stated because the launch order is not known ({launch.unknown})"]
    if best.placement == DEFAULT and not suffix and launch.orders:
        (phrase, _), *others = launch.orders
        return [f"this is {phrase}", *(_against(best, other, name, by) for name, other in others)]
    alone = not suffix and len(launch.orders) == 1
    return [_against(best, other, phrase + suffix, by, _if_same(best, other, effort) if alone else "")
            for phrase, other in launch.orders]


def _if_same(best, other, effort):
    """The consequence if the best placement is as fast as a launch order, perhaps of another grid."""
    if _is_unbeaten(best):
        return ": no mapfile is needed" if other.grid == best.grid else ", which needs no mapfile"
    return ": the search found no faster placement" if EFFORTS.get(effort) and _has_search(best) else ""


def _unsearched(best, effort):
    """Name the search that may find a better placement, if the effort was one that searches nothing."""
    is_told = not EFFORTS.get(effort, 1) and not _is_unbeaten(best) and _may_search(best)
    return " (without a search: --effort normal searches)" if is_told else ""


def _has_search(best):
    """Return whether the placement comes from a search."""
    if best.placement.partition(":")[0] not in (BEST, "search"):
        return False
    return _may_search(best)


def _may_search(best):
    """Return whether placement best of the grid is searched."""
    return best.halo is not None or is_searched(best.bounds.site, best.grid, best.bounds.transform)


def _is_unbeaten(p):
    """Return whether no placement of the grid is better."""
    return (certificate_of(p) or 2) < 1 + SAME or p.all_alike


def _between_bricks(best, predictions, by):
    """The reason for these pencils: the remaps' share of the time, and the time of the next grid."""
    others = [p for p in predictions if p.grid != best.grid]
    spent = sum(r.time_s or 0.0 for r in best.remaps)
    told = f"{milliseconds(spent)} of it for remaps, {best.moved_bytes / 1e6:.4g} MB move to another task"
    if not others or best.time_s is None:
        return told
    second = min(others, key=lambda p: p.order)
    same = abs(second.worth / best.worth - 1) < SAME_TIME
    why = f"the same time, but {second.moved_bytes / 1e6:.4g} MB" if same else value(second, by)
    return f"{told} (pencils of {second.grid}: {why})"


def _against(best, other, name, by, if_same=""):
    ratio = gain(best, other, by)
    if ratio is None:
        return ""
    least, most = gains(best, other, by) or (ratio, ratio)
    if max(abs(least - 1), abs(most - 1)) < SAME:
        is_less = ratio > 1 + SAME_TIME and not _is_unbeaten(best)
        return f"less than 1 % faster than {name}" if is_less else f"as fast as {name}{if_same}"
    if most - least > SAME:
        return f"{_range_in_words(least, most)} {name}, by how the routers adapt"
    likely = _likely(best, other, by)
    said = f"{percent(ratio)} faster than {name}" if ratio > 1 else f"{percent(ratio).removeprefix('-')} slower than {name}"
    if likely and likely[0] <= 1 <= likely[1]:
        return f"{said} (not sure: expect 90 % of measured ratios at {likely[0]:.3g} to {likely[1]:.3g})"
    return said


def _range_in_words(least, most):
    """The range of a gain in words.

    >>> _range_in_words(1.12, 5.54), _range_in_words(0.8, 1.1), _range_in_words(0.5, 0.8)
    ('12 to 454 % faster than', '20 % slower to 10 % faster than', '20 to 50 % slower than')
    """
    if least > 1 - SAME:
        return f"{percent(max(least, 1)).removesuffix(' %')} to {percent(most)} faster than"
    if most < 1:
        return f"{percent(most).strip('- %')} to {percent(least).removeprefix('-')} slower than"
    return f"{percent(least).removeprefix('-')} slower to {percent(most)} faster than"


def _likely(best, other, by):
    """The range of the measured ratio of two times, None without one. Only exchanges have an error that is known."""
    mine, theirs = exchanges_of(best).time_s, exchanges_of(other).time_s
    likely = likely_ratio(theirs / mine, other.likely) if mine and theirs and best.likely else None
    if likely is None:
        return None
    low, high = likely
    whole, computing = float(worth(best, by)), float(worth(other, by)) - theirs
    return (low * mine + computing) / whole, (high * mine + computing) / whole


def decided_in_tie(best: Prediction, predictions: Iterable[Prediction], by: str = TRANSFORM) -> str:
    """Return a sentence about a best prediction that is not the fastest: it leaves fewer tasks idle, or sends fewer, larger
    messages; "" if it is the fastest.
    """
    fastest = min(predictions, key=lambda p: order(p, by))
    if worth(fastest, by) >= worth(best, by):
        return ""
    reason = ("with fewer idle tasks" if best.idle_tasks < fastest.idle_tasks else
              f"in {best.n_messages} messages of each task in place of {fastest.n_messages}"
              if best.n_messages < fastest.n_messages else "too near to be sure which is faster")
    return f"{best.grid} comes first because it is within 1 % of {fastest.grid}, {reason}"


def _proof(best):
    found = exchanges_of(best)
    if found.certificate is None:
        return ""
    if found.certificate <= 1 + 1e-9:
        known = {"by exhaustion": " (every placement was tried)", "all alike": " (all placements are alike)"}
        return "at the proved limit of this grid" + known.get(found.proof, "")
    links = "" if best.t_s is None else "busiest links "  # without times they are named already
    alike = "; all placements of this grid are alike" if best.all_alike else ""
    return f"{links}at most {to_limit(found.certificate)} above the proved least of this grid{_by_routing(best)}{alike}"


def _by_routing(best):
    """Name the routing that comes nearer to the limit, which holds for any routing, if routers adapt."""
    if not best.bracket:
        return ""
    nearest = min(best.bracket, key=lambda p: certificate_of(p) or float("inf"))
    if not certificate_of(nearest) or certificate_of(nearest) >= certificate_of(best):
        return " under any routing"
    return f" under any routing, {to_limit(certificate_of(nearest))} with routing {nearest.routing}"


def agreement(comparisons: Sequence["Comparison"]) -> str:
    """Return the line for measured and predicted times: the fastest placement and the error of the prediction.

    The fastest placement is named if several were tried on the same grid. The line is empty if no time is predicted. Whole
    transforms of a published table do not count, because they are no exchanges.
    """
    rows = [c for c in comparisons if c.stage != "total"]
    return "; ".join(filter(None, (_fastest(rows), nearness(rows))))


def _fastest(rows):
    """For each setup with several placements: the fastest, and its gain over the first or else the slowest."""
    setups: dict[tuple, dict[str, list[Comparison]]] = {}
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
        predicted = f", {percent(expected[0])} predicted" if expected[0] else ""
        return (f"{best} was fastest: exchanges {milliseconds(seconds[0])}, {percent(gains[0])} faster than {other}"
                f"{predicted}")
    low, high = (percent(some(gains)).removesuffix(" %") for some in (min, max))
    return f"{best} was fastest each of {len(found)} times, {low} to {high} % faster than {other}"


def _gain(runs):
    """First rows of the fastest run and of the one it is compared with, seconds, measured and predicted gain."""
    measured = [sum(row.measured_s for row in run) for run in runs]
    best = min(range(len(runs)), key=measured.__getitem__)
    rest = [k for k, run in enumerate(runs) if run[0].placement != runs[best][0].placement]
    other = 0 if rest[0] == 0 else max(rest, key=measured.__getitem__)
    expected = [sum(row.time_s or 0.0 for row in runs[k]) for k in (other, best)]
    return (runs[best][0], runs[other][0], measured[best], measured[other] / measured[best],
            expected[0] / expected[1] if all(expected) else None)


def _title(rows):
    """The placement of some rows with its order, None if the orders differ by more than the slots."""
    order = max((row.order for row in rows), key=len)
    if not all(order.endswith(row.order) for row in rows):
        return None
    return f"{rows[0].placement} ({order})" if order else rows[0].placement


def nearness(rows: Iterable["Comparison"]) -> str:
    """Return how near the predicted times are to the measured ones; empty if no time is predicted."""
    return _nearness(rows)


def _nearness(rows):
    timed = sorted((row for row in rows if row.time_ratio), key=lambda row: row.time_ratio)
    if not timed:
        return ""
    least, most = timed[0], timed[-1]
    if len(timed) == 1 or f"{least.time_ratio:.3f}" == f"{most.time_ratio:.3f}":
        return f"measured times are {most.time_ratio:.3f} times the predicted ones"
    said = f"measured times are {least.time_ratio:.3f} to {most.time_ratio:.3f} times the predicted ones"
    furthest = max(timed, key=lambda row: abs(log(row.time_ratio)))
    if len(timed) > 2 and abs(log(furthest.time_ratio)) > log(FAR):
        said += (f", in the middle {median(row.time_ratio for row in timed):.3f}; furthest is the {furthest.stage} exchange "
                 f"of {furthest.grid} {furthest.placement}, {furthest.transform}")
    return said


def claims_answer(judged: Sequence[tuple[str, tuple[int, float, float, bool]]]) -> str:
    """Return the line for claims: (text, (number, least, most, whether the claim holds)) of each."""
    broken = [(text, least, most) for text, (_, least, most, holds) in judged if not holds]
    if not broken:
        number = sum(found[0] for _, found in judged)
        return f"every claim holds: {len(judged)}, of {number} times in all"
    text, least, most = broken[0]
    return f"{len(broken)} of {len(judged)} claims do NOT hold: {text}; found {least:.3f} to {most:.3f}"
