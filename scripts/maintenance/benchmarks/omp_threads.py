"""OpenMP threads of this process, by GCC's library: their number, their processors, and a barrier of all threads."""

import ctypes
import os
from ctypes import CFUNCTYPE, c_int, c_uint, c_void_p

from pencilmap.scripts.maintenance.benchmarks import NotOffered

REST_S = 0.03  # longer than threads wait busily after their work


class OmpThreads:
    """Threads of the calling process; each but the first has its own processor if there are enough."""

    def __init__(self, number: int) -> None:
        try:
            library = ctypes.CDLL("libgomp.so.1")
        except OSError as error:
            raise NotOffered(str(error)) from error
        library.omp_set_num_threads(c_int(number))  # FFTW's plans use this number, whatever the number at planning
        self._parallel, self._number = library.GOMP_parallel, number
        self._parallel.restype, self._parallel.argtypes = None, [c_void_p, c_void_p, c_uint, c_uint]
        self._nothing = ctypes.cast(ctypes.CDLL(None).free, c_void_p)
        processors = sorted(os.sched_getaffinity(0))

        @CFUNCTYPE(None, c_void_p)
        def settle(_):
            mine = library.omp_get_thread_num()
            if 0 < mine < len(processors):  # two threads on one processor would wait for each other's time slices
                os.sched_setaffinity(0, [processors[mine]])

        self._parallel(ctypes.cast(settle, c_void_p), None, number, 0)

    def meet(self) -> None:
        """Return when all threads have met, as ranks at a barrier; sleeping threads are then awake for a while."""
        self._parallel(self._nothing, None, self._number, 0)
