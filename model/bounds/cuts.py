"""Lower bounds by the cuts of a network: the traffic that crosses a cut, over the cables of the cut."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product as cartesian
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.bounds.graph_cuts import cables_of_runs, orders_of
from pencilmap.model.decompositions import AXES
from pencilmap.model.network.network import Arcs
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, block_lengths
from pencilmap.model.traffic.product_blocks import stage_blocks

# The least traffic of all exchanges of a transform across a cut with k of P tasks on one side, for real blocks.
#
# Even blocks: L(k) / P^2 of D_T, if the decomposition knows L (`Decomposition.least_crossing`).
#
# Uneven blocks. Let a(s) be the share of the array that task s holds before the transform, and b(t) the share of task t
# after it. Then the exchanges together send at least a(S) (1 - b(S)) D_T from a set S of tasks to the others. The reason,
# for pencils: let X_q and W_q be the blocks of x (before) and of y (after) among the C tasks of a column, and Y_p and Z_p
# the blocks of y (before) and of z (after) among the R tasks of a row. Give every pair of tasks (p,q), (p',q') the weight
# X_q Y_p Z_p' W_q' / ny and lead the weight through task (p',q). The row message from p to p' in row q is the sum of these
# weights over q'. The column message from q to q' in column p' is their sum over p. So the messages are no less than the
# weights that must cross. With one exchange between all tasks (slabs) the weights are the messages.
#
# In the other direction the bound is (1 - a(S)) b(S). The larger of both is max(a, b) (1 - min(a, b)) >= m (1 - m) with m =
# max(a, b). For k tasks, a and b lie between the sum of the k smallest shares and the sum of the k largest. m (1 - m) is
# concave, so its least value is at one end.
#
# A second bound is better for few tasks: no message is smaller than r times its mean, which gives r L(k) / P^2.

_FINE = 1 << 48  # parts of D_T in which crossings of uneven blocks are counted, rounded down


class Crossing:
    """Least traffic across a cut in the direction with more bytes. Without a transform all blocks are equal, and both
    directions carry the same.
    """

    def __init__(self, grid: ProcessGrid, transform: Transform | None = None) -> None:
        self.grid = grid
        self.transform = None if transform is None or transform.divides_evenly(grid) else transform

    @cached_property
    def smallest(self) -> Fraction:
        """r: the smallest message of an exchange over its mean message, the least of all exchanges; 1 for even blocks."""
        if self.transform is None:
            return Fraction(1)
        return min(Fraction(prod(int(vector.min()) for vector in (blocks.send, blocks.receive, *blocks.groups.values()))
                            * blocks.unit_bytes * self.grid.n_tasks * len(blocks.send), blocks.total_bytes)
                   for blocks in stage_blocks(self.grid, self.transform))

    @property
    def whole(self) -> int:
        """Number of parts of D_T in `least`."""
        return self.grid.n_tasks**2 if self.transform is None else _FINE

    def least(self) -> Ints:
        """Return the least traffic for every k of 0..P, in parts of which D_T has `whole`: int array, shape (P + 1,)."""
        P = self.grid.n_tasks
        even = self.grid.decomposition.least_crossing(self.grid.shape, np.arange(P + 1, dtype=np.int64))
        if self.transform is None:
            return even
        if self.grid.decomposition.has_equal_blocks:  # no message is below the mean
            return np.floor(float(self.smallest) * (1 - 1e-12) * even / P**2 * _FINE).astype(np.int64)
        low, high = (np.maximum.reduce(ends) for ends in zip(*(self._ends(shares) for shares in self._shares())))
        least = np.minimum(low * (1 - low), high * (1 - high))
        least = np.maximum(least, float(self.smallest) * even / P**2)
        return np.floor(np.maximum(least - 1e-12, 0.0) * _FINE).astype(np.int64)  # rounding errors are below 1e-12

    def exactly(self, k: int) -> Fraction:
        """Return the least traffic with k tasks on one side, as a part of D_T, without an array over the tasks."""
        P = self.grid.n_tasks
        if self.transform is None:
            return Fraction(k * (P - k), P**2)
        if self.grid.decomposition.has_equal_blocks:
            return self.smallest * k * (P - k) / P**2
        ends = [(_sum(shares, k), 1 - _sum(shares, P - k)) for shares in self._shares()]
        return min(m * (1 - m) for m in map(max, zip(*ends)))

    def _ends(self, shares: list[tuple[Fraction, int]]) -> tuple[Floats, Floats]:
        """Return the least and the largest sum of k shares for every k: two float arrays, shape (P + 1,)."""
        value, count = zip(*shares)
        sums = np.concatenate([[0.0], np.cumsum(np.repeat(np.array(value, dtype=float), count))])
        return sums, 1.0 - sums[::-1]

    def _shares(self) -> Iterator[list[tuple[Fraction, int]]]:
        """Yield the shares of the tasks before and after the transform: share and number of tasks, smallest share first."""
        assert self.transform is not None
        extents = dict(zip(AXES, self.transform.exchanged))
        after = dict(zip(AXES, self.grid.decomposition.start))
        for stage in self.grid.decomposition.exchanges:
            after |= {stage.gathered: "", stage.divided: stage.letters}
        for division in (dict(zip(AXES, self.grid.decomposition.start)), after):
            divided = [axis for axis in AXES if division[axis]]
            factors = [np.unique(block_lengths(extents[axis], self.grid.extent(division[axis])), return_counts=True)
                       for axis in divided]
            cells = prod(extents[axis] for axis in divided)
            yield sorted((Fraction(prod(int(v) for v, _ in factors_of), cells), prod(int(c) for _, c in factors_of))
                         for factors_of in cartesian(*(zip(*factor) for factor in factors)))


def _sum(shares: list[tuple[Fraction, int]], k: int) -> Fraction:
    """Return the sum of the k smallest shares."""
    total = Fraction(0)
    for share, count in shares:
        total += share * min(count, k)
        k -= min(count, k)
    return total


# Cuts of a network with holes or idle slots: how many tasks a placement must put on one side.
#
# A bound is a list of cuts, of which at least one has tasks between its limits inside; the least load of these cuts holds.
# P tasks sit on some of S slots.
#
# One cut. With s slots inside, at least P - (S - s) tasks are inside, and at most s.
#
# A division. Parts that hold s_1, s_2, ... slots together hold all P tasks, so some part i has at least P s_i / S tasks.
#
# A cut that moves. A run of vertices, from the first in some order, grows by one vertex at a time, so the tasks inside grow
# from 0 to P by at most the slots of a host at a time. So, for every number of tasks, some run has nearly this number
# inside.
#
# The runs of a graph are those of `pencilmap.model.bounds.graph_cuts`; its divisions are into hosts, and into runs of
# neighbours.
# Cost: O(V^2) for each order of V vertices; above `MOST_VERTICES` only hosts count.

EIGHTHS = 8      # of the tasks: numbers for which a moving cut stops
MOST_PARTS = 32  # of a division into runs
MOST_VERTICES = 1024  # of a graph whose runs are tried
ABOUT = 1e-5  # rounded capacities differ less
FINEST = 1 << 20  # largest denominator of a capacity that was added up from rounded numbers


class Cut(NamedTuple):
    """Least and most tasks inside a cut, and its capacity in cables of the fastest class."""

    low: int
    high: int
    cables: Fraction | float


class Minimum:
    """Minima over windows of an array, from windows of doubled width."""

    def __init__(self, values: Ints) -> None:
        self.levels = [np.asarray(values)]
        while 2 ** len(self.levels) <= len(values):
            last, half = self.levels[-1], 2 ** (len(self.levels) - 1)
            self.levels.append(np.minimum(last[:-half], last[half:]))

    def __call__(self, low: int, high: int) -> int:
        """Return the least of values[low..high], both ends included; low <= high."""
        level = int(high - low + 1).bit_length() - 1
        row = self.levels[level]
        return int(min(row[low], row[high + 1 - 2**level]))


class Room:
    """P tasks on some of the S slots of a site, and the least traffic of all exchanges across a cut."""

    def __init__(self, site: Site, grid: ProcessGrid, transform: Transform | None = None) -> None:
        self.site, self.P, self.S, self.crossing = site, grid.n_tasks, site.n_slots, Crossing(grid, transform)

    @cached_property
    def window(self) -> Minimum:
        """The least traffic with `low` to `high` tasks on one side of a cut, in parts of which D_T has `crossing.whole`."""
        return Minimum(self.crossing.least())

    def length(self, crossed: int, cables: Any) -> Fraction:
        """Return the load, on the m scale, of so many parts of D_T on so many cables; 0 without cables."""
        return Fraction(4 * self.site.network.n_nodes * crossed, self.crossing.whole) / cables if cables else Fraction(0)

    def around(self, slots: int, cables: Fraction | float) -> Cut:
        """Return the cut around some slots."""
        return Cut(max(0, self.P - (self.S - slots)), min(slots, self.P), cables)

    def divided(self, slots: Ints, cables: Sequence[Fraction] | Floats) -> list[Cut]:
        """Return the cuts around parts that together hold all slots; one for each number of slots and cables."""
        different = set(zip(slots.tolist(), cables))
        return [Cut(-(-self.P * s // self.S), min(s, self.P), c) for s, c in sorted(different) if s]

    def moved(self, slots: Ints, cables: Floats, step: int) -> Iterator[list[Cut]]:
        """Yield the cuts of a run that grows, given slots and cables of each run, and the most slots of a vertex."""
        for eighth in range(1, EIGHTHS):
            middle = self.P * eighth
            low, high = -(-(middle - EIGHTHS // 2 * step) // EIGHTHS), (middle + EIGHTHS // 2 * step) // EIGHTHS
            if low <= 0 or high >= self.P:  # such a run may be empty or whole
                continue
            cuts = [Cut(max(low, self.P - (self.S - s)), min(high, s), c) for s, c in zip(slots.tolist(), cables.tolist())]
            yield [cut for cut in cuts if cut.low <= cut.high]

    def load(self, cuts: Sequence[Cut]) -> Fraction:
        """Return the least load, on the m scale, that all exchanges together put on the cables of one of the cuts."""
        return min((self.length(self.window(low, high), cables) for low, high, cables in widest(cuts)), default=Fraction(0))

    def about(self, cuts: Iterable[Cut]) -> float:
        """Return the least load up to a factor that all cuts share and a relative error below `ABOUT`, much faster."""
        return min((self.window(low, high) / float(cables) if cables else 0.0 for low, high, cables in cuts), default=0.0)

    @cached_property
    def least_around(self) -> Ints:
        """Least traffic across a cut around 0, 1, ... S slots."""
        cuts = (self.around(slots, 0) for slots in range(self.S + 1))
        return np.array([self.window(cut.low, cut.high) for cut in cuts])


def widest(cuts: Sequence[Cut]) -> list[Cut]:
    """Return one cut, that with most cables, for each number of tasks inside."""
    widest_cuts: dict[tuple[int, int], Cut] = {}
    for cut in cuts:
        key = cut.low, cut.high
        if key not in widest_cuts or widest_cuts[key].cables < cut.cables:
            widest_cuts[key] = cut
    return [Cut(low, high, Fraction(cables).limit_denominator(FINEST)) for low, high, cables in widest_cuts.values()]


def cuts_of_graph(graph: Any, room: Room) -> Iterator[tuple[list[Cut], str]]:
    """Yield cuts of any graph, with an argument."""
    T, arcs = room.site.tasks_per_node, graph.arcs()
    V = arcs.n_vertices
    slots = np.bincount(room.site.allocation.nodes, minlength=V) * T
    yield room.divided(slots, _cables_of_parts(arcs, np.arange(V))), "a host with its share of the tasks"
    if V > MOST_VERTICES:
        return
    for order in orders_of(graph):
        before = np.concatenate([[0], np.cumsum(slots[order])])
        cables = cables_of_runs(graph, order)
        inside = np.maximum(before[None, :] - before[:, None], 0)
        loads = np.divide(room.least_around[inside], cables, out=np.zeros(cables.shape), where=cables > 0)
        low, high = np.unravel_index(int(loads.argmax()), loads.shape)
        yield [room.around(int(inside[low, high]), float(cables[low, high]))], "a cut"
        for cuts in room.moved(before[1:-1], cables[0, 1:-1], T):
            yield cuts, "a cut that moves through the graph"
        for parts in range(2, min(MOST_PARTS, int(np.count_nonzero(slots)))):
            number = np.empty(V, dtype=np.int64)
            number[order] = np.minimum(before[1:] * parts // (room.S + 1), parts - 1)
            yield (room.divided(np.bincount(number, slots, parts).astype(np.int64), _cables_of_parts(arcs, number)),
                   f"one of {parts} parts with its share of the tasks")


def _cables_of_parts(arcs: Arcs, number: Ints) -> Floats:
    """Return the cables that leave, or that enter, each part, whichever are more: float array."""
    out = number[arcs.source] != number[arcs.target]
    parts = int(number.max()) + 1
    return np.maximum(*(np.bincount(number[end[out]], arcs.capacity[out], parts) for end in (arcs.source, arcs.target)))


# The least traffic of rows and columns across a cut: the less the rows send, the more the columns must, and vice versa.
#
# Let S be the tasks on one side of a cut, a share t of all, and s = min(t, 1-t). Let x_q be the share of row q in S, and
# y_p the share of column p. In each direction the rows send alpha = E[x (1-x)] of D_T across the cut, and the columns beta
# = E[y (1-y)].
#
# *Closed form.* (u - alpha) (u - beta) <= u^3 with u = 1-s, hence beta >= u (s u - alpha) / (u - alpha). Both sides are
# equal if the larger side of the cut is a rectangle. Proof in docs/theory.md.
#
# *Exact.* Push the tasks of S in every row to the left and sort the rows. This keeps x and does not lessen E[y^2]. So the
# best sets are Young diagrams: rows l_1 >= l_2 >= ... with sum y^2 = sum (2q-1) l_q. A dynamic program over row lengths in
# falling order finds, for every sum of l^2, the largest sum of y^2.

MOST_LENGTHS = 1 << 20
MOST_STEPS = 600_000_000  # additions of the dynamic program as `steps` counts them; at most a tenth of a second


def least_other(sent: Any, share: Any) -> Any:
    """Return the least traffic of the columns across a cut if the rows send `sent` or less, or vice versa, in parts of D_T.

    Parameters
    ----------
    sent : number, Fraction or array
    share : number, Fraction or array
        Share of the tasks on the smaller side of the cut.

    Examples
    --------
    >>> least_other(Fraction(1, 8), Fraction(1, 2))          # half the rows in two halves: 1/8 of 1/4
    Fraction(1, 6)
    >>> least_other(Fraction(1, 4), Fraction(1, 2)), least_other(Fraction(0), Fraction(1, 3))
    (Fraction(0, 1), Fraction(2, 9))
    """
    rest = 1 - share
    if isinstance(sent, np.ndarray) or isinstance(share, np.ndarray):
        return rest * np.maximum(share * rest - sent, 0.0) / np.maximum(rest - sent, 1e-300)
    return rest * max(share * rest - sent, 0 * sent) / (rest - sent) if sent < share * rest else 0 * sent


def least_other_of_few(sent: Floats, R: int, C: int, k: int) -> Floats:
    """Return the least traffic of the columns if the rows send `sent` or less, for a few tasks.

    This is sharper than `least_other` if k is small beside R and C, when a part of a task in a column would be best.

    Parameters
    ----------
    sent : float array
        In parts of D_T.
    R, C : int
        Extents of the grid.
    k : int
        Tasks on one side of the cut.

    Returns
    -------
    float array
        Infinite if the rows of k tasks send more in any case.

    Notes
    -----
    Let a task have m mates of its row and n of its column inside the cut, itself included. The rows send the sum of
    R - m over the k tasks, so they fix the mean of m, and some row has a tasks, at least the mean. A column has at most
    one of these, so n is at most k - a + 1 for each of the other k - a tasks. For the a tasks the sum of n is at most k.
    In the same way the mean of n bounds the sum of m.
    """
    within = np.maximum(k, R * (k - R * C * sent))                              # the sum of m
    others = np.maximum(0.0, k - within / k)
    beside = (np.sqrt(1 + 4 * (within - k)) - 1) / 2                            # k minus the largest mean of n
    most = np.minimum(k + others * (others + 1), k * (k - beside))              # the sum of n
    return np.where(within > k * k * (1 + 1e-9), np.inf, np.maximum(0.0, k * C - most) / (R * C * C))


def least_total(capacity: Any, share: Any, rows: Any, columns: Any) -> Any:
    """Return the least sum of the two lengths, given that they are at least `rows` and `columns`.

    The least length of an exchange is a concave function of the length of the other. So the least sum is at an end.

    Parameters
    ----------
    capacity : number, Fraction or array
        The part of D_T that a length of 1 carries across the cut.
    share : number, Fraction or array
        Share of the tasks on the smaller side of the cut.
    rows, columns : number, Fraction or array
        Floors of the two lengths.

    Examples
    --------
    >>> least_total(Fraction(1, 32), Fraction(1, 2), Fraction(2), Fraction(2))     # a cut of 8:mesh
    Fraction(62, 7)
    """
    ends = [(one, other, least_other(one * capacity, share) / _positive(capacity))
            for one, other in ((rows, columns), (columns, rows))]
    if isinstance(capacity, np.ndarray) or isinstance(share, np.ndarray):
        return np.minimum(*(one + np.maximum(other, least) for one, other, least in ends))
    return min(one + max(other, least) for one, other, least in ends)


def least_whole(capacity: float, share: float, floors: tuple[float, float], units: tuple[float, float]) -> float:
    """Return the least sum as `least_total`, with lengths and floors that are multiples of the length of one message.

    Parameters
    ----------
    capacity, share : float
        As for `least_total`.
    floors : (float, float)
        Floors of the row length and the column length.
    units : (float, float)
        Length of a message of each exchange.

    Examples
    --------
    >>> least_whole(1 / 32, 0.5, (2.0, 2.0), (0.5, 0.5))
    9.0
    """
    (row, column), (step, across) = floors, units
    count = min(MOST_LENGTHS, max(0, int((share * (1 - share) / capacity - row) / step)) + 2)
    if count == MOST_LENGTHS:
        return float(least_total(np.array(capacity), np.array(share), row, column))
    lengths = row + step * np.arange(count)
    least = np.maximum(column, least_other(lengths * capacity, share) / capacity)
    return float((lengths + across * np.ceil(least / across - 1e-9)).min())


def _positive(capacity: Floats | Fraction) -> Floats | Fraction:
    return np.where(capacity > 0, capacity, np.inf) if isinstance(capacity, np.ndarray) else capacity


def steps(R: int, C: int, k: int) -> int:
    """Return the number of additions of `exact_frontier` if it kept every sum of l^2, as a measure of its time."""
    k = min(k, R * C - k)
    return R * C * k * (k * min(R, C) // 2)


@lru_cache(maxsize=64)
def exact_frontier(R: int, C: int, k: int) -> Floats | None:
    """Return the non-dominated traffic of rows and columns across a cut.

    Parameters
    ----------
    R, C : int
        Extents of the grid.
    k : int
        Tasks on one side of the cut.

    Returns
    -------
    float array, shape (points, 2), or None
        Parts of D_T for even blocks, the rows' part rising. None if the computation would take too long.

    Examples
    --------
    >>> exact_frontier(2, 2, 2).tolist()        # a whole column, a whole row
    [[0.0, 0.25], [0.25, 0.0]]
    """
    if R > C:
        turned = exact_frontier(C, R, k)
        return None if turned is None else turned[::-1, ::-1]
    k, P = min(k, R * C - k), R * C
    if k == 0:  # all tasks on one side
        return np.zeros((1, 2))
    if steps(R, C, k) > MOST_STEPS:
        return None
    squares = (_of_few_lengths if R <= 3 else _of_lengths)(R, C, k)
    lengths = np.flatnonzero(squares > 0)
    rows = (k * R - (2 * lengths + k)) / (P * R)
    columns = (k * C - squares[lengths]) / (P * C)
    order = np.argsort(rows)
    rows, columns = rows[order], columns[order]
    kept = columns < np.concatenate([[np.inf], np.minimum.accumulate(columns)[:-1]])
    return np.stack([rows[kept], columns[kept]], axis=1)


def _of_few_lengths(R: int, C: int, k: int) -> Ints:
    """Return `_of_lengths` for R <= 3 from all numbers of rows of length 3 and 2; the others have length 1."""
    threes, twos = np.arange(k // 3 + 1 if R == 3 else 1)[:, None], np.arange(k // 2 + 1 if R > 1 else 1)
    every = k - 2 * threes - twos                                                   # rows
    possible = (every >= threes + twos) & (every <= C)
    squares = np.zeros(k * (R - 1) // 2 + 1, dtype=np.int64)
    np.maximum.at(squares, (3 * threes + twos)[possible], (threes**2 + (threes + twos)**2 + every**2)[possible])
    return squares


def _of_lengths(R: int, C: int, k: int) -> Ints:
    """Return the largest sum of y^2 of k cells in at most C rows of at most R, for each (sum of l^2 - k) / 2; else 0."""
    kind = np.dtype(np.uint16 if 2 * k * C < (1 << 16) - 1 else np.int32)
    start = k * C + 1  # a value of 0 is unreached, also with additions; memory of zeros is taken when it is written
    middle = R // 2    # with the rows and the cells, the sum of the excesses gives that of l^2, but takes far fewer values
    excess = [(length - middle) * (length - middle - 1) // 2 for length in range(R + 1)]
    best = np.zeros((C + 1, k + 1, C * max(excess[1], excess[R]) + 1), dtype=kind)  # rows so far, cells, sum of excesses
    best[0, 0, 0] = start
    room = np.empty(best[0].size, dtype=kind)
    for length in range(R, 0, -1):
        step = excess[length]
        for q in range(min(C, k // length)):
            low, high = max(q * length, k - (C - q) * length), min(k - length, q * R)  # others do not lead to k cells
            widest = min(q * max(step, excess[R]), high * excess[R] // R + q * step * (length < middle))
            before = best[q, low:high + 1, :widest + 1]
            after = best[q + 1, low + length:high + length + 1, step:step + before.shape[1]]
            sums = np.add(before, kind.type((2 * q + 1) * length), out=room[:before.size].reshape(before.shape))
            np.maximum(after, sums, out=after)
    squares = np.zeros(k * (R - 1) // 2 + 1, dtype=kind)                             # for each (sum of l^2 - cells) / 2
    for q, reached in enumerate(best[:, k]):
        better = np.flatnonzero(reached > start)
        place = better + middle * k - q * middle * (middle + 1) // 2
        squares[place] = np.maximum(squares[place], reached[better])
    return np.maximum(squares.astype(np.int64) - start, 0)


LONG_STEPS = 200_000_000  # `steps` of the exact frontier of a cut around a unit
POINTS = 4001             # of a frontier by its closed form


def lengths_across(sizes: Sequence[int], k: int, capacity: Fraction, N: int, most: int = LONG_STEPS) -> Floats:
    """Return lengths of rows and the least lengths of columns across a cut, rows rising: float array, shape (points, 2).

    Parameters
    ----------
    sizes : (int, int)
        Extents of the grid, the smaller first.
    k : int
        Tasks on one side.
    capacity : Fraction
        Cables of the cut.
    N : int
        Nodes of the network.
    most : int
        `steps` of an exact frontier.
    """
    R, C = sizes
    P = R * C
    frontier = exact_frontier(R, C, k) if steps(R, C, k) < most else None
    if frontier is None:  # steps below the closed form: between two points the columns have the least of both
        share = min(k, P - k) / P
        sent = np.linspace(0, share * (1 - share), POINTS)
        least = np.maximum(least_other(sent, np.full(POINTS, share)), least_other_of_few(sent, R, C, min(k, P - k)))
        frontier = np.stack([np.concatenate([[0.0], sent[:-1]]), least], axis=1)
    return frontier * (4 * N / float(capacity))


def least_columns(curve: Floats, rows: Floats) -> Floats:
    """Return the least length of the columns at each length of the rows."""
    return np.minimum.accumulate(curve[:, 1])[np.searchsorted(curve[:, 0], rows, "right") - 1]


def exact_total(frontier: Floats, capacity: float, rows: float, columns: float,
                units: tuple[float, float] | None = None) -> float:
    """Return the least sum as `least_total`, over the points of an exact frontier; lengths are multiples of any `units`."""
    lengths = np.maximum(frontier / capacity, (rows, columns))
    if units is not None:
        lengths = np.ceil(lengths / units - 1e-9) * units
    return float(lengths.sum(axis=1).min())


def rounded_down(value: float) -> Fraction:
    """Return a fraction that is not above a number with rounding errors.

    >>> rounded_down(4.25)
    Fraction(17, 4)
    """
    near = Fraction(value).limit_denominator(10_000)
    if abs(float(near) - value) < 1e-12 * max(1.0, value):
        return near
    return Fraction(int((value - 1e-9) * 1_000_000), 1_000_000)


def across(carried: Fraction, share: Fraction, k: int | None, sizes: tuple[int, int], rows: Fraction, columns: Fraction,
           units: tuple[Fraction, Fraction] | None = None) -> Fraction:
    """Return the least sum of both lengths across a cut, with `k` tasks on one side, or at least a share of the tasks.

    Parameters
    ----------
    carried : Fraction
        The part of D_T that a length of 1 carries across the cut.
    share : Fraction
        Share of the tasks on the smaller side of the cut.
    k : int or None
        Tasks on one side, if known.
    sizes : (int, int)
        Extents of the grid.
    rows, columns : Fraction
        Floors of the two lengths.
    units : (Fraction, Fraction) or None
        Numbers of which the two lengths are multiples, if known.
    """
    value = least_total(carried, share, rows, columns)
    if units is not None:
        value = max(value, rounded_down(least_whole(float(carried), float(share), (float(rows), float(columns)),
                                                    (float(units[0]), float(units[1])))))
    exact = None if k is None else exact_frontier(*sizes, k)
    if exact is not None:
        whole = None if units is None else (float(units[0]), float(units[1]))
        total = exact_total(exact, float(carried), float(rows), float(columns), whole)
        value = max(value, rounded_down(total))
    return value


def across_cuts(N: int, cuts: Iterable[tuple[list[Cut], str]], sizes: tuple[int, int], rows: Fraction = Fraction(0),
                columns: Fraction = Fraction(0), most: int = MOST_STEPS) -> Iterator[tuple[Fraction, str]]:
    """Yield the bounds across cuts, with arguments: of each list of cuts, across the best of them for a placement.

    Parameters
    ----------
    N : int
        Nodes of the network.
    cuts : iterable of (list of Cut, str)
        Lists of cuts of which one has tasks between its limits inside, with an argument.
    sizes : (int, int)
        Extents of the grid.
    rows, columns : Fraction
        Floors of the two lengths.
    most : int
        `steps` of an exact frontier.
    """
    P = sizes[0] * sizes[1]
    for chosen, argument in cuts:
        if not chosen or not all(cut.cables for cut in chosen):
            continue
        bounds = []
        for low, high, cables in widest(chosen):
            k = low if len(chosen) == 1 and low == high and steps(sizes[0], sizes[1], low) <= most else None
            bounds.append(across(Fraction(cables) / (4 * N), Fraction(min(low, P - high), P), k, sizes, rows, columns))
        yield min(bounds), f"rows and columns across {argument}"
