"""The terms of a decomposition: the tasks' shares of the array, and the stages that bring every axis whole to some task.

A transform is a sequence of stages. In a local pass a task transforms lines that it holds whole. In an exchange the tasks
of a group share out another axis among themselves. The model derives everything else from this sequence: groups,
messages, the least extents, the work between the exchanges.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

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

    def layouts(self) -> Iterator[tuple[LocalPass | ExchangeStage, dict[str, str]]]:
        """Yield every stage with the division of each axis at its beginning.

        >>> from pencilmap.model.decompositions import PENCIL
        >>> [division["x"] for stage, division in PENCIL.layouts()]
        ['c', 'c', 'c', 'c', '']
        """
        division = dict(zip(AXES, self.start))
        for stage in self.stages:
            if isinstance(stage, ExchangeStage) and self.returns:
                division = dict(zip(AXES, self.start))
            yield stage, dict(division)
            if isinstance(stage, ExchangeStage):
                division |= {stage.gathered: "", stage.divided: division[stage.divided] + stage.letters}

    def divided_by(self, axis: str) -> str:
        """Return the letters of the dimensions that divide an axis in some stage."""
        found = "".join(division[axis] for _, division in self.layouts())
        return "".join(letter for letter in self.letters if letter in found)
