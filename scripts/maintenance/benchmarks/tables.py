"""Results of a benchmark as ratios, tables and a picture: by case the results of all launches, each from worker.py.

A ratio compares our library with a contestant in the same launch, repetition by repetition, so that whatever disturbs the
machine disturbs both. The fastest peer is the one with the highest ratio. The picture has each contestant's time over ours,
a panel for each grid.
"""

from collections.abc import Sequence
from itertools import chain, cycle
from math import prod
from os import PathLike
from statistics import geometric_mean, median
from typing import Any, TypeAlias

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import OURS, Case
from pencilmap.scripts.pictures.figures.canvas import BLACK, CYCLE, GREY, figure, save

Launches: TypeAlias = list[dict[str, Any]]
Interval: TypeAlias = tuple[float, float, float]  #: the ends of the median's 95 % interval, with the median between them


def name_of(case: Case, with_grid: bool = True) -> str:
    """Name a case; double precision is left out.

    >>> name_of(Case((128, 128, 128), (1, 2), "r2c", "single")), name_of(Case((4, 6, 8), (2, 1)), False)
    ('r2c 128^3 1x2, single', 'c2c 4x6x8')
    """
    extents = f"{case.shape[0]}^3" if len(set(case.shape)) == 1 else "x".join(map(str, case.shape))
    words = [case.type, extents, *["x".join(map(str, case.grid))] * with_grid]
    return ", ".join([" ".join(words), *["single"] * (case.precision == "single")])


def interval(found: Sequence[float]) -> Interval | None:
    """Return the median and its 95 % interval, from ordered numbers and without a distribution; None if there are none.

    >>> interval(range(1, 16)), interval([3, 1]), interval([])
    ((4, 8, 12), (1, 2.0, 3), None)
    """
    from scipy.stats import binom  # slow to import

    if not found:
        return None
    numbers = sorted(found)
    left_out = max(0, int(binom.ppf(0.025, len(numbers), 0.5)) - 1)
    return numbers[left_out], median(numbers), numbers[-1 - left_out]


def ratio(launches: Launches, name: str) -> Interval | None:
    """Return the interval of our time over a contestant's; None if there is no launch with both.

    >>> ratio([{"times_s": {"pencilfft": [1, 2, 2], "a": [2, 4, 8]}}, {"times_s": {"pencilfft": [9]}}], "a")
    (0.25, 0.5, 0.5)
    """
    there = [times for times in (launch["times_s"] for launch in launches) if name in times and OURS in times]
    return interval([ours / its for times in there for ours, its in zip(times[OURS], times[name], strict=True)])


def fastest(launches: Launches) -> tuple[str, Interval] | None:
    """Return the fastest peer, and the interval of our time over its.

    >>> fastest([{"times_s": {"pencilfft": [1], "pencilfft:node": [0.5], "a": [2]}},
    ...          {"times_s": {"pencilfft": [1], "b": [3]}}])
    ('a', (0.5, 0.5, 0.5))
    """
    names = {name for launch in launches for name in launch["times_s"] if name.partition(":")[0] != OURS}
    found = [(name, ratios) for name in sorted(names) if (ratios := ratio(launches, name))]
    return max(found, key=lambda pair: pair[1][1], default=None)


def rows_table(results: dict[Case, Launches], contestants: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows, a row for each case and contestant: its time, our time over its, and the launches."""
    rows = []
    for case, launches in results.items():
        for name in contestants:
            times = interval([1e3 * t for launch in launches for t in launch["times_s"].get(name, ())])
            if times:
                there = sum(name in launch["times_s"] for launch in launches)
                rows.append([name_of(case), name, shown(times, 3), shown(ratio(launches, name)), str(there)])
    return ["transform", "library", ">ms", f">{OURS} / library", ">launches"], rows


def page_table(results: dict[Case, Launches]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of the table for readers: our time on each grid, and its ratio to the fastest peer's.

    >>> launches = [{"times_s": {"pencilfft": [0.01], "a": [0.02]}}]
    >>> for row in page_table({Case((8, 8, 8), (1, 2)): launches, Case((8, 8, 8), (2, 2)): launches})[1]:
    ...     print(row)
    ['c2c 8^3', '10', '0.50 a', '10', '0.50 a']
    ['geometric mean', '', '0.50', '', '0.50']
    """
    grids = sorted({case.grid for case in results}, key=lambda grid: (prod(grid), grid))
    rows: dict[str, dict[tuple[int, int], Launches]] = {}
    for case, launches in results.items():
        rows.setdefault(name_of(case, with_grid=False), {})[case.grid] = launches
    columns = [word for grid in grids for word in (f">{grid[0]}x{grid[1]}, ms", ">of the fastest peer")]
    means = [word for grid in grids for word in ("", _mean(row[grid] for row in rows.values() if grid in row))]
    return ["transform", *columns], [
        *([name, *(word for grid in grids for word in _cells(row.get(grid, [])))] for name, row in rows.items()),
        ["geometric mean", *means]]


def _cells(launches):
    times = [t for launch in launches for t in launch["times_s"].get(OURS, ())]
    best = fastest(launches)
    return [f"{1e3 * median(times):.3g}" if times else "-", f"{best[1][1]:.2f} {best[0]}" if best else "-"]


def _mean(rows):
    found = [best[1][1] for launches in rows if (best := fastest(launches))]
    return f"{geometric_mean(found):.2f}" if found else "-"


def shown(found: Interval | None, digits: int = 2) -> str:
    """
    >>> shown((0.5, 0.75, 1)), shown(None)
    ('0.75 [0.50, 1.00]', '-')
    """
    return "-" if found is None else "{1:.{3}f} [{0:.{3}f}, {2:.{3}f}]".format(*found, digits)


def stream_copy(launches: Launches) -> float:
    """Return the bytes per second, median of all."""
    return median(list(chain.from_iterable(launch["stream_copy"] for launch in launches)))


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
