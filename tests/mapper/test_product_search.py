"""The search compared with exhaustive enumeration, and with known figures."""

from fractions import Fraction
from itertools import product as cartesian

import pytest

from pencilmap.mapper.seeds.products import best_product, patterns, rank_grids, ring_maps
from pencilmap.model.base.arrays import divisors
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import all_grids
from pencilmap.model.placement.product import Pattern, Product
from pencilmap.model.predict import predict_product
from pencilmap.model.traffic.loads import at_once, objective, overlapped


def exhaustive(torus, tasks_per_node):
    """Return the least cost of every grid over all product placements, each predicted separately."""
    slots = [Pattern((("r", k), ("c", tasks_per_node // k))) for k in divisors(tasks_per_node)]
    least = {}
    for *dimensions, slot in cartesian(*(patterns(n) for n in torus.shape), slots):
        product = Product(torus, tuple(dimensions), slot)
        prediction = predict_product(product)
        key = (prediction.cost,
               sorted((length for stage in prediction.stages for length in weighted(stage, torus)), reverse=True),
               prediction.stages[0].hop_length + prediction.stages[1].hop_length)
        least[product.grid] = min(least.get(product.grid, key), key)
    return least


def weighted(exchange, torus):
    rates = torus.bandwidth or (1,) * torus.n_dimensions
    return [load * max(rates) / rate for load, rate in zip(exchange.load, rates)]


UNLIKE = objective([(Fraction(1, 4), 0), (Fraction(3, 4), Fraction(1, 4)), (0, Fraction(3, 4))])
TORI = [(Torus((8,)), 1), (Torus((7,)), 2), (Torus((4, 4)), 1), (Torus((4, 4), (False, True)), 1), (Torus((6, 4)), 2),
        (Torus((3, 5)), 1), (Torus((8, 8), bandwidth=(1.0, 4.0)), 1), (Torus((4, 4, 4)), 1), (Torus((2, 3, 4)), 4),
        (Torus((2, 2, 2, 2, 2)), 1), (Torus((4, 4, 2), cables=(1, 1, 2)), 2)]


def shapes(n, largest=None):
    """Return all shapes of n nodes with sides of 2 or more, up to the order of the dimensions."""
    if n == 1:
        yield ()
    for side in divisors(n)[1:]:
        if side <= (largest or n):
            yield from ((side, *rest) for rest in shapes(n // side, side))


def wraps(shape):
    """Return every choice of wrapped dimensions, up to the order of equal sides; rings of two are open lines."""
    every = cartesian(*((True, False) if side > 2 else (False,) for side in shape))
    return sorted({tuple(w for _, w in sorted(zip(shape, wrap), reverse=True)) for wrap in every})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", range(1, 65))
def test_search_agrees_with_trying_all_products_on_every_torus_and_mesh_of_up_to_64_nodes(n):
    for shape in shapes(n) if n > 1 else [(1,)]:
        for wrap in wraps(shape):
            test_search_agrees_with_trying_all_products(Torus(shape, wrap), 1)


@pytest.mark.parametrize("torus, tasks_per_node", TORI, ids=str)
def test_search_agrees_with_trying_all_products(torus, tasks_per_node):
    least = exhaustive(torus, tasks_per_node)
    for grid in all_grids(torus.n_nodes * tasks_per_node):
        prediction = predict_product(best_product(torus, grid, tasks_per_node))
        lengths = sorted((length for stage in prediction.stages for length in weighted(stage, torus)), reverse=True)
        assert (prediction.cost, lengths, prediction.stages[0].hop_length + prediction.stages[1].hop_length) == least[grid]


@pytest.mark.parametrize("wanted", [at_once(2), overlapped(2, 2), overlapped(2, 8), UNLIKE], ids=["once", 2, 8, "unlike"])
@pytest.mark.parametrize("torus, tasks_per_node", TORI, ids=str)
def test_search_for_another_objective_agrees_with_trying_all_products(torus, tasks_per_node, wanted):
    slots = [Pattern((("r", k), ("c", tasks_per_node // k))) for k in divisors(tasks_per_node)]
    least, rule = {}, DimensionOrder()
    choices = [(*patterns(n), *ring_maps(n, torus.is_ring(i))) for i, n in enumerate(torus.shape)]
    for *dimensions, slot in cartesian(*choices, slots):
        product = Product(torus, tuple(dimensions), slot)
        cost = wanted.of_loads(rule.joint_of_product(product, ("r", "c")))
        least[product.grid] = min(least.get(product.grid, cost), cost)
    for grid, cost in least.items():
        found = best_product(torus, grid, tasks_per_node, wanted)
        assert wanted.of_loads(rule.joint_of_product(found, ("r", "c"))) == cost


@pytest.mark.parametrize("n", [1, 2, 7, 12, 16, 36])
def test_patterns_are_all_different_and_cover_every_extent(n):
    found = patterns(n)
    assert len(set(found)) == len(found)
    assert {p.extent("r") for p in found} == set(divisors(n))
    assert all(p.n == n for p in found)


def test_grids_are_ranked_best_first_and_none_is_better_than_its_certificate_allows():
    ranked = rank_grids(Torus((4, 4, 4)), 2)
    costs = [prediction.cost for _, _, prediction in ranked]
    assert costs == sorted(costs)
    assert {g for g, _, _ in ranked} == set(all_grids(128))
    assert all(prediction.certificate >= 1 for _, _, prediction in ranked)
