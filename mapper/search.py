"""The best product placement, found exactly.

Idea: the load in a dimension depends on that dimension's digit pattern alone, so each dimension offers a few
non-dominated choices (row extent, m_row, m_column); one dynamic program over the dimensions and the slots combines them
to rows of R tasks.
First the least worst(m_row) + worst(m_column); among equals the next-worse dimension decides, then the next, then hop-bytes,
then the fewer messages that leave a node.
Exact: the order "compare the largest, then the next" keeps when both sides gain the same element, so the best way to a
row extent stays the best whatever is added to it.
Cost: (patterns of n_i) x (divisors of R) for each dimension and each pair of worst lengths that could be optimal;
milliseconds.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product as cartesian

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
    columns = [_choices(torus, i, grid.R) for i in range(torus.n_dimensions)] + [_slot_choices(tasks_per_node, grid.R)]
    best = None
    for worst_row, worst_column in _caps(columns):
        if best is not None and worst_row + worst_column > best[0][0]:
            break
        found = _combine(columns, grid.R, worst_row, worst_column)
        if found is not None:
            key = (max(c.row for c in found) + max(c.column for c in found), _key(found))
            best = min(best, (key, found), key=lambda b: b[0]) if best else (key, found)
    if best is None:
        raise PlacementError(f"no product placement puts rows of {grid.R} tasks on torus {torus}")
    *dimensions, slots = (c.pattern for c in best[1])
    return Product(torus, tuple(dimensions), slots)


def rank_grids(torus, tasks_per_node=1, transform=None):
    """The best product placement of every grid, the fastest first; grids too large for the transform are left out.

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
        found.append((grid, product, predict(product, transform)))
    if not found:
        raise GridError(f"transform {transform} is too small for every grid of {torus.n_nodes * tasks_per_node} tasks; take "
                        "a larger transform or a smaller torus")
    return sorted(found, key=lambda f: (f[2].t_s or 0.0, f[2].cost, _balance(f[0])))


def _balance(grid):
    return max(grid.R, grid.C) / min(grid.R, grid.C)


@dataclass(frozen=True)
class _Choice:
    """One way to share out a dimension: row extent, weighted lengths, hop length."""

    pattern: Pattern
    extent: int
    row: Fraction
    column: Fraction
    hops: Fraction
    partners: int = 0  # tasks of its row and column that a task meets on its own node

    def dominated_by(self, other):
        return other.row <= self.row and other.column <= self.column and other.hops <= self.hops


def _choices(torus, i, R):
    """Non-dominated choices of dimension `i`."""
    weight = 1 / Fraction(torus.cables[i])
    if torus.bandwidth is not None:
        weight *= Fraction(max(torus.bandwidth)) / Fraction(torus.bandwidth[i])
    kept = {}
    for pattern in patterns(torus.shape[i]):
        if R % pattern.extent("r"):
            continue
        row, column = (ring_load(pattern, owner, torus.is_ring(i)) for owner in "rc")
        choice = _Choice(pattern, pattern.extent("r"), row.largest * weight, column.largest * weight,
                         (row.total + column.total) / torus.shape[i])
        rivals = kept.setdefault(choice.extent, [])
        if not any(choice.dominated_by(r) for r in rivals):
            rivals[:] = [r for r in rivals if not r.dominated_by(choice)] + [choice]
    return [c for rivals in kept.values() for c in rivals]


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


def _combine(columns, R, worst_row, worst_column):
    """The best choices, one a column of the table, with row extents that multiply to R and no length above the caps."""
    ways = {1: ()}
    for choices in columns:
        longer = {}
        for extent, way in ways.items():
            for choice in choices:
                total = extent * choice.extent
                if R % total or choice.row > worst_row or choice.column > worst_column:
                    continue
                candidate = (*way, choice)
                if total not in longer or _key(candidate) < _key(longer[total]):
                    longer[total] = candidate
        ways = longer
    return ways.get(R)


def _key(way):
    """What decides among placements of one sum: all lengths from the worst down, hop-bytes, messages between nodes."""
    lengths = sorted((length for c in way for length in (c.row, c.column)), reverse=True)
    return lengths, sum(c.hops for c in way), -sum(c.partners for c in way)


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


