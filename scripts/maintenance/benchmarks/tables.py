"""Results of a benchmark as ratios and tables: by case the results of all launches, each from worker.py.

A ratio compares our library with a contestant in the same launch, repetition by repetition, so that whatever disturbs the
machine disturbs both. The fastest peer is the one with the highest ratio.
"""

from collections.abc import Sequence
from itertools import chain
from math import prod
from statistics import geometric_mean, median
from typing import Any, TypeAlias

from pencilmap.scripts.maintenance.benchmarks import OURS, Case

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
