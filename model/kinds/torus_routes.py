"""Dimension-order routing on tori, and how links share the messages of a line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Bools, Floats, Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.network.network import CoordinateNetwork, Network, TorusLink
from pencilmap.model.network.torus import MAX_DIMENSIONS, TIES, Torus, check_lines, ring_link_loads
from pencilmap.model.placement.product import Product, RingLoad, ring_load
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL, OptimalMinimal
from pencilmap.model.routing.routes import Routes, rates
from pencilmap.model.routing.rule import ProductLoad, RoutingRule, Rule
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import JointLoads, LinkLoads, m_scale, ring_vectors, undominated
from pencilmap.model.traffic.product_blocks import StageBlocks, product_blocks

# The time of unequal messages that share links fairly: longer than the busiest link alone would take.
#
# Idea: at any time the messages have the max-min fair rates. The link with the smallest share fixes the rates of all its
# messages. Then the next link fixes the rates of its remaining messages, and so on. When a message ends, the rates are
# computed again. If a message waits for another link, other messages get its share of the busiest link. Near the end no
# message is left for this share, so the busiest link is not full. A single routing of all messages gives the load of every
# message on every link: each message lies in a torus of its own, along up to three more dimensions without movement.
# Source: D. Bertsekas, R. Gallager, Data Networks (1992), ch. 6.5 (progressive filling); network simulators such as SimGrid
# share links in this way.
# Cost: hops of all messages for each link that is fixed, at each end of a message.

MOST_MESSAGES = 500  # a quarter of a second; four times as many messages take nine times as long


def can_share(exchange: Exchange, network: Network) -> bool:
    """Return whether `shared_seconds` applies to a network with bandwidths: a torus, and messages that are not too many."""
    return (network.has_products and network.bandwidth is not None and network.n_dimensions < MAX_DIMENSIONS
            and len(exchange.members) <= MOST_MESSAGES)


def shared_seconds(exchange: Exchange, torus: Torus, node_of_rank: np.ndarray, rule: Any,
                   envelope_bytes: float = 0.0) -> float:
    """Return seconds until the last message of a remap has arrived, for messages that share links fairly.

    Parameters
    ----------
    exchange : Exchange
        Single messages, as `can_share` requires.
    node_of_rank : int array, shape (P,)
        Node of each rank.
    rule : DimensionOrder
        Its routes do not depend on other messages.
    envelope_bytes : float
        Bytes of each message besides its data.

    Examples
    --------
    >>> from pencilmap.model.kinds.torus_routes import DimensionOrder
    >>> ring = Torus((4,), (False,), (1.0,))
    >>> members, sizes = np.array([[0, 3], [0, 1], [2, 3]]), np.array([2, 1, 1])
    >>> pairs = Exchange("remap", "", members, sizes, *np.eye(2, dtype=int), 1, 4)
    >>> shared_seconds(pairs, ring, np.arange(4), DimensionOrder())
    3.0
    """
    ends = node_of_rank[exchange.members]
    apart = ends[:, 0] != ends[:, 1]
    if not apart.any():
        return 0.0
    left = exchange.group_weight[apart].astype(float) * exchange.unit_bytes + envelope_bytes
    takes, now, smallest = _seconds_a_byte(ends[apart], exchange, torus, rule), 0.0, 1e-9 * left.max()
    of_message = takes.T.tocsr()
    while (going := left > smallest).any():
        rates = _fair_rates(takes, of_message, going)
        step = float((left[going] / rates[going]).min())
        now, left = now + step, left - rates * step
    return now


def _seconds_a_byte(ends: Ints, exchange: Exchange, torus: Torus, rule: "DimensionOrder") -> Any:
    """Return seconds of every link per byte of every message, as a sparse matrix; `ends` are the messages' nodes."""
    from scipy.sparse import csr_array  # slow to import

    n, more = len(ends), min(3, MAX_DIMENSIONS - torus.n_dimensions)  # short dimensions, because lines cost their square
    side = ceil(n ** (1 / more))
    axes = "".join([letter for letter in ascii_lowercase if letter not in torus.axes][:more])
    layers = Torus((*torus.shape, *more * (side,)), (*torus.wrap, *more * (False,)), axes=torus.axes + axes)
    ones = replace(exchange, members=np.arange(2 * n).reshape(n, 2), group_weight=np.ones(n, dtype=np.int64), unit_bytes=1,
                   total_bytes=n)
    order = replace(rule, order=rule.order and rule.order + axes)
    loads = order.loads(layers, ones, (ends + torus.n_nodes * np.arange(n)[:, None]).ravel()).bytes()
    rates = np.array([cables * rate for cables, rate in zip(torus.cables, torus.bandwidth or ())])
    of_link = loads[:torus.n_dimensions].reshape(torus.n_dimensions, 2, -1, torus.n_nodes)[:, :, :n]
    return csr_array((of_link / rates[:, None, None, None]).transpose(2, 0, 1, 3).reshape(n, -1))


def _fair_rates(takes: Any, of_message: Any, free: Bools) -> Floats:
    """Return bytes per second of the moving messages, from the seconds per byte that each message takes of every link.

    `given` is the transpose of `takes`.
    """
    rates, free, room = np.zeros(takes.shape[0]), free.copy(), np.ones(takes.shape[1])
    while free.any():
        used = of_message @ free
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(used > 0, room / used, np.inf)
        fixed = free & (takes @ (share <= share.min() * (1 + 1e-12)) > 0)
        rates[fixed] = share.min()
        room = np.maximum(room - share.min() * (of_message @ fixed), 0.0)
        free &= ~fixed
    return rates


# Dimension-ordered routing: one dimension after the other, each in the shortest direction.
#
# Idea: the leg of a message in dimension i lies on the line with the destination's coordinates in the dimensions routed
# before i and the source's coordinates in the dimensions routed after. So the legs of all messages are a product of two
# sparse matrices. The first has the bytes that each group sends from every (position in i, coordinates after i). The second
# has the bytes that it receives at every (position in i, coordinates before i). Summing along each line gives every link's
# load with no loop over messages or hops.
# Source: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Trans.
# Comput. C-36 (1987); the counting is ours.
# Cost: at most one multiplication for each pair and dimension, for each rank and position in the dimensions routed first
# and last, and O(n_i) for each node; 8 bytes for each link, and blocks of legs of fixed size.

_LEGS_AT_ONCE = 1 << 21
_DENSE = 1 << 24  # products of a matrix product that costs less than the import of sparse arrays
_LARGEST = 1 << 62  # limit below which sums of bytes are exact in 64 bits


@dataclass(frozen=True)
class DimensionOrder(Rule):
    """The rule as a value."""

    order: str | None = None  #: letters of the axes in the order of routing; first to last by default
    #: "split", "parity" or "plus"; rule at half a ring: half in each direction; + from even and - from odd coordinates;
    #: always +
    tie: str = "split"

    def loads(self, network: Torus, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the exact load of every link, see `dimension_order_loads`."""
        return dimension_order_loads(network, exchange, node_of_rank, self.dimensions(network), self.tie)

    def of_product(self, product: Product, letters: str) -> ProductLoad:
        """Return exact loads of a product placement with even blocks, the same for every order of the dimensions."""
        torus = product.torus
        self.dimensions(torus)
        lines = [ring_load(p, letters, torus.is_ring(i), self.tie) for i, p in enumerate(product.dimensions)]
        load = tuple(line.largest / cables for line, cables in zip(lines, torus.cables))
        hops = sum((line.total / n for line, n in zip(lines, torus.shape)), Fraction(0))
        return ProductLoad(load, hops, _busiest(torus, lines, load))

    def of_blocks(self, product: Product, blocks: StageBlocks) -> ProductLoad:
        """Return exact loads of a product placement with any blocks, from a line of each dimension."""
        torus, exact = product.torus, product_blocks(product, blocks)
        order = self.dimensions(torus)
        lines = [exact.line(i, order, self.tie) for i in range(torus.n_dimensions)]
        load = tuple(m_scale(Fraction(int(line.max()), 2 * cables), torus, blocks.total_bytes)
                     for line, cables in zip(lines, torus.cables))
        hops = sum(exact.hop_bytes(i) for i in range(torus.n_dimensions))
        places = [_Place(*divmod(int(line.argmax()), n)) for line, n in zip(lines, torus.shape)]
        return ProductLoad(load, Fraction(4 * hops, blocks.total_bytes), _busiest(torus, places, load))

    def joint_of_product(self, product: Product, letters: tuple[str, ...]) -> JointLoads:
        """Return exact loads of several exchanges of a product at once with even blocks, one text of `letters` for each."""
        torus = product.torus
        self.dimensions(torus)
        lines = [ring_vectors(p, letters, torus.is_ring(i), self.tie) for i, p in enumerate(product.dimensions)]
        return JointLoads(torus, tuple(tuple(tuple(x / cables for x in vector) for vector in line)
                                       for line, cables in zip(lines, torus.cables)))

    def joint_of_blocks(self, product: Product, blocks: tuple[StageBlocks, ...]) -> JointLoads:
        """Return exact loads of several exchanges of a product at once, with any blocks.

        No line has more than the line of digits 0.
        """
        torus, order = product.torus, self.dimensions(product.torus)
        units = [Fraction(2 * torus.n_nodes, block.total_bytes) for block in blocks]
        classes = []
        for i, cables in enumerate(torus.cables):
            lines = [product_blocks(product, block).line(i, order, self.tie).reshape(-1) for block in blocks]
            classes.append(tuple(tuple(int(x) * unit / cables for x, unit in zip(row, units))
                                 for row in undominated(np.stack(lines, axis=1))))
        return JointLoads(torus, tuple(classes))

    def shared_seconds(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> float | None:
        """Return the time by max-min fair rates, see `pencilmap.model.kinds.torus_routes`."""

        return shared_seconds(exchange, network, node_of_rank, self) if can_share(exchange, network) else None

    def routes(self, network: Any, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes between places as a table of the legs in each dimension."""
        return routes_by_dimension(network, self.dimensions(network), self.tie, node)

    def dimensions(self, torus: CoordinateNetwork) -> tuple[int, ...]:
        """Return the dimensions in the order of routing.

        Raises
        ------
        RoutingError
            If the letters are not the axes.
        """
        if self.order is None:
            return tuple(range(len(torus.shape)))
        if sorted(self.order) != sorted(torus.axes):
            raise RoutingError(f"dimension-order:{self.order} is not an order of {torus.title}; name each of "
                               f"{', '.join(torus.axes)} once, the dimension routed first in front, e.g. "
                               f"dimension-order:{torus.axes[::-1]}")
        return tuple(torus.axes.index(letter) for letter in self.order)


def parse(argument: str) -> DimensionOrder:
    """Read ``[ORDER][:TIE]``.

    Raises
    ------
    RoutingError
        If the text is not understood.

    Examples
    --------
    >>> parse("zyx:parity"), parse("plus")
    (DimensionOrder(order='zyx', tie='parity'), DimensionOrder(order=None, tie='plus'))
    """
    words = argument.split(":") if argument else []
    tie = words.pop() if words and words[-1] in TIES else "split"
    if len(words) > 1 or not all(word.isalpha() for word in words):
        raise RoutingError(f"routing dimension-order:{argument} is not understood; write dimension-order[:ORDER][:TIE] with "
                           f"the axes in the order in which they are routed and one of {', '.join(TIES)}, e.g. "
                           "dimension-order:zyx:parity")
    return DimensionOrder(words[0] if words else None, tie)


DIMENSION_ORDER = RoutingRule(
    "dimension-order", parse, "dimension-order[:ORDER][:TIE]",
    "one dimension after the other, e.g. zyx (default: first to last); at half a ring split (default), parity or plus",
    ("", "parity", "plus"))


@dataclass(frozen=True)
class TorusOptimum(OptimalMinimal):
    """The best routing along shortest paths; searches use dimension order."""

    def symmetries(self, network: Torus) -> Iterator[Ints]:
        """Yield the shifts of the torus along its rings."""
        coordinates = network.coordinates(np.arange(network.n_nodes))
        closed = [network.is_ring(i) for i in range(network.n_dimensions)]
        return (network.node((coordinates + shift) % network.shape) for shift in coordinates
                if all(ring or not s for s, ring in zip(shift, closed)))

    def routes(self, network: Torus, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes of dimension order."""
        return DimensionOrder().routes(network, node, slot)


OPTIMAL = OPTIMAL_MINIMAL.by(TorusOptimum())


def routes_by_dimension(torus: Torus, order: Sequence[int], tie: str, node: Ints) -> Routes:
    """Return the routes between nodes as a table of the legs in each dimension."""
    counts, links, loads, first, N = [np.zeros(1, np.int64)], [], [], [], torus.n_nodes
    for i in order:
        n, rate = torus.shape[i], rates(torus)[i] / torus.cables[i]
        legs = np.eye(n * n, dtype=np.int64).reshape(n * n, n, n)
        carried = ring_link_loads(legs, torus.is_ring(i), tie).reshape(n * n, 2 * n) / 2
        leg, place = np.nonzero(carried)
        first.append(sum(map(len, counts)) - 1)
        counts.append(np.bincount(leg, minlength=n * n))
        links.append((2 * i + place // n) * N + place % n * torus.strides[i])
        loads.append(carried[leg, place] * rate)
    none, dimensions = np.full(len(node), -1), list(order)
    return Routes(node, node, none, none, 0.0, torus.coordinates(np.arange(N))[:, dimensions],
                  np.array(torus.shape)[dimensions], np.array(torus.strides)[dimensions], np.array(first),
                  np.cumsum(np.concatenate(counts)), np.concatenate(links), np.concatenate(loads),
                  2 * torus.n_dimensions * N)


class _Place(NamedTuple):
    """Position of the busiest link of a line."""

    downwards: int
    position: int

    @property
    def direction(self) -> int:
        return -1 if self.downwards else 1


def _busiest(torus: Torus, lines: Sequence[RingLoad | _Place], load: tuple[Fraction, ...]) -> TorusLink | None:
    rates = torus.bandwidth or (1.0,) * torus.n_dimensions
    times = [m / Fraction(rate) for m, rate in zip(load, rates)]
    i = max(range(len(times)), key=times.__getitem__)
    if not times[i]:
        return None
    node = tuple(lines[i].position if j == i else 0 for j in range(len(times)))
    return TorusLink(node, torus.axes[i], lines[i].direction)


def dimension_order_loads(torus: Torus, exchange: Exchange, node_of_rank: np.ndarray,
                          order: tuple[int, ...] | None = None, tie: str = "split") -> LinkLoads:
    """Return the exact load of every link under dimension-ordered routing in the shortest direction.

    Parameters
    ----------
    torus : Torus
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    order : tuple of int, optional
        The dimensions in the order of routing, first to last by default.
    tie : {"split", "parity", "plus"}
        Direction at half a ring.

    Raises
    ------
    RoutingError
        If loads could exceed 64 bits, or a dimension is too long.
    """
    check_lines(torus.shape)
    if 2 * exchange.total_bytes * sum(torus.shape) >= _LARGEST:
        raise RoutingError(f"loads of {exchange.total_bytes} bytes on torus {torus} do not fit into 64 bits; take a smaller "
                           "transform: loads on the m scale do not depend on its size")
    order = tuple(order or range(torus.n_dimensions))
    coordinates = torus.coordinates(node_of_rank)[exchange.members]  # (groups, size, d)
    halves = np.stack([_loads_of_dimension(torus, exchange, coordinates, i, order, tie) for i in range(len(order))])
    return LinkLoads(torus, halves, exchange.total_bytes, 2)


def _loads_of_dimension(torus: Torus, exchange: Exchange, coordinates: Ints, i: int, order: Sequence[int], tie: str) -> Ints:
    """Return halves on the links of dimension `i` by the node they leave: int64 array, shape (2, N)."""
    n = torus.shape[i]
    before, after = (sorted(order[part]) for part in (slice(order.index(i)), slice(order.index(i) + 1, None)))
    even, groups = exchange.is_even, len(coordinates)
    dense = groups * torus.n_nodes * n <= _DENSE and exchange.total_bytes < 1 << 53  # floats are exact then
    sources = _bytes_by_place(torus, coordinates, [i, *after], None if even else exchange.send_weight[None, :]
                              * exchange.group_weight[:, None], dense)
    targets = _bytes_by_place(torus, coordinates, [i, *before], None if even else exchange.receive_weight[None, :],
                              dense)
    loads = np.empty((sources.shape[1] // n, targets.shape[1] // n, 2, n), dtype=np.int64)
    for some_after, some_before in _blocks(loads.shape[0], loads.shape[1], n):
        legs = _columns(sources, some_after, n).T @ _columns(targets, some_before, n)
        legs = (legs.astype(np.int64) if dense else legs.toarray()).reshape(-1, n, some_before.stop - some_before.start, n)
        loads[some_after, some_before] = ring_link_loads(legs.transpose(0, 2, 1, 3), torus.is_ring(i), tie)
    loads *= exchange.message_unit if even else exchange.unit_bytes
    return _by_node(torus, loads, i, before, after)


def _bytes_by_place(torus: Torus, coordinates: Ints, dimensions: list[int], weights: Ints | None, dense: bool) -> Any:
    """Return the weight of the ranks of each group at each position in some dimensions, the first of them fastest.

    `coordinates` have shape (groups, size, d); `weights` broadcast to (groups, size), None for 1; the result is a float
    array if dense, else a sparse array of int64, shape (groups, positions).
    """
    place, stride = np.zeros(coordinates.shape[:2], dtype=np.int64), 1
    for j in dimensions:
        place += coordinates[..., j] * stride
        stride *= torus.shape[j]
    group = np.broadcast_to(np.arange(len(place))[:, None], place.shape)
    held = np.broadcast_to(np.int64(1) if weights is None else weights, place.shape)
    if dense:
        return np.bincount((group * stride + place).ravel(), held.ravel(), len(place) * stride).reshape(len(place), stride)
    from scipy.sparse import coo_array  # slow to import, and few messages do not need it

    return coo_array((held.ravel(), (group.ravel(), place.ravel())), shape=(len(place), stride)).tocsc()


def _blocks(n_after: int, n_before: int, n: int) -> Iterator[Any]:
    """Yield slices of the two parts of a line's number, so that the legs of a block of lines need little memory."""
    room = max(1, _LEGS_AT_ONCE // (n * n))
    step_before = max(1, min(n_before, room))
    step_after = max(1, room // step_before)
    return ((slice(a, min(a + step_after, n_after)), slice(b, min(b + step_before, n_before)))
            for a in range(0, n_after, step_after) for b in range(0, n_before, step_before))


def _columns(matrix: Any, lines: slice, n: int) -> Any:
    return matrix[:, lines.start * n:lines.stop * n]


def _by_node(torus: Torus, loads: Ints, i: int, before: list[int], after: list[int]) -> Ints:
    """Return loads by (line after, line before, direction, position) as loads by (direction, node)."""
    axes = [*after[::-1], *before[::-1], -1, i]
    extents = [2 if j < 0 else torus.shape[j] for j in axes]
    order_ = [-1, *range(torus.n_dimensions)[::-1]]
    return loads.reshape(extents).transpose([axes.index(j) for j in order_]).reshape(2, torus.n_nodes)
