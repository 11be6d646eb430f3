"""Twisted and folded tori: routes by displacements, and bounds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.bounds.graph_cuts import leaving
from pencilmap.model.kinds.kind import Bound, Kind, with_smallest
from pencilmap.model.kinds.torus import parsed_by
from pencilmap.model.kinds.torus_routes import DIMENSION_ORDER, DimensionOrder, parse
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus, parse_twisted, steps_up_and_down
from pencilmap.model.placement.allocation import Site
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL, OptimalMinimal
from pencilmap.model.routing.routes import Routes
from pencilmap.model.routing.rule import Rule
from pencilmap.model.routing.shortest_path import SHORTEST_PATH, ShortestPath
from pencilmap.model.traffic.exchange import Exchange, Traffic, messages_between, summed
from pencilmap.model.traffic.loads import LinkLoads, m_scale, without_rounding

# Routes on twisted tori by displacement.
#
# Idea: a twisted torus looks the same from every node. So the routes from node 0 are the routes of all messages, shifted to
# their sources: a message from s over the displacement t loads the link of direction d that leaves s + u with the share
# w(t, d, u). Traffic often stays the same under many shifts of all nodes: all shifts if the rows are the cosets of a
# subgroup, some in a launch order. Then the links of direction d that leave nodes of one class, which these shifts
# exchange, carry the same. So one node of each class stands for all sources, and the loads are added up by class.
#
# Two rules. Even: each message is split evenly over all its shortest paths. Link (u, u + e) carries the paths that lead
# from 0 to u times its cables times the paths from u + e to t, over all paths. Ordered: a message takes the shortest vector
# of its displacement, one dimension after the other; several shortest vectors share it evenly.
# Source: the counting is ours. Proof for cosets in docs/theory.md.
# Cost: O(d N) for one source of each class, N nodes; in order, one addition for each message and link on its route. The
# table of all routes takes O(d N^2).

MOST_NODES = 4096
FEW = 32  # nodes
_AT_ONCE = 1 << 20  # additions


@dataclass(frozen=True, eq=False)
class Displacements:
    """The routes from node 0 to every node, one after the other.

    Parameters
    ----------
    torus : TwistedTorus
    start : int array, shape (N + 1,)
        First entry of each displacement, and the end.
    channel : int array, shape (E,)
        ``2 i + direction`` of the link: direction is 0 upwards, 1 downwards.
    node : int array, shape (E,)
        Node that the link leaves.
    share : float array, shape (E,)
        Part of the message that the link carries.
    """

    torus: TwistedTorus
    start: Ints
    channel: Ints
    node: Ints
    share: Floats

    @cached_property
    def steps(self) -> Floats:
        """Return the mean number of links in each direction on the way to each node: float array, shape (N, 2 d)."""
        n = self.torus.n_nodes
        displacement = np.repeat(np.arange(n), np.diff(self.start))
        channels = 2 * self.torus.n_dimensions
        steps_ = np.bincount(displacement * channels + self.channel, self.share, n * channels)
        return steps_.astype(float).reshape(n, channels)


def twisted_loads(torus: TwistedTorus, exchange: Exchange, node_of_rank: np.ndarray,
                  order: Sequence[int] | None = None) -> LinkLoads:
    """Return the load of every link.

    Parameters
    ----------
    torus : TwistedTorus
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    order : sequence of int, optional
        The dimensions in the order of routing. Without an order, messages are split evenly over all shortest paths.

    Raises
    ------
    RoutingError
        If the network has more than MOST_NODES nodes.
    """
    traffic = messages_between(exchange, node_of_rank, torus.n_nodes)
    channels, N = 2 * torus.n_dimensions, torus.n_nodes
    loads, class_of = np.zeros(channels * N), np.arange(N)
    if traffic.nnz:
        displacement = torus.displacement(traffic.row, traffic.col)
        class_of = _classes(torus, traffic, displacement)
        rows = np.flatnonzero(class_of[traffic.row] == traffic.row)
        messages = _Messages(traffic.row[rows], displacement[rows], traffic.data[rows])
        for node, channel, load in _even(torus, messages) if order is None else _by_order(torus, messages, tuple(order)):
            loads += np.bincount((channel * N + class_of[node]).ravel(), load.ravel(), len(loads))
    values = without_rounding(loads.reshape(channels, N)[:, class_of])
    return LinkLoads(torus, values.reshape(torus.link_shape), exchange.total_bytes)


def _classes(torus: TwistedTorus, traffic: Traffic, displacement: Ints) -> Ints:
    """Return for each node the first of the nodes that shifts lead to under which the traffic stays the same: shape (N,)."""
    rows, begin = np.unique(traffic.row, return_index=True)
    mixed = np.random.default_rng(1).integers(1 << 62, size=torus.n_nodes) * 2 + 1
    sent = np.zeros(torus.n_nodes, dtype=np.int64)  # a hash of what a node sends over which displacements
    sent[rows] = np.add.reduceat(traffic.data * mixed[displacement], begin)
    if (sent == sent[0]).all():
        return np.zeros(torus.n_nodes, dtype=np.int64)
    shifts, every = np.flatnonzero(sent == sent[0]), np.arange(torus.n_nodes)
    for nodes in (every[:FEW], every):  # a few nodes rule out most shifts
        shifts = shifts[(sent[torus.sums(shifts, nodes)] == sent[nodes]).all(axis=1)]
    return torus.sums(shifts, every).min(axis=0).astype(np.int64)


class _Messages(NamedTuple):
    """Messages: int arrays, shape (n,)."""

    source: Ints
    displacement: Ints
    sent: Ints  #: bytes


def _even(torus: TwistedTorus, messages: _Messages) -> Iterator[tuple[Ints, int, Floats]]:
    """Yield nodes, channel and loads of links: of each message split evenly over all shortest paths.

    The bytes over all displacements from a source flow back towards it, level by level.
    """
    N = torus.n_nodes
    sources, number = np.unique(messages.source, return_inverse=True)
    held: NDArray[Any] = np.bincount(number * N + messages.displacement, messages.sent, len(sources) * N).reshape(-1, N)
    for channel, near, far, share in _inwards(torus):
        moved = held[:, far] * share
        held[:, near] += moved
        yield torus.sums(sources, near), channel, moved


@lru_cache(maxsize=8)
def _inwards(torus: TwistedTorus) -> list[tuple[int, Ints, Ints, Floats]]:
    """Return channel, nearer and farther node, and the share that it takes of what the farther one holds, farthest first."""
    hops, paths, levels = torus.hops, _paths(torus), []
    for level in range(int(hops.max()), 0, -1):
        far = np.flatnonzero(hops == level)
        for i, direction in steps_up_and_down(torus):
            near = torus.reached(far, i, (-1, 1)[direction])
            nearer = hops[near] == level - 1
            share = paths[near[nearer]] * torus.cables[i] / paths[far[nearer]]
            levels.append((2 * i + direction, near[nearer], far[nearer], share))
    return levels


def _by_order(torus: TwistedTorus, messages: _Messages, order: tuple[int, ...]) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield nodes, channels and loads of links: of each message in an order of the dimensions."""
    routes = routes_of(torus, order)
    links = np.diff(routes.start)[messages.displacement]
    for part in np.split(np.arange(len(links)), np.flatnonzero(np.diff(np.cumsum(links) // _AT_ONCE)) + 1):
        source, displacement, sent = (column[part] for column in messages)
        n = links[part]
        entry = np.arange(n.sum()) + np.repeat(routes.start[displacement] - np.cumsum(n) + n, n)
        yield (torus.displacement(torus.negative[routes.node[entry]], np.repeat(source, n)), routes.channel[entry],
               routes.share[entry] * np.repeat(sent, n))


@lru_cache(maxsize=8)
def routes_of(torus: TwistedTorus, order: tuple[int, ...] | None = None) -> Displacements:
    """Return the routes from node 0, split evenly over all shortest paths, or in an order of the dimensions.

    Raises
    ------
    RoutingError
        If the torus has more than `MOST_NODES` nodes.
    """
    if torus.n_nodes > MOST_NODES:
        raise RoutingError(f"{torus.title} has {torus.n_nodes} nodes; messages are routed on up to {MOST_NODES} nodes of a "
                           "twisted torus")
    every = list(_even_routes(torus) if order is None else _ordered_routes(torus, order))
    start = np.concatenate([[0], np.cumsum([len(share) for _, _, share in every])])
    return Displacements(torus, start, *(np.concatenate(part) for part in zip(*every)))


def _even_routes(torus: TwistedTorus) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield channel, node and share of the links on the shortest paths to each node."""
    hops, paths, nodes = torus.hops, _paths(torus), np.arange(torus.n_nodes)
    directions = steps_up_and_down(torus)
    channels = np.array([2 * i + direction for i, direction in directions], dtype=np.int64)
    cables = np.array([torus.cables[i] for i, _ in directions])
    back = np.array([torus.reached(nodes, i, (-1, 1)[direction]) for i, direction in directions], dtype=np.int64)
    back = back.reshape(-1, torus.n_nodes)  # also without links
    hops_after, paths_after = hops[back], paths[back]                 # of v - e, for the rest of the way after a step e
    for target in range(torus.n_nodes):
        rest = torus.sums(np.array([target]), torus.negative)[0]        # target - u for every u
        which, node = np.nonzero(hops + 1 + hops_after[:, rest] == hops[target])
        share = paths[node] * cables[which] * paths_after[which, rest[node]] / paths[target]
        yield channels[which], node, share


def _paths(torus: TwistedTorus) -> Floats:
    """Return the number of shortest paths from node 0 to every node."""
    arcs, hops = torus.arcs(), torus.hops
    paths = np.zeros(torus.n_nodes)
    paths[0] = 1
    for level in range(int(hops.max())):
        forward = (hops[arcs.source] == level) & (hops[arcs.target] == level + 1)
        np.add.at(paths, arcs.target[forward], paths[arcs.source[forward]] * arcs.ways[forward])
    return paths


def _ordered_routes(torus: TwistedTorus, order: tuple[int, ...]) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield channel, node and share of the links on the way to each node, one dimension after the other."""
    d = torus.n_dimensions
    for vectors in _shortest_vectors(torus):
        channel, node = [], []
        for vector in vectors:
            at = np.zeros(d, dtype=np.int64)
            for i in order:
                direction, steps = int(vector[i] < 0), np.zeros((abs(vector[i]), d), dtype=np.int64) + at
                steps[:, i] += np.arange(len(steps)) * (1, -1)[direction]
                node.append(torus.nearest_node(steps))
                channel.append(np.full(len(steps), 2 * i + direction))
                at[i] += vector[i]
        channel_, node_ = np.concatenate(channel), np.concatenate(node)
        yield channel_, node_, np.full(len(node_), 1 / len(vectors))


def _shortest_vectors(torus: TwistedTorus) -> list[list[tuple[int, ...]]]:
    """Return for each node the shortest vectors that lead there from node 0; a cable between two nodes runs upwards."""
    result: list[set[tuple[int, ...]]] = [set() for _ in range(torus.n_nodes)]
    result[0].add((0,) * torus.n_dimensions)
    for node in np.argsort(torus.hops, kind="stable").tolist():
        for i, direction in steps_up_and_down(torus):
            after = int(torus.neighbours[i, direction, node])
            if torus.hops[after] == torus.hops[node] + 1:
                step = (1, -1)[direction]
                result[after].update((*vector[:i], vector[i] + step, *vector[i + 1:]) for vector in result[node])
    return [sorted(vectors) for vectors in result]


# Twisted tori: rules of routing by displacement, and their bounds.
#
# Bounds. All links together carry every byte over its shortest distance. Twisted tori use their links so evenly that this
# is often what an all-to-all takes. In addition, the traffic of any run of planes must cross the links that leave the run;
# links along other dimensions count if their twist leads out of it.
# Cost: O(1) for each pair of nodes with traffic.

@dataclass(frozen=True)
class TwistedPaths(ShortestPath):
    """Shortest paths, counted from one node of each class."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link."""
        return twisted_loads(network, exchange, node_of_rank)


@dataclass(frozen=True)
class TwistedOrder(DimensionOrder):
    """The shortest vector of each displacement, one dimension after the other."""

    def loads(self, network: Any, exchange: Exchange, node_of_rank: np.ndarray) -> LinkLoads:
        """Return the load of every link; half of each tie goes each way."""
        if self.tie != "split":
            raise RoutingError(f"dimension-order:{self.tie} does not work on {network.title}, where more than half a ring "
                               "can tie; use dimension-order")
        return twisted_loads(network, exchange, node_of_rank, self.dimensions(network))

    def routes(self, network: Any, node: Ints, slot: Ints) -> Routes | None:
        """Return the routes on shortest paths, for searches."""
        return Rule.routes(self, network, node, slot)


@dataclass(frozen=True)
class TwistedOptimum(OptimalMinimal):
    """The best routing along shortest paths."""

    def symmetries(self, network: TwistedTorus) -> Iterator[Ints]:
        """Yield the shifts of all nodes."""
        nodes = np.arange(network.n_nodes)
        return (network.sums(nodes[[shift]], nodes)[0] for shift in nodes)


def _ordered(argument: str) -> TwistedOrder:
    plain = parse(argument)
    return TwistedOrder(plain.order, plain.tie)


def all_cables(torus: TwistedTorus) -> Fraction:
    """Return the cables of all links, slower ones as part of a cable of the fastest dimension."""
    return sum((torus.n_nodes * _strength(torus, i) for i, _ in steps_up_and_down(torus)), Fraction(0))


def twisted_bound(torus: TwistedTorus, traffic: Traffic) -> Fraction:
    """Return the largest load that no routing of some traffic can avoid.

    Parameters
    ----------
    torus : TwistedTorus
    traffic : Traffic
        Bytes from node to node.

    Returns
    -------
    Fraction
        Bytes of a cable of the fastest dimension.
    """
    hops = int((torus.hops[torus.displacement(traffic.row, traffic.col)] * traffic.data).sum())
    position = torus.coordinates(np.arange(torus.n_nodes))
    between = [summed(position[traffic.row, i] * n + position[traffic.col, i], traffic.data, n * n).reshape(n, n)
               for i, n in enumerate(torus.shape)]
    return _most(torus, hops, between)


@lru_cache(maxsize=8)
def all_to_all_bound(torus: TwistedTorus) -> Fraction:
    """Return the same for one byte from every node to every other node.

    >>> str(all_to_all_bound(TwistedTorus((4, 8))))
    '21'
    """
    n = torus.n_nodes
    return _most(torus, n * int(torus.hops.sum()),
                 [(n // side) ** 2 * (1 - np.eye(side, dtype=np.int64)) for side in torus.shape])


def _most(torus: TwistedTorus, hops: int, between: list[Ints]) -> Fraction:
    """Return the best bound from the bytes times hops, and the bytes from plane to plane of each dimension."""
    cables = all_cables(torus)
    if not cables:
        return Fraction(0)
    return max([hops / cables, *(load for i, bytes_ in enumerate(between) for load in _runs(torus, i, bytes_))])


def _runs(torus: TwistedTorus, i: int, between: Ints) -> Iterator[Fraction]:
    """Yield the load of the links out of the run of planes of dimension `i` that needs longest."""
    n, plane = torus.shape[i], torus.coordinates(np.arange(torus.n_nodes))[:, i]
    sent = leaving(between)
    cables = [(_strength(torus, j), leaving(np.bincount(plane * n + plane[torus.neighbours[j, direction]], minlength=n * n)
                                            .reshape(n, n))) for j, direction in steps_up_and_down(torus)]
    together = np.asarray(sum(float(strength) * links for strength, links in cables))
    times = np.divide(sent, together, out=np.zeros(sent.shape), where=together > 0)
    low, high = np.unravel_index(int(times.argmax()), times.shape)
    if times[low, high]:
        yield int(sent[low, high]) / sum((strength * int(links[low, high]) for strength, links in cables), Fraction(0))


@lru_cache(maxsize=8)
def plane_cuts(torus: TwistedTorus) -> tuple[tuple[int, Fraction], ...]:
    """Return for each dimension the halves of its planes: nodes on one side, and cables that leave them.

    >>> [(nodes, str(cables)) for nodes, cables in plane_cuts(TwistedTorus((4, 8)))]
    [(16, '16'), (16, '16')]
    """
    cuts = []
    for i, n in enumerate(torus.shape):
        inside = torus.coordinates(np.arange(torus.n_nodes))[:, i] < n // 2
        cables = sum((_strength(torus, j) * int((inside & ~inside[torus.neighbours[j, direction]]).sum())
                      for j, direction in steps_up_and_down(torus)), Fraction(0))
        if 0 < inside.sum() < torus.n_nodes and cables:
            cuts.append((int(inside.sum()), cables))
    return tuple(cuts)


def _strength(torus: TwistedTorus, i: int) -> Fraction:
    """Return a link of dimension `i` as cables of the fastest dimension."""
    return Fraction(torus.cables[i]) / link_weights(torus)[i]


class TwistedKind(Kind):
    """The kind of twisted tori, which look the same from every node."""

    def cut_bound(self, network: TwistedTorus, exchange: Exchange, ends: np.ndarray) -> tuple[Fraction, ...]:
        """Return the bound of hops and planes."""
        return _in_every_class(network, twisted_bound(network, messages_between(exchange, ends, network.n_nodes)))

    def machine_bound(self, network: TwistedTorus) -> tuple[Fraction, ...]:
        """Return the bound of hops and planes."""
        return _in_every_class(network, m_scale(all_to_all_bound(network), network, network.n_nodes**2))

    def of_full_machine(self, network: TwistedTorus, crossing: Crossing) -> Bound:
        """Return the bound of all links."""
        value = self.machine_bound(network)[0] * link_weights(network)[0]
        return with_smallest((value, "all-to-all of the full machine over all links"), crossing)

    def halves(self, network: TwistedTorus) -> tuple[tuple[int, Fraction], ...]:
        """Return the halves of the planes of each dimension."""
        return plane_cuts(network)

    def every_cable(self, network: TwistedTorus) -> Fraction:
        """Return the cables of all links."""
        return all_cables(network)

    def hops(self, site: Site) -> Ints:
        """Return the distances, which are the same for each node of a whole torus."""
        network: Any = site.network
        if not site.allocation.is_complete:
            return super().hops(site)
        return np.broadcast_to(np.sort(network.hops), (network.n_nodes,) * 2)


def _in_every_class(torus: TwistedTorus, load: Fraction) -> tuple[Fraction, ...]:
    """Return a bound for the links of all classes together as a load of each class that takes the same time."""
    return tuple(load / weight for weight in link_weights(torus))


KIND = TwistedKind(
    "twisted-torus", "4x4x8:twisted or 4x4x8:twist=xz4,yz4",
    "torus whose rings come back with an offset: past the end of x, z grows by 4",
    "one for each dimension, with the letter of its axis", TwistedTorus, parsed_by(parse_twisted),
    (SHORTEST_PATH.by(TwistedPaths()), replace(DIMENSION_ORDER, make=_ordered, variants=("",)),
     OPTIMAL_MINIMAL.by(TwistedOptimum())))
