"""A published table or figure: its known numbers, their substitute here, and the differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    """A published value beside ours, for the pages in docs/publications.

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
                "compared": [each.as_dict() for each in self.compared]}


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
