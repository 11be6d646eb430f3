"""Decompositions: consequences of their stages, compared with counts of single elements."""

from collections import Counter
from itertools import product as cartesian

import numpy as np
import pytest

from pencilmap.mapper.placements import place
from pencilmap.mapper.seeds.products import best_product, rank_grids
from pencilmap.model.decompositions import CUBIC, DECOMPOSITIONS, SLAB, ExchangeStage, LocalPass, decomposition_named
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, Transform, block_lengths
from pencilmap.model.placement.product import product_of
from pencilmap.model.predict import predict, predict_routed
from pencilmap.model.traffic.exchange import exchanges

GRIDS = [ProcessGrid(3, 2), ProcessGrid(2, 4), ProcessGrid(1, 3), ProcessGrid(5, decomposition=SLAB),
         ProcessGrid(1, decomposition=SLAB), ProcessGrid(2, 3, 2, decomposition=CUBIC)]


def owners(grid, division, extents):
    """Return the rank of each element, from the division of each axis; blocks of blocks are even."""
    blocks, strides = {}, dict(zip(grid.decomposition.letters, np.cumprod([1, *grid.shape])))
    for axis, n in zip("xyz", extents):
        blocks[axis], outer = np.zeros(n, dtype=int), 1
        for letter in division[axis]:
            within = np.repeat(np.arange(grid.extent(letter)), block_lengths(n // outer, grid.extent(letter)))
            blocks[axis] += strides[letter] * np.tile(within, outer)
            outer *= grid.extent(letter)
    for element in cartesian(*(range(n) for n in extents)):
        yield sum(int(blocks[axis][i]) for axis, i in zip("xyz", element))


@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: f"{g.decomposition.name} {g}")
def test_every_pair_sends_the_elements_that_change_hands(grid):
    extents = (4, 6, 12) if grid.decomposition is CUBIC else (7, 6, 5)
    transform = Transform(*extents)
    steps = [*grid.decomposition.layouts]
    for exchange in exchanges(grid, transform):
        k = next(i for i, (stage, _) in enumerate(steps) if getattr(stage, "name", "") == exchange.name)
        before, after = (list(owners(grid, division, extents)) for division in (steps[k][1], steps[k + 1][1]))
        moved = Counter({pair: 16 * n for pair, n in Counter(zip(before, after)).items()})
        sent = Counter()
        for group, weight in zip(exchange.members, exchange.group_weight):
            for (a, send), (b, receive) in cartesian(zip(group, exchange.send_weight), zip(group, exchange.receive_weight)):
                sent[a, b] += int(weight * send * receive) * exchange.unit_bytes
        assert +sent == moved


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS)
def test_every_axis_is_transformed_once_where_it_is_whole(decomposition):
    done = [(axis, division[axis]) for stage, division in decomposition.layouts if isinstance(stage, LocalPass)
            for axis in stage.axes]
    assert sorted(done) == [("x", ""), ("y", ""), ("z", "")]
    assert all(division[s.gathered] == s.letters and s.letters not in division[s.divided]
               for s, division in decomposition.layouts if isinstance(s, ExchangeStage))
    assert len(set(decomposition.letters)) == len(decomposition.dimensions) and "i" not in decomposition.letters
    assert decomposition_named(decomposition.name) is decomposition


@pytest.mark.parametrize("shape, tasks", [((4, 4), 1), ((8,), 2), ((4, 3, 2), 1), ((5, 3), 2)])
@pytest.mark.parametrize("wrap", [True, False])
def test_a_slab_takes_the_least_time_in_any_order(shape, tasks, wrap):
    torus = Torus(shape, (wrap,) * len(shape), (1e9,) * len(shape))
    grid = ProcessGrid(torus.n_nodes * tasks, decomposition=SLAB)
    product = best_product(torus, grid, tasks)
    assert str(product).count("s") == len(shape) + 1 + (tasks > 1) and product_of(product.mapping()) == product
    closed, routed = predict(product), predict_routed(product.mapping(), product=product)
    assert [s.load for s in closed.stages] == [s.load for s in routed.stages]
    other = predict(place("default", Site(torus, tasks), grid))
    assert other.cost == closed.cost and closed.cost >= closed.lower_bound.value
    assert [str(g) for g, _, _ in rank_grids(torus, tasks, decomposition=SLAB)] == [str(grid.n_tasks)]
