"""Seeds on a twisted torus: digit bases, and rows that are the cosets of a subgroup.

Digit bases: the place of a rank is the sum of its digits times their generators, on a twisted torus with its slots. Digit
patterns of a torus are bases whose generators lie along the axes. On a twisted torus any generators will do, if all sums
are different places: the first digits number the tasks of a row, the others the rows. Such a placement needs few numbers,
rows look alike, and a change of one generator changes all of them. The search starts from the digits of the axes, and from
the best pair of complementary subgroups, and climbs over the generators.
Cost: see `pencilmap.mapper.seeds.twisted_climb`; some seconds. Needs: a pencil grid that fills every slot, even blocks.
Deterministic: the same seed and budget give the same basis.

Pairs of subgroups: rows are the cosets of a subgroup, columns those of a complement. The nodes are a group, Z^d modulo a
lattice L. If rows are the cosets of a subgroup H, every link of a direction carries the same: 4 / R times the sum over h in
H of the steps in this direction on the way to h. So one table with a row for each node judges all subgroups, and the pairs
are tried in the order of their cost until two of them share node 0 alone. Subgroups are the lattices between L and Z^d, one
for each Hermite normal form of the right index that contains L.
Source: H. Cohen, "A Course in Computational Algebraic Number Theory" (1993), sec. 2.4, for the normal form. The sum over H
is ours, with a proof in docs/theory.md.
Cost: O(N) for each subgroup; a few seconds for 2,048 nodes. Complements often do not exist.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import count, permutations
from math import prod
from typing import Any

import numpy as np

from pencilmap.mapper.base.search import LEAST_OF_BASIS, OF_ADDITION, ROUNDS_OF_BASES, Search
from pencilmap.mapper.seeds import Seeds
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.base.arrays import Bools, Floats, Ints, factorisations, prime_factors
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds import DEFAULT_ROUTING, routing
from pencilmap.model.kinds.twisted_torus import MOST_NODES, routes_of
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict.certificates import objective_bound
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import Objective, in_sequence, routed_joint

MOST_FASTER = Fraction(1, 1_000_000)  # rounding of loads


def best_twisted(site: Site, grid: ProcessGrid, within: Search, objective: Objective | None = None) -> list[Mapping]:
    """Return placements, the best last.

    Parameters
    ----------
    site : Site
        Of a twisted torus.
    grid : ProcessGrid
    within : Search
    objective : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    """
    torus: Any = site.network
    order = launched(site, grid)
    if not within.budget or not has_bases(site, grid):
        return [order]
    objective = objective or in_sequence(2)
    basis, _ = best_basis(torus, grid, site.tasks_per_node, objective, within,
                          float(objective_bound(site, grid, objective)))
    costs = [(_cost(mapping, objective), mapping) for mapping in (order, basis.mapping(grid))]
    best, placement = min(costs, key=lambda pair: pair[0])
    return [order, replace(placement, notes=(*placement.notes, *_plain_slice(torus, grid, site, objective, best)))]


def has_bases(site: Site, grid: ProcessGrid) -> bool:
    """Return whether a digit basis may place the grid: pencils of several groups on all slots."""
    return (site.allocation.is_complete and grid.n_tasks == site.n_slots and grid.decomposition == PENCIL
            and min(grid.shape) > 1 and site.network.n_nodes <= MOST_NODES)


def _cost(mapping: Mapping, objective: Objective) -> Fraction:
    return objective.of_loads(routed_joint(mapping.network, exchanges(mapping.grid), mapping.node_of_rank,
                                           routing("shortest-path", mapping.network)))


def _plain_slice(torus: TwistedTorus, grid: ProcessGrid, site: Site, objective: Objective, cost: Fraction) -> Iterator[Any]:
    """Yield a note if the best product on the same nodes without twists costs less."""
    product = best_product(torus.plain, grid, site.tasks_per_node, objective)
    letters = tuple(stage.letters for stage in grid.decomposition.exchanges)
    plain = objective.of_loads(routing(DEFAULT_ROUTING, product.torus).joint_of_product(product, letters))
    if plain < cost - MOST_FASTER:
        yield (f"the plain torus of {'x'.join(map(str, torus.shape))} is better for this grid and schedule: its links cost "
               f"{float(plain):.4g}, these {float(cost):.4g}")


MOST_KEPT = 16  # grids and objectives whose starts are kept


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

    def _text(self, generators: tuple[tuple[int, int], ...]) -> str:
        def one(node: int, slot: int) -> list[int]:
            return [*self.torus.coordinates(node).tolist(), *([slot] if self.tasks_per_node > 1 else [])]

        return "/".join(".".join(map(str, one(*generator))) for generator in generators)


def best_basis(torus: TwistedTorus, grid: ProcessGrid, tasks_per_node: int, objective: Objective,
               within: Search | None = None, aim: float = 0.0) -> tuple[Basis, float]:
    """Search for the best basis.

    Parameters
    ----------
    torus : TwistedTorus
    grid : ProcessGrid
        Fills every slot.
    tasks_per_node : int
    objective : Objective
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
    >>> from pencilmap.model.traffic.loads import in_sequence
    >>> basis, cost = best_basis(TwistedTorus((4, 8)), ProcessGrid(4, 8), 1, in_sequence(2), Search(100_000))
    >>> cost < 6
    True
    """
    from pencilmap.mapper.seeds.twisted_climb import climbed  # loads numba

    bases, n_rows = list(_first(torus, grid, tasks_per_node, objective)), len(prime_factors(grid.shape[0]))
    within, work = within or Search(), work_of_basis(torus, grid)
    numbers = count(within.seed * sum(kept for kept, _ in ROUNDS_OF_BASES))
    for kept, part in ROUNDS_OF_BASES:
        steps = within.budget // work // part
        for _, start in bases[:kept] if steps > 1 else []:  # a single evaluation is that of the start
            if min(bases)[0] > aim + 1e-9 and len(start) > 1 and not within.is_over():
                bases.append(climbed(torus, grid, tasks_per_node, objective, start, steps, aim, next(numbers)))
                within.goes_on(steps * work)
        bases = sorted(bases)
    cost, generators = bases[0]
    return Basis(torus, tasks_per_node, tuple(generators[:n_rows]), tuple(generators[n_rows:])), float(cost)


@lru_cache(maxsize=MOST_KEPT)
def _first(torus: TwistedTorus, grid: ProcessGrid, tasks_per_node: int,
           objective: Objective) -> list[tuple[float, list[tuple[int, int]]]]:
    """Return the costs of the starts and the starts, the best first."""
    from pencilmap.mapper.seeds.twisted_climb import climbed

    return sorted(climbed(torus, grid, tasks_per_node, objective, start, 1, 0.0, 1)
                  for start in _starts(torus, grid, tasks_per_node, objective))


def work_of_basis(torus: TwistedTorus, grid: ProcessGrid) -> int:
    """Return the changed loads that take as long as the evaluation of a basis."""
    path = np.count_nonzero(routes_of(torus).channel % 2 == 0) / torus.n_nodes
    inside = sum(n * n for n in grid.shape) / 2 * path
    folding = torus.n_dimensions * torus.n_nodes * sum(prime_factors(grid.n_tasks))
    return int(max(LEAST_OF_BASIS, OF_ADDITION * (inside + folding)))


def _starts(torus: TwistedTorus, grid: ProcessGrid, tasks_per_node: int,
            objective: Objective) -> Iterator[list[tuple[int, int]]]:
    """Yield bases to climb from: digits along the axes in every order, and the best pair of subgroups."""
    axes = list(range(torus.n_dimensions + (tasks_per_node > 1)))
    shape = (*torus.shape, tasks_per_node)
    for order in permutations(axes):
        yield _along_axes(torus, shape, order, grid)
    pair = best_pair(torus, grid.shape, objective) if tasks_per_node == 1 and torus.n_nodes <= MOST_NODES else None
    if pair is not None:
        yield [(node, 0) for members, size in zip(pair[:2], grid.shape) for node in generators(torus, members, size)]


def _along_axes(torus: TwistedTorus, shape: tuple[int, ...], order: Sequence[int],
                grid: ProcessGrid) -> list[tuple[int, int]]:
    """Return generators along the axes in an order; each digit of the grid takes the first digit left of its radix."""
    strides = (*torus.strides, 0)
    left = [(k, strides[i] * prod(factors[:j]), prod(factors[:j]) if i == torus.n_dimensions else 0)
            for i in order for factors in [prime_factors(shape[i])] for j, k in enumerate(factors)]
    orders = []
    for k in (*prime_factors(grid.shape[0]), *prime_factors(grid.shape[1])):
        digit = next(digit_ for digit_ in left if digit_[0] == k)
        left.remove(digit)
        orders.append(digit[1:])
    return orders


def generators(torus: TwistedTorus, members: Ints, size: int) -> list[int]:
    """Return nodes of a subgroup whose digits give each of its nodes once, for the prime factors of its size.

    >>> generators(TwistedTorus((4, 8)), np.arange(32), 32)
    [10, 5, 16, 2, 1]
    """
    have, steps = [0], []
    for k in prime_factors(size):
        for node in members.tolist():
            chain = [0]
            for _ in range(k):
                chain.append(int(torus.sums(np.array([chain[-1]]), np.array([node]))[0, 0]))
            if node not in have and chain[k] in have:
                have = torus.sums(np.array(have), np.array(chain[:k])).ravel().tolist()
                steps.append(node)
                break
    return steps


def spelled(torus: TwistedTorus, tasks_per_node: int, rows: Sequence[Sequence[int]],
            columns: Sequence[Sequence[int]]) -> Basis:
    """Return the basis of generators that are written as coordinates, and the slot if there are several."""
    def generator(numbers: Sequence[int]) -> tuple[int, int]:
        return int(torus.node(numbers[:torus.n_dimensions])), int(numbers[-1]) if tasks_per_node > 1 else 0

    return Basis(torus, tasks_per_node, tuple(map(generator, rows)), tuple(map(generator, columns)))


MOST_FORMS = 1 << 18  # normal forms of one diagonal that are tried
ROUNDING = 1e-12      # of costs
AT_ONCE = 16          # subgroups whose members are found together
MOST_TRIED = 400      # subgroups of each order that are paired, the least loads first


def best_pair(torus: TwistedTorus, sizes: Sequence[int], objective: Objective) -> tuple[Ints, Ints, float] | None:
    """Return the nodes of the best subgroup of R nodes and complement of C nodes, and their cost; None if there is none.

    Parameters
    ----------
    torus : TwistedTorus
        Has as many nodes as the grid has tasks.
    sizes : (int, int)
        R and C.
    objective : Objective
        Of two exchanges.

    Examples
    --------
    >>> from pencilmap.model.traffic.loads import in_sequence
    >>> rows, columns, cost = best_pair(TwistedTorus((4, 4, 8)), (8, 16), in_sequence(2))
    >>> rows.shape, columns.shape, float(f"{cost:.4f}")
    ((8,), (16,), 4.3333)
    """
    (rows, row_loads), (columns, column_loads) = (_cheapest(subgroups(torus, order), torus) for order in sizes)
    costs = np.zeros((len(rows), len(columns)))
    for term in objective.terms:
        share, other = map(float, term.shares)
        costs += float(term.count) * (share * row_loads[:, None] + other * column_loads).max(axis=2)
    common = rows.astype(np.float32) @ columns.T.astype(np.float32)
    costs[common > 1] = np.inf
    if not np.isfinite(costs).any():
        return None
    row, column = np.unravel_index((costs < costs.min() + ROUNDING).argmax(), costs.shape)
    return np.flatnonzero(rows[row]), np.flatnonzero(columns[column]), float(costs[row, column])


def _cheapest(members: Bools, torus: TwistedTorus) -> tuple[Bools, Floats]:
    """Return the subgroups of the least largest load, and their load in each direction on the weighted m scale."""
    loads = members @ _steps(torus) * (4 / np.maximum(1, members[:1].sum()))
    order = np.argsort(loads.max(axis=1), kind="stable")[:MOST_TRIED]
    return members[order], loads[order]


@lru_cache(maxsize=8)
def _steps(torus: TwistedTorus) -> Floats:
    """Return the mean steps in each direction on the way to each node, over the strength of the links: shape (N, 2 d)."""
    strength = [float(weight / cables) for weight, cables in zip(link_weights(torus), torus.cables)]
    return routes_of(torus).steps * np.repeat(strength, 2)


@lru_cache(maxsize=32)
def subgroups(torus: TwistedTorus, order: int) -> Bools:
    """Return the members of every subgroup of that order: bool array, shape (subgroups, N).

    >>> subgroups(TwistedTorus((4, 8)), 2).sum(axis=1).tolist()
    [2, 2, 2]
    """
    nodes = torus.coordinates(np.arange(torus.n_nodes))
    lattice = np.diag(torus.shape) - np.array(torus.twists)
    groups = []
    for form in _normal_forms(torus.n_dimensions, torus.n_nodes // order) if torus.n_nodes % order == 0 else ():
        inside = np.ones(form.shape[0], dtype=bool)
        for generator in lattice:
            inside &= _contains(form, generator)[:, 0]
        groups += [_contains(rows, nodes) for rows in np.split(form[inside], range(AT_ONCE, inside.sum(), AT_ONCE))]
    return np.concatenate([np.zeros((0, torus.n_nodes), dtype=bool), *groups])


def _normal_forms(d: int, index: int) -> Iterator[Ints]:
    """Yield the Hermite normal forms of this index, upper triangular, by their diagonal: int arrays, shape (forms, d, d)."""
    above = [(i, j) for i in range(d) for j in range(i + 1, d)]
    for diagonal in factorisations(index, d):
        count = int(np.prod([float(diagonal[j]) for _, j in above]))
        if count <= MOST_FORMS:
            forms = np.zeros((count, d, d), dtype=np.int64)
            forms[:, range(d), range(d)] = diagonal
            values = np.indices([diagonal[j] for _, j in above]).reshape(len(above), count).T
            for k, (i, j) in enumerate(above):
                forms[:, i, j] = values[:, k]
            yield forms


def _contains(forms: Ints, points: Ints) -> Bools:
    """Return whether the lattice of each form contains each point: bool array, shape (forms, points)."""
    rest = np.array(np.broadcast_to(np.atleast_2d(points), (len(forms), *np.atleast_2d(points).shape)))
    inside = np.ones(rest.shape[:2], dtype=bool)
    for i in range(forms.shape[1]):
        turns, left = np.divmod(rest[:, :, i], forms[:, None, i, i])
        inside &= left == 0
        rest -= turns[:, :, None] * forms[:, None, i, :]
    return inside


class _TwistedSeeds(Seeds):
    def has_closed(self, site: Site, grid: ProcessGrid) -> bool:
        return has_bases(site, grid)

    def closed(self, site: Site, grid: ProcessGrid, objective: Objective, within: Search) -> list[Mapping]:
        return best_twisted(site, grid, within, objective) if has_bases(site, grid) else []


SEEDS = _TwistedSeeds()
