"""Minimal adaptive routing as a random choice at every hop: expected loads.

Idea: all messages at one node with the same remaining offset have the same future, from any source. So it is enough to
know, for every offset (signed remaining hops in each dimension), how many bytes each node holds. Taking the longest offsets
first, every such set moves one hop in one array operation per dimension. At half a ring both directions have probability
1/2.
Choices: ``hops`` takes each dimension with remaining hops with equal probability (like routers that look only at the
destination); ``paths`` takes dimension i with probability (remaining hops in i) / (remaining hops), which makes all minimal
paths equally likely.
Source: the routing is the dynamic mode of Blue Gene/L (N. R. Adiga et al., "Blue Gene/L torus interconnection network",
IBM J. Res. Dev. 49 (2005)) without looking at the queues; the counting is ours.
Cost: O(N) for each dimension and offset that occurs, one count for each pair of ranks; 8 bytes for each node and current
offset. Product placements under ``hops`` have a closed form of any size.

Closed form for products. Give every dimension its own clock, which ticks at rate 1 until the message has arrived in that
dimension. Then the order of the ticks is the order of the hops, and at a given time the dimensions are independent. So the
traffic across a link of dimension i at time t is a product of one factor for each dimension, as the pairs of a product image
are. The load is the integral over t. This needs no loop over pairs, paths or hops. The clocks are the usual embedding of a
random choice in Poisson processes; the closed form is ours. Cost: O(n_i^2) for each dimension and point in time, and for
each combination of distinct positions on the other axes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product as cartesian
from math import lgamma, prod

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.product import Pattern, Product, RingMap
from pencilmap.model.routing.routes import Routes
from pencilmap.model.routing.rule import ProductLoad, RoutingRule, Rule
from pencilmap.model.traffic.exchange import Exchange, node_traffic
from pencilmap.model.traffic.loads import JointLoads, LinkLoads, as_fraction, undominated, without_rounding

CHOICES = {  # probability of each dimension, from the remaining hops of all dimensions
    "hops": lambda left: [Fraction(bool(x), sum(map(bool, left))) for x in left],
    "paths": lambda left: [Fraction(x, sum(left)) for x in left],
}
_MOST_BYTES = 1 << 32
_MOST_PAIRS = 1 << 27
_INSTEAD = "use dimension-order, or for a product placement with even blocks minimal-adaptive:hops, which has a closed form"
_PANEL, _NODES = 2.0, 10     # Gauss-Legendre nodes on panels of this length: 1e-12 and better
_TAIL = 40.0                 # exp(-40) of the messages are still on their way at the end of the integral


@dataclass(frozen=True)
class MinimalAdaptive(Rule):
    """The rule as a value."""

    choice: str = "hops"  #: "hops" or "paths"

    def loads(self, torus: Torus, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the expected load of every link, see `minimal_adaptive_loads`."""
        return minimal_adaptive_loads(torus, exchange, node_of_rank, self.choice)

    def of_product(self, product: Product, letters: str) -> ProductLoad | None:
        """Return expected loads of a product placement with even blocks; None for ``paths``."""
        if self.choice != "hops":
            return None
        hops = DimensionOrder().of_product(product, letters).hop_length  # the same for every minimal route
        return ProductLoad(tuple(without_rounding(random_minimal_lengths(product, letters)).tolist()), hops)

    def joint_of_product(self, product: Product, letters: tuple[str, ...]) -> JointLoads | None:
        """Return expected loads of several exchanges of a product at once; None for ``paths``.

        >>> from pencilmap.model.placement.product import parse_pattern
        >>> box = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
        >>> [f"{float(m):.3f}" for m in MinimalAdaptive().joint_of_product(box, ("r", "c")).largest((1, 1))]
        ['9.438', '9.438', '9.438']
        """
        if self.choice != "hops":
            return None
        torus = product.torus
        hops = sum(_longest(p.n, torus.is_ring(i)) for i, p in enumerate(product.dimensions))
        axes = [[_axis(p, letter, torus.is_ring(i), hops) for letter in letters] for i, p in enumerate(product.dimensions)]
        weights = _quadrature(hops)[1]
        classes = []
        for i, cables in enumerate(torus.cables):
            rows = undominated(without_rounding(_joint(axes, i, weights)))
            classes.append(tuple(tuple(as_fraction(x) / cables for x in row) for row in rows))
        return JointLoads(torus, tuple(classes))

    def routes(self, network: Torus, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes of dimension order, for searches."""
        return DimensionOrder().routes(network, node, slot)


def parse(argument: str) -> MinimalAdaptive:
    """Read the choice.

    Raises
    ------
    RoutingError
        If the choice is unknown.

    Examples
    --------
    >>> parse(""), parse("paths")
    (MinimalAdaptive(choice='hops'), MinimalAdaptive(choice='paths'))
    """
    choice = argument or "hops"
    if choice not in CHOICES:
        raise RoutingError(f"routing minimal-adaptive:{argument} is not understood; the choice is one of "
                           f"{', '.join(CHOICES)}, e.g. minimal-adaptive:paths")
    return MinimalAdaptive(choice)


MINIMAL_ADAPTIVE = RoutingRule(
    "minimal-adaptive", parse, "minimal-adaptive[:CHOICE]",
    "at random along minimal routes, expected loads: at each hop any productive dimension (hops, default), or any minimal "
    "path with the same probability (paths)", ("hops", "paths"))


def minimal_adaptive_loads(torus: Torus, exchange: Exchange, node_of_rank: Ints, choice: str = "hops") -> LinkLoads:
    """Return the expected load of every link if messages choose randomly among their minimal routes.

    Parameters
    ----------
    torus : Torus
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    choice : {"hops", "paths"}

    Raises
    ------
    RoutingError
        If the offsets that occur would need too much memory.
    """
    values = np.zeros(torus.link_shape)
    underway = _Underway()
    for difference, sent in _bytes_by_difference(torus, exchange, node_of_rank):
        hops = [_shortest(d, torus.shape[i], torus.is_ring(i)) for i, d in enumerate(difference)]
        for left in cartesian(*hops):
            underway.add(left, sent / prod(map(len, hops)))
    while underway:
        left, held = underway.pop()
        for i, share in enumerate(CHOICES[choice]([abs(x) for x in left])):
            if share:
                step = 1 if left[i] > 0 else -1
                moving = held * float(share)
                values[i, (1 - step) // 2] += moving
                moved = np.roll(moving.reshape(torus.shape[::-1]), step, axis=torus.n_dimensions - 1 - i)
                underway.add((*left[:i], left[i] - step, *left[i + 1:]), moved.reshape(-1))
    return LinkLoads(torus, without_rounding(values), exchange.total_bytes)


class _Underway:
    """The bytes that each node holds for every offset, by remaining hops."""

    def __init__(self) -> None:
        self.levels: dict[int, dict[tuple[int, ...], Floats]] = {}
        # remaining hops -> {remaining offset: array of shape (N,)}

    def __bool__(self) -> bool:
        return bool(self.levels)

    def add(self, left: tuple[int, ...], held: Floats) -> None:
        level = sum(map(abs, left))
        if level:
            level_bytes = self.levels.setdefault(level, {})
            level_bytes[left] = level_bytes[left] + held if left in level_bytes else held

    def pop(self) -> tuple[tuple[int, ...], Floats]:
        """Remove and return one of the longest offsets."""
        level = max(self.levels)
        offset = self.levels[level].popitem()
        if not self.levels[level]:
            del self.levels[level]
        return offset


def _shortest(difference: int, n: int, ring: bool) -> tuple[int, ...]:
    """Return signed hops in the shortest direction; two values at half a ring.

    Differences are 0..n-1 on a ring, -(n-1)..n-1 on a line.
    """
    if not ring or 2 * difference < n:
        return (difference,)
    return (difference - n,) if 2 * difference > n else (difference, -difference)


def _bytes_by_difference(torus: Torus, exchange: Exchange, node_of_rank: Ints) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield each difference of coordinates that occurs, and the bytes with this difference that start at each node.

    Yields
    ------
    tuple of int, int64 array of shape (N,)
    """
    from scipy.sparse import coo_array  # slow to import, and closed forms do not need it

    if exchange.members.size * exchange.size > _MOST_PAIRS:
        raise RoutingError(f"minimal-adaptive routing of {exchange.members.size * exchange.size} messages on torus {torus} "
                           f"is more than the {_MOST_PAIRS} that fit into memory; {_INSTEAD}")
    traffic = node_traffic(exchange, node_of_rank, torus.n_nodes).tocoo()
    base = [n if torus.is_ring(i) else 2 * n - 1 for i, n in enumerate(torus.shape)]
    number, stride = np.zeros(traffic.nnz, dtype=np.int64), 1
    for i, b in enumerate(base):
        source, target = (end // torus.strides[i] % torus.shape[i] for end in (traffic.row, traffic.col))
        number += (target - source) % b * stride
        stride *= b
    occurring, place = np.unique(number, return_inverse=True)
    if 8 * torus.n_nodes * occurring.size > _MOST_BYTES:
        raise RoutingError(f"minimal-adaptive routing of {occurring.size} different offsets on the {torus.n_nodes} nodes of "
                           f"torus {torus} needs more than {_MOST_BYTES >> 30} GiB; {_INSTEAD}")
    held = coo_array((traffic.data, (place, traffic.row)), shape=(occurring.size, torus.n_nodes)).toarray()
    for number, bytes_of_node in zip(occurring.tolist(), held):
        yield tuple(_digits(torus, number, base)), bytes_of_node


def _digits(torus: Torus, number: int, base: list[int]) -> Iterator[int]:
    """Return differences from their number: 0..n-1 on a ring, -(n-1)..n-1 on a line."""
    for i, b in enumerate(base):
        number, digit = divmod(number, b)
        yield digit if torus.is_ring(i) or 2 * digit < b else digit - b


@lru_cache(maxsize=256)
def random_minimal_lengths(product: Product, letters: str) -> tuple[float, ...]:
    """Return the largest expected load in each dimension under random minimal adaptive routing, on the m scale.

    These are loads (4 load N / D_T) for one cable and even blocks. They equal the loads of dimension order if the image is
    symmetric (full rings, every n-th node), and are larger in the middle of dense boxes.

    >>> from pencilmap.model.placement.product import parse_pattern
    >>> box = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))
    >>> ["%.3f" % (m / 4) for m in random_minimal_lengths(box, "r")]
    ['1.360', '1.360', '1.360']
    """
    torus = product.torus
    hops = sum(_longest(p.n, torus.is_ring(i)) for i, p in enumerate(product.dimensions))
    axes = [_axis(p, letters, torus.is_ring(i), hops) for i, p in enumerate(product.dimensions)]
    weights = _quadrature(hops)[1]
    return tuple(_largest(axes, i, weights) / cables for i, cables in enumerate(torus.cables))


def _joint(axes: "list[list[_Axis]]", i: int, weights: Floats) -> Floats:
    """Return the loads of each exchange on the different links of dimension i, on the m scale.

    Float array, shape (links, exchanges).
    """
    lines = np.ones((1, len(axes[0]), weights.size))
    for j, axis in enumerate(axes):
        if j != i:
            rows = _different(np.stack([exchange.positions / exchange.pairs for exchange in axis], axis=1))
            lines = (lines[:, None] * rows[None]).reshape(-1, *lines.shape[1:])
    links = _different(np.stack([exchange.crossings * weights * 4 / exchange.pairs for exchange in axes[i]], axis=1))
    return np.einsum("aew,bew->abe", links, lines).reshape(-1, len(axes[0]))


def _longest(n: int, ring: bool) -> int:
    return n // 2 if ring else n - 1


@lru_cache(maxsize=32)
def _quadrature(hops: int) -> tuple[Floats, Floats]:
    """Return times and weights from 0 to the end of the slowest message of so many hops."""
    panels = int(np.ceil((hops + 8 * np.sqrt(hops) + _TAIL) / _PANEL))
    x, w = np.polynomial.legendre.leggauss(_NODES)
    start = _PANEL * np.arange(panels)[:, None]
    return (start + _PANEL * (x + 1) / 2).ravel(), np.tile(w * _PANEL / 2, panels)


@lru_cache(maxsize=128)
def _axis(pattern: Pattern | RingMap, letters: str, ring: bool, hops: int) -> "_Axis":
    """Return a dimension at the points in time for so many hops."""
    return _Axis(pattern, letters, ring, _quadrature(hops)[0])


class _Axis:
    """One dimension at the points in time of the quadrature.

    crossings : float array, shape (2 n, times)
        Number of pairs that cross each link of the line per unit time.
    positions : float array, shape (n, times)
        Number of pairs at each position.
    pairs : int
        Nodes of this dimension in one image, the divisor of the m scale.
    """

    def __init__(self, pattern: Pattern | RingMap, letters: str, ring: bool, times: np.ndarray) -> None:
        legs = _legs(pattern, letters, ring)                              # [direction, start, hops]
        ticks = _poisson(legs.shape[-1], times)
        longer = legs[..., ::-1].cumsum(axis=-1)[..., ::-1] - legs      # legs of more than k hops
        moving = _carry(longer) @ ticks                                 # legs about to leave a position, [direction, start]
        arrived = _carry(legs) @ (1 - np.concatenate([np.zeros((1, times.size)), ticks.cumsum(axis=0)])[:-1])
        self.crossings, self.positions = moving.reshape(-1, times.size), (moving + arrived).sum(axis=0)
        self.pairs = pattern.extent(letters)

    @cached_property
    def different(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the crossings and the positions that differ."""
        return _different(self.crossings), _different(self.positions)


def _legs(pattern: Pattern | RingMap, letters: str, ring: bool) -> Floats:
    """Return the pairs that go k hops up or down from a position, ties half each way: shape (2, n, longest + 1)."""
    n = pattern.n
    group = pattern.group(letters)
    source, target = np.nonzero(group[:, None] == group[None, :])
    up, down = target - source, source - target
    if ring:
        up, down = up % n, down % n
    upwards = (np.sign(down - up if ring else up) + 1) / 2
    legs = np.zeros((2, n, _longest(n, ring) + 1))
    for direction, hops, part in ((0, up, upwards), (1, down, 1 - upwards)):
        used = part > 0
        np.add.at(legs[direction], (source[used], hops[used]), part[used])
    return legs


def _carry(legs: Floats) -> Floats:
    """Return counts by start position, moved to the position k hops further: shape (2, n, hops + 1)."""
    n = legs.shape[1]
    position, k = np.ogrid[:n, :legs.shape[2]]
    return np.stack([legs[0][(position - k) % n, k], legs[1][(position + k) % n, k]])


def _poisson(terms: int, times: Floats) -> Floats:
    """Return the probability of exactly k ticks by a time, k = 0 .. terms-1: shape (terms, times)."""
    k = np.arange(terms)[:, None]
    factorials = np.array([lgamma(k + 1) for k in range(terms)])[:, None]  # their logarithms avoid the underflow of products
    return np.exp(k * np.log(times) - times - factorials)


def _different(rows: Floats) -> Floats:
    """Return the rows that differ by more than rounding errors, in their order."""
    seen: dict[bytes, int] = {}  # np.unique makes a field of each column: ten times as long
    for i, row in enumerate(np.round(rows, 10) + 0.0):  # + 0.0 turns -0.0 into 0.0
        seen.setdefault(row.tobytes(), i)
    return rows[list(seen.values())]


def _largest(axes: list[_Axis], i: int, weights: Floats) -> float:
    """Return the largest load of the links of dimension i over all its lines, on the m scale."""
    lines = np.ones((1, weights.size))
    for j, axis in enumerate(axes):
        if j != i:
            lines = (lines[:, None, :] * axis.different[1][None, :, :] / axis.pairs).reshape(-1, weights.size)
    return float(4 * ((axes[i].different[0] * weights) @ lines.T).max()) / axes[i].pairs
