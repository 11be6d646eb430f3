"""Options about the launcher that several commands share: names of hosts, processors of slots, the program."""

from pathlib import Path

import click

from pencilmap.mapper.allocations.hwloc import find as read_cores, slot_cores
from pencilmap.mapper.allocations.table import read_table
from pencilmap.mapper.formats import FORMATS, Job, read_document
from pencilmap.mapper.hosts import Hosts
from pencilmap.model.errors import MapfileError

FORMAT_HELP = "; ".join(f"{name}: {form.title}" for name, form in FORMATS.items())
LAUNCHER = (
    click.option("--hosts", metavar="FILE|TEMPLATE", help="Names of the nodes: a template such as nid{node:05d} or "
                 "r{x}c{y}n{z:02d}, or a file with a line NAME x y z for each [the names of --nodes, or node-x-y-z]."),
    click.option("--cores-per-task", type=click.IntRange(1), default=1, show_default=True, metavar="K",
                 help="Processors of a task: slot t is bound to K in a row from t*K on."),
    click.option("--hwloc", metavar="FILE", help="lstopo --of xml of a node: slots get equal blocks of its cores, none across "
                 "NUMA nodes where that is possible."),
    click.option("--program", default="./a.out", show_default=True, metavar="COMMAND", help="What the launch line runs."),
)


def format_option(name, default, meaning):
    """An option that takes the name of a format."""
    return click.option(*name, type=click.Choice(list(FORMATS)), default=default, show_default=default is not None,
                        help=f"{meaning} {FORMAT_HELP}")


def job_of(where, hosts=None, cores_per_task=1, hwloc=None, program="./a.out"):
    """What the launcher knows, from the options."""
    cores = _measured_cores(hwloc, where.tasks_per_node) if hwloc else _cores(cores_per_task, where.tasks_per_node)
    return Job(where.site, _hosts(hosts, where), cores, program)


def _hosts(given, where):
    torus = where.torus
    if given is None:
        return Hosts(torus, table=where.names)
    if "{" in given and not Path(given).exists():
        return Hosts(torus, given)
    names = read_table(given, torus).names
    if not names:
        raise MapfileError(f"{given} names no hosts; write lines NAME {' '.join(torus.axes)}")
    return Hosts(torus, table=names)


def _measured_cores(path, tasks):
    return slot_cores(read_cores(read_document(path)).cores, tasks)


def _cores(per_task, tasks):
    if per_task == 1:
        return tuple(map(str, range(tasks)))
    return tuple(f"{slot * per_task}-{(slot + 1) * per_task - 1}" for slot in range(tasks))


def show_launch(launch):
    """Print a launch line with what it needs, readable by people."""
    click.echo("launch with:\n" + "\n".join(f"  {line}" for line in launch.line.splitlines()))
    for need in launch.needs:
        click.echo(f"needs: {need}")
    for warning in launch.warnings:
        click.echo(f"warning: {warning}")


def launch_as_dict(launch):
    """The same for JSON."""
    return {"launch": launch.line, "needs": list(launch.needs), "warnings": list(launch.warnings)}
