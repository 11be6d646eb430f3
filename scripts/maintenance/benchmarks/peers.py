"""Peers that are installed: their drivers, which this module compiles, and the transforms that the drivers give.

``benchmark_fft.py --peers DIR`` names a folder with one installed peer, or several in folders of their own; each has
``include`` and ``lib`` (or ``lib64``). The peers should be shared libraries, or have position-independent code. Their code
is no part of this tree. A driver is a small shared library in ``DIR/drivers``; it is compiled if it is missing or older than
its source. Drivers have double precision only.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import PEERS, Case, NotOffered
from pencilmap.scripts.networks.build import tail

VARIABLE = "PENCILMAP_PEERS"  #: of the environment: the folder of the installed peers
SOURCES = Path(__file__).resolve().parent / "drivers"
TIMEOUT_S = 300
COMPILERS = {".c": "mpicc", ".cpp": "mpicxx", ".f90": "mpifort"}


@dataclass(frozen=True)
class Driver:
    """Source and libraries of a driver, and the compiler's options: the first that compile, for versions differ."""

    source: str
    libraries: tuple[str, ...]
    options: tuple[str, ...] = ("-O2",)


DRIVERS = dict(zip(PEERS, (
    Driver("accfft.cpp", ("accfft", "accfft_utils", "fftw3f", "fftw3_threads", "fftw3f_threads", "gomp"), ("-fopenmp",)),
    Driver("decomp2d.F90", ("decomp2d", "fftw3f"), ("-DPOOL", "-O2")),
    Driver("heffte.cpp", ("heffte", "fftw3f"), ("-std=c++17",)),
    Driver("p3dfft.c", ("p3dfft", "gfortran", "mpi_mpifh")),
    Driver("pfft.c", ("pfft", "fftw3_mpi")),
), strict=True))


def driver_of(name: str) -> Path:
    """Return the path of a peer's compiled driver; compile it first if it is missing or older than its source.

    Raises
    ------
    NotOffered
        If no folder of peers is named, or the compiler refuses the driver: the peer is then missing, or another version.
    """
    if not os.environ.get(VARIABLE):
        raise NotOffered("no folder of installed peers is named; give --peers DIR")
    folder, driver = Path(os.environ[VARIABLE]).expanduser().absolute(), DRIVERS[name]
    source, made = SOURCES / driver.source, folder / "drivers" / f"{name}.so"
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        wrapper = COMPILERS[source.suffix.lower()]
        compiler = shutil.which(f"{wrapper}.openmpi") or shutil.which(wrapper)
        if compiler is None:
            raise NotOffered(f"{wrapper} is missing")
        try:
            made.parent.mkdir(exist_ok=True)
            for option in driver.options:
                done = subprocess.run(
                    [compiler, "-O2", "-shared", "-fPIC", option, f"-I{SOURCES}", *_options(folder), source, "-o", made,
                     *(f"-l{library}" for library in (*driver.libraries, "fftw3"))],
                    capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, cwd=made.parent)
                if not done.returncode:
                    return made
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotOffered(f"its driver cannot be compiled: {error}") from error
        errors = [line for line in done.stderr.splitlines() if "rror" in line or "cannot find" in line]
        raise NotOffered(f"it is not installed in {folder}, or has another version: "
                         f"{errors[0] if errors else tail(done.stderr, 1)}")
    return made


def _options(folder: Path) -> Iterator[str]:
    for prefix in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        for include in ("include", "include/p3dfft"):
            if (prefix / include).is_dir():
                yield f"-I{prefix / include}"
        for lib in ("lib", "lib64"):
            if (prefix / lib).is_dir():
                yield from (f"-L{prefix / lib}", f"-Wl,-rpath,{prefix / lib}")


class _Array(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("start", c_int64 * 3), ("extent", c_int64 * 3), ("stride", c_int64 * 3)]


class Peer:
    """The arrays of the peer's plan."""

    def __init__(self, case: Case, comm: Any, name: str) -> None:
        if case.precision != "double":
            raise NotOffered("its driver has double precision only")
        library = ctypes.CDLL(str(driver_of(name)))
        make = library.peer_make
        make.argtypes = [POINTER(c_int), POINTER(c_int), c_char_p, c_int, POINTER(_Array), POINTER(_Array)]
        first, last = _Array(), _Array()
        if make((c_int * 3)(*case.shape), (c_int * 2)(*case.grid), case.type.encode(), comm.py2f(), byref(first),
                byref(last)):
            raise NotOffered(f"it has no {case.type}")
        self.input, self.input_part = _laid(first, case.input_dtype)
        self.output, self.output_part = _laid(last, case.output_dtype)
        self.run = library.peer_run
        self.run.restype, self.run.argtypes = None, []


def _laid(array, dtype):
    size = np.dtype(dtype).itemsize
    extent, stride = list(array.extent), list(array.stride)
    n = 1 + sum((e - 1) * s for e, s in zip(extent, stride, strict=True)) if all(extent) else 0
    memory = (ctypes.c_char * (n * size)).from_address(array.data) if n else b""
    whole = np.ndarray(extent, dtype, memory, strides=[s * size for s in stride])
    return whole, tuple(slice(s, s + e) for s, e in zip(array.start, extent, strict=True))


make = Peer
