"""`pencilmap help`: the values that options take, by topic."""

import click

from pencilmap.model.base.errors import near
from pencilmap.scripts.command_line.pages import TOPICS, page
from pencilmap.scripts.command_line.tables import echo


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def command(ctx: click.Context, topic: str | None) -> None:
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
