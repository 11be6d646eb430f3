"""Decompositions, halos, distributed lines and algorithms of exchanges, compared with counts of elements and messages."""

import re
from collections import Counter
from itertools import permutations, product as cartesian
from math import ceil, inf, prod
from pathlib import Path

import networkx
import numpy as np
import pytest

from pencilmap.mapper.placements import place
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.seeds.products import best_product, rank_grids
from pencilmap.mapper.setting import setting
from pencilmap.model import algorithms
from pencilmap.model.algorithms import ALGORITHMS, algorithm_named
from pencilmap.model.base.errors import GridError, PencilmapError, ScheduleError
from pencilmap.model.decompositions import CUBIC, DECOMPOSITIONS, SLAB, ExchangeStage, LocalPass, decomposition_named
from pencilmap.model.kinds import network_named
from pencilmap.model.lines.line_plan import (
    block_sizes,
    break_even,
    convolution_of,
    crossbar_break_even,
    exchanges_of_line,
    factors,
    line_stages,
    line_times,
    matrix_of,
)
from pencilmap.model.lines.line_problem import brick_line_stages, brick_lines_forecast, check_bricks
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import product_of
from pencilmap.model.placement.transform import TYPES, Transform, block_lengths, parse_transform, transform_of
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds
from pencilmap.model.predict.program import predict_program
from pencilmap.model.times.costs import Costs, MessageRange
from pencilmap.model.traffic.exchange import exchanges, halo, remaps
from pencilmap.model.traffic.program import Phase, Traffic, pairs_of
from tests.model import brute_force as brute
from tests.model.brute_force import dimension_order
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


POINT = 16  # bytes


def line_on(shape, bandwidth=1e9, tasks=1):
    torus = parse_torus(shape, bandwidth=(bandwidth,) * (shape.count("x") + 1))
    ranks = np.arange(torus.n_nodes * tasks)
    return Mapping(torus, ProcessGrid(1, len(ranks)), tasks, ranks // tasks, ranks % tasks)


@pytest.mark.parametrize("radix", [2, 4])
def test_the_stages_are_a_butterfly_over_all_ranks(radix):
    """The data of a rank after a stage comes from r times as many ranks, and after the last stage from all ranks."""
    for ranks in (1, 2, 12, 16, 17, 31, 32, 60, 127, 256):
        stages = factors(ranks, radix)
        assert prod(stages) == ranks and all(r in (2, 4) or all(r % d for d in range(2, r)) for r in stages)
        reached, size = np.eye(ranks, dtype=bool), 1
        for r, exchange in zip(stages, exchanges_of_line(ranks, radix)):
            assert sorted(exchange.members.ravel()) == list(range(ranks)) and exchange.size == r
            for group in exchange.members:
                reached[group] = reached[group].any(axis=0)
            size *= r
            assert (reached.sum(axis=1) == size).all()
        assert size == ranks


@pytest.mark.parametrize("ranks, radix, all_to_alls, ports", [(16, 2, 1, 1), (256, 2, 3, 1), (256, 4, 2, 3), (64, 4, 1, 1)])
def test_the_break_even_of_a_crossbar_is_where_both_take_as_long(ranks, radix, all_to_alls, ports):
    """By the formula, and by routing on unlimited links, 1 GB/s a node, if a rank keeps its own part of a block."""
    alpha, beta, stages = 1e-6, 1e-9, round(np.log(ranks) / np.log(radix))
    points = crossbar_break_even(ranks, radix, alpha, beta, all_to_alls, ports)
    transposes = all_to_alls * (ceil((ranks - 1) / ports) * alpha + points * POINT * beta)
    binary = stages * (ceil((radix - 1) / ports) * alpha + (radix - 1) * points * POINT * beta)
    assert transposes == pytest.approx(binary)
    costs = Costs(message_cost_s=alpha, injection_per_node=1 / beta)
    mapping = line_on(str(ranks), bandwidth=1e18)
    routed = break_even(line_times(mapping, all_to_alls=all_to_alls, costs=costs, ports=ports),
                        line_times(mapping, radix, costs=costs, ports=ports))
    assert routed == pytest.approx(points, rel=0.1) and routed <= points


def test_the_faster_way_changes_at_the_break_even_of_a_torus():
    mapping, costs = line_on("8x4x2", 1e9), Costs(message_cost_s=2e-6)
    transposes, binary = line_times(mapping, costs=costs), line_times(mapping, 4, costs=costs)
    points = break_even(transposes, binary)
    assert 0 < points < inf
    assert binary.time_s(0.99 * points) < transposes.time_s(0.99 * points)
    assert binary.time_s(1.01 * points) > transposes.time_s(1.01 * points)


@pytest.mark.parametrize("ask, why", [
    (lambda: factors(8, 3), "radix 3 of a binary exchange is unknown; known are 2, 4"),
    (lambda: factors(0, 2), "over 0 ranks has none to hold it; give 1"),
    (lambda: crossbar_break_even(8, 2, 1.0, 1.0, ports=0), "0 ports move nothing; give 1 or more"),
    (lambda: line_times(line_on("4"), all_to_alls=0), "0 all-to-alls move nothing"),
    (lambda: line_times(Mapping(parse_torus("4"), ProcessGrid(1, 4), 1, np.arange(4), np.zeros(4, int))), "no bandwidth"),
])
def test_what_makes_no_sense_is_refused(ask, why):
    with pytest.raises(GridError, match=why):
        ask()


def test_ports_and_starts_by_the_size_of_messages():
    """On a crossbar of 8 ranks, by hand: 7 small messages, 4 at a time, and 3 large messages in turn."""
    network = parse_torus("8", bandwidth=(1e9,))
    mapping = Mapping(network, ProcessGrid(1, 8), 1, np.arange(8), np.zeros(8, dtype=int))
    costs = Costs(messages=(MessageRange(1024, 1e-6, 4), MessageRange(float("inf"), 5e-6)))
    times = [line_times(mapping, radix, 1, costs, points=512).starts_s for radix in (None, 2)]  # 1 KiB, and 8 KiB
    assert times == pytest.approx([2 * 1e-6, 3 * 5e-6])


@pytest.mark.parametrize("size, bricks", [((2, 3, 8), (3, 1, 4)), ((8, 1, 4), (2, 2, 2)), ((5, 2, 9), (2, 3, 3))])
@pytest.mark.parametrize("backward", [False, True])
def test_messages_of_bricks_are_those_of_what_each_sends(size, bricks, backward):
    """Bricks without a plane send nothing, and no message is empty."""
    for stage in brick_line_stages(size, bricks):
        ranks, elements = stage.messages(backward)
        assert len(ranks) == len(elements) and (elements > 0).all() and (ranks[:, 0] != ranks[:, 1]).all()
        sent = np.zeros((prod(bricks),) * 2, dtype=int)
        np.add.at(sent, tuple(ranks.T), elements)
        assert (sent == (stage.sent().T if backward else stage.sent())).all()


@pytest.mark.parametrize("size, bricks, algorithm", [
    ((7, 6, 5), (2, 4, 2), "transpose"), ((16, 8, 4), (4, 2, 2), "binary4"), ((5, 3, 7), (4, 2, 2), "dft")])
@pytest.mark.parametrize("backward", [False, True])
def test_times_of_bricks_are_those_of_messages_walked_one_by_one(size, bricks, algorithm, backward):
    torus, rates = parse_torus("4x4", bandwidth=(1e9, 2e9)), (1e9, 2e9)
    placed = Mapping(torus, ProcessGrid(8, 2), 1, np.random.default_rng(5).permutation(16), np.zeros(16, dtype=int))
    costs, stages = Costs(message_cost_s=1e-6), brick_line_stages(size, bricks, algorithm)
    times = brick_lines_forecast(placed, size, bricks, algorithm, costs=costs, backward=backward)
    for stage, time in zip(stages, times, strict=True):
        turned = backward and stage.stage.is_all_to_all  # whole blocks go to the same ranks either way
        sent = POINT * (stage.sent().T if turned else stage.sent())
        loads = dimension_order(torus, [(a, b, int(sent[a, b])) for a, b in np.argwhere(sent)], placed.node_of_rank)
        assert (time.name, time.sent_bytes, time.link_bytes) == (stage.name, sent.sum(), max(loads.values(), default=0))
        assert time.link_s == pytest.approx(max((float(load) / rates[i] for (_, i, _), load in loads.items()), default=0))
        assert time.messages == (sent > 0).sum(axis=1).max() and time.points == prod(size) / 16
        assert time.time_s == pytest.approx(time.link_s + 1e-6 * time.messages)


@pytest.mark.parametrize("size, bricks, words", [
    ((4, 4), (2, 2, 1), "4x4 points on 2x2x1 bricks; there are three of each, 1 or more"),
    ((4, 4, 4), (2, 0, 1), "4x4x4 points on 2x0x1 bricks"), ((4, 0, 4), (2, 1, 1), "4x0x4 points"),
    ((4, 4, 6), (1, 1, 4), "along z: a binary exchange needs points that divide evenly")])
def test_bricks_that_cannot_be_are_refused(size, bricks, words):
    with pytest.raises(GridError) as error:
        brick_line_stages(size, bricks, "binary2")
    assert words in str(error.value)
    check_bricks((2, 3, 1), 6)
    with pytest.raises(GridError, match="2x3x1 bricks are 6, but there are 7 tasks"):
        check_bricks((2, 3, 1), 7)


LINES = [(12, 4), (64, 8), (60, 7), (127, 4), (31, 3), (1, 3), (5, 8), (360, 16), (97, 9), (2, 2)]


def fullest(n1, n2, ranks):
    """Return the points of the fullest rank, in columns or in rows."""
    return max(block_sizes(n2, ranks).max() * n1, block_sizes(n1, ranks).max() * n2)


def block_owner(n, ranks):
    return np.repeat(np.arange(ranks), block_sizes(n, ranks))


@pytest.mark.parametrize("n, ranks", [*LINES, (1009, 4), (211, 16), (53, 2)])
def test_a_line_that_cannot_be_shared_well_is_convolved_where_that_has_fewer_points_on_a_rank(n, ranks):
    six = fullest(*matrix_of(n, ranks), ranks)
    least = 2 * n - 1
    able = []
    for m in range(least, 2 * least):
        rest = m
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            able.append((fullest(*matrix_of(m, ranks), ranks), m))
    wanted = ranks > 1 and six > 2 * -(-n // ranks) and able and min(able)[0] < six
    found = convolution_of(n, ranks)
    assert found == (matrix_of(min(able)[1], ranks) if wanted else None)


@pytest.mark.parametrize("n, ranks", LINES)
@pytest.mark.parametrize("order", ["natural", "transposed", "transposed-both"])
def test_columns_and_rows_of_a_matrix_are_on_one_rank_and_blocks_at_the_ends(n, ranks, order):
    stages = line_stages(n, ranks, "transpose", order)
    chirp = convolution_of(n, ranks)
    n1, n2 = chirp or matrix_of(n, ranks)
    names = ["to_columns", "to_rows", "from_rows", "to_blocks"] if chirp else {
        "natural": ["to_columns", "to_rows", "to_blocks"], "transposed": ["to_columns", "to_rows"],
        "transposed-both": ["to_rows"]}[order]
    assert [stage.name for stage in stages] == names and all(stage.is_all_to_all for stage in stages)
    label = np.arange(n1 * n2)
    across = next(stage for stage in stages if stage.name == "to_rows")
    columns, rows = across.before(label).reshape(n1, n2), across.after(label).reshape(n1, n2)
    assert (columns == block_owner(n2, ranks)).all() and (rows == block_owner(n1, ranks)[:, None]).all()
    if names[0] == "to_columns":
        assert (stages[0].before(np.arange(n)) == block_owner(n, ranks)).all()
        assert (stages[0].after(np.arange(n)) == columns.ravel()[:n]).all() and stages[0].labels == n
    if names[-1] == "to_blocks":
        assert (stages[-1].after(np.arange(n)) == block_owner(n, ranks)).all()
        frequency = np.arange(n)          # of a six-step transform; k = k1 + N1 k2 is in row k1
        held = columns.ravel()[:n] if chirp else rows[frequency % n1, 0]
        assert (stages[-1].before(frequency) == held).all()
    if chirp:
        back = stages[2]
        assert (back.before(label) == rows.ravel()).all() and (back.after(label) == columns.ravel()).all()
    for stage in stages:
        label = np.arange(stage.labels)
        moved = np.zeros((ranks, ranks), dtype=int)
        np.add.at(moved, (stage.before(label), stage.after(label)), 1)
        np.fill_diagonal(moved, 0)
        assert (stage.sent(ranks, n) == moved).all()


@pytest.mark.parametrize("ranks", [2, 4, 6, 8, 12, 30])
@pytest.mark.parametrize("radix", [2, 4])
def test_binary_stages_leave_each_frequency_where_the_last_exchange_finds_it(ranks, radix):
    """By decimation in frequency: the branch of a stage is a digit of the frequency, the lowest first."""
    n = 3 * ranks
    stages = line_stages(n, ranks, f"binary{radix}")
    assert [stage.size for stage in stages[:-1]] == list(factors(ranks, radix))[::-1]
    assert [stage.apart for stage in stages[:-1]] == [
        int(ranks // np.prod([stage.size for stage in stages[:i + 1]])) for i in range(len(stages) - 1)]
    frequency = np.zeros(ranks, dtype=int)
    weight = 1
    for stage in stages[:-1]:
        frequency += np.arange(ranks) // stage.apart % stage.size * weight
        weight *= stage.size
    k = np.arange(n)
    assert (frequency[stages[-1].before(k)] == k % ranks).all() and (stages[-1].after(k) == block_owner(n, ranks)).all()
    assert stages[:-1] == line_stages(n, ranks, f"binary{radix}", "transposed")
    for stage in stages[:-1]:
        sent = stage.sent(ranks, n)
        assert (sent.sum(axis=1) == 3 * (stage.size - 1)).all() and (sent == sent.T).all()
        near = np.abs(np.subtract.outer(np.arange(ranks), np.arange(ranks)))
        assert (near[sent > 0] % stage.apart == 0).all() and (near[sent > 0] < stage.apart * stage.size).all()


@pytest.mark.parametrize("n, ranks", LINES)
def test_by_sums_each_gets_what_the_others_hold_or_sends_what_they_want(n, ranks):
    [gather], [scatter] = (line_stages(n, ranks, name) for name in ("dft", "dft-reduce"))
    held, others = block_sizes(n, ranks), 1 - np.eye(ranks, dtype=int)
    assert (gather.sent(ranks, n) == held[:, None] * others).all() and (scatter.sent(ranks, n) == held * others).all()
    assert (gather.name, scatter.name) == ("gather", "scatter")
    for name in ("dft", "dft-reduce"):
        [stage] = line_stages(n, ranks, name, "transposed")
        assert (stage.name == "stage_1") == (n % ranks == 0)


@pytest.mark.parametrize("words, said", [
    ((8, 4, "binari2"), "algorithm 'binari2' of a line is unknown (did you mean binary2?); known are transpose, binary2"),
    ((8, 4, "dft", "natura"), "order 'natura' of a line is unknown (did you mean natural?); known are natural, transposed"),
    ((0, 4), "a line of 0 points over 4 ranks; both are 1 or more"), ((4, 0), "a line of 4 points over 0 ranks"),
    ((10, 4, "binary2"), "10 points are not a multiple of 4 ranks; take 12 points")])
def test_what_is_no_line_is_refused(words, said):
    with pytest.raises(GridError) as error:
        line_stages(*words)
    assert said in str(error.value)
    assert [line_stages(8, 1, name) for name in ("transpose", "binary2", "dft")] == [()] * 3


TABLE = Path(__file__).parents[2] / "fft_runner" / "src" / "exchange" / "exchange_table.c"
NO_ALGORITHMS = {"auto"}  # auto chooses another algorithm


def messages(exchange):
    """Return {(source, target): bytes} of an exchange or a round, without data that stays on its rank."""
    sent = Counter()
    for ranks, weight in zip(exchange.members, exchange.group_weight):
        for source, s in zip(ranks, exchange.send_weight):
            for target, r in zip(ranks, exchange.receive_weight):
                if source != target and weight * s * r:
                    sent[int(source), int(target)] += int(weight * s * r) * exchange.unit_bytes
    return sent


def scattered(grid, tasks_per_node, seed=1):
    """Return ranks in random slots of a line of nodes."""
    torus = parse_torus(f"{grid.n_tasks // tasks_per_node}:mesh")
    slots = np.random.default_rng(seed).permutation(grid.n_tasks)
    return Mapping(torus, grid, tasks_per_node, slots // tasks_per_node, slots % tasks_per_node)


SCATTERED = [((4, 6), 4, (17, 23, 19)), ((5, 3), 3, (15, 15, 15)), ((8, 2), 2, (16, 8, 24)), ((1, 6), 2, (12, 13, 14))]


@pytest.fixture(params=SCATTERED, ids=str)
def case(request):
    shape, tasks, size = request.param
    mapping = scattered(ProcessGrid(*shape), tasks)
    return mapping, exchanges(mapping.grid, Transform(*size))


def test_the_model_knows_every_algorithm_of_the_library():
    rows = re.findall(r"^    X\((\w+)\)", TABLE.read_text("utf-8"), re.MULTILINE)
    assert [name for name in rows if name not in NO_ALGORITHMS] == list(ALGORITHMS)


@pytest.mark.parametrize("name", ["alltoallv", "alltoallw", "persistent", "put", "p2p"])
def test_every_message_is_in_one_round(case, name):
    mapping, found = case
    for exchange in found:
        carried = [messages(each) for each in algorithm_named(name).rounds(exchange, mapping)]
        assert sum(carried, Counter()) == messages(exchange)
        assert sum(map(len, carried)) == len(messages(exchange))


def test_without_coordinates_a_rank_sends_one_message_in_a_step_of_p2p(case):
    mapping, found = case
    network = from_networkx(networkx.path_graph(mapping.network.n_nodes), "line")
    mapping = Mapping(network, mapping.grid, mapping.tasks_per_node, mapping.node_of_rank, mapping.slot_of_rank)
    for exchange in found:
        rounds = algorithm_named("p2p").rounds(exchange, mapping)
        assert len(rounds) == max(1, exchange.size - 1)
        for each in map(messages, rounds):
            assert len({source for source, _ in each}) == len({target for _, target in each}) == len(each)


def blocks_by_digits(exchange, radix):
    """Return {(round, source, target): bytes}, block by block: the digits of a distance in turn."""
    sent, p = Counter(), exchange.size
    for ranks, weight in zip(exchange.members, exchange.group_weight):
        for source in range(p):
            for distance in range(1, p):
                size = weight * exchange.send_weight[source] * exchange.receive_weight[(source + distance) % p]
                at, left, unit, number = source, distance, 1, 0
                while left and size:
                    left, digit = divmod(left, radix)
                    after = (at + digit * unit) % p
                    if digit:
                        sent[number, int(ranks[at]), int(ranks[after])] += int(size) * exchange.unit_bytes
                    at, unit, number = after, unit * radix, number + 1
    return sent


@pytest.mark.parametrize("radix", [2, 4, 8])
def test_a_message_of_bruck_carries_all_blocks_of_its_digit(case, radix):
    mapping, found = case
    for exchange in found:
        rounds = algorithm_named(f"bruck{radix}").rounds(exchange, mapping)
        assert {(k, *pair): size for k, each in enumerate(rounds) for pair, size in messages(each).items()
                } == blocks_by_digits(exchange, radix)


@pytest.mark.parametrize("name", ["padded", "fftw"])
def test_padding_makes_the_messages_of_a_group_as_long_as_its_longest(case, name):
    mapping, found = case
    for exchange in found:
        [each] = algorithm_named(name).rounds(exchange, mapping)
        for ranks, weight in zip(exchange.members, exchange.group_weight):
            longest = int(weight) * exchange.send_weight.max() * exchange.receive_weight.max() * exchange.unit_bytes
            assert {messages(each)[a, b] for a in ranks for b in ranks if a != b} <= {int(longest)}
        assert messages(each).keys() == messages(exchange).keys()


def test_alltoall_is_refused_where_a_group_has_messages_of_several_lengths():
    grid = ProcessGrid(4, 6)
    for exchange in exchanges(grid, Transform(12, 24, 24)):
        assert algorithm_named("alltoall").rounds(exchange, scattered(grid, 1)) == (exchange,)
    with pytest.raises(GridError, match="row exchange blocks of 5 and 6; take padded or alltoallv"):
        algorithm_named("alltoall").rounds(exchanges(grid, Transform(12, 24, 23))[0], scattered(grid, 1))


def test_node_sends_one_message_between_two_nodes_with_all_their_bytes(case):
    mapping, found = case
    for exchange in found:
        [each] = algorithm_named("node").rounds(exchange, mapping)
        group = {int(rank): g for g, ranks in enumerate(exchange.members) for rank in ranks}
        expected, node = Counter(), mapping.node_of_rank
        for (a, b), size in messages(exchange).items():
            if node[a] != node[b]:
                expected[group[a], node[a], node[b]] += size
        assert Counter({(group[a], node[a], node[b]): size for (a, b), size in messages(each).items()}) == expected
        shares = Counter(a for a, _ in messages(each))
        for ranks in exchange.members:  # the ranks of a node differ by at most one message
            for here in set(node[ranks]):
                mine = [shares[int(rank)] for rank in ranks if node[rank] == here]
                assert max(mine) - min(mine) <= 1


def test_the_times_of_rounds_add_up_and_so_do_their_messages():
    """The busiest link of a line of four carries 2 messages in each of two phases, and 4 of all messages at once."""
    where = setting(network="4:mesh", bandwidth="1 MB/s", fft="16")
    placed = where.place("default", where.grid("4x1"))
    steps, at_once = (predict(placed, where.transform, exchange=[name, "alltoallv"]).stages[0]
                      for name in ("p2p", "alltoallv"))
    message_s = 16 * 16**3 / 16 / 1e6
    assert at_once.t_s == pytest.approx(4 * message_s)
    assert (steps.t_s, steps.n_rounds, steps.work.messages) == (pytest.approx(4 * message_s), 2, 3)
    assert steps.terms.link_s == pytest.approx(steps.t_s) and len(steps.rounds) == 2


@pytest.mark.parametrize("torus, slots, R, C, rows, columns", [
    ("8wx4", 2, 4, 16, [[2], [3], [1]], [[4, 6, 12, 14], [1, 3, 9, 11], [2, 8], [5, 15], [7, 13], [10]]),
    ("4x4", 2, 4, 8, [[2], [3], [1]], [[2, 3, 6, 7], [1, 4], [5]]),
    ("4x4x4", 1, 8, 8, [[1, 3, 5, 7], [2, 4], [6]], [[2, 3, 6, 7], [1, 4], [5]]),
    ("7x5", 1, 5, 7, [[2, 3], [1, 4]], [[1, 2, 3, 4, 5, 6]])])
def test_partners_of_rank_0_are_those_that_the_library_prints(torus, slots, R, C, rows, columns):
    """Data that stays on a node ends in its own phase; partners_test.c does so, too."""
    network, rank = parse_torus(torus), np.arange(R * C)
    for group, expected in ((rank // R, rows), (rank % R, columns)):
        found = algorithms.phases(network, network.coordinates(rank // slots), group, 0)
        assert [sorted(phase[:, 0].tolist()) for phase in found] == expected
