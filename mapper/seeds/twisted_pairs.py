"""Rows that are the cosets of a subgroup and columns that are the cosets of a complement, on a twisted torus.

Idea: the nodes are a group, Z^d modulo a lattice L. If rows are the cosets of a subgroup H, every link of a direction
carries the same: 4 / R times the sum over h in H of the steps in this direction on the way to h. So one table with a row
for each node judges all subgroups, and the pairs are tried in the order of their cost until two of them share node 0 alone.
Subgroups are the lattices between L and Z^d, one for each Hermite normal form of the right index that contains L.
Source: H. Cohen, "A Course in Computational Algebraic Number Theory" (1993), sec. 2.4, for the normal form. The sum over H
is ours, with a proof in docs/theory.md.
Cost: O(N) for each subgroup; a few seconds for 2,048 nodes. Complements often do not exist.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from pencilmap.model.base.arrays import Bools, Floats, Ints
from pencilmap.model.base.factors import factorisations
from pencilmap.model.kinds.twisted_routes import routes_of
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.twisted_torus import TwistedTorus
from pencilmap.model.traffic.objective import Objective

MOST_FORMS = 1 << 18  # normal forms of one diagonal that are tried
ROUNDING = 1e-12      # of costs
AT_ONCE = 16          # subgroups whose members are found together
MOST_TRIED = 400      # subgroups of each order that are paired, the least loads first


def best_pair(torus: TwistedTorus, sizes: Sequence[int], wanted: Objective) -> tuple[Ints, Ints, float] | None:
    """Return the nodes of the best subgroup of R nodes and complement of C nodes, and their cost; None if there is none.

    Parameters
    ----------
    torus : TwistedTorus
        Has as many nodes as the grid has tasks.
    sizes : (int, int)
        R and C.
    wanted : Objective
        Of two exchanges.

    Examples
    --------
    >>> from pencilmap.model.traffic.objective import in_sequence
    >>> rows, columns, cost = best_pair(TwistedTorus((4, 4, 8)), (8, 16), in_sequence(2))
    >>> rows.shape, columns.shape, float(f"{cost:.4f}")
    ((8,), (16,), 4.3333)
    """
    (rows, row_loads), (columns, column_loads) = (_cheapest(subgroups(torus, order), torus) for order in sizes)
    costs = np.zeros((len(rows), len(columns)))
    for term in wanted.terms:
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
    found = []
    for form in _normal_forms(torus.n_dimensions, torus.n_nodes // order) if torus.n_nodes % order == 0 else ():
        inside = np.ones(form.shape[0], dtype=bool)
        for generator in lattice:
            inside &= _contains(form, generator)[:, 0]
        found += [_contains(some, nodes) for some in np.split(form[inside], range(AT_ONCE, inside.sum(), AT_ONCE))]
    return np.concatenate([np.zeros((0, torus.n_nodes), dtype=bool), *found])


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
    found = np.ones(rest.shape[:2], dtype=bool)
    for i in range(forms.shape[1]):
        turns, left = np.divmod(rest[:, :, i], forms[:, None, i, i])
        found &= left == 0
        rest -= turns[:, :, None] * forms[:, None, i, :]
    return found
