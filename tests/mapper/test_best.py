"""`best` over its families, also beside halos, with placements routed again hop by hop; plans and all predictions."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product as cartesian
from math import prod
from random import Random

import numpy as np
import pytest

from pencilmap import model
from pencilmap.mapper import choose, place as place_module
from pencilmap.mapper.base import search as search_module
from pencilmap.mapper.base.search import BUDGET, Search
from pencilmap.mapper.choose import faster_choice, plan, predictions
from pencilmap.mapper.choose.choices import Wanted, least_s
from pencilmap.mapper.place import best_placement, place as place_of
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.searches.traffic_search import swaps_of_transform
from pencilmap.mapper.seeds.products import best_product
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GridError, MappingError, PencilmapError, PlacementError, ScheduleError
from pencilmap.model.decompositions import PENCIL, SLAB, decomposition_named
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, all_grids, parse_grid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import answer, predict
from pencilmap.model.predict.ranking import order, ranked, worth
from pencilmap.model.schedules import objectives
from pencilmap.model.schedules.schedule import BACKWARD, DIRECTIONS, FORWARD
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import TIE
from pencilmap.model.traffic.exchange import exchanges, halo
from pencilmap.model.traffic.loads import in_sequence, routed_joint
from tests.mapper.test_network_search import walked_cost
from tests.model import brute_force as brute
from tests.model.test_networks import RANDOM


@pytest.mark.parametrize("shape, grid, tasks, most", [
    ("7x7", "14x7", 2, 6.29), ("4x5:mesh", "4x5", 1, 8.6),
    pytest.param("13x13:mesh", "13x13", 1, 18.2, marks=pytest.mark.slow),
    pytest.param("97x97", "97x97", 1, 60, marks=pytest.mark.slow),
    pytest.param("10x10", "10x20", 2, 7.4, marks=pytest.mark.slow),
    pytest.param("6x6x6", "16x27", 2, 4.67, marks=pytest.mark.slow),
    ("5x3", "3x5", 1, 3.74), ("2x2x4", "4x4", 1, 4.0), ("3x4:mesh", "3x4", 1, 6.0)])
def test_best_in_sequence_is_never_worse_than_digits(shape, grid, tasks, most):
    site, grid = setting(network=shape, tasks_per_node=tasks).site, parse_grid(grid)
    found = place("best", site, grid)
    cost = walked_cost(site.network, grid, as_mapping(found, "found").node_of_rank)
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


ODD = {"network": "3x2", "bandwidth": "1 GB/s"}


def every_way(where, by):
    """Yield the worth of every grid of pencils and slabs, under several placements and schedules."""
    for name, schedule, text in cartesian(("pencil", "slab"), ("sequence", "best", "overlap:2"), ("best", "default")):
        for grid in all_grids(where.n_slots, decomposition_named(name)):
            if where.transform.fills(grid):
                try:
                    p = where.predict(where.place(text, grid, schedule), schedule=schedule)
                except PencilmapError:
                    continue  # the grid has fewer planes than chunks
                yield worth(p, by)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("by", ["transform", "exchanges"])
@pytest.mark.parametrize("costs", [Costs(), Costs(fft_rate_per_task=1e8, message_cost_s=1e-5)], ids=["links", "costs"])
def test_nothing_that_is_predicted_is_faster(by, costs):
    where = replace(setting(fft="12x8x10", **ODD), costs=costs)
    found = plan(where, by=by)
    assert found.best.worth <= 1.01 * min(every_way(where, by)) and found.by == by


QUESTIONS = 30
SHAPES = ("4x2", "3x3", "4x4", "2x2x4", "5x2", "4x3:mesh", "6x2", "8", "2x3x2", "4x4:mesh")
SWITCHED = ("fat-tree:leaves=4,hosts=3,up=2", "dragonfly:a=2,p=2,h=1", "hyperx:2x3,hosts=2")
FIGURES = (Costs(), Costs(), Costs(fft_rate_per_task=1e8, message_cost_s=1e-5, injection_per_node=2e8))


def drawn_setting(draw):
    """Return the arguments of a setting: small networks, with and without transform, rates and failed nodes."""
    shape, tasks = draw.choice(SHAPES), draw.choice((1, 1, 2))
    sizes = [draw.choice((16, 20, 24, 30)) for _ in range(3)] if draw.random() < 0.4 else [draw.choice((16, 32))] * 3
    given = {"network": shape, "tasks_per_node": tasks, "fft": "x".join(map(str, sizes)), "bandwidth": "1 GB/s"}
    if draw.random() < 0.2:
        given["failed"] = "-".join("1" for _ in shape.partition(":")[0].split("x"))
    elif draw.random() < 0.4:
        given["network"] = draw.choice(SWITCHED)
    for name in ("fft", "bandwidth"):
        if draw.random() < 0.15:
            del given[name]
    return given


@pytest.fixture
def brief(monkeypatch):
    """Searches of few evaluations."""
    monkeypatch.setattr(search_module, "BUDGET", 500_000)


@pytest.mark.usefixtures("brief")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(QUESTIONS))
def test_all_ways_to_ask_have_the_same_first_choice(seed):
    """The plan, the grid and the ranking of a setting, the public name, and the mapfile of the recommended text."""
    import pencilmap

    draw = random.Random(seed)
    given, costs = drawn_setting(draw), draw.choice(FIGURES)
    where = replace(setting(**given), costs=costs)
    best = plan(where).best
    again = pencilmap.plan(replace(pencilmap.setting(**given), costs=costs)).best
    assert str(again.network) == str(best.network)  # equal networks of switches are different objects
    assert (again.key[1:], again.placement, again.worth) == (best.key[1:], best.placement, best.worth)
    assert where.grid() == best.grid
    first = where.predictions("best", ["best", "default"])[0]
    assert (first.grid, first.placement, first.schedule.name) == (best.grid, best.prediction.placement, best.schedule)
    mapping, made = best.mapping(), as_mapping(where.place(best.placement, best.grid, best.schedule), "again")
    question = {"schedule": best.schedule, "exchange": best.exchange}
    assert where.predict(mapping, **question).schedule.cost == where.predict(made, **question).schedule.cost
    assert where.predict(mapping, **question).schedule.cost == best.prediction.schedule.cost


def test_nothing_is_searched_if_the_first_choice_takes_the_least_that_any_grid_takes(monkeypatch):
    asked = []
    monkeypatch.setattr(Wanted, "_searched", lambda self, leader, *given: asked.append(str(leader.grid)) or leader)
    plan(setting(network="4x4x4", fft="64", bandwidth="1 GB/s"))
    assert not asked
    plan(setting(network="4x4x4", fft="64", bandwidth="1 GB/s"), grids=[all_grids(64)[3]], schedules=["sequence"])
    assert asked


@pytest.mark.usefixtures("brief")
@pytest.mark.thorough
def test_each_option_names_the_only_values_to_try():
    where = setting(network="4x4", fft="32", bandwidth="1 GB/s")
    for option, values, of in (("decompositions", [decomposition_named("slab")], lambda c: c.decomposition),
                               ("grids", [where.grid("2x8"), where.grid("8x2")], lambda c: c.grid),
                               ("placements", ["default", "box:2x2"], lambda c: c.placement),
                               ("exchanges", ["p2p", "alltoallv"], lambda c: c.exchange),
                               ("schedules", ["overlap:2", "sequence"], lambda c: c.schedule.removesuffix(":x"))):
        found = plan(where, **{option: values})
        assert {of(c) for c in found.choices} == set(values), option


def test_shapes_of_a_number_of_nodes_are_ranked_together():
    where = setting(machine="bluegene-l", nodes=1024, fft="256")
    found = plan(where, effort="quick")
    assert {str(c.network) for c in found.choices} <= {str(here.network) for here in where.shapes} and where.shapes
    for here in where.shapes:
        assert found.best.worth <= 1.01 * plan(here, effort="quick").best.worth
    assert found.best.where.site.network == found.best.network == found.best.placed.torus


@pytest.mark.parametrize("torus, tasks", [("3x2", 2), ("4x3", 1)])
def test_what_is_not_routed_could_not_have_come_first(torus, tasks):
    """The least time of an exchange, from no link load, is below its prediction."""
    where = setting(fft="24x16x20", network=torus, bandwidth="1 GB/s", tasks_per_node=tasks)
    object.__setattr__(where, "costs", Costs(message_cost_s=1e-6, exchange_cost_s=2e-6, contention=0.5))
    for grid in ("3x4", "2x6"):
        [leader] = where.predictions(grid, ["default"])
        for name in ("p2p", "node", "bruck2"):
            [other] = where.predictions(grid, ["default"], exchange=name)
            assert 0 <= least_s(leader, name) <= worth(other) * (1 + 1e-9)
        assert (least_s(leader, "node") == leader.known_s) == (tasks == 1)
        assert least_s(leader, "p2p") > 0.5 * worth(leader) and least_s(leader, "bruck2") == 0


@pytest.mark.parametrize("network", ["3x3:mesh", "4x4", "fat-tree:leaves=4,hosts=4,up=2"])
def test_a_robust_first_answer_predicts_under_every_rule_only_grids_that_may_come_first(network, monkeypatch):
    where = setting(network=network, fft="36", bandwidth="1 GB/s", tasks_per_node=2, robust=True)
    every, tried = [], []
    for grid in all_grids(where.n_slots, where.decomposition):
        every += [best_placement(where, grid, search_module.Search(0))[1], where.predict(where.place("default", grid))]
    for module in (model.predict, choose, place_module):
        monkeypatch.setattr(module, "answer", lambda question, placed, name=None, known=model.predict.answer:
                            tried.append((placed.grid, question.routing)) or known(question, placed, name))
    found = plan(where, schedules=["sequence"], effort="quick", decompositions=[where.decomposition])
    assert found.best.worth == min(every, key=order).worth
    assert len({grid for grid, rule in tried if rule}) < len({grid for grid, _ in tried})


def test_the_command_prints_what_to_take_and_measure(pencilmap, pencilmap_json):
    words = ("plan", "--network", "2x2", "--bandwidth", "1 GB/s", "--fft", "16")
    found = pencilmap_json(*words, "--top", 3)
    assert len(found) == 3 and found[0]["deciding_term"] == "link_s"
    status, out, _ = pencilmap(*words, "-t", 2, "--threads", 2)
    assert status == 0 and "too near to tell: " in out
    assert "in sequence" not in out and "the same cores as tasks or threads" in out  # links alone are known
    assert max(len(line) for line in out.splitlines()[2:] if not line.startswith("  ")) <= 80  # others fold in a terminal


@pytest.mark.parametrize("words, part", [
    (("--fft", "16"), "no network; give --machine NAME"), (("--machine", "bluegene-l", "--nodes", "500", "--fft", "64"),
                                                           "no partition of 500"),
    (("--machine", "bluegene-x", "--fft", "64"), "is unknown"),
    (("--network", "4x4", "--bandwidth", "1 GB/s", "--nodes", "7", "--fft", "16"), "not the 7 of --nodes"),
    (("--nodes", "8", "--bandwidth", "1 GB/s", "--fft", "16"), "does not say how the nodes are linked"),
    (("--machine", "bluegene-l", "--nodes", "pyproject.toml", "--fft", "16"), "pyproject.toml line 1 column 1"),
    (("--network", "4x4", "--bandwidth", "1 GB/s", "-t", "1", "--threads", "2", "--fft", "16"),
     "other tasks with --tasks-per-node")])
def test_what_cannot_be_planned_is_told(pencilmap, words, part):
    status, out, err = pencilmap("plan", *words)
    assert status == 1 and out == "" and part in err


HALOS = [  # network, tasks per node, transform, decomposition, grid, planes, weight
    ("4x4", 1, "64:r2c", None, "4x4", 7, None), ("2x4", 2, "32", None, "4x4", 3, 2.5),
    ("4x4:mesh", 1, "32", None, "2x8", 2, None),
    ("4x4", 1, "32", "slab", "16", 1, None), ("2x2x4", 1, "32", "brick:2x2x4", "4x4", 2, None),
    ("2x4:twisted", 1, "32", None, "2x4", 3, None), ("fat-tree:leaves=4,hosts=4,up=2", 1, "32", None, "4x4", 3, None),
    ("dragonfly:a=2,p=2,h=2,groups=4", 1, "32", None, "4x4", 3, 2), ("hyperx:2x4,hosts=1", 1, "32", None, "2x4", 2, None)]


def seconds(where, mapping, rate=1e9):
    """The exchanges and halos of a torus, each message walked over the links of its dimensions: the busiest links."""
    total = 0.0
    for exchange, weight in [*((e, 1) for e in exchanges(mapping.grid, where.transform)),
                             (halo(mapping.grid, where.transform, "input", (where.halo.width,) * 3), where.halo.weight)]:
        messages = [(a, b, int(of_group * send * receive) * exchange.unit_bytes)
                    for members, of_group in zip(exchange.members, exchange.group_weight)
                    for a, send in zip(members, exchange.send_weight)
                    for b, receive in zip(members, exchange.receive_weight)]
        loads = brute.dimension_order(where.network, messages, mapping.node_of_rank)
        total += weight * float(max(loads.values(), default=0)) / rate
    return total


@pytest.mark.usefixtures("brief_searches")
@pytest.mark.thorough
@pytest.mark.sampled(4)
@pytest.mark.parametrize(("network", "tasks", "fft", "decomposition", "grid", "planes", "weight"), HALOS)
def test_best_is_never_worse_than_the_launch_order(network, tasks, fft, decomposition, grid, planes, weight):
    where = setting(network=network, tasks_per_node=tasks, bandwidth="1 GB/s", fft=fft, decomposition=decomposition,
                    halo=planes, weight=weight)
    first, best = where.predictions(grid, ("default", "best"))
    assert best.worth <= first.worth
    assert best.worth == pytest.approx(best.time_s + best.halo_s, rel=1e-9)
    assert best.halo_s == pytest.approx((weight or 1) * best.halo.stage.time_s)
    assert best.as_dict()["halo"]["width"] == planes


@pytest.mark.usefixtures("brief_searches")
@pytest.mark.thorough
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("network", "grid", "fft"), [("4x4", "2x8", "64:r2c"), ("2x2x4", "4x4", "32"),
                                                      ("4x3", "3x4", "24")])
def test_busiest_links_of_exchanges_and_halo_are_those_of_walked_messages(network, grid, fft):
    where = setting(network=network, bandwidth="1 GB/s", fft=fft, halo=3, weight=1.5)
    one = where.grid(grid)
    for text in ("default", "best"):
        mapping = as_mapping(where.place(text, one), text)
        found = where.predict(mapping)
        assert seconds(where, mapping) == pytest.approx(found.t_s + found.halo.t_s, rel=1e-9)
    assert found.worth <= where.predictions(grid, ("default",))[0].worth


@pytest.mark.parametrize(("options", "said"), [
    ({"halo": 2}, "fft"), ({"weight": 2, "fft": "32"}, "halo"), ({"halo": 2, "weight": 0, "fft": "32"}, "weight"),
    ({"halo": 2, "weight": float("nan"), "fft": "32"}, "weight"), ({"halo": 0, "fft": "32"}, "halo"),
    ({"halo": 33, "fft": "32"}, "33 planes")])
def test_impossible_halos_are_refused(options, said):
    with pytest.raises(GridError, match=said):
        setting(network="2x4", **options).predictions("2x4")


@pytest.mark.parametrize(("network", "tasks", "fft", "decomposition", "grid", "planes", "weight"), HALOS)
def test_the_search_counts_what_the_prediction_counts(network, tasks, fft, decomposition, grid, planes, weight):
    where = setting(network=network, tasks_per_node=tasks, fft=fft, decomposition=decomposition, halo=planes, weight=weight)
    site, one = where.site, where.grid(grid)
    places = np.random.default_rng(7).permutation(site.n_slots)
    mapping = Mapping(site.network, one, tasks, site.allocation.nodes[places // tasks], places % tasks)
    tables = routing(default_routing(site.network), site.network).routes(
        site.network, np.repeat(site.allocation.nodes, tasks), np.tile(np.arange(tasks), site.allocation.n_nodes))
    swaps = swaps_of_transform(tables, site, one, where.transform, in_sequence(len(one.decomposition.exchanges)), where.halo)
    assert swaps.cost(places) == pytest.approx(float(where.predict(mapping).worth), rel=1e-9)
