"""The process grid, and the array of a transform: its extents and its blocks on a grid."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil, prod

import numpy as np

from pencilmap.model.base.arrays import factorisations
from pencilmap.model.base.errors import GridError, near
from pencilmap.model.decompositions import AXES, CUBIC, PENCIL, SLAB, Decomposition, ExchangeStage, LocalPass


@dataclass(frozen=True, init=False)
class ProcessGrid:
    """Tasks in the dimensions of a decomposition. A grid of pencils has R tasks in a row and C in a column.

    Parameters
    ----------
    *shape : int
        Extent of each dimension.
    decomposition : Decomposition

    Raises
    ------
    GridError
        If the number of dimensions is not that of the decomposition, or an extent is below 1.

    Examples
    --------
    >>> str(ProcessGrid(8, 64)), ProcessGrid(8, 64).n_tasks
    ('8x64', 512)
    """

    shape: tuple[int, ...]
    decomposition: Decomposition = field(repr=False)

    def __init__(self, *shape: int, decomposition: Decomposition = PENCIL) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "decomposition", decomposition)
        if len(shape) != len(decomposition.dimensions):
            raise GridError(f"process grid {self} has {len(shape)} dimensions, but that of a {decomposition.name} "
                            f"decomposition is {decomposition.usage}, e.g. {decomposition.example}")
        if min(shape) < 1:
            groups = " and ".join(f"{d.name}s" for d in decomposition.dimensions)
            raise GridError(f"process grid {self} is empty; {groups} need at least 1 task")

    @property
    def n_tasks(self) -> int:
        return prod(self.shape)

    @property
    def turned(self) -> "ProcessGrid | None":
        """The grid with its numbers in the other order, as other codes write them; None if they are the same.

        >>> str(ProcessGrid(8, 64).turned), ProcessGrid(8, 8).turned
        ('64x8', None)
        """
        shape = self.shape[::-1]
        return None if shape == self.shape else ProcessGrid(*shape, decomposition=self.decomposition)

    def extent(self, letters: str) -> int:
        """Return the tasks in a group along the dimensions of these letters.

        >>> ProcessGrid(8, 64).extent("c"), ProcessGrid(8, 64).extent("rc")
        (64, 512)
        """
        return prod(n for n, letter in zip(self.shape, self.decomposition.letters) if letter in letters)

    def coordinate(self, letter: str) -> np.ndarray:
        """Return the position of each rank along a dimension: int array, shape (P,)."""
        i = self.decomposition.letters.index(letter)
        return np.arange(self.n_tasks, dtype=np.int64) // prod(self.shape[:i]) % self.shape[i]

    def groups(self, letters: str) -> np.ndarray:
        """Return the ranks of each group along the dimensions of these letters: int array, shape (groups, size).

        >>> ProcessGrid(2, 3).groups("r").tolist(), ProcessGrid(2, 3).groups("c").tolist()
        ([[0, 1], [2, 3], [4, 5]], [[0, 2, 4], [1, 3, 5]])
        """
        ranks = np.arange(self.n_tasks, dtype=np.int64).reshape(self.shape[::-1])  # the last dimension first
        along = [i for i, letter in enumerate(self.decomposition.letters[::-1]) if letter in letters]
        others = [i for i in range(len(self.shape)) if i not in along]
        return ranks.transpose(*others, *along).reshape(-1, self.extent(letters))

    def __str__(self) -> str:
        return "x".join(map(str, self.shape))


def parse_grid(text: str, decomposition: Decomposition = PENCIL) -> ProcessGrid:
    """Read ``8x64``, for pencils rows of 8 tasks and columns of 64; ``512`` if the grid has a single dimension.

    Parameters
    ----------
    text : str
    decomposition : Decomposition

    Returns
    -------
    ProcessGrid

    Raises
    ------
    GridError
        If the text is not understood.

    Examples
    --------
    >>> parse_grid("8x64")
    ProcessGrid(shape=(8, 64))
    """
    if not re.fullmatch("x".join([r"\d{1,12}"] * len(decomposition.dimensions)), text, re.ASCII):
        raise GridError(f"process grid {text[:40]!r} is not understood; write {decomposition.usage}, e.g. "
                        f"{decomposition.example}")
    return ProcessGrid(*map(int, text.split("x")), decomposition=decomposition)


def all_grids(n_tasks: int, decomposition: Decomposition = PENCIL) -> list[ProcessGrid]:
    """Return every grid of `n_tasks` tasks, grids with a short first dimension first.

    Parameters
    ----------
    n_tasks : int
    decomposition : Decomposition

    Returns
    -------
    list of ProcessGrid

    Examples
    --------
    >>> [str(g) for g in all_grids(6)]
    ['1x6', '2x3', '3x2', '6x1']
    """
    return [ProcessGrid(*shape, decomposition=decomposition)
            for shape in factorisations(n_tasks, len(decomposition.dimensions))]


def per_node(tasks: int) -> str:
    """Return the words ``1 task per node``, ``4 tasks per node``."""
    return f"{tasks} task{'s' * (tasks != 1)} per node"


def check_tasks(grid: ProcessGrid, n_slots: int, where: object, allow_idle: bool = False, tasks_per_node: int = 1) -> None:
    """Raise GridError unless the grid fills the slots (or, with `allow_idle`, fits into them).

    >>> check_tasks(ProcessGrid(2, 8), 32, "torus 4x4 with 2 tasks per node", tasks_per_node=2)
    Traceback (most recent call last):
        ...
    pencilmap.model.base.errors.GridError: ...; take `tasks_per_node` 1, a grid with R*C = 32, or ...
    """
    if grid.n_tasks == n_slots or (allow_idle and grid.n_tasks < n_slots):
        return
    wanted = "*".join(d.symbol for d in grid.decomposition.dimensions)
    if grid.n_tasks > n_slots:
        raise GridError(f"grid {grid} has {grid.n_tasks} tasks, but {where} has only {n_slots} slots; "
                        f"take a grid with {wanted} = {n_slots}, or more `tasks_per_node`")
    n_nodes = n_slots // tasks_per_node
    fewer = f"`tasks_per_node` {grid.n_tasks // n_nodes}, " if grid.n_tasks % n_nodes == 0 else ""
    raise GridError(f"grid {grid} has {grid.n_tasks} tasks, but {where} has {n_slots} slots; "
                    f"take {fewer}a grid with {wanted} = {n_slots}, or allow idle slots with `idle`")


def dealt(order: np.ndarray, grid: ProcessGrid, letter: str) -> np.ndarray:
    """Return the entry of each rank if entries are dealt out group by group along a dimension of the grid.

    Parameters
    ----------
    order : array, shape (P,)
    grid : ProcessGrid
    letter : str
        Letter of the dimension.

    Examples
    --------
    >>> dealt(np.array([0, 1, 2, 3, 4, 5]), ProcessGrid(2, 3), "c").tolist()    # column by column
    [0, 3, 1, 4, 2, 5]
    """
    found = np.empty_like(order)
    found[grid.groups(letter).ravel()] = order
    return found


@dataclass(frozen=True)
class Library:
    """The grid of an FFT library.

    Parameters
    ----------
    title : str
    words : tuple of str
        Names of its two numbers; empty if it has none.
    is_turned : bool
        Whether its first number is C, the extent of the columns.
    has_slabs : bool
        Whether a single number is a grid of slabs.
    has_pencils : bool
    """

    title: str
    words: tuple[str, ...] = ()
    is_turned: bool = False
    has_slabs: bool = False
    has_pencils: bool = True

    def grid(self, first: int, second: int) -> ProcessGrid:
        """Return the grid of two numbers in the order of the library.

        >>> str(LIBRARIES["2decomp"].grid(64, 48))
        '48x64'
        """
        return ProcessGrid(second, first) if self.is_turned else ProcessGrid(first, second)

    def said(self, grid: ProcessGrid) -> str:
        """Return a grid of pencils in the words of the library.

        >>> LIBRARIES["p3dfft"].said(ProcessGrid(48, 64))
        'iproc=48, jproc=64'
        """
        numbers = grid.shape[::-1] if self.is_turned else grid.shape
        if not self.words:
            return f"{self.title} {'x'.join(map(str, numbers))}"
        return ", ".join(f"{word}={number}" for word, number in zip(self.words, numbers))


LIBRARIES = {
    "2decomp": Library("2DECOMP&FFT", ("p_row", "p_col"), is_turned=True),
    "p3dfft": Library("P3DFFT", ("iproc", "jproc")),
    "p3dfft-c": Library("P3DFFT with DIMS_C", ("iproc", "jproc"), is_turned=True),
    "accfft": Library("AccFFT", is_turned=True),
    "mpi4py-fft": Library("mpi4py-fft", is_turned=True),
    "gromacs": Library("GROMACS", is_turned=True),
    "cudecomp": Library("cuDecomp", is_turned=True),
    "pfft": Library("PFFT", is_turned=True, has_slabs=True),
    "fftw": Library("FFTW", has_slabs=True, has_pencils=False),
    "jax": Library("JAX", ("row", "column")),  # the axes of the mesh of `pencilmap.jax.make_mesh`
}
USUAL = LIBRARIES["2decomp"]  # the words of an answer if the question has none
OWN_GRID = {"heffte": "heFFTe chooses its grid itself; write RxC, where R is the number of consecutive ranks whose pencils "
            "lie side by side"}
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\d{1,12}),([A-Za-z_]\w*)=(\d{1,12})", re.ASCII)
_NAMED = re.compile(r"([A-Za-z0-9][\w-]*):(\d{1,12})(?:x(\d{1,12}))?", re.ASCII)


def library_of(text: str) -> Library:
    """Return the library in whose words a grid is written; 2DECOMP&FFT for plain numbers.

    >>> library_of("iproc=48,jproc=64").title, library_of("48x64").title
    ('P3DFFT', '2DECOMP&FFT')
    """
    if pair := _PAIR.fullmatch(text):
        return _of_words(pair[1], pair[3])
    return LIBRARIES.get(text.partition(":")[0].lower(), USUAL)


def is_in_words(text: str) -> bool:
    """Return whether a text names a library or its words, or tries to.

    >>> is_in_words("2decomp:64x48"), is_in_words("8x64")
    (True, False)
    """
    return any(mark in text for mark in ":=") or text.lower() in (*LIBRARIES, *OWN_GRID)


def decomposition_of(text: str) -> Decomposition:
    """Return the decomposition that the form of a grid means: slabs for one number, bricks for three, else pencils.

    >>> [decomposition_of(text).name for text in ("512", "8x64", "8x8x8", "fftw:512", "p_row=8,p_col=64")]
    ['slab', 'pencil', 'cubic', 'slab', 'pencil']
    """
    if is_in_words(text):
        return grid_in_words(text).decomposition
    return SLAB if text.isdecimal() else CUBIC if re.fullmatch(r"\d+x\d+x\d+", text, re.ASCII) else PENCIL


def grid_in_words(text: str) -> ProcessGrid:
    """Read a grid in the words of a library.

    Raises
    ------
    GridError
        If the library is unknown or chooses its own grid, or the words belong to two libraries.

    Examples
    --------
    >>> [str(grid_in_words(text)) for text in ("p_row=64,p_col=48", "p3dfft:48x64", "p_col=48,p_row=64")]
    ['48x64', '48x64', '48x64']
    >>> grid_in_words("fftw:512").decomposition.name
    'slab'
    """
    if pair := _PAIR.fullmatch(text):
        library, values = _of_words(pair[1], pair[3]), {pair[1]: int(pair[2]), pair[3]: int(pair[4])}
        first, second = (values[word] for word in library.words)
        return library.grid(first, second)
    name = text.partition(":")[0].lower()
    if name in OWN_GRID:
        raise GridError(f"grid {text[:40]}: {OWN_GRID[name]}")
    named = _NAMED.fullmatch(text)
    if name in LIBRARIES and text.lower() == name:
        raise GridError(f"grid {text}: the numbers are missing; write {name}:{'512' if name == 'fftw' else '64x48'}")
    if name not in LIBRARIES or named is None:
        raise GridError(f"process grid {text[:60]!r} is not understood{near(name, LIBRARIES)}; write RxC, PxQxS, p_row=C,"
                        f"p_col=R, iproc=R,jproc=C, or a library with its numbers, such as 2decomp:64x48; known libraries "
                        f"are {', '.join(LIBRARIES)}")
    library, first = LIBRARIES[name], int(named[2])
    if named[3] is None:
        if not library.has_slabs:
            raise GridError(f"grid {text}: {library.title} has two numbers, such as {name}:{first}x1")
        return ProcessGrid(first, decomposition=SLAB)
    if not library.has_pencils:
        raise GridError(f"grid {text}: {library.title} has slabs, which are one number, such as {name}:{first}")
    return library.grid(first, int(named[3]))


def words_of(grid: ProcessGrid, library: Library = USUAL) -> str:
    """Return a grid of pencils in the words of a library; for bricks "three exchanges", and "" for other decompositions.

    >>> words_of(ProcessGrid(48, 64))
    'p_row=64, p_col=48'
    """
    if grid.decomposition == CUBIC:
        return "three exchanges"
    return library.said(grid) if grid.decomposition == PENCIL else ""


def _of_words(first: str, second: str) -> Library:
    found = [library for library in LIBRARIES.values() if {first, second} == set(library.words)]
    if not found:
        known = "; ".join(dict.fromkeys(" and ".join(library.words) for library in LIBRARIES.values() if library.words))
        raise GridError(f"the words {first} and {second} of a grid do not belong together; known are {known}")
    return found[0]


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
