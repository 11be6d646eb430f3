"""Places, cables and routing tables of a network of namespaces: a torus, or a fat tree.

A place is a namespace: a host, or a switch; hosts have the first numbers. A port of a place is (i, direction, neighbour). On
a torus, i is a dimension. On a tree, i is a cable, and direction is +1 at its lower end.
"""

from functools import cached_property, singledispatch
from typing import Any, Protocol

import numpy as np

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.model.kinds.fat_tree import FatTree
from pencilmap.model.network.torus import Torus
from pencilmap.scripts.networks.routes import Ways

Port = tuple[int, int, int]


class Wiring(Protocol):
    """The interface of both kinds."""

    routing: str  #: name of the model's routing rule for the same routes
    names: list[str]  #: of the places, hosts first

    def ports(self, place: int) -> list[Port]:
        """Return the port of every link that leaves a place."""

    def next_hop(self, place: int, target: int) -> Port | None:
        """Return the port towards a host; None at the host, and at switches that no route to it passes."""

    def device(self, i: int, direction: int) -> str:
        """Return the name of the device of a port."""

    def link_index(self, i: int, direction: int, place: int) -> tuple[int, ...]:
        """Return the index of the link in an array of loads."""

    def link_name(self, i: int, direction: int, place: int) -> str:
        """Return the link in a report."""


class TorusWiring:
    """A torus or mesh with dimension order."""

    def __init__(self, torus: Torus, tie: str) -> None:
        self.torus, self.tie = torus, tie
        self.routing = f"dimension-order:{tie}"
        self.names = Hosts(torus).names(range(torus.n_nodes))

    def neighbour(self, node: int, i: int, direction: int) -> int | None:
        """Return the node next to `node` in dimension `i`, `direction` +1 or -1; None if the line ends there."""
        coordinate, n = self._coordinate(node, i), self.torus.shape[i]
        there = coordinate + direction
        if not 0 <= there < n:
            if not self.torus.is_ring(i):
                return None
            there %= n
        return int(node + (there - coordinate) * self.torus.strides[i])

    def ports(self, place: int) -> list[Port]:
        return [(i, direction, there) for i in range(self.torus.n_dimensions) for direction in (1, -1)
                if (there := self.neighbour(place, i, direction)) is not None]

    def next_hop(self, place: int, target: int) -> Port | None:
        for i in range(self.torus.n_dimensions):
            here, there = self._coordinate(place, i), self._coordinate(target, i)
            if here != there:
                direction = self._direction(i, here, there)
                return i, direction, place + ((here + direction) % self.torus.shape[i] - here) * self.torus.strides[i]
        return None

    def _direction(self, i: int, here: int, there: int) -> int:
        if not self.torus.is_ring(i):
            return 1 if there > here else -1
        n = self.torus.shape[i]
        upwards = 2 * ((there - here) % n)
        if upwards == n:
            return 1 if self.tie == "plus" or here % 2 == 0 else -1
        return 1 if upwards < n else -1

    def _coordinate(self, node: int, i: int) -> int:
        return node // self.torus.strides[i] % self.torus.shape[i]

    def device(self, i: int, direction: int) -> str:
        """Return the axis and the direction, e.g. ``xp`` and ``xm``."""
        return self.torus.axes[i] + ("p" if direction > 0 else "m")

    def link_index(self, i: int, direction: int, place: int) -> tuple[int, ...]:
        return i, 0 if direction > 0 else 1, place

    def link_name(self, i: int, direction: int, place: int) -> str:
        return f"{self.names[place].removeprefix('node-')}:{self.torus.axes[i]}{'+' if direction > 0 else '-'}"


class TreeWiring:
    """A fat tree with static routes. The kernel's choice among several next hops is not even, so ECMP is not possible."""

    routing = "static"

    def __init__(self, tree: FatTree) -> None:
        self.tree, self.ways = tree, Ways(tree)
        self.names = list(tree.vertices)

    @cached_property
    def _upwards(self) -> list[int]:
        """Number of the link upwards of each cable."""
        return [link for link, (a, b) in enumerate(zip(self.tree.source.tolist(), self.tree.target.tolist())) if a < b]

    @cached_property
    def _port_of_link(self) -> dict[int, Port]:
        found = {}
        for cable, up in enumerate(self._upwards):
            for link, direction in ((up, 1), (self.ways.back[up], -1)):
                found[link] = cable, direction, int(self.tree.target[link])
        return found

    def ports(self, place: int) -> list[Port]:
        return [port for link, port in self._port_of_link.items() if self.tree.source[link] == place]

    def next_hop(self, place: int, target: int) -> Port | None:
        return self._next.get((place, target))

    @cached_property
    def _next(self) -> dict[tuple[int, int], Port]:
        """The port towards each host, at every place on the way from another host."""
        n, found = self.tree.n_nodes, {}
        leaf = (n + self.tree.switch_of_link).tolist()
        for target in range(n):
            for source in set(range(n)) - {target}:
                way = self.ways.static(leaf[source], leaf[target], target)
                for link in (source, *way, n + target):  # host links upwards have the numbers of their hosts
                    found[int(self.tree.source[link]), target] = self._port_of_link[link]
        return found

    def device(self, i: int, direction: int) -> str:
        """Return the cable and its end, e.g. ``c7p`` at the lower end."""
        return f"c{i}{'p' if direction > 0 else 'm'}"

    def link_index(self, i: int, direction: int, place: int) -> tuple[int, ...]:
        index = np.unravel_index(self.tree.place_of_link[self._link(i, direction)], self.tree.link_shape)
        return tuple(map(int, index))

    def link_name(self, i: int, direction: int, place: int) -> str:
        return str(self.tree.link_number(self._link(i, direction)))

    def _link(self, i: int, direction: int) -> int:
        up = self._upwards[i]
        return up if direction > 0 else self.ways.back[up]


@singledispatch
def wiring_of(network: Any, tie: str) -> Wiring | None:
    """Return the wiring of a network; None if it cannot be made of namespaces."""
    return None


wiring_of.register(Torus, TorusWiring)


@wiring_of.register
def _wiring_of_tree(tree: FatTree, tie: str) -> Wiring | None:
    return TreeWiring(tree) if tree.links_per_host == 1 else None
