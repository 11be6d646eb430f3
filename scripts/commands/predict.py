"""`pencilmap predict`: effective lengths, loads, times and certificate of placements."""

import click

from pencilmap.scripts.options import GRID, JSON, ROUTING, on_machine, placements, predictions, with_options
from pencilmap.scripts.tables import prediction_table, print_json


@click.command("predict")
@on_machine
@with_options(GRID, placements(), ROUTING, JSON)
def command(where, grid, placement, routing, as_json):
    """Predict the two exchanges of a process grid under one or more placements."""
    found = predictions(grid, placement, where, routing)
    if as_json:
        single = len(placement) == 1 and grid != "best"
        print_json(found[0].as_dict() if single else [p.as_dict() for p in found])
    else:
        size = f", transform {where.transform}" if where.transform else ""
        prediction_table(found, where.torus, f"{where.where}{size}")
