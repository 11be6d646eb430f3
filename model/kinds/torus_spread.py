"""A floor on the worst length of an exchange, by the least distances between tasks of a group: hops against entropy.

The floor holds under dimension order, on the m scale, for even blocks. Let `a` be the worst length as if every node had one
task, w(j) the share of a group's tasks at coordinate j of a dimension, and T its mean hops in this dimension between any
two of its tasks.

- In the first dimension in which a group varies, its messages leave on the lines of their sources. From each coordinate
  of the group, the tasks less than half round the ring to the right get at most a/4 of a task's data, the tasks to the left
  too, and all others together a/2. The same holds for the last such dimension, in which messages arrive.
- A group that varies in a single dimension lies on a line, whose links carry all its hops.
- In these two dimensions all tasks of a group on one line send or receive along the line. So only a limited number of
  tasks fits on a line.
- Two tasks of a group that have the same coordinates in the first and the last dimension differ in the others. Let p and q
  be the numbers of tasks at each coordinate of these two. Then the k fullest places of all other coordinates hold at most R
  - (the f largest p) + R - (the l largest q) + k f l, for all f and l. They also hold no more than their lines can take.
  So the entropy over the other dimensions has a least value, and the sum over single dimensions is no less.
- The mean of T over all groups is the traffic of the links of a dimension: on a ring at most half the length, a N / (2 P).

The first four statements limit the groups, and by the last statement not all groups may be wide. So a length is excluded
if, for some prices of the dimensions, every possible group has more hops to pay than the links have room for. All
distributions of R tasks over n coordinates are tried. Entropies are rounded in favour of the group. Proof in
docs/theory.md.

Cost: (R+n-1 over n-1) / n distributions and the square of their shapes, half a second at most; beyond, nothing is added.
"""


from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, log
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints

MOST_KINDS = 130_000   # distributions of a group over a dimension
MOST_SHAPES = 2_000    # of these distributions, counted without the order of the coordinates
MOST_PAIRS = 3_000_000  # pairs of shapes, times tasks of a group: above this number entropy alone is used
BINS = 768             # of the entropy
ROWS = 4096            # distributions at once: their arrays fit into the cache
STEPS = 14             # of halving, towards the least length
HIGHEST = 8.0          # the largest length to try, as if every node had one task
MOST_PRICES = 12       # prices of the dimensions to try for a length
LEAST = 1e-6           # of a price
MOST_PIVOTS = 200
ROUNDING = 1e-13       # a pivot is larger
TOLERANCE = 1e-9

Dimension = tuple[int, bool, Fraction, Fraction]  # nodes, whether a ring, capacity of a link, of all links over 4 N


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Distributions of the tasks of a group over the coordinates of a dimension, up to symmetry.

    hops : mean hops between two tasks; shape : number of its shape; end : the least length at which a first or last
    dimension may look so; alone : the same for a group on one line; shapes : numbers of tasks, the largest first;
    stairs : least hops by entropy in bins, rounded up; source : mean hops of the task with the fewest; links : of a line
    """

    hops: Floats
    shape: Ints
    end: Floats
    alone: Floats
    shapes: Ints
    stairs: Floats
    source: Floats
    links: int

    @cached_property
    def corners(self) -> tuple[Ints, Floats]:
        """The bins at which less entropy would cost less hops, and the hops."""
        last = np.flatnonzero(np.isfinite(self.stairs) & (self.stairs < np.append(self.stairs[1:], np.inf)))
        return last, self.stairs[last]

    def allowed(self, length: float) -> tuple[Floats, Ints, float]:
        """Return the limits if no length is above `length`.

        These are the least hops of each shape at an end, the most tasks on one line, and the least hops of a group on
        one line.
        """
        ends, source = np.full((2, len(self.shapes)), np.inf)
        kinds = self.end <= length
        np.minimum.at(ends, self.shape[kinds], self.hops[kinds])
        np.minimum.at(source, self.shape[kinds], self.source[kinds])
        most = np.floor(self.links * length / 4 / source + TOLERANCE).astype(np.int64)
        return ends, most, float(self.hops[self.alone <= length].min(initial=np.inf))


def spread_floor(dimensions: tuple[Dimension, ...], size: int, tasks_per_node: int, relative: Fraction,
                 split: bool, least: Fraction = Fraction(0)) -> Fraction:
    """Return the least worst length of an exchange in groups of equal size.

    Parameters
    ----------
    dimensions : tuple of Dimension
        Dimensions of two nodes or more.
    size : int
        Tasks of a group, more than `tasks_per_node`.
    tasks_per_node : int
    relative : Fraction
        Number of nodes over number of tasks.
    split : bool
        Whether messages half round a ring go both ways, half each.
    least : Fraction
        A known lower bound on the length.

    Examples
    --------
    >>> ring = (4, True, Fraction(1), Fraction(1, 2))
    >>> round(float(spread_floor((ring,) * 4, 16, 1, Fraction(1), True)), 3)    # 4x4x4x4, rows of 16
    1.394
    """
    return _floor(tuple(sorted(dimensions)), size, tasks_per_node, relative, split, least)


@lru_cache(maxsize=256)
def _floor(dimensions: tuple[tuple[int, bool, Fraction, Fraction], ...], size: int, T: int, relative: Fraction, split: bool,
           least: Fraction) -> Fraction:
    if any(comb(size + n - 1, n - 1) // n > MOST_KINDS for n, *_ in dimensions):
        return least
    if max(len(_kinds(n, ring, size, T, split).shapes) for n, ring, *_ in set(dimensions)) > MOST_SHAPES:
        return least
    program = _Program(dimensions, size, T, float(relative), split)
    low, high = float(least), max(HIGHEST * float(relative), 2 * float(least))
    if not program.excluded(low):
        return least
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if program.excluded(middle) else (low, middle)
    return max(least, Fraction(int(low * (1 - TOLERANCE) * 1_000_000), 1_000_000))


class _Program:
    """The program that excludes lengths for groups of equal size on one torus."""

    def __init__(self, dimensions: tuple[tuple[int, bool, Fraction, Fraction], ...], size: int, T: int, relative: float,
                 split: bool) -> None:
        self.relative = relative
        self.classes = sorted(set(dimensions))
        self.count = [dimensions.count(class_) for class_ in self.classes]
        self.kinds = [_kinds(n, ring, size, T, split) for n, ring, *_ in self.classes]
        self.capacity = [float(capacity) for _, _, capacity, _ in self.classes]
        self.room = np.array([count * float(room) for count, (*_, room) in zip(self.count, self.classes)])
        self.between = {(k, m): _Between(self.kinds[k].shapes, self.kinds[m].shapes, size, T)
                        for m in range(len(self.classes)) for k in range(m + 1) if k < m or self.count[k] > 1}

    def excluded(self, length: float) -> bool:
        """Return whether no placement has a length of at most `length`."""
        ends, alone, needs = self._limits(length)
        room = self.room * length * (1 + TOLERANCE) + TOLERANCE
        prices, excluded_ = 1 / (len(room) * room), []
        for _ in range(MOST_PRICES):
            hops = self._cheapest(ends, alone, needs, prices)
            if hops is None or prices @ hops > prices @ room * (1 + TOLERANCE):
                return True
            excluded_.append(hops / room)
            if len(room) == 1:
                return False
            new = _prices(np.array(excluded_))
            if new is None:
                return False
            prices = np.maximum(new, LEAST) / room
        return False

    def _limits(self, length: float) -> tuple[list[Floats], tuple[float, ...], dict[tuple[int, int], Ints]]:
        """Return the least hops of each shape that an end may have, of a group on one line, and the needs between ends."""
        ends, lines, alone = zip(*(kinds.allowed(length * capacity / self.relative * (1 + TOLERANCE) + TOLERANCE)
                                   for kinds, capacity in zip(self.kinds, self.capacity)))
        able = [np.flatnonzero(np.isfinite(end)) for end in ends]
        needs = {(k, m): between.needs(lines[k], lines[m], able[k], able[m]) for (k, m), between in self.between.items()
                 if len(able[k]) and len(able[m])}
        return [end[finite] for end, finite in zip(ends, able)], alone, needs

    def _cheapest(self, ends: list[Floats], alone: tuple[float, ...], needs: dict[tuple[int, int], Ints],
                  prices: Floats) -> Floats | None:
        """Return the hops by classes of dimensions of the possible group with the least sum at these prices, or None."""
        best, hops, tables = np.inf, None, {(): _Table()}
        for k, apart in enumerate(alone):
            if prices[k] * apart < best:
                best, hops = prices[k] * apart, apart * _unit(k, prices)
        for (k, m), least in needs.items():
            between = self._others(k, m, prices, tables)
            cost = prices[k] * ends[k][:, None] + prices[m] * ends[m] + np.append(between.cost, np.inf)[least]
            p, q = np.unravel_index(int(cost.argmin()), cost.shape)
            if cost[p, q] < best:
                best = cost[p, q]
                hops = ends[k][p] * _unit(k, prices) + ends[m][q] * _unit(m, prices) + between.hops(least[p, q], len(prices))
        return hops

    def _others(self, k: int, m: int, prices: Floats, tables: "dict[Any, _Table]") -> "_Table":
        """Return the least hops in all dimensions but one of class k and one of class m, by their entropy.

        `tables` holds the tables of these prices so far, by the classes of their dimensions.
        """
        others = tuple(j for j, count in enumerate(self.count) for _ in range(count - (j == k) - (j == m)))
        for end in range(1, len(others) + 1):
            if others[:end] not in tables:
                j = others[end - 1]
                tables[others[:end]] = tables[others[:end - 1]].with_one(j, prices[j], *self.kinds[j].corners)
        return tables[others]


def _unit(k: int, like: Floats) -> Floats:
    return np.where(np.arange(len(like)) == k, 1.0, 0.0)


def _prices(costs: Floats) -> Floats | None:
    """Return the prices that maximise the least cost of the groups found so far, or None if these groups find room."""
    answer = _game(costs)
    return None if answer is None or (costs @ answer).min() <= 1 else answer


def _game(costs: Floats) -> Floats | None:
    """Return the shares of the columns, of sum 1, for which the least sum of a row is largest; all entries are positive.

    This is the linear program ``max sum(y), found.T @ y <= 1, y >= 0``, whose dual solution is proportional to the shares
    (J. von Neumann). The simplex method with Bland's rule solves it; None if rounding keeps it from an end.

    >>> _game(np.array([[2.0, 1.0], [1.0, 3.0]])).round(4).tolist()
    [0.6667, 0.3333]
    """
    groups, classes = costs.shape
    table = np.zeros((classes + 1, groups + classes + 1))
    table[:classes, :groups], table[:classes, groups:-1], table[:classes, -1] = costs.T, np.eye(classes), 1
    table[-1, :groups] = -1
    basis = np.arange(groups, groups + classes)
    for _ in range(MOST_PIVOTS):
        enters = np.flatnonzero(table[-1, :-1] < -ROUNDING)
        if not len(enters):
            prices = table[-1, groups:-1]
            return prices / prices.sum()
        column = table[:-1, enters[0]]
        ratio = np.divide(np.maximum(table[:-1, -1], 0), column, out=np.full(classes, np.inf), where=column > ROUNDING)
        if np.isinf(ratio).all():
            break
        leaves = np.flatnonzero(ratio <= ratio.min() * (1 + TOLERANCE))
        row = leaves[basis[leaves].argmin()]
        basis[row] = enters[0]
        table[row] /= table[row, enters[0]]
        others = np.arange(classes + 1) != row
        table[others] -= table[others, enters[0]][:, None] * table[row]
    return None


class _Table:
    """Least weighted hops of some dimensions by entropy in bins: this entropy or more.

    `before` is the table without the last dimension, and `last` the class of the last dimension, its bins and its hops,
    weighted and not.
    """

    def __init__(self, cost: Floats = np.append(0.0, np.full(BINS, np.inf)), before: Any = None,
                 last: tuple[Any, ...] = ()) -> None:
        self.cost, self.before, self.last = cost, before, last

    def with_one(self, k: int, price: float, bins: Ints, hops: Floats) -> "_Table":
        """Return the table with a dimension of class k; more entropy than a group has is enough."""
        costs = np.append(np.full(BINS, self.cost[0]), self.cost)
        shifted = sliding_window_view(costs, BINS + 1)[BINS - bins]
        shifted += price * hops[:, None]
        return _Table(shifted.min(axis=0), self, (k, bins, price * hops, hops))

    def hops(self, bin: Any, classes: int) -> Floats:
        """Return the hops of each class that make the least cost of a bin."""
        if self.before is None:
            return np.zeros(classes)
        k, bins, cost, hops = self.last
        rest = np.maximum(bin - bins, 0)
        best = (self.before.cost[rest] + cost).argmin()
        hops_: Floats = self.before.hops(rest[best], classes)
        hops_[k] += hops[best]
        return hops_


@lru_cache(maxsize=64)
def _kinds(n: int, ring: bool, size: int, T: int, split: bool) -> _Kinds:
    """Return all distributions of `size` tasks over a dimension of n nodes."""
    tasks, apart = _distributions(n, size, ring), np.abs(np.arange(n)[:, None] - np.arange(n))
    apart = np.minimum(apart, n - apart).astype(float) if ring else apart.astype(float)
    parts = [_limits(rows, apart, n, ring, size, T, split) for rows in np.split(tasks, range(ROWS, len(tasks), ROWS))]
    hops, end, alone, source = (np.concatenate(part) for part in zip(*parts))
    shapes, shape = _unique(np.sort(tasks, axis=1)[:, ::-1].astype(np.int64), size + 1)
    stairs = np.full(BINS + 1, np.inf)
    bins = np.minimum(np.ceil(_entropy(shapes / size) / log(size) * BINS - TOLERANCE), BINS).astype(np.int64)
    np.minimum.at(stairs, bins[shape], hops)
    return _Kinds(hops, shape=shape, end=end, alone=alone, shapes=shapes, stairs=stairs, source=source,
                  links=2 * n if ring else 2 * (n - 1))


def _limits(tasks: Ints, apart: Floats, n: int, ring: bool, size: int, T: int, split: bool) -> tuple[Floats, ...]:
    """Return the arrays hops, end, alone and source of `_Kinds` for some distributions."""
    where, share = np.arange(n), tasks / size
    hops = ((share @ apart) * share).sum(axis=1)
    ahead = (where[None, :] - where[:, None]) % n if ring else np.where(where > where[:, None], where - where[:, None], n)
    right = share @ (((ahead > 0) & (2 * ahead < n)) if ring else ahead < n).T.astype(float)
    left = share @ (((ahead > 0) & (2 * ahead > n)) if ring else where < where[:, None]).T.astype(float)
    across = share @ (2 * ahead == n).T.astype(float) if ring and split else np.zeros_like(share)
    leaves = np.maximum(4 * np.maximum(right, left) + 2 * across, 2 * (1 - share))
    most = tasks.max(axis=1)
    end = np.where(most < size, np.where(tasks > 0, leaves, 0.0).max(axis=1), np.inf)
    links = 2 * n if ring else 2 * (n - 1)
    alone = np.where((most < size) & (most <= T), np.maximum(end, 4 * size * hops / links), np.inf)
    return hops, end, alone, np.where(tasks > 0, share @ apart, np.inf).min(axis=1)


def _unique(rows: Ints, base: int) -> tuple[Ints, Ints]:
    """Return the different rows of numbers below `base`, and the index of each row."""
    halves = [half @ base ** np.arange(half.shape[1]) for half in (rows[:, ::2], rows[:, 1::2])]
    order = np.lexsort(halves)
    new = np.append(True, np.any([half[order[1:]] != half[order[:-1]] for half in halves], axis=0))
    which = np.empty(len(rows), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return rows[order[new]], which


def _entropy(share: Floats) -> Floats:
    """Return the entropy in natural units, along the last axis."""
    return -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=-1)


class _Between:
    """The rest for all other dimensions of a group, for all its shapes over its first and last dimension.

    The first and last coordinates, and the lines, limit the tasks on k places of the other dimensions.
    """

    def __init__(self, rows: Ints, others: Ints, size: int, T: int) -> None:
        self.size, most = size, -(-size // T)
        self.whole = log(size / T) - _entropy(rows / size)[:, None] - _entropy(others / size)
        self.known: dict[tuple[bytes, ...], Ints] = {}  # results: many lengths allow the same
        self.counts = len(rows) * len(others) * most <= MOST_PAIRS
        if not self.counts:
            return
        n = max(rows.shape[1], others.shape[1])
        kind = np.int16 if n * n * max(size, T) * most + 2 * size < 1 << 15 else np.int64  # of the sums below
        self.outside = [(size - np.cumsum(sizes, axis=1)).astype(kind) for sizes in (rows, others)]
        self.places: NDArray[Any] = np.arange(1, most + 1, dtype=kind)
        self.within = np.full((len(rows), len(others), most), size, kind)  # tasks on the fullest 1, 2, ... places: at most
        share = np.arange(size + 1) / size
        self.part = share * np.log(np.where(share > 0, share, 1.0))        # of the entropy
        for a, first in enumerate(self.outside[0].T, 1):
            for b, last in enumerate(self.outside[1].T, 1):
                np.minimum(self.within, (first[:, None] + last)[:, :, None] + a * b * T * self.places, out=self.within)

    def needs(self, firsts: Ints, lasts: Ints, of_first: Ints, of_last: Ints) -> Ints:
        """Return the least entropy, in bins, for some shapes of the first dimension and some of the last one.

        `firsts` and `lasts` are the most tasks on a line of these dimensions, for each shape.
        """
        firsts, lasts = (np.minimum(most[limit], self.size) for most, limit in ((firsts, of_first), (lasts, of_last)))
        key = tuple(values.tobytes() for values in (firsts, lasts, of_first, of_last))
        if key not in self.known:
            self.known[key] = self._needs(firsts, lasts, of_first, of_last)
        return self.known[key]

    def _needs(self, firsts: Ints, lasts: Ints, of_first: Ints, of_last: Ints) -> Ints:
        whole = self.whole[np.ix_(of_first, of_last)]
        if self.counts:
            within = self.within[np.ix_(of_first, of_last)]
            firsts, lasts = (most.astype(within.dtype) for most in (firsts, lasts))
            for b, last in enumerate(self.outside[1][of_last].T, 1):
                np.minimum(within, last[:, None] + (b * firsts)[:, None, None] * self.places, out=within)
            for a, first in enumerate(self.outside[0][of_first].T, 1):
                np.minimum(within, first[:, None, None] + (a * lasts)[:, None] * self.places, out=within)
            whole = np.maximum(whole, -self.part[np.diff(within, axis=2, prepend=within.dtype.type(0))].sum(axis=2))
            whole = np.where(within[:, :, -1] < self.size, np.inf, whole)
        return np.clip(np.floor(whole / log(self.size) * BINS + TOLERANCE), 0, BINS + 1).astype(np.int64)


def _distributions(n: int, size: int, ring: bool) -> Ints:
    """Return the numbers of tasks at each coordinate: int array of few bytes, shape (kinds, n).

    On a ring the first coordinate has the most tasks. On a line the first coordinate has tasks, because a shift changes
    nothing. Of a distribution and its mirror image, only the distribution with more tasks at low coordinates is listed.
    """
    first = np.arange(-(-size // n) if ring else 1, size + 1)
    steps, left, most = [(first, first)], size - first, first if ring else np.full(size, size)
    for rest in range(n - 2, -1, -1):
        low = np.maximum(0, left - rest * most)
        count = np.maximum(np.minimum(left, most) - low + 1, 0)
        before = np.repeat(np.arange(len(left)), count)
        used = np.arange(len(before)) - (np.cumsum(count) - count - low)[before]
        steps.append((used, before))
        left, most = left[before] - used, most[before]
    tasks, at = np.empty((len(left), n), dtype=np.min_scalar_type(size)), np.arange(len(left))
    for i in range(n - 1, -1, -1):
        used, before = steps[i]
        tasks[:, i], at = used[at], before[at]
    if ring:
        return tasks
    last = n - 1 - (tasks[:, ::-1] > 0).argmax(axis=1)
    return tasks[2 * (tasks @ np.arange(float(n))) <= size * last]
