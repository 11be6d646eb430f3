"""One message between two nodes: the ranks of a node share memory, and each carries the messages to some other nodes.

Idea: all messages from members of one node to members of another travel as one message. The ranks of a node take turns as
carriers, beginning with the nearest node above. The carrier at the other end receives the message. Messages inside a node
load no links.
Source: `lay_out` and `carrier` of fft_runner/src/exchange/exchange_node.c.
Cost: O(number of pairs of nodes) for each group.
"""

import numpy as np

from pencilmap.model.algorithms.algorithm import Algorithm, single_messages
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.exchange import Exchange


def rounds(exchange: Exchange, mapping: Mapping) -> tuple[Exchange, ...]:
    """Return a single round: a message from each node of a group to each other."""
    found = [_of_group(ranks, mapping.node_of_rank[ranks], exchange.send_weight * weight, exchange.receive_weight)
             for ranks, weight in zip(exchange.members, exchange.group_weight)]
    return (single_messages(exchange, *(np.concatenate(some) for some in zip(*found))),)


def _of_group(ranks, nodes, sent, received):
    """Return source, target and units of the messages of a group. `sent` and `received` are by member."""
    _, first, node = np.unique(nodes, return_index=True, return_inverse=True)
    node = np.argsort(np.argsort(first))[node]  # numbered in the order of their first members
    n = len(first)
    held = np.bincount(node)
    members = ranks[np.argsort(node, kind="stable")]  # by node
    start = held.cumsum() - held
    here, there = (index.ravel() for index in np.indices((n, n)))
    here, there = here[here != there], there[here != there]
    units = _by_node(node, sent)[here] * _by_node(node, received)[there]
    return members[start[here] + _turn(here, there, held)], members[start[there] + _turn(there, here, held)], units


def _turn(node, other, held):
    """Return the rank of the node that carries the messages between the node and the other node."""
    return ((other - node) % len(held) - 1) % held[node]


def _by_node(node, units):
    sums = np.zeros(node.max() + 1, dtype=np.int64)
    np.add.at(sums, node, units)
    return sums


ALGORITHM = Algorithm("one message between two nodes, all at once", rounds, is_alltoall=False, beside=False)
