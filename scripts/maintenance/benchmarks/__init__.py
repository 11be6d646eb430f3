"""Contestants of the FFT benchmark: one file and one line of the table each.

A contestant is made with a `Case` and an mpi4py communicator, and has

``input``, ``output``
    local arrays with the axes x, y, z, in any memory order
``input_part``, ``output_part``
    their slices of the global array
``run()``
    one transform, unnormalised, of ``input`` to ``output``; collective; may destroy the input

Each contestant plans with FFTW_MEASURE and out of place. A library that cannot do a case should raise `NotOffered`.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pencilmap.model.algorithms import ALGORITHMS

TYPES = ("c2c", "r2c", "c2r", "dct", "dst")
PRECISIONS = ("double", "single")
PEERS = ("accfft", "decomp2d", "heffte", "p3dfft", "pfft")  # with a driver, see peers.py
CONTESTANTS = {"pencilfft": "ours", "fftw-mpi": "fftw_mpi", **dict.fromkeys(PEERS, "peers")}  # name: module here
DESTROY, KEEP, STRIDE1 = "destroy", "keep", "stride1"  # words of ours.py
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


def contestant(name: str, case: Case, comm: Any) -> Any:
    """Plan a contestant; the text after a colon is its own, as in ``pencilfft:EXCHANGE``. Collective."""
    library, _, choice = name.partition(":")
    return import_module(f"{__name__}.{CONTESTANTS[library]}").make(case, comm, library if library in PEERS else choice)
