"""Grids of one group: pencils 1xP, and Px1 with even blocks, are the same question as slabs P."""

from fractions import Fraction

from pencilmap.model.decompositions import SLAB
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import Objective, objective


def as_slab(grid: ProcessGrid, wanted: Objective,
            transform: Transform | None = None) -> tuple[ProcessGrid, Objective] | None:
    """Return the grid of slabs with the same ranks, messages and cost, and its objective; None if there is none.

    Parameters
    ----------
    grid : ProcessGrid
    wanted : Objective
    transform : Transform, optional
        Its blocks give the sizes of the messages; without a transform all are equal.

    Examples
    --------
    >>> from pencilmap.model.traffic.loads import in_sequence
    >>> slab, wanted = as_slab(ProcessGrid(1, 6), in_sequence(2))
    >>> str(slab), wanted == in_sequence(1), as_slab(ProcessGrid(2, 3), in_sequence(2))
    ('6', True, None)
    """
    if len(grid.shape) == 1 or grid.n_tasks not in grid.shape:
        return None
    slab = ProcessGrid(grid.n_tasks, decomposition=SLAB)
    at, [like] = grid.shape.index(grid.n_tasks), exchanges(slab, transform)
    letter = grid.decomposition.letters[at]
    e, mine = next((e, some) for e, some in enumerate(exchanges(grid, transform)) if letter in some.letters)
    if any(getattr(mine, name).tolist() != getattr(like, name).tolist()
           for name in ("members", "group_weight", "send_weight", "receive_weight")):
        return None
    return slab, objective((term.count * Fraction(term.shares[e]),) for term in wanted.terms)
