"""The array that is transformed: its extents and how the pencils cut it into blocks."""

from dataclasses import dataclass

import numpy as np

from pencilmap.model.errors import GridError

COMPLEX_DOUBLE_BYTES = 16


@dataclass(frozen=True)
class Transform:
    """A 3D array of `nx` x `ny` x `nz` elements of `element_bytes` bytes (complex double by default).

    >>> Transform(512, 512, 512).total_bytes
    2147483648
    """

    nx: int
    ny: int
    nz: int
    element_bytes: int = COMPLEX_DOUBLE_BYTES

    def __post_init__(self):
        if min(self.nx, self.ny, self.nz) < 1:
            raise GridError(f"transform {self} has an empty axis; every extent must be 1 or more")

    @property
    def total_bytes(self):
        """D_T of the paper: bytes of the whole array."""
        return self.nx * self.ny * self.nz * self.element_bytes

    def check_grid(self, grid):
        """Raise GridError where a task would hold nothing (the limits of P3DFFT's eq. 2)."""
        for axis, n, needed, why in (("x", self.nx, grid.C, "C"), ("y", self.ny, max(grid.R, grid.C), "max(R, C)"),
                                     ("z", self.nz, grid.R, "R")):
            if n < needed:
                raise GridError(f"transform {self} is too small for grid {grid}: n{axis} = {n}, but n{axis} >= {why} = "
                                f"{needed} is needed so that no task is empty; take a larger transform or another grid")

    def divides_evenly(self, grid):
        """Whether every task gets blocks of the same size in every stage."""
        return not (self.nx % grid.C or self.ny % grid.R or self.ny % grid.C or self.nz % grid.R)

    def __str__(self):
        return f"{self.nx}x{self.ny}x{self.nz}"


def parse_transform(text):
    """Read ``512`` (a cube) or ``512x256x128``.

    >>> str(parse_transform("512"))
    '512x512x512'
    """
    parts = text.split("x")
    if len(parts) not in (1, 3) or not all(p.isdecimal() and p.isascii() and len(p) < 10 for p in parts):
        raise GridError(f"transform {text[:40]!r} is not understood; write 512 for a cube or 512x256x128")
    n = [int(p) for p in parts]
    return Transform(*(n * 3 if len(n) == 1 else n))


def block_lengths(n, parts):
    """Lengths of `parts` blocks of `n` elements, the remainder on the first blocks: int array, shape (parts,).

    >>> block_lengths(10, 4).tolist()
    [3, 3, 2, 2]
    """
    quotient, rest = divmod(n, parts)
    return np.full(parts, quotient, dtype=np.int64) + (np.arange(parts) < rest)
