"""Two routes through a transform at once: part of the array by rows first, the rest by columns first.

After z is transformed, a lane on the first route (A) exchanges rows, transforms y, exchanges columns, and transforms x. A
lane on the second route (B) first exchanges columns, which gathers x and divides z, and transforms x. Then it exchanges
rows, which gathers y and divides x, and transforms y. In each of the two phases the rows of one lane and the columns of the
other are on the network.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.decompositions.decomposition import AXES, Decomposition, ExchangeStage, LocalPass
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import Part, Phase, passes
from pencilmap.model.traffic.exchange import exchanges


def check_routes(name: str, grid: ProcessGrid) -> None:
    """Raise ScheduleError unless the decomposition has two exchanges, whose order can be exchanged."""
    found = len(grid.decomposition.exchanges)
    if found != 2:
        raise ScheduleError(f"schedule {name} lets two exchanges pass each other, but a {grid.decomposition.name} "
                            f"decomposition has {found}; use pencils, or the schedule sequence")


@lru_cache
def turned(decomposition: Decomposition) -> Decomposition:
    """Return the same decomposition with its two exchanges in the other order (route B).

    >>> from pencilmap.model.decompositions import PENCIL
    >>> [(stage.name, stage.gathered, stage.divided) for stage in turned(PENCIL).exchanges]
    [('column', 'x', 'z'), ('row', 'y', 'x')]
    """
    first, second = decomposition.exchanges
    stages = (decomposition.stages[0], ExchangeStage(second.name, second.letters, second.gathered, first.divided),
              LocalPass(second.gathered), ExchangeStage(first.name, first.letters, first.gathered, second.gathered),
              LocalPass(first.gathered))
    return replace(decomposition, name=f"{decomposition.name}, turned", stages=stages)


def phases_of(lanes: Sequence[Transform] | None, share: Fraction, grid: ProcessGrid,
              transform: Transform | None) -> tuple[tuple[Part, ...], tuple[Phase, ...]]:
    """Return parts and phases if a `share` of the array takes route A and the rest route B.

    Parameters
    ----------
    lanes : sequence of Transform or None
        Lanes of routes A and B; None: shares of the whole exchanges.
    share : Fraction
    grid : ProcessGrid
    transform : Transform or None

    Notes
    -----
    If all blocks are even, the lanes are shares of the same exchanges.
    """
    n = len(passes(grid))
    idle, meanwhile = (Fraction(0),) * n, tuple((1 - share) * (i == n - 1) for i in range(n))
    even = transform is None or lanes is None or (transform.divides_evenly(grid) and all(
        _is_even(lane, route) for lane, route in zip(lanes, _routes(grid))))
    if even:
        parts: tuple[Part, ...] = (Part(0), Part(1))
        shares: tuple[tuple[Fraction, ...], ...] = ((share, 1 - share), (1 - share, share))
    else:
        assert transform is not None and lanes is not None
        a, b = ([_maker(route, lane, i, transform) for i in range(2)] for route, lane in zip(_routes(grid), lanes))
        parts = (Part(0, a[0]), Part(1, a[1]), Part(1, b[0]), Part(0, b[1]))
        one, none = Fraction(1), Fraction(0)
        shares = ((one, none, one, none), (none, one, none, one))
    return parts, tuple(Phase(some, (0, 1), hidden) for some, hidden in zip(shares, (idle, meanwhile)))


def _routes(grid):
    return grid, ProcessGrid(*grid.shape, decomposition=turned(grid.decomposition))


def _is_even(lane, grid):
    """Return whether all messages of a lane's exchanges have the same size."""
    return all(not n % grid.extent(letters) for stage, division in grid.decomposition.layouts()
               for axis, n in zip(AXES, lane.exchanged) for letters in [division[axis]] if letters)


def _maker(grid, lane, i, transform):
    return lambda carried: carried(replace(exchanges(grid, lane)[i], total_bytes=transform.total_bytes))
