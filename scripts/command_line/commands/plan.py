"""`pencilmap plan`: the best ways to run a transform on some nodes, the reason, and runs to confirm them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click

from pencilmap.mapper.ask import named_grid
from pencilmap.mapper.base.progress import parts
from pencilmap.mapper.base.search import EFFORTS
from pencilmap.mapper.choose import ALL_ROUTINGS, Plan, faster_choice, plan
from pencilmap.mapper.choose.choices import DEFAULT, SO_FAR, Choice
from pencilmap.mapper.placements import BEST
from pencilmap.mapper.studies.threads import choices, divisors_of, shared_dict
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import GridError
from pencilmap.model.base.units import milliseconds
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.placement.grid import LIBRARIES, USUAL, Library, per_node, words_of
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import BY, TERMS, TRANSFORM, without_bracket
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.model.times.timing import TIE
from pencilmap.scripts.command_line import answers, options, predictions, time_tables
from pencilmap.scripts.command_line.comparisons import between_bricks, decided_in_tie, wrapped
from pencilmap.scripts.command_line.meshes import AXES, plan_mesh
from pencilmap.scripts.command_line.node_choices import (
    SCHEDULERS,
    choice_sentences,
    chosen_as_dict,
    job_lines,
    job_script,
    map_words,
    nodes_as_dict,
    program_on_nodes,
    scheduler_of,
    words_of_nodes,
)
from pencilmap.scripts.command_line.pages import JSON, NOTES, SEVERAL_TASKS, WIDE, Name, Page, with_options
from pencilmap.scripts.command_line.programs import TRAFFICS, plan_program, rank_program
from pencilmap.scripts.command_line.tables import (
    echo,
    fits,
    fitted,
    hearing,
    labelled,
    print_json,
    print_table,
    say,
    say_lines,
)

Launches = dict[tuple[object, ...], tuple[Prediction, ...]]  # the launch orders for all of a choice but its placement
MOST_FILLED = 1024  # up to this many tasks, launch orders of the other grids are predicted, in 0.1 s each
MOST_NEAR = 3  # grids that are named if they are too near to tell
ALL = 0.995  # share of a time that is shown as 100 %


@click.command("plan", cls=Page, usual="machine network nodes tasks-per-node bandwidth fft by effort top json")
@partial(options.on_machine, tasks=SEVERAL_TASKS)
@with_options(options.WRAP, options.AMONG, options.NEIGHBOURS, options.ANY_GRID, options.placements(default=None),
              options.ANY_EXCHANGE, options.SCHEDULE, options.DIRECTION, options.ROUTING, options.ROBUST)
@click.option("--scheduler", type=Name(list(SCHEDULERS)), help="Whose job script asks for the nodes [slurm].")
@click.option("--by", type=Name(BY), default=TRANSFORM, show_default=True,
              help="Time that ranks: transform or exchanges.")
@with_options(options.SEARCH, options.HALO, TRAFFICS, AXES)
@click.option("--threads", type=click.IntRange(1), metavar="T",
              help="Also compare tasks of 1 to T threads, same cores.")
@click.option("--top", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="How many to list.")
@with_options(WIDE, NOTES, JSON)
def command(where: Question, scheduler: str | None, grid: str | None, placement: tuple[str, ...], exchange: str | None,
            schedule: str, routing: str | None, by: str, effort: str, seed: int, time_limit: float | None,
            traffic: tuple[str, ...], code: str | None, axes: str | None, threads: int | None, top: int, wide: bool,
            all_notes: bool, as_json: bool) -> None:
    """Rank the ways to run a transform on some nodes, fastest first.

    A way is a decomposition, a grid, a placement and an exchange, and with --nodes K a shape or nodes. Options that name one
    of them leave the others to be ranked. --schedule best ranks schedules, too. With --traffic, the options of a program are
    ranked, with --axes the orders of the devices of a mesh.
    """
    if axes is not None:
        plan_mesh(where, axes, all_notes=all_notes, as_json=as_json)
        return
    if routing == ALL_ROUTINGS:
        raise GridError("`routing` all compares the rules for one grid: name it, and use pencilmap predict")
    scheduler = scheduler or scheduler_of(where)
    if traffic:
        question, own_nodes = replace(where, routing=routing), ""
        where = question
        if question.among is not None:
            with hearing():
                where, own_nodes = program_on_nodes(question, traffic[0])
        ranked = rank_program(where, traffic, code, next(iter(placement or ()), None), effort, seed, time_limit)
        plan_program(where, ranked, top=top, all_notes=all_notes, as_json=as_json,
                     nodes=map_words(where) if own_nodes else [], more=chosen_as_dict(question, where, scheduler))
        if own_nodes and not as_json:
            say_lines([*job_lines(where, scheduler), ("other", own_nodes)])
        return
    counts = sorted({here.tasks_per_node for here in where.shapes or (where,)})
    if threads and len(counts) > 1:
        raise GridError("`threads` divides the cores of one number of tasks on a node: give one number with "
                        "`tasks_per_node`")
    if threads and grid:
        raise GridError("with `threads` there are fewer ranks, and each number has its own best grid: leave out `grid`")
    if threads and where.tasks_per_node % threads:
        raise GridError(f"{where.tasks_per_node} tasks on a node do not make tasks of {threads} threads: take a number of "
                        f"threads that divides {where.tasks_per_node}, or other tasks with `tasks_per_node`")

    def planned(here: Question) -> Plan:
        with next(steps):
            return plan(here, by=by, effort=effort, grids=(named_grid(where, grid),) if grid else None,
                        placements=placement or None, exchanges=(exchange,) if exchange else None,
                        schedules=(schedule,), routing=routing,
                        top=max(top, len(here.wraps)), seed=seed, seconds=time_limit)

    numbers = [where.tasks_per_node // n for n in reversed(divisors_of(threads))] if threads else []
    steps = parts(1 + len(numbers))
    with hearing():
        found = planned(where)
        shared = choices(where, numbers, lambda here: planned(here).best.prediction) if numbers else []
    listed = [*found.choices[:top], *_other_wraps(found, top)]
    listed += [own for own in found.own.values() if own not in listed]
    question = replace(found.best.where, exchange=found.best.exchange, schedule=found.best.schedule)
    launch = answers.launched(question, found.best.prediction, is_quick=not EFFORTS[effort])
    shown = _shown(found, listed, top)
    usual = _launches(found, [*shown, *found.rivals[:MOST_NEAR]], launch)
    if as_json:
        print_json(*[_as_dict(found, choice, usual, by) | nodes_as_dict(found, choice, scheduler) for choice in listed],
                   *[shared_dict(s, **s.prediction.as_dict()) for s in shared])
        return
    asked = effort if not placement or BEST in placement else ""
    said = answers.Answer(found.best.prediction, launch, by, asked, answers.library_in(grid, where))
    say(*_sentences(found, said, by, usual), *choice_sentences(found))
    if where.wraps:
        say(*wrapped([choice.prediction for choice in listed], by))
    echo()
    if _needs_file(found, found.best, usual):
        labelled("write", _command(found), shell=True)
    job = job_script(found.best.where, scheduler) if found.own or _has_shapes(found) else []
    if job:
        labelled("job", "\n".join(job))
    if job or _needs_file(found, found.best, usual):
        echo()
    of_listed = [choice.prediction for choice in listed]
    named = [choice.prediction if choice is found.best else _named(choice) for choice in listed]
    _table(shown, usual, by, said.library)
    if wide:
        rows = [predictions.Row(p, launch.first) for p in named]
        predictions.prediction_table(rows, _title(found, counts), wide, by, _has_shapes(found), len(counts) > 1)
    time_tables.halo_table(named)
    if shared:
        time_tables.threads_table(shared, lambda p: predictions.seconds(p, by))
    order = launch if _needs_file(found, found.best, usual) else answers.Launched()
    say_lines([*answers.static_lines(question, found.best.prediction, order, "--routing static ranks for these"),
               *_lines(found, said, usual)])
    tie = decided_in_tie(found.best.prediction, of_listed, by)
    tasks = " or ".join(str(where.n_slots // where.tasks_per_node * count) for count in counts)
    notes = [*predictions.table_notes(of_listed, by, wide), *([tie] if tie else []),
             *_notes(found, listed, tasks if where.site.idle and not grid else ""),
             *answers.launch_notes(found.best.where, found.best.grid)]
    predictions.show_notes(notes, all_notes)


def _sentences(found: Plan, said: answers.Answer, by: str, launches: Launches) -> Iterator[str]:
    """Yield the choice, its time and its gain, then its grid in the words of a library and its bound."""
    best, p = found.best, found.best.prediction
    where = _where(found, best)
    kind = "grid" if len(best.grid.shape) > 1 else best.decomposition.name
    words = [f"{where}{kind} {best.grid}",
             *([] if best.exchange == DEFAULT_ALGORITHM else [f"exchange {best.exchange}"]),
             *([] if best.schedule == SEQUENCE else [f"schedule {best.schedule}"])]
    number = len({choice.kind for choice in found.choices})
    equal = sum(choice.worth <= TIE * best.worth for choice in found.rivals)
    others = "" if not equal else " with another" if equal == 1 else f" with {equal} others"
    kinds = "choices of nodes and grids" if found.own else "shapes and grids" if _has_shapes(found) else "grids"
    among = f", the fastest{others} of {number} {kinds}" if number > 1 else ""
    time = answers.spent(p, by) + said.starts
    if not _needs_file(found, best, launches):
        order = "" if p.all_alike else f" in {said.launch.title}"
        none = "placement does not matter" if p.all_alike else "no file is needed"
        yield answers.joined(f"Use {', '.join(words)}{order}, {none}: {time}{among} (predicted).")
    else:
        usual = next(iter(_usual(best, launches)), None)
        least, most = predictions.gains(p, usual, by) or (None, None)
        than, gained = "than without one", predictions.factor(least, most)
        over = "" if not usual or not most or most < 1 + predictions.SAME else \
            f", perhaps no faster {than}: {gained}{answers.gain_words(p, usual, by)}" if said.is_unsure else \
            f", {gained} {than}{answers.gain_words(p, usual, by)}"
        yield answers.joined(f"Use {', '.join(words)} with a file: {time}{over}{among} (predicted).")
    names = words_of(best.grid, said.library)
    if names and best.decomposition == PENCIL and said.library is USUAL:
        names += f" ({words_of(best.grid, LIBRARIES['p3dfft'])})"
    extra = f", {between_bricks(p, found.predictions, by)}" if p.remaps else ""
    bound = said.bound.replace("no placement", "no placement of it", 1) + extra
    is_named = f"{kind.capitalize()} {best.grid}{f' is {names}' if names else ''}"
    yield f"{is_named}{'; ' if names else ': '}{bound}." if bound else f"{is_named}."


def _title(found: Plan, counts: Sequence[int]) -> str:
    """The question of a table whose rows have one network, or several."""
    best = found.best.where
    text, tasks = predictions.title(best), per_node(best.tasks_per_node)
    if _has_shapes(found) and not found.own:
        text = f"shapes of {best.network.n_nodes} nodes with {text[text.index(tasks):]}"
    return text.replace(tasks, f"{' or '.join(map(str, counts))} tasks per node") if len(counts) > 1 else text


def _where(found: Plan, choice: Choice) -> str:
    """The shape and the number of tasks on a node of a choice, each if several are ranked, with a space after them."""
    shape = f"{_shape(choice)} with " if _has_shapes(found) else ""
    return shape + (f"{per_node(choice.where.tasks_per_node)} with " if _has_counts(found) else "")


def _needs_file(found: Plan, choice: Choice, launches: Launches) -> bool:
    """Whether a choice is faster than the launch order of its grid, as far as the plan knows."""
    ratios = [predictions.gain(choice.prediction, order, found.by) for order in _usual(choice, launches)]
    return not ratios or any(ratio is None or ratio >= 1 + predictions.SAME for ratio in ratios)


def _usual(choice: Choice, launches: Launches) -> tuple[Prediction, ...]:
    """The possible launch orders on the grid of a choice under its schedule, the fastest first; none if it is not known."""
    if choice.prediction.placement == DEFAULT or choice.prediction.all_alike:
        return (choice.prediction,)
    return launches.get(_asked(choice), ())


def _asked(choice: Choice) -> tuple[object, ...]:
    """All of a choice but its placement."""
    return *choice.kind, choice.exchange, choice.schedule


def _launches(found: Plan, shown: list[Choice], best: answers.Launched) -> Launches:
    """The launch order for each shown choice: that of the plan, else a quick prediction of few messages."""
    known: Launches = {_asked(choice): (choice.prediction,) for choice in found.choices
                       if choice.prediction.placement == DEFAULT and len(choice.where.site.launch.orders) == 1}
    known[_asked(found.best)] = best.fastest_first
    for choice in shown:
        if not _usual(choice, known):
            asked = replace(choice.where, exchange=choice.exchange)
            orders = answers.launched(asked, choice.prediction, most=MOST_FILLED, is_quick=True)
            known[_asked(choice)] = orders.fastest_first
    return known


def _shown(found: Plan, listed: list[Choice], top: int) -> list[Choice]:
    """The choices of the table: the best of each grid, exchange and schedule, and `listed` ones behind the first `top`."""
    first: dict[tuple[object, ...], Choice] = {}
    for choice in (*found.choices, *listed):
        first.setdefault(_asked(choice), choice)
    shown = list(first.values())[:top]
    return [*shown, *(choice for choice in listed[top:] if not any(choice is other for other in shown))]


def _table(shown: list[Choice], launches: Launches, by: str, library: Library) -> None:
    """Print a row for each choice: its grid in the words of a library, its best time with a file, and without one.

    Times have their ranges if the table fits the 80 columns of a terminal.
    """
    library = library if library.words else USUAL
    found = [_columns(shown, launches, by, library, has_ranges) for has_ranges in (True, False)]
    table = next((table for table in found if fits(*table)), found[-1])
    print_table(None, *fitted(*table, [f">{', '.join(library.words)}"]))


def _columns(shown: list[Choice], launches: Launches, by: str, library: Library,
             has_ranges: bool) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of the table."""
    rows = []
    heading, is_launch = f">{', '.join(library.words)}", all(choice.prediction.placement == DEFAULT for choice in shown)
    rule = next((f",\n{choice.prediction.routing}" for choice in shown if choice.prediction.adapts), "")
    for choice in shown:
        usual = _usual(choice, launches)
        words = ", ".join(map(str, choice.grid.shape[::-1])) if choice.decomposition == PENCIL and library.is_turned else ""
        rows.append([_shape(choice), str(choice.where.tasks_per_node), choice.decomposition.name,
                     predictions.marked_grid(choice.prediction), words,
                     choice.exchange, choice.schedule, _cell(choice.prediction, by, has_ranges),
                     " to ".join(dict.fromkeys(_cell(order, by, has_ranges) for order in (*usual[:1], *usual[-1:]))) or "-"])
    places = "shape" if shown[0].where.site.allocation.is_complete else "nodes"
    columns = [places, ">per node", "kind", "grid", heading, "exchange", "schedule",
               ">time" if is_launch else f">with its file{rule}", f">without{rule}"]
    usual_values = {"exchange": DEFAULT_ALGORITHM, "schedule": SEQUENCE}
    kept = [k for k, name in enumerate(columns) if k in (3, 7, 8) or len({row[k] for row in rows}) > 1
            or (name in usual_values and rows[0][k] != usual_values[name]) or (k == 4 and any(row[4] for row in rows))]
    kept = [k for k in kept if k != 8 or (not is_launch and any(row[8] != "-" for row in rows))]
    return [columns[k] for k in kept], [[row[k] for k in kept] for row in rows]


def _cell(p: Prediction, by: str, has_range: bool) -> str:
    if p.t_s is None:
        return predictions.load(p, by)
    found = predictions.expected(p, by) if has_range else ""
    return milliseconds(predictions.seconds(p, by)) + (f" ({found})" if found else "")


def _command(found: Plan) -> str:
    """The command that writes the file of the best choice."""
    best = found.best
    shape = map_words(best.where) if found.own else \
        ["--network", _shape(best)] if _has_shapes(found) else []
    count = ["-t", str(best.where.tasks_per_node)] if _has_counts(found) else []
    kind = [] if best.decomposition == PENCIL else ["--decomposition", best.decomposition.name]
    exchange = [] if best.exchange == DEFAULT_ALGORITHM else ["--exchange", best.exchange]
    schedule = [] if best.schedule == SEQUENCE else ["--schedule", best.schedule]
    without = (*(("--nodes", shape[0]) if shape else ()), *(("--tasks-per-node",) if count else ()))
    given = options.given_options("map", without=("--grid", "--decomposition", "--exchange", "--schedule", *without))
    return " ".join(["pencilmap map", *given, *shape, *count, *kind, "--grid", str(best.grid), *exchange, *schedule,
                     "-o FILE"])


def _lines(found: Plan, said: answers.Answer, launches: Launches) -> list[tuple[str, str]]:
    """Lines about a faster schedule, a longer search, choices that are too near to tell."""
    best, lines = found.best, list[tuple[str, str]]()
    if best.schedule == SEQUENCE:
        lines += answers.schedule_line(faster_choice(best.where, best.prediction, any_schedule=True))
    lines += said.idle + said.search
    rivals = found.rivals
    if rivals and best.seconds is not None:
        here, needs_file = _where(found, best), _needs_file(found, best, launches)
        names = [("" if _where(found, choice) == here else _where(found, choice))
                 + ("" if len(choice.grid.shape) > 1 else f"{choice.decomposition.name} ")
                 + str(choice.grid)
                 + ("" if needs_file == _needs_file(found, choice, launches) else
                    " without a file" if needs_file else " with its file")
                 for choice in rivals[:MOST_NEAR]]
        others = f" and {len(rivals) - MOST_NEAR} more" if len(rivals) > MOST_NEAR else ""
        lines.append(("near", f"too near to tell: {', '.join(names)}{others}; measure these, too"))
    return lines


def _other_wraps(found: Plan, top: int) -> list[Choice]:
    """The best choice of each wrap that the list would not show, if both were asked for."""
    shown = {choice.network for choice in found.choices[:top]}
    best = {choice.network: choice for choice in reversed(found.choices)}
    return [best[here.network] for here in found.where.wraps if here.network in best and here.network not in shown]


def _has_shapes(found: Plan) -> bool:
    return bool(found.own) or len({str(choice.network) for choice in found.choices}) > 1


def _has_counts(found: Plan) -> bool:
    """Whether the plan ranks several numbers of tasks on a node."""
    return len({here.tasks_per_node for here in found.where.shapes}) > 1


def _named(choice: Choice) -> Prediction:
    """The prediction of a row below the first, with the name of its placement."""
    return replace(without_bracket(choice.prediction), placement=choice.name)


def _shape(choice: Choice) -> str:
    is_whole = choice.where.site.allocation.is_complete
    return str(choice.network).partition(":axes")[0] if is_whole else words_of_nodes(choice.where)


def _notes(found: Plan, listed: list[Choice], tasks: str) -> Iterator[str]:
    """Yield notes about the grids that are ranked, `tasks` if grids of fewer are allowed, the search, and the time."""
    if tasks:
        yield f"all ranked grids have {tasks} tasks; with --idle, name a grid of fewer with --grid"
    if found.cut_short:
        yield options.CUT
    if found.best.seconds is not None:
        term, share = found.term
        if share < ALL:  # else only one cost is known
            yield f"one exchange after the other, {100 * share:.0f} % of the time is {TERMS[term]}"
    if grids := list(dict.fromkeys(str(choice.grid) for choice in listed if choice.name == SO_FAR)):
        yield f"grids {', '.join(grids)} were searched briefly or not at all; map with --grid searches longer"


def _as_dict(found: Plan, choice: Choice, launches: Launches, by: str) -> dict[str, Any]:
    """A prediction, and the texts with which other commands make the same choice."""
    term, share = found.term if found.best.seconds is not None else (None, None)
    order = next(iter(_usual(choice, launches)), None)
    return {**choice.prediction.as_dict(), "exchange": choice.exchange, "way": choice.placement,
            "seconds": predictions.seconds(choice.prediction, by), "by": by, "effort": found.effort,
            "cut_short": found.cut_short, "gain": predictions.gain(choice.prediction, order, by), "deciding_term": term,
            "deciding_share": share, "unknown": found.unknown}
