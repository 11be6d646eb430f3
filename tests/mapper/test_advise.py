"""`pencilmap plan`: first choices compared with all predictions, the deciding term, threads, and refusals."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from pencilmap.mapper.given_nodes import partition_for
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.advise import (
    LARGE,
    TERMS,
    _grids,
    _leaders,
    _least_s,
    advise,
    ranks_against_threads,
    settings,
    time_of,
)
from pencilmap.model.schedules.schedule import FORWARD
from pencilmap.model.times.costs import Costs
from pencilmap.scripts.command_line.result_files import read_result, result_file
from pencilmap.scripts.maintenance.advice import CASES, LEAST, PAGE, SEED, WITHIN, drawn, judged

SMALL = {"torus": "4x2", "bandwidth": "1 GB/s"}
ODD = {"torus": "3x2", "bandwidth": "1 GB/s"}
TINY = {"torus": "2x2", "bandwidth": "1 GB/s"}


def test_nothing_that_is_predicted_is_faster():
    """Compare with every grid, placement and schedule of the usual rankings."""
    advice = advise(settings("12x8x10", **ODD))
    for decomposition in ("pencil", "slab"):
        where = setting(fft="12x8x10", decomposition=decomposition, **ODD)
        for schedule in ("sequence", "best"):
            for p in where.predictions("best", ["best", "default"], schedule=schedule, direction=FORWARD):
                if where.transform.fills(p.grid):
                    assert time_of(advice.best) <= 1.0101 * time_of(p)


def test_the_deciding_term_is_the_one_that_is_large():
    for figure, term in (("message_cost_s", "messages_s"), ("exchange_cost_s", "start_s"), (None, "link_s")):
        where = settings("16", **TINY)
        if figure:
            object.__setattr__(where, "costs", type(where.costs)(**{figure: 1.0}))
        advice = advise(where)
        assert advice.term == term and term in TERMS and advice.share > 0.9


def test_figures_that_are_not_known_are_named_in_words():
    """Either of the two limits on the data into the network is enough."""
    where = settings("16", **TINY)
    for known, missing in (({}, 4), ({"injection_per_task": 1e8}, 3), ({"injection_per_node": 1e8}, 3),
                           ({"injection_per_task": 1e8, "injection_per_node": 1e8, "message_cost_s": 0.0}, 2)):
        object.__setattr__(where, "costs", Costs(**known))
        unknown = advise(where).unknown
        assert len(unknown) == missing and ("what a node puts into the network" in unknown) == (not known)


def test_messages_decide_for_few_partners():
    """If only starts cost, the grid with the fewest partners wins: (r - 1) + (c - 1) is least for 2x4."""
    where = settings("16", **SMALL)
    object.__setattr__(where, "costs", type(where.costs)(message_cost_s=1.0))
    assert sorted(advise(where).best.grid.shape) == [2, 4]


def test_one_task_of_threads_sends_fewer_messages():
    where = settings("32", tasks_per_node=2, **TINY)
    tasks, threads = ranks_against_threads(where)
    assert (tasks.tasks, tasks.threads, threads.tasks, threads.threads) == (2, 1, 1, 2)
    assert threads.node_bytes == tasks.node_bytes and threads.prediction.grid.n_tasks == 4


@pytest.mark.parametrize("torus, tasks", [("3x2", 2), ("4x3", 1)])
def test_what_is_not_routed_could_not_have_come_first(torus, tasks):
    """The least time of an exchange, from no link load, is below its prediction."""
    where = settings("24x16x20", network=torus, bandwidth="1 GB/s", tasks_per_node=tasks)
    object.__setattr__(where, "costs", Costs(message_cost_s=1e-6, exchange_cost_s=2e-6, contention=0.5))
    for grid in ("3x4", "2x6"):
        [leader] = where.predictions(grid, ["default"])
        for name in ("p2p", "node", "bruck2"):
            [other] = where.predictions(grid, ["default"], exchange=name)
            assert 0 <= _least_s(leader, name) <= time_of(other) * (1 + 1e-9)
        assert (_least_s(leader, "node") == leader.known_s) == (tasks == 1)
        assert _least_s(leader, "p2p") > 0.5 * time_of(leader) and _least_s(leader, "bruck2") == 0


def test_pairs_in_phases_may_save_the_contention_and_messages_of_nodes_of_one_task_save_nothing():
    """Under adaptive routing, messages of dense boxes meet in the middle; `node` sends all messages at once there."""
    dense = setting(network="8x8", bandwidth="1 GB/s", fft="64")
    leader, = replace(dense, costs=Costs(contention=1.0)).predictions("16x4", ["digits:x=r4c2,y=r4c2"])
    contention = sum(stage.terms.contention_s for stage in leader.stages)
    assert contention > 0.05 * leader.known_s
    assert _least_s(leader, "p2p") == pytest.approx(leader.known_s - contention)
    assert _least_s(leader, "node") == leader.known_s and _least_s(leader, "bruck2") == 0


def test_grids_within_twice_the_least_time_are_looked_at_again():
    """Concurrent exchanges take at least half of the time in sequence; each grid gets its fastest placement."""
    grids = [("pencil", (2, 8), 1.0), ("pencil", (2, 8), 1.5), ("slab", (16,), 1.9), ("pencil", (4, 4), 2.0),
             ("pencil", (8, 2), 2.1)]
    order = [SimpleNamespace(grid=SimpleNamespace(decomposition=SimpleNamespace(name=name), shape=shape), schedule=None,
                             known_s=seconds) for name, shape, seconds in grids]
    assert _leaders(order, SimpleNamespace(n_slots=LARGE)) == [order[0], order[2], order[3]]
    assert _leaders(order, SimpleNamespace(n_slots=LARGE + 1)) == [order[0]]


def test_grids_are_first_compared_without_a_search(monkeypatch):
    shares = []
    monkeypatch.setattr("pencilmap.mapper.setting.candidates", lambda *given: shares.append(given[-1]) or [])
    advise(settings("64", network="16x9", bandwidth="1 GB/s"))
    assert shares and set(shares) == {0}


def test_of_a_cube_on_a_large_machine_one_of_two_grids_is_tried_and_of_other_extents_both():
    for fft, both in (("128", False), ("128x128x256", True)):
        grids = {grid.shape for grid in _grids(settings(fft, network="32x16x16", bandwidth="1 GB/s"))}
        assert (64, 128) in grids and ((128, 64) in grids) == both
    grids = {grid.shape for grid in _grids(settings("512", network="17x241", bandwidth="1 GB/s"))}
    assert (17, 241) in grids and (241, 17) not in grids, "4097 nodes are many"
    assert (64, 64) in {grid.shape for grid in _grids(settings("128", network="16x16x16", bandwidth="1 GB/s"))}
    assert {(4, 2), (2, 4)} <= {grid.shape for grid in _grids(settings("8", **SMALL))}


def test_a_large_machine_has_advice_from_products_alone():
    where = settings("4096", network="32x32x16", bandwidth="1 GB/s")
    assert where.n_slots > LARGE
    advice = advise(where)
    assert all(p.product is not None for p in advice.found) and advice.best.certificate < 1.5


def test_partitions_are_those_of_the_machine():
    assert partition_for("bluegene-l", 1024) in ("8x8x16", "8x16x8", "16x8x8") and partition_for("bluegene-l", 512) is None
    assert str(settings("64", "bluegene-l", 32).network) == "4x4x2:mesh"  # below a midplane, no dimension wraps


def test_the_command_prints_what_to_take_and_measure(pencilmap, pencilmap_json):
    words = ("--network", "2x2", "--bandwidth", "1 GB/s", "--fft", "16")
    found = pencilmap_json.one("plan", *words, "--top", 3)
    assert len(found["candidates"]) == 3 and found["deciding_term"] == "link_s" and found["measure"]
    status, out, _ = pencilmap("plan", *words, "-t", 2, "--threads")
    assert status == 0 and "the busiest links" in out and max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("words, part", [
    (("--fft", "16"), "advice needs a machine"), (("--machine", "bluegene-l", "--nodes", "500", "--fft", "64"),
                                                  "no partition of 500"),
    (("--machine", "bluegene-x", "--fft", "64"), "is unknown"), (("--network", "4x4", "--bandwidth", "1 GB/s", "--fft", "2"),
                                                                 "so that every task has data"),
    (("--network", "4x4", "--bandwidth", "1 GB/s", "--nodes", "8", "--fft", "16"), "not the 8 of --nodes"),
    (("--nodes", "8", "--bandwidth", "1 GB/s", "--fft", "16"), "does not say how the nodes are linked"),
    (("--machine", "bluegene-l", "--nodes", "pyproject.toml", "--fft", "16"), "pencilmap predict takes a file of nodes"),
    (("--network", "4x4", "--bandwidth", "1 GB/s", "-t", "1", "--threads", "--fft", "16"), "give --tasks-per-node 2")])
def test_what_cannot_be_advised_is_told(pencilmap, words, part):
    status, out, err = pencilmap("plan", *words)
    assert status in (1, 2) and out == "" and part in err


def test_the_cases_of_the_validation_are_drawn_alike_each_time():
    assert drawn(5, 30) == drawn(5, 30) != drawn(6, 30) and len({str(case) for case in drawn(5, 30)}) > 20


def test_the_page_has_the_first_choices_of_the_result_file():
    rows = read_result(result_file(PAGE, "advice"))
    assert [(row["torus"], row["transform"]) for row in rows] == [
        (f"{case['torus']}, {case['tasks_per_node']} a node", case["fft"]) for case in drawn(SEED, CASES)]
    ratios = [float(row["ratio"]) for row in rows]
    good, fastest = sum(ratio <= WITHIN for ratio in ratios), ratios.count(1)
    text = " ".join(PAGE.read_text("utf-8").split())
    assert good >= LEAST
    assert f"{good} of {len(rows)} first choices are within 5 % of the fastest** run: {fastest} are the fastest" in text
    assert f"and the others take at most {100 * (max(ratios) - 1):.1f} % longer" in text


@pytest.mark.slow
def test_the_first_choice_is_the_fastest_of_all_simulated():
    """For a case that no validation used."""
    assert float(judged(drawn(99, 1)[0])[-1]) <= WITHIN
