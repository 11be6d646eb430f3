"""A lower bound for every placement of a grid on the usable nodes, under any routing, without a search.

Everything is on the scale of `Prediction.cost`: the sum over the exchanges of m = 4 load N / D_T, with slower links
weighted. There are several arguments; the best one is the bound.

All blocks are taken as even, or, with a transform, as they are (`pencilmap.model.crossing`).

Cuts. Let k of P tasks sit on one side of a cut. A group with x of its R tasks there sends x (R-x) messages of D_T / (P R)
across. All exchanges together send at least L(k) D_T / P^2, where the decomposition knows L(k)
(`Decomposition.least_crossing`; at least k (P-k)). The links cut carry that, so the sum of the worst lengths is at least
4 N L(k) / (P^2 capacity). Where k is not known, the least over all k that can be.

Moving cuts. Let a plane move through a dimension, one plane of nodes after the other: the number of tasks behind it rises
from 0 to P in steps of at most the slots of a plane, so at some position it is within half a plane of P/2. When the machine
is cut into blocks of equal sides, some block has at least its share of the tasks (a single node is the smallest block: the
injection of a node).

Distances. A message over h hops loads h links, so bytes x hops divided by the capacity of all links bounds the worst. A
group of R tasks has for each of them at least the distances to the R-1 nearest slots; and all exchanges together bring a
block from every task to every other, so together at least all distances between tasks.

Source: the cut argument is that of Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15, with all exchanges together.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product as cartesian
from math import prod

import numpy as np

from pencilmap.model.allocation import Site
from pencilmap.model.bounds import machine_bound
from pencilmap.model.crossing import Crossing
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.network import Network
from pencilmap.model.torus import Torus
from pencilmap.model.transform import Transform

MOST_BOXES = 1 << 21     # beyond, only planes cut
MOST_NODES = 2048        # beyond, distances between all nodes are not summed
MOST_BLOCK_WORK = 1 << 24


@dataclass(frozen=True, order=True)
class LowerBound:
    """A bound on the cost of every placement and the argument that gives it."""

    value: Fraction  #: sum over the exchanges of the worst weighted length
    argument: str


def lower_bound(site: Site, grid: ProcessGrid, transform: Transform | None = None) -> LowerBound:
    """The best of the bounds for any placement of `grid` on the usable nodes of `site`.

    The grid has no more tasks than the site has slots. A full machine is bounded by its all-to-all through the worst
    dimension (`machine_bound`), at negligible cost for any size. With a transform the bound holds for its blocks, which
    need not be even.

    >>> bound = lower_bound(Site(Torus((8, 8, 8))), ProcessGrid(8, 64))
    >>> print(bound.value, bound.argument)
    4 all-to-all of the full machine across x
    >>> lower_bound(Site(Torus((4, 4)), idle=True), ProcessGrid(3, 4))
    LowerBound(value=Fraction(52, 27), argument='block of 1x2 with its share of the tasks')
    """
    if site.allocation.is_complete and grid.n_tasks == site.n_slots:
        crossing = Crossing(grid, transform)
        return _full_machine(site.network) if crossing.transform is None else _full_machine_uneven(site, crossing)
    if not isinstance(site.network, Torus):
        return LowerBound(Fraction(0), "none: a graph with idle slots")
    part = _Part(site, grid, transform)
    return max((LowerBound(value, argument) for bounds in (_fixed_cuts, _moving_planes, _blocks, _distances)
                for value, argument in bounds(part)), key=lambda bound: bound.value)


def _full_machine(torus):
    lengths = [length * weight for length, weight in zip(machine_bound(torus), link_weights(torus))]
    i = lengths.index(max(lengths))
    return LowerBound(lengths[i], f"all-to-all of the full machine across {torus.link_classes[i]}")


def _full_machine_uneven(site, crossing):
    """The best cut with half the planes of a dimension on one side; on a graph the smallest messages count."""
    if not isinstance(site.network, Torus):
        even = _full_machine(site.network)
        return LowerBound(even.value * crossing.smallest, f"{even.argument}, with the smallest messages")
    torus, found = site.network, []
    for i, weight in enumerate(link_weights(torus)):
        k = torus.shape[i] // 2 * torus.lines(i) * site.tasks_per_node
        length = 4 * torus.n_nodes * crossing.exactly(k) / (torus.g(i) * torus.lines(i) * torus.cables[i]) * weight
        found.append(LowerBound(length, f"all-to-all of the full machine across {torus.axes[i]}, with these blocks"))
    return max(found, key=lambda bound: bound.value)


def link_weights(network: Network) -> list[Fraction]:
    """Weight of a length in each class of links: bandwidth of the fastest class over that of this one."""
    if network.bandwidth is None:
        return [Fraction(1)] * len(network.link_classes)
    return [Fraction(max(network.bandwidth)) / Fraction(rate) for rate in network.bandwidth]


class _Part:
    """Figures that all arguments use.

    capacity : list of Fraction; cables of one link of each dimension over its weight
    slots : int array, shape `torus.shape` (first dimension first); slots that may be used on every node
    crossing : int array, shape (P + 1,); L(k), parts of `whole` of D_T
    smallest : Fraction; no message is smaller than this part of the mean of its exchange
    """

    def __init__(self, site, grid, transform):
        self.torus, self.grid, self.T = site.network, grid, site.tasks_per_node
        self.P, self.S = grid.n_tasks, site.n_slots
        self.nodes = site.allocation.nodes
        self.capacity = [Fraction(cables) / weight for cables, weight in zip(self.torus.cables, link_weights(self.torus))]
        self.slots = (site.allocation.is_usable() * self.T).reshape(self.torus.shape, order="F")
        crossing = Crossing(grid, transform)
        self.crossing, self.whole, self.smallest = crossing.least(), crossing.whole, crossing.smallest
        self.window = _Minimum(self.crossing)

    def length(self, crossing, capacity):
        """Lower bound on the cost from `crossing` parts of `whole` through `capacity`."""
        return Fraction(4 * self.torus.n_nodes * int(crossing), self.whole) / capacity if capacity else Fraction(0)

    def hop_length(self, hops, capacity):
        """Lower bound on the cost from `hops` of mean messages of D_T / P^2 through `capacity`."""
        return Fraction(4 * self.torus.n_nodes * hops, self.P**2) * self.smallest / capacity if capacity else Fraction(0)


class _Minimum:
    """Minima over windows of an array, from windows of doubled width."""

    def __init__(self, values):
        self.levels = [np.asarray(values)]
        while 2 ** len(self.levels) <= len(values):
            last, half = self.levels[-1], 2 ** (len(self.levels) - 1)
            self.levels.append(np.minimum(last[:-half], last[half:]))

    def __call__(self, low, high):
        """The least of values[low..high], both ends included; low <= high."""
        level = int(high - low + 1).bit_length() - 1
        row = self.levels[level]
        return min(row[low], row[high + 1 - 2**level])


def _fixed_cuts(part):
    """Every box of the torus against the rest, with every k that the slots inside and outside allow."""
    held = [part.window(max(0, part.P - (part.S - inside)), min(inside, part.P)) for inside in range(part.S + 1)]
    held = np.array(held)
    for which, arcs in _families(part.torus):
        inside = part.slots
        for i, (member, _, _) in enumerate(arcs):
            inside = np.moveaxis(np.tensordot(member, inside, axes=(1, i)), 0, i)
        capacity = _capacities(part, arcs)
        score = np.divide(held[inside], capacity, out=np.zeros(inside.shape), where=capacity > 0)
        best = np.unravel_index(int(score.argmax()), score.shape)
        exact = sum(part.capacity[i] * int(arcs[i][2][best[i]]) * prod(
            int(arcs[j][1][best[j]]) for j in range(len(arcs)) if j != i) for i in range(len(arcs)))
        yield part.length(held[inside[best]], exact), which


def _families(torus):
    """Sets of boxes: all where there are not too many, otherwise those that two planes cut off in each dimension."""
    every = [_arcs(torus, i) for i in range(torus.n_dimensions)]
    if prod(len(lengths) for _, lengths, _ in every) <= MOST_BOXES:
        yield "box against the rest of the machine", every
        return
    whole = [(member[-1:], lengths[-1:], sides[-1:]) for member, lengths, sides in every]
    for i, axis in enumerate(torus.axes):
        yield f"planes across {axis}", [*whole[:i], every[i], *whole[i + 1:]]


def _arcs(torus, i):
    """Arcs of dimension `i`, the whole dimension last: their positions (0/1), lengths, and ends at which links leave."""
    n = torus.shape[i]
    if torus.is_ring(i):
        arcs = [(start, length) for length in range(1, n) for start in range(n)]
    else:
        arcs = [(start, length) for length in range(1, n) for start in range(n - length + 1)]
    start, length = np.array([*arcs, (0, n)]).T
    member = ((np.arange(n) - start[:, None]) % n < length[:, None]).astype(np.int64)
    sides = np.full(len(start), 2) if torus.is_ring(i) else (start > 0).astype(int) + (start + length < n)
    sides[-1] = 0
    return member, length, sides


def _capacities(part, arcs):
    """Capacity of the links that leave each box: float array, one axis for each dimension."""
    total = 0.0
    for i in range(len(arcs)):
        term = float(part.capacity[i])
        for j, (_, length, sides) in enumerate(arcs):
            along = [-1 if axis == j else 1 for axis in range(len(arcs))]
            term = term * (sides if j == i else length).reshape(along)
        total = total + term
    return total


def _moving_planes(part):
    """A plane that moves through a dimension has nearly half of the tasks behind it at some position."""
    torus = part.torus
    for i, axis in enumerate(torus.axes):
        largest = min(part.P, int(part.slots.sum(axis=tuple(j for j in range(torus.n_dimensions) if j != i)).max()))
        low, high = -(-(part.P - largest) // 2), (part.P + largest) // 2
        if torus.shape[i] > 1:
            yield (part.length(part.window(low, high), torus.g(i) * torus.lines(i) * part.capacity[i]),
                   f"{axis} plane that moves through the machine")


def _blocks(part):
    """In every division into equal blocks, some block has at least its share of the tasks."""
    torus = part.torus
    sides = [sorted({b for b in (1, 2, 4, 8, 16, 32, n // 2, n) if 1 <= b <= n}) for n in torus.shape]
    if prod(map(len, sides)) * len(part.nodes) > MOST_BLOCK_WORK:
        return
    where = torus.coordinates(part.nodes)
    for block in cartesian(*sides):
        number = np.ravel_multi_index((where // block).T, tuple(-(-n // b) for n, b in zip(torus.shape, block)))
        slots = np.bincount(number) * part.T
        share, most = -(-part.P // np.count_nonzero(slots)), min(part.P, int(slots.max()))
        capacity = sum(part.capacity[i] * _leaving(torus, i, b) * prod(block) // b for i, b in enumerate(block))
        name = "a single node" if max(block) == 1 else f"block of {'x'.join(map(str, block))}"
        yield part.length(part.window(share, most), capacity), f"{name} with its share of the tasks"


def _leaving(torus, i, side):
    """Largest number of ends at which links leave a block of that side."""
    if side == torus.shape[i]:
        return 0
    return 2 if torus.is_ring(i) or torus.shape[i] > 2 * side else 1


def _distances(part):
    """Bytes times hops divided by the capacity of all links."""
    torus = part.torus
    if len(part.nodes) > MOST_NODES:
        return
    capacity = sum(2 * torus.lines(i) * torus.cable_positions(i) * part.capacity[i] for i in range(torus.n_dimensions))
    hops = np.sort(_hops(torus, part.nodes), axis=1)
    sizes, P = [part.grid.extent(stage.letters) for stage in part.grid.decomposition.exchanges], part.P
    yield part.hop_length(_nearest(hops, P, part.T, P), capacity), "distances between all tasks over all links"
    nearest = sum(P // size * _nearest(hops, size, part.T, P) for size in sizes)
    yield part.hop_length(nearest, capacity), "distances to the nearest tasks over all links"


def _hops(torus, nodes):
    """Hops between every two usable nodes: int array, shape (n, n)."""
    where = torus.coordinates(nodes)
    total = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
    for i, n in enumerate(torus.shape):
        apart = np.abs(where[:, None, i] - where[None, :, i])
        total += np.minimum(apart, n - apart) if torus.is_ring(i) else apart
    return total


def _nearest(hops, count, T, P):
    """Hops from each of the P best placed tasks to the `count` nearest slots, its own among them, summed."""
    nodes, rest = divmod(count, T)
    near = hops[:, :nodes].sum(axis=1) * T + (hops[:, nodes] * rest if rest else 0)
    return int(np.sort(np.repeat(near, T))[:P].sum())
