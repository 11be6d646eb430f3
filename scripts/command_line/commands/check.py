"""`pencilmap check`: the validity and the loads of a placement file."""

from contextlib import suppress
from dataclasses import replace

import click
import numpy as np

from pencilmap.mapper.formats import READABLE, mapping_of, read_document, read_first
from pencilmap.mapper.other_grids import MUCH
from pencilmap.mapper.programs import of_mapping, traffic_of
from pencilmap.mapper.recognised import named
from pencilmap.mapper.setting import ALL_ROUTINGS, Setting
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.units import counted
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict.question import Question
from pencilmap.model.routing import default_routing, routing as routing_named
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.command_line.answers import SAME, Launched, answer, launched, ways_faster
from pencilmap.scripts.command_line.launching import LAUNCHER, format_option, formats_of, is_launcher_known, of_launcher
from pencilmap.scripts.command_line.options import DIRECTION, ROUTING, SCHEDULE, grid_option, on_machine
from pencilmap.scripts.command_line.pages import Page
from pencilmap.scripts.command_line.places import check_places
from pencilmap.scripts.command_line.plain_options import JSON, WIDE, with_options
from pencilmap.scripts.command_line.predictions import Row, gain, percent, prediction_table, title
from pencilmap.scripts.command_line.programs import TRAFFIC, check_program
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import echo, print_json, say
from pencilmap.scripts.pictures.plain import loads_text

SIMULATED, REAL = "hostfile", "slurm"  # formats that are often one text: of a simulator, and of a launcher


@click.command("check", cls=Page, usual="machine network nodes fft traffic grid schedule format draw json")
@click.argument("file", type=click.Path())
@on_machine
@grid_option(None, "RxC tasks in rows and columns; for slabs P.")
@with_options(format_option(("--format", "-f", "format_name"), None, "Format of the file [detected].", READABLE),
              *LAUNCHER[:3], ROUTING, SCHEDULE, DIRECTION, TRAFFIC)
@click.option("--draw", is_flag=True, help="Also draw the load of each cable.\nIn the first exchange.")
@with_options(WIDE, JSON)
def command(file: str, where: Setting, grid: str | None, format_name: str | None, hosts: str | None, cores_per_task: int,
            hwloc: str | None, routing: str | None, schedule: str, traffic: str | None, draw: bool, wide: bool,
            as_json: bool) -> None:
    """Check a mapfile or other placement file, and predict its cost.

    The file may have any format of `pencilmap help formats`. It is checked against the machine and the grid. Without grid
    and traffic only the places are checked, and compared with the launch order.
    """
    if grid is None and (where.transform is not None or draw):
        raise click.UsageError(f"name the process grid with --grid {where.decomposition.usage}", click.get_current_context())
    known = traffic_of(where, traffic) if traffic else None
    tasks = ProcessGrid(known.n_ranks, 1) if known else where.grid(grid) if grid else None
    document = read_document(file)
    also: list[str] = []
    job = where.job(hosts, cores_per_task, hwloc)
    if format_name is None:
        format_name, mapping = read_first(document, job, tasks, names := formats_of(document, where))
        where, also = of_launcher(where, format_name, hosts), [name for name in names if name != format_name]
    else:
        mapping = mapping_of(document, job, tasks, format_name)
    where.site.check_mapping(mapping)
    alike = _read_alike(document, job, mapping, also)
    if format_name == SIMULATED and REAL in alike and not is_launcher_known(where):  # a host in each line
        format_name, where, alike = REAL, of_launcher(where, REAL, hosts), [SIMULATED, *(o for o in alike if o != REAL)]
    same = [other for other in alike if _orders(other) == _orders(format_name)]
    judged = READABLE[format_name].judged(document)
    for other in [*same, *([SIMULATED] if format_name == REAL and SIMULATED in alike else [])]:
        judged |= READABLE[other].judged(document)
    formats = " or ".join([format_name, *same])
    accepted = [launcher for launcher, why in judged.items() if not why]
    about = {"file": file, "format": format_name, "valid": True, "valid_for": accepted}
    if known is not None and traffic:
        check_program(where, traffic, of_mapping(where, known, mapping, routing), about, formats, as_json)
        return
    notes = _notes(file, judged, [other for other in alike if None not in (_orders(other), _orders(format_name))
                                  and other not in same])
    if grid is None:
        check_places(where, job, mapping, about, formats, notes, as_json)
        return
    question = Question(routing, schedule=schedule)
    with hearing():
        found = where.interval(mapping, question) if routing == ALL_ROUTINGS else [where.answer(mapping, question)]
    if as_json:
        print_json({**about, "predictions": [p.as_dict() for p in found]})
        return
    launch = Launched() if routing == ALL_ROUTINGS else launched(where, found[0], Question(routing))
    prediction_table([Row(p, launch.first) for p in found], title(where), wide)
    product = found[0].product
    shape = f"the product {product}" if product else named(mapping) or "not a product of digit patterns"
    say(f"{file}: valid for {', '.join(accepted)} (format {formats}), {counted(mapping.n_tasks, 'rank')}, {shape}")
    for note in notes:
        say(note)
    if draw:
        echo("\n".join(_picture(where, mapping, routing)) + "\n")
    if routing != ALL_ROUTINGS:
        say(answer(found, launch, start=file))
        for line in _ways_faster(where, mapping, found[0], launch, question, READABLE[format_name].says_grid):
            say(line)


def _orders(name):
    """Return the launch orders of a format, None if the format has none."""
    order = READABLE[name].launch_order
    return order and order.orders


def _notes(file, judged, others):
    """Return sentences about other launchers."""
    alike = [f"note: the file is also valid as format {' or '.join(others)}, with the same places; with --format the gain "
             "is over that launcher's order"]
    return [*(alike if others else []),
            *(f"{file}: not valid for {launcher}: {why}" for launcher, why in judged.items() if why)]


def _ways_faster(where, mapping, found, launch, question, says_grid):
    """Yield sentences about faster ways: the grid in the other order, the launch order, other placements and grids."""
    turned = None if says_grid else _turned(where, mapping, question)
    ratio = gain(turned, found) if turned else None
    is_turned = turned and ratio and ratio >= MUCH
    if is_turned:
        yield f"on grid {turned.grid} this file is {percent(ratio)} faster: is --grid in the order of your code?"
    if (gain(found, launch.first) or 1) < 1 - SAME:
        yield "the launch order is faster: launch without the file, or let pencilmap map write a better one"
    if not is_turned:
        yield from ways_faster(where, found, question.schedule, "pencilmap map", question.routing)


def _turned(where, mapping, question):
    """Return the prediction of the same file for pencils CxR, None if there are none."""
    grid = mapping.grid
    if grid.decomposition is not PENCIL or grid.shape[0] == grid.shape[1]:
        return None
    return where.answer(replace(mapping, grid=ProcessGrid(*grid.shape[::-1])), question)


def _read_alike(document, job, mapping, others):
    """Return the other formats in which the file says the same."""
    alike = []
    for other in others:
        with suppress(MapfileError):
            if np.array_equal(mapping_of(document, job, mapping.grid, other).ends, mapping.ends):
                alike.append(other)
    return alike


def _picture(where, mapping, routing):
    """The loads of the first exchange between several tasks, as lines of text."""
    names = mapping.grid.decomposition.names
    number = next((k for k, tasks in enumerate(mapping.grid.shape) if tasks > 1), 0)
    named = routing if routing and routing != ALL_ROUTINGS else default_routing(mapping.network)
    rule = routing_named(named, mapping.network)
    loads = rule.loads(mapping.network, exchanges(mapping.grid, where.transform)[number], mapping.ends)
    return [f"load of one cable in the {names[number]} exchange, on the scale of m", "", *loads_text(loads)]
