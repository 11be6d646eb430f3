"""Where the ranks of distributed lines are placed."""

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import Setting
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.lines.line_plan import line_time
from pencilmap.model.lines.line_problem import LineProblem
from pencilmap.model.placement.mapping import Mapping


def placed_lines(where: Setting, problem: LineProblem, text: str) -> Mapping:
    """The placement that `text` describes, for the grid of `LineProblem.grids` with which its lines take the least time.

    Raises PlacementError where it exists on none of these.
    """
    found, missing = [], []
    for grid in problem.grids(where.n_slots):
        try:
            found.append(as_mapping(where.place(text, grid), text))
        except PlacementError as error:
            missing.append(error)
    if not found:
        raise missing[0]
    return min(found, key=lambda mapping: line_time(problem.forecast(mapping, where.costs)))
