"""libpencilfft by its Python binding; transforms call the C function, as FFTW's do: the binding's checks take 20 us.

The library chooses the grid, and all else that the choice leaves open. The choice is the exchange or ``threads``: rank 0 has
the whole array and as many threads as there are ranks. ``alone`` is ``threads`` with one thread. On one rank the plan of
c2r may overwrite its input, as the peers do; other plans keep theirs. With ``+keep``, or ``keep`` alone, the plan keeps its
input; with ``destroy`` it may overwrite the input. ``stride1`` selects the stride-1 layout in the same way.
"""

from functools import partial
from typing import Any

import numpy as np

from pencilfft import BACKWARD, FORWARD, Plan, _function
from pencilmap.scripts.maintenance.benchmarks import BY_ONE, DESTROY, KEEP, STRIDE1, Case
from pencilmap.scripts.maintenance.benchmarks.omp_threads import OmpThreads


class Ours:
    """A plan of any type, grid and precision."""

    def __init__(self, case: Case, comm: Any, choice: str) -> None:
        backward = case.type == "c2r"
        source, target = ("output", "input") if backward else ("input", "output")
        words = choice.split("+")
        choice = "".join(word for word in words if word not in (DESTROY, KEEP, STRIDE1))
        self.alone, grid, threads, exchange = choice in BY_ONE, case.grid, 1, choice or None
        if self.alone:
            grid, threads, exchange = (1, 1), comm.size if choice == "threads" else 1, None
            comm = _of_rank(comm, 0)
        else:
            grid = (0, 0)
        self.input, self.output = np.zeros((0, 0, 0), case.input_dtype), np.zeros((0, 0, 0), case.output_dtype)
        nothing: tuple[slice, ...] = (slice(0, 0),) * 3
        self.input_part = self.output_part = nothing
        if comm is None:
            return
        if threads > 1:
            self.meet = OmpThreads(threads).meet
        self.plan = Plan(case.shape, grid, comm, type=case.type, precision=case.precision,
                         directions=BACKWARD if backward else FORWARD, exchange=exchange, threads=threads,
                         destroy_input=DESTROY in words or (backward and comm.size == 1 and KEEP not in words),
                         layout=STRIDE1 if STRIDE1 in words else "natural")
        self.grid = self.plan.grid
        self.input, self.output = self.plan.empty(source), self.plan.empty(target)
        self.input_part, self.output_part = self.plan.part(source), self.plan.part(target)
        addresses = [self.plan._place(array, name, array is self.output).address
                     for array, name in ((self.input, source), (self.output, target))]
        self._execute = partial(_function("execute"), self.plan._alive(), BACKWARD if backward else FORWARD, *addresses)

    def run(self) -> None:
        if self.input.size and self._execute():
            raise RuntimeError("pencilfft_execute failed")


def _of_rank(comm, rank):
    """A communicator of that rank alone; None on the others."""
    from mpi4py import MPI  # starts MPI

    return MPI.COMM_SELF if comm.rank == rank else None


make = Ours
