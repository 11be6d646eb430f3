"""Points for scaling studies, from run records, tables and publications; and the possible studies of these points."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2, prod
from os import PathLike
from pathlib import Path
from statistics import median
from typing import Any

from pencilmap.mapper.runs.records import Record, transform_of_record
from pencilmap.model.base.errors import RecordError
from pencilmap.model.base.reading import LARGEST, SMALLEST, read_whole, reading
from pencilmap.model.placement.transform import MOST_POINTS
from pencilmap.model.schedules.schedule import PAIR
from pencilmap.model.times.published import bluegene_l_512, p3dfft_2012
from pencilmap.model.times.scaling import Point

COLUMNS = ("n", "ranks", "time_s", "grid", "decomposition", "transforms", "point_bytes", "mean_s", "deviation_s")
NEEDED = COLUMNS[:3]
COMPLEX_DOUBLE = 16
SAME_LOAD = 1.01  # weak scaling takes points per rank as equal up to this ratio, larger over smaller


def points_of_records(records: Iterable[Record], source: str) -> list[Point]:
    """Return the whole transform of each run record: the median over the repetitions of the slowest rank.

    Mean and standard deviation over the ranks are medians over the repetitions. Records of older programs have no
    deviation.
    """
    return [_point(record, f"{Path(source).name}:{number}") for number, record in enumerate(records, 1)]


def _point(record: dict[str, Any], source: str) -> Point:
    total, transform = record["phases"]["total"], transform_of_record(record)
    deviations = total.get("deviation_s")
    return Point(source, size=tuple(record["size"]), ranks=prod(record["grid"]), time_s=median(total["max_s"]),
                 decomposition=record["decomposition"], grid=tuple(record["grid"]),
                 array_bytes=float(transform.total_bytes), transforms=1 + (record["direction"] == PAIR),
                 mean_s=median(total["mean_s"]), deviation_s=median(deviations) if deviations else None)


def read_points(path: str | PathLike[str]) -> list[Point]:
    """Read points from a table of comma-separated values.

    The table has the columns n, ranks and time_s, and any of the other `COLUMNS`. n is the extent of a cube or
    ``NXxNYxNZ``; the default of point_bytes is 16. Lines that start with # are comments.

    Raises
    ------
    RecordError
        If the table cannot be read. The message names file and line.
    """
    content = read_whole(path, RecordError)
    with reading(str(path), RecordError, len(content)):
        try:
            lines = content.decode("utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise RecordError(f"{path} cannot be read: it is not text in UTF-8") from error
        numbered = [(k, line) for k, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
        if len(numbered) < 2:
            raise RecordError(f"{path} has no points: the first line names the columns, {','.join(COLUMNS)}, of which the "
                              "first three are needed, and each further line is a point")
        names = [name.strip() for name in next(csv.reader([numbered[0][1]]))]
        wrong = [name for name in names if name not in COLUMNS] + [name for name in NEEDED if name not in names]
        if wrong:
            raise RecordError(f"{path} line {numbered[0][0]}: column {wrong[0][:40]!r} is unknown or missing; the columns "
                              f"are {', '.join(COLUMNS)}, of which the first three are needed")
        return [_line(dict(zip(names, next(csv.reader([line])))), path, number) for number, line in numbered[1:]]


def _line(cells: dict[str, str], path: str | Path | PathLike[str], number: int) -> Point:
    where = f"{path} line {number}"
    cells = {name: cell.strip() for name, cell in cells.items() if cell.strip()}
    try:
        size = [int(n) for n in cells["n"].split("x")]
        size = size * 3 if len(size) == 1 else size
        grid = tuple(int(n) for n in cells["grid"].split("x")) if "grid" in cells else ()
        ranks, transforms = int(cells["ranks"]), int(cells.get("transforms", "1"))
        numbers = {name: float(cells[name]) for name in ("time_s", "mean_s", "deviation_s", "point_bytes")
                   if name in cells or name == "time_s"}
    except (KeyError, ValueError) as error:
        raise RecordError(f"{where}: {error} is missing or not a number; write e.g. 1024,128,0.25 below "
                          "n,ranks,time_s") from error
    counts = *size, ranks, transforms
    good = (len(size) == 3 and min(counts) > 0 and max(counts) <= MOST_POINTS and (not grid or prod(grid) == ranks)
            and all(x == 0 or SMALLEST <= x <= LARGEST for x in numbers.values()) and numbers.get("time_s", 0) > 0)
    if not good:
        raise RecordError(f"{where}: extents, ranks and times must be above 0, extents and ranks at most {MOST_POINTS:,}, "
                          "and a grid must have as many tasks as there are ranks")
    array = prod(size) * numbers.get("point_bytes", COMPLEX_DOUBLE)
    return Point(f"{Path(path).name}:{number}", size=(size[0], size[1], size[2]), ranks=ranks, time_s=numbers["time_s"],
                 decomposition=cells.get("decomposition", "pencil"), grid=grid, array_bytes=array, transforms=transforms,
                 mean_s=numbers.get("mean_s"), deviation_s=numbers.get("deviation_s"))


# ---- publications ----------------------------------------------------------------------------------------------------


def published_bluegene() -> list[Point]:
    """The whole transforms of Jagode, Hein, Trew (2008), Appendix A: measured."""
    return [Point(f"{cell.mode} {cell.mapping}", size=(cell.transform.nx,) * 3, ranks=cell.grid.n_tasks,
                  time_s=cell.time_s, decomposition="pencil", grid=cell.grid.shape,
                  array_bytes=float(cell.transform.total_bytes)) for cell in bluegene_l_512() if cell.phase == "total"]


def published_p3dfft() -> list[Point]:
    """Return points of the curve that Pekurovsky (2012) fitted to Fig. 4, computed, not measured.

    The points are 4096^3 on 4,096 to 65,536 cores, and the sizes of Fig. 9 on their numbers of cores.

    Notes
    -----
    The text gives neither the points nor the coefficients of a/P + d/P^(2/3), but two numbers that determine them. The
    bandwidth of the bisection gives d. The weak efficiency from 1024^3 on 128 to 8192^3 on 65,536 cores gives a over d,
    if a grows as N^3 log N and d as N^3. So the points show that the fit gives back the bandwidth that they contain, and
    how far the two numbers agree with a third, the share of communication. They are no second measurement of the
    bandwidth.
    """
    runs = [(4096, p) for p in (4096, 8192, 16384, 32768, 65536)] + [(1024, 128), (2048, 1024), (8192, 65536)]
    return [Point(f"curve {n}^3 {p}", size=(n,) * 3, ranks=p, time_s=p3dfft_time(n, p), decomposition="pencil", grid=(),
                  array_bytes=n**3 * p3dfft_2012()["point_bytes"], transforms=2) for n, p in runs]


def p3dfft_time(n: int, ranks: int) -> float:
    """Return the seconds of the curve of `published_p3dfft` for n^3 on some ranks."""
    computing, crossing = p3dfft_terms(n, ranks)
    return computing + crossing


def p3dfft_terms(n: int, ranks: int) -> tuple[float, float]:
    """Return a/P and d/P^(2/3) of this curve: seconds of the computing, and of the traffic across the bisection.

    >>> f"{p3dfft_terms(4096, 65536)[1]:.3f}"
    '2.593'
    """
    fact = p3dfft_2012()
    d_per_point = (fact["transposes"] * fact["point_bytes"] / 2 / fact["effective_bisection"]
                   * fact["effective_bisection_cores"] ** (2 / 3))
    (n0, p0), (n1, p1) = ((fact[f"weak_{which}_extent"], fact[f"weak_{which}_cores"]) for which in ("first", "last"))
    slower = log2(n1) / log2(n0) / fact["weak_efficiency"]  # time of the last point over that of the first
    a_per_point = d_per_point * (p1 ** (1 / 3) - slower * p0 ** (1 / 3)) / (slower * log2(n0) - log2(n1))
    return n**3 * log2(n) * a_per_point / ranks, n**3 * d_per_point / ranks ** (2 / 3)


PUBLICATIONS = {  # name: (points, title)
    "bluegene-l": (published_bluegene, "Jagode, Hein, Trew (2008), Appendix A, measured"),
    "p3dfft": (published_p3dfft, "Pekurovsky (2012): the curve of Fig. 4, computed from the numbers in the text"),
}


# ---- studies ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """Related points in order of ranks; the name says the common property."""

    name: str
    points: tuple[Point, ...]


def _kind(point: Point) -> tuple[Any, ...]:
    """Return the properties that comparable points share."""
    return point.transforms, None if point.array_bytes is None else round(point.array_bytes / point.points, 1)


def best_points(points: Iterable[Point]) -> list[Point]:
    """Return the fastest grid of each size and number of ranks, in order of both."""
    best: dict[tuple[Any, ...], Point] = {}
    for point in points:
        key = (point.size, _kind(point), point.ranks)
        if key not in best or point.time_s < best[key].time_s:
            best[key] = point
    return sorted(best.values(), key=lambda p: (p.points, p.ranks))


def size_text(size: Sequence[int]) -> str:
    """Return ``64^3`` for a cube, else the extents."""
    return f"{size[0]}^3" if len(set(size)) == 1 else "x".join(map(str, size))


def strong(points: Iterable[Point]) -> list[Study]:
    """Return one study for each transform that ran on at least two numbers of ranks: the best grid of each number."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in best_points(points):
        groups.setdefault((point.size, _kind(point)), []).append(point)
    return [Study(size_text(size), tuple(points_)) for (size, _), points_ in groups.items() if len(points_) > 1]


def weak(points: Iterable[Point]) -> list[Study]:
    """Return chains of transforms with the same number of points on a rank: the best grid of each, at least two sizes."""
    chains: list[list[Point]] = []
    for point in best_points(points):
        load = point.points / point.ranks
        home = next((c for c in chains if _kind(c[0]) == _kind(point) and c[-1].points < point.points
                     and 1 / SAME_LOAD < load / (c[0].points / c[0].ranks) < SAME_LOAD), None)
        if home is None:
            chains.append(home := [])
        home.append(point)
    return [Study(f"{c[0].points / c[0].ranks:,.0f} points on a rank", tuple(c)) for c in chains if len(c) > 1]


def against_slabs(points: Iterable[Point]) -> list[tuple[Point, Point]]:
    """Return (1D, 2D) for every transform and number of ranks that ran both ways: the fastest point of each."""
    points = list(points)
    one, two = (best_points(p for p in points if p.is_1d is which) for which in (True, False))
    return [(a, b) for a in one for b in two if (a.size, a.ranks, _kind(a)) == (b.size, b.ranks, _kind(b))]


def aspects(points: Iterable[Point]) -> list[Study]:
    """Return all grids of each transform and number of ranks that ran on several grids, by the length of a row."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        if len(point.grid) == 2:
            groups.setdefault((point.size, point.ranks, _kind(point)), []).append(point)
    return [Study(f"{size_text(size)} on {ranks} ranks", tuple(sorted(points_, key=lambda p: p.grid)))
            for (size, ranks, _), points_ in sorted(groups.items()) if len({p.grid for p in points_}) > 1]
