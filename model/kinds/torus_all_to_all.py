"""A test if both exchanges at once can load the links as little as one all-to-all of a whole torus or mesh.

No placement of any grid has less joint load. A grid reaches this load only if every balanced cut of every binding dimension
keeps whole rows or whole columns on a side (proof in docs/theory.md). So each of these dimensions needs factors of R and of
C:

- A ring or an odd line of n nodes needs the factor n in R or in C: the rows or the columns are whole lines along it.
- A ring of 4 needs the same, or the factor 2 in each: rows in {0,1} and {2,3}, columns in {1,2} and {3,0}.
- An even line, or two nodes, needs the factor 2 in R or in C.

On a torus with equal extents these factors suffice: for n = 3 and n >= 5 the grids have R = n^j t', where t' divides the
number of tasks on a node.

If R and C do not have these factors, the joint load exceeds the load of the all-to-all by a factor that `least_factor`
gives (proof there too).
"""

from fractions import Fraction
from itertools import product as cartesian
from math import prod

from pencilmap.model.base.factors import divisors
from pencilmap.model.bounds.rows_and_columns import least_other
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds.kind import is_full
from pencilmap.model.kinds.torus_cuts import machine_bound
from pencilmap.model.network.network import link_weights
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid

MOST_LISTED = 8


def why_unreachable(site: Site, grid: ProcessGrid) -> str | None:
    """Return why no placement has the joint load of the all-to-all for even blocks, or None if a placement may have it.

    None also if no reason is known.

    >>> why_unreachable(Site(Torus((8, 8, 8))), ProcessGrid(16, 32))
    'rows or columns have to be whole along every ring of 8, so only R = 1, 8, 64, 512 can'
    >>> why_unreachable(Site(Torus((8, 8, 8))), ProcessGrid(8, 64)), why_unreachable(Site(Torus((4, 4))), ProcessGrid(2, 8))
    (None, None)
    """
    if grid.decomposition is not PENCIL or not is_full(site, grid):
        return None
    torus = as_torus(site.network)
    if may_reach(torus, *grid.shape):
        return None
    kinds = {f"{'ring' if torus.is_ring(i) else 'line'} of {torus.shape[i]}": None for i in _binding(torus)
             if _factors(torus, i)[0][0] > 2}
    able = [R for R in divisors(grid.n_tasks) if may_reach(torus, R, grid.n_tasks // R)]
    listed = f"only R = {', '.join(map(str, able))} can" if len(able) <= MOST_LISTED else f"R = {grid.shape[0]} cannot"
    return f"rows or columns have to be whole along every {' and '.join(kinds)}, so {listed}"


def may_reach(torus: Torus, R: int, C: int) -> bool:
    """Return whether R and C have the factors that the binding dimensions need.

    >>> [R for R in (1, 2, 3, 4, 6, 12, 36) if may_reach(Torus((6, 6)), R, 72 // R)]      # two tasks on a node
    [1, 2, 6, 12, 36]
    """
    choices = [_factors(torus, i) for i in _binding(torus)]
    return any(R % prod(r for r, _ in chosen) == 0 and C % prod(c for _, c in chosen) == 0 for chosen in cartesian(*choices))


def least_factor(torus: Torus, R: int, C: int) -> Fraction:
    """Return a lower bound on the joint load of even blocks on all slots, over the load of the all-to-all.

    Parameters
    ----------
    torus : Torus
    R, C : int
        Extents of the grid.

    Returns
    -------
    Fraction
        1 if nothing better is proved: if a binding dimension is no ring, if the binding dimensions differ, and on rings
        of 4.

    Examples
    --------
    >>> print(least_factor(Torus((8, 8, 8)), 16, 32), least_factor(Torus((8, 8, 8)), 8, 64))
    127/120 1
    """
    binding = _binding(torus)
    n = torus.shape[binding[0]]
    if any(torus.shape[i] != n or not torus.is_ring(i) for i in binding):
        return Fraction(1)
    share = Fraction(n // 2, n)
    least = abs(share * (1 - share) - Fraction(1, n)) / 2     # rows nearly whole across one cut, columns across the next
    for rows in range(len(binding) + 1):                      # dimensions along which rows nearly stay on one coordinate
        least = min(least, max((1 - Fraction(groups, n**some)) / (n * some) if some else Fraction(0)
                               for groups, some in ((C, rows), (R, len(binding) - rows))))
    if least <= 0:
        return Fraction(1)
    return (least + least_other(least, share)) / (share * (1 - share))


def _binding(torus):
    """Return the dimensions in which the all-to-all takes longest."""
    lengths = [Fraction(length) * weight for length, weight in zip(machine_bound(torus), link_weights(torus))]
    return [i for i, length in enumerate(lengths) if length == max(lengths)]


def _factors(torus, i):
    """Return the factors that dimension `i` may need in R and in C."""
    n = torus.shape[i]
    if not torus.is_ring(i) and n % 2 == 0:
        n = 2
    return [(n, 1), (1, n), *([(2, 2)] if n == 4 and torus.is_ring(i) else [])]
