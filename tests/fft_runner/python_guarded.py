"""Run a program of the binding with guard bytes around every array of the binding, unchanged after each call of the
library.

    python -m mpi4py python_guarded.py PROGRAM [ARGUMENT...]
"""

import sys
import weakref
from pathlib import Path
from runpy import run_path

import numpy as np

from pencilfft import boxes, halo, library, lines, plan

GUARD, CANARY = 4096, 0xA5
guarded = []  # (weak reference to memory with its guards, first byte of the array, byte behind it)
call_of_library = library._call


def allocate(n_bytes):
    """Return memory that begins one byte behind a multiple of the alignment: empty() leaves one byte behind the array."""
    memory = np.full(n_bytes + 2 * GUARD + boxes.ALIGNMENT, CANARY, np.uint8)
    first = GUARD + (1 - memory.ctypes.data - GUARD) % boxes.ALIGNMENT
    guarded.append((weakref.ref(memory), first, first + n_bytes))
    return np.frombuffer(memoryview(memory)[first:first + n_bytes], np.uint8)  # its owner in NumPy ends at the same byte


def check(name):
    guarded[:] = [one for one in guarded if one[0]() is not None]
    for found, first, end in guarded:
        memory = found()
        if memory is None:  # memory was collected
            continue
        for side, guard in (("before", memory[:first]), ("behind", memory[end:])):
            changed = np.flatnonzero(guard != CANARY)
            assert changed.size == 0, f"{name} wrote {changed.size} bytes {side} an array of {end - first} bytes"


def call(name, *arguments):
    try:
        call_of_library(name, *arguments)
    finally:
        check(f"pencilfft_{name}")


if __name__ == "__main__":
    boxes._allocate = allocate
    for module in (halo, library, lines, plan):
        module._call = call
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    run_path(sys.argv[0], run_name="__main__")
