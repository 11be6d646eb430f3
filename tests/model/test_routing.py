"""Routing rules: each compared with its own slow reference, and all with the same checks."""

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

from pencilmap.model.base.errors import RoutingError
from pencilmap.model.kinds import all_variants, network_named, routing, routings_of, torus_routes
from pencilmap.model.kinds.torus_adaptive import MinimalAdaptive, minimal_adaptive_loads
from pencilmap.model.kinds.torus_routes import DimensionOrder, TorusOptimum, can_share, shared_seconds
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import cut_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import Exchange, exchanges
from tests.model import brute_force as brute
from tests.model.cases import (
    as_links,
    assert_same,
    cases,
    largest,
    orders,
    predict_product,
    predict_routed,
    products,
    repeatable,
)

WALKS = {"hops": brute.uniform_over_hops, "paths": brute.uniform_over_paths}
SMALL = cases(24, 10)


@repeatable(150)
@given(SMALL, st.sampled_from(list(WALKS)))
def test_adaptive_loads_are_those_of_walking_every_minimal_way(case, choice):
    mapping, exchange, traffic = case
    walked = WALKS[choice](mapping.network, traffic, mapping.node_of_rank)
    assert_same(minimal_adaptive_loads(mapping.network, exchange, mapping.node_of_rank, choice), walked)


@repeatable(40)
@given(cases(), st.data())
def test_every_rule_carries_all_bytes_and_none_beats_cuts_or_the_best_minimal_routing(case, data):
    mapping, exchange, traffic = case
    torus, hop_bytes = mapping.network, brute.hop_bytes(mapping.network, traffic, mapping.node_of_rank)
    bound = cut_bound(torus, exchange, mapping.node_of_rank)
    best = float(max(TorusOptimum().loads(torus, exchange, mapping.node_of_rank).largest()))
    for name in (*all_variants(torus), f"dimension-order:{''.join(data.draw(orders(torus.axes)))}"):
        loads = routing(name, torus).loads(torus, exchange, mapping.node_of_rank)
        links = as_links(loads)
        assert float(loads.hop_bytes()) == pytest.approx(hop_bytes, rel=1e-6)
        assert float(sum(links.values())) == pytest.approx(hop_bytes, rel=1e-6)
        assert min(links.values(), default=0) >= -1e-6 * hop_bytes
        assert all(_exists(torus, link) or abs(load) < 1e-6 for link, load in links.items())
        assert all(float(load) >= float(least) * (1 - 1e-6) for load, least in zip(loads.largest(), bound))
        assert float(max(loads.largest())) >= best * (1 - 1e-6)


def _exists(torus, link):
    node, i, direction = link
    return brute.closes(torus, i) or 0 <= node[i] + direction < torus.shape[i]


@repeatable(60)
@given(cases(12, 8), st.data())
def test_best_minimal_routing_agrees_with_a_program_over_all_paths(case, data):
    mapping, exchange, traffic = case
    rates = data.draw(st.tuples(*[st.sampled_from([1.0, 2.0, 5.0])] * mapping.network.n_dimensions))
    mapping = replace(mapping, network=replace(mapping.network, bandwidth=rates))
    loads = TorusOptimum().loads(mapping.network, exchange, mapping.node_of_rank)
    assert loads.seconds() == pytest.approx(_best_over_paths(mapping, traffic), rel=1e-6, abs=1e-9)


def _best_over_paths(mapping, traffic):
    """Return the least seconds of the busiest link if every minimal path of a message may carry its own share."""
    torus, columns, messages = mapping.network, [], []
    for source, target, amount in traffic:
        ends = [brute.coordinates(torus, int(mapping.node_of_rank[r])) for r in (source, target)]
        if amount and ends[0] != ends[1]:
            paths = brute.all_minimal_paths(torus, *ends)
            messages.append(range(len(columns), len(columns) + len(paths)))
            columns += [(path, amount) for path in paths]
    if not messages:
        return 0.0
    links = sorted({link for path, _ in columns for link in path})
    place = {link: k for k, link in enumerate(links)}
    use = np.zeros((len(links), len(columns) + 1))
    for k, (path, amount) in enumerate(columns):
        for link in path:
            use[place[link], k] += amount
    use[:, -1] = [-torus.cables[i] * torus.bandwidth[i] for _, i, _ in links]
    whole = np.zeros((len(messages), len(columns) + 1))
    for m, paths in enumerate(messages):
        whole[m, paths] = 1
    found = linprog(np.eye(len(columns) + 1)[-1], use, np.zeros(len(links)), whole, np.ones(len(messages)))
    assert found.status == 0
    return found.fun


@repeatable(40)
@given(products())
def test_closed_form_of_random_adaptive_routing_agrees_with_the_walk(product):
    closed = predict_product(product, None, Question("minimal-adaptive:hops"))
    routed = predict_routed(product.mapping(), None, Question("minimal-adaptive:hops"))
    for a, b in zip(closed.stages, routed.stages):
        assert [float(x) for x in a.load] == pytest.approx([float(x) for x in b.load], rel=1e-9, abs=1e-12)
        assert float(a.hop_length) == pytest.approx(float(b.hop_length), rel=1e-9)


def test_reversing_the_order_of_the_dimensions_reverses_all_ways():
    """Every message has an answer of its size, so the largest loads stay; another order is another routing."""
    torus = Torus((4, 3, 2), (True, False, True))
    mapping = Mapping(torus, ProcessGrid(6, 4), 1, np.random.default_rng(1).permutation(24), np.zeros(24))
    loads = {order: predict(mapping, None, f"dimension-order:{order}").stages[0].load for order in ("xyz", "zyx", "yxz")}
    assert loads["xyz"] == loads["zyx"] != loads["yxz"]


@pytest.mark.parametrize("name, words", [
    ("ugal", "known are dimension-order"), ("dimension-order:zy:odd", "split, parity, plus"),
    ("dimension-order:z y", "is not understood"), ("dimension-order:plus:zyx", "is not understood"),
    ("minimal-adaptive:fair", "hops, paths"), ("optimal-minimal:now", "no argument"), ("shortest-path:2", "no argument"),
    ("", "known are")])
def test_unknown_rules_and_arguments_are_refused(name, words):
    with pytest.raises(RoutingError, match=words):
        routing(name, network_named("2x4:twisted" if name.startswith("shortest") else "4x4"))


def test_rules_are_offered_where_they_can_be_followed():
    ring = from_networkx(nx.cycle_graph(4), "ring")
    of_ring, of_torus = routings_of(ring), routings_of(Torus((4,)))
    assert {"shortest-path", "optimal-minimal"} <= set(of_ring) and "dimension-order" not in of_ring
    assert {"dimension-order", "minimal-adaptive", "optimal-minimal"} <= set(of_torus) and "shortest-path" not in of_torus
    for network, name in ((ring, "dimension-order"), (Torus((4,)), "shortest-path")):
        with pytest.raises(RoutingError, match="does not work on"):
            routing(name, network)


def test_ways_that_need_too_much_memory_are_refused(monkeypatch):
    monkeypatch.setattr("pencilmap.model.kinds.torus_adaptive._MOST_BYTES", 1000)
    with pytest.raises(RoutingError, match="different offsets"):
        minimal_adaptive_loads(Torus((4, 4)), exchanges(ProcessGrid(16, 1))[0], np.arange(16))


def test_largest_and_busiest_link_are_those_of_the_list():
    torus = Torus((4, 3), bandwidth=(1.0, 3.0))
    mapping = Mapping(torus, ProcessGrid(4, 3), 1, np.random.default_rng(3).permutation(12), np.zeros(12))
    for exchange, traffic in zip(exchanges(mapping.grid), brute.messages(mapping.grid)):
        walked = brute.dimension_order(torus, traffic, mapping.node_of_rank)
        loads = DimensionOrder().loads(torus, exchange, mapping.node_of_rank)
        busiest = loads.busiest()
        times = {link: load / Fraction(torus.bandwidth[link[1]]) for link, load in walked.items()}
        assert times[busiest.node, torus.axes.index(busiest.axis), busiest.direction] == max(times.values())
        assert loads.largest() == largest(torus, walked)
        assert loads.seconds() == pytest.approx(float(max(times.values())))


# Fair sharing of links compared with progressive filling, in exact fractions over routes walked hop by hop.

def rates(routes, room):
    """Return the rates: all grow equally until a link is full; its messages keep their rate, and the others go on."""
    fixed = {}
    while len(fixed) < len(routes):
        free = [m for m in routes if m not in fixed]
        left = {link: room[link] - sum(rate * routes[m].get(link, 0) for m, rate in fixed.items()) for link in room}
        wanted = {link: sum(routes[m].get(link, 0) for m in free) for link in room}
        least, full = min((left[link] / wanted[link], link) for link in room if wanted[link])
        tight = {link for link in room if wanted[link] and left[link] == least * wanted[link]}
        fixed |= {m: least for m in free if tight & set(routes[m])}
        assert full in tight
    return fixed


def seconds(torus, messages):
    """Return the time until the last of (from, to, bytes) has arrived."""
    routes = {m: brute.dimension_order(torus, [(0, 1, 1)], (a, b)) for m, (a, b, _) in enumerate(messages) if a != b}
    left = {m: Fraction(messages[m][2]) for m in routes}
    room = {link: Fraction(torus.bandwidth[link[1]]) * torus.cables[link[1]] for route in routes.values() for link in route}
    now = Fraction(0)
    while routes:
        rate = rates(routes, room)
        step = min(left[m] / rate[m] for m in routes)
        now += step
        left = {m: left[m] - step * rate[m] for m in routes}
        routes = {m: route for m, route in routes.items() if left[m]}
    return now


def random_messages(seed):
    rng = np.random.default_rng(seed)
    shape = ((5,), (4, 3), (2, 3, 2), (6, 2))[seed % 4]
    d = len(shape)
    torus = Torus(shape, tuple(bool(w) for w in rng.integers(0, 2, d)), tuple(float(b) for b in rng.integers(1, 4, d)),
                  tuple(int(c) for c in rng.integers(1, 3, d)))
    ends = rng.integers(0, 2 * torus.n_nodes, (int(rng.integers(1, 10)), 2))
    return torus, ends, rng.integers(1, 9, len(ends)), int(rng.integers(1, 4))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("envelope", [0, 3])
def test_the_last_message_arrives_as_by_progressive_filling(seed, envelope):
    torus, ends, sizes, unit = random_messages(seed)
    node = np.arange(2 * torus.n_nodes) // 2     # two ranks a node
    exchange = Exchange("some", "", ends, sizes, np.array([1, 0]), np.array([0, 1]), unit, 1)
    expected = seconds(torus, [(node[a], node[b], int(n) * unit + envelope) for (a, b), n in zip(ends, sizes)])
    assert shared_seconds(exchange, torus, node, DimensionOrder(), envelope) == pytest.approx(float(expected), rel=1e-7)


def test_what_can_be_told(monkeypatch):
    import networkx as nx

    monkeypatch.setattr(torus_routes, "MOST_MESSAGES", 3)
    torus = Torus((2, 2), bandwidth=(1.0, 1.0))

    def messages(n):
        return Exchange("some", "", np.zeros((n, 2), int), np.ones(n, int), np.array([1, 0]), np.array([0, 1]), 1, n)

    assert can_share(messages(3), torus) and not can_share(messages(4), torus)
    assert not can_share(messages(3), Torus((2, 2)))
    assert not can_share(messages(3), from_networkx(nx.path_graph(4), "path", bandwidth=1.0))
    assert MinimalAdaptive().shared_seconds(torus, messages(3), np.arange(4)) is None
    for dimensions, able in ((torus_routes.MAX_DIMENSIONS - 1, True), (torus_routes.MAX_DIMENSIONS, False)):
        assert can_share(messages(3), Torus((2,) * dimensions, bandwidth=(1.0,) * dimensions)) == able
