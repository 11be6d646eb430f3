"""A quick look around a prediction: is another placement or schedule of its grid, or another grid, much faster?"""

from dataclasses import replace

from pencilmap.mapper.plan import LARGE, Choice, plan
from pencilmap.mapper.where import BEST, Where
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.predict.ranking import worth
from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules import BEST as ANY_SCHEDULE
from pencilmap.model.schedules.schedule import SEQUENCE

MUCH = 1.05  # smaller gains are not worth another grid


def faster_choices(where: Where, found: Prediction, schedule: str,
                   routing: str | None = None) -> tuple[Choice | None, Choice | None]:
    """Return the best placement of the same pencils, and the best other grid, without a search; None if not much faster.

    Of equally good grids, one is taken that needs no placement file. Grids of other decompositions are not looked
    at, nor large networks without products, because every message would be routed.

    Parameters
    ----------
    where : Where
    found : Prediction
    schedule : str
    routing : str, optional
        The rule of the prediction, unless it is that of the network.

    Examples
    --------
    >>> from pencilmap.mapper.setting import setting
    >>> where = setting(machine="bluegene-l", fft="512")
    >>> placement, grid = faster_choices(where, where.predictions("16x32", ["default"])[0], "sequence")
    >>> placement, str(grid.grid)
    (None, '1x512')
    """
    like = found.grid
    if like.decomposition.has_bricks or (like.n_tasks > LARGE and not where.network.has_products):
        return None, None
    others = [grid for grid in all_grids(like.n_tasks, like.decomposition) if grid != like
              and (where.transform is None or where.transform.fills(grid))]
    placement, grid = (_best(where, grids, schedule, routing, found.stages[0].algorithm) for grids in ([like], others))
    here = placement if _gain(placement, found) >= MUCH else None
    return here, grid if min(_gain(grid, p) for p in (found, here and here.prediction) if p) >= MUCH else None


def faster_schedule(where: Where, found: Prediction, routing: str | None = None) -> Prediction | None:
    """Return the prediction of the same grid under the best schedule that keeps the boxes, by a quick look; None if it is
    not much faster.

    >>> from pencilmap.mapper.setting import setting
    >>> where = setting(network="8x8:mesh", bandwidth="1 Gbit/s", fft="64")
    >>> faster_schedule(where, where.predictions("8x8", ["default"])[0]).schedule.name.partition(":")[0]
    'overlap'
    """
    if found.grid.n_tasks > LARGE and not where.network.has_products:
        return None
    best = quick_choice(where, found.grid, ANY_SCHEDULE, routing, found.stages[0].algorithm)
    is_other = best is not None and best.schedule_name != SEQUENCE
    return best if best is not None and is_other and worth(found) / worth(best) >= MUCH else None


def quick_choice(where: Where, grid: ProcessGrid, schedule: str, routing: str | None = None,
                 exchange: str = DEFAULT_ALGORITHM) -> Prediction | None:
    """Return the prediction of the best placement of a grid by a quick look, None if the grid is not possible."""
    best = _best(where, [grid], schedule, routing, exchange)
    return best and best.prediction


def _best(where, grids, schedule, routing, exchange):
    """Return the best choice of some grids without a search, None if none is possible."""
    if not grids:
        return None
    try:
        return plan(replace(where, shapes=()), grids=grids, placements=(BEST,), exchanges=(exchange,), schedules=(schedule,),
                    routing=routing, effort="quick").best
    except PencilmapError:
        return None


def _gain(choice, found):
    """Return how many times faster a choice is than a prediction, 0 without a choice."""
    mine = worth(choice.prediction) if choice else 0
    return float(worth(found) / mine) if mine else 0.0
