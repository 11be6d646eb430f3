"""Sequence: one exchange after the other, nothing beside.

T = t_row + t_column. Needs nothing, keeps the boxes.
"""

from fractions import Fraction

from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import Course, Phase, Schedule, beside, whole_exchanges
from pencilmap.model.traffic.joint_loads import JointLoads


def course(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
           backward: bool = False) -> Course:
    """Return a course with one phase for every exchange."""
    n = len(grid.decomposition.exchanges)
    phases = tuple(Phase(tuple(Fraction(int(i == j)) for j in range(n)), (i,), beside(grid, None, (), {})) for i in range(n))
    return Course(schedule, (1,), None, whole_exchanges(grid), phases)
