"""A quick look around a prediction: is another placement or schedule of its grid, or another grid, much faster?"""

from collections.abc import Sequence
from dataclasses import replace

from pencilmap.mapper.choose import LARGE, Choice, plan
from pencilmap.mapper.placements import BEST
from pencilmap.model.algorithms import DEFAULT_ALGORITHM
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import worth
from pencilmap.model.schedules import BEST as ANY_SCHEDULE
from pencilmap.model.schedules.schedule import SEQUENCE

MUCH = 1.05  # smaller gains are not worth another grid


def faster_choices(question: Question, found: Prediction) -> tuple[Choice | None, Choice | None]:
    """Return the best placement of the same pencils, and the best other grid, without a search; None if not much faster.

    Of equally good grids, one is taken that needs no placement file. Grids of other decompositions are not looked
    at, nor large networks without products, because every message would be routed.

    Parameters
    ----------
    question : Question
        Its schedule and its routing count.
    found : Prediction

    Examples
    --------
    >>> from pencilmap.mapper.ask import ask
    >>> from pencilmap.mapper.choose import predictions
    >>> question = ask(machine="bluegene-l", fft="512")
    >>> placement, grid = faster_choices(question, predictions(question, ProcessGrid(16, 32), ["default"])[0])
    >>> placement, str(grid.grid)
    (None, '1x512')
    """
    like = found.grid
    if like.decomposition.has_bricks or (like.n_tasks > LARGE and not question.network.has_products):
        return None, None
    others = [grid for grid in all_grids(like.n_tasks, like.decomposition) if grid != like
              and (question.transform is None or question.transform.fills(grid))]
    placement, grid = (quick_choice(question, grids, found.stages[0].algorithm) for grids in ([like], others))
    here = placement if _gain(placement, found) >= MUCH else None
    return here, grid if min(_gain(grid, p) for p in (found, here and here.prediction) if p) >= MUCH else None


def faster_schedule(question: Question, found: Prediction) -> Prediction | None:
    """Return the prediction of the same grid under the best schedule that keeps the boxes, by a quick look; None if it is
    not much faster.

    >>> from pencilmap.mapper.ask import ask
    >>> from pencilmap.mapper.choose import predictions
    >>> question = ask(network="8x8:mesh", bandwidth="1 Gbit/s", fft="64")
    >>> faster_schedule(question, predictions(question, ProcessGrid(8, 8), ["default"])[0]).schedule.name.partition(":")[0]
    'overlap'
    """
    if found.grid.n_tasks > LARGE and not question.network.has_products:
        return None
    best = quick_choice(replace(question, schedule=ANY_SCHEDULE), [found.grid], found.stages[0].algorithm)
    is_other = best is not None and best.schedule != SEQUENCE
    return best.prediction if best is not None and is_other and _gain(best, found) >= MUCH else None


def quick_choice(question: Question, grids: Sequence[ProcessGrid], exchange: str = DEFAULT_ALGORITHM) -> Choice | None:
    """Return the best choice of some grids without a search, None if none is possible."""
    if not grids:
        return None
    try:
        return plan(replace(question, shapes=()), grids=grids, placements=(BEST,), exchanges=(exchange,),
                    schedules=(question.schedule,), effort="quick").best
    except PencilmapError:
        return None


def _gain(choice, found):
    """Return how many times faster a choice is than a prediction, 0 without a choice."""
    mine = worth(choice.prediction) if choice else 0
    return float(worth(found) / mine) if mine else 0.0
