"""Messages that carry the blocks of many ranks: radix-r all-to-alls after Bruck, with r = 2, 4 and 8.

Idea: a block for the member d above travels by the digits of d in base r, the lowest digit first. In round k a member
sends a message v r^k members up, for v = 1 to r - 1. This message has all blocks of the sender whose digit k is v.
Such a block has the distance d = low + v r^k + high r^(k+1). The block goes from the member `low` below the sender to the
member v r^k + high r^(k+1) above the sender. So a message has as many bytes as the product of two sums of block lengths.
The last `high` is an exception, because its `low` may end early.
Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient algorithms for all-to-all communications in
multiport message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997), 1143-1156;
fft_runner/src/exchange/exchange_bruck.c.
Cost: O(p**2) for the sums of p uneven blocks, O(p r log p) for even blocks.
"""

from functools import partial

import numpy as np

from pencilmap.model.algorithms.algorithm import Algorithm, single_messages
from pencilmap.model.base.arrays import Ints
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


def steps(p: int, radix: int) -> list[list[int]]:
    """Return the distances, upwards from the sender, of the messages of each round in a group of p.

    >>> steps(6, 2), steps(6, 4), steps(1, 2)
    ([[1], [2], [4]], [[1, 2, 3], [4]], [])
    """
    units: list[int] = []
    while radix ** len(units) < p:
        units.append(radix ** len(units))
    return [[digit * unit for digit in range(1, radix) if digit * unit < p] for unit in units]


def carried(send: Ints, receive: Ints, radix: int, unit: int, far: int) -> Ints:
    """Return the units that each member sends in a round: int array, shape (p,).

    Parameters
    ----------
    send, receive : int array, shape (p,)
        Block lengths of an exchange.
    radix, unit : int
        The round sends by the digit of value `unit`.
    far : int
        Distance to the receiver, upwards.

    Examples
    --------
    >>> carried(np.array([1, 1, 1, 1]), np.array([1, 1, 1, 2]), 2, 1, 1).tolist()    # distances 1 and 3
    [3, 2, 3, 2]
    """
    p, stride = len(send), unit * radix
    whole, left = divmod(p - far, stride)  # every `low` for `whole` values of `high`, and the first `left` for one more
    if left >= unit:
        whole, left = whole + 1, 0
    sums = [_below(send, n) for n in (unit, left)]
    if (receive == receive[0]).all():
        return receive[0] * (sums[0] * whole + sums[1])
    above = sum((np.roll(receive, -far - high * stride) for high in range(whole)), np.zeros_like(receive))
    return sums[0] * above + sums[1] * np.roll(receive, -far - whole * stride)


def _below(send, n):
    """Return for every member the sum over itself and the n - 1 members below."""
    p = len(send)
    sums = np.concatenate([[0], np.tile(send, 2).cumsum()])
    return sums[p + 1:] - sums[p + 1 - n:2 * p + 1 - n]


def rounds(radix: int, exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a round for each digit. Groups of one have a single round without messages."""
    p, found = exchange.size, []
    unit = 1
    for far in steps(p, radix):
        sent = [carried(exchange.send_weight, exchange.receive_weight, radix, unit, each) for each in far]
        units = np.concatenate([exchange.group_weight[:, None] * some for some in sent], axis=None)
        source = np.concatenate([exchange.members] * len(far), axis=None)
        target = np.concatenate([np.roll(exchange.members, -each, axis=1) for each in far], axis=None)
        found.append(single_messages(exchange, source, target, units))
        unit *= radix
    return tuple(found) or (exchange,)


def _of_radix(radix):
    return Algorithm(f"blocks of many ranks in one message, radix {radix}: rounds whose times add up",
                     partial(rounds, radix), is_alltoall=False)


RADIX_2, RADIX_4, RADIX_8 = map(_of_radix, (2, 4, 8))
