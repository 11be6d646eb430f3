"""The FFT benchmark: its cases, their input and correct results, its contestants, and the MPI program that times these.

    mpirun -n 2 python -m pencilmap.scripts.maintenance.contestants CASE.json RESULT.json

Before each run, the input is set again, and the ranks meet at a barrier. The time is the slowest rank's. Each repetition has
a random order; in a fixed order, a contestant would always find the caches of the same predecessor. In every repetition,
some elements of the result are compared with the sums that define them. If there are as many processors as ranks,
each rank is bound to a processor. Two ranks that wait for each other on one processor take as long as the system's time
slices.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_ssize_t, c_uint, c_void_p
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.algorithms import ALGORITHMS
from pencilmap.model.base.arrays import Ints
from pencilmap.scripts.networks.build import tail

# A contestant is made with a `Case` and an mpi4py communicator, and has
#
# ``input``, ``output``
#     local arrays with the axes x, y, z, in any memory order
# ``input_part``, ``output_part``
#     their slices of the global array
# ``run()``
#     one transform, unnormalised, of ``input`` to ``output``; collective; may destroy the input
#
# Each contestant plans with FFTW_MEASURE and out of place. A library that cannot do a case should raise `NotOffered`.
#
# Every element of the input is a function of its global index, so every library's layout has the same array. The input of
# c2r is the transform of a few peaks, so its result is these peaks. The checked elements of the result are the sums that
# define them.

TYPES = ("c2c", "r2c", "c2r", "dct", "dst")
PRECISIONS = ("double", "single")
PEERS = ("accfft", "decomp2d", "heffte", "p3dfft", "pfft")  # with a driver
CONTESTANTS = ("pencilfft", "fftw-mpi", *PEERS)
DESTROY, KEEP, STRIDE1, GIVEN = "destroy", "keep", "stride1", "given"  # words of our library
CHOICES = {"pencilfft": ("", *ALGORITHMS, "auto")}  # after a colon
ADDED = {"pencilfft": (DESTROY, KEEP, STRIDE1, GIVEN)}  # after a choice and +, or in its place
OURS = "pencilfft"
FAILED = "benchmark worker: "  # before the reason for the end of the benchmark


class NotOffered(Exception):
    """The library has no such transform, grid or precision."""


class WrongResult(Exception):
    """Our library gives a wrong result."""


@dataclass(frozen=True)
class Case:
    """A case: extents, process grid and type as in pencilfft.h, precision.

    dct and dst are of kind II on each axis; all types but c2r go forward.
    """

    shape: tuple[int, int, int]
    grid: tuple[int, int]
    type: str = "c2c"
    precision: str = "double"

    @property
    def real_bytes(self) -> int:
        return 4 if self.precision == "single" else 8

    @property
    def input_dtype(self) -> str:
        """NumPy's name of the input type."""
        return self._dtype(self.type in ("c2c", "c2r"))

    @property
    def output_dtype(self) -> str:
        """NumPy's name of the output type."""
        return self._dtype(self.type in ("c2c", "r2c"))

    def _dtype(self, is_complex: bool) -> str:
        return f"c{2 * self.real_bytes}" if is_complex else f"f{self.real_bytes}"

    @property
    def input_shape(self) -> tuple[int, int, int]:
        """Global extents of the input."""
        return self._halved() if self.type == "c2r" else self.shape

    @property
    def output_shape(self) -> tuple[int, int, int]:
        """Global extents of the output."""
        return self._halved() if self.type == "r2c" else self.shape

    def _halved(self) -> Any:
        nx, ny, nz = self.shape
        return nx, ny, nz // 2 + 1

    @property
    def ranks(self) -> int:
        return self.grid[0] * self.grid[1]


def refusal(name: str) -> str | None:
    """Return the reason if there is no such contestant, else None.

    >>> refusal("pencilfft:node+destroy"), refusal("pencilfft:destroy")
    (None, None)
    >>> refusal("fftw-mpi:omp")
    "unknown contestant 'fftw-mpi:omp'; known: fftw-mpi"
    """
    library, _, choice = name.partition(":")
    if library not in CONTESTANTS:
        return f"unknown contestant {name!r}; known: {', '.join(CONTESTANTS)}"
    added = ADDED.get(library, ())
    known = CHOICES.get(library, ("",))
    if "+".join(word for word in choice.split("+") if word not in added) in known:
        return None
    names = ", ".join(f"{library}:{word}" if word else library for word in known)
    return f"unknown contestant {name!r}; known: {names}" + (f", each also with +{' and +'.join(added)}" if added else "")


HEIGHTS = np.array([1.0, 2.0, 0.0, 0.0])  # of the peaks at `places`, for c2r
PLACES = len(HEIGHTS)
KNUTH, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)  # odd numbers without a pattern
IMAGINARY = np.uint64(1 << 40)


def places(case: Case) -> list[tuple[int, ...]]:
    """Return the checked positions of the result: tuples x, y, z, drawn with a fixed seed."""
    dice = np.random.default_rng(1)
    return [tuple(int(dice.integers(n)) for n in case.output_shape) for _ in range(PLACES)]


def input_part(case: Case, part: tuple[slice, ...]) -> np.ndarray:
    """Return the input in a part of the global array: `part` is three slices, axes x, y, z, type ``case.input_dtype``."""
    if case.type == "c2r":
        return _of_peaks(case, part)
    x, y, z = (np.arange(axis.start, axis.stop, dtype=np.uint64) for axis in part)
    _, ny, nz = (np.uint64(n) for n in case.shape)
    index = (x[:, None, None] * ny + y[:, None]) * nz + z
    values = _hashed(index)
    return (values + 1j * _hashed(index + IMAGINARY) if case.type == "c2c" else values).astype(case.input_dtype)


def expected(case: Case, comm: Any) -> tuple[np.ndarray, float]:
    """Return the elements of the result at `places`, complex (PLACES,), and the typical size of an element. Collective."""
    if case.type == "c2r":
        whole = np.prod(case.shape, dtype=float)
        return whole * HEIGHTS, whole
    nx = case.shape[0]
    sums = np.zeros(PLACES, complex)
    for x in range(comm.rank * nx // comm.size, (comm.rank + 1) * nx // comm.size):
        plane = input_part(case, (slice(x, x + 1), *(slice(0, n) for n in case.shape[1:])))[0]
        for i, (kx, ky, kz) in enumerate(places(case)):
            along_z = plane @ _weights(case, 2, kz)
            sums[i] += _weights(case, 0, kx)[x] * (along_z @ _weights(case, 1, ky))
    return comm.allreduce(sums), np.sqrt(np.prod(case.shape, dtype=float))


def _of_peaks(case: Case, part: tuple[slice, ...]) -> NDArray[np.complex128]:
    total = np.zeros([axis.stop - axis.start for axis in part], complex)
    for height, place in zip(HEIGHTS, places(case), strict=True):
        x, y, z = (_wave(n, at)[axis] for n, at, axis in zip(case.shape, place, part, strict=True))
        total += height * x[:, None, None] * y[:, None] * z
    return total.astype(case.input_dtype)


def _wave(n: int, k: int) -> NDArray[np.complex128]:
    """exp(-2 pi i j k / n) for all j."""
    return np.exp(-2j * np.pi * (np.arange(n) * k % n) / n)


def _weights(case: Case, axis: int, k: int) -> NDArray[np.complex128]:
    """The weights of the sum for element k of a line along an axis."""
    n = case.shape[axis]
    if case.type == "dct":
        return 2 * np.cos(np.pi * ((2 * np.arange(n) + 1) * k % (4 * n)) / (2 * n))
    if case.type == "dst":
        return 2 * np.sin(np.pi * ((2 * np.arange(n) + 1) * (k + 1) % (4 * n)) / (2 * n))
    return _wave(n, k)


def _hashed(numbers: NDArray[Any]) -> Any:
    """Pseudo-random numbers between -1/2 and 1/2."""
    mixed = numbers * KNUTH
    mixed ^= mixed >> np.uint64(32)
    mixed *= MIX
    return (mixed >> np.uint64(40)).astype(np.float64) / (1 << 24) - 0.5


# Contestants of the FFT benchmark: libpencilfft, FFTW's own MPI transforms, and peers that are installed.
#
# libpencilfft runs by its Python binding; transforms call the C function, as FFTW's do: the binding's checks take 20 us.
# The library chooses the grid, and all else that the choice, which is the exchange, leaves open. On one rank the plan of
# c2r may overwrite its input, as the peers do; other plans keep theirs. With ``+keep``, or ``keep`` alone, the plan keeps
# its input; with ``destroy`` it may overwrite the input. ``stride1`` selects the stride-1 layout in the same way, ``given``
# the grid of the case.
#
# FFTW (Debian: libfftw3-mpi3) is called by ctypes, with transposed output: slabs for any grid.
#
# ``benchmark_fft.py --peers DIR`` names a folder with one installed peer, or several in folders of their own; each has
# ``include`` and ``lib`` (or ``lib64``). The peers should be shared libraries, or have position-independent code. Their
# code is no part of this tree. A driver is a small shared library in ``DIR/drivers``; it is compiled if it is missing or
# older than its source. Drivers have double precision only.

class Ours:
    """A plan of any type, grid and precision."""

    def __init__(self, case: Case, comm: Any, choice: str) -> None:
        from pencilfft import BACKWARD, FORWARD, Plan
        from pencilfft.library import _function  # loads the library

        backward = case.type == "c2r"
        source, target = ("output", "input") if backward else ("input", "output")
        words = choice.split("+")
        exchange = "".join(word for word in words if word not in ADDED[OURS]) or None
        self.plan = Plan(case.shape, case.grid if GIVEN in words else (0, 0), comm, type=case.type, precision=case.precision,
                         directions=BACKWARD if backward else FORWARD, exchange=exchange, destroy_input=DESTROY in words or (
                             backward and comm.size == 1 and KEEP not in words),
                         layout=STRIDE1 if STRIDE1 in words else "natural")
        self.input, self.output = self.plan.empty(source), self.plan.empty(target)
        self.input_part, self.output_part = self.plan.part(source), self.plan.part(target)
        addresses = [self.plan._place(array, name, array is self.output).address
                     for array, name in ((self.input, source), (self.output, target))]
        self._execute = partial(_function("execute"), self.plan._alive(), BACKWARD if backward else FORWARD, *addresses)

    def run(self) -> None:
        if self._execute():
            raise RuntimeError("pencilfft_execute failed")


MEASURE, DESTROY_INPUT, TRANSPOSED_IN, TRANSPOSED_OUT = 0, 1 << 0, 1 << 29, 1 << 30  # fftw3.h, fftw3-mpi.h
FFTW_FORWARD = -1
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

    def _function(self, name: str, result: type[Any] | None, arguments: list[Any]) -> Any:
        function = getattr(self._library, f"fftw{self._letter}_{name}")
        function.restype, function.argtypes = result, arguments
        return function

    def _local_size(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        where = [c_ssize_t() for _ in range(4)]
        function = self._function("mpi_local_size_3d_transposed", c_ssize_t,
                                  [c_ssize_t] * 3 + [self._handle_type] + [POINTER(c_ssize_t)] * 4)
        return function(*shape, self._handle, *map(byref, where)), *(number.value for number in where)

    @staticmethod
    def _laid(where: tuple[tuple[slice, slice, slice], tuple[int, int], tuple[int, ...]], memory: Ints,
              shape: tuple[int, ...], dtype: str, kept: int) -> Any:
        """An array and its slices; rows of real elements are padded to the length of their half transforms."""
        (part, planes, axes), nz = where, shape[2]
        row = nz if nz == kept else 2 * kept
        array = np.ndarray((*planes, row), dtype, memory)[:, :, :nz].transpose(axes)
        return array, tuple(slice(*axis.indices(n)[:2]) for axis, n in zip(part, shape, strict=True))

    def _planned(self, case: Case) -> int:
        where = [*case.shape, *(buffer.ctypes.data for buffer in self._buffers), self._handle]
        name, numbers = ("r2r_3d", [KIND_II[case.type]] * 3) if case.type in KIND_II else {
            "c2c": ("dft_3d", [FFTW_FORWARD]), "r2c": ("dft_r2c_3d", []), "c2r": ("dft_c2r_3d", [])}[case.type]
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


def _laid(array: Any, dtype: Any) -> Any:
    size = np.dtype(dtype).itemsize
    extent, stride = list(array.extent), list(array.stride)
    n = 1 + sum((e - 1) * s for e, s in zip(extent, stride, strict=True)) if all(extent) else 0
    memory = (ctypes.c_char * (n * size)).from_address(array.data) if n else b""
    whole = np.ndarray(extent, dtype, memory, strides=[s * size for s in stride])
    return whole, tuple(slice(s, s + e) for s, e in zip(array.start, extent, strict=True))


CONTESTANT = {OURS: Ours, "fftw-mpi": FftwMpi, **dict.fromkeys(PEERS, Peer)}


def contestant(name: str, case: Case, comm: Any) -> Any:
    """Plan a contestant; the text after a colon is its own, as in ``pencilfft:EXCHANGE``. Collective."""
    library, _, choice = name.partition(":")
    return CONTESTANT[library](case, comm, library if library in PEERS else choice)


# ---- the MPI program ----------------------------------------------------------------------------------------------------

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
    import mpi4py

    from pencilfft import PencilfftError

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
