"""The command `pencilmap`: every file of `scripts/command_line/commands` is one command, loaded when it is used."""

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
    """The commands of the folder. Help lists them without loading them: NumPy alone takes longer than the help."""

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
    """The docstring of a command, without loading it."""
    tree = ast.parse((Path(commands.__path__[0]) / f"{name}.py").read_text("utf-8"))
    return next(ast.get_docstring(part) for part in tree.body
                if isinstance(part, ast.FunctionDef) and part.name == "command")


class OneOfEach(Commands):
    """Commands whose options are given once, unless they are lists; click would take the last and forget the others."""

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
        running(True)  # its modules are loaded
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
    """Run the command line. Every error caused by input or the system is a sentence after ``error:`` on standard error and
    exit status 2.

    Click ends it with status 1 when the reader of the output goes away.
    """
    try:
        status = _run(arguments)
        running(False)
    except BaseException as error:  # also while an error is told
        if not asked() and not isinstance(error, (click.exceptions.Abort, KeyboardInterrupt)):
            raise
        with suppress(KeyboardInterrupt):  # one that waited is told once
            running(False)
        number = asked() or signal.SIGINT
        say(said(number), err=True)
        status = 128 + number
    sys.exit(status or 0)


def _run(arguments):
    """The exit status."""
    try:
        return pencilmap.main(arguments, standalone_mode=False)
    except PencilmapError as error:
        if asked() and by_signal(error):  # as an error of a user's code
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
    """Print a message of failure; the exit status."""
    say(shortened(f"error: {message}"), err=True)
    _abandon_output()
    return 2


def _abandon_output():
    """Discard output that cannot be written; otherwise Python tries again at exit and prints its own message."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
