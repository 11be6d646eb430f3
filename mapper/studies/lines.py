"""Placements of the ranks of distributed lines."""

from pencilmap.mapper.place import place
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.lines.line_plan import line_time
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.predict.question import Question


def placed_lines(where: Question, problem: LineProblem, text: str) -> Mapping:
    """Return a placement on the grid of `LineProblem.grids` with the least time of the lines.

    Parameters
    ----------
    where : Question
    problem : LineProblem
    text : str
        Name of the placement.

    Raises
    ------
    PlacementError
        If the placement exists on none of these grids.
    """
    found, missing = [], []
    for grid in problem.grids(where.n_slots):
        try:
            found.append(place(where, text, grid).mapping(text))
        except PlacementError as error:
            missing.append(error)
    if not found:
        raise missing[0]
    return min(found, key=lambda mapping: line_time(problem.forecast(mapping, where.costs)))
