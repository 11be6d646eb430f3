"""The best placement on a twisted torus: a digit basis, or the launcher's order if that is better.

If the grid does not fill the machine, the launcher's order is the answer.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from pencilmap.mapper.searches.default_order import launched
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.mapper.searches.search import Search
from pencilmap.mapper.seeds.seeds import Seeds
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.kinds import DEFAULT_ROUTING, routing
from pencilmap.model.kinds.twisted_routes import MOST_NODES
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.predict.lower_bounds import objective_bound
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.joint_loads import routed_joint
from pencilmap.model.traffic.objective import Objective, in_sequence

MOST_FASTER = Fraction(1, 1_000_000)  # rounding of loads


def best_twisted(site: Site, grid: ProcessGrid, within: Search, wanted: Objective | None = None) -> list[Mapping]:
    """Return placements, the best last.

    Parameters
    ----------
    site : Site
        Of a twisted torus.
    grid : ProcessGrid
    within : Search
    wanted : Objective, optional
        Objective to minimise; by default the exchanges in sequence.
    """
    torus: Any = site.network
    order = launched(site, grid)
    if not within.budget or not has_bases(site, grid):
        return [order]
    from pencilmap.mapper.seeds.twisted_basis import best_basis  # loads numba

    wanted = wanted or in_sequence(2)
    found, _ = best_basis(torus, grid, site.tasks_per_node, wanted, within,
                          float(objective_bound(site, grid, wanted)))
    costs = [(_cost(mapping, wanted), mapping) for mapping in (order, found.mapping(grid))]
    best, placed = min(costs, key=lambda each: each[0])
    return [order, replace(placed, notes=(*placed.notes, *_plain_slice(torus, grid, site, wanted, best)))]


def has_bases(site: Site, grid: ProcessGrid) -> bool:
    """Return whether a digit basis may place the grid: pencils of several groups on all slots."""
    return (site.allocation.is_complete and grid.n_tasks == site.n_slots and grid.decomposition is PENCIL
            and min(grid.shape) > 1 and site.network.n_nodes <= MOST_NODES)


def _cost(mapping, wanted):
    return wanted.of_loads(routed_joint(mapping.network, exchanges(mapping.grid), mapping.node_of_rank,
                                        routing("shortest-path", mapping.network)))


def _plain_slice(torus, grid, site, wanted, cost):
    """Yield a note if the best product on the same nodes without twists costs less."""
    product = best_product(torus.plain, grid, site.tasks_per_node, wanted)
    letters = tuple(stage.letters for stage in grid.decomposition.exchanges)
    plain = wanted.of_loads(routing(DEFAULT_ROUTING, product.torus).joint_of_product(product, letters))
    if plain < cost - MOST_FASTER:
        yield (f"the plain torus of {'x'.join(map(str, torus.shape))} is better for this grid and schedule: its links cost "
               f"{float(plain):.4g}, these {float(cost):.4g}")


class _TwistedSeeds(Seeds):
    def closed(self, site: Site, grid: ProcessGrid, wanted: Objective, within: Search) -> list[Mapping]:
        return best_twisted(site, grid, within, wanted) if has_bases(site, grid) else []


SEEDS = _TwistedSeeds()
