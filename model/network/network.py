"""The interface of every network, torus or graph: named nodes, links in classes, a cut bound; and networks with coordinates.

Links come in classes: the dimensions of a torus, or one class for all links of a graph. All links of a class consist of the
same kind of cable, and a link may have several cables. Loads are per cable and class.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Bools, Floats, Ints
from pencilmap.model.base.errors import TorusError


class Network(Protocol):
    """The interface of all networks.

    Nodes are numbered from 0 and may have coordinates; in a graph they lie along one row. A kind derives from one of
    `pencilmap.model.network.network.CoordinateNetwork`, `pencilmap.model.network.graph.GraphNetwork` and
    `pencilmap.model.network.graph.SwitchedNetwork`, which have most of the interface. Networks are data. What depends on
    the kind of a network is a method of its kind (`pencilmap.model.kinds.kind.Kind`), so callers need no class.
    """

    def __hash__(self) -> int:
        """Return the key of a network in caches."""

    @property
    def has_coordinates(self) -> bool:
        """Whether nodes have coordinates in several dimensions."""

    @property
    def has_products(self) -> bool:
        """Whether lines along a dimension are independent, so that placements can be products (`Product`): a torus."""

    @property
    def has_groups(self) -> bool:
        """Whether cables join every two groups, the units of the last level; then `cables_of_pair` has them: a dragonfly."""

    @property
    def recognised(self) -> bool:
        """Whether a file of cables was recognised as this kind, which never changes the default routing of the file."""

    @property
    def levels(self) -> tuple[Any, ...]:
        """Units into which the network divides, from the smallest to the largest: `pencilmap.model.network.graph.Level`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for a reader of any prediction."""

    @property
    def ends_per_node(self) -> int:
        """Ends of each node, see `ends`."""

    @property
    def n_nodes(self) -> int:
        """Number of places for tasks."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes in each dimension."""

    @property
    def axes(self) -> str:
        """One letter for each dimension."""

    @property
    def n_dimensions(self) -> int: ...

    @property
    def strides(self) -> tuple[int, ...]:
        """Difference of the node number along each dimension."""

    @property
    def title(self) -> str:
        """Name in a sentence."""

    @property
    def host_names(self) -> dict[int, str] | None:
        """Names of the nodes, None if they follow from the coordinates."""

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Name of each class of links."""

    @property
    def link_shape(self) -> tuple[int, ...]:
        """Shape of an array with an entry for each link, first axis the class; entries without a link stay 0."""

    @property
    def bandwidth(self) -> tuple[float, ...] | None:
        """Bytes per second of a cable of each class."""

    @property
    def capacities(self) -> Sequence[Fraction]:
        """Strength of each arc of `arcs`, in cables of the fastest class."""

    def coordinates(self, node: ArrayLike) -> Ints:
        """Return coordinates of node numbers: shape ``node.shape + (d,)``."""

    def node(self, coordinates: ArrayLike) -> Ints:
        """Return node numbers of coordinates."""

    def ends(self, node: Ints, slot: Ints) -> Ints:
        """Return the numbers by which routing rules know ranks on these nodes and slots: the nodes, or their links."""

    @property
    def router_of_end(self) -> Ints:
        """Router of each end, the node or its switch; the first one of hosts with links to several: int array."""

    def outside(self, coordinates: Sequence[int] | Ints) -> str | None:
        """Return a sentence that names the coordinate outside the network, or None if all lie inside."""

    def node_name(self, node: int) -> str:
        """Return the name of a node for readers."""

    def links_by_cables(self, i: int) -> Sequence[tuple[Fraction | int, slice | Ints]]:
        """Return the links of class `i`, grouped by their strength: (cables, index into the flat class)."""

    def link(self, i: int, position: int) -> "TorusLink | GraphLink":
        """Return the link at `position` of the flat class `i`."""

    def arcs(self) -> "Arcs":
        """Return all links as the arcs of a directed graph."""

    def router_arcs(self) -> "Arcs":
        """Return the links between routers: all links, or those between switches if hosts are on switches.

        Switches are numbered from 0, and `index` is then the number of the link.
        """

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""


MOST_KNOWN = 1024  # vertices up to which all distances are kept
_AT_ONCE = 1 << 22  # arcs times sources


@dataclass(frozen=True, eq=False)
class Arcs:
    """Links as arcs of a directed graph; nodes first, then vertices that hold no tasks (switches)."""

    n_vertices: int
    #: source, target: int arrays, shape (A,)
    source: Ints
    target: Ints
    index: Ints  #: int array, shape (A,); place of each arc in a flat array of ``network.link_shape``
    capacity: Floats  #: float array, shape (A,); in cables of the fastest class
    cables: Floats | None = None  #: float array, shape (A,); cables of each arc, each a way of its own; None: one each

    @cached_property
    def ways(self) -> Floats:
        """Number of cables of each arc: float array, shape (A,)."""
        return np.ones(len(self.source)) if self.cables is None else self.cables

    @property
    def back(self) -> "Arcs":
        """The arcs in the opposite direction."""
        return Arcs(self.n_vertices, self.target, self.source, self.index, self.capacity, self.cables)

    def distances(self, sources: Iterable[int] | None = None) -> Floats:
        """Return hops from each source (all vertices by default) to every vertex: float array, inf without a path."""
        roots = None if sources is None else list(sources)
        if roots is not None and len(roots) > 1 and self.n_vertices <= MOST_KNOWN:
            return self._hops[roots]
        return self._distances(roots)

    @cached_property
    def _hops(self) -> Floats:
        return self._distances(None)

    def _distances(self, sources: list[int] | None) -> Floats:
        starts = np.arange(self.n_vertices) if sources is None else np.array(sources, dtype=np.int64)
        step = max(1, _AT_ONCE // max(1, len(self.source)))
        return np.concatenate([np.zeros((0, self.n_vertices)),
                               *(self._levels(starts[i:i + step]) for i in range(0, len(starts), step))])

    def _levels(self, starts: Ints) -> Floats:
        """Return hops from some sources, level by level for all of them together."""
        n, hops = self.n_vertices, 0
        arcs = self.target[np.argsort(self.source, kind="stable")]
        degree = np.bincount(self.source, minlength=n)
        begin, row, at = np.cumsum(degree) - degree, np.arange(len(starts)), starts
        result, first = np.full(len(starts) * n, np.inf), np.zeros(len(starts) * n, dtype=np.int64)
        result[row * n + at] = 0
        while len(row):
            hops, count = hops + 1, degree[at]
            next_arc = np.arange(count.sum()) + np.repeat(begin[at] - (np.cumsum(count) - count), count)
            place = np.repeat(row, count) * n + arcs[next_arc]
            place = place[np.isinf(result[place])]
            first[place] = np.arange(len(place))
            place = place[first[place] == np.arange(len(place))]  # each once
            result[place] = hops
            row, at = place // n, place % n
        return result.reshape(len(starts), n)


class Leaves(NamedTuple):
    """A network without its leaves, the hosts with one link, to one vertex that is no leaf itself.

    Parameters
    ----------
    is_leaf : bool array, shape (V,)
    home : int array, shape (V,)
        For each vertex the vertex of `inner` that it is, or that it hangs on.
    inner : Arcs
        The other vertices. `index` gives the places in the arcs of the whole network.
    """

    is_leaf: Bools
    home: Ints
    inner: Arcs


@lru_cache(maxsize=8)
def leaves(arcs: Arcs, n_nodes: int) -> Leaves:
    """Return a network without the leaves among its first `n_nodes` vertices.

    >>> star = Arcs(3, np.array([0, 1, 2, 2]), np.array([2, 2, 0, 1]), np.arange(4), np.ones(4))    # two hosts, a switch
    >>> leaves(star, 2).is_leaf.tolist(), leaves(star, 2).home.tolist(), leaves(star, 2).inner.n_vertices
    ([True, True, False], [0, 0, 0], 1)
    """
    every = np.arange(arcs.n_vertices)
    out, into = (np.bincount(ends, minlength=arcs.n_vertices) for ends in (arcs.source, arcs.target))
    single = (out == 1) & (into == 1) & (every < n_nodes)
    ahead, behind = every.copy(), every.copy()
    ahead[arcs.source], behind[arcs.target] = arcs.target, arcs.source
    leaf = single & (ahead == behind) & ~single[ahead]
    number = np.cumsum(~leaf) - 1
    kept = ~(leaf[arcs.source] | leaf[arcs.target])
    inner = Arcs(int((~leaf).sum()), number[arcs.source[kept]], number[arcs.target[kept]], np.flatnonzero(kept),
                 arcs.capacity[kept], arcs.ways[kept])
    return Leaves(leaf, number[np.where(leaf, ahead, every)], inner)


@lru_cache(maxsize=4)
def host_hops(network: Network) -> Floats:
    """Return hops from each host to each host: float array, shape (N, N), inf without a path. Leaves add a hop each.

    >>> from pencilmap.model.kinds import network_named
    >>> host_hops(network_named("fat-tree:leaves=2,hosts=2,up=1"))[0].tolist()
    [0.0, 2.0, 4.0, 4.0]
    """
    is_leaf, home, inner = leaves(network.arcs(), network.n_nodes)
    used, place = np.unique(home[:network.n_nodes], return_inverse=True)
    apart, extra = inner.distances(used.tolist())[:, used], is_leaf[:network.n_nodes].astype(float)
    hops = apart[np.ix_(place, place)] + extra[:, None] + extra
    np.fill_diagonal(hops, 0)
    return hops


class TorusLink(NamedTuple):
    """The link that leaves the node at `node` (coordinates) along `axis` upwards (+1) or downwards (-1).

    >>> str(TorusLink((0, 3, 1), "y", -1))
    '(0,3,1)-y'
    """

    node: tuple[int, ...]
    axis: str
    direction: int

    def as_dict(self) -> dict[str, Any]:
        return {"node": list(self.node), "axis": self.axis, "direction": "+" if self.direction > 0 else "-"}

    def __str__(self) -> str:
        return f"({','.join(map(str, self.node))}){'+' if self.direction > 0 else '-'}{self.axis}"


class GraphLink(NamedTuple):
    """The link from one vertex of a graph to another, by name."""

    source: str
    target: str

    def as_dict(self) -> dict[str, Any]:
        return {"from": self.source, "to": self.target}

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


def link_weights(network: Network) -> list[Fraction]:
    """Return the weight of a length in each class of links: bandwidth of the fastest class over bandwidth of the class."""
    if network.bandwidth is None:
        return [Fraction(1)] * len(network.link_classes)
    return [Fraction(max(network.bandwidth)) / Fraction(rate) for rate in network.bandwidth]


# Networks whose nodes have coordinates: the common part of tori, meshes and twisted tori.
#
# Nodes are numbered with the first dimension fastest: node = x + nx*(y + ny*z).

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
    has_products = has_groups = False
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
        nodes: Ints = coordinates @ np.array(self.strides, dtype=np.int64)
        return nodes

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
