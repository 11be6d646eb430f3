"""The best product placement for a grid; see `pencilmap.mapper.search`."""

from pencilmap.mapper.search import best_product
from pencilmap.model.errors import PlacementError


def best(argument, torus, grid, tasks_per_node):
    """Search; takes no argument."""
    if argument:
        raise PlacementError(f"placement best:{argument}: best takes no argument")
    return best_product(torus, grid, tasks_per_node)
