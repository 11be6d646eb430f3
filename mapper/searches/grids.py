"""The grids of a machine ranked by their best product placements."""

from pencilmap.mapper.searches.uneven_products import best_product_of
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.product import Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction, predict
from pencilmap.model.times.costs import Costs


def rank_grids(torus: Torus, tasks_per_node: int = 1, transform: Transform | None = None, costs: Costs | None = None,
               decomposition: Decomposition = PENCIL) -> list[tuple[ProcessGrid, Product, Prediction]]:
    """Rank all grids by their best product placements, the fastest first.

    Grids that leave tasks without data count only if no grid gives data to every task.

    Parameters
    ----------
    torus : Torus
    tasks_per_node : int
    transform : Transform, optional
        Without a transform the m scale decides.
    costs : Costs, optional
        With the costs of a machine the predicted time decides, else the link time.
    decomposition : Decomposition

    Returns
    -------
    list of (ProcessGrid, Product, Prediction)
    """
    found = []
    for grid in filled_grids(torus.n_nodes * tasks_per_node, transform, decomposition):
        product = best_product_of(torus, grid, tasks_per_node, transform)
        found.append((grid, product, predict(product, transform, costs=costs or Costs())))
    return sorted(found, key=lambda f: f[2].order)


def filled_grids(n_tasks: int, transform: Transform | None = None,
                 decomposition: Decomposition = PENCIL) -> list[ProcessGrid]:
    """Return the grids on which every task holds a part of the transform, or all grids if there is no such grid.

    >>> [str(grid) for grid in filled_grids(4, Transform(2, 4, 4))], len(filled_grids(4, Transform(1, 1, 1)))
    (['2x2', '4x1'], 3)
    """
    grids = all_grids(n_tasks, decomposition)
    return [grid for grid in grids if transform is None or transform.fills(grid)] or grids
