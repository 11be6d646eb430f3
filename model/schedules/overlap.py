"""Overlap: chunk j+1 of the first exchange travels beside chunk j of the second.

Idea: with two exchanges and chunks c_0, c_1, ... that add up to 1,
T = c_0 t_row + sum_j max over links (c_(j+1) row + c_j column) + c_(K-1) t_column; with equal chunks
(t_row + (K-1) t_joint + t_column) / K. One chunk of each exchange is in flight at a time. In a backward transform the
columns come first.
Source: flow shops with lots, e.g. C. N. Potts, K. R. Baker, "Flow shop scheduling with lot streaming", Oper. Res. Lett. 8
(1989). Shared links are our addition.
Keeps the boxes.
"""

from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import Course, Phase, Schedule, beside, chunked_exchanges, lane_axis, shares_of
from pencilmap.model.traffic.joint_loads import JointLoads


def course(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
           backward: bool = False) -> Course:
    """Return phases in which each exchange is one chunk behind the exchange before.

    While chunk k of the first exchange travels, ranks prepare chunk k+1 for it and compute on chunk k-1 after it.
    """
    sizes, n = schedule.sizes, len(grid.decomposition.exchanges)
    axis = schedule.axis if transform is None else lane_axis(len(sizes), schedule.axis, grid, transform)
    parts, phases = chunked_exchanges(axis, grid, transform), []
    for step in range(len(sizes) + n - 1):
        flying = {n - 1 - i if backward else i: step - i for i in range(n) if 0 <= step - i < len(sizes)}
        computed = {n - i if backward else i: step + 1 - 2 * i for i in range(n + 1)} if step < len(sizes) else {}
        phases.append(Phase(shares_of(parts, sizes, flying), tuple(flying), beside(grid, axis, sizes, computed)))
    return Course(Schedule(schedule.name, sizes, axis), sizes, axis, parts, tuple(phases))
