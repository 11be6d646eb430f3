"""The exchanges of a distributed line in libpencilfft: their order, their messages and their times.

The steps are the steps of fft_runner/src/lines/distributed_*.c. Transposes see the N points as a matrix of N1 rows and N2
columns. N1 and N2 minimise the most points of a rank. If a rank would still have more than twice N/P, as for primes, a
convolution of M >= 2N - 1 points (a chirp) takes the place of the line. Binary exchanges have a stage for each factor of P,
and in natural order an additional all-to-all. A dense DFT is a stage of all ranks.
Sources: D. Bailey, FFTs in external or hierarchical memory, 1990 (six-step); L. Bluestein 1970; A. Jocksch 2021.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, inf, nan
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GridError, near
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.lines import ALGORITHMS, ORDERS
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.transform import COMPLEX_DOUBLE_BYTES
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import exchange_terms, mapping_work
from pencilmap.model.traffic.exchange import Exchange

# The time of a Fourier transform of a line that is distributed over P ranks, in equal blocks of n points each.
#
# There are two ways, after Jocksch:
#
# - Transposes are all-to-alls of all ranks: three from natural to natural order, two if the result may stay
#   transposed, one if the input may be transposed too.
# - Binary exchange has one stage for each factor r of P. In a stage every rank sends its whole block to the r - 1 others of
#   its group, and these blocks meet in one butterfly. The factors are the radix, as often as the radix divides P, and then
#   the primes of the quotient. A stage of a prime r is the allgather of a dense transform of r points.
#
# Transposes send many small messages and binary exchanges few large messages, so below some n the binary exchange will be
# faster.
#
# On a crossbar, with k messages at a time, the two ways take a (ceil((P-1)/k) alpha + n s beta) and L (ceil((r-1)/k) alpha +
# (r-1) n s beta), L = log_r P. They are equal at the n* of `crossbar_break_even`. On other networks the busiest link of each
# stage takes the place of n s beta: `line_times` routes the groups of every stage.
#
# Source: A. Jocksch, N. Tselepidis, V. Karakasis, Improved scaling of massively parallel FFTs on modern supercomputers, Cray
# User Group 2021.
# Cost: routing one all-to-all and one exchange for each factor.

RADICES = (2, 4)


@dataclass(frozen=True)
class LineTimes:
    """The communication of a distributed transform: ``starts_s + points * point_s`` seconds for `points` a rank."""

    messages: int  #: messages that a rank sends
    starts_s: float  #: seconds independent of the size
    point_s: float  #: seconds for each point of a rank

    def time_s(self, points: float) -> float:
        """Return the seconds with `points` a rank.

        >>> LineTimes(3, 1.0, 0.25).time_s(6)
        2.5
        """
        return self.starts_s + points * self.point_s


def factors(ranks: int, radix: int) -> tuple[int, ...]:
    """Return the factors of P in the order of the stages: the radix, as often as it divides P, after 4 also 2, then primes.

    Raises
    ------
    GridError
        If the radix is unknown, or there is no rank.

    Examples
    --------
    >>> factors(16, 4), factors(32, 4), factors(60, 2), factors(1, 2)
    ((4, 4), (4, 4, 2), (2, 2, 3, 5), ())
    """
    if radix not in RADICES:
        raise GridError(f"radix {radix} of a binary exchange is unknown; known are {', '.join(map(str, RADICES))}")
    if ranks < 1:
        raise GridError(f"a line over {ranks} ranks has none to hold it; give 1 rank or more")
    result: list[int] = []
    left = ranks
    for factor in chain((radix,), range(2, ranks + 1)):
        while left % factor == 0 and left > 1:
            result.append(factor)
            left //= factor
        if factor * factor > left > 1 and factor > radix:
            result.append(left)
            break
    return tuple(result)


def crossbar_break_even(ranks: int, radix: int, alpha_s: float, byte_s: float, all_to_alls: int = 3, ports: int = 1,
                        element_bytes: int = COMPLEX_DOUBLE_BYTES) -> float:
    """Return the number of points a rank below which binary exchange is faster than transposes, on a crossbar.

    Parameters
    ----------
    ranks, radix : int
    alpha_s : float
        Start of a message in seconds.
    byte_s : float
        Seconds of a byte.
    all_to_alls : int
    ports : int
        Messages that start together.
    element_bytes : int

    Returns
    -------
    float
        Infinity if binary exchange is always faster, 0 if never.

    Examples
    --------
    >>> f"{crossbar_break_even(256, 2, 1e-6, 1e-9):.1f}"    # 1e-6 (3 255 - 8) / (16 1e-9 (8 - 3))
    '9462.5'
    >>> crossbar_break_even(4, 2, 1e-6, 1e-9)    # 2 stages of n s against 3 all-to-alls
    inf
    """
    _check(all_to_alls, ports)
    stages = factors(ranks, radix)
    starts = all_to_alls * ceil((ranks - 1) / ports) - sum(ceil((r - 1) / ports) for r in stages)
    blocks = sum(r - 1 for r in stages) - all_to_alls
    return _equal(alpha_s * starts, element_bytes * byte_s * blocks)


def break_even(transposes: LineTimes, binary: LineTimes) -> float:
    """Return the break-even as `crossbar_break_even` does, for any two ways on any network.

    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.network.torus import parse_torus
    >>> for shape in ("64", "8x8", "4x4x4"):
    ...     network, ranks = parse_torus(shape, bandwidth=(1e9,) * (1 + shape.count("x"))), np.arange(64)
    ...     mapping = Mapping(network, ProcessGrid(1, 64), 1, ranks, 0 * ranks)
    ...     ways = [line_times(mapping, radix, costs=Costs(message_cost_s=2e-6)) for radix in (None, 2)]
    ...     print(shape, ways[0].messages, ways[1].messages, round(break_even(*ways)))
    64 189 6 995
    8x8 189 6 3268
    4x4x4 189 6 5083
    """
    return _equal(transposes.starts_s - binary.starts_s, binary.point_s - transposes.point_s)


def line_times(mapping: Mapping, radix: int | None = None, all_to_alls: int = 3, costs: Costs = Costs(), ports: int = 1,
               routing_name: str | None = None, element_bytes: int = COMPLEX_DOUBLE_BYTES,
               points: float | None = None) -> LineTimes:
    """Return the times of a binary exchange of that radix, or, without a radix, of all-to-alls.

    Rank i holds block i of the line. Every exchange takes its busiest link or its injection, whichever is slower, and the
    starts of its messages, as in the time model except for `message_size_cost`. Contention is left out.

    Parameters
    ----------
    mapping : Mapping
    radix : int, optional
    all_to_alls : int
        Number of all-to-alls.
    costs : Costs
    ports : int
        Messages that start together.
    routing_name : str, optional
    element_bytes : int
    points : float, optional
        If costs go by ranges of sizes, these points a rank decide the range of the messages; P by default.
    """
    _check(all_to_alls, ports)
    repeated = all_to_alls if radix is None else 1
    result = [exchange_times(mapping, exchange, costs, ports, routing_name, points)[0]
              for exchange in exchanges_of_line(mapping.n_tasks, radix, element_bytes)]
    return LineTimes(repeated * sum(times.messages for times in result), repeated * sum((t.starts_s for t in result), 0.0),
                     repeated * sum((t.point_s for t in result), 0.0))


def exchange_times(mapping: Mapping, exchange: Exchange, costs: Costs = Costs(), ports: int = 1,
                   routing_name: str | None = None, points: float | None = None) -> tuple[LineTimes, float]:
    """Return the times of an exchange with P points a rank.

    Parameters
    ----------
    mapping : Mapping
    exchange : Exchange
    costs, ports, routing_name, points
        As for `line_times`.

    Returns
    -------
    LineTimes
    float
        Seconds of the busiest link for each point of a rank.

    Raises
    ------
    GridError
        If the network has no bandwidth.
    """
    _check(1, ports)
    if mapping.network.bandwidth is None:
        raise GridError(f"{mapping.network.title} has no bandwidth; the time of a line needs the bytes per second of a link")
    rule = routing(routing_name or default_routing(mapping.network), mapping.network)
    loads = rule.loads(mapping.network, exchange, mapping.ends)
    work = mapping_work(mapping, exchange, loads.seconds(), None, loads.hop_bytes())
    range_ = costs.range_of(exchange.message_unit * (points or mapping.n_tasks) / mapping.n_tasks)
    terms = exchange_terms(work, costs if range_ is None else replace(costs, messages=(replace(range_, up_to=inf),)))
    started_s = ceil(work.messages / ports) * (costs.message_cost_s or 0.0) if range_ is None else terms.messages_s
    starts_s = (terms.start_s or 0.0) + (terms.hops_s or 0.0) + (started_s or 0.0)
    flow_s = max(terms.link_s, terms.injection_s or 0.0)
    return LineTimes(work.messages, float(starts_s), float(flow_s) / mapping.n_tasks), float(terms.link_s) / mapping.n_tasks


def exchanges_of_line(ranks: int, radix: int | None = None, element_bytes: int = COMPLEX_DOUBLE_BYTES) -> list[Exchange]:
    """Return the exchanges with P points a rank: an all-to-all, or the stages of binary exchange; none for a single rank.

    >>> [(e.members.tolist(), e.message_unit) for e in exchanges_of_line(4, 2, 1)]
    [([[0, 1], [2, 3]], 4), ([[0, 2], [1, 3]], 4)]
    """
    if radix is None:
        return [block_exchange(ranks, None, element_bytes)] if ranks > 1 else []
    exchanges, apart = [], 1
    for r in factors(ranks, radix):
        exchanges.append(block_exchange(ranks, (r, apart), element_bytes))
        apart *= r
    return exchanges


def block_exchange(ranks: int, group: tuple[int, int] | None, element_bytes: int = COMPLEX_DOUBLE_BYTES) -> Exchange:
    """Return an exchange with P points a rank.

    Parameters
    ----------
    ranks : int
    group : (int, int) or None
        Ranks of a group and their distance, to exchange whole blocks; None: an all-to-all.
    element_bytes : int
    """
    everyone = np.arange(ranks)
    if group is None:
        return _line_exchange(everyone[None], 1, element_bytes)
    size, apart = group
    return _line_exchange(everyone.reshape(-1, size, apart).swapaxes(1, 2).reshape(-1, size), ranks, element_bytes)


def _line_exchange(members: np.ndarray, points: int, element_bytes: int) -> Exchange:
    groups, size = members.shape
    one = np.ones(max(groups, size), dtype=np.int64)
    return Exchange("line", letters="s", members=members, group_weight=points * one[:groups], send_weight=one[:size],
                    receive_weight=one[:size], unit_bytes=element_bytes, total_bytes=members.size ** 2 * element_bytes)


def _check(all_to_alls: int, ports: int) -> None:
    for name, number in (("all-to-alls", all_to_alls), ("ports", ports)):
        if number < 1:
            raise GridError(f"{number} {name} move nothing; give 1 or more")


def _equal(more_starts_s: float, more_point_s: float) -> float:
    if more_point_s <= 0:
        return inf if more_starts_s >= 0 else 0.0
    return max(0.0, more_starts_s / more_point_s)


LARGEST_CHIRP = 2 ** 31 - 1

Owner = Callable[[Ints], Ints]  #: the rank that holds each label


@dataclass(frozen=True)
class LineStage:
    """An exchange: an all-to-all of all ranks, or blocks in groups.

    Parameters
    ----------
    size, apart : int
        Number of ranks of a group, and their distance.
    points : float
        Mean number of points of a rank.
    before, after : callable or None
        The rank that holds each of the `labels` points before and after; None for whole blocks in groups.
    """

    name: str
    size: int
    apart: int
    points: float
    labels: int = 0
    before: Owner | None = None
    after: Owner | None = None
    scattered: bool = False  #: each rank receives the size of its own block, in place of the others' blocks

    @property
    def is_all_to_all(self) -> bool:
        return self.before is not None

    def sent(self, ranks: int, n: int) -> Ints:
        """Return the points that each rank sends to each other, shape (P, P) with 0 on the diagonal.

        >>> line_stages(8, 4, "binary2")[0].sent(4, 8).tolist()
        [[0, 0, 2, 0], [0, 0, 0, 2], [2, 0, 0, 0], [0, 2, 0, 0]]
        """
        if self.before is not None and self.after is not None:
            label = np.arange(self.labels)
            elements = np.bincount(self.before(label) * ranks + self.after(label), minlength=ranks * ranks)
            elements = elements.reshape(ranks, ranks)
        else:
            rank = np.arange(ranks)
            group = rank // (self.apart * self.size) * self.apart + rank % self.apart
            held = block_sizes(n, ranks)
            elements = np.where(group[:, None] == group, held if self.scattered else held[:, None], 0)
        np.fill_diagonal(elements, 0)
        return elements

    def exchange(self, ranks: int, element_bytes: int = COMPLEX_DOUBLE_BYTES) -> Exchange:
        """Return the exchange with P points a rank."""
        return block_exchange(ranks, None if self.is_all_to_all else (self.size, self.apart), element_bytes)


@dataclass(frozen=True)
class LineStageTime:
    """Times of an exchange of a line."""

    name: str
    messages: int  #: messages that a rank sends
    points: float  #: points of each rank
    link_s: float  #: of the busiest link
    time_s: float  #: by the time model


def block_sizes(n: int, parts: int) -> Ints:
    """Return the block lengths by which the library divides n indices: the first n mod parts blocks hold one more."""
    return n // parts + (np.arange(parts) < n % parts)


def _block_of(n: int, parts: int) -> Callable[..., Any]:
    ends = np.cumsum(block_sizes(n, parts))
    return lambda index: np.searchsorted(ends, index, side="right")


def _most(matrix: tuple[int, int], ranks: int) -> int:
    n1, n2 = matrix
    return max(-(-n2 // ranks) * n1, -(-n1 // ranks) * n2)


def matrix_of(n: int, ranks: int) -> tuple[int, int]:
    """Return N1 <= N2 that minimise the most points of a rank; among equals the largest N1.

    >>> matrix_of(1024, 4), matrix_of(127, 4)
    ((32, 32), (1, 127))
    """
    return min(((n1, n // n1) for n1 in range(1, int(n ** 0.5) + 1) if n % n1 == 0),
               key=lambda m: (_most(m, ranks), -m[0]))


def convolution_of(n: int, ranks: int) -> tuple[int, int] | None:
    """Return N1 and N2 of the convolution in place of N points that P ranks cannot share well, or None if they can.

    >>> convolution_of(127, 4), convolution_of(1024, 4)
    ((16, 16), None)
    """
    six = _most(matrix_of(n, ranks), ranks)
    if ranks == 1 or six <= 2 * -(-n // ranks) or n >= LARGEST_CHIRP:
        return None
    least = 2 * n - 1
    stages = []
    fives = 1
    while fives < 2 * least:
        threes = fives
        while threes < 2 * least:
            m = threes
            while m < least:
                m *= 2
            if m < 2 * least:
                stages.append(matrix_of(m, ranks))
            threes *= 3
        fives *= 5
    best = min(stages, key=lambda m: (_most(m, ranks), m[0] * m[1]))
    return best if _most(best, ranks) < six else None


def line_stages(n: int, ranks: int, algorithm: str = "transpose", order: str = "natural") -> tuple[LineStage, ...]:
    """Return the exchanges of a forward transform of n points over some ranks, in their order.

    Parameters
    ----------
    n, ranks : int
    algorithm : str
        "transpose", "binary2", "binary4", "dft" or "dft-reduce".
    order : str
        One of `ORDERS`.

    Raises
    ------
    GridError
        If a name is unknown, there are no points or ranks, or P does not divide n in a binary exchange.

    Examples
    --------
    >>> [(s.name, s.size, s.apart) for s in line_stages(48, 12, "binary4")]
    [('stage_1', 3, 4), ('stage_2', 4, 1), ('to_blocks', 12, 1)]
    """
    for name, known in ((algorithm, ALGORITHMS), (order, ORDERS)):
        if name not in known:
            kind = "algorithm" if known is ALGORITHMS else "order"
            raise GridError(f"{kind} {name!r} of a line is unknown{near(name, known)}; known are {', '.join(known)}")
    if n < 1 or ranks < 1:
        raise GridError(f"a line of {n} points over {ranks} ranks; both are 1 or more")
    if ranks == 1:
        return ()
    if algorithm == "transpose":
        return _transposes(n, ranks, order)
    if not algorithm.startswith("dft"):
        return _binary(n, ranks, int(algorithm.removeprefix("binary")), order)
    whole = order == "natural" or n % ranks
    scattered = algorithm == "dft-reduce"
    name = "stage_1" if not whole else "scatter" if scattered else "gather"
    return (LineStage(name, ranks, 1, n / ranks, scattered=scattered),)


def _binary(n: int, ranks: int, radix: int, order: str) -> tuple[LineStage, ...]:
    if n % ranks:
        raise GridError(f"a binary exchange needs points that divide evenly: {n} points are not a multiple of {ranks} "
                        f"ranks; take {(n // ranks + 1) * ranks} points, or algorithm transpose or dft")
    result, apart, stages = [], ranks, factors(ranks, radix)
    weights = np.cumprod((1, *stages[:-1]))
    for number, r in enumerate(reversed(stages), 1):
        apart //= r
        result.append(LineStage(f"stage_{number}", r, apart, n / ranks))
    if order == "natural":
        digits, reversed_ = np.arange(ranks), np.zeros(ranks, dtype=np.int64)
        place = 1
        for r, weight in zip(reversed(stages), reversed(weights.tolist())):
            reversed_ += digits // weight % r * place
            place *= r
        rank_of = np.argsort(reversed_)
        result.append(_all_to_all("to_blocks", n, ranks, n, lambda k: rank_of[k % ranks], _block_of(n, ranks)))
    return tuple(result)


def _all_to_all(name: str, n: int, ranks: int, labels: int, before: Callable[..., Any],
                after: Callable[..., Any]) -> LineStage:
    return LineStage(name, size=ranks, apart=1, points=n / ranks, labels=labels, before=before, after=after)


def _transposes(n: int, ranks: int, order: str) -> tuple[LineStage, ...]:
    chirp = convolution_of(n, ranks)
    n1, n2 = chirp or matrix_of(n, ranks)
    m, blocks, columns, rows = n1 * n2, _block_of(n, ranks), _block_of(n2, ranks), _block_of(n1, ranks)

    def by_column(label: Ints) -> Ints:
        return columns(label % n2)

    def by_row(label: Ints) -> Ints:
        return rows(label // n2)

    forth = _all_to_all("to_columns", n, ranks, n, blocks, by_column)
    across = _all_to_all("to_rows", m, ranks, m, by_column, by_row)
    if chirp:
        return (forth, across, _all_to_all("from_rows", m, ranks, m, by_row, by_column),
                _all_to_all("to_blocks", n, ranks, n, by_column, blocks))
    back = _all_to_all("to_blocks", n, ranks, n, lambda k: rows(k % n1), blocks)
    return {"natural": (forth, across, back), "transposed": (forth, across), "transposed-both": (across,)}[order]


def line_forecast(mapping: Mapping, n: int, algorithm: str = "transpose", order: str = "natural", costs: Costs = Costs(),
                  ports: int = 1, routing_name: str | None = None,
                  element_bytes: int = COMPLEX_DOUBLE_BYTES) -> tuple[LineStageTime, ...]:
    """Return the time of every exchange of the line if rank i holds block i. Blocks are taken as even.

    Parameters
    ----------
    mapping : Mapping
    n, algorithm, order
        As for `line_stages`.
    costs : Costs
    ports : int
        Messages that start together.
    routing_name : str, optional
    element_bytes : int

    Examples
    --------
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.network.torus import Torus
    >>> ring, ranks = Torus((8,), (True,), (1e9,)), np.arange(8)
    >>> placed = Mapping(ring, ProcessGrid(1, 8), 1, ranks, 0 * ranks)
    >>> [(s.name, s.messages, round(1e9 * s.link_s)) for s in line_forecast(placed, 512, "binary2")]
    [('stage_1', 1, 2048), ('stage_2', 1, 2048), ('stage_3', 1, 1024), ('to_blocks', 7, 1024)]
    """
    forecasts, known = [], dict[tuple[bool, int, int, float | None], tuple[LineTimes, float]]()
    for stage in line_stages(n, mapping.n_tasks, algorithm, order):
        points = stage.points if costs.messages else None  # the points decide the range of the messages
        key = stage.is_all_to_all, stage.size, stage.apart, points
        if key not in known:
            known[key] = exchange_times(mapping, stage.exchange(mapping.n_tasks, element_bytes), costs, ports, routing_name,
                                        points)
        times, link_point_s = known[key]
        forecasts.append(LineStageTime(stage.name, times.messages, stage.points, stage.points * link_point_s,
                                       times.time_s(stage.points)))
    return tuple(forecasts)


def line_time(forecast: Sequence[LineStageTime]) -> float:
    """Return the seconds of all exchanges."""
    return sum((stage.time_s for stage in forecast), 0.0)


def ways(order: str) -> dict[str, int]:
    """Return how many more all-to-alls the transposes need than each other algorithm, both with results in that order.

    >>> ways("natural"), ways("transposed")
    ({'binary2': 2, 'binary4': 2, 'dft': 3, 'dft-reduce': 3}, {'binary2': 2, 'binary4': 2, 'dft': 2, 'dft-reduce': 2})
    """
    return {name: ORDERS[order] - (order == "natural" and not name.startswith("dft")) for name in ALGORITHMS[1:]}


@dataclass(frozen=True)
class BreakEven:
    """Points a rank below which an algorithm is faster than the transposes."""

    algorithm: str
    routed: float  #: on the network, by the busiest link of every stage
    crossbar: float  #: in closed form, on directly joined nodes; nan for dft and dft-reduce, which have no closed form


def break_evens(mapping: Mapping, order: str = "natural", costs: Costs = Costs(), ports: int = 1,
                routing_name: str | None = None) -> tuple[BreakEven, ...]:
    """Return the break-even of every algorithm except the transposes.

    The closed form takes the bytes per second of the fastest link, or of a node's injection if less.

    Parameters
    ----------
    mapping : Mapping
    order : str
        Order of the results, one of `ORDERS`.
    costs, ports, routing_name
        As for `line_forecast`.
    """
    ranks, points = mapping.n_tasks, []
    if ranks == 1:
        return ()
    rates = mapping.network.bandwidth or ()
    for name, all_to_alls in ways(order).items():
        transposes = line_times(mapping, radix=None, all_to_alls=all_to_alls, costs=costs, ports=ports,
                                routing_name=routing_name)
        if name.startswith("dft"):
            other = exchange_times(mapping, block_exchange(ranks, (ranks, 1)), costs, ports, routing_name)[0]
            closed = nan
        else:
            radix = int(name.removeprefix("binary"))
            other = line_times(mapping, radix=radix, all_to_alls=1, costs=costs, ports=ports, routing_name=routing_name)
            rate = min(max(map(float, rates)), costs.injection_per_node or inf)
            closed = crossbar_break_even(ranks, radix=radix, alpha_s=costs.message_cost_s or 0.0, byte_s=1 / rate,
                                         all_to_alls=all_to_alls, ports=ports)
        points.append(BreakEven(name, break_even(transposes, other), closed))
    return tuple(points)
