"""Time the FFTs of a transform with all lines in the caches: a part of the floor under every transform.

Each rank transforms its share of the lines along z, y and x. It always uses the same block, filled with lines, so no run
waits for memory. The time includes calls from Python, some microseconds a block.
"""

from ctypes import c_int, c_uint, c_void_p
from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import Case
from pencilmap.scripts.maintenance.benchmarks.fftw_mpi import FORWARD, KIND_II, MEASURE, FftwLibrary, aligned

BLOCK_BYTES = 1 << 17  # the value in tuning.c
BACKWARD = 1


class CachedLines(FftwLibrary):
    """All lines of a transform, shared by the ranks."""

    alone = False

    def __init__(self, case: Case, comm: Any) -> None:
        super().__init__(case)
        self._execute = self._function("execute", None, [c_void_p])
        nx, ny, nz = case.shape
        kept = nz // 2 + 1 if case.type in ("r2c", "c2r") else nz
        self._memory: list[np.ndarray] = []
        lines = {2: (nz, nx * ny), 1: (ny, nx * kept), 0: (nx, ny * kept)}
        self._work = [self._planned(case, axis, n, -(-all_of_them // comm.size)) for axis, (n, all_of_them) in lines.items()]

    def _planned(self, case, axis, n, lines):
        """A plan for a block of lines, and its number of runs."""
        many = max(1, min(lines, BLOCK_BYTES // (2 * case.real_bytes * (n + 2))))
        memory = [aligned(2 * case.real_bytes * (n + 2) * many) for _ in range(2)]
        self._memory += memory  # keep the memory as long as the plan
        kind = "r2r" if case.type in KIND_II else "dft"
        if axis == 2 and case.type in ("r2c", "c2r"):
            kind += f"_{case.type}"
        row = {"dft_r2c": (n, n // 2 + 1), "dft_c2r": (n // 2 + 1, n)}.get(kind, (n, n))
        layout = [memory[0].ctypes.data, None, 1, row[0], memory[1].ctypes.data, None, 1, row[1]]
        more = {"dft": [BACKWARD if case.type == "c2r" else FORWARD],
                "r2r": [(c_int * 1)(KIND_II.get(case.type, 0))]}.get(kind, [])
        types = [c_int, c_void_p, c_int, *[c_void_p, c_void_p, c_int, c_int] * 2,
                 *([c_void_p] if kind == "r2r" else [c_int] * len(more)), c_uint]
        plan = self._function(f"plan_many_{kind}", c_void_p, types)(1, (c_int * 1)(n), many, *layout, *more, MEASURE)
        for block in memory:
            block[:] = 0
        return plan, -(-lines // many)

    def lay(self) -> None:
        """Do nothing: zeros stay zeros."""

    def run(self) -> None:
        execute = self._execute
        for plan, times in self._work:
            for _ in range(times):
                execute(plan)

    def keep(self) -> None:
        """Do nothing: there is no result."""
