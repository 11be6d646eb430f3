"""Measure the promised speed and scale again, and fail if a measurement exceeds its promise by more than a margin.

    .venv/bin/python -m pencilmap.scripts.maintenance.promises             # all, about five minutes on a quiet machine
    .venv/bin/python -m pencilmap.scripts.maintenance.promises scale       # or fftw

The promises come from the documents: processor seconds and memory of docs/results/scaling.csv, for 98,304 nodes and for a
million, and the highest times over FFTW-MPI of docs/results/benchmark-all-ranks.csv at 128^3 and 256^3. The program reads
these files, so that a promise and its check cannot differ. The ratio of two libraries is measured in the same processes, so
its margin only covers chance; the margin of seconds also covers another machine.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from pencilmap.scripts.command_line.result_files import read_result
from pencilmap.scripts.maintenance.benchmark_fft import measured as times_of
from pencilmap.scripts.maintenance.benchmarks import Case
from pencilmap.scripts.maintenance.benchmarks.tables import REFERENCE, name_of, ratio
from pencilmap.scripts.maintenance.scaling import MEASURES, measured

ROOT = Path(__file__).resolve().parents[2]
SCALING, BENCHMARKS = (ROOT / "docs" / "results" / f"{name}.csv" for name in ("scaling", "benchmark-all-ranks"))
SCALES = (98_304, 1_000_000, 1_048_576)  #: nodes of the checked lines of docs/results/scaling.csv
EXTENTS = (128, 256)  #: of the checked cubes of the benchmark; 64^3 fits into the caches and has no promise
MARGINS = {"CPU s": 2.0, "MiB": 1.25, "of FFTW-MPI's time": 1.25}  #: limit of measured over promised
OURS = ("pencilfft", "pencilfft:node")  #: columns of benchmark-all-ranks.csv
SHORTEST_S = 0.2  #: shorter times are too short for a check to a hundredth
LONG_S = 10.0  #: shorter measurements run three times, and the minimum counts


@dataclass(frozen=True)
class Promise:
    """A number of a document that is an upper limit, and its measurement."""

    what: str
    unit: str
    promised: float
    found: float

    @property
    def kept(self) -> bool:
        return self.found <= MARGINS[self.unit] * self.promised

    def __str__(self) -> str:
        return (f"{'kept  ' if self.kept else 'BROKEN'} {self.what}: {self.found:.3g} {self.unit}, "
                f"promised {self.promised:.3g} (at most {MARGINS[self.unit]:g} times that)")


def scale(measure: Callable = measured) -> Iterator[Promise]:
    """Yield the lines of docs/results/scaling.csv: processor seconds and memory for 98,304 nodes and more."""
    for row in read_result(SCALING):
        what, torus, grid, seconds = row["what"], row["torus"], row["grid"], row["CPU s"]
        if int(row["nodes"]) in SCALES and (torus, grid) in MEASURES[what][1]:
            found = [measure(what, torus, grid) for _ in range(1 if float(seconds) > LONG_S else 3)]
            name = f"{what}, {int(row['nodes']):,} nodes, grid {grid}"
            yield Promise(name, "CPU s", max(float(seconds), SHORTEST_S), min(one["processor_s"] for one in found))
            yield Promise(name, "MiB", float(row["memory MiB"]), min(one["peak_bytes"] for one in found) / 2**20)


def fftw(measure: Callable = times_of) -> Iterator[Promise]:
    """Yield the lines of docs/results/benchmark-all-ranks.csv: the highest ratio of three rounds to FFTW-MPI."""
    lines = {name_of(case): case for case in (Case((n, n, n), grid, kind) for n in EXTENTS for grid in ((1, 2), (2, 1))
                                              for kind in ("c2c", "r2c"))}
    found = dict(measure(lines.values(), [*OURS, REFERENCE], rounds=3, repetitions=9))
    for row in read_result(BENCHMARKS):
        name = row["transform"]
        case = lines.get(name)
        for contestant in OURS if case else ():
            middle = ratio(found[case], contestant)
            if middle is None:
                sys.exit(f"error: {contestant} or {REFERENCE} cannot be measured here")
            yield Promise(f"{contestant}, {name}", "of FFTW-MPI's time", float(row[f"{contestant} highest"]),
                          middle[1])


GROUPS: dict[str, Callable[[], Iterator[Promise]]] = {"scale": scale, "fftw": fftw}


@click.command()
@click.argument("groups", nargs=-1, type=click.Choice(list(GROUPS)))
def main(groups: tuple[str, ...]) -> None:
    """Measure what the documents promise of speed and scale; fail where it does not hold."""
    found = []
    for group in groups or GROUPS:
        for promise in GROUPS[group]():
            print(promise, flush=True)
            found.append(promise)
    broken = [promise for promise in found if not promise.kept]
    print(f"{len(found)} promises, {len(broken)} broken")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
