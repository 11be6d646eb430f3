"""The time of a Fourier transform of a line that is distributed over P ranks, in equal blocks of n points each.

There are two ways, after Jocksch:

- Transposes are all-to-alls of all ranks: three from natural to natural order, two if the result may stay
  transposed, one if the input may be transposed too.
- Binary exchange has one stage for each factor r of P. In a stage every rank sends its whole block to the r - 1 others of
  its group, and these blocks meet in one butterfly. The factors are the radix, as often as the radix divides P, and then
  the primes of the quotient. A stage of a prime r is the allgather of a dense transform of r points.

Transposes send many small messages and binary exchanges few large messages, so below some n the binary exchange will be
faster.

On a crossbar, with k messages at a time, the two ways take a (ceil((P-1)/k) alpha + n s beta) and L (ceil((r-1)/k) alpha +
(r-1) n s beta), L = log_r P. They are equal at the n* of `crossbar_break_even`. On other networks the busiest link of each
stage takes the place of n s beta: `line_times` routes the groups of every stage.

Source: A. Jocksch, N. Tselepidis, V. Karakasis, Improved scaling of massively parallel FFTs on modern supercomputers, Cray
User Group 2021.
Cost: routing one all-to-all and one exchange for each factor.
"""

from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, inf

import numpy as np

from pencilmap.model.base.errors import GridError
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import COMPLEX_DOUBLE_BYTES
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import exchange_terms, mapping_work
from pencilmap.model.traffic.exchange import Exchange

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
    found: list[int] = []
    left = ranks
    for factor in chain((radix,), range(2, ranks + 1)):
        while left % factor == 0 and left > 1:
            found.append(factor)
            left //= factor
        if factor * factor > left > 1 and factor > radix:
            found.append(left)
            break
    return tuple(found)


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
    found = [exchange_times(mapping, exchange, costs, ports, routing_name, points)[0]
             for exchange in exchanges_of_line(mapping.n_tasks, radix, element_bytes)]
    return LineTimes(repeated * sum(times.messages for times in found), repeated * sum((t.starts_s for t in found), 0.0),
                     repeated * sum((t.point_s for t in found), 0.0))


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
    each = costs.range_of(exchange.message_unit * (points or mapping.n_tasks) / mapping.n_tasks)
    terms = exchange_terms(work, costs if each is None else replace(costs, messages=(replace(each, up_to=inf),)))
    started_s = ceil(work.messages / ports) * (costs.message_cost_s or 0.0) if each is None else terms.messages_s
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
    found, apart = [], 1
    for r in factors(ranks, radix):
        found.append(block_exchange(ranks, (r, apart), element_bytes))
        apart *= r
    return found


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
        return _exchange(everyone[None], 1, element_bytes)
    size, apart = group
    return _exchange(everyone.reshape(-1, size, apart).swapaxes(1, 2).reshape(-1, size), ranks, element_bytes)


def _exchange(members: np.ndarray, points: int, element_bytes: int) -> Exchange:
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
