"""The terms of the time model: compared with single messages and brute-force routes, and their rules."""

from collections import Counter
from dataclasses import fields, replace
from math import log2

import numpy as np
import pytest
from hypothesis import given

from pencilmap.mapper.placements import place
from pencilmap.model.base.errors import MachineError
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product, parse_pattern
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.times.costs import Costs, MessageRange
from pencilmap.model.times.timing import ExchangeWork, exchange_terms, local_work
from tests.model import brute_force as brute
from tests.model.cases import drawn, predict_product, predict_routed, random_mapping, random_torus, repeatable

B = 1e9
ALL = Costs(hop_latency_s=1e-7, injection_per_task=2e8, injection_per_node=3e8, message_cost_s=1e-6, exchange_cost_s=4e-5,
            contention=0.5, fft_rate_per_task=1e9, memory_bandwidth_per_node=4e9)


def torus(text):
    shape = parse_torus(text)
    return parse_torus(text, bandwidth=(B,) * shape.n_dimensions)


def product(text, *patterns, slots="r1"):
    return Product(torus(text), tuple(map(parse_pattern, patterns)), parse_pattern(slots))


# --- work ---------------------------------------------------------------------------------------------------------


def uneven(rng):
    """Return ranks on random slots of a small torus and a transform that seldom divides evenly."""
    network = random_torus(rng, 12)
    mapping = random_mapping(rng, replace(network, bandwidth=(B,) * network.n_dimensions))
    least = max(mapping.grid.shape)
    return mapping, Transform(*(rng.randint(least, 2 * least + 3) for _ in range(3)))


@repeatable(40)
@given(drawn(uneven)())
def test_work_is_what_single_messages_add_up_to(case):
    mapping, transform = case
    node = mapping.node_of_rank
    for traffic, exchange in zip(brute.messages(mapping.grid, transform), predict(mapping, transform).stages):
        by_task, by_node, inside = Counter(), Counter(), Counter()
        for source, target, amount in traffic:
            if node[source] == node[target] and source != target:
                inside[int(node[source])] += amount
            if node[source] != node[target]:
                by_task[source] += amount
                by_node[int(node[source])] += amount
        sent = sum(amount for source, target, amount in traffic if source != target)
        work = exchange.work
        assert work.task_bytes == pytest.approx(max(by_task.values(), default=0), abs=1e-6)
        assert work.node_bytes == pytest.approx(max(by_node.values(), default=0), abs=1e-6)
        assert work.inside_bytes == pytest.approx(max(inside.values(), default=0), abs=1e-6)
        assert work.hop_roots == pytest.approx(work.hops * work.message_roots)
        assert work.messages == max(Counter(s for s, t, _ in traffic if s != t).values(), default=0)
        assert work.hops == pytest.approx(brute.hop_bytes(mapping.network, traffic, node) / sent if sent else 0)
        assert work.tasks == (max(Counter(node.tolist()).values()) if work.messages else 0)


PRODUCTS = [("8x8x8", ("r4c2",) * 3, "r1"), ("8x8x8", ("r2c4",) * 3, "c2"), ("8x8x8", ("r8", "c8", "c8"), "r2"),
            ("4x4:mesh", ("r4", "r2c2"), "r1"), ("6x4", ("c3r2", "r2c2"), "c2"),
            ("4x2", ("c4", "c2"), "c2")]


@pytest.mark.parametrize("text, patterns, slots", PRODUCTS)
def test_closed_form_and_counting_give_the_same_work(text, patterns, slots):
    placement = product(text, *patterns, slots=slots)
    transform = Transform(*(placement.grid.n_tasks,) * 3)   # divides evenly
    closed = predict_product(placement, transform, costs=ALL)
    routed = predict_routed(placement.mapping(), transform, costs=ALL)
    for a, b in zip(closed.stages, routed.stages):
        for f in fields(ExchangeWork):
            assert getattr(a.work, f.name) == pytest.approx(getattr(b.work, f.name), rel=1e-9), f.name
        assert a.time_s == pytest.approx(b.time_s, rel=1e-9)


def test_local_work_is_that_of_the_task_with_the_largest_pencils():
    """7x6x10 elements on 2x3 tasks: blocks of x 3 (of q), y 3 and 2, z 5, by hand."""
    work = local_work(Transform(7, 6, 10), ProcessGrid(2, 3), 4)
    z_pencil, y_pencil, x_pencil = 3 * 3 * 10, 3 * 6 * 5, 7 * 2 * 5
    assert work.operations == pytest.approx(5 * (z_pencil * log2(10) + y_pencil * log2(6) + x_pencil * log2(7)))
    assert work.pass_bytes == 2 * 90 * 16 * 4
    assert work.memory_bytes == 7 * work.pass_bytes


# --- prices ---------------------------------------------------------------------------------------------------------


WORK = ExchangeWork(link_s=1e-3, adaptive_s=1.4e-3, task_bytes=1e5, node_bytes=4e5, messages=7, hops=3.0, tasks=4)


def test_every_term_by_hand():
    terms = exchange_terms(WORK, ALL).as_dict()
    assert terms == pytest.approx({"link_s": 1e-3, "contention_s": 0.2e-3, "injection_s": 4e5 / 3e8, "start_s": 16e-5,
                                   "messages_s": 7e-6, "hops_s": 3e-7})


@pytest.mark.parametrize("field, slower", [("injection_per_task", 0.5), ("injection_per_node", 0.5), ("message_cost_s", 2),
                                           ("exchange_cost_s", 2), ("contention", 2), ("hop_latency_s", 2)])
def test_no_time_falls_when_a_figure_gets_worse(field, slower):
    worse = Costs(**{**ALL.__dict__, field: getattr(ALL, field) * slower})
    assert exchange_terms(WORK, worse).time_s >= exchange_terms(WORK, ALL).time_s


def test_routers_that_spread_better_than_dimension_order_do_not_make_an_exchange_shorter():
    better = ExchangeWork(**{**WORK.__dict__, "adaptive_s": 0.8e-3})
    assert exchange_terms(better, Costs(contention=1.0)).time_s == 1e-3


# --- predictions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["sequence", "two-way"])
def test_rows_inside_a_node_take_the_bandwidth_between_its_tasks(schedule):
    """Four tasks of a node pass three quarters of what they hold to each other, and nothing to other nodes."""
    placed, transform = product("8x8x8", "c8", "c8", "c8", slots="r4"), Transform(512, 512, 512)
    slow, fast = (predict(placed, transform, costs=Costs(on_node_bandwidth=rate), schedule=schedule) for rate in (1e6, 1e12))
    inside = 0.75 * transform.total_bytes / 512
    assert slow.stages[0].time_s == pytest.approx(inside / 1e6) and slow.stages[1].time_s == fast.stages[1].time_s
    others = {"sequence": slow.stages[1].time_s, "two-way": 0.0}[schedule]  # two ways at once the tasks work all the time
    assert slow.schedule.time_s == pytest.approx(inside / 1e6 + others, rel=0.005)  # lanes are uneven by a plane


def test_the_cost_of_a_hop_counts_hops_and_roots_by_hand():
    """Columns of 8x64 on cubes: 63 messages of 128 bytes, 6 hops of the average byte times 64/63, in every count."""
    product = place("box:2x2x2", Site(Torus((8, 8, 8), bandwidth=(148e6,) * 3)), ProcessGrid(8, 64))
    costs, transform = Costs(message_hop_cost_s=0.5e-6), Transform(64, 64, 64)
    for placed in (product, product.mapping()):
        stage = predict(placed, transform, costs=costs).stage("column")
        by_hand = 0.5e-6 * 63 * (128 / 1024) ** 0.5 * 6 * 64 / 63
        assert stage.terms.messages_s == pytest.approx(by_hand, rel=1e-9)
        assert stage.time_s == pytest.approx(stage.t_s + by_hand, rel=1e-9)


# ---- ports, and costs of messages by size ------------------------------------------------------------------------------


def test_messages_by_ranges_count_batches_and_rates():
    """Seven messages of 4 KiB by hand: three start at a time in the first range, a single message in the second."""
    work = ExchangeWork(0.0, None, 7 * 4096.0, 7 * 4096.0, 7, 0.0, 1, 7 * 2.0)
    few, many = MessageRange(4096, 2e-6, 3, rate=1e9), MessageRange(float("inf"), 5e-6, 1, together=2e9)
    terms = exchange_terms(work, Costs(messages=(few, many)))
    assert (terms.messages_s, terms.injection_s) == (pytest.approx(3 * 2e-6), pytest.approx(4096 / 1e9))
    terms = exchange_terms(work, Costs(messages=(MessageRange(4095, 2e-6, 3), many)))
    assert (terms.messages_s, terms.injection_s) == (pytest.approx(7 * 5e-6), pytest.approx(7 * 4096 / 2e9))


@pytest.mark.parametrize("ranges, more, part", [
    ((MessageRange(10, 1e-6),), {}, "the last has no end"),
    ((MessageRange(10, 1e-6), MessageRange(5, 1e-6), MessageRange(float("inf"), 1e-6)), {}, "ends above the one before"),
    ((MessageRange(float("inf"), 1e-6, 0),), {}, "1 port or more"),
    ((MessageRange(float("inf"), 1e-6, 1, 0.0),), {}, "rates above"),
    ((MessageRange(float("inf"), 1e-6),), {"message_cost_s": 1e-6}, "would count them twice")])
def test_wrong_ranges_are_refused(ranges, more, part):
    with pytest.raises(MachineError, match=part):
        Costs(messages=ranges, **more)


def test_the_ports_of_a_node_take_time_for_each_message_that_leaves_it():
    """Four tasks on each of three nodes send to the eight on the other two nodes: 32 messages leave a node."""
    ranks = np.arange(12)
    placed = Mapping(torus("3"), ProcessGrid(1, 12), 4, ranks // 4, ranks % 4)
    free, costly = (predict(placed, Transform(12, 12, 12), costs=Costs(node_message_cost_s=cost)).stage("column")
                    for cost in (None, 1e-6))
    assert costly.work.node_messages == pytest.approx(32) and costly.work.messages == 11
    assert costly.terms.messages_s == pytest.approx(32e-6) == costly.time_s - free.time_s
    assert Costs(message_cost_s=1e-6, node_message_cost_s=1e-6).starting(ports=2).node_message_cost_s == 1e-6
