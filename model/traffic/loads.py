"""Loads of the links: of an exchange, of several exchanges together, and the objective of a search by them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import zip_longest
from math import lcm, prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import GraphLink, Network, TorusLink, link_weights
from pencilmap.model.placement.product import Pattern, RingMap, ring_halves
from pencilmap.model.traffic.exchange import Exchange


@dataclass(frozen=True)
class LinkLoads:
    """Load of every link of a network in an exchange."""

    network: Network
    #: array of int, float or Fraction, shape ``network.link_shape``; ``denominator`` times the bytes on each link, all
    #: cables of the link together. On a torus the shape is (d, 2, N): the link that leaves node `n` in dimension `i` upwards
    #: is ``[i, 0, n]``, downwards ``[i, 1, n]``
    values: Ints | Floats
    total_bytes: int  #: D_T
    denominator: int = 1  #: keeps the values integers for a routing that splits evenly; 2 for halves

    def bytes(self) -> Floats:
        """Return the bytes on every link, an array of the shape of `values`."""
        return self.values / self.denominator

    def largest(self) -> tuple[Fraction, ...]:
        """Return the largest load in each class of links, in bytes of a cable, as exact fractions."""
        return tuple(largest for largest, _ in self._largest_with_place())

    def on_m_scale(self) -> tuple[Fraction, ...]:
        """Return the largest load in each class on the paper's scale: 4 load N / D_T, exact fractions."""
        return tuple(m_scale(load, self.network, self.total_bytes) for load in self.largest())

    def hop_bytes(self) -> Fraction:
        """Return the sum of all loads: bytes times hops (exact for exact values)."""
        return as_fraction(self.values.sum()) / self.denominator

    def busiest(self) -> TorusLink | GraphLink | None:
        """Return the link that takes longest, the first among equals, or None if every link is idle.

        If the network has no bandwidth, all links count as equally fast.
        """
        place = self._largest_with_place()
        rates = self.network.bandwidth or (1.0,) * len(self.network.link_classes)
        times = [load / Fraction(rate) for (load, _), rate in zip(place, rates)]
        i = max(range(len(times)), key=times.__getitem__, default=0)
        return self.network.link(i, place[i][1]) if times and times[i] > 0 else None

    def seconds(self) -> float | None:
        """Return the time of the busiest link, or None if the network has no bandwidth."""
        return transfer_time(self.largest(), self.network)

    def _largest_with_place(self) -> list[tuple[Fraction, int]]:
        """Return for each class the largest load of a cable, and the number of its link in the flat class."""
        return [self._largest_of_class(i) for i in range(len(self.values))]

    def _largest_of_class(self, i: int) -> tuple[Fraction, int]:
        flat, best = self.values[i].reshape(-1), (Fraction(0), 0)
        for cables, links in self.network.links_by_cables(i):
            loads = flat[links]
            if loads.size:
                k = int(np.argmax(loads))
                load = as_fraction(loads[k]) / (self.denominator * cables)
                place = k if isinstance(links, slice) else int(links[k])
                best = max(best, (load, place), key=lambda b: b[0])
        return best


def as_fraction(value: Any) -> Fraction:
    """Return any number of an array as an exact fraction."""
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def without_rounding(values: ArrayLike) -> Floats:
    """Round floats to 40 bits after the leading bit of the largest. Further bits are rounding errors of the sums.

    So a load of 2 is 2, not 1.9999999999999998, and not below its bound.
    """
    floats = np.array(values, dtype=float)
    used = np.nonzero(floats)  # a job uses few links of a large network
    values_ = floats[used]
    shift = 40 - int(np.frexp(np.abs(values_).max(initial=0.0))[1])
    floats[used] = np.ldexp(np.rint(np.ldexp(values_, shift)), -shift)
    return floats


def m_scale(load_bytes: Fraction | float, network: Network, total_bytes: int) -> Fraction:
    """Put a load of a cable in bytes on the paper's scale: m = 4 load N / D_T.

    >>> from pencilmap.model.network.torus import Torus
    >>> m_scale(32, Torus((4, 4)), 1024)
    Fraction(2, 1)
    """
    return Fraction(load_bytes) * 4 * network.n_nodes / total_bytes


def m_time(m: Iterable[Fraction | float], network: Network, total_bytes: int) -> float | None:
    """Return the seconds of equation 16: t >= max_i m_i D_T / (4 N B_i). None without bandwidth.

    Parameters
    ----------
    m : iterable of number
        One number for each dimension.
    network : Network
    total_bytes : int
        D_T.
    """
    return transfer_time([Fraction(x) * total_bytes / (4 * network.n_nodes) for x in m], network)


def transfer_time(load_bytes: Iterable[Fraction | float], network: Network) -> float | None:
    """Return the seconds that the slowest class of links needs for its largest load, or None without bandwidth."""
    if network.bandwidth is None:
        return None
    return max(float(load) / rate for load, rate in zip(load_bytes, network.bandwidth))


# Loads of exchanges, each routed once: a search judges the placements that are then predicted.
#
# Idea: a rule sees the nodes of the members of each group. So exchanges on the same nodes in the same order have the same
# loads, also those of grids RxC and CxR. Even blocks only scale them.

MOST_KEPT = 64          # results of a store
MOST_VALUES = 1 << 22   # of links, if loads have so few that more results fit
MOST_BYTES = 1 << 58    # of an array whose loads are scaled in 64 bits

Result = TypeVar("Result")


def known_loads(network: Network, exchange: Exchange, ends: np.ndarray, rule: Any) -> LinkLoads:
    """Return the load of every link under a routing rule. The last loads are kept.

    Parameters
    ----------
    network : Network
    exchange : Exchange
    ends : int array, shape (P,)
        End of the network of each rank.
    rule : value of `pencilmap.model.kinds.routing`
    """
    most = max(MOST_KEPT, MOST_VALUES // max(1, prod(network.link_shape)))
    if not exchange.is_even or exchange.total_bytes >= MOST_BYTES:
        return kept((rule, exchange.unit_bytes, exchange.total_bytes), network, exchange, ends,
                    lambda: rule.loads(network, exchange, ends), _loads, most)
    members = exchange.members
    ones = {name: np.ones_like(getattr(exchange, name)) for name in ("group_weight", "send_weight", "receive_weight")}
    plain = replace(exchange, **ones, unit_bytes=1, total_bytes=members.size * members.shape[1])
    loads = kept((rule,), network, plain, ends, lambda: rule.loads(network, plain, ends), _loads, most)
    return replace(loads, values=loads.values * exchange.message_unit, total_bytes=exchange.total_bytes)


_loads: OrderedDict[Any, Any] = OrderedDict()
_parts: OrderedDict[Any, Any] = OrderedDict()


def kept(key: tuple[Any, ...], network: Network, exchange: Exchange, ends: np.ndarray, make: Callable[[], Result],
         store: OrderedDict[Any, Any] = _parts, most: int = MOST_KEPT) -> Result:
    """Return what `make` makes of an exchange on these ends; the last results are kept in a store under the key."""
    weights = (weight.tobytes() for weight in (exchange.group_weight, exchange.send_weight, exchange.receive_weight))
    whole = *key, network, exchange.members.shape, np.asarray(ends)[exchange.members].tobytes(), *weights
    if whole not in store:
        store[whole] = make()
        if len(store) > most:
            store.popitem(last=False)
    value: Result = store[whole]
    return value


# Loads of several exchanges link by link, so that any share of each can be put on the network at once.
#
# Idea: for many sets of shares w, the largest of w_1 load_1 + w_2 load_2 + ... over the links decides. A link never decides
# if another link of its class has a larger load in every exchange. So only non-dominated links are kept, seldom more than a
# few dozen. For a product placement the loads in a dimension depend on the position on the line alone, so a single line
# stands for all lines.
# Cost: routing each exchange once, and O(L log L) for L links.

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
        result = []
        for vectors in self.vectors:
            scale, numbers = _whole_numbers([x for vector in vectors for x in vector])
            most = max(map(abs, numbers), default=0)
            rows = np.array(numbers, dtype=object if most > MOST_64 else np.int64)
            result.append((scale, rows.reshape(len(vectors), len(vectors[0]) if vectors else 1), most))
        return result

    def length(self, shares: Shares) -> Fraction:
        """Return the largest load of all, slower classes of links counted longer, as in `Prediction.cost` (exact)."""
        return max(load * weight for load, weight in zip(self.largest(shares), link_weights(self.network)))

    @cached_property
    def weighted(self) -> Floats:
        """Return the non-dominated vectors of all classes, slower classes counted longer: shape (k, exchanges)."""
        rows = [[float(x * weight) for x in vector]
                for vectors, weight in zip(self.vectors, link_weights(self.network)) for vector in vectors]
        return undominated(np.array(rows))


def _largest_sum(rows: Ints, parts: list[int], most: int) -> int:
    """Return the largest sum of numbers times parts over the rows, 0 without rows (exact)."""
    if not len(rows):
        return 0
    kind = object if most * sum(map(abs, parts)) > MOST_64 else np.int64
    return int((rows.astype(kind, copy=False) @ np.array(parts, dtype=kind)).max())


def _whole_numbers(fractions: Sequence[int | Fraction]) -> tuple[int, list[int]]:
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
    loads_of = [loads or known_loads(network, exchange, node_of_rank, rule)
                for exchange, loads in zip_longest(exchanges, known)]
    units = [Fraction(4 * network.n_nodes, loads.total_bytes * loads.denominator) for loads in loads_of]
    classes = []
    for i in range(len(network.link_classes)):
        flat = [loads.values[i].reshape(-1) for loads in loads_of]
        vectors: list[tuple[Fraction, ...]] = []
        for cables, links in network.links_by_cables(i):
            loads_ = [values[links] for values in flat]
            used = np.flatnonzero(np.logical_or.reduce([values != 0 for values in loads_]))
            rows = np.stack([values[used if len(used) else slice(1)] for values in loads_], axis=1)
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
    >>> from pencilmap.model.placement.product import parse_pattern
    >>> [[str(x) for x in vector] for vector in ring_vectors(parse_pattern("r2c4"), ("r", "c"), True)]
    [['2', '4']]
    """
    halves = [ring_halves(pattern, letter, ring, tie).reshape(-1) for letter in letters]
    units = [Fraction(2, pattern.extent(letter)) for letter in letters]
    return tuple(tuple(int(x) * unit for x, unit in zip(row, units)) for row in undominated(np.stack(halves, axis=1)))


# The objective of a search for a placement, by the loads of the links alone.
#
# Under every schedule the time of the links is a sum over its phases. In each phase some share of every exchange is on the
# network, and the busiest link of all shares together decides. So an objective is a list of terms. For each term a search
# needs the largest of w_1 load_1 + w_2 load_2 + ... over the links.

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True)
class Term:
    """`count` times the largest load if these shares of the exchanges are on the network at once."""

    count: Fraction
    shares: tuple[Fraction, ...]  #: for each exchange, the greatest 1


@dataclass(frozen=True)
class Objective:
    """The sum of some terms; without terms nothing counts.

    >>> [str(term.count) for term in overlapped(2, 8).terms]
    ['1/8', '7/8', '1/8']
    """

    terms: tuple[Term, ...]

    @property
    def moved(self) -> Fraction:
        """The share of every exchange that all terms together move; 1 for a schedule.

        No placement has less than this share times the lower bound of the exchanges together.

        >>> objective([(Fraction(1, 4), Fraction(1, 8)), (Fraction(1, 4), Fraction(1, 2))]).moved
        Fraction(1, 2)
        """
        of_terms = ([term.count * share for share in term.shares] for term in self.terms)
        return min((sum(shares, Fraction(0)) for shares in zip(*of_terms)), default=Fraction(0))

    @property
    def turned(self) -> "Objective":
        """The objective of the same schedule with the exchanges in the other order.

        >>> overlapped(2, 8).turned == overlapped(2, 8)
        True
        """
        return Objective(tuple(Term(term.count, term.shares[::-1]) for term in reversed(self.terms)))

    def of(self, length: Callable[[tuple[Fraction, ...]], Number]) -> Number:
        """Return the objective from the largest length under the shares of each term, e.g. `JointLoads.length`."""
        return sum((term.count * length(term.shares) for term in self.terms), start=0)  # type: ignore[return-value]

    def of_loads(self, loads: JointLoads) -> Fraction:
        """Return the objective of a placement (exact)."""
        return sum((term.count * loads.length(term.shares) for term in self.terms), Fraction(0))


def objective(phases: Iterable[Shares]) -> Objective:
    """Return the objective of a schedule with these phases. Phases that differ only by a factor become one term.

    >>> half = Fraction(1, 2)
    >>> objective([(half, 0), (half, half), (0, half)]).terms[1]
    Term(count=Fraction(1, 2), shares=(Fraction(1, 1), Fraction(1, 1)))
    """
    counts: dict[tuple[Fraction, ...], Fraction] = {}
    for shares in phases:
        most = Fraction(max(shares))
        if most:
            fractions = tuple(Fraction(share) / most for share in shares)
            counts[fractions] = counts.get(fractions, Fraction(0)) + most
    return Objective(tuple(Term(count, shares) for shares, count in counts.items()))


def in_sequence(n: int) -> Objective:
    """Return `n` exchanges, in sequence: the sum of their largest lengths, as `Prediction.cost`."""
    return objective(tuple(int(i == j) for j in range(n)) for i in range(n))


def at_once(n: int) -> Objective:
    """Return all `n` exchanges at once: the largest joint length."""
    return objective([(1,) * n])


def overlapped(n: int, chunks: int) -> Objective:
    """Return exchanges in `chunks` equal chunks, each exchange one chunk behind the exchange before."""
    share = Fraction(1, chunks)
    return objective(tuple(share * (0 <= k - i < chunks) for i in range(n)) for k in range(chunks + n - 1))
