"""Options and values that need nothing of the library, for commands without predictions."""

import re
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from pencilmap.model.base.errors import near

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
WIDE = click.option("--wide", is_flag=True, help="Print every column.")


def completed(names: Callable[[], Iterable[str]], files: bool = False) -> Callable[..., list[CompletionItem]]:
    """Return the shell completion of a value: names, and with `files` also the files that the shell finds."""
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return found or ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


FILES = completed(tuple, files=True)


MOST_NAMES = 40  # characters of names in the heading of an option; longer lists go into the text of the option


class Name(click.Choice[str]):
    """A name of a list; the error for an unknown name suggests the nearest name."""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return super().get_metavar(param, ctx) if len("|".join(self.choices)) <= MOST_NAMES else "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        names = [str(choice) for choice in self.choices]
        if value not in names:
            self.fail(f"{str(value)!r} is unknown{near(str(value), names)}; known are {', '.join(names)}", param, ctx)
        return value


class OutputFile(click.Path):
    """A file to write; `-` is an error, because other programs read `-` as standard output."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("- is no file; name one, or write ./- for a file of that name, /dev/stdout for standard output", param,
                      ctx)
        return super().convert(value, param, ctx)


OUTPUT_FILE = OutputFile()


def with_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds the options to a command, in the order given."""
    return lambda command: reduce(lambda c, option: option(c), reversed(options), command)


def extra_arguments(ctx: click.Context, words: list[str], machines: Callable[[], Iterable[str]]) -> str:
    """Return the error for words that belong to no option, with the nearest option."""
    first = words[0]
    named = {option for parameter in ctx.command.params for option in parameter.opts}
    option = ("--machine" if first in machines() or first.endswith(".toml") else
              "--torus" if re.fullmatch(r"[0-9]+w?(x[0-9]+w?)+(:mesh)?", first) else None)
    said = f"{first!r} belongs to no option"
    return f"{said}; write {option} {first}" if option in named else f"{said}; this command takes options alone"


def spelled(message: str) -> str:
    """Return a message of the library with its arguments written as options.

    >>> spelled("give `tasks_per_node`")
    'give --tasks-per-node'
    """
    return re.sub(r"`([a-z]\w*)`", lambda argument: "--" + argument[1].replace("_", "-"), message)
