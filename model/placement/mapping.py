"""A mapping: the node and slot of every grid rank."""

from dataclasses import dataclass, field

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MappingError
from pencilmap.model.network.network import Network
from pencilmap.model.placement.grid import ProcessGrid, per_node


@dataclass(frozen=True)
class Mapping:
    """A slot for every rank, no slot with two ranks; checked when constructed.

    Parameters
    ----------
    network : Network
    grid : ProcessGrid
    tasks_per_node : int
    node_of_rank : int array, shape (P,)
        Node number of each rank, first dimension fastest.
    slot_of_rank : int array, shape (P,)
        Slot inside the node, 0 <= slot < tasks_per_node.
    name : str
        The placement that made the mapping, e.g. ``box:2x2x2``.
    notes : tuple of str
        Notes on the making of the mapping, for readers of its prediction.

    Raises
    ------
    MappingError
        If ranks and slots are not one to one.
    """

    network: Network
    grid: ProcessGrid
    tasks_per_node: int
    node_of_rank: Ints = field(repr=False)
    slot_of_rank: Ints = field(repr=False)
    name: str = "unnamed"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for attribute in ("node_of_rank", "slot_of_rank"):
            array = np.array(getattr(self, attribute), dtype=np.int64)
            array.setflags(write=False)
            object.__setattr__(self, attribute, array)
        check_bijection(self)

    @property
    def n_tasks(self) -> int:
        return self.grid.n_tasks

    @property
    def fills_network(self) -> bool:
        """Whether no slot stays idle."""
        return self.n_tasks == self.network.n_nodes * self.tasks_per_node

    @property
    def ends(self) -> Ints:
        """End of the network of each rank, as routing rules take it: int array, shape (P,)."""
        return self.network.ends(self.node_of_rank, self.slot_of_rank)

    def coordinates(self) -> Ints:
        """Return the coordinates of each rank: int array, shape (P, d)."""
        return self.network.coordinates(self.node_of_rank)


def check_bijection(mapping: Mapping) -> None:
    """Raise MappingError unless every rank has one slot of the network and no slot has two ranks."""
    node, slot, T = mapping.node_of_rank, mapping.slot_of_rank, mapping.tasks_per_node
    for what, array in (("nodes", node), ("slots", slot)):
        if array.shape != (mapping.n_tasks,):
            raise MappingError(f"grid {mapping.grid} needs {what} for {mapping.n_tasks} ranks, got {array.size}")
    outside = np.flatnonzero((node < 0) | (node >= mapping.network.n_nodes))
    if outside.size:
        raise MappingError(f"rank {outside[0]} sits on node {node[outside[0]]}, but {mapping.network.title} has nodes "
                           f"0..{mapping.network.n_nodes - 1}")
    outside = np.flatnonzero((slot < 0) | (slot >= T))
    if outside.size:
        raise MappingError(f"rank {outside[0]} has slot {slot[outside[0]]}; with {per_node(T)} slots are 0..{T - 1}")
    place = node * T + slot
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(np.diff(place[order]) == 0)
    if twice.size:
        first, second = order[twice[0]], order[twice[0] + 1]
        where = mapping.network.node_name(node[first])
        raise MappingError(f"ranks {first} and {second} both sit on node {where} slot {slot[first]}; "
                           "every slot takes one rank")


def slots_in_order(node: Ints) -> Ints:
    """Give the ranks of a node its slots in the order of the list.

    >>> slots_in_order(np.array([4, 2, 4, 4])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(node, kind="stable")
    first = np.searchsorted(node[order], node[order])
    slot = np.empty_like(node)
    slot[order] = np.arange(node.size) - first
    return slot
