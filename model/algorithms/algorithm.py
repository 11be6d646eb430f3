"""The model's view of an exchange algorithm: rounds of messages, one round after the other.

A round is an `Exchange`: either an all-to-all, or single messages, which `single_messages` writes as groups of two ranks.
So every routing rule routes a round like any exchange.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


@dataclass(frozen=True)
class Algorithm:
    """The entry of a name in the table."""

    meaning: str
    #: rounds of an exchange under a mapping; a round starts at the end of the round before. Raises GridError if the
    #: algorithm cannot carry the exchange
    rounds: Callable[[Exchange, Mapping], tuple[Exchange, ...]]
    #: whether, with even blocks, its only round is the exchange itself
    is_alltoall: bool = True
    beside: bool = True  #: whether, with all messages started at once, it can run beside computing and other exchanges

    def is_exchange(self, even: bool) -> bool:
        """Return whether its only round is the exchange itself; closed forms hold then. `even`: all blocks are even."""
        return self.rounds is at_once or (even and self.is_alltoall)

    def started(self, exchange: Exchange, mapping: Mapping) -> Exchange:
        """Return the messages of an exchange that runs beside others. All start at once, even for an algorithm in steps."""
        return self.rounds(exchange, mapping)[0] if self.is_alltoall else exchange


def at_once(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round: every message starts at once."""
    return (exchange,)


def single_messages(exchange: Exchange, source: Ints, target: Ints, units: Ints) -> Exchange:
    """Return a round of single messages. Empty messages are not sent.

    Parameters
    ----------
    exchange : Exchange
    source, target : int array, shape (n,)
        Ranks.
    units : int array, shape (n,)
        Size of each message in ``exchange.unit_bytes``.

    Examples
    --------
    >>> from pencilmap.model.traffic.exchange import exchanges
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> row, _ = exchanges(ProcessGrid(2, 3))
    >>> single_messages(row, np.array([0, 2]), np.array([1, 3]), np.array([5, 0])).members.tolist()
    [[0, 1]]
    """
    sent = np.flatnonzero(units)
    pairs = np.stack([np.asarray(source)[sent], np.asarray(target)[sent]], axis=1)
    return Exchange(exchange.name, letters=exchange.letters, members=pairs, group_weight=np.asarray(units)[sent],
                    send_weight=np.array([1, 0]), receive_weight=np.array([0, 1]), unit_bytes=exchange.unit_bytes,
                    total_bytes=exchange.total_bytes)
