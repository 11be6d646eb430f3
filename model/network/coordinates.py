"""Networks whose nodes have coordinates: the common part of tori, meshes and twisted tori.

Nodes are numbered with the first dimension fastest: node = x + nx*(y + ny*z).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TorusError
from pencilmap.model.network.network import Arcs, TorusLink, link_weights


class CoordinateNetwork:
    """Nodes in a box, with links along each dimension; a class of links for each dimension.

    A network derived from this class has the attributes below, `arcs`, `as_dict` and a text form.
    """

    shape: Any  #: tuple of int; nodes in each dimension
    axes: Any  #: str; one letter for each dimension
    cables: Any  #: tuple of int; parallel cables between two neighbours in each dimension
    bandwidth: Any  #: tuple of float or None; bytes per second of a cable of each dimension

    has_coordinates = True
    recognised = False
    has_products = False
    ends_per_node = 1  # all links of a node serve all of its tasks
    levels = ()
    notes = ()
    host_names = None  # hosts are named after their coordinates

    def arcs(self) -> Arcs:
        """Return all links as the arcs of a directed graph, with indices of `link_shape`."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        raise NotImplementedError

    def router_arcs(self) -> Arcs:
        """Return all links: nodes are routers."""
        return self.arcs()

    @property
    def router_of_end(self) -> Ints:
        """The nodes."""
        return np.arange(self.n_nodes)

    @property
    def n_dimensions(self) -> int:
        return len(self.shape)

    @property
    def n_nodes(self) -> int:
        return prod(self.shape)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Difference of the node number along each dimension (first dimension fastest)."""
        return tuple(prod(self.shape[:i]) for i in range(self.n_dimensions))

    def coordinates(self, node: ArrayLike) -> Ints:
        """Return coordinates of node numbers: shape ``node.shape + (d,)``.

        >>> from pencilmap.model.network.torus import Torus
        >>> Torus((4, 4, 2)).coordinates(21).tolist()
        [1, 1, 1]
        """
        node = np.asarray(node, dtype=np.int64)
        return np.stack([node // s % n for s, n in zip(self.strides, self.shape)], axis=-1)

    def node(self, coordinates: ArrayLike) -> Ints:
        """Return node numbers of coordinates, the inverse of `coordinates`.

        Raises
        ------
        TorusError
            If a coordinate is outside the box.
        """
        coordinates = np.asarray(coordinates, dtype=np.int64)
        if coordinates.shape[-1] != self.n_dimensions:
            raise TorusError(f"a node of torus {self} has {self.n_dimensions} coordinates, not {coordinates.shape[-1]}")
        outside = (coordinates < 0) | (coordinates >= np.array(self.shape))
        if outside.any():
            bad = coordinates.reshape(-1, self.n_dimensions)[outside.reshape(-1, self.n_dimensions).any(axis=1)][0]
            raise TorusError(self.outside(bad))
        found: Ints = coordinates @ np.array(self.strides, dtype=np.int64)
        return found

    def ends(self, node: Ints, slot: Ints) -> Ints:
        """Return the nodes, see `ends_per_node`."""
        return node

    def outside(self, coordinates: Sequence[int] | Ints) -> str | None:
        """Return a sentence with the outside coordinate and the allowed range, or None if all lie inside."""
        for axis, value, n in zip(self.axes, coordinates, self.shape):
            if not 0 <= value < n:
                where = ", ".join(str(int(c)) for c in coordinates)
                return f"node ({where}) is outside torus {self}; {axis} must be 0..{n - 1}"
        return None

    @property
    def link_classes(self) -> tuple[str, ...]:
        """One class for each dimension: its links are alike."""
        return tuple(self.axes)

    @property
    def link_shape(self) -> tuple[int, ...]:
        """Shape of an array with an entry for each link: dimension, direction (up, down), node that the link leaves.

        Entries at the ends of open lines, which have no link, stay 0.
        """
        return (self.n_dimensions, 2, self.n_nodes)

    def links_by_cables(self, i: int) -> list[tuple[int, slice]]:
        """Return one group: all links of a dimension have the same number of cables."""
        return [(self.cables[i], slice(None))]

    def link(self, i: int, position: int) -> TorusLink:
        """Return the link at `position` of the flat (2, N) links of dimension `i`.

        >>> from pencilmap.model.network.torus import Torus
        >>> Torus((4, 4)).link(1, 16 + 5)
        TorusLink(node=(1, 1), axis='y', direction=-1)
        """
        direction, node = divmod(int(position), self.n_nodes)
        return TorusLink(tuple(self.coordinates(node).tolist()), self.axes[i], (1, -1)[direction])

    @cached_property
    def capacities(self) -> list[Fraction]:
        """Strength of each arc in cables of the fastest class."""
        strength = [cables / weight for cables, weight in zip(self.cables, link_weights(self))]
        return [strength[i] for i in (self.arcs().index // (2 * self.n_nodes)).tolist()]

    @property
    def title(self) -> str:
        """Name in sentences."""
        return f"torus {self}"

    def node_name(self, node: int) -> str:
        """Return the coordinates of a node as text."""
        return f"({', '.join(map(str, self.coordinates(node).tolist()))})"
