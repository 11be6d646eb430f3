"""The time of single messages that share links fairly: what they take beyond the busiest link where they are unequal.

Idea: at any time the messages have the max-min fair rates: the link whose share is smallest fixes the rates of all
messages on it, then the next of those that are left. When a message ends the rates are found anew. Where a message waits
on another link, its share of the busiest one goes to others, and near the end that link is not full: no message is there
for it.
Source: D. Bertsekas, R. Gallager, Data Networks (1992), ch. 6.5 (progressive filling); network simulators as SimGrid
share so.
Cost: messages times links for each link fixed and each end of a message: for hundreds of messages.
"""

from collections.abc import Callable

import numpy as np

from pencilmap.model.arrays import Floats
from pencilmap.model.exchange import Exchange
from pencilmap.model.loads import LinkLoads
from pencilmap.model.torus import Torus


def shared_seconds(exchange: Exchange, torus: Torus, node_of_rank: np.ndarray, route: Callable[[Exchange], LinkLoads],
                   envelope_bytes: float = 0.0) -> float:
    """Seconds until the last message of a remap has arrived, with so many bytes beside those of each message.

    `route` gives the loads of a part of the exchange; the torus has bandwidths.

    >>> from pencilmap.model.routing import routing
    >>> ring, rule = Torus((4,), (False,), (1.0,)), routing("dimension-order", Torus((4,), (False,)))
    >>> members, sizes = np.array([[0, 3], [0, 1], [2, 3]]), np.array([2, 1, 1])
    >>> pairs = Exchange("remap", "", members, sizes, *np.eye(2, dtype=int), 1, 4)
    >>> shared_seconds(pairs, ring, np.arange(4), lambda part: rule.loads(ring, part, np.arange(4)))
    3.0
    """
    sizes = exchange.group_weight.astype(float) * exchange.unit_bytes + envelope_bytes
    apart = node_of_rank[exchange.members[:, 0]] != node_of_rank[exchange.members[:, 1]]
    known: dict[tuple[int, int], Floats] = {}
    for pair, (a, b) in zip(exchange.members[apart], node_of_rank[exchange.members[apart]].tolist()):
        if (a, b) not in known:
            one = Exchange(exchange.name, "", pair[None], np.ones(1, dtype=np.int64), exchange.send_weight,
                           exchange.receive_weight, 1, 1)
            known[a, b] = np.concatenate([np.ravel(load) / (cables * rate) for load, cables, rate in zip(
                route(one).bytes(), torus.cables, torus.bandwidth or ())])
    if not known:
        return 0.0
    takes = np.array([known[a, b] for a, b in node_of_rank[exchange.members[apart]].tolist()])
    left, now = sizes[apart], 0.0
    takes = takes[:, takes.any(axis=0)]
    while left.size:
        rates = _fair_rates(takes)
        step = float((left / rates).min())
        now, left = now + step, left - rates * step
        going = left > 1e-9 * sizes.max()
        left, takes = left[going], takes[going]
    return now


def _fair_rates(takes):
    """Bytes per second of every message, by the seconds that it takes of every link for a byte."""
    rates, free, room = np.zeros(len(takes)), np.ones(len(takes), dtype=bool), np.ones(takes.shape[1])
    while free.any():
        used = takes[free].sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(used > 0, room / used, np.inf)
        fixed = free & (takes[:, share <= share.min() * (1 + 1e-12)] > 0).any(axis=1)
        rates[fixed] = share.min()
        room = np.maximum(room - takes[fixed].sum(axis=0) * share.min(), 0.0)
        free &= ~fixed
    return rates
