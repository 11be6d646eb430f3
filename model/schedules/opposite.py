"""Opposite: of several fields half go row, y, column, x, the others column, x, row, y.

T = t_joint for an even number of fields. Changes the boxes of half of the fields.
"""

from dataclasses import replace
from fractions import Fraction

from pencilmap.model.errors import ScheduleError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.joint import JointLoads
from pencilmap.model.schedules.routes import check_routes, phases_of
from pencilmap.model.schedules.schedule import FIELD, Course, Schedule
from pencilmap.model.transform import Transform


def course(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None) -> Course:
    """Two phases. Without a transform the halves are equal."""
    check_routes(schedule.name, grid)
    if transform is None:
        return Course(schedule, (1, 1), FIELD, *phases_of(None, Fraction(1, 2), grid, None))
    F = transform.fields
    if F < 2:
        raise ScheduleError(f"schedule opposite sends half of the fields the other way, and transform {transform} has one; "
                            f"give it 2 or more, e.g. {transform}:fields=2, or use another schedule")
    flat = replace(transform, nz=transform.exchanged[2], type="c2c")
    lanes = [replace(flat, fields=F - F // 2), replace(flat, fields=F // 2)]
    parts, phases = phases_of(lanes, Fraction(F - F // 2, F), grid, transform)
    return Course(schedule, (F - F // 2, F // 2), FIELD, parts, phases)
