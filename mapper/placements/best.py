"""The best product placement for a grid; see `pencilmap.mapper.search`."""

from pencilmap.mapper.placements.whole import check_product
from pencilmap.mapper.search import best_product
from pencilmap.model.errors import PlacementError


def best(argument, site, grid):
    """Search; takes no argument."""
    if argument:
        raise PlacementError(f"placement best:{argument}: best takes no argument")
    check_product("best", site, grid)
    return best_product(site.torus, grid, site.tasks_per_node)
