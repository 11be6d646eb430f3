"""The best product for uneven blocks compared with all products."""

from itertools import product as cartesian

import pytest

from pencilmap.mapper.seeds.products import best_product, best_product_of, patterns
from pencilmap.mapper.setting import setting
from pencilmap.model.base.arrays import divisors
from pencilmap.model.decompositions import SLAB
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.product import Pattern, Product
from pencilmap.model.placement.transform import Transform
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


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("n, least_us", [(17, 2.112), (33, 12.16)])
def test_best_knows_the_blocks_of_the_transform(n, least_us):
    where = setting(network="4x4x4", bandwidth="1 GB/s", fft=str(n))
    best, named = where.predictions("8x8", ["best", "digits:x=c2r2,y=c2r2,z=c2r2"])
    assert best.t_s <= named.t_s and best.t_s * 1e6 <= least_us + 1e-3
    first = where.predictions("best")[0]  # its schedule is free
    assert (first.schedule or first).t_s <= best.t_s


def test_even_blocks_and_slabs():
    torus = Torus((4, 4))
    assert best_product_of(torus, ProcessGrid(4, 4), 1, Transform(16, 16, 16)) == best_product(torus, ProcessGrid(4, 4))
    grid = ProcessGrid(16, decomposition=SLAB)
    assert best_product_of(torus, grid, 1, Transform(17, 17, 17)).grid == grid
