"""OpenMP threads of this process, as GCC has them: how many there are, where they run, and a meeting of them all."""

import ctypes
import os
from ctypes import CFUNCTYPE, c_int, c_uint, c_void_p

from pencilmap.scripts.maintenance.benchmarks import NotOffered

REST_S = 0.03  # longer than threads wait busily after their work


class OmpThreads:
    """So many threads of the calling process, each but the first on a processor of its own, where there are as many."""

    def __init__(self, number: int) -> None:
        try:
            library = ctypes.CDLL("libgomp.so.1")
        except OSError as error:
            raise NotOffered(str(error)) from error
        library.omp_set_num_threads(c_int(number))  # FFTW's plans run by as many, whatever they were made for
        self._parallel, self._number = library.GOMP_parallel, number
        self._parallel.restype, self._parallel.argtypes = None, [c_void_p, c_void_p, c_uint, c_uint]
        self._nothing = ctypes.cast(ctypes.CDLL(None).free, c_void_p)
        processors = sorted(os.sched_getaffinity(0))

        @CFUNCTYPE(None, c_void_p)
        def settle(_):
            mine = library.omp_get_thread_num()
            if 0 < mine < len(processors):  # two of them on one processor would wait for each other's time slices
                os.sched_setaffinity(0, [processors[mine]])

        self._parallel(ctypes.cast(settle, c_void_p), None, number, 0)

    def meet(self) -> None:
        """They have all been there, as ranks have that come from a barrier: those that slept are awake for a while."""
        self._parallel(self._nothing, None, self._number, 0)
