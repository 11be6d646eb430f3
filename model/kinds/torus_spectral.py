"""A lower bound for every placement on the nodes of a job, from the eigenvalues of weighted distances.

Idea: give every link a weight, all weights together 1. The largest load of an exchange is no smaller than the weighted mean
of its loads, which is a sum of weighted distances over the messages. Let S be the mean of these distances there and back
between the slots of all P tasks, less any numbers Z >= 0, for messages are not negative. Rows and columns are two
orthogonal projections in the space of the tasks: onto the vectors that are constant on every row, and on every column. Both
contain the constant vectors 1 and are otherwise orthogonal to each other. So the two lengths add up to at least

    4 N / P (2 1'S1 / P + the sum of the R + C - 2 smallest eigenvalues of S on the vectors of sum 0)

for all weights and all Z. Ascent finds both: links that the eigenvectors load most get more weight, and pairs
between which the eigenvectors have negative messages get a larger Z. Messages of scattered nodes crowd on few lines, and
a placement can spare only some of these messages.
Source: the projection bound of quadratic assignment, S. W. Hadley, F. Rendl, H. Wolkowicz, "A new lower bound via
projection for the quadratic assignment problem", Math. Oper. Res. 17 (1992); the length of the steps by B. T.
Polyak, USSR Comput. Math. Math. Phys. 9 (1969). Weights on links are ours, with a proof in docs/theory.md.
Distances: a leg in dimension i lies on one line, and the two ends of the message alone decide the line. So the number of
(line, from, to) is computed once for every pair of nodes. Then distances are looked up in a table of all legs of all lines,
and loads are sums of the traffic over these legs.
The ascent follows eigenvectors in single precision; only its first and its best point are evaluated with all digits.
Cost: O(n^3) for each of `ROUNDS` / n rounds: 0.4 s for 300 nodes, 1.2 s for 700, 3 s for 1000. The ascent stops early if the
rest of its rounds cannot be expected to reach the bound of other arguments.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import log2

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.bounds.rows_and_columns import rounded_down
from pencilmap.model.kinds import routing
from pencilmap.model.kinds.kind import Bound
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.torus import Torus, as_torus, ring_link_loads
from pencilmap.model.placement.allocation import Site

MOST_NODES = 1024   # above this number the eigenvalues take too long
ROUNDS = 24_000     # over the number of nodes, and at most:
MOST_ROUNDS = 96
FEWEST_ROUNDS = 22
ENOUGH = 128        # eigenvectors, or a quarter of all: more improve the weights little
FEW = 3             # times fewer vectors than nodes: then it is faster to compute only these
AIM = 0.3           # the first step aims this far above the best bound so far; later steps aim lower
MOMENTUM = 0.75
LONGEST_STEP = 2.0  # of the logarithm of a weight
FIRST_POWER = 3     # of the loads of an all-to-all, as the first weights
HOPE = 0.35         # the most that the rounds gain; in proportion to the square of the rounds that are left
LOOK = 4            # rounds before the first decision to stop
WITH_WEIGHTS_ALONE = 0.1  # of the rounds
SPARED = 0.01       # weight of a step of Z beside a step of the weights
FLAT = 1e-20        # relative slopes too small for a step
ROUNDING = 1e-12    # of the largest eigenvalue, for each node: more than LAPACK errs


def spectral_bound(site: Site, sizes: tuple[int, int], routing_name: str, known: float = 0.0) -> Bound | None:
    """Return the bound for even blocks, under that routing and any schedule, or None if unknown or too slow.

    Parameters
    ----------
    site : Site
    sizes : (int, int)
        R and C; there is no bound for idle slots, or if one exchange has no messages.
    routing_name : str
    known : float
        A bound from other arguments: the ascent ends if it is unlikely to exceed this.

    Returns
    -------
    (Fraction, str) or None
        Bound and argument.
    """
    torus, nodes, k = site.network, site.allocation.nodes, sum(sizes) - 2
    if len(nodes) > MOST_NODES or min(sizes) == 1 or sizes[0] * sizes[1] != site.n_slots:
        return None
    aimed = min(_near(k), max(ENOUGH, len(nodes) // 4), len(nodes) - 1)
    ascent = _ascent(as_torus(torus), nodes.tobytes(), site.tasks_per_node, routing_name, aimed)
    if ascent is None:
        return None
    value = rounded_down(max(0.0, ascent.bound(k, known)))
    return (value, "weighted distances in all rows and columns")


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


class _Ascent:
    """The rounds of an ascent so far. Each grid looks at them from the first, so its bound depends on no other grid.

    Parameters
    ----------
    routes : WeightedRoutes
    n : int
        Nodes.
    tasks_per_node : int
    aimed : int
        The R + C - 2 for which weights are sought.
    """

    def __init__(self, routes: WeightedRoutes, n: int, tasks_per_node: int, aimed: int) -> None:
        torus = routes.torus
        self._worth = np.array([float(weight / cables) for weight, cables in zip(link_weights(torus), torus.cables)])[
            :, None, None]
        self._routes, self._n, self._idle, self._aimed = routes, n, n * (tasks_per_node - 1), aimed
        self._unit = 4 * torus.n_nodes / n  # eigenvalues of nodes times the tasks of a node
        carried = self._worth * routes.loads(np.ones((n, n)))
        first = carried**FIRST_POWER
        self._best = first / (first.sum() or 1.0), np.zeros((n, n))
        self._first = self._bounds(*self._best)
        self._done, self._rounds = list[tuple[float, float]](), self._climb() if carried.any() else iter(())

    def bound(self, k: int, known: float) -> float:
        """Return the bound for R + C - 2 = k, after all rounds that may make it exceed a known bound."""
        first = float(self._first[k])
        for number, (done, gain) in enumerate(self._all(), 1):
            if number >= LOOK and first * gain * (1 + HOPE * (1 - done)**2) <= known:
                return first
        return max(first, float(self._last[k]))

    @cached_property
    def _last(self):
        return self._bounds(*self._best)

    def _all(self):
        """The rounds that are done, then further ones."""
        yield from self._done
        for one in self._rounds:
            self._done.append(one)
            yield one

    def _climb(self):
        """Yield the share of the rounds that are done, and their gain as a factor, with eigenvectors in single precision."""
        n, unit, worth, routes = self._n, self._unit, self._worth, self._routes
        weights, spared = self._best
        rounds = max(FEWEST_ROUNDS, min(MOST_ROUNDS, ROUNDS // n))
        step, spared_step = np.zeros(weights.shape), np.zeros((n, n))
        start = best = 0.0
        for done in range(rounds):
            inner, mean = self._inner(weights, spared)
            values, vectors = _lowest(inner, self._aimed)
            low = values < 0
            reached = unit * (2 * n * mean + float(values[low].sum()))
            if not done:
                start = best = reached
            elif reached > best:
                best, self._best = reached, (weights, spared)
            yield (done + 1) / rounds, best / start if start > 0 else 1.0
            vectors = vectors[:, low]
            messages = 2 / n + (vectors @ vectors.T).astype(np.float64)
            uphill = unit * worth * routes.loads(messages)
            level = (weights * uphill).sum()
            uphill -= level
            may_spare = ((spared > 0) | (messages < 0)) & (done >= WITH_WEIGHTS_ALONE * rounds)
            spare = np.where(may_spare, -unit * messages, 0.0)
            np.fill_diagonal(spare, 0.0)
            steepness = (weights * uphill**2).sum() + SPARED * np.vdot(spare, spare)
            if steepness <= FLAT * level**2:
                return  # all links with a weight carry the same load
            length = ((1 + AIM * (1 - done / rounds)**2) * best - reached) / steepness
            spared_step = MOMENTUM * spared_step + length * SPARED * spare
            spared = np.maximum(0.0, spared + spared_step)
            step = MOMENTUM * step + length * uphill
            step *= LONGEST_STEP / max(LONGEST_STEP, step.max())
            weights = weights * np.exp(step)
            weights /= weights.sum()

    def _inner(self, weights, spared):
        """Return the distances less `spared` on the vectors of sum 0, and their mean."""
        distances = self._routes.distances(self._worth * weights)
        distances = (distances + distances.T) / 2 - spared
        mean, rows = distances.mean(), distances.mean(axis=1)
        return distances - (rows[:, None] + (rows - mean)[None, :]), mean

    def _bounds(self, weights, spared):
        """Return the bound for every R + C - 2, with all digits."""
        n, (inner, mean) = self._n, self._inner(weights, spared)
        values = np.linalg.eigvalsh(inner)
        every = np.sort(np.concatenate([values, np.zeros(self._idle)]))
        error = ROUNDING * n * (np.abs(values).max() + n * abs(mean))
        return self._unit * (2 * n * mean + np.concatenate([[0.0], every[:-1].cumsum()]) - error)


@lru_cache(maxsize=16)
def _ascent(torus: Torus, nodes: bytes, tasks_per_node: int, routing_name: str, aimed: int) -> _Ascent | None:
    """Return an ascent to weights that are good for an R + C - 2 of `aimed`, for many grids; None if routes are unknown."""
    where, rule = np.frombuffer(nodes, dtype=np.int64), routing(routing_name, torus) if routing_name else None
    if not isinstance(rule, DimensionOrder):
        return None
    return _Ascent(WeightedRoutes(torus, where, rule.dimensions(torus), rule.tie), len(where), tasks_per_node, aimed)


def _lowest(inner, k):
    """Return at least the k smallest eigenvalues, and their vectors, in single precision."""
    if k * FEW > len(inner):
        values, vectors = np.linalg.eigh(inner)
        return values[:k], vectors[:, :k].astype(np.float32)
    from scipy.linalg import eigh  # slow to import, and few vectors of many nodes alone need it
    return eigh(inner.astype(np.float32), subset_by_index=(0, k - 1), check_finite=False, overwrite_a=True)


def _near(k):
    """Return the power of two near a number.

    >>> [_near(k) for k in (2, 5, 6, 108, 180)]
    [2, 4, 8, 128, 128]
    """
    return 1 << round(log2(k))
