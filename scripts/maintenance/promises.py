"""Measure the promised speed and scale again, and fail if a measurement exceeds its promise by more than a margin.

    .venv/bin/python -m pencilmap.scripts.maintenance.promises             # all, about five minutes on a quiet machine
    .venv/bin/python -m pencilmap.scripts.maintenance.promises scale       # or peers

The promises come from the documents: processor seconds and memory of docs/results/scaling.csv, for 98,304 nodes and for a
million, and the time over that of each peer in docs/results/benchmark-all.csv. The program reads these files, so that a
promise and its check cannot differ. The ratio of two libraries is measured in the same processes, so its margin only covers
chance; the margin of seconds also covers another machine. PENCILMAP_PEERS names a folder of installed peers, as `--peers` of
benchmark_fft.py does; missing peers are left out.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from pencilmap.scripts.command_line.result_files import read_result
from pencilmap.scripts.maintenance.benchmark_fft import measured as times_of
from pencilmap.scripts.maintenance.benchmarks import OURS, Case
from pencilmap.scripts.maintenance.benchmarks.tables import name_of, ratio
from pencilmap.scripts.maintenance.scaling import MEASURES, measured

ROOT = Path(__file__).resolve().parents[2]
SCALING, BENCHMARKS = (ROOT / "docs" / "results" / f"{name}.csv" for name in ("scaling", "benchmark-all"))
SCALES = (98_304, 1_000_000, 1_048_576)  #: nodes of the checked lines of docs/results/scaling.csv
EXTENTS = (64, 128, 256)  #: of the checked cubes of the benchmark
MARGINS = {"CPU s": 2.0, "MiB": 1.25, "of its time": 1.25}  #: limit of measured over promised
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


def peers(measure: Callable = times_of) -> Iterator[Promise]:
    """Yield the peers in docs/results/benchmark-all.csv on one and two ranks: the upper end of our time over the peer's."""
    cases = {name_of(case): case for case in (Case((n, n, n), (1, ranks), kind) for n in EXTENTS for ranks in (1, 2)
                                              for kind in ("c2c", "r2c", "c2r"))}
    rows = [row for row in read_result(BENCHMARKS) if row["transform"] in cases and row["library"].partition(":")[0] != OURS]
    names = list(dict.fromkeys((OURS, *(row["library"] for row in rows))))
    found = dict(measure([case for name, case in cases.items() if any(row["transform"] == name for row in rows)], names,
                         rounds=1, repetitions=15))
    for row in rows:
        name, library = row["transform"], row["library"]
        if middle := ratio(found[cases[name]], library):
            yield Promise(f"{name}, {library}", "of its time", float(row[f"{OURS} / library highest"]), middle[1])


GROUPS: dict[str, Callable[[], Iterator[Promise]]] = {"scale": scale, "peers": peers}


@click.command()
@click.argument("groups", nargs=-1, type=click.Choice(list(GROUPS)))
def main(groups: tuple[str, ...]) -> None:
    """Measure what the documents promise of speed and scale; fail where it does not hold."""
    found = []
    for group in groups or GROUPS:
        for promise in GROUPS[group]():
            print(promise, flush=True)
            found.append(promise)
    if not found:
        sys.exit("error: nothing could be measured here")
    broken = [promise for promise in found if not promise.kept]
    print(f"{len(found)} promises, {len(broken)} broken")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
