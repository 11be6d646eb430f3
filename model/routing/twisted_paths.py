"""Routes on twisted tori by displacement.

Idea: a twisted torus looks the same from every node. So the routes from node 0 are the routes of all messages, shifted to
their sources: a message from s over the displacement t loads the link of direction d that leaves s + u with the share
w(t, d, u). If the same bytes travel over t from every node, as when the rows are the cosets of a subgroup, then every link
of direction d carries the same: the sum over t of these bytes times the steps in direction d on the way to t.

Two rules. Even: each message is split evenly over all its shortest paths. Path (u, u + e) carries the paths that lead from
0 to u times the paths from u + e to t, over all paths. Ordered: a message takes the shortest vector of its displacement, one
dimension after the other; several shortest vectors share it evenly.
Source: the counting is ours. Proof of the sum over t in docs/theory.md.
Cost: O(d N^2) for the table of routes, N nodes; for the loads, one addition for each pair of nodes with traffic and each
link on its routes, or one for each displacement if all nodes send the same over it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.network.twisted_torus import TwistedTorus, steps_up_and_down
from pencilmap.model.traffic.exchange import Exchange, messages_between
from pencilmap.model.traffic.loads import LinkLoads, without_rounding

MOST_NODES = 4096
_AT_ONCE = 1 << 22  # additions


@dataclass(frozen=True, eq=False)
class Routes:
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
        found = np.bincount(displacement * channels + self.channel, self.share, n * channels)
        return found.astype(float).reshape(n, channels)


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
    found = np.zeros((2 * torus.n_dimensions, torus.n_nodes))
    if traffic.nnz:
        routes = routes_of(torus, None if order is None else tuple(order))
        displacement = torus.displacement(traffic.row, traffic.col)
        of_every = _sent_by_every_node(displacement, traffic.data, torus.n_nodes)
        found += (of_every @ routes.steps)[:, None]
        for some in _by_displacement(displacement, of_every == 0):
            _add(found, routes, int(displacement[some[0]]), traffic.row[some], traffic.data[some].astype(float))
    return LinkLoads(torus, without_rounding(found).reshape(torus.link_shape), exchange.total_bytes)


def _sent_by_every_node(displacement, sent, n):
    """Return the bytes over each displacement if every node sends as many, else 0: float array, shape (N,)."""
    number, total = (np.bincount(displacement, weights, n) for weights in (None, sent))
    mean = total / np.maximum(number, 1)
    differ = np.bincount(displacement, sent != mean[displacement], n)
    return np.where((number == n) & (differ == 0), mean, 0.0)


def _by_displacement(displacement, wanted):
    """Yield the messages over each wanted displacement."""
    messages = np.flatnonzero(wanted[displacement])
    order = messages[np.argsort(displacement[messages], kind="stable")]
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(displacement[order])) + 1)


def _add(found, routes, displacement, sources, sent):
    """Add the load of the messages over one displacement."""
    links = slice(routes.start[displacement], routes.start[displacement + 1])
    channel, node, share = routes.channel[links], routes.node[links], routes.share[links]
    step = max(1, _AT_ONCE // len(sources))
    for first in range(0, len(node), step):
        some = slice(first, first + step)
        leaves = routes.torus.sums(node[some], sources)
        place = channel[some, None] * routes.torus.n_nodes + leaves
        found += np.bincount(place.ravel(), np.outer(share[some], sent).ravel(), found.size).reshape(found.shape)


@lru_cache(maxsize=8)
def routes_of(torus: TwistedTorus, order: tuple[int, ...] | None = None) -> Routes:
    """Return the routes from node 0, split evenly over all shortest paths, or in an order of the dimensions."""
    if torus.n_nodes > MOST_NODES:
        raise RoutingError(f"{torus.title} has {torus.n_nodes} nodes; messages are routed on up to {MOST_NODES} nodes of a "
                           "twisted torus")
    every = list(_even_routes(torus) if order is None else _ordered_routes(torus, order))
    start = np.concatenate([[0], np.cumsum([len(share) for _, _, share in every])])
    return Routes(torus, start, *(np.concatenate(part) for part in zip(*every)))


def _even_routes(torus: TwistedTorus) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield channel, node and share of the links on the shortest paths to each node."""
    hops, paths, nodes = torus.hops, _paths(torus), np.arange(torus.n_nodes)
    directions = steps_up_and_down(torus)
    channels = np.array([2 * i + direction for i, direction in directions], dtype=np.int64)
    back = np.array([torus.reached(nodes, i, (-1, 1)[direction]) for i, direction in directions], dtype=np.int64)
    back = back.reshape(-1, torus.n_nodes)  # also without links
    hops_after, paths_after = hops[back], paths[back]                 # of v - e, for the rest of the way after a step e
    for target in range(torus.n_nodes):
        rest = torus.sums(np.array([target]), torus.negative)[0]        # target - u for every u
        which, node = np.nonzero(hops + 1 + hops_after[:, rest] == hops[target])
        share = paths[node] * paths_after[which, rest[node]] / paths[target]
        yield channels[which], node, share


def _paths(torus):
    """Return the number of shortest paths from node 0 to every node."""
    arcs, hops = torus.arcs(), torus.hops
    found = np.zeros(torus.n_nodes)
    found[0] = 1
    for level in range(int(hops.max())):
        forward = (hops[arcs.source] == level) & (hops[arcs.target] == level + 1)
        np.add.at(found, arcs.target[forward], found[arcs.source[forward]])
    return found


def _ordered_routes(torus, order):
    """Yield channel, node and share of the links on the way to each node, one dimension after the other."""
    d = torus.n_dimensions
    for vectors in _shortest_vectors(torus):
        channel, node = [], []
        for vector in vectors:
            at = np.zeros(d, dtype=np.int64)
            for i in order:
                direction, there = int(vector[i] < 0), np.zeros((abs(vector[i]), d), dtype=np.int64) + at
                there[:, i] += np.arange(len(there)) * (1, -1)[direction]
                node.append(torus.nearest_node(there))
                channel.append(np.full(len(there), 2 * i + direction))
                at[i] += vector[i]
        channel_, node_ = np.concatenate(channel), np.concatenate(node)
        yield channel_, node_, np.full(len(node_), 1 / len(vectors))


def _shortest_vectors(torus: TwistedTorus) -> list[list[tuple[int, ...]]]:
    """Return for each node the shortest vectors that lead there from node 0; a cable between two nodes runs upwards."""
    found: list[set[tuple[int, ...]]] = [set() for _ in range(torus.n_nodes)]
    found[0].add((0,) * torus.n_dimensions)
    for node in np.argsort(torus.hops, kind="stable").tolist():
        for i, direction in steps_up_and_down(torus):
            after = int(torus.neighbours[i, direction, node])
            if torus.hops[after] == torus.hops[node] + 1:
                step = (1, -1)[direction]
                found[after].update((*vector[:i], vector[i] + step, *vector[i + 1:]) for vector in found[node])
    return [sorted(vectors) for vectors in found]
