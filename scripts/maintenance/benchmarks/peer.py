"""A peer with a driver built by `peers`: ``peer:NAME``, in double precision."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import Case, NotOffered
from pencilmap.scripts.maintenance.benchmarks.peers import library_of


class _Array(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("start", c_int64 * 3), ("extent", c_int64 * 3), ("stride", c_int64 * 3)]


class Peer:
    """The arrays of the peer's plan."""

    def __init__(self, case: Case, comm: Any, name: str) -> None:
        if not library_of(name).exists():
            raise NotOffered(f"{library_of(name).name} is not built; see "
                             "python -m pencilmap.scripts.maintenance.benchmarks.peers --help")
        if case.precision != "double":
            raise NotOffered("its driver has double precision alone")
        self._library = ctypes.CDLL(str(library_of(name)))
        make = self._library.peer_make
        make.argtypes = [POINTER(c_int), POINTER(c_int), c_char_p, c_int, POINTER(_Array), POINTER(_Array)]
        first, last = _Array(), _Array()
        if make((c_int * 3)(*case.shape), (c_int * 2)(*case.grid), case.type.encode(), comm.py2f(), byref(first),
                byref(last)):
            raise NotOffered(f"{name} has no {case.type}")
        self.input, self.input_part = _laid(first, case.input_dtype)
        self.output, self.output_part = _laid(last, case.output_dtype)
        self._run = self._library.peer_run
        self._run.restype, self._run.argtypes = None, []

    def run(self) -> None:
        self._run()

    def phases(self) -> dict[str, float]:
        return {}


def _laid(array, dtype):
    size = np.dtype(dtype).itemsize
    extent, stride = list(array.extent), list(array.stride)
    n = 1 + sum((e - 1) * s for e, s in zip(extent, stride, strict=True)) if all(extent) else 0
    memory = (ctypes.c_char * (n * size)).from_address(array.data) if n else b""
    whole = np.ndarray(extent, dtype, memory, strides=[s * size for s in stride])
    return whole, tuple(slice(s, s + e) for s, e in zip(array.start, extent, strict=True))


make = Peer
