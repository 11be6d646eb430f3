"""The best placement for a grid: the exact search over products where one exists, local search everywhere else."""

from pencilmap.mapper.placements.search import search
from pencilmap.mapper.product_search import best_product
from pencilmap.model.allocation import Site
from pencilmap.model.errors import PlacementError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.objective import Objective
from pencilmap.model.product import Product
from pencilmap.model.torus import as_torus


def best(argument: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> Product | Mapping:
    """The best product placement; on a site with holes or idle slots, where none exists, the result of the local search.

    `wanted` is what is to be least, by default the exchanges in sequence.

    >>> from pencilmap.model.torus import Torus
    >>> str(best("", Site(Torus((8, 8))), ProcessGrid(4, 16)))
    'digits:x=r2c4,y=r2c4'
    """
    if argument:
        raise PlacementError(f"placement best:{argument}: best takes no argument; search does, e.g. search:seed=2")
    site.check_grid(grid)
    if site.allocation.is_complete and grid.n_tasks == site.n_slots:
        return best_product(as_torus(site.network), grid, site.tasks_per_node, wanted)
    return search("", site, grid, wanted)
