"""The bounds of one grid on one site, worked out when they are asked for, and the certificates they give.

Rankings of many grids need no bound; only what is printed does, and a sharp one can take a second.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from pencilmap.model.allocation import Site
from pencilmap.model.decompositions import SLAB
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.lower_bound import LowerBound, lower_bound, together_bound
from pencilmap.model.torus import Torus
from pencilmap.model.transform import Transform


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on the mapping of a grid, on the scale of `Prediction.cost`.

    ordered : whether messages take dimension order

    >>> from pencilmap.model.torus import Torus
    >>> bounds = Bounds(Site(Torus((4, 4, 4), (False,) * 3)), ProcessGrid(8, 8), None, True)
    >>> str(bounds.in_sequence.value), str(bounds.together.value), str(bounds.any)
    ('39/8', '4', '4')
    """

    site: Site
    grid: ProcessGrid
    transform: Transform | None = None
    ordered: bool = False

    @cached_property
    def in_sequence(self) -> LowerBound:
        """What no placement of the grid can beat with its exchanges one after the other."""
        return lower_bound(self.site, self.grid, self.transform, self.ordered)

    @cached_property
    def together(self) -> LowerBound:
        """What no placement of the grid can beat under any schedule."""
        return together_bound(self.site, self.grid, self.transform)

    @cached_property
    def any(self) -> Fraction | None:
        """What no schedule of any placement can beat, on any grid: the all-to-all of all tasks; None where it is not known.

        On a whole machine that is the argument of `together` itself. Elsewhere it is known for even blocks: an exchange
        between all tasks sends k (P-k) blocks across every cut.
        """
        even = self.transform is None or self.transform.divides_evenly(self.grid)
        if self.site.allocation.is_complete and self.grid.n_tasks == self.site.n_slots:
            return self.together.value or None if isinstance(self.site.network, Torus) or even else None
        if not isinstance(self.site.network, Torus) or not even:
            return None
        return together_bound(self.site, ProcessGrid(self.grid.n_tasks, decomposition=SLAB)).value or None

    def under(self, alone: Fraction) -> Fraction:
        """What no placement of the grid can beat under a schedule in which that share of each exchange travels alone.

        The rest of both crosses every cut too, whatever travels beside it, so it takes its share of the bound on both
        together.
        """
        return alone * self.in_sequence.value + (1 - alone) * self.together.value if alone else self.together.value


def certificate(cost: Fraction, bound: Fraction | None) -> float | None:
    """How far from optimal at most; 1.0 is provably optimal; None where no bound is known."""
    if bound:
        return float(cost / bound)
    return 1.0 if bound is not None and not cost else None
