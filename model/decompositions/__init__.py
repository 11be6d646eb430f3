"""Decompositions: a table from a name to the shares of the array and the exchanges.

A new decomposition is a file here and a line below.
"""

from pencilmap.model.base.errors import GridError, near
from pencilmap.model.decompositions.brick import BRICK, bricks_named
from pencilmap.model.decompositions.cubic import CUBIC
from pencilmap.model.decompositions.decomposition import Decomposition
from pencilmap.model.decompositions.pencil import PENCIL
from pencilmap.model.decompositions.slab import SLAB

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
