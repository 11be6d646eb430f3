"""Floors of torus loads: of rows alone, by spread, by eigenvalues of weighted distances; below every placement."""

from fractions import Fraction
from itertools import permutations, product as cartesian
from math import ceil

import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.searches.annealing import search, work_of_swap
from pencilmap.model.base.arrays import divisors
from pencilmap.model.kinds import routing
from pencilmap.model.kinds.torus_floors import _dimensions, every_case, floor_of, optima, spectral_bound, weighted_routes
from pencilmap.model.kinds.torus_spread import _Program, spread_floor
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.certificates import Bounds, lower_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import routed_joint
from tests.model import brute_force
from tests.model.cases import predict_routed
from tests.model.test_bounds_hold import machine

ONE = [Fraction(1)] * 3


def floor(text, size, T=1, n_tasks=None, split=True, cables=ONE):
    site = Site(parse_torus(text), T)
    return floor_of(site, cables, size, n_tasks or site.n_slots, True, split)


def test_they_hold_for_what_was_proved_alone():
    """Other numbers of tasks, ties to one side and unequal links have no proof."""
    assert floor("4x4x4", 8) == 2 and floor("4x4x4", 8, cables=[Fraction(2)] * 3) == 1
    assert floor("4x4x4", 8, T=2) < 1 and floor("4x4x4", 8, T=2, n_tasks=64) < 2
    assert floor("4x4x4", 8, split=False) < 2 and floor("4x4x4:mesh", 8, cables=ONE) == 2
    assert floor("4x4x4", 8, cables=[Fraction(1), Fraction(1), Fraction(2)]) < 2
    assert floor("4x4x4x1", 8, cables=[Fraction(1)] * 4) == 2


PROVED = 31  # optima that only the floors prove


def program(torus, size, T, split):
    dimensions = tuple(sorted(_dimensions(torus, [Fraction(1)] * torus.n_dimensions)))
    return _Program(dimensions, size, T, 1.0, split)


def hops(torus, i, a, b):
    apart = abs(int(a) - int(b))
    return min(apart, torus.shape[i] - apart) if torus.is_ring(i) else apart


def end_length(torus, where, i, split):
    """Return the load of a link in dimension i at the own end of messages between tasks at these places, by counting.

    Every node counts as a single task; unsplit ties go to the right.
    """
    most, n = Fraction(0), torus.shape[i]
    for here in where:
        loads = {1: Fraction(0), -1: Fraction(0)}
        for there in where:
            ahead = int(there[i] - here[i]) % n
            if ahead == 0:
                continue
            if not torus.is_ring(i):
                loads[1 if there[i] > here[i] else -1] += 1
            elif 2 * ahead == n and split:
                loads[1] += Fraction(1, 2)
                loads[-1] += Fraction(1, 2)
            else:
                loads[1 if 2 * ahead <= n else -1] += 1
        most = max(most, *loads.values())
    return 4 * most / len(where)


def line_length(torus, where, i):
    """Return the mean load of the fullest line of dimension i from the messages of its tasks."""
    sent = {}
    for here in where:
        line = tuple(np.delete(here, i).tolist())
        sent[line] = sent.get(line, 0) + sum(hops(torus, i, here[i], there[i]) for there in where)
    return Fraction(4 * max(sent.values()), len(where) * 2 * torus.cable_positions(i))


@pytest.mark.parametrize("shape, T, size", [
    ("4x4", 1, 4), ("4x3x2", 1, 5), ("4x4:mesh", 1, 6), ("5x3", 2, 7), ("4x4x2x2", 1, 8), ("6x6", 3, 8), ("5", 2, 7)])
@pytest.mark.parametrize("split", [True, False])
def test_no_group_of_tasks_has_fewer_hops_than_the_cheapest_that_there_can_be(shape, T, size, split):
    """For random compact and spread groups, at random prices, for every pair of a first and a last dimension."""
    torus, rng = parse_torus(shape), np.random.default_rng(7)
    weighed = program(torus, size, T, split)
    places = np.repeat(torus.coordinates(np.arange(torus.n_nodes)), T, axis=0)
    for k in range(40):
        middle = places[rng.integers(len(places))]
        near = np.array([sum(hops(torus, i, a, b) for i, (a, b) in enumerate(zip(place, middle))) for place in places])
        where = places[np.argsort(near * (k % 3) + rng.random(len(places)) * (1 + k % 2), kind="stable")[:size]]
        varies = [i for i in range(torus.n_dimensions) if len(set(where[:, i].tolist())) > 1]
        mean = [sum(hops(torus, i, a, b) for a, b in cartesian(where[:, i], where[:, i])) / size**2
                for i in range(torus.n_dimensions)]
        prices = rng.random(len(weighed.classes)) + 0.01
        kind = [weighed.classes.index(each) for each in _dimensions(torus, [Fraction(1)] * torus.n_dimensions)]
        cost = sum(prices[kind[i]] * mean[i] for i in range(torus.n_dimensions))
        for first, last in cartesian(varies, varies):
            if (first == last) != (len(varies) == 1):
                continue
            length = max(end_length(torus, where, i, split) for i in (first, last))
            length = max(length, *(line_length(torus, where, i) for i in (first, last)))
            if first == last:
                length = max(length, Fraction(4 * size * mean[first]) / (2 * torus.cable_positions(first)))
            found = weighed._cheapest(*weighed._limits(float(length) + 1e-9), prices)
            assert found is not None and prices @ found <= cost + 1e-9, (where.tolist(), first, last)


@pytest.mark.thorough
def test_the_floors_of_rows_and_columns_are_not_above_any_optimum_and_often_reach_it():
    """The true optima of small machines, ties split; both lengths are multiples of half a message's load on a link."""
    reached = 0
    for torus, T, R, C in every_case():
        if max(torus.shape) > 6:
            continue    # these take seconds
        one = [Fraction(1)] * torus.n_dimensions
        units = [Fraction(2, T * size) for size in (R, C)]
        floors = [unit * ceil(floor_of(Site(torus, T), one, size, R * C, True, True) / unit)
                  for size, unit in zip((R, C), units)]
        assert sum(floors) <= optima(torus, T, R, C).sequence, (str(torus), T, R, C)
        reached += sum(floors) == optima(torus, T, R, C).sequence
    assert reached >= PROVED


@pytest.mark.parametrize("shape, size, P, least", [
    ((4, 4, 4, 4), 16, 256, Fraction("1.394")), ((4, 4, 4, 2, 2), 16, 256, Fraction("1.39")),
    ((8, 8, 8), 8, 512, Fraction("1.999")), ((6, 6, 6), 10, 200, Fraction("1.879")), ((16, 16), 16, 256, Fraction(0))])
def test_known_floors(shape, size, P, least):
    torus = Torus(shape)
    found = spread_floor(_dimensions(torus, [Fraction(1)] * len(shape)), size, 1, Fraction(torus.n_nodes, P), True)
    assert least <= found <= least + Fraction(1, 1000)
    known = floor_of(Site(torus, 1, idle=True), [Fraction(1)] * len(shape), size, P, True, True)
    assert known >= max(1, found - Fraction(1, 100))


@pytest.mark.parametrize("shape, size, T, least", [
    ("4x4x4x4", 16, 1, "1.394"), ("4x4x4", 8, 1, "1.4995"), ("4x4x4", 16, 2, "0.9997"), ("4x4x4x2", 8, 1, "1.4096"),
    ("6x6x6", 8, 1, "1.6245"), ("2x2x2x2x2", 8, 1, "1.9995"), ("4x4x4:mesh", 8, 1, "1.9995"), ("4x4x4:mesh", 8, 2, "0.9997"),
    ("6x4x4", 12, 1, "1.4995"), ("5x5x5", 10, 1, "1.5996"), ("3x3x3x3", 9, 1, "1.333")])
def test_known_floors_where_messages_half_round_a_ring_go_one_way(shape, size, T, least):
    torus = parse_torus(shape)
    found = spread_floor(_dimensions(torus, [Fraction(1)] * torus.n_dimensions), size, T, Fraction(1, T), False)
    assert Fraction(least) <= found <= Fraction(least) + Fraction(1, 1000)


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
