"""The bounds of a grid on a site, computed when first used, and the certificates that they give.

Rankings of many grids need no bound. Only printed grids need a bound, and a sharp bound can take a second.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from pencilmap.model.bounds.cut_traffic import Crossing
from pencilmap.model.decompositions import SLAB
from pencilmap.model.kinds import DEFAULT_ROUTING, kind_of
from pencilmap.model.kinds.kind import Kind, Optima, is_full, with_smallest
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.lower_bounds import LowerBound, lower_bound, together_bound

EXHAUSTION = "by exhaustion: every placement was tried"
ALIKE = "all alike: one group of tasks fills all slots, so every placement costs the same"


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
        found = lower_bound(self.site, self.grid, self.transform, self.routing.startswith(DEFAULT_ROUTING), self._is_split,
                            self.routed, self.brief)
        return self._or_spectral(found)

    @cached_property
    def together(self) -> LowerBound:
        """Lower bound for every placement of the grid under any schedule.

        Over all phases of a schedule a link carries both exchanges whole, so the least joint length bounds every schedule.
        """
        if self.alike is not None:
            return self.alike
        if self.optima is not None:
            return LowerBound(self.optima.joint, EXHAUSTION)
        found = self._or_spectral(self._all_to_all)
        factor = self.kind.joint_factor(self.site, self.grid) if self._is_even else 1
        return LowerBound(found.value * factor, f"{found.argument}, with rows and columns cut") if factor > 1 else found

    @property
    def are_alike(self) -> bool:
        """Whether one group of even blocks fills all slots, so that another placement only renames ranks."""
        groups = [self.grid.extent(stage.letters) for stage in self.grid.decomposition.exchanges]
        return self.routed is not None and self._is_even and max(groups) >= self.site.n_slots

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

    def _or_spectral(self, found):
        """Return a bound, or the bound by eigenvalues of the usable nodes if higher; only scattered nodes gain."""
        sizes = tuple(self.grid.extent(stage.letters) for stage in self.grid.decomposition.exchanges)
        if self.site.allocation.is_complete or len(sizes) != 2 or self.brief:
            return found
        crossing = Crossing(self.grid, self.transform)
        known = float(found.value / crossing.smallest) if crossing.smallest else 0.0
        even = self.kind.spectral(self.site, (sizes[0], sizes[1]), self.routing, known)
        return found if even is None else max(found, LowerBound(*with_smallest(even, crossing)), key=lambda b: b.value)

    @property
    def _is_split(self):
        """Whether messages follow dimension order, and half round a ring go both ways."""
        return self.routing == DEFAULT_ROUTING

    @property
    def _is_even(self):
        return self.transform is None or self.transform.divides_evenly(self.grid)

    @cached_property
    def _all_to_all(self):
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
