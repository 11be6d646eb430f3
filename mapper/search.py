"""The best product placement, found exactly.

Idea: the load in a dimension depends on that dimension's digit pattern alone, so each dimension offers a few
non-dominated choices (row extent, m_row, m_column); one dynamic program over the dimensions and the slots combines them
to rows of R tasks.
First the least worst(m_row) + worst(m_column); among equals the next-worse dimension decides, then the next, then hop-bytes,
then the fewer messages that leave a node.
Exact: the order "compare the largest, then the next" keeps when both sides gain the same element, so the best way to a
row extent stays the best whatever is added to it.
Pairs of worst lengths that sum to less than any mapping can reach (the composition bound) are not tried. Lengths are whole
numbers inside the search, on a scale common to all dimensions.
Cost: (patterns of n_i) x (divisors of R) for each dimension and each pair of worst lengths that could be optimal;
milliseconds.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product as cartesian
from math import lcm
from typing import NamedTuple

from pencilmap.model.bounds import machine_bound
from pencilmap.model.costs import Costs
from pencilmap.model.errors import PlacementError
from pencilmap.model.grid import all_grids, check_tasks
from pencilmap.model.pattern import Pattern, ring_load
from pencilmap.model.product import Product


def best_product(torus, grid, tasks_per_node=1):
    """The product placement of `grid` whose two exchanges together are fastest.

    Parameters
    ----------
    torus : Torus
        Its bandwidths weigh the dimensions; without bandwidth all links are alike.
    grid : ProcessGrid
        R*C must be the number of slots.
    tasks_per_node : int

    Returns
    -------
    Product

    Examples
    --------
    >>> from pencilmap.model.grid import ProcessGrid
    >>> from pencilmap.model.predict import predict_product
    >>> from pencilmap.model.torus import Torus
    >>> torus = Torus((8, 8, 8))
    >>> [int(predict_product(best_product(torus, ProcessGrid(r, 512 // r))).cost) for r in (8, 64)]
    [6, 6]
    """
    check_tasks(grid, torus.n_nodes * tasks_per_node, f"torus {torus} with {tasks_per_node} tasks per node")
    columns = [_choices(n, torus.is_ring(i), weight, grid.R)
               for i, (n, weight) in enumerate(zip(torus.shape, weights(torus)))]
    scale, columns = _whole_numbers([*columns, _slot_choices(tasks_per_node, grid.R)])
    least = scale * max(weight * bound * cables for weight, bound, cables
                        in zip(weights(torus), machine_bound(torus), torus.cables))
    best = None
    for worst_row, worst_column in _caps(columns):
        if worst_row + worst_column < least:
            continue
        if best is not None and worst_row + worst_column > best[0][0]:
            break
        found = _combine(columns, grid.R, worst_row, worst_column)
        if found is not None:
            key = (max(c.row for c in found.choices) + max(c.column for c in found.choices), found.key)
            best = min(best, (key, found.choices), key=lambda b: b[0]) if best else (key, found.choices)
    if best is None:
        raise PlacementError(f"no product placement puts rows of {grid.R} tasks on torus {torus}")
    *dimensions, slots = (c.pattern for c in best[1])
    return Product(torus, tuple(dimensions), slots)


def rank_grids(torus, tasks_per_node=1, transform=None, costs=None):
    """The best product placement of every grid, the fastest first; grids too large for the transform are left out.

    With the machine's `costs` the time by all terms decides, else that of the busiest links.

    Returns
    -------
    list of (ProcessGrid, Product, Prediction)
    """
    from pencilmap.model.errors import GridError
    from pencilmap.model.predict import predict

    found = []
    for grid in all_grids(torus.n_nodes * tasks_per_node):
        try:
            if transform is not None:
                transform.check_grid(grid)
        except GridError:
            continue
        product = best_product(torus, grid, tasks_per_node)
        found.append((grid, product, predict(product, transform, costs=costs or Costs())))
    if not found:
        raise GridError(f"transform {transform} is too small for every grid of {torus.n_nodes * tasks_per_node} tasks; take "
                        "a larger transform or a smaller torus")
    return sorted(found, key=lambda f: f[2].order)


@dataclass(frozen=True)
class _Choice:
    """One way to share out a dimension: row extent, weighted lengths, hop length (whole numbers on a common scale)."""

    pattern: Pattern
    extent: int
    row: Fraction | int
    column: Fraction | int
    hops: Fraction | int
    partners: int = 0  # tasks of its row and column that a task meets on its own node

    def dominated_by(self, other):
        return other.row <= self.row and other.column <= self.column and other.hops <= self.hops


def weights(torus):
    """What a load in each dimension counts: one over its cables, and more where its links are slower. Exact fractions."""
    rates = torus.bandwidth or (1,) * torus.n_dimensions
    return [Fraction(max(rates)) / Fraction(rate) / cables for rate, cables in zip(rates, torus.cables)]


def _choices(n, ring, weight, R):
    """Non-dominated choices of a dimension of `n` nodes whose row extents divide R."""
    return [c for c in _all_choices(n, ring, weight) if R % c.extent == 0]


@lru_cache(maxsize=1024)
def _all_choices(n, ring, weight):
    """Non-dominated choices of a dimension of `n` nodes."""
    kept = {}
    for pattern in patterns(n):
        row, column = (ring_load(pattern, owner, ring) for owner in "rc")
        choice = _Choice(pattern, pattern.extent("r"), row.largest * weight, column.largest * weight,
                         (row.total + column.total) / n)
        rivals = kept.setdefault(choice.extent, [])
        if not any(choice.dominated_by(r) for r in rivals):
            rivals[:] = [r for r in rivals if not r.dominated_by(choice)] + [choice]
    return tuple(c for rivals in kept.values() for c in rivals)


def _whole_numbers(columns):
    """The scale that makes all lengths whole numbers, and the choices on it."""
    scale = lcm(*(x.denominator for choices in columns for c in choices for x in (c.row, c.column, c.hops)))
    return scale, [[replace(c, row=int(c.row * scale), column=int(c.column * scale), hops=int(c.hops * scale))
                    for c in choices] for choices in columns]


def _slot_choices(tasks_per_node, R):
    """Slots cost the network nothing; they only make rows longer."""
    return [_Choice(Pattern((("r", k), ("c", tasks_per_node // k))), k, Fraction(0), Fraction(0), Fraction(0),
                    partners=k + tasks_per_node // k)
            for k in divisors(tasks_per_node) if R % k == 0]


def _caps(columns):
    """Pairs of worst lengths that could occur, the smallest sum first."""
    rows = sorted({c.row for choices in columns for c in choices})
    cols = sorted({c.column for choices in columns for c in choices})
    return sorted(cartesian(rows, cols), key=lambda pair: (sum(pair), pair))


class _Way(NamedTuple):
    """Choices for the first dimensions, and what decides among ways: all lengths from the worst down, hop-bytes, messages.

    key : (lengths in falling order, hops, minus the partners on the own node)
    """

    choices: tuple
    key: tuple

    def and_then(self, choice):
        lengths, hops, partners = self.key
        lengths = sorted((*lengths, choice.row, choice.column), reverse=True)
        return _Way((*self.choices, choice), (lengths, hops + choice.hops, partners - choice.partners))


def _combine(columns, R, worst_row, worst_column):
    """The best way with one choice of each column, row extents that multiply to R and no length above the caps, or None."""
    ways = {1: _Way((), ([], 0, 0))}
    for choices in columns:
        low = [c for c in choices if c.row <= worst_row and c.column <= worst_column]
        longer = {}
        for extent, way in ways.items():
            for choice in low:
                total = extent * choice.extent
                if R % total == 0:
                    candidate = way.and_then(choice)
                    if total not in longer or candidate.key < longer[total].key:
                        longer[total] = candidate
        ways = longer
    return ways.get(R)


def divisors(n):
    """Divisors of n in rising order.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    low = [k for k in range(1, int(n**0.5) + 1) if n % k == 0]
    return sorted({*low, *(n // k for k in low)})


@lru_cache(maxsize=1024)
def patterns(n):
    """All digit patterns of n nodes: ordered factorisations whose digits belong to rows and columns in turn.

    >>> [str(p) for p in patterns(4)]
    ['r4', 'r2c2', 'c4', 'c2r2']
    """
    def endings(rest, owner):
        if rest == 1:
            yield ()
        for radix in divisors(rest)[:0:-1]:
            for tail in endings(rest // radix, "c" if owner == "r" else "r"):
                yield ((owner, radix), *tail)

    if n == 1:
        return (Pattern(()),)
    return tuple(Pattern(digits) for owner in "rc" for digits in endings(n, owner))


