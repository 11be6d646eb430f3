"""The process grid: tasks numbered along the dimensions of a decomposition, the first fastest."""

import re
from dataclasses import dataclass, field
from math import prod

import numpy as np

from pencilmap.model.base.errors import GridError
from pencilmap.model.base.factors import factorisations
from pencilmap.model.decompositions import PENCIL, Decomposition


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

    >>> [str(g) for g in all_grids(6)]
    ['1x6', '2x3', '3x2', '6x1']
    """
    return [ProcessGrid(*shape, decomposition=decomposition)
            for shape in factorisations(n_tasks, len(decomposition.dimensions))]


def per_node(tasks: int) -> str:
    """Return the words ``1 task per node``, ``4 tasks per node``."""
    return f"{tasks} task{'s' * (tasks != 1)} per node"


def check_tasks(grid: ProcessGrid, n_slots: int, where: str, allow_idle: bool = False, tasks_per_node: int = 1) -> None:
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
