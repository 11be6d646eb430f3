"""Plans: first choices compared with all predictions, the deciding term, one ranking everywhere, and refusals."""

import random
from dataclasses import replace
from itertools import product as cartesian

import pytest

from pencilmap import model
from pencilmap.mapper import choose, place
from pencilmap.mapper.base import search as search_module
from pencilmap.mapper.choose import plan
from pencilmap.mapper.choose.choices import Wanted, least_s
from pencilmap.mapper.place import best_placement
from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.placement.grid import all_grids
from pencilmap.model.predict.ranking import order, worth
from pencilmap.model.times.costs import Costs

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


def test_pairs_in_phases_may_save_the_contention_and_messages_of_nodes_of_one_task_save_nothing():
    """Under adaptive routing, messages of dense boxes meet in the middle; `node` sends all messages at once there."""
    dense = setting(network="8x8", bandwidth="1 GB/s", fft="64")
    leader, = replace(dense, costs=Costs(contention=1.0)).predictions("16x4", ["digits:x=r4c2,y=r4c2"])
    contention = sum(stage.terms.contention_s for stage in leader.stages)
    assert contention > 0.05 * leader.known_s
    assert least_s(leader, "p2p") == pytest.approx(leader.known_s - contention)
    assert least_s(leader, "node") == leader.known_s and least_s(leader, "bruck2") == 0


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
