"""Loads and bounds against brute force, to the last bit, on random mappings of random small tori."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pencilmap.model.bounds import cut_bound, machine_bound
from pencilmap.model.exchange import exchanges
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.loads import as_fraction
from pencilmap.model.mapping import Mapping
from pencilmap.model.pattern import Pattern
from pencilmap.model.predict import predict_product, predict_routed
from pencilmap.model.product import Product
from pencilmap.model.routing.dimension_order import dimension_order_loads
from pencilmap.model.torus import TIES, Torus
from pencilmap.model.transform import Transform
from tests.model import brute_force as brute

CASES = settings(derandomize=True, deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))


@st.composite
def tori(draw, most_nodes=36):
    """One to five dimensions; rings of 1, 2, 3, odd and even; open, closed or mixed; one or two cables."""
    shape, room = [], most_nodes
    for _ in range(draw(st.integers(1, 5))):
        shape.append(draw(st.integers(1, min(room, 8))))
        room //= shape[-1]
    d = len(shape)
    wrap = draw(st.one_of(st.just((True,) * d), st.tuples(*[st.booleans()] * d)))
    return Torus(tuple(shape), wrap, cables=draw(st.tuples(*[st.integers(1, 2)] * d)))


@st.composite
def mappings(draw, most_tasks=20):
    """Ranks on random slots, one to three on a node; often some slots stay idle."""
    torus, T = draw(tori()), draw(st.integers(1, 3))
    slots = torus.n_nodes * T
    R = draw(st.integers(1, min(slots, most_tasks)))
    grid = ProcessGrid(R, draw(st.integers(1, min(slots, most_tasks) // R)))
    place = np.array(draw(st.permutations(range(slots))))[:grid.n_tasks]
    return Mapping(torus, grid, T, place // T, place % T)


@st.composite
def transforms(draw, grid):
    """None, or extents that are just large enough and seldom divide evenly."""
    least = (grid.C, max(grid.R, grid.C), grid.R)
    return draw(st.one_of(st.none(), st.builds(Transform, *(st.integers(n, 3 * n + 2) for n in least))))


@st.composite
def cases(draw):
    """A mapping, its transform, one of its exchanges and the messages of that exchange."""
    mapping = draw(mappings())
    transform = draw(transforms(mapping.grid))
    which = draw(st.integers(0, 1))
    return mapping, exchanges(mapping.grid, transform)[which], brute.messages(mapping.grid, transform)[which]


def as_links(loads):
    """Loads that are not 0, as a dict from link to Fraction."""
    torus, found = loads.network, {}
    for i, way, node in zip(*np.nonzero(loads.values)):
        value = as_fraction(loads.values[i, way, node]) / loads.denominator
        found[brute.coordinates(torus, int(node)), int(i), (1, -1)[way]] = value
    return found


def largest(torus, links):
    """Largest load per cable of each dimension of a dict of links."""
    return tuple(max((load / torus.cables[i] for (_, j, _), load in links.items() if j == i), default=Fraction(0))
                 for i in range(torus.n_dimensions))


@CASES
@given(cases(), st.data(), st.sampled_from(TIES))
def test_dimension_order_agrees_with_walking_every_message(case, data, tie):
    mapping, exchange, traffic = case
    order = tuple(data.draw(st.permutations(range(mapping.torus.n_dimensions))))
    loads = dimension_order_loads(mapping.torus, exchange, mapping.node_of_rank, order, tie)
    walked = brute.dimension_order(mapping.torus, traffic, mapping.node_of_rank, order, tie)
    assert as_links(loads) == walked
    assert loads.largest() == largest(mapping.torus, walked)
    assert loads.hop_bytes() == brute.hop_bytes(mapping.torus, traffic, mapping.node_of_rank)


@CASES
@given(cases())
def test_cut_bound_agrees_with_trying_every_cut(case):
    mapping, exchange, traffic = case
    assert cut_bound(mapping.torus, exchange, mapping.node_of_rank) == brute.cut_bounds(mapping.torus, traffic,
                                                                                       mapping.node_of_rank)


@CASES
@given(cases(), st.data())
def test_no_minimal_routing_beats_the_cut_bound(case, data):
    mapping, exchange, traffic = case
    torus, bound = mapping.torus, cut_bound(mapping.torus, exchange, mapping.node_of_rank)
    order = tuple(data.draw(st.permutations(range(torus.n_dimensions))))
    walks = [brute.dimension_order(torus, traffic, mapping.node_of_rank, order, tie) for tie in TIES]
    for links in (*walks, brute.uniform_over_hops(torus, traffic, mapping.node_of_rank)):
        assert all(b <= load for b, load in zip(bound, largest(torus, links)))


@st.composite
def products(draw):
    """Random digit patterns on random tori, slots included."""
    torus = draw(tori())
    patterns = [_pattern(draw, n) for n in torus.shape]
    return Product(torus, tuple(patterns), _pattern(draw, draw(st.integers(1, 3))))


def _pattern(draw, n):
    digits, rest = [], n
    while rest > 1:
        radix = draw(st.sampled_from([k for k in range(2, rest + 1) if rest % k == 0]))
        digits.append((draw(st.sampled_from("rc")), radix))
        rest //= radix
    return Pattern(tuple(digits))


@CASES
@given(products())
def test_closed_form_of_a_product_agrees_with_walking_every_message(product):
    mapping, torus = product.mapping(), product.torus
    prediction = predict_product(product)
    for name, traffic in zip(("row", "column"), brute.messages(product.grid)):
        links = brute.dimension_order(torus, traffic, mapping.node_of_rank)
        scale = Fraction(4 * torus.n_nodes, len(traffic))
        found = getattr(prediction, name)
        assert found.load == tuple(load * scale for load in largest(torus, links))
        assert found.hop_length == sum(links.values()) * 4 / len(traffic)
        assert (found.busiest is None) == (not links)
        if links:
            link = _link(torus, found.busiest)
            assert links[link] / torus.cables[link[1]] == max(largest(torus, links))


def _link(torus, busiest):
    node, axis, direction = busiest
    return node, torus.axes.index(axis), direction


@CASES
@given(products())
def test_closed_form_agrees_with_the_fast_loads_in_every_figure(product):
    closed, routed = predict_product(product), predict_routed(product.mapping(), product=product)
    for name in ("row", "column"):
        a, b = getattr(closed, name), getattr(routed, name)
        assert (a.m, a.load, a.hop_length) == (b.m, b.load, b.hop_length)
    assert closed.certificate == routed.certificate


@CASES
@given(products())
def test_two_exchanges_together_cannot_beat_the_machine(product):
    prediction, floor = predict_product(product), machine_bound(product.torus)
    for row, column, least in zip(prediction.row.load, prediction.column.load, floor):
        assert row + column >= least
    assert prediction.certificate >= 1


@CASES
@given(mappings(), st.data())
def test_any_full_mapping_obeys_the_machine_bound(mapping, data):
    torus, T = mapping.torus, mapping.tasks_per_node
    slots = torus.n_nodes * T
    R = data.draw(st.sampled_from([r for r in range(1, slots + 1) if slots % r == 0]))
    place = np.array(data.draw(st.permutations(range(slots))))
    full = Mapping(torus, ProcessGrid(R, slots // R), T, place // T, place % T)
    prediction = predict_routed(full)
    for row, column, least in zip(prediction.row.load, prediction.column.load, machine_bound(torus)):
        assert row + column >= least


def test_order_of_the_dimensions_matters_for_a_scattered_row():
    torus, grid = Torus((3, 3), (False, False)), ProcessGrid(2, 1)
    exchange = exchanges(grid)[0]
    nodes = np.array([0, 8])
    loads = [as_links(dimension_order_loads(torus, exchange, nodes, order)) for order in permutations(range(2))]
    assert loads[0] != loads[1] and set(loads[0]) == {((0, 0), 0, 1), ((1, 0), 0, 1), ((2, 0), 1, 1), ((2, 1), 1, 1),
                                                      ((2, 2), 0, -1), ((1, 2), 0, -1), ((0, 2), 1, -1), ((0, 1), 1, -1)}
