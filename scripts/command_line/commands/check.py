"""`pencilmap check`: the validity and the loads of a placement file, or the places of its ranks alone."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import click
import numpy as np

from pencilmap.mapper.ask import job_of, named_grid
from pencilmap.mapper.choose import ALL_ROUTINGS, MUCH, faster_choices, under_every_rule
from pencilmap.mapper.choose.choices import Choice
from pencilmap.mapper.formats import FORMATS, READABLE, Job, read_document
from pencilmap.mapper.inside import messages_of, messages_of_program
from pencilmap.mapper.placements.tilings import named
from pencilmap.mapper.programs import traffic_of
from pencilmap.mapper.seeds.default_order import default
from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.base.units import counted
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.placement.allocation import LaunchOrder, Mapping
from pencilmap.model.placement.grid import ProcessGrid, is_in_words, words_of
from pencilmap.model.predict import answer
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line import answers, inside, options, predictions
from pencilmap.scripts.command_line.comparisons import by_routing
from pencilmap.scripts.command_line.pages import JSON, NOTES, WIDE, Page, with_options
from pencilmap.scripts.command_line.programs import TRAFFIC, check_program
from pencilmap.scripts.command_line.tables import echo, hearing, labelled, print_json, say, say_lines
from pencilmap.scripts.pictures.text import before_and_after


def check_places(where: Question, job: Job, mapping: Mapping, about: dict[str, Any], lines: Iterable[tuple[str, str]],
                 as_json: bool) -> None:
    """Print the ranks, nodes and tasks on the nodes of a placement file, and the ranks that a launch order puts elsewhere.

    `about` are the file, its format, and the launchers that accept the file; `lines` are labels and texts about launchers.
    """
    site, counts = replace(where.site, idle=True), np.unique(mapping.node_of_rank, return_counts=True)[1]
    least, most = int(counts.min()), int(counts.max())
    orders = {order: default(order, site, mapping.grid).node_of_rank for order in site.launch.orders}
    moved = {order: np.flatnonzero(nodes != mapping.node_of_rank) for order, nodes in orders.items()}
    if as_json:
        print_json({**about, "predictions": [], "ranks": mapping.n_tasks, "nodes": counts.size,
                    "ranks_on_a_node": [least, most], "moved": {order: ranks.size for order, ranks in moved.items()}})
        return
    file = about["file"]
    say(f"{file} is valid: {counted(mapping.n_tasks, 'rank')} on {counts.size} of "
        f"{counted(site.allocation.n_nodes, 'node')}, {least if least == most else f'{least} to {most}'} on each.")
    for order, ranks in moved.items():
        phrase = site.launch_phrase(order)
        if ranks.size:
            here, there = job.hosts.names([nodes[ranks[0]] for nodes in (mapping.node_of_rank, orders[order])])
            say(f"{counted(ranks.size, 'rank')} on other nodes than in {phrase}, the first is rank {ranks[0]}: {here}, not "
                f"{there}.")
        else:
            say(f"Each node has the same ranks as in {phrase}.")
    echo()
    usage = where.decomposition.usage
    labelled("next", f"for loads and gains add --grid {usage} of an FFT, or --traffic FILE of the program")
    say_lines(lines)


@click.command("check", cls=Page, usual="machine network nodes fft traffic grid schedule format draw json")
@click.argument("file", type=click.Path())
@options.on_machine
@options.grid_option(None, "RxC: rows, columns; P: slabs; PxQxS: bricks.")
@with_options(options.format_option(("--format", "-f", "format_name"), None, "Format of the file [detected].", READABLE),
              *options.LAUNCHER[:3], options.EVERY_ROUTING, options.EXCHANGE, options.SCHEDULE, options.DIRECTION, TRAFFIC)
@click.option("--draw", is_flag=True, help="Also show the loads of cables, before and after.")
@with_options(WIDE, NOTES, JSON)
def command(file: str, where: Question, grid: str | None, format_name: str | None, hosts: str | None,
            cores_per_task: int, node: str | None, routing: str | None, exchange: str, schedule: str,
            traffic: str | None, draw: bool, wide: bool, all_notes: bool, as_json: bool) -> None:
    """Check a mapfile or other placement file, and predict its cost.

    The file may have any format of `pencilmap help formats`. It is checked against the machine and the grid. Without grid
    and traffic only the places are checked, and compared with the launch order.
    """
    document = read_document(file)
    known = traffic_of(where, traffic) if traffic else None
    tasks = ProcessGrid(known.n_ranks, 1) if known else named_grid(where, grid) if grid else None
    job = job_of(where, hosts, cores_per_task, node)
    format_name, mapping, where, alike = options.read_placement(document, where, job, tasks, format_name, hosts)
    if grid is None and (where.transform is not None or draw):
        if not READABLE[format_name].says_grid:
            raise click.UsageError(f"no grid is named; name the process grid with --grid {where.decomposition.usage}",
                                   click.get_current_context())
        grid = str(mapping.grid)
    same = [other for other in alike if _orders(other) == _orders(format_name)]
    judged = {launcher: why for each in (format_name, *same) for launcher, why in READABLE[each].judged(document).items()}
    is_also_simulated = format_name == options.REAL and options.SIMULATED in alike
    simulated = READABLE[options.SIMULATED].judged(document) if is_also_simulated else {}
    formats = " or ".join([format_name, *same])
    accepted = [launcher for launcher, why in (judged | simulated).items() if not why]
    verdicts = [*([("valid", f"for {', '.join(accepted)} (format {formats})")] if accepted else []),
                *(("warning", f"not valid for {launcher}: {why}") for launcher, why in judged.items() if why)]
    if node and READABLE[format_name].read(document, job).slot is None:
        verdicts.append(("warning", "the file names no cores: the ranks of a node are taken core after core, but the launch "
                                    "line decides"))
    about = {"file": file, "format": format_name, "valid": True, "valid_for": accepted}
    if known is not None and traffic:
        inner = inside.placed_inside(mapping, messages_of_program(known), job, format_name, None)
        check_program(replace(where, routing=routing), traffic, known, mapping, about, verdicts, inner,
                      all_notes=all_notes, as_json=as_json)
        return
    others = [other for other in alike if None not in (_orders(other), _orders(format_name)) and other not in same]
    notes = [*([f"note: the file is also valid as format {' or '.join(others)}, with the same places; with --format the "
                "gain is over that launcher's order"] if others else []),
             *(f"note: not valid for {launcher}: {why}" for launcher, why in simulated.items() if why)]
    if grid is None:
        lines = [*verdicts, *(("note", note.removeprefix("note: ")) for note in notes)]
        check_places(where, job, mapping, about, lines, as_json)
        return
    question = replace(where, routing=routing, exchange=exchange, schedule=schedule)
    with hearing():
        found = under_every_rule(question, mapping) if routing == ALL_ROUTINGS else [answer(question, mapping)]
    inner = inside.placed_inside(mapping, messages_of(mapping.grid, where.transform, where.halo), job, format_name, None,
                                 where.transform is not None)
    if as_json:
        print_json({**about, **inside.inside_as_dict(inner), "predictions": [p.as_dict() for p in found]})
        return
    best = found[0]
    launch = answers.Launched() if routing == ALL_ROUTINGS else answers.launched(question, best)
    said = answers.Answer(best, launch, library=answers.library_in(grid, where))
    better = None if routing == ALL_ROUTINGS else faster_choices(question, best)[0]
    if routing == ALL_ROUTINGS:
        say(*by_routing(found, f"{file} is valid and", answers.library_in(grid, where)))
    else:
        say(*inside.of_file(list(_sentences(said, file, better)), file, inner))
    echo()
    rows = [predictions.Row(p, launch.first, name) for name, p in (*((file, p) for p in found), *launch.orders)]
    predictions.prediction_table(rows, predictions.title(where), wide)
    if draw:
        named_rule = None if routing == ALL_ROUTINGS else routing
        echo("\n".join(before_and_after(where, mapping, named_rule, bool(launch.orders))) + "\n")
    if routing != ALL_ROUTINGS:
        is_sure = READABLE[format_name].says_grid or is_in_words(grid)
        turned = [] if is_sure else _turned_lines(question, mapping, said)
        if better:
            drop = f"drop the file: {launch.name} needs none" if _is_order(better, launch) else ""
            written, own = READABLE[format_name].launched_as or format_name, options.format_of_launcher(where)
            form = ["--format", written] if written in FORMATS and written != own else []  # the line writes the same format
            labelled("better", drop or " ".join(["pencilmap map", *options.given_options("map", {"--format"}), *form,
                                                 "-o FILE"]), shell=not drop)
        say_lines([*answers.static_lines(question, best, launch, "--routing static"), *turned,
                   *answers.faster_lines(question, best, placements=False, library=said.library)])
    say_lines(verdicts)
    product = best.product
    shape = f"the product {product}" if product and wide else named(mapping) or ""
    predictions.show_notes([*predictions.table_notes(found, wide=wide), f"the file has {counted(mapping.n_tasks, 'rank')}"
                            f"{f', {shape}' if shape else ''}", *notes, *answers.launch_notes(where, best.grid)], all_notes)


def _is_order(choice: Choice, launch: answers.Launched) -> bool:
    """Return whether the launch order is as fast as a choice."""
    ratio = predictions.gain(choice.prediction, launch.first)
    return ratio is not None and ratio < 1 + predictions.SAME


def _sentences(said: answers.Answer, file: str, choice: Choice | None) -> Iterator[str]:
    """Yield the verdict about a file, and about its grid; `choice` is a much faster placement."""
    ratio = predictions.gain(choice.prediction, said.best) if choice and not _is_order(choice, said.launch) else None
    first = said.launch.first
    if ratio and choice:
        under = f" under {said.best.routing} routing" if said.has_range else ""
        better = choice.prediction
        gained = f"{predictions.factor(ratio)}{answers.gain_words(better, said.best)}: {answers.taken(better, said.best)}"
        yield answers.if_sent(answers.joined(f"{file} is valid, but a better file is {gained}{under} (predicted)."), better)
        over = predictions.gain(said.best, first)
        order = said.launch.name
        beside = "" if over is None else \
            "as fast as" if abs(over - 1) < predictions.SAME else f"{predictions.factor(over)} than"
        yield f"{said.grid}." + (f" {file} is {beside} {order}." if beside else "")
        return
    joint = "but" if said.is_slower else "and"
    sentence = said.first(file).replace(f"{file} is ", f"{file} is valid {joint} ", 1).replace(
        f"{file} takes ", f"{file} is valid and takes ", 1).replace(f"{file} may ", f"{file} is valid, but may ", 1)
    yield sentence
    yield said.second()


def _orders(name: str) -> tuple[str, ...] | LaunchOrder | None:
    """Return the launch orders of a format, None if the format has none."""
    order = READABLE[name].launch_order
    return order and order.orders


def _turned_lines(question: Question, mapping: Mapping, said: answers.Answer) -> list[tuple[str, str]]:
    """Return a line if the same file gains much more on the grid in the other order, and something there."""
    turned = None if mapping.grid.decomposition.has_bricks else mapping.grid.turned
    if turned is None:
        return []
    try:
        there = answer(question, replace(mapping, grid=turned))
    except ScheduleError:  # the schedule does not fit the turned grid
        return []
    launch = answers.launched(question, there)
    most, here = (min(predictions.gains(p, order) or (1.0,)) for p, order in (
        (there, launch.first), (said.best, said.launch.first)))
    if most < MUCH or most < MUCH * here:
        return []
    typed = words_of(turned, said.library) if turned.decomposition == PENCIL else turned
    return [("check", f"was it made for {typed}? There it is {predictions.factor(most)} than {launch.name}")]
