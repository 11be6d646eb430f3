"""Scheduled messages between pairs: in each phase a rank exchanges messages with one or a few other ranks.

Idea: a phase begins when the messages of the phase before have arrived. On a torus `partner_order` gives its partners; the
library knows the coordinates there (`fft_runner --machine-torus`). On other networks rank `me` of a group of p sends in step
s to ``me xor s`` if p is a power of two, and otherwise to ``me + s`` (mod p). With even blocks the ranks of all groups are
in the same phase at the same time. So the exchange takes the sum, over the phases, of each phase's busiest link. With uneven
blocks ranks drift apart, and the sum will be a few percent off.
Source: fft_runner/src/exchange/exchange_p2p.c.
"""

import numpy as np

from pencilmap.model.algorithms.algorithm import Algorithm, single_messages
from pencilmap.model.algorithms.partner_order import phases
from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


def targets(p: int) -> Ints:
    """Return the member that each member sends to in each step: int array, shape (p - 1, p).

    >>> targets(3).tolist(), targets(4).tolist()
    ([[1, 2, 0], [2, 0, 1]], [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
    """
    step, me = np.ogrid[1:p, :p]
    return np.asarray(me ^ step if p & (p - 1) == 0 else (me + step) % p, dtype=np.int64)


def rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a round for each phase. Groups of one have a single round without messages."""
    if mapping.network.has_products:
        return _on_torus(exchange, mapping, as_torus(mapping.network)) or (exchange,)
    everyone = np.arange(len(exchange.members))
    return tuple(_round(exchange, [(everyone, target[None])]) for target in targets(exchange.size)) or (exchange,)


def _on_torus(exchange, mapping, torus):
    coordinates, group = torus.coordinates(mapping.node_of_rank), np.empty(exchange.members.size, dtype=np.int64)
    for number, ranks in enumerate(exchange.members):
        group[ranks] = number
    known: dict = {}
    found = [phases(torus, coordinates, group, number, known) for number in range(len(exchange.members))]
    return tuple(_round(exchange, [(np.array([number]), some[i]) for number, some in enumerate(found) if i < len(some)])
                 for i in range(max(map(len, found), default=0)))


def _round(exchange, parts):
    """Return the messages of the groups in each part. Their members send to the given targets, shape (messages, p)."""
    source, target, units = [], [], []
    for groups, targets_ in parts:
        members, sent = exchange.members[groups], exchange.group_weight[groups][:, None] * exchange.send_weight
        for each in targets_:
            source.append(members.ravel())
            target.append(members[:, each].ravel())
            units.append((sent * exchange.receive_weight[each]).ravel())
    return single_messages(exchange, np.concatenate(source), np.concatenate(target), np.concatenate(units))


ALGORITHM = Algorithm("pairs in phases; the times of the phases' busiest links add up", rounds, is_alltoall=False)
