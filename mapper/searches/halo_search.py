"""Placements of a transform with halos: launch orders, and a search that counts the halo as a phase of its own.

Idea: the exchanges and the halo are the traffic of a program, so the search for programs finds placements for both.
"""

from fractions import Fraction

from pencilmap.mapper.base.limit import Limit
from pencilmap.mapper.seeds.traffic import launch_orders
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import Halo
from pencilmap.model.traffic.loads import Objective, in_sequence
from pencilmap.model.traffic.program import transform_traffic

MOST_MESSAGES = 2_000_000  # above this number of messages, launch orders only


def with_halo(site: Site, grid: ProcessGrid, transform: Transform, wanted: Objective | None, halo: Halo,
              share: int | Fraction, limit: Limit) -> list[Mapping]:
    """Return the launch order, then placements that may be faster with the halo.

    Parameters
    ----------
    site : Site
    grid : ProcessGrid
    transform : Transform
    wanted : Objective, optional
        Objective of the exchanges; by default in sequence.
    halo : Halo
    share : int or Fraction
        Divides the usual work of the search; for 0 the launch order will be the only answer.
    limit : Limit
    """
    orders = [_mapping(site, grid, places) for _, places in launch_orders(site, grid.n_tasks)]
    if not share or limit.is_over():
        return orders[:1]
    if grid.n_tasks * sum(grid.shape) > MOST_MESSAGES:
        return orders
    from pencilmap.mapper.searches.traffic_search import WORK, search_traffic  # numba is loaded only for a search

    traffic = transform_traffic(grid, transform, wanted or in_sequence(len(grid.decomposition.exchanges)), halo)
    rule = routing(default_routing(site.network), site.network)
    best = search_traffic(site, traffic, rule, WORK["normal"] / float(share), limit.seed, scotch=False,
                          is_over=limit.is_over)
    return [orders[0], _mapping(site, grid, best.places)]


def _mapping(site, grid, places):
    T = site.tasks_per_node
    return Mapping(site.network, grid, T, site.allocation.nodes[places // T], places % T, "best")
