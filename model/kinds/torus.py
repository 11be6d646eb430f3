"""Tori, meshes, tori folded into boxes, and hypercubes, whose nodes are their switches; and their bounds by cuts."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, product as cartesian
from math import ceil, gcd, prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints, divisors
from pencilmap.model.base.errors import NetworkError
from pencilmap.model.bounds.cuts import Crossing, Room, across, least_other, least_total
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds.kind import MOST_NODES, Bound, Kind, Optima, is_full, nearest
from pencilmap.model.kinds.reading import Rates, bandwidths
from pencilmap.model.kinds.torus_adaptive import MINIMAL_ADAPTIVE
from pencilmap.model.kinds.torus_floors import floor_of, hops_between, optima
from pencilmap.model.kinds.torus_routes import DIMENSION_ORDER, OPTIMAL
from pencilmap.model.kinds.torus_translations import translation_bound
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus, as_torus, parse_torus
from pencilmap.model.network.twisted_torus import FoldedTorus, parse_folded
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import Exchange

# Cuts of a torus or mesh: bounds for any routing, and for any placement.
#
# Any routing. Planes cut the torus in two: a ring twice, a line once. The cut links evenly share the traffic that must
# cross the cut, at the best position of the cut.
#
# Moving cuts. Let a cutting plane move through a dimension, one plane of nodes at a time. The number of tasks behind the
# cutting plane rises from 0 to P in steps of at most the slots of a plane of nodes. So at some position this number is
# within half a plane of P/2.
#
# Blocks. Cut the machine into blocks of equal sides. Some block has at least its share of the tasks. A single node is the
# smallest block; this is the injection of a node.
#
# Sums of both lengths. Rows that send little across a cut make the columns send more
# (`pencilmap.model.bounds.cuts`), across each cut and, on full tori, in the mean over all translations
# (`pencilmap.model.kinds.torus_translations`). Neither length is below its floor (`pencilmap.model.kinds.torus_floors`).
#
# Source: Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15, with all exchanges together; the rest is ours, with proofs
# in docs/theory.md.

MOST_BOXES = 1 << 21     # above this number only planes cut
MOST_BLOCK_WORK = 1 << 24
TOLERANCE = Fraction(1, 1_000_000_000)  # covers rounding up of floats
_EXACT = 1 << 53  # whole numbers below are exact as floats


def plane_traffic(n: int, exchange: Exchange, position: Ints) -> Ints:
    """Return bytes between planes of a dimension: int array, shape (n, n). `position` has shape (groups, size)."""
    groups = len(position)
    cell = position + np.arange(groups)[:, None] * n

    def by_plane(weight: Ints) -> Ints:
        bytes_ = np.bincount(cell.ravel(), np.broadcast_to(weight, cell.shape).ravel(), groups * n)
        return bytes_.astype(np.int64).reshape(groups, n)

    sent, received = by_plane(exchange.send_weight) * exchange.group_weight[:, None], by_plane(exchange.receive_weight)
    if exchange.total_bytes < _EXACT:  # floats multiply much faster, without rounding here
        return (sent.T.astype(float) @ received.astype(float)).astype(np.int64) * exchange.unit_bytes
    return sent.T @ received * exchange.unit_bytes


def worst_cut(torus: Torus, planes: Ints, i: int) -> Fraction:
    """Return the load of the worst cut of dimension `i`. `planes`, shape (n, n), is bytes from plane a to plane b."""
    n = torus.shape[i]
    if n == 1:
        return Fraction(0)
    box = np.zeros((n + 1, n + 1), dtype=np.int64)
    box[1:, 1:] = planes.cumsum(axis=0).cumsum(axis=1)
    sent = np.concatenate([[0], planes.sum(axis=1).cumsum()])
    received = np.concatenate([[0], planes.sum(axis=0).cumsum()])
    low, high = np.triu_indices(n + 1, 1)
    if not torus.is_ring(i):
        low, high = np.zeros(n - 1, dtype=np.int64), np.arange(1, n)
    inside = box[high, high] - box[low, high] - box[high, low] + box[low, low]
    leaving = sent[high] - sent[low] - inside
    entering = received[high] - received[low] - inside
    links = torus.g(i) * torus.lines(i) * torus.cables[i]
    return Fraction(int(max(leaving.max(), entering.max())), links)


def capacity_of(torus: Torus) -> list[Fraction]:
    """Return the cables of a link of each dimension over its weight."""
    return [Fraction(cables) / weight for cables, weight in zip(torus.cables, link_weights(torus))]


def _units(torus: Torus, capacity: list[Fraction], sizes: tuple[int, int], n_tasks: int) -> tuple[Fraction, Fraction] | None:
    """Return the length that one message adds to a link of each exchange, or half of this length for divided messages.

    None if links differ.
    """
    if len(set(capacity)) > 1:
        return None
    divided = any(torus.is_ring(i) and n % 2 == 0 for i, n in enumerate(torus.shape))
    rows, columns = (Fraction(2 if divided else 4) * torus.n_nodes / (n_tasks * size) / capacity[0] for size in sizes)
    return rows, columns


def _sums(site: Site, grid: ProcessGrid, sizes: tuple[int, int], capacity: list[Fraction], rows: Fraction, columns: Fraction,
          units: tuple[Fraction, Fraction] | None, brief: bool) -> Iterator[tuple[Fraction, str]]:
    """Yield the bounds of `_in_turn` from the floors of both lengths."""
    torus = as_torus(site.network)
    yield rows + columns, "rows and columns, each alone"
    is_whole = is_full(site, grid)
    if not is_whole:
        yield from _pairs_of_cuts(_Part(site, grid, None), sizes, rows, columns, units)
    for i, n in enumerate(torus.shape if is_whole else ()):
        if n > 1:
            lines = torus.lines(i)
            carried = torus.g(i) * lines * capacity[i] / (4 * torus.n_nodes)
            yield (across(carried, share=Fraction(n // 2, n), k=n // 2 * lines * site.tasks_per_node, sizes=sizes,
                           rows=rows, columns=columns, units=units),
                   f"rows and columns across the middle of {torus.axes[i]}")
    if not brief:
        yield (translation_bound(torus, tuple(capacity), site.tasks_per_node, sizes[0], sizes[1], (rows, columns),
                                 units, None if is_whole else site.allocation.is_usable()),
               "rows and columns across the middles, over all translations")


def _pairs_of_cuts(part: "_Part", sizes: tuple[int, int], rows: Fraction, columns: Fraction,
                   units: tuple[Fraction, Fraction] | None) -> Iterator[tuple[Fraction, str]]:
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
            yield (across(exact, share=Fraction(k, P), k=k if part.S == P else None, sizes=sizes, rows=rows,
                           columns=columns, units=units),
                   f"rows and columns, {which}")
    for i, axis in enumerate(torus.axes):
        if torus.shape[i] > 1:
            low = -(-(P - _largest_plane(part, i)) // 2)
            carried = torus.g(i) * torus.lines(i) * part.capacity[i] / (4 * torus.n_nodes)
            yield (across(carried, share=Fraction(low, P), k=None, sizes=sizes, rows=rows, columns=columns, units=units),
                   f"rows and columns, {axis} plane that moves through the machine")


def _fewest(P: int, S: int, inside: Ints) -> Ints:
    """Return the fewest tasks on the emptier side of a cut with `inside` of the S slots: the tasks without room outside."""
    return np.minimum(np.maximum(0, P - (S - inside)), np.maximum(0, P - inside))


class _Part(Room):
    """A room on a torus.

    capacity : list of Fraction; cables of one link of each dimension over its weight
    slots : int array, shape `torus.shape` (first dimension first); usable slots on every node
    """

    def __init__(self, site: Site, grid: ProcessGrid, transform: Transform | None) -> None:
        super().__init__(site, grid, transform)
        self.torus, self.grid, self.T, self.nodes = as_torus(site.network), grid, site.tasks_per_node, site.allocation.nodes
        self.capacity = capacity_of(self.torus)
        self.slots = (site.allocation.is_usable() * self.T).reshape(self.torus.shape, order="F")

    def hop_length(self, hops: int, capacity: Any) -> Fraction:
        """Return a lower bound on the cost from `hops` of mean messages of D_T / P^2 through `capacity`."""
        least = self.crossing.smallest
        return Fraction(4 * self.torus.n_nodes * hops, self.P**2) * least / capacity if capacity else Fraction(0)


def _fixed_cuts(part: _Part) -> Iterator[tuple[Fraction, str]]:
    """Yield every box of the torus against the rest, with every k that the slots inside and outside allow."""
    held = part.least_around
    for which, arcs in _families(part.torus):
        inside = _inside(part, arcs)
        capacity = _capacities(part, arcs)
        score = np.divide(held[inside], capacity, out=np.zeros(inside.shape), where=capacity > 0)
        best = np.unravel_index(int(score.argmax()), score.shape)
        yield part.length(int(held[inside[best]]), _capacity(part, arcs, best)), which


def _inside(part: _Part, arcs: list[tuple[Ints, Ints, Ints]]) -> Ints:
    """Return the slots in each box: int array, one axis for each dimension."""
    inside = part.slots
    for i, (member, _, _) in enumerate(arcs):
        inside = np.moveaxis(np.tensordot(member, inside, axes=(1, i)), 0, i)
    return inside


def _capacity(part: _Part, arcs: list[tuple[Ints, Ints, Ints]], box: Sequence[Any]) -> Any:
    """Return the exact capacity of the links that leave a box."""
    return sum(part.capacity[i] * int(arcs[i][2][box[i]]) * prod(
        int(arcs[j][1][box[j]]) for j in range(len(arcs)) if j != i) for i in range(len(arcs)))


def _families(torus: Torus) -> Iterator[tuple[str, list[tuple[Ints, Ints, Ints]]]]:
    """Yield sets of boxes: all boxes if there are not too many, otherwise boxes between two planes of each dimension."""
    every = [_arcs(torus, i) for i in range(torus.n_dimensions)]
    if prod(len(lengths) for _, lengths, _ in every) <= MOST_BOXES:
        yield "box against the rest of the machine", every
        return
    whole = [(member[-1:], lengths[-1:], sides[-1:]) for member, lengths, sides in every]
    for i, axis in enumerate(torus.axes):
        yield f"planes across {axis}", [*whole[:i], every[i], *whole[i + 1:]]


def _arcs(torus: Torus, i: int) -> tuple[Ints, Ints, Ints]:
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


def _capacities(part: _Part, arcs: list[tuple[Ints, Ints, Ints]]) -> Any:
    """Return the capacity of the links that leave each box: float array, one axis for each dimension."""
    total: Any = 0.0
    for i in range(len(arcs)):
        term: Any = float(part.capacity[i])
        for j, (_, length, sides) in enumerate(arcs):
            along = [-1 if axis == j else 1 for axis in range(len(arcs))]
            term = term * (sides if j == i else length).reshape(along)
        total = total + term
    return total


def _moving_planes(part: _Part) -> Iterator[tuple[Fraction, str]]:
    """Yield bounds of a plane that moves through a dimension: nearly half of the tasks are behind some position."""
    torus = part.torus
    for i, axis in enumerate(torus.axes):
        largest = _largest_plane(part, i)
        low, high = -(-(part.P - largest) // 2), (part.P + largest) // 2
        if torus.shape[i] > 1:
            yield (part.length(part.window(low, high), torus.g(i) * torus.lines(i) * part.capacity[i]),
                   f"{axis} plane that moves through the machine")


def _largest_plane(part: _Part, i: int) -> int:
    """Return the most tasks that a plane across dimension `i` can hold."""
    others = tuple(j for j in range(part.torus.n_dimensions) if j != i)
    return min(part.P, int(part.slots.sum(axis=others).max()))


def _blocks(part: _Part) -> Iterator[tuple[Fraction, str]]:
    """Yield bounds of divisions into equal blocks: some block has at least its share of the tasks."""
    torus = part.torus
    sides = [sorted({b for b in (1, 2, 4, 8, 16, 32, n // 2, n) if 1 <= b <= n}) for n in torus.shape]
    if prod(map(len, sides)) * len(part.nodes) > MOST_BLOCK_WORK:
        return
    where = torus.coordinates(part.nodes)
    for block in cartesian(*sides):
        number = np.ravel_multi_index((where // block).T, tuple(-(-n // b) for n, b in zip(torus.shape, block)))
        slots = np.bincount(number) * part.T
        share, most = -(-part.P // int(np.count_nonzero(slots))), min(part.P, int(slots.max()))
        capacity = sum(part.capacity[i] * _leaving(torus, i, b) * (prod(block) // b) for i, b in enumerate(block))
        name = "a single node" if max(block) == 1 else f"block of {'x'.join(map(str, block))}"
        yield part.length(part.window(share, most), capacity), f"{name} with its share of the tasks"


def _leaving(torus: Torus, i: int, side: int) -> int:
    """Return the largest number of ends at which links leave a block of that side."""
    if side == torus.shape[i]:
        return 0
    return 2 if torus.is_ring(i) or torus.shape[i] > 2 * side else 1


def _distances(part: _Part) -> Iterator[tuple[Fraction, str]]:
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


# A test if both exchanges at once can load the links as little as one all-to-all of a whole torus or mesh.
#
# No placement of any grid has less joint load. A grid reaches this load only if every balanced cut of every binding
# dimension keeps whole rows or whole columns on a side (proof in docs/theory.md). So each of these dimensions needs factors
# of R and of C:
#
# - A ring or an odd line of n nodes needs the factor n in R or in C: the rows or the columns are whole lines along it.
# - A ring of 4 needs the same, or the factor 2 in each: rows in {0,1} and {2,3}, columns in {1,2} and {3,0}.
# - An even line, or two nodes, needs the factor 2 in R or in C.
#
# On a torus with equal extents these factors suffice: for n = 3 and n >= 5 the grids have R = n^j t', where t' divides the
# number of tasks on a node.
#
# If R and C do not have these factors, the joint load exceeds the load of the all-to-all by a factor that `least_factor`
# gives (proof there too).

MOST_LISTED = 8


def why_unreachable(site: Site, grid: ProcessGrid) -> str | None:
    """Return why no placement has the joint load of the all-to-all for even blocks, or None if a placement may have it.

    None also if no reason is known.

    >>> why_unreachable(Site(Torus((8, 8, 8))), ProcessGrid(16, 32))
    'rows or columns have to be whole along every ring of 8, so only R = 1, 8, 64, 512 can'
    >>> why_unreachable(Site(Torus((8, 8, 8))), ProcessGrid(8, 64)), why_unreachable(Site(Torus((4, 4))), ProcessGrid(2, 8))
    (None, None)
    """
    if grid.decomposition != PENCIL or not is_full(site, grid):
        return None
    torus = as_torus(site.network)
    if may_reach(torus, *grid.shape):
        return None
    kinds = {f"{'ring' if torus.is_ring(i) else 'line'} of {torus.shape[i]}": None for i in _binding(torus)
             if _factors(torus, i)[0][0] > 2}
    able = [R for R in divisors(grid.n_tasks) if may_reach(torus, R, grid.n_tasks // R)]
    listed = f"only R = {', '.join(map(str, able))} can" if len(able) <= MOST_LISTED else f"R = {grid.shape[0]} cannot"
    return f"rows or columns have to be whole along every {' and '.join(kinds)}, so {listed}"


def may_reach(torus: Torus, R: int, C: int) -> bool:
    """Return whether R and C have the factors that the binding dimensions need.

    >>> [R for R in (1, 2, 3, 4, 6, 12, 36) if may_reach(Torus((6, 6)), R, 72 // R)]      # two tasks on a node
    [1, 2, 6, 12, 36]
    """
    choices = [_factors(torus, i) for i in _binding(torus)]
    return any(R % prod(r for r, _ in chosen) == 0 and C % prod(c for _, c in chosen) == 0 for chosen in cartesian(*choices))


def least_factor(torus: Torus, R: int, C: int) -> Fraction:
    """Return a lower bound on the joint load of even blocks on all slots, over the load of the all-to-all.

    Parameters
    ----------
    torus : Torus
    R, C : int
        Extents of the grid.

    Returns
    -------
    Fraction
        1 if nothing better is proved: if a binding dimension is no ring, if the binding dimensions differ, and on rings
        of 4.

    Examples
    --------
    >>> print(least_factor(Torus((8, 8, 8)), 16, 32), least_factor(Torus((8, 8, 8)), 8, 64))
    127/120 1
    """
    binding = _binding(torus)
    n = torus.shape[binding[0]]
    if any(torus.shape[i] != n or not torus.is_ring(i) for i in binding):
        return Fraction(1)
    share = Fraction(n // 2, n)
    least = abs(share * (1 - share) - Fraction(1, n)) / 2     # rows nearly whole across one cut, columns across the next
    for rows in range(len(binding) + 1):                      # dimensions along which rows nearly stay on one coordinate
        least = min(least, max((1 - Fraction(groups, n**terms)) / (n * terms) if terms else Fraction(0)
                               for groups, terms in ((C, rows), (R, len(binding) - rows))))
    if least <= 0:
        return Fraction(1)
    return (least + least_other(least, share)) / (share * (1 - share))


def _binding(torus: Torus) -> list[int]:
    """Return the dimensions in which the all-to-all takes longest."""
    lengths = [Fraction(length) * weight for length, weight in zip(KIND.machine_bound(torus), link_weights(torus))]
    return [i for i, length in enumerate(lengths) if length == max(lengths)]


def _factors(torus: Torus, i: int) -> list[tuple[int, int]]:
    """Return the factors that dimension `i` may need in R and in C."""
    n = torus.shape[i]
    if not torus.is_ring(i) and n % 2 == 0:
        n = 2
    return [(n, 1), (1, n), *([(2, 2)] if n == 4 and torus.is_ring(i) else [])]


class TorusKind(Kind):
    """A kind whose networks are tori or meshes without twists."""

    def cut_bound(self, network: Torus, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of planes: the paper's equations 4 to 15."""
        position = network.coordinates(ends)[exchange.members]
        return tuple(worst_cut(network, plane_traffic(n, exchange, position[..., i]), i)
                     for i, n in enumerate(network.shape))

    def machine_bound(self, network: Torus) -> tuple[Fraction, ...]:
        """Return the bound of planes: n_i/g_i per cable for even n_i.

        >>> [str(m) for m in KIND.machine_bound(Torus((8, 3, 4, 1), wrap=(1, 1, 0, 1)))]
        ['4', '4/3', '4', '0']
        """
        return tuple(Fraction(4 * (n // 2) * (n - n // 2), n * network.g(i) * network.cables[i])
                     for i, n in enumerate(network.shape))

    def together(self, site: Site, grid: ProcessGrid, transform: Transform | None) -> Iterable[Bound]:
        """Return the bound of planes for a full machine, of boxes, planes, blocks and distances otherwise."""
        if not is_full(site, grid):
            part = _Part(site, grid, transform)
            return chain(*(bounds(part) for bounds in (_fixed_cuts, _moving_planes, _blocks, _distances)))
        crossing, torus = Crossing(grid, transform), as_torus(site.network)
        if crossing.transform is None:
            return [self.of_full_machine(torus, crossing)]
        half = [n // 2 * torus.lines(i) * site.tasks_per_node for i, n in enumerate(torus.shape)]  # tasks on one side
        links = [torus.g(i) * torus.lines(i) * cables for i, cables in enumerate(capacity_of(torus))]
        return [(4 * torus.n_nodes * crossing.exactly(k) / across,
                 f"all-to-all of the full machine across {axis}, with these blocks")
                for k, across, axis in zip(half, links, torus.axes)]

    def alone(self, site: Site, grid: ProcessGrid, size: int, ordered: bool, split: bool) -> Fraction:
        """Return the best floor."""
        return floor_of(site, capacity_of(as_torus(site.network)), size, grid.n_tasks, ordered, split)

    def in_turn(self, site: Site, grid: ProcessGrid, sizes: tuple[int, int], ordered: bool, split: bool,
                brief: bool) -> Iterable[Bound]:
        """Yield the bounds of floors, cuts and translations."""
        torus = as_torus(site.network)
        capacity = capacity_of(torus)
        rows, columns = (floor_of(site, capacity, size, grid.n_tasks, ordered, split) for size in sizes)
        units = _units(torus, capacity, sizes, grid.n_tasks) if ordered else None
        step = Fraction(0)
        if units is not None:
            rows, columns = (unit * ceil(floor / unit) for floor, unit in zip((rows, columns), units))
            step = Fraction(gcd(*(unit.numerator * other.denominator for unit, other in (units, units[::-1]))),
                            units[0].denominator * units[1].denominator)
        for value, argument in _sums(site, grid, sizes, capacity, rows, columns, units, brief):
            yield (step * ceil((value - TOLERANCE) / step) if step else value), argument

    def optima(self, site: Site, grid: ProcessGrid) -> Optima | None:
        """Return the optima of small machines."""
        if grid.decomposition != PENCIL or not is_full(site, grid):
            return None
        return optima(as_torus(site.network), site.tasks_per_node, *grid.shape)

    def joint_factor(self, site: Site, grid: ProcessGrid) -> Fraction:
        """Return the factor of binding dimensions."""
        if grid.decomposition != PENCIL or not is_full(site, grid):
            return Fraction(1)
        return least_factor(as_torus(site.network), *grid.shape)

    def why_unreachable(self, site: Site, grid: ProcessGrid) -> str | None:
        """Return the reason of binding dimensions."""
        return why_unreachable(site, grid)

    def spectral(self, site: Site, sizes: tuple[int, int], routing_name: str, known: float) -> Bound | None:
        """Return the bound by weights on links."""
        from pencilmap.model.kinds.torus_floors import spectral_bound

        return spectral_bound(site, sizes, routing_name, known)


def parsed_by(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Return a parser of texts and options that reads bandwidths as all kinds do."""
    def parsed(text: str, bandwidth: Rates | None = None, **options: Any) -> Any:
        torus = parse(text, **options)
        return replace(torus, bandwidth=bandwidths(bandwidth, torus.link_classes))

    return parsed


CUBE_USAGE = "hypercube:6"


def parse_cube(text: str, bandwidth: Rates | None = None) -> Torus:
    """Read the number of dimensions of a hypercube. Raises NetworkError if it is none.

    >>> parse_cube("3").shape
    (2, 2, 2)
    """
    if not re.fullmatch(r"[1-9]", text) or int(text) > MAX_DIMENSIONS:
        raise NetworkError(f"network hypercube: {text[:40]!r} is not understood; write {CUBE_USAGE} with 1 to "
                           f"{MAX_DIMENSIONS} dimensions, or hyperx:2x2x2,hosts=4 for several hosts on a switch")
    cube = Torus((2,) * int(text))
    return Torus(cube.shape, bandwidth=bandwidths(bandwidth, cube.link_classes))


_RULES = DIMENSION_ORDER, MINIMAL_ADAPTIVE, OPTIMAL
_AXES = "one for each dimension, with the letter of its axis"
KIND = TorusKind(
    "torus", "4x4x8, 4x4x8:mesh or 4wx4x8w",
    "torus, mesh, or a mixture of both: w marks dimensions that wrap; 6 is a ring, 6:mesh a line", _AXES, Torus,
    parsed_by(parse_torus), _RULES)
FOLDED = TorusKind(
    "folded-torus", "4x12x4:box=2x4x2x2x3wx2",
    "torus laid into a box of twice as many dimensions: each axis is a ring through a pair of them",
    "one for each dimension of the box, with the letter of its axis", FoldedTorus, parsed_by(parse_folded), _RULES)
CUBE = TorusKind("hypercube", CUBE_USAGE, "a torus of rings of two nodes", _AXES, Torus, parse_cube, _RULES)
