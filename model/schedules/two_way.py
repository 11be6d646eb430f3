"""Two ways: the lower planes of kz go row, y, column, x; the upper planes column, x, row, y.

Idea: after the z transform the planes of kz are independent. Each phase carries one share of the rows and the other of the
columns. So T = t_joint, without a ramp, if R divides the lower planes and C divides the upper planes.
Changes the boxes: the output lies half in X pencils, half in Y pencils.
"""

from dataclasses import replace
from fractions import Fraction

from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.routes import check_routes, phases_of
from pencilmap.model.schedules.schedule import Course, Schedule
from pencilmap.model.traffic.joint_loads import JointLoads


def busiest_shares(planes: int, nz: int, R: int, C: int) -> tuple[int, int]:
    """Return the planes that count for the lower and for the upper half: most planes of a rank, times the ranks."""
    return R * -(-planes // R), C * -(-(nz - planes) // C)


def default_planes(nz: int, R: int, C: int) -> int:
    """Return the number of lower planes by the rule of the library.

    The rule takes the smallest larger share, then the smallest sum, then the fewest lower planes.

    Parameters
    ----------
    nz : int
        Planes of z.
    R, C : int
        Extents of the grid.

    Examples
    --------
    >>> default_planes(256, 8, 64), default_planes(64, 8, 64), default_planes(129, 8, 64)
    (128, 1, 65)
    """
    def worth(planes):
        a, b = busiest_shares(planes, nz, R, C)
        return max(a, b), a + b, planes

    return min(range(1, nz), key=worth)


def best_planes(nz: int, R: int, C: int, loads: JointLoads) -> int:
    """Return the number of lower planes with the shortest time by the loads, counting the largest share.

    Among equals the rule decides.
    """
    found: dict[tuple[int, int], float] = {}

    def time(planes):
        a, b = busiest_shares(planes, nz, R, C)
        if (a, b) not in found:
            found[a, b] = sum(float((loads.weighted @ shares).max()) for shares in ([a, b], [b, a]))
        return found[a, b]

    usual = default_planes(nz, R, C)
    return min(range(1, nz), key=lambda planes: (round(time(planes), 9), planes != usual, planes))


def course(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
           backward: bool = False) -> Course:
    """Return two phases. Without a transform the halves are equal.

    Raises
    ------
    ScheduleError
        If the decomposition does not have two exchanges, or the planes do not fit the transform.
    """
    check_routes(schedule.name, grid)
    if transform is None:
        if schedule.planes is not None:
            raise ScheduleError(f"schedule {schedule} names planes, but there is no transform; give `fft`, or write two-way")
        parts, phases = phases_of(None, Fraction(1, 2), grid, None)
        return Course(schedule, (1, 1), "z", parts, phases)
    nz = transform.exchanged[2]
    if nz < 2:
        raise ScheduleError(f"schedule two-way shares out the planes of z, and transform {transform} has {nz}; use another")
    R, C = grid.shape
    usual = default_planes(nz, R, C)
    planes = schedule.planes or (best_planes(nz, R, C, loads) if loads else usual)
    if planes >= nz:
        raise ScheduleError(f"schedule two-way:{planes}: transform {transform} has {nz} planes, so 1 to {nz - 1} can be "
                            "lower planes; take fewer")
    lanes = [replace(transform, nz=n, type="c2c") for n in (planes, nz - planes)]
    parts, phases = phases_of(lanes, Fraction(planes, nz), grid, transform)
    resolved = Schedule(schedule.name, planes=None if planes == usual else planes)
    return Course(resolved, (planes, nz - planes), "z", parts, phases)
