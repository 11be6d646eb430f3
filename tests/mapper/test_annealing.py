"""Local search: exact loads, never worse than the launcher, deterministic, anytime; and an irregular case."""

import re
from fractions import Fraction
from itertools import permutations
from time import monotonic

import numpy as np
import pytest

from pencilmap.mapper.base import search as search_module
from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import place
from pencilmap.mapper.searches import annealing, routed_swaps
from pencilmap.mapper.searches.annealing import search, work_of_swap
from pencilmap.mapper.seeds.default_order import default
from pencilmap.mapper.seeds.products import best_product
from pencilmap.mapper.seeds.torus import starts, stretched_products
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import interval, predict
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import at_once, in_sequence, objective, overlapped, routed_joint
from tests.model import brute_force as brute
from tests.model.cases import predict_routed

SHORT = 1500  # evaluations


def within(grid, evaluations=SHORT, seed=1, deadline=None):
    return Search(evaluations * work_of_swap(grid), seed, deadline)


def all_orders(torus):
    """Return every order of the axes, with the slots first and with the slots last."""
    axes = ["".join(p) for p in permutations(torus.axes)]
    return [order for a in axes for order in (a + "t", "t" + a)]


def with_holes(torus, missing, T=1, seed=0, idle=False):
    failed = np.random.default_rng(seed).choice(torus.n_nodes, missing, replace=False)
    return Site(torus, T, Allocation(torus).without(failed), idle)


SITES = [
    (with_holes(Torus((4, 4, 4)), 4), ProcessGrid(6, 10)),
    (with_holes(Torus((4, 4, 4), (False,) * 3), 4, T=2), ProcessGrid(8, 15)),
    (with_holes(Torus((5, 3, 2), (True, False, True)), 3), ProcessGrid(3, 9)),
    (with_holes(Torus((6, 6), bandwidth=(1.0, 3.0)), 1), ProcessGrid(5, 7)),
    (with_holes(Torus((2, 2, 2, 2, 3), cables=(1, 1, 1, 2, 1)), 8), ProcessGrid(8, 5)),
    (with_holes(Torus((16,)), 2, idle=True), ProcessGrid(3, 4)),
    (Site(Torus((7, 5, 3))), ProcessGrid(7, 15)),
    (Site(Torus((4, 4, 2)), 2, idle=True), ProcessGrid(7, 7)),
    (Site(Torus((5, 5)), idle=True), ProcessGrid(1, 20)),
]
by_name = pytest.mark.parametrize("site, grid", SITES, ids=str)


UNLIKE = objective([(Fraction(1, 4), 0), (Fraction(3, 4), Fraction(1, 4)), (0, Fraction(3, 4))])
WANTED = [in_sequence(2), at_once(2), overlapped(2, 4), UNLIKE]


def joint_cost(mapping, wanted):
    """Return the objective from routing every message."""
    rule = DimensionOrder()
    return wanted.of_loads(routed_joint(mapping.network, exchanges(mapping.grid), mapping.node_of_rank, rule))


@pytest.mark.parametrize("wanted", WANTED, ids=["sequence", "at once", "overlap", "unlike"])
@by_name
def test_loads_after_many_swaps_are_those_of_routing_every_message(site, grid, wanted):
    state = annealing._state(site, grid, 7, annealing._terms(wanted, [0, 1]))
    routed_swaps.settle_down(state, next(starts(site, grid))[1])
    routed_swaps.remember(state)
    routed_swaps.anneal(state, 300, 1e9, 1e9)       # so hot that the walk accepts everything
    routed_swaps.anneal(state, 300, 1e-9, 1e-9)     # so cold that the walk rejects nearly everything
    T = site.tasks_per_node
    mapping = Mapping(site.network, grid, T, state.seats.node, state.seats.slot % T)
    prediction = predict_routed(mapping)
    assert float(joint_cost(mapping, wanted)) == pytest.approx(routed_swaps.cost(state), rel=1e-12)
    hop_halves = [sum(flow[at:at + site.network.shape[i]].cumsum().sum() for at, i in zip(*state.lanes[:2]))
                  for flow in state.loads.change]
    for halves, exchange, part in zip(hop_halves, exchanges(grid), prediction.stages):
        assert part.hop_length == Fraction(2 * int(halves), exchange.total_bytes)
    before, top, norm = (values.copy() for values in (state.loads.change, state.sums.top, state.sums.norm))
    routed_swaps.settle_down(state, state.seats.slot.copy())
    assert (state.loads.change == before).all() and (state.sums.top == top).all()
    assert norm == pytest.approx(state.sums.norm, rel=1e-9)


@pytest.mark.parametrize("wanted", WANTED, ids=["sequence", "at once", "overlap", "unlike"])
@pytest.mark.parametrize("shape, T, grid, size", [
    ("5x4", 3, "12x5", (13, 17, 7)), ("5x4", 3, "5x12", (13, 17, 7)), ("3x3x2:mesh", 1, "3x6", (4, 20, 7)),
    ("4x3", 1, "4x3", (2, 5, 9))])
def test_loads_of_uneven_blocks_after_many_swaps_are_those_of_routing_every_message(shape, T, grid, size, wanted):
    """The grid 4x3 has more rows than indices of x: empty blocks."""
    site, grid, transform = Site(parse_torus(shape), T), parse_grid(grid), Transform(*size)
    run = annealing._Run(site, grid, within(grid, seed=5), lambda *given: None, wanted, annealing.USUAL, transform)
    routed_swaps.settle_down(run.state, np.random.default_rng(1).permutation(site.n_slots))
    for heat in (1e9, 1e-9):
        routed_swaps.anneal(run.state, 300, heat, heat)
    run.state.best_slot[:], cost = run.state.seats.slot, routed_swaps.cost(run.state)
    mapping = run.result(None).mapping
    loads = routed_joint(site.network, exchanges(grid, transform), mapping.node_of_rank, DimensionOrder())
    assert float(wanted.of_loads(loads)) == pytest.approx(cost, rel=1e-12)
    routed_swaps.settle_down(run.state, run.state.seats.slot.copy())
    assert routed_swaps.cost(run.state) == pytest.approx(cost, rel=1e-12)


@pytest.mark.thorough
@by_name
def test_never_worse_than_any_default_order_and_never_below_the_bound(site, grid):
    found = search(site, grid, within(grid))
    site.check_mapping(found.mapping)
    prediction = predict(found.mapping, site=site)
    assert float(prediction.cost) == pytest.approx(found.cost, rel=1e-12)
    defaults = [predict(default(order, site, grid)).cost for order in ("", "tn", *all_orders(site.network))]
    assert prediction.cost <= min(defaults)
    assert float(defaults[0]) == pytest.approx(found.launcher_cost)
    assert prediction.certificate >= 1


@pytest.mark.parametrize("torus, grid, tasks, wanted", [
    (Torus((16, 16)), ProcessGrid(16, 16), 1, None), (Torus((8, 8)), ProcessGrid(32, 4), 2, None),
    (Torus((4, 4, 4)), ProcessGrid(8, 8), 1, at_once(2))], ids=str)
def test_a_search_that_is_cut_short_still_knows_the_best_product(torus, grid, tasks, wanted):
    product = best_product(torus, grid, tasks, wanted)
    found = search(Site(torus, tasks), grid, within(grid, deadline=0.0), wanted)
    assert found.cut == "seconds" and found.start == "best product"
    least = joint_cost(product.mapping(), wanted or in_sequence(2))
    assert joint_cost(found.mapping, wanted or in_sequence(2)) == least == found.cost < found.launcher_cost


def test_a_product_is_stretched_around_a_missing_node():
    """On a line, the least sum of squares keeps the order of the tasks."""
    torus = Torus((16,), (False,))
    places = best_product(torus, ProcessGrid(4, 4)).mapping().coordinates().reshape(4, 4)
    site = Site(torus, 1, Allocation(torus).without([0, 3, 9, 12]), idle=True)
    found = site.allocation.nodes[dict(stretched_products(site, ProcessGrid(4, 3)))["stretched 4x4"]].reshape(3, 4)
    usable = np.isin(places, site.allocation.nodes).sum(axis=1)
    kept = places[np.sort(np.argsort(-usable, kind="stable")[:3])]
    assert sorted(found.ravel()) == site.allocation.nodes.tolist()
    least = ((np.sort(kept.ravel()) - site.allocation.nodes)**2).sum()
    assert ((found - kept)**2).sum() == least


def test_the_same_seed_gives_the_same_placement_and_another_another():
    site, grid = SITES[0]
    first, again, other = (search(site, grid, within(grid, seed=seed)).mapping for seed in (1, 1, 2))
    assert (first.node_of_rank == again.node_of_rank).all() and first.name == again.name
    assert (first.node_of_rank != other.node_of_rank).any()


def test_rows_and_columns_may_be_exchanged():
    site, grid = SITES[0]
    turned = ProcessGrid(grid.shape[1], grid.shape[0])
    shared = within(grid)
    one, other, again = search(site, grid, shared), search(site, turned, shared), search(site, turned, within(grid))
    nodes = one.mapping.node_of_rank.reshape(grid.shape[::-1])
    for found in (other, again):
        assert (found.mapping.node_of_rank.reshape(grid.shape) == nodes.T).all()
        assert (found.cost, found.launcher_cost) == (one.cost, other.launcher_cost)
    best = [min(float(predict(default(order, site, g)).cost) for order in ("", "tn", *all_orders(site.network)))
            for g in (grid, turned)]
    assert one.cost <= best[0] and other.cost <= best[1]
    assert predict(other.mapping).cost == pytest.approx(other.cost)


def test_the_launchers_are_tried_whatever_the_budget():
    site, grid = SITES[0]
    least = min(predict(default(order, site, each)).cost for order in ("", "tn", *all_orders(site.network))
                for each in (grid, ProcessGrid(*grid.shape[::-1])))
    assert predict(search(site, grid, Search(0)).mapping).cost == least


def test_seconds_cut_the_search_and_the_answer_says_so():
    site, grid = SITES[0]
    found = search(site, grid, within(grid, 10**9, deadline=monotonic() + 0.2))
    assert found.cut == "seconds" and found.evaluations < 10**9
    assert "cut=seconds" in found.mapping.name and "CUT SHORT" in str(found)
    assert found.cost <= found.launcher_cost
    assert any("CUT SHORT" in note for note in predict(found.mapping).notes)


def test_an_interrupt_gives_the_best_so_far():
    site, grid = SITES[0]

    def interrupt(line, share=None):
        if share is not None:
            raise KeyboardInterrupt

    found = search(site, grid, within(grid), report=interrupt)
    assert found.cut == "interrupt" and found.evaluations < SHORT
    assert float(predict(found.mapping).cost) == pytest.approx(found.cost) and found.cost <= found.launcher_cost


def test_the_irregular_case_of_the_issue_beats_the_launcher_by_15_percent():
    """8x8x8 with 40 random nodes missing, 59 rows of 8 tasks."""
    site, grid = with_holes(Torus((8, 8, 8)), 40), ProcessGrid(8, 59)
    found = search(site, grid, within(grid, 10_000))
    launcher = predict(default("", site, grid)).cost
    assert predict(found.mapping).cost <= 0.85 * launcher


@pytest.mark.parametrize("ring, T", [(True, 1), (False, 1), (True, 2), (False, 3)])
def test_a_proposal_beside_a_node_is_a_slot_of_any_neighbour_or_with_several_slots_of_the_node(ring, T):
    """On a line of five with a missing place, drawn often: the draws are exactly the possible slots."""
    place = np.array([0, T, 2 * T, -1, 3 * T])
    random = np.array([88172645463325252], dtype=np.uint64)
    places = routed_swaps.Places(T, np.repeat([0, 1, 2, 4], T), place, np.arange(5)[:, None], np.array([5]), np.array([1]),
                                 np.array([ring]))
    for node in range(5):
        drawn = {int(routed_swaps._beside(random, places, node, -7)) for _ in range(400)}
        steps = (-1, 0, 1) if T > 1 else (-1, 1)
        beside = [(node + step) % 5 if ring else node + step for step in steps]
        expected = {place[at] + slot for at in beside if 0 <= at < 5 and place[at] >= 0 for slot in range(T)}
        missing = any(not 0 <= at < 5 or place[at] < 0 for at in beside)
        assert drawn == expected | ({-7} if missing else set()), node


def test_progress_tells_the_share_of_evaluations_and_the_best_cost_so_far():
    site, grid = SITES[5]
    heard = []
    found = search(site, grid, within(grid), report=lambda line, share=None: heard.append((line, share)))
    told = [(re.fullmatch(r"best load (\S+) \(from .+\)", line), share) for line, share in heard]
    shares, best = zip(*((share, float(one[1])) for one, share in told if one))
    assert len(shares) > 3 and list(shares) == sorted(shares) and shares[-1] * SHORT <= found.evaluations
    assert min(best) == pytest.approx(found.cost, rel=1e-3), "the same as of what is returned"


def walked_cost(torus, grid, nodes, tie="split"):
    """Return the sum of the largest loads of the exchanges on the m scale, each message walked hop by hop."""
    loads = (brute.dimension_order(torus, messages, nodes, tie=tie) for messages in brute.messages(grid))
    return sum(max(some.values()) * Fraction(4 * torus.n_nodes, grid.n_tasks * n) for some, n in zip(loads, grid.shape))


def test_a_robust_search_finds_the_least_worst_over_the_rules_for_ties():
    ties, torus, grid = ("split", "parity", "plus"), Torus((6,)), ProcessGrid(2, 3)
    every = [max(walked_cost(torus, grid, nodes, tie) for tie in ties)
             for nodes in permutations(range(6)) if nodes[0] < 2]  # a ring is alike from every second node
    found = search(Site(torus), grid, within(grid), rules=annealing.TIED)
    assert found.cost == pytest.approx(float(min(every))) and found.cost < float(max(every))
    assert found.cost == pytest.approx(max(float(predict(found.mapping, routing_name=f"dimension-order:{tie}").cost)
                                           for tie in ties))


def test_a_robust_setting_shows_the_worst_rule_and_takes_the_least(monkeypatch):
    monkeypatch.setattr(search_module, "BUDGET", 10_000_000)
    where, usual, grid = setting(network="8x8", robust=True), setting(network="8x8"), ProcessGrid(4, 16)
    [shown] = where.predictions("4x16")
    worst = max(p.cost for p in usual.predictions("4x16", routing="all")[2:])
    assert shown.cost < worst and any("worst of 5" in note for note in shown.notes)
    placed = where.place("search:evaluations=500", grid)
    assert where.predict(placed).cost == max(p.cost for p in interval(usual, placed)[2:])
    assert where.predict(placed).cost < where.predict(usual.place("search:evaluations=500", grid)).cost
    assert where.predict(placed, "dimension-order").cost == usual.predict(placed).cost


@pytest.mark.parametrize("argument", ["seed", "seed=", "seed=x", "tries=3", "seed=1;seconds=2", "evaluations=1.5",
                                      "seconds=nan", "seed=-1", "evaluations=1e3", "seed=99999999999999999999"])
def test_wrong_options_are_refused(argument):
    with pytest.raises(PlacementError, match="search:"):
        place(f"search:{argument}", *SITES[0])


def test_lengths_of_very_slow_links_remain_numbers():
    site = Site(Torus((4, 4, 2), bandwidth=(1.0, 1e6, 1e6)), idle=True)
    found = search(site, ProcessGrid(5, 6), within(ProcessGrid(5, 6)))
    assert found.cost < found.launcher_cost
    run = annealing._Run(site, ProcessGrid(5, 6), Search(), lambda line: None, in_sequence(2), annealing.USUAL)
    for top, doublings in ((1.0, 8), (40.0, 6), (1e6, 5), (1e9, 4)):
        run.state.sums.top[:] = top
        assert run._most_doublings() == doublings
