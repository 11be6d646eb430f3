"""The time of an exchange and of the computing: work times the machine's prices.

Time of an exchange, in seconds::

    t = max(link + contention, injection) + start + messages + hops

    link         busiest link under the named routing / its bandwidth: the paper's bound, or more
    contention   c (adaptive - link), never below 0: routers choose among minimal routes; with c = 0 they spread the load as
                 evenly as dimension order, with c = 1 no better than random (`pencilmap.model.kinds.torus_adaptive`)
    injection    max(bytes of a task to other nodes / injection_per_task, of a node / injection_per_node,
                 bytes x hops of a node / byte_hops_per_node, bytes between the tasks of a node / on_node_bandwidth)
    start        exchange_cost x tasks on the node
    messages     message_cost x messages a task sends to other tasks
                 + message_size_cost x sum over these messages of the square root of their size in KiB
                 + message_hop_cost x the same sum x hops of the average byte
                 + node_message_cost x messages that the tasks of a node send to other nodes
                 if the machine has ranges of messages by size: + start x ceil(messages / ports); then the injection is
                 no faster than a single message, and all messages of a task together, in that range
    hops         hop_latency x hops of the average byte

Bytes flow through links and ports at the same time, so the slower counts (max). Before they flow, a task must enter the
exchange and start each message, and the last message still has to arrive. These terms are therefore added. The paper's Blue
Gene/L times support both rules. They also show that the start grows with the tasks of a node (docs/time-model.md).

Time of the computing between the exchanges, after D. Pekurovsky, "P3DFFT: a framework for parallel computations of Fourier
transforms in three dimensions", SIAM J. Sci. Comput. 34 (2012), C192-C209, eq. 3: compute + memory passes + exchange, here
with the exchange time above instead of data over bisection bandwidth, and with complex data (5 n log2 n operations per
line)::

    fft          floating-point operations of a task / fft_rate_per_task
    memory       bytes a task reads and writes beyond its own cache / cache_bandwidth_per_task
                 + bytes a node reads and writes beyond its caches / memory_bandwidth_per_node
                 + copy_cost x messages that a task packs and unpacks

Of a pass over p bytes, the share 1 - c/p goes beyond the caches of a node, which hold c bytes, and nothing if the pass
fits. Beyond the own cache of a task, the share is 1 - (c/p)^2: an element stays inside only if both its source and its
target do.

Work and prices are separate, so that a fit can try many prices for the same work (`pencilmap.model.times.calibrate`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import reduce
from math import ceil, log2, prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.decompositions import AXES, LocalPass
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.times.costs import Costs, MessageRange
from pencilmap.model.traffic.exchange import Exchange, message_roots, messages_sent
from pencilmap.model.traffic.product_blocks import StageBlocks, product_blocks

TIE = 1.01  # times the least time: models cannot tell which is faster within this ratio


@dataclass(frozen=True)
class ExchangeWork:
    """The work of an exchange, which `exchange_terms` turns into seconds."""

    link_s: float  #: seconds of the busiest link at its bandwidth
    adaptive_s: float | None  #: the same if every router chose randomly among the minimal routes; None if unknown
    #: task_bytes, node_bytes: largest number of bytes that one task, and all tasks of one node, send to other nodes
    task_bytes: float
    node_bytes: float
    messages: int  #: messages that a task sends to other tasks, of its own node or another
    hops: float  #: hops of the average byte sent to another task
    #: largest number of tasks on a node that enter the exchange: 0 if groups have one task and exchange nothing
    tasks: int
    #: sum over the messages that a task sends to other tasks of the square root of their size, in KiB^(1/2)
    message_roots: float = 0.0
    hop_roots: float = 0.0  #: this sum times `hops`; in rounds, summed over the rounds
    inside_bytes: float = 0.0  #: largest number of bytes that the tasks of one node pass to each other

    @property
    def byte_hops(self) -> float:
        """Bytes that the busiest node sends to other tasks, times the hops of the average byte."""
        return self.hops * (self.node_bytes + self.inside_bytes)

    @property
    def node_messages(self) -> Any:
        """Messages of their mean size that the busiest node sends to other nodes."""
        return self.node_bytes / np.maximum(1024 * (self.message_roots / np.maximum(self.messages, 1)) ** 2, 1e-300)

    @property
    def message_bytes(self) -> float:
        """Size of a message. If sizes differ, the size whose square root is the mean root, as in the time model."""
        return 1024 * (self.message_roots / self.messages) ** 2 if self.messages else 0.0


@dataclass(frozen=True)
class LocalWork:
    """The work of computing for the busiest task and its node."""

    operations: float  #: floating-point operations of one task: 5 n log2 n for each line of n elements
    memory_bytes: float  #: bytes that all tasks of a node read and write in all passes
    pass_bytes: float  #: bytes that all tasks of a node read and write in one pass
    sharing: float = 1  #: tasks of the node, each with an equal part of these bytes
    copies: float = 0  #: messages that a task packs and unpacks; messages to and from other tasks count half each


@dataclass(frozen=True)
class TimeTerms:
    """The terms of one exchange in seconds. None if the machine's figure is unknown, which counts as 0."""

    link_s: float
    contention_s: float | None
    injection_s: float | None
    start_s: float | None
    messages_s: float | None
    hops_s: float | None

    @property
    def time_s(self) -> Any:
        """Seconds of the exchange: the slower of links and ports, plus the costs before and after the flow."""
        contention_s, injection_s, start_s, messages_s, hops_s = (0.0 if term is None else term for term in (
            self.contention_s, self.injection_s, self.start_s, self.messages_s, self.hops_s))
        return np.maximum(self.link_s + contention_s, injection_s) + start_s + messages_s + hops_s

    def as_dict(self) -> dict[str, float | None]:
        """Return plain numbers and None, for JSON."""
        return _plain(self)


@dataclass(frozen=True)
class LocalTerms:
    """The terms of the computing in seconds; None if the machine's figure is unknown."""

    fft_s: float | None
    memory_s: float | None

    @property
    def time_s(self) -> float | None:
        """Seconds of the computing, None if nothing is known."""
        known = [t for t in (self.fft_s, self.memory_s) if t is not None]
        return sum(known) if known else None

    def as_dict(self) -> dict[str, float | None]:
        return _plain(self)


def _plain(terms: LocalTerms | TimeTerms) -> dict[str, float | None]:
    return {f.name: None if getattr(terms, f.name) is None else float(getattr(terms, f.name)) for f in fields(terms)}


def exchange_terms(work: ExchangeWork, costs: Costs) -> TimeTerms:
    """Return the terms for the work of an exchange.

    Parameters
    ----------
    work : ExchangeWork
        Numbers, or arrays for many exchanges, which give arrays of terms.
    costs : Costs

    Examples
    --------
    >>> rows = ExchangeWork(link_s=113e-6, adaptive_s=113e-6, task_bytes=28672, node_bytes=28672, messages=7, hops=1.7,
    ...                     tasks=1)
    >>> terms = exchange_terms(rows, Costs(injection_per_task=160e6, message_cost_s=1e-6))
    >>> f"{terms.injection_s:.3g} {terms.messages_s:.3g} {terms.time_s:.4g}", terms.hops_s is None
    ('0.000179 7e-06 0.0001862', True)
    """
    contention = None
    if costs.contention is not None and work.adaptive_s is not None:
        contention = costs.contention * np.maximum(work.adaptive_s - work.link_s, 0.0)
    return TimeTerms(work.link_s, contention, _injection(work, costs), _times(costs.exchange_cost_s, work.tasks),
                     _message_time(work, costs), _times(costs.hop_latency_s, work.hops))


def local_terms(work: LocalWork, costs: Costs) -> LocalTerms:
    """Return the terms for the computing. Arrays in `work` give arrays.

    >>> local_terms(LocalWork(35e6, 59e6, 8.4e6), Costs(fft_rate_per_task=350e6)).as_dict()
    {'fft_s': 0.1, 'memory_s': None}
    """
    known = [t for t in (_over(bytes_beyond_task(work, costs), costs.cache_bandwidth_per_task),
                         _over(bytes_beyond_node(work, costs), costs.memory_bandwidth_per_node),
                         _times(costs.copy_cost_s, work.copies)) if t is not None]
    return LocalTerms(_over(work.operations, costs.fft_rate_per_task), sum(known) if known else None)


def bytes_beyond_task(work: LocalWork, costs: Costs) -> Any:
    """Return bytes that a task reads and writes beyond its own cache; 0 if the machine file has no cache size."""
    if costs.cache_per_task is None:
        return 0.0 * work.memory_bytes
    inside = np.minimum(1.0, costs.cache_per_task * work.sharing / work.pass_bytes)
    return work.memory_bytes / work.sharing * (1 - inside**2)


def bytes_beyond_node(work: LocalWork, costs: Costs) -> Any:
    """Return bytes that all tasks of a node read and write beyond its caches."""
    return work.memory_bytes * (1 - np.minimum(1.0, (costs.cache_per_node or 0.0) / work.pass_bytes))


def _times(cost: float | None, amount: Any) -> Any:
    return None if cost is None else cost * amount


def _message_time(work: ExchangeWork, costs: Costs) -> Any:
    range_, by_node = _message_range(work, costs), costs.node_message_cost_s
    known = [t for t in (_times(costs.message_cost_s, work.messages), _times(costs.message_size_cost_s, work.message_roots),
                         _times(costs.message_hop_cost_s, work.hop_roots),
                         None if range_ is None else range_.start_s * ceil(work.messages / range_.ports),
                         None if by_node is None else by_node * work.node_messages) if t is not None]
    return sum(known) if known else None


def _message_range(work: ExchangeWork, costs: Costs) -> MessageRange | None:
    return None if costs.messages is None else costs.range_of(work.message_bytes * (1 - 1e-9))  # rounding moves no message


def _over(amount: Any, rate: float | None) -> Any:
    return None if rate is None else amount / rate


def _injection(work: ExchangeWork, costs: Costs) -> Any:
    limits = [t for t in (_over(work.task_bytes, costs.injection_per_task), _over(work.node_bytes, costs.injection_per_node),
                          _over(work.byte_hops, costs.byte_hops_per_node),
                          _over(work.inside_bytes, costs.on_node_bandwidth)) if t is not None]
    range_ = _message_range(work, costs)
    if range_ is not None:
        alone = min(work.message_bytes, work.task_bytes)
        limits += [t for t in (_over(alone, range_.rate), _over(work.task_bytes, range_.together)) if t is not None]
    return reduce(np.maximum, limits) if limits else None


def product_work(product: Product, letters: str, transform: Transform, link_s: float, adaptive_s: float | None,
                 hop_length: Fraction) -> ExchangeWork:
    """Return the work of an exchange of a product placement, with even blocks.

    Parameters
    ----------
    letters : str
        The grid dimensions along which the groups lie.
    hop_length : Fraction
        Hops on the m scale, `ExchangePrediction.hop_length`.
    """
    size = product.grid.extent(letters)
    nodes = size // product.slots.extent(letters)
    held = transform.total_bytes / product.grid.n_tasks
    number = held * (1 - 1 / nodes)
    hops = float(hop_length) / 4 / (1 - 1 / size) if size > 1 else 0.0
    roots = (size - 1) * (held / size / 1024) ** 0.5
    return ExchangeWork(link_s, adaptive_s=adaptive_s, task_bytes=number, node_bytes=number * product.tasks_per_node,
                        messages=size - 1, hops=hops, tasks=product.tasks_per_node if size > 1 else 0,
                        message_roots=roots, hop_roots=hops * roots,
                        inside_bytes=held * (1 / nodes - 1 / size) * product.tasks_per_node)


def blocks_work(product: Product, blocks: StageBlocks, link_s: float, adaptive_s: float | None,
                hop_length: Fraction) -> ExchangeWork:
    """Return the work of an exchange of a product placement with any block lengths, in closed form; as `product_work`."""
    exact, size = product_blocks(product, blocks), len(blocks.send)
    sent = exact.sent_bytes()
    task_bytes, node_bytes = exact.busiest_task_and_node()
    hops = float(hop_length * blocks.total_bytes / 4 / sent) if sent else 0.0
    roots = exact.message_roots()
    return ExchangeWork(link_s, adaptive_s=adaptive_s, task_bytes=float(task_bytes), node_bytes=float(node_bytes),
                        messages=int(messages_sent(blocks.send, blocks.receive).max()), hops=hops,
                        tasks=product.tasks_per_node if size > 1 else 0,
                        message_roots=roots, hop_roots=hops * roots, inside_bytes=float(exact.busiest_inside()))


def mapping_work(mapping: Mapping, exchange: Exchange, link_s: float, adaptive_s: float | None,
                 hop_bytes: Fraction) -> ExchangeWork:
    """Return the work of an exchange under any mapping, counted task by task.

    Parameters
    ----------
    hop_bytes : Fraction
        Bytes times hops, the sum of all link loads.

    Notes
    -----
    The cost is O(P log P).
    """
    sent, off_node, inside = _bytes_sent(mapping, exchange)
    nodes = mapping.node_of_rank[exchange.members]
    by_task, by_node, within = (np.bincount(places.ravel(), weights.ravel()).max(initial=0.0) for places, weights in (
        (exchange.members, off_node), (nodes, off_node), (nodes, inside)))
    entering = np.bincount(mapping.node_of_rank).max() if exchange.size > 1 else 0
    hops, roots = float(hop_bytes) / sent if sent else 0.0, _message_roots(exchange)
    return ExchangeWork(link_s, adaptive_s=adaptive_s, task_bytes=float(by_task), node_bytes=float(by_node),
                        messages=_messages(exchange), hops=hops, tasks=int(entering), message_roots=roots,
                        hop_roots=hops * roots, inside_bytes=float(within))


def work_in_turn(rounds: Sequence[ExchangeWork]) -> ExchangeWork:
    """Return the work of rounds that follow each other. The tasks enter the exchange once."""
    columns = {f.name: [getattr(work, f.name) for work in rounds] for f in fields(ExchangeWork)}
    sums: dict[str, Any] = {name: None if None in column else sum(column) for name, column in columns.items()}
    return ExchangeWork(**{**sums, "tasks": max(columns["tasks"])})


def terms_in_turn(rounds: Sequence[ExchangeWork], costs: Costs) -> tuple[TimeTerms, ...]:
    """Return the terms of each of the rounds that follow each other; the first has the start of the exchange.

    The time of the exchange is the sum of their times.
    """
    return tuple(exchange_terms(work if number == 0 else replace(work, tasks=0), costs)
                 for number, work in enumerate(rounds))


def summed_terms(rounds: Sequence[TimeTerms]) -> TimeTerms:
    """Return each term summed over rounds that follow each other; None if unknown."""
    return reduce(lambda one, other: TimeTerms(one.link_s + other.link_s, *(
        None if None in pair else pair[0] + pair[1]
        for pair in zip(_costs_beyond_links(one), _costs_beyond_links(other)))), rounds)


def _costs_beyond_links(terms: TimeTerms) -> list[Any]:
    return [getattr(terms, f.name) for f in fields(terms)[1:]]


def _messages(exchange: Exchange) -> int:
    """Return the number of messages that the busiest task sends to other tasks."""
    numbers = messages_sent(exchange.send_weight, exchange.receive_weight)
    return int(np.bincount(exchange.members.ravel(), np.tile(numbers, len(exchange.members))).max(initial=0))


def _message_roots(exchange: Exchange) -> float:
    """Return the message roots of the busiest task."""
    roots = message_roots(exchange.send_weight, exchange.receive_weight, exchange.unit_bytes)
    of_all = np.sqrt(exchange.group_weight)[:, None] * roots
    return float(np.bincount(exchange.members.ravel(), of_all.ravel()).max(initial=0.0))


def sent_by_rank(mapping: Mapping, exchange: Exchange) -> Floats:
    """Return the bytes that every rank sends to other nodes, and to other tasks of its node: float array, shape (2, P)."""
    sent = np.zeros((2, mapping.n_tasks))
    sent[:, exchange.members] = _bytes_sent(mapping, exchange)[1:]
    return sent


def _bytes_sent(mapping: Mapping, exchange: Exchange) -> tuple[float, Floats, Floats]:
    """Return bytes of all messages to other tasks, and of each member to other nodes and to others of its own node.

    The latter are float arrays, shape (groups, size).
    """
    node = mapping.node_of_rank[exchange.members]
    groups, size = node.shape
    weight = exchange.group_weight[:, None] * exchange.send_weight.astype(float) * exchange.unit_bytes
    received = exchange.receive_weight.astype(float)
    _, place = np.unique(node + np.arange(groups)[:, None] * mapping.network.n_nodes, return_inverse=True)
    place = place.reshape(groups, size)
    on_node = np.bincount(place.ravel(), np.broadcast_to(received, node.shape).ravel())[place]
    total = received.sum()
    return float((weight * (total - received)).sum()), weight * (total - on_node), weight * (on_node - received)


def local_work(transform: Transform, grid: ProcessGrid, tasks_per_node: int, fft: bool = True,
               copies: bool = True) -> LocalWork:
    """Return the computing of a transform: the local passes of the task with the largest blocks.

    Every pass reads and writes a task's whole block once.

    Parameters
    ----------
    fft : bool
        Whether passes that transform an axis go through memory.
    copies : bool
        Whether passes that pack and unpack go through memory, with their messages.

    Examples
    --------
    >>> work = local_work(Transform(512, 512, 512), ProcessGrid(8, 64), 1)
    >>> f"{work.operations / 1e6:.1f} Mflop, {work.memory_bytes / 1e6:.1f} MB"
    '35.4 Mflop, 58.7 MB'
    """
    decomposition = grid.decomposition
    lines = [line for of_axis in _lines(transform, grid) for line in of_axis]
    largest = max(elements for elements, _ in lines)
    operations = transform.fields * sum(5.0 * elements * log2(n) for elements, n in lines) if fft else 0.0
    touched = 2.0 * largest * transform.array_bytes * tasks_per_node
    passes = fft * decomposition.fft_passes + copies * decomposition.copy_passes * _copied(transform)
    packed = sum(map(sum, _packed(transform, grid))) / 2 if copies else 0
    return LocalWork(operations, touched * passes, touched, tasks_per_node, packed)


def _copied(transform: Transform) -> float:
    """Return the bytes that packing reads and writes, relative to a pass over the array."""
    return (1 + transform.point_bytes / transform.array_bytes) / 2


def _packed(transform: Transform, grid: ProcessGrid) -> list[list[int]]:
    """Return, for each exchange, the messages that the busiest task packs and unpacks. Empty blocks make none."""
    extents = dict(zip(AXES, transform.exchanged))
    return [[min(grid.extent(stage.letters), extents[axis]) - 1 for axis in (stage.divided, stage.gathered)]
            for stage in grid.decomposition.exchanges]


def _lines(transform: Transform, grid: ProcessGrid) -> list[list[tuple[int, int]]]:
    """Return, for each local pass and axis, the elements of the busiest task and the length of a line."""
    lengths = dict(zip(AXES, transform.points or transform.exchanged))
    return [[(prod(-(-n // grid.extent(division[axis])) for axis, n in transform.extents(stage, grid).items()),
              lengths[along]) for along in stage.axes]
            for stage, division in grid.decomposition.layouts if isinstance(stage, LocalPass)]


def pass_times(transform: Transform, grid: ProcessGrid, tasks_per_node: int, costs: Costs) -> list[float]:
    """Return seconds of every local pass with its copies. The sum matches `local_work`.

    >>> costs = Costs(fft_rate_per_task=1e9)
    >>> [f"{s * 1e3:.1f} ms" for s in pass_times(Transform(256, 256, 256), ProcessGrid(8, 8), 1, costs)]
    ['10.5 ms', '10.5 ms', '10.5 ms']
    """
    lines, packed = _lines(transform, grid), _packed(transform, grid)
    touched = 2.0 * max(elements for of_axis in lines for elements, _ in of_axis) * transform.array_bytes * tasks_per_node
    result = []
    for i, of_axis in enumerate(lines):
        operations = transform.fields * sum(5.0 * elements * log2(along) for elements, along in of_axis)
        beside = [unpacked for _, unpacked in packed[i - 1:i] if i] + [packs for packs, _ in packed[i:i + 1]]
        passes = len(of_axis) + len(beside) * _copied(transform)
        work = LocalWork(operations, touched * passes, touched, tasks_per_node, sum(beside) / 2)
        result.append(local_terms(work, costs).time_s or 0.0)
    return result
