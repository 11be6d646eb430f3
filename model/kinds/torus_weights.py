"""Distances if every link has a weight, and the loads of any traffic, for messages in dimension order.

Idea: a leg in dimension i lies on one line, and the two ends of the message alone decide the line. So the number of
(line, from, to) is computed once for every pair of nodes. Then distances are looked up in a table of all legs
of all lines, and loads are sums of the traffic over these legs.
Cost: 8 bytes for each pair of nodes and dimension; O(n) for each leg of each line of n nodes.
"""

from collections.abc import Sequence

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.network.torus import Torus, ring_link_loads


class WeightedRoutes:
    """The routes between some nodes of a torus; all arrays of links have shape (d, 2, N), as `LinkLoads.values`.

    Parameters
    ----------
    torus : Torus
    nodes : int array, shape (n,)
    order : tuple of int
        The dimensions in the order of routing.
    tie : str
        Rule at half a ring.
    """

    def __init__(self, torus: Torus, nodes: Ints, order: Sequence[int], tie: str = "split") -> None:
        self.torus, self.order = torus, tuple(order)
        where = torus.coordinates(nodes)
        self._legs = [_carried(torus, i, tie) for i in range(torus.n_dimensions)]
        self._pairs = [self._numbers(where, i) for i in range(torus.n_dimensions)]

    def distances(self, weights: Floats) -> Floats:
        """Return the sum of the weights of the links on the way from each node to each other: shape (n, n)."""
        found = 0.0
        for i, numbers in enumerate(self._pairs):
            table = self._by_line(weights[i], i) @ self._legs[i].T
            found = found + table.reshape(-1).take(numbers)
        return found  # type: ignore[return-value]

    def loads(self, traffic: Floats) -> Floats:
        """Return the load of every link if `traffic[a, b]` goes from node a to node b."""
        found = np.empty((len(self._pairs), 2, self.torus.n_nodes))
        for i, numbers in enumerate(self._pairs):
            n = self.torus.shape[i]
            table = np.bincount(numbers.reshape(-1), traffic.reshape(-1), self.torus.n_nodes * n)
            found[i] = self._by_node(table.reshape(-1, n * n) @ self._legs[i], i)
        return found

    def _numbers(self, where, i):
        """Return for every pair of nodes the number of its leg in dimension `i`: line, then from, then to."""
        n, lines = self.torus.shape[i], np.zeros((len(where),) * 2, dtype=np.int32)
        for j, extent in reversed(list(enumerate(self.torus.shape))):
            if j != i:
                ends = where[None, :, j] if self.order.index(j) < self.order.index(i) else where[:, None, j]
                lines = lines * np.int32(extent) + ends.astype(np.int32)
        here = where[:, i].astype(np.int32)
        return ((lines * np.int32(n) + here[:, None]) * np.int32(n) + here[None, :]).astype(np.intp)

    def _by_line(self, values, i):
        """Return (2, N) as (lines, 2 n)."""
        grid = values.reshape(2, *self.torus.shape[::-1])  # the first dimension is the fastest
        return np.moveaxis(np.moveaxis(grid, -1 - i, -1), 0, -2).reshape(-1, 2 * self.torus.shape[i])

    def _by_node(self, lines, i):
        """Return (lines, 2 n) as (2, N), the inverse of `_by_line`."""
        others = [extent for j, extent in reversed(list(enumerate(self.torus.shape))) if j != i]
        grid = np.moveaxis(lines.reshape(*others, 2, self.torus.shape[i]), -2, 0)
        return np.moveaxis(grid, -1, -1 - i).reshape(2, -1)


def _carried(torus, i, tie):
    """Return the share of a leg that each link of its line carries: shape (n^2 legs, 2 n links)."""
    n = torus.shape[i]
    legs = np.eye(n * n, dtype=np.int64).reshape(n * n, n, n)
    return ring_link_loads(legs, torus.is_ring(i), tie).reshape(n * n, 2 * n) / 2
