"""Placements whose node digits are sums of rank digits: a climb by elementary steps.

Idea: write the rank and the place in prime digits. Each digit of the place is a sum, modulo its prime, of digits of the rank
with the same prime. The sums form an invertible matrix, at first a permutation. A step adds a row or a column to another,
or exchanges two rows. The best step is taken until none is better. So neighbours of a halo and rows of an FFT keep their
symmetry, which swaps of single ranks break.
Cost: one count of all loads for each step that is tried.
"""

from collections.abc import Callable, Iterator

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.placement.allocation import Site

CLIMBS = 12
MOST_DIGITS = 16


def climbed(site: Site, n_ranks: int, cost: Callable[[Ints], float], evaluations: int, seed: int) -> tuple[str, Ints] | None:
    """Return name and places of the best climb on a whole torus, None elsewhere.

    Parameters
    ----------
    site : Site
    n_ranks : int
    cost : callable
        Cost of places: int array, shape (P,) -> float.
    evaluations : int
        Costs to compute.
    seed : int
    """
    if not site.network.has_products or not site.allocation.is_complete or n_ranks != site.n_slots:
        return None
    T, node = site.tasks_per_node, site.allocation.nodes
    extents = [(T, 1), *((n, T * step) for n, step in zip(site.network.shape, site.network.strides))]
    targets = [(step * part, p) for n, step in extents for part, p in digits(n)]
    sources = digits(n_ranks)
    if not 1 < len(sources) <= MOST_DIGITS:
        return None
    place_of = np.empty(n_ranks, np.int64)
    place_of[(node[:, None] * T + np.arange(T)).ravel()] = np.arange(n_ranks)
    held = np.stack([np.arange(n_ranks) // step % p for step, p in sources], axis=1)
    primes = np.array([p for _, p in targets])
    steps = np.array([step for step, _ in targets])
    random, best = np.random.default_rng(seed), None
    for number in range(CLIMBS):
        matrix = _permutation(sources, targets, random if number else None)
        places = place_of[held @ matrix.T % primes @ steps]
        here = cost(places)
        while evaluations > 0:
            tried = [(cost(some := place_of[held @ other.T % primes @ steps]), k, other, some)
                     for k, other in enumerate(_steps(matrix, primes))]
            evaluations -= len(tried)
            value, _, other, some = min(tried, key=lambda each: each[:2], default=(here, 0, matrix, places))
            if value >= here * (1 - 1e-9):
                break
            here, matrix, places = value, other, some
        if best is None or here < best[0]:
            best = here, places
        if evaluations <= 0:
            break
    return None if best is None else ("sums of digits", best[1])


def digits(n: int) -> list[tuple[int, int]]:
    """Return step and base of the prime digits of numbers below n, the lowest first.

    >>> digits(12)
    [(1, 2), (2, 2), (4, 3)]
    """
    found, step, p = [], 1, 2
    while n > 1:
        if n % p == 0:
            found.append((step, p))
            step, n = step * p, n // p
        else:
            p += 1
    return found


def _permutation(sources, targets, random):
    """Return a permutation matrix between digits of the same primes: in order, or at random."""
    matrix = np.zeros((len(targets), len(sources)), np.int64)
    for p in {p for _, p in sources}:
        rows = [k for k, (_, q) in enumerate(targets) if q == p]
        columns = [k for k, (_, q) in enumerate(sources) if q == p]
        matrix[rows, columns if random is None else random.permutation(columns)] = 1
    return matrix


def _steps(matrix: Ints, primes: Ints) -> Iterator[Ints]:
    """Yield the matrices one step away."""
    of_column = primes[np.argmax(matrix != 0, axis=0)]
    for i in range(len(primes)):
        for j in range(len(primes)):
            if i != j and primes[i] == primes[j]:
                other = matrix.copy()
                other[i] = (other[i] + other[j]) % primes[i]
                yield other
            if i < j and primes[i] == primes[j]:
                other = matrix.copy()
                other[[i, j]] = other[[j, i]]
                yield other
            if i != j and of_column[i] == of_column[j]:
                other = matrix.copy()
                other[:, i] = (other[:, i] + other[:, j]) % of_column[i]
                yield other
