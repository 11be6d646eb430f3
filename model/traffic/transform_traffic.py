"""The traffic of a transform and its halos as that of any program: phases for the terms of an objective and for the halo."""

from fractions import Fraction
from math import lcm

import numpy as np

from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import Exchange, exchanges
from pencilmap.model.traffic.halo import Halo
from pencilmap.model.traffic.objective import Objective
from pencilmap.model.traffic.program import Communicator, Pairs, Phase, Traffic, joined, pairs_of
from pencilmap.model.traffic.remap import bricks_of

FINEST = 1000  # greatest denominator of a weight


def transform_traffic(grid: ProcessGrid, transform: Transform, wanted: Objective, halo: Halo) -> Traffic:
    """Return the traffic whose busiest links, summed over the phases, are the objective and the weighted halo.

    All bytes are multiplied by the least number that makes them whole. The grid of the ranks is a Cartesian communicator.

    Parameters
    ----------
    grid : ProcessGrid
    transform : Transform
    wanted : Objective
    halo : Halo

    Raises
    ------
    GridError
        If the halo is wider than the array.

    Examples
    --------
    >>> from pencilmap.model.traffic.objective import in_sequence
    >>> found = transform_traffic(ProcessGrid(2, 2), Transform(4, 4, 4), in_sequence(2), Halo(1, 0.5))
    >>> [int(phase.bytes.sum()) for phase in found.phases]
    [1024, 1024, 4608]
    """
    sent = [_pairs(exchange) for exchange in exchanges(grid, transform)]
    weight = Fraction(halo.weight).limit_denominator(FINEST) or Fraction(1, FINEST)
    parts = [[term.count * share for share in term.shares] for term in wanted.terms]
    scale = lcm(weight.denominator, *(part.denominator for shares in parts for part in shares))
    phases = [joined(_times(pairs, scale * part) for pairs, part in zip(sent, shares) if part) for shares in parts]
    phases.append(_times(_pairs(halo.messages(grid, transform)), scale * weight))
    n = grid.n_tasks
    return Traffic(n, tuple(Phase(n, pairs) for pairs in phases), tuple(_grids(grid, transform)))


def _pairs(exchange: Exchange) -> Pairs:
    """Return the messages of an exchange one by one."""
    shape = (*exchange.members.shape, exchange.size)
    sizes = exchange.send_weight[:, None] * exchange.receive_weight * exchange.unit_bytes
    sent = np.broadcast_to(exchange.group_weight[:, None, None] * sizes, shape)
    source, target = (np.broadcast_to(side, shape) for side in (exchange.members[:, :, None], exchange.members[:, None, :]))
    found = pairs_of(source.ravel(), target.ravel(), sent.ravel())
    return found.where(found.bytes > 0)


def _times(pairs, factor):
    return pairs_of(pairs.source, pairs.target, pairs.bytes * int(factor))


def _grids(grid, transform):
    """Yield the grids of the ranks: that of the transform, and that of its bricks."""
    shapes = [grid.shape]
    if grid.decomposition.has_bricks:
        shapes.append(bricks_of(grid.decomposition, grid.n_tasks, transform))
    for shape in shapes:
        extents = tuple(int(n) for n in shape[::-1] if n > 1)
        if len(extents) > 1:
            yield Communicator(np.arange(grid.n_tasks), extents, (True,) * len(extents))
