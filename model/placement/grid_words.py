"""Process grids in the words of FFT libraries: ``p_row=64,p_col=48``, ``2decomp:64x48``, ``fftw:512``.

A grid RxC has rows of R ranks with consecutive numbers, and columns of C ranks whose numbers differ by R. The table says
which number of a library is R; docs/howto/your-grid.md has the versions and sources that it follows.
"""

import re
from dataclasses import dataclass

from pencilmap.model.base.errors import GridError, near
from pencilmap.model.decompositions import CUBIC, PENCIL, SLAB, Decomposition
from pencilmap.model.placement.grid import ProcessGrid


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
        raise GridError(f"process grid {text[:60]!r} is not understood{near(name, LIBRARIES)}; write RxC, p_row=C,p_col=R, "
                        f"iproc=R,jproc=C, or a library with its numbers, such as 2decomp:64x48; known libraries are "
                        f"{', '.join(LIBRARIES)}")
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
    if grid.decomposition is CUBIC:
        return "three exchanges"
    return library.said(grid) if grid.decomposition is PENCIL else ""


def _of_words(first, second):
    found = [library for library in LIBRARIES.values() if {first, second} == set(library.words)]
    if not found:
        known = "; ".join(dict.fromkeys(" and ".join(library.words) for library in LIBRARIES.values() if library.words))
        raise GridError(f"the words {first} and {second} of a grid do not belong together; known are {known}")
    return found[0]
