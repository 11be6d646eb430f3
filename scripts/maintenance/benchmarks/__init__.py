"""The FFT benchmark: its contestants, its cases, their input, and some elements of the correct result.

A contestant (contestants.py) is made with a `Case` and an mpi4py communicator, and has

``input``, ``output``
    local arrays with the axes x, y, z, in any memory order
``input_part``, ``output_part``
    their slices of the global array
``run()``
    one transform, unnormalised, of ``input`` to ``output``; collective; may destroy the input

Each contestant plans with FFTW_MEASURE and out of place. A library that cannot do a case should raise `NotOffered`.

Every element of the input is a function of its global index, so every library's layout has the same array. The input of c2r
is the transform of a few peaks, so its result is these peaks. The checked elements of the result are the sums that define
them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pencilmap.model.algorithms import ALGORITHMS

TYPES = ("c2c", "r2c", "c2r", "dct", "dst")
PRECISIONS = ("double", "single")
PEERS = ("accfft", "decomp2d", "heffte", "p3dfft", "pfft")  # with a driver, see contestants.py
CONTESTANTS = ("pencilfft", "fftw-mpi", *PEERS)
DESTROY, KEEP, STRIDE1 = "destroy", "keep", "stride1"  # words of our library
CHOICES = {"pencilfft": ("", *ALGORITHMS, "auto")}  # after a colon
ADDED = {"pencilfft": (DESTROY, KEEP, STRIDE1)}  # after a choice and +, or in its place
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

    def _dtype(self, is_complex):
        return f"c{2 * self.real_bytes}" if is_complex else f"f{self.real_bytes}"

    @property
    def input_shape(self) -> tuple[int, int, int]:
        """Global extents of the input."""
        return self._halved() if self.type == "c2r" else self.shape

    @property
    def output_shape(self) -> tuple[int, int, int]:
        """Global extents of the output."""
        return self._halved() if self.type == "r2c" else self.shape

    def _halved(self):
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
    index = _global_index(case.shape, part)
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


def _of_peaks(case, part):
    total = np.zeros([axis.stop - axis.start for axis in part], complex)
    for height, place in zip(HEIGHTS, places(case), strict=True):
        x, y, z = (_wave(n, at)[axis] for n, at, axis in zip(case.shape, place, part, strict=True))
        total += height * x[:, None, None] * y[:, None] * z
    return total.astype(case.input_dtype)


def _wave(n, k):
    """exp(-2 pi i j k / n) for all j."""
    return np.exp(-2j * np.pi * (np.arange(n) * k % n) / n)


def _weights(case, axis, k):
    """The weights of the sum for element k of a line along an axis."""
    n = case.shape[axis]
    if case.type == "dct":
        return 2 * np.cos(np.pi * ((2 * np.arange(n) + 1) * k % (4 * n)) / (2 * n))
    if case.type == "dst":
        return 2 * np.sin(np.pi * ((2 * np.arange(n) + 1) * (k + 1) % (4 * n)) / (2 * n))
    return _wave(n, k)


def _global_index(shape, part):
    x, y, z = (np.arange(axis.start, axis.stop, dtype=np.uint64) for axis in part)
    _, ny, nz = (np.uint64(n) for n in shape)
    return (x[:, None, None] * ny + y[:, None]) * nz + z


def _hashed(numbers):
    """Pseudo-random numbers between -1/2 and 1/2."""
    mixed = numbers * KNUTH
    mixed ^= mixed >> np.uint64(32)
    mixed *= MIX
    return (mixed >> np.uint64(40)).astype(np.float64) / (1 << 24) - 0.5
