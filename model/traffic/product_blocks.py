"""An exchange of a product placement with any block lengths, in closed form.

Idea: a message is a product of three block lengths. On a product placement every block number is a sum of digits, one digit
for each dimension of the torus and one for the slots. On a line of dimension i two kinds of digits are free: the digits of
the source in the dimensions routed before i, and the digits of the target in the dimensions routed after i. So the bytes
that start and end at a position are a sum of blocks over these digits. The line gives the other digits. The first blocks
are never shorter than later blocks, so no line carries more on any of its links than the line whose given digits are all 0.
Hence one line of each dimension is enough for any number of nodes.
Cost: O(R + C + n_i^2) for dimension i.
Needs: groups along one dimension of the grid, dimension order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Bools, Ints
from pencilmap.model.decompositions import AXES, ExchangeStage
from pencilmap.model.network.torus import check_lines, ring_link_loads
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Pattern, Product
from pencilmap.model.placement.transform import Transform, block_lengths
from pencilmap.model.traffic.exchange import message_roots, side_blocks

_LARGEST = 1 << 62  # up to this number sums are exact in 64 bits; above, Python's integers are used


@dataclass(frozen=True, eq=False)
class StageBlocks:
    """The block lengths of an exchange.

    Member a of a group sends ``send[a] * receive[b]`` units to member b, times one entry of every vector of `groups`:
    the entry of the group's number along this dimension of the grid.
    """

    name: str  #: name of the stage
    letters: str  #: the dimension of the grid along which the groups lie
    #: send, receive: int arrays, shape (size,), falling
    send: Ints
    receive: Ints
    groups: dict[str, Ints]  #: block lengths by the letter of each other dimension of the grid, int arrays, falling
    unit_bytes: int
    total_bytes: int  #: D_T


@lru_cache(maxsize=64)
def stage_blocks(grid: ProcessGrid, transform: Transform) -> tuple[StageBlocks, ...]:
    """Return the block lengths of every exchange, in the order of a forward transform.

    >>> from pencilmap.model.placement.grid import parse_grid
    >>> row, column = stage_blocks(parse_grid("2x3"), Transform(5, 7, 4))
    >>> row.send.tolist(), row.receive.tolist(), row.groups["c"].tolist()
    ([4, 3], [2, 2], [2, 2, 1])
    """
    result = []
    for stage, division in grid.decomposition.layouts:
        if not isinstance(stage, ExchangeStage):
            continue
        extents = transform.extents(stage, grid)
        unit, groups = transform.point_bytes, {}
        for axis in sorted(set(AXES) - {stage.gathered, stage.divided}):
            if division[axis]:
                groups[division[axis]] = block_lengths(extents[axis], grid.extent(division[axis]))
            else:
                unit *= extents[axis]
        send, receive = side_blocks(stage, division, grid, transform)
        for letter in grid.decomposition.letters:
            if letter not in stage.letters:
                groups.setdefault(letter, np.ones(grid.extent(letter), dtype=np.int64))
        result.append(StageBlocks(stage.name, letters=stage.letters, send=send, receive=receive, groups=groups,
                                  unit_bytes=unit, total_bytes=transform.total_bytes))
    return tuple(result)


@lru_cache(maxsize=64)
def product_blocks(product: Product, blocks: StageBlocks) -> "ProductBlocks":
    """Return the blocks of an exchange on the digits of a product placement."""
    return ProductBlocks(product, blocks)


def first_line(pattern: Pattern, ring: bool, blocks: StageBlocks, before: Mapping[str, int],
               slots: Mapping[str, int]) -> Any:
    """Return half bytes on the links of the busiest line of a dimension, routed first to last: int array, shape (2, n).

    Same as `ProductBlocks.line`, without a whole product.

    Parameters
    ----------
    pattern : Pattern
    ring : bool
    blocks : StageBlocks
    before : dict of str to int
        For each letter the number of digits of all dimensions before this dimension.
    slots : dict of str to int
        The same for the slots. The rest of the grid lies in the dimensions after.
    """
    def held(letter: str, weights: Ints) -> Ints:
        """Return the weights by slot, digits after, own digit, digits before."""
        return weights.reshape(slots[letter], -1, pattern.extent(letter), before[letter])

    index = pattern.index(blocks.letters)
    large = 2 * blocks.total_bytes * pattern.n >= _LARGEST
    start = held(blocks.letters, blocks.send)[:, 0].sum(axis=(0, 2)).astype(object if large else np.int64)[index]
    end = held(blocks.letters, blocks.receive)[..., 0].sum(axis=(0, 1))[index]
    for letter, weights in blocks.groups.items():
        start = start * held(letter, weights)[:, 0, :, 0].sum(axis=0)[pattern.index(letter)]
    group = pattern.group(blocks.letters)
    legs = np.where(group[:, None] == group[None, :], start[:, None] * end, 0)
    return ring_link_loads(legs, ring) * blocks.unit_bytes


class ProductBlocks:
    """The blocks of an exchange on the digits of a product placement; `product_blocks` makes one."""

    def __init__(self, product: Product, blocks: StageBlocks) -> None:
        self.product, self.blocks = product, blocks
        self._lines: dict[tuple[int, tuple[int, ...], str], Any] = {}
        self.exact = np.int64 if 2 * blocks.total_bytes * sum(product.torus.shape) < _LARGEST else object

    def line(self, i: int, order: Iterable[int], tie: str = "split") -> Any:
        """Return half bytes on the links of the busiest line of dimension `i`: int array, shape (2, n).

        No line of the dimension has more on any link; the form is that of `ring_link_loads`. `order` has the dimensions
        in the order of routing.
        """
        key = i, tuple(order), tie
        if key not in self._lines:
            self._lines[key] = self._line(*key)
        return self._lines[key]

    def _line(self, i: int, order: Sequence[int], tie: str) -> Ints:
        check_lines((self.product.torus.shape[i],))
        before = order[:order.index(i)]
        after = [j for j in range(self.product.torus.n_dimensions) if j != i and j not in before]
        index = self.product.dimensions[i].index(self.blocks.letters)
        legs = self._groups_at(i)[:, None] * self._sums(self.blocks.letters, self.blocks.send, i, before)[index][:, None] \
            * self._sums(self.blocks.letters, self.blocks.receive, i, after)[index]
        return ring_link_loads(np.where(self._same(i), legs, 0), self.product.torus.is_ring(i), tie) * self.blocks.unit_bytes

    def hop_bytes(self, i: int) -> int:
        """Return bytes times hops in dimension `i`, over all lines."""
        every = [j for j in range(self.product.torus.n_dimensions) if j != i]
        n, own = self.product.torus.shape[i], self.product.dimensions[i].index(self.blocks.letters)
        indices = {letter: self.product.dimensions[i].index(letter) for letter in self.blocks.groups}
        legs = self._sums(self.blocks.letters, self.blocks.send, i, every)[own][:, None].astype(object) \
            * self._sums(self.blocks.letters, self.blocks.receive, i, every)[own]
        for letter, weights in self.blocks.groups.items():
            legs = legs * self._sums(letter, weights, i, every)[indices[letter]][:, None]
        apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        hops = np.minimum(apart, n - apart) if self.product.torus.is_ring(i) else apart
        return int(np.where(self._same(i), legs * hops, 0).sum()) * self.blocks.unit_bytes

    def sent_bytes(self) -> int:
        """Return the bytes of all messages to other tasks."""
        pairs = int(self.blocks.send.sum()) * int(self.blocks.receive.sum()) - int(self.blocks.send @ self.blocks.receive)
        return pairs * prod(int(weights.sum()) for weights in self.blocks.groups.values()) * self.blocks.unit_bytes

    def message_roots(self) -> float:
        """Return the sum over the messages of the busiest task to other tasks of the square root of their size in KiB."""
        of_group = self.blocks.unit_bytes * prod(int(weights[0]) for weights in self.blocks.groups.values())
        return float(message_roots(self.blocks.send, self.blocks.receive, of_group).max())

    def busiest_task_and_node(self) -> tuple[int, int]:
        """Return the most bytes that one task, and all tasks of one node, send to other nodes."""
        slots = self.product.slots.extent(self.blocks.letters)
        send, receive = (vector.reshape(slots, -1) for vector in (self.blocks.send, self.blocks.receive))
        leaving = receive.sum() - receive.sum(axis=0)
        on_node = [weights.reshape(self.product.slots.extent(letter), -1)[:, 0] for letter, weights in
                   self.blocks.groups.items()]
        task = int((send * leaving).max()) * prod(int(weights[0]) for weights in on_node)
        node = int((send.sum(axis=0) * leaving).max()) * prod(int(weights.sum()) for weights in on_node)
        return task * self.blocks.unit_bytes, node * self.blocks.unit_bytes

    def busiest_inside(self) -> int:
        """Return the most bytes that the tasks of one node send to each other."""
        slots = self.product.slots.extent(self.blocks.letters)
        send, receive = (vector.reshape(slots, -1) for vector in (self.blocks.send, self.blocks.receive))
        groups = [int(weights.reshape(self.product.slots.extent(letter), -1)[:, 0].sum())
                  for letter, weights in self.blocks.groups.items()]
        inside = send.sum(axis=0) * receive.sum(axis=0) - (send * receive).sum(axis=0)
        return int(inside.max()) * prod(groups) * self.blocks.unit_bytes

    @cached_property
    def _extents(self) -> dict[str, list[int]]:
        """Return the extents of the digits of each letter: the slots first, then the dimensions from last to first."""
        places = (self.product.slots, *self.product.dimensions[::-1])
        return {letter: [p.extent(letter) for p in places] for letter in self.product.decomposition.letters}

    def _sums(self, letter: str, weights: Ints, i: int, free: Sequence[int]) -> Ints:
        """Return for each digit of `letter` in dimension `i` the sum of blocks over slots and free dimensions."""
        d = self.product.torus.n_dimensions
        held = weights.reshape(self._extents[letter])
        used = tuple(slice(None) if j == i or j in free else 0 for j in range(d - 1, -1, -1))
        kept = held[(slice(None), *used)]
        axis = 1 + sum(isinstance(cut, slice) for cut in used[:d - 1 - i])
        return kept.sum(axis=tuple(k for k in range(kept.ndim) if k != axis)).astype(self.exact)

    def _groups_at(self, i: int) -> Ints:
        """Return for each position in dimension `i` the weight of the groups of all slots on the line of digits 0."""
        numbers = np.ones(self.product.torus.shape[i], dtype=self.exact)
        for letter, weights in self.blocks.groups.items():
            numbers = numbers * self._sums(letter, weights, i, ())[self.product.dimensions[i].index(letter)]
        return numbers

    def _same(self, i: int) -> Bools:
        group = self.product.dimensions[i].group(self.blocks.letters)
        return group[:, None] == group[None, :]
