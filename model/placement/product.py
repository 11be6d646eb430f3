"""Product placements: a digit pattern or a ring map for every dimension, and a digit pattern for the slots."""

from dataclasses import dataclass, field
from math import prod

import numpy as np

from pencilmap.model.base.errors import PlacementError
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping, Placement
from pencilmap.model.placement.pattern import Pattern, pattern_of_images
from pencilmap.model.placement.ring_map import RingMap


@dataclass(frozen=True)
class Product:
    """Digits of the dimensions of the torus for the dimensions of the process grid.

    Parameters
    ----------
    torus : Torus
    dimensions : tuple of Pattern or RingMap
        One for each dimension of the torus.
    slots : Pattern
        Pattern of the tasks of a node.
    decomposition : Decomposition
        Gives the letters of the digits.
    """

    torus: Torus
    dimensions: tuple[Pattern | RingMap, ...]
    slots: Pattern
    decomposition: Decomposition = field(default=PENCIL, repr=False)

    def __post_init__(self) -> None:
        if len(self.dimensions) != self.torus.n_dimensions:
            raise PlacementError(f"torus {self.torus} needs {self.torus.n_dimensions} patterns, got {len(self.dimensions)}")
        for axis, pattern, n in zip(self.torus.axes, self.dimensions, self.torus.shape):
            if pattern.n != n:
                raise PlacementError(f"pattern {pattern.text(self.decomposition.letters)} of dimension {axis} stands for "
                                     f"{pattern.n} nodes, but torus "
                                     f"{self.torus} has {n}; its radices must multiply to {n}")

    @property
    def network(self) -> Torus:
        return self.torus

    @property
    def name(self) -> str:
        return str(self)

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def is_product(self) -> bool:
        return True

    @property
    def is_digits(self) -> bool:
        """Whether every dimension has a digit pattern, and none a ring map."""
        return all(isinstance(pattern, Pattern) for pattern in self.dimensions)

    @property
    def tasks_per_node(self) -> int:
        return self.slots.n

    @property
    def grid(self) -> ProcessGrid:
        every = (*self.dimensions, self.slots)
        return ProcessGrid(*(prod(p.extent(letter) for p in every) for letter in self.decomposition.letters),
                           decomposition=self.decomposition)

    def mapping(self, name: str | None = None) -> Mapping:
        """Return the mapping: in every group the first dimension of the torus varies fastest, the slots last."""
        nodes = self.torus.coordinates(np.arange(self.torus.n_nodes))
        T, rank, stride = self.tasks_per_node, np.int64(0), 1
        for letter, extent in zip(self.decomposition.letters, self.grid.shape):
            rank = rank + self._number(letter, nodes).ravel() * stride
            stride *= extent
        place = np.empty_like(rank)
        place[rank] = np.arange(rank.size)
        return Mapping(self.torus, self.grid, T, place // T, place % T, name or str(self))

    def _number(self, owner, nodes):
        """Return the number of every place within its group: int array, shape (N, T)."""
        number, stride = np.zeros(len(nodes), dtype=np.int64), 1
        for i, pattern in enumerate(self.dimensions):
            number += pattern.index(owner)[nodes[:, i]] * stride
            stride *= pattern.extent(owner)
        return number[:, None] + self.slots.index(owner)[None, :] * stride

    def __str__(self) -> str:
        letters = self.decomposition.letters
        parts = [f"{axis}={pattern.text(letters)}" for axis, pattern in zip(self.torus.axes, self.dimensions)]
        slots = [f"t={self.slots}"] if self.slots.n > 1 else []
        return ("digits:" if self.is_digits else "ring:") + ",".join([*parts, *slots])


def product_of(placed: Placement) -> Product | None:
    """Return the product whose groups use the same places as the groups of a placement, or None.

    The order of ranks within a group does not matter, because it changes no load of an even exchange.
    """
    if isinstance(placed, Product):
        return placed
    mapping = placed.mapping()
    if not mapping.fills_network or not mapping.network.has_products:
        return None
    torus, grid = as_torus(mapping.network), mapping.grid
    places = np.concatenate([mapping.coordinates(), mapping.slot_of_rank[:, None]], axis=1)
    origin = int(np.flatnonzero((places == 0).all(axis=1))[0])
    letters = grid.decomposition.letters
    images = {letter: places[_group_of(grid, letter, origin)] for letter in letters}
    patterns = [pattern_of_images({letter: set(image[:, i].tolist()) for letter, image in images.items()}, n)
                for i, n in enumerate((*torus.shape, mapping.tasks_per_node))]
    found = [pattern for pattern in patterns if pattern is not None]
    if len(found) < len(patterns):
        return None
    product = Product(torus, tuple(found[:-1]), found[-1], grid.decomposition)
    return product if product.grid == grid and same_groups(product.mapping(), mapping) else None


def _group_of(grid, letter, rank):
    """Return the ranks of the group of a rank along a dimension."""
    groups = grid.groups(letter)
    return groups[int(np.flatnonzero((groups == rank).any(axis=1))[0])]


def same_groups(a: Mapping, b: Mapping) -> bool:
    """Return whether every group of both mappings takes the same places. Both fill their network and have the same grid."""
    return all(_same_partition(_labels(a, stage.letters), _labels(b, stage.letters))
               for stage in a.grid.decomposition.exchanges)


def _labels(mapping, letters):
    """Return the number of the group of every place."""
    labels = np.empty(mapping.n_tasks, dtype=np.int64)
    place = mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank
    groups = mapping.grid.groups(letters)
    labels[place[groups]] = np.arange(len(groups))[:, None]
    return labels


def _same_partition(a, b):
    """Return whether two labellings split the places into the same groups; all groups of both have the same size."""
    partner = np.zeros(int(a.max()) + 1, dtype=np.int64)
    partner[a] = b
    return bool((partner[a] == b).all())
