"""Loads and bounds compared with brute force, to the last bit, on random mappings of random small tori."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pencilmap.model.base.errors import RoutingError
from pencilmap.model.kinds.torus_routes import DimensionOrder, dimension_order_loads
from pencilmap.model.network.torus import TIES, Torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Pattern, Product, parse_pattern, product_of
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import cut_bound, machine_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.traffic.exchange import exchanges, node_traffic
from pencilmap.model.traffic.loads import at_once, in_sequence, overlapped, routed_joint
from tests.model import brute_force as brute
from tests.model.cases import (
    all_products,
    as_links,
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
