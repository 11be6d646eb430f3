"""Options that several commands share, made from the tables of the library: of questions, distributed lines, launchers."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource

from pencilmap.mapper.ask import WRAPS, ask, job_of, named_grid, with_launcher
from pencilmap.mapper.base import shell
from pencilmap.mapper.base.search import EFFORTS
from pencilmap.mapper.choose import best_grid
from pencilmap.mapper.formats import FORMATS, READABLE, Document, Job, mapping_of, matching, read_document, read_first
from pencilmap.mapper.formats.format import Launch
from pencilmap.mapper.launchers import Choice, choose, expected
from pencilmap.mapper.placements import BEST, PLACEMENTS
from pencilmap.model.algorithms import ALGORITHMS, DEFAULT_ALGORITHM
from pencilmap.model.base.errors import GridError, MachineError, MapfileError
from pencilmap.model.decompositions import DECOMPOSITIONS, PENCIL, bricks_named
from pencilmap.model.kinds import ROUTINGS
from pencilmap.model.lines import ALGORITHMS as LINE_ALGORITHMS, ORDERS
from pencilmap.model.machines.machine import Machine, load_machine
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid, decomposition_of
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules import SCHEDULES
from pencilmap.model.schedules.schedule import DIRECTIONS, FORWARD, SEQUENCE
from pencilmap.scripts.command_line import inside, pages
from pencilmap.scripts.command_line.tables import labelled

if TYPE_CHECKING:  # few questions have lines, whose modules load late
    from pencilmap.model.lines.line_problem import LineProblem

LINE = "line"
BRICK = "brick"
OTHERS = ("grid", "exchange", "schedule", "direction", "page", "terms", "robust", "threads", "probe",
          "timing_only", "halo", "weight")  # not for lines
LINE_OPTIONS = pages.with_options(
    click.option("--size", type=click.IntRange(1), metavar="N", help="Points of the line, for --decomposition line."),
    click.option("--algorithm", type=pages.Name(list(LINE_ALGORITHMS)),
                 help="Algorithm of a line, or of the lines on bricks [transpose]."),
    click.option("--order", type=pages.Name(list(ORDERS)), help="Order of the points after a line's transform "
                 "[natural]."))


def has_lines(decomposition: str, given: dict[str, Any]) -> bool:
    """Whether the options ask for distributed lines: alone, or on bricks by an algorithm or order."""
    asked = given.get("algorithm") or given.get("order")
    return decomposition == LINE or bool(asked and decomposition.startswith(BRICK))


def lines_of(given: dict[str, Any], decomposition: str, fft: str | None, named: Sequence[str]) -> "LineProblem | None":
    """Take the options of distributed lines out of `given` and return their problem; None for another decomposition.

    `named` are the options that the user gave.

    Raises
    ------
    GridError
        If options contradict each other.
    """
    wanted = has_lines(decomposition, given)
    size, algorithm, order = (given.pop(name) for name in ("size", "algorithm", "order"))
    if not wanted:
        for name, value in (("size", size), ("algorithm", algorithm), ("order", order)):
            if value is not None:
                bricks = "" if name == "size" else " or brick:PxQxS"
                raise GridError(f"--{name} is for --decomposition line{bricks}; leave it out, or name that decomposition")
        return None
    how = algorithm or LINE_ALGORITHMS[0], order or next(iter(ORDERS))
    if foreign := [name for name in OTHERS if name in named]:
        bricks = "" if decomposition == LINE else ", nor for bricks with --algorithm or --order"
        raise GridError(f"--{foreign[0].replace('_', '-')} is not for --decomposition line{bricks}; leave it out")
    from pencilmap.model.lines.line_problem import LineProblem

    if decomposition == LINE:
        if size is None:
            raise GridError("a line has points: give their number with --size, e.g. --size 65536")
        if fft:
            raise GridError("--fft is not for --decomposition line; leave it out")
        return LineProblem((size,), None, *how)
    if size is not None or not fft:
        raise GridError("bricks of lines are an array: give its extents with --fft, e.g. --fft 64x64x64, or --fft 64x64x1 "
                        "for two dimensions")
    transform = parse_transform(fft)
    if transform.type != "c2c":
        raise GridError(f"lines transform complex numbers: --fft {fft[:40]} is not c2c; leave :{transform.type} out")
    return LineProblem((transform.nx, transform.ny, transform.nz), bricks_named(decomposition).bricks, *how,
                       transform.fields, transform.precision)


AS_BEFORE = "as before, without the file"
SIMULATED, REAL = "hostfile", "slurm"  # formats that are often one text: of a simulator, and of a launcher
LAUNCHER = (
    click.option("--hosts", metavar="FILE|TEMPLATE", shell_complete=pages.FILES,
                 help="Names of the nodes: a template such as nid{node:05d} or r{x}c{y}n{z:02d}, or a file of lines "
                      "NAME x y z [the names of --nodes, or node-x-y-z]."),
    click.option("--cores-per-task", type=click.IntRange(1), default=1, show_default=True, metavar="K",
                 help="Processors of a task: slot t is bound to K consecutive processors, from t*K on."),
    inside.OPTION,
    click.option("--program", default="./a.out", show_default=True, metavar="COMMAND",
                 help="The program in the launch line.\nSeveral: '-n 8 ./ocean : -n 4 ./air'."),
)


def format_option(name: tuple[str, ...], default: str | None, meaning: str,
                  names: Iterable[str] = FORMATS) -> pages.Decorator:
    """Return an option that takes the name of a format."""
    return click.option(*name, type=pages.Name(list(names)), default=default, show_default=default is not None,
                        help=meaning)


FORMAT_TO_WRITE = format_option(("--format", "-f", "format_name"), None,
                                "Format to write [the machine's, else this job's].")


def format_to_write(name: str | None, where: Question) -> Choice:
    """Return the named format, or the format of the machine or the environment; raise MapfileError if there is neither."""
    return choose(name, _machine(where), os.environ)


def format_of_launcher(where: Question) -> str | None:
    """Return the format of the machine's launcher or of the job around this command, None if neither is known."""
    found = expected(_machine(where), os.environ)
    return found.name if found else None


def _machine(where: Question) -> Machine | None:
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
        known = expected(_machine(where), os.environ)
        found = matching(document, known.names if known else ())  # first those of the machine's launcher or of this job
        name, mapping = read_first(document, job, tasks, found)
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
            *(("needs", pages.spelled(line), False) for line in launch.needs),
            *(("warning", pages.spelled(line), False) for line in launch.warnings)]


def launch_as_dict(launch: Launch, form: Choice) -> dict[str, Any]:
    """Return a launch line and its requirements as JSON values."""
    return {"format": form.name, "caveats": list(form.caveats), "launch": launch.line,
            "launch_alone": launch.alone or launch.line, "job_script": list(launch.job_script),
            "needs": [*map(pages.spelled, launch.needs), *(f"{when}: {line}" for when, line in launch.others)],
            "warnings": list(map(pages.spelled, launch.warnings))}


MOST_TASKS = 100_000  # a machine of more tasks is rarely meant as a whole
OF_TRANSFORM = ("fft", "decomposition", "grid", "schedule", "robust", "exchange", "halo", "weight", "terms", "direction",
                "draw", "by", "threads")
NOT_FOR_AXES = ("traffic", "code", "placement", "routing", "neighbours", "among", "failed", "idle", "effort", "seed",
                "time_limit", "top")
QUESTION = ("grid", "placement", "schedule", "effort", "whole_machine")  # of a prediction, beside the arguments of `ask`
WHOLE = click.option("--whole-machine", is_flag=True, help="Confirm a question about over "
                     f"{MOST_TASKS:,} tasks.")
ON_NETWORK = (
    pages.BANDWIDTH,
    click.option("--failed", metavar="LIST", help="Nodes not to use, e.g. 1-2-3,0-0-4."),
    click.option("--idle", is_flag=True, help="Allow a --grid of fewer tasks than slots."),
    WHOLE,
)


class Decomposed(pages.Name):
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


GRID_USAGE = "|".join(dict.fromkeys(d.usage for d in DECOMPOSITIONS.values()))
WRAP = click.option("--wrap", type=pages.Name(list(WRAPS)), help="torus, mesh or both: all dimensions wrap, or none.\n"
                    "both compares torus and open mesh.")
ROUTING = click.option("--routing", metavar="NAME", shell_complete=pages.completed(lambda: ROUTINGS), help="Routing rule.")
EVERY_ROUTING = click.option("--routing", metavar="NAME", shell_complete=pages.completed(lambda: (*ROUTINGS, "all")),
                             help="Routing rule; all shows every rule.")
ROBUST = click.option("--robust", is_flag=True, help="Take placements whose worst load over all routing rules is least, "
                      "and show that load.")
EFFORT = click.option("--effort", type=pages.Name(list(EFFORTS)), default="normal", show_default=True,
                      help="Search: quick none, normal, or long.")
SEARCH = pages.with_options(
    EFFORT, click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True, metavar="N",
                         help="Random numbers of the search."),
    click.option("--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
                 help="Cut the search short; the answer says so."))
HALO = pages.with_options(
    click.option("--halo", type=click.IntRange(1), metavar="W", help="Also count a halo of W planes around the input."),
    click.option("--weight", type=click.FloatRange(0, min_open=True), metavar="N",
                 help="Number of these halos for each transform [1]."))
CUT = "the time limit cut the search short; without it, the answer may be better"


def exchange(default: str | None) -> pages.Decorator:
    """Return the option --exchange; without a default, all exchanges are meant."""
    given: dict[str, Any] = {} if default is None else {"default": default, "show_default": True}
    return click.option("--exchange", "-e", metavar="NAME", shell_complete=pages.completed(lambda: ALGORITHMS),
                        help="Algorithm of the exchanges" + (" [all]." if default is None else "."), **given)


EXCHANGE, ANY_EXCHANGE = exchange(DEFAULT_ALGORITHM), exchange(None)
AMONG = click.option("--among", metavar="FILE", shell_complete=pages.FILES,
                     help="Free nodes for --nodes K: a list, sinfo, pbsnodes.")
NEIGHBOURS = click.option("--neighbours", type=click.FloatRange(0, 1), default=0.0, metavar="P",
                          help="Traffic of other nodes, as part of yours: 0 to 1 [0].")
SCHEDULE = click.option("--schedule", metavar="NAME", default=SEQUENCE, show_default=True,
                        shell_complete=pages.completed(lambda: (*SCHEDULES, "best")),
                        help="When exchanges travel, or best.")
DIRECTION = click.option("--direction", type=pages.Name(DIRECTIONS), default=FORWARD, show_default=True,
                         help="forward, backward, or pair: one of each at once.")


def grid_option(default: str | None, meaning: str, other: str = "; without a grid, the best",
                **settings: Any) -> pages.Decorator:
    """Return the options --decomposition and --grid; `other` says which decomposition is meant without a grid."""
    if default is not None:  # click treats a default of None as a given value
        settings |= {"default": default, "show_default": True}
    return pages.with_options(
        click.option("--decomposition", type=Decomposed(list(DECOMPOSITIONS)),
                     help=f"How the tasks share the array [as --grid says{other}]."),
        click.option("--grid", "-g", metavar=GRID_USAGE, help=meaning, **settings))


GRID = grid_option("best", "RxC: rows, columns; P: slabs; PxQxS: bricks.")
ONE_GRID = grid_option(None, "RxC: rows, columns; P: slabs; PxQxS: bricks.", other="")
ANY_GRID = grid_option(None, "RxC: rows, columns; P: slabs; PxQxS: bricks [all].")


def placements(multiple: bool = True, default: str | None = "best") -> pages.Decorator:
    """Return the option --placement."""
    return click.option("--placement", "-p", multiple=multiple, metavar="NAME",
                        shell_complete=pages.completed(lambda: PLACEMENTS, files=True), callback=_files_named,
                        default=((default,) if default else ()) if multiple else default,
                        help="Placement or its file" + (", may be repeated" if multiple else "")
                             + (f" [{default}]." if default else "."))


def _files_named(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Callback: a placement that is the path of a file is this file."""
    if isinstance(value, str):
        return f"file:{value}" if value.partition(":")[0] not in PLACEMENTS and Path(value).is_file() else value
    return value if value is None else tuple(_files_named(ctx, param, each) for each in value)


def on_machine(command: Callable[..., Any], tasks: pages.Decorator = pages.TASKS) -> Callable[..., Any]:
    """Add the machine options and --fft to a command; the command gets the resulting Question as `where`."""
    has = {option.name for option in getattr(command, "__click_params__", ())}
    knows_lines = "algorithm" in has
    refused = {"algorithm", "order"} - has  # allowed in a sentence about bricks of lines

    @wraps(command)
    def resolved(**given: Any) -> None:
        asked = {name: given.pop(name) for name in signature(ask).parameters if name in given}
        if not asked.get("decomposition") and (grid := str(given.get("grid") or "best")) != BEST:
            implied = decomposition_of(grid)
            asked["decomposition"] = None if implied == PENCIL else implied.name
        inside.on_one_node(given, asked)
        decomposition = asked.get("decomposition") or ""
        lines = has_lines(decomposition, given)
        if not knows_lines and lines:
            raise GridError("distributed lines are for predict and simulate: --decomposition line, and bricks with "
                            "--algorithm or --order; this command takes pencil, slab, brick")
        if knows_lines:
            given["line"] = lines_of(given, decomposition, asked.get("fft"), named())
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
        if given.get("axes") is not None:
            _refuse_transform("axes", "a machine-learning job", (*OF_TRANSFORM, *NOT_FOR_AXES))
        elif given.get("traffic"):
            _refuse_transform("traffic", "another program", OF_TRANSFORM)
        elif given.get("code"):
            raise click.UsageError("--code predicts the grids of a trace; name the trace with --traffic",
                                   click.get_current_context())
        where = ask(**asked, launcher=given.get("format_name"), environ=os.environ, names=given.get("hosts"),
                        placed=_placement_file(given))
        if not given.pop("whole_machine"):
            refuse_whole(where, asked)
        return command(where=where, **given)

    hidden = (click.option(f"--{name}", hidden=True) for name in refused)
    return pages.with_options(pages.MACHINE, pages.NETWORK, pages.NODES, tasks, *ON_NETWORK, pages.FFT, *hidden)(resolved)


def named() -> list[str]:
    """Return the names of the options that the user gave."""
    context = click.get_current_context()
    return [name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]


def _placement_file(given: dict[str, Any]) -> str | None:
    """Return the first file of a placement that a command names: `check FILE`, `map --from FILE`, `--placement FILE`."""
    named = given.get("placement") or ()
    names = (named,) if isinstance(named, str) else named
    files = (name.removeprefix("file:").partition(",")[0] for name in names if name.startswith("file:"))
    one = (given.get("file") or "").removeprefix("file:")
    return next(iter(filter(None, (one, given.get("from_file"), *files))), None)


def _refuse_question(records: Any) -> None:
    """Refuse options of a question beside run records, which name their own network, grid and placement."""
    context = click.get_current_context()
    asked = [o.opts[0] for o in context.command.params if o.name in named()
             and o.name in (*signature(ask).parameters, *QUESTION)]
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


def _given() -> Iterator[tuple[click.Parameter, list[str]]]:
    """Yield each given option or argument of the running command, as often as it is given, with its words."""
    context, asked = click.get_current_context(), named()
    for option in context.command.params:
        if option.name in asked:
            value = context.params[option.name]
            for each in value if isinstance(value, tuple) else [value]:
                yield option, [option.opts[0], *([] if each is True else [str(each)])]


def given_words() -> list[str]:
    """Return the running command with the given options."""
    return ["pencilmap", click.get_current_context().info_name or "", *(word for _, words in _given() for word in words)]


def given_options(other: str, without: Collection[str] = ()) -> list[str]:
    """Return the given options of the running command that another command has too, as words for a shell.

    Options that only show more of an answer are left out.
    """
    context = click.get_current_context()
    group = context.find_root().command
    target = group.get_command(context.find_root(), other) if isinstance(group, click.Group) else None
    known = {name for option in (target.params if target else ()) for name in option.opts}
    return [word for option, (name, *values) in _given()
            if isinstance(option, click.Option) and name in known and not {*option.opts} & {*without, "--notes", "--wide"}
            for word in (name, *map(shell.word, values))]


def _refuse_transform(option: str, other: str, refused: Iterable[str]) -> None:
    """Refuse the options of a transform beside an option that describes another program.

    Raises
    ------
    click.UsageError
        Naming the first such option.
    """
    ctx, asked = click.get_current_context(), named()
    for name in refused:
        if name in asked:
            word, what = name.replace("_", "-"), "describes a transform" if name in OF_TRANSFORM else "is for other programs"
            raise click.UsageError(f"--{word} {what}, and --{option} {other}; give one of both", ctx)
    if ctx.params.get("time_limit") and option != "traffic":
        raise click.UsageError(f"--time-limit cuts the search for a transform; with --{option}, --effort says how long to "
                               "search", ctx)
