"""Halos beside the exchanges: `--halo` of predict."""

from collections.abc import Sequence

import click

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import Setting
from pencilmap.model.base.errors import GridError
from pencilmap.model.base.units import milliseconds
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict_messages
from pencilmap.model.predict.results import ExchangePrediction, Prediction
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.halo import halo
from pencilmap.scripts.command_line.tables import print_table

HALO = click.option("--halo", type=click.IntRange(1), metavar="W", help="Also predict a halo of W planes around the input.")


def halo_messages(where: Setting, grid: ProcessGrid, width: int) -> Exchange:
    """Return the messages of the halo.

    Raises
    ------
    GridError
        If there is no transform, or the halo is wider than the array.
    """
    return halo(grid, _transform(where), "input", (width,) * 3)


def predicted_halos(where: Setting, found: Sequence[Prediction], width: int, schedule: str) -> list[ExchangePrediction]:
    """Predict the halo of each prediction, see `halo_messages`."""
    told = []
    for p in found:
        messages = halo_messages(where, p.grid, width)
        mapping = as_mapping(p.product or where.place(p.placement, p.grid, schedule), p.placement)
        told.append(predict_messages(mapping, messages, _transform(where), p.routing, where.costs))
    return told


def _transform(where):
    if where.transform is None:
        raise GridError("a halo is around an array: give its extents with `fft`, e.g. 64")
    return where.transform


def halo_table(found: Sequence[Prediction], halos: Sequence[ExchangePrediction], width: int) -> None:
    """Print a line for each prediction, in order."""
    print_table(f"halo of {width} plane{'s' if width > 1 else ''}",
                ["grid", "placement", ">messages", ">off-node bytes", ">link time", ">predicted", "slowest link"],
                [[p.grid, p.placement, h.work.messages if h.work else "-", f"{h.work.task_bytes:.0f}" if h.work else "-",
                  milliseconds(h.t_s), milliseconds(h.time_s), h.busiest or "-"] for p, h in zip(found, halos)])
