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
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product as cartesian

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.kinds.torus_random import random_minimal_joint, random_minimal_lengths
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.product import Product
from pencilmap.model.routing.product_load import ProductLoad
from pencilmap.model.routing.routes import Routes
from pencilmap.model.routing.rule import RoutingRule, Rule
from pencilmap.model.traffic.exchange import Exchange, node_traffic
from pencilmap.model.traffic.joint_loads import JointLoads
from pencilmap.model.traffic.loads import LinkLoads, without_rounding

CHOICES = {  # probability of each dimension, from the remaining hops of all dimensions
    "hops": lambda left: [Fraction(bool(x), sum(map(bool, left))) for x in left],
    "paths": lambda left: [Fraction(x, sum(left)) for x in left],
}
_MOST_BYTES = 1 << 32
_MOST_PAIRS = 1 << 27
_INSTEAD = "use dimension-order, or for a product placement with even blocks minimal-adaptive:hops, which has a closed form"


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
        """Return expected loads of several exchanges of a product at once; None for ``paths``."""
        return random_minimal_joint(product, letters) if self.choice == "hops" else None

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


def minimal_adaptive_loads(torus: Torus, exchange: Exchange, node_of_rank: np.ndarray, choice: str = "hops",
                           exact: bool = False) -> LinkLoads:
    """Return the expected load of every link if messages choose randomly among their minimal routes.

    Parameters
    ----------
    torus : Torus
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    choice : {"hops", "paths"}
    exact : bool
        Whether loads are Fraction objects in place of float64. This is a hundred times slower, so it should serve for small
        cases only.

    Raises
    ------
    RoutingError
        If the offsets that occur would need too much memory.
    """
    values = np.zeros((torus.n_dimensions, 2, torus.n_nodes), dtype=object if exact else np.float64)
    underway = _Underway(torus, exact)
    underway.add_all(exchange, node_of_rank)
    while underway:
        left, held = underway.pop()
        for i, share in enumerate(CHOICES[choice]([abs(x) for x in left])):
            if share:
                step = 1 if left[i] > 0 else -1
                moving = held * (share if exact else float(share))
                values[i, (1 - step) // 2] += moving
                underway.add((*left[:i], left[i] - step, *left[i + 1:]), underway.moved(moving, i, step))
    return LinkLoads(torus, values if exact else without_rounding(values), exchange.total_bytes)


class _Underway:
    """The bytes that each node holds for every offset, by remaining hops."""

    def __init__(self, torus, exact):
        self.torus, self.exact = torus, exact
        self.levels = {}  # remaining hops -> {remaining offset: array of shape (N,)}

    def __bool__(self):
        return bool(self.levels)

    def add(self, left, held):
        level = sum(map(abs, left))
        if level:
            level_bytes = self.levels.setdefault(level, {})
            level_bytes[left] = level_bytes[left] + held if left in level_bytes else held

    def pop(self):
        """Remove and return one of the longest offsets."""
        level = max(self.levels)
        found = self.levels[level].popitem()
        if not self.levels[level]:
            del self.levels[level]
        return found

    def moved(self, held, i, step):
        """Return the bytes of the nodes, one hop further in dimension `i`."""
        grid = held.reshape(self.torus.shape[::-1])
        return np.roll(grid, step, axis=self.torus.n_dimensions - 1 - i).reshape(-1)

    def add_all(self, exchange, node_of_rank):
        """Put every message at its start, with its offset."""
        shape = self.torus.shape
        for difference, held in _bytes_by_difference(self.torus, exchange, node_of_rank):
            hops = [_shortest(d, shape[i], self.torus.is_ring(i)) for i, d in enumerate(difference)]
            share = Fraction(1, int(np.prod([len(h) for h in hops])))
            held = held.astype(object) * share if self.exact else held * float(share)
            for left in cartesian(*hops):
                self.add(left, held)


def _shortest(difference, n, ring):
    """Return signed hops in the shortest direction; two values at half a ring.

    Differences are 0..n-1 on a ring, -(n-1)..n-1 on a line.
    """
    if not ring or 2 * difference < n:
        return (difference,)
    return (difference - n,) if 2 * difference > n else (difference, -difference)


def _bytes_by_difference(torus, exchange, node_of_rank):
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
        here, there = (end // torus.strides[i] % torus.shape[i] for end in (traffic.row, traffic.col))
        number += (there - here) % b * stride
        stride *= b
    occurring, place = np.unique(number, return_inverse=True)
    if 8 * torus.n_nodes * occurring.size > _MOST_BYTES:
        raise RoutingError(f"minimal-adaptive routing of {occurring.size} different offsets on the {torus.n_nodes} nodes of "
                           f"torus {torus} needs more than {_MOST_BYTES >> 30} GiB; {_INSTEAD}")
    held = coo_array((traffic.data, (place, traffic.row)), shape=(occurring.size, torus.n_nodes)).toarray()
    for number, bytes_of_node in zip(occurring.tolist(), held):
        yield tuple(_digits(torus, number, base)), bytes_of_node


def _digits(torus, number, base):
    """Return differences from their number: 0..n-1 on a ring, -(n-1)..n-1 on a line."""
    for i, b in enumerate(base):
        number, digit = divmod(number, b)
        yield digit if torus.is_ring(i) or 2 * digit < b else digit - b
