"""Options that several commands share, made from the tables of the library."""

import os
from collections.abc import Callable, Collection
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pencilmap.mapper.ask import WRAPS, ask
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.search import EFFORTS
from pencilmap.mapper.placements import BEST, PLACEMENTS
from pencilmap.model.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
from pencilmap.model.base.errors import GridError, MachineError
from pencilmap.model.decompositions import DECOMPOSITIONS, PENCIL, bricks_named
from pencilmap.model.kinds import ROUTINGS
from pencilmap.model.placement.grid import decomposition_of
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules import SCHEDULES
from pencilmap.model.schedules.schedule import DIRECTIONS, FORWARD, SEQUENCE
from pencilmap.scripts.command_line.lines import LINE, has_lines, lines_of
from pencilmap.scripts.command_line.plain_options import (
    BANDWIDTH,
    FFT,
    MACHINE,
    NETWORK,
    NODES,
    TASKS,
    Decorator,
    Name,
    completed,
    with_options,
)

MOST_TASKS = 100_000  # a machine of more tasks is rarely meant as a whole
OF_TRANSFORM = ("fft", "decomposition", "grid", "schedule", "robust", "exchange", "halo", "weight", "terms", "direction",
                "draw")
QUESTION = ("grid", "placement", "schedule", "effort", "whole_machine")  # of a prediction, beside the arguments of `ask`
WHOLE = click.option("--whole-machine", is_flag=True, help=f"Confirm a question about a whole machine of over "
                     f"{MOST_TASKS:,} tasks.")
ON_NETWORK = (
    BANDWIDTH,
    click.option("--failed", metavar="LIST", help="Nodes not to use, e.g. 1-2-3,0-0-4."),
    click.option("--idle", is_flag=True, help="Allow a --grid of fewer tasks than slots."),
    WHOLE,
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


DECOMPOSITION = click.option("--decomposition", type=Decomposed(list(DECOMPOSITIONS)),
                             help="How the tasks share the array [pencil; without a grid, the best].")
GRID_USAGE = "|".join(dict.fromkeys(d.usage for d in DECOMPOSITIONS.values()))
WRAP = click.option("--wrap", type=Name(list(WRAPS)), help="torus, mesh or both: all dimensions wrap, or none.\n"
                    "both compares torus and open mesh.")
ROUTING = click.option("--routing", metavar="NAME", shell_complete=completed(lambda: ROUTINGS), help="Routing rule.")
EVERY_ROUTING = click.option("--routing", metavar="NAME", shell_complete=completed(lambda: (*ROUTINGS, "all")),
                             help="Routing rule; all shows every rule.")
ROBUST = click.option("--robust", is_flag=True, help="Take placements whose worst load over all routing rules is least, "
                      "and show that load.")
EFFORT = click.option("--effort", type=Name(list(EFFORTS)), default="normal", show_default=True,
                      help="Search: quick none, normal, or long.")
SEARCH = with_options(
    EFFORT, click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True, metavar="N",
                         help="Random numbers of the search; the same seed gives the same answer."),
    click.option("--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="Cut the search short; the answer says so."))
CUT = "the time limit cut the search short; without it, the answer may be better"


def exchange(default: str | None) -> Decorator:
    """Return the option --exchange; without a default, all exchanges are meant."""
    given: dict[str, Any] = {} if default is None else {"default": default, "show_default": True}
    return click.option("--exchange", "-e", metavar="NAME", shell_complete=completed(lambda: ALGORITHMS),
                        help="Algorithm of the exchanges" + (" [all]." if default is None else "."), **given)


EXCHANGE, ANY_EXCHANGE = exchange(DEFAULT_ALGORITHM), exchange(None)
SCHEDULE = click.option("--schedule", metavar="NAME", default=SEQUENCE, show_default=True,
                        shell_complete=completed(lambda: (*SCHEDULES, "best")),
                        help="When exchanges travel, or best.")
DIRECTION = click.option("--direction", type=Name(DIRECTIONS), default=FORWARD, show_default=True,
                         help="forward, backward, or pair: one of each at once.")


def grid_option(default: str | None, meaning: str, **settings: Any) -> Decorator:
    """Return the options --decomposition and --grid."""
    if default is not None:  # click treats a default of None as a given value
        settings |= {"default": default, "show_default": True}
    return with_options(DECOMPOSITION, click.option("--grid", "-g", metavar=GRID_USAGE, help=meaning, **settings))


GRID = grid_option("best", "RxC: rows, columns; P: slabs; PxQxS: bricks.")
ONE_GRID = grid_option(None, "RxC: rows, columns; P: slabs; PxQxS: bricks.")
ANY_GRID = grid_option(None, "RxC: rows, columns; P: slabs; PxQxS: bricks [all].")


def placements(multiple: bool = True, default: str | None = "best") -> Decorator:
    """Return the option --placement."""
    return click.option("--placement", "-p", multiple=multiple, metavar="NAME",
                        shell_complete=completed(lambda: PLACEMENTS, files=True), callback=_files_named,
                        default=((default,) if default else ()) if multiple else default,
                        help="Placement or its file" + (", may be repeated" if multiple else "")
                             + (f" [{default}]." if default else "."))


def _files_named(ctx, param, value):
    """Callback: a placement that is the path of a file is this file."""
    if isinstance(value, str):
        return f"file:{value}" if value.partition(":")[0] not in PLACEMENTS and Path(value).is_file() else value
    return value if value is None else tuple(_files_named(ctx, param, each) for each in value)


def on_machine(command: Callable[..., Any], tasks: Decorator = TASKS) -> Callable[..., Any]:
    """Add the machine options and --fft to a command; the command gets the resulting Question as `where`."""
    has = {option.name for option in getattr(command, "__click_params__", ())}
    knows_lines = "algorithm" in has
    refused = {"algorithm", "order"} - has  # allowed in a sentence about bricks of lines

    @wraps(command)
    def resolved(**given):
        asked = {name: given.pop(name) for name in signature(ask).parameters if name in given}
        if not asked.get("decomposition") and (grid := str(given.get("grid") or "best")) != BEST:
            implied = decomposition_of(grid)
            asked["decomposition"] = None if implied is PENCIL else implied.name
        decomposition = asked.get("decomposition") or ""
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
        if given.get("records"):  # these name their own network
            _refuse_question(given["records"])
            given.pop("whole_machine")
            return command(where=None, **given)
        if given.pop("records", None) == () and not any(map(asked.get, ("machine", "network", "nodes"))):
            raise click.UsageError("nothing is named; name the files of run records, or a --machine or --network for "
                                   "a prediction",
                                   click.get_current_context())
        if given.get("traffic"):
            _refuse_transform(click.get_current_context())
        where = ask(**asked, launcher=given.get("format_name"), environ=os.environ, names=given.get("hosts"),
                        placed=_placement_file(given))
        if not given.pop("whole_machine"):
            refuse_whole(where, asked)
        return command(where=where, **given)

    hidden = (click.option(f"--{name}", hidden=True) for name in refused)
    return with_options(MACHINE, NETWORK, NODES, tasks, *ON_NETWORK, FFT, *hidden)(resolved)


def _placement_file(given: dict[str, Any]) -> str | None:
    """Return the first file of a placement that a command names: `check FILE`, `map --from FILE`, `--placement FILE`."""
    named = given.get("placement") or ()
    names = (named,) if isinstance(named, str) else named
    files = (name.removeprefix("file:").partition(",")[0] for name in names if name.startswith("file:"))
    one = (given.get("file") or "").removeprefix("file:")
    return next(iter(filter(None, (one, given.get("from_file"), *files))), None)


def _refuse_question(records):
    """Refuse options of a question beside run records, which name their own network, grid and placement."""
    context = click.get_current_context()
    asked = [o.opts[0] for o in context.command.params if o.name in (*signature(ask).parameters, *QUESTION)
             and context.get_parameter_source(o.name) == ParameterSource.COMMANDLINE]
    if asked:
        raise click.UsageError(f"{asked[0]} asks for a prediction, and {records[0]} has runs; leave one of both out",
                               context)


def refuse_whole(where: Question, asked: dict[str, Any]) -> None:
    """Refuse a question about all nodes of a large machine.

    Raises
    ------
    MachineError
        If the machine has more than `MOST_TASKS` tasks, and neither nodes nor network are named.
    """
    if where.machine and where.n_slots > MOST_TASKS and not any(map(asked.get, ("network", "nodes"))):
        raise MachineError(f"this is the whole of {where.machine}, {where.n_slots:,} tasks; name the nodes of the job with "
                           "`nodes`, or confirm with `whole_machine`")


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


def given_options(other: str, without: Collection[str] = ()) -> list[str]:
    """Return the given options of the running command that another command has too, as words for a shell.

    Options that only show more of an answer are left out.
    """
    context = click.get_current_context()
    group = context.find_root().command
    target = group.get_command(context.find_root(), other) if isinstance(group, click.Group) else None
    known = {name for option in (target.params if target else ()) for name in option.opts}
    words: list[str] = []
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name and option.opts[0] in known \
                and not {*option.opts} & {*without, "--notes", "--wide"} \
                and context.get_parameter_source(option.name) == ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            for each in value if isinstance(value, tuple) else [value]:
                words += [option.opts[0]] + ([] if each is True else [shell.word(str(each))])
    return words


def _refuse_transform(ctx: click.Context) -> None:
    """Refuse the options of a transform beside --traffic.

    Raises
    ------
    click.UsageError
        Naming the first such option.
    """
    source = ParameterSource.COMMANDLINE
    for name in OF_TRANSFORM:
        if name in ctx.params and ctx.get_parameter_source(name) == source:
            raise click.UsageError(f"--{name} describes a transform, and --traffic another program; give one of both", ctx)
    if ctx.params.get("time_limit"):
        raise click.UsageError("--time-limit cuts the search for a transform; with --traffic, --effort says how long to "
                               "search", ctx)
