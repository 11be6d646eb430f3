"""How long libraries take to make a plan, beside FFTW-MPI: FFTW_MEASURE everywhere, all wisdom forgotten before each plan.

    mpirun -n 2 --bind-to core python -m pencilmap.scripts.maintenance.measure_planning --size 64 --size 256

In each round, every contestant of the benchmark (scripts/maintenance/benchmarks) plans once, in a random order. The time
is the time of the slowest rank, arrays included. `--write` writes the table to docs/benchmarks.md. Needs a quiet machine.
"""

import gc
from collections.abc import Sequence
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import click

from pencilfft import forget_wisdom
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.command_line.tables import print_table
from pencilmap.scripts.maintenance.benchmark_fft import PAGE, extents_of
from pencilmap.scripts.maintenance.benchmarks import TYPES, Case, contestant
from pencilmap.scripts.maintenance.benchmarks.tables import OURS, REFERENCE, name_of, ratio, shown_ratio
from pencilmap.scripts.maintenance.on_ranks import one_message

NAMES = (OURS, f"{OURS}:node", f"{OURS}:auto", REFERENCE)


def measured(case: Case, names: Sequence[str], rounds: int, comm: Any) -> list[dict[str, Any]]:
    """Return the seconds to plan of each contestant, round by round, in the form of the benchmark's results."""
    found = []
    for number in range(rounds):
        times = {}
        for name in Random(number).sample(list(names), len(names)):
            gc.collect()
            forget_wisdom()
            comm.Barrier()
            begin = perf_counter()
            entrant = contestant(name, case, comm)
            times[name] = [max(comm.allgather(perf_counter() - begin))]
            if plan := getattr(entrant, "plan", None):
                plan.destroy()
            del entrant
        found.append({"times_s": times})
    return found


def table(results: dict[Case, list[dict[str, Any]]], names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows: seconds of the reference, and the ratio and longest time of each other contestant.

    >>> rounds = [{"times_s": {"a": [0.1], "fftw-mpi": [0.2]}}, {"times_s": {"a": [0.3], "fftw-mpi": [0.2]}}]
    >>> table({Case((8, 8, 8), (1, 2)): rounds}, ["a", "fftw-mpi"])[1]
    [['c2c 8^3', '0.20', '1.00 [0.50, 1.50]', '0.30']]
    """
    others = [name for name in names if name != REFERENCE]
    rows = []
    for case, rounds in results.items():
        times = {name: [r["times_s"][name][0] for r in rounds] for name in names}
        rows.append([name_of(case), f"{median(times[REFERENCE]):.2f}",
                     *(cell for name in others for cell in (shown_ratio(ratio(rounds, name)), f"{max(times[name]):.2f}"))])
    return ["transform", f">{REFERENCE}, s", *(title for name in others for title in (f">{name}", ">longest, s"))], rows


@click.command(help=__doc__.split("\n\n")[0])
@click.option("--size", "sizes", multiple=True, default=("64", "128", "256"), metavar="N|NXxNYxNZ", help="Extents.")
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, default=("c2c", "r2c"))
@click.option("--grid", default="1x2", show_default=True, metavar="RxC")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--write", is_flag=True, help=f"Put the table into docs/{PAGE.name}.")
def main(sizes: tuple[str, ...], types: tuple[str, ...], grid: str, rounds: int, write: bool) -> None:
    from mpi4py import MPI  # starts MPI

    comm = MPI.COMM_WORLD
    with one_message("measure_planning", comm):
        shape = parse_grid(grid).shape
        cases = [Case(extents_of(size), (shape[0], shape[1]), kind) for kind in types for size in sizes]
        found = table({case: measured(case, NAMES, rounds, comm) for case in cases}, NAMES)
    if comm.rank == 0:
        print_table(f"Seconds to plan, and ratios to {REFERENCE}", *found)
        if write:
            fill(PAGE, "scripts/maintenance/measure_planning.py", markdown_table(*found))


if __name__ == "__main__":
    main()
