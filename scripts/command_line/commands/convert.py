"""`pencilmap convert`: a placement file for another launcher."""

import click
import numpy as np

from pencilmap.mapper.base.files import check_writable
from pencilmap.mapper.formats import FORMATS, format_named, launch_of, mapping_of, read_document, recognise, write_mapping
from pencilmap.mapper.formats.slots import slots_in_order
from pencilmap.mapper.setting import Setting
from pencilmap.model.base.errors import GridError
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.command_line.launching import (
    FORMAT_TO_WRITE,
    LAUNCHER,
    format_option,
    format_to_write,
    launch_as_dict,
    show_launch,
)
from pencilmap.scripts.command_line.options import grid_option, on_machine
from pencilmap.scripts.command_line.plain_options import JSON, OUTPUT_FILE, with_options
from pencilmap.scripts.command_line.tables import print_json, say


@click.command("convert")
@click.argument("file", type=click.Path())
@on_machine
@grid_option(None, "Check the number of ranks against this grid; jax writes its rows. [any]")
@with_options(format_option(("--from", "from_name"), None, "Format of the file [detected]."),
              FORMAT_TO_WRITE)
@click.option("--output", "-o", required=True, type=OUTPUT_FILE, help="The file to write.")
@with_options(*LAUNCHER, JSON)
def command(file: str, where: Setting, grid: str | None, from_name: str | None, format_name: str | None, output: str,
            hosts: str | None, cores_per_task: int, hwloc: str | None, program: str, as_json: bool) -> None:
    """Read a placement file, check it, write it in another format and print how to launch it."""
    check_writable(output)
    form = format_to_write(format_name, where)
    if format_named(form.name).says_grid and not grid:
        raise GridError(f"format {form.name} is written in the shape of the process grid; name it with `grid` "
                        f"{where.decomposition.usage}")
    job = where.job(hosts, cores_per_task, hwloc, program)
    document = read_document(file)
    from_name = from_name or recognise(document)
    mapping = mapping_of(document, job, parse_grid(grid, where.decomposition) if grid else None, from_name)
    where.site.check_mapping(mapping)
    write_mapping(mapping, output, form.name, job)
    launch = launch_of(mapping, output, form.name, job)
    notes = list(_notes(mapping, from_name, form.name))
    if as_json:
        print_json({"file": file, "from": from_name, "output": output, "ranks": mapping.n_tasks,
                    **launch_as_dict(launch, form), "notes": notes})
        return
    say(f"{file}: {mapping.n_tasks} ranks, format {from_name}\nwrote {output}, {form}")
    for note in notes:
        say(f"note: {note}")
    show_launch(launch, form)


def _notes(mapping, from_name, format_name):
    if not FORMATS[from_name].says_slots:
        yield f"{from_name} does not give slots: the ranks of a node take them in order"
    if not FORMATS[format_name].says_slots and not np.array_equal(mapping.slot_of_rank,
                                                                  slots_in_order(mapping.node_of_rank)):
        yield (f"{format_name} does not give slots: the ranks of a node will take them in order, not as in {from_name} "
               "(traffic between nodes does not change)")
