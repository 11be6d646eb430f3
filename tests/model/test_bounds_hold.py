"""Bounds: no placement is below any of them; arguments counted by hand; cuts of graphs compared with every run."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product, product as cartesian
from math import ceil
from random import Random

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.searches.annealing import search, work_of_swap
from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.base.arrays import divisors
from pencilmap.model.bounds import graph_cuts
from pencilmap.model.bounds.cuts import Crossing, exact_frontier, least_other, least_other_of_few
from pencilmap.model.bounds.graph_cuts import _orders, _worst_run, all_to_all_cuts
from pencilmap.model.decompositions import CUBIC, PENCIL, least_crossing
from pencilmap.model.kinds import routing, torus_translations as translations
from pencilmap.model.kinds.torus import (
    _blocks,
    _distances,
    _fewest,
    _fixed_cuts,
    _moving_planes,
    _Part,
    may_reach,
    why_unreachable,
)
from pencilmap.model.kinds.torus_floors import (
    _dimensions,
    _least_ends,
    _most_groups,
    every_case,
    floor_of,
    optima,
    spectral_bound,
    weighted_routes,
)
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.kinds.torus_spread import _Program, spread_floor
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.network import host_hops
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, lower_bound, together_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import exchanges, node_totals, node_traffic
from pencilmap.model.traffic.loads import at_once, in_sequence, routed_joint
from tests.model import brute_force
from tests.model.brute_force import messages
from tests.model.cases import predict_routed


def machine(rng):
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
    options = {"bandwidth": tuple(float(b) for b in rng.choice([1.0, 2.0, 3.0], len(shape)))} if rng.random() < 0.3 else {}
    if rng.random() < 0.2:
        options["cables"] = tuple(int(c) for c in rng.integers(1, 3, len(shape)))
    wrap = tuple(bool(w) for w in rng.random(len(shape)) < 0.7)
    return Torus(shape, wrap, **options)


ROUTINGS = ("dimension-order", "dimension-order:parity", "dimension-order:plus")


def placements(rng, site, grid):
    """Return orders of nodes, slots and axes, lines turned by the other coordinates, and random placements."""
    torus, T, slots, N = site.network, site.tasks_per_node, np.arange(site.n_slots), site.network.n_nodes
    yield slots
    yield slots.reshape(-1, T).T.ravel()
    yield from (rng.permutation(slots) for _ in range(3))
    if not site.allocation.is_complete:
        if not site.idle and grid.decomposition is PENCIL:
            found = search(site, grid, Search(3000 * work_of_swap(grid), 1)).mapping
            yield np.searchsorted(site.allocation.nodes, found.node_of_rank) * T + found.slot_of_rank
        return
    for order in permutations(range(torus.n_dimensions + 1)):
        every = np.arange(site.n_slots).reshape(T, *torus.shape[::-1]).transpose(order).ravel()
        yield every % N * T + every // N
    where = torus.coordinates(np.arange(N))
    turned = torus.node((where + where.sum(axis=1, keepdims=True) * rng.integers(0, 3, torus.n_dimensions)) % torus.shape)
    if len(set(turned.tolist())) == N:
        yield np.tile(turned, T) * T + np.repeat(np.arange(T), N)


@pytest.mark.parametrize("seed", range(24))
def test_no_placement_of_a_random_machine_is_below_a_bound(seed):
    """Neither in sequence nor at once, with any routing and blocks, with holes and idle slots."""
    rng = np.random.default_rng(seed)
    torus, T, name = machine(rng), int(rng.integers(1, 4)), ROUTINGS[seed % 3]
    n = torus.n_nodes if seed % 8 < 4 else int(rng.integers(max(1, torus.n_nodes // 2), torus.n_nodes + 1))
    nodes = np.sort(rng.permutation(torus.n_nodes)[:n])
    site = Site(torus, T, Allocation(torus, nodes if n < torus.n_nodes else None), idle=seed % 4 == 3)
    P = int(rng.integers(1, site.n_slots + 1)) if site.idle else site.n_slots
    R = int(rng.choice(divisors(P)))
    Q = int(rng.choice(divisors(P // R)))
    grid = ProcessGrid(R, P // R) if seed % 5 else ProcessGrid(Q, P // R // Q, R, decomposition=CUBIC)
    extents = rng.integers(1 if seed % 2 else max(grid.shape), 2 * max(grid.shape) + 3, 3)
    transform = None if rng.random() < 0.4 else Transform(*map(int, extents))
    bounds, rule = Bounds(site, grid, transform, name), routing(name, torus)
    even = None if site.idle or not seed % 5 else spectral_bound(site, grid.shape, name)
    for slots in placements(rng, site, grid):
        slots = slots[:P]
        mapping = Mapping(torus, grid, T, site.allocation.nodes[slots // T], slots % T)
        costs = [predict_routed(mapping, blocks, Question(name), site=site).cost for blocks in (transform, None)]
        joint = [routed_joint(torus, exchanges(grid, blocks), mapping.node_of_rank, rule) for blocks in (transform, None)]
        once = [loads.length((1,) * len(grid.shape)) for loads in joint]
        assert bounds.in_sequence.value <= costs[0] and bounds.together.value <= once[0], (str(site), str(grid), bounds)
        assert even is None or even[0] <= min(costs[1], once[1])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("torus, T, R, cost", [        # best known placements, from ring maps, tilings and exhaustion
    ("4x4", 1, 2, 3), ("4x4", 1, 4, 4), ("2x2x4", 1, 4, 4), ("2x8", 1, 4, 6), ("3x3", 1, 3, Fraction(8, 3)),
    ("3x5", 1, 3, Fraction(56, 15)), ("8", 1, 2, 6), ("9", 1, 3, Fraction(20, 3)), ("12", 1, 3, Fraction(26, 3)),
    ("8x8x8", 1, 8, 6), ("8x8x8", 1, 16, 7), ("13x13", 1, 13, Fraction(140, 13)), ("11x11", 1, 11, Fraction(108, 11)),
    ("10x10", 2, 10, 7.4), ("7x7", 2, 14, 6.286), ("6x6x6", 1, 6, 5.667), ("6x6x6", 2, 16, 4.667), ("8x8x8", 2, 16, 6),
    ("4x4x4x4", 1, 16, 4), ("4x4x4", 4, 16, 3.938), ("3x3:mesh", 1, 3, 5.334), ("4x4:mesh", 1, 4, 6),
    ("8:mesh", 1, 2, 10), ("13x13:mesh", 1, 13, 18.16), ("8wx8x4w", 1, 16, 10), ("16x16", 1, 16, 12),
    ("7x5x3", 1, 7, 5.829)])
@pytest.mark.parametrize("exact", [True, False])
def test_best_known_placements_are_not_below_the_bound(torus, T, R, cost, exact, monkeypatch):
    """With the exact frontier and with its closed form."""
    network = parse_torus(torus)
    if not exact:
        monkeypatch.setattr(translations, "exact_frontier", lambda *of: None)
        translations._bound.cache_clear()
    P = network.n_nodes * T
    for grid in (ProcessGrid(R, P // R), ProcessGrid(P // R, R)):
        assert lower_bound(Site(network, T), grid, ordered=True, split=True).value <= cost
    translations._bound.cache_clear()


@pytest.mark.parametrize("R, C", [(2, 3), (3, 3), (2, 5), (3, 4), (6, 2)])
def test_the_frontier_is_that_of_every_set_of_tasks(R, C):
    for k in range(R * C + 1):
        sets = np.array([[cell in chosen for cell in range(R * C)] for chosen in combinations(range(R * C), k)])
        sets = sets.reshape(-1, C, R)
        x, y = sets.sum(axis=2), sets.sum(axis=1)
        sent = np.stack([(x * (R - x)).sum(axis=1) / (R * C * R), (y * (C - y)).sum(axis=1) / (R * C * C)], axis=1)
        frontier = exact_frontier(R, C, k)
        assert all((abs(sent - point) < 1e-12).all(axis=1).any() for point in frontier)
        below = (frontier[None] <= sent[:, None] + 1e-12).all(axis=2)
        assert below.any(axis=1).all()
        few = min(k, R * C - k)
        x, y = frontier.T
        for closed in (least_other(x, few / (R * C)), least_other_of_few(x, R, C, few)) if few else ():
            assert (closed <= y + 1e-12).all()


def test_the_inequality_of_the_frontier_holds_for_uneven_rows_and_columns():
    """E[x^2] E[y^2] <= t^3 for sets of at least half, with rows and columns of any weights; equality for rectangles."""
    rng = np.random.default_rng(5)
    for _ in range(3000):
        mu, nu = rng.dirichlet(np.full(rng.integers(1, 6), 0.5)), rng.dirichlet(np.full(rng.integers(1, 6), 0.5))
        inside = rng.random((len(mu), len(nu))) < rng.random()
        inside |= np.add.outer(np.arange(len(mu)), np.arange(len(nu))) < rng.integers(0, 8)
        t = mu @ inside @ nu
        if t >= 0.5:
            assert (mu @ (inside @ nu) ** 2) * ((mu @ inside) ** 2 @ nu) <= t**3 * (1 + 1e-12)
    alpha = least_other(Fraction(1, 10), Fraction(2, 5))
    assert (Fraction(3, 5) - Fraction(1, 10)) * (Fraction(3, 5) - alpha) == Fraction(3, 5) ** 3


@pytest.mark.parametrize("size", ["8x8x8", "7x9x10", "5x5x11", "9x9x9:r2c"])
def test_the_least_traffic_of_uneven_blocks_holds_for_every_set_of_tasks(size):
    """In the direction with more bytes; and it is at least what the shares of the tasks alone give."""
    grid, transform = ProcessGrid(2, 3), parse_transform(size)
    crossing, every = Crossing(grid, transform), [some for exchange in messages(grid, transform) for some in exchange]
    for k, least in enumerate(crossing.least() / crossing.whole):
        sent = [max(sum(amount for a, b, amount in every if (a in one, b in one) == way) for way in ((1, 0), (0, 1)))
                for one in map(set, combinations(range(6), k))]
        assert float(crossing.exactly(k)) - 1e-9 <= least <= min(sent) / transform.total_bytes + 1e-12


def test_a_floor_of_two_for_all_rows_would_be_wrong():
    """Rows of 8 on 4x4x4x4: for even nodes in the plane of the first two dimensions, for the others in the last two."""
    torus = Torus((4, 4, 4, 4))
    where = torus.coordinates(np.arange(256))
    even = where.sum(axis=1) % 2 == 0
    row = np.where(even, 4 * where[:, 2] + where[:, 3], 16 + 4 * where[:, 0] + where[:, 1])
    placed = Mapping(torus, ProcessGrid(8, 32), 1, np.argsort(row, kind="stable"), np.zeros(256, dtype=int))
    assert predict_routed(placed).stages[0].load == (Fraction(3, 2),) * 4
    assert floor_of(Site(torus), [Fraction(1)] * 4, 8, 256, True, True) <= Fraction(3, 2)


@pytest.mark.parametrize("wrap", [(True, True), (False, False), (True, False)])
@pytest.mark.parametrize("missing", [(), (0, 3, 8, 11), (0, 1, 2, 3, 4, 8)])
def test_the_fewest_links_that_leave_a_usable_node(wrap, missing):
    """Compared with counts of the links of every node."""
    torus = Torus((4, 3), wrap=wrap)
    where = Site(torus, 1, Allocation(torus).without(list(missing)) if missing else Allocation(torus))
    degree = np.bincount(torus.arcs().source, minlength=12)
    least = _least_ends(where, (1, 1))
    assert least == min(degree[where.allocation.nodes]) if missing else least <= min(degree)
    assert _least_ends(Site(Torus((4, 1), wrap=wrap)), (1, 1)) == 1 + wrap[0]


def test_the_most_groups_are_those_of_a_linear_program():
    """A group of either kind costs at least as much length with all its tasks on the same side."""
    for two in map(Fraction, ("0", "1/3", "2/3", "1", "3/2", "4")):
        for one in (None, *(two + more for more in map(Fraction, ("0", "1/4", "1", "5")))):
            first = () if one is None else (float(one),)
            found = linprog([-1.0] * len(first) + [-0.5], A_ub=[[*first, float(two)], [1.0] * (len(first) + 1)], b_ub=[1, 1])
            assert float(_most_groups(one, two)) == pytest.approx(-found.fun), (one, two)


# The table of true optima, and its consequences for bounds and searches

CASES = every_case()
ORDER = DimensionOrder()


def lengths(torus, T, grid, nodes):
    """Return the lengths in sequence and at once, from routing every message."""
    nodes = np.array(nodes).ravel()
    slots = np.array([(nodes[:rank] == node).sum() for rank, node in enumerate(nodes)])
    mapping = Mapping(torus, grid, T, nodes, slots)
    loads = routed_joint(torus, exchanges(grid, None), mapping.node_of_rank, ORDER)
    return in_sequence(2).of_loads(loads), at_once(2).of_loads(loads)


def test_the_table_has_tori_meshes_and_several_tasks_of_up_to_16():
    assert len(CASES) >= 100
    assert {torus.n_nodes for torus, T, _, _ in CASES if T == 1} == {4, 6, 8, 9, 10, 12, 14, 15, 16}
    assert {torus.n_dimensions for torus, *_ in CASES} == {1, 2, 3, 4} and {T for _, T, _, _ in CASES} >= {1, 2, 3}
    assert any(all(torus.wrap) for torus, *_ in CASES) and any(not any(torus.wrap) for torus, *_ in CASES)


def test_the_stored_placements_have_the_stored_lengths_in_any_orientation():
    for i, (torus, T, R, C) in enumerate(CASES):
        grid = ProcessGrid(R, C)
        if i % 2:
            torus, grid = Torus((*torus.shape[::-1], 1), (*torus.wrap[::-1], False)), ProcessGrid(C, R)
        found = optima(torus, T, *grid.shape)
        assert lengths(torus, T, grid, found.rows_sequence)[0] == found.sequence
        assert lengths(torus, T, grid, found.rows_joint)[1] == found.joint


@pytest.mark.parametrize("torus, T, R, C", [case for case in CASES if case[0].n_nodes * case[1] <= 6], ids=str)
def test_the_optima_are_those_of_every_placement(torus, T, R, C):
    every = {lengths(torus, T, ProcessGrid(R, C), np.array(order) // T) for order in permutations(range(R * C))
             if order[0] == min(order)}
    found = optima(torus, T, R, C)
    assert found.sequence == min(sequence for sequence, _ in every) and found.joint == min(joint for _, joint in every)


@pytest.mark.thorough
def test_no_bound_is_above_an_optimum():
    for i, (torus, T, R, C) in enumerate(CASES):
        site, found = Site(torus, T), optima(torus, T, R, C)
        bounds = Bounds(site, ProcessGrid(C, R) if i % 2 else ProcessGrid(R, C), routing="dimension-order:plus")
        assert bounds.together.value <= found.joint, (str(torus), T, R, C)
        assert bounds.in_sequence.value <= found.sequence, (str(torus), T, R, C)


def test_the_theorem_of_the_all_to_all_against_every_placement():
    """The bound is reached only if the factors are found; on a torus of equal extents, always if they are."""
    seen = set()
    for torus, T, R, C in CASES:
        least = together_bound(Site(torus, T), ProcessGrid(R, C)).value
        reached, may = optima(torus, T, R, C).joint == least, may_reach(torus, R, C)
        assert may or not reached, (str(torus), T, R, C)
        alike = len(set(torus.shape)) == 1 and all(torus.is_ring(i) or n == 2 for i, n in enumerate(torus.shape))
        assert reached or not (may and alike), (str(torus), T, R, C)
        seen.add((may, reached, alike))
    assert {(True, True, True), (False, False, True), (True, False, False)} <= seen


@pytest.mark.parametrize("shape, T, able", [
    ((8, 8, 8), 1, (1, 8, 64, 512)), ((5, 5), 1, (1, 5, 25)), ((6, 6), 2, (1, 2, 6, 12, 36, 72)),
    ((4, 4, 4), 1, (1, 2, 4, 8, 16, 32, 64)), ((3, 3), 1, (1, 3, 9))])
def test_grids_that_reach_the_all_to_all_do_so_by_a_product(shape, T, able):
    torus = Torus(shape)
    P = torus.n_nodes * T
    for R in (R for R in range(1, P + 1) if P % R == 0):
        grid = ProcessGrid(R, P // R)
        why = why_unreachable(Site(torus, T), grid)
        assert (why is None) == (R in able)
        if why is None:
            found = predict(best_product(torus, grid, T, at_once(2)), schedule="two-way")
            assert found.schedule.certificate == 1
        else:
            assert f"only R = {', '.join(map(str, able))} can" in why


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


def scattered(torus, n, T=1, seed=1):
    nodes = np.sort(np.random.default_rng(seed).permutation(torus.n_nodes)[:n])
    return Site(torus, T, Allocation(torus, nodes))


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


@pytest.mark.parametrize("shape, n, T, grid, gain", [
    ("16x16:mesh", 100, 2, (10, 20), 1.3), ("17x8x24", 200, 4, (20, 40), 2.05),
    pytest.param("10x10x10", 300, 1, (15, 20), 1.47, marks=pytest.mark.slow)])
def test_it_is_sharper_on_scattered_nodes(shape, n, T, grid, gain):
    site = scattered(parse_torus(shape), n, T)
    bounds = Bounds(site, ProcessGrid(*grid), None, "dimension-order")
    others = lower_bound(site, ProcessGrid(*grid), None, ordered=True, split=True)
    assert bounds.in_sequence.value > gain * others.value
    assert bounds.in_sequence.argument == bounds.together.argument == "weighted distances in all rows and columns"


def site(shape, wrap=None, T=1, nodes=None, **options):
    torus = Torus(shape, wrap, **options)
    return Site(torus, T, Allocation(torus, nodes), idle=True)


def every_placement(where, grid):
    """Yield every placement up to renumbering of rows and columns: rank 0 has the least of all slots."""
    for slots in permutations(range(where.n_slots), grid.n_tasks):
        if slots[0] == min(slots):
            slots = np.array(slots)
            yield Mapping(where.network, grid, where.tasks_per_node, where.allocation.nodes[slots // where.tasks_per_node],
                          slots % where.tasks_per_node)


CASES_BY_HAND = [
    (site((6,)), ProcessGrid(2, 3)), (site((5,)), ProcessGrid(2, 2)), (site((5,), (False,)), ProcessGrid(2, 2)),
    (site((6,), (False,)), ProcessGrid(3, 2)), (site((3, 2)), ProcessGrid(3, 2)), (site((3, 2)), ProcessGrid(2, 2)),
    (site((2, 2, 2)), ProcessGrid(2, 2)), (site((2, 2, 2), nodes=[0, 1, 2, 4, 7, 6]), ProcessGrid(3, 2)),
    (site((4, 2), nodes=[0, 1, 2, 5, 7, 6]), ProcessGrid(2, 3)), (site((4, 2), (False, False), nodes=[7, 0, 3, 5, 6]),
                                                                   ProcessGrid(2, 2)),
    (site((3,), T=2), ProcessGrid(2, 3)), (site((4,), (False,), T=2, nodes=[0, 3, 2]), ProcessGrid(2, 2)),
    (site((2, 2), T=2, nodes=[0, 3, 1]), ProcessGrid(5, 1)), (site((3, 2), bandwidth=(1.0, 3.0)), ProcessGrid(2, 2)),
    (site((3, 2), cables=(1, 2)), ProcessGrid(2, 2)), (site((8,), nodes=[0, 1, 4, 5]), ProcessGrid(2, 2)),
    (site((2,), T=3), ProcessGrid(2, 2)), (site((1, 3)), ProcessGrid(1, 2)), (site((1,), T=4), ProcessGrid(2, 2)),
    (site((5,), nodes=[2]), ProcessGrid(1, 1)),
]
OF_MANY_PLACEMENTS = [(site((3, 3)), ProcessGrid(2, 2)), (site((3, 3), (True, False)), ProcessGrid(1, 4))]


def least_cost(where, grid):
    return min(predict_routed(mapping).cost for mapping in every_placement(where, grid))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("where, grid", [*CASES_BY_HAND, *(pytest.param(*case, marks=pytest.mark.slow)
                                                  for case in OF_MANY_PLACEMENTS)], ids=str)
def test_no_placement_is_below_the_bound(where, grid):
    assert 0 <= lower_bound(where, grid).value <= least_cost(where, grid)


@pytest.mark.parametrize("where, grid", [case for case in CASES_BY_HAND if case[0].n_slots <= 5], ids=str)
@pytest.mark.parametrize("extents", [(4, 5, 4), (9, 6, 11)], ids=str)
def test_no_placement_with_uneven_blocks_is_below_the_bound(where, grid, extents):
    transform = Transform(*(max(n, *grid.shape) for n in extents))
    every = (predict_routed(Mapping(m.network, grid, m.tasks_per_node, m.node_of_rank[order], m.slot_of_rank[order]),
                            transform) for m in every_placement(where, grid) for order in orders(grid))
    assert 0 <= lower_bound(where, grid, transform).value <= min(p.cost for p in every)


def orders(grid):
    """Yield orders with each rank first: `placements` starts at the least slot, and uneven blocks differ by its rank."""
    ranks = np.arange(grid.n_tasks).reshape(grid.shape[::-1])
    for q, p in np.ndindex(*grid.shape[::-1]):
        yield np.roll(ranks, (q, p), axis=(0, 1)).ravel()


@pytest.mark.parametrize("R, C", [(1, 5), (2, 2), (3, 2), (2, 5), (3, 3), (4, 3)])
def test_least_crossing_agrees_with_every_set_of_tasks(R, C):
    P, found = R * C, least_crossing((R, C), np.arange(R * C + 1))
    for k in range(P + 1):
        every = []
        for some in combinations(range(P), k):
            x = np.bincount([rank // R for rank in some], minlength=C)
            y = np.bincount([rank % R for rank in some], minlength=R)
            every.append(C * (x * (R - x)).sum() + R * (y * (C - y)).sum())
        assert found[k] == min(every)


@pytest.mark.parametrize("R, C", [(8, 59), (5, 7), (16, 16), (1, 12)])
def test_least_crossing_is_that_of_one_all_to_all_for_whole_rows_and_never_less(R, C):
    P, found = R * C, least_crossing((R, C), np.arange(R * C + 1))
    k = np.arange(P + 1)
    assert (found >= k * (P - k)).all()
    assert all(found[k] == k * (P - k) for k in (*range(0, P, R), *range(0, P, C)))


def arguments_by_hand(where, grid):
    """Return the arguments of `together_bound`: boxes and blocks by their links, planes and distances by their numbers."""
    torus, P, S, T = where.network, grid.n_tasks, where.n_slots, where.tasks_per_node
    N, arcs, cells = torus.n_nodes, torus.arcs(), torus.coordinates(np.arange(torus.n_nodes))
    usable, crossing = np.isin(np.arange(N), where.allocation.nodes), least_crossing(grid.shape, np.arange(P + 1))
    capacity = [Fraction(c) * Fraction(b) / Fraction(max(torus.bandwidth)) if torus.bandwidth else Fraction(c)
                for c, b in zip(torus.cables, torus.bandwidth or torus.cables)]
    along = [int(np.flatnonzero(cells[a] != cells[b])[0]) for a, b in zip(arcs.source, arcs.target)]

    def leaving(inside):
        links = zip(along, arcs.source, arcs.target)
        return sum((capacity[i] for i, a, b in links if inside[a] and not inside[b]), Fraction(0))

    def least(low, high):
        return min(int(crossing[k]) for k in range(low, high + 1))

    def length(crossed, through):
        return Fraction(4 * N * crossed, P * P) / through if through else Fraction(0)

    box = "box against the rest of the machine"
    found = {box: Fraction(0)}
    for low in product(*map(range, torus.shape)):
        for size in product(*(range(1, n + 1) for n in torus.shape)):
            if all(ring or start + n <= of for ring, start, n, of in zip(
                    map(torus.is_ring, range(len(size))), low, size, torus.shape)):
                inside = (((cells - low) % torus.shape) < size).all(axis=1)
                slots = T * int((inside & usable).sum())
                crossed = least(max(0, P - (S - slots)), min(slots, P))
                found[box] = max(found[box], length(crossed, leaving(inside)))
    for i, (axis, n) in enumerate(zip(torus.axes, torus.shape)):
        planes = [min(P, T * int(usable[cells[:, i] == x].sum())) for x in range(n)]
        links = sum(along[k] == i for k in range(len(along)))
        if n > 1:  # one plane cuts one link of each line in one direction; a ring is cut twice
            cut = links // 2 // (n if torus.is_ring(i) else n - 1) * (2 if torus.is_ring(i) else 1)
            found[f"{axis} plane that moves through the machine"] = length(
                least((P - max(planes) + 1) // 2, (P + max(planes)) // 2), cut * capacity[i])
    for block in product(*({1, 2, 4, 8, 16, 32, n // 2, n} & set(range(1, n + 1)) for n in torus.shape)):
        number = [tuple(cell) for cell in (cells // block).tolist()]
        slots = {b: T * sum(u for u, mine in zip(usable.tolist(), number) if mine == b) for b in set(number)}
        used = [n for n in slots.values() if n]
        widest = sum(capacity[i] * max_ends(torus, i, b) * (int(np.prod(block)) // b) for i, b in enumerate(block))
        name = "a single node" if max(block) == 1 else f"block of {'x'.join(map(str, block))}"
        found[f"{name} with its share of the tasks"] = length(least(-(-P // len(used)), min(P, max(used))), widest)
    apart = np.array([np.sort(np.repeat(row[usable], T)) for row in hops_of_links(torus)[usable]])
    every = sum(capacity[i] for i in along)
    for name, sizes in (("between all tasks", (P,)), ("to the nearest tasks", grid.shape)):
        total = sum(P // size * int(np.sort(np.repeat(apart[:, :size].sum(axis=1), T))[:P].sum()) for size in sizes)
        found[f"distances {name} over all links"] = length(total, every)
    return found


def max_ends(torus, i, side):
    """Return the most ends at which links of dimension `i` leave a block of this side on a line."""
    n = torus.shape[i]
    ends = Counter(block for at in range(n if torus.is_ring(i) else n - 1)
                   for block in {at // side, (at + 1) % n // side} if at // side != (at + 1) % n // side)
    return max(ends.values(), default=0)


def hops_of_links(torus):
    """Return the hops between all nodes, from walking along links."""
    arcs, N = torus.arcs(), torus.n_nodes
    hops = np.where(np.eye(N, dtype=bool), 0, N)
    for _ in range(N):
        np.minimum.at(hops, (slice(None), arcs.target), hops[:, arcs.source] + 1)
    return hops


@pytest.mark.parametrize("where, grid", [
    (site((6,), nodes=[0, 1, 2, 4]), ProcessGrid(2, 2)), (site((5,), (False,), T=2, nodes=[0, 2, 3, 4]), ProcessGrid(3, 2)),
    (site((4, 3), (True, False), nodes=[0, 1, 2, 3, 5, 7, 8, 10, 11]), ProcessGrid(3, 3)),
    (site((4, 4), (False, True), T=2, nodes=range(3, 15)), ProcessGrid(4, 5)),
    (site((2, 5), cables=(3, 1), nodes=range(1, 9)), ProcessGrid(2, 4)),
    (site((3, 4), (True, False), bandwidth=(2e9, 1e9), nodes=range(10)), ProcessGrid(2, 4)),
    (site((2, 3, 4), (False, True, True), nodes=[*range(5), *range(8, 24)]), ProcessGrid(4, 5)),
    (site((9,), (False,), T=3, nodes=[0, 1, 5, 6, 7, 8]), ProcessGrid(4, 4)), (site((4, 2)), ProcessGrid(3, 2))], ids=str)
def test_every_argument_is_as_strong_as_when_it_is_counted_by_hand(where, grid):
    part, found = _Part(where, grid, None), {}
    for bounds in (_fixed_cuts, _moving_planes, _blocks, _distances):
        found.update({argument: value for value, argument in bounds(part)})
    expected = arguments_by_hand(where, grid)
    assert found == expected
    best = together_bound(where, grid)
    assert best.value == max(expected.values()) == expected[best.argument]


def test_the_emptier_side_of_a_cut_has_what_has_no_room_on_the_other():
    for S, P in combinations(range(1, 13), 2):
        S, P = max(S, P), min(S, P)
        for inside in range(S + 1):
            either = [min(k, P - k) for k in range(P + 1) if k <= inside and P - k <= S - inside]
            assert _fewest(P, S, inside) == min(either), (S, P, inside)


SEEDS = range(6)


def two_way_graph(seed, n=6):
    """Return a connected graph with different cables, also in the two directions; every fourth vertex is a switch."""
    draw, graph = Random(seed), nx.DiGraph()
    for vertex in range(n):
        graph.add_node(vertex, kind="switch" if vertex % 4 == 3 else "host")
    edges = {(draw.randrange(v), v) for v in range(1, n)} | {tuple(sorted(draw.sample(range(n), 2))) for _ in range(n // 2)}
    for a, b in sorted(edges):
        graph.add_edge(a, b, cables=draw.randint(1, 3))
        graph.add_edge(b, a, cables=draw.randint(1, 3))
    return from_networkx(graph, f"graph {seed}")


def drawn_traffic(graph, seed):
    traffic = np.random.default_rng(seed).integers(0, 9, (graph.n_nodes,) * 2)
    np.fill_diagonal(traffic, 0)
    return traffic


def across(graph, traffic, inside):
    """Return bytes and cables that leave a set of vertices, and bytes and cables that enter the set."""
    hosts, ways, outside = range(graph.n_nodes), [], set(range(len(graph.vertices))) - inside
    for here, there in ((inside, outside), (outside, inside)):
        sent = sum(int(traffic[a, b]) for a in hosts for b in hosts if a in here and b in there)
        links = zip(graph.source, graph.target, graph.cables)
        ways.append((sent, sum((c for a, b, c in links if a in here and b in there), Fraction(0))))
    return ways


def needed(graph, traffic, inside):
    return max((Fraction(sent) / cables for sent, cables in across(graph, traffic, inside) if cables), default=Fraction(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_worst_run_of_an_order_needs_no_less_than_any_other(seed):
    graph = two_way_graph(seed)
    traffic, arcs = drawn_traffic(graph, seed), graph.arcs()
    V = arcs.n_vertices
    whole, capacity = np.zeros((V, V), dtype=np.int64), np.zeros((V, V))
    whole[:graph.n_nodes, :graph.n_nodes] = traffic
    np.add.at(capacity, (arcs.source, arcs.target), arcs.capacity)
    orders = list(_orders(arcs))
    assert orders[0].tolist() == list(range(V)) and len(orders) == 2 + min(4, V - 1)
    for order in orders:
        assert sorted(order.tolist()) == list(range(V))
        runs = [set(order[low:high].tolist()) for low in range(V) for high in range(low + 1, V + 1)]
        found = needed(graph, traffic, set(_worst_run(order, whole, capacity).tolist()))
        assert found == max(needed(graph, traffic, run) for run in runs)


def least_load(graph, traffic):
    """Return the least possible load of the busiest cable if messages split freely among paths: a linear program."""
    V, A, hosts = len(graph.vertices), len(graph.cables), range(graph.n_nodes)
    equal, demand = np.zeros((len(hosts) * V, len(hosts) * A + 1)), np.zeros(len(hosts) * V)
    for s in hosts:  # the flow of all data of host s
        for i, (a, b) in enumerate(zip(graph.source, graph.target)):
            equal[s * V + a, s * A + i] += 1
            equal[s * V + b, s * A + i] -= 1
        demand[s * V + s] = traffic[s].sum()
        for t in hosts:
            demand[s * V + t] -= traffic[s, t]
    below = np.zeros((A, len(hosts) * A + 1))
    for i, cables in enumerate(graph.cables):
        below[i, i:-1:A] = 1
        below[i, -1] = -float(cables)
    done = linprog([0] * (len(hosts) * A) + [1], below, np.zeros(A), equal, demand, method="highs")
    assert done.success
    return done.fun


def bound_of(graph, traffic):
    parts = graph_cuts._parts(graph)
    between = np.zeros((parts.inner.n_vertices,) * 2, dtype=np.int64)
    np.add.at(between, (parts.home[:graph.n_nodes, None], parts.home[:graph.n_nodes]), traffic)
    np.fill_diagonal(between, 0)
    return graph_cuts._bound_of_parts(graph, traffic.sum(axis=1), traffic.sum(axis=0), between)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_routing_is_below_the_bound(seed):
    graph = two_way_graph(seed)
    for traffic in (drawn_traffic(graph, seed), 1 - np.eye(graph.n_nodes, dtype=np.int64)):
        assert 0 < bound_of(graph, traffic) <= least_load(graph, traffic) * (1 + 1e-9)


def hosts_on_switches(seed):
    """Return a graph of hosts with one link, or now and then two, on switches that are joined at random."""
    draw, graph = Random(seed), nx.Graph()
    switches = [f"s{i}" for i in range(draw.randint(1, 4))]
    graph.add_nodes_from(switches, kind="switch")
    for i, switch in enumerate(switches[1:], 1):
        graph.add_edge(switch, draw.choice(switches[:i]), cables=draw.randint(1, 3))
    for host in range(draw.randint(2, 7)):
        for switch in draw.sample(switches, min(len(switches), draw.choice([1, 1, 1, 2]))):
            graph.add_edge(f"h{host}", switch, cables=draw.randint(1, 3))
    return from_networkx(graph, f"hosts {seed}")


@pytest.mark.parametrize("seed", range(12))
def test_hops_between_hosts_are_those_of_the_whole_graph(seed):
    graph = hosts_on_switches(seed)
    hosts = range(graph.n_nodes)
    assert host_hops(graph).tolist() == graph.arcs().distances(hosts)[:, hosts].tolist()


@pytest.mark.parametrize("rows", [1, 7, 64])
@pytest.mark.parametrize("seed", range(4))
def test_the_worst_runs_of_an_all_to_all_need_as_long_as_any(seed, rows, monkeypatch):
    """Each run is counted from the links that leave and enter the run."""
    graph = hosts_on_switches(seed)
    monkeypatch.setattr(graph_cuts, "ROWS", rows)
    graph_cuts._all_to_all_runs.cache_clear()

    def seconds(run):
        hosts, cables = int((run < graph.n_nodes).sum()), graph_cuts._cables(graph, run)
        return hosts * (graph.n_nodes - hosts) / (min(cables) or max(cables)) if any(cables) else 0

    for order, found in zip(graph_cuts.orders_of(graph), graph_cuts._all_to_all_runs(graph)):
        V = len(order)
        assert seconds(found) == max(seconds(order[low:high]) for low in range(V) for high in range(low + 1, V + 1))


@pytest.mark.parametrize("parts", [0, 2048])
@pytest.mark.parametrize("seed", range(12))
def test_a_large_graph_is_bounded_without_its_leaves(seed, parts, monkeypatch):
    """The runs are sets of whole switches, each load is counted one by one, and the hops are those of all pairs."""
    graph, draw = hosts_on_switches(seed), Random(seed)
    T = draw.randint(1, 3)
    R = draw.choice([r for r in range(1, graph.n_nodes * T + 1) if graph.n_nodes * T % r == 0])
    grid = ProcessGrid(R, graph.n_nodes * T // R)
    node = np.array(draw.sample(range(graph.n_nodes * T), grid.n_tasks)) // T
    monkeypatch.setattr(graph_cuts, "MAX_VERTICES", 0)
    monkeypatch.setattr(graph_cuts, "_is_small", lambda found: found.inner.n_vertices <= parts)
    graph_cuts._parts.cache_clear()
    for exchange in exchanges(grid):
        traffic = node_traffic(exchange, node, graph.n_nodes).toarray()
        out, into = traffic.sum(axis=1), traffic.sum(axis=0)
        assert [x.tolist() for x in node_totals(exchange, node, graph.n_nodes)] == [out.tolist(), into.tolist()]
        found = graph_cuts.exchange_bound(graph, exchange, node)
        single = max(needed(graph, traffic, {host}) for host in range(graph.n_nodes))
        assert single <= found <= Fraction(least_load(graph, traffic)) * (1 + Fraction(1, 10**9))
        if parts:
            hops = int((host_hops(graph) * traffic).sum()) / graph_cuts.cables_of(graph)
            home = graph_cuts._parts(graph).home
            between = node_traffic(exchange, home[node], graph_cuts._parts(graph).inner.n_vertices).toarray()
            runs = graph_cuts._runs_of_parts(graph, out, into, between)
            assert found == max(*(needed(graph, traffic, set(run.tolist())) for run in runs), hops)
    everybody = 1 - np.eye(graph.n_nodes, dtype=np.int64)
    assert graph_cuts.whole_bound(graph) <= Fraction(least_load(graph, everybody)) * (1 + Fraction(1, 10**9))
    all_to_all_cuts.cache_clear()
    for hosts, cables in all_to_all_cuts(graph):
        assert Fraction(hosts * (graph.n_nodes - hosts)) / cables <= Fraction(least_load(graph, everybody)) * (
            1 + Fraction(1, 10**9))
