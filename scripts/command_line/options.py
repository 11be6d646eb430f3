"""Options that several commands share, and their names in messages of the library."""

import re
from collections.abc import Callable
from functools import reduce, wraps
from inspect import signature
from typing import Any, TypeAlias

import click

from pencilmap.mapper.graphs import GRAPHS
from pencilmap.mapper.placements import PLACEMENTS
from pencilmap.mapper.setting import setting
from pencilmap.model.decompositions import DECOMPOSITIONS
from pencilmap.model.routing import ROUTINGS
from pencilmap.model.transform import TYPES

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

MACHINE = (
    click.option("--machine", "-m", metavar="NAME", help="A machine of the package, or a machine file ending in .toml."),
    click.option("--torus", metavar="SHAPE", help="Shape instead of the machine's: 8x8x8 (wraps), 8x8x8:mesh, 8wx8x4w."),
    click.option("--partition", metavar="SHAPE", help="Shape instead of the machine's, e.g. 8x8x16; the machine's rule "
                                                      "decides which dimensions wrap."),
    click.option("--graph", metavar="FILE[,FORMAT]", help="A network without coordinates instead of a machine: "
                 + "; ".join(f"{name}: {form.title}" for name, form in GRAPHS.items())
                 + ". The format is detected unless named."),
    click.option("--tasks-per-node", "-t", type=click.IntRange(1), metavar="T", help="Tasks on a node [machine's]."),
    click.option("--bandwidth", metavar="RATE", help="Bandwidth of every link instead of the machine's, e.g. '148 MB/s'; "
                                                     "for a graph, of links without one."),
    click.option("--nodes", metavar="FILE", help="Usable nodes in the launcher's order, one per line: x y z, or a name "
                                                 "with coordinates; for a graph, the name [all]."),
    click.option("--failed", metavar="LIST", help="Nodes not to use, e.g. 1-2-3,0-0-4."),
    click.option("--idle", is_flag=True, help="Allow a grid of fewer tasks than there are slots."),
)
DECOMPOSITION = click.option("--decomposition", type=click.Choice(list(DECOMPOSITIONS)), default=next(iter(DECOMPOSITIONS)),
                             show_default=True, help="How the tasks share the array. "
                             + "; ".join(f"{d.name}: grid {d.usage}" for d in DECOMPOSITIONS.values()) + ".")
GRID_USAGE = "|".join(d.usage for d in DECOMPOSITIONS.values())
FFT = click.option("--fft", "-n", metavar="N|NXxNYxNZ[:TYPE][:single][:fields=F]",
                   help=f"The transform, e.g. 512, 512x256x128, 512:r2c:single; types: {', '.join(TYPES)}; F arrays "
                        "together. "
                        "Without it there are no times.")
ROUTING = click.option("--routing", metavar="NAME[:ARGUMENT]", help="Routing rule. "
                       + "; ".join(f"{r.usage}: {r.meaning}" for r in ROUTINGS.values())
                       + "; all: every rule, with the cut bound below them. [default: dimension-order; on a graph "
                         "shortest-path]")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def with_options(*options: Decorator) -> Decorator:
    """Put a list of options on a command, in the order given."""
    return lambda command: reduce(lambda c, option: option(c), reversed(options), command)


def grid_option(default: str | None, meaning: str, **settings: Any) -> Decorator:
    """The options --decomposition and --grid."""
    return with_options(DECOMPOSITION, click.option("--grid", "-g", metavar=GRID_USAGE, default=default,
                                                    show_default=default is not None, help=meaning, **settings))


GRID = grid_option("best", "R tasks in a row, C in a column, of slabs P tasks; best ranks all grids.")


def placements(multiple: bool = True) -> Decorator:
    """The option --placement; its help lists the table of placements."""
    listed = "; ".join(f"{p.usage}: {p.meaning}" for p in PLACEMENTS.values())
    return click.option("--placement", "-p", multiple=multiple, metavar="NAME[:ARGUMENT]",
                        default=("best",) if multiple else "best",
                        help=f"{'May be given several times. ' if multiple else ''}{listed}. [default: best]")


def on_machine(command: Callable[..., Any]) -> Callable[..., Any]:
    """Put the machine options and --fft on a command, which gets the resulting Setting as `where`."""
    @wraps(command)
    def resolved(**given):
        where = setting(**{name: given.pop(name) for name in signature(setting).parameters if name in given})
        return command(where=where, **given)

    return with_options(*MACHINE, FFT)(resolved)


def spelled(message: str) -> str:
    """A message of the library, with its arguments written as options.

    >>> spelled("give `tasks_per_node`")
    'give --tasks-per-node'
    """
    return re.sub(r"`([a-z]\w*)`", lambda argument: "--" + argument[1].replace("_", "-"), message)
