"""The command `pencilmap`: every file of `scripts/command_line/commands` is one command."""

import os
import sys
from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

import click

from pencilmap.model.errors import PencilmapError, reason
from pencilmap.scripts.command_line import commands
from pencilmap.scripts.command_line.plain_options import spelled


class OneOfEach(click.Group):
    """Commands whose options are given once, unless they are lists; click would take the last and forget the others."""

    def resolve_command(self, ctx: click.Context,
                        args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            own = click.Context(command, info_name=name, parent=ctx)
            _, _, given = command.make_parser(own).parse_args(list(rest))
            for parameter, times in Counter(given).items():
                if times > 1 and isinstance(parameter, click.Option) and not (parameter.multiple or parameter.count):
                    raise click.UsageError(f"{max(parameter.opts, key=len)} is given {times} times; give it once", own)
        return name, command, rest


@click.group(cls=OneOfEach, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pencilmap")
def pencilmap() -> None:
    """Place the ranks of a pencil-decomposed 3D FFT on a torus, predict how long its exchanges take, and check the
    prediction."""


for _module in iter_modules(commands.__path__):
    pencilmap.add_command(import_module(f"{commands.__name__}.{_module.name}").command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Every error caused by input or the system is a sentence after ``error:`` on standard error and
    exit status 2.

    Click ends it with status 1 when the reader of the output goes away.
    """
    try:
        status = pencilmap.main(arguments, standalone_mode=False)
    except PencilmapError as error:
        status = _failed(spelled(str(error)))
    except OSError as error:
        status = _failed(": ".join([*([str(error.filename)] if error.filename else []), reason(error)]))
    except click.ClickException as error:
        status = _failed(error.format_message())
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(f"help: {error.ctx.command_path} --help", err=True)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("pencilmap: interrupted", err=True)
        status = 130
    sys.exit(status or 0)


def _failed(message: str) -> int:
    """Print a message of failure; the exit status."""
    click.echo(f"error: {message}", err=True)
    _abandon_output()
    return 2


def _abandon_output():
    """Discard output that cannot be written; otherwise Python tries again at exit and prints its own message."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
