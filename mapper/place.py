"""The placement of a grid: by a text, or the fastest of all families by all terms of the time model."""

from typing import TYPE_CHECKING

from pencilmap.mapper.base.progress import parts
from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import BEST, check_name, place as place_at, takes_objective
from pencilmap.mapper.placements.best import candidates, search_of_text, searched
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.seeds.products import best_product_of
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping, Placement
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction, answer
from pencilmap.model.predict.question import Question
from pencilmap.model.predict.ranking import BY, worth
from pencilmap.model.schedules import objectives
from pencilmap.model.schedules.schedule import BACKWARD, PAIR, SEQUENCE, directed

if TYPE_CHECKING:
    from pencilmap.model.lines.line_problem import LineProblem

Placed = tuple[Placement, Prediction]


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
    placements: list[Placement] = []
    within = search_of_text(argument, question.site, grid, question.robust) if name == "search" else Search()
    for objective in objectives(question.schedule, grid, question.direction):
        if name == "search":
            placements += [searched(question.site, grid, within.part(1), objective, question.robust, uneven)
                           for uneven in _uneven(question, grid)]
        else:
            placements.append(place_at(text, question.site, grid, objective))
    return min(placements, key=lambda placement: answer(question, placement).order)


def best_placement(question: Question, grid: ProcessGrid, within: Search | None = None, brief: bool = False,
                   alone: bool = False) -> Placed:
    """Return the fastest placement of all families and its prediction; never slower than the launch order.

    Parameters
    ----------
    question : Question
    grid : ProcessGrid
    within : Search, optional
        Without a budget there is no search.
    brief : bool
        Search for one objective only, with the whole budget; of a free schedule that of chunks that overlap.
    alone : bool
        Leave the launch order out: a caller that ranks many grids compares it with few.
    """
    within = within or Search()
    site, rules = question.site, () if question.routing is None else (question.routing,)
    placements: list[Placement] = []
    is_whole = _is_whole(question, grid)
    if question.schedule == SEQUENCE and question.transform and is_whole:
        placements = [best_product_of(as_torus(site.network), grid, site.tasks_per_node, uneven)
                      for uneven in _uneven(question, grid)]
    several = objectives("overlap" if brief and question.schedule == BEST else question.schedule, grid, question.direction)
    several = several if not brief or is_whole else several[:1]
    steps = parts(len(several) * (1 + (question.halo is not None)))
    for i, objective in enumerate(several):
        is_first = i == 0 and (brief or question.schedule != BEST)  # the objective of the schedule gets most
        own = within.part(1 if is_first else 0 if brief else 1 / len(several))  # without a search products may be better
        with next(steps):
            placements += [placement for uneven in _uneven(question, grid)
                           for placement in candidates(site, grid, objective, own.part(1), rules, uneven, question.robust)
                           if not (placement.is_product and placement in placements)]
        if question.halo and question.transform:
            from pencilmap.mapper.searches.traffic_search import search_transform  # few questions have halos

            with next(steps):  # a brief search would spend more on its starts than on its swaps
                placements += search_transform(site, grid, question.transform, objective, question.halo,
                                          own.part(0 if brief or i else 1), [first.mapping(BEST) for first in placements])
    best = min(((placement, answer(question, placement, BEST)) for placement in placements), key=lambda pair: pair[1].order)
    return best if alone else or_launch(question, *best)


def or_launch(question: Question, placement: Placement, prediction: Prediction) -> Placed:
    """Return a placement and its prediction, or those of the launch order of its grid if that is faster."""
    launch = launched(question.site, prediction.grid)
    if not placement.is_product and placement.mapping().is_at(launch):
        return placement, prediction
    both = (placement, prediction), (launch, answer(question, launch, prediction.placement))
    return min(both, key=lambda pair: tuple(worth(pair[1], by) for by in BY))


def _uneven(question: Question, grid: ProcessGrid) -> tuple[Transform | None, ...]:
    """Return the transforms whose blocks a search counts, of a pair one after the other; None if blocks are even."""
    transform = question.transform
    if transform is None or transform.divides_evenly(grid):
        return (None,)
    return (transform, *([directed(transform, BACKWARD)] if question.direction == PAIR else []))


def _is_whole(question: Question, grid: ProcessGrid) -> bool:
    """Return whether the grid takes every slot of a whole torus, so that it has product placements."""
    return (question.network.has_products and question.site.allocation.is_complete
            and grid.n_tasks == question.n_slots)


def placed_lines(question: Question, problem: "LineProblem", text: str) -> Mapping:
    """Return a placement of distributed lines: on the grid of `LineProblem.grids` with the least time of the lines.

    Parameters
    ----------
    question : Question
    problem : LineProblem
    text : str
        Name of the placement.

    Raises
    ------
    PlacementError
        If the placement exists on none of these grids.
    """
    from pencilmap.model.lines.line_plan import line_time  # few questions are about lines

    lines, missing = [], []
    for grid in problem.grids(question.n_slots):
        try:
            lines.append(place(question, text, grid).mapping(text))
        except PlacementError as error:
            missing.append(error)
    if not lines:
        raise missing[0]
    return min(lines, key=lambda mapping: line_time(problem.forecast(mapping, question.costs)))
