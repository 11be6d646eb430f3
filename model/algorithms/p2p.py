"""Scheduled pairs: in each step a rank sends one message and receives one.

Idea: in step s rank `me` of a group of p sends to ``me xor s`` where p is a power of two, else to ``me + s`` (mod p), and
the next step begins when both messages are there. With even blocks the ranks of all groups are in the same step at the same
time, so the exchange takes the sum over the steps of each step's busiest link. With uneven blocks ranks drift apart, and
the sum is a few percent off.
Source: the order of partners of fft_runner/src/exchange/exchange_p2p.c.
"""

import numpy as np

from pencilmap.model.algorithms.algorithm import Algorithm, single_messages
from pencilmap.model.arrays import Ints
from pencilmap.model.exchange import Exchange
from pencilmap.model.mapping import Mapping


def targets(p: int) -> Ints:
    """Member that each member sends to in each step: int array, shape (p - 1, p).

    >>> targets(3).tolist(), targets(4).tolist()
    ([[1, 2, 0], [2, 0, 1]], [[1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
    """
    step, me = np.ogrid[1:p, :p]
    return me ^ step if p & (p - 1) == 0 else (me + step) % p


def rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """One round for each step; a single one of no messages in groups of one."""
    sent = exchange.group_weight[:, None] * exchange.send_weight
    return tuple(single_messages(exchange, exchange.members.ravel(), exchange.members[:, target].ravel(),
                                 (sent * exchange.receive_weight[target]).ravel())
                 for target in targets(exchange.size)) or (exchange,)


ALGORITHM = Algorithm("pairs in steps; the times of the steps' busiest links add up", rounds, is_alltoall=False)
