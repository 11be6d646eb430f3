"""Usable nodes: order, failures, refusals, and traffic across other users' nodes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pencilmap.model.base.errors import AllocationError, GridError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site, parse_nodes
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from tests.model.cases import repeatable

TORUS = Torus((4, 3, 2))


@repeatable(60)
@given(st.permutations(range(24)), st.integers(1, 23), st.integers(0, 24))
def test_failed_nodes_leave_the_others_in_their_order(order, kept, n_failed):
    order = order[:kept]
    failed = sorted(order)[:min(n_failed, kept - 1)]
    left = Allocation(TORUS, order).without(failed)
    assert left.nodes.tolist() == [n for n in order if n not in failed]
    assert left.is_usable().sum() == left.n_nodes and left.is_usable()[left.nodes].all()
    assert not left.is_complete


@pytest.mark.parametrize("order, message", [
    ([], "at least one"), ([24], "0..23"), ([-1], "0..23"), ([5, 3, 5], r"\(1, 1, 0\) is listed twice")])
def test_impossible_allocations_are_refused(order, message):
    with pytest.raises(AllocationError, match=message):
        Allocation(TORUS, np.array(order, dtype=np.int64))


def test_nodes_that_are_not_allocated_cannot_fail():
    with pytest.raises(AllocationError, match=r"\(3, 2, 1\) is not among the 2 nodes"):
        Allocation(TORUS, [0, 1]).without([0, 23])


@pytest.mark.parametrize("text, message", [
    ("1-2", "2 coordinates"), ("5", "has 1 coordinate, .* node number 5 is written 1-1-0"), ("24", "3 dimensions$"),
    ("1-2-x", "not understood"), ("", "not understood"), ("1-2-0,", "not understood"), ("1--2-0", "not understood")])
def test_wrong_lists_of_coordinates_are_refused(text, message):
    with pytest.raises(AllocationError, match=message):
        parse_nodes(text, TORUS)


def test_a_site_counts_the_slots_of_usable_nodes():
    site = Site(TORUS, 3, Allocation(TORUS, [7, 2, 9, 4]))
    assert site.n_slots == 12 and "4 of 24 nodes" in str(site)
    site.check_grid(ProcessGrid(3, 4))
    for grid in (ProcessGrid(3, 3), ProcessGrid(3, 5)):
        with pytest.raises(GridError, match="12 slots"):
            site.check_grid(grid)
    Site(TORUS, 3, site.allocation, idle=True).check_grid(ProcessGrid(3, 3))
    with pytest.raises(GridError):
        Site(TORUS, 3, site.allocation, idle=True).check_grid(ProcessGrid(3, 5))


def test_a_site_refuses_what_does_not_belong_to_it():
    with pytest.raises(AllocationError, match="at least 1"):
        Site(TORUS, 0)
    with pytest.raises(AllocationError, match="not of 4x4"):
        Site(Torus((4, 4)), allocation=Allocation(TORUS))


def test_messages_cross_the_nodes_of_others():
    """Two tasks across a ring of four: each sends a unit, half of it each way, over nodes without tasks."""
    ring = Torus((4,))
    prediction = predict(Mapping(ring, ProcessGrid(2, 1), 1, [0, 2], [0, 0]))
    assert prediction.stages[0].load == (pytest.approx(4 * 0.5 * 4 / 4),)  # 4 load N / D_T; D_T = 4 units, 2 stay home
    assert prediction.certificate == 1                                # as neighbours, they would use a single direction
