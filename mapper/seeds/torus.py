"""Where the local search begins on a torus: launchers' orders, products, and groups of neighbouring slots.

A start is an order of slots. The ranks take the slots in this order, group by group along one dimension of the process
grid. An order that keeps neighbours together makes these groups compact.

Compact groups: blobs grow from the slot farthest from the middle; each step adds the slot nearest to the blob. Recursive
cuts along the second eigenvector of the graph of the nodes give spectral parts. Links of later dimensions count a little
less, so that the eigenvector is unique on tori and cubes. The order inside the groups makes the groups across. A matching
with the least sum of distances pairs members that sit alike in all groups, relative to the middle of their group. So the
groups across spread evenly, as cosets of a lattice.
Source: M. Fiedler, "Algebraic connectivity of graphs", Czechoslovak Math. J. 23 (1973); A. Pothen, H. Simon, K.-P. Liou,
"Partitioning sparse matrices with eigenvectors of graphs", SIAM J. Matrix Anal. Appl. 11 (1990); H. W. Kuhn, "The Hungarian
method for the assignment problem", Naval Res. Logist. 2 (1955), by `scipy.optimize.linear_sum_assignment`.
Cost: O(S^2) for blobs and for the eigenvectors of S slots, O(size^3) for each matched group.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, count, islice, permutations, product as cartesian
from math import prod
from typing import Any

import numpy as np

from pencilmap.mapper.seeds.default_order import FILLING, default
from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.base.arrays import Bools, Floats, Ints, divisors
from pencilmap.model.decompositions import PENCIL, GridDimension
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, dealt
from pencilmap.model.placement.product import Product
from pencilmap.model.predict import predict
from pencilmap.model.traffic.loads import Objective

Starts = Iterator[tuple[str, np.ndarray]]

SLOT_MOVED = 1e-3  # the cost of another slot on the same node, in squared hops
MOST_ORDERED = 5  # axes of several nodes whose orders are tried; no launcher orders the six of Tofu
MOST_KEPT = 16  # grids whose starts are kept
MOST_BOXES = 40  # boxes tried for the groups along a dimension of the grid


def starts(site: Site, grid: ProcessGrid) -> Starts:
    """Yield all starts, the launchers' orders first.

    Yields
    ------
    name : str
    slots : int array, shape (P,)
        Slot of each rank: the number of its node in `site.allocation.nodes` times tasks_per_node plus the slot on the node.
    """
    yield from launchers(site, grid)
    yield from grouped(site, grid)


def grouped(site: Site, grid: ProcessGrid) -> Starts:
    """Yield the starts that keep neighbours together; all dimensions of the grid are treated alike.

    Starts are made when they are first asked for, and kept for further searches of the grid.
    """
    key = as_torus(site.network), site.tasks_per_node, site.allocation.nodes.tobytes(), grid
    if key not in _made:
        makers = products, stretched_products, inner_products, bisections, compact, boxes
        _made[key] = [], chain.from_iterable(make(site, grid) for make in makers)
        if len(_made) > MOST_KEPT:
            del _made[next(iter(_made))]
    known, further = _made[key]
    for i in count():
        if i == len(known):
            known += islice(further, 1)
        if i == len(known):
            return
        yield known[i]


_made: dict[Any, tuple[list[tuple[str, np.ndarray]], Starts]] = {}  # by site and grid: the starts made so far, the others


def launchers(site: Site, grid: ProcessGrid) -> Starts:
    """Yield every launch order: the launcher's own, and the orders of the axes with the slots first and last."""
    own = (*site.launch.orders, FILLING)[0]
    others = [order for order in ("nt", "tn", *axis_orders(as_torus(site.network))) if order != own]
    for order in (own, *others):
        mapping = default(order, site, grid)
        yield mapping.name, slots_of(site, mapping.node_of_rank, mapping.slot_of_rank)


def axis_orders(torus: Network) -> Iterator[str]:
    """Yield distinct orders of the axes, of at most `MOST_ORDERED`: the position of an axis of one node does not matter."""
    long = [axis for axis, n in zip(torus.axes, torus.shape) if n > 1]
    if len(long) > MOST_ORDERED:
        return
    short = "".join(axis for axis in torus.axes if axis not in long)
    for letters in permutations(long):
        axes = "".join(letters) + short
        yield axes + "t"
        yield "t" + axes


def slots_of(site: Site, node: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """Return the slot numbers of places given as node and slot."""
    place = np.full(site.network.n_nodes, -1, dtype=np.int64)
    place[site.allocation.nodes] = np.arange(site.allocation.n_nodes)
    return place[node] * site.tasks_per_node + slot


def products(site: Site, grid: ProcessGrid, objective: Objective | None = None) -> Starts:
    """Yield the best product placements of the whole torus with groups of the right size.

    If the torus has no such product, yield products with the next shorter and the next longer groups.

    Parameters
    ----------
    site : Site
        Its unusable slots are skipped.
    grid : ProcessGrid
    objective : Objective, optional
        Objective of `best_product`.
    """
    for product, dimension in _whole_products(site, grid, objective):
        yield f"product {dimension.name}s", _skipping(product, site, grid, dimension)


def likely_product(site: Site, grid: ProcessGrid, objective: Objective | None = None) -> np.ndarray:
    """Return the slots of the start of `products` with the least cost on the whole torus, without routing."""
    products_ = [(predict(product).cost, k, product, dimension)
                 for k, (product, dimension) in enumerate(_whole_products(site, grid, objective))]
    *_, product, dimension = min(products_, key=lambda entry: entry[:2])
    return _skipping(product, site, grid, dimension)


def _whole_products(site: Site, grid: ProcessGrid, objective: Objective | None) -> Iterator[tuple[Product, GridDimension]]:
    n_slots = site.network.n_nodes * site.tasks_per_node
    if grid.decomposition != PENCIL:  # the objective is of other exchanges
        objective = None
    for dimension, length in zip(grid.decomposition.dimensions, grid.shape):
        for size in _nearest_divisors(n_slots, length):  # rows of pencils for any decomposition
            yield best_product(as_torus(site.network), ProcessGrid(size, n_slots // size), site.tasks_per_node,
                               objective), dimension


def _skipping(product: Product, site: Site, grid: ProcessGrid, dimension: GridDimension) -> Ints:
    mapping = product.mapping()
    kept = site.allocation.is_usable()[mapping.node_of_rank]
    order = slots_of(site, mapping.node_of_rank[kept], mapping.slot_of_rank[kept])
    return dealt(order[:grid.n_tasks], grid, dimension.letter)


def _nearest_divisors(n: int, length: Any) -> list[int]:
    """
    >>> _nearest_divisors(216, 12), _nearest_divisors(216, 10), _nearest_divisors(8, 9)
    ([12], [9, 12], [8])
    """
    every = divisors(n)
    if length in every:
        return [length]
    return [k for k in every if k < length][-1:] + [k for k in every if k > length][:1]


def stretched_products(site: Site, grid: ProcessGrid) -> Starts:
    """Yield the best products of larger grids that fill the whole torus, moved to usable slots.

    These grids are at least as large as `grid` in both dimensions. Groups with the fewest usable slots are left out. The
    remaining tasks move to usable slots with the least sum of squared distances. Many short moves cost less than one long
    move, so groups stay compact.
    """
    from scipy.optimize import linear_sum_assignment  # slow to import

    torus, T = as_torus(site.network), site.tasks_per_node
    n_slots = torus.n_nodes * T
    if grid.n_tasks == n_slots or n_slots > MOST_SLOTS or len(grid.shape) != 2:
        return
    where = torus.coordinates(np.repeat(site.allocation.nodes, T))
    for R in divisors(n_slots):
        if grid.shape[0] > R or n_slots // R < grid.shape[1]:
            continue
        mapping = best_product(torus, ProcessGrid(R, n_slots // R), T).mapping()
        usable = site.allocation.is_usable()[mapping.node_of_rank].reshape(-1, R)
        p = _most(usable.sum(axis=0), grid.shape[0])
        q = _most(usable[:, p].sum(axis=1), grid.shape[1])
        rank = (q[:, None] * R + p).ravel()
        apart = hops_apart(torus, torus.coordinates(mapping.node_of_rank[rank]), where)
        turned = mapping.slot_of_rank[rank][:, None] != np.tile(np.arange(T), site.allocation.n_nodes)
        yield f"stretched {R}x{n_slots // R}", linear_sum_assignment(apart**2 + SLOT_MOVED * turned)[1]


def _most(values: Ints, count: int) -> Ints:
    """Return the positions of the largest values, in rising order."""
    return np.sort(np.argsort(-values, kind="stable")[:count])


def inner_products(site: Site, grid: ProcessGrid) -> Starts:
    """Yield the best product placements of boxes inside the torus with as many slots as tasks, all usable."""
    torus, T = as_torus(site.network), site.tasks_per_node
    if grid.n_tasks % T or grid.n_tasks == torus.n_nodes * T:
        return
    usable = site.allocation.is_usable().reshape(torus.shape, order="F")
    for shape in _shapes(grid.n_tasks // T, torus.shape):
        corner = _corner(usable, shape)
        if corner is not None:
            box = Torus(shape, tuple(w and n == m for w, n, m in zip(torus.wrap, shape, torus.shape)), torus.bandwidth,
                        torus.cables, torus.axes)
            mapping = best_product(box, grid, T).mapping()
            node = torus.node((mapping.coordinates() + corner) % torus.shape)
            yield f"product of {box}", slots_of(site, node, mapping.slot_of_rank)


def _shapes(n: int, largest: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all boxes of n nodes with no side above `largest`."""
    if not largest:
        return [()] if n == 1 else []
    return [(side, *rest) for side in divisors(n) if side <= largest[0] for rest in _shapes(n // side, largest[1:])]


def _corner(usable: Bools, shape: tuple[int, ...]) -> Ints | None:
    """Return the lowest corner of a box of that shape whose nodes are all usable, or None. Boxes may wrap around."""
    whole = usable
    for i, side in enumerate(shape):
        whole = np.logical_and.reduce([np.roll(whole, -step, axis=i) for step in range(side)])
    corners = np.argwhere(whole)
    return corners[0] if len(corners) else None


def bisections(site: Site, grid: ProcessGrid) -> Starts:
    """Yield recursive bisections of the slots into compact groups across the longest side, ties to first or last axis."""
    for dimension, size in zip(grid.decomposition.dimensions, grid.shape):
        for turn in (1, -1):
            order = np.concatenate(_bisection(site, grid.n_tasks // size, size, turn))
            yield f"bisection {dimension.name}s", dealt(order, grid, dimension.letter)


def _bisection(site: Site, count: int, size: int, turn: int) -> list[Ints]:
    where = _coordinates(site)
    return [_compact(where, group)[:size] for group in _bisected(where, np.arange(len(where)), count, turn)]


def compact(site: Site, grid: ProcessGrid) -> Starts:
    """Yield blobs, spectral and geometric parts as groups along each dimension, with the groups across matched."""
    for dimension, size in zip(grid.decomposition.dimensions, grid.shape):
        count = grid.n_tasks // size
        for name, order in grown(site, count, size, partial(_bisection, site, count, size, 1)):
            yield f"{name} {dimension.name}s", dealt(order, grid, dimension.letter)


def _coordinates(site: Site) -> Ints:
    """Return coordinates and slot of every slot: int array, shape (S, d + 1)."""
    T = site.tasks_per_node
    nodes = np.repeat(site.network.coordinates(site.allocation.nodes), T, axis=0)
    return np.concatenate([nodes, np.tile(np.arange(T), site.allocation.n_nodes)[:, None]], axis=1)


def _bisected(where: Ints, slots: Ints, groups: int, turn: int) -> list[Ints]:
    if groups == 1:
        return [slots]
    low = groups // 2
    ordered = slots[_across_longest(where[slots], turn)]
    cut = len(slots) * low // groups
    return _bisected(where, ordered[:cut], low, turn) + _bisected(where, ordered[cut:], groups - low, turn)


def _across_longest(where: Ints, turn: int) -> Ints:
    """Return the order along the longest side, within a plane along the next longest, and so on, node by node."""
    extent = np.ptp(where[:, :-1], axis=0)
    axes = sorted(range(len(extent)), key=lambda i: (extent[i], -turn * i))
    return np.lexsort([where[:, -1], *(where[:, i] for i in axes)])


def _compact(where: Ints, group: Ints) -> Ints:
    """Return the slots of a group, the middle slots first, so that leftover slots lie at the edge; then in axis order."""
    distance = np.abs(where[group, :-1] - np.median(where[group, :-1], axis=0)).sum(axis=1)
    return group[np.argsort(distance, kind="stable")]


def boxes(site: Site, grid: ProcessGrid) -> Starts:
    """Yield slots box by box, for boxes that hold about a group of a dimension."""
    where = _coordinates(site)
    for dimension, size in zip(grid.decomposition.dimensions, grid.shape):
        for box in _boxes_of(site, size):
            inner, outer = where[:, :-1] % box, where[:, :-1] // box
            order = np.lexsort([where[:, -1], *inner.T, *outer.T])
            yield f"boxes {'x'.join(map(str, box))} {dimension.name}s", dealt(order[:grid.n_tasks], grid, dimension.letter)


def _boxes_of(site: Site, size: int) -> list[tuple[int, ...]]:
    """Return the most cubic boxes with at least as many slots as a group, and few more."""
    shape, T = site.network.shape, site.tasks_per_node
    if prod(min(n, 16) for n in shape) > 1 << 16:
        return []
    result = [box for box in cartesian(*(range(1, min(n, 16) + 1) for n in shape)) if size <= prod(box) * T <= 1.5 * size]
    return sorted(result, key=lambda box: (prod(box), sum(box), box))[:MOST_BOXES]


MOST_SLOTS = 1024  # beyond, eigenvectors take longer than the search
MOST_CUTS = 1024   # that are kept for other grids on the same slots
MATCHINGS = 3      # rounds; the pattern of a round is the mean places of the round before
FADING = 0.01      # how much less a link of the next dimension counts

Groups = list[np.ndarray]


def blobs(site: Site, sizes: Sequence[int]) -> Groups:
    """Return groups of slots that grow by distance.

    Parameters
    ----------
    site : Site
    sizes : sequence of int
        Slots of each group.

    Returns
    -------
    list of ndarray of int
        The slots of each group, nearest first.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> [group.tolist() for group in blobs(Site(Torus((6,), (False,))), [3, 3])]
    [[0, 1, 2], [5, 4, 3]]
    """
    apart = distances(site)
    far, free, groups = apart.sum(axis=1), np.ones(len(apart), dtype=bool), []
    for size in sizes:
        centre = int(np.argmax(np.where(free, far, -1)))
        group, near = [centre], apart[centre].copy()
        free[centre] = False
        for _ in range(size - 1):
            centre = int(np.argmin(np.where(free, near, np.iinfo(np.int64).max)))
            group.append(centre)
            free[centre] = False
            near += apart[centre]
        groups.append(np.array(group))
    return groups


def spectral(site: Site, sizes: Sequence[int]) -> Groups:
    """Return groups of slots by recursive cuts along the second eigenvector.

    Parameters
    ----------
    site : Site
    sizes : sequence of int
        Slots of each group.

    Returns
    -------
    list of ndarray of int
        The slots of each group.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> sorted(sorted(group.tolist()) for group in spectral(Site(Torus((4, 2), (False, False))), [4, 4]))
    [[0, 1, 4, 5], [2, 3, 6, 7]]
    """
    return _cut((as_torus(site.network), site.tasks_per_node, site.allocation.nodes.tobytes()), np.arange(site.n_slots),
                list(sizes))


def _cut(where: tuple[Torus, int, bytes], slots: Ints, sizes: Sequence[int]) -> list[Ints]:
    if len(sizes) == 1:
        return [slots[:sizes[0]]]
    half, order = len(sizes) // 2, _along(*where, slots.tobytes())
    left = len(order) * sum(sizes[:half]) // sum(sizes)
    return _cut(where, order[:left], sizes[:half]) + _cut(where, order[left:], sizes[half:])


@lru_cache(maxsize=MOST_CUTS)
def _along(torus: Torus, tasks_per_node: int, nodes: bytes, slots: Any) -> Any:
    """Return slots in the order of the second eigenvector of their graph. Grids whose parts are alike share the cuts."""
    slots = np.frombuffer(slots, dtype=np.int64)
    part = _affinity(torus, tasks_per_node, nodes)[np.ix_(slots, slots)]
    _, vectors = np.linalg.eigh(np.diag(part.sum(axis=1)) - part)
    along = vectors[:, 1]
    along = along * np.sign(along[np.argmax(np.abs(along) > 1e-6)])  # eigenvectors have no sign of their own
    return slots[np.argsort(along.round(9), kind="stable")]


@lru_cache(maxsize=1)
def _affinity(torus: Torus, tasks_per_node: int, nodes: bytes) -> Floats:
    """Return how strongly two slots belong together: 2 on one node, about 1 on neighbours, small but positive beyond."""
    places = np.repeat(torus.coordinates(np.frombuffer(nodes, dtype=np.int64)), tasks_per_node, axis=0)
    apart = hops_apart(torus, places, places)
    affinity = np.where(apart == 0, 2.0, 1e-3 / (1.0 + apart) ** 2)
    for i in range(torus.n_dimensions):
        affinity[(apart == 1) & (places[:, None, i] != places[None, :, i])] = 1.0 - FADING * i
    np.fill_diagonal(affinity, 0.0)
    return affinity


def matched(site: Site, groups: Groups) -> Groups:
    """Return the groups, all of equal size, with members of the same number in like places of their groups."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    torus, where = as_torus(site.network), _places(site)
    offsets = [_offsets(torus, where[group]) for group in groups]
    pattern, orders = offsets[0], [np.arange(len(group)) for group in groups]
    for _ in range(MATCHINGS):
        orders = [linear_sum_assignment(np.abs(pattern[:, None, :] - near[None, :, :]).sum(axis=2))[1] for near in offsets]
        pattern = np.mean([offset[order] for offset, order in zip(offsets, orders)], axis=0)
    return [group[order] for group, order in zip(groups, orders)]


def _offsets(torus: Torus, where: Ints) -> Floats:
    """Return places relative to the middle of a group; on a ring the shorter way from the first member."""
    n = np.array(torus.shape)
    ring = np.array([torus.is_ring(i) for i in range(torus.n_dimensions)])
    offsets = where - where[0]
    offsets = np.where(ring, (offsets + n // 2) % n - n // 2, offsets)
    return offsets - offsets.mean(axis=0)


def _places(site: Site) -> Ints:
    """Return the coordinates of the node of every slot: int array, shape (S, d)."""
    return np.repeat(site.network.coordinates(site.allocation.nodes), site.tasks_per_node, axis=0)


def distances(site: Site) -> np.ndarray:
    """Return the hops between any two slots: int array, shape (S, S)."""
    where = _places(site)
    return hops_apart(as_torus(site.network), where, where)


def hops_apart(torus: Torus, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the hops between any two coordinates of two sets.

    Parameters
    ----------
    torus : Torus
    some, others : int array, shapes (A, d) and (B, d)
        Coordinates of nodes.

    Returns
    -------
    int array, shape (A, B)
    """
    result = np.zeros((len(some), len(others)), dtype=np.int64)
    for i, n in enumerate(torus.shape):
        hops = np.abs(some[:, None, i] - others[None, :, i])
        result += np.minimum(hops, n - hops) if torus.is_ring(i) else hops
    return result


def grown(site: Site, count: int, size: int, geometric: Callable[[], Groups]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield named orders of slots: blobs, spectral and geometric parts as groups, all matched.

    Parameters
    ----------
    site : Site
    count, size : int
        Number of groups, and slots of each.
    geometric : callable
        Gives the geometric parts.
    """
    if site.n_slots > MOST_SLOTS or min(count, size) < 2:
        return
    ways: dict[str, Callable[[], Groups]] = {"blobs": lambda: blobs(site, [size] * count),
                                             "spectral": lambda: spectral(site, [size] * count), "parts": geometric}
    for name, make in ways.items():
        yield name, np.concatenate(matched(site, make()))
