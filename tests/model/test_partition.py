"""Partitions of machines, and usable nodes within them."""

from itertools import permutations, product
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pencilmap.model.base.errors import AllocationError, GridError, MachineError, PartitionError
from pencilmap.model.machines.machine import load_machine, machine_partitions, read_machine
from pencilmap.model.network.partition import RULES, Partitions, subbox
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.network.twisted_torus import FoldedTorus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site, parse_nodes
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from tests.model.cases import repeatable


def neighbours(shape, wrap):
    """Return the neighbouring nodes, by networkx; a ring of 1 node has no neighbour."""
    graph = nx.grid_graph(dim=[range(n) for n in reversed(shape)], periodic=list(reversed(wrap)))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


@st.composite
def boxes(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple))
    wrap = tuple(draw(st.booleans()) for _ in shape)
    return Torus(shape, wrap), tuple(draw(st.integers(1, n)) for n in shape)


@repeatable(150)
@given(boxes())
def test_a_subbox_has_the_neighbours_that_stay_when_the_other_nodes_are_taken_away(case):
    torus, extents = case
    inside = list(product(*map(range, extents)))
    box = subbox(torus, extents)
    left = neighbours(torus.shape, torus.wrap).subgraph(n[0] if len(n) == 1 else n for n in inside)
    assert set(map(frozenset, left.edges)) == set(map(frozenset, neighbours(box.shape, box.wrap).edges))


PUBLISHED = [  # machine, partition, its true torus
    ("bluegene-l", "8x8x8", "8x8x8"),                   # a midplane closes
    ("bluegene-l", "16x8x32", "16x8x32"),
    ("bluegene-l", "8x4x4", "8x4x4:mesh"),              # 128 nodes: an open mesh
    ("bluegene-p", "4x4x4", "4x4x4:mesh"),              # KAUST: at least 512 nodes for the torus
    ("bluegene-q", "4x4x8x8x2", "4x4x8x8x2"),           # SciNet: 2 racks
    ("bluegene-q", "2x2x4x2x2", "2x2x4wx2x2w"),         # 64 nodes
    ("cray-xt5", "25x8x24", "25wx8x24w"),
    ("fugaku", "24x4x8x2x3x2", "24wx4x8x2x3wx2:axes=xyzabc"),
    ("k-computer", "24x18x16x2x3x2", "24wx18wx16x2x3wx2:axes=xyzabc"),  # compute nodes, no I/O plane of Z
    ("tpu-v2", "8x16", "8x16w"),
    ("tpu-v3", "32x32", "32x32"),
    ("tpu-v5e", "4x8", "4x8:mesh"),                     # scaling book: rings only along 16
    ("tpu-v6e", "8x16", "8x16w"),
    ("tpu-v6e", "16x16", "16x16"),
    ("tpu-v4", "2x2x4", "2x2x4:mesh"),                  # scaling book: no wraps below a cube
    ("tpu-v4", "4x4x8", "4x4x8:twisted"),     # the usual twist unless the plain torus is asked for
    ("tpu-v5p", "4x4x8:torus", "4x4x8"),
    ("tpu-v5p", "16x16x24", "16x16x24"),                # the largest job
    ("trainium2", "4x4", "4x4"),
]


@pytest.mark.parametrize("machine, text, torus", PUBLISHED)
def test_published_partitions_close_where_they_should(machine, text, torus):
    machine = load_machine(machine)
    found = machine.partition(text)
    assert str(found) == torus
    assert found.bandwidth == machine.torus.bandwidth and found.axes == machine.torus.axes


@pytest.mark.parametrize("machine, text", [
    ("bluegene-l", "8x8x4"), ("bluegene-l", "64x8x8"), ("bluegene-q", "2x2x2x2x1"), ("fugaku", "4x4x4x1x3x2"),
    ("tpu-v4", "4x8x4"), ("tpu-v4", "2x4x8"), ("tpu-v5p", "16x20x28"), ("trainium2", "2x4")])
def test_partitions_that_are_not_handed_out_are_refused_with_those_that_are(machine, text):
    with pytest.raises(PartitionError, match=f"{text} nodes.*allowed are"):
        load_machine(machine).partition(text)


def test_fewer_wraps_than_the_rule_gives_can_be_had_and_more_cannot():
    machine = load_machine("bluegene-l")
    assert str(machine.partition("8x8x16:mesh")) == "8x8x16:mesh"
    assert str(machine.partition("8wx8x16w")) == "8wx8x16w"
    assert str(load_machine("bluegene-q").partition("2x2x2x2x2:torus")) == "2x2x2x2x2"   # rings of two are no rings
    for text in ("8x4x4:torus", "8wx4x4"):
        with pytest.raises(PartitionError, match="at most 8x4x4:mesh"):
            machine.partition(text)


RANDOM_RULES = st.builds(
    lambda rule, extents, shapes, ascending: Partitions(
        rule, Torus([u * k for u, k in extents]), tuple(u for u, _ in extents),
        shapes=tuple(tuple(1 + s % (u * k) for s, (u, k) in zip(shape, extents)) for shape in shapes), ascending=ascending),
    st.sampled_from(list(RULES)), st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=3),
    st.lists(st.tuples(*[st.integers(0, 8)] * 3), max_size=3), st.booleans())


@repeatable(80)
@given(RANDOM_RULES)
def test_partitions_of_a_size_are_those_found_by_trying_all_shapes(rule):
    every = [s for s in product(*(range(1, n + 1) for n in rule.largest.shape)) if rule.allows(s)]
    assert rule.sizes() == sorted({prod(s) for s in every})
    for size in rule.sizes():
        assert sorted(t.shape for t in rule.of_size(size)) == sorted(s for s in every if prod(s) == size)
    assert rule.of_size(prod(rule.largest.shape) + 1) == []


@repeatable(80)
@given(RANDOM_RULES)
def test_no_partition_closes_a_dimension_that_the_machine_leaves_open(rule):
    opened = Partitions(rule.rule, Torus(rule.largest.shape, (False,) * rule.largest.n_dimensions), rule.unit,
                        shapes=rule.shapes)
    for size in opened.sizes():
        assert not any(any(torus.wrap) for torus in opened.of_size(size))


@pytest.mark.parametrize("fields, message", [
    (dict(rule="sometimes", unit=(2, 2)), "known are spans"),
    (dict(rule="spans"), "needs the unit"),
    (dict(rule="multiple", shapes=((2, 2),)), "at which rings close"),
    (dict(rule="spans", unit=(8, 2)), "does not fit"),
    (dict(rule="spans", unit=(2, 2), shapes=((5, 5),)), "does not fit"),
])
def test_rules_that_contradict_themselves_are_refused(fields, message):
    with pytest.raises(PartitionError, match=message):
        Partitions(largest=Torus((4, 4)), **fields)


def test_a_machine_without_a_rule_says_so():
    plain = read_machine(b'''
name = "plain"
title = "no rule"
shape = {value = "4x4", source = "here", certain = true}
tasks_per_node = {value = 1, source = "here", certain = true}
link_bandwidth = {value = "1 GB/s", source = "here", certain = true}
''', "plain.toml")
    with pytest.raises(MachineError, match=r"machine plain has no rule.*`network`"):
        plain.partition("4x4")
    assert plain.doubts(plain.torus) == ()


def test_a_logical_torus_is_laid_into_its_box():
    fugaku = load_machine("fugaku")
    box = fugaku.partition("4x6x16")
    assert str(box) == "4x6x16:box=2x2x8x2x3wx2" and box.bandwidth == (6.8e9,) * 6
    assert str(fugaku.partition("4x6x16:mesh")) == "4x6x16:mesh" and str(fugaku.with_shape("4x6x16").torus) == "4x6x16"
    assert str(fugaku.partition("8x8x16")) == "8x8x16" and fugaku.partition("8x8x16").bandwidth == (6.8e9,) * 3
    assert str(fugaku.partition("24x16")) == "24x16:box=2x2x8x2x3wx2" and str(fugaku.partition("7x16")) == "7x16"
    assert fugaku.partition("2x4x4x2x3x2").n_dimensions == 6, "and boxes are handed out as before"
    assert "8x8x16" in [str(t) for t in machine_partitions(fugaku, 1024)]
    both = machine_partitions(fugaku, 384)
    assert {isinstance(t, FoldedTorus) for t in both} == {True, False} and len({str(t) for t in both}) == len(both)
    for wrong in ("8x8x128", "50x50x10", "8x8x4x4"):
        with pytest.raises(PartitionError, match="logical tori up to 48x69x48"):
            fugaku.partition(wrong)


def test_what_is_assumed_of_a_box_is_said():
    fugaku = load_machine("fugaku")
    [note] = [n for n in fugaku.doubts(parse_torus("4x6x16")) if "logical" in n]
    assert "are those of a logical network of 3 dimensions, not of the box" in note
    assert "partition 4x6x16:box=2x2x8x2x3wx2 is its box" in note
    [note] = [n for n in fugaku.doubts(fugaku.partition("4x6x16")) if "box" in n]
    assert "order in which an axis goes through its dimensions is assumed" in note and "name another" not in note
    [note] = [n for n in fugaku.doubts(fugaku.partition("24x16")) if "box" in n]
    assert "name another one as 24x16:box=" in note
    larger = fugaku.doubts(parse_torus("8x8x16"))[0]
    assert "have shape 8x8x16, so a job gets more nodes" in larger and "a unit has 1x1x1x2x3x2 nodes" in larger
    assert not any("logical" in n for n in fugaku.doubts(fugaku.partition("2x4x4x2x3x2")))
    assert not any("logical" in n for n in load_machine("bluegene-l").doubts(parse_torus("4x4")))


@pytest.mark.parametrize("n_nodes", [12, 60, 384, 1024])
def test_logical_shapes_of_a_size_against_trying_all(n_nodes):
    """With their box; without boxes only if no partition has so many nodes."""
    rule = load_machine("fugaku").partition_rule()
    every = {tuple(sorted(s)) for s in product(range(1, 49), range(1, 70), range(1, 49)) if prod(s) == n_nodes}
    wanted = every if n_nodes % 12 else {s for s in every if any(
        not (x % 2 or y % 3 or z % 2) and max(x, z) <= 48 and y <= 69 for x, y, z in permutations(s))}
    shapes = {getattr(t, "folded", t.shape) for t in rule.of_size(n_nodes)}
    assert {s for s in shapes if len(s) == 3} == wanted


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
