"""The picture of the benchmark: each contestant's time over the reference's, each pass's time over the limit."""

from itertools import cycle
from os import PathLike
from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks.passes import Pass
from pencilmap.scripts.pictures.figures.canvas import BLACK, CYCLE, GREY, figure, save

MARKS = "osD^vPX"
ROW = 0.24  # inches
ABOVE_TICKS = 2.5  # of a legend, in heights of its letters


def draw_benchmark(panels: list[dict[str, Any]], limits: list[tuple[str, list[Pass]]], reference: str,
                   path: str | PathLike[str]) -> None:
    """Draw panels side by side over the same cases: one for each set of contestants, and one for the passes.

    A panel holds for each of its contestants (case number, lowest, median, highest) of its time over that of `reference`,
    `limits` the name of each case with its passes.
    """
    with figure(ROW * len(limits) + 1.8) as drawn:
        axes = drawn.subplots(1, len(panels) + 1, sharey=True, width_ratios=[3] * len(panels) + [2])
        for place, ratios in zip(axes, panels):
            _draw_ratios(place, ratios, reference)
        _draw_passes(axes[-1], limits)
        axes[0].set_yticks(range(len(limits)), [name for name, _ in limits])
        axes[0].set_ylim(len(limits) - 0.5, -0.5)
        for place in axes:
            place.grid(axis="y", color=GREY, linewidth=0.2)
            place.axvline(1, color=BLACK, linewidth=0.8)
            place.tick_params(axis="x", top=True, labeltop=True)  # the picture is taller than a page
        save(drawn, path)


def _draw_ratios(axes, ratios, reference):
    """Draw ratios with the names of the contestants above the axes."""
    for (name, points), colour, mark in zip(ratios.items(), cycle(CYCLE), cycle(MARKS)):
        places, low, middle, high = zip(*points)
        axes.errorbar(middle, places, xerr=(np.subtract(middle, low), np.subtract(high, middle)),
                      fmt=mark, color=colour, markersize=4, linewidth=0.8, label=name)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(label := f"time over that of {reference}")
    axes.legend(title=label, alignment="left", loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=ABOVE_TICKS)


def _draw_passes(axes, limits):
    for place, (_, passes) in enumerate(limits):
        for part in passes:
            axes.plot(part.seconds / part.limit_s, place, "|" if part.is_exchange else "o", color=CYCLE[part.is_exchange],
                      markersize=4)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(label := "pass (o) or\nexchange (|) over\na STREAM copy")
    axes.legend([], title=label, alignment="left", loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=ABOVE_TICKS)
