"""Options and values that need nothing of the library, for commands without predictions."""

import re
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from pencilmap.mapper.base.shell import path as shell
from pencilmap.model.base.errors import near
from pencilmap.model.machines import machine_names

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


class Name(click.Choice[str]):
    """A name of a list; the error for an unknown name suggests the nearest name."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        is_long = isinstance(param, click.Option) and len("|".join(self.choices)) > MOST_NAMES
        return "NAME" if is_long else super().get_metavar(param, ctx)

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
