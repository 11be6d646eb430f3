"""Digit bases: the place of a rank is the sum of its digits times their generators, on a twisted torus with its slots.

Idea: digit patterns of a torus are bases whose generators lie along the axes. On a twisted torus any generators will do, if
all sums are different places: the first digits number the tasks of a row, the others the rows. Such a placement needs few
numbers, rows look alike, and a change of one generator changes all of them. The search starts from the digits of the axes,
and from the best pair of complementary subgroups, and climbs over the generators.
Cost: see `pencilmap.mapper.seeds.twisted_climb`; some seconds. Needs: a pencil grid that fills every slot, even blocks.
Deterministic: the same seed and budget give the same basis.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, permutations
from math import prod

import numpy as np

from pencilmap.mapper.searches.search import LEAST_OF_BASIS, OF_ADDITION, Search
from pencilmap.mapper.seeds import twisted_climb
from pencilmap.mapper.seeds.twisted_pairs import best_pair
from pencilmap.model.base.arrays import Ints
from pencilmap.model.kinds.twisted_routes import MOST_NODES, routes_of
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus, steps_up_and_down
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.objective import Objective

HEAT = 0.01
MOST_KEPT = 16  # grids and objectives whose starts are kept
ROUNDS = ((8, 24), (3, 6), (1, 6))  # starts that are climbed from, the best first; part of the evaluations for each


@dataclass(frozen=True)
class Basis:
    """A digit basis.

    Parameters
    ----------
    torus : TwistedTorus
    tasks_per_node : int
    rows, columns : tuple of (int, int)
        Generators of the digits of the place in a row, and in a column: node and slot. Digit k has the k-th prime factor
        of R (of C) as its radix, the smallest first.
    """

    torus: TwistedTorus
    tasks_per_node: int
    rows: tuple[tuple[int, int], ...]
    columns: tuple[tuple[int, int], ...]

    def mapping(self, grid: ProcessGrid) -> Mapping:
        """Return the mapping of a grid; MappingError if two sums are the same place."""
        radix = [*prime_factors(grid.shape[0]), *prime_factors(grid.shape[1])]
        node, slot = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for k, (by_node, by_slot) in zip(radix, (*self.rows, *self.columns)):
            nodes, slots = [node], [slot]
            for _ in range(1, k):
                nodes.append(self.torus.sums(nodes[-1], np.array([by_node]))[:, 0])
                slots.append((slots[-1] + by_slot) % self.tasks_per_node)
            node, slot = np.concatenate(nodes), np.concatenate(slots)
        return Mapping(self.torus, grid, self.tasks_per_node, node, slot, str(self))

    def __str__(self) -> str:
        return f"basis:r={self._text(self.rows)},c={self._text(self.columns)}"

    def _text(self, generators):
        def one(node, slot):
            return [*self.torus.coordinates(node).tolist(), *([slot] if self.tasks_per_node > 1 else [])]

        return "/".join(".".join(map(str, one(*generator))) for generator in generators)


def prime_factors(n: int) -> list[int]:
    """Return the prime factors of a number, the smallest first.

    >>> prime_factors(24)
    [2, 2, 2, 3]
    """
    found, k = [], 2
    while n > 1:
        while n % k == 0:
            found.append(k)
            n //= k
        k += 1
    return found


def best_basis(torus: TwistedTorus, grid: ProcessGrid, tasks_per_node: int, wanted: Objective,
               within: Search | None = None, aim: float = 0.0) -> tuple[Basis, float]:
    """Search for the best basis.

    Parameters
    ----------
    torus : TwistedTorus
    grid : ProcessGrid
        Fills every slot.
    tasks_per_node : int
    wanted : Objective
        Of two exchanges.
    within : Search, optional
    aim : float
        A lower bound: the search stops when it reaches this cost.

    Returns
    -------
    Basis
    float
        Its cost under even shortest paths.

    Examples
    --------
    >>> from pencilmap.model.traffic.objective import in_sequence
    >>> basis, cost = best_basis(TwistedTorus((4, 8)), ProcessGrid(4, 8), 1, in_sequence(2), Search(100_000))
    >>> cost < 6
    True
    """
    within = within or Search()
    found, n_rows = list(_first(torus, grid, tasks_per_node, wanted)), len(prime_factors(grid.shape[0]))
    work = work_of_basis(torus, grid)
    numbers = count(within.seed * sum(kept for kept, _ in ROUNDS))
    for kept, part in ROUNDS:
        steps = within.budget // work // part
        for _, start in found[:kept] if steps > 1 else []:  # a single evaluation is that of the start
            if min(found)[0] > aim + 1e-9 and len(start) > 1 and not within.is_over():
                found.append(_climbed(torus, grid, tasks_per_node, wanted, start, steps, aim, next(numbers)))
                within.goes_on(steps * work)
        found = sorted(found)
    cost, generators = found[0]
    return Basis(torus, tasks_per_node, tuple(generators[:n_rows]), tuple(generators[n_rows:])), float(cost)


@lru_cache(maxsize=MOST_KEPT)
def _first(torus, grid, tasks_per_node, wanted):
    """Return the costs of the starts and the starts, the best first."""
    return sorted(_climbed(torus, grid, tasks_per_node, wanted, start, 1, 0.0, 1)
                  for start in _starts(torus, grid, tasks_per_node, wanted))


def _climbed(torus, grid, tasks_per_node, wanted, start, steps, aim, number):
    """Return the cost and the generators of the best basis of a climb."""
    generators = np.array(start, dtype=np.int64).reshape(-1, 2)
    rows, columns = (prime_factors(n) for n in grid.shape)
    node, slot, cost, _ = twisted_climb.climb(_network(torus, tasks_per_node), _terms(wanted, grid, tasks_per_node),
                                            np.array([*rows, *columns], dtype=np.int64), len(rows),
                                            generators[:, 0].copy(), generators[:, 1].copy(), steps, HEAT, aim + 1e-9,
                                            number)
    return cost, list(zip(node.tolist(), slot.tolist()))


def work_of_basis(torus: TwistedTorus, grid: ProcessGrid) -> int:
    """Return the changed loads that take as long as the evaluation of a basis."""
    path = np.count_nonzero(_is_up(routes_of(torus))) / torus.n_nodes
    inside = sum(n * n for n in grid.shape) / 2 * path
    folding = torus.n_dimensions * torus.n_nodes * sum(prime_factors(grid.n_tasks))
    return int(max(LEAST_OF_BASIS, OF_ADDITION * (inside + folding)))


@lru_cache(maxsize=4)
def _network(torus: TwistedTorus, tasks_per_node: int) -> twisted_climb.Network:
    """Return the network with its links upwards alone: groups load both directions of a cable alike."""
    routes, nodes, n = routes_of(torus), np.arange(torus.n_nodes), torus.n_nodes
    sums = torus.sums(nodes, nodes).astype(np.int32)
    strength = np.array([float(weight / cables) for weight, cables in zip(link_weights(torus), torus.cables)])
    steps = np.array([torus.neighbours[i, direction, 0] for i, direction in steps_up_and_down(torus)] or [0])
    up = _is_up(routes)
    start = np.concatenate([[0], np.cumsum(up)])[routes.start]
    return twisted_climb.Network(sums, sums[torus.negative], start, (routes.channel[up] // 2 * n).astype(np.int32),
                               routes.node[up].astype(np.int32), routes.share[up], strength, steps, tasks_per_node)


def _is_up(routes):
    return routes.channel % 2 == 0


def _terms(wanted: Objective, grid: ProcessGrid, tasks_per_node: int) -> twisted_climb.Wanted:
    """Return the objective with the factors of the m scale, 4 N / (P R) for rows and 4 N / (P C) for columns."""
    unit = [4 / (tasks_per_node * size) for size in grid.shape]
    return twisted_climb.Wanted(np.array([float(term.count) for term in wanted.terms]),
                              *(np.array([float(term.shares[k]) * unit[k] for term in wanted.terms]) for k in range(2)))


def _starts(torus: TwistedTorus, grid: ProcessGrid, tasks_per_node: int,
            wanted: Objective) -> Iterator[list[tuple[int, int]]]:
    """Yield bases to climb from: digits along the axes in every order, and the best pair of subgroups."""
    axes = list(range(torus.n_dimensions + (tasks_per_node > 1)))
    shape = (*torus.shape, tasks_per_node)
    for order in permutations(axes):
        yield _along_axes(torus, shape, order, grid)
    pair = best_pair(torus, grid.shape, wanted) if tasks_per_node == 1 and torus.n_nodes <= MOST_NODES else None
    if pair is not None:
        yield [(node, 0) for members, size in zip(pair[:2], grid.shape) for node in generators(torus, members, size)]


def _along_axes(torus, shape, order, grid):
    """Return generators along the axes in an order; each digit of the grid takes the first digit left of its radix."""
    strides = (*torus.strides, 0)
    left = [(k, strides[i] * prod(factors[:j]), prod(factors[:j]) if i == torus.n_dimensions else 0)
            for i in order for factors in [prime_factors(shape[i])] for j, k in enumerate(factors)]
    found = []
    for k in (*prime_factors(grid.shape[0]), *prime_factors(grid.shape[1])):
        digit = next(some for some in left if some[0] == k)
        left.remove(digit)
        found.append(digit[1:])
    return found


def generators(torus: TwistedTorus, members: Ints, size: int) -> list[int]:
    """Return nodes of a subgroup whose digits give each of its nodes once, for the prime factors of its size.

    >>> generators(TwistedTorus((4, 8)), np.arange(32), 32)
    [10, 5, 16, 2, 1]
    """
    have, found = [0], []
    for k in prime_factors(size):
        for node in members.tolist():
            chain = [0]
            for _ in range(k):
                chain.append(int(torus.sums(np.array([chain[-1]]), np.array([node]))[0, 0]))
            if node not in have and chain[k] in have:
                have = torus.sums(np.array(have), np.array(chain[:k])).ravel().tolist()
                found.append(node)
                break
    return found


def spelled(torus: TwistedTorus, tasks_per_node: int, rows: Sequence[Sequence[int]],
            columns: Sequence[Sequence[int]]) -> Basis:
    """Return the basis of generators that are written as coordinates, and the slot if there are several."""
    def generator(numbers):
        return int(torus.node(numbers[:torus.n_dimensions])), int(numbers[-1]) if tasks_per_node > 1 else 0

    return Basis(torus, tasks_per_node, tuple(map(generator, rows)), tuple(map(generator, columns)))
