"""The picture of the benchmark: each contestant's time over ours, a panel for each grid."""

from itertools import cycle
from math import prod
from os import PathLike

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import OURS, Case
from pencilmap.scripts.maintenance.benchmarks.tables import Launches, name_of, ratio
from pencilmap.scripts.pictures.figures.canvas import BLACK, CYCLE, GREY, figure, save

MARKS = "osD^vPX<>*"
ROW = 0.24  # inches


def draw_benchmark(results: dict[Case, Launches], contestants: list[str], path: str | PathLike[str]) -> None:
    """Draw the time of each contestant over ours, with its 95 % interval: transforms in rows, grids in panels."""
    grids = sorted({case.grid for case in results}, key=lambda grid: (prod(grid), grid))
    names = list(dict.fromkeys(name_of(case, with_grid=False) for case in results))
    with figure(ROW * len(names) + 1.8) as drawn:
        axes = drawn.subplots(1, len(grids), sharey=True, sharex=True, squeeze=False)[0]
        for place, grid in zip(axes, grids, strict=True):
            mine = {names.index(name_of(case, with_grid=False)): launches for case, launches in results.items()
                    if case.grid == grid}
            for name, colour, mark in zip((n for n in contestants if n != OURS), cycle(CYCLE), cycle(MARKS)):
                points = [(k, *(1 / end for end in reversed(found))) for k, launches in mine.items()
                          if (found := ratio(launches, name))]
                if points:
                    rows, low, middle, high = zip(*points)
                    place.errorbar(middle, rows, xerr=(np.subtract(middle, low), np.subtract(high, middle)), fmt=mark,
                                   color=colour, markersize=4, linewidth=0.8, label=name)
            place.set_title(f"{grid[0]}x{grid[1]}")
            place.set_xscale("log", base=2)
            place.xaxis.set_major_formatter("{x:g}")
            place.set_xlabel(f"time over that of {OURS}")
            place.grid(axis="y", color=GREY, linewidth=0.2)
            place.axvline(1, color=BLACK, linewidth=0.8)
        axes[0].set_yticks(range(len(names)), names)
        axes[0].set_ylim(len(names) - 0.5, -0.5)
        handles = {label: handle for place in axes for handle, label in zip(*place.get_legend_handles_labels())}
        drawn.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=5)
        save(drawn, path)
