"""Bounds by eigenvalues of weighted distances: below every placement, and sharp on scattered nodes."""

from itertools import permutations

import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.searches.annealing import search, work_of_swap
from pencilmap.model.base.arrays import divisors
from pencilmap.model.kinds import routing
from pencilmap.model.kinds.torus_floors import spectral_bound, weighted_routes
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, Transform
from pencilmap.model.predict import predict_routed
from pencilmap.model.predict.certificates import Bounds, lower_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import routed_joint
from tests.model import brute_force
from tests.model.test_bounds_hold import machine

ROUTINGS = ("dimension-order", "dimension-order:parity", "dimension-order:plus")


def scattered(torus, n, T=1, seed=1):
    nodes = np.sort(np.random.default_rng(seed).permutation(torus.n_nodes)[:n])
    return Site(torus, T, Allocation(torus, nodes))


def placed(site, grid, slots):
    return Mapping(site.network, grid, site.tasks_per_node, site.allocation.nodes[slots // site.tasks_per_node],
                   slots % site.tasks_per_node)


@pytest.mark.parametrize("tie", ["split", "parity", "plus"])
@pytest.mark.parametrize("shape, order", [("4x3x2", (0, 1, 2)), ("4x4", (1, 0)), ("5:mesh", (0,)), ("3x4wx2", (2, 0, 1)),
                                          ("6x2", (0, 1)), ("2x3x2x2", (3, 1, 0, 2))])
def test_routes_are_those_of_every_message_walked(shape, order, tie):
    rng = np.random.default_rng(len(shape))
    torus = parse_torus(shape)
    nodes = np.sort(rng.permutation(torus.n_nodes)[:torus.n_nodes * 2 // 3])
    routes, n = weighted_routes(torus, nodes, order, tie), len(nodes)
    weights = rng.integers(0, 9, (torus.n_dimensions, 2, torus.n_nodes))
    expected = np.zeros((n, n))
    loads = np.zeros(weights.shape)
    traffic = rng.integers(0, 5, (n, n))
    for a in range(n):
        for b in range(n):
            for (node, i, direction), share in brute_force.dimension_order(torus, [(a, b, 1)], nodes, order, tie).items():
                link = i, int(direction < 0), int(torus.node(node))
                expected[a, b] += float(share) * weights[link]
                loads[link] += float(share) * traffic[a, b]
    assert np.array_equal(routes.distances(weights), expected)
    assert np.array_equal(routes.loads(traffic), loads)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(24))
def test_no_placement_is_below(seed):
    """Neither the sum of the lengths nor the joint length is below the bound, with any routing and blocks."""
    rng = np.random.default_rng(seed)
    torus, T, name = machine(rng), int(rng.integers(1, 4)), ROUTINGS[seed % 3]
    site = scattered(torus, int(rng.integers(max(1, torus.n_nodes // 2), torus.n_nodes + 1)), T, seed)
    if not (extents := divisors(site.n_slots)[1:-1]):
        assert spectral_bound(site, (site.n_slots, 1), name) is None
        return
    R = int(rng.choice(extents))
    grid = ProcessGrid(R, site.n_slots // R)
    transform = None if seed % 2 else Transform(*(int(n) for n in rng.integers(max(grid.shape), 3 * max(grid.shape) + 2, 3)))
    bounds = Bounds(site, grid, transform, name)
    even = spectral_bound(site, grid.shape, name)
    found = [placed(site, grid, slots) for slots in (np.arange(site.n_slots), *(rng.permutation(site.n_slots)
                                                                                 for _ in range(4)))]
    if not site.allocation.is_complete:
        found.append(search(site, grid, Search(3000 * work_of_swap(grid), seed)).mapping)
    for mapping in found:
        cost = predict_routed(mapping, transform, Question(name), site=site).cost
        assert bounds.in_sequence.value <= cost, (str(site), str(grid))
        assert even[0] <= predict_routed(mapping, None, Question(name), site=site).cost
        together = routed_joint(torus, exchanges(grid, transform), mapping.node_of_rank, routing(name, torus))
        assert bounds.together.value <= together.length((1, 1))
        assert even[0] <= routed_joint(torus, exchanges(grid), mapping.node_of_rank, routing(name, torus)).length((1, 1))


@pytest.mark.parametrize("shape, n, T, grid", [
    ("4x4", 6, 1, (2, 3)), ("8", 6, 1, (2, 3)), pytest.param("5x3:mesh", 6, 1, (3, 2), marks=pytest.mark.slow),
    pytest.param("7:mesh", 4, 2, (4, 2), marks=pytest.mark.slow)])
def test_the_least_of_all_placements_is_not_below(shape, n, T, grid):
    site = scattered(parse_torus(shape), n, T)
    least = min(predict_routed(placed(site, ProcessGrid(*grid), np.array(slots)), site=site).cost
                for slots in permutations(range(site.n_slots)) if T == 1 or is_first(slots, T))
    bound = spectral_bound(site, grid, "dimension-order")[0]
    assert least / 3 < bound <= least


def is_first(slots, T):
    """Whether one order of the slots of a node represents all orders."""
    where = np.argsort(slots)
    return all(where[slot] < where[slot + 1] for slot in range(len(slots)) if slot % T < T - 1)


@pytest.mark.parametrize("shape, n, T, grid, gain", [
    ("16x16:mesh", 100, 2, (10, 20), 1.3), ("17x8x24", 200, 4, (20, 40), 2.05),
    pytest.param("10x10x10", 300, 1, (15, 20), 1.47, marks=pytest.mark.slow)])
def test_it_is_sharper_on_scattered_nodes(shape, n, T, grid, gain):
    site = scattered(parse_torus(shape), n, T)
    bounds = Bounds(site, ProcessGrid(*grid), None, "dimension-order")
    others = lower_bound(site, ProcessGrid(*grid), None, ordered=True, split=True)
    assert bounds.in_sequence.value > gain * others.value
    assert bounds.in_sequence.argument == bounds.together.argument == "weighted distances in all rows and columns"
