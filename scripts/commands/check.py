"""`pencilmap check`: is a placement file right, and what would it do?"""

import click

from pencilmap.mapper.formats import FORMATS, read_mapping
from pencilmap.scripts.options import JSON, ROUTING, on_machine, one_grid, with_options
from pencilmap.scripts.tables import prediction_table, print_json


@click.command("check")
@click.argument("file", type=click.Path())
@on_machine
@click.option("--grid", "-g", metavar="RxC", required=True, help="R tasks in a row, C in a column.")
@click.option("--format", "-f", "format_name", type=click.Choice(list(FORMATS)), help="Format of the file [guessed].")
@with_options(ROUTING, JSON)
def command(file, where, grid, format_name, routing, as_json):
    """Validate a placement file against machine and grid and print its loads."""
    grid = one_grid(grid, where)
    mapping = read_mapping(file, where.torus, grid, where.tasks_per_node, format_name)
    where.site.check_mapping(mapping)
    prediction = where.predict(mapping, routing)
    if as_json:
        print_json({"file": file, "valid": True} | prediction.as_dict())
        return
    prediction_table([prediction], where.torus, where.where)
    shape = f"the product {prediction.product}" if prediction.product else "no product of digit patterns"
    click.echo(f"{file}: valid, {grid.n_tasks} ranks, {shape}")
