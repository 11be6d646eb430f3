"""A published table or figure: its known numbers, their substitute here, and the differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

PICTURE = "a picture: its points are not available in text"
SKETCH = "a sketch: nothing to compute"


@dataclass(frozen=True)
class Found:
    """Computed and published values; columns that start with ``>`` are numbers, with SI units in the names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values: each row is an object of its columns."""
        names = [name.lstrip(">") for name in self.columns]
        return {"rows": [dict(zip(names, row)) for row in self.rows], "notes": list(self.notes)}


@dataclass(frozen=True)
class Figure:
    """A line of the table of a source.

    title : the title of the table or figure. published : the available numbers, and their place. here : the substitute that
    is computed or measured, and its differences. compute : makes the substitute; None if there is nothing to compute.
    measures : whether `compute` runs programs under mpirun on this machine. simulates : whether `compute` runs programs on
    a simulated network, which needs SimGrid.
    """

    title: str
    published: str
    here: str
    compute: Callable[[], Found] | None = field(default=None, repr=False)
    measures: bool = False
    simulates: bool = False
