"""Loads of several exchanges link by link, so that any share of each can be put on the network at once.

Idea: for many sets of shares w, the largest of w_1 load_1 + w_2 load_2 + ... over the links decides. A link never decides
if another link of its class has a larger load in every exchange. So only non-dominated links are kept, seldom more than a
few dozen. For a product placement the loads in a dimension depend on the position on the line alone, so a single line
stands for all lines.
Cost: routing each exchange once, and O(L log L) for L links.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import zip_longest
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Floats
from pencilmap.model.network.network import Network, link_weights
from pencilmap.model.placement.pattern import Pattern, ring_halves
from pencilmap.model.placement.ring_map import RingMap
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.known_loads import known_loads
from pencilmap.model.traffic.loads import LinkLoads, as_fraction

Shares = Sequence[Fraction | int]
Vectors = tuple[tuple[Fraction, ...], ...]

MOST_64 = 2**63 - 1


@dataclass(frozen=True)
class JointLoads:
    """The loads of some exchanges on the links that can decide, on the m scale (4 load N / D_T), per cable.

    Parameters
    ----------
    network : Network
    vectors : tuple
        For each class of links, the loads of all exchanges on each non-dominated link.
    """

    network: Network
    vectors: tuple[Vectors, ...]

    def largest(self, shares: Shares) -> tuple[Fraction, ...]:
        """Return the largest load in each class of links if these shares of the exchanges travel at once (exact)."""
        unit, parts = _whole_numbers(shares)
        return tuple(Fraction(_largest_sum(rows, parts, most), unit * scale) for scale, rows, most in self._rows)

    @cached_property
    def _rows(self) -> list[tuple[int, np.ndarray, int]]:
        """Return for each class a denominator, the numerators of all vectors and the largest one.

        Whole numbers are summed faster, and much faster if all sums fit into 64 bits.
        """
        found = []
        for vectors in self.vectors:
            scale, numbers = _whole_numbers([x for vector in vectors for x in vector])
            most = max(map(abs, numbers), default=0)
            rows = np.array(numbers, dtype=object if most > MOST_64 else np.int64)
            found.append((scale, rows.reshape(len(vectors), len(vectors[0]) if vectors else 1), most))
        return found

    def length(self, shares: Shares) -> Fraction:
        """Return the largest load of all, slower classes of links counted longer, as in `Prediction.cost` (exact)."""
        return max(load * weight for load, weight in zip(self.largest(shares), link_weights(self.network)))

    @cached_property
    def weighted(self) -> Floats:
        """Return the non-dominated vectors of all classes, slower classes counted longer: shape (k, exchanges)."""
        rows = [[float(x * weight) for x in vector]
                for vectors, weight in zip(self.vectors, link_weights(self.network)) for vector in vectors]
        return undominated(np.array(rows))


def _largest_sum(rows, parts, most):
    """Return the largest sum of numbers times parts over the rows, 0 without rows (exact)."""
    if not len(rows):
        return 0
    kind = object if most * sum(map(abs, parts)) > MOST_64 else np.int64
    return int((rows.astype(kind, copy=False) @ np.array(parts, dtype=kind)).max())


def _whole_numbers(fractions):
    """Return a common denominator and the numerators.

    >>> _whole_numbers([Fraction(1, 2), Fraction(2, 3), 1])
    (6, [3, 4, 6])
    """
    unit = lcm(*(x.denominator for x in fractions))
    return unit, [x.numerator * (unit // x.denominator) for x in fractions]


def undominated(rows: ArrayLike) -> np.ndarray:
    """Return the different rows that no other row equals or exceeds in every column: shape (k, columns).

    >>> undominated([[1, 3], [2, 2], [1, 2], [2, 2]]).tolist()
    [[2, 2], [1, 3]]
    """
    rows = np.asarray(rows)
    if rows.shape[1] == 1:
        return rows[:0] if not len(rows) else rows.max(axis=0, keepdims=True)
    if len(rows) and rows.shape[1] == 2 and rows.dtype != object:  # by sorting the rows that the largest sum leaves
        top = rows[rows.sum(axis=1).argmax()]
        rows = np.concatenate([top[None], rows[(rows > top).any(axis=1)]])
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))][::-1]
        rest = rows[:, 1]
        before = np.concatenate([rest[:1] - 1, np.maximum.accumulate(rest)[:-1]])
        return rows[rest > before]
    kept: list[tuple[Any, ...]] = []
    left: np.ndarray = rows[np.argsort(-rows.sum(axis=1), kind="stable")]
    while len(left):  # the row with the largest sum; it removes its equals, too
        kept.append(tuple(left[0]))
        left = left[(left > left[0]).any(axis=1)]
    return np.array(sorted(kept, reverse=True), dtype=rows.dtype).reshape(len(kept), rows.shape[1])


def routed_joint(network: Network, exchanges: Iterable[Exchange], node_of_rank: np.ndarray, rule: Any,
                 known: Iterable[LinkLoads | None] = ()) -> JointLoads:
    """Return the joint loads of a mapping, by routing every message of each exchange.

    Parameters
    ----------
    network : Network
    exchanges : iterable of Exchange
    node_of_rank : int array, shape (P,)
    rule : value of `pencilmap.model.kinds.routing`
    known : iterable of LinkLoads or None
        Loads of exchanges that the rule has already routed.
    """
    found = [loads or known_loads(network, exchange, node_of_rank, rule)
             for exchange, loads in zip_longest(exchanges, known)]
    units = [Fraction(4 * network.n_nodes, loads.total_bytes * loads.denominator) for loads in found]
    classes = []
    for i in range(len(network.link_classes)):
        flat = [loads.values[i].reshape(-1) for loads in found]
        vectors: list[tuple[Fraction, ...]] = []
        for cables, links in network.links_by_cables(i):
            some = [values[links] for values in flat]
            used = np.flatnonzero(np.logical_or.reduce([values != 0 for values in some]))
            rows = np.stack([values[used if len(used) else slice(1)] for values in some], axis=1)
            kept = undominated(rows) if len(rows) else rows
            vectors += [tuple(as_fraction(x) * unit / cables for x, unit in zip(row, units)) for row in kept]
        classes.append(tuple(vectors))
    return JointLoads(network, tuple(classes))


@lru_cache(maxsize=8192)
def ring_vectors(pattern: Pattern | RingMap, letters: tuple[str, ...], ring: bool, tie: str = "split") -> Vectors:
    """Return the loads of several exchanges on the deciding links of a line of a product, on the m scale.

    For one cable, even blocks and dimension order; every line of the dimension has the same loads.

    Parameters
    ----------
    pattern : Pattern or RingMap
    letters : tuple of str
        Grid dimensions of the groups of each exchange.
    ring : bool
        Whether the line closes.
    tie : str
        Rule at half a ring, as for `ring_link_loads`.

    Examples
    --------
    >>> from pencilmap.model.placement.pattern import parse_pattern
    >>> [[str(x) for x in vector] for vector in ring_vectors(parse_pattern("r2c4"), ("r", "c"), True)]
    [['2', '4']]
    """
    halves = [ring_halves(pattern, some, ring, tie).reshape(-1) for some in letters]
    units = [Fraction(2, pattern.extent(some)) for some in letters]
    return tuple(tuple(int(x) * unit for x, unit in zip(row, units)) for row in undominated(np.stack(halves, axis=1)))
