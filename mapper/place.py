"""The placement of a grid: by a text, or the fastest of all families by all terms of the time model."""

from fractions import Fraction

from pencilmap.mapper.base.limit import UNLIMITED, Limit, share_of
from pencilmap.mapper.base.progress import parts
from pencilmap.mapper.placements import BEST, check_name, place as place_at, takes_objective
from pencilmap.mapper.placements.best import candidates, robust_search
from pencilmap.mapper.placements.search import search
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.seeds.products import best_product_of
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Placement
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction, answer
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import BY, worth
from pencilmap.model.schedules import objectives
from pencilmap.model.schedules.schedule import BACKWARD, PAIR, SEQUENCE, directed

HALF = 2  # divides the usual evaluations of the search of one grid: 1 to 3 s
Placed = tuple[Placement, Prediction]


def share(effort: str) -> Fraction:
    """Return the divisor of the usual evaluations of the search of one grid."""
    return share_of(effort) * HALF


def place(question: Question, text: str, grid: ProcessGrid) -> Placement:
    """Return the placement that `text` describes, see `pencilmap.mapper.placements.place`.

    A placement that searches gives the fastest by all terms of the time model, under the schedule of the question.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.placement.allocation import Site
    >>> question, grid = Question(site=Site(Torus((8, 8, 8)))), ProcessGrid(8, 64)
    >>> [str(answer(question, place(question, text, grid)).cost) for text in ("box:2x2x2", "default")]
    ['6', '8']
    """
    check_name(text)
    if text == BEST:
        return best_placement(question, grid)[0]
    if not takes_objective(text):
        return place_at(text, question.site, grid)
    name, _, argument = text.partition(":")
    found: list[Placement] = []
    for wanted in objectives(question.schedule, grid, question.direction):
        if name == "search":
            found += [search(argument, question.site, grid, wanted, robust=question.robust, transform=uneven)
                      for uneven in _uneven(question, grid)]
        else:
            found.append(place_at(text, question.site, grid, wanted))
    return min(found, key=lambda placed: answer(question, placed).order)


def best_placement(question: Question, grid: ProcessGrid, share: int | Fraction = 1, limit: Limit = UNLIMITED,
                   brief: bool = False, alone: bool = False) -> Placed:
    """Return the fastest placement of all families and its prediction; never slower than the launch order.

    Parameters
    ----------
    question : Question
    grid : ProcessGrid
    share : int or Fraction
        Divides the usual evaluations of searches; for 0 there is no search.
    limit : Limit
        Seed and time limit.
    brief : bool
        Search for one objective only, with all evaluations; of a free schedule that of chunks that overlap.
    alone : bool
        Leave the launch order out: a caller that ranks many grids compares it with few.
    """
    site, rules = question.site, () if question.routing is None else (question.routing,)
    found: list[Placement] = []
    is_whole = _is_whole(question, grid)
    if question.schedule == SEQUENCE and question.transform and is_whole:
        found = [best_product_of(as_torus(site.network), grid, site.tasks_per_node, uneven)
                 for uneven in _uneven(question, grid)]
    several = objectives("overlap" if brief and question.schedule == BEST else question.schedule, grid, question.direction)
    several = several if not brief or is_whole else several[:1]
    steps = parts(len(several) * (1 + question.robust + (question.halo is not None)))
    for i, wanted in enumerate(several):
        effort = share * (len(several) if i or question.schedule == BEST else 1)  # the objective of the schedule gets most
        if brief:
            effort = 0 if i else share  # further objectives may have better products
        with next(steps):
            found += [placed for uneven in _uneven(question, grid)
                      for placed in candidates(site, grid, wanted, effort, limit, rules, uneven)
                      if not (placed.is_product and placed in found)]
        if question.robust:
            with next(steps):
                found += robust_search(site, grid, wanted, effort, limit, question.transform)
        if question.halo and question.transform:
            from pencilmap.mapper.searches.halo_search import with_halo  # few questions have halos

            with next(steps):  # a brief search would spend more on its starts than on its swaps
                found += with_halo(site, grid, question.transform, wanted, question.halo, 0 if brief or i else effort, limit)
    best = min(((placed, answer(question, placed, BEST)) for placed in found), key=lambda each: each[1].order)
    return best if alone else or_launch(question, *best)


def or_launch(question: Question, placed: Placement, prediction: Prediction) -> Placed:
    """Return a placement and its prediction, or those of the launch order of its grid if that is faster."""
    launch = launched(question.site, prediction.grid)
    if not placed.is_product and placed.mapping().is_at(launch):
        return placed, prediction
    both = (placed, prediction), (launch, answer(question, launch, prediction.placement))
    return min(both, key=lambda each: tuple(worth(each[1], by) for by in BY))


def _uneven(question: Question, grid: ProcessGrid) -> tuple[Transform | None, ...]:
    """Return the transforms whose blocks a search counts, of a pair one after the other; None if blocks are even."""
    transform = question.transform
    if transform is None or transform.divides_evenly(grid):
        return (None,)
    return (transform, *([directed(transform, BACKWARD)] if question.direction == PAIR else []))


def _is_whole(question, grid):
    """Return whether the grid takes every slot of a whole torus, so that it has product placements."""
    return (question.network.has_products and question.site.allocation.is_complete
            and grid.n_tasks == question.n_slots)
