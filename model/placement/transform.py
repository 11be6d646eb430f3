"""The array of a transform: its extents, its kinds along the axes, and its blocks on a grid."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil, prod

import numpy as np

from pencilmap.model.base.errors import GridError, near
from pencilmap.model.decompositions import AXES, ExchangeStage, LocalPass
from pencilmap.model.placement.grid import ProcessGrid

COMPLEX_DOUBLE_BYTES = 16
MOST_POINTS, MOST_FIELDS = 999_999_999, 999_999  # of an axis, and of a transform


@dataclass(frozen=True)
class TransformType:
    """The kinds of a transform along x, y and z, names of `LINE_KINDS`.

    `half` is whether only nz/2 + 1 of the z indices are exchanged, from which the others follow; `parts` the numbers in an
    exchanged element, 2 for complex; `padded` whether x, y and z may have more points than modes, as DFTs may.
    """

    x: str
    y: str
    z: str
    half: bool = field(init=False)
    parts: int = field(init=False)
    padded: tuple[bool, ...] = field(init=False)

    def __post_init__(self) -> None:
        padded = tuple(kind in ("c2c", "r2c") for kind in (self.x, self.y, self.z))
        object.__setattr__(self, "half", self.z == "r2c")
        object.__setattr__(self, "parts", 2 if any(padded) else 1)
        object.__setattr__(self, "padded", padded)


TYPES = {  # from fft_runner/src/lines/transforms.c by write_tables
    "c2c": TransformType("c2c", "c2c", "c2c"),
    "r2c": TransformType("c2c", "c2c", "r2c"),
    "c2r": TransformType("c2c", "c2c", "r2c"),
    "dct": TransformType("dct2", "dct2", "dct2"),
    "dst": TransformType("dst2", "dst2", "dst2"),
    "chebyshev": TransformType("dct1", "c2c", "r2c"),
    "empty": TransformType("none", "c2c", "r2c"),
}
LINE_KINDS = (  # from fft_runner/src/lines/transforms.c by write_tables
    "none", "c2c", "r2c", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4"
)
PRECISIONS = {"double": 8, "single": 4}  # bytes of a number


@cache
def type_of(text: str) -> TransformType:
    """Return the kinds of a name of `TYPES`, or of a list of kinds along x, y and z.

    Raises
    ------
    GridError
        If a name is unknown, or an axis but z is halved.

    Examples
    --------
    >>> type_of("chebyshev") == type_of("dct1,c2c,r2c"), type_of("dct1,none,dst2").parts
    (True, 1)
    """
    if text in TYPES:
        return TYPES[text]
    kinds = text.split(",")
    if len(kinds) != 3:
        raise GridError(f"type of transform {text[:40]!r} is unknown{near(text, TYPES)}; known are {', '.join(TYPES)}, and "
                        "a kind for each of x, y and z, as in dct1,c2c,r2c")
    for kind in kinds:
        if kind not in LINE_KINDS:
            raise GridError(f"type of transform {text[:40]!r}: kind {kind[:20]!r} is unknown{near(kind, LINE_KINDS)}; known "
                            f"along an axis are {', '.join(LINE_KINDS)}")
    if "r2c" in kinds[:2]:
        raise GridError(f"type of transform {text[:40]!r} has r2c along {AXES[kinds.index('r2c')]}; the model follows order "
                        "zyx, whose first axis z alone can be halved: give r2c along z, or rename the axes")
    return TransformType(*kinds)


@dataclass(frozen=True)
class Transform:
    """A 3D array of `nx` x `ny` x `nz` elements of `element_bytes` bytes (complex double by default).

    `fields` such arrays are transformed together: each message carries the parts of all of them.

    >>> Transform(512, 512, 512).total_bytes
    2147483648

    For a real array the exchanges carry the non-redundant half of the spectrum:

    >>> Transform(512, 512, 512, type="r2c").exchanged
    (512, 512, 257)

    `points` are the extents of a padded input (the 3/2 rule): a line of more points keeps the modes of nx, ny or nz.
    A `backward` transform sends every message of the forward transform the other way. Type c2r always does.

    `sent` is the precision of the numbers in messages, if it is lower than that of the array.

    >>> Transform(512, 512, 512, sent="single").total_bytes
    1073741824
    """

    nx: int
    ny: int
    nz: int
    element_bytes: int = COMPLEX_DOUBLE_BYTES
    type: str = "c2c"
    fields: int = 1
    points: tuple[int, int, int] | None = None
    sent: str | None = None
    backward: bool = False
    kinds: TransformType = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "backward", self.backward or self.type == "c2r")
        object.__setattr__(self, "kinds", type_of(self.type))
        if max(self.nx, self.ny, self.nz, *(self.points or ())) > MOST_POINTS or self.fields > MOST_FIELDS:
            raise GridError(f"transform {str(self)[:60]} is too large; an axis has at most {MOST_POINTS:,} points, and a "
                            f"transform at most {MOST_FIELDS:,} fields")
        if min(self.nx, self.ny, self.nz) < 1:
            raise GridError(f"transform {self} has an empty axis; every extent must be 1 or more")
        for axis, n, kind in zip(AXES, (self.nx, self.ny, self.nz), (self.kinds.x, self.kinds.y, self.kinds.z)):
            if kind == "dct1" and n < 2:
                raise GridError(f"transform {self} has 1 point along {axis}; dct1 needs at least 2")
        if self.points is not None and min(self.points) < 1:
            raise GridError(f"transform {self} has an axis without points")
        if self.sent is not None and (self.sent, self.precision) != ("single", "double"):
            raise GridError(f"transform {self} sends in {self.sent!r}; only numbers in double are sent in single precision")
        if self.fields < 1:
            raise GridError(f"transform of {self.fields} fields: there must be 1 or more")

    @property
    def is_plain(self) -> bool:
        """Whether its elements are complex doubles, all of which are exchanged."""
        return self == Transform(self.nx, self.ny, self.nz, backward=self.backward)

    @property
    def exchanged(self) -> tuple[int, int, int]:
        """Extents of the exchanged array."""
        return self.nx, self.ny, self.nz // 2 + 1 if self.kinds.half else self.nz

    def extents(self, stage: LocalPass | ExchangeStage, grid: ProcessGrid) -> dict[str, int]:
        """Return the extents x, y, z at the beginning of a stage: modes of transformed axes, points of the others.

        Parameters
        ----------
        stage : LocalPass or ExchangeStage
            Of the decomposition of the grid.
        grid : ProcessGrid

        Returns
        -------
        dict
            Number of points by the letter of the axis.

        Examples
        --------
        >>> grid = ProcessGrid(2, 2)
        >>> row, column = grid.decomposition.exchanges
        >>> [Transform(4, 4, 4, points=(6, 6, 6)).extents(stage, grid) for stage in (row, column)]
        [{'x': 6, 'y': 6, 'z': 4}, {'x': 6, 'y': 4, 'z': 4}]
        """
        if grid.decomposition.has_equal_blocks:
            return self._of_equal_blocks(stage, grid)
        if self.points is None:
            return dict(zip(AXES, self.exchanged))
        stages = grid.decomposition.stages
        done = "".join(one.axes for one in stages[:stages.index(stage)] if isinstance(one, LocalPass))
        order = "".join(one.axes for one in stages if isinstance(one, LocalPass)).replace("z", "")
        letters = dict(zip(AXES, grid.decomposition.start))
        whole = [axis for axis in order if not letters[axis] or grid.extent(letters[axis]) == 1]
        done += whole[0] if done and whole else ""  # transformed together with z
        return {axis: n if axis in done else m for axis, n, m in zip(AXES, self.exchanged, self.points)}

    def _of_equal_blocks(self, stage: LocalPass | ExchangeStage, grid: ProcessGrid) -> dict[str, int]:
        """Return the extents with blocks as long as the longest: first of each dimension of the grid, then within it."""
        division = dict(next(division for one, division in grid.decomposition.layouts if one is stage))
        if isinstance(stage, ExchangeStage):
            division[stage.divided] += stage.letters
        found = {}
        for axis, n in zip(AXES, self.exchanged):
            for letter in division[axis]:
                n = -(-n // grid.extent(letter))
            found[axis] = n * grid.extent(division[axis])
        return found

    @property
    def precision(self) -> str:
        """A name of `PRECISIONS`."""
        return "single" if self.element_bytes == PRECISIONS["single"] * self.kinds.parts else "double"

    @property
    def array_bytes(self) -> int:
        """Bytes of an element of the array, summed over the fields."""
        return self.element_bytes * self.fields

    @property
    def point_bytes(self) -> int:
        """Bytes of an element in messages, summed over the fields."""
        return self.element_bytes * self.fields // (2 if self.sent else 1)

    @property
    def total_bytes(self) -> int:
        """D_T of the paper: bytes of all exchanged elements."""
        return prod(self.exchanged) * self.point_bytes

    def fills(self, grid: ProcessGrid) -> bool:
        """Return whether every task holds data in every stage (the limits of P3DFFT's eq. 2).

        >>> Transform(4, 4, 2).fills(ProcessGrid(2, 4)), Transform(4, 3, 2).fills(ProcessGrid(2, 4))
        (True, False)
        """
        return all(n >= extent for n, extent in self._divides(grid))

    def idle_tasks(self, grid: ProcessGrid) -> int:
        """Return the number of tasks without data in some stage, the largest over the stages.

        >>> Transform(8, 8, 8).idle_tasks(ProcessGrid(2, 32)), Transform(8, 8, 8).idle_tasks(ProcessGrid(8, 8))
        (48, 0)
        """
        extents = dict(zip(AXES, self.exchanged))
        busy = [prod(min(extents[axis], grid.extent(letter)) for axis, letter in division.items() if letter)
                for _, division in grid.decomposition.layouts]
        return grid.n_tasks - min(busy)

    def _divides(self, grid: ProcessGrid) -> Iterator[tuple[int, int]]:
        """Yield the extent of every axis in every stage, with the number of blocks into which it is divided."""
        if grid.decomposition.has_equal_blocks and (self.points or self.kinds.half):
            raise GridError(f"transform {self} changes the number of elements of an axis, but grid {grid} of bricks keeps "
                            "them; take c2c, dct or dst without padding, or a grid of pencils")
        for _, division in grid.decomposition.layouts:
            yield from ((n, grid.extent(division[axis])) for axis, n in zip(AXES, self.exchanged))

    def divides_evenly(self, grid: ProcessGrid) -> bool:
        """Return whether every task gets blocks of the same size in every stage; False for any transform with padding."""
        return self.points is None and not any(n % extent for n, extent in self._divides(grid))

    def __str__(self) -> str:
        single = ":single" if self.precision == "single" else ""
        single += f":sent={self.sent}" if self.sent else ""
        fields = f":fields={self.fields}" if self.fields != 1 else ""
        points = f":points={'x'.join(map(str, self.points))}" if self.points else ""
        return f"{self.nx}x{self.ny}x{self.nz}" + (f":{self.type}" if self.type != "c2c" else "") + single + points + fields


def transform_of(size: Sequence[int], type: str = "c2c", precision: str = "double", fields: int = 1) -> Transform:
    """Return the transform of `fields` arrays of `size`.

    Parameters
    ----------
    size : (int, int, int)
    type : str
        See `type_of`.
    precision : str
        A name of `PRECISIONS`.
    fields : int

    Raises
    ------
    GridError
        If type or precision is unknown.

    Examples
    --------
    >>> transform_of((64, 64, 64), "dct", "single").element_bytes
    4
    """
    if precision not in PRECISIONS:
        raise GridError(f"precision {precision} is unknown; known are {', '.join(PRECISIONS)}")
    nx, ny, nz = size
    return Transform(nx, ny, nz, PRECISIONS[precision] * type_of(type).parts, type, fields)


def parse_transform(text: str) -> Transform:
    """Read ``512`` (a cube) or ``512x256x128``, with type, precision, padding and fields if other than c2c, double, none, 1.

    ``sent=single`` sends the numbers of double precision as floats. ``padding=1.5`` has 1.5 points for each mode along x, y
    and z, rounded up; ``points=768x512x256`` are their numbers.

    Raises
    ------
    GridError
        If the text is not understood.

    Examples
    --------
    >>> str(parse_transform("512")), str(parse_transform("512x256x128:r2c:single:fields=3"))
    ('512x512x512', '512x256x128:r2c:single:fields=3')
    >>> str(parse_transform("64:r2c:padding=1.5"))
    '64x64x64:r2c:points=96x96x96'
    >>> str(parse_transform("64:r2c:sent=single:fields=3"))
    '64x64x64:r2c:sent=single:fields=3'
    """
    size, *words = text.split(":")
    parts = size.split("x")
    fields = re.fullmatch(r"fields=([0-9]{1,6})", words[-1]) if words else None
    words = words[:-1] if fields else words
    padded = re.fullmatch("padding=([0-9.]{1,9})|points=" + "x".join(["([0-9]{1,9})"] * 3), words[-1]) if words else None
    words = words[:-1] if padded else words
    sent = words.pop()[len("sent="):] if words and words[-1].startswith("sent=") else None
    if len(parts) not in (1, 3) or not all(p.isdecimal() and p.isascii() and len(p) < 10 for p in parts):
        raise GridError(f"transform {text[:40]!r} is not understood; write 512 for a cube or 512x256x128, and e.g. 512:r2c "
                        "or 512:dct:single for other transforms than c2c in double precision")
    precision = words.pop() if words and words[-1] in PRECISIONS else "double"
    kind = words.pop(0) if words else "c2c"
    if words:
        raise GridError(f"transform {text[:40]!r} is not understood; write extents, type and precision, e.g. 512:dct:single")
    n = [int(p) for p in parts]
    plain = transform_of(n * 3 if len(n) == 1 else n, kind, precision, int(fields[1]) if fields else 1)
    plain = replace(plain, sent=sent)
    return _padded(plain, padded) if padded else plain


def _padded(plain: Transform, words: re.Match[str]) -> Transform:
    try:
        factor = float(words[1] or 1)
    except ValueError:
        factor = 0
    n = plain.nx, plain.ny, plain.nz
    points = tuple(ceil(one * factor - 1e-6) for one in n) if words[1] else tuple(map(int, words.groups()[1:]))
    allowed = tuple(max(m, one) if may else one for m, one, may in zip(points, n, plain.kinds.padded))
    if points != allowed:
        raise GridError(f"{words[0]} of transform {plain}: only DFTs are padded, to at least as many points as modes; give "
                        f"e.g. 64:r2c:padding=1.5 or points={'x'.join(map(str, allowed))}")
    x, y, z = points
    return replace(plain, points=None if points == n else (x, y, z))


def block_lengths(n: int, parts: int) -> np.ndarray:
    """Return the lengths of `parts` blocks of `n` elements, the remainder on the first blocks: int array, shape (parts,).

    >>> block_lengths(10, 4).tolist()
    [3, 3, 2, 2]
    """
    quotient, rest = divmod(n, parts)
    return np.full(parts, quotient, dtype=np.int64) + (np.arange(parts) < rest)
