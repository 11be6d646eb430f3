"""Lower bounds for every placement of a grid on the usable nodes, without a search.

All bounds are on the scale of `Prediction.cost`: the sum over the exchanges of m = 4 load N / D_T, with slower links
weighted. There are several arguments. The bound is the best of these.

`together_bound` bounds the joint load of both exchanges on the busiest link, so it holds under every schedule and routing.
Blocks are even, or, with a transform, the real blocks (`pencilmap.model.bounds.cut_traffic`). Its arguments:

Cuts. Let k of P tasks sit on one side of a cut. A group with x of its R tasks there sends x (R-x) messages of D_T / (P R)
across. All exchanges together send at least L(k) D_T / P^2, if the decomposition knows L(k)
(`Decomposition.least_crossing`; at least k (P-k)). The cut links carry this traffic, so the sum of the worst lengths is at
least 4 N L(k) / (P^2 capacity). If k is unknown, the bound is the least over all possible k.

Moving cuts. Let a cutting plane move through a dimension, one plane of nodes at a time. The number of tasks behind the
cutting plane rises from 0 to P in steps of at most the slots of a plane of nodes. So at some position this number is within
half a plane of P/2.

Blocks. Cut the machine into blocks of equal sides. Some block has at least its share of the tasks. A single node is the
smallest block; this is the injection of a node.

Distances. A message over h hops loads h links. So bytes x hops, divided by the capacity of all links, bounds the worst
load. In a group of R tasks, each task has at least the distances to the R-1 nearest slots. All exchanges together bring a
block from every task to every other, so together they have at least all distances between tasks.

`lower_bound` bounds the sum of the two worst lengths, for exchanges in sequence. Rows that send little across a cut
make the columns send more (`pencilmap.model.bounds.rows_and_columns`). It uses this across each cut and, on full tori, in
the mean over all translations (`pencilmap.model.bounds.translations`). Neither length is below its floor
(`pencilmap.model.bounds.one_exchange`). These arguments are for even blocks. Uneven messages are no smaller than r times
their mean, so r times the bound holds for uneven blocks.

Source: the cut argument of Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15, with all exchanges together; the
rest is ours, with proofs in docs/theory.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, singledispatch
from itertools import product as cartesian
from math import ceil, gcd, prod

import numpy as np

from pencilmap.model.bounds.any_routing import machine_bound
from pencilmap.model.bounds.chosen_slots import Cut, Minimum, Room, cuts_of_graph, widest
from pencilmap.model.bounds.cut_traffic import Crossing
from pencilmap.model.bounds.graph_cuts import all_to_all_cuts, cables_of
from pencilmap.model.bounds.level_cuts import divisions, in_turn_on_levels, together_on_levels
from pencilmap.model.bounds.one_exchange import floor_of, hops_between, nearest
from pencilmap.model.bounds.rows_and_columns import (
    MOST_STEPS,
    exact_frontier,
    exact_total,
    least_total,
    least_whole,
    rounded_down,
    steps,
)
from pencilmap.model.bounds.translations import translation_bound
from pencilmap.model.bounds.twisted_cuts import all_cables, plane_cuts
from pencilmap.model.network.network import host_hops, link_weights
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.twisted_torus import TwistedTorus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.torus_site import of_torus
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.objective import Objective, in_sequence

MOST_BOXES = 1 << 21     # above this number only planes cut
MOST_NODES = 2048        # above this number distances between all nodes are not summed
MOST_BLOCK_WORK = 1 << 24
BRIEF_STEPS = 20_000_000  # of an exact frontier of a brief bound
TOLERANCE = Fraction(1, 1_000_000_000)  # covers rounding up of floats


@dataclass(frozen=True, order=True)
class LowerBound:
    """A bound on the cost of every placement, with its argument."""

    value: Fraction  #: sum over the exchanges of the worst weighted length
    argument: str


def lower_bound(site: Site, grid: ProcessGrid, transform: Transform | None = None, ordered: bool = False,
                split: bool = False, reached: Fraction | None = None, brief: bool = False) -> LowerBound:
    """Return the best bound on the sum over the exchanges of the worst length, for any placement on the usable nodes.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
        Has no more tasks than the site has slots.
    transform : Transform, optional
        The bound holds for the blocks of the transform, which need not be even.
    ordered : bool
        Whether messages take dimension order, in any order of the dimensions; otherwise the bound holds for any routing.
    split : bool
        Whether messages half round a ring then go both ways, half each.
    reached : Fraction, optional
        Cost of a placement. When a bound reaches this value, no further argument will be tried.
    brief : bool
        Whether to leave out the argument by linear programs and long frontiers on graphs, which take up to a second.

    Returns
    -------
    LowerBound

    Examples
    --------
    >>> bound = lower_bound(Site(Torus((4, 4, 4), (False,) * 3)), ProcessGrid(8, 8), ordered=True)
    >>> print(bound.value, bound.argument)
    5 rows and columns across the middle of x
    """
    site = of_torus(site)
    best, smallest = together_bound(site, grid, transform), Crossing(grid, transform).smallest
    arguments = _in_turn(site, grid, ordered, split, brief)
    while (reached is None or best.value < reached) and (found := next(arguments, None)):
        best = max(best, scaled(LowerBound(*found), smallest), key=lambda bound: bound.value)
    return best


def scaled(bound: LowerBound, smallest: Fraction) -> LowerBound:
    """Return a bound for even blocks as a bound for blocks whose smallest message is this part of the mean message."""
    return LowerBound(bound.value * smallest, bound.argument + (", with the smallest messages" if smallest < 1 else ""))


def together_bound(site: Site, grid: ProcessGrid, transform: Transform | None = None) -> LowerBound:
    """Return the best bound on the joint load of all exchanges on the busiest link, under any schedule and routing.

    For a full machine the bound is the all-to-all through the worst dimension (`machine_bound`), at negligible cost for any
    size.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    transform : Transform, optional
        None: even blocks.

    Returns
    -------
    LowerBound

    Examples
    --------
    >>> bound = together_bound(Site(Torus((8, 8, 8))), ProcessGrid(8, 64))
    >>> print(bound.value, bound.argument)
    4 all-to-all of the full machine across x
    >>> together_bound(Site(Torus((4, 4)), idle=True), ProcessGrid(3, 4))
    LowerBound(value=Fraction(52, 27), argument='block of 1x2 with its share of the tasks')
    """
    site = of_torus(site)
    return _together(site.network, site, grid, transform)


@singledispatch
def _together(network, site, grid, transform):
    if not site.allocation.is_complete or grid.n_tasks != site.n_slots:
        return _with_idle_slots(network, site, grid, transform)
    crossing = Crossing(grid, transform)
    return _full_machine(network) if crossing.transform is None else _full_machine_uneven(network, site, crossing)


@_together.register
def _together_on_levels(network: SwitchedNetwork, site, grid, transform):
    return LowerBound(*together_on_levels(site, grid, transform))


@singledispatch
def _with_idle_slots(graph, site, grid, transform):
    room, T, P, every = Room(site, grid, transform), site.tasks_per_node, grid.n_tasks, _every_cable(graph)
    found = [LowerBound(room.load(cuts), f"all-to-all across {argument}") for cuts, argument in cuts_of_graph(graph, room)]
    if len(site.allocation.nodes) <= MOST_NODES and every:
        hops, sizes = _hops(site), [grid.extent(stage.letters) for stage in grid.decomposition.exchanges]
        total = max(nearest(hops, P, T, P), sum(P // size * nearest(hops, size, T, P) for size in sizes))
        length = Fraction(4 * graph.n_nodes * total, P**2) * Crossing(grid, transform).smallest / every
        found.append(LowerBound(length, "distances to the nearest tasks over all links"))
    return max(found, key=lambda bound: bound.value)


@_with_idle_slots.register
def _with_idle_slots_of_torus(torus: Torus, site, grid, transform):
    part = _Part(site, grid, transform)
    return max((LowerBound(value, argument) for bounds in (_fixed_cuts, _moving_planes, _blocks, _distances)
                for value, argument in bounds(part)), key=lambda bound: bound.value)


def objective_bound(site: Site, grid: ProcessGrid, wanted: Objective) -> Fraction:
    """Return a bound on an objective of a search, for even blocks: a search that reaches the bound is done."""
    in_turn = in_sequence(len(grid.decomposition.exchanges))
    alone = lower_bound(site, grid).value if wanted == in_turn else Fraction(0)
    return max(alone, wanted.moved * together_bound(site, grid).value)


def _in_turn(site, grid, ordered, split, brief):
    """Yield bounds on the sum of several lengths, for even blocks.

    The exchanges along all dimensions but one send as much across every cut, and as far, as an all-to-all in groups that
    are as large as all of them together. So more than two exchanges have the bounds of each division into two.
    """
    sizes = tuple(size for stage in grid.decomposition.exchanges if (size := grid.extent(stage.letters)) > 1)
    if len(sizes) == 2:
        yield from _rows_and_columns(site.network, site, grid, sizes, ordered, split, brief)
    if len(sizes) > 2:
        yield sum(_alone(site.network, site, grid, size, ordered, split) for size in sizes), "each exchange alone"
        for size in sorted({*sizes}):
            for value, argument in _rows_and_columns(site.network, site, grid, (size, grid.n_tasks // size), False, False,
                                                     brief):
                yield value, f"{argument}, where columns are all exchanges but that of {size} tasks"


@singledispatch
def _alone(graph, site, grid, size, ordered, split):
    """Return a bound on the length of an exchange in groups of `size` tasks."""
    every = _every_cable(graph)
    if len(site.allocation.nodes) > MOST_NODES or not every:
        return Fraction(0)
    P = grid.n_tasks
    return Fraction(4 * graph.n_nodes * nearest(_hops(site), size, site.tasks_per_node, P), P * size) / every


@_alone.register
def _alone_on_torus(torus: Torus, site, grid, size, ordered, split):
    return floor_of(site, _capacity_of(torus), size, grid.n_tasks, ordered, split)


def _capacity_of(torus):
    return [Fraction(cables) / weight for cables, weight in zip(torus.cables, link_weights(torus))]


@singledispatch
def _rows_and_columns(graph, site, grid, sizes, ordered, split, brief):
    """Yield the bounds of `_in_turn`, for any network."""
    T, P = site.tasks_per_node, grid.n_tasks
    if len(site.allocation.nodes) > MOST_NODES or not _every_cable(graph):
        return
    rows, columns = (_alone(graph, site, grid, size, ordered, split) for size in sizes)
    yield rows + columns, "rows and columns, each alone"
    if site.allocation.is_complete and site.n_slots == P:
        cuts = iter([([Cut(nodes * T, nodes * T, cables)], f"a cut with {nodes} nodes on one side")
                     for nodes, cables in (plane_cuts if isinstance(graph, TwistedTorus) else all_to_all_cuts)(graph)])
    else:
        cuts = cuts_of_graph(graph, Room(site, grid))
    yield from _across_cuts(site, cuts, sizes, rows, columns, BRIEF_STEPS if brief else MOST_STEPS)


@_rows_and_columns.register
def _rows_and_columns_on_levels(network: SwitchedNetwork, site, grid, sizes, ordered, split, brief):
    if grid.n_tasks == site.n_slots:
        return in_turn_on_levels(site, sizes)
    return _across_cuts(site, divisions(site, Room(site, grid)), sizes, Fraction(0), Fraction(0))


@_rows_and_columns.register
def _rows_and_columns_on_torus(torus: Torus, site, grid, sizes, ordered, split, brief):
    capacity = _capacity_of(torus)
    rows, columns = (_alone(torus, site, grid, size, ordered, split) for size in sizes)
    units = _units(torus, capacity, sizes, grid.n_tasks) if ordered else None
    if units is not None:
        rows, columns = (unit * ceil(floor / unit) for floor, unit in zip((rows, columns), units))
        step = Fraction(gcd(*(unit.numerator * other.denominator for unit, other in (units, units[::-1]))),
                        units[0].denominator * units[1].denominator)
    for value, argument in _sums(site, grid=grid, sizes=sizes, capacity=capacity, rows=rows, columns=columns, units=units,
                                 brief=brief):
        yield (value if units is None else step * ceil((value - TOLERANCE) / step)), argument


def _units(torus, capacity, sizes, n_tasks):
    """Return the length that one message adds to a link of each exchange, or half of this length for divided messages.

    None if links differ.
    """
    if len(set(capacity)) > 1:
        return None
    divided = any(torus.is_ring(i) and n % 2 == 0 for i, n in enumerate(torus.shape))
    return tuple(Fraction(2 if divided else 4) * torus.n_nodes / (n_tasks * size) / capacity[0] for size in sizes)


def _sums(site, grid, sizes, capacity, rows, columns, units, brief):
    """Yield the bounds of `_in_turn` from the floors of both lengths."""
    torus = site.network
    yield rows + columns, "rows and columns, each alone"
    is_whole = site.allocation.is_complete and grid.n_tasks == site.n_slots
    if not is_whole:
        yield from _pairs_of_cuts(_Part(site, grid, None), sizes, rows, columns, units)
    for i, n in enumerate(torus.shape if is_whole else ()):
        if n > 1:
            lines = torus.lines(i)
            carried = torus.g(i) * lines * capacity[i] / (4 * torus.n_nodes)
            yield (_across(carried, share=Fraction(n // 2, n), k=n // 2 * lines * site.tasks_per_node, sizes=sizes,
                           rows=rows, columns=columns, units=units),
                   f"rows and columns across the middle of {torus.axes[i]}")
    if not brief:
        yield (translation_bound(torus, tuple(capacity), site.tasks_per_node, sizes[0], sizes[1], rows, columns,
                                 units, None if is_whole else site.allocation.is_usable()),
               "rows and columns across the middles, over all translations")


def _across_cuts(site, cuts, sizes, rows, columns, most=MOST_STEPS):
    """Yield the bounds across cuts: of each list of cuts, across the best of them for a placement.

    most : `steps` of an exact frontier
    """
    P, N = sizes[0] * sizes[1], site.network.n_nodes
    for some, argument in cuts:
        if not some or not all(cut.cables for cut in some):
            continue
        found = []
        for low, high, cables in widest(some):
            k = low if len(some) == 1 and low == high and steps(sizes[0], sizes[1], low) <= most else None
            found.append(_across(cables / (4 * N), share=Fraction(min(low, P - high), P), k=k, sizes=sizes, rows=rows,
                                 columns=columns, units=None))
        yield min(found), f"rows and columns across {argument}"


def _every_cable(network):
    return all_cables(network) if isinstance(network, TwistedTorus) else cables_of(network)


def _hops(site):
    """Return the distances from each usable node to the others, sorted: int array, shape (n, n)."""
    network, nodes = site.network, site.allocation.nodes
    if isinstance(network, TwistedTorus) and site.allocation.is_complete:  # each node has the same distances to the others
        return np.broadcast_to(np.sort(network.hops), (len(nodes),) * 2)
    return _sorted_hops(network, nodes.tobytes())


@lru_cache(maxsize=2)
def _sorted_hops(network, nodes):
    some = np.frombuffer(nodes, dtype=np.int64)
    return np.sort(host_hops(network)[np.ix_(some, some)].astype(np.int64), axis=1)


def _across(carried, share, k, sizes, rows, columns, units):
    """Return the least sum of both lengths across a cut, with `k` tasks on one side, or at least a share of the tasks."""
    value = least_total(carried, share, rows, columns)
    if units is not None:
        value = max(value, rounded_down(least_whole(float(carried), float(share), (float(rows), float(columns)),
                                                    (float(units[0]), float(units[1])))))
    exact = None if k is None else exact_frontier(*sizes, k)
    if exact is not None:
        total = exact_total(exact, float(carried), float(rows), float(columns), units and tuple(map(float, units)))
        value = max(value, rounded_down(total))
    return value


def _pairs_of_cuts(part, sizes, rows, columns, units):
    """Yield bounds by the frontier: across the best box of each family, and across moving planes for the worst share."""
    torus, P = part.torus, part.P
    for which, arcs in _families(torus):
        inside = _inside(part, arcs)
        fewest = _fewest(P, part.S, inside)
        carried = _capacities(part, arcs) / (4 * torus.n_nodes)
        score = least_total(carried, fewest / P, float(rows), float(columns))
        best = np.unravel_index(int(score.argmax()), score.shape)
        if carried[best] > 0 and fewest[best]:
            exact, k = _capacity(part, arcs, best) / (4 * torus.n_nodes), int(fewest[best])
            yield (_across(exact, share=Fraction(k, P), k=k if part.S == P else None, sizes=sizes, rows=rows,
                           columns=columns, units=units),
                   f"rows and columns, {which}")
    for i, axis in enumerate(torus.axes):
        if torus.shape[i] > 1:
            low = -(-(P - _largest_plane(part, i)) // 2)
            carried = torus.g(i) * torus.lines(i) * part.capacity[i] / (4 * torus.n_nodes)
            yield (_across(carried, share=Fraction(low, P), k=None, sizes=sizes, rows=rows, columns=columns, units=units),
                   f"rows and columns, {axis} plane that moves through the machine")


def _fewest(P, S, inside):
    """Return the fewest tasks on the emptier side of a cut with `inside` of the S slots: the tasks without room outside."""
    return np.minimum(np.maximum(0, P - (S - inside)), np.maximum(0, P - inside))


@singledispatch
def _full_machine(network):
    lengths = [length * weight for length, weight in zip(machine_bound(network), link_weights(network))]
    i = lengths.index(max(lengths))
    return LowerBound(lengths[i], f"all-to-all of the full machine across {network.link_classes[i]}")


@_full_machine.register
def _full_twisted_torus(torus: TwistedTorus):
    return LowerBound(machine_bound(torus)[0] * link_weights(torus)[0], "all-to-all of the full machine over all links")


@singledispatch
def _full_machine_uneven(network, site, crossing):
    even = _full_machine(network)
    return LowerBound(even.value * crossing.smallest, f"{even.argument}, with the smallest messages")


@_full_machine_uneven.register
def _full_torus_uneven(torus: Torus, site, crossing):
    """Return the best cut with half the planes of a dimension on one side."""
    found = []
    for i, weight in enumerate(link_weights(torus)):
        k = torus.shape[i] // 2 * torus.lines(i) * site.tasks_per_node
        length = 4 * torus.n_nodes * crossing.exactly(k) / (torus.g(i) * torus.lines(i) * torus.cables[i]) * weight
        found.append(LowerBound(length, f"all-to-all of the full machine across {torus.axes[i]}, with these blocks"))
    return max(found, key=lambda bound: bound.value)


class _Part:
    """Figures that all arguments use.

    capacity : list of Fraction; cables of one link of each dimension over its weight
    slots : int array, shape `torus.shape` (first dimension first); usable slots on every node
    crossing : int array, shape (P + 1,); L(k), parts of `whole` of D_T
    smallest : Fraction; no message is smaller than this part of the mean of its exchange
    """

    def __init__(self, site, grid, transform):
        self.torus, self.grid, self.T = site.network, grid, site.tasks_per_node
        self.P, self.S = grid.n_tasks, site.n_slots
        self.nodes = site.allocation.nodes
        self.capacity = _capacity_of(self.torus)
        self.slots = (site.allocation.is_usable() * self.T).reshape(self.torus.shape, order="F")
        crossing = Crossing(grid, transform)
        self.crossing, self.whole, self.smallest = crossing.least(), crossing.whole, crossing.smallest
        self.window = Minimum(self.crossing)

    def length(self, crossing, capacity):
        """Return a lower bound on the cost from `crossing` parts of `whole` through `capacity`."""
        return Fraction(4 * self.torus.n_nodes * int(crossing), self.whole) / capacity if capacity else Fraction(0)

    def hop_length(self, hops, capacity):
        """Return a lower bound on the cost from `hops` of mean messages of D_T / P^2 through `capacity`."""
        return Fraction(4 * self.torus.n_nodes * hops, self.P**2) * self.smallest / capacity if capacity else Fraction(0)


def _fixed_cuts(part):
    """Yield every box of the torus against the rest, with every k that the slots inside and outside allow."""
    held = np.array([part.window(max(0, part.P - (part.S - inside)), min(inside, part.P)) for inside in range(part.S + 1)])
    for which, arcs in _families(part.torus):
        inside = _inside(part, arcs)
        capacity = _capacities(part, arcs)
        score = np.divide(held[inside], capacity, out=np.zeros(inside.shape), where=capacity > 0)
        best = np.unravel_index(int(score.argmax()), score.shape)
        yield part.length(held[inside[best]], _capacity(part, arcs, best)), which


def _inside(part, arcs):
    """Return the slots in each box: int array, one axis for each dimension."""
    inside = part.slots
    for i, (member, _, _) in enumerate(arcs):
        inside = np.moveaxis(np.tensordot(member, inside, axes=(1, i)), 0, i)
    return inside


def _capacity(part, arcs, box):
    """Return the exact capacity of the links that leave a box."""
    return sum(part.capacity[i] * int(arcs[i][2][box[i]]) * prod(
        int(arcs[j][1][box[j]]) for j in range(len(arcs)) if j != i) for i in range(len(arcs)))


def _families(torus):
    """Yield sets of boxes: all boxes if there are not too many, otherwise boxes between two planes of each dimension."""
    every = [_arcs(torus, i) for i in range(torus.n_dimensions)]
    if prod(len(lengths) for _, lengths, _ in every) <= MOST_BOXES:
        yield "box against the rest of the machine", every
        return
    whole = [(member[-1:], lengths[-1:], sides[-1:]) for member, lengths, sides in every]
    for i, axis in enumerate(torus.axes):
        yield f"planes across {axis}", [*whole[:i], every[i], *whole[i + 1:]]


def _arcs(torus, i):
    """Return the arcs of dimension `i`, the whole dimension last: positions (0/1), lengths, and ends with leaving links."""
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
    """Return the capacity of the links that leave each box: float array, one axis for each dimension."""
    total = 0.0
    for i in range(len(arcs)):
        term = float(part.capacity[i])
        for j, (_, length, sides) in enumerate(arcs):
            along = [-1 if axis == j else 1 for axis in range(len(arcs))]
            term = term * (sides if j == i else length).reshape(along)
        total = total + term
    return total


def _moving_planes(part):
    """Yield bounds of a plane that moves through a dimension: nearly half of the tasks are behind some position."""
    torus = part.torus
    for i, axis in enumerate(torus.axes):
        largest = _largest_plane(part, i)
        low, high = -(-(part.P - largest) // 2), (part.P + largest) // 2
        if torus.shape[i] > 1:
            yield (part.length(part.window(low, high), torus.g(i) * torus.lines(i) * part.capacity[i]),
                   f"{axis} plane that moves through the machine")


def _largest_plane(part, i):
    """Return the most tasks that a plane across dimension `i` can hold."""
    others = tuple(j for j in range(part.torus.n_dimensions) if j != i)
    return min(part.P, int(part.slots.sum(axis=others).max()))


def _blocks(part):
    """Yield bounds of divisions into equal blocks: some block has at least its share of the tasks."""
    torus = part.torus
    sides = [sorted({b for b in (1, 2, 4, 8, 16, 32, n // 2, n) if 1 <= b <= n}) for n in torus.shape]
    if prod(map(len, sides)) * len(part.nodes) > MOST_BLOCK_WORK:
        return
    where = torus.coordinates(part.nodes)
    for block in cartesian(*sides):
        number = np.ravel_multi_index((where // block).T, tuple(-(-n // b) for n, b in zip(torus.shape, block)))
        slots = np.bincount(number) * part.T
        share, most = -(-part.P // np.count_nonzero(slots)), min(part.P, int(slots.max()))
        capacity = sum(part.capacity[i] * _leaving(torus, i, b) * (prod(block) // b) for i, b in enumerate(block))
        name = "a single node" if max(block) == 1 else f"block of {'x'.join(map(str, block))}"
        yield part.length(part.window(share, most), capacity), f"{name} with its share of the tasks"


def _leaving(torus, i, side):
    """Return the largest number of ends at which links leave a block of that side."""
    if side == torus.shape[i]:
        return 0
    return 2 if torus.is_ring(i) or torus.shape[i] > 2 * side else 1


def _distances(part):
    """Yield the bound of bytes times hops divided by the capacity of all links."""
    torus = part.torus
    if len(part.nodes) > MOST_NODES:
        return
    capacity = sum(2 * torus.lines(i) * torus.cable_positions(i) * part.capacity[i] for i in range(torus.n_dimensions))
    hops = np.sort(hops_between(torus, part.nodes), axis=1)
    sizes, P = [part.grid.extent(stage.letters) for stage in part.grid.decomposition.exchanges], part.P
    yield part.hop_length(nearest(hops, P, part.T, P), capacity), "distances between all tasks over all links"
    to_partners = sum(P // size * nearest(hops, size, part.T, P) for size in sizes)
    yield part.hop_length(to_partners, capacity), "distances to the nearest tasks over all links"
