"""The command `pencilmap`: every file of `scripts/command_line/commands` is one command."""

import os
import sys
from importlib import import_module
from pkgutil import iter_modules

import click

from pencilmap.model.errors import PencilmapError
from pencilmap.scripts.command_line import commands
from pencilmap.scripts.command_line.options import spelled


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pencilmap")
def pencilmap() -> None:
    """Place the ranks of a pencil-decomposed 3D FFT on a torus, predict how long its exchanges take, and check the
    prediction."""


for _module in iter_modules(commands.__path__):
    pencilmap.add_command(import_module(f"{commands.__name__}.{_module.name}").command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Every error caused by input or the system is one sentence on standard error and exit status 2.

    Click ends it with status 1 when the reader of the output goes away.
    """
    try:
        status = pencilmap.main(arguments, standalone_mode=False)
    except (PencilmapError, OSError) as error:
        click.echo(f"pencilmap: {type(error).__name__}: {spelled(str(error))}", err=True)
        _abandon_output()
        status = 2
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("pencilmap: interrupted", err=True)
        status = 130
    sys.exit(status or 0)


def _abandon_output():
    """Discard output that cannot be written; otherwise Python tries again at exit and prints its own message."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
