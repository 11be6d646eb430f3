"""Schedules: a table from a name to the times when the exchanges of a transform are on the network, alone or together.

A new schedule is a function and a line of the table `SCHEDULES`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import ScheduleError, near
from pencilmap.model.decompositions import AXES, Decomposition, ExchangeStage, LocalPass
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.schedules.schedule import (
    BACKWARD,
    FIELD,
    FORWARD,
    LANE_AXES,
    MOST_CHUNKS,
    MOST_SIZE,
    PAIR,
    SEQUENCE,
    Course,
    Part,
    Phase,
    Schedule,
    beside,
    block_of,
    chunked_exchanges,
    directed,
    lane_axis,
    passes,
    shares_of,
    whole_exchanges,
)
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import JointLoads, Objective, at_once, in_sequence, objective, overlapped

# Sequence: one exchange after the other, nothing beside.
#
# T = t_row + t_column. Needs nothing, keeps the boxes.

def sequence(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
           backward: bool = False) -> Course:
    """Return a course with one phase for every exchange."""
    n = len(grid.decomposition.exchanges)
    phases = tuple(Phase(tuple(Fraction(int(i == j)) for j in range(n)), (i,), beside(grid, None, (), {})) for i in range(n))
    return Course(schedule, (1,), None, whole_exchanges(grid), phases)


# Overlap: chunk j+1 of the first exchange travels beside chunk j of the second.
#
# Idea: with two exchanges and chunks c_0, c_1, ... that add up to 1,
# T = c_0 t_row + sum_j max over links (c_(j+1) row + c_j column) + c_(K-1) t_column; with equal chunks
# (t_row + (K-1) t_joint + t_column) / K. One chunk of each exchange is in flight at a time. In a backward transform the
# columns come first.
# Source: flow shops with lots, e.g. C. N. Potts, K. R. Baker, "Flow shop scheduling with lot streaming", Oper. Res. Lett. 8
# (1989). Shared links are our addition.
# Keeps the boxes.

def overlap(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
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


# The best relative sizes of the chunks of `overlap`.
#
# Idea: T is linear in the sizes except for the largest over the links in each phase. So the best sizes are the solution of
# a linear program. The program is a chain: a phase has the sizes of two neighbours. T is t if the least of (T - t times all
# sizes) is 0 with the first chunk as the unit. Begin with the last chunk. The worth of a chunk follows from the next chunk,
# whose best ratio is a ratio at which the busiest link changes. Bisection finds t. If rows and columns are alike, the
# chunks are equal. If they use different links, the sizes form a geometric series with ratio t_column / t_row. Neither is a
# special case here. Blocks hold whole elements, so the sizes are then rounded, and single elements move from chunk to chunk
# as long as T falls.
# Source: the program of flow shops with lots (see `overlap`); W. Dinkelbach, "On nonlinear fractional programming",
# Management Science 13 (1967). No solver of linear programs is used, because loading a solver takes longer than all other
# work for advice.
# Cost: K^2 evaluations of T for each element moved; milliseconds.

HALVINGS = 60  # of t: below the rounding of its digits


def overlap_length(sizes: Sequence[float], pairs: Floats) -> float:
    """Return T of these sizes, on the scale of `pairs`.

    Parameters
    ----------
    sizes : sequence of float
    pairs : float array, shape (k, 2)
        Loads of both exchanges on the links that can decide.

    Examples
    --------
    >>> overlap_length([1, 1], np.array([[4.0, 0.0], [0.0, 4.0]]))
    6.0
    """
    c = np.asarray(sizes, dtype=float) / sum(sizes)
    ramp = c[0] * pairs[:, 0].max() + c[-1] * pairs[:, 1].max()
    return float(ramp + (np.outer(c[1:], pairs[:, 0]) + np.outer(c[:-1], pairs[:, 1])).max(axis=1).sum())


def best_shares(pairs: Floats, chunks: int) -> Floats:
    """Return the shares of `chunks` chunks with the least T: float array of non-negative numbers, shape (chunks,).

    >>> best_shares(np.array([[2.0, 0.0], [0.0, 4.0]]), 3).round(3).tolist()
    [0.143, 0.286, 0.571]
    """
    row, column = pairs.T
    most_row, most_column = float(row.max()), float(column.max())
    ratios, phases = _corners(row, column)

    def least(t: float) -> tuple[float, list[float]]:
        """Return the least T minus t times all sizes if the first chunk is 1, and the ratios of neighbours."""
        worth, points = most_column - t, list[float]()
        for _ in range(chunks - 1):
            if worth < -most_row:
                return -np.inf, points  # the next chunk is worth any size
            sums = phases + ratios * worth
            best = int(sums.argmin())
            worth = float(sums[best]) - t
            points.append(ratios[best])
        return most_row + worth, points[::-1]

    low, high = 0.0, overlap_length([1.0] * chunks, pairs)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if least(middle)[0] >= 0 else (low, middle)
    shares = np.cumprod([1.0, *least(low)[1]])
    return np.asarray(shares / shares.sum(), dtype=float)


def _corners(row: Floats, column: Floats) -> tuple[Floats, Floats]:
    """Return the ratios r of neighbouring chunks at which the busiest link changes, and the phase, max(column + r row)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.subtract.outer(column, column) / np.subtract.outer(row, row).T
    ratios = np.unique(np.concatenate([[0.0], crossings[np.isfinite(crossings) & (crossings > 0)]]))
    return ratios, (column + np.outer(ratios, row)).max(axis=1)


def best_sizes(loads: JointLoads, chunks: int, block: int, backward: bool = False) -> tuple[int, ...]:
    """Return the lengths of chunks with the least T, each at least 1.

    Chunks are equal, by the cut rule, if nothing is better by more than a rounding error.

    Parameters
    ----------
    loads : JointLoads
    chunks : int
        Number of chunks.
    block : int
        Elements of the block.
    backward : bool
        Whether the second exchange comes first.
    """
    pairs = loads.weighted[:, ::-1] if backward else loads.weighted
    equal = [block * (k + 1) // chunks - block * k // chunks for k in range(chunks)]
    best = min((_polished(start, pairs) for start in (equal, _rounded(best_shares(pairs, chunks), block))),
               key=lambda sizes: overlap_length(sizes, pairs))
    return tuple(best if overlap_length(best, pairs) < overlap_length(equal, pairs) * (1 - 1e-9) else equal)


def _rounded(shares: Floats, block: int) -> list[int]:
    """Return whole numbers of 1 or more in these proportions that add up to `block`."""
    exact = np.maximum(shares * block, 1.0)
    exact = 1.0 + (exact - 1.0) * ((block - len(shares)) / max((exact - 1.0).sum(), 1e-300))
    sizes = np.floor(exact + 1e-9).astype(int)
    for k in np.argsort(sizes - exact)[:block - sizes.sum()]:
        sizes[k] += 1
    return sizes.tolist()


def _polished(sizes: list[int], pairs: Floats) -> list[int]:
    """Move single elements from one chunk to another as long as T falls."""
    now, one = overlap_length(sizes, pairs), np.eye(len(sizes), dtype=int)
    moves = (one[:, None] - one)[~one.astype(bool)]  # to one chunk, from another
    while True:
        moved = np.asarray(sizes) + moves
        moved = moved[moved.min(axis=1, initial=1) > 0]
        lengths = _lengths(moved, pairs)
        least = lengths.min(initial=np.inf)
        if least >= now * (1 - 1e-12):
            return sizes
        now, sizes = least, min(moved[lengths == least].tolist())


def _lengths(sizes: Ints, pairs: Floats) -> Floats:
    """Return `overlap_length` of many sizes of one sum: shape (n, K) to (n,)."""
    c = sizes / sizes.sum(axis=1, keepdims=True)
    ramps = c[:, 0] * pairs[:, 0].max() + c[:, -1] * pairs[:, 1].max()
    return ramps + (c[:, 1:, None] * pairs[:, 0] + c[:, :-1, None] * pairs[:, 1]).max(axis=2).sum(axis=1)


# Pipelined: both exchanges in chunks beside the FFTs of other chunks, but rows and columns in sequence.
#
# T = t_row + t_column: only computing is hidden. z is cut if it is long enough, because then both exchanges run beside
# FFTs. Keeps the boxes.

CHUNKS = 4  # by default, if the blocks are long enough
ORDER = ("z", "x", FIELD)


def pipelined(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
           backward: bool = False) -> Course:
    """Return the chunks of an exchange, then the chunks of the next; ranks compute the next chunk meanwhile."""
    longest = CHUNKS if transform is None else max(block_of(axis, grid, transform)[0] for axis in ORDER)
    sizes = schedule.sizes or (1,) * min(CHUNKS, longest)
    axis = None if transform is None else lane_axis(len(sizes), None, grid, transform, ORDER)
    parts = chunked_exchanges(axis, grid, transform)
    phases = tuple(Phase(shares_of(parts, sizes, {i: k}), (i,), beside(grid, axis, sizes, {i + backward: k + 1}))
                   for i in range(len(grid.decomposition.exchanges)) for k in range(len(sizes)))
    return Course(Schedule(schedule.name, sizes), sizes, axis, parts, phases)


# Two routes through a transform at once: part of the array by rows first, the rest by columns first.
#
# After z is transformed, a lane on the first route (A) exchanges rows, transforms y, exchanges columns, and transforms x. A
# lane on the second route (B) first exchanges columns, which gathers x and divides z, and transforms x. Then it exchanges
# rows, which gathers y and divides x, and transforms y. In each of the two phases the rows of one lane and the columns of
# the other are on the network.

def check_routes(name: str, grid: ProcessGrid) -> None:
    """Raise ScheduleError unless the decomposition has two exchanges, whose order can be exchanged."""
    number = len(grid.decomposition.exchanges)
    if number != 2:
        raise ScheduleError(f"schedule {name} lets two exchanges pass each other, but a {grid.decomposition.name} "
                            f"decomposition has {number}; use pencils, or the schedule sequence")


@lru_cache
def turned(decomposition: Decomposition) -> Decomposition:
    """Return the same decomposition with its two exchanges in the other order (route B).

    >>> from pencilmap.model.decompositions import PENCIL
    >>> [(stage.name, stage.gathered, stage.divided) for stage in turned(PENCIL).exchanges]
    [('column', 'x', 'z'), ('row', 'y', 'x')]
    """
    first, second = decomposition.exchanges
    stages = (decomposition.stages[0], ExchangeStage(second.name, second.letters, second.gathered, first.divided),
              LocalPass(second.gathered), ExchangeStage(first.name, first.letters, first.gathered, second.gathered),
              LocalPass(first.gathered))
    return replace(decomposition, name=f"{decomposition.name}, turned", stages=stages)


def phases_of(lanes: Sequence[Transform] | None, share: Fraction, grid: ProcessGrid,
              transform: Transform | None) -> tuple[tuple[Part, ...], tuple[Phase, ...]]:
    """Return parts and phases if a `share` of the array takes route A and the rest route B.

    Parameters
    ----------
    lanes : sequence of Transform or None
        Lanes of routes A and B; None: shares of the whole exchanges.
    share : Fraction
    grid : ProcessGrid
    transform : Transform or None

    Notes
    -----
    If all blocks are even, the lanes are shares of the same exchanges.
    """
    n = len(passes(grid))
    idle, meanwhile = (Fraction(0),) * n, tuple((1 - share) * (i == n - 1) for i in range(n))
    even = transform is None or lanes is None or (transform.divides_evenly(grid) and all(
        _is_even(lane, route) for lane, route in zip(lanes, _routes(grid))))
    if even:
        parts: tuple[Part, ...] = (Part(0), Part(1))
        shares: tuple[tuple[Fraction, ...], ...] = ((share, 1 - share), (1 - share, share))
    else:
        assert transform is not None and lanes is not None
        a, b = ([_maker(route, lane, i, transform) for i in range(2)] for route, lane in zip(_routes(grid), lanes))
        parts = (Part(0, a[0]), Part(1, a[1]), Part(1, b[0]), Part(0, b[1]))
        one, none = Fraction(1), Fraction(0)
        shares = ((one, none, one, none), (none, one, none, one))
    return parts, tuple(Phase(chosen, (0, 1), hidden) for chosen, hidden in zip(shares, (idle, meanwhile)))


def _routes(grid: ProcessGrid) -> tuple[ProcessGrid, ProcessGrid]:
    return grid, ProcessGrid(*grid.shape, decomposition=turned(grid.decomposition))


def _is_even(lane: Transform, grid: ProcessGrid) -> bool:
    """Return whether all messages of a lane's exchanges have the same size."""
    return all(not n % grid.extent(letters) for stage, division in grid.decomposition.layouts
               for axis, n in zip(AXES, lane.exchanged) for letters in [division[axis]] if letters)


def _maker(grid: ProcessGrid, lane: Transform, i: int, transform: Transform) -> Callable[..., Any]:
    return lambda carried: carried(replace(exchanges(grid, lane)[i], total_bytes=transform.total_bytes))


# Two ways: the lower planes of kz go row, y, column, x; the upper planes column, x, row, y.
#
# Idea: after the z transform the planes of kz are independent. Each phase carries one share of the rows and the other of
# the columns. So T = t_joint, without a ramp, if R divides the lower planes and C divides the upper planes. Changes the
# boxes: the output lies half in X pencils, half in Y pencils.

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
    def worth(planes: int) -> tuple[int, ...]:
        a, b = busiest_shares(planes, nz, R, C)
        return max(a, b), a + b, planes

    return min(range(1, nz), key=worth)


def best_planes(nz: int, R: int, C: int, loads: JointLoads) -> int:
    """Return the number of lower planes with the shortest time by the loads, counting the largest share.

    Among equals the rule decides.
    """
    times: dict[tuple[int, int], float] = {}

    def time(planes: int) -> float:
        a, b = busiest_shares(planes, nz, R, C)
        if (a, b) not in times:
            times[a, b] = sum(float((loads.weighted @ shares).max()) for shares in ([a, b], [b, a]))
        return times[a, b]

    usual = default_planes(nz, R, C)
    return min(range(1, nz), key=lambda planes: (round(time(planes), 9), planes != usual, planes))


def two_way(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
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


# Opposite: of several fields half go row, y, column, x, the others column, x, row, y.
#
# T = t_joint for an even number of fields. Changes the boxes of half of the fields.
# A forward transform of one array beside a backward transform of another does the same, and keeps the boxes: 2 t_joint for
# both.

def opposite(schedule: Schedule, grid: ProcessGrid, transform: Transform | None, loads: JointLoads | None,
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
    one, other = ((opposite if several else sequence)(schedule, grid, turned, loads)
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
    phases = tuple(Phase(share, started, idle) for share, started in zip(shares, starts))
    return replace(one, sizes=(1, 1), axis=None, parts=parts, phases=phases)


def _made(part: Part, grid: ProcessGrid, transform: Any) -> Part:
    return Part(part.stage, part.make or (lambda carried: carried(exchanges(grid, transform)[part.stage])))


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
        requested = overlapped(n, TYPICAL_CHUNKS)
    else:
        course = course_of(replace(schedule, planes=None), grid, None, None, direction)
        requested = objective(_of_stages(course, phase, n) for phase in course.phases)
    both = [requested, requested.turned] if direction == PAIR else [requested]
    return [alone] if requested == alone else list(dict.fromkeys([*both, once, alone]))


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
    numbers = [_number(word) for word in words]
    return None if len(numbers) > 1 or None in numbers else {"planes": numbers[0]} if numbers else {}


def _chunks(words: Sequence[str]) -> dict[str, Any] | None:
    """Read K, without an axis."""
    schedule = _overlap(words)
    return None if schedule is None or "axis" in schedule or (words and "," in words[0]) else schedule


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
    schedule = SCHEDULES[name].read(words) if name in SCHEDULES else None
    if schedule is None:
        what = f"schedule {text[:60]!r} is {'not understood' if name in SCHEDULES else 'unknown' + near(name, SCHEDULES)}"
        usages = ", ".join(kind.usage for kind in SCHEDULES.values()) if name not in SCHEDULES else SCHEDULES[name].usage
        limits = f", with at most {MOST_CHUNKS} chunks of sizes 1 to {MOST_SIZE}" if "K" in usages else ""
        raise ScheduleError(f"{what}; write {usages}{limits}")
    return Schedule(name, **schedule)


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
