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
Cost: O(n^3) for each of `ROUNDS` / n rounds: 1 s for 300 nodes, 4 s for 700, 6 s for 1000. The ascent stops early if the
rest of its rounds cannot be expected to reach the bound of other arguments.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import log2

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.bounds.every_placement import LowerBound
from pencilmap.model.bounds.rows_and_columns import rounded_down
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.routing import routing

MOST_NODES = 1024   # above this number the eigenvalues take too long
ROUNDS = 42_000     # over the number of nodes, and at most:
MOST_ROUNDS = 240
AIM = 0.3           # the first step aims this far above the best bound so far; later steps aim lower
MOMENTUM = 0.5
LONGEST_STEP = 2.0  # of the logarithm of a weight
FIRST_POWER = 2     # of the loads of an all-to-all, as the first weights
HOPE = 0.25         # the most that the rounds gain after the first `LOOK` of them; in proportion to the rounds that are left
LOOK = 1 / 20
WITH_WEIGHTS_ALONE = 1 / 6  # of the rounds
SPARED = 0.01       # weight of a step of Z beside a step of the weights
FLAT = 1e-20        # relative slopes too small for a step
ROUNDING = 1e-12    # of the largest eigenvalue, for each node: more than LAPACK errs


def spectral_bound(site: Site, sizes: tuple[int, int], routing_name: str, known: float = 0.0) -> LowerBound | None:
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
    LowerBound or None
    """
    torus, nodes, k = site.network, site.allocation.nodes, sum(sizes) - 2
    if (not torus.has_products or len(nodes) > MOST_NODES or min(sizes) == 1
            or sizes[0] * sizes[1] != site.n_slots):
        return None
    ascent = _ascent(as_torus(torus), nodes.tobytes(), site.tasks_per_node, routing_name, min(_near(k), len(nodes)))
    found = ascent.bound(k, known)
    return None if found is None else LowerBound(rounded_down(max(0.0, found)), "weighted distances in all rows and columns")


class _Ascent:
    """The rounds of an ascent so far. Each grid looks at them from the first, so its bound depends on no other grid."""

    def __init__(self, rounds: Iterator[tuple[float, Floats]]) -> None:
        self._rounds, self._done = rounds, list[tuple[float, Floats]]()

    def bound(self, k: int, known: float) -> float | None:
        """Return the bound for R + C - 2 = k, after all rounds that may make it exceed a known bound; None if unknown."""
        found = None
        for done, best in self._all():
            found = float(best[k])
            if done >= LOOK and found * (1 + HOPE * (1 - done)) <= known:
                break
        return found

    def _all(self):
        """The rounds that are done, then further ones."""
        yield from self._done
        for one in self._rounds:
            self._done.append(one)
            yield one


@lru_cache(maxsize=16)
def _ascent(torus: Torus, nodes: bytes, tasks_per_node: int, routing_name: str, aimed: int) -> _Ascent:
    """Return an ascent to weights that are good for an R + C - 2 of `aimed`: one ascent serves many grids."""
    return _Ascent(_rounds(torus, np.frombuffer(nodes, dtype=np.int64), tasks_per_node, routing_name, aimed))


def _rounds(torus, where, tasks_per_node, routing_name, aimed):
    """Yield the share of the rounds that are done, and the best bound for every R + C - 2; nothing without weights."""
    routes = routing(routing_name, torus).weighted_routes(torus, where) if routing_name else None
    if routes is None:
        return
    worth = np.array([float(weight / cables) for weight, cables in zip(link_weights(torus), torus.cables)])[:, None, None]
    n = len(where)
    unit = 4 * torus.n_nodes / n  # eigenvalues of nodes times the tasks of a node
    slots = n * tasks_per_node
    best = np.zeros(slots)
    carried = worth * routes.loads(np.ones((n, n)))
    if not carried.any():
        yield 1.0, best
        return
    weights = carried**FIRST_POWER / (carried**FIRST_POWER).sum()
    rounds = min(MOST_ROUNDS, ROUNDS // n)
    step, spared = np.zeros(weights.shape), np.zeros((n, n))
    reached = min(aimed, slots - 1)
    for done in range(rounds):
        distances = routes.distances(worth * weights)
        values, vectors, mean = _spectrum((distances + distances.T) / 2 - spared)
        every = np.sort(np.concatenate([values, np.zeros(slots - n)]))
        error = ROUNDING * n * (np.abs(values).max() + n * abs(mean))
        bounds = unit * (2 * n * mean + np.concatenate([[0.0], every[:-1].cumsum()]) - error)
        best = np.maximum(best, bounds)
        yield (done + 1) / rounds, best
        low = vectors[:, :reached][:, values[:reached] < 0]
        messages = 2 / n + low @ low.T
        uphill = unit * worth * routes.loads(messages)
        level = (weights * uphill).sum()
        uphill -= level
        spare = np.where((spared > 0) | (messages < 0), -unit * messages, 0.0) * (done >= WITH_WEIGHTS_ALONE * rounds)
        np.fill_diagonal(spare, 0.0)
        steepness = (weights * uphill**2).sum() + SPARED * (spare**2).sum()
        if steepness <= FLAT * level**2:
            break  # all links with a weight carry the same load
        length = ((1 + AIM * (1 - done / rounds)) * best[reached] - bounds[reached]) / steepness
        spared = np.maximum(0.0, spared + length * SPARED * spare)
        step = MOMENTUM * step + length * uphill
        step *= LONGEST_STEP / max(LONGEST_STEP, step.max())
        weights = weights * np.exp(step)
        weights /= weights.sum()


def _spectrum(distances):
    """Return the eigenvalues on the vectors of sum 0, smallest first, with their vectors, and the mean of all entries."""
    mean, rows = distances.mean(), distances.mean(axis=1)
    inner = distances - rows[:, None] - rows[None, :] + mean
    return (*np.linalg.eigh(inner), mean)


def _near(k):
    """Return the power of two near a number.

    >>> [_near(k) for k in (2, 5, 6, 108, 180)]
    [2, 4, 8, 128, 128]
    """
    return 1 << round(log2(k))
