"""What every network gives, torus or graph: nodes with names, links in classes, a cut bound. Nothing above asks which it is.

Links come in classes: the dimensions of a torus, or one class for all links of a graph. All links of a class are made of
the same cables; a link may have several. Loads are read per cable and class.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np


class Network(Protocol):
    """The interface of `pencilmap.model.torus.Torus` and `pencilmap.model.graph_network.GraphNetwork`.

    n_nodes : places where tasks can sit, numbered from 0
    shape, axes, n_dimensions, strides, coordinates(), node(), outside() : how nodes are numbered; in a graph along one row
    title : what it is called in a sentence
    host_names : names of the nodes, dict from number to str, or None where they follow from the coordinates
    link_classes : name of each class of links
    link_shape : shape of an array with one entry for each link, first axis the class
    bandwidth : bytes per second of one cable of each class, or None
    """

    n_nodes: int
    axes: str
    link_classes: tuple
    link_shape: tuple
    bandwidth: tuple

    def node_name(self, node):
        """How a reader knows the node."""

    def links_by_cables(self, i):
        """The links of class `i`, those of equal strength together: list of (cables, index into the flat class)."""

    def link(self, i, position):
        """The link at `position` of the flat class `i`: a TorusLink or GraphLink."""

    def arcs(self):
        """All links as the arcs of a directed graph: `Arcs`."""

    def as_dict(self):
        """The network for JSON."""


@dataclass(frozen=True, eq=False)
class Arcs:
    """Links as arcs of a directed graph; nodes first, then vertices where no task can sit (switches).

    Parameters
    ----------
    n_vertices : int
    source, target : int arrays, shape (A,)
    index : int array, shape (A,)
        Place of each arc in a flat array of ``network.link_shape``.
    capacity : float array, shape (A,)
        In cables of the fastest class.
    """

    n_vertices: int
    source: np.ndarray
    target: np.ndarray
    index: np.ndarray
    capacity: np.ndarray

    def distances(self, sources=None):
        """Hops from each source (all vertices by default) to every vertex: float array, inf where no way leads."""
        from scipy.sparse import coo_array  # slow to import, and closed forms do without
        from scipy.sparse.csgraph import shortest_path

        ends = (self.source, self.target)
        links = coo_array((np.ones(len(self.source)), ends), shape=(self.n_vertices, self.n_vertices)).tocsr()
        return shortest_path(links, method="D", unweighted=True, indices=sources)


class TorusLink(NamedTuple):
    """The link that leaves the node at `node` (coordinates) along `axis` upwards (+1) or downwards (-1).

    >>> str(TorusLink((0, 3, 1), "y", -1))
    '(0,3,1)-y'
    """

    node: tuple
    axis: str
    direction: int

    def as_dict(self):
        return {"node": list(self.node), "axis": self.axis, "direction": "+" if self.direction > 0 else "-"}

    def __str__(self):
        return f"({','.join(map(str, self.node))}){'+' if self.direction > 0 else '-'}{self.axis}"


class GraphLink(NamedTuple):
    """The link from one vertex of a graph to another, by name."""

    source: str
    target: str

    def as_dict(self):
        return {"from": self.source, "to": self.target}

    def __str__(self):
        return f"{self.source}->{self.target}"
