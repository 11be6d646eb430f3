"""Decompositions, types, remaps of bricks and halos: messages and bytes compared with counts of single elements."""

from collections import Counter
from itertools import permutations, product as cartesian

import numpy as np
import pytest

from pencilmap.mapper.placements import place
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.seeds.products import best_product, rank_grids
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GridError, PencilmapError, ScheduleError
from pencilmap.model.decompositions import CUBIC, DECOMPOSITIONS, SLAB, ExchangeStage, LocalPass, decomposition_named
from pencilmap.model.kinds import network_named
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import product_of
from pencilmap.model.placement.transform import TYPES, Transform, block_lengths, parse_transform, transform_of
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds
from pencilmap.model.predict.program import predict_program
from pencilmap.model.traffic.exchange import exchanges, halo, remaps
from pencilmap.model.traffic.program import Phase, Traffic, pairs_of
from tests.model import brute_force as brute
from tests.model.cases import predict_routed

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
    closed, routed = predict(product), predict_routed(product.mapping())
    assert [s.load for s in closed.stages] == [s.load for s in routed.stages]
    other = predict(place("default", Site(torus, tasks), grid))
    assert other.cost == closed.cost and closed.cost >= closed.lower_bound.value
    assert [str(g) for g, _, _ in rank_grids(torus, tasks, decomposition=SLAB)] == [str(grid.n_tasks)]


@pytest.mark.parametrize("text, total", [
    ("8", 512 * 16), ("8:c2c:single", 512 * 8), ("8:r2c", 8 * 8 * 5 * 16), ("8x8x9:r2c", 8 * 8 * 5 * 16),
    ("8:c2r:single", 8 * 8 * 5 * 8), ("8:dct", 512 * 8), ("8:dst:single", 512 * 4), ("8:chebyshev", 8 * 8 * 5 * 16),
    ("8:dct1,c2c,r2c", 8 * 8 * 5 * 16), ("8:dct1,none,dst2:single", 512 * 4), ("8:dct1,c2c,none:fields=2", 512 * 16 * 2),
    ("8x4x2:empty", 8 * 4 * 2 * 16), ("8:fields=3", 512 * 16 * 3), ("8x8x9:r2c:single:fields=2", 8 * 8 * 5 * 8 * 2)])
def test_bytes_that_are_exchanged(text, total):
    assert parse_transform(text).total_bytes == total
    assert str(parse_transform(str(parse_transform(text)))) == str(parse_transform(text))


@pytest.mark.parametrize("kind", [*TYPES, "dct1,c2c,r2c", "none,none,dct4", "none,c2c,dst1"])
@pytest.mark.parametrize("fields", [1, 3])
def test_messages_sum_to_the_array(kind, fields):
    """Every element is sent once in each exchange, also to its own task."""
    transform = transform_of((7, 6, 9), kind, fields=fields)
    for exchange in exchanges(ProcessGrid(3, 4), transform):
        sent = exchange.group_weight.sum() * exchange.send_weight.sum() * exchange.receive_weight.sum() * exchange.unit_bytes
        assert sent == transform.total_bytes == exchange.total_bytes


def test_of_a_half_spectrum_some_tasks_hold_nothing():
    assert transform_of((16, 16, 16)).fills(ProcessGrid(16, 4))
    assert not transform_of((16, 16, 16), "r2c").fills(ProcessGrid(16, 4))


def test_an_unknown_type_is_refused_by_the_value_itself():
    for kind, said in (("fft", "known are c2c"), ("dct1,c2c", "known are c2c"), ("dct1,c2c,dct5", "'dct5' is unknown"),
                       ("r2c,c2c,c2c", "give r2c along z"),
                       ("dct1,c2c,r2c:padding=1.5", "only DFTs are padded.* or points=8x12x12")):
        with pytest.raises(GridError, match=said):
            parse_transform(f"8:{kind}")
    with pytest.raises(GridError, match="known are c2c"):
        Transform(8, 8, 8, type="fft")
    with pytest.raises(GridError, match="1 point along y; dct1 needs at least 2"):
        parse_transform("8x1x8:none,dct1,r2c")


NETWORKS = ("8", "8:mesh", "4x2", "2x2x2", "4x2:twisted", "4", "fat-tree:leaves=4,hosts=2,up=1", "hyperx:2x2,hosts=2",
            "dragonfly:a=2,p=2,groups=2,cables=1", "dragonfly-plus:leaves=2,spines=2,hosts=2,groups=2")
GRID = ProcessGrid(2, 2, 2, decomposition=CUBIC)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("transform", [None, Transform(5, 3, 7), Transform(5, 3, 7, backward=True)], ids=str)
def test_of_all_placements_none_is_below_the_bound_and_the_search_is_never_slower_than_the_launch_order(text, transform):
    site = Site(network := network_named(text), 8 // network_named(text).n_nodes)
    found = [predict_routed(Mapping(network, GRID, site.tasks_per_node, slots // site.tasks_per_node,
                                    slots % site.tasks_per_node), transform).cost
             for slots in (np.array(order) for order in permutations(range(8))
                           if order[0] == min(order) and order[1] < order[2] < order[4])]  # others are turned, mirrored
    assert len(found) == 840
    best, launch = (predict(placed, transform).cost for placed in (candidates(site, GRID, transform=transform)[-1],
                                                                 launched(site, GRID)))
    assert 0 < Bounds(site, GRID, transform, routing="").in_sequence.value <= min(found) <= best <= launch


@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("backward", [False, True])
def test_the_exchanges_load_the_busiest_links_as_phases_of_single_messages_do(text, backward):
    network = network_named(text)
    grid, transform = ProcessGrid(2, 4, 3, decomposition=CUBIC), Transform(7, 9, 11, backward=backward)
    place = np.random.default_rng(len(text)).permutation(-(-24 // network.n_nodes) * network.n_nodes)[:24]
    mapping = Mapping(network, grid, -(-24 // network.n_nodes), place % network.n_nodes, place // network.n_nodes)
    phases = [Phase(24, pairs_of(*np.array(some).T)) for some in brute.messages(grid, transform)]
    busiest = predict_program(mapping, Traffic(24, tuple(phases))).phase_bytes
    found = [max(stage.load) * transform.total_bytes / (4 * network.n_nodes) for stage in predict(mapping, transform).stages]
    assert list(busiest) == pytest.approx([float(each) for each in found], rel=1e-9) and min(busiest) > 0


def test_a_grid_of_bricks_is_read_from_its_three_numbers_and_refused_in_words():
    where = setting(network="4x4", fft="16", bandwidth="1 GB/s")
    best, launch = where.predictions("2x4x2", ["best", "default"])
    assert best.grid.decomposition is CUBIC and best.cost <= launch.cost and len(best.stages) == 3
    assert [stage.work.messages for stage in launch.stages if stage.work] == [1, 3, 1]
    assert where.predictions("2x4x2", ["default"], schedule="best")[0].cost == launch.cost
    with pytest.raises(ScheduleError, match="follow each other whole; take the schedule sequence"):
        where.predictions("2x4x2", ["default"], schedule="overlap")
    with pytest.raises(GridError, match="changes the number of elements of an axis"):
        predict(launched(where.site, best.grid), parse_transform("16:r2c"))
    assert str(where.place("box:2x1", best.grid)) == "digits:x=x2y2,y=y2z2"
    for text, words in (("box:2x2", "x-lines of 2 tasks do not fill"), ("lattice", "needs rows and columns")):
        with pytest.raises(PencilmapError, match=words):
            where.predictions("2x4x2", [text])
    with pytest.raises(GridError, match="has 32 tasks, but"):
        where.grid("2x4x4")


def block_of(n, parts):
    """Return the block of every index of an axis."""
    return np.repeat(np.arange(parts), block_lengths(n, parts))


@pytest.mark.parametrize("bricks, grid, transform", [
    ((2, 3, 2), (4, 3), Transform(7, 10, 9)), ((1, 1, 6), (2, 3), Transform(5, 4, 13, type="r2c", fields=2)),
    ((5, 2, 1), (1, 10), Transform(3, 12, 4, 8, "dct")), ((2, 2, 2), (8, 1), Transform(8, 8, 8))])
def test_remaps_send_the_elements_that_change_hands(bricks, grid, transform):
    R, C = grid
    P, Q, _ = bricks
    found = remaps(ProcessGrid(R, C, decomposition=decomposition_named("brick:" + "x".join(map(str, bricks)))), transform)
    real = transform.element_bytes // 2 if transform.type == "r2c" else transform.element_bytes
    for remap, n, size in zip(found, ((transform.nx, transform.ny, transform.nz), transform.exchanged),
                              (real, transform.element_bytes)):
        a, b, c = (block_of(extent, parts) for extent, parts in zip(n, bricks))
        row, column = (block_of(n[1], R), block_of(n[0], C)) if remap.name == "remap_in" else (block_of(n[2], R),
                                                                                               block_of(n[1], C))
        moved = Counter()
        for x, y, z in cartesian(*map(range, n)):
            brick = (c[z] * Q + b[y]) * P + a[x]
            pencil = column[x] * R + row[y] if remap.name == "remap_in" else column[y] * R + row[z]
            ends = (brick, pencil) if remap.name == "remap_in" else (pencil, brick)
            if brick != pencil:
                moved[tuple(map(int, ends))] += size * transform.fields
        assert moved == {tuple(pair): int(n) * remap.unit_bytes
                         for pair, n in zip(remap.members.tolist(), remap.group_weight)}


def test_what_bricks_cannot_be_is_said_once():
    with pytest.raises(GridError, match="4x4x2 bricks are 32, but there are 16 tasks"):
        setting(network="4x4", fft="32", bandwidth="1 GB/s", decomposition="brick:4x4x2").predictions(placements=["default"])
    with pytest.raises(GridError, match="bricks are remapped by their extents: name the transform"):
        setting(network="4x4", decomposition="brick:4x4x1").predictions("4x4", ["default"])
    with pytest.raises(GridError, match="write brick:PxQxS"):
        decomposition_named("brick:4x4")


def lengths(n, parts):
    return [n // parts + (i < n % parts) for i in range(parts)]


def boxes(extents, parts):
    """Return for each block, x fastest, its indices along each axis."""
    ends = [np.cumsum([0, *lengths(n, p)]) for n, p in zip(extents, parts)]
    return [[range(ends[i][at], ends[i][at + 1]) for i, at in enumerate((x, y, z))]
            for z in range(parts[2]) for y in range(parts[1]) for x in range(parts[0])]


CASES = [  # decomposition, grid, kind, array, blocks along x, y and z (as ranks number them), extents
    ("pencil", (2, 3), "c2c", "input", "x of c, y of r", (7, 5, 6)),
    ("pencil", (2, 3), "r2c", "output", "y of c, z of r", (7, 5, 9)),
    ("pencil", (2, 3), "c2c", 1, "x of c, z of r", (7, 5, 6)), ("pencil", (2, 3), "c2c", 0, "x of c, y of r", (7, 5, 6)),
    ("pencil", (2, 3), "c2c", "inner output", "y of c, z of r", (7, 5, 6)), ("slab", (4,), "c2c", "input", None, (9, 5, 4)),
    ("slab", (4,), "c2c", "output", None, (9, 5, 4))]


@pytest.mark.parametrize("low, high", [((1, 2, 0), (0, 1, 0)), ((2, 0, 0), None), ((0, 0, 0), (3, 4, 0))])
@pytest.mark.parametrize("name, shape, kind, array, cut, extents", CASES)
def test_a_halo_takes_from_each_rank_what_lies_in_it(name, shape, kind, array, cut, extents, low, high):
    grid, transform = ProcessGrid(*shape, decomposition=decomposition_named(name)), transform_of(extents, kind)
    held = transform.exchanged if array in ("output", "inner output", 1) else extents
    if cut:
        letters = {part[0]: grid.extent(part[-1]) for part in cut.split(", ")}
        order = {part[-1]: part[0] for part in cut.split(", ")}
        first, second = order["r"], order["c"]  # rank q R + p has position p of r and q of c
        ends = {axis: np.cumsum([0, *lengths(n, letters.get(axis, 1))]) for axis, n in zip("xyz", held)}
        mine = [{first: p, second: q} for q in range(grid.extent("c")) for p in range(grid.extent("r"))]
        parts = [[range(ends[a][at.get(a, 0)], ends[a][at.get(a, 0) + 1]) for a in "xyz"] for at in mine]
    else:
        axis = 0 if array == "input" else 1
        parts = boxes(held, [shape[0] if i == axis else 1 for i in range(3)])
    owner = {}
    for rank, part in enumerate(parts):
        for x in part[0]:
            for y in part[1]:
                owner |= {(x, y, z): rank for z in part[2]}
    assert len(owner) == np.prod(held)
    above = low if high is None else high
    expected = Counter()
    for rank, part in enumerate(parts):
        if not all(map(len, part)):
            continue
        wide = [[i % n for i in range(one.start - a, one.stop + b)] for one, a, b, n in zip(part, low, above, held)]
        expected.update((owner[x, y, z], rank) for x in wide[0] for y in wide[1] for z in wide[2])
    expected = {pair: n for pair, n in expected.items() if pair[0] != pair[1]}
    told = halo(grid, transform, array, low, high)
    assert {tuple(pair): n for pair, n in zip(told.members.tolist(), told.group_weight.tolist())} == expected
    assert told.unit_bytes == (8 if kind == "r2c" and array == "input" else 16)


@pytest.mark.parametrize("array, low, words", [
    ("input", (8, 0, 0), "8 planes along x, where the array has 7; give 0 to 7"),
    ("input", (0, -1, 0), "-1 planes along y"),
    ("output", (0, 0, 1), "1 planes along z, where the array has 5; give 0 to 0"),
    ("middle", (0, 0, 0), "array 'middle' is unknown; known are input, inner input, output, inner output, 0, 1, 2")])
def test_what_is_no_halo_is_refused(array, low, words):
    with pytest.raises(GridError) as error:
        halo(ProcessGrid(2, 3), transform_of((7, 5, 9), "r2c"), array, low)
    assert words in str(error.value)
    assert halo(ProcessGrid(2, 3), transform_of((7, 5, 9), "r2c"), "input", (7, 5, 9)).members.shape[1] == 2
