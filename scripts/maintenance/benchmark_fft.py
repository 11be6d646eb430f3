"""Compare libpencilfft with its peers and the memory's limit; writes the table and picture of docs/benchmarks.md.

    .venv/bin/python scripts/maintenance/benchmark_fft.py --size 64 --rounds 1     # a first look
    .venv/bin/python scripts/maintenance/benchmark_fft.py --peers DIR              # also peers that are installed in DIR
    .venv/bin/python scripts/maintenance/benchmark_fft.py --write                  # into docs/benchmarks.md and the picture
    .venv/bin/python scripts/maintenance/benchmark_fft.py --again FILE --write     # those that --json FILE kept

All contestants of a case run in the same processes, in a random order in each repetition
(scripts/maintenance/benchmarks/worker.py). A round is one launch of a case with new plans. If a contestant ends the launch,
the others will run again without it. Ratios are medians over the repetitions, with their 95 % interval. The result of every
repetition is checked. The machine should be quiet, because the times are wall-clock times.
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
from itertools import product
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

import click

from pencilmap.mapper.base.files import write_whole
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import parse_json, read_whole, reading
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.progress import shown
from pencilmap.scripts.command_line.tables import print_table
from pencilmap.scripts.maintenance.benchmarks import (
    CONTESTANTS,
    FAILED,
    OURS,
    PEERS,
    PRECISIONS,
    TYPES,
    Case,
    NotOffered,
    refusal,
)
from pencilmap.scripts.maintenance.benchmarks.contestants import VARIABLE, driver_of
from pencilmap.scripts.maintenance.benchmarks.tables import (
    Launches,
    draw_benchmark,
    name_of,
    page_table,
    rows_table,
    stream_copy,
)
from pencilmap.scripts.networks.build import ensure_built, tail

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
        command = [*_mpirun(case.ranks), sys.executable, "-m", "pencilmap.scripts.maintenance.benchmarks.worker", request,
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


def _mpirun(ranks):
    program = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if not program:
        raise BenchmarkError("mpirun is missing; scripts/setup installs it")
    idle = ["--mca", "mpi_yield_when_idle", "1"] if ranks > os.cpu_count() else []
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


def _missing(name):
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
        _tell(results, names, write)
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


def _measure(cases, names, rounds, repetitions, json_file):
    """Results by case, including the results in the file; each new case is appended to the file."""
    results = _read([json_file]) if json_file and Path(json_file).exists() else {}
    missing = [case for case in cases if case not in results]
    for case, found in measured(missing, names, rounds, repetitions):
        results[case] = found
        if json_file:
            kept = [result for mine in results.values() for result in mine]
            write_whole(json_file, json.dumps(kept) + "\n", BenchmarkError)
    return {case: results[case] for case in sorted(results, key=_place)}


def _read(files):
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


def _place(case):
    """The sort key of a case in the tables."""
    return PRECISIONS.index(case.precision), TYPES.index(case.type), prod(case.shape), case.grid


def _tell(results, names, write):
    rows, short = rows_table(results, names), page_table(results)
    print_table(f"Times, and those of {OURS} divided by them: median [95 % interval]", *rows,
                [machine(results), *refusals(results)])
    print_table(f"{OURS} compared with the fastest peer", *short)
    if write:
        fill(PAGE, MARKER, f"{machine(results)}.\n\n{markdown_table(*short)}")
        draw_benchmark(results, names, PICTURE)


if __name__ == "__main__":
    main()
