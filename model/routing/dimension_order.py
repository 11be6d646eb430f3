"""Dimension-ordered routing: one dimension after the other, each in the shortest direction.

Idea: the leg of a message in dimension i lies on the line with the destination's coordinates in the dimensions routed
before i and the source's in those routed after. Counting legs for each (line, from, to) and summing along each line
gives every link's load with no loop over hops.
Source: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Trans.
Comput. C-36 (1987); the counting is ours.
Cost: one addition and one count for each pair and dimension, O(n_i) for each node; needs arrays of N n_i numbers.
"""

import numpy as np

from pencilmap.model.loads import LinkLoads
from pencilmap.model.torus import ring_link_loads

_PAIRS_AT_ONCE = 1 << 22
_LEGS_AT_ONCE = 1 << 21


def leg_counts(torus, exchange, node_of_rank, order=None):
    """Bytes of the legs of an exchange on every line, for dimension-ordered routing.

    Parameters
    ----------
    torus : Torus
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    order : tuple of int, optional
        Dimensions in the order in which they are routed; first to last by default.

    Returns
    -------
    list of int64 arrays
        For each dimension i an array of shape (lines, n_i, n_i): bytes from one position to another. The line's number
        is the node number with dimension i left out.
    """
    order = tuple(order or range(torus.n_dimensions))
    coordinates = torus.coordinates(node_of_rank)[exchange.members]  # (groups, size, d)
    return [_legs_of_dimension(torus, exchange, coordinates, i, order) for i in range(torus.n_dimensions)]


def _legs_of_dimension(torus, exchange, coordinates, i, order):
    n = torus.shape[i]
    stride = [s if j < i else s // n for j, s in enumerate(torus.strides)]
    before = order[:order.index(i)]
    source, target = coordinates[..., i] * n, coordinates[..., i].copy()
    for j in range(torus.n_dimensions):
        if j != i:
            (target if j in before else source)[...] += coordinates[..., j] * (stride[j] * n * n)
    counts = np.zeros(torus.lines(i) * n * n, dtype=np.int64)
    groups, size = exchange.members.shape
    even = exchange.is_even
    for rows in _pieces(groups, max(1, _PAIRS_AT_ONCE // (size * size))):
        for some in _pieces(size, max(1, _PAIRS_AT_ONCE // size)):
            key = source[rows, some, None] + target[rows, None, :]
            _count(counts, key, None if even else _weights(exchange, rows, some))
    counts *= exchange.message_unit if even else exchange.unit_bytes
    return counts.reshape(torus.lines(i), n, n)


def _pieces(length, step):
    return (slice(start, start + step) for start in range(0, length, step))


def _weights(exchange, rows, some):
    return (exchange.group_weight[rows, None, None] * exchange.send_weight[None, some, None]
            * exchange.receive_weight[None, None, :])


def _count(counts, key, weights):
    """Add the weights (1 when None) to counts[key], touching only the range of keys that occurs."""
    low = int(key.min())
    high = int(key.max()) + 1
    if high - low > 8 * key.size:  # few pairs over a wide range: a histogram of the range would cost more than the pairs
        np.add.at(counts, key, 1 if weights is None else weights)
        return
    weights = None if weights is None else np.broadcast_to(weights, key.shape).ravel()
    found = np.bincount((key - low).ravel(), weights)
    counts[low:high] += found.astype(np.int64, copy=False)


def dimension_order_loads(torus, exchange, node_of_rank, order=None, tie="split"):
    """Exact load of every link under dimension-ordered routing in the shortest direction.

    Parameters
    ----------
    torus, exchange, node_of_rank, order
        As in `leg_counts`.
    tie : {"split", "parity", "plus"}
        What happens at half a ring.

    Returns
    -------
    LinkLoads
    """
    legs = leg_counts(torus, exchange, node_of_rank, order)
    halves = np.stack([_node_loads(torus, legs[i], i, tie) for i in range(torus.n_dimensions)])
    return LinkLoads(torus, halves, exchange.total_bytes)


def _node_loads(torus, legs, i, tie):
    """Loads of the links of dimension `i` by the node they leave: int64 array, shape (2, N)."""
    n, inner = torus.shape[i], torus.strides[i]
    loads = np.concatenate([ring_link_loads(legs[some], torus.is_ring(i), tie)
                            for some in _pieces(len(legs), max(1, _LEGS_AT_ONCE // (n * n)))])
    by_line = loads.reshape(-1, inner, 2, n)           # (outer, inner, direction, position)
    return by_line.transpose(2, 0, 3, 1).reshape(2, torus.n_nodes)
