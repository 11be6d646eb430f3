"""`pencilmap predict`: effective lengths, loads, times and certificate of placements."""

import click

from pencilmap.mapper.setting import BEST, Setting
from pencilmap.model.errors import MachineError
from pencilmap.model.predict import SEQUENCE
from pencilmap.scripts.command_line.options import (
    DIRECTION,
    EXCHANGE,
    GRID,
    JSON,
    ROUTING,
    SCHEDULE,
    on_machine,
    placements,
    with_options,
)
from pencilmap.scripts.command_line.progress import hearing
from pencilmap.scripts.command_line.tables import prediction_table, print_json, terms_table, winner


@click.command("predict")
@on_machine
@with_options(GRID, placements(), ROUTING, EXCHANGE, SCHEDULE, DIRECTION)
@click.option("--terms", is_flag=True, help="Also print every term of the time model; --json always has them.")
@JSON
def command(where: Setting, grid: str, placement: tuple[str, ...], routing: str | None, exchange: str, schedule: str,
            direction: str, terms: bool, as_json: bool) -> None:
    """Predict the exchanges of a process grid under one or more placements."""
    if terms and (where.transform is None or where.network.bandwidth is None):
        raise MachineError("there are no terms without times: give --fft, and --machine or --bandwidth")
    with hearing():
        found = where.predictions(grid, placement, routing, exchange, schedule, direction)
        alone = where.predictions(grid, placement, routing, exchange, direction=direction) if (
            grid == BEST and schedule != SEQUENCE) else []
    if as_json:
        print_json([p.as_dict() for p in found])
    else:
        size = f", transform {where.transform}" if where.transform else ""
        prediction_table(found, f"{where.where}{size}")
        if alone:
            click.echo(winner(found[0], alone[0]))
        if terms:
            terms_table([p for p in found if p.stages[0].terms])
