"""Tori, meshes and twisted tori whose nodes have names and any order, as the file of their cables lists them.

They are graphs with the routings of a graph. Routings, bounds and placements of the torus are carried over to them.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.network.graph import GraphNetwork, none
from pencilmap.model.network.torus import Torus


@dataclass(frozen=True, eq=False)
class TorusGraph(GraphNetwork):
    """A graph that is a torus.

    Parameters
    ----------
    torus : Torus or TwistedTorus
    node_of_host : int array, shape (N,)
        Node of the torus that each host is.
    """

    torus: Any = Torus((1,))
    node_of_host: Ints = field(default_factory=none, repr=False)

    @property
    def place_of_host(self) -> Ints:
        """Node of the torus that each host is."""
        return self.node_of_host

    @cached_property
    def host_of_node(self) -> Ints:
        """Host that each node of the torus is: int array, shape (N,)."""
        result = np.empty(self.n_nodes, dtype=np.int64)
        result[self.node_of_host] = np.arange(self.n_nodes)
        return result

    @cached_property
    def in_order(self) -> "TorusGraph":
        """The same graph with hosts and links in the order of the torus, whatever their order in the file."""
        source, target = self.node_of_host[self.source], self.node_of_host[self.target]
        order = np.lexsort([target, source])
        return replace(self, vertices=tuple(self.vertices[host] for host in self.host_of_node.tolist()),
                       source=source[order], target=target[order], cables=tuple(self.cables[i] for i in order.tolist()),
                       count=None if self.count is None else self.count[order], node_of_host=np.arange(self.n_nodes))

    @cached_property
    def place_in_torus(self) -> Ints:
        """Place of each link in a flat array of ``torus.link_shape``: int array, shape (L,)."""
        arcs, n = self.torus.arcs(), self.n_nodes
        known = self.host_of_node[arcs.source] * n + self.host_of_node[arcs.target]
        order = np.argsort(known)
        return arcs.index[order][np.searchsorted(known[order], self.source * n + self.target)]


class TwistedTorusGraph(TorusGraph):
    """A graph that is a twisted torus."""
