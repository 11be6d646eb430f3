"""The partitions that the scheduler of a machine hands out, and their rings.

A partition is a box of whole nodes. A ring closes only if the machine has a cable, a switch or an optical path for it.
Each rule below describes one kind of machine; a new rule is a function and a line of the table.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product as cartesian
from math import prod

from pencilmap.model.base.errors import PartitionError
from pencilmap.model.network.torus import Torus, by_x, parse_torus
from pencilmap.model.network.twisted_torus import (
    FoldedTorus,
    TwistedTorus,
    fold,
    folds,
    in_order,
    is_folded,
    usual_twists_of,
)


def subbox(torus: Torus, extents: Iterable[int]) -> Torus:
    """Return a box of nodes cut from a torus: a dimension stays wrapped only if the box spans its whole ring.

    Parameters
    ----------
    torus : Torus
        Gives bandwidths, cables and axes.
    extents : iterable of int
        Nodes of the box in each dimension.

    Raises
    ------
    PartitionError
        If the box is larger than the torus.

    Examples
    --------
    >>> str(subbox(Torus((8, 8, 8)), (4, 8, 8)))
    '4x8wx8w'
    """
    extents = tuple(int(e) for e in extents)
    if len(extents) != torus.n_dimensions or not all(0 < e <= n for e, n in zip(extents, torus.shape)):
        raise PartitionError(f"a box of {by_x(extents)} nodes does not fit into torus {torus}; it needs "
                             f"{torus.n_dimensions} extents of at most {by_x(torus.shape)}")
    wrap = tuple(wrapped and e == n for wrapped, e, n in zip(torus.wrap, extents, torus.shape))
    return Torus(extents, wrap, torus.bandwidth, torus.cables, torus.axes)


@dataclass(frozen=True)
class Rule:
    """A line of the table: `closes` is a function (Partitions, extents) -> whether each dimension wraps."""

    closes: Callable[["Partitions", tuple[int, ...]], list[bool]]
    meaning: str


def _spans(partitions: "Partitions", extents: tuple[int, ...]) -> list[bool]:
    return [e == n for e, n in zip(extents, partitions.largest.shape)]


def _multiple_per_dimension(partitions: "Partitions", extents: tuple[int, ...]) -> list[bool]:
    return [e % k == 0 for e, k in zip(extents, partitions.ring or ())]


def _multiple(partitions: "Partitions", extents: tuple[int, ...]) -> list[bool]:
    return [all(_multiple_per_dimension(partitions, extents))] * len(extents)


RULES = {
    "spans": Rule(_spans, "a dimension wraps where the partition spans the machine's whole ring"),
    "multiple": Rule(_multiple, "all dimensions wrap when every extent is a multiple of the ring unit, otherwise none does"),
    "multiple-per-dimension": Rule(_multiple_per_dimension,
                                   "a dimension wraps when its extent is a multiple of the ring unit"),
    "always": Rule(lambda partitions, extents: [True] * len(extents), "every partition is a torus"),
    "never": Rule(lambda partitions, extents: [False] * len(extents), "every partition is a mesh"),
}


@dataclass(frozen=True)
class Partitions:
    """The partitions that a machine hands out.

    Raises
    ------
    PartitionError
        If the rule is unknown or contradicts itself.

    Examples
    --------
    >>> midplanes = Partitions("multiple", Torus((64, 32, 32)), (8, 8, 8), shapes=((4, 4, 2),))
    >>> str(midplanes.torus((16, 8, 8))), str(midplanes.torus((4, 4, 2)))
    ('16x8x8', '4x4x2:mesh')
    >>> [str(t) for t in midplanes.of_size(1024)]
    ['8x8x16', '8x16x8', '16x8x8']
    """

    rule: str  #: a name of `RULES`
    largest: Torus  #: the whole machine. A dimension that does not wrap here wraps in no partition
    unit: tuple[int, ...] | None = None  #: extents are multiples of the unit; without it only `shapes` are handed out
    ring: tuple[int, ...] | None = None  #: multiples at which rings close, for some rules; `unit` by default
    shapes: tuple[tuple[int, ...], ...] = ()  #: further shapes besides the multiples of `unit`
    ascending: bool = False  #: whether multiples of `unit` must be given with the shortest extent first
    #: The largest torus of fewer dimensions that the scheduler also promises, and lays into a box itself, see
    #: `pencilmap.model.network.twisted_torus`. A job may ask for any number of nodes along its axes up to these extents, in
    #: any order; all axes wrap.
    logical: tuple[int, ...] | None = None
    twisted: tuple[TwistedTorus, ...] = ()  #: slices whose rings come back with an offset unless asked otherwise

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise PartitionError(f"partition rule {self.rule!r} is unknown; known are {', '.join(RULES)}")
        if self.unit is None and not self.shapes:
            raise PartitionError("a partition rule needs the unit that extents are multiples of, or a list of shapes")
        if self.ring is None:
            object.__setattr__(self, "ring", self.unit)
        if self.ring is None and self.rule.startswith("multiple"):
            raise PartitionError(f"partition rule {self.rule} needs the unit at which rings close: give ring or unit")
        for extents in filter(None, (self.unit, self.ring, *self.shapes, *(slice_.shape for slice_ in self.twisted))):
            subbox(self.largest, extents)

    def torus(self, extents: Iterable[int]) -> Torus:
        """Return the real torus of a partition of these extents (without bandwidth).

        Raises
        ------
        PartitionError
            If no such partition is handed out. The message names the allowed partitions.
        """
        extents = tuple(extents)
        if self.is_logical(extents):
            boxes = self.boxes(extents)
            return boxes[0] if boxes else Torus(extents)
        if not self.allows(extents):
            raise PartitionError(f"there is no partition of {by_x(extents)} nodes; allowed are {self.allowed()}")
        closed = RULES[self.rule].closes(self, extents)
        wrap = tuple(bool(c and w) for c, w in zip(closed, self.largest.wrap))
        return Torus(extents, wrap, axes=self.largest.axes)

    def allows(self, extents: tuple[int, ...]) -> bool:
        """Return whether partitions of these extents are handed out."""
        return extents in self.shapes or self._is_multiple(extents) or self.is_logical(extents)

    def is_logical(self, extents: tuple[int, ...]) -> bool:
        """Return whether a partition of these extents is a torus that the scheduler lays into a box, see `logical`.

        >>> tofu = Partitions("spans", Torus((24, 23, 24, 2, 3, 2)), (1, 1, 1, 2, 3, 2), logical=(48, 69, 48))
        >>> tofu.is_logical((8, 8, 16)), tofu.is_logical((8, 69, 50)), tofu.is_logical((2, 2, 2, 2, 3, 2))
        (True, False, False)
        """
        if self.logical is None or len(extents) > len(self.logical):
            return False
        fits = all(0 < e <= n for e, n in zip(sorted(extents, reverse=True), sorted(self.logical, reverse=True)))
        return fits or bool(self.boxes(extents))

    def boxes(self, extents: tuple[int, ...]) -> list[FoldedTorus]:
        """Return the boxes that take a logical torus and have as many nodes, the likeliest first.

        Three axes take the three pairs of dimensions in their order, or in another order if the extents do not allow it.
        Fewer axes may take any pairs; the most compact box comes first. The list will be empty if the job gets more nodes
        than it asks for.

        >>> machine = Torus((24, 23, 24, 2, 3, 2), (True, True, True, False, True, False))
        >>> tofu = Partitions("spans", machine, (1, 1, 1, 2, 3, 2), logical=(48, 69, 48))
        >>> [str(box) for box in tofu.boxes((4, 6))], [str(box) for box in tofu.boxes((12, 4, 4))], tofu.boxes((5, 5))
        (['4x6:box=1x1x2x2x3wx2', '4x6:box=1x2x1x2x3wx2', '4x6:box=2x1x1x2x3wx2'], ['12x4x4:box=2x4x2x2x3wx2'], [])
        """
        n_nodes, unit = prod(extents), self.unit or ()
        result = [box for box in _factorisations(n_nodes, unit, self.largest.shape) if folds(extents, box) is not None]
        if len(extents) == len(unit) // 2:
            result = [box for box in result if in_order(extents, box)] or result
        return [fold(self.torus(box), extents) for box in sorted(result, key=lambda box: (sum(box), max(box), box))]

    def _is_multiple(self, extents: tuple[int, ...]) -> bool:
        return (self.unit is not None and len(extents) == len(self.unit)
                and all(e % u == 0 and 0 < e <= n for e, u, n in zip(extents, self.unit, self.largest.shape))
                and (not self.ascending or list(extents) == sorted(extents)))

    def of_size(self, n_nodes: int) -> list[Torus]:
        """Return all partitions of `n_nodes` nodes, the most compact first, and logical ones before their boxes.

        Logical partitions may be turned; the list has the partition with the shortest extent first. Those that have no box
        with as many nodes are listed if no other partition has so many nodes.
        """
        shapes = {s for s in self.shapes if prod(s) == n_nodes}
        if self.unit is not None:
            shapes.update(s for s in _factorisations(n_nodes, self.unit, self.largest.shape) if self._is_multiple(s))
        if self.logical is not None:
            most = (max(self.logical),) * len(self.logical)
            multiples = [s for s in _factorisations(n_nodes, (1,) * len(most), most)
                         if list(s) == sorted(s) and self.is_logical(s)]
            shapes.update([s for s in multiples if self.boxes(s)] if shapes else multiples)
        tori = [self.torus(s) for s in shapes]
        return sorted(tori, key=lambda t: (max(t.shape), not isinstance(t, FoldedTorus), t.shape, str(t)))

    def twisted_slice(self, extents: tuple[int, ...]) -> TwistedTorus | None:
        """Return the twisted torus as which these extents are handed out, None if they are not twisted."""
        return next((slice_ for slice_ in self.twisted if slice_.shape == extents), None)

    def twisted_shapes(self) -> str:
        """Return the twisted slices in words, with twists that are not the usual ones."""
        return ", ".join(by_x(slice_.shape) if slice_.twists == usual_twists_of(slice_.shape) else str(slice_)
                         for slice_ in self.twisted)

    def sizes(self) -> list[int]:
        """Return all numbers of nodes that partitions have, rising."""
        multiples = cartesian(*(range(u, n + 1, u) for u, n in zip(self.unit, self.largest.shape))) if self.unit else ()
        return sorted({prod(s) for s in (*filter(self._is_multiple, multiples), *self.shapes)})

    def allowed(self) -> str:
        """Return the available partitions, in words."""
        parts = []
        if self.unit is not None:
            order = ", the shortest extent first" if self.ascending else ""
            parts.append(f"multiples of {by_x(self.unit)} up to {by_x(self.largest.shape)}{order}")
        if self.shapes:
            parts.append(", ".join(by_x(s) for s in self.shapes))
        if self.logical is not None:
            parts.append(f"logical tori up to {by_x(self.logical)}, in any order")
        return " and ".join(parts)

    def __str__(self) -> str:
        ring = f" ({by_x(self.ring or ())})" if self.rule.startswith("multiple") else ""
        twisted = f"; twisted are {self.twisted_shapes()}" if self.twisted else ""
        return f"{self.allowed()}; {RULES[self.rule].meaning}{ring}{twisted}"


def _factorisations(n: int, unit: tuple[int, ...], largest: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every way to write n as a product of multiples of `unit` that are no larger than `largest`, in order."""
    if not unit:
        if n == 1:
            yield ()
        return
    for e in range(unit[0], min(n, largest[0]) + 1, unit[0]):
        if n % e == 0:
            for rest in _factorisations(n // e, unit[1:], largest[1:]):
                yield (e, *rest)


def parse_extents(text: str) -> tuple[int, ...]:
    """Read ``8x8x16``, a shape without wraps.

    Raises
    ------
    PartitionError
        If the text has wraps.

    Examples
    --------
    >>> parse_extents("4x4x2")
    (4, 4, 2)
    """
    if "w" in text or ":" in text:
        raise PartitionError(f"shape {text!r}: write the extents alone, e.g. 8x8x16; the rule decides which dimensions wrap")
    return parse_torus(text).shape


def parse_partition(text: str, partitions: Partitions) -> Torus:
    """Return the torus of the partition requested by `text`, without bandwidth.

    With text ``8x8x16`` the rule decides which dimensions wrap; ``8x8x16:mesh`` or ``8wx8x16`` claim fewer wraps than the
    rule gives.

    Raises
    ------
    PartitionError
        If there is no such partition, or the text claims more wraps than the rule gives.
    """
    if is_folded(text):
        return _parse_box(text, partitions)
    torus = parse_torus(text)
    if torus.n_dimensions != partitions.largest.n_dimensions and not partitions.is_logical(torus.shape):
        raise PartitionError(f"partition {text} has {torus.n_dimensions} dimensions; {partitions.largest.n_dimensions} are "
                             f"needed, e.g. {by_x(partitions.unit or partitions.shapes[0])}; allowed are "
                             f"{partitions.allowed()}")
    partition = partitions.torus(torus.shape)
    wraps, _, axes = text.partition(":axes=")
    if "w" not in wraps and ":" not in wraps:
        return replace(partition, axes=axes or partition.axes)
    if isinstance(partition, FoldedTorus):
        partition = partition.logical
    if claims_more(torus, partition):
        raise PartitionError(f"partition {text} is not available: the machine gives at most {partition} ("
                             f"{RULES[partitions.rule].meaning}); write {partition} or fewer wraps")
    return Torus(torus.shape, torus.wrap, axes=axes or partition.axes)


def _parse_box(text: str, partitions: Partitions) -> FoldedTorus:
    shape, _, box = text.partition(":box=")
    extents = parse_extents(shape)
    boxes = partitions.boxes(extents) if partitions.is_logical(extents) else []
    torus = parse_torus(box, axes=partitions.largest.axes)
    same = next((candidate for candidate in boxes if (candidate.shape, candidate.wrap) == (torus.shape, torus.wrap)), None)
    if same is None:
        known = ", ".join(map(str, boxes[:4])) or f"none: a job of {shape} gets other nodes"
        more = f" and {len(boxes) - 4} more" if len(boxes) > 4 else ""
        raise PartitionError(f"partition {text} is not available; boxes of {shape} are {known}{more}")
    return same


def claims_more(claimed: Torus, real: Torus) -> bool:
    """Return whether a torus has a ring in a dimension in which another of the same shape has an open line.

    Extents of 1 and 2 do not count.
    """
    return any(claimed.is_ring(i) and not real.is_ring(i) for i in range(claimed.n_dimensions))
