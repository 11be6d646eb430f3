"""The objectives of a search for a placement under a schedule, by the loads of the links."""

from dataclasses import replace
from fractions import Fraction

from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.schedules import BEST, course_of, parse_schedule
from pencilmap.model.schedules.schedule import FORWARD, PAIR, SEQUENCE
from pencilmap.model.traffic.objective import Objective, at_once, in_sequence, objective, overlapped

TYPICAL_CHUNKS = 8  # if the number is still open: the ramp then has its usual weight


def objectives(text: str, grid: ProcessGrid, direction: str = FORWARD) -> list[Objective]:
    """Return the objectives whose best placements are worth a prediction under a schedule, its own objective first.

    The others are for machines on which other terms than the links decide.

    >>> from pencilmap.model.placement.grid import parse_grid
    >>> len(objectives("sequence", parse_grid("8x64"))), len(objectives("best", parse_grid("8x64")))
    (1, 3)
    """
    n = len(grid.decomposition.exchanges)
    alone, once = in_sequence(n), at_once(n)
    if text == BEST and not grid.decomposition.returns:
        return list(dict.fromkeys([alone, overlapped(n, TYPICAL_CHUNKS), once]))
    schedule = parse_schedule(SEQUENCE if text == BEST else text)
    if schedule.name == "overlap" and not schedule.sizes:
        wanted = overlapped(n, TYPICAL_CHUNKS)
    else:
        course = course_of(replace(schedule, planes=None), grid, None, None, direction)
        wanted = objective(_of_stages(course, phase, n) for phase in course.phases)
    both = [wanted, wanted.turned] if direction == PAIR else [wanted]
    return [alone] if wanted == alone else list(dict.fromkeys([*both, once, alone]))


def _of_stages(course, phase, n):
    """Return the share of every exchange in a phase."""
    return tuple(sum((share for part, share in zip(course.parts, phase.shares) if part.stage == i), Fraction(0))
                 for i in range(n))
