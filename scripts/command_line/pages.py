"""Commands that are modules of a package, options that need nothing of the library, pages of help, and topics of help."""

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from pencilmap.mapper.base.shell import path as shell
from pencilmap.model.base.errors import near
from pencilmap.model.machines import machine_names
from pencilmap.scripts.command_line.interrupts import running
from pencilmap.scripts.command_line.tables import echo, wrapped

# ---- options and values that need nothing of the library, for commands without predictions ----------------------------

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
RENAMED_OPTIONS = {"--torus": "--network", "--graph": "--network", "--partition": "--nodes, or --network",
                   "--partitions": "--nodes"}
OTHERS_OPTIONS = {"--traffic": "commands that have it: pencilmap map, predict, check",  # often tried elsewhere
                  "--hosts": "give a file or list of the hosts as --nodes"}
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
WIDE = click.option("--wide", is_flag=True, help="Print every column.")
NOTES = click.option("--notes", "all_notes", is_flag=True, help="Print the notes that an answer only counts.")


def completed(names: Callable[[], Iterable[str]], files: bool = False) -> Callable[..., list[CompletionItem]]:
    """Return the shell completion of a value: names, and with `files` also the files that the shell finds."""
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return found or ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


FILES = completed(tuple, files=True)
MACHINE = click.option("--machine", "-m", metavar="NAME|FILE", shell_complete=completed(machine_names, files=True),
                       help="A known machine, or a machine file (.toml).")
NETWORK = click.option("--network", metavar="TEXT|FILE", shell_complete=FILES,
                       help="8x8x8, fat-tree:..., or a file: topology.conf, ...")
NODES = click.option("--nodes", "-N", metavar="K|SHAPE|FILE", shell_complete=FILES,
                     help="A number, a shape, or a file that lists them [all].")


class TaskNumber(click.IntRange):
    """A number of tasks on a node, or, if `several`, one or more with commas between them: a tuple if more."""

    def __init__(self, several: bool = False) -> None:
        super().__init__(1)
        self.several = several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        numbers = str(value).split(",")
        if len(numbers) == 1:
            return super().convert(value, param, ctx)
        if not self.several:
            self.fail(f"{value} names several numbers of tasks on a node; pencilmap plan ranks several, this command "
                      "takes one", param, ctx)
        return tuple(self.convert(number, param, ctx) for number in numbers)


TASKS = click.option("--tasks-per-node", "-t", type=TaskNumber(), metavar="T", help="Tasks on a node [machine's].")
SEVERAL_TASKS = click.option("--tasks-per-node", "-t", type=TaskNumber(several=True), metavar="T,T",
                             help="Tasks on a node [machine's].\n1,2 ranks both.")
BANDWIDTH = click.option("--bandwidth", metavar="RATE", help="Of every link, e.g. '25 GB/s' [machine's].")
FFT = click.option("--fft", "-n", metavar="SIZE", help="The transform: 512, 512x256x128, 512:r2c, ...")


MOST_NAMES = 13  # characters of names in the heading of an option; longer lists are in the first line of its text


class Name(click.Choice):  # type: ignore[type-arg]  # which has no type in click 8.1
    """A name of a list; the error for an unknown name suggests the nearest name."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str | None:
        is_long = isinstance(param, click.Option) and len("|".join(self.choices)) > MOST_NAMES
        return "NAME" if is_long else super().get_metavar(param, *([ctx] if ctx else []))  # click 8.1 gives no context

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        names = [str(choice) for choice in self.choices]
        if value not in names:
            self.fail(f"{str(value)!r} is unknown{near(str(value), names)}; known are {', '.join(names)}", param, ctx)
        return value


class OutputFile(click.Path):
    """A file to write; `-` is an error, because other programs read `-` as standard output, and so is an empty name."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value or str(value).endswith("/"):
            self.fail("a name that is empty or ends in / is no file", param, ctx)
        if value == "-":
            self.fail("- is no file; name one, or write ./- for a file of that name, /dev/stdout for standard output", param,
                      ctx)
        return super().convert(value, param, ctx)


OUTPUT_FILE = OutputFile()


def with_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds the options to a command, in the order given."""
    return lambda command: reduce(lambda c, option: option(c), reversed(options), command)


def extra_arguments(ctx: click.Context, words: list[str]) -> str:
    """Return the error for words that belong to no option, with the nearest option."""
    first = words[0]
    named = {option for parameter in ctx.command.params for option in parameter.opts}
    option = ("--machine" if first in machine_names() or first.endswith(".toml") else
              "--network" if re.fullmatch(r"[0-9]+w?(x[0-9]+w?)+(:mesh)?", first) else None)
    said = f"{first!r} belongs to no option"
    if option in named:
        return f"{said}; write {option} {shell(first)}"
    return f"{said}; leave it out, this command takes options alone"


def spelled(message: str) -> str:
    """Return a message of the library with its arguments written as options.

    >>> spelled("give `tasks_per_node`")
    'give --tasks-per-node'
    """
    return re.sub(r"`([a-z]\w*)`", lambda argument: "--" + argument[1].replace("_", "-"), message)


# Topics of `pencilmap help`: the names that options take, from the tables of the library.
#
# Nothing of the library is loaded before a topic is shown.

TOPIC_OF_OPTION = {  # parameter of a command: the topic that explains its values
    "network": "networks", "machine": "machines", "nodes": "nodes", "fft": "transforms", "decomposition": "decompositions",
    "placement": "placements", "routing": "routings", "exchange": "exchanges", "schedule": "schedules",
    "format_name": "formats", "traffic": "traffic", "bandwidth": "units"}


@dataclass(frozen=True)
class Topic:
    """A topic: its title, the option or table that has the names, and a function that returns (name, meaning) pairs."""

    title: str
    option: str
    names: Callable[[], Iterable[tuple[str, str]]]
    notes: tuple[str, ...] = ()


def _networks() -> Iterator[tuple[str, str]]:
    from pencilmap.mapper.graphs import GRAPHS
    from pencilmap.model.kinds import KINDS

    for kind in KINDS.values():
        if kind.usage:
            yield kind.usage, kind.meaning
    yield "8x8x8:torus", "on a machine: all dimensions wrap; without :torus its rule decides (Google: 4x4x8_untwisted)"
    yield "8x8x8:axes=abc", "letters of the axes other than xyz"
    yield "FILE", "a file of cables; its format is recognised, or named as FILE,FORMAT:"
    yield "FILE,taper=2", "the same with half as many cables up as down (2:1), if the file tells no numbers of cables"
    yield "FILE,taper=2,core-taper=1", "another ratio above the leaves"
    yield "FILE,graph", "the same as a graph, although its cables may form another kind"
    for name, form in GRAPHS.items():
        yield f"FILE,{name}", form.title


def _machines() -> Iterator[tuple[str, str]]:
    from pencilmap.model.machines import machine_names, package_figures

    for name in machine_names():
        yield name, package_figures(name)[0]
    yield "FILE.toml", "a machine file of your own"


def _nodes() -> Iterator[tuple[str, str]]:
    yield "384", ("a number: of a torus machine, the partition with the widest bisection; plan and map rank all shapes; "
                  "of a network of switches, the first nodes, in place of which plan and map choose others; other nodes are "
                  "listed in a file, or as c[010-023]")
    yield "4x6x16", "a shape: the same as --network 4x6x16"
    yield "FILE", "usable nodes in the launcher's order, one a line: x y z, or NAME x y z; for a file of cables, the name"


def _transforms() -> Iterator[tuple[str, str]]:
    from pencilmap.model.placement.transform import LINE_KINDS, TYPES

    yield "512", "a cube of 512^3 complex numbers in double precision"
    yield "512x256x128", "an array of these extents"
    yield "512:single", "single precision"
    yield "512:fields=3", "three arrays together"
    yield "512:TYPE", f"another type: {', '.join(TYPES)}"
    yield "512:X,Y,Z", f"a kind for each axis: {', '.join(LINE_KINDS)}"


def _decompositions() -> Iterator[tuple[str, str]]:
    from pencilmap.model.decompositions import DECOMPOSITIONS

    for d in DECOMPOSITIONS.values():
        yield d.name, f"grid {d.usage}"
    yield "brick:PxQxS", "bricks in and out, remapped to pencils; with --algorithm, lines on the bricks"
    yield "line", "one array of --size N over all tasks (predict, simulate)"


def _traffic() -> Iterator[tuple[str, str]]:
    yield "FILE", "a file of bytes between ranks; its format is recognised, or named as FILE,FORMAT:"
    for name, title in _of("pencilmap.mapper.traffic_files:TRAFFIC_FILES")():
        yield f"FILE,{name}", title


def _of(table: str, *more: tuple[str, str]) -> Callable[[], Iterator[tuple[str, str]]]:
    """Return a function that yields the names of a table ``module:TABLE`` with their meanings, then `more`."""
    def names() -> Iterator[tuple[str, str]]:
        for name, row in resolve_name(table).items():
            yield getattr(row, "usage", name), getattr(row, "meaning", None) or row.title
        yield from more

    return names


def _units() -> Iterator[tuple[str, str]]:
    yield "rates of bytes", "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, bit/s, Mbit/s, Gbit/s"
    yield "bytes", "B, kB, MB, GB, KiB, MiB, GiB"
    yield "times", "s, ms, us, ns"
    yield "rates of operations", "flop/s, Mflop/s, Gflop/s, Tflop/s"


def _headings() -> Iterator[tuple[str, str]]:
    yield "time", ("of the whole transform, or of its exchanges: --notes says which; the range is that of 9 of 10 "
                   "measurements")
    yield "node data", "without times: what the busiest links carry, in the data that a node holds"
    yield "1.25x faster", "than the launch order: it takes 1 / 1.25 of the time"
    yield "could gain", ("how many times faster any placement of this grid could be at most, which is proved; nothing: no "
                         "placement is faster; 'links could gain' if other costs depend on the placement, too")
    yield "least, most", "routers adapt: the time under the best and the worst rule between which they are"
    yield "busiest link", "the link that takes longest: the node that it leaves, and its direction"
    yield "schedule", "when the exchanges travel: pencilmap help schedules"


TOPICS = {
    "networks": Topic("Networks", "--network", _networks),
    "machines": Topic("Machines", "--machine", _machines, ("pencilmap network --machine NAME shows the figures of one.",)),
    "nodes": Topic("Nodes", "--nodes", _nodes),
    "transforms": Topic("Transforms", "--fft", _transforms),
    "decompositions": Topic("Decompositions", "--decomposition", _decompositions),
    "placements": Topic("Placements", "--placement", _of("pencilmap.mapper.placements:PLACEMENTS")),
    "routings": Topic("Routing rules", "--routing", _of("pencilmap.model.kinds:ROUTINGS", (
        "all", "every rule, with the cut bound below them (predict, check)")),
                      ("Defaults: dimension-order on untwisted tori, minimal on dragonflies, else", "shortest-path.")),
    "exchanges": Topic("Algorithms of the exchanges", "--exchange", _of("pencilmap.model.algorithms:ALGORITHMS")),
    "schedules": Topic("Schedules", "--schedule", _of("pencilmap.model.schedules:SCHEDULES", (
        "best", "the fastest of those that keep the boxes, with its chunks"))),
    "formats": Topic("Placement formats", "--format", _of("pencilmap.mapper.formats:FORMATS")),
    "traffic": Topic("Traffic", "--traffic", _traffic, (
        "Numbers may have commas between them and a head above them: from,to,bytes.",)),
    "headings": Topic("Headings", "tables such as that of plan", _headings, ("More: docs/reference/command-line.md.",)),
    "units": Topic("Units", "options such as --bandwidth '25 GB/s'", _units),
}


def page(name: str) -> str:
    """Return the page of a topic, at most 80 columns wide.

    >>> page("units").splitlines()[0]
    "Units, for options such as --bandwidth '25 GB/s'"
    """
    topic = TOPICS[name]
    rows = list(topic.names())
    column = min(max(len(usage) for usage, _ in rows) + 4, 30)
    lines = [f"{topic.title}, for {topic.option}", ""]
    for usage, meaning in rows:
        text = wrapped(meaning, WIDTH - column)
        head = f"  {usage}"
        if len(head) >= column:
            lines.append(head)
            head = ""
        lines += [head.ljust(column) + text[0], *(" " * column + rest for rest in text[1:])] if text else [head]
    return "\n".join([*lines, *(["", *topic.notes] if topic.notes else [])])


# Pages of help: the list of commands, and for each command its use, examples with their output, and options.
#
# The examples of a command are in `examples/NAME.txt`: command lines after ``$ ``, each with its output, in which a line of
# ``...`` stands for lines that are left out. A test runs them.

WIDTH = 80
MOST_LINES = 60
EXAMPLES = Path(__file__).parent / "examples"


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def show_topic(ctx: click.Context, topic: str | None) -> None:
    """Show the values that options take, by topic; or the help of a command."""
    if topic is None:
        echo("pencilmap help TOPIC explains the values of an option:\n")
        echo("\n".join(f"  {name:16}{each.title}, for {each.option}" for name, each in TOPICS.items()))
        return
    if topic in TOPICS:
        echo(page(topic))
        return
    parent = ctx.parent
    assert parent is not None
    group = parent.command
    assert isinstance(group, click.Group)
    found = group.get_command(parent, topic)
    if found is None:
        known = [*TOPICS, *group.list_commands(parent)]
        raise click.UsageError(f"topic {topic!r} is unknown{near(topic, known)}; known are {', '.join(known)}", ctx)
    echo(found.get_help(click.Context(found, info_name=topic, parent=parent)))


class Page(click.Command):
    """A command whose help has examples and its usual options; `--help-all` has all options.

    Parameters
    ----------
    usual : str
        Names of the options that most users need, such as ``"machine nodes fft"``.

    Notes
    -----
    If the page shows the usual options only, it shows the first line of the help of each; `--help-all` shows all lines.
    """

    def __init__(self, *given: Any, usual: str = "", **more: Any) -> None:
        super().__init__(*given, **more)
        self.usual = usual.split()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        every = click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
                             help="Show every option.")
        return [*super().get_params(ctx), every]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write(self, ctx, formatter, all_options=False)


def examples(name: str) -> str:
    """Return the examples of a command; "" if it has none."""
    path = EXAMPLES / f"{name}.txt"
    return path.read_text("utf-8") if path.exists() else ""


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        formatter = click.HelpFormatter(width=WIDTH)
        _write(ctx.command, ctx, formatter, all_options=True)
        echo(formatter.getvalue().rstrip("\n"))
        ctx.exit()


def _write(command: Any, ctx: click.Context, formatter: click.HelpFormatter, all_options: bool) -> None:
    arguments = [piece for p in command.params if isinstance(p, click.Argument) for piece in p.get_usage_pieces(ctx)]
    formatter.write(f"Usage: {' '.join([ctx.command_path, '[OPTIONS]', *arguments])}\n\n")
    _paragraphs(formatter, command.help or "")
    shown = "" if all_options else examples(_name(ctx))
    if shown:
        formatter.write("\n" + "".join(f"{line}\n" for text in shown.splitlines() for line in _example(text)))
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    usual = options if all_options or not command.usual else [
        next(p for p in options if p.name == name or f"--{name}" in p.opts) for name in command.usual]
    formatter.write("\nOptions:\n" + "".join(_option(p, ctx, usual is options) for p in usual))
    rest = len(options) - len(usual)
    more = [f"{rest} more options: {ctx.command_path} --help-all"] if rest else []
    topics = dict.fromkeys(TOPIC_OF_OPTION[p.name] for p in usual if p.name in TOPIC_OF_OPTION)
    more += [f"Values: pencilmap help {', '.join(topics)}"] if topics else []
    if more:
        formatter.write("\n" + "\n".join(part for line in more for part in _wrapped(line, WIDTH)) + "\n")


def _name(ctx: click.Context) -> str:
    return ctx.command_path.removeprefix("pencilmap ").replace(" ", "-")


def _paragraphs(formatter: click.HelpFormatter, text: str) -> None:
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    formatter.write("\n\n".join("\n".join(_wrapped(part, WIDTH)) for part in parts) + "\n")


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return wrapped(f"{indent}{text}", width, indent)


def _example(line: str) -> list[str]:
    """Return a line of output, or a command in lines that can be pasted."""
    if not line.startswith("$ "):
        return [line]
    first, *rest = wrapped(line, WIDTH - 2, "    ")
    return [f"{part} \\" for part in [first, *rest][:-1]] + [rest[-1] if rest else first]


def _option(option: click.Option, ctx: click.Context, is_whole: bool) -> str:
    """Return the lines of an option: its names, then its meaning, on the same line if there is room.

    Without `is_whole`, the meaning is the first line of the help.
    """
    record = option.get_help_record(ctx)
    head, column = f"  {record[0] if record else ''}", 28
    default = option.get_default(ctx, call=False) if option.show_default else None
    first, *others = (option.help or "").split("\n")
    meaning = " ".join([first + ("" if default is None else f" [{default}]"), *(others if is_whole else [])])
    lines = _wrapped(meaning, WIDTH, " " * column)
    if len(head) < column - 1 and lines:
        return "\n".join([head.ljust(column) + lines[0][column:], *lines[1:]]) + "\n"
    return "\n".join([head, *lines]) + "\n"


BLAS_THREADS = "OPENBLAS_NUM_THREADS"


class Folder(click.Group):
    """A table of commands, loaded when used: NumPy alone takes longer than the help.

    Parameters
    ----------
    package : module
        Holds a module with a function `command` for each command.
    groups : mapping of str to tuple of str
        Names of the commands under each heading.
    renamed : mapping of str to str, optional
        Old names of commands, and the commands that answer the same questions.
    ending : str, optional
        Lines below the list.
    loaded : mapping of str to click.Command, optional
        Commands that are no module. If click knew them, the pages of Sphinx would have no others.
    """

    def __init__(self, *given: Any, package: ModuleType, groups: Mapping[str, tuple[str, ...]],
                 renamed: Mapping[str, str] = {}, ending: str = "", loaded: Mapping[str, click.Command] = {},
                 **more: Any) -> None:
        super().__init__(*given, **more)
        self.package, self.groups, self.renamed, self.ending, self.loaded = package, groups, renamed, ending, loaded

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in self.groups.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.loaded or cmd_name not in self.list_commands(ctx):
            return self.loaded.get(cmd_name)
        with _one_blas_thread():
            return import_module(f"{self.package.__name__}.{cmd_name}").command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"Usage: {ctx.command_path} COMMAND [OPTIONS]\n\n")
        _paragraphs(formatter, self.help or "")
        width = max(map(len, self.list_commands(ctx))) + 2
        for heading, names in self.groups.items():
            formatter.write(f"\n{heading}:\n")
            formatter.write("".join(f"  {name:{width}}{self.summary(name)}\n" for name in names))
        if self.ending:
            formatter.write(f"\n{self.ending}\n")

    def summary(self, name: str) -> str:
        """Return the first line of the docstring of a command, without loading the command."""
        if name in self.loaded:
            return str(self.loaded[name].help).split("\n", 1)[0]
        tree = ast.parse((Path(self.package.__path__[0]) / f"{name}.py").read_text("utf-8"))
        found = (ast.get_docstring(part) for part in tree.body
                 if isinstance(part, ast.FunctionDef) and part.name == "command")
        return str(next(found)).split("\n", 1)[0]

    def resolve_command(self, ctx: click.Context,
                        args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, and refuse options that are given twice: click would silently use the last value."""
        if args and not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            known = self.list_commands(ctx)
            raise click.UsageError(f"command {args[0]!r} is now {self.renamed[args[0]]}" if args[0] in self.renamed else
                                   f"command {args[0]!r} is unknown{near(args[0], known)}; known are {', '.join(known)}",
                                   ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            _check(click.Context(command, info_name=name, parent=ctx), rest)
        running(True)  # the modules of the command are loaded
        return name, command, rest


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Load NumPy with one thread: the matrices are small, and waiting threads of OpenBLAS take CPU time."""
    free = BLAS_THREADS not in os.environ
    if free:
        os.environ[BLAS_THREADS] = "1"
    try:
        yield
    finally:
        if free:
            del os.environ[BLAS_THREADS]  # programs that a command starts keep theirs


def _check(own: click.Context, rest: list[str]) -> None:
    """Refuse repeated options, and words that belong to no option."""
    try:
        _, words, given = own.command.make_parser(own).parse_args(list(rest))
    except click.NoSuchOption as error:
        if error.option_name in RENAMED_OPTIONS:
            raise click.UsageError(f"option {error.option_name} is now {RENAMED_OPTIONS[error.option_name]}", own) from None
        if error.option_name in OTHERS_OPTIONS:
            raise click.UsageError(f"{own.info_name} has no option {error.option_name}; {OTHERS_OPTIONS[error.option_name]}",
                                   own) from None
        raise
    asks_help = any({"--help", "--help-all"} & set(parameter.opts) for parameter in given)
    if words and not asks_help and not any(isinstance(one, click.Argument) for one in own.command.params):
        raise click.UsageError(extra_arguments(own, words), own)
    for parameter, times in Counter(given).items():
        if times > 1 and isinstance(parameter, click.Option) and not (parameter.multiple or parameter.count):
            raise click.UsageError(f"{max(parameter.opts, key=len)} is given {times} times; give it once", own)
