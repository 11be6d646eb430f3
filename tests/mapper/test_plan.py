"""Plans: first choices compared with all predictions, the deciding term, one ranking everywhere, and refusals."""

import random
from dataclasses import replace
from importlib import import_module
from itertools import product as cartesian
from types import SimpleNamespace

import networkx as nx
import pytest

from pencilmap import model
from pencilmap.mapper import choose, place
from pencilmap.mapper.ask import partition_for
from pencilmap.mapper.base import search as search_module
from pencilmap.mapper.choose import LARGE, _Wanted, least_s, plan
from pencilmap.mapper.place import best_placement
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.threads import choices
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.placement.grid import all_grids
from pencilmap.model.placement.product import Product
from pencilmap.model.predict.ranking import TERMS, order, worth
from pencilmap.model.times.costs import Costs

SMALL = {"network": "4x2", "bandwidth": "1 GB/s"}
ODD = {"network": "3x2", "bandwidth": "1 GB/s"}
TINY = {"network": "2x2", "bandwidth": "1 GB/s"}


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


@pytest.mark.thorough
def test_the_exchanges_alone_and_the_whole_transform_may_choose_differently():
    """Slabs move the array once less through memory, and pencils of many rows have shorter messages."""
    where = replace(setting(network="4x4", bandwidth="1 GB/s", fft="64"), costs=Costs(fft_rate_per_task=1e6))
    for by in ("transform", "exchanges"):
        choices = plan(where, by=by).choices
        assert all(c.worth == worth(c.prediction, by) for c in choices)
        orders = [order(c.prediction, by) for c in choices]
        assert orders[0][1] <= 1.01 * min(o[1] for o in orders if o[0] == orders[0][0])
    assert plan(where).best.worth == pytest.approx(plan(where).best.prediction.schedule.total_s)


QUESTIONS = 30
SHAPES = ("4x2", "3x3", "4x4", "2x2x4", "5x2", "4x3:mesh", "6x2", "8", "2x3x2", "4x4:mesh")
SWITCHED = ("fat-tree:leaves=4,hosts=3,up=2", "dragonfly:a=2,p=2,h=1", "hyperx:2x3,hosts=2")
FIGURES = (Costs(), Costs(), Costs(fft_rate_per_task=1e8, message_cost_s=1e-5, injection_per_node=2e8))


def drawn_question(draw):
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
    given, costs = drawn_question(draw), draw.choice(FIGURES)
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


@pytest.mark.thorough
@pytest.mark.usefixtures("brief")
def test_quick_searches_nothing_and_its_answer_is_among_those_of_normal(monkeypatch):
    where = setting(network="6x6", fft="36", bandwidth="1 GB/s")
    normal = plan(where)
    monkeypatch.setattr(import_module("pencilmap.mapper.placements.best"), "_tiling", lambda *given: pytest.fail("searched"))
    quick = plan(where, effort="quick")
    assert quick.effort == "quick" and normal.best.worth <= quick.best.worth
    assert not quick.cut_short and not normal.cut_short


def test_nothing_is_searched_if_the_first_choice_takes_the_least_that_any_grid_takes(monkeypatch):
    asked = []
    monkeypatch.setattr(_Wanted, "_searched", lambda self, leader, *given: asked.append(str(leader.grid)) or leader)
    plan(setting(network="4x4x4", fft="64", bandwidth="1 GB/s"))
    assert not asked
    plan(setting(network="4x4x4", fft="64", bandwidth="1 GB/s"), grids=[all_grids(64)[3]], schedules=["sequence"])
    assert asked


def test_a_time_limit_cuts_the_search_short_and_the_plan_says_so():
    where = setting(network="7x7", fft="49", bandwidth="1 GB/s")
    grids = [where.grid("7x7")]
    cut, whole = (plan(where, grids=grids, schedules=["sequence"], seconds=seconds) for seconds in (0.0, None))
    assert cut.cut_short and not whole.cut_short
    assert whole.best.worth < cut.best.worth == plan(where, grids=grids, schedules=["sequence"], effort="quick").best.worth


@pytest.mark.usefixtures("brief")
def test_the_same_seed_gives_the_same_plan():
    where = setting(network="5x5", failed="0-0", fft="50", bandwidth="1 GB/s")
    one, two = (plan(where, grids=[where.grid("4x6")], schedules=["sequence"], seed=3) for _ in range(2))
    assert [c.prediction for c in one.choices] == [c.prediction for c in two.choices]
    assert "seed=3" in next(c.placement for c in one.choices if c.prediction.placement == "best" and "search" in c.placement)


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


def test_the_deciding_term_is_the_one_that_is_large():
    for figure, term in (("message_cost_s", "messages_s"), ("exchange_cost_s", "start_s"), (None, "link_s")):
        where = setting(fft="16", **TINY)
        if figure:
            object.__setattr__(where, "costs", type(where.costs)(**{figure: 1.0}))
        name, share = plan(where).term
        assert name == term and term in TERMS and share > 0.9


def test_figures_that_are_not_known_are_named_in_words():
    """One of the two limits on the data into the network is enough."""
    where = setting(fft="16", **TINY)
    for known, missing in (({}, 4), ({"injection_per_task": 1e8}, 3), ({"injection_per_node": 1e8}, 3),
                           ({"injection_per_task": 1e8, "injection_per_node": 1e8, "message_cost_s": 0.0}, 2)):
        object.__setattr__(where, "costs", Costs(**known))
        unknown = plan(where).unknown
        assert len(unknown) == missing and ("what a node puts into the network" in unknown) == (not known)


def test_messages_decide_for_few_partners():
    """If only starts cost, the grid with the fewest partners wins: (r - 1) + (c - 1) is least for 2x4."""
    where = setting(fft="16", **SMALL)
    object.__setattr__(where, "costs", type(where.costs)(message_cost_s=1.0))
    assert sorted(plan(where).best.grid.shape) == [2, 4]


def test_one_task_of_threads_sends_fewer_messages():
    where = setting(fft="32", tasks_per_node=2, **TINY)
    tasks, threads = choices(where, [2, 1], lambda here: plan(here).best.prediction)
    assert (tasks.tasks, tasks.threads, threads.tasks, threads.threads) == (2, 1, 1, 2)
    assert threads.node_bytes == tasks.node_bytes and threads.prediction.grid.n_tasks == 4


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


def test_pairs_in_phases_may_save_the_contention_and_messages_of_nodes_of_one_task_save_nothing():
    """Under adaptive routing, messages of dense boxes meet in the middle; `node` sends all messages at once there."""
    dense = setting(network="8x8", bandwidth="1 GB/s", fft="64")
    leader, = replace(dense, costs=Costs(contention=1.0)).predictions("16x4", ["digits:x=r4c2,y=r4c2"])
    contention = sum(stage.terms.contention_s for stage in leader.stages)
    assert contention > 0.05 * leader.known_s
    assert least_s(leader, "p2p") == pytest.approx(leader.known_s - contention)
    assert least_s(leader, "node") == leader.known_s and least_s(leader, "bruck2") == 0


class InOrder(_Wanted):
    """Choices stay in their order."""

    def ranked(self, found):
        return list(found)


def test_grids_within_twice_the_least_time_are_looked_at_again():
    """Concurrent exchanges take at least half of the time in sequence; the first choice of each grid counts."""
    worths = [("2x8", 1.0), ("2x8", 1.5), ("16", 1.9), ("4x4", 2.0), ("8x2", 2.1)]
    some = [SimpleNamespace(kind=kind, worth=value) for kind, value in worths]
    assert InOrder(SimpleNamespace(n_slots=LARGE)).leaders(some) == [some[0], some[2], some[3]]
    assert InOrder(SimpleNamespace(n_slots=LARGE + 1)).leaders(some) == [some[0]]


def test_grids_are_first_compared_without_a_search(monkeypatch):
    budgets = []
    monkeypatch.setattr("pencilmap.mapper.place.candidates", lambda *given:
                        budgets.append(given[3].budget) or candidates(*given))
    plan(setting(fft="64", network="16x9", bandwidth="1 GB/s"), effort="quick")
    assert budgets and set(budgets) == {0}


def test_a_first_answer_predicts_grids_with_idle_tasks_only_if_these_may_come_first():
    def grids(fft, by="transform", **costs):
        where = replace(setting(fft=fft, network="4x4", bandwidth="1 GB/s", tasks_per_node=4), costs=Costs(**costs))
        return {choice.grid.shape for choice in plan(where, effort="quick", by=by).choices}

    busy = {(8, 8)}
    assert grids("8") == grids("8", by="exchanges", fft_rate_per_task=1e9) == busy
    assert busy < grids("8", fft_rate_per_task=1e9) and busy < grids("7")  # the latter leave tasks idle on every grid


@pytest.mark.parametrize("network", ["3x3:mesh", "4x4", "fat-tree:leaves=4,hosts=4,up=2"])
def test_a_robust_first_answer_predicts_under_every_rule_only_grids_that_may_come_first(network, monkeypatch):
    where = setting(network=network, fft="36", bandwidth="1 GB/s", tasks_per_node=2, robust=True)
    every, tried = [], []
    for grid in all_grids(where.n_slots, where.decomposition):
        every += [best_placement(where, grid, search_module.Search(0))[1], where.predict(where.place("default", grid))]
    for module in (model.predict, choose, place):
        monkeypatch.setattr(module, "answer", lambda question, placed, name=None, known=model.predict.answer:
                            tried.append((placed.grid, question.routing)) or known(question, placed, name))
    found = plan(where, schedules=["sequence"], effort="quick", decompositions=[where.decomposition])
    assert found.best.worth == min(every, key=order).worth
    assert len({grid for grid, rule in tried if rule}) < len({grid for grid, _ in tried})


@pytest.mark.usefixtures("brief")
def test_each_round_of_the_search_looks_at_fewer_grids_for_longer(monkeypatch):
    budgets = []
    monkeypatch.setattr("pencilmap.mapper.place.candidates", lambda *given:
                        budgets.append(given[3].budget) or candidates(*given))
    where = setting(network="7x7", fft="49", bandwidth="1 GB/s")
    for effort, factor in (("normal", 1), ("long", 8)):
        budgets.clear()
        found = plan(where, grids=[where.grid("7x7")], schedules=["sequence"], effort=effort)
        assert [budget for budget in budgets if budget] == [factor * search_module.BUDGET // 2]
        assert found.best.certificate > 1
    budgets.clear()
    plan(setting(network="5x5", bandwidth="1 GB/s", fft="50", failed="0-0"), schedules=["sequence"])
    searched = [budget for budget in budgets if budget]
    assert searched == sorted(searched)
    assert searched.count(max(searched)) == 3 < searched.count(min(searched))  # 24, 1x24 and 24x1 are one search


@pytest.mark.usefixtures("brief")
def test_placements_that_were_searched_briefly_or_not_at_all_are_called_best_so_far():
    where = setting(network="5x5", failed="0-0", fft="50", bandwidth="1 GB/s")
    first, *others = plan(where, schedules=["sequence"]).choices
    assert first.name == "best" and {c.name for c in others} == {"best", "best so far", "default"}
    for choice in others:
        assert (choice.name == "best so far") == (choice.is_brief and choice.certificate > 1.01)
        assert choice.name != "best so far" or min(choice.grid.shape) > 1
    assert not any(c.is_brief for c in plan(where, effort="quick").choices)


def test_no_longer_search_helps_a_grid_whose_placements_are_all_alike():
    where = setting(network="dragonfly:a=2,p=2,h=1", fft="49", bandwidth="1 GB/s", failed="1,3,5,7,9")
    for choice in plan(where, schedules=["sequence"], effort="quick").choices:
        assert choice.certificate > 1.01  # routers adapt, so the limit holds for any routing
        assert replace(choice, is_brief=True).name == choice.prediction.placement


def test_the_best_placement_of_a_grid_is_its_launch_order_if_that_is_faster(monkeypatch):
    monkeypatch.setattr(_Wanted, "_quick", lambda self, here, grid: self.choice(
        here, place.place(here, "default:yxt", grid), "best"))
    where = setting(network="8x2", fft="32", bandwidth="1 GB/s")
    found = {(c.kind, c.prediction.placement): c for c in plan(where, effort="quick", schedules=["sequence"]).choices}
    pairs = [(found[kind, "best"], c) for (kind, name), c in found.items() if name == "default"]
    assert all(best.worth <= default.worth for best, default in pairs)
    assert any(best.placement == "default" for best, _ in pairs)


def test_of_a_cube_on_a_large_machine_one_of_two_grids_is_tried_and_of_other_extents_both():
    def grids(**given):
        where = setting(bandwidth="1 GB/s", **given)
        return {grid.shape for grid in _Wanted(where)._grids(where)}

    for fft, both in (("128", False), ("128x128x256", True)):
        some = grids(fft=fft, network="32x16x16")
        assert (64, 128) in some and ((128, 64) in some) == both
    some = grids(fft="512", network="17x241")
    assert (17, 241) in some and (241, 17) not in some, "4097 nodes are many"
    assert (64, 64) in grids(fft="128", network="16x16x16")
    assert {(4, 2), (2, 4)} <= grids(fft="8", network="4x2")


def test_a_large_machine_is_planned_with_products_alone():
    where = setting(fft="4096", network="32x32x32", bandwidth="1 GB/s")
    assert where.n_slots > LARGE
    found = plan(where)
    assert all(isinstance(c.placed, Product) for c in found.choices) and found.best.certificate < 1.5


def test_partitions_are_those_of_the_machine():
    assert partition_for("bluegene-l", 1024) in ("8x8x16", "8x16x8", "16x8x8") and partition_for("bluegene-l", 512) is None
    network = setting(machine="bluegene-l", nodes=32, fft="64").network
    assert str(network) == "4x4x2:mesh"  # below a midplane, no dimension wraps


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
    (("--network", "4x4", "--bandwidth", "1 GB/s", "--nodes", "8", "--fft", "16"), "not the 8 of --nodes"),
    (("--nodes", "8", "--bandwidth", "1 GB/s", "--fft", "16"), "does not say how the nodes are linked"),
    (("--machine", "bluegene-l", "--nodes", "pyproject.toml", "--fft", "16"), "pyproject.toml line 1 column 1"),
    (("--network", "4x4", "--bandwidth", "1 GB/s", "-t", "1", "--threads", "2", "--fft", "16"),
     "other tasks with --tasks-per-node")])
def test_what_cannot_be_planned_is_told(pencilmap, words, part):
    status, out, err = pencilmap("plan", *words)
    assert status == 1 and out == "" and part in err


@pytest.mark.parametrize("network", ["dragonfly:a=2,p=1,h=1", "hypercube:3", "2x4:twisted"])
def test_a_first_answer_needs_no_cuts_of_its_exchanges(monkeypatch, network):
    monkeypatch.setattr("pencilmap.model.predict.question.cut_bound", None)
    assert plan(setting(fft="64", network=network, bandwidth="1 GB/s"), effort="quick").best.seconds


def test_the_largest_term_is_a_share_of_the_time():
    """Links hide the ports, so ports are no part of the time."""
    where = setting(machine="fugaku", network="4x4x4", fft="512:r2c", tasks_per_node=1)
    found = plan(where, grids=[where.grid("8x8")], schedules=["sequence"], effort="quick")
    stages, (name, share) = found.best.prediction.stages, found.term
    assert name == "link_s" and all(stage.terms.injection_s > 0 for stage in stages)
    assert share == pytest.approx(sum(stage.terms.link_s for stage in stages) / found.best.prediction.total_s)


def test_a_quick_plan_takes_grids_with_idle_tasks_if_no_other_is_possible():
    where = setting(network="4x4x4", bandwidth="1 GB/s", fft="8")
    assert plan(where, schedules=("overlap:2",), effort="quick").best.grid.shape == (4, 16)
    assert not plan(where, effort="quick").best.prediction.idle_tasks


def test_robust_is_the_worst_of_all_routings_with_two_exchanges_at_once(tmp_path):
    """Routes that suit one exchange alone may be the worst for two at once."""
    cables = nx.gnm_random_graph(10, 18, seed=569)
    nx.set_node_attributes(cables, "host", "kind")
    nx.write_graphml(cables, tmp_path / "cables.graphml")
    given = {"network": tmp_path / "cables.graphml", "bandwidth": "1 GB/s", "fft": "100"}
    shown, = setting(**given, robust=True).predictions("5x2", ["default"], schedule="two-way")
    each = setting(**given).predictions("5x2", ["default"], schedule="two-way", routing="all")
    assert shown.order == max(p.order for p in each) and shown.routing == "optimal-minimal"
