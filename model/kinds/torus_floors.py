"""The least possible worst length of an exchange, for any form of the other exchange.

All lengths are on the m scale, with slower links counted longer, for even blocks. A group has `size` tasks of an exchange.
Proofs are in docs/theory.md.

*Distances.* Every task has size-1 partners, which are at best on the nearest slots. A message over h hops loads h links.
The floor is the sum of these hops divided by the capacity of all links.

*First hops*, under dimension order. In the first dimension in which a group takes more than one coordinate, its messages
leave on the line of their source. Of k >= 2 coordinates one holds c <= size/k of its tasks. A node there sends size - c
messages through at most two links, so one link carries half of 1 - 1/k of a task's data: the floor is 2 (1 - 1/k) N/P. On
an open line the first and the last coordinate send all one way, and one coordinate holds at most half of the tasks: the
floor is 2 N/P. The same holds for two coordinates of a ring that are not opposite. For two opposite coordinates, on a ring
of even extent, the floor is 1 N/P, for three or more at least 4/3 N/P.

*First hops and distances*, under dimension order. Let a be the worst length, as if there were one task a node, and a < 2.
In the first dimension in which a group varies, a share w of the group on one coordinate sends 1-w through two links, at
most a/4 through each. So w >= e = 1 - a/2. Half the ring or less cannot hold the whole group, because its outermost
coordinates would send all one way. So every arc of half a ring holds between e and 1-e of the group, and its messages go n
e (1-e) hops in this dimension in the mean. The same holds for the last dimension in which the group varies, in which
messages arrive. Open lines and pairs of nodes cannot be first or last at all. A group that is too large for a line has two
such dimensions. If every group had both here, the links of the dimension would carry 2 n e (1-e). So not all groups find
room unless a >= 2 - d/n, on d rings of n nodes. For a group on a line the first dimension can be the last.

*Spread.* Hops against entropy, `pencilmap.model.kinds.torus_spread`: mostly the best if groups are not too large.

*Computation.* For some small tori and sizes a floor was proved by trying all remaining cases, if rows of equal size fill a
torus with one task a node, for equal links and dimension order with ties split. `model/data/row_floors.csv` has these.

*One node.* All messages from a node's tasks to tasks elsewhere leave by its links (if no slot is idle).
"""

import csv
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from pencilmap.model.kinds.kind import nearest
from pencilmap.model.kinds.torus_optima import reduced_torus
from pencilmap.model.kinds.torus_spread import spread_floor
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site

STEPS = 20         # of halving, towards the least length
MOST_NODES = 2048  # of a machine with holes: distances between all nodes


def floor_of(site: Site, capacity: list[Fraction], size: int, n_tasks: int, ordered: bool, split: bool = False) -> Fraction:
    """Return the best floor on the worst length of an exchange on a torus.

    Parameters
    ----------
    site : Site
    capacity : list of Fraction
        Cables of a link in each dimension over its weight.
    size : int
        Tasks of a group.
    n_tasks : int
        Tasks of all groups together.
    ordered : bool
        Whether messages take dimension order, in any order of the dimensions.
    split : bool
        Whether messages half round a ring then go both ways, half each.

    Examples
    --------
    >>> floor_of(Site(Torus((8, 8, 8), (False,) * 3)), [Fraction(1)] * 3, 8, 512, True)
    Fraction(2, 1)
    """
    torus, found = as_torus(site.network), max((Fraction(0), *_floors(site, capacity, size, n_tasks, ordered)))
    if not ordered or size <= site.tasks_per_node or torus.n_nodes == 1:
        return found
    if split and site.tasks_per_node == 1 and n_tasks == torus.n_nodes and len(set(capacity)) == 1:
        found = max(found, proved_floor(torus, size) / capacity[0])
    return spread_floor(_dimensions(torus, capacity), size, site.tasks_per_node, Fraction(torus.n_nodes, n_tasks), split,
                        found)


def _floors(site: Site, capacity, size, n_tasks, ordered) -> Iterator[Fraction]:
    torus, T = as_torus(site.network), site.tasks_per_node
    if size <= 1 or torus.n_nodes == 1:
        return
    every = sum(2 * torus.lines(i) * torus.cable_positions(i) * capacity[i] for i in range(torus.n_dimensions))
    yield Fraction(4 * torus.n_nodes * _distances(site, size, n_tasks), n_tasks * size) / every
    if size <= T:
        return
    if ordered:
        slab = [_largest_slab(site, i) for i in range(torus.n_dimensions)]
        yield min(_first_hop(torus, i, -(-size // slab[i])) / capacity[i] for i in range(torus.n_dimensions)
                  if torus.shape[i] > 1) * Fraction(torus.n_nodes, n_tasks)
        yield _least_spread(torus, capacity, size, n_tasks, T)
    if n_tasks == site.n_slots:
        leaving = _least_ends(site, capacity)
        yield Fraction(4 * torus.n_nodes * T * (size - T), n_tasks * size) / leaving


def _dimensions(torus, capacity):
    """Return the dimensions in the form that `spread_floor` takes."""
    return tuple((n, torus.is_ring(i), capacity[i],
                  2 * torus.lines(i) * torus.cable_positions(i) * capacity[i] / (4 * torus.n_nodes))
                 for i, n in enumerate(torus.shape) if n > 1)


def _first_hop(torus, i, least):
    """Return the floor by first hops in dimension i, in units of N/P, if a group takes `least` coordinates or more."""
    if not torus.is_ring(i):
        return Fraction(2)
    if torus.shape[i] % 2 == 0 and least <= 2:
        return Fraction(1)
    return 2 - Fraction(2, max(3, least))


def _least_spread(torus, capacity, size, n_tasks, T):
    """Return the least length at which all groups find room, by first hops and distances, rounded down."""
    low, high = Fraction(0), 2 * Fraction(torus.n_nodes, n_tasks) / min(capacity)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _room(torus, capacity, size, n_tasks, T, middle) >= 1 else (middle, high)
    return low


def _room(torus, capacity, size, n_tasks, T, length):
    """Return the largest share of all groups that has room if no length is above `length`."""
    room = Fraction(0)
    for i, n in enumerate(torus.shape):
        if n == 1:
            continue
        here = length * capacity[i]
        least = 1 - here * n_tasks / (2 * torus.n_nodes)               # of a group, on one coordinate
        if least > 0 and (not torus.is_ring(i) or least > Fraction(1, 2)):
            continue
        two = _cost(n, max(least, 0)) / here
        one = _cost(n, max(least, 1 - Fraction((n + 1) // 2 * T, size))) / here if size <= T * n else None
        room += _most_groups(one, two)
    return room


def _cost(n, least):
    """Return the length that all groups cause along a ring of n nodes if every half holds `least` of each group or more."""
    least = min(least, Fraction(1, 2))
    return 2 * n * least * (1 - least)


def _most_groups(one, two):
    """Return the largest p + x/2 with one p + two x <= 1 and p + x <= 1; without p if `one` is None."""
    half = min(Fraction(1), 1 / two) / 2 if two else Fraction(1, 2)
    if one is None:
        return half
    if one <= 1:
        return Fraction(1)
    both = 1 - (one - 1) / (one - two) / 2 if two < 1 else Fraction(0)      # p + x = 1
    return max(half, 1 / one, both)


def _largest_slab(site, i):
    """Return the most slots that share a coordinate."""
    torus = site.network
    if site.allocation.is_complete:
        return torus.lines(i) * site.tasks_per_node
    where = torus.coordinates(site.allocation.nodes)[:, i]
    return int(np.bincount(where).max()) * site.tasks_per_node


def _least_ends(site, capacity):
    """Return the least capacity of the links that leave a usable node."""
    torus, nodes = site.network, site.allocation.nodes if not site.allocation.is_complete else None
    if nodes is None:
        return sum((1 if not torus.is_ring(i) else 2) * capacity[i] for i in range(torus.n_dimensions) if torus.shape[i] > 1)
    ends = [np.full(len(nodes), 2) if torus.is_ring(i) else (where > 0).astype(int) + (where < n - 1)
            for i, (n, where) in enumerate(zip(torus.shape, torus.coordinates(nodes).T))]
    return min(sum(int(end) * cables for end, cables in zip(node, capacity)) for node in np.unique(ends, axis=1).T)


def _distances(site: Site, size: int, n_tasks: int) -> int:
    """Return the hops from a task to its nearest `size` slots with its own, summed over the `n_tasks` best tasks."""
    torus, T = as_torus(site.network), site.tasks_per_node
    if site.allocation.is_complete:
        near = _nearest_of_all(torus, size, T)
        return near * n_tasks
    nodes = site.allocation.nodes
    if len(nodes) > MOST_NODES:
        return _nearest_of_all(torus, size, T) * n_tasks
    hops = np.sort(hops_between(torus, nodes), axis=1)
    return nearest(hops, size, T, n_tasks)


def _nearest_of_all(torus, size, T):
    """Return the hops to the nearest `size` slots, from a node with the most nodes nearby."""
    at = np.ones(1, dtype=object)                            # nodes at each distance
    for n in torus.shape:
        here = np.bincount(np.abs(np.arange(n) - n // 2)).astype(object)
        at = np.convolve(at, here)
    hops, left = 0, size
    for distance, nodes in enumerate(at):
        taken = min(left, int(nodes) * T)
        hops, left = hops + taken * distance, left - taken
    return hops


def hops_between(torus: Torus, nodes: Any) -> np.ndarray:
    """Return the hops between every two of some nodes: int array, shape (n, n)."""
    where = torus.coordinates(nodes)
    total = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
    for i, n in enumerate(torus.shape):
        apart = np.abs(where[:, None, i] - where[None, :, i])
        total += np.minimum(apart, n - apart) if torus.is_ring(i) else apart
    return total


def proved_floor(torus: Torus, size: int) -> Fraction:
    """Return the least length of rows of `size` nodes on a torus, on the m scale; 0 without a proof.

    >>> proved_floor(Torus((4, 4, 4)), 8), proved_floor(Torus((4, 4, 4)), 2)
    (Fraction(2, 1), Fraction(0, 1))
    """
    return _table().get((str(reduced_torus(torus)), size), Fraction(0))


@lru_cache
def _table():
    text = files("pencilmap.model").joinpath("data", "row_floors.csv").read_text(encoding="ascii")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {(row["torus"], int(row["size"])): Fraction(row["floor"]) for row in csv.DictReader(lines)}
