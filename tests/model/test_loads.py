"""Loads, bounds and closed forms compared with brute force on random small tori; ties, routings and fair sharing."""

from collections import defaultdict
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
from pencilmap.model.kinds.torus_routes import DimensionOrder, TorusOptimum, can_share, dimension_order_loads, shared_seconds
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import TIES, Torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Pattern, Product, parse_pattern, product_of
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import cut_bound, machine_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import Exchange, exchanges, node_traffic
from pencilmap.model.traffic.loads import at_once, in_sequence, overlapped, routed_joint
from tests.model import brute_force as brute
from tests.model.cases import (
    all_products,
    as_links,
    assert_same,
    cases,
    drawn,
    full_mappings,
    largest,
    orders,
    predict_product,
    predict_routed,
    products,
    random_mapping,
    random_torus,
    random_transform,
    repeatable,
)

pytestmark = pytest.mark.usefixtures("quick_bounds")
CASES = repeatable(200)


@CASES
@given(cases())
def test_traffic_between_nodes_is_that_of_the_messages(case):
    mapping, exchange, traffic = case
    expected = np.zeros((mapping.network.n_nodes,) * 2, dtype=np.int64)
    for source, target, amount in traffic:
        expected[mapping.node_of_rank[source], mapping.node_of_rank[target]] += amount
    np.fill_diagonal(expected, 0)
    assert (node_traffic(exchange, mapping.node_of_rank, mapping.network.n_nodes).toarray() == expected).all()


@CASES
@given(cases(), st.data(), st.sampled_from(TIES))
def test_dimension_order_agrees_with_walking_every_message(case, data, tie):
    mapping, exchange, traffic = case
    order = data.draw(orders(range(mapping.network.n_dimensions)))
    loads = dimension_order_loads(mapping.network, exchange, mapping.node_of_rank, order, tie)
    walked = brute.dimension_order(mapping.network, traffic, mapping.node_of_rank, order, tie)
    assert as_links(loads) == walked
    assert loads.largest() == largest(mapping.network, walked)
    assert loads.hop_bytes() == brute.hop_bytes(mapping.network, traffic, mapping.node_of_rank)


@CASES
@given(cases())
def test_cut_bound_agrees_with_trying_every_cut(case):
    mapping, exchange, traffic = case
    assert cut_bound(mapping.network, exchange, mapping.node_of_rank) == brute.cut_bounds(mapping.network, traffic,
                                                                                       mapping.node_of_rank)


@CASES
@given(all_products(), st.sampled_from(TIES))
def test_closed_form_of_a_product_agrees_with_walking_every_message(product, tie):
    mapping, torus = product.mapping(), product.torus
    prediction = predict_product(product, None, Question(f"dimension-order:{tie}"))
    for found, traffic in zip(prediction.stages, brute.messages(product.grid)):
        links = brute.dimension_order(torus, traffic, mapping.node_of_rank, tie=tie)
        scale = Fraction(4 * torus.n_nodes, len(traffic))
        assert found.load == tuple(load * scale for load in largest(torus, links))
        assert found.hop_length == sum(links.values()) * 4 / len(traffic)
        assert (found.busiest is None) == (not links)
        if links:
            link = _link(torus, found.busiest)
            assert links[link] / torus.cables[link[1]] == max(largest(torus, links))


def _link(torus, busiest):
    node, axis, direction = busiest
    return node, torus.axes.index(axis), direction


@pytest.mark.thorough
@CASES
@given(all_products(), drawn(lambda rng: rng)(), st.sampled_from(TIES), st.data())
def test_closed_form_with_uneven_blocks_agrees_with_routing_every_message(product, rng, tie, data):
    transform = random_transform(rng, product.grid) or Transform(*(product.grid.n_tasks + 1,) * 3)
    rates = tuple(data.draw(st.sampled_from((1e9, 4e9))) for _ in product.torus.shape)
    product = replace(product, torus=replace(product.torus, bandwidth=rates))
    order = "".join(data.draw(st.permutations(product.torus.axes)))
    closed = predict(product, transform, f"dimension-order:{order}:{tie}")
    routed = predict_routed(product.mapping(), transform, Question(f"dimension-order:{order}:{tie}"))
    assert (closed.lower_bound, closed.certificate) == (routed.lower_bound, routed.certificate)
    for a, b in zip(closed.stages, routed.stages):
        assert (a.load, a.hop_length, a.busiest) == (b.load, b.hop_length, b.busiest)
        for name in ("task_bytes", "node_bytes", "messages", "hops", "tasks"):
            assert getattr(a.work, name) == pytest.approx(getattr(b.work, name), rel=1e-12), name


@CASES
@given(full_mappings())
def test_any_full_mapping_obeys_the_machine_bound(mapping):
    prediction = predict_routed(mapping)
    for row, column, least in zip(prediction.stages[0].load, prediction.stages[1].load, machine_bound(mapping.network)):
        assert row + column >= least
    assert prediction.certificate >= 1


def test_loads_that_do_not_fit_into_64_bits_are_refused():
    exchange = exchanges(ProcessGrid(2, 1), Transform(1 << 29, 1 << 29, 2))[0]
    with pytest.raises(RoutingError, match="64 bits"):
        dimension_order_loads(Torus((2,)), exchange, np.array([0, 1]))


def groups(mapping):
    """Return the places of the groups along each dimension, as sets: a product shares these with its mapping."""
    place = list(zip(mapping.node_of_rank.tolist(), mapping.slot_of_rank.tolist()))
    both = map(mapping.grid.groups, mapping.grid.decomposition.letters)
    return [{frozenset(place[r] for r in group) for group in ranks} for ranks in both]


@CASES
@given(all_products(), drawn(lambda rng: rng.random())())
def test_a_product_is_recognised_by_its_rows_and_columns_and_nothing_else_is(product, where):
    mapping = product.mapping()
    found = product_of(mapping)
    assert groups(found.mapping()) == groups(mapping)
    node, slot = mapping.node_of_rank.copy(), mapping.slot_of_rank.copy()
    a, b = int(where * mapping.n_tasks), int(where * 7919) % mapping.n_tasks
    node[[a, b]], slot[[a, b]] = node[[b, a]], slot[[b, a]]
    swapped = replace(mapping, node_of_rank=node, slot_of_rank=slot)
    found = product_of(swapped)
    assert found is None or groups(found.mapping()) == groups(swapped)
    if groups(swapped) == groups(mapping):
        assert found is not None


def test_uneven_blocks_of_a_million_nodes_take_one_line_of_each_dimension():
    """The loads do not fit into 64 bits; routing of every message would take minutes."""
    cubes = Product(Torus((100, 100, 100)), (parse_pattern("r10c10"),) * 3, Pattern(()))
    even, uneven = (predict(cubes, Transform(n, n, n)) for n in (40_000_000, 40_000_100))
    for a, b in zip(even.stages, uneven.stages):
        assert max(a.load) <= max(b.load) < max(a.load) * Fraction(10_001, 10_000)


# Both exchanges at once

SHARES = st.lists(st.fractions(0, 1, max_denominator=16), min_size=2, max_size=2).map(tuple)
mappings = drawn(lambda rng: random_mapping(rng, random_torus(rng)))


def walked(torus, traffic, shares, node_of_rank, total, tie):
    """Return the largest loads of the exchanges with these shares at once, from walking every message."""
    joint = defaultdict(Fraction)
    for share, messages in zip(shares, traffic):
        for link, load in brute.dimension_order(torus, messages, node_of_rank, tie=tie).items():
            joint[link] += share * load
    return tuple(load * 4 * torus.n_nodes / total for load in largest(torus, joint))


@CASES
@given(mappings(), st.data(), SHARES, st.sampled_from(TIES))
def test_joint_loads_agree_with_walking_every_message(mapping, data, shares, tie):
    """With a transform, blocks are seldom even, and all exchanges of a transform share a scale."""
    torus, grid = mapping.network, mapping.grid
    transform = data.draw(drawn(random_transform)(grid))
    found = exchanges(grid, transform)
    joint = routed_joint(torus, found, mapping.node_of_rank, DimensionOrder(tie=tie))
    traffic = brute.messages(grid, transform)
    if transform is None:       # a unit of each exchange is another part of the array
        shares_of_bytes = [share * Fraction(found[0].total_bytes, exchange.total_bytes)
                           for share, exchange in zip(shares, found)]
    else:
        shares_of_bytes = shares
    assert joint.largest(shares) == walked(torus, traffic, shares_of_bytes, mapping.node_of_rank, found[0].total_bytes, tie)


@CASES
@given(products(), SHARES, st.sampled_from(TIES))
def test_joint_closed_form_agrees_with_routing(product, shares, tie):
    mapping, rule = product.mapping(), DimensionOrder(tie=tie)
    closed = rule.joint_of_product(product, ("r", "c"))
    routed = routed_joint(product.torus, exchanges(product.grid), mapping.node_of_rank, rule)
    assert closed.largest(shares) == routed.largest(shares)


@CASES
@given(mappings())
def test_joint_loads_lie_between_the_worst_exchange_and_the_sum(mapping):
    joint = routed_joint(mapping.network, exchanges(mapping.grid), mapping.node_of_rank, DimensionOrder())
    row, column, both = (joint.length(shares) for shares in ((1, 0), (0, 1), (1, 1)))
    assert max(row, column) <= both <= row + column
    assert in_sequence(2).of_loads(joint) == row + column == overlapped(2, 1).of_loads(joint)
    assert at_once(2).of_loads(joint) == both
    times = [overlapped(2, chunks).of_loads(joint) for chunks in (1, 2, 4, 8)]
    assert times == sorted(times, reverse=True) and times[-1] >= both
    assert times == [(row + (chunks - 1) * both + column) / chunks for chunks in (1, 2, 4, 8)]


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
