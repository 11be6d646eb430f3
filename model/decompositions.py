"""Decompositions of a 3D array: the shares of the tasks, and the stages that bring every axis whole to some task.

A transform is a sequence of stages. In a local pass a task transforms lines that it holds whole. In an exchange the tasks
of a group share out another axis among themselves. The model derives everything else from this sequence: groups,
messages, the least extents, the work between the exchanges. A new decomposition is a value here and a row of the table at
the end.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GridError, near

AXES = "xyz"


@dataclass(frozen=True)
class GridDimension:
    """One dimension of the process grid.

    Parameters
    ----------
    name : str
        Name of the groups of tasks along the dimension, e.g. "row".
    symbol : str
        Name of its extent in messages, e.g. "R".
    """

    name: str
    symbol: str

    @property
    def letter(self) -> str:
        """The digit of the dimension in placements."""
        return self.name[0]


@dataclass(frozen=True)
class LocalPass:
    """Every task transforms its lines along these axes; the task holds these lines whole."""

    axes: str


@dataclass(frozen=True)
class ExchangeStage:
    """All-to-alls in groups, all at the same time.

    Parameters
    ----------
    name : str
    letters : str
        The grid dimensions along which the tasks of a group lie.
    gathered : str
        The axis that is divided among the group before, and whole afterwards.
    divided : str
        The axis whose blocks are divided among the group afterwards; before, a block may be the whole axis.
    """

    name: str
    letters: str
    gathered: str
    divided: str


def all_to_all_crossing(shape: tuple[int, ...], k: np.ndarray) -> np.ndarray:
    """Return k (P-k): the exchanges of a transform together bring a block from every task to every other."""
    return k * (int(np.prod(shape)) - k)


@dataclass(frozen=True)
class Decomposition:
    """A line of the table of decompositions.

    Parameters
    ----------
    name : str
    dimensions : tuple of GridDimension
        Dimensions of the process grid, the fastest first; their letters differ.
    start : (str, str, str)
        For each axis x, y, z the letters of the dimensions that divide the axis in the beginning.
    stages : tuple of LocalPass or ExchangeStage
        Local passes and exchanges in the order of a forward transform.
    example : str
        A grid as text, with its meaning.
    has_bricks : bool
        Whether tasks hold bricks before and after, which are remapped.
    has_equal_blocks : bool
        Whether all blocks of a stage have the length of the longest block: MPI_Alltoall sends messages of one size.
    returns : bool
        Whether every exchange begins with the division of the start.
    bricks : (int, int, int) or None
        Numbers of bricks along x, y and z; None if they are still open.
    least_crossing : callable
        (shape of the grid, numbers k of tasks on one side of a cut) -> the least traffic across, in D_T / P^2.
    """

    name: str
    dimensions: tuple[GridDimension, ...]
    start: tuple[str, str, str]
    stages: tuple[LocalPass | ExchangeStage, ...]
    example: str
    least_crossing: Callable[[tuple[int, ...], np.ndarray], np.ndarray] = all_to_all_crossing
    has_bricks: bool = False
    has_equal_blocks: bool = False
    returns: bool = False
    bricks: tuple[int, int, int] | None = None

    def __hash__(self) -> int:  # must be cheap: decompositions are part of the keys of caches
        return hash(self.name)

    @cached_property
    def letters(self) -> str:
        """The digit letters of the grid's dimensions."""
        return "".join(d.letter for d in self.dimensions)

    @property
    def usage(self) -> str:
        """Notation of a grid."""
        return "x".join(d.symbol for d in self.dimensions)

    @cached_property
    def exchanges(self) -> tuple[ExchangeStage, ...]:
        """The exchanges, in the order of a forward transform."""
        return tuple(stage for stage in self.stages if isinstance(stage, ExchangeStage))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the exchanges."""
        return tuple(stage.name for stage in self.exchanges)

    @property
    def fft_passes(self) -> int:
        """Passes through memory that transform an axis."""
        return sum(len(stage.axes) for stage in self.stages if isinstance(stage, LocalPass))

    @property
    def copy_passes(self) -> int:
        """Passes through memory that copy: packing and unpacking around every exchange."""
        return 2 * len(self.exchanges)

    @cached_property
    def layouts(self) -> tuple[tuple[LocalPass | ExchangeStage, dict[str, str]], ...]:
        """Every stage with the division of each axis at its beginning.

        >>> from pencilmap.model.decompositions import PENCIL
        >>> [division["x"] for stage, division in PENCIL.layouts]
        ['c', 'c', 'c', 'c', '']
        """
        division, result = dict(zip(AXES, self.start)), []
        for stage in self.stages:
            if isinstance(stage, ExchangeStage) and self.returns:
                division = dict(zip(AXES, self.start))
            result.append((stage, dict(division)))
            if isinstance(stage, ExchangeStage):
                division |= {stage.gathered: "", stage.divided: division[stage.divided] + stage.letters}
        return tuple(result)

    def divided_by(self, axis: str) -> str:
        """Return the letters of the dimensions that divide an axis in some stage."""
        letters = "".join(division[axis] for _, division in self.layouts)
        return "".join(letter for letter in self.letters if letter in letters)


# Pencils: a task holds lines along z, then along y, then along x, and two exchanges turn one into the other.
#
# Grid RxC: R tasks in a row (first exchange), C tasks in a column (second exchange). Grid rank r = q*R + p: row q holds the
# ranks of one q, position p in the row is also the number of the column. In the row exchange of row q, task p sends its
# y-block of the z-block of p'; in the column exchange task q sends its x-block of the y-block of q'.

MOST_TASKS = 4096        # above this number the least crossing is taken as k (P-k)


def least_crossing(shape: tuple[int, ...], k: np.ndarray) -> np.ndarray:
    """Return L(k): the least C sum x (R-x) + R sum y (C-y) over all sets of k cells of a grid of C rows of R.

    Parameters
    ----------
    shape : (int, int)
        R and C.
    k : int array
        Numbers of tasks on one side of a cut.

    Returns
    -------
    int array
        Of the shape of k. For more than MOST_TASKS tasks k (P-k), a lower bound: both exchanges together connect every two
        tasks.

    Notes
    -----
    A row with x of its R tasks on one side of a cut sends x (R-x) messages of D_T / (P R) across, a column with y of C
    sends y (C-y) of D_T / (P C). With sum x = sum y = k the least is 2 P k - C sum x^2 - R sum y^2. Pushing the cells of
    every row to the left and sorting the rows by length keeps all x. The columns' y then majorise the y before (Gale,
    Ryser), and sum y^2, which is Schur-convex, does not fall. So some Young diagram is best, rows l_1 >= l_2 >= ..., for
    which sum y^2 = sum (2q-1) l_q: one knapsack over row lengths in falling order.

    References
    ----------
    Compression as in J. H. Lindsey, "Assignment of numbers to vertices", Amer. Math. Monthly 71 (1964).

    Examples
    --------
    >>> least_crossing((2, 2), np.arange(5)).tolist()      # one task sends to two others, two of a row to the other row
    [0, 4, 4, 4, 0]
    """
    P = shape[0] * shape[1]
    return k * (P - k) if P > MOST_TASKS else _least_crossing(max(shape), min(shape))[k]


@lru_cache(maxsize=32)
def _least_crossing(R: int, C: int) -> Ints:
    P = R * C
    half = P // 2  # the other tasks send as much
    squares = np.full((C + 1, half + 1), -1 << 62, dtype=np.int64)
    squares[0, 0] = 0
    for length in range(R, 0, -1):
        for q in range(min(C, half // length)):
            low, high = q * length, min(half - length, q * R) + 1  # tasks in q columns
            after = squares[q + 1, low + length:high + length]
            gain = C * length**2 + R * (2 * q + 1) * length
            np.maximum(after, squares[q, low:high] + gain, out=after)
    crossing = 2 * P * np.arange(half + 1, dtype=np.int64) - squares.max(axis=0)
    return np.concatenate([crossing, crossing[P - half - 1::-1]])


PENCIL = Decomposition(
    name="pencil",
    dimensions=(GridDimension("row", "R"), GridDimension("column", "C")),
    start=("c", "r", ""),
    stages=(LocalPass("z"), ExchangeStage("row", "r", gathered="y", divided="z"),
            LocalPass("y"), ExchangeStage("column", "c", gathered="x", divided="y"),
            LocalPass("x")),
    example="8x64 for rows of 8 tasks and columns of 64",
    least_crossing=least_crossing,
)


# Slabs: a task holds whole planes of y and z, then, after one exchange between all tasks, whole planes of x and z.
#
# The grid is the number of tasks, P. Task p sends its x-block of the y-block of p'. One exchange is started instead of the
# two of pencils, but there can be no more tasks than planes.

SLAB = Decomposition(
    name="slab",
    dimensions=(GridDimension("slab", "P"),),
    start=("s", "", ""),
    stages=(LocalPass("zy"), ExchangeStage("slab", "s", gathered="x", divided="y"), LocalPass("x")),
    example="512 for 512 tasks",
)


# Bricks: a task holds a brick before and after, remapped to the pencils of a grid RxC and back.
#
# ``brick:PxQxS`` has P bricks along x, Q along y, S along z; rank (c*Q + b)*P + a holds block a of x, b of y, c of z.
# Between the remaps bricks are pencils. `pencilmap.model.traffic.exchange` has the messages of a remap.
# Source: R. Schulz, "3D-FFT on different networks", 2008, figure 5; A. Ayala, S. Tomov, A. Haidar, J. Dongarra, "heFFTe:
# Highly efficient FFT for exascale", ICCS 2020.

BRICK = replace(PENCIL, name="brick", has_bricks=True,
                example="8x64 for the pencils between bricks, rows of 8 tasks and columns of 64")


def bricks_named(text: str) -> Decomposition:
    """Return the decomposition ``brick:PxQxS``.

    Raises
    ------
    GridError
        If the text is not understood.

    Examples
    --------
    >>> bricks_named("brick:2x2x4").bricks
    (2, 2, 4)
    """
    if not re.fullmatch(r"brick:[1-9]\d{0,8}x[1-9]\d{0,8}x[1-9]\d{0,8}", text, re.ASCII):
        raise GridError(f"decomposition {text[:40]!r} is not understood; write brick:PxQxS with the numbers of bricks along "
                        "x, y and z, e.g. brick:4x4x4, or brick for those with the least surface")
    p, q, s = map(int, text.split(":")[1].split("x"))
    return replace(BRICK, name=text, bricks=(p, q, s))


# Cubic decomposition: a task holds a brick of the array, and one exchange along each axis makes the lines along it whole.
#
# Grid PxQxS: rank p + P*(q + Q*s) holds block p of x, q of y, s of z. In the x exchange the P tasks of a line of the grid
# send each other 1/P of their bricks: a task then holds whole lines of x in 1/P of its block of z. The y exchange does the
# same in groups of Q, and the z exchange in groups of S, which cuts the block of y. A code that returns to bricks sends the
# messages of an exchange back after it. All messages of an exchange have one size, that of the longest blocks.
#
# Source: T. Imamura, Y. Hirota, D. Mukunoki, Y. Ohi, Y. Tan, "User Manual KMATH_FFT3D", AICS Technical Report 2016-002, and
# its benchmark, for the ranks and the equal blocks; module fft3d_1dalltoall of GENESIS, for the axes that are cut.

CUBIC = Decomposition(
    name="cubic",
    dimensions=(GridDimension("x-line", "P"), GridDimension("y-line", "Q"), GridDimension("z-line", "S")),
    start=("x", "y", "z"),
    stages=(ExchangeStage("x-line", "x", gathered="x", divided="z"), LocalPass("x"),
            ExchangeStage("y-line", "y", gathered="y", divided="z"), LocalPass("y"),
            ExchangeStage("z-line", "z", gathered="z", divided="y"), LocalPass("z")),
    example="16x12x8 for bricks of 1/16 of x, 1/12 of y, 1/8 of z",
    has_equal_blocks=True,
    returns=True,
)


DECOMPOSITIONS = {d.name: d for d in (PENCIL, SLAB, BRICK, CUBIC)}  # the first is the default


def decomposition_named(name: str) -> Decomposition:
    """Return the decomposition of that name, or ``brick:PxQxS``.

    Raises
    ------
    GridError
        If there is no such decomposition.

    Examples
    --------
    >>> decomposition_named("slab").names
    ('slab',)
    """
    if name.startswith("brick:"):
        return bricks_named(name)
    if name not in DECOMPOSITIONS:
        raise GridError(f"decomposition {name!r} is unknown{near(name, DECOMPOSITIONS)}; known are "
                        f"{', '.join(DECOMPOSITIONS)}")
    return DECOMPOSITIONS[name]
