"""A published table or figure: its known numbers, their substitute here, and the differences; and the steps of a transform.

A drawing has no numbers, but it shows a number of steps, of exchanges, or of groups. These follow from the decompositions
of the library. `Compared.published` is the number in the drawing or in its text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from pencilmap.model.decompositions import AXES, DECOMPOSITIONS, Decomposition, ExchangeStage
from pencilmap.model.placement.grid import ProcessGrid

PICTURE = "a picture: its points are not available in text"
DRAWING = "a drawing without numbers"
SAME = "The same."  # the difference of two equal values
LONG_S = 120.0  # a figure that takes longer says so in the list

#: how a value here was made
KINDS = {
    "exact": "follows from definitions, without a figure of a machine",
    "measured": "by runs on this machine, under mpirun",
    "simulated": "by runs on a simulated network, under SimGrid",
    "modelled": "by the time model, with the figures of a machine file",
    "assumed": "a figure that no source gives",
}


@dataclass(frozen=True)
class Compared:
    """A published value beside ours, for the pages in docs/results/publications.

    Parameters
    ----------
    of : str
        The quantity, with its unit.
    published, here : float or str
        Both values; a text if there is no number.
    kind : str
        How ours was made, words of `KINDS`.
    difference : str
        A sentence on the difference.
    """

    of: str
    published: float | str
    here: float | str
    kind: str
    difference: str

    @property
    def ratio(self) -> float | None:
        """Ours over the published value; None without two numbers."""
        if isinstance(self.published, str) or isinstance(self.here, str) or not self.published:
            return None
        return self.here / self.published

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"of": self.of, "published": self.published, "here": self.here, "ratio": self.ratio, "kind": self.kind,
                "difference": self.difference}


@dataclass(frozen=True)
class Found:
    """Computed and published values; columns that start with ``>`` are numbers, with SI units in the names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    compared: Sequence[Compared] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values: each row is an object of its columns."""
        names = [name.lstrip(">") for name in self.columns]
        return {"rows": [dict(zip(names, row)) for row in self.rows], "notes": list(self.notes),
                "compared": [item.as_dict() for item in self.compared]}


@dataclass(frozen=True)
class Figure:
    """A published table or figure in the table of a source.

    Parameters
    ----------
    title : str
        The title of the table or figure.
    published : str
        The available numbers, and their place.
    here : str
        The computed or measured substitute, and its differences.
    compute : callable
        Makes the substitute.
    measures : bool
        Whether `compute` runs programs under mpirun on this machine.
    simulates : bool
        Whether `compute` runs programs on a simulated network, which needs SimGrid.
    kind : str
        How the values were made, words of `KINDS`; by default from the two flags.
    takes_s : float, optional
        Seconds on two free processors, if more than `LONG_S`.
    """

    title: str
    published: str
    here: str
    compute: Callable[[], Found] = field(repr=False)
    measures: bool = False
    simulates: bool = False
    kind: str = ""
    takes_s: float | None = None

    def __post_init__(self) -> None:
        by_default = "measured" if self.measures else "modelled, simulated" if self.simulates else "modelled"
        object.__setattr__(self, "kind", self.kind or by_default)

    @property
    def takes(self) -> str:
        """How long the figure takes on two free processors, in words."""
        return f"under {LONG_S / 60:.0f} min" if self.takes_s is None else f"{self.takes_s / 60:.0f} min"


# ---- the steps and the limits of a transform -----------------------------------------------------------------------------


def steps_of(grid: ProcessGrid, n: int) -> list[list[Any]]:
    """Return a row for each step of a transform of n^3: its work, groups, tasks of a group, and a task's box before it.

    >>> from pencilmap.model.decompositions import SLAB
    >>> steps_of(ProcessGrid(4, decomposition=SLAB), 8)[1]
    [2, 'all-to-all, y divided, x gathered', 1, 4, '2x8x8']
    """
    rows: list[list[Any]] = []
    for number, (stage, division) in enumerate(grid.decomposition.layouts, 1):
        box = "x".join(str(n // prod(grid.extent(letter) for letter in division[axis])) for axis in AXES)
        if isinstance(stage, ExchangeStage):
            tasks = prod(grid.extent(letter) for letter in stage.letters)
            rows.append([number, f"all-to-all, {stage.divided} divided, {stage.gathered} gathered", grid.n_tasks // tasks,
                         tasks, box])
        else:
            rows.append([number, f"FFTs along {' and '.join(stage.axes)}", grid.n_tasks, 1, box])
    return rows


def most_tasks(decomposition: Decomposition, n: int) -> int:
    """Return the most tasks that get a part of n^3 in every step: n along each dimension of the grid.

    >>> from pencilmap.model.decompositions import PENCIL, SLAB
    >>> most_tasks(SLAB, 64), most_tasks(PENCIL, 64)
    (64, 4096)
    """
    return prod(n for letter in decomposition.letters if any(letter in decomposition.divided_by(axis) for axis in AXES))


def steps(name: str, grid: tuple[int, ...], n: int, published: dict[str, int], note: str = "") -> Found:
    """Return the steps of a decomposition, beside the numbers of steps, all-to-alls and groups in the drawing.

    Parameters
    ----------
    name
        Name of the decomposition.
    grid
        Its process grid.
    published
        The words below, and the numbers of the drawing.
    """
    rows = steps_of(ProcessGrid(*grid, decomposition=DECOMPOSITIONS[name]), n)
    exchanges = [row for row in rows if "all-to-all" in str(row[1])]
    counts = {"steps": len(rows), "all-to-alls": len(exchanges), "steps with FFTs": len(rows) - len(exchanges),
              "groups of the first all-to-all": exchanges[0][2], "groups of the last all-to-all": exchanges[-1][2],
              "tasks of a group": exchanges[0][3], f"most tasks for {n}^3": most_tasks(DECOMPOSITIONS[name], n)}
    shape = "x".join(map(str, grid))
    compared = [Compared(of, old, counts[of], "exact", SAME) for of, old in published.items()]
    notes = [f"{n}^3 points, {name} on {shape} tasks; box: the part of a task before the step; fft_runner --grid {shape} "
             f"--decomposition {name} --print-plan prints the steps of any plan"]
    return Found([">step", "work", ">groups", ">tasks of a group", "box"], rows, [*notes, *([note] if note else [])],
                 compared)
