"""Shortest paths on any graph, with the load split evenly over all of them, or evenly at each hop.

Idea: the traffic of one root (the source of messages, or their target) moves level by level from the farthest vertices
nearer to the root. An arc from level l to level l - 1 takes a fixed share of what its far vertex holds. The levels of all
roots are walked together, so a level is a few array operations, and the shares are kept for the next exchange. Hosts with
one link are taken together at the vertex on which they hang.
Shares: for shortest paths, the paths from the root to the near vertex, times the cables of the arc, over the paths to the
far vertex. With a split at each hop, as switches with equal-cost routes choose cables by a hash, the cables of the arc over
all cables of the far vertex that lead nearer. A cable counts as one whatever its rate, because a hash knows no rates.
Source: U. Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25 (2001), with bytes in place of
pairs. C. Hopps, "Analysis of an equal-cost multi-path algorithm", RFC 2992 (2000).
Cost: O(L) for each root, L links.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.network import Arcs, Network, leaves
from pencilmap.model.routing.routes import Legs, shortest_legs
from pencilmap.model.routing.rule import Rule, without_argument
from pencilmap.model.traffic.exchange import Exchange, Traffic, messages_between, node_totals
from pencilmap.model.traffic.loads import LinkLoads, without_rounding

MOST_KEPT = 1 << 23  # arcs times roots whose shares are kept: about 100 MB
AT_ONCE = 1 << 19    # arcs times roots that are walked together: as many as fit in a cache
FEW = 4              # vertices for each root, at most, to compute the shares of all vertices, which serve all exchanges


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
    loads, (of_root, at) = np.zeros(len(arcs.source)), (traffic.col, traffic.row) if by_hop else (traffic.row, traffic.col)
    roots, number = np.unique(of_root, return_inverse=True)
    most, step = (max(1, number // max(1, len(arcs.source))) for number in (MOST_KEPT, AT_ONCE))
    if arcs.n_vertices <= min(most, FEW * len(roots)):
        roots, number = np.arange(arcs.n_vertices), of_root
    levels = _kept if most >= len(roots) else _levels
    for first in range(0, len(roots), step):
        part = roots[first:first + step]
        mine = (number >= first) & (number < first + step)
        if not mine.any():  # roots without traffic
            continue
        place = (number[mine] - first) * arcs.n_vertices + at[mine]
        held = np.bincount(place, traffic.data[mine], len(part) * arcs.n_vertices)
        for level in levels(arcs, part.tobytes(), by_hop):
            moved = held[level.far] * level.share
            loads += np.bincount(level.arc, moved, len(loads))
            held[level.near] += np.add.reduceat(moved, level.begin)
    return loads


@lru_cache(maxsize=4)
def _turned(arcs: Arcs) -> Arcs:
    """Return the arcs in the opposite direction, which keep their distances."""
    return arcs.back


def _levels(arcs: Arcs, roots: bytes, by_hop: bool) -> list[_Level]:
    """Return the levels from the farthest on."""
    levels, V = [], arcs.n_vertices
    outwards = _turned(arcs) if by_hop else arcs
    start, end, by_start = outwards.source, outwards.target, np.argsort(outwards.source, kind="stable")
    starts = np.frombuffer(roots, dtype=np.int64)
    hops = outwards.distances(starts).ravel()
    hops = np.where(np.isfinite(hops), hops, -2).astype(np.int16 if V < 1 << 15 else np.int32)  # 16 bits sort fast
    root, arc = np.nonzero(hops.reshape(-1, V)[:, end[by_start]] == hops.reshape(-1, V)[:, start[by_start]] + 1)
    arc = by_start[arc]
    near, far = root * V + start[arc], root * V + end[arc]
    paths = np.zeros(len(starts) * V)
    paths[np.arange(len(starts)) * V + starts] = 1
    width = np.bincount(far, arcs.ways[arc], len(paths)) if by_hop else paths
    level = hops[near]
    order = np.argsort(level, kind="stable")  # in a level by `near`
    for pairs in np.split(order, np.flatnonzero(np.diff(level[order])) + 1) if len(order) else ():
        if not by_hop:
            np.add.at(paths, far[pairs], paths[near[pairs]] * arcs.ways[arc[pairs]])
        part = arcs.ways[arc[pairs]] * (1 if by_hop else paths[near[pairs]])
        begin = np.flatnonzero(np.diff(near[pairs], prepend=-1))
        levels.append(_Level(arc[pairs], far[pairs], near[pairs][begin], begin, part / width[far[pairs]]))
    return levels[::-1]


_kept = lru_cache(maxsize=4 * MOST_KEPT // AT_ONCE)(_levels)


@dataclass(frozen=True)
class ShortestPath(Rule):
    """The rule as a value."""

    by_hop: bool = False

    def loads(self, network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        return loads_beyond_leaves(network, exchange, node_of_rank, self.even)

    @property
    def even(self) -> Callable[[Arcs, Traffic], Floats]:
        """The load of each arc for some traffic."""
        return partial(even_loads_of_arcs, by_hop=self.by_hop)

    def legs(self, network: Network, routers: Ints) -> Legs:
        """Return the routes between routers."""
        return shortest_legs(network.router_arcs(), routers, self.by_hop)


SHORTEST_PATH = without_argument("shortest-path", "split evenly over all shortest paths, each cable as a path of its own",
                                 ShortestPath())
EACH_HOP = without_argument("each-hop", "along shortest paths, split at each hop evenly over the cables (ECMP), whatever "
                            "their rates", ShortestPath(by_hop=True))


def loads_beyond_leaves(network: Network, exchange: Exchange, ends: np.ndarray,
                        even: Callable[[Arcs, Traffic], Floats]) -> LinkLoads:
    """Return the loads of all links of a graph: those of leaves, which no routing decides, and the others by `even`."""
    arcs = network.arcs()
    is_leaf, home, inner = leaves(arcs, network.n_nodes)
    values = np.zeros(len(arcs.source))
    values[inner.index] = even(inner, messages_between(exchange, home[ends], inner.n_vertices))
    for vertex, held in zip((arcs.source, arcs.target), node_totals(exchange, ends, network.n_nodes)):
        links = np.flatnonzero(is_leaf[vertex])
        values[links] = held[vertex[links]]
    flat = np.zeros(int(np.prod(network.link_shape)))
    flat[arcs.index] = without_rounding(values)
    return LinkLoads(network, flat.reshape(network.link_shape), exchange.total_bytes)
