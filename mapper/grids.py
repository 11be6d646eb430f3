"""The grids of a machine ranked by their best product placements."""

from pencilmap.mapper.block_search import best_product_of
from pencilmap.model.costs import Costs
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.errors import GridError
from pencilmap.model.grid import ProcessGrid, all_grids
from pencilmap.model.predict import Prediction, predict
from pencilmap.model.product import Product
from pencilmap.model.torus import Torus
from pencilmap.model.transform import Transform


def rank_grids(torus: Torus, tasks_per_node: int = 1, transform: Transform | None = None, costs: Costs | None = None,
               decomposition: Decomposition = PENCIL) -> list[tuple[ProcessGrid, Product, Prediction]]:
    """The best product placement of every grid, the fastest first; grids too large for the transform are omitted.

    With the machine's `costs` the predicted time decides, else the link time.
    """
    found = []
    for grid in all_grids(torus.n_nodes * tasks_per_node, decomposition):
        try:
            if transform is not None:
                transform.check_grid(grid)
        except GridError:
            continue
        product = best_product_of(torus, grid, tasks_per_node, transform)
        found.append((grid, product, predict(product, transform, costs=costs or Costs())))
    if not found:
        raise GridError(f"transform {transform} is too small for every grid of {torus.n_nodes * tasks_per_node} tasks; use "
                        "a larger transform or a smaller torus")
    return sorted(found, key=lambda f: f[2].order)
