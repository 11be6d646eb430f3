"""FFTW's own MPI transforms (Debian: libfftw3-mpi3) by ctypes, with transposed output: slabs for any grid."""

import ctypes
from ctypes import POINTER, byref, c_int, c_ssize_t, c_uint, c_void_p
from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import Case, NotOffered

MEASURE, DESTROY_INPUT, TRANSPOSED_IN, TRANSPOSED_OUT = 0, 1 << 0, 1 << 29, 1 << 30  # fftw3.h, fftw3-mpi.h
FORWARD = -1
KIND_II = {"dct": 5, "dst": 9}  # FFTW_REDFT10, FFTW_RODFT10
ALIGNMENT = 64


class FftwMpi:
    """Slabs of x in, slabs of y out; reversed for c2r."""

    def __init__(self, case: Case, comm: Any, _choice: str) -> None:
        self._letter = "f" if case.precision == "single" else ""
        try:
            self._library = ctypes.CDLL(f"libfftw3{self._letter}_mpi.so.3")
        except OSError as error:
            raise NotOffered(str(error)) from error
        self._function("mpi_init", None, [])()
        from mpi4py import MPI  # starts MPI

        self._handle_type = c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_int) else c_void_p
        self._handle = self._handle_type(MPI._handleof(comm))
        kept = case.shape[2] // 2 + 1 if case.type in ("r2c", "c2r") else case.shape[2]
        elements, n_x, start_x, n_y, start_y = self._local_size((*case.shape[:2], kept))
        n_bytes = elements * case.real_bytes * (1 if case.type in KIND_II else 2)
        self._buffers = aligned(n_bytes), aligned(n_bytes)
        by_x = np.s_[start_x:start_x + n_x, :, :], (n_x, case.shape[1]), (0, 1, 2)
        by_y = np.s_[:, start_y:start_y + n_y, :], (n_y, case.shape[0]), (1, 0, 2)
        first, last = (by_y, by_x) if case.type == "c2r" else (by_x, by_y)
        self.input, self.input_part = self._laid(first, self._buffers[0], case.input_shape, case.input_dtype, kept)
        self.output, self.output_part = self._laid(last, self._buffers[1], case.output_shape, case.output_dtype, kept)
        self._plan = self._planned(case)
        self._execute = self._function("execute", None, [c_void_p])

    def _function(self, name, result, arguments):
        function = getattr(self._library, f"fftw{self._letter}_{name}")
        function.restype, function.argtypes = result, arguments
        return function

    def _local_size(self, shape):
        where = [c_ssize_t() for _ in range(4)]
        function = self._function("mpi_local_size_3d_transposed", c_ssize_t,
                                  [c_ssize_t] * 3 + [self._handle_type] + [POINTER(c_ssize_t)] * 4)
        return function(*shape, self._handle, *map(byref, where)), *(number.value for number in where)

    @staticmethod
    def _laid(where, memory, shape, dtype, kept):
        """An array and its slices; rows of real elements are padded to the length of their half transforms."""
        (part, planes, axes), nz = where, shape[2]
        row = nz if nz == kept else 2 * kept
        array = np.ndarray((*planes, row), dtype, memory)[:, :, :nz].transpose(axes)
        return array, tuple(slice(*axis.indices(n)[:2]) for axis, n in zip(part, shape, strict=True))

    def _planned(self, case):
        where = [*case.shape, *(buffer.ctypes.data for buffer in self._buffers), self._handle]
        name, numbers = ("r2r_3d", [KIND_II[case.type]] * 3) if case.type in KIND_II else {
            "c2c": ("dft_3d", [FORWARD]), "r2c": ("dft_r2c_3d", []), "c2r": ("dft_c2r_3d", [])}[case.type]
        types = [c_ssize_t] * 3 + [c_void_p] * 2 + [self._handle_type] + [c_int] * len(numbers) + [c_uint]
        transposed = TRANSPOSED_IN if case.type == "c2r" else TRANSPOSED_OUT
        function = self._function(f"mpi_plan_{name}", c_void_p, types)
        plan = function(*where, *numbers, MEASURE | DESTROY_INPUT | transposed)
        if not plan:
            raise NotOffered("FFTW made no plan")
        return plan

    def run(self) -> None:
        self._execute(self._plan)


def aligned(n_bytes: int) -> np.ndarray:
    """Return so many bytes of zeros, at a multiple of 64."""
    memory = np.zeros(n_bytes + ALIGNMENT, np.uint8)
    offset = -memory.ctypes.data % ALIGNMENT
    return memory[offset:offset + n_bytes]


make = FftwMpi
