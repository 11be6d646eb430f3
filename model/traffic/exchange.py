"""The exchanges of a transform as traffic: senders, receivers and sizes of all messages.

A task sends its block of the gathered axis, cut to the receiver's block of the divided axis. The size of every message is a
product of three block lengths, so an exchange is three short vectors.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.decompositions.decomposition import AXES, ExchangeStage
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, block_lengths
from pencilmap.model.traffic.pairs import Traffic, summed, traffic_within


@dataclass(frozen=True)
class Exchange:
    """All-to-alls of equal size that run at the same time, one per group.

    Member a of group g sends ``group_weight[g] * send_weight[a] * receive_weight[b] * unit_bytes`` bytes to member b.
    """

    name: str  #: name of the stage
    letters: str  #: the grid dimensions along which the members of a group lie
    members: np.ndarray  #: int array, shape (groups, size); ranks of each group
    #: group_weight, send_weight, receive_weight: int arrays, shapes (groups,), (size,), (size,)
    group_weight: np.ndarray
    send_weight: np.ndarray
    receive_weight: np.ndarray
    unit_bytes: int  #: bytes of a unit of weight; 1 without a transform (then `total_bytes` only sets the scale)
    total_bytes: int  #: D_T, the bytes of the whole array, in the same units

    @property
    def size(self) -> int:
        return self.members.shape[1]

    @property
    def is_even(self) -> bool:
        """Whether every message has the same size."""
        return all((w == w[:1]).all() for w in (self.group_weight, self.send_weight, self.receive_weight))

    @property
    def message_unit(self) -> int:
        """Bytes of a message of an even exchange."""
        return int(self.group_weight[0] * self.send_weight[0] * self.receive_weight[0]) * self.unit_bytes


def message_roots(send: Ints, receive: Ints, factor: float) -> Floats:
    """Return for every member the sum over its messages to other members of the square root of their size in KiB.

    Parameters
    ----------
    send, receive : int array, shape (size,)
        Block lengths: the message of a to b has ``send[a] * receive[b] * factor`` bytes.
    factor : float

    Examples
    --------
    >>> message_roots(np.array([4, 1]), np.array([1, 1]), 1024.0).tolist()
    [2.0, 1.0]
    """
    from_each, to_each = np.sqrt(send), np.sqrt(receive)
    return np.asarray(from_each * (to_each.sum() - to_each) * (factor / 1024) ** 0.5, dtype=float)


def messages_sent(send: Ints, receive: Ints) -> Ints:
    """Return for every member the number of its messages to other members; blocks without elements are not sent.

    >>> messages_sent(np.array([4, 1, 0]), np.array([1, 1, 0])).tolist()
    [1, 1, 0]
    """
    sends, receives = send > 0, receive > 0
    return np.asarray(sends * (receives.sum() - receives))


def exchanges(grid: ProcessGrid, transform: Transform | None = None) -> tuple[Exchange, ...]:
    """Return the exchanges of a grid, in the order of a forward transform.

    In a backward transform member b sends to a what a sends to b in a forward transform.

    Parameters
    ----------
    grid : ProcessGrid
    transform : Transform, optional
        Without a transform every task sends one unit to every member of its group: the even exchange of the paper.

    Examples
    --------
    >>> row, column = exchanges(ProcessGrid(2, 3))
    >>> row.members.tolist(), column.members.tolist()
    ([[0, 1], [2, 3], [4, 5]], [[0, 2, 4], [1, 3, 5]])
    """
    if transform is None:
        return tuple(_even(stage, grid) for stage in grid.decomposition.exchanges)
    return tuple(_of_transform(stage, division, grid, transform) for stage, division in grid.decomposition.layouts()
                 if isinstance(stage, ExchangeStage))


def sides(stage: ExchangeStage, transform: Transform) -> tuple[str, str]:
    """Return the axes whose blocks the members send, and receive: a backward transform gathers the divided axis."""
    return (stage.divided, stage.gathered) if transform.backward else (stage.gathered, stage.divided)


def side_blocks(stage: ExchangeStage, division: dict[str, str], grid: ProcessGrid,
                transform: Transform) -> tuple[np.ndarray, np.ndarray]:
    """Return the block lengths of `sides` among the members of a group: two int arrays, shape (size,).

    Parameters
    ----------
    division : dict of str to str
        The letters that divide each axis before the exchange.
    """
    extents, before = transform.extents(stage, grid), division | {stage.gathered: ""}
    send, receive = (block_lengths(extents[axis] // grid.extent(before[axis]), grid.extent(stage.letters))
                     for axis in sides(stage, transform))
    return send, receive


def _even(stage, grid):
    members = grid.groups(stage.letters)
    groups, size = members.shape
    one = np.ones(max(groups, size), dtype=np.int64)
    return Exchange(stage.name, letters=stage.letters, members=members, group_weight=one[:groups], send_weight=one[:size],
                    receive_weight=one[:size], unit_bytes=1, total_bytes=grid.n_tasks * size)


def _of_transform(stage, division, grid, transform):
    members, extents = grid.groups(stage.letters), transform.extents(stage, grid)
    weight = np.ones(len(members), dtype=np.int64)
    for axis in set(AXES) - {stage.gathered, stage.divided}:
        letter = division[axis]  # none if the axis is whole
        weight *= block_lengths(extents[axis], grid.extent(letter))[grid.coordinate(letter)[members[:, 0]]] if letter \
            else extents[axis]
    send, receive = side_blocks(stage, division, grid, transform)
    return Exchange(stage.name, letters=stage.letters, members=members, group_weight=weight, send_weight=send,
                    receive_weight=receive, unit_bytes=transform.point_bytes, total_bytes=transform.total_bytes)


def node_traffic(exchange: Exchange, node_of_rank: np.ndarray, n_nodes: int) -> Any:
    """Return the bytes that the tasks of one node send to the tasks of another.

    Parameters
    ----------
    exchange : Exchange
    node_of_rank : int array, shape (P,)
    n_nodes : int

    Returns
    -------
    sparse array, shape (n_nodes, n_nodes)
        From row to column, with zeros on the diagonal.

    Examples
    --------
    >>> row, column = exchanges(ProcessGrid(2, 2))
    >>> node_traffic(column, np.array([0, 0, 1, 1]), 2).toarray().tolist()    # two tasks on each node
    [[0, 2], [2, 0]]
    """
    return messages_between(exchange, node_of_rank, n_nodes).tocsr()


def messages_between(exchange: Exchange, node_of_rank: np.ndarray, n_nodes: int) -> Traffic:
    """Return the same as `node_traffic`, as a list of pairs of nodes."""
    part, node, sent, received = _by_member(exchange, node_of_rank)
    return traffic_within(part, node, sent, received, n_nodes)


def node_totals(exchange: Exchange, node_of_rank: np.ndarray, n_nodes: int) -> tuple[Ints, Ints]:
    """Return the bytes that each node sends to other nodes, and receives from other nodes: int arrays, shape (N,).

    >>> row, column = exchanges(ProcessGrid(2, 2))
    >>> [bytes_.tolist() for bytes_ in node_totals(column, np.array([0, 0, 1, 1]), 2)]
    [[2, 2], [2, 2]]
    """
    part, node, sent, received = _by_member(exchange, node_of_rank)
    cells, cell = np.unique(part * n_nodes + node, return_inverse=True)
    group, place = cells // n_nodes, cells % n_nodes
    of_cell = [summed(cell, held, len(cells)) for held in (sent, received)]
    of_group = [summed(part, held, len(exchange.members)) for held in (sent, received)]
    others = [of_cell[k] * (of_group[1 - k][group] - of_cell[1 - k]) for k in (0, 1)]
    return summed(place, others[0], n_nodes), summed(place, others[1], n_nodes)


def _by_member(exchange, node_of_rank):
    """Return group, node, and the factors of the bytes that each member of a group sends and receives: four flat arrays."""
    node = np.asarray(node_of_rank)[exchange.members]
    group = np.broadcast_to(np.arange(len(node))[:, None], node.shape)
    sent = exchange.send_weight * exchange.group_weight[:, None] * exchange.unit_bytes
    return group.ravel(), node.ravel(), sent.ravel(), np.broadcast_to(exchange.receive_weight, node.shape).ravel()
