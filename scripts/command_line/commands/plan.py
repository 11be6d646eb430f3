"""`pencilmap plan`: the best ways to run a transform on some nodes, the reason, and runs to confirm them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click

from pencilmap.mapper.base.progress import parts
from pencilmap.mapper.plan import DEFAULT, SO_FAR, Choice, Plan, plan
from pencilmap.mapper.searches.limit import EFFORTS
from pencilmap.mapper.setting import ALL_ROUTINGS, Setting
from pencilmap.mapper.studies.threads import choices, divisors_of, shared_dict
from pencilmap.mapper.where import Where
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import GridError
from pencilmap.model.decompositions.pencil import PENCIL
from pencilmap.model.placement.grid import parse_grid, per_node
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import BY, TRANSFORM, without_bracket
from pencilmap.model.predict.reasons import TERMS
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.answers import (
    MOST_TASKS_ROUTED,
    Launched,
    answer,
    decided_in_tie,
    launched,
    schedule_notes,
    wrapped,
)
from pencilmap.scripts.command_line.halos import HALO, halo_table
from pencilmap.scripts.command_line.options import (
    ANY_EXCHANGE,
    ANY_GRID,
    ANY_SCHEDULE,
    CUT,
    DIRECTION,
    ROBUST,
    ROUTING,
    SEARCH,
    WRAP,
    on_machine,
    placements,
)
from pencilmap.scripts.command_line.pages import Page
from pencilmap.scripts.command_line.plain_options import JSON, SEVERAL_TASKS, WIDE, Name, with_options
from pencilmap.scripts.command_line.predictions import Row, gain, prediction_table, seconds, threads_table, title
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import print_json, say

ALL = 0.995  # share of a time that is shown as 100 %


@click.command("plan", cls=Page, usual="machine network nodes tasks-per-node bandwidth fft by effort top json")
@partial(on_machine, tasks=SEVERAL_TASKS)
@with_options(WRAP, ANY_GRID, placements(default=None), ANY_EXCHANGE, ANY_SCHEDULE, DIRECTION, ROUTING, ROBUST)
@click.option("--by", type=Name(BY), default=TRANSFORM, show_default=True,
              help="Time that ranks: transform or exchanges.")
@with_options(SEARCH, HALO)
@click.option("--threads", type=click.IntRange(1), metavar="T",
              help="Also compare tasks of 1 to T threads on the same cores.")
@click.option("--top", type=click.IntRange(1), default=6, show_default=True, metavar="N", help="How many to list.")
@with_options(WIDE, JSON)
def command(where: Setting, grid: str | None, placement: tuple[str, ...], exchange: str | None, schedule: str | None,
            routing: str | None, by: str, effort: str, seed: int, time_limit: float | None,
            threads: int | None, top: int, wide: bool,
            as_json: bool) -> None:
    """Rank the ways to run a transform on some nodes, fastest first.

    A way is a decomposition, a grid, a placement, an exchange and a schedule, and with --nodes K a shape. Options that name
    one of them leave the others to be ranked.
    """
    if routing == ALL_ROUTINGS:
        raise GridError("`routing` all compares the rules for one grid: name it, and use pencilmap predict")
    counts = sorted({here.tasks_per_node for here in where.shapes or (where,)})
    if threads and len(counts) > 1:
        raise GridError("`threads` divides the cores of one number of tasks on a node: give one number with "
                        "`tasks_per_node`")
    if threads and grid:
        raise GridError("with `threads` there are fewer ranks, and each number has its own best grid: leave out `grid`")
    if threads and where.tasks_per_node % threads:
        raise GridError(f"{where.tasks_per_node} tasks on a node do not make tasks of {threads} threads: take a number of "
                        f"threads that divides {where.tasks_per_node}, or other tasks with `tasks_per_node`")

    def planned(here: Where) -> Plan:
        with next(steps):
            return plan(here, by=by, effort=effort, grids=(parse_grid(grid, here.decomposition),) if grid else None,
                        placements=placement or None, exchanges=(exchange,) if exchange else None,
                        schedules=(schedule,) if schedule else None, routing=routing,
                        top=max(top, len(here.wraps)), seed=seed, seconds=time_limit)

    numbers = [where.tasks_per_node // n for n in reversed(divisors_of(threads))] if threads else []
    steps = parts(1 + len(numbers))
    with hearing():
        found = planned(where)
        shared = choices(where, numbers, lambda here: planned(here).best.prediction) if numbers else []
    listed = [*found.choices[:top], *_other_wraps(found, top)]
    launch = _launched(found, Question(routing, exchange or DEFAULT_ALGORITHM, SEQUENCE), not EFFORTS[effort])
    if as_json:
        print_json(*[_as_dict(found, choice, launch, by) for choice in listed],
                   *[shared_dict(s, **_of(s.prediction)) for s in shared])
        return
    rows = [Row(choice.prediction if choice is found.best else _named(choice), launch.first) for choice in listed]
    shapes = {_shape(choice) for choice in listed}
    prediction_table(rows, _title(found, shapes, counts), wide, by, len(shapes) > 1, len(counts) > 1)
    halo_table([row.prediction for row in rows])
    if shared:
        threads_table(shared, lambda p: seconds(p, by))
    tie = decided_in_tie(found.best.prediction, [row.prediction for row in rows], by)
    for line in (*([tie] if tie else []), *_all_slots(where, grid, counts), *_brief(found, listed), *_runs(found),
                 *_why(found), *_ungained(found, launch),
                 *schedule_notes(found.best.prediction, schedule),
                 answer([row.prediction for row in rows], launch, _take(found), by, effort, found.best.prediction),
                 *(wrapped([choice.prediction for choice in listed], by) if where.wraps else [])):
        say(line)


def _other_wraps(found: Plan, top: int) -> list[Choice]:
    """The best choice of each wrap that the list would not show, if both were asked for."""
    shown = {choice.network for choice in found.choices[:top]}
    best = {choice.network: choice for choice in reversed(found.choices)}
    return [best[here.network] for here in found.where.wraps if here.network in best and here.network not in shown]


def _launched(found: Plan, question: Question, is_quick: bool) -> Launched:
    """The launch order in sequence, on the grid on which it is fastest, as far as the plan knows."""
    best = found.best
    usual = next((choice for choice in found.choices if choice.prediction.placement == DEFAULT
                  and choice.schedule == SEQUENCE and choice.kind[:2] == best.kind[:2]), best)
    launch = launched(usual.where, usual.prediction, question, is_quick=is_quick)
    if usual.grid == best.grid:
        return launch
    return replace(launch, orders=tuple((f"{phrase} on grid {usual.grid}", p) for phrase, p in launch.orders))


def _title(found: Plan, listed: Collection[str], counts: Sequence[int]) -> str:
    tasks = " or ".join(map(str, counts[:-1])) + f" or {per_node(counts[-1])}" if counts[1:] else per_node(counts[0])
    if not _has_shapes(found):
        one = title(found.best.where)
        return one.replace(per_node(found.best.where.tasks_per_node), tasks) if counts[1:] else one
    size = f", transform {found.where.transform}" if found.where.transform else ""
    shape = f"; all rows are {min(listed)}" if len(listed) == 1 else ""
    return f"shapes of {found.best.network.n_nodes} nodes with {tasks}{size}{shape}"


def _has_shapes(found: Plan) -> bool:
    return len({str(choice.network) for choice in found.choices}) > 1


def _has_counts(found: Plan) -> bool:
    return len({here.tasks_per_node for here in found.where.shapes}) > 1


def _take(found: Plan) -> str:
    """The recommended choice, with every part that is not the usual one."""
    best, p = found.best, found.best.prediction
    words = [*([_shape(best)] if _has_shapes(found) else []),
             *([f"{per_node(best.where.tasks_per_node)},"] if _has_counts(found) else []),
             *([] if best.decomposition is PENCIL else [best.decomposition.name]), str(best.grid), p.placement]
    parts = [" ".join(words), *([] if best.exchange == DEFAULT_ALGORITHM else [f"exchange {best.exchange}"]),
             *([] if best.schedule == SEQUENCE else [f"schedule {best.schedule}"])]
    return "take " + ", ".join(parts)


def _named(choice: Choice) -> Prediction:
    """The prediction of a row below the first, with the name of its placement."""
    return replace(without_bracket(choice.prediction), placement=choice.name)


def _all_slots(where: Setting, grid: str | None, counts: Sequence[int]) -> list[str]:
    """Say which grids are ranked, if grids of fewer tasks are allowed."""
    tasks = " or ".join(str(where.n_slots // where.tasks_per_node * count) for count in counts)
    return [f"all ranked grids have {tasks} tasks; with --idle, name a grid of fewer with --grid"] \
        if where.site.idle and not grid else []


def _brief(found: Plan, listed: list[Choice]) -> list[str]:
    """Sentence about the rows whose placement a longer search may improve."""
    brief = next((choice for choice in listed if choice.name == SO_FAR), None)
    if brief is None:
        return []
    shape = f"--network {_shape(brief)} " if _has_shapes(found) else ""
    shape += f"-t {brief.where.tasks_per_node} " if _has_counts(found) else ""
    kind = "" if brief.decomposition is PENCIL else f"--decomposition {brief.decomposition.name} "
    command = f"pencilmap map {shape}{kind}--grid {brief.grid} --output FILE"
    return [f"{SO_FAR}: searched briefly or not at all; {command}, with the same options of machine, nodes and transform, "
            "searches longer"]


def _shape(choice: Choice) -> str:
    return str(choice.network).partition(":axes")[0]


def _why(found: Plan) -> list[str]:
    said = [CUT] if found.cut_short else []
    if found.best.seconds is not None:
        term, share = found.term
        if share < ALL:  # else only one cost is known
            said.append(f"in sequence, {100 * share:.0f} % of the time is {TERMS[term]}")
    return said


def _runs(found: Plan) -> list[str]:
    """Sentence about the choices that may be as fast."""
    others = [choice for choice in found.rivals if choice.kind != found.best.kind]
    easier = {(choice.kind, choice.worth) for choice in others if choice.prediction.placement == DEFAULT}
    rivals = list(dict.fromkeys(_way(choice) for choice in others if choice.prediction.placement == DEFAULT
                                or (choice.kind, choice.worth) not in easier))  # the launch order needs no mapfile
    return [f"to be sure, measure also {', '.join(rivals)}"] if rivals and found.best.seconds is not None else []


def _ungained(found: Plan, launch: Launched) -> list[str]:
    """Say why no gain is stated, if there are too many tasks to route their launch order at once."""
    tasks = found.best.grid.n_tasks
    if tasks <= MOST_TASKS_ROUTED or launch.orders or launch.unknown:
        return []
    return [f"no gain is stated, because routing the launch order of {tasks} tasks takes long; pencilmap map states it"]


def _way(choice: Choice) -> str:
    return f"{choice.decomposition.name} {choice.grid} {choice.prediction.placement}"


def _as_dict(found: Plan, choice: Choice, launch: Launched, by: str) -> dict[str, Any]:
    """A prediction, and the texts with which other commands make the same choice."""
    term, share = found.term if found.best.seconds is not None else (None, None)
    return {**choice.prediction.as_dict(), "exchange": choice.exchange, "way": choice.placement,
            "seconds": seconds(choice.prediction, by), "by": by, "effort": found.effort, "cut_short": found.cut_short,
            "gain": gain(choice.prediction, launch.first, by), "deciding_term": term, "deciding_share": share,
            "unknown": found.unknown}


def _of(prediction: Prediction) -> dict[str, Any]:
    return prediction.as_dict()
