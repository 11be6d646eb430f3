"""`map --from`: a placement file, written for another launcher."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from pencilmap.mapper.format_choice import Choice
from pencilmap.mapper.formats import (
    READABLE,
    Job,
    format_named,
    launch_of,
    mapping_of,
    matching,
    read_document,
    read_first,
    write_mapping,
)
from pencilmap.mapper.formats.format import Launch
from pencilmap.mapper.setting import Setting
from pencilmap.model.base.errors import GridError
from pencilmap.model.base.units import counted
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.placement.mapping import Mapping, slots_in_order
from pencilmap.scripts.command_line.launching import format_option, launch_as_dict, show_launch
from pencilmap.scripts.command_line.plain_options import FILES
from pencilmap.scripts.command_line.tables import echo, labelled, say

FROM = (click.option("--from", "from_file", metavar="FILE", shell_complete=FILES,
                     help="Convert this file; make no new placement."),
        format_option(("--from-format",), None, "Format of that file [recognised].", READABLE))


@dataclass(frozen=True)
class Converted:
    """A placement file that was written in another format."""

    file: str
    from_format: str
    output: str
    mapping: Mapping
    launch: Launch
    notes: tuple[str, ...]


def converted(where: Setting, job: Job, file: str, from_format: str | None, to_format: str, grid: str | None,
              output: str) -> Converted:
    """Read and check a placement file, and write it in another format.

    Raises
    ------
    GridError
        If the format needs the process grid, which is not given.
    """
    if format_named(to_format).says_grid and not grid:
        raise GridError(f"format {to_format} is written in the shape of the process grid; name it with `grid` "
                        f"{where.decomposition.usage}")
    document = read_document(file)
    given = parse_grid(grid, where.decomposition) if grid else None
    name, mapping = (from_format, mapping_of(document, job, given, from_format)) if from_format else \
        read_first(document, job, given, matching(document))
    where.site.check_mapping(mapping)
    write_mapping(mapping, output, to_format, job)
    return Converted(file, name, output, mapping, launch_of(mapping, output, to_format, job),
                     tuple(_notes(mapping, name, to_format)))


def from_as_dict(found: Converted, form: Choice) -> dict[str, Any]:
    """Return the answer as JSON values."""
    return {"file": found.file, "from": found.from_format, "output": found.output, "ranks": found.mapping.n_tasks,
            **launch_as_dict(found.launch, form), "notes": list(found.notes)}


def show_converted(found: Converted, form: Choice) -> None:
    """Print the answer for people."""
    say(f"{found.output} has the {counted(found.mapping.n_tasks, 'rank')} of {found.file} in the same places.",
        f"Format {found.from_format} became {form}.")
    echo()
    show_launch(found.launch, form, found.output)
    for note in found.notes:
        labelled("note", note)


def _notes(mapping: Mapping, from_name: str, format_name: str) -> Iterator[str]:
    if not READABLE[from_name].says_slots:
        yield f"{from_name} does not give slots: the ranks of a node take them in order"
    if not READABLE[format_name].says_slots and not np.array_equal(mapping.slot_of_rank,
                                                                  slots_in_order(mapping.node_of_rank)):
        yield (f"{format_name} does not give slots: the ranks of a node will take them in order, not as in {from_name} "
               "(traffic between nodes does not change)")
