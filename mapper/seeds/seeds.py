"""Where the search for a placement begins on a kind of network: the interface."""

from fractions import Fraction

from pencilmap.mapper.base.limit import Limit
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.loads import Objective


class Seeds:
    """What is known of the best placements on a kind of network: here nothing."""

    def closed(self, site: Site, grid: ProcessGrid, wanted: Objective, share: int | Fraction, limit: Limit) -> list[Mapping]:
        """Return placements of a family that is searched by itself, the best last; none if the family does not apply.

        Parameters
        ----------
        site : Site
        grid : ProcessGrid
        wanted : Objective
            Objective to minimise.
        share : int or Fraction
            Divides the usual number of evaluations.
        limit : Limit
            Seed and time limit.
        """
        return []
