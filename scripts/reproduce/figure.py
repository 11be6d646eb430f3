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
    """A published table or figure in the table of a source.

    Parameters
    ----------
    title : str
        The title of the table or figure.
    published : str
        The available numbers, and their place.
    here : str
        The computed or measured substitute, and its differences.
    compute : callable, optional
        Makes the substitute; None if there is nothing to compute.
    measures : bool
        Whether `compute` runs programs under mpirun on this machine.
    simulates : bool
        Whether `compute` runs programs on a simulated network, which needs SimGrid.
    """

    title: str
    published: str
    here: str
    compute: Callable[[], Found] | None = field(default=None, repr=False)
    measures: bool = False
    simulates: bool = False
