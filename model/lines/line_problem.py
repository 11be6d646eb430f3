"""Problems of distributed lines: one line over all ranks, or an array in bricks. Both have the same interface."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GridError
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.lines import ALGORITHMS
from pencilmap.model.lines.line_plan import LineStage, LineStageTime, block_sizes, line_forecast, line_stages
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import COMPLEX_DOUBLE_BYTES, PRECISIONS
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import exchange_terms, mapping_work
from pencilmap.model.traffic.exchange import Exchange, check_bricks, of_messages

# The exchanges of bricks on which distributed lines run directly: the exchanges of the lines of every axis, z first.
#
# Rank (c * Q + b) * P + a of P x Q x S bricks holds block a of x, b of y and c of z. The ranks that differ in one position
# alone share the lines of that axis. They exchange like a single line in `line_plan`, with all their lines in the same
# messages. An axis with a single point is not transformed. fft_runner/src/line_plans/brick_lines.c does the same.
# Source: A. Jocksch 2021.

MOST_SHARING = 2048  # ranks of a line whose messages are listed individually


@dataclass(frozen=True, eq=False)
class BrickLineStage:
    """An exchange of the lines of an axis.

    Parameters
    ----------
    name : str
        Name in the library, e.g. "z_stage_1".
    n, ranks : int
        Points of a line, and ranks that share the line.
    apart : int
        Distance of neighbours among these ranks, in ranks of the whole.
    lines : int array, shape (P * Q * S,)
        Lines of each rank.
    """

    name: str
    stage: LineStage
    n: int
    ranks: int
    apart: int
    lines: Ints

    def messages(self, backward: bool = False) -> tuple[Ints, Ints]:
        """Return sender and receiver of each message, shape (M, 2), and its elements, shape (M,)."""
        sent, rank = self.stage.sent(self.ranks, self.n), np.arange(len(self.lines))
        if backward and self.stage.is_all_to_all:  # whole blocks go to the same ranks either way
            sent = sent.T
        pairs = np.stack(np.nonzero(sent), axis=1)
        first = rank[rank // self.apart % self.ranks == 0]  # of the ranks of every line
        ranks = (first[:, None, None] + self.apart * pairs).reshape(-1, 2)
        held = self.lines[ranks[:, 0]]  # as many as the receiver holds: a line's ranks differ along its axis alone
        elements = np.tile(sent[pairs[:, 0], pairs[:, 1]], len(first)) * held
        return ranks[elements > 0], elements[elements > 0]

    def sent(self) -> Ints:
        """Return the elements that each rank sends to each other in a forward transform, shape (P Q S, P Q S).

        >>> brick_line_stages((2, 1, 4), (2, 1, 2), "binary2")[0].sent().tolist()
        [[0, 0, 2, 0], [0, 0, 0, 2], [2, 0, 0, 0], [0, 2, 0, 0]]
        """
        ranks, elements = self.messages()
        result = np.zeros((len(self.lines), len(self.lines)), dtype=np.int64)
        result[ranks[:, 0], ranks[:, 1]] = elements
        return result

    def exchange(self, total: int, element_bytes: int = COMPLEX_DOUBLE_BYTES, backward: bool = False) -> Exchange:
        """Return the exchange message by message, for an array of `total` elements.

        Raises
        ------
        GridError
            If too many ranks share a line.
        """
        if self.ranks > MOST_SHARING:
            raise GridError(f"lines that {self.ranks} ranks share are not predicted message by message; take bricks with at "
                            f"most {MOST_SHARING} along an axis")
        ranks, elements = self.messages(backward)
        return of_messages(self.name, ranks, elements, element_bytes, total * element_bytes)


@dataclass(frozen=True)
class BrickLineStageTime(LineStageTime):
    """Times of an exchange of bricks; `messages` is for the rank that sends most, `points` for an average rank."""

    sent_bytes: int  #: of all ranks together
    link_bytes: float  #: of the busiest link


def brick_line_stages(size: Sequence[int], bricks: Sequence[int], algorithm: str = "transpose",
                      order: str = "natural") -> tuple[BrickLineStage, ...]:
    """Return the exchanges of a forward transform, in their order.

    Parameters
    ----------
    size : (int, int, int)
        Points nx, ny, nz.
    bricks : (int, int, int)
        Numbers of bricks P, Q, S.
    algorithm, order : str
        As for `line_stages`.

    Raises
    ------
    GridError
        As in `line_stages`, with the axis.

    Examples
    --------
    >>> [s.name for s in brick_line_stages((16, 12, 8), (2, 1, 4), "binary4")]
    ['z_stage_1', 'z_to_blocks', 'x_stage_1', 'x_to_blocks']
    """
    if len(size) != 3 or len(bricks) != 3 or min(*size, *bricks) < 1:
        raise GridError(f"{'x'.join(map(str, size))} points on {'x'.join(map(str, bricks))} bricks; "
                        "there are three of each, 1 or more")
    stages: list[tuple[LineStage, ...]] = []
    for letter, n, ranks in zip("xyz", size, bricks):
        try:
            stages.append(line_stages(n, ranks, algorithm, order) if n > 1 else ())
        except GridError as error:
            raise GridError(f"along {letter}: {error}") from error
    everyone = np.arange(prod(bricks))
    aparts = (1, bricks[0], bricks[0] * bricks[1])
    result = []
    for axis in (2, 1, 0):
        lines = np.ones_like(everyone)
        for other in {0, 1, 2} - {axis}:
            held = _held(stages[other], size[other], bricks[other], other > axis)
            lines = lines * held[everyone // aparts[other] % bricks[other]]
        result += [BrickLineStage(f"{'xyz'[axis]}_{stage.name}", stage, size[axis], bricks[axis], aparts[axis], lines)
                   for stage in stages[axis]]
    return tuple(result)


def brick_lines_forecast(mapping: Mapping, size: Sequence[int], bricks: Sequence[int], algorithm: str = "transpose",
                         order: str = "natural", *, costs: Costs = Costs(), ports: int = 1,
                         routing_name: str | None = None, element_bytes: int = COMPLEX_DOUBLE_BYTES,
                         backward: bool = False) -> tuple[BrickLineStageTime, ...]:
    """Return the time of every exchange of nx, ny, nz points, each message with its own size and on its own route.

    Parameters
    ----------
    mapping : Mapping
    size, bricks, algorithm, order
        As for `brick_line_stages`.
    costs : Costs
    ports : int
        Messages that start together.
    routing_name : str, optional
    element_bytes : int
    backward : bool

    Raises
    ------
    GridError
        As in `brick_line_stages`, or if there is not one brick for each task, or no bandwidth.

    Examples
    --------
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.network.torus import Torus
    >>> ring, ranks = Torus((8,), (True,), (1e9,)), np.arange(8)
    >>> placed = Mapping(ring, ProcessGrid(2, 4), 1, ranks, 0 * ranks)
    >>> found = brick_lines_forecast(placed, (2, 32, 1), (2, 4, 1), "dft")
    >>> [(s.name, s.messages, s.sent_bytes, round(1e9 * s.link_s)) for s in found]    # every second rank, neighbours
    [('y_gather', 3, 3072, 512), ('x_gather', 1, 1024, 128)]
    """
    check_bricks(bricks, mapping.n_tasks)
    if mapping.network.bandwidth is None:
        raise GridError(f"{mapping.network.title} has no bandwidth; the time of lines needs the bytes per second of a link")
    if ports > 1 and costs.messages is None:
        costs = costs.starting(costs.message_cost_s or 0.0, ports)
    rule = routing(routing_name or default_routing(mapping.network), mapping.network)
    forecasts = []
    for stage in brick_line_stages(size, bricks, algorithm, order):
        exchange = stage.exchange(prod(size), element_bytes, backward)
        loads = rule.loads(mapping.network, exchange, mapping.ends)
        work = mapping_work(mapping, exchange, loads.seconds(), None, loads.hop_bytes())
        forecasts.append(BrickLineStageTime(
            stage.name, messages=work.messages, points=prod(size) / mapping.n_tasks, link_s=float(work.link_s),
            time_s=float(exchange_terms(work, costs).time_s),
            sent_bytes=int(exchange.group_weight.sum()) * element_bytes,
            link_bytes=float(max(loads.largest(), default=0))))
    return tuple(forecasts)


def _held(stages: tuple[LineStage, ...], n: int, ranks: int, after: bool) -> Ints:
    """Return the points of a line that each of its ranks has before or after a forward transform."""
    stage = stages[-1 if after else 0] if stages else None
    if stage is None or not stage.is_all_to_all:
        return block_sizes(n, ranks)
    owner: Any = stage.after if after else stage.before
    return np.bincount(owner(np.arange(stage.labels)), minlength=ranks)


@dataclass(frozen=True)
class LineProblem:
    """A line of ``size[0]`` points, or an array of three extents in P x Q x S bricks.

    >>> LineProblem((4096,)).title, LineProblem((24, 17, 1), (2, 3, 1)).title
    ('line of 4,096 points', '24x17x1 points in 2x3x1 bricks of lines')
    """

    size: tuple[int, ...]
    bricks: tuple[int, int, int] | None = None
    algorithm: str = ALGORITHMS[0]
    order: str = "natural"
    fields: int = 1  #: lines or arrays that are transformed together
    precision: str = "double"

    @property
    def element_bytes(self) -> int:
        return 2 * PRECISIONS[self.precision]

    @property
    def decomposition(self) -> str:
        """The name in the runner."""
        return "line" if self.bricks is None else "brick:" + "x".join(map(str, self.bricks))

    @property
    def title(self) -> str:
        if self.bricks is None:
            return f"line of {self.size[0]:,} points"
        return f"{'x'.join(map(str, self.size))} points in {'x'.join(map(str, self.bricks))} bricks of lines"

    @property
    def told(self) -> str:
        """The problem and its algorithm in a short text.

        >>> LineProblem((4096,), fields=2).told, LineProblem((24, 17, 1), (2, 3, 1), "dft").told
        ('line of 8192, transpose', '24x17x1, dft')
        """
        fields = f":fields={self.fields}" if self.fields > 1 else ""
        what = f"line of {self.size[0] * self.fields}" if self.bricks is None else "x".join(map(str, self.size)) + fields
        return f"{what}, {self.algorithm}"

    def stages(self, ranks: int, algorithm: str | None = None) -> tuple[str, ...]:
        """Return the names of the exchanges, by its own algorithm or by another.

        Raises
        ------
        GridError
            If the algorithm cannot transform the problem.

        Examples
        --------
        >>> LineProblem((16, 12, 1), (2, 2, 1), "dft").stages(4)
        ('y_gather', 'x_gather')
        """
        name = algorithm or self.algorithm
        if self.bricks is None:
            return tuple(stage.name for stage in line_stages(self.size[0], ranks, name, self.order))
        check_bricks(self.bricks, ranks)
        return tuple(stage.name for stage in brick_line_stages(self.size, self.bricks, name, self.order))

    def algorithms(self, ranks: int) -> list[str]:
        """Return the possible algorithms. Binary exchange is possible if the ranks divide the points."""
        result = []
        for name in ALGORITHMS:
            try:
                self.stages(ranks, name)
            except GridError:
                continue
            result.append(name)
        return result

    def grids(self, ranks: int) -> list[ProcessGrid]:
        """Return the grids to place ranks for. Their rows and columns are the ranks of lines, or of two axes together.

        >>> [grid.shape for grid in LineProblem((8, 8, 8), (2, 3, 4)).grids(24)]
        [(2, 12), (6, 4)]
        """
        if self.bricks is None:
            return [ProcessGrid(1, ranks)]
        p, q, s = self.bricks
        return [ProcessGrid(*shape) for shape in dict.fromkeys([(p, q * s), (p * q, s)])]

    def forecast(self, mapping: Mapping, costs: Costs = Costs(), ports: int = 1, routing: str | None = None,
                 algorithm: str | None = None, backward: bool = False) -> Sequence[LineStageTime]:
        """Return the time of every exchange.

        Raises
        ------
        GridError
            If the algorithm or the mapping does not fit the problem.
        """
        name, element_bytes = algorithm or self.algorithm, self.element_bytes * self.fields
        if self.bricks is None:
            return line_forecast(mapping, n=self.size[0], algorithm=name, order=self.order, costs=costs, ports=ports,
                                 routing_name=routing, element_bytes=element_bytes)
        return brick_lines_forecast(mapping, size=self.size, bricks=self.bricks, algorithm=name, order=self.order,
                                    costs=costs, ports=ports, routing_name=routing, element_bytes=element_bytes,
                                    backward=backward)
