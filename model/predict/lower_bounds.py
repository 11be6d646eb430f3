"""Lower bounds for every placement of a grid on the usable nodes, without a search.

All bounds are on the scale of `Prediction.cost`: the sum over the exchanges of m = 4 load N / D_T, with slower links
weighted. The kind of the network has several arguments (`pencilmap.model.kinds.kind.Kind`). The bound is the best of these.

`together_bound` bounds the joint load of both exchanges on the busiest link, so it holds under every schedule and routing.
Blocks are even, or, with a transform, the real blocks (`pencilmap.model.bounds.cut_traffic`). Let k of P tasks sit on one
side of a cut. A group with x of its R tasks there sends x (R-x) messages of D_T / (P R) across. All exchanges together send
at least L(k) D_T / P^2, if the decomposition knows L(k) (`Decomposition.least_crossing`; at least k (P-k)). The cut links
carry this traffic, so the sum of the worst lengths is at least 4 N L(k) / (P^2 capacity). If k is unknown, the bound is the
least over all possible k. All exchanges together bring a block from every task to every other, so together they have at
least all distances between tasks.

`lower_bound` bounds the sum of the two worst lengths, for exchanges in sequence. Rows that send little across a cut
make the columns send more (`pencilmap.model.bounds.rows_and_columns`). These arguments are for even blocks. Uneven
messages are no smaller than r times their mean, so r times the bound holds for uneven blocks.

Source: the cut argument of Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15, with all exchanges together; the
rest is ours, with proofs in docs/theory.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pencilmap.model.bounds.cut_traffic import Crossing
from pencilmap.model.kinds import kind_of
from pencilmap.model.kinds.kind import Bound, with_smallest
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.objective import Objective, in_sequence


@dataclass(frozen=True, order=True)
class LowerBound:
    """A bound on the cost of every placement, with its argument."""

    value: Fraction  #: sum over the exchanges of the worst weighted length
    argument: str


def cut_bound(network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> tuple[Fraction, ...]:
    """Return the largest load that no routing can avoid, in bytes per cable for each class of links, by cutting the network.

    Source: Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15 (bisection), for any placement and network.
    """
    return kind_of(network).cut_bound(network, exchange, node_of_rank)


def machine_bound(network: Network) -> tuple[Fraction, ...]:
    """Return the load of the all-to-all of the full machine, see `pencilmap.model.kinds.kind.Kind.machine_bound`."""
    return kind_of(network).machine_bound(network)


def lower_bound(site: Site, grid: ProcessGrid, transform: Transform | None = None, ordered: bool = False,
                split: bool = False, reached: Fraction | None = None, brief: bool = False) -> LowerBound:
    """Return the best bound on the sum over the exchanges of the worst length, for any placement on the usable nodes.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
        Has no more tasks than the site has slots.
    transform : Transform, optional
        The bound holds for the blocks of the transform, which need not be even.
    ordered : bool
        Whether messages take dimension order, in any order of the dimensions; otherwise the bound holds for any routing.
    split : bool
        Whether messages half round a ring then go both ways, half each.
    reached : Fraction, optional
        Cost of a placement. When a bound reaches this value, no further argument will be tried.
    brief : bool
        Whether to leave out the argument by linear programs and long frontiers on graphs, which take up to a second.

    Returns
    -------
    LowerBound

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> bound = lower_bound(Site(Torus((4, 4, 4), (False,) * 3)), ProcessGrid(8, 8), ordered=True)
    >>> print(bound.value, bound.argument)
    5 rows and columns across the middle of x
    """
    best, crossing = together_bound(site, grid, transform), Crossing(grid, transform)
    arguments = iter(_in_turn(site, grid, ordered, split, brief))
    while (reached is None or best.value < reached) and (found := next(arguments, None)):
        best = max(best, LowerBound(*with_smallest(found, crossing)), key=lambda bound: bound.value)
    return best


def together_bound(site: Site, grid: ProcessGrid, transform: Transform | None = None) -> LowerBound:
    """Return the best bound on the joint load of all exchanges on the busiest link, under any schedule and routing.

    For a full machine the bound is the all-to-all through the worst dimension (`machine_bound`), at negligible cost for any
    size.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    transform : Transform, optional
        None: even blocks.

    Returns
    -------
    LowerBound

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> bound = together_bound(Site(Torus((8, 8, 8))), ProcessGrid(8, 64))
    >>> print(bound.value, bound.argument)
    4 all-to-all of the full machine across x
    >>> together_bound(Site(Torus((4, 4)), idle=True), ProcessGrid(3, 4))
    LowerBound(value=Fraction(52, 27), argument='block of 1x2 with its share of the tasks')
    """
    return max((LowerBound(*bound) for bound in kind_of(site.network).together(site, grid, transform)),
               key=lambda bound: bound.value)


def objective_bound(site: Site, grid: ProcessGrid, wanted: Objective) -> Fraction:
    """Return a bound on an objective of a search, for even blocks: a search that reaches the bound is done."""
    in_turn = in_sequence(len(grid.decomposition.exchanges))
    alone = lower_bound(site, grid).value if wanted == in_turn else Fraction(0)
    return max(alone, wanted.moved * together_bound(site, grid).value)


def _in_turn(site, grid, ordered, split, brief) -> Iterator[Bound]:
    """Yield bounds on the sum of several lengths, for even blocks.

    The exchanges along all dimensions but one send as much across every cut, and as far, as an all-to-all in groups that
    are as large as all of them together. So more than two exchanges have the bounds of each division into two.
    """
    kind = kind_of(site.network)
    sizes = tuple(size for stage in grid.decomposition.exchanges if (size := grid.extent(stage.letters)) > 1)
    if len(sizes) == 2:
        yield from kind.in_turn(site, grid, (sizes[0], sizes[1]), ordered, split, brief)
    if len(sizes) > 2:
        yield sum((kind.alone(site, grid, size, ordered, split) for size in sizes), Fraction(0)), "each exchange alone"
        for size in sorted({*sizes}):
            for value, argument in kind.in_turn(site, grid, (size, grid.n_tasks // size), False, False, brief):
                yield value, f"{argument}, where columns are all exchanges but that of {size} tasks"
