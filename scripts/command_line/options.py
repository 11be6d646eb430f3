"""Options that several commands share, made from the tables of the library."""

import os
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import click
from click.core import ParameterSource

from pencilmap.mapper.graphs import GRAPHS
from pencilmap.mapper.placements import PLACEMENTS
from pencilmap.mapper.setting import setting
from pencilmap.model.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
from pencilmap.model.base.errors import GridError
from pencilmap.model.decompositions import DECOMPOSITIONS
from pencilmap.model.decompositions.brick import bricks_named
from pencilmap.model.machines.files import machine_names
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.twisted_torus import TwistedTorus
from pencilmap.model.placement.transform import TYPES
from pencilmap.model.routing import ROUTINGS
from pencilmap.model.schedules import SCHEDULES
from pencilmap.model.schedules.schedule import DIRECTIONS, FORWARD
from pencilmap.scripts.command_line.lines import LINE, has_lines, lines_of
from pencilmap.scripts.command_line.plain_options import FILES, Decorator, Name, completed, with_options
from pencilmap.scripts.command_line.tables import say

WHOLE = 50_000  # from this many tasks on, a machine without a shape is probably larger than the user's job
MACHINE = (
    click.option("--machine", "-m", metavar="NAME", shell_complete=completed(machine_names, files=True),
                 help="A machine of the package, or a machine file ending in .toml."),
    click.option("--torus", metavar="SHAPE", help="Shape instead of the machine's: 8x8x8 (wraps), 8x8x8:mesh, 8wx8x4w."),
    click.option("--partition", metavar="SHAPE", help="Shape instead of the machine's, e.g. 8x8x16; the machine's rule "
                                                      "decides which dimensions wrap."),
    click.option("--graph", metavar="FILE[,FORMAT]", shell_complete=FILES,
                 help="A network without coordinates instead of a machine. Its format: "
                 + "; ".join(f"{name}: {form.title}" for name, form in GRAPHS.items())
                 + ". The format is detected unless named."),
    click.option("--tasks-per-node", "-t", type=click.IntRange(1), metavar="T", help="Tasks on a node [machine's]."),
    click.option("--bandwidth", metavar="RATE", help="Bandwidth of every link instead of the machine's, e.g. '148 MB/s'; "
                                                     "for a graph, of links without one."),
    click.option("--nodes", metavar="FILE|K|SHAPE", shell_complete=FILES,
                 help="Usable nodes: a FILE that lists them in the launcher's order, one per line: x y z, or a name "
                      "with coordinates; for a graph, the name [all]. Or their number K or SHAPE, for a whole partition."),
    click.option("--failed", metavar="LIST", help="Nodes not to use, e.g. 1-2-3,0-0-4."),
    click.option("--idle", is_flag=True, help="Allow a grid of fewer tasks than there are slots."),
)
class Decomposed(Name):
    """A decomposition of the table, or bricks with their numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == LINE:
            return LINE
        if not str(value).startswith("brick:"):
            return super().convert(value, param, ctx)
        try:
            return bricks_named(str(value)).name
        except GridError as error:
            self.fail(str(error), param, ctx)


DECOMPOSITION = click.option("--decomposition", type=Decomposed(list(DECOMPOSITIONS)), default=next(iter(DECOMPOSITIONS)),
                             show_default=True, help="How the tasks share the array. "
                             + "; ".join(f"{d.name}: grid {d.usage}" for d in DECOMPOSITIONS.values())
                             + "; brick:PxQxS: remapped to pencils of that grid, or with --algorithm bricks on which "
                             "distributed lines run; line: one array of --size N over all tasks (predict, simulate).")
GRID_USAGE = "|".join(dict.fromkeys(d.usage for d in DECOMPOSITIONS.values()))
FFT = click.option("--fft", "-n", metavar="N|NXxNYxNZ[:TYPE][:single][:fields=F]",
                   help=f"The transform, e.g. 512, 512x256x128, 512:r2c:single; types: {', '.join(TYPES)}; F arrays "
                        "together. "
                        "Without it there are no times.")
ROUTING = click.option("--routing", metavar="NAME[:ARGUMENT]", shell_complete=completed(lambda: (*ROUTINGS, "all")),
                       help="Routing rule. "
                       + "; ".join(f"{r.usage}: {r.meaning}" for r in ROUTINGS.values())
                       + "; all: every rule, with the cut bound below them. [default: dimension-order; on a graph "
                         "shortest-path]")
ROBUST = click.option("--robust", is_flag=True, help="Search for placements whose worst load over all routing rules is "
                      "least; without --routing, predict that worst load.")
EXCHANGE = click.option("--exchange", "-e", metavar="NAME", default=DEFAULT_ALGORITHM, show_default=True,
                        shell_complete=completed(lambda: ALGORITHMS),
                        help="Algorithm of the exchanges. "
                        + "; ".join(f"{name}: {a.meaning}" for name, a in ALGORITHMS.items()) + ".")
SCHEDULE = click.option("--schedule", metavar="NAME[:ARGUMENT]", default="sequence", show_default=True,
                        shell_complete=completed(lambda: (*SCHEDULES, "best")),
                        help="When the exchanges travel. " + "; ".join(f"{k.usage}: {k.meaning}" for k in SCHEDULES.values())
                        + "; best: the fastest of those that keep the boxes, and its chunks.")
DIRECTION = click.option("--direction", type=Name(DIRECTIONS), default=FORWARD, show_default=True,
                         help="Direction of the transform; pair: a forward one of one array and a backward one of another, "
                              "beside each other under schedule opposite.")


def grid_option(default: str | None, meaning: str, **settings: Any) -> Decorator:
    """Return the options --decomposition and --grid."""
    if default is not None:  # click treats a default of None as a given value
        settings |= {"default": default, "show_default": True}
    return with_options(DECOMPOSITION, click.option("--grid", "-g", metavar=GRID_USAGE, help=meaning, **settings))


GRID = grid_option("best", "R tasks in a row and C in a column; for slabs, P tasks; best ranks all grids.")


def placements(multiple: bool = True) -> Decorator:
    """Return the option --placement; its help lists the table of placements."""
    listed = "; ".join(f"{p.usage}: {p.meaning}" for p in PLACEMENTS.values())
    return click.option("--placement", "-p", multiple=multiple, metavar="NAME[:ARGUMENT]",
                        shell_complete=completed(lambda: PLACEMENTS),
                        default=("best",) if multiple else "best",
                        help=f"{'May be given several times. ' if multiple else ''}{listed}. [default: best]")


def on_machine(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the machine options and --fft to a command; the command gets the resulting Setting as `where`."""
    has = {option.name for option in getattr(command, "__click_params__", ())}
    knows_lines = "algorithm" in has
    refused = {"algorithm", "order"} - has  # allowed in a sentence about bricks of lines

    @wraps(command)
    def resolved(**given):
        asked = {name: given.pop(name) for name in signature(setting).parameters if name in given}
        decomposition = asked.get("decomposition", "")
        lines = has_lines(decomposition, given)
        if not knows_lines and lines:
            raise GridError("distributed lines are for predict and simulate: --decomposition line, and bricks with "
                            "--algorithm or --order; this command takes pencil, slab, brick")
        if knows_lines:
            context = click.get_current_context()
            named = [name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
            given["line"] = lines_of(given, decomposition, asked.get("fft"), named)
        else:
            given = {name: value for name, value in given.items() if name not in refused}
        if lines:
            asked |= {"decomposition": "slab", "fft": None}  # the grid of slabs is all tasks, too
        where = setting(**asked, launcher=given.get("format_name"), environ=os.environ)
        if where.machine and where.n_slots > WHOLE and not any(map(asked.get, ("torus", "partition", "nodes"))):
            say(f"note: this is the whole of {where.machine}, {where.n_slots:,} tasks; a job on a part of it is "
                "named by --partition SHAPE, --torus SHAPE or --nodes FILE", err=True)
        return command(where=where, **_on_graph(where, given))

    return with_options(*MACHINE, FFT, *(click.option(f"--{name}", hidden=True) for name in refused))(resolved)


def _on_graph(where, given):
    """Use the launch order by default on a network without coordinates, because searches need coordinates."""
    source = click.get_current_context().get_parameter_source("placement")
    if isinstance(where.network, Torus | TwistedTorus) or "placement" not in given or source != ParameterSource.DEFAULT:
        return given
    say("note: no placement is searched on a graph; this is the launch order, --placement default", err=True)
    return given | {"placement": ("default",) if isinstance(given["placement"], tuple) else "default"}


def given_words() -> list[str]:
    """Return the running command with the given options."""
    context = click.get_current_context()
    words = ["pencilmap", context.info_name or ""]
    for option in context.command.params:
        if option.name and context.get_parameter_source(option.name) == ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            for each in value if isinstance(value, tuple) else [value]:
                words += [option.opts[0]] + ([] if each is True else [str(each)])
    return words
