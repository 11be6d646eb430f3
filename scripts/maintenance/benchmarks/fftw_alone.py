"""FFTW's transforms of one process (Debian: libfftw3-3) by ctypes: serial, or with as many threads as there are ranks.

``fftw`` is serial; ``fftw:threads`` and ``fftw:omp`` use FFTW's two thread libraries. Rank 0 works, the others sleep.
"""

from ctypes import c_int, c_uint, c_void_p
from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import Case
from pencilmap.scripts.maintenance.benchmarks.fftw_mpi import DESTROY_INPUT, MEASURE, FftwLibrary, aligned, form_of
from pencilmap.scripts.maintenance.benchmarks.omp_threads import OmpThreads


class FftwAlone(FftwLibrary):
    """The whole array on rank 0."""

    alone = True

    def __init__(self, case: Case, comm: Any, choice: str) -> None:
        super().__init__(case)
        threads = self._loaded(f"_{choice}") if choice else None
        self.input, self.input_part = self._whole(case.input_shape, case.input_dtype, comm)
        self.output, self.output_part = self._whole(case.output_shape, case.output_dtype, comm)
        self._plan = None
        if comm.rank == 0:
            if choice == "omp":
                self.meet = OmpThreads(comm.size).meet
            if threads:
                getattr(threads, f"fftw{self._letter}_init_threads")()
                getattr(threads, f"fftw{self._letter}_plan_with_nthreads")(comm.size)
            self._plan = self._planned(case)
            if threads:
                getattr(threads, f"fftw{self._letter}_plan_with_nthreads")(1)  # the setting stays for all later plans
        self._execute = self._function("execute", None, [c_void_p])

    @staticmethod
    def _whole(shape, dtype, comm):
        part = tuple(slice(0, n if comm.rank == 0 else 0) for n in shape)
        mine = tuple(axis.stop for axis in part)
        return np.ndarray(mine, dtype, aligned(int(np.prod(mine)) * np.dtype(dtype).itemsize)), part

    def _planned(self, case):
        name, numbers = form_of(case)
        function = self._function(f"plan_{name}", c_void_p, [c_int] * 3 + [c_void_p] * 2 + [c_int] * len(numbers) + [c_uint])
        return self._made(function(*case.shape, self.input.ctypes.data, self.output.ctypes.data, *numbers,
                                   MEASURE | DESTROY_INPUT))

    def run(self) -> None:
        if self._plan:
            self._execute(self._plan)


make = FftwAlone
