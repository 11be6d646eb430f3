"""What a decomposition is: how the tasks share the array, and the stages that bring every axis whole to some task.

A transform is a sequence of stages. In a local pass a task transforms lines that it holds whole. In an exchange the tasks
of a group share out another axis among themselves. All that the model needs to know of a decomposition follows from this
sequence: groups, messages, the least extents, the work between the exchanges.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

AXES = "xyz"


@dataclass(frozen=True)
class GridDimension:
    """One dimension of the process grid.

    name : of the groups of tasks along it, e.g. "row"
    symbol : what its extent is called in messages, e.g. "R"
    """

    name: str
    symbol: str

    @property
    def letter(self) -> str:
        """Its digit in placements."""
        return self.name[0]


@dataclass(frozen=True)
class LocalPass:
    """Every task transforms its lines along these axes; it holds them whole."""

    axes: str


@dataclass(frozen=True)
class ExchangeStage:
    """All-to-alls in groups, all at the same time.

    name : str
    letters : the grid dimensions along which the tasks of a group lie
    gathered : the axis that was divided among the group and is whole afterwards
    divided : the axis that was whole and is divided afterwards
    """

    name: str
    letters: str
    gathered: str
    divided: str


def all_to_all_crossing(shape: tuple[int, ...], k: np.ndarray) -> np.ndarray:
    """k (P-k): the exchanges of a transform together bring a block from every task to every other."""
    return k * (int(np.prod(shape)) - k)


@dataclass(frozen=True)
class Decomposition:
    """One line of the table of decompositions.

    name : str
    dimensions : of the process grid, the fastest first; their letters differ
    start : for each axis x, y, z the letters of the dimensions that divide it in the beginning
    stages : local passes and exchanges in the order of a forward transform
    example : a grid as text, and what it means
    has_bricks : whether tasks hold bricks before and after, which are remapped
    bricks : how many along x, y and z; None where they are to be chosen
    least_crossing : (shape of the grid, numbers k of tasks on one side of a cut) -> the least sent across, in D_T / P^2
    """

    name: str
    dimensions: tuple[GridDimension, ...]
    start: tuple[str, str, str]
    stages: tuple[LocalPass | ExchangeStage, ...]
    example: str
    least_crossing: Callable[[tuple[int, ...], np.ndarray], np.ndarray] = all_to_all_crossing
    has_bricks: bool = False
    bricks: tuple[int, int, int] | None = None

    def __hash__(self) -> int:  # must be cheap: decompositions are part of the keys of caches
        return hash(self.name)

    @property
    def letters(self) -> str:
        """The digit letters of the grid's dimensions."""
        return "".join(d.letter for d in self.dimensions)

    @property
    def usage(self) -> str:
        """How a grid is written."""
        return "x".join(d.symbol for d in self.dimensions)

    @property
    def exchanges(self) -> tuple[ExchangeStage, ...]:
        """The exchanges, in the order of a forward transform."""
        return tuple(stage for stage in self.stages if isinstance(stage, ExchangeStage))

    @property
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
        """Every stage with what divides each axis when it begins.

        >>> from pencilmap.model.decompositions import PENCIL
        >>> [division["x"] for stage, division in PENCIL.layouts()]
        ['c', 'c', 'c', 'c', '']
        """
        division = dict(zip(AXES, self.start))
        for stage in self.stages:
            yield stage, dict(division)
            if isinstance(stage, ExchangeStage):
                division |= {stage.gathered: "", stage.divided: stage.letters}

    def divided_by(self, axis: str) -> str:
        """Letters of the dimensions that divide an axis in some stage."""
        found = "".join(division[axis] for _, division in self.layouts())
        return "".join(letter for letter in self.letters if letter in found)
