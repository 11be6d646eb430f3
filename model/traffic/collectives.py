"""The collectives of machine-learning jobs along an axis of a mesh of devices: bytes on the busiest link.

All groups along the axis work at once, each device with a buffer of one byte: the larger of its input and output.

Gathers. In each dimension of the network the members of a group form a ring, in which each part travels half way in both
directions; on an open line the way from the last member to the first leads back along the line, so the ring has half the
rate. One step of the ring is a set of messages between neighbours, whose load follows from routing them, and n - 1 steps
carry (n - 1) / n of the buffer. Which of two ways a compiler takes for several dimensions is not published: each dimension
carries a share of the buffer (`together`), or one dimension follows the other unless both are alike (`in_turn`). A
reduce-scatter is a gather backwards, an all-reduce both.

Source: jax-ml.github.io/scaling-book/sharding for the rings, and that bandwidths of dimensions add; a comment in
jax/_src/mesh_utils.py says that only planes of equal sides are gathered together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.network import Network, link_weights
from pencilmap.model.traffic.exchange import Exchange, of_messages
from pencilmap.model.traffic.loads import known_loads


class AxisLoads(NamedTuple):
    """Bytes on the busiest link for each byte of a device, if all groups along an axis do the same."""

    together: float  #: an all-gather that uses all dimensions at once
    in_turn: float  #: an all-gather that uses unequal dimensions one after the other
    all_to_all: float
    permute: float = 0.0  #: from each member to the next, and from the last to the first

    @property
    def three(self) -> tuple[float, float, float]:
        """The loads that decide whether another order is never worse."""
        return self.together, self.in_turn, self.all_to_all

    def of(self, collective: str) -> tuple[float, float]:
        """Return the least and the largest load of a collective of `COLLECTIVES`."""
        found = [COLLECTIVES[collective].times * getattr(self, name) for name in COLLECTIVES[collective].loads]
        return min(found), max(found)


class Collective(NamedTuple):
    """The fields of `AxisLoads` that a collective may load, and how many times."""

    loads: tuple[str, ...]
    times: int = 1


GATHERS = "together", "in_turn"
PERMUTE = "permute"
COLLECTIVES = {
    "all-gather": Collective(GATHERS),
    "reduce-scatter": Collective(GATHERS),
    "all-reduce": Collective(GATHERS, 2),
    "all-to-all": Collective(("all_to_all",)),
    PERMUTE: Collective((PERMUTE,)),
}


@dataclass(frozen=True)
class Ring:
    """The rings of the groups in one dimension: members, distance of neighbours, bytes of a step on the busiest link."""

    members: int
    stride: int
    load: float


@dataclass(frozen=True)
class Slots:
    """The slots of a whole network, for collectives on it.

    Parameters
    ----------
    network : Network
        With coordinates.
    tasks_per_node : int
        Devices of a node. They exchange data without links.
    rule : value of `pencilmap.model.kinds.routing`
    """

    network: Network
    tasks_per_node: int
    rule: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the network, and the devices of a node."""
        return (*self.network.shape, self.tasks_per_node)

    def coordinates(self, places: Ints) -> Ints:
        """Return coordinates and slot of places, which are numbered node by node: int array, shape (..., d + 1)."""
        node, slot = np.divmod(places, self.tasks_per_node)
        return np.concatenate([self.network.coordinates(node.ravel()).reshape(*node.shape, -1), slot[..., None]], axis=-1)

    def all_to_all(self, groups: Ints) -> float:
        """Return the load of an all-to-all in each group of places, shape (groups, size)."""
        number, size = groups.shape
        one = np.ones(max(groups.shape), dtype=np.int64)
        return self._busiest(Exchange("all-to-all", letters="", members=groups, group_weight=one[:number],
                                      send_weight=one[:size], receive_weight=one[:size], unit_bytes=1,
                                      total_bytes=groups.size * size)) / size

    def messages(self, source: Ints, target: Ints) -> float:
        """Return the load of messages of one byte between places."""
        pairs = np.stack([source.ravel(), target.ravel()], axis=1)
        return self._busiest(of_messages("messages", pairs, np.ones(len(pairs), np.int64), 1, max(1, len(pairs))))

    def both_ways(self, source: Ints, target: Ints) -> float:
        """Return the load of a step of rings in which half of each part goes each way."""
        return self.messages(np.stack([source, target]), np.stack([target, source])) / 2

    def _busiest(self, exchange: Exchange) -> float:
        nodes = np.arange(self.network.n_nodes * self.tasks_per_node) // self.tasks_per_node
        loads = known_loads(self.network, exchange, nodes, self.rule).largest()
        return max(float(load * weight) for load, weight in zip(loads, link_weights(self.network)))


def gather_loads(rings: Sequence[Ring], shared: float = 1.0) -> tuple[float, float]:
    """Return the loads of an all-gather over some dimensions at once, and in turn unless they are alike.

    Parameters
    ----------
    rings : sequence of Ring
        One for each dimension in which the groups have several members; none load no link.
    shared : float
        Groups on the same links.

    Examples
    --------
    Lines of 4 and rings of 8, one byte in all on each of 32 devices:

    >>> gather_loads([Ring(4, 1, 1.0), Ring(8, 1, 0.5)])
    (0.3229166666666667, 0.53125)
    """
    if not rings:
        return 0.0, 0.0
    n = prod(ring.members for ring in rings)
    together = shared * (n - 1) / n / sum(1 / ring.load for ring in rings)
    if len(set(rings)) == 1:
        return together, together
    least = inf
    for order in permutations(rings):
        load, held = 0.0, 1
        for ring in order:
            load += (ring.members - 1) * held / n * ring.load
            held *= ring.members
        least = min(least, shared * load)
    return together, least


def axis_loads(slots: Slots, groups: Ints, permutes: bool = False) -> AxisLoads:
    """Return the loads of collectives along an axis of a mesh.

    Parameters
    ----------
    slots : Slots
    groups : int array, shape (groups, size)
        The places of the members of each group, in their order along the axis. All groups fill all places.
    permutes : bool
        Whether `AxisLoads.permute` is wanted.

    Returns
    -------
    AxisLoads
        Gathers go by dimensions if the groups are boxes. If their order is not that of the coordinates, the better of this
        and of one ring in the order of the axis counts.
    """
    size = groups.shape[1]
    if size == 1:
        return AxisLoads(0.0, 0.0, 0.0)
    after, box = np.roll(groups, -1, axis=1), _box(slots, groups)
    together, in_turn = gather_loads(_rings(slots, box)) if box else (inf, inf)
    if box is None or not box.is_in_order:
        ring = slots.both_ways(groups, after) * (size - 1) / size
        together, in_turn = min(ring, together), min(ring, in_turn)
    return AxisLoads(together, in_turn, slots.all_to_all(groups), slots.messages(groups, after) if permutes else 0.0)


class _Box(NamedTuple):
    """Groups that are boxes: places, shape (groups, extents); distance of neighbours in each dimension; order of members."""

    members: Ints
    strides: tuple[int, ...]
    is_in_order: bool


def _box(slots: Slots, groups: Ints) -> _Box | None:
    """Return the groups as boxes, None if they are no boxes of one form."""
    where = slots.coordinates(groups)
    order = where.argsort(axis=1, kind="stable")
    placed = np.take_along_axis(where, order, axis=1)
    rank = np.zeros_like(where)
    np.cumsum(np.diff(placed, axis=1) != 0, axis=1, out=rank[:, 1:])
    sizes = rank[:, -1] + 1
    extents = tuple(sizes[0].tolist())
    if (sizes != sizes[0]).any() or prod(extents) != groups.shape[1]:
        return None
    digits = np.empty_like(where)
    np.put_along_axis(digits, order, rank, axis=1)
    parts = list(np.moveaxis(digits, -1, 0))
    number = np.ravel_multi_index(tuple(parts), extents)
    used = [axis for axis, extent in enumerate(extents) if extent > 1]
    in_order = any((np.ravel_multi_index(tuple(parts[axis] for axis in axes), tuple(extents[axis] for axis in axes))
                    == np.arange(groups.shape[1])).all() for axes in permutations(used))
    second = [int(placed[0, int((rank[0, :, axis] == 0).sum()) % len(order[0]), axis] - placed[0, 0, axis])
              for axis in range(len(extents))]
    return _Box(np.take_along_axis(groups, number.argsort(axis=1), axis=1).reshape(-1, *extents), tuple(second), in_order)


def _rings(slots: Slots, box: _Box) -> list[Ring]:
    """Return the rings of boxes in the dimensions of the network; a chip with several members gathers for all of them."""
    chips = box.members[..., 0]
    return [Ring(extent, stride, slots.both_ways(chips, np.roll(chips, -1, axis=axis)))
            for axis, (extent, stride) in enumerate(zip(chips.shape[1:], box.strides), 1) if extent > 1]
