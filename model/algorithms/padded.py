"""MPI_Alltoall over messages that are padded to the longest of their group.

The longest message of a group is the product of the longest block to send and the longest block to receive.
"""

from dataclasses import replace

import numpy as np

from pencilmap.model.algorithms.algorithm import Algorithm
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


def padded(exchange: Exchange) -> Exchange:
    """Return the exchange with every block as long as the longest.

    >>> from pencilmap.model.traffic.exchange import exchanges
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> from pencilmap.model.placement.transform import Transform
    >>> row, _ = exchanges(ProcessGrid(2, 1), Transform(2, 3, 2))
    >>> row.send_weight.tolist(), padded(row).send_weight.tolist()
    ([2, 1], [2, 2])
    """
    send, receive = (np.full_like(weight, weight.max()) for weight in (exchange.send_weight, exchange.receive_weight))
    return replace(exchange, send_weight=send, receive_weight=receive)


def rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round of padded messages."""
    return (padded(exchange),)


ALGORITHM = Algorithm("all messages at once, padded to the longest of the group", rounds)
