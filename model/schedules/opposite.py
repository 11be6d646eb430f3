"""Opposite: of several fields half go row, y, column, x, the others column, x, row, y.

T = t_joint for an even number of fields. Changes the boxes of half of the fields.
A forward transform of one array beside a backward transform of another does the same, and keeps the boxes: 2 t_joint for
both.
"""

from dataclasses import replace
from fractions import Fraction

from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules import sequence
from pencilmap.model.schedules.routes import check_routes, phases_of
from pencilmap.model.schedules.schedule import BACKWARD, FIELD, Course, Part, Phase, Schedule, directed
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.joint_loads import JointLoads


def course(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
           backward: bool = False) -> Course:
    """Return two phases. Without a transform the halves are equal.

    Raises
    ------
    ScheduleError
        If the decomposition does not have two exchanges, or the transform has one field.
    """
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


def pair(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None) -> Course:
    """Return two transforms at once: the backward transform takes the steps of the forward transform in reverse.

    With several fields each transform goes two ways by itself. No computing is counted beside the exchanges.
    """
    check_routes(schedule.name, grid)
    several = transform is None or transform.fields > 1
    one, other = ((course if several else sequence.course)(schedule, grid, turned, loads)
                  for turned in (transform, directed(transform, BACKWARD)))
    steps = list(zip(one.phases, reversed(other.phases)))
    idle, n = (Fraction(0),) * len(one.phases[0].beside), len(grid.decomposition.exchanges)
    if one.plain and (transform is None or transform.divides_evenly(grid)):
        shares = [tuple(sum(both, Fraction(0)) for both in zip(ahead.shares, back.shares)) for ahead, back in steps]
        starts = [ahead.starts + back.starts for ahead, back in steps]
        parts = one.parts
    else:
        shares = [ahead.shares + back.shares for ahead, back in steps]
        starts = [ahead.starts + tuple(n + i for i in back.starts) for ahead, back in steps]
        parts = (*(_made(part, grid, transform) for part in one.parts),
                 *(replace(_made(part, grid, directed(transform, BACKWARD)), stage=n + part.stage) for part in other.parts))
    phases = tuple(Phase(some, started, idle) for some, started in zip(shares, starts))
    return replace(one, sizes=(1, 1), axis=None, parts=parts, phases=phases)


def _made(part, grid, transform):
    return Part(part.stage, part.make or (lambda carried: carried(exchanges(grid, transform)[part.stage])))
