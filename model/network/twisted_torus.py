"""Tori with coordinates of their own: twisted tori, and tori that are folded into a box of more dimensions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Bools, Ints
from pencilmap.model.base.errors import TorusError
from pencilmap.model.network.network import Arcs, CoordinateNetwork, Network
from pencilmap.model.network.torus import Torus, by_x, default_axes, parse_torus

# Twisted tori: rings that come back with an offset in other dimensions.
#
# Idea: a step past the end of dimension i also moves along other dimensions, by the twists of i. So the nodes are the
# points of Z^d modulo a lattice, which has the generator n_i e_i - t_i for each dimension i with n_i nodes and twists t_i.
# The twists may not form a circle. Then the box of the extents has one point of every coset, and nodes have the usual
# coordinates. The network looks the same from every node.
# Source: J. M. Camara, M. Moreto, E. Vallejo, R. Beivide, J. Miguel-Alonso, C. Martinez, J. Navaridas, "Twisted torus
# topologies for enhanced interconnection networks", IEEE Trans. Parallel Distrib. Syst. 21 (2010): a torus of 2a x a nodes
# with a twist of a, and its relatives in three dimensions. N. P. Jouppi et al., "TPU v4: An optically reconfigurable
# supercomputer for machine learning with hardware support for embeddings", ISCA 2023: slices of k x k x 2k and k x 2k x 2k.

MOST_NODES = 1 << 20  # the neighbours of every node are listed
MOST_SUMS = 4096      # nodes whose sums are listed
TWISTED = "twisted"


@dataclass(frozen=True)
class TwistedTorus(CoordinateNetwork):
    """A torus whose rings come back with an offset.

    Parameters
    ----------
    shape : tuple of int
        Nodes in each dimension.
    twists : tuple of tuple of int, optional
        ``twists[i][j]``: what a step past the upper end of dimension `i` adds to coordinate `j`. By default `usual_twists`.
    bandwidth, cables, axes : optional
        As for `pencilmap.model.network.torus.Torus`.

    Raises
    ------
    TorusError
        If the shape or a twist is impossible.

    Examples
    --------
    >>> slice_ = TwistedTorus((4, 4, 8))
    >>> end = slice_.reached(slice_.node((3, 0, 0)), 0, 1)      # x + 1 comes back to x = 0, four nodes further along z
    >>> slice_.coordinates(end).tolist()
    [0, 0, 4]
    """

    shape: tuple[int, ...]
    twists: tuple[tuple[int, ...], ...] = ()
    bandwidth: tuple[float, ...] | None = None
    cables: tuple[int, ...] = ()
    axes: str = ""

    def __post_init__(self) -> None:
        plain = Torus(self.shape, (), self.bandwidth, self.cables, self.axes)
        if plain.n_nodes > MOST_NODES:
            raise TorusError(f"twisted torus {by_x(plain.shape)} has {plain.n_nodes} nodes; at most "
                             f"{MOST_NODES} are supported")
        for name in ("shape", "bandwidth", "cables", "axes"):
            object.__setattr__(self, name, getattr(plain, name))
        twists = self.twists or usual_twists(self.shape)
        object.__setattr__(self, "twists", tuple(tuple(int(t) for t in row) for row in twists))
        _check_twists(self)

    @cached_property
    def plain(self) -> Torus:
        """The torus of the same nodes without twists."""
        return Torus(self.shape, (), self.bandwidth, self.cables, self.axes)

    @property
    def wrap(self) -> tuple[bool, ...]:
        """True for every dimension: all rings close."""
        return (True,) * len(self.shape)

    @property
    def title(self) -> str:
        """Name in sentences."""
        return f"twisted torus {self}"

    def nearest_node(self, point: ArrayLike) -> Ints:
        """Return the node of any point of Z^d: int array, shape ``point.shape[:-1]``.

        >>> TwistedTorus((4, 8)).nearest_node([[5, 0], [-1, 0], [4, 4]]).tolist()
        [17, 19, 0]
        """
        point = np.array(point, dtype=np.int64)
        for i in self._order:
            turns, point[..., i] = np.divmod(point[..., i], self.shape[i])
            point += turns[..., None] * np.array(self.twists[i])
        return point @ np.array(self.strides, dtype=np.int64)

    def reached(self, node: ArrayLike, i: int, step: int) -> Ints:
        """Return the nodes that `step` links along dimension `i` lead to."""
        point = self.coordinates(node)
        point[..., i] += step
        return self.nearest_node(point)

    def sums(self, nodes: Ints, others: Ints) -> Ints:
        """Return the node of the sum of the coordinates of each node and each other node: shape (n, m)."""
        if self.n_nodes <= MOST_SUMS:
            return self._sums[np.ix_(nodes, others)]
        return self.nearest_node(self.coordinates(nodes)[:, None, :] + self.coordinates(others)[None, :, :])

    def displacement(self, nodes: Ints, others: Ints) -> Ints:
        """Return for each node and its other node the node at the same displacement from node 0: int array, shape (n,).

        >>> torus = TwistedTorus((4, 8))
        >>> torus.displacement(np.array([1, 5]), np.array([2, 0])).tolist()
        [1, 15]
        """
        if self.n_nodes <= MOST_SUMS:
            return self._sums[self.negative[nodes], others]
        return self.nearest_node(self.coordinates(others) - self.coordinates(nodes))

    @cached_property
    def _sums(self) -> np.ndarray:
        """The node of the sum of each two nodes, step by step: shape (N, N)."""
        sums = np.empty((self.n_nodes, self.n_nodes), dtype=np.int32)
        sums[0] = np.arange(self.n_nodes)
        for node, point in enumerate(self.coordinates(np.arange(1, self.n_nodes)).tolist(), 1):
            i = next(i for i, x in enumerate(point) if x)
            sums[node] = self.neighbours[i, 0][sums[node - self.strides[i]]]
        return sums

    @cached_property
    def negative(self) -> Ints:
        """The node opposite to each node, seen from node 0: int array, shape (N,)."""
        return self.nearest_node(-self.coordinates(np.arange(self.n_nodes)))

    @cached_property
    def neighbours(self) -> Ints:
        """The node at the end of every link, the node itself where there is no link: int array, shape (d, 2, N)."""
        nodes = np.arange(self.n_nodes)
        return np.stack([[self.reached(nodes, i, step) for step in (1, -1)] for i in range(self.n_dimensions)])

    @cached_property
    def has_links(self) -> Bools:
        """Whether links leave the nodes in each dimension and direction: bool array, shape (d, 2).

        A ring of one node has no link, and one of two nodes has one cable, whose links both run upwards.
        """
        ends = self.neighbours[:, :, 0]
        return np.stack([ends[:, 0] != 0, (ends[:, 1] != 0) & (ends[:, 0] != ends[:, 1])], axis=1)

    def arcs(self) -> Arcs:
        """Return all links as arcs of a directed graph."""
        i, direction = np.nonzero(self.has_links)
        nodes, rates = np.arange(self.n_nodes), np.array(self.bandwidth or (1.0,) * self.n_dimensions)
        index = ((2 * i + direction)[:, None] * self.n_nodes + nodes).ravel()
        strength = np.array(self.cables) * rates / rates.max()
        return Arcs(self.n_nodes, np.tile(nodes, len(i)), self.neighbours[i, direction].ravel(), index,
                    np.repeat(strength[i], self.n_nodes), np.repeat(np.array(self.cables, dtype=float)[i], self.n_nodes))

    @cached_property
    def hops(self) -> Ints:
        """Least number of links from node 0 to every node: int array, shape (N,)."""
        return self.arcs().distances([0])[0].astype(np.int64)

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        return {"torus": str(self), "shape": list(self.shape), "wrap": list(self.wrap),
                "twists": [list(row) for row in self.twists]}

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """The dimensions in an order in which each has twists along later ones alone."""
        return tuple(_order(self.twists))

    def __str__(self) -> str:
        axes = "" if self.axes == default_axes(self.n_dimensions) else f":axes={self.axes}"
        return f"{by_x(self.shape)}:{_twist_text(self)}{axes}"


def twists_of(network: Network) -> tuple[tuple[int, ...], ...] | None:
    """Return the twists of a network, None for a network that is no twisted torus."""
    return network.twists if isinstance(network, TwistedTorus) else None


def twisted(torus: Torus, twists: Iterable[Iterable[int]]) -> TwistedTorus:
    """Return a plain torus with twists, without bandwidth."""
    return TwistedTorus(torus.shape, tuple(map(tuple, twists)), axes=torus.axes)


def usual_twists(shape: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the twists of extents k and 2k: the rings of k nodes come back k nodes further along every ring of 2k.

    Raises
    ------
    TorusError
        If the extents are others.

    Examples
    --------
    >>> usual_twists((4, 4, 8)), usual_twists((4, 8, 8))
    (((0, 0, 4), (0, 0, 4), (0, 0, 0)), ((0, 4, 4), (0, 0, 0), (0, 0, 0)))
    """
    twists = usual_twists_of(shape)
    if twists is None:
        raise TorusError(f"{by_x(shape)}:{TWISTED} has no usual twist; extents are k and 2k, e.g. 4x4x8, or "
                         "name the twists, e.g. 6x4x9:twist=xz3,yz3")
    return twists


def usual_twists_of(shape: Sequence[int]) -> tuple[tuple[int, ...], ...] | None:
    """Return the same, or None if the extents are not k and 2k."""
    k = min(shape)
    return None if {*shape} != {k, 2 * k} else tuple(tuple(k if n == k and m == 2 * k else 0 for m in shape) for n in shape)


def _check_twists(torus: TwistedTorus) -> None:
    d = torus.n_dimensions
    if len(torus.twists) != d or any(len(row) != d for row in torus.twists):
        raise TorusError(f"the twists of {d} dimensions are {d} rows of {d} numbers, not {torus.twists}")
    for i, row in enumerate(torus.twists):
        for j, twist in enumerate(row):
            if not 0 <= twist < torus.shape[j] or (i == j and twist):
                allowed = "no twist" if i == j else f"a twist of 0 to {torus.shape[j] - 1}"
                raise TorusError(f"a ring along {torus.axes[i]} has a twist of {twist} along {torus.axes[j]}; {allowed} is "
                                 "possible")
    if len(list(_order(torus.twists))) < d:
        raise TorusError("the twists form a circle, as in twist=xy1,yx1; leave out one of them")


def _order(twists: Sequence[Sequence[int]]) -> Iterator[int]:
    """Yield dimensions along which no remaining dimension has a twist, one after the other."""
    left = list(range(len(twists)))
    while left:
        free = [j for j in left if not any(twists[i][j] for i in left)]
        if not free:
            return
        yield free[0]
        left.remove(free[0])


def _twist_text(torus: TwistedTorus) -> str:
    if torus.twists == usual_twists_of(torus.shape):
        return TWISTED
    return "twist=" + ",".join(f"{torus.axes[i]}{torus.axes[j]}{twist}" for i, row in enumerate(torus.twists)
                               for j, twist in enumerate(row) if twist)


_TEXT = re.compile(r"([0-9]{1,12}(?:x[0-9]{1,12})*):(twisted|twist=([^:]*))(?::axes=([A-Za-z]+))?")
_TWIST = re.compile(r"([A-Za-z])([A-Za-z])([0-9]{1,12})")


def is_twisted(text: str) -> bool:
    """Return whether a text is meant to describe a twisted torus.

    >>> is_twisted("4x4x8:twisted"), is_twisted("4x4x8:mesh")
    (True, False)
    """
    return ":twist" in text


def parse_twisted(text: str, **options: Any) -> TwistedTorus:
    """Read ``4x4x8:twisted``, with the usual twists, or ``4x4x8:twist=xz4,yz4``: past the end of x and y, z grows by 4.

    Parameters
    ----------
    text : str
    **options
        Passed to `TwistedTorus` (bandwidth, cables, and axes if the text has none).

    Raises
    ------
    TorusError
        If the text is not understood.

    Examples
    --------
    >>> parse_twisted("4x4x8:twisted") == parse_twisted("4x4x8:twist=xz4,yz4")
    True
    >>> str(parse_twisted("8x3:twist=yx5"))
    '8x3:twist=yx5'
    """
    match = _TEXT.fullmatch(text)
    if not match:
        raise TorusError(f"twisted torus {text[:40]!r} is not understood; write 4x4x8:twisted, or the twists, e.g. "
                         "4x4x8:twist=xz4,yz4 (past the end of x or y, z grows by 4)")
    shape = tuple(map(int, match[1].split("x")))
    axes = match[4] or options.pop("axes", None) or default_axes(len(shape))
    twists = () if match[2] == TWISTED else _read_twists(text, match[3], shape, axes)
    return TwistedTorus(shape, twists, axes=axes, **options)


def _read_twists(text: str, twists: str, shape: Sequence[int], axes: str) -> tuple[tuple[int, ...], ...]:
    rows = [[0] * len(shape) for _ in shape]
    for part in twists.split(","):
        match = _TWIST.fullmatch(part)
        if not match or match[1] not in axes or match[2] not in axes:
            raise TorusError(f"twisted torus {text[:40]!r}: twist {part[:20]!r} is not understood; write the ring, the axis "
                             f"along which it is twisted, and by how much, with axes of {axes}, e.g. xz4")
        i, j = axes.index(match[1]), axes.index(match[2])
        if rows[i][j]:
            raise TorusError(f"twisted torus {text[:40]!r}: a ring along {match[1]} has two twists along {match[2]}; give "
                             "their sum")
        rows[i][j] = int(match[3])
    return tuple(map(tuple, rows))


def steps_up_and_down(torus: TwistedTorus) -> list[tuple[int, int]]:
    """Return the pairs (dimension, 0 up or 1 down) in which links leave the nodes."""
    return [(int(i), int(direction)) for i, direction in np.argwhere(torus.has_links)]


# Folded tori: a logical torus of few dimensions that a scheduler lays into a box of more dimensions.
#
# Idea: the dimensions of the box form pairs, dimension i with dimension i + d/2. A logical axis is a ring through one pair,
# or through several: every step follows one link of the box. So the job sees a torus, even where the box has open lines.
# Nodes, links and loads are those of the box; coordinates that a job writes or reads are those of the logical torus.
# Source: kawashima-fj (Fujitsu), pull request 165 of pmix/pmix-standard: the logical axes X, Y and Z of Tofu combine x and
# a, y and b, z and c. Y. Ajima, S. Sumimoto, T. Shimizu, "Tofu: A 6D mesh/torus interconnect for exascale computers",
# Computer 42 (2009). The ring through a pair goes out along the first line of the inner dimension and comes back through
# its other lines. With an inner dimension of two no other ring exists; with three we assume this one.

MOST_FOLDED_NODES = 1 << 20  # the place of every node is listed
Folds = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class FoldedTorus(Torus):
    """The box of a logical torus: a torus or mesh whose nodes also have logical coordinates.

    Parameters
    ----------
    shape, wrap, bandwidth, cables, axes
        Those of the box, as for `pencilmap.model.network.torus.Torus`.
    folded : tuple of int
        Nodes along each axis of the logical torus.

    Raises
    ------
    TorusError
        If the logical torus cannot be laid into the box.

    Examples
    --------
    >>> box = FoldedTorus((2, 4, 2, 2, 3, 2), (False, False, False, False, True, False), folded=(4, 12, 4))
    >>> box.coordinates(box.from_logical[box.logical.node([2, 0, 0])]).tolist()      # x goes out, a steps, x comes back
    [1, 0, 0, 1, 0, 0]
    """

    folded: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.axes:
            object.__setattr__(self, "axes", paired_axes(len(self.shape)))
        super().__post_init__()
        if self.n_nodes > MOST_FOLDED_NODES:
            raise TorusError(f"a box of {self.n_nodes} nodes is too large to be numbered; at most {MOST_FOLDED_NODES} are "
                             "supported")
        if folds(self.folded, self.shape) is None:
            raise TorusError(f"torus {by_x(self.folded)} cannot be laid into a box of {by_x(self.shape)}; each axis "
                             "takes pairs of its dimensions, the first with the first of the second half, and so on")
        _ = self.from_logical

    @cached_property
    def logical(self) -> Torus:
        """The torus that the job asks for, without bandwidth."""
        return Torus(self.folded)

    @cached_property
    def from_logical(self) -> Ints:
        """Node of the box for each node of the logical torus: int array, shape (N,)."""
        at = np.zeros((self.n_nodes, self.n_dimensions), dtype=np.int64)
        along = self.logical.coordinates(np.arange(self.n_nodes))
        half = self.n_dimensions // 2
        for axis, pairs in enumerate(folds(self.folded, self.shape) or ()):
            places: Ints | None = None
            for pair in pairs:
                ring = _ring(_line(self.shape[pair]), _line(self.shape[pair + half]), self.is_ring(pair + half))
                if ring is None:
                    raise TorusError(f"no ring passes through {self.shape[pair]}x{self.shape[pair + half]} nodes of box "
                                     f"{_box_text(self)}; its inner dimension needs two nodes, or must wrap")
                places = ring if places is None else _ring(places, ring, True)
            assert places is not None  # two rings always make one
            columns = [column for pair in pairs for column in (pair, pair + half)]
            at[:, columns] = places[along[:, axis]]
        return self.node(at)

    @cached_property
    def to_logical(self) -> Ints:
        """Node of the logical torus for each node of the box: int array, shape (N,)."""
        nodes = np.empty(self.n_nodes, dtype=np.int64)
        nodes[self.from_logical] = np.arange(self.n_nodes)
        return nodes

    @property
    def title(self) -> str:
        """Name in sentences."""
        return f"torus {by_x(self.folded)} in a box of {_box_text(self).partition(':')[0]}"

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        return {"torus": str(self), "shape": list(self.shape), "wrap": list(self.wrap), "logical": list(self.folded)}

    def __str__(self) -> str:
        return f"{by_x(self.folded)}:box={_box_text(self)}"


def paired_axes(n_dimensions: int) -> str:
    """Return the default letters of a box: ``xyzabc`` for three pairs.

    >>> [paired_axes(n) for n in (2, 6, 8)]
    ['xa', 'xyzabc', 'abcdefgh']
    """
    half = n_dimensions // 2
    return "xyz"[:half] + "abc"[:half] if half <= 3 and n_dimensions == 2 * half else default_axes(n_dimensions)


def _box_text(torus: Torus) -> str:
    """Return the text of the box, with the letters of its axes if they are unusual."""
    usual = torus.axes == paired_axes(torus.n_dimensions)
    return str(Torus(torus.shape, torus.wrap, axes="" if usual else torus.axes))


def logical(network: Network) -> Any:
    """Return the torus in whose coordinates a job names its nodes: the logical one, or the network itself."""
    return network.logical if isinstance(network, FoldedTorus) else network


def logical_nodes(network: Network, nodes: Ints) -> Ints:
    """Return the numbers of nodes in `logical`."""
    return network.to_logical[nodes] if isinstance(network, FoldedTorus) else nodes


def nodes_of_logical(network: Network, nodes: Ints) -> Ints:
    """Return the nodes of a network by their numbers in `logical`."""
    return network.from_logical[nodes] if isinstance(network, FoldedTorus) else nodes


def folds(extents: Sequence[int], box: Sequence[int]) -> Folds | None:
    """Return the pairs of dimensions of a box that each logical axis takes, or None if the extents do not fit.

    The axes take the pairs in their order if the extents allow it.

    Examples
    --------
    >>> folds((4, 12, 4), (2, 4, 2, 2, 3, 2)), folds((12, 4, 4), (2, 4, 2, 2, 3, 2)), folds((4, 48), (2, 4, 2, 2, 3, 2))
    (((0,), (1,), (2,)), ((1,), (0,), (2,)), ((0,), (1, 2)))
    """
    half = len(box) // 2
    if len(box) % 2 or not 1 <= len(extents) <= half or min(extents) < 1:
        return None
    sizes = [box[i] * box[i + half] for i in range(half)]
    for order in permutations(range(half)):
        for parts in _parts(order, len(extents)):
            if [prod(sizes[pair] for pair in part) for part in parts] == list(extents):
                return parts
    return None


def in_order(extents: Sequence[int], box: Sequence[int]) -> bool:
    """Return whether each logical axis takes the pairs in the order of the axes."""
    result = folds(extents, box)
    return result is not None and [pair for pairs in result for pair in pairs] == list(range(len(box) // 2))


def _parts(order: Sequence[int], count: int) -> Iterator[Folds]:
    """Yield every division of a sequence into so many consecutive parts, none empty."""
    if count == 1:
        yield (tuple(order),)
        return
    for size in range(1, len(order) - count + 2):
        for rest in _parts(order[size:], count - 1):
            yield (tuple(order[:size]), *rest)


def _line(n: int) -> Ints:
    return np.arange(n)[:, None]


def _ring(outer: Ints, inner: Ints, closes: bool) -> Ints | None:
    """Return a ring through all pairs of places: out along the first place of `inner`, back through the others.

    Parameters
    ----------
    outer, inner : int array, shapes (n, i) and (k, j)
        Coordinates of neighbours, one after the other.
    closes : bool
        Whether the last place of `inner` is a neighbour of the first.

    Returns
    -------
    int array, shape (n k, i + j)
        None if the ring would not close.
    """
    n, k = len(outer), len(inner)
    if k == 1 or not (closes or k == 2 or n % 2 == 0):
        return None
    corners = [(i, 0) for i in range(n)]
    back = [(i, j) for i in reversed(range(n)) for j in (range(1, k) if (n - 1 - i) % 2 == 0 else range(k - 1, 0, -1))]
    return np.array([[*outer[i], *inner[j]] for i, j in [*corners, *back]])


def fold(torus: Torus, extents: Iterable[int]) -> FoldedTorus:
    """Return the box with the coordinates of a logical torus."""
    return FoldedTorus(torus.shape, torus.wrap, torus.bandwidth, torus.cables, torus.axes, tuple(extents))


_FOLDED_TEXT = re.compile(r"([0-9]{1,6}(?:x[0-9]{1,6}){0,3}):box=(.{1,200})")


def is_folded(text: str) -> bool:
    """Return whether a text is meant to describe a folded torus.

    >>> is_folded("4x12x4:box=2x4x2x2x3wx2"), is_folded("4x12x4")
    (True, False)
    """
    return ":box=" in text


def parse_folded(text: str, **options: Any) -> FoldedTorus:
    """Read ``4x12x4:box=2x4x2x2x3wx2``: the logical torus, and the box with its wraps.

    Raises
    ------
    TorusError
        If the text is not understood, or the torus does not fit.

    Examples
    --------
    >>> box = parse_folded("4x12x4:box=2x4x2x2x3wx2")
    >>> box.n_nodes, str(box.logical), str(box)
    (192, '4x12x4', '4x12x4:box=2x4x2x2x3wx2')
    """
    match = _FOLDED_TEXT.fullmatch(text)
    if not match:
        raise TorusError(f"torus {text[:60]!r} is not understood; write the logical torus and its box, e.g. "
                         "4x12x4:box=2x4x2x2x3wx2 (w marks the dimensions that wrap)")
    axes = options.pop("axes", None) or paired_axes(match[2].count("x") + 1)
    return fold(parse_torus(match[2], **{"axes": axes} | options), map(int, match[1].split("x")))
