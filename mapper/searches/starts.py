"""Starting placements of the local search: launchers' orders, and groups of neighbouring slots.

A start is an order of slots. The ranks take the slots in this order, group by group along one dimension of the process
grid. An order that keeps neighbours together makes these groups compact.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain, count, islice, permutations, product as cartesian
from math import prod
from typing import Any

import numpy as np

from pencilmap.mapper.searches.compact_groups import MOST_SLOTS, grown, hops_apart
from pencilmap.mapper.searches.default_order import FILLING, default
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.model.base.factors import divisors
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, dealt
from pencilmap.model.predict import predict
from pencilmap.model.traffic.objective import Objective

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
    for some in permutations(long):
        axes = "".join(some) + short
        yield axes + "t"
        yield "t" + axes


def slots_of(site: Site, node: np.ndarray, slot: np.ndarray) -> np.ndarray:
    """Return the slot numbers of places given as node and slot."""
    place = np.full(site.network.n_nodes, -1, dtype=np.int64)
    place[site.allocation.nodes] = np.arange(site.allocation.n_nodes)
    return place[node] * site.tasks_per_node + slot


def products(site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> Starts:
    """Yield the best product placements of the whole torus with groups of the right size.

    If the torus has no such product, yield products with the next shorter and the next longer groups.

    Parameters
    ----------
    site : Site
        Its unusable slots are skipped.
    grid : ProcessGrid
    wanted : Objective, optional
        Objective of `best_product`.
    """
    for product, dimension in _whole_products(site, grid, wanted):
        yield f"product {dimension.name}s", _skipping(product, site, grid, dimension)


def likely_product(site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> np.ndarray:
    """Return the slots of the start of `products` with the least cost on the whole torus, without routing."""
    found = [(predict(product).cost, k, product, dimension)
             for k, (product, dimension) in enumerate(_whole_products(site, grid, wanted))]
    *_, product, dimension = min(found, key=lambda some: some[:2])
    return _skipping(product, site, grid, dimension)


def _whole_products(site, grid, wanted):
    n_slots = site.network.n_nodes * site.tasks_per_node
    if grid.decomposition is not PENCIL:  # the objective is of other exchanges
        wanted = None
    for dimension, length in zip(grid.decomposition.dimensions, grid.shape):
        for size in _nearest_divisors(n_slots, length):  # rows of pencils for any decomposition
            yield best_product(as_torus(site.network), ProcessGrid(size, n_slots // size), site.tasks_per_node,
                               wanted), dimension


def _skipping(product, site, grid, dimension):
    mapping = product.mapping()
    kept = site.allocation.is_usable()[mapping.node_of_rank]
    order = slots_of(site, mapping.node_of_rank[kept], mapping.slot_of_rank[kept])
    return dealt(order[:grid.n_tasks], grid, dimension.letter)


def _nearest_divisors(n, length):
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


def _most(values, count):
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


def _shapes(n, largest):
    """Return all boxes of n nodes with no side above `largest`."""
    if not largest:
        return [()] if n == 1 else []
    return [(side, *rest) for side in divisors(n) if side <= largest[0] for rest in _shapes(n // side, largest[1:])]


def _corner(usable, shape):
    """Return the lowest corner of a box of that shape whose nodes are all usable, or None. Boxes may wrap around."""
    whole = usable
    for i, side in enumerate(shape):
        whole = np.logical_and.reduce([np.roll(whole, -step, axis=i) for step in range(side)])
    found = np.argwhere(whole)
    return found[0] if len(found) else None


def bisections(site: Site, grid: ProcessGrid) -> Starts:
    """Yield recursive bisections of the slots into compact groups across the longest side, ties to first or last axis."""
    for dimension, size in zip(grid.decomposition.dimensions, grid.shape):
        for turn in (1, -1):
            order = np.concatenate(_bisection(site, grid.n_tasks // size, size, turn))
            yield f"bisection {dimension.name}s", dealt(order, grid, dimension.letter)


def _bisection(site, count, size, turn):
    where = _coordinates(site)
    return [_compact(where, group)[:size] for group in _bisected(where, np.arange(len(where)), count, turn)]


def compact(site: Site, grid: ProcessGrid) -> Starts:
    """Yield blobs, spectral and geometric parts as groups along each dimension, with the groups across matched."""
    for dimension, size in zip(grid.decomposition.dimensions, grid.shape):
        count = grid.n_tasks // size
        for name, order in grown(site, count, size, partial(_bisection, site, count, size, 1)):
            yield f"{name} {dimension.name}s", dealt(order, grid, dimension.letter)


def _coordinates(site):
    """Return coordinates and slot of every slot: int array, shape (S, d + 1)."""
    T = site.tasks_per_node
    nodes = np.repeat(site.network.coordinates(site.allocation.nodes), T, axis=0)
    return np.concatenate([nodes, np.tile(np.arange(T), site.allocation.n_nodes)[:, None]], axis=1)


def _bisected(where, some, groups, turn):
    if groups == 1:
        return [some]
    low = groups // 2
    ordered = some[_across_longest(where[some], turn)]
    cut = len(some) * low // groups
    return _bisected(where, ordered[:cut], low, turn) + _bisected(where, ordered[cut:], groups - low, turn)


def _across_longest(where, turn):
    """Return the order along the longest side, within a plane along the next longest, and so on, node by node."""
    extent = np.ptp(where[:, :-1], axis=0)
    axes = sorted(range(len(extent)), key=lambda i: (extent[i], -turn * i))
    return np.lexsort([where[:, -1], *(where[:, i] for i in axes)])


def _compact(where, group):
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


def _boxes_of(site, size):
    """Return the most cubic boxes with at least as many slots as a group, and few more."""
    shape, T = site.network.shape, site.tasks_per_node
    if prod(min(n, 16) for n in shape) > 1 << 16:
        return []
    found = [box for box in cartesian(*(range(1, min(n, 16) + 1) for n in shape)) if size <= prod(box) * T <= 1.5 * size]
    return sorted(found, key=lambda box: (prod(box), sum(box), box))[:MOST_BOXES]
