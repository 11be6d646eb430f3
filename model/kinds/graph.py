"""Graphs: hosts, switches and cables of a file, of which nothing more is known, or which were recognised as a torus.

The torus or mesh that hosts and their cables form: a Cartesian product of rings and lines.

Two cables of a host lie in different factors of a product if and only if they are two sides of a square that is no triangle.
So the cables of one host give the factors there, and a walk straight ahead gives each ring or line through it. The walk
begins at a host with the fewest cables: an end of every line. Distances add up over the factors. So the position of any host
on a ring or line follows from its distances to at most three hosts there, in time of the cables.

A ring of four is a square, the product of two pairs. If all factors are pairs, the graph is a hypercube; else two pairs with
cables alike become a ring of four.
Source: W. Imrich, I. Peterin, "Recognizing Cartesian products in linear time", Discrete Math. 307 (2007), for factors that
are rings and lines alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import GraphError, TorusError
from pencilmap.model.kinds import torus
from pencilmap.model.kinds.cabling import Cabling, Neighbours, NotThisKind
from pencilmap.model.kinds.kind import Bound, Kind, Optima
from pencilmap.model.kinds.reading import bandwidths
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus
from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL
from pencilmap.model.routing.rule import RoutingRule, Rule
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads
from pencilmap.model.traffic.program import Traffic


def _only_from_files(text: str, **options: Any) -> Any:
    raise GraphError(f"network graph:{text[:60]}: a graph has no text form; give the file of its cables")


KIND = Kind("graph", "", "hosts, switches and cables of a file", "link", GraphNetwork, _only_from_files,
            (SHORTEST_PATH, EACH_HOP, OPTIMAL_MINIMAL))


def of_torus(site: Site) -> Site:
    """Return the same site on the torus that its network was recognised as; the site itself if there is none.

    Bounds and costs of placements are the same there.
    """
    graph = site.network
    return site.moved(graph.torus, graph.node_of_host) if isinstance(graph, TorusGraph) else site


@dataclass(frozen=True)
class Carried(Rule):
    """A rule of the torus: loads are computed there and carried over to the links of the graph."""

    rule: Any

    def loads(self, network: TorusGraph, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link of the graph."""
        result = self.rule.loads(network.torus, exchange, network.node_of_host[node_of_rank])
        values = result.values.reshape(-1)[network.place_in_torus].reshape(network.link_shape)
        return LinkLoads(network, values, result.total_bytes, result.denominator)


@dataclass(frozen=True, eq=False)
class TorusGraphKind(Kind):
    """Graphs with the bounds of their torus, which is of the kind `of`."""

    of: Kind = torus.KIND

    def cut_bound(self, network: TorusGraph, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of planes."""
        return _of_torus(network.torus, self.of.cut_bound(network.torus, exchange, network.node_of_host[ends]))

    def machine_bound(self, network: TorusGraph) -> tuple[Fraction, ...]:
        """Return the bound of planes."""
        return _of_torus(network.torus, self.of.machine_bound(network.torus))

    def together(self, site: Site, grid: ProcessGrid, transform: Transform | None) -> Iterable[Bound]:
        """Return the bounds of the torus."""
        return self.of.together(of_torus(site), grid, transform)

    def alone(self, site: Site, grid: ProcessGrid, size: int, ordered: bool, split: bool) -> Fraction:
        """Return the best floor on the torus."""
        return self.of.alone(of_torus(site), grid, size, ordered, split)

    def in_turn(self, site: Site, grid: ProcessGrid, sizes: tuple[int, int], ordered: bool, split: bool,
                brief: bool) -> Iterable[Bound]:
        """Return the bounds of the torus."""
        return self.of.in_turn(of_torus(site), grid, sizes, ordered, split, brief)

    def program_bound(self, site: Site, traffic: Traffic) -> float:
        """Return the bound of the torus."""
        return super().program_bound(of_torus(site), traffic)

    def optima(self, site: Site, grid: ProcessGrid) -> Optima | None:
        """Return the optima of small machines."""
        return self.of.optima(of_torus(site), grid)

    def joint_factor(self, site: Site, grid: ProcessGrid) -> Fraction:
        """Return the factor of binding dimensions."""
        return self.of.joint_factor(of_torus(site), grid)

    def why_unreachable(self, site: Site, grid: ProcessGrid) -> str | None:
        """Return the reason of binding dimensions."""
        return self.of.why_unreachable(of_torus(site), grid)

    def spectral(self, site: Site, sizes: tuple[int, int], routing_name: str, known: float) -> Bound | None:
        """Return the bound by weights on links, for the routings of the torus or for any routing."""
        is_known = routing_name.partition(":")[0] in self.of.routings
        return self.of.spectral(of_torus(site), sizes, routing_name if is_known else "", known)


def _of_torus(network: Any, bound: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the bound of the class whose links take longest, for all links in one class."""
    return (max(load * weight for load, weight in zip(bound, link_weights(network))),)


def carried(rule: RoutingRule) -> RoutingRule:
    """Return a rule of the torus as a rule of the graph."""
    return replace(rule, make=lambda argument: Carried(rule.make(argument)))

MOST_FACTORS = 2 * MAX_DIMENSIONS
MOST_CABLES = 2 * MOST_FACTORS  # of a host


def recognise(cabling: Cabling) -> TorusGraph:
    """Return the graph of a cabling together with the torus or mesh that it is.

    Raises
    ------
    NotThisKind
        If it is none.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.kinds.cabling import cabling_of
    >>> from pencilmap.model.network.graph import from_networkx
    >>> product = nx.cartesian_product(nx.cycle_graph(5), nx.path_graph(3))
    >>> str(recognise(cabling_of(from_networkx(product, "net"))).torus)
    '3x5w'
    """
    n = cabling.n_hosts
    if cabling.n_switches or n < 2:
        raise NotThisKind
    near = Neighbours(n, cabling.ends)
    if near.degree.max() > MOST_CABLES or not near.degree.min():
        raise NotThisKind
    origin = int(near.degree.argmin())
    factors = [_straight(near, origin, ends, n) for ends in _factors(near, origin)]
    if len(factors) > MOST_FACTORS or prod(len(factor) - wraps for factor, wraps in factors) != n:
        raise NotThisKind
    where = np.stack([_positions(near, factor, wraps) for factor, wraps in factors], axis=1)
    extents = np.array([len(factor) - wraps for factor, wraps in factors])
    if (where < 0).any() or (where >= extents).any():
        raise NotThisKind
    shape, wrap, where, cables, rates = _merged(cabling, where, [wraps for _, wraps in factors], extents.tolist())
    try:
        torus = Torus(shape, wrap, cables=cables)
    except TorusError as error:  # too many dimensions
        raise NotThisKind from error
    torus = Torus(shape, wrap, bandwidths(cabling.named if cabling.rate is None else rates, torus.link_classes), cables)
    node = torus.node(where)
    if len(np.unique(node)) < n:
        raise NotThisKind
    host = np.empty(n, dtype=np.int64)
    host[node] = np.arange(n)
    cabling.check(torus, host)
    graph = cabling.graph
    return TorusGraph(graph.name, graph.vertices, n, graph.source, graph.target, graph.cables, graph.bandwidth,
                      count=graph.count, torus=torus, node_of_host=node)


def described(network: TorusGraph) -> str:
    """Return the shape of a torus in words."""
    torus = network.torus
    if set(torus.shape) == {2} and torus.n_dimensions > 2:
        return f"hypercube of {torus.n_dimensions} dimensions"
    return f"{'torus' if any(torus.wrap) else 'mesh'} {str(torus).removesuffix(':mesh')}"


def _factors(near: Neighbours, origin: int) -> list[list[int]]:
    """Return the neighbours of a host by factor: one at an end of a line, two of a ring."""
    left, factors = near.of(origin).tolist(), []
    while left:
        first = left.pop(0)
        mates = [other for other in left if _is_straight(near, first, origin, other)]
        if len(mates) > 1:
            raise NotThisKind
        left = [other for other in left if other not in mates]
        factors.append([first, *mates])
    return factors


def _is_straight(near: Neighbours, before: int, middle: int, after: int) -> bool:
    """Return whether two cables of a host lie in one factor: they are sides of no square, or of a triangle."""
    mine = set(near.of(before).tolist())
    return after in mine or len(mine & set(near.of(after).tolist()) - {middle}) == 0


def _straight(near: Neighbours, origin: int, ends: list[int], n: int) -> tuple[list[int], bool]:
    """Return the hosts of the ring or line through a host, and whether it is a ring, whose first host is repeated."""
    line, straight = [origin, ends[0]], len(ends) > 1
    while len(line) <= n:
        before, at = line[-2:]
        after = [other for other in near.of(at).tolist() if other != before and _is_straight(near, before, at, other)]
        if len(after) > 1:
            raise NotThisKind
        if not after:
            break
        line.append(after[0])
        if after[0] == origin:
            break
    if straight != (line[-1] == origin) or len(set(line)) != len(line) - straight:
        raise NotThisKind
    return line, straight


def _positions(near: Neighbours, factor: list[int], wraps: bool) -> Ints:
    """Return the position of each host on a ring or line: int array, shape (n,)."""
    if not wraps:
        n = len(factor)
        return (near.hops(factor[0]) - near.hops(factor[-1]) + n - 1) // 2
    n = len(factor) - 1
    half = n // 2
    start, far = near.hops(factor[0]), near.hops(factor[half])
    if n % 2:  # the sum of the distances to both on the ring is half on one side, and half + 1 on the other
        difference = start - far + half
        return np.where(difference % 2 == 0, difference // 2, n - (difference + 1) // 2)
    hops = (start - far + half) // 2
    return np.where((near.hops(factor[1]) < start) | (hops == 0), hops, n - hops)


def _merged(cabling: Cabling, where: Ints, wraps: list[bool],
            extents: Sequence[int]) -> tuple[tuple[int, ...], tuple[bool, ...], Ints, tuple[int, ...], Any]:
    """Return shape, wraps, coordinates of the hosts, cables and rates of a torus, the shortest dimensions first."""
    alike = []
    a, b = cabling.ends.T
    apart = where[a] != where[b]
    if (apart.sum(axis=1) != 1).any():
        raise NotThisKind
    for i in range(len(extents)):
        rate = None if cabling.rate is None else float(cabling.of_all(cabling.rate[apart[:, i]]))
        alike.append((int(cabling.of_all(cabling.cables[apart[:, i]])), rate))
    is_cube = set(extents) == {2} and len(extents) <= MAX_DIMENSIONS
    return _in_order(extents, wraps, where, alike, is_cube)


def simplest(torus: Torus) -> tuple[Torus, Ints]:
    """Return the torus with the same cables, dimensions growing, pairs joined to rings of four; and its node of each node.

    Examples
    --------
    >>> str(simplest(Torus((6, 4, 2, 2), (False, True, True, True)))[0])
    '4wx4wx6'
    """
    kept = [i for i, n in enumerate(torus.shape) if n > 1] or [0]
    rates = torus.bandwidth or (None,) * torus.n_dimensions
    where = torus.coordinates(np.arange(torus.n_nodes))[:, kept]
    shape, wrap, where, cables, same = _in_order([torus.shape[i] for i in kept], [torus.is_ring(i) for i in kept], where,
                                                 [(torus.cables[i], rates[i]) for i in kept])
    result = Torus(shape, wrap, None if torus.bandwidth is None else tuple(same), cables)
    return result, result.node(where)


def _in_order(extents: Sequence[int], wraps: Sequence[bool], where: Ints, alike: list[Any], is_cube: bool = False) -> Any:
    """Return shape, wraps, coordinates, cables and rates of the simplest torus."""
    dimensions = [(n, wrap, where[:, i], alike[i]) for i, (n, wrap) in enumerate(zip(extents, wraps)) if n != 2]
    pairs = sorted((i for i, n in enumerate(extents) if n == 2), key=lambda i: (alike[i][0], alike[i][1] or 0.0))
    if not is_cube:
        single = []
        while pairs:
            i = pairs.pop(0)
            if pairs and alike[pairs[0]] == alike[i]:
                x, y = where[:, i], where[:, pairs.pop(0)]
                dimensions.append((4, True, np.where(y == 0, x, 3 - x), alike[i]))
            else:
                single.append(i)
        pairs = single
    any_ring = any(wrap for _, wrap, *_ in dimensions)
    dimensions += [(2, any_ring or not dimensions, where[:, i], alike[i]) for i in pairs]
    dimensions.sort(key=lambda dimension: (dimension[0], dimension[1], dimension[3]))
    shape, wrap, columns, same = zip(*dimensions)
    return shape, wrap, np.stack(columns, axis=1), tuple(some[0] for some in same), [some[1] for some in same]


TORUS = TorusGraphKind(
    "torus-graph", "", "a torus or mesh that was recognised in the cables of a file", "link", TorusGraph, KIND.parse,
    (*KIND.rules, *(carried(rule) for rule in torus.KIND.rules if rule.name not in KIND.routings)),
    recognise=recognise, described=described)
