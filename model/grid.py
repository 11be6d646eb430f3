"""The process grid RxC: R tasks in a row (first exchange), C tasks in a column (second exchange).

Grid rank r = q*R + p: row q holds the ranks of one q, position p in the row is also the column's number.
"""

import re
from dataclasses import dataclass

import numpy as np

from pencilmap.model.errors import GridError

MAX_TASKS = 1 << 40


@dataclass(frozen=True)
class ProcessGrid:
    """`R` tasks in a row, `C` in a column.

    >>> str(ProcessGrid(8, 64)), ProcessGrid(8, 64).n_tasks
    ('8x64', 512)
    """

    R: int
    C: int

    def __post_init__(self):
        if self.R < 1 or self.C < 1:
            raise GridError(f"process grid {self.R}x{self.C} is empty; rows and columns need at least 1 task")

    @property
    def n_tasks(self):
        return self.R * self.C

    def rows(self):
        """Ranks of each row: int array, shape (C, R)."""
        return np.arange(self.n_tasks, dtype=np.int64).reshape(self.C, self.R)

    def columns(self):
        """Ranks of each column: int array, shape (R, C)."""
        return self.rows().T

    def __str__(self):
        return f"{self.R}x{self.C}"


def parse_grid(text):
    """Read ``8x64``: rows of 8 tasks, columns of 64.

    >>> parse_grid("8x64")
    ProcessGrid(R=8, C=64)
    """
    match = re.fullmatch(r"(\d{1,12})x(\d{1,12})", text)
    if not match:
        raise GridError(f"process grid {text[:40]!r} is not understood; write RxC, e.g. 8x64 for rows of 8 tasks and "
                        "columns of 64")
    return ProcessGrid(int(match[1]), int(match[2]))


def all_grids(n_tasks):
    """Every grid of `n_tasks` tasks, short rows first.

    >>> [str(g) for g in all_grids(6)]
    ['1x6', '2x3', '3x2', '6x1']
    """
    low = [r for r in range(1, int(n_tasks**0.5) + 1) if n_tasks % r == 0]
    rows = sorted({*low, *(n_tasks // r for r in low)})
    return [ProcessGrid(r, n_tasks // r) for r in rows]


def check_tasks(grid, n_slots, where, allow_idle=False):
    """Raise GridError unless the grid fills the slots (or, with `allow_idle`, fits into them)."""
    if grid.n_tasks == n_slots or (allow_idle and grid.n_tasks < n_slots):
        return
    if grid.n_tasks > n_slots:
        raise GridError(f"grid {grid} has {grid.n_tasks} tasks, but {where} has only {n_slots} slots; "
                        f"take a grid with R*C = {n_slots} or more tasks per node")
    raise GridError(f"grid {grid} has {grid.n_tasks} tasks, but {where} has {n_slots} slots; "
                    f"take a grid with R*C = {n_slots}, or allow idle slots")
