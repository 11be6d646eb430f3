"""Lower bounds of a grid on a site, and the certificates that they give."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from pencilmap.model.bounds.cuts import Crossing
from pencilmap.model.decompositions import SLAB
from pencilmap.model.kinds import DEFAULT_ROUTING, kind_of
from pencilmap.model.kinds.kind import Bound, Kind, Optima, is_full, with_smallest
from pencilmap.model.network.network import Network
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import Objective, in_sequence

# Lower bounds for every placement of a grid on the usable nodes, without a search.
#
# All bounds are on the scale of `Prediction.cost`: the sum over the exchanges of m = 4 load N / D_T, with slower links
# weighted. The kind of the network has several arguments (`pencilmap.model.kinds.kind.Kind`). The bound is the best of
# these.
#
# `together_bound` bounds the joint load of both exchanges on the busiest link, so it holds under every schedule and
# routing. Blocks are even, or, with a transform, the real blocks (`pencilmap.model.bounds.cuts`). Let k of P tasks sit on
# one side of a cut. A group with x of its R tasks there sends x (R-x) messages of D_T / (P R) across. All exchanges
# together send at least L(k) D_T / P^2, if the decomposition knows L(k) (`Decomposition.least_crossing`; at least k (P-k)).
# The cut links carry this traffic, so the sum of the worst lengths is at least 4 N L(k) / (P^2 capacity). If k is unknown,
# the bound is the least over all possible k. All exchanges together bring a block from every task to every other, so
# together they have at least all distances between tasks.
#
# `lower_bound` bounds the sum of the two worst lengths, for exchanges in sequence. Rows that send little across a cut
# make the columns send more (`pencilmap.model.bounds.cuts`). These arguments are for even blocks. Uneven
# messages are no smaller than r times their mean, so r times the bound holds for uneven blocks.
#
# Source: the cut argument of Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15, with all exchanges together; the
# rest is ours, with proofs in docs/theory.md.

@dataclass(frozen=True, order=True)
class LowerBound:
    """A bound on the cost of every placement, with its argument."""

    value: Fraction  #: sum over the exchanges of the worst weighted length
    argument: str


def cut_bound(network: Network, exchange: Exchange, node_of_rank: np.ndarray) -> tuple[Fraction, ...]:
    """Return the largest load that no routing can avoid, in bytes per cable for each class of links, by cutting the network.

    Source: Jagode, Hein, Trew, UT-CS-08-613 (2008), eq. 4 to 15 (bisection), for any placement and network.

    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.traffic.exchange import exchanges
    >>> cut_bound(Torus((8,)), exchanges(ProcessGrid(8, 1))[0], np.arange(8))
    (Fraction(8, 1),)
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
    best, crossing, kind = together_bound(site, grid, transform), Crossing(grid, transform), kind_of(site.network)
    sizes = tuple(size for stage in grid.decomposition.exchanges if (size := grid.extent(stage.letters)) > 1)
    arguments = (iter(kind.in_turn(site, grid, (sizes[0], sizes[1]), ordered, split, brief)) if len(sizes) == 2
                 else _of_several(site, grid, sizes, ordered, split, brief))
    while (reached is None or best.value < reached) and (argument := next(arguments, None)):
        best = max(best, LowerBound(*with_smallest(argument, crossing)), key=lambda bound: bound.value)
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


def objective_bound(site: Site, grid: ProcessGrid, objective: Objective) -> Fraction:
    """Return a bound on an objective of a search, for even blocks: a search that reaches the bound is done.

    >>> from pencilmap.model.network.torus import Torus
    >>> objective_bound(Site(Torus((4, 4))), ProcessGrid(4, 4), in_sequence(2))
    Fraction(5, 2)
    """
    in_turn = in_sequence(len(grid.decomposition.exchanges))
    alone = lower_bound(site, grid).value if objective == in_turn else Fraction(0)
    return max(alone, objective.moved * together_bound(site, grid).value)


def _of_several(site: Site, grid: ProcessGrid, sizes: Sequence[int], ordered: bool, split: bool,
                brief: bool) -> Iterator[Bound]:
    """Yield bounds on the sum of more than two lengths, for even blocks.

    The exchanges along all dimensions but one send as much across every cut, and as far, as an all-to-all in groups that
    are as large as all of them together. So more than two exchanges have the bounds of each division into two.
    """
    kind = kind_of(site.network)
    if len(sizes) > 2:
        yield sum((kind.alone(site, grid, size, ordered, split) for size in sizes), Fraction(0)), "each exchange alone"
        for size in sorted({*sizes}):
            for value, argument in kind.in_turn(site, grid, (size, grid.n_tasks // size), False, False, brief):
                yield value, f"{argument}, where columns are all exchanges but that of {size} tasks"


# The bounds of a grid on a site, computed when first used, and the certificates that they give.
#
# Rankings of many grids need no bound. Only printed grids need a bound, and a sharp bound can take a second.

EXHAUSTION = "by exhaustion: every placement was tried"
ALIKE = "all alike: one group of tasks or one node has all slots, so every placement costs the same"


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on the mapping of a grid, on the scale of `Prediction.cost`.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    transform : Transform or None
        None: even blocks.
    routing : str or None
        Name of the routing that the bounds may use, see `pencilmap.model.kinds.routing`; by default any routing.
    routed : Fraction or None
        Cost of some placement of the grid under this routing with all messages at once, if known.
    brief : bool
        Whether to leave out the bounds by eigenvalues and by linear programs, which take seconds, and long frontiers on
        graphs.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> bounds = Bounds(Site(Torus((4, 4, 4), (False,) * 3)), ProcessGrid(8, 8), None, "dimension-order:plus")
    >>> str(bounds.in_sequence.value), str(bounds.together.value), str(bounds.any)
    ('5', '4', '4')
    >>> Bounds(Site(Torus((4, 4))), ProcessGrid(2, 8), routing="dimension-order").in_sequence
    LowerBound(value=Fraction(3, 1), argument='by exhaustion: every placement was tried')
    """

    site: Site
    grid: ProcessGrid
    transform: Transform | None = None
    routing: str = ""
    routed: Fraction | None = None
    brief: bool = False

    @property
    def kind(self) -> Kind:
        return kind_of(self.site.network)

    @cached_property
    def in_sequence(self) -> LowerBound:
        """Lower bound for every placement of the grid with its exchanges in sequence."""
        if self.alike is not None:
            return self.alike
        if self.optima is not None:
            return LowerBound(self.optima.sequence, EXHAUSTION)
        bound = lower_bound(self.site, self.grid, self.transform, self.routing.startswith(DEFAULT_ROUTING), self._is_split,
                            self.routed, self.brief)
        return self._or_spectral(bound)

    @cached_property
    def together(self) -> LowerBound:
        """Lower bound for every placement of the grid under any schedule.

        Over all phases of a schedule a link carries both exchanges whole, so the least joint length bounds every schedule.
        """
        if self.alike is not None:
            return self.alike
        if self.optima is not None:
            return LowerBound(self.optima.joint, EXHAUSTION)
        bound = self._or_spectral(self._all_to_all)
        factor = self.kind.joint_factor(self.site, self.grid) if self._is_even else 1
        return LowerBound(bound.value * factor, f"{bound.argument}, with rows and columns cut") if factor > 1 else bound

    @property
    def are_alike(self) -> bool:
        """Whether one node has all slots, or one group of even blocks fills all, so that placements only rename ranks."""
        groups = [self.grid.extent(stage.letters) for stage in self.grid.decomposition.exchanges]
        is_one = self._is_even and max(groups) >= self.site.n_slots
        return self.routed is not None and (is_one or self.site.allocation.n_nodes == 1)

    @property
    def alike(self) -> LowerBound | None:
        """Cost of every placement if all are alike; None if routers adapt, because bounds then hold for any routing."""
        if self.routed is None or not self.are_alike or self.kind.bracket:
            return None
        return LowerBound(self.routed, ALIKE)

    @property
    def proof(self) -> str:
        """Reason in a word or two why all placements are known without an argument about links."""
        known = ALIKE if self.are_alike else EXHAUSTION if self.optima is not None else ""
        return known.partition(":")[0]

    @cached_property
    def optima(self) -> Optima | None:
        """The true optima, if every placement was tried: these are then the bounds."""
        return self.kind.optima(self.site, self.grid) if self._is_split and self._is_even else None

    @cached_property
    def unreachable(self) -> str | None:
        """Reason why no placement has as little joint load as one all-to-all; None if some placement may, or if unknown."""
        return self.kind.why_unreachable(self.site, self.grid) if self._is_even else None

    def _or_spectral(self, bound: LowerBound) -> LowerBound:
        """Return a bound, or the bound by eigenvalues of the usable nodes if higher; only scattered nodes gain."""
        sizes = tuple(self.grid.extent(stage.letters) for stage in self.grid.decomposition.exchanges)
        if self.site.allocation.is_complete or len(sizes) != 2 or self.brief:
            return bound
        crossing = Crossing(self.grid, self.transform)
        known = float(bound.value / crossing.smallest) if crossing.smallest else 0.0
        even = self.kind.spectral(self.site, (sizes[0], sizes[1]), self.routing, known)
        return bound if even is None else max(bound, LowerBound(*with_smallest(even, crossing)), key=lambda b: b.value)

    @property
    def _is_split(self) -> bool:
        """Whether messages follow dimension order, and half round a ring go both ways."""
        return self.routing == DEFAULT_ROUTING

    @property
    def _is_even(self) -> bool:
        return self.transform is None or self.transform.divides_evenly(self.grid)

    @cached_property
    def _all_to_all(self) -> LowerBound:
        return together_bound(self.site, self.grid, self.transform)

    @cached_property
    def any(self) -> Fraction | None:
        """Lower bound for every schedule of any placement on any grid: the all-to-all of all tasks. None if unknown.

        On a whole machine this bound is the argument of `together` itself. Elsewhere the bound is known for even blocks: an
        exchange between all tasks sends k (P-k) blocks across every cut.
        """
        network = self.site.network
        if is_full(self.site, self.grid):
            return self._all_to_all.value or None if network.has_products or self._is_even else None
        if not self._is_even:
            return None
        return together_bound(self.site, ProcessGrid(self.grid.n_tasks, decomposition=SLAB)).value or None

    def under(self, alone: Fraction) -> Fraction:
        """Return a lower bound for every placement under a schedule in which a share `alone` of each exchange travels
        alone.

        The rest of both exchanges also crosses every cut, at the same time as any other traffic. So the rest takes its
        share of the bound on both together.
        """
        value = alone * self.in_sequence.value if alone else Fraction(0)
        return value if alone == 1 else value + (1 - alone) * self.together.value


def certificate(cost: Fraction, bound: Fraction | None) -> float | None:
    """Return the largest factor by which a cost can be from optimal; 1.0 is provably optimal; None without a bound."""
    if bound:
        return float(cost / bound)
    return 1.0 if bound is not None and not cost else None
