"""Product placements: a digit pattern for every dimension and one for the slots."""

from dataclasses import dataclass
from math import prod

import numpy as np

from pencilmap.model.errors import PlacementError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.pattern import Pattern, pattern_of_set
from pencilmap.model.torus import Torus


@dataclass(frozen=True)
class Product:
    """Which digits of which dimension belong to the rows, and which to the columns.

    Parameters
    ----------
    torus : Torus
    dimensions : tuple of Pattern
        One for each dimension of the torus.
    slots : Pattern
        For the tasks of a node.
    """

    torus: Torus
    dimensions: tuple
    slots: Pattern

    def __post_init__(self):
        if len(self.dimensions) != self.torus.n_dimensions:
            raise PlacementError(f"torus {self.torus} needs {self.torus.n_dimensions} patterns, got {len(self.dimensions)}")
        for axis, pattern, n in zip(self.torus.axes, self.dimensions, self.torus.shape):
            if pattern.n != n:
                raise PlacementError(f"pattern {pattern} of dimension {axis} stands for {pattern.n} nodes, but torus "
                                     f"{self.torus} has {n}; its radices must multiply to {n}")

    @property
    def tasks_per_node(self):
        return self.slots.n

    @property
    def grid(self):
        every = (*self.dimensions, self.slots)
        return ProcessGrid(prod(p.extent("r") for p in every), prod(p.extent("c") for p in every))

    def mapping(self, name=None):
        """The mapping: in rows and in columns the first dimension varies fastest, the slots last."""
        nodes = self.torus.coordinates(np.arange(self.torus.n_nodes))
        T = self.tasks_per_node
        p, q = (self._number(owner, nodes) for owner in "rc")
        rank = (q * self.grid.R + p).ravel()
        place = np.empty_like(rank)
        place[rank] = np.arange(rank.size)
        return Mapping(self.torus, self.grid, T, place // T, place % T, name or str(self))

    def _number(self, owner, nodes):
        """Number within the row ("r") or the column ("c") of every place: int array, shape (N, T)."""
        number, stride = np.zeros(len(nodes), dtype=np.int64), 1
        for i, pattern in enumerate(self.dimensions):
            number += pattern.index(owner)[nodes[:, i]] * stride
            stride *= pattern.extent(owner)
        return number[:, None] + self.slots.index(owner)[None, :] * stride

    def __str__(self):
        parts = [f"{axis}={pattern}" for axis, pattern in zip(self.torus.axes, self.dimensions)]
        return "digits:" + ",".join([*parts, *([f"t={self.slots}"] if self.slots.n > 1 else [])])


def product_of(mapping):
    """The product whose rows and columns use the same places as those of a mapping, or None when there is none.

    Which rank of a row sits where does not matter: it changes no load of an even exchange.
    """
    if not mapping.fills_torus or not isinstance(mapping.torus, Torus):
        return None
    torus, grid, T = mapping.torus, mapping.grid, mapping.tasks_per_node
    coordinates = np.concatenate([mapping.coordinates(), mapping.slot_of_rank[:, None]], axis=1)
    row_of_origin = int(np.flatnonzero((coordinates == 0).all(axis=1))[0]) // grid.R
    image = coordinates[row_of_origin * grid.R:(row_of_origin + 1) * grid.R]
    patterns = [pattern_of_set(image[:, i], n) for i, n in enumerate(torus.shape)]
    slots = pattern_of_set(image[:, -1], T) or _any_slots(image[:, -1], T)
    if None in patterns or slots is None:
        return None
    product = Product(torus, tuple(patterns), slots)
    return product if product.grid == grid and _same_groups(product.mapping(), mapping) else None


def _any_slots(used, T):
    """Slots of a node are alike, so any set of the right size will do as a pattern."""
    k = len(set(used.tolist()))
    return Pattern((("r", k), ("c", T // k))) if T % k == 0 else None


def _same_groups(a, b):
    return all(_same_partition(_labels(a, pick), _labels(b, pick)) for pick in (_row, _column))


def _row(rank, grid):
    return rank // grid.R


def _column(rank, grid):
    return rank % grid.R


def _labels(mapping, pick):
    labels = np.empty(mapping.n_tasks, dtype=np.int64)
    place = mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank
    labels[place] = pick(np.arange(mapping.n_tasks), mapping.grid)
    return labels


def _same_partition(a, b):
    """Whether two labellings split the places into the same groups; all groups of both have one size."""
    partner = np.zeros(int(a.max()) + 1, dtype=np.int64)
    partner[a] = b
    return bool((partner[a] == b).all())
