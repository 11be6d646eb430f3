"""`pencilmap plan`: the best ways to run a transform on some nodes, the reason, and runs to confirm them."""

import click

from pencilmap.mapper.setting import BEST, Setting
from pencilmap.mapper.studies.advise import TERMS, Advice, advise, exchange_of, schedule_of, time_of
from pencilmap.mapper.studies.threads import choices, divisors_of
from pencilmap.model.base.errors import GridError
from pencilmap.model.base.units import milliseconds
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.answers import answer, launched, with_gains
from pencilmap.scripts.command_line.options import (
    DIRECTION,
    EXCHANGE,
    ROBUST,
    ROUTING,
    SCHEDULE,
    grid_option,
    on_machine,
    placements,
)
from pencilmap.scripts.command_line.pages import Page
from pencilmap.scripts.command_line.plain_options import JSON, WIDE, Name, with_options
from pencilmap.scripts.command_line.predictions import prediction_table, threads_table
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import broken, fitted, print_json, print_table, say

NAMING = ("decomposition", "grid", "placement", "exchange", "schedule", "routing", "direction", "robust")


@click.command("plan", cls=Page, usual="machine network nodes tasks-per-node bandwidth fft by threads top json")
@on_machine
@with_options(grid_option(BEST, "One grid [all]."), placements(), EXCHANGE, SCHEDULE, DIRECTION, ROUTING, ROBUST)
@click.option("--by", type=Name(["time", "exchanges"]), default="time", show_default=True,
              help="The time of the whole transform, or its exchanges.")
@click.option("--threads", type=click.IntRange(1), metavar="T",
              help="Also compare tasks of 1 to T threads on the same cores.")
@click.option("--top", type=click.IntRange(1), default=6, show_default=True, metavar="N", help="How many to list.")
@with_options(WIDE, JSON)
@click.pass_context
def command(ctx: click.Context, where: Setting, grid: str, placement: tuple[str, ...], exchange: str, schedule: str,
            direction: str, routing: str | None, by: str, threads: int | None, top: int, wide: bool, as_json: bool) -> None:
    """Rank the ways to run a transform on some nodes, fastest first.

    A way is a decomposition, a grid, a placement, an exchange and a schedule; options that name one of them leave the
    others to be ranked. The last lines say what to take, and why.
    """
    named = [name for name in NAMING if ctx.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE]
    question = Question(routing, exchange, schedule, direction)
    if threads and where.tasks_per_node % threads:
        raise GridError(f"{where.tasks_per_node} tasks on a node do not make tasks of {threads} threads: take a number of "
                        f"threads that divides {where.tasks_per_node}, or other tasks with `tasks_per_node`")
    with hearing():
        advice = None if named or where.transform is None or where.network.bandwidth is None else advise(where)
        found = list(advice.found) if advice else where.answers(question, grid, placement)
        shared = choices(where, [where.tasks_per_node // n for n in reversed(divisors_of(threads))],
                         lambda here: (advise(here).best if advice else here.answers(question, grid, placement)[0])
                         ) if threads else []
    if by == "exchanges":
        found = sorted(found, key=lambda p: p.time_s or p.cost)
    launch = launched(where, found[0], Question(routing, exchange, SEQUENCE, direction))
    if as_json:
        print_json(*[{**p.as_dict(), "exchange": exchange_of(p)} for p in found[:top]])
        return
    if advice:
        _table(advice, top)
    else:
        size = f", transform {where.transform}" if where.transform else ""
        prediction_table(with_gains(found[:top], where, question), where.where + size, wide)
    if shared:
        threads_table(shared, lambda p: p.known_s if p.schedule is None else p.schedule.known_s)
    say(answer(found, launch))
    if advice:
        for line in _why(advice):
            say(line)
        _runs(advice)


def _table(found: Advice, top: int) -> None:
    columns = ["decomposition", "grid", "placement", "exchange", "schedule", ">predicted", ">of best"]
    best = time_of(found.best)
    rows = [[p.grid.decomposition.name, str(p.grid), broken(p.placement), exchange_of(p), broken(schedule_of(p)),
             milliseconds(time_of(p)), f"{time_of(p) / best:.3f}"] for p in found.found[:top]]
    print_table(f"{found.where.where}, transform {found.where.transform}", *fitted(columns, rows, [">of best"]),
                ["predicted: the whole transform" if found.best.total_s is not None else "predicted: the exchanges; the "
                 "machine's computing is not known"])


def _why(found: Advice) -> list[str]:
    said = [f"in sequence, {100 * found.share:.0f} % of this time is {TERMS[found.term]}"]
    if found.unknown:
        said.append(f"not known for this machine: {', '.join(found.unknown)}; pencilmap study calibrate finds them")
    return said


def _runs(found: Advice) -> None:
    """Print options of fft_runner for the runs that confirm the choice."""
    runs = [["--decomposition " + p.grid.decomposition.name, "--grid " + str(p.grid), "--exchange " + exchange_of(p),
             "--schedule " + schedule_of(p), broken(p.placement)] for p in [found.best, *found.rivals[:2]]]
    if found.rivals:
        click.echo()
        print_table("to be sure, run fft_runner with each of these", ["", "", "", "", "placement"], runs)
