"""`pencilmap study`: longer studies, each a command of its own."""

import click

from pencilmap.scripts.command_line import studies
from pencilmap.scripts.command_line.pages import Folder
from pencilmap.scripts.command_line.tables import echo

GROUPS = {"Studies": ("calibrate", "judge", "scaling", "shapes", "transposes", "reproduce", "demo")}


@click.group("study", cls=Folder, package=studies, groups=GROUPS, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Compare numbers of nodes, calibrate, judge times, reproduce papers."""
    if ctx.invoked_subcommand is None:
        echo(ctx.get_help())
