"""Compare libpencilfft with its peers and the memory's limit; writes the table and picture of docs/benchmarks.md.

    .venv/bin/python scripts/maintenance/benchmark_fft.py --size 64 --rounds 1     # a first look
    .venv/bin/python scripts/maintenance/benchmark_fft.py --peers DIR              # also peers that are installed in DIR
    .venv/bin/python scripts/maintenance/benchmark_fft.py --write                  # into docs/benchmarks.md and the picture
    .venv/bin/python scripts/maintenance/benchmark_fft.py --again FILE --write     # those that --json FILE kept

All contestants of a case run in the same processes, in a random order in each repetition
(scripts/maintenance/contestants.py). A round is one launch of a case with new plans. If a contestant ends the launch,
the others will run again without it. Ratios are medians over the repetitions, with their 95 % interval. The result of every
repetition is checked. The machine should be quiet, because the times are wall-clock times.

A ratio compares our library with a contestant in the same launch, repetition by repetition, so that whatever disturbs the
machine disturbs both. The fastest peer is the one with the highest ratio.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, cycle, product
from math import prod
from os import PathLike
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, TypeAlias

import click
import numpy as np

from pencilmap.mapper.base.files import write_whole
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import parse_json, read_whole, reading
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.tables import print_table, shown
from pencilmap.scripts.maintenance.contestants import (
    CONTESTANTS,
    FAILED,
    OURS,
    PEERS,
    PRECISIONS,
    TYPES,
    VARIABLE,
    Case,
    NotOffered,
    driver_of,
    refusal,
)
from pencilmap.scripts.networks.build import ensure_built, tail
from pencilmap.scripts.pictures.canvas import BLACK, CYCLE, GREY, figure, save

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
                rows.append([name_of(case), name, interval_text(times, 3), interval_text(ratio(launches, name)), str(there)])
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


def _cells(launches: Launches) -> list[str]:
    times = [t for launch in launches for t in launch["times_s"].get(OURS, ())]
    best = fastest(launches)
    return [f"{1e3 * median(times):.3g}" if times else "-", f"{best[1][1]:.2f} {best[0]}" if best else "-"]


def _mean(rows: Iterable[Any]) -> str:
    found = [best[1][1] for launches in rows if (best := fastest(launches))]
    return f"{geometric_mean(found):.2f}" if found else "-"


def interval_text(found: Interval | None, digits: int = 2) -> str:
    """
    >>> interval_text((0.5, 0.75, 1)), interval_text(None)
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
            place.set_xlabel(f"time over that of {OURS}")
            place.grid(axis="y", color=GREY, linewidth=0.2)
            place.axvline(1, color=BLACK, linewidth=0.8)
        axes[0].set_yticks(range(len(names)), names)
        axes[0].set_ylim(len(names) - 0.5, -0.5)
        handles = {label: handle for place in axes for handle, label in zip(*place.get_legend_handles_labels())}
        drawn.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=5)
        save(drawn, path)


DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, PICTURE = DOCS / "benchmarks.md", DOCS / "pictures" / "benchmarks.svg"
MARKER = "scripts/maintenance/benchmark_fft.py"
TIMEOUT_S = 600


class BenchmarkError(PencilmapError):
    """A benchmark cannot run, or our library gives wrong results."""


class Ended(BenchmarkError):
    """A launch ended without a result; `status` says how."""

    def __init__(self, message: str, status: str) -> None:
        super().__init__(message)
        self.status = status


# ---- running -----------------------------------------------------------------------------------------------------------


def launched(case: Case, contestants: Sequence[str], repetitions: int, seed: int) -> dict[str, Any]:
    """Launch one case and return the worker's result. `seed` determines the contestants' order in each repetition."""
    with tempfile.TemporaryDirectory() as folder:
        request, result = Path(folder, "request.json"), Path(folder, "result.json")
        request.write_text(json.dumps({"case": asdict(case), "contestants": contestants, "repetitions": repetitions,
                                       "seed": seed}))
        command = [*_mpirun(case.ranks), sys.executable, "-m", "pencilmap.scripts.maintenance.contestants", request,
                   result]
        library = ensure_built(simulated=False).directory / "lib" / "libpencilfft.so"
        environment = os.environ | {  # NumPy uses huge pages by default
            "NUMPY_MADVISE_HUGEPAGE": "0", "PENCILFFT_LIBRARY": str(library), "OMP_NUM_THREADS": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        try:  # in the folder, because 2DECOMP&FFT writes a file
            done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True,
                                  errors="replace", timeout=TIMEOUT_S, cwd=folder)
        except subprocess.TimeoutExpired as error:
            raise Ended(f"{name_of(case)} did not end in {TIMEOUT_S} s", f"no end in {TIMEOUT_S} s") from error
        if done.returncode or not result.exists():
            reasons = [line.removeprefix(FAILED) for line in done.stderr.splitlines() if line.startswith(FAILED)]
            if reasons and "Traceback" not in done.stderr:
                raise BenchmarkError(f"{name_of(case)} failed: {reasons[0]}")
            status = f"status {done.returncode}"
            raise Ended(f"{name_of(case)} failed with {status}:\n{tail(done.stdout + done.stderr)}", status)
        return json.loads(result.read_text())


def round_of(case: Case, contestants: Sequence[str], repetitions: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the results of the launches of a round; the first contestant takes part in all of them.

    If a launch ends, its halves are launched, until the contestant that ends it is alone with the first.
    """
    first, *others = contestants
    try:
        yield launched(case, [first, *others], repetitions, seed)
        return
    except Ended as error:
        if not others:
            raise
        status = error.status
    if len(others) == 1:
        alone = launched(case, [first], repetitions, seed)
        yield alone | {"refused": {others[0]: f"it ended the launch with {status}"}}
    else:
        for half in (others[:len(others) // 2], others[len(others) // 2:]):
            yield from round_of(case, [first, *half], repetitions, seed)


def _mpirun(ranks: int) -> Any:
    program = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if not program:
        raise BenchmarkError("mpirun is missing; scripts/setup installs it")
    idle = ["--mca", "mpi_yield_when_idle", "1"] if ranks > (os.cpu_count() or 1) else []
    return [program, "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *idle]  # threads need all processors


def measured(cases: Iterable[Case], contestants: Sequence[str], rounds: int,
             repetitions: int) -> Iterator[tuple[Case, Launches]]:
    """Yield case after case, each with the results of its launches."""
    missing = {name: why for name in contestants if name in PEERS and (why := _missing(name))}
    names = [name for name in contestants if name not in missing]
    with shown() as progress:
        for case in cases:
            results: Launches = []
            for number in range(rounds):
                progress(f"{name_of(case)}: round {number + 1} of {rounds}")
                results += round_of(case, names, repetitions, number)
            results[0]["refused"] |= missing
            yield case, results


def _missing(name: str) -> Any:
    """Why a peer has no driver, None if it has one."""
    try:
        driver_of(name)
    except NotOffered as error:
        return str(error)
    return None


# ---- output ------------------------------------------------------------------------------------------------------------


def machine(results: dict[Case, Launches]) -> str:
    """Return a line about the machine of the measurements."""
    cpu = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    rate = median(stream_copy(launches) for launches in results.values())
    return f"{os.cpu_count()} cores, {cpu}; STREAM copy by all ranks {rate / 1e9:.1f} GB/s"


def refusals(results: dict[Case, Launches]) -> list[str]:
    """Return the contestants that refused cases, in a launch or more, with the reasons.

    >>> there, not_there = {"refused": {}}, {"refused": {"a": "it is wrong"}}
    >>> refusals({Case((8, 8, 8), (1, 2)): [there, not_there], Case((4, 4, 4), (1, 2)): [not_there]})
    ['a has no transform: it is wrong']
    """
    found: dict[tuple[str, str], list[str]] = {}
    for case, launches in results.items():
        for name, why in dict.fromkeys(item for launch in launches for item in launch["refused"].items()):
            found.setdefault((name, why), []).append(name_of(case))
    return [f"{name} has no {'transform' if len(cases) == len(results) > 1 else ', '.join(cases)}: {why}"
            for (name, why), cases in found.items()]


# ---- the command -------------------------------------------------------------------------------------------------------


@click.command(help=__doc__.split("\n\n")[0])
@click.option("--size", "sizes", multiple=True, default=("128", "256"), metavar="N|NXxNYxNZ", help="Extents.")
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, default=TYPES)
@click.option("--precision", "precisions", type=click.Choice(PRECISIONS), multiple=True, default=PRECISIONS)
@click.option("--grid", "grids", multiple=True, default=("1x2", "2x1"), metavar="RxC")
@click.option("--contestant", "contestants", multiple=True, default=(f"{OURS}:node", f"{OURS}:auto", "fftw-mpi"),
              metavar="NAME", help=f"Of {', '.join(CONTESTANTS)}; {OURS}:EXCHANGE chooses the exchange. "
              f"{OURS}, with all choices left to the library, always takes part.")
@click.option("--peers", metavar="DIR", envvar=VARIABLE,
              help=f"Folder of installed peers, of {', '.join(PEERS)}; each takes part, or the output says why not.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--repetitions", type=click.IntRange(1), default=15, show_default=True)
@click.option("--json", "json_file", metavar="FILE",
              help="Keep every time in FILE, case by case; cases that it holds are not measured again.")
@click.option("--again", "earlier", multiple=True, metavar="FILE", help="Measure nothing: take the times that --json wrote.")
@click.option("--write", is_flag=True, help=f"Put the short table into docs/{PAGE.name}, the picture into docs/pictures.")
def main(sizes: tuple[str, ...], types: tuple[str, ...], precisions: tuple[str, ...], grids: tuple[str, ...],
         contestants: tuple[str, ...], peers: str | None, rounds: int, repetitions: int, json_file: str | None,
         earlier: tuple[str, ...], write: bool) -> None:
    try:
        if peers:
            if not Path(peers).is_dir():
                raise BenchmarkError(f"--peers {peers}: no such folder")
            os.environ[VARIABLE] = str(Path(peers).absolute())
        names = list(dict.fromkeys((OURS, *contestants, *(PEERS if peers else ()))))
        if why := next(filter(None, map(refusal, names)), None):
            raise BenchmarkError(why)
        cases = [Case(extents, (grid.shape[0], grid.shape[1]), kind, precision)
                 for kind, precision, extents, grid in product(
                     types, precisions, [extents_of(size) for size in sizes], [parse_grid(grid) for grid in grids])]
        results = _read(earlier) if earlier else _measure(cases, names, rounds, repetitions, json_file)
        rows, short = rows_table(results, names), page_table(results)
        print_table(f"Times, and those of {OURS} divided by them: median [95 % interval]", *rows,
                    [machine(results), *refusals(results)])
        print_table(f"{OURS} compared with the fastest peer", *short)
        if write:
            fill(PAGE, MARKER, f"{machine(results)}.\n\n{markdown_table(*short)}")
            draw_benchmark(results, names, PICTURE)
    except PencilmapError as error:
        click.echo(f"benchmark_fft: {error}", err=True)
        sys.exit(1)


def extents_of(text: str) -> tuple[int, int, int]:
    """
    >>> extents_of("64"), extents_of("96x128x144")
    ((64, 64, 64), (96, 128, 144))
    """
    words = text.split("x") if "x" in text else [text] * 3
    if len(words) != 3 or not all(word.isdecimal() and int(word) > 1 for word in words):
        raise BenchmarkError(f"{text!r} are no extents; give one number of 2 or more, or three: 96x128x144")
    nx, ny, nz = map(int, words)
    return nx, ny, nz


def _measure(cases: Iterable[Case], names: Any, rounds: int, repetitions: int, json_file: str | None) -> Any:
    """Results by case, including the results in the file; each new case is appended to the file."""
    results = _read([json_file]) if json_file and Path(json_file).exists() else {}
    missing = [case for case in cases if case not in results]
    for case, found in measured(missing, names, rounds, repetitions):
        results[case] = found
        if json_file:
            kept = [result for mine in results.values() for result in mine]
            write_whole(json_file, json.dumps(kept) + "\n", BenchmarkError)
    return {case: results[case] for case in sorted(results, key=_place)}


def _read(files: Sequence[str | Path]) -> dict[Case, list[dict[str, Any]]]:
    """Results by case of earlier runs, round by round."""
    results: dict[Case, Launches] = {}
    for file in files:
        text = read_whole(file, BenchmarkError)
        with reading(str(file), BenchmarkError, len(text)):
            for result in parse_json(text.decode()):
                case = result["case"]
                case = Case(**case | {"shape": tuple(case["shape"]), "grid": tuple(case["grid"])})
                results.setdefault(case, []).append(result)
    return {case: results[case] for case in sorted(results, key=_place)}


def _place(case: Case) -> tuple[int, int, int, tuple[int, int]]:
    """The sort key of a case in the tables."""
    return PRECISIONS.index(case.precision), TYPES.index(case.type), prod(case.shape), case.grid


if __name__ == "__main__":
    main()
