"""Loads of both exchanges at once compared exactly with brute force, and properties of any placement."""

from collections import defaultdict
from fractions import Fraction

from hypothesis import given, strategies as st

from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import TIES
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import at_once, in_sequence, overlapped, routed_joint
from tests.model import brute_force as brute
from tests.model.cases import drawn, largest, products, random_mapping, random_torus, random_transform, repeatable

CASES = repeatable(150)
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
def test_any_mapping_agrees_with_walking_every_message(mapping, data, shares, tie):
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
def test_closed_form_of_a_product_agrees_with_walking_every_message(product, shares, tie):
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
