"""Hosts on switches: the common part of trees, dragonflies and HyperX.

A host has one or more links, to one switch or to several. How its tasks use them:

even
    Every message is split evenly over all links. The part that leaves by link i arrives by link i of the other host. So the
    network consists of as many planes as a host has links, and each plane carries an equal share.
task
    Task t sends and receives by link t modulo the number of links (the nearest link of a core). Messages between different
    links meet in the switches.

Messages between tasks of a host stay in the host. A host link of a switch is one cable.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.graph import GraphNetwork
from pencilmap.model.network.network import Arcs

USES = ("even", "task")
HOST = "host"  # class of the cables between hosts and switches


def none() -> Ints:
    """Return an empty array."""
    return np.zeros(0, dtype=np.int64)


class Plane(NamedTuple):
    """The ends of the network between which some of the traffic travels."""

    share: Fraction  #: of every message
    links: Ints  #: int array, shape (E,); host link of each end
    switch: Ints  #: int array, shape (E,); switch of each end


@dataclass(frozen=True, eq=False)
class SwitchedNetwork(GraphNetwork):
    """Hosts with links to switches, and cables between switches in classes.

    The first class of links is `HOST`: the host links upwards, then the same links downwards.

    Parameters
    ----------
    links_per_host : int
    use : {"even", "task"}
    switch_of_link : int array, shape (N links_per_host,)
        Switch of link i of host n at ``n * links_per_host + i``. Switches are numbered from 0.
    """

    links_per_host: int = 1
    use: str = "even"
    switch_of_link: Ints = field(default_factory=none, repr=False)

    @property
    def n_switches(self) -> int:
        return len(self.vertices) - self.n_nodes

    @property
    def host_of_end(self) -> Ints:
        """Host of each end: int array, shape (E,)."""
        return np.arange(self.n_nodes * self.ends_per_node) // self.ends_per_node

    @property
    def ends_per_node(self) -> int:
        return self.links_per_host if self.use == "task" else 1

    def ends(self, node: Ints, slot: Ints) -> Ints:
        """Return the ends of ranks: the link of the task if each task uses one link, else the host."""
        L = self.ends_per_node
        return node if L == 1 else np.asarray(node) * L + np.asarray(slot) % L

    @property
    def router_of_end(self) -> Ints:
        """Switch of each end of the first plane."""
        return self.planes()[0].switch

    def router_arcs(self) -> Arcs:
        """Return the links between switches as arcs."""
        return self._router_arcs

    @cached_property
    def _router_arcs(self) -> Arcs:
        arcs, n = self.arcs(), self.n_nodes
        links = np.flatnonzero((arcs.source >= n) & (arcs.target >= n))
        return Arcs(self.n_switches, arcs.source[links] - n, arcs.target[links] - n, links, arcs.capacity[links],
                    arcs.ways[links])

    def planes(self) -> list[Plane]:
        """Return the planes of the network, see the module."""
        L = self.links_per_host
        links = np.arange(self.n_nodes * L)
        if self.use == "task":
            return [Plane(Fraction(1), links, self.switch_of_link)]
        return [Plane(Fraction(1, L), links[i::L], self.switch_of_link[i::L]) for i in range(L)]

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        return {**super().as_dict(), "links_per_host": self.links_per_host, "use": self.use,
                "classes": list(self.link_classes), "levels": {level.name: level.count for level in self.levels}}

    @property
    def title(self) -> str:
        return f"network {self.name}"

    def __str__(self) -> str:
        return self.name
