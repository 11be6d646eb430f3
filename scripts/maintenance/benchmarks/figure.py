"""The picture of the benchmark: the time of each contestant divided by that of the reference, and of each pass divided by
the memory's."""

from os import PathLike
from typing import Any

import numpy as np

from pencilmap.scripts.pictures.figures.canvas import BLACK, CYCLE, GREY, figure, save

MARKS = "osD^vPX"
ROW = 0.24  # inches


def draw_benchmark(ratios: dict[str, Any], limits: list[tuple[str, dict[tuple[str, ...], float]]], reference: str,
                   path: str | PathLike[str]) -> None:
    """Draw two panels side by side over the same cases.

    `ratios` holds for each contestant (case number, lowest, median, highest) of its time over that of `reference`, `limits`
    the name of each case with the ratios of its passes to the memory's time.
    """
    with figure(ROW * len(limits) + 1.3) as drawn:
        left, right = drawn.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        for (name, points), colour, mark in zip(ratios.items(), CYCLE, MARKS):
            places, low, middle, high = zip(*points)
            left.errorbar(middle, places, xerr=(np.subtract(middle, low), np.subtract(high, middle)),
                          fmt=mark, color=colour, markersize=4, linewidth=0.8, label=name)
        left.axvline(1, color=BLACK, linewidth=0.8)
        left.set_xscale("log", base=2)
        left.xaxis.set_major_formatter("{x:g}")
        left.set_xlabel(f"time over that of {reference}; left of the line is faster")
        for place, (_, passes) in enumerate(limits):
            for number, over in enumerate(passes.values()):
                right.plot(over, place, "|" if number % 2 else "o", color=CYCLE[number % 2], markersize=4)
        right.axvline(1, color=BLACK, linewidth=0.8)
        right.set_xlim(left=0)
        right.set_xlabel("passes (o) and exchanges (|): time over\nthat of a STREAM copy of the same bytes")
        left.set_yticks(range(len(limits)), [name for name, _ in limits])
        left.set_ylim(len(limits) - 0.5, -0.5)
        for axes in (left, right):
            axes.grid(axis="y", color=GREY, linewidth=0.2)
        drawn.legend(loc="outside lower left", ncols=4)
        save(drawn, path)
