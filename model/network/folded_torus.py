"""Folded tori: a logical torus of few dimensions that a scheduler lays into a box of more dimensions.

Idea: the dimensions of the box form pairs, dimension i with dimension i + d/2. A logical axis is a ring through one pair, or
through several: every step follows one link of the box. So the job sees a torus, even where the box has open lines. Nodes,
links and loads are those of the box; coordinates that a job writes or reads are those of the logical torus.
Source: kawashima-fj (Fujitsu), pull request 165 of pmix/pmix-standard: the logical axes X, Y and Z of Tofu combine x and a,
y and b, z and c. Y. Ajima, S. Sumimoto, T. Shimizu, "Tofu: A 6D mesh/torus interconnect for exascale computers", Computer 42
(2009). The ring through a pair goes out along the first line of the inner dimension and comes back through its other lines.
With an inner dimension of two no other ring exists; with three we assume this one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TorusError
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus, default_axes, format_torus, parse_torus

MOST_NODES = 1 << 20  # the place of every node is listed
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
        if self.n_nodes > MOST_NODES:
            raise TorusError(f"a box of {self.n_nodes} nodes is too large to be numbered; at most {MOST_NODES} are "
                             "supported")
        if folds(self.folded, self.shape) is None:
            raise TorusError(f"torus {_times(self.folded)} cannot be laid into a box of {_times(self.shape)}; each axis "
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
        found = np.empty(self.n_nodes, dtype=np.int64)
        found[self.from_logical] = np.arange(self.n_nodes)
        return found

    @property
    def title(self) -> str:
        """Name in sentences."""
        return f"torus {_times(self.folded)} in a box of {_box_text(self).partition(':')[0]}"

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        return {"torus": str(self), "shape": list(self.shape), "wrap": list(self.wrap), "logical": list(self.folded)}

    def __str__(self) -> str:
        return f"{_times(self.folded)}:box={_box_text(self)}"


def paired_axes(n_dimensions: int) -> str:
    """Return the default letters of a box: ``xyzabc`` for three pairs.

    >>> [paired_axes(n) for n in (2, 6, 8)]
    ['xa', 'xyzabc', 'abcdefgh']
    """
    half = n_dimensions // 2
    return "xyz"[:half] + "abc"[:half] if half <= 3 and n_dimensions == 2 * half else default_axes(n_dimensions)


def _box_text(torus):
    """Return the text of the box, with the letters of its axes if they are unusual."""
    usual = torus.axes == paired_axes(torus.n_dimensions)
    return format_torus(Torus(torus.shape, torus.wrap, axes="" if usual else torus.axes))


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
    found = folds(extents, box)
    return found is not None and [pair for pairs in found for pair in pairs] == list(range(len(box) // 2))


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
    there = [(i, 0) for i in range(n)]
    back = [(i, j) for i in reversed(range(n)) for j in (range(1, k) if (n - 1 - i) % 2 == 0 else range(k - 1, 0, -1))]
    return np.array([[*outer[i], *inner[j]] for i, j in [*there, *back]])


def fold(torus: Torus, extents: Iterable[int]) -> FoldedTorus:
    """Return the box with the coordinates of a logical torus."""
    return FoldedTorus(torus.shape, torus.wrap, torus.bandwidth, torus.cables, torus.axes, tuple(extents))


_TEXT = re.compile(r"([0-9]{1,6}(?:x[0-9]{1,6}){0,3}):box=(.{1,200})")


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
    found = _TEXT.fullmatch(text)
    if not found:
        raise TorusError(f"torus {text[:60]!r} is not understood; write the logical torus and its box, e.g. "
                         "4x12x4:box=2x4x2x2x3wx2 (w marks the dimensions that wrap)")
    axes = options.pop("axes", None) or paired_axes(found[2].count("x") + 1)
    return fold(parse_torus(found[2], **{"axes": axes} | options), map(int, found[1].split("x")))


def _times(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape))
