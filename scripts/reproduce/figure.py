"""One published table or figure: what of it is known as numbers, what is computed in its place, and what differs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

PICTURE = "a picture: its points are not available in text"
SKETCH = "a sketch: nothing to compute"


@dataclass(frozen=True)
class Found:
    """What was computed, beside what was published; columns that start with ``>`` are numbers, SI units in the names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON: a row is an object of its columns."""
        names = [name.lstrip(">") for name in self.columns]
        return {"rows": [dict(zip(names, row)) for row in self.rows], "notes": list(self.notes)}


@dataclass(frozen=True)
class Figure:
    """A line of the table of a source.

    title : what it shows.
    published : what of it is available as numbers, and where.
    here : what is computed or measured in its place, and what differs.
    compute : makes it; None where there is nothing to compute.
    measures : whether it runs programs under mpirun on this machine.
    simulates : whether it runs them on a simulated network; that takes SimGrid.
    """

    title: str
    published: str
    here: str
    compute: Callable[[], Found] | None = field(default=None, repr=False)
    measures: bool = False
    simulates: bool = False
