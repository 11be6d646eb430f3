"""Schedules: a table from a name to the times when the exchanges of a transform are on the network, alone or together.

A new schedule is a function in `rows` and a line of the table.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pencilmap.model.base.errors import ScheduleError, near
from pencilmap.model.placement.grid import ProcessGrid, Transform
from pencilmap.model.schedules.rows import opposite, overlap, pair, pipelined, sequence, two_way
from pencilmap.model.schedules.schedule import (
    BACKWARD,
    FORWARD,
    LANE_AXES,
    MOST_CHUNKS,
    MOST_SIZE,
    PAIR,
    SEQUENCE,
    Course,
    Phase,
    Schedule,
)
from pencilmap.model.traffic.loads import JointLoads, Objective, at_once, in_sequence, objective, overlapped

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


def _of_stages(course: Course, phase: Phase, n: int) -> tuple[Fraction, ...]:
    """Return the share of every exchange in a phase."""
    return tuple(sum((share for part, share in zip(course.parts, phase.shares) if part.stage == i), Fraction(0))
                 for i in range(n))


BEST = "best"


@dataclass(frozen=True)
class ScheduleKind:
    """A line of the table.

    Parameters
    ----------
    course : callable
        (schedule, grid, transform or None, joint loads or None, whether backward) -> Course; raises ScheduleError.
    read : callable
        The words after the name -> the schedule's fields, None if the words are not understood.
    pair : callable or None
        Course of a forward transform beside a backward transform of another array. None: one runs after the other.
    """

    course: Callable[..., Course]
    usage: str
    meaning: str
    read: Callable[[Sequence[str]], dict[str, Any] | None]
    pair: Callable[..., Course] | None = None


def _nothing(words: Sequence[str]) -> dict[str, Any] | None:
    return None if words else {}


def _number(word: str) -> int | None:
    return int(word) if re.fullmatch(r"0*[1-9][0-9]{0,8}", word, re.ASCII) else None


def _planes(words: Sequence[str]) -> dict[str, Any] | None:
    found = [_number(word) for word in words]
    return None if len(found) > 1 or None in found else {"planes": found[0]} if found else {}


def _chunks(words: Sequence[str]) -> dict[str, Any] | None:
    """Read K, without an axis."""
    found = _overlap(words)
    return None if found is None or "axis" in found or (words and "," in words[0]) else found


def _overlap(words: Sequence[str]) -> dict[str, Any] | None:
    """Read K or the sizes of the chunks, then an axis."""
    if not words:
        return {}
    sizes = [n for word in words[0].split(",") if (n := _number(word))]
    if len(sizes) <= words[0].count(",") or len(words) > 2 or (len(words) == 2 and words[1] not in LANE_AXES):
        return None
    if len(sizes) == 1:
        sizes = [1] * min(sizes[0], MOST_CHUNKS + 1)
    if len(sizes) > MOST_CHUNKS or max(sizes) > MOST_SIZE:
        return None
    return {"sizes": tuple(sizes), **({"axis": words[1]} if len(words) == 2 else {})}


SCHEDULES = {
    "sequence": ScheduleKind(sequence, "sequence", "one exchange after the other", _nothing),
    "overlap": ScheduleKind(overlap, "overlap[:K|S1,S2,..[:x|z|field]]", "in K chunks, or in chunks of these "
                            "relative sizes; each exchange is one chunk behind the one before it", _overlap),
    "pipelined": ScheduleKind(pipelined, "pipelined[:K]", "in K chunks beside the FFTs, one exchange after the other",
                              _chunks),
    "two-way": ScheduleKind(two_way, "two-way[:L]", "L planes of kz go by rows first, the others by columns first; "
                            "changes the boxes of the output", _planes),
    "opposite": ScheduleKind(opposite, "opposite", "half of the fields go by rows first, the others by columns "
                             "first; changes the boxes of their output", _nothing, pair=pair),
}


def parse_schedule(text: str) -> Schedule:
    """Return the schedule that a text describes.

    Raises
    ------
    ScheduleError
        If the text is not understood.

    Examples
    --------
    >>> parse_schedule("overlap:1,2,4:z").sizes, str(parse_schedule("overlap:8")), parse_schedule("two-way:33").planes
    ((1, 2, 4), 'overlap:8', 33)
    """
    name, *words = text.split(":")
    found = SCHEDULES[name].read(words) if name in SCHEDULES else None
    if found is None:
        what = f"schedule {text[:60]!r} is {'not understood' if name in SCHEDULES else 'unknown' + near(name, SCHEDULES)}"
        usages = ", ".join(kind.usage for kind in SCHEDULES.values()) if name not in SCHEDULES else SCHEDULES[name].usage
        limits = f", with at most {MOST_CHUNKS} chunks of sizes 1 to {MOST_SIZE}" if "K" in usages else ""
        raise ScheduleError(f"{what}; write {usages}{limits}")
    return Schedule(name, **found)


def course_of(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
              direction: str = FORWARD) -> Course:
    """Return the course of a schedule for a transform, or for a pair of transforms if the schedule can run a pair at once.

    Parameters
    ----------
    schedule : Schedule
    grid : ProcessGrid
    transform : Transform or None
    loads : JointLoads or None
        Loads that decide open choices.
    direction : str
        One of `pencilmap.model.schedules.schedule.DIRECTIONS`; a backward transform is run backward in any.

    Raises
    ------
    ScheduleError
        If the schedule does not fit the grid or the transform.
    """
    if grid.decomposition.returns and schedule.name != SEQUENCE:
        raise ScheduleError(f"schedule {schedule} sends parts of exchanges beside others or beside FFTs, but the exchanges "
                            f"of grid {grid} follow each other whole; take the schedule sequence")
    kind = SCHEDULES[schedule.name]
    if direction == PAIR and kind.pair:
        return kind.pair(schedule, grid, transform, loads)
    backward = direction == BACKWARD or (transform is not None and transform.backward)
    return kind.course(schedule, grid, transform, loads, backward)
