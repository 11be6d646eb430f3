"""`pencilmap predict`: effective lengths, loads, times and certificate of placements."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import ALL_ROUTINGS, BEST, Setting
from pencilmap.mapper.studies.threads import choices, divisors_of, shared_dict
from pencilmap.model.base.errors import FigureError, GridError, MachineError
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.network.torus import Torus
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.command_line.answers import answer, launched
from pencilmap.scripts.command_line.halos import HALO, halo_table, predicted_halos
from pencilmap.scripts.command_line.lines import LINE_OPTIONS, predict_lines
from pencilmap.scripts.command_line.options import (
    DIRECTION,
    EXCHANGE,
    GRID,
    ROBUST,
    ROUTING,
    SCHEDULE,
    given_words,
    on_machine,
    placements,
)
from pencilmap.scripts.command_line.plain_options import JSON, OUTPUT_FILE, WIDE, with_options
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import prediction_table, print_json, say, terms_table, threads_table


@click.command("predict")
@on_machine
@with_options(GRID, placements(), ROUTING, ROBUST, EXCHANGE, SCHEDULE, DIRECTION)
@click.option("--threads", type=click.IntRange(1), metavar="T",
              help="Compare tasks of 1 to T threads on the same cores, for each number that divides T, each "
              "with its best grid.")
@with_options(HALO)
@LINE_OPTIONS
@click.option("--message-cost", metavar="TIME", help="For distributed lines: cost to start a message, e.g. '2 us' "
              "[machine's].")
@click.option("--ports", type=click.IntRange(1), metavar="K", help="For distributed lines: messages that a rank starts at "
              "a time. [default: 1]")
@click.option("--page", type=OUTPUT_FILE, metavar="FILE",
              help="Also write a page with the torus in 3D: loads of rows, of columns, and of all exchanges at once.")
@click.option("--terms", is_flag=True, help="Also print every term of the time model; --json always has them.")
@with_options(WIDE, JSON)
def command(where: Setting, grid: str, placement: tuple[str, ...], routing: str | None, exchange: str, schedule: str,
            direction: str, threads: int | None, halo: int | None, page: str | None, terms: bool, line: LineProblem | None,
            message_cost: str | None, ports: int | None, wide: bool, as_json: bool) -> None:
    """Predict the exchanges of a process grid, or of distributed lines, under one or more placements."""
    if line:
        with hearing():
            predict_lines(where, problem=line, placements=placement, routing=routing, message_cost=message_cost,
                          ports=ports or 1, as_json=as_json)
        return
    if message_cost or ports:
        raise MachineError(f"--{'ports' if ports else 'message-cost'} is for --decomposition line, or bricks with "
                           "--algorithm; leave it out")
    if terms and (where.transform is None or where.network.bandwidth is None):
        raise MachineError("there are no terms without times: give --fft, and --machine or --bandwidth")
    if page and not isinstance(where.network, Torus):
        raise FigureError(f"{where.network} has no coordinates; --page draws a torus or mesh")
    if page and routing == ALL_ROUTINGS:
        raise FigureError("--page draws the loads of one rule; name it with --routing")
    question = Question(routing, exchange, schedule, direction)
    in_sequence = replace(question, schedule=SEQUENCE)
    if threads:
        _threads(where, threads, grid, placement, question, as_json)
        return
    with hearing():
        found = where.answers(question, grid, placement)
        alone = where.answers(in_sequence, grid, placement) if grid == BEST and schedule != SEQUENCE else []
        halos = predicted_halos(where, found, halo, schedule) if halo else []
    launch = None if routing == ALL_ROUTINGS else launched(where, ranked(found)[0], in_sequence)
    if page:
        both = [p for _, p in launch.orders[:1] if p.placement not in {q.placement for q in found}] if launch else []
        write_page(page, where, [*both, *found], schedule, answer(found, launch, alone[0] if alone else None))
    if as_json:
        print_json(*[p.as_dict() for p in found] if not halo else [
            {**p.as_dict(), "halo": {"width": halo, "stage": told.as_dict()}} for p, told in zip(found, halos)])
    else:
        size = f", transform {where.transform}" if where.transform else ""
        prediction_table(found, f"{where.where}{size}", wide)
        if terms:
            terms_table([p for p in found if p.stages[0].terms])
        if halo:
            halo_table(found, halos, halo)
        if routing != ALL_ROUTINGS:
            say(answer(found, launch, alone[0] if alone else None))
        if page:
            click.echo()
            say(f"wrote {page}")


def _threads(where, threads, grid, placement, question, as_json):
    if grid != BEST or question.routing == ALL_ROUTINGS:
        raise GridError("with `threads` there are fewer ranks, and the best grid of each number is taken: leave out "
                        "`grid` and routing all")
    if where.tasks_per_node % threads:
        raise GridError(f"{where.tasks_per_node} tasks on a node do not make tasks of {threads} threads: take a number of "
                        f"threads that divides {where.tasks_per_node}, or other tasks with `tasks_per_node`")
    with hearing():
        found = choices(where, [where.tasks_per_node // n for n in reversed(divisors_of(threads))],
                        lambda here: here.answers(question, BEST, placement)[0])
    if as_json:
        print_json(*[shared_dict(s, prediction=s.prediction.as_dict()) for s in found])
        return
    threads_table(found, lambda p: p.known_s if p.schedule is None else p.schedule.known_s)


def write_page(path: str, where: Setting, found: Sequence[Prediction], schedule: str, verdict: str) -> None:
    """Write the page of the report, with predictions in place of runs."""
    from pencilmap.scripts.pictures.report.page import Forecast, page
    from pencilmap.scripts.pictures.report.tori import MAX_NODES, Placed

    def placed(prediction):
        if where.network.n_nodes > MAX_NODES:
            return None
        name, beside = prediction.placement, prediction.schedule.name != SEQUENCE
        mapping = as_mapping(prediction.product or where.place(name, prediction.grid, schedule), name)
        return Placed(mapping, name, prediction.routing, where.transform, beside, where.names or {})

    forecasts = [Forecast(prediction, placed(prediction), where.transform) for prediction in found]
    text = page([], given_words(), forecasts=forecasts, verdict=verdict, machine=where.machine)
    write_whole(Path(path), text, FigureError)
