"""The terms of a schedule: parts of the exchanges that are on the network together, one phase after the other.

A transform is cut into lanes, which travel and are worked on as a unit. The cut rule, in integers: of a block of extent e,
cut by relative sizes w_0, w_1, ... with sum W, lane k has the elements from floor(e (w_0 + ... + w_(k-1)) / W) to
floor(e (w_0 + ... + w_k) / W). Every rank cuts its own block.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from math import gcd
from typing import Any

import numpy as np

from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.decompositions import AXES, ExchangeStage, LocalPass
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, block_lengths
from pencilmap.model.traffic.exchange import Exchange, exchanges, sides

FIELD = "field"
SEQUENCE = "sequence"  # the schedule in which every exchange runs alone
DIRECTIONS = FORWARD, BACKWARD, PAIR = "forward", "backward", "pair"  # pair: one of each, of two arrays
LANE_AXES = ("x", "z", FIELD)  # along which a block may be cut into lanes, in the order in which they are tried
MOST_CHUNKS, MOST_SIZE = 256, 1000  # the limits of the library, fft_runner/src/schedule/schedule.h


@dataclass(frozen=True)
class Schedule:
    """A schedule as its text says; `pencilmap.model.schedules.parse_schedule` reads the text.

    Parameters
    ----------
    name : str
        Name in the table of schedules.
    sizes : tuple of int
        Relative sizes of the chunks; empty if they are still open.
    axis : str or None
        "x", "z" or "field"; None if the rule decides or nothing is cut.
    planes : int or None
        Number of lower planes of two-way; None if the rule decides.
    """

    name: str
    sizes: tuple[int, ...] = ()
    axis: str | None = None
    planes: int | None = None

    def __str__(self) -> str:
        words = [str(len(self.sizes)) if len(set(self.sizes)) == 1 else ",".join(map(str, self.sizes))] if self.sizes else []
        words += [str(self.planes)] if self.planes else []
        return ":".join([self.name, *words, *([self.axis] if self.axis else [])])


@dataclass(frozen=True)
class Part:
    """Messages of an exchange that are cut in the same way.

    Parameters
    ----------
    stage : int
        Number of the exchange in a forward transform. In a pair those of the backward transform follow.
    make : callable or None
        Takes the messages of the exchange algorithm and gives the messages of this part; None for all messages.
    length : int or None
        Length of the blocks that are cut into lanes; None if these messages are not cut.
    """

    stage: int
    make: Callable[[Callable[[Exchange], Exchange]], Exchange] | None = field(default=None, compare=False)
    length: int | None = None


@dataclass(frozen=True)
class Phase:
    """Traffic and computing at the same time.

    Parameters
    ----------
    shares : tuple of Fraction
        Share of every part.
    starts : tuple of int
        Started exchanges, by their number as in `Part`: each costs its start and messages.
    beside : tuple of Fraction
        Share of every local pass that ranks compute meanwhile, in the order of a forward transform.
    """

    shares: tuple[Fraction, ...]
    starts: tuple[int, ...]
    beside: tuple[Fraction, ...]


@dataclass(frozen=True)
class Course:
    """A schedule worked out for a grid and a transform.

    Parameters
    ----------
    schedule : Schedule
        With all choices made.
    sizes : tuple of int
        Relative sizes of the lanes: chunks, planes or fields.
    axis : str or None
        Axis along which the lanes are cut.
    parts : tuple of Part
    phases : tuple of Phase
        Their order does not count.
    """

    schedule: Schedule
    sizes: tuple[int, ...]
    axis: str | None
    parts: tuple[Part, ...]
    phases: tuple[Phase, ...]

    @property
    def plain(self) -> bool:
        """Whether every part is a whole exchange."""
        return all(part.make is None for part in self.parts)


def directed(transform: Transform | None, direction: str) -> Transform | None:
    """Return a transform in a direction: of a pair the forward transform.

    Direction forward, the default of all questions, leaves a backward transform as it is.

    Raises
    ------
    ScheduleError
        If the direction is unknown.
    """
    if direction not in DIRECTIONS:
        raise ScheduleError(f"direction {direction!r} is unknown; known are {', '.join(DIRECTIONS)}")
    if transform is None or direction == FORWARD:
        return transform
    if direction == BACKWARD:
        return replace(transform, backward=True)
    return replace(transform, type="r2c" if transform.type == "c2r" else transform.type, backward=False)


def cut(extent: int, sizes: tuple[int, ...]) -> list[int]:
    """Return the lengths of the chunks of a block.

    >>> cut(5, (1, 1, 1, 1)), cut(16, (1, 2, 4, 8))
    ([1, 1, 1, 2], [1, 2, 4, 9])
    """
    whole = sum(sizes)
    ends = [extent * upto // whole for upto in accumulate(sizes)]
    return [end - start for start, end in zip([0, *ends], ends)]


def reduced(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the smallest sizes of the same proportions.

    >>> reduced((2, 4, 8)), reduced((3, 3))
    ((1, 2, 4), (1, 1))
    """
    common = gcd(*sizes)
    return tuple(size // common for size in sizes)


def block_of(axis: str, grid: ProcessGrid, transform: Transform) -> list[int]:
    """Return the lengths of the blocks cut along an axis, shortest first: of x and z the ranks' blocks, or all fields."""
    if axis == FIELD:
        return [transform.fields]
    letters = grid.decomposition.divided_by(axis)
    return sorted(set(block_lengths(dict(zip(AXES, transform.exchanged))[axis], grid.extent(letters)).tolist()))


def lane_axis(chunks: int, axis: str | None, grid: ProcessGrid, transform: Transform,
              order: tuple[str, ...] = LANE_AXES) -> str:
    """Return the axis to cut into chunks.

    Parameters
    ----------
    chunks : int
    axis : str or None
        The only axis to try; None: the first in `order` whose shortest block has an element per chunk.
    grid : ProcessGrid
    transform : Transform
    order : tuple of str

    Raises
    ------
    ScheduleError
        If no axis, or not the given axis, is long enough.
    """
    longest = {name: block_of(name, grid, transform)[0] for name in LANE_AXES}
    axes = [name for name in order if longest[name] >= chunks and axis in (None, name)]
    if not axes:
        most = ", ".join(f"{name} {n}" for name, n in longest.items())
        raise ScheduleError(f"{chunks} chunks{f' along {axis}' if axis else ''} are too many for transform {transform} on "
                            f"grid {grid}: the most chunks along each axis are {most}; take fewer chunks or another axis")
    return axes[0]


def whole_exchanges(grid: ProcessGrid) -> tuple[Part, ...]:
    """Return each exchange as a single part."""
    return tuple(Part(i) for i in range(len(grid.decomposition.exchanges)))


def chunked_exchanges(axis: str | None, grid: ProcessGrid, transform: Transform | None) -> tuple[Part, ...]:
    """Return the exchanges cut along an axis. If blocks differ, the messages for each length are a part of their own."""
    if transform is None or axis is None:
        return whole_exchanges(grid)
    lengths = block_of(axis, grid, transform)
    if len(lengths) == 1:
        return tuple(Part(i, None, lengths[0]) for i in range(len(grid.decomposition.exchanges)))
    return tuple(Part(i, _only(i, axis, length, grid, transform), length)
                 for i in range(len(grid.decomposition.exchanges)) for length in lengths)


def _only(i: int, axis: str, length: int, grid: ProcessGrid, transform: Transform) -> Callable[..., Any]:
    """Return a function that makes exchange `i` with only the messages of blocks of that length along the axis."""
    def make(carried: Callable[..., Any]) -> Exchange:
        exchange = carried(exchanges(grid, transform)[i])
        stage, division = [(s, d) for s, d in grid.decomposition.layouts if isinstance(s, ExchangeStage)][i]
        weights = {name: getattr(exchange, name) for name in ("group_weight", "send_weight", "receive_weight")}
        if axis in (stage.gathered, stage.divided):
            which = ("send_weight", "receive_weight")[sides(stage, transform).index(axis)]
            blocks = weights[which]
        else:
            letter, n = division[axis], transform.extents(stage, grid)[axis]
            which = "group_weight"
            blocks = block_lengths(n, grid.extent(letter))[grid.coordinate(letter)[exchange.members[:, 0]]]
        return replace(exchange, **{which: np.where(blocks == length, weights[which], 0)})

    return make


def shares_of(parts: tuple[Part, ...], sizes: tuple[int, ...], in_flight: dict[int, int]) -> tuple[Fraction, ...]:
    """Return the share of every part in flight.

    Parameters
    ----------
    parts : tuple of Part
    sizes : tuple of int
        Relative sizes of the chunks.
    in_flight : dict of int to int
        The travelling chunk of each exchange in flight.
    """
    def share(part: Part) -> Fraction:
        if part.stage not in in_flight:
            return Fraction(0)
        k = in_flight[part.stage]
        return Fraction(sizes[k], sum(sizes)) if part.length is None else Fraction(cut(part.length, sizes)[k], part.length)

    return tuple(map(share, parts))


def passes(grid: ProcessGrid) -> list[str]:
    """Return the axes of every local pass of a forward transform."""
    return [stage.axes for stage in grid.decomposition.stages if isinstance(stage, LocalPass)]


def beside(grid: ProcessGrid, axis: str | None, sizes: tuple[int, ...], chunks: dict[int, int]) -> tuple[Fraction, ...]:
    """Return the share of every pass that ranks compute.

    Parameters
    ----------
    grid : ProcessGrid
    axis : str or None
        Axis of the chunks.
    sizes : tuple of int
        Relative sizes of the chunks.
    chunks : dict of int to int
        The chunk of each pass. The share is 0 without a chunk, or if the pass has no chunks.
    """
    def share(i: int, axes: str) -> Fraction:
        k = chunks.get(i, -1)
        return Fraction(sizes[k], sum(sizes)) if axis and axis not in axes and 0 <= k < len(sizes) else Fraction(0)

    return tuple(share(i, axes) for i, axes in enumerate(passes(grid)))


def cuts(length: int, most: int) -> Iterator[int]:
    """Yield numbers of chunks worth trying: powers of two up to `most` and to the length of the block.

    >>> list(cuts(12, 16))
    [2, 4, 8]
    """
    k = 2
    while k <= min(length, most):
        yield k
        k *= 2
