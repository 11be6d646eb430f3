"""The best product for uneven blocks compared with all products."""

from itertools import product as cartesian

import pytest

from pencilmap.mapper.seeds.products import best_product_of, patterns
from pencilmap.model.base.arrays import divisors
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import Transform, all_grids
from pencilmap.model.placement.product import Pattern, Product
from pencilmap.model.predict import predict_product


@pytest.mark.parametrize("torus, tasks, extents", [
    (Torus((4, 4)), 1, (17, 18, 19)), (Torus((6, 4)), 1, (25, 31, 29)), (Torus((4, 6), (False, True)), 1, (25, 26, 27)),
    (Torus((2, 3, 4)), 2, (50, 53, 49)), (Torus((8, 3)), 1, (24, 30, 25)),
    (Torus((4, 4), bandwidth=(1.0, 4.0), cables=(2, 1)), 2, (33, 40, 47))], ids=str)
def test_search_agrees_with_trying_all_products(torus, tasks, extents):
    transform = Transform(*extents)
    slots = [Pattern((("r", k), ("c", tasks // k))) for k in divisors(tasks)]
    least = {}
    for *dimensions, slot in cartesian(*map(patterns, torus.shape), slots):
        product = Product(torus, tuple(dimensions), slot)
        cost = predict_product(product, transform).cost
        least[product.grid] = min(least.get(product.grid, cost), cost)
    for grid in all_grids(torus.n_nodes * tasks):
        assert predict_product(best_product_of(torus, grid, tasks, transform), transform).cost == least[grid]
