"""Routing rules: each compared with its own slow reference, and all with the same checks."""

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

from pencilmap.model.base.errors import RoutingError
from pencilmap.model.kinds import ROUTINGS, all_variants, network_named, routing, routings_of
from pencilmap.model.kinds.torus_adaptive import minimal_adaptive_loads
from pencilmap.model.kinds.torus_routes import DimensionOrder, TorusOptimum
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import Product, parse_pattern
from pencilmap.model.predict import predict, predict_product, predict_routed
from pencilmap.model.predict.certificates import cut_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.routing.optimal_minimal import OptimalMinimal, first_kinds
from pencilmap.model.routing.shortest_path import exact_loads
from pencilmap.model.traffic.exchange import exchanges, node_traffic
from tests.model import brute_force as brute
from tests.model.cases import as_links, cases, largest, orders, products, repeatable

WALKS = {"hops": brute.uniform_over_hops, "paths": brute.uniform_over_paths}
SMALL = cases(24, 10)


@repeatable(150)
@given(SMALL, st.sampled_from(list(WALKS)))
def test_adaptive_loads_are_those_of_walking_every_minimal_way(case, choice):
    mapping, exchange, traffic = case
    walked = WALKS[choice](mapping.network, traffic, mapping.node_of_rank)
    assert as_links(minimal_adaptive_loads(mapping.network, exchange, mapping.node_of_rank, choice, exact=True)) == walked
    floats = as_links(minimal_adaptive_loads(mapping.network, exchange, mapping.node_of_rank, choice))
    assert floats.keys() == walked.keys()
    assert all(floats[link] == pytest.approx(float(walked[link]), rel=1e-9) for link in walked)


@repeatable(150)
@given(SMALL)
def test_shortest_paths_on_a_torus_are_its_minimal_paths(case):
    mapping, exchange, traffic = case
    walked = brute.uniform_over_paths(mapping.network, traffic, mapping.node_of_rank)
    assert as_links(exact_loads(mapping.network, exchange, mapping.node_of_rank)) == walked


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


REGULAR = [("4x4", "r4", "c4"), ("4x4", "r2c2", "r2c2"), ("6x4", "r3c2", "c2r2"), ("8x2", "r4c2", "c2"), ("5x3", "r5", "c3"),
           ("4x4:mesh", "r2c2", "r4"), ("4x4w", "r2c2", "r2c2")]


@pytest.mark.parametrize("shape, x, y", REGULAR)
def test_symmetry_does_not_change_the_best_minimal_routing(shape, x, y):
    from pencilmap.model.network.torus import parse_torus

    torus = parse_torus(shape)
    mapping = Product(torus, (parse_pattern(x), parse_pattern(y)), parse_pattern("r1")).mapping()
    for exchange in exchanges(mapping.grid):
        reduced = TorusOptimum().loads(torus, exchange, mapping.node_of_rank).largest()
        whole = OptimalMinimal().loads(torus, exchange, mapping.node_of_rank).largest()
        assert float(max(whole)) == pytest.approx(float(max(reduced)), rel=1e-6)


def test_placements_that_repeat_on_the_torus_need_few_sources():
    torus = Torus((8, 8))
    mapping = Product(torus, (parse_pattern("r2c4"), parse_pattern("r4c2")), parse_pattern("r1")).mapping()
    row, column = (first_kinds(TorusOptimum().symmetries(torus), node_traffic(e, mapping.node_of_rank, 64))
                   for e in exchanges(mapping.grid))
    assert len(set(row.tolist())) == 8 and len(set(column.tolist())) == 1


DENSE_BOX = Product(Torus((8, 8, 8)), (parse_pattern("r4c2"),) * 3, parse_pattern("r1"))


def test_random_adaptive_routing_loads_dense_boxes_1_36_times_the_bound():
    """Measured on Blue Gene/L: 1.22, between dimension order's 1 and this."""
    adaptive = predict_routed(DENSE_BOX.mapping(), None, Question("minimal-adaptive:hops"))
    ordered = predict_routed(DENSE_BOX.mapping())
    assert round(float(max(adaptive.stages[0].load) / max(ordered.stages[0].load)), 2) == 1.36
    assert max(adaptive.stages[1].load) == max(ordered.stages[1].load) == 4


@repeatable(40)
@given(products())
def test_closed_form_of_random_adaptive_routing_agrees_with_the_walk(product):
    closed = predict_product(product, None, Question("minimal-adaptive:hops"))
    routed = predict_routed(product.mapping(), None, Question("minimal-adaptive:hops"), product=product)
    for a, b in zip(closed.stages, routed.stages):
        assert [float(x) for x in a.load] == pytest.approx([float(x) for x in b.load], rel=1e-9, abs=1e-12)
        assert float(a.hop_length) == pytest.approx(float(b.hop_length), rel=1e-9)


@pytest.mark.parametrize("name", ["dimension-order", "dimension-order:zyx", "dimension-order:xzy:split"])
def test_names_of_one_rule_give_one_closed_form_for_a_product(name):
    assert predict(DENSE_BOX, None, name).stages[0].load == predict(DENSE_BOX).stages[0].load


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


@pytest.mark.parametrize("order", ["xy", "xyzz", "xya", "xxz"])
def test_an_order_that_is_not_one_of_the_axes_is_refused(order):
    with pytest.raises(RoutingError, match="name each of x, y, z once"):
        predict(DENSE_BOX, None, f"dimension-order:{order}")


def test_rules_are_offered_where_they_can_be_followed():
    ring = from_networkx(nx.cycle_graph(4), "ring")
    of_ring, of_torus = routings_of(ring), routings_of(Torus((4,)))
    assert {"shortest-path", "optimal-minimal"} <= set(of_ring) and "dimension-order" not in of_ring
    assert {"dimension-order", "minimal-adaptive", "optimal-minimal"} <= set(of_torus) and "shortest-path" not in of_torus
    for network, name in ((ring, "dimension-order"), (Torus((4,)), "shortest-path")):
        with pytest.raises(RoutingError, match="does not work on"):
            routing(name, network)


def test_every_rule_names_itself_in_its_usage():
    assert all(rule.usage.startswith(name) and rule.meaning for name, rule in ROUTINGS.items())


def test_linear_programs_beyond_the_limit_are_refused():
    torus = Torus((6, 6, 6), (False,) * 3)
    nodes = np.random.default_rng(5).permutation(216)
    with pytest.raises(RoutingError, match="flows, more than"):
        TorusOptimum().loads(torus, exchanges(ProcessGrid(12, 18))[0], nodes)
    with pytest.raises(RoutingError, match="up to 1024 nodes"):
        TorusOptimum().loads(Torus((32, 64)), exchanges(ProcessGrid(2, 1))[0], np.array([0, 1]))


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


def test_linear_programs_of_as_many_nodes_as_allowed_are_solved(monkeypatch):
    mapping = Mapping(Torus((4, 2)), ProcessGrid(4, 2), 1, np.arange(8), np.zeros(8, int))
    exchange = exchanges(mapping.grid)[0]
    for most, works in ((8, True), (7, False)):
        monkeypatch.setattr("pencilmap.model.routing.optimal_minimal.MAX_NODES", most)
        if works:
            assert TorusOptimum().loads(mapping.network, exchange, mapping.node_of_rank).largest()
        else:
            with pytest.raises(RoutingError, match="up to 7 nodes"):
                TorusOptimum().loads(mapping.network, exchange, mapping.node_of_rank)
