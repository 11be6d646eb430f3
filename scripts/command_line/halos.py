"""Halos beside the exchanges: `--halo` and `--weight`."""

from collections.abc import Sequence

import click

from pencilmap.model.base.units import counted, milliseconds
from pencilmap.model.predict import Prediction
from pencilmap.scripts.command_line.plain_options import with_options
from pencilmap.scripts.command_line.tables import fitted, print_table

HALO = with_options(
    click.option("--halo", type=click.IntRange(1), metavar="W", help="Also count a halo of W planes around the input."),
    click.option("--weight", type=click.FloatRange(0, min_open=True), metavar="N",
                 help="Number of these halos for each transform [1]."))


def halo_table(found: Sequence[Prediction]) -> None:
    """Print a single halo of each prediction, in order, equal lines once; nothing without halos."""
    halos = [(p, p.halo.stage, p.halo.halo.width) for p in found if p.halo]
    rows = dict.fromkeys((str(p.grid), p.placement, str(h.work.messages) if h.work else "-",
                          f"{h.work.task_bytes:.0f}" if h.work else "-", milliseconds(h.t_s), milliseconds(h.time_s),
                          str(h.busiest or "-")) for p, h, _ in halos)
    if halos:
        columns = ["grid", "placement", ">messages", ">off-node\nbytes", ">link time", ">predicted", "busiest link"]
        print_table(f"halo of {counted(halos[0][2], 'plane')}",
                    *fitted(columns, list(map(list, rows)), ["busiest link", ">link time"]), folds=True)
