"""The process grid, its libraries' words, and the ranks of its groups."""

import re
from dataclasses import dataclass, field
from math import prod

import numpy as np

from pencilmap.model.base.arrays import factorisations
from pencilmap.model.base.errors import GridError, near
from pencilmap.model.decompositions import CUBIC, PENCIL, SLAB, Decomposition


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
