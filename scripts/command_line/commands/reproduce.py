"""`pencilmap reproduce`: every table and figure of the five sources, beside what is computed or measured in its place."""

import click

from pencilmap.model.errors import RecordError
from pencilmap.scripts.command_line.plain_options import JSON, completed, with_options
from pencilmap.scripts.command_line.tables import broken, fitted, print_json, print_table, say
from pencilmap.scripts.reproduce import SOURCES, figure_named, title_of

NAMES = [f"{source}:{name}" for source, figures in SOURCES.items() for name in figures]


@click.command("reproduce")
@click.argument("figure", required=False, metavar="[SOURCE:FIGURE]", shell_complete=completed(lambda: NAMES))
@with_options(JSON)
def command(figure: str | None, as_json: bool) -> None:
    """Compute a published table or figure again, e.g. jagode:table1; without an argument list them all."""
    if figure is None:
        _list(as_json)
        return
    asked = figure_named(figure)
    if asked.compute is None:
        raise RecordError(f"{figure} ({asked.title}) cannot be computed: {asked.published}; in its place: {asked.here}")
    if asked.measures:
        say("note: this runs programs under mpirun here; other work on the machine changes the times", err=True)
    found = asked.compute()
    if as_json:
        print_json({"figure": figure, "title": asked.title, "published": asked.published,
                    "here": asked.here} | found.as_dict())
        return
    source = figure.partition(":")[0]
    say(f"{title_of(source)}, {figure.partition(':')[2]}: {asked.title}", bold=True)
    say(f"published: {asked.published}; here: {asked.here}")
    columns = [_folded(name) for name in found.columns]
    print_table(None, *fitted(columns, [[_cell(value) for value in row] for row in found.rows], []), found.notes)


def _list(as_json):
    lines = [(f"{source}:{name}", figure) for source, figures in SOURCES.items() for name, figure in figures.items()]
    if as_json:
        print_json(*[{"figure": name, "title": f.title, "published": f.published, "here": f.here,
                      "computed": f.compute is not None} for name, f in lines])
        return
    for source, figures in SOURCES.items():
        print_table(title_of(source), ["figure", "what", "computed"],
                    [[f"{source}:{name}", f.title, _how(f)]
                     for name, f in figures.items()])
    say("pencilmap reproduce SOURCE:FIGURE computes one; docs/reproduced.md says what was published of each, and what "
        "differs")


def _how(figure):
    if figure.compute is None:
        return "-"
    return "measured here" if figure.measures else "simulated here" if figure.simulates else "yes"


def _folded(name):
    """A heading on two lines where it has several words."""
    mark, text = (">", name[1:]) if name.startswith(">") else ("", name)
    first, _, rest = text.partition(" ")
    return mark + (f"{first}\n{rest}" if rest else text)


def _cell(value):
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else broken(str(value))
