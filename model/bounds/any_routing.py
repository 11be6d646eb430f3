"""Lower bounds for any routing, and for any mapping.

Source: Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15 (bisection); the composition bound is ours (docs/theory).
"""

from fractions import Fraction
from functools import singledispatch

import numpy as np

from pencilmap.model.bounds.graph_cuts import exchange_bound, whole_bound
from pencilmap.model.bounds.level_cuts import cut_bound_of_levels, machine_bound_of_levels
from pencilmap.model.bounds.twisted_cuts import all_to_all_bound, twisted_bound
from pencilmap.model.network.network import Network, link_weights
from pencilmap.model.network.switched import SwitchedNetwork
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.torus_graph import TorusGraph
from pencilmap.model.network.twisted_torus import TwistedTorus
from pencilmap.model.traffic.exchange import Exchange, messages_between
from pencilmap.model.traffic.loads import m_scale

_EXACT = 1 << 53  # whole numbers below are exact as floats


@singledispatch
def cut_bound(network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> tuple[Fraction, ...]:
    """Return the largest load that no routing can avoid, by cutting the network in two.

    A torus is cut with planes: a ring twice, a line once. The cut links evenly share the traffic that must cross the
    cut. This is the paper's bisection argument (eq. 4 to 15) for any placement, with the best position of the cut.
    Networks with levels are cut by `pencilmap.model.bounds.level_cuts`, twisted tori by
    `pencilmap.model.bounds.twisted_cuts`, all others by `pencilmap.model.bounds.graph_cuts`.

    Parameters
    ----------
    network : Network
    exchange : Exchange
    node_of_rank : int array, shape (P,)

    Returns
    -------
    tuple of Fraction
        Bytes per cable for each class of links.
    """
    return _of_fastest(network, exchange_bound(network, exchange, node_of_rank))


def _of_fastest(network, bound):
    """Return a bound in cables of the fastest class, for each class: 0 for all others, whose links may not be in the cut."""
    rates = network.bandwidth or (1.0,)
    fastest = rates.index(max(rates))
    return tuple(bound if i == fastest else Fraction(0) for i in range(len(network.link_classes)))


@cut_bound.register
def _cut_bound_of_switches(network: SwitchedNetwork, exchange, node_of_rank):
    return cut_bound_of_levels(network, exchange, node_of_rank)


@cut_bound.register
def _cut_bound_of_twisted_torus(torus: TwistedTorus, exchange, node_of_rank):
    return _in_every_class(torus, twisted_bound(torus, messages_between(exchange, node_of_rank, torus.n_nodes)))


def _in_every_class(torus, load):
    """Return a bound for the links of all classes together as a load of each class that takes the same time."""
    return tuple(load / weight for weight in link_weights(torus))


@cut_bound.register
def _cut_bound_of_torus_graph(graph: TorusGraph, exchange, node_of_rank):
    return _of_torus(graph.torus, cut_bound(graph.torus, exchange, graph.node_of_host[node_of_rank]))


def _of_torus(torus, bound):
    """Return the bound of the class whose links take longest, for all links in one class."""
    return (max(load * weight for load, weight in zip(bound, link_weights(torus))),)


@cut_bound.register
def _cut_bound_of_torus(torus: Torus, exchange, node_of_rank):
    coordinates = torus.coordinates(node_of_rank)[exchange.members]
    return tuple(_worst_cut(torus, _plane_traffic(torus.shape[i], exchange, coordinates[..., i]), i)
                 for i in range(torus.n_dimensions))


def _plane_traffic(n, exchange, position):
    """Return bytes between planes of a dimension: int array, shape (n, n). `position` has shape (groups, size)."""
    groups = len(position)
    cell = position + np.arange(groups)[:, None] * n

    def by_plane(weight):
        found = np.bincount(cell.ravel(), np.broadcast_to(weight, cell.shape).ravel(), groups * n)
        return found.astype(np.int64).reshape(groups, n)

    sent, received = by_plane(exchange.send_weight) * exchange.group_weight[:, None], by_plane(exchange.receive_weight)
    if exchange.total_bytes < _EXACT:  # floats multiply much faster, without rounding here
        return (sent.T.astype(float) @ received.astype(float)).astype(np.int64) * exchange.unit_bytes
    return sent.T @ received * exchange.unit_bytes


def _worst_cut(torus, planes, i):
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


@singledispatch
def machine_bound(network: Network) -> tuple[Fraction, ...]:
    """Return the load of the all-to-all of the full machine, which the exchanges of a transform together cannot beat.

    For any mapping the exchanges together bring every task's block to every other task. So together they move at least
    as much across each cut as one all-to-all of the whole machine: k (n-k) / n^2 of D_T for k of n planes on one side.

    Parameters
    ----------
    network : Network

    Returns
    -------
    tuple of Fraction
        For each class of links the bound on the sum of m over the exchanges, per cable: n_i/g_i in a dimension of even n_i.

    Examples
    --------
    >>> [str(m) for m in machine_bound(Torus((8, 3, 4, 1), wrap=(1, 1, 0, 1)))]
    ['4', '4/3', '4', '0']
    """
    return _of_fastest(network, m_scale(whole_bound(network), network, network.n_nodes**2))


@machine_bound.register
def _machine_bound_of_switches(network: SwitchedNetwork):
    return machine_bound_of_levels(network)


@machine_bound.register
def _machine_bound_of_twisted_torus(torus: TwistedTorus):
    return _in_every_class(torus, m_scale(all_to_all_bound(torus), torus, torus.n_nodes**2))


@machine_bound.register
def _machine_bound_of_torus_graph(graph: TorusGraph):
    return _of_torus(graph.torus, machine_bound(graph.torus))


@machine_bound.register
def _machine_bound_of_torus(torus: Torus):
    def bound(i):
        n = torus.shape[i]
        k = n // 2
        return Fraction(4 * k * (n - k), n * torus.g(i) * torus.cables[i])

    return tuple(bound(i) for i in range(torus.n_dimensions))
