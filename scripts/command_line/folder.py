"""Groups of commands that are modules of a package; the help lists them without loading them."""

import ast
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from pencilmap.model.base.errors import near
from pencilmap.scripts.command_line.interrupts import running
from pencilmap.scripts.command_line.pages import write_list
from pencilmap.scripts.command_line.plain_options import OTHERS_OPTIONS, RENAMED_OPTIONS, extra_arguments

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
HIDDEN = "help"  # a command that the list leaves out, because its last lines name it


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
    """

    def __init__(self, *given: Any, package: ModuleType, groups: Mapping[str, tuple[str, ...]],
                 renamed: Mapping[str, str] = {}, ending: str = "", **more: Any) -> None:
        super().__init__(*given, **more)
        self.package, self.groups, self.renamed, self.ending = package, groups, renamed, ending

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in self.groups.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx) and (cmd_name != HIDDEN or self.package.__name__.endswith("studies")):
            return None
        with _one_blas_thread():
            return import_module(f"{self.package.__name__}.{cmd_name}").command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = {heading: {name: self.summary(name) for name in names} for heading, names in self.groups.items()}
        write_list(ctx, formatter, groups, self.ending)

    def summary(self, name: str) -> str:
        """Return the first line of the docstring of a command, without loading the command."""
        tree = ast.parse((Path(self.package.__path__[0]) / f"{name}.py").read_text("utf-8"))
        found = (ast.get_docstring(part) for part in tree.body
                 if isinstance(part, ast.FunctionDef) and part.name == "command")
        return str(next(found)).split("\n", 1)[0]

    def resolve_command(self, ctx: click.Context,
                        args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, and refuse options that are given twice: click would silently use the last value."""
        if args and not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(self._unknown(ctx, args[0]), ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            _check(click.Context(command, info_name=name, parent=ctx), rest)
        running(True)  # the modules of the command are loaded
        return name, command, rest

    def _unknown(self, ctx, name):
        if name in self.renamed:
            return f"command {name!r} is now {self.renamed[name]}"
        known = self.list_commands(ctx)
        return f"command {name!r} is unknown{near(name, known)}; known are {', '.join(known)}"


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


def _check(own, rest):
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
