"""`pencilmap map`: write a placement for the launcher."""

import click

from pencilmap.mapper.formats import FORMATS, format_named, write_mapping
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.predict import predict
from pencilmap.scripts.options import FFT, GRID, JSON, MACHINE, one_grid, placements, setting, with_options
from pencilmap.scripts.tables import prediction_table, print_json


@click.command("map")
@with_options(*MACHINE, GRID, placements(multiple=False), FFT)
@click.option("--format", "-f", "format_name", type=click.Choice(list(FORMATS)), default="bgl", show_default=True,
              help="; ".join(f"{name}: {form.title}" for name, form in FORMATS.items()))
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="The file to write.")
@JSON
def command(machine, torus, tasks_per_node, bandwidth, grid, placement, fft, format_name, output, as_json):
    """Write the best placement, or the one named, and print its prediction beside the default's."""
    where = setting(machine, torus, tasks_per_node, bandwidth, fft)
    grid = one_grid(grid, where)
    chosen, default = (place(text, where.torus, grid, where.tasks_per_node) for text in (placement, "default"))
    write_mapping(as_mapping(chosen, placement), output, format_name)
    both = [predict(chosen, where.transform, name=placement), predict(default, where.transform)]
    launch = format_named(format_name).launch(output)
    if as_json:
        print_json({"file": output, "format": format_name, "launch": launch, "placement": both[0].as_dict(),
                    "default": both[1].as_dict()})
        return
    prediction_table(both, where.torus, where.where)
    click.echo(f"wrote {output} ({grid.n_tasks} ranks, format {format_name}); launch with: {launch}")
