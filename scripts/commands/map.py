"""`pencilmap map`: write a placement for the launcher."""

import click

from pencilmap.mapper.formats import FORMATS, format_named, write_mapping
from pencilmap.mapper.placements import as_mapping
from pencilmap.scripts.options import GRID, JSON, on_machine, one_grid, placements, with_options
from pencilmap.scripts.tables import prediction_table, print_json


@click.command("map")
@on_machine
@with_options(GRID, placements(multiple=False))
@click.option("--format", "-f", "format_name", type=click.Choice(list(FORMATS)), default="bgl", show_default=True,
              help="; ".join(f"{name}: {form.title}" for name, form in FORMATS.items()))
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="The file to write.")
@JSON
def command(where, grid, placement, format_name, output, as_json):
    """Write the best placement, or the one named, and print its prediction beside the default's."""
    grid = one_grid(grid, where)
    chosen, default = (where.place(text, grid) for text in (placement, "default"))
    write_mapping(as_mapping(chosen, placement), output, format_name)
    both = [where.predict(chosen, name=placement), where.predict(default)]
    launch = format_named(format_name).launch(output)
    if as_json:
        print_json({"file": output, "format": format_name, "launch": launch, "placement": both[0].as_dict(),
                    "default": both[1].as_dict()})
        return
    prediction_table(both, where.torus, where.where)
    click.echo(f"wrote {output} ({grid.n_tasks} ranks, format {format_name}); launch with: {launch}")
