"""Pipelined: both exchanges in chunks beside the FFTs of other chunks, but rows and columns in sequence.

T = t_row + t_column: only computing is hidden. z is cut if it is long enough, because then both exchanges run beside
FFTs. Keeps the boxes.
"""

from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import (
    FIELD,
    Course,
    Phase,
    Schedule,
    beside,
    block_of,
    chunked_exchanges,
    lane_axis,
    shares_of,
)
from pencilmap.model.traffic.joint_loads import JointLoads

CHUNKS = 4  # by default, if the blocks are long enough
ORDER = ("z", "x", FIELD)


def course(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
           backward: bool = False) -> Course:
    """Return the chunks of an exchange, then the chunks of the next; ranks compute the next chunk meanwhile."""
    longest = CHUNKS if transform is None else max(block_of(axis, grid, transform)[0] for axis in ORDER)
    sizes = schedule.sizes or (1,) * min(CHUNKS, longest)
    axis = None if transform is None else lane_axis(len(sizes), None, grid, transform, ORDER)
    parts = chunked_exchanges(axis, grid, transform)
    phases = tuple(Phase(shares_of(parts, sizes, {i: k}), (i,), beside(grid, axis, sizes, {i + backward: k + 1}))
                   for i in range(len(grid.decomposition.exchanges)) for k in range(len(sizes)))
    return Course(Schedule(schedule.name, sizes), sizes, axis, parts, phases)
