"""The MPI program of the benchmark: all contestants of one case in the same processes, repeatedly in turn.

    mpirun -n 2 python -m pencilmap.scripts.maintenance.benchmarks.worker CASE.json RESULT.json

Before each run, the input is set again, and the ranks meet at a barrier. The time is the slowest rank's. Each repetition has
a random order; in a fixed order, a contestant would always find the caches of the same predecessor. In every repetition,
some elements of the result are compared with the sums that define them. If there are as many processors as ranks,
each rank is bound to a processor. Two ranks that wait for each other on one processor take as long as the system's time
slices.
"""

import ctypes
import json
import os
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import mpi4py
import numpy as np

from pencilfft import PencilfftError
from pencilmap.scripts.maintenance.benchmarks import (
    FAILED,
    OURS,
    PLACES,
    Case,
    NotOffered,
    WrongResult,
    contestant,
    expected,
    input_part,
    places,
)

STREAM_BYTES = 1 << 27  # STREAM's rule: an array of all ranks has four times the size of the caches or more
TOLERANCE = {"double": 1e-12, "single": 1e-5}  # of an element's typical random size


class Copy:
    """STREAM's copy by all ranks at once: the limit by memory."""

    def __init__(self, comm: Any) -> None:
        self._from, self._to = (np.ones(STREAM_BYTES // comm.size // 8) for _ in range(2))
        self.n_bytes = 2 * self._from.nbytes * comm.size

    def lay(self) -> None:
        """Do nothing: a copy keeps its input."""

    def run(self) -> None:
        np.copyto(self._to, self._from)

    def keep(self) -> None:
        """Do nothing: there is no result."""


class Entrant:
    """A contestant with a copy of its input, and the elements of its results that are checked.

    `inputs` are the copies that exist, by their places; equal parts share a copy."""

    def __init__(self, name: str, case: Case, comm: Any, inputs: dict[str, np.ndarray]) -> None:
        self.contestant = contestant(name, case, comm)
        part = self.contestant.input_part
        if str(part) not in inputs:
            inputs[str(part)] = input_part(case, part)
        self._input = inputs[str(part)]
        self.run = self.contestant.run
        self._mine = [(i, tuple(k - axis.start for axis, k in zip(self.contestant.output_part, place, strict=True)))
                      for i, place in enumerate(places(case))
                      if all(axis.start <= k < axis.stop
                             for axis, k in zip(self.contestant.output_part, place, strict=True))]
        self._found: list[np.ndarray] = []

    def lay(self) -> None:
        self.contestant.input[...] = self._input
        for _, at in self._mine:
            self.contestant.output[at] = np.nan  # a run that writes nothing is wrong

    def keep(self) -> None:
        """Keep this rank's checked elements of the last run."""
        found = np.zeros(PLACES, complex)
        for i, at in self._mine:
            found[i] = self.contestant.output[at]
        self._found.append(found)

    def errors(self, right: np.ndarray, scale: float, comm: Any) -> list[float]:
        """Return the greatest error of each run, relative to the typical size of an element. Collective."""
        return [float(np.max(np.abs(comm.allreduce(found) - right)) / scale) for found in self._found]


def enter(names: Iterable[str], case: Case, comm: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the entrants by name, and the refusals of others with their reasons; all ranks agree."""
    entrants, refused = {}, {}
    inputs: dict[str, np.ndarray] = {}
    _threads_before_mpi()
    bind(comm)
    for name in names:
        try:
            entrants[name] = Entrant(name, case, comm, inputs)
        except NotOffered as error:
            refused[name] = str(error)
    return entrants, refused


def _threads_before_mpi() -> None:
    """Load OpenMP before MPI binds this process, because GCC's OpenMP counts the processors on loading.

    In a process bound to one processor, threads would sleep right after each parallel region and wake slowly. FFTW-MPI makes
    no plan if FFTW's threads are initialised later, as by mpi4py-fft after our plan."""
    with suppress(OSError):
        ctypes.CDLL("libgomp.so.1")
    for letter in ("", "f"):
        with suppress(OSError):
            getattr(ctypes.CDLL(f"libfftw3{letter}_threads.so.3"), f"fftw{letter}_init_threads")()


def bind(comm: Any) -> None:
    """Let this process run on a processor of its own, if there are enough."""
    processors = sorted(os.sched_getaffinity(0))
    if 1 < comm.size <= len(processors):
        os.sched_setaffinity(0, [processors[comm.rank]])


def measure(runners: dict[str, Any], repetitions: int, comm: Any,
            seed: int) -> dict[str, list[float]]:
    """Run all contestants in turn, and return the seconds of the slowest rank.

    Parameters
    ----------
    seed
        The same on all ranks; it determines the order in each repetition.

    Returns
    -------
    dict
        Name -> seconds of each repetition; the first repetition is left out.
    """
    times: dict[str, list[float]] = {name: [] for name in runners}
    orders = Random(seed)
    for _ in range(repetitions + 1):
        for name in orders.sample(list(runners), len(runners)):
            runner = runners[name]
            runner.lay()
            comm.Barrier()
            begin = perf_counter()
            runner.run()
            times[name].append(perf_counter() - begin)
            runner.keep()
    return {name: np.max(comm.allgather(mine[1:]), axis=0).tolist() for name, mine in times.items()}


def run(request: dict[str, Any], comm: Any) -> dict[str, Any]:
    """Return the result of one case, the same on all ranks."""
    case = Case(**{**request["case"], "shape": tuple(request["case"]["shape"]), "grid": tuple(request["case"]["grid"])})
    entrants, refused = enter(request["contestants"], case, comm)
    copy = Copy(comm)
    times = measure({**entrants, "copy": copy}, request["repetitions"], comm, request["seed"])
    right, scale = expected(case, comm)
    errors = {name: entrant.errors(right, scale, comm) for name, entrant in entrants.items()}
    for name, found in errors.items():
        if wrong := [error for error in found if not error < TOLERANCE[case.precision]]:
            if name.partition(":")[0] == OURS:
                raise WrongResult(f"{name} has an error of {wrong[0]:.1e}; "
                                  f"at most {TOLERANCE[case.precision]:.0e} is allowed")
            refused[name] = f"{len(wrong)} of {len(found)} results are wrong"
            del times[name]
    stream = [copy.n_bytes / seconds for seconds in times.pop("copy")]
    return {"case": request["case"], "times_s": times,
            "errors": {name: max(found) for name, found in errors.items() if name not in refused}, "refused": refused,
            "stream_copy": stream}


def main(request: str, result: str) -> None:
    mpi4py.rc.thread_level = "funneled"  # as FFT codes start MPI; mpi4py's usual level is multiple
    from mpi4py import MPI  # starts MPI

    comm = MPI.COMM_WORLD
    try:
        found_all = run(json.loads(Path(request).read_text()), comm)
    except Exception as error:  # the failure of one rank ends the whole job
        expected_one = isinstance(error, (PencilfftError, MemoryError, WrongResult))
        sys.stderr.write(f"{FAILED}{error}\n{'' if expected_one else traceback.format_exc()}")
        comm.Abort(1)
    if comm.rank == 0:
        Path(result).write_text(json.dumps(found_all))


if __name__ == "__main__":
    main(*sys.argv[1:])
