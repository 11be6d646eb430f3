"""Loads of routes that split evenly, for all ends of the messages at once.

Idea: the traffic of one root (the source of messages, or their target) moves level by level from the farthest vertices
nearer to the root. An arc from level l to level l - 1 takes a fixed share of what its far vertex holds. The levels of all
roots are walked together, so a level is a few array operations, and the shares are kept for the next exchange.
Shares: for shortest paths, the paths from the root to the near vertex over those to the far vertex (U. Brandes, "A faster
algorithm for betweenness centrality", J. Math. Sociology 25 (2001)). With a split at each hop, the cables of the arc over
all cables of the far vertex that lead nearer.
Cost: O(L) for each root, L links.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs
from pencilmap.model.traffic.pairs import Traffic

AT_ONCE = 1 << 23  # arcs times roots: about 100 MB
FEW = 4            # vertices for each root, at most, to compute the shares of all vertices, which serve all exchanges


@dataclass(frozen=True, eq=False)
class _Level:
    """The arcs from one level to the next nearer one, of all roots.

    arc : numbers of the arcs; far, near : number of the root times the vertices, plus the vertex; `near` without
    repetition, its arcs begin at `begin`; share : of what `far` holds
    """

    arc: Ints
    far: Ints
    near: Ints
    begin: Ints
    share: Floats


def even_loads_of_arcs(arcs: Arcs, traffic: Traffic, by_hop: bool = False) -> Floats:
    """Return the load of each arc if messages are split evenly: float array, shape (A,).

    Parameters
    ----------
    arcs : Arcs
    traffic : Traffic
        Between the first vertices.
    by_hop : bool
        Whether each vertex splits over its cables towards the target; otherwise messages are split over all shortest paths.

    Examples
    --------
    >>> ring = Arcs(4, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0]), np.arange(4), np.ones(4))    # one way
    >>> even_loads_of_arcs(ring, Traffic(4, np.array([0]), np.array([2]), np.array([5]))).tolist()
    [5.0, 5.0, 0.0, 0.0]
    """
    found, (of_root, at) = np.zeros(len(arcs.source)), (traffic.col, traffic.row) if by_hop else (traffic.row, traffic.col)
    roots, number = np.unique(of_root, return_inverse=True)
    step = max(1, AT_ONCE // max(1, len(arcs.source)))
    if arcs.n_vertices <= min(step, FEW * len(roots)):
        roots, number = np.arange(arcs.n_vertices), of_root
    for first in range(0, len(roots), step):
        some = roots[first:first + step]
        mine = (number >= first) & (number < first + step)
        place = (number[mine] - first) * arcs.n_vertices + at[mine]
        held = np.bincount(place, traffic.data[mine], len(some) * arcs.n_vertices)
        for level in (_kept if step >= len(roots) else _levels)(arcs, some.tobytes(), by_hop):
            moved = held[level.far] * level.share
            found += np.bincount(level.arc, moved, len(found))
            held[level.near] += np.add.reduceat(moved, level.begin)
    return found


def _levels(arcs: Arcs, roots: bytes, by_hop: bool) -> list[_Level]:
    """Return the levels from the farthest on."""
    found, V = [], arcs.n_vertices
    start, end = (arcs.target, arcs.source) if by_hop else (arcs.source, arcs.target)  # outwards from the root
    some = np.frombuffer(roots, dtype=np.int64)
    hops = Arcs(V, start, end, arcs.index, arcs.capacity).distances(some).ravel()
    step = hops.reshape(-1, V)[:, start]
    root, arc = np.nonzero(np.isfinite(step) & (hops.reshape(-1, V)[:, end] == step + 1))
    near, far = root * V + start[arc], root * V + end[arc]
    paths = np.zeros(len(some) * V)
    paths[np.arange(len(some)) * V + some] = 1
    width = np.bincount(far, arcs.capacity[arc], len(paths)) if by_hop else paths
    level = hops[near].astype(np.int64)
    order = np.lexsort([near, level])
    for pairs in np.split(order, np.flatnonzero(np.diff(level[order])) + 1) if len(order) else ():
        if not by_hop:
            np.add.at(paths, far[pairs], paths[near[pairs]])
        part = arcs.capacity[arc[pairs]] if by_hop else paths[near[pairs]]
        begin = np.flatnonzero(np.diff(near[pairs], prepend=-1))
        found.append(_Level(arc[pairs], far[pairs], near[pairs][begin], begin, part / width[far[pairs]]))
    return found[::-1]


_kept = lru_cache(maxsize=4)(_levels)
