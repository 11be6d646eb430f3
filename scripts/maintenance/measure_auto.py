"""How often exchange `auto` takes what is fastest, and how long it takes to find it.

    mpirun -n 2 --bind-to core python -m pencilmap.scripts.maintenance.measure_auto --size 128 --type r2c

For each plan, the program forgets all wisdom and `auto` chooses again. Then the program times this plan and a new plan of
every exchange in turn, with new input before each run; the slowest rank counts. Two plans of one exchange differ by FFTW's
choices and by their memory addresses, often more than the exchanges differ. A shared machine also changes its speed from
one moment to the next. So each time is divided by the median of all exchanges in the same repetition. A choice is close if
the median of these ratios over all plans is at most 3 % above the median of the fastest exchange. A plan with another
schedule or with two exchanges uses its own ratios. The time of a plan includes everything that FFTW learns.
`--least N` and `--most-seconds S` fail if fewer plans are close, or if a plan took longer. Needs a quiet machine.
"""

import sys
from contextlib import suppress
from statistics import median
from time import perf_counter
from typing import Any

import click
import numpy as np

from pencilfft import FORWARD, PencilfftError, Plan, forget_wisdom
from pencilmap.model.algorithms import ALGORITHMS
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.command_line.tables import print_table
from pencilmap.scripts.maintenance.on_ranks import one_message

CLOSE = 1.03
Times = list[float]
Auto = tuple[str, str | None, float, Times]  # a plan: its choice; the only exchange, or None; seconds to plan; times


class Contestant:
    """A plan with its arrays."""

    def __init__(self, comm: Any, shape: tuple[int, int, int], grid: tuple[int, int], kind: str, exchange: str) -> None:
        began = perf_counter()
        self.plan = Plan(shape, grid, comm, type=kind, exchange=exchange, directions=FORWARD)
        self.planned_s = max(comm.allgather(perf_counter() - began))
        self.arrays = self.plan.empty("input"), self.plan.empty("output")
        self.comm, self.grid, self.times = comm, grid, Times()

    def run(self) -> None:
        self.arrays[0][...] = 1
        self.comm.Barrier()
        began = perf_counter()
        self.plan.forward(*self.arrays)
        self.times.append(max(self.comm.allgather(perf_counter() - began)))

    def chosen(self) -> str:
        return "+".join([*(self.plan.exchange_chosen(name) for name in self.plan.exchanges), self.plan.schedule_chosen])

    def exchange(self) -> str | None:
        """Return the plan's exchange if a name alone gives the plan; else None."""
        names = {self.plan.exchange_chosen(name) for name, n in zip(self.plan.exchanges, self.grid, strict=True) if n > 1}
        return names.pop() if len(names) == 1 and self.plan.schedule_chosen == "sequence" else None


def fixed(comm: Any, shape: tuple[int, int, int], grid: tuple[int, int], kind: str) -> dict[str, Contestant]:
    """Return a plan of every possible exchange."""
    found = {}
    for name in ALGORITHMS:
        with suppress(PencilfftError):
            found[name] = Contestant(comm, shape, grid, kind, name)
    return found


def measured(comm: Any, shape: tuple[int, int, int], grid: tuple[int, int], kind: str, plans: int,
             repetitions: int) -> tuple[list[Auto], dict[str, list[Times]]]:
    """Return the plans of `auto`, and the times of the other plans for each."""
    autos: list[Auto] = []
    beside: dict[str, list[Times]] = {}
    for _ in range(plans):
        forget_wisdom()
        auto = Contestant(comm, shape, grid, kind, "auto")
        others = fixed(comm, shape, grid, kind)
        for repetition in range(repetitions + 1):
            runners = [auto, *others.values()]
            for runner in runners[repetition % len(runners):] + runners[:repetition % len(runners)]:
                runner.run()
        autos.append((auto.chosen(), auto.exchange(), auto.planned_s, auto.times[1:]))
        for name, other in others.items():
            beside.setdefault(name, []).append(other.times[1:])
            other.plan.destroy()
        auto.plan.destroy()
    return autos, beside


def algorithm(name: str, p: int) -> str:
    """Return the first name of an algorithm among p ranks: for p <= r / 2, radix r sends the same messages as radix r / 2.

    >>> [algorithm(name, p) for p in (2, 3, 5) for name in ("bruck4", "bruck8", "p2p")]
    ['bruck2', 'bruck2', 'p2p', 'bruck4', 'bruck4', 'p2p', 'bruck4', 'bruck8', 'p2p']
    """
    for radix in (8, 4):
        if name == f"bruck{radix}" and p <= radix // 2:
            name = f"bruck{radix // 2}"
    return name


def judged(autos: list[Auto], beside: dict[str, list[Times]], p: int) -> tuple[dict[str, float], list[tuple[float, float]]]:
    """Return each exchange's usual time over the usual time in the same repetition, and two ratios for each plan of `auto`.

    The two ratios are of the plan and of its exchange, both over the fastest exchange. Names of one algorithm among p ranks
    count as one.

    >>> plans = [("a+sequence", "a", 1.0, [2, 2, 2]), ("b+sequence", "b", 1.0, [12])]
    >>> judged(plans, {"a": [[2, 2, 2], [4]], "b": [[6, 6, 6], [12]]}, 2)
    ({'a': 0.5, 'b': 1.5}, [(1.0, 1.0), (3.0, 3.0)])
    """
    usual = [np.median(of_plan, axis=0) for of_plan in zip(*beside.values(), strict=True)]
    over: dict[str, list[Times]] = {}
    for name, times in beside.items():
        over.setdefault(algorithm(name, p), []).extend(np.divide(some, usual[i]) for i, some in enumerate(times))
    typical = {name: float(median(np.concatenate(ratios))) for name, ratios in over.items()}
    least = min(typical.values())
    own = [float(median(np.divide(times, usual[i]))) / least for i, (*_, times) in enumerate(autos)]
    return typical, [(ratio, typical[algorithm(name, p)] / least if name else ratio)
                     for ratio, (_, name, _, _) in zip(own, autos, strict=True)]


@click.command(help=__doc__.split("\n\n")[0])
@click.option("--size", default=128, show_default=True, metavar="N", help="Of a cube.")
@click.option("--grid", default="1x2", show_default=True, metavar="RxC")
@click.option("--type", "kind", default="c2c", show_default=True)
@click.option("--plans", default=10, show_default=True, type=click.IntRange(1))
@click.option("--repetitions", default=15, show_default=True, type=click.IntRange(1), help="Runs of each, after each plan.")
@click.option("--least", default=0, type=click.IntRange(0), help="Fail where fewer plans are close to the fastest.")
@click.option("--most-seconds", default=0.0, help="Fail where a plan of auto took longer.")
def main(size: int, grid: str, kind: str, plans: int, repetitions: int, least: int, most_seconds: float) -> None:
    from mpi4py import MPI  # starts MPI

    comm = MPI.COMM_WORLD
    with one_message("measure_auto", comm):
        shape = parse_grid(grid).shape
        autos, beside = measured(comm, (size, size, size), (shape[0], shape[1]), kind, plans, repetitions)
    typical, ratios = judged(autos, beside, max(shape))
    fastest = min(typical, key=typical.__getitem__)
    close, longest = sum(choice <= CLOSE for _, choice in ratios), max(seconds for _, _, seconds, _ in autos)
    if comm.rank == 0:
        over = sorted((ratio / typical[fastest], name) for name, ratio in typical.items())
        print_table(f"auto at {size}^3, {kind}, {grid}",
                    ["plan", "took", ">planned in, s", ">ms", f">over {fastest}", f">its exchange over {fastest}"],
                    [[str(i), chosen, f"{seconds:.2f}", f"{1e3 * median(times):.2f}", f"{own:.3f}", f"{choice:.3f}"]
                     for i, ((chosen, _, seconds, times), (own, choice)) in enumerate(zip(autos, ratios, strict=True))],
                    [f"over {fastest}: " + ", ".join(f"{name} {ratio:.3f}" for ratio, name in over[1:]),
                     f"{close} of {plans} plans took an exchange within {100 * (CLOSE - 1):.0f} % of {fastest}",
                     f"the longest plan took {longest:.2f} s"])
    sys.exit(close < least or (most_seconds > 0 and longest > most_seconds))


if __name__ == "__main__":
    main()
