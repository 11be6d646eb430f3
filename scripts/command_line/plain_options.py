"""Options and values that need nothing of the library: what a command without predictions loads."""

import re
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from pencilmap.model.errors import near

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
WIDE = click.option("--wide", is_flag=True, help="Print every column.")


def completed(names: Callable[[], Iterable[str]], files: bool = False) -> Callable[..., list[CompletionItem]]:
    """The completion of a value by the shell: names, and with `files` the files that the shell itself finds."""
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return found or ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


FILES = completed(tuple, files=True)


class Name(click.Choice[str]):
    """One of a list of names; the error about another one says which was probably meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        names = [str(choice) for choice in self.choices]
        if value not in names:
            self.fail(f"{str(value)!r} is unknown{near(str(value), names)}; known are {', '.join(names)}", param, ctx)
        return value


class OutputFile(click.Path):
    """A file to write; `-`, which other programs take for standard output, is refused rather than written as a file."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("- is no file; name one, or write ./- for a file of that name, /dev/stdout for standard output", param,
                      ctx)
        return super().convert(value, param, ctx)


OUTPUT_FILE = OutputFile()


def with_options(*options: Decorator) -> Decorator:
    """Put a list of options on a command, in the order given."""
    return lambda command: reduce(lambda c, option: option(c), reversed(options), command)


def spelled(message: str) -> str:
    """A message of the library, with its arguments written as options.

    >>> spelled("give `tasks_per_node`")
    'give --tasks-per-node'
    """
    return re.sub(r"`([a-z]\w*)`", lambda argument: "--" + argument[1].replace("_", "-"), message)
