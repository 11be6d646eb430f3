"""`best` over its families, with every placement routed again hop by hop; ties between grids."""

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import permutations
from math import prod
from random import Random

import pytest

from pencilmap.mapper.base.search import BUDGET, Search, search_of
from pencilmap.mapper.choose import faster_choice, plan, predictions
from pencilmap.mapper.place import best_placement, place as place_of
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.seeds.products import best_product
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GridError, MappingError, PlacementError, ScheduleError
from pencilmap.model.decompositions import PENCIL, SLAB
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid, Transform, parse_grid
from pencilmap.model.predict import answer, predict
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.schedules import objectives
from pencilmap.model.schedules.schedule import BACKWARD, DIRECTIONS, FORWARD
from pencilmap.model.times.timing import TIE
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import routed_joint
from tests.model.test_switched_networks import RANDOM


def hops(torus, a, b):
    """Return the links of a message in dimension order and its share on each, ties in halves."""
    here = list(torus.coordinates(a))
    for i, n in enumerate(torus.shape):
        to, ways = int(torus.coordinates(b)[i]), []
        for step in (1, -1):
            length = (to - here[i]) * step
            ways.append((length % n if torus.is_ring(i) else length, step))
        ways = [way for way in ways if way[0] >= 0]
        shortest = min(ways)[0]
        ways = [way for way in ways if way[0] == shortest > 0]
        for length, step in ways:
            at = list(here)
            for _ in range(length):
                yield (i, step, *map(int, at)), Fraction(1, len(ways))
                at[i] = (at[i] + step) % n
        here[i] = to


def brute_loads(mapping):
    """Return for each exchange the load of every link on the m scale."""
    torus, grid, found = mapping.network, mapping.grid, []
    for letter, size in zip("rc", grid.shape):
        loads = {}
        for group in grid.groups(letter):
            for a in group:
                for b in group:
                    for link, share in hops(torus, int(mapping.node_of_rank[a]), int(mapping.node_of_rank[b])):
                        loads[link] = loads.get(link, 0) + share * Fraction(4 * torus.n_nodes, grid.n_tasks * size)
        found.append(loads)
    return found


@pytest.mark.parametrize("shape, grid, tasks, most", [
    ("7x7", "14x7", 2, 6.29), ("4x5:mesh", "4x5", 1, 8.6),
    pytest.param("13x13:mesh", "13x13", 1, 18.2, marks=pytest.mark.slow),
    pytest.param("10x10:mesh", "10x10", 1, 14.4, marks=pytest.mark.slow),
    pytest.param("47x47:mesh", "47x47", 1, 60, marks=pytest.mark.slow),
    pytest.param("97x97", "97x97", 1, 60, marks=pytest.mark.slow),
    pytest.param("10x10", "10x20", 2, 7.4, marks=pytest.mark.slow),
    pytest.param("6x6x6", "16x27", 2, 4.67, marks=pytest.mark.slow),
    ("5x3", "3x5", 1, 3.74), ("2x2x4", "4x4", 1, 4.0), ("3x4:mesh", "3x4", 1, 6.0)])
def test_best_in_sequence_is_never_worse_than_digits(shape, grid, tasks, most):
    site, grid = setting(network=shape, tasks_per_node=tasks).site, parse_grid(grid)
    found = place("best", site, grid)
    rows, columns = brute_loads(as_mapping(found, "found"))
    cost = max(rows.values()) + max(columns.values())
    assert cost == predict(found, site=site).cost <= predict(best_product(site.network, grid, tasks)).cost
    assert cost <= most + 0.005


def test_of_equal_times_fewer_and_larger_messages_come_first():
    found = setting(machine="bluegene-q", network="4x4x4x4x2").predictions(placements=("default",))
    times = [p.worth for p in found]
    first = [p for p in found if p.worth <= min(times) * TIE]
    assert found[0].n_messages == min(p.n_messages for p in first) < max(p.n_messages for p in first)
    assert [p.worth for p in found[1:]] == sorted(p.worth for p in found[1:])
    assert ranked(found[::-1])[0].n_messages == found[0].n_messages


@pytest.mark.thorough
@pytest.mark.parametrize("shape, grid, least", [("47x47", "47x47", 30.81), ("13x13x13", "13x169", 9.24)])
def test_tilings_are_searched_above_the_slots_of_the_local_search(shape, grid, least):
    """Products of digit patterns of a prime extent put whole lines into a row: 46.98 and 12.92."""
    families = import_module("pencilmap.mapper.placements.best")
    site = setting(network=shape).site
    product, tiling = candidates(site, parse_grid(grid))
    assert site.n_slots > families.MOST_SWAPPED and predict(tiling).cost < least < predict(product).cost
    assert tiling.name.startswith("lattice:")


@pytest.mark.thorough
@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape, tasks, grid, fft, schedule, most", [
    ("6x5x4", 3, "18x20", (61, 67, 50), "sequence", 5.43), ("7x5x3", 4, "20x21", None, "sequence", 5.457),
    ("12x5", 1, "6x10", None, "two-way", 7.267), ("5x4", 2, "8x5", (11, 13, 9), "sequence", 5.2)])
def test_the_local_search_improves_products_on_whole_tori(shape, tasks, grid, fft, schedule, most):
    """Products are 6.314, 5.829, 7.333 and 5.66; bounds of a longer annealing 5.43, 5.457 and 7.267."""
    site, grid, transform = setting(network=shape, tasks_per_node=tasks).site, parse_grid(grid), fft and Transform(*fft)
    wanted, rule = objectives(schedule, grid)[0], DimensionOrder()

    def cost(placed):
        mapping = as_mapping(placed, "found")
        return wanted.of_loads(routed_joint(site.network, exchanges(grid, transform), mapping.node_of_rank, rule))

    product, found = candidates(site, grid, wanted, transform=transform)
    assert cost(found) <= Fraction(most) < cost(product)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_best_is_never_worse_than_any_other_placement(seed):
    random = Random(seed)
    while True:
        shape, tasks = [random.randint(2, 9) for _ in range(random.randint(1, 3))], random.randint(1, 3)
        slots = prod(shape) * tasks
        rows = [r for r in range(2, slots) if slots % r == 0]
        if 12 <= slots <= 250 and rows:
            break
    holes = random.choice([0, 0, 1])
    network = "x".join(map(str, shape)) + random.choice(["", "", ":mesh"])
    site = Site(parse_torus(network), tasks, Allocation(parse_torus(network)).without([1]) if holes else None, idle=True)
    grid = parse_grid(f"{rows[len(rows) // 2]}x{slots // rows[len(rows) // 2] - holes * tasks}")
    least = predict(place("best", site, grid), site=site).cost
    for text in ("search:evaluations=20000", "lattice", "default", "default:nt", "default:tn", "line", "plane"):
        try:
            other = place(text, site, grid)
        except (PlacementError, GridError, MappingError):  # does not fit this network or grid
            continue
        assert float(least) <= float(predict(other, site=site).cost) + 1e-9, (network, tasks, str(grid), holes, text)


def drawn_question(rng, kind):
    """Return a small setting with or without holes, idle slots and uneven blocks, a grid, and a question."""
    drawn = {"torus": lambda rng: rng.choice(["4x3", "5x2:mesh", "3x2x2", "7"]),
             "twisted": lambda rng: rng.choice(["2x4:twisted", "3x4:twist=xy2", "2x2x4:twisted"]), **RANDOM}
    rate = rng.choice([None, "1 GB/s"])
    where = setting(network=drawn[kind](rng), tasks_per_node=rng.randint(1, 3), idle=True, bandwidth=rate)
    n = where.network.n_nodes
    nodes = Allocation(where.network, sorted(rng.sample(range(n), rng.randint((n + 1) // 2, n))))
    where = replace(where, site=replace(where.site, allocation=nodes))
    most = min(where.n_slots, rng.choice([16, where.n_slots]), 40)
    rows = rng.randint(1, most)
    shape = rng.choice([(1, most), (most, 1), (rows, most // rows), (rows, most // rows), (most,)])
    grid = parse_grid("x".join(map(str, shape)), SLAB if len(shape) == 1 else PENCIL)
    fft = Transform(*(max(shape) * rng.randint(1, 3) + rng.randint(0, max(shape)) for _ in "xyz"))
    schedule, direction = rng.choice(["sequence", "sequence", "overlap:2"]), rng.choice(DIRECTIONS)
    question = replace(where, transform=rng.choice([None, fft, fft]), decomposition=grid.decomposition)
    if direction != "forward" and question.transform is None:
        return question, grid
    return replace(question, schedule=schedule).towards(direction), grid


def check_never_worse(question, grid, share):
    """`best` is never slower than the launch order, and 1xP is the same question as P slabs."""
    try:
        launch = answer(question, place_of(question, "default", grid))
    except ScheduleError:  # lanes need longer axes
        return 0
    best = best_placement(question, grid, Search(BUDGET // share if share else 0))[1]
    assert best.worth <= launch.worth, (grid, question)
    if grid.decomposition is PENCIL and grid.shape[0] == 1 < grid.n_tasks:
        slab, asked = ProcessGrid(grid.n_tasks, decomposition=SLAB), replace(question, schedule="sequence")
        pencil, slab = (best_placement(asked, one, Search(BUDGET // share if share else 0))[1] for one in (grid, slab))
        assert float(pencil.cost) == pytest.approx(float(slab.cost))
        assert float(pencil.lower_bound.value) == pytest.approx(float(slab.lower_bound.value))
    return 1


@pytest.mark.parametrize("kind", ["torus", "twisted", *RANDOM])
def test_best_is_never_slower_than_the_launch_order_of_the_grid_as_given(kind):
    rng = Random(f"launch {kind}")
    assert sum(check_never_worse(*drawn_question(rng, kind), rng.choice([0, 0, 400])) for _ in range(12)) > 6


@pytest.mark.parametrize("network, tasks, fft, grid", [("fat-tree:leaves=19,hosts=20,up=5", 8, "512", "160x19"),
                                                       ("fat-tree:leaves=25,hosts=40,up=20", 8, "512", "25x320")])
def test_a_launch_order_that_is_faster_than_its_transpose_is_not_lost(network, tasks, fft, grid):
    where = setting(network=network, tasks_per_node=tasks, fft=fft, bandwidth="1 GB/s")
    best, launch = predictions(where, parse_grid(grid), ["best", "default"], Search(0))
    assert best.time_s <= launch.time_s
    plan_of = plan(where, grids=[parse_grid(grid)], effort="quick", schedules=["sequence"])
    assert min(choice.prediction.time_s for choice in plan_of.choices) == plan_of.best.prediction.time_s <= launch.time_s


@pytest.mark.parametrize("network, grid", [("8x8x8", "8x64"), ("8x8x8", "16x32"), ("8x8x8:mesh", "16x32"),
                                           ("4x4", "2x8"), ("dragonfly:a=8,p=4,h=4", "16x66"),
                                           ("fat-tree:leaves=32,hosts=16,up=8", "16x32")])
def test_a_plan_and_a_prediction_find_the_same_schedule(network, grid):
    """The best placement in sequence is not the best under overlap: 8x64 takes 0.786 ms in sequence, 0.557 ms at once."""
    where = setting(network=network, fft="256", bandwidth="1 GB/s")
    found = predictions(replace(where, schedule="best"), parse_grid(grid), ["default", "best"], Search(0))
    planned = plan(where, grids=[parse_grid(grid)], effort="quick", schedules=["best"]).best.prediction
    assert planned.worth == pytest.approx(min(p.worth for p in found))
    if other := faster_choice(where, predictions(where, parse_grid(grid), ["best"], Search(0))[0], any_schedule=True):
        assert other.prediction.worth == pytest.approx(planned.worth)


@pytest.mark.parametrize("effort", ["quick", "normal"])
@pytest.mark.parametrize("grid", ["1x256", "504x1"])
def test_one_group_that_leaves_nodes_idle_takes_the_best_nodes_of_all_orders(grid, effort):
    where = setting(network="8x8x8", bandwidth="5 GB/s", fft="512", failed="3-0-0,5-1-1", idle=True)
    names = ["default", *(f"default:t{''.join(order)}" for order in permutations("xyz"))]
    best, *orders = predictions(where, parse_grid(grid), ["best", *names], search_of(effort))
    assert best.time_s <= min(order.time_s for order in orders) < max(order.time_s for order in orders)


def test_best_of_a_direction_is_best_for_its_exchanges():
    """The blocks differ, so a backward transform loads other links than a forward transform; a pair loads both."""
    wheres = {direction: setting(network="4x3:mesh", fft="9x4x11", direction=direction) for direction in DIRECTIONS}
    grid = parse_grid("4x3")
    placed = {direction: best_placement(where, grid, Search(BUDGET // 200))[0] for direction, where in wheres.items()}
    for direction, where in wheres.items():
        costs = {other: where.predict(each).schedule.cost for other, each in placed.items()}
        assert costs[direction] == min(costs.values())
        named = setting(network="4x3:mesh", fft="9x4x11").predictions("4x3", ["default"], direction=direction)[0]
        assert named.schedule.cost == where.predictions("4x3", ["default"])[0].schedule.cost
        assert named.as_dict()["direction"] == direction
    assert wheres[BACKWARD].predict(placed[FORWARD]).cost > wheres[BACKWARD].predict(placed[BACKWARD]).cost
    c2r = setting(network="4x3:mesh", fft="9x4x11:c2r").predictions("4x3", ["default"])[0]
    assert c2r.as_dict()["direction"] == BACKWARD
