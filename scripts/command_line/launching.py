"""Shared options about the launcher: names of hosts, processors of slots, the program."""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import click
import numpy as np

from pencilmap.mapper.ask import job_of, named_grid, with_launcher
from pencilmap.mapper.choose import best_grid
from pencilmap.mapper.formats import FORMATS, READABLE, Document, Job, mapping_of, matching, read_document, read_first
from pencilmap.mapper.formats.format import Launch
from pencilmap.mapper.launchers import Choice, choose, expected
from pencilmap.mapper.placements import BEST
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.predict.question import Question
from pencilmap.scripts.command_line.plain_options import FILES, Decorator, Name, spelled
from pencilmap.scripts.command_line.tables import labelled

AS_BEFORE = "as before, without the file"
SIMULATED, REAL = "hostfile", "slurm"  # formats that are often one text: of a simulator, and of a launcher
LAUNCHER = (
    click.option("--hosts", metavar="FILE|TEMPLATE", shell_complete=FILES,
                 help="Names of the nodes: a template such as nid{node:05d} or r{x}c{y}n{z:02d}, or a file of lines "
                      "NAME x y z [the names of --nodes, or node-x-y-z]."),
    click.option("--cores-per-task", type=click.IntRange(1), default=1, show_default=True, metavar="K",
                 help="Processors of a task: slot t is bound to K consecutive processors, from t*K on."),
    click.option("--hwloc", metavar="FILE", shell_complete=FILES,
                 help="lstopo --of xml of a node: slots get equal blocks of its cores, within a "
                 "NUMA node where possible."),
    click.option("--program", default="./a.out", show_default=True, metavar="COMMAND",
                 help="The program in the launch line."),
)


def format_option(name: tuple[str, ...], default: str | None, meaning: str, names: Iterable[str] = FORMATS) -> Decorator:
    """Return an option that takes the name of a format."""
    return click.option(*name, type=Name(list(names)), default=default, show_default=default is not None,
                        help=meaning)


FORMAT_TO_WRITE = format_option(("--format", "-f", "format_name"), None,
                                "Format to write [the machine's, else this job's].")


def format_to_write(name: str | None, where: Question) -> Choice:
    """Return the named format, or the format of the machine or the environment; raise MapfileError if there is neither."""
    return choose(name, _machine(where), os.environ)


def formats_of(document: Document, where: Question) -> list[str]:
    """Return the formats that a file may have, first those of the machine's launcher or of the job around this command."""
    known = expected(_machine(where), os.environ)
    return matching(document, known.names if known else ())


def format_of_launcher(where: Question) -> str | None:
    """Return the format of the machine's launcher or of the job around this command, None if neither is known."""
    found = expected(_machine(where), os.environ)
    return found.name if found else None


def _machine(where):
    return load_machine(where.machine) if where.machine else None


def of_launcher(where: Question, name: str, hosts: str | None) -> Question:
    """Return the question with the launch order of this format's launcher. A named machine keeps its own order."""
    return where if where.machine else with_launcher(where, name, os.environ, hosts)


def read_placement(document: Document, where: Question, job: Job, tasks: ProcessGrid | None, name: str | None = None,
                   hosts: str | None = None) -> tuple[str, Mapping, Question, list[str]]:
    """Read a placement file, and find the launcher that takes it.

    Parameters
    ----------
    document : Document
    where : Question
    job : Job
    tasks : ProcessGrid, optional
    name : str, optional
        Name of the format, detected by default.
    hosts : str, optional
        The option --hosts.

    Returns
    -------
    (str, Mapping, Question, list of str)
        The format, the placement, the question with the order of its launcher unless `name` was given, and other formats in
        which the file says the same.

    Raises
    ------
    MapfileError
        If the file cannot be read, or does not fit the nodes or the tasks.
    """
    others: list[str] = []
    if name is None:
        name, mapping = read_first(document, job, tasks, found := formats_of(document, where))
        where, others = of_launcher(where, name, hosts), [other for other in found if other != name]
    else:
        mapping = mapping_of(document, job, tasks, name)
    where.site.check_mapping(mapping)
    alike = []
    for other in others:
        with suppress(MapfileError):
            if np.array_equal(mapping_of(document, job, mapping.grid, other).ends, mapping.ends):
                alike.append(other)
    if name == SIMULATED and REAL in alike and format_of_launcher(where) is None:  # a host in each line
        name, where, alike = REAL, of_launcher(where, REAL, hosts), [SIMULATED, *(o for o in alike if o != REAL)]
    return name, mapping, where, alike


def asked_grid(where: Question, grid: str, placements: Iterable[str]) -> tuple[Question, ProcessGrid, str]:
    """Return the question, the grid, and the format of a placement file among the placements, "" without a file.

    The question has the order of the launcher that takes the file. The grid is the named grid, else the grid that the file
    records, else the best.

    Raises
    ------
    click.UsageError
        If a placement is a file that records no grid: the best grid may be another than that of the file.
    """
    files = [text.removeprefix("file:").partition(",") for text in placements if re.match("file:[^,]", text)]
    if not files:
        return where, best_grid(where) if grid == BEST else named_grid(where, grid), ""
    path, _, named = files[0]
    chosen = None if grid == BEST else named_grid(where, grid)
    name, mapping, where, _ = read_placement(read_document(path), where, job_of(where), chosen, named or None)
    if chosen is None and not READABLE[name].says_grid:
        raise click.UsageError(f"name the process grid with --grid {where.decomposition.usage}",
                               click.get_current_context())
    where.site.check_grid(mapping.grid)
    return where, mapping.grid, name


def show_launch(launch: Launch, form: Choice, file: str, has_gain: bool = True) -> None:
    """Print a launch line and its requirements, for people. Without a gain the line is the user's own."""
    lines = launch_lines(launch)
    if not has_gain:
        labelled("launch", AS_BEFORE)
        labelled("file", f"{file} ({form.name}), if you want it:")
        labelled("", launch.line, shell=launch.is_shell)
        lines = [line for line in lines if line[0] in ("needs", "warning")]
    for number, (label, line, is_shell) in enumerate(lines):
        labelled("" if label == "job" and lines[number - 1][0] == "job" else label, line, shell=is_shell)


def launch_lines(launch: Launch) -> list[tuple[str, str, bool]]:
    """Return labels and lines that start a job with a file, and whether a line is for a shell."""
    return [("launch", launch.line, launch.is_shell), *([("or", launch.alone, True)] if launch.alone else []),
            *(("or", f"{line}  # {when}", True) for when, line in launch.others),
            *(("job", line, False) for line in launch.job_script),
            *(("needs", spelled(line), False) for line in launch.needs),
            *(("warning", spelled(line), False) for line in launch.warnings)]


def launch_as_dict(launch: Launch, form: Choice) -> dict[str, Any]:
    """Return a launch line and its requirements as JSON values."""
    return {"format": form.name, "caveats": list(form.caveats), "launch": launch.line,
            "launch_alone": launch.alone or launch.line, "job_script": list(launch.job_script),
            "needs": [*map(spelled, launch.needs), *(f"{when}: {line}" for when, line in launch.others)],
            "warnings": list(map(spelled, launch.warnings))}
