"""Searches on any network: costs, theorems, known cases, blocks; never worse than Scotch, if it is installed."""

import random
import sys
from fractions import Fraction
from itertools import combinations, islice, permutations, product as cartesian
from random import Random
from time import process_time

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements.best import best
from pencilmap.mapper.searches import network_search
from pencilmap.mapper.searches.annealing import search as search_torus, work_of_swap
from pencilmap.mapper.searches.network_search import Ground, annealed, search, swaps_of, views
from pencilmap.mapper.seeds import Seeds, graph as scotch
from pencilmap.mapper.seeds.graph import DIVIDERS, dividers, halves, scotch_is_there, scotch_mapping
from pencilmap.mapper.seeds.levels import FEW, latin, seeds
from pencilmap.mapper.seeds.products import best_product_of, patterns
from pencilmap.model.base.arrays import divisors
from pencilmap.model.base.errors import GraphError, PlacementError
from pencilmap.model.kinds import judged_routings, kind_of, network_named, routing
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, all_grids, parse_grid
from pencilmap.model.placement.product import Pattern, Product
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import lower_bound
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import at_once, in_sequence, routed_joint
from pencilmap.scripts.maintenance import compare_networks
from tests.model.cases import predict_product
from tests.model.test_switched_networks import RANDOM
from tests.patience import patience

TREE_72, TREE_128, TREE_512 = (f"fat-tree:leaves={n},hosts={h},taper=2" for n, h in ((9, 8), (8, 16), (32, 16)))
DRAGONFLY_72, DRAGONFLY_342, DRAGONFLY_1056 = (f"dragonfly:a={2 * n},p={n},h={n}" for n in (2, 3, 4))
SMALL = ["fat-tree:leaves=3,hosts=2,up=1", "fat-tree:leaves=2,hosts=3,up=2", "dragonfly:a=2,p=1,h=1", "hyperx:3x2,hosts=1",
         "dragonfly-plus:leaves=1,spines=1,hosts=2,groups=3"]


def site_of(text, tasks=1, hosts=None):
    """A site on a network that a text names, or that is given."""
    network = network_named(text) if isinstance(text, str) else text
    return Site(network, tasks, None if hosts is None else Allocation(network, hosts))


def drawn_hosts(text, number):
    """Hosts of a job drawn at random from a whole machine, with the generators that drew the published lists."""
    n = network_named(text).n_nodes
    if text.startswith("fat-tree"):
        return sorted(random.Random(1).sample(range(n), number))
    return np.sort(np.random.default_rng(1).choice(n, number, replace=False))


def mapping_of(ground, slots):
    return Mapping(ground.site.network, ground.grid, ground.site.tasks_per_node, ground.node[slots], ground.slot[slots])


def cost_under(mapping, rule):
    return predict(mapping, routing_name=rule).cost


def cost_of(ground, slots, rule):
    return in_sequence(2).of_loads(routed_joint(ground.network, exchanges(ground.grid), mapping_of(ground, slots).ends,
                                                routing(rule, ground.network)))


def test_a_search_begins_at_the_placements_of_a_kind(monkeypatch):
    ground, ranks = Ground(site_of("hyperx:2x2,hosts=2"), ProcessGrid(2, 4)), np.arange(8)
    own = Mapping(ground.network, ground.grid, 1, ranks[::-1], np.zeros_like(ranks))
    monkeypatch.setattr(Seeds, "starts", lambda seeds, site, grid: [own])
    name, slots = list(islice(seeds(ground), 3))[2]
    assert name == "of the kind 1" and (mapping_of(ground, slots).node_of_rank == own.node_of_rank).all()


def launched_costs(site, grid):
    """Costs under all routings that are judged, of the launch order and its transpose."""
    ground = Ground(site, grid)
    found = dict(seeds(ground))
    return [[cost_under(mapping_of(ground, found[name]), rule) for rule in judged_routings(site.network)]
            for name in network_search.LAUNCHED]


@pytest.mark.parametrize("text, tasks, grid", [
    ("fat-tree:leaves=4,hosts=3,up=2,spines=1", 2, (4, 6)), ("fat-tree:leaves=4,hosts=4,up=2,pods=2,core=1", 1, (4, 4)),
    ("fat-tree:leaves=4,hosts=4,up=2,links=2,rails=2", 1, (4, 2)), ("dragonfly:a=3,p=2,h=1", 1, (6, 4)),
    ("dragonfly:a=4,p=2,groups=3,cables=3", 2, (8, 6)), ("hyperx:3x2,hosts=2", 3, (6, 6)),
    ("hyperx:3x2,hosts=3,cables=2", 3, (9, 6)),
    ("dragonfly-plus:leaves=2,spines=2,hosts=3,groups=3", 1, (3, 6)), ("dragonfly:a=3,p=2,h=1,links=2", 1, (6, 4))])
@pytest.mark.parametrize("objective, transform", [
    (in_sequence(2), None), (at_once(2), None), (in_sequence(2), Transform(13, 9, 21)), (at_once(2), Transform(11, 29, 8))])
def test_swaps_see_the_loads_of_the_prediction(text, tasks, grid, objective, transform):
    site, grid = site_of(text, tasks), ProcessGrid(*grid)
    ground = Ground(site, grid)
    swaps = swaps_of(ground, views(ground, transform is not None)[0], objective, transform=transform)
    slots = np.random.default_rng(3).permutation(len(ground.node))[:grid.n_tasks]
    prediction = predict(mapping_of(ground, slots), transform)
    wanted = prediction.cost if objective == in_sequence(2) else max(prediction.schedule.load_joint)
    assert swaps.cost(slots) == pytest.approx(float(wanted), abs=1e-9)
    better = annealed(swaps, slots, Search(400_000), hot=0.05)
    assert swaps.least == pytest.approx(swaps.cost(better), abs=1e-9) and swaps.cost(better) <= swaps.cost(slots)


@pytest.mark.parametrize("text, tasks, grid, transform", [
    ("fat-tree:leaves=4,hosts=3,up=2,spines=1", 2, (4, 6), None), ("dragonfly:a=3,p=2,h=1", 1, (6, 4), None),
    ("fat-tree:leaves=4,hosts=3,up=2,spines=1", 2, (4, 5), Transform(13, 9, 21)),
    ("dragonfly:a=3,p=2,h=1", 1, (5, 4), Transform(11, 29, 8)), ("hyperx:3x2,hosts=2", 3, (6, 6), Transform(11, 29, 8))])
def test_lengths_and_powers_after_many_swaps_are_those_of_the_placement(text, tasks, grid, transform):
    """Accepted and rejected swaps leave what all messages of the last placement give."""
    ground = Ground(Site(network_named(text), tasks, idle=True), ProcessGrid(*grid))
    for view in views(ground, transform is not None):
        swaps = swaps_of(ground, view, at_once(2), transform=transform)
        swaps.begin(np.random.default_rng(3).permutation(len(ground.node))[:ground.grid.n_tasks])
        state = swaps.state
        assert swaps.run(3000, 0.05 * swaps.least, 0.01 * swaps.least, 4) > 3000
        value, counts, power = state.value.copy(), state.counts.copy(), state.power[0].copy()
        swaps.refresh()
        assert state.value == pytest.approx(value, abs=1e-9) and (state.counts == counts).all()
        lengths = value.reshape(len(power), -1) / state.scale[:, None]
        assert power == pytest.approx((lengths**16).sum(axis=1))
        assert (state.rank_in[state.slot_of] == np.arange(len(ground.node))).all()


def test_no_round_of_swaps_replaces_the_placement_of_another(monkeypatch):
    first, rng, rule = [], np.random.default_rng(2), "shortest-path"

    def swapped(swaps, slots, *rest):
        first.append(annealed(swaps, slots, *rest) if not first else rng.permutation(slots))
        return first[-1]

    monkeypatch.setattr(network_search, "annealed", swapped)
    site, grid = site_of("hyperx:4x4,hosts=4"), ProcessGrid(8, 8)
    found = search(site, grid, Search(250_000_000, 3), rules=(rule,))
    assert len(first) == len(network_search.ROUNDS_OF_SWITCHES)
    assert found.costs[rule] == cost_under(mapping_of(Ground(site, grid), first[0]), rule) == Fraction(29, 4)


def test_72_hosts_reach_their_bound_under_even_splits():
    site, grid = site_of(TREE_72), ProcessGrid(8, 9)
    found = search(site, grid, Search(250_000_000), rules=("shortest-path",))
    assert found.costs["shortest-path"] == lower_bound(site, grid).value == Fraction(179, 18)


def test_the_latin_rule_spreads_receivers_over_all_cables():
    ground = Ground(site_of(TREE_128), ProcessGrid(8, 16))
    slots = dict(seeds(ground))["mixed 0.50"]
    spread = latin(ground, slots, *routing("static", ground.network).ports(ground.network))
    costs = [cost_under(mapping_of(ground, some), "static") for some in (slots, spread)]
    assert costs[0] > 9 and costs[1] == 9
    assert cost_under(mapping_of(ground, spread), "shortest-path") == Fraction(35, 4)


def every_placement(slots, grid):
    """All placements on some of the slots, up to the order of the rows and of the columns, as slots of the ranks."""
    R, C = grid.shape
    for some in combinations(range(slots), R * C):
        for order in permutations(some[1:]):
            found = np.array((some[0], *order)).reshape(C, R)
            if (np.diff(found[0]) > 0).all() and (np.diff(found[:, 0]) > 0).all():
                yield found.ravel()


def test_every_placement_is_tried_once_up_to_the_order_of_rows_and_columns():
    found = {tuple(slots) for slots in every_placement(7, ProcessGrid(2, 3))}
    assert len(found) == 7 * 720 // (2 * 6)


def least_costs(site, grid):
    """The least cost of all placements under each routing."""
    ground = Ground(site, grid)
    return {rule: min(cost_of(ground, slots, rule) for slots in every_placement(site.n_slots, grid))
            for rule in kind_of(site.network).routings if rule != "ideal-adaptive"}  # a bound itself


@pytest.mark.thorough
@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", SMALL)
def test_the_search_finds_the_best_of_all_placements_of_a_small_machine(text):
    site, grid = site_of(text), ProcessGrid(2, 3)
    least = least_costs(site, grid)
    assert lower_bound(site, grid).value <= min(least.values())
    for rule in judged_routings(site.network):
        assert search(site, grid, Search(2_500_000), rules=(rule,)).costs[rule] == least[rule]


@pytest.mark.parametrize("text, used, equal", [
    ("fat-tree:leaves=3,hosts=2,up=2", 6, True), ("fat-tree:leaves=3,hosts=2,up=1", 6, False),
    ("fat-tree:leaves=3,hosts=2,up=3", 4, True)])
def test_a_note_says_if_placement_cannot_matter(text, used, equal):
    site, grid = site_of(text, hosts=list(range(used))), ProcessGrid(2, used // 2)
    ground = Ground(site, grid)
    costs = {cost_of(ground, slots, "shortest-path") for slots in every_placement(used, grid)}
    assert (len(costs) == 1) == equal
    noted = network_search.best_mapping(site, grid, Search(125_000)).notes
    assert (network_search.EQUAL in noted) == equal


def random_graph(rng):
    return from_networkx(nx.gnm_random_graph(6, 8 + rng.randint(0, 5), seed=rng.randint(0, 9)), "graph")


def random_twisted_torus(rng):
    return network_named(rng.choice(["2x4:twisted", "3x6:twisted", "2x2x4:twisted"]))


EVERY_KIND = {"graph": random_graph, "twisted": random_twisted_torus} | {
    name: lambda rng, name=name: network_named(RANDOM[name](rng)) for name in RANDOM}


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 50))])
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_the_bound_is_never_above_the_best_of_all_placements(kind, seed):
    """Several tasks a host, holes, idle slots; 300 cases."""
    rng = random.Random(seed)
    network, tasks = None, rng.choice([1, 1, 2, 3])
    while network is None or network.n_nodes * tasks < 4:
        try:
            network = EVERY_KIND[kind](rng)
        except GraphError:  # of graphs in several parts
            continue
    number = min(network.n_nodes, rng.randint(-(-4 // tasks), 6 // tasks))
    hosts = sorted(rng.sample(range(network.n_nodes), number))
    site = Site(network, tasks, Allocation(network, hosts), idle=True)
    grid = ProcessGrid(*rng.choice([(2, 3), (3, 2)] if site.n_slots == 6 else [(2, 2)]))
    assert float(lower_bound(site, grid).value) <= float(min(least_costs(site, grid).values())) * (1 + 1e-9)


@pytest.mark.parametrize("divider", [divider.name for divider in DIVIDERS])
def test_a_graph_without_levels_is_divided_into_its_leaves(divider):
    if divider not in dividers():
        pytest.skip(f"{divider} is missing: pip install '.[partition]', apt-get install scotch")
    tree = network_named("fat-tree:leaves=4,hosts=4,up=2")
    graph = nx.Graph()
    graph.add_nodes_from((name, {"kind": "host" if v < 16 else "switch"}) for v, name in enumerate(tree.vertices))
    graph.add_edges_from((tree.vertices[a], tree.vertices[b]) for a, b in zip(tree.source, tree.target))
    parts = halves(from_networkx(graph, "tree"), divider)
    leaves = [set(np.flatnonzero(part[:16] == number)) for part in parts for number in set(part)]
    assert all(set(range(4 * leaf, 4 * leaf + 4)) in leaves for leaf in range(4))


@pytest.mark.parametrize("text, number, tasks, grid", [
    ("fat-tree:leaves=6,hosts=6,taper=3", 24, 1, (4, 6)), ("fat-tree:leaves=6,hosts=6,taper=2", 20, 2, (5, 8)),
    ("fat-tree:leaves=8,hosts=4,taper=2,pods=2,core-taper=2", 21, 1, (3, 7)), ("hyperx:4x3,hosts=3", 25, 1, (5, 5)),
    ("dragonfly:a=4,p=3,groups=4,cables=2", 35, 1, (5, 7)),
    ("dragonfly-plus:leaves=3,spines=2,hosts=3,groups=4", 28, 2, (7, 8)),
    ("fat-tree:leaves=6,hosts=5,up=4,links=2,rails=2", 12, 1, (3, 4)),
    ("dragonfly:a=4,p=2,h=1,links=2,rails=2", 15, 2, (5, 6))])
def test_the_worst_cost_is_never_above_that_of_the_launcher(text, number, tasks, grid):
    n = network_named(text).n_nodes
    site = site_of(text, tasks, sorted(random.Random(7).sample(range(n), min(number, n))))
    grid = ProcessGrid(*grid) if site.n_slots == grid[0] * grid[1] else ProcessGrid(2, site.n_slots // 2)
    site = Site(site.network, tasks, site.allocation, idle=True)
    found = search(site, grid, Search(7_500_000))
    assert all(max(found.costs.values()) <= max(costs) for costs in launched_costs(site, grid))
    assert max(found.costs.values()) == max(cost_under(found.mapping, rule) for rule in found.costs)


def partitions(n, most):
    """All ways to write n as a sum of falling numbers up to `most`."""
    return [()] if not n else [(k, *rest) for k in range(min(n, most), 0, -1) for rest in partitions(n - k, k)]


def fit_in_a_leaf(rows, columns):
    """Whether some cells have these numbers in each row and in each column (Gale and Ryser)."""
    return all(sum(columns[:k + 1]) <= sum(min(m, k + 1) for m in rows) for k in range(len(columns)))


def on_cables(counts, size):
    """Least messages down the busiest of four cables of a leaf, each for two hosts with as many mates in the leaf."""
    mates = sorted(n for n in counts for _ in range(n))
    return max(2 * size - one - other for one, other in zip(mates, mates[::-1]))


def test_on_72_hosts_only_whole_rows_in_leaves_keep_10_61_under_static_routes():
    """So no placement of 8x9 has both 10.61 under static routes and less under an even split.

    A message of a row is 1/2 long, of a column 4/9, and a cable carries 7 and 8 at least, as the hosts' links do. A leaf
    holds so many ranks of each row and of each column, and static routes bring the messages of two hosts down each cable.
    """
    whole, flat, tall, column = ((8,), (1,) * 8), ((4, 4), (2,) * 4), ((2,) * 4, (4, 4)), ((1,) * 8, (8,))
    leaves = [(m, n) for m in partitions(8, 8) for n in partitions(8, 8) if fit_in_a_leaf(m, n)]
    assert len(leaves) > 100 and all(leaf in leaves for leaf in (whole, flat, tall, column))
    kinds = {}
    for rows in range(7, 15):
        columns = int((Fraction("10.612") - Fraction(rows, 2)) / Fraction(4, 9))
        kinds[rows] = {leaf for leaf in leaves if on_cables(leaf[0], 8) <= rows and on_cables(leaf[1], 9) <= columns}
    assert {rows: some for rows, some in kinds.items() if some} == {7: {whole}, 8: {flat}, 12: {tall}, 14: {column}}
    # Flat leaves cannot be all leaves: a row is two halves with complementary columns, and a leaf has two halves with the
    # same columns. So the rows with these halves are even in number, but there are nine rows. Nor can the tall ones and
    # the columns: they hold the ranks of a column by fours or eights, but a column has nine.


@pytest.mark.slow
def test_49152_tasks_on_scattered_hosts_are_placed_within_a_tenth_of_the_bound_in_a_minute():
    text, began = "fat-tree:leaves=640,hosts=16,taper=2", process_time()
    site, grid = site_of(text, 8, drawn_hosts(text, 6144)), ProcessGrid(192, 256)
    found = search(site, grid)
    assert process_time() - began < patience(60)
    assert found.costs["shortest-path"] <= Fraction("1.1") * lower_bound(site, grid).value
    assert found.costs["shortest-path"] < Fraction("0.93") * launched_costs(site, grid)[0][0]


@pytest.mark.parametrize("text, grid", [
    ("dragonfly:a=4,p=2,h=2", ProcessGrid(8, 9)), ("hyperx:4x4,hosts=4", ProcessGrid(8, 8)),
    ("dragonfly-plus:leaves=2,spines=2,hosts=3,groups=5", ProcessGrid(5, 6))])
def test_a_first_answer_costs_least_of_launch_orders_and_seeds_and_is_judged_once(text, grid, monkeypatch):
    site = site_of(text)
    ground, rule = Ground(site, grid, variety=FEW), judged_routings(site.network)[0]
    some = {name: cost_of(ground, slots, rule) for name, slots in islice(seeds(ground), 2)}
    found = search(site, grid, Search(0))
    assert list(found.costs) == [rule] and found.costs[rule] <= min(some.values())
    monkeypatch.setattr(network_search, "FIRST", 1000)
    every = {name: cost_of(ground, slots, rule) for name, slots in seeds(ground)}
    assert search(site, grid, Search(0)).costs[rule] == min(every.values())


CASES = compare_networks.cases()


def test_best_is_nowhere_worse_and_the_page_shows_the_file():
    assert len(CASES) >= 20
    for case in CASES:
        assert float(case["bound"]) <= float(case["best"]) + 1e-4, case
        assert not compare_networks.is_worse(case), case
    assert compare_networks.table(compare_networks.of_each_kind(CASES)) in compare_networks.PAGE.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['network']},{case['hosts']},{case['grid']}")
def test_a_network_is_found_again(case):
    found = compare_networks.tried(case, scotch=False)
    assert {name: found[name] for name in found if name != "cpu_s"} == {name: case[name] for name in case if name != "cpu_s"}


def cost(network, grid, nodes, routing=None):
    mapping = Mapping(network, grid, 1, np.asarray(nodes), np.zeros(grid.n_tasks, dtype=np.int64), "given")
    return predict(mapping, routing_name=routing).cost


def of_hosts(grid):
    """Return the cost if the links of the hosts carry the largest load."""
    return 4 * (2 - Fraction(1, grid.shape[0]) - Fraction(1, grid.shape[1]))


@pytest.mark.parametrize("text, grid", [("dragonfly:a=2,p=1,h=1", "2x3"), ("dragonfly:a=4,p=2,h=2", "8x9")])
def test_on_balanced_dragonflies_rows_that_are_the_groups_load_no_link_more_than_those_of_hosts(text, grid):
    network, grid, random = network_named(text), parse_grid(grid), np.random.default_rng(3)
    hosts = np.arange(grid.n_tasks)
    assert cost(network, grid, hosts, "minimal") == of_hosts(grid)
    assert all(cost(network, grid, random.permutation(hosts), "minimal") >= of_hosts(grid) for _ in range(4))


@pytest.mark.parametrize("torus, tasks, extents", [
    (Torus((4, 4)), 1, (17, 18, 19)), (Torus((6, 4)), 1, (25, 31, 29)), (Torus((4, 6), (False, True)), 1, (25, 26, 27)),
    (Torus((2, 3, 4)), 2, (50, 53, 49)), (Torus((8, 3)), 1, (24, 30, 25)),
    (Torus((4, 4), bandwidth=(1.0, 4.0), cables=(2, 1)), 2, (33, 40, 47))], ids=str)
def test_search_agrees_with_trying_all_products(torus, tasks, extents):
    transform = Transform(*extents)
    slots = [Pattern((("r", k), ("c", tasks // k))) for k in divisors(tasks)]
    least = {}
    for *dimensions, slot in cartesian(*map(patterns, torus.shape), slots):
        product = Product(torus, tuple(dimensions), slot)
        cost = predict_product(product, transform).cost
        least[product.grid] = min(least.get(product.grid, cost), cost)
    for grid in all_grids(torus.n_nodes * tasks):
        assert predict_product(best_product_of(torus, grid, tasks, transform), transform).cost == least[grid]


needs_scotch = pytest.mark.skipif(not scotch_is_there(), reason="Scotch is missing: apt-get install scotch")


@pytest.mark.sampled(3)
@needs_scotch
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
@pytest.mark.parametrize("kind", [*RANDOM, "graph"])
def test_best_is_never_worse_than_scotch_on_other_networks(kind, seed):
    """In the worst case over the routings, on random networks with holes and several tasks."""
    rng = Random(seed)
    network = from_networkx(nx.random_regular_graph(3, 14, seed=seed), "graph") if kind == "graph" else None
    while network is None or network.n_nodes < 6:
        network = network_named(RANDOM[kind](rng))
    tasks = rng.choice([1, 2, 4])
    hosts = sorted(rng.sample(range(network.n_nodes), rng.randint(network.n_nodes * 2 // 3, network.n_nodes)))
    site = Site(network, tasks, Allocation(network, hosts), idle=True)
    R = rng.choice([2, 3])
    grid = ProcessGrid(R, site.n_slots // R)
    ours, other = (max(predict(placed, site=site, routing_name=rule).cost for rule in judged_routings(network))
                   for placed in (best("", site, grid), scotch_mapping(site, grid)))
    assert ours <= other


@needs_scotch
def test_the_irregular_case_of_the_issue_is_never_worse_than_scotch():
    torus = Torus((8, 8, 8))
    missing = np.random.default_rng(0).choice(512, 40, replace=False)
    site, grid = Site(torus, 1, Allocation(torus).without(missing)), ProcessGrid(8, 59)
    found = search_torus(site, grid, Search(2000 * work_of_swap(grid)))
    assert predict(found.mapping).cost <= predict(scotch_mapping(site, grid)).cost


def test_without_scotch_its_debian_package_is_named(monkeypatch):
    monkeypatch.setattr(scotch, "which", lambda program: None)
    with pytest.raises(PlacementError, match="Debian package scotch"):
        scotch_mapping(Site(Torus((4,))), ProcessGrid(2, 2))


def test_scotch_runs_on_one_thread_so_that_its_map_is_the_same_each_time():
    code = "import os; raise SystemExit(os.environ['SCOTCH_PTHREAD_NUMBER'] != '1')"
    scotch.run(sys.executable, "-c", code)
