"""Ring maps, lattice tilings, products and starts compared with enumeration, subgroups and routing."""

from fractions import Fraction
from itertools import product as cartesian
from math import prod

import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import place
from pencilmap.mapper.seeds.products import best_product, patterns, ring_maps
from pencilmap.mapper.seeds.tilings import (
    _Run,
    best_tiling,
    coordinates,
    coset_numbers,
    is_form,
    normal_forms,
    tried_lattices,
)
from pencilmap.mapper.seeds.torus import (
    _affinity,
    _skipping,
    _whole_products,
    axis_orders,
    bisections,
    blobs,
    distances,
    grouped,
    inner_products,
    launchers,
    likely_product,
    matched,
    products,
    spectral,
)
from pencilmap.model.base.arrays import divisors
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid, all_grids, parse_grid
from pencilmap.model.placement.product import Pattern, Product, RingMap
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.traffic.loads import at_once, objective, overlapped
from tests.model.cases import predict_product, predict_routed


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


@pytest.mark.sampled(1)
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


ONCE = at_once(2)


def joint(product):
    return ONCE.of_loads(DimensionOrder().joint_of_product(product, ("r", "c")))


def on_line(found, ring):
    return Product(Torus((found.n,), (ring,)), (found,), Pattern(()))


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("n", range(2, 33))
def test_every_stored_map_beats_all_digit_patterns(n, ring):
    for found in ring_maps(n, ring):
        rivals = [p for p in patterns(n) if p.extent("r") == found.extent("r")]
        assert joint(on_line(found, ring)) < min(joint(on_line(p, ring)) for p in rivals)


@pytest.mark.parametrize("n", [3, 5, 6, 7, 8, 9, 10, 12])
def test_the_joint_load_of_the_all_to_all_is_reached_only_by_lines_and_planes(n):
    """The theorem of docs/theory.md on n x n: R = 1, n or n^2; on rings of 2 and 4 every power of two."""
    torus, bound = Torus((n, n)), predict(best_product(Torus((n, n)), ProcessGrid(1, n * n))).cost
    for r in (r for r in range(1, n * n + 1) if n * n % r == 0):
        reached = joint(best_product(torus, ProcessGrid(r, n * n // r), wanted=ONCE)) == bound
        assert reached == (r in (1, n, n * n))


@pytest.mark.parametrize("text, shape, tasks, grid", [
    ("ring:x=r8,y=4.3/5.2/0.1/6.7,z=c8", "8x8x8", 1, "16x32"), ("ring:x=0.1/3.2,y=r2c3,t=r2", "4x6", 2, "8x6"),
    ("ring:x=0.2.4/1.3.5", "6:mesh", 1, "3x2")])
def test_closed_form_of_ring_maps_agrees_with_routing(text, shape, tasks, grid):
    torus = parse_torus(shape, bandwidth=(1e9,) * len(shape.partition(":")[0].split("x")))
    product = place(text, Site(torus, tasks), parse_grid(grid))
    assert str(product) == text
    for transform in (None, Transform(64, 64, 64), Transform(67, 66, 65)):
        closed, routed = predict_product(product, transform), predict_routed(product.mapping(), transform)
        for a, b in zip(closed.stages, routed.stages):
            assert (a.load, a.hop_length, a.busiest) == (b.load, b.hop_length, b.busiest)
        assert closed.certificate == routed.certificate >= 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("letters", ["r", "c", "rc"])
@pytest.mark.parametrize("rows, columns", [(2, 2), (2, 3), (3, 2), (1, 4), (4, 2), (3, 3), (2, 1)])
def test_the_best_cut_is_that_of_all_cuts_by_counting_pairs(rows, columns, letters, ring):
    n, rng = rows * columns, np.random.default_rng(rows * columns)
    cuts = [(0 if not ring else low, high) for high in range(1, n + 1) for low in range(high if ring else 1)]
    for _ in range(8):
        ring_map = RingMap(tuple(map(tuple, rng.permutation(n).reshape(rows, columns).tolist())))
        group = ring_map.group(letters)
        pairs = max(sum(group[x] == group[y] for x in range(low, high) for y in range(n) if not low <= y < high)
                    for low, high in cuts)
        assert ring_map.cut(letters, ring) == Fraction(4 * int(pairs), ring_map.extent(letters) * (2 if ring else 1))


def subgroups(shape):
    """Return all subgroups of Z_n1 x Z_n2 .. as frozen sets, from all sets of up to len(shape) generators."""
    every = list(cartesian(*map(range, shape)))
    found = set()
    for generators in cartesian(every, repeat=len(shape)):
        group, new = {(0,) * len(shape)}, {(0,) * len(shape)}
        while new:
            new = {tuple((a + b) % n for a, b, n in zip(x, g, shape)) for x in new for g in generators} - group
            group |= new
        found.add(frozenset(group))
    return found


@pytest.mark.parametrize("shape", [(4, 2), (6, 3), (5,), (4, 4), (2, 2, 2)], ids=str)
def test_there_is_one_form_for_every_subgroup(shape):
    expected = subgroups(shape)
    found = {}
    for index in (k for k in range(1, prod(shape) + 1) if prod(shape) % k == 0):
        for form in normal_forms(shape, index):
            assert is_form(np.array(shape), form, index)
            numbers = coset_numbers(np.array(shape), form)
            assert np.bincount(numbers).tolist() == [prod(shape) // index] * index
            elements = coordinates(np.array(shape), np.flatnonzero(numbers == 0))
            found[form] = frozenset(map(tuple, elements.tolist()))
    assert len(set(found.values())) == len(found) and set(found.values()) == expected


@pytest.mark.parametrize("torus, tasks, grid", [
    (Torus((6, 4)), 1, "4x6"), (Torus((5, 5)), 2, "10x5"), (Torus((4, 2, 3)), 1, "6x4"), (Torus((3, 4)), 4, "6x8"),
    (Torus((6, 4), bandwidth=(1.0, 2.0), cables=(1, 2)), 1, "4x6")], ids=str)
def test_folded_loads_are_those_of_routing_every_message(torus, tasks, grid):
    grid = parse_grid(grid)
    shape = np.array([*torus.shape, tasks])
    for number, lattice in enumerate(tried_lattices(torus, shape, grid)):
        run = _Run(torus, tasks, lattice, grid, seed=number)
        run.anneal(20)
        prediction = predict_routed(run.tiling().mapping(grid))
        assert run.cost == pytest.approx(float(prediction.cost), rel=1e-12)
        assert lattice.floor <= run.cost - lattice.load + 1e-12


@pytest.mark.parametrize("shape, grid, tasks, cost", [
    ("13x13", "13x13", 1, 10.77), ("10x10", "10x20", 2, 7.4), ("7x7", "14x7", 2, 6.29)])
def test_tilings_beat_digit_patterns(shape, grid, tasks, cost):
    torus, grid = parse_torus(shape), parse_grid(grid)
    tiling, found = best_tiling(torus, grid, tasks, within=Search(150_000 * 320))
    assert found <= cost + 0.005 < predict(best_product(torus, grid, tasks)).cost
    assert found == pytest.approx(float(predict_routed(tiling.mapping(grid)).cost))


def test_rows_may_be_the_cosets():
    site, grid = Site(Torus((4, 4)), 1), ProcessGrid(2, 8)
    text = "lattice:r=1.0.0/0.2.0/0.0.4"
    with pytest.raises(PlacementError, match="diagonal multiplies to 8"):
        place(f"{text},tile=0.1.2.3.4.5.6.7", site, grid)
    mapping = place("lattice:r=2.0.0/0.4.0/0.0.1,tile=0.1.4.5.8.9.12.13", site, grid)
    rows = mapping.node_of_rank[grid.groups("r")]
    assert sorted(map(sorted, rows.tolist())) == sorted([a + 4 * b, a + 2 + 4 * b] for a in (0, 1) for b in range(4))


def kinds_of(torus, grid, tasks):
    """Return for every lattice of both letters the load of its cosets and the least load of a tile, by definition."""
    shape = np.array([*torus.shape, tasks])
    every = coordinates(shape, np.arange(int(np.prod(shape))))
    apart = np.minimum(every, shape - every)[:, :-1]
    rates = torus.bandwidth or (1.0,) * len(torus.shape)
    weight = [max(rates) / rate for rate in rates]
    factor = np.array([(2 if torus.is_ring(i) else 4) * weight[i] / torus.cables[i] for i in range(len(torus.shape))])
    for letter, size in zip("cr", grid.shape):
        used = [i for i, n in enumerate(torus.shape) if n > 1]
        floor = np.sort(apart.sum(axis=1))[:size].mean() / (1 / factor[used]).sum()
        for form in normal_forms(tuple(shape.tolist()), size):
            members = apart[coset_numbers(shape, form) == 0]
            yield letter, form, float((members.mean(axis=0) * factor).max()), float(floor)


@pytest.mark.parametrize("torus, tasks, grid", [
    (Torus((6, 4)), 1, "4x6"), (Torus((4, 4)), 2, "4x8"), (Torus((2, 6)), 1, "2x6"), (Torus((1, 8)), 2, "4x4"),
    (Torus((4, 4, 3), bandwidth=(1.0, 2.0, 1.0)), 1, "8x6")], ids=str)
def test_of_lattices_that_are_alike_one_is_tried_and_the_least_loads_first(torus, tasks, grid):
    grid, shape = parse_grid(grid), np.array([*torus.shape, tasks])
    every = {(letter, form): (load, floor) for letter, form, load, floor in kinds_of(torus, grid, tasks)}
    tried = tried_lattices(torus, shape, grid)
    for one in tried:
        assert (one.load, one.floor) == pytest.approx(every[one.cosets, one.form], rel=1e-12)
        assert np.array_equal(one.numbers, coset_numbers(shape, one.form))
    kinds = {(letter, round(load, 9), round(floor, 9)) for (letter, _), (load, floor) in every.items()}
    assert {(one.cosets, round(one.load, 9), round(one.floor, 9)) for one in tried} == kinds
    sums = [one.load + one.floor for one in tried]
    assert sums == sorted(sums) and len(tried) <= len(every)
    for below in (sums[0], sums[len(sums) // 2], sums[-1] + 1):
        kept = tried_lattices(torus, shape, grid, below)
        assert [one.form for one in kept] == [one.form for one, total in zip(tried, sums) if total < below - 1e-9]


def test_products_of_inner_boxes_where_slots_are_idle_or_missing():
    torus, grid = Torus((4, 6)), ProcessGrid(4, 4)
    site = Site(torus, 2, idle=True)
    found = dict(inner_products(site, grid))
    assert len(found) == 2
    for slots in found.values():
        node = site.allocation.nodes[slots // 2]
        assert len(set(node.tolist())) == 8 and sorted(slots.tolist()) == sorted(set(slots.tolist()))
        where = torus.coordinates(np.unique(node))
        assert np.ptp(where, axis=0).tolist() in ([1, 3], [3, 1]), "a box"
    assert list(inner_products(Site(torus, 2), ProcessGrid(6, 8))) == [], "all slots are used: that is a product itself"
    assert list(inner_products(Site(torus, 2, idle=True), ProcessGrid(3, 5))) == [], "15 tasks fill no nodes of two"
    holed = Site(torus, 2, Allocation(torus).without([0]), idle=True)
    assert all((holed.allocation.nodes[slots // 2] != 0).all() for _, slots in inner_products(holed, grid))
    assert len(dict(inner_products(holed, grid))) == 2


def test_launchers_fill_nodes_in_every_order_of_the_axes():
    torus = Torus((3, 2, 1))
    assert sorted(axis_orders(torus)) == sorted(["xyzt", "txyz", "yxzt", "tyxz"])
    found = dict(launchers(Site(torus, 2), ProcessGrid(4, 3)))
    assert len(found) == 6 and len({slots.tobytes() for slots in found.values()}) == 4  # nt and tn are two of the four


def test_products_skip_what_is_not_there():
    torus, grid = Torus((4, 4)), ProcessGrid(4, 3)
    site = Site(torus, 1, Allocation(torus).without([5, 6]), idle=True)
    found = dict(products(site, grid))
    assert set(found) == {"product rows", "product columns"}
    for slots in found.values():
        assert sorted(slots.tolist()) == sorted(set(slots.tolist())) and len(slots) == 12 and slots.max() < 14


def test_the_likely_product_costs_least_on_the_whole_torus():
    torus, grid = Torus((4, 4)), ProcessGrid(7, 8)
    site = Site(torus, 4, Allocation(torus).without([3]), idle=True)
    wholes = [(predict(product).cost, product, dimension) for product, dimension in _whole_products(site, grid, None)]
    least = min(cost for cost, *_ in wholes)
    assert least < max(cost for cost, *_ in wholes)
    best = [_skipping(product, site, grid, dimension).tolist() for cost, product, dimension in wholes if cost == least]
    assert likely_product(site, grid).tolist() in best


@pytest.mark.parametrize("shape, T, grid", [((8, 4), 1, ProcessGrid(4, 8)), ((4, 4, 4), 1, ProcessGrid(8, 8)),
                                            ((4, 2), 4, ProcessGrid(8, 4)), ((16,), 1, ProcessGrid(4, 4))])
def test_bisection_makes_boxes_of_groups(shape, T, grid):
    site = Site(Torus(shape), T)
    found = dict(bisections(site, grid))
    assert set(found) == {"bisection rows", "bisection columns"}
    for letter, name in (("r", "rows"), ("c", "columns")):
        nodes = site.allocation.nodes[found[f"bisection {name}"] // T][grid.groups(letter)]
        for group in nodes:
            where = site.network.coordinates(np.unique(group))
            assert prod((np.ptp(where, axis=0) + 1).tolist()) == len(where), "a box, whole"
            assert np.unique(group, return_counts=True)[1].tolist() == [len(group) // len(where)] * len(where)


def test_every_kind_of_start_is_among_them():
    torus = Torus((4, 6))
    names = [name for name, _ in grouped(Site(torus, 1, Allocation(torus).without([3]), idle=True), ProcessGrid(4, 4))]
    for kind in ("product rows", "product columns", "stretched", "product of", "bisection rows", "bisection columns",
                 "boxes"):
        assert any(name.startswith(kind) for name in names), (kind, names)


SITES = [Site(Torus((6, 4))), Site(Torus((5, 4), (False, True)), 2), Site(Torus((4, 4, 4)), 1,
         Allocation(Torus((4, 4, 4))).without([3, 17, 40, 63]), idle=True)]


@pytest.mark.parametrize("site", SITES, ids=str)
@pytest.mark.parametrize("make", [blobs, spectral])
def test_groups_are_compact_and_take_every_slot_at_most_once(site, make):
    size = 4
    groups = matched(site, make(site, [size] * (site.n_slots // size)))
    every = np.concatenate(groups)
    assert len(set(every.tolist())) == len(every) == site.n_slots // size * size
    apart = distances(site)
    spread = np.mean([apart[np.ix_(group, group)].mean() for group in groups])
    others = np.random.default_rng(0).permutation(site.n_slots)[:len(every)].reshape(-1, size)
    assert spread < 0.8 * np.mean([apart[np.ix_(group, group)].mean() for group in others])


def test_members_that_sit_alike_are_matched():
    site, rng = Site(Torus((6, 4), (False, False))), np.random.default_rng(1)
    tiles = [[x + dx + 6 * (y + dy) for dy in range(2) for dx in range(2)] for y in (0, 2) for x in (0, 2, 4)]
    groups = matched(site, [rng.permutation(tile) for tile in tiles])
    steps = {tuple(group - group[0]) for group in groups}
    assert len(steps) == 1 and all(set(group) == set(tile) for group, tile in zip(groups, tiles))


def test_slots_of_a_node_belong_together_more_than_neighbours_and_these_more_than_others():
    torus = Torus((4, 3), (True, False))
    found = _affinity(torus, 2, np.arange(12).tobytes())
    apart = distances(Site(torus, 2))
    assert (np.diag(found) == 0).all() and set(found[apart == 0]) == {0, 2} and set(found[apart == 1]) == {1, 0.99}
    assert (found[0, :8:2] == [0, 1, 1e-3 / 9, 1]).all() and found[0, 8] == 0.99, "links of later dimensions count less"
