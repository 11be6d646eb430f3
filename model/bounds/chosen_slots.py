"""Cuts of a network with holes or idle slots: how many tasks a placement must put on one side.

A bound is a list of cuts, of which at least one has tasks between its limits inside; the least load of these cuts holds.
P tasks sit on some of S slots.

One cut. With s slots inside, at least P - (S - s) tasks are inside, and at most s.

A division. Parts that hold s_1, s_2, ... slots together hold all P tasks, so some part i has at least P s_i / S tasks.

A cut that moves. A run of vertices, from the first in some order, grows by one vertex at a time, so the tasks inside grow
from 0 to P by at most the slots of a host at a time. So, for every number of tasks, some run has nearly this number inside.

The runs of a graph are those of `pencilmap.model.bounds.graph_cuts`; its divisions are into hosts, and into runs of
neighbours.
Cost: O(V^2) for each order of V vertices; above `MOST_VERTICES` only hosts count.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.bounds.cut_traffic import Crossing
from pencilmap.model.bounds.graph_cuts import cables_of_runs, orders_of
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform

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
        self.site, self.P, self.S, self._crossing = site, grid.n_tasks, site.n_slots, Crossing(grid, transform)

    @cached_property
    def _least(self) -> Minimum:
        return Minimum(self._crossing.least())

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
            found = [Cut(max(low, self.P - (self.S - s)), min(high, s), c) for s, c in zip(slots.tolist(), cables.tolist())]
            yield [cut for cut in found if cut.low <= cut.high]

    def load(self, cuts: Sequence[Cut]) -> Fraction:
        """Return the least load, on the m scale, that all exchanges together put on the cables of one of the cuts."""
        scale = Fraction(4 * self.site.network.n_nodes, self._crossing.whole)
        loads = [scale * self._least(low, high) / Fraction(cables) if cables else Fraction(0)
                 for low, high, cables in widest(cuts)]
        return min(loads, default=Fraction(0))

    def about(self, cuts: Iterable[Cut]) -> float:
        """Return the least load up to a factor that all cuts share and a relative error below `ABOUT`, much faster."""
        return min((self._least(low, high) / float(cables) if cables else 0.0 for low, high, cables in cuts), default=0.0)

    @cached_property
    def least_around(self) -> Ints:
        """Least traffic across a cut around 0, 1, ... S slots."""
        cuts = (self.around(slots, 0) for slots in range(self.S + 1))
        return np.array([self._least(cut.low, cut.high) for cut in cuts])


def widest(cuts: Sequence[Cut]) -> list[Cut]:
    """Return one cut, that with most cables, for each number of tasks inside."""
    found: dict[tuple[int, int], Cut] = {}
    for cut in cuts:
        key = cut.low, cut.high
        if key not in found or found[key].cables < cut.cables:
            found[key] = cut
    return [Cut(low, high, Fraction(cables).limit_denominator(FINEST)) for low, high, cables in found.values()]


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


def _cables_of_parts(arcs, number):
    """Return the cables that leave, or that enter, each part, whichever are more: float array."""
    out = number[arcs.source] != number[arcs.target]
    parts = int(number.max()) + 1
    return np.maximum(*(np.bincount(number[end[out]], arcs.capacity[out], parts) for end in (arcs.source, arcs.target)))
