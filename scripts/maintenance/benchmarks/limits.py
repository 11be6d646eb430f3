"""Limits of libpencilfft relative to its peers and the floor, and the verdict of a benchmark.

A limit holds if one round of each of its rows reaches it, because rounds of one row differ by a tenth on a shared machine.
Rows with a median above the limit are named with their lowest and highest round. Memory, choice and time of planning are not
ratios of two times of a benchmark, and have their own checks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pencilmap.scripts.maintenance.benchmarks import Case, peers
from pencilmap.scripts.maintenance.benchmarks.tables import name_of, over_floor, ratio, shown_ratio

PEERS = ("fftw-mpi", "mpi4py-fft", "dtfft", *(f"peer:{name}" for name in peers.PEERS))
ON_RANKS = ("pencilfft", "pencilfft:node", "pencilfft:auto")
NEAR_CACHES = ((64, 64, 64), (100, 100, 100), (96, 128, 144), (127, 127, 127))
LARGE = ((128, 128, 128), (256, 256, 256))


@dataclass(frozen=True)
class Limit:
    """A limit on our contestants `mine` relative to the fastest of `beside`, in the cases of `among`.

    An empty `beside` stands for the floor."""

    what: str
    most: float
    mine: tuple[str, ...]
    beside: tuple[str, ...] = ()
    among: Callable[[Case], bool] = lambda case: True


LIMITS = (
    Limit("two ranks, `alltoallv`, 64^3 to 127^3, over the fastest peer", 1.0, ("pencilfft",), PEERS,
          lambda case: case.shape in NEAR_CACHES and case.grid == (1, 2)),
    Limit("one rank, 64^3 to 127^3, over the fastest peer on one rank", 1.0, ("pencilfft",), PEERS,
          lambda case: case.shape in NEAR_CACHES and case.grid == (1, 1)),
    Limit("one rank, 64^3 to 127^3, over serial FFTW, both with leave to destroy the input", 1.05,
          ("pencilfft:alone+destroy",), ("fftw",), lambda case: case.shape in NEAR_CACHES),
    Limit("`alltoallv`, `node`, `auto` at 128^3 and 256^3, huge pages, over the fastest peer", 0.9, ON_RANKS, PEERS,
          lambda case: case.shape in LARGE and case.pages == "huge"),
    Limit("c2c 256^3 on 1x2, `alltoallv`, `node`, `auto`, over the floor", 1.35, ON_RANKS,
          among=lambda case: (case.shape, case.type, case.grid) == ((256, 256, 256), "c2c", (1, 2))),
    Limit("layout `stride1` on 2x1 over the natural one, `alltoallv`", 1.05, ("pencilfft:stride1",), ("pencilfft",)),
    Limit("layout `stride1` on 2x1 over the natural one, `node`", 1.05, ("pencilfft:node+stride1",), ("pencilfft:node",)),
    Limit("two threads over two ranks, both with leave to destroy the input", 1.0, ("pencilfft:threads+destroy",),
          ("pencilfft:destroy",)),
    Limit("two threads over two ranks, both keeping the input", 1.0, ("pencilfft:threads",), ("pencilfft",)),
    Limit("two threads over FFTW's two threads", 1.0, ("pencilfft:threads+destroy",), ("fftw:threads", "fftw:omp")),
)


def limits_table(results: dict[Case, list[dict[str, Any]]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows: double precision c2c and r2c compared with each limit that has a case."""
    rows = [row for limit in LIMITS if (row := _row(limit, results))]
    return ["what", ">limit", ">rows", ">medians", "held"], rows


def _row(limit, results):
    found = {(name_of(case), name): ratios for case, rounds in results.items()
             if case.type in ("c2c", "r2c") and case.precision == "double" and limit.among(case) for name in limit.mine
             if (ratios := ratio(rounds, name, limit.beside) if limit.beside else over_floor(case, rounds, name))}
    if not found:
        return None
    medians = [ratios[1] for ratios in found.values()]
    return [limit.what, f"{limit.most:.2f}", str(len(found)), f"{min(medians):.2f} to {max(medians):.2f}",
            _verdict(limit, found)]


def _verdict(limit, found):
    """Whether a round of each row reaches the limit, and the rows that fail, in all rounds or by their medians."""
    several = len(limit.mine) > 1
    rows = {f"{case}{f' {name}' * several} {shown_ratio(ratios)}": ratios for (case, name), ratios in found.items()
            if not reaches(ratios[1], limit.most)}
    missed = [row for row, ratios in rows.items() if not reaches(ratios[0], limit.most)]
    above = [row for row in rows if row not in missed]
    said = f"no: {'; '.join(missed)}" if missed else "yes"
    return f"{said}{'; and' if missed else ', but'} not by the median: {'; '.join(above)}" if above else said


def reaches(found: float, most: float) -> bool:
    """Compare to two decimals, as the tables show.

    >>> reaches(1.004, 1.0), reaches(1.006, 1.0)
    (True, False)
    """
    return round(found, 2) <= most
