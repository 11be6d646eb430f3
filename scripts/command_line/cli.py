"""The command `pencilmap`: every file of `scripts/command_line/commands` is a command, loaded on use."""

import ast
import os
import signal
import sys
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import click

from pencilmap.mapper.base.interrupted import by_signal
from pencilmap.model.base.errors import PencilmapError, near, reason, shortened
from pencilmap.model.machines.files import machine_names
from pencilmap.scripts.command_line import commands
from pencilmap.scripts.command_line.interrupts import asked, running, said
from pencilmap.scripts.command_line.plain_options import extra_arguments, spelled
from pencilmap.scripts.command_line.tables import say


class Commands(click.Group):
    """The commands of the folder, listed in the help without loading them: NumPy alone takes longer than the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(module.name for module in iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return import_module(f"{commands.__name__}.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        with formatter.section("Commands"):
            formatter.write_dl([(name, click.Command(name, help=_help_of(name)).get_short_help_str(limit))
                                for name in self.list_commands(ctx)])


def _help_of(name):
    """Return the docstring of a command, without loading the command."""
    tree = ast.parse((Path(commands.__path__[0]) / f"{name}.py").read_text("utf-8"))
    return next(ast.get_docstring(part) for part in tree.body
                if isinstance(part, ast.FunctionDef) and part.name == "command")


class OneOfEach(Commands):
    """Commands whose options are given once, unless they are lists; click would silently use the last value."""

    def resolve_command(self, ctx: click.Context,
                        args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            known = self.list_commands(ctx)
            raise click.UsageError(f"command {args[0]!r} is unknown{near(args[0], known)}; known are {', '.join(known)}",
                                   ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            own = click.Context(command, info_name=name, parent=ctx)
            _, words, given = command.make_parser(own).parse_args(list(rest))
            asks_help = any("--help" in parameter.opts for parameter in given)
            if words and not asks_help and not any(isinstance(one, click.Argument) for one in command.params):
                raise click.UsageError(extra_arguments(own, words, machine_names), own)
            for parameter, times in Counter(given).items():
                if times > 1 and isinstance(parameter, click.Option) and not (parameter.multiple or parameter.count):
                    raise click.UsageError(f"{max(parameter.opts, key=len)} is given {times} times; give it once", own)
        running(True)  # the modules of the command are loaded
        return name, command, rest


@click.group(cls=OneOfEach, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True,
             subcommand_metavar="COMMAND [ARGS]...")
@click.version_option(package_name="pencilmap")
@click.pass_context
def pencilmap(ctx: click.Context) -> None:
    """Place the ranks of a pencil-decomposed 3D FFT on a torus, predict how long its exchanges take, and check the
    prediction."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Every error of input or system becomes a sentence after ``error:`` on standard error, with exit
    status 2.

    If the reader of the output goes away, click ends the command with status 1.
    """
    try:
        status = _run(arguments)
        running(False)
    except BaseException as error:  # also while an error is printed
        if not asked() and not isinstance(error, (click.exceptions.Abort, KeyboardInterrupt)):
            raise
        with suppress(KeyboardInterrupt):  # a waiting interruption is printed once
            running(False)
        number = asked() or signal.SIGINT
        say(said(number), err=True)
        status = 128 + number
    sys.exit(status or 0)


def _run(arguments):
    """Run the command line and return the exit status."""
    try:
        return pencilmap.main(arguments, standalone_mode=False)
    except PencilmapError as error:
        if asked() and by_signal(error):  # reported like an error in user code
            raise
        return _failed(spelled(str(error)))
    except OSError as error:
        return _failed(": ".join([*([str(error.filename)] if error.filename else []), reason(error)]))
    except click.ClickException as error:
        status = _failed(" ".join(error.format_message().split()))  # click lists choices in lines that begin with tabs
        if isinstance(error, click.UsageError) and error.ctx is not None:
            say(f"help: {error.ctx.command_path} --help", err=True)
        return status


def _failed(message: str) -> int:
    """Print a message of failure and return the exit status."""
    say(shortened(f"error: {message}"), err=True)
    _abandon_output()
    return 2


def _abandon_output():
    """Discard output that cannot be written; otherwise Python writes it again at exit and prints a second message."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
