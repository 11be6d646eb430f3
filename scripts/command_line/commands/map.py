"""`pencilmap map`: write a placement for the launcher."""

from dataclasses import asdict

import click

from pencilmap.mapper.base.files import check_writable
from pencilmap.mapper.formats import launch_of, write_mapping
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import Setting
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line.answers import answer, launched
from pencilmap.scripts.command_line.launching import FORMAT_TO_WRITE, LAUNCHER, format_to_write, launch_as_dict, show_launch
from pencilmap.scripts.command_line.options import GRID, ROBUST, SCHEDULE, on_machine, placements
from pencilmap.scripts.command_line.plain_options import JSON, OUTPUT_FILE, WIDE, with_options
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import prediction_table, print_json, say


@click.command("map")
@on_machine
@with_options(GRID, placements(multiple=False), SCHEDULE, ROBUST, FORMAT_TO_WRITE)
@click.option("--output", "-o", required=True, type=OUTPUT_FILE, help="The file to write.")
@with_options(*LAUNCHER, WIDE, JSON)
def command(where: Setting, grid: str, placement: str, schedule: str, format_name: str | None, output: str,
            hosts: str | None, cores_per_task: int, hwloc: str | None, program: str, wide: bool,
            as_json: bool) -> None:
    """Write the best placement, or the one named, and print its prediction next to that of the launch order, and how to
    launch it."""
    form = format_to_write(format_name, where)
    check_writable(output)
    with hearing():
        tasks = where.grid(grid, schedule)
        job = where.job(hosts, cores_per_task, hwloc, program)
        chosen = where.place(placement, tasks, schedule)
    mapping = as_mapping(chosen, placement)
    write_mapping(mapping, output, form.name, job)
    best = where.shown(chosen, Question(schedule=schedule), placement)
    launch = launched(where, best, Question(schedule=schedule), tasks.n_tasks)
    shown = [best, *(p for _, p in launch.orders)]
    how = launch_of(mapping, output, form.name, job)
    if as_json:
        print_json({"file": output, **launch_as_dict(how, form), "launch_order": asdict(where.site.launch),
                    "predictions": [p.as_dict() for p in shown]})
        return
    prediction_table(shown, where.where, wide)
    say(answer([best], launch))
    say(f"wrote {output} ({tasks.n_tasks} ranks, {form})")
    show_launch(how, form)
