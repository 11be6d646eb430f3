"""The time of unequal messages that share links fairly: longer than the busiest link alone would take.

Idea: at any time the messages have the max-min fair rates. The link with the smallest share fixes the rates of all its
messages. Then the next link fixes the rates of its remaining messages, and so on. When a message ends, the rates are
computed again. If a message waits for another link, other messages get its share of the busiest link. Near the end no
message is left for this share, so the busiest link is not full. A single routing of all messages gives the load of every
message on every link: each message lies in a torus of its own, along up to three more dimensions without movement.
Source: D. Bertsekas, R. Gallager, Data Networks (1992), ch. 6.5 (progressive filling); network simulators such as SimGrid
share links in this way.
Cost: hops of all messages for each link that is fixed, at each end of a message.
"""

from dataclasses import replace
from math import ceil
from string import ascii_lowercase
from typing import Any

import numpy as np

from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus
from pencilmap.model.traffic.exchange import Exchange

MOST_MESSAGES = 500  # a quarter of a second; four times as many messages take nine times as long


def can_share(exchange: Exchange, network: Network) -> bool:
    """Return whether `shared_seconds` applies to a network with bandwidths: a torus, and messages that are not too many."""
    return (network.has_products and network.bandwidth is not None and network.n_dimensions < MAX_DIMENSIONS
            and len(exchange.members) <= MOST_MESSAGES)


def shared_seconds(exchange: Exchange, torus: Torus, node_of_rank: np.ndarray, rule: Any,
                   envelope_bytes: float = 0.0) -> float:
    """Return seconds until the last message of a remap has arrived, for messages that share links fairly.

    Parameters
    ----------
    exchange : Exchange
        Single messages, as `can_share` requires.
    node_of_rank : int array, shape (P,)
        Node of each rank.
    rule : DimensionOrder
        Its routes do not depend on other messages.
    envelope_bytes : float
        Bytes of each message besides its data.

    Examples
    --------
    >>> from pencilmap.model.kinds.torus_routes import DimensionOrder
    >>> ring = Torus((4,), (False,), (1.0,))
    >>> members, sizes = np.array([[0, 3], [0, 1], [2, 3]]), np.array([2, 1, 1])
    >>> pairs = Exchange("remap", "", members, sizes, *np.eye(2, dtype=int), 1, 4)
    >>> shared_seconds(pairs, ring, np.arange(4), DimensionOrder())
    3.0
    """
    ends = node_of_rank[exchange.members]
    apart = ends[:, 0] != ends[:, 1]
    if not apart.any():
        return 0.0
    left = exchange.group_weight[apart].astype(float) * exchange.unit_bytes + envelope_bytes
    takes, now, smallest = _seconds_a_byte(ends[apart], exchange, torus, rule), 0.0, 1e-9 * left.max()
    given = takes.T.tocsr()
    while (going := left > smallest).any():
        rates = _fair_rates(takes, given, going)
        step = float((left[going] / rates[going]).min())
        now, left = now + step, left - rates * step
    return now


def _seconds_a_byte(ends, exchange, torus, rule):
    """Return seconds of every link per byte of every message, as a sparse matrix; `ends` are the messages' nodes."""
    from scipy.sparse import csr_array  # slow to import

    n, more = len(ends), min(3, MAX_DIMENSIONS - torus.n_dimensions)  # short dimensions, because lines cost their square
    side = ceil(n ** (1 / more))
    axes = "".join([letter for letter in ascii_lowercase if letter not in torus.axes][:more])
    layers = Torus((*torus.shape, *more * (side,)), (*torus.wrap, *more * (False,)), axes=torus.axes + axes)
    ones = replace(exchange, members=np.arange(2 * n).reshape(n, 2), group_weight=np.ones(n, dtype=np.int64), unit_bytes=1,
                   total_bytes=n)
    order = replace(rule, order=rule.order and rule.order + axes)
    loads = order.loads(layers, ones, (ends + torus.n_nodes * np.arange(n)[:, None]).ravel()).bytes()
    rates = np.array([cables * rate for cables, rate in zip(torus.cables, torus.bandwidth or ())])
    of_link = loads[:torus.n_dimensions].reshape(torus.n_dimensions, 2, -1, torus.n_nodes)[:, :, :n]
    return csr_array((of_link / rates[:, None, None, None]).transpose(2, 0, 1, 3).reshape(n, -1))


def _fair_rates(takes, given, free):
    """Return bytes per second of the moving messages, from the seconds per byte that each message takes of every link.

    `given` is the transpose of `takes`.
    """
    rates, free, room = np.zeros(takes.shape[0]), free.copy(), np.ones(takes.shape[1])
    while free.any():
        used = given @ free
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(used > 0, room / used, np.inf)
        fixed = free & (takes @ (share <= share.min() * (1 + 1e-12)) > 0)
        rates[fixed] = share.min()
        room = np.maximum(room - share.min() * (given @ fixed), 0.0)
        free &= ~fixed
    return rates
