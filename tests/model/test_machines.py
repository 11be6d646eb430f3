"""Machine files, partitions and usable nodes; small values, units and patterns; refusals of bad values."""

import pickle
import re
from dataclasses import fields
from fractions import Fraction
from importlib import import_module
from itertools import permutations, product
from math import prod
from pathlib import Path
from pkgutil import iter_modules

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pencilmap.mapper.seeds.products import patterns
from pencilmap.mapper.setting import setting
from pencilmap.model import kinds
from pencilmap.model.base.errors import (
    AllocationError,
    GridError,
    MachineError,
    MappingError,
    NetworkError,
    PartitionError,
    PencilmapError,
    TorusError,
)
from pencilmap.model.base.units import UNITS, parse
from pencilmap.model.kinds import KINDS, ROUTINGS, network_named
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.kinds.reading import bandwidths, numbers, whole
from pencilmap.model.machines import package_file
from pencilmap.model.machines.machine import COSTS, MESSAGES, load_machine, machine_names, machine_partitions, read_machine
from pencilmap.model.network.partition import RULES, Partitions, subbox
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.network.twisted_torus import FoldedTorus, TwistedTorus, parse_twisted
from pencilmap.model.placement.allocation import Allocation, Mapping, Site, parse_nodes
from pencilmap.model.placement.grid import ProcessGrid, all_grids, parse_grid
from pencilmap.model.placement.product import RingMap, effective_length, pattern_of_images, ring_halves, ring_load
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.times.costs import Costs, MessageRange
from tests.model.cases import repeatable

ALL = [load_machine(name) for name in machine_names()]
TORI = [machine for machine in ALL if isinstance(machine.network, Torus)]
SWITCHED = {machine.name: machine.network for machine in ALL if machine not in TORI}


def named(machine):
    return machine.name


@pytest.mark.parametrize("machine", ALL, ids=named)
def test_every_figure_names_a_source_and_a_doubtful_one_says_why(machine):
    for key, figure in machine.figures.items():
        assert len(figure.source) > 10, key
        assert figure.certain or figure.note, key
    assert ("partition" in machine.figures) == isinstance(machine.network, Torus)


@pytest.mark.parametrize("machine", TORI, ids=named)
def test_the_usual_shape_is_a_partition_that_closes_as_the_file_says(machine):
    text = "x".join(map(str, machine.torus.shape))
    assert machine.partition(text) == machine.torus
    assert machine.doubts(machine.torus) == ()


HOSTS = {"archer": 384, "archer2": 128, "athena": 513, "duke-beowulf": 16, "frontera": 8008, "frontier": 74 * 128,
         "ibm-sp2": 32, "leonardo": 3420, "lumi-c": 8 * 256, "lumi-g": 24 * 128, "polaris": 56, "theta": 384}


def test_machines_of_switches_have_the_published_numbers_of_nodes():
    assert {name: network.n_nodes for name, network in SWITCHED.items()} == HOSTS


def cables_between_groups(name):
    """Return the bytes per second of all global cables, both directions."""
    network = SWITCHED[name]
    return 2 * len(network.global_ends) * network.bandwidth[network.link_classes.index("global")]


@pytest.mark.parametrize("name, total", [("lumi-g", 276e12), ("lumi-c", 22.4e12)])
def test_the_groups_of_lumi_are_joined_by_the_published_bandwidth(name, total):
    assert cables_between_groups(name) == total


def test_a_group_of_frontier_has_the_published_blocking_factor():
    """512 endpoints for 4 links to each of 73 groups, 102.4 and 58.4 Tbit/s."""
    network = SWITCHED["frontier"]
    groups = network.global_ends // network.per_group
    leave = (groups == 0).any(axis=1).sum() * network.bandwidth[2]
    enter = (network.switch_of_link // network.per_group == 0).sum() * network.bandwidth[0]
    assert (enter * 8, leave * 8) == (102.4e12, 58.4e12) and enter / leave == pytest.approx(1.753, abs=5e-4)


def test_a_leaf_of_frontera_has_the_published_oversubscription():
    network = SWITCHED["frontera"]
    below = 44 * network.bandwidth[0]
    assert below / (network.cables_up[0][0] * network.bandwidth[1]) == pytest.approx(22 / 18)
    assert network.switches == (1, 6) and network.links_per_host == 1


def test_a_leaf_of_leonardo_has_as_many_ports_as_its_switch():
    """40 ports of 200 Gbit/s: 20 for 40 links of 100 Gbit/s, 18 upwards."""
    network = SWITCHED["leonardo"]
    below = (network.switch_of_link == 0).sum()
    assert below == 40 and below / 2 + network.spines <= 40 and network.n_nodes // network.groups == 180


@pytest.mark.parametrize("name, published, tolerance", [
    ("bluegene-p", 5.1e9, 1e-9),              # a node, six links, both directions
    ("tpu-v5p", 1200e9, 0.11),                # a chip, six links, both directions
    ("trainium2", 1024e9, 1e-9),              # a chip, four links, both directions
])
def test_published_bandwidth_of_a_node(name, published, tolerance):
    torus = load_machine(name).torus
    both = sum(4 * torus.cables[i] * torus.bandwidth[i] for i in range(torus.n_dimensions))
    assert both == pytest.approx(published, rel=tolerance)


def test_a_machine_of_switches_has_no_shapes():
    machine = load_machine("frontera")
    for ask in (lambda: machine.partition("4x4"), lambda: machine.with_shape("4x4"), machine.partition_rule):
        with pytest.raises(MachineError, match=r"machine frontera is network fat-tree:.*, not a torus"):
            ask()


@pytest.mark.parametrize("name", machine_names())
def test_machines_of_the_package_follow_the_schema(name):
    """Loading them by name does not check it."""
    assert read_machine(package_file(name), name).title == load_machine(name).title


PORTS = {"bluegene-l": 6, "bluegene-p": 6, "bluegene-q": 10, "cray-xt3": 6, "cray-xt5": 6, "cray-xe6": 6, "hector-xt4": 6,
         "fx10": 10, "k-computer": 10, "fugaku": 10, "tpu-v2": 4, "tpu-v3": 4, "tpu-v4": 6, "tpu-v5e": 4, "tpu-v5p": 6,
         "tpu-v6e": 4, "trainium2": 4, "trainium2-ultraserver": 6}


@pytest.mark.parametrize("name", PORTS)
def test_every_node_uses_the_ports_that_its_router_has(name):
    torus = load_machine(name).torus
    assert 2 * torus.n_cables == PORTS[name] * torus.n_nodes


NODES = {"bluegene-l": 512, "bluegene-p": 512, "bluegene-q": 512, "cray-xt5": 19200, "fx10": 98304,
         "hector-xt4": 33 * 96, "k-computer": 88128, "fugaku": 158976,
         "tpu-v2": 256, "tpu-v3": 1024, "tpu-v4": 64, "tpu-v5e": 256, "tpu-v5p": 64, "tpu-v6e": 256, "trainium2": 16,
         "trainium2-ultraserver": 64}


@pytest.mark.parametrize("name", NODES)
def test_published_node_counts(name):
    assert load_machine(name).torus.n_nodes == NODES[name]


def bisection(torus):
    """Return bytes per second across the best cut through the middle of a dimension, one direction."""
    return min(torus.g(i) * torus.lines(i) * torus.cables[i] * torus.bandwidth[i]
               for i, n in enumerate(torus.shape) if n % 2 == 0)


@pytest.mark.parametrize("name, partition, published, tolerance", [
    ("tpu-v3", "32x32", 6.4e12, 0.01),        # cloud.google.com/tpu/docs/v3
    ("tpu-v4", "16x16x16", 24e12, 0.05),      # cloud.google.com/tpu/docs/v4
    ("tpu-v5e", "16x16", 1.6e12, 0.11),       # docs.cloud.google.com/tpu/docs/v5e
    ("tpu-v6e", "16x16", 3.2e12, 0.11),       # docs.cloud.google.com/tpu/docs/v6e
])
def test_published_bisection_bandwidth(name, partition, published, tolerance):
    assert bisection(load_machine(name).partition(partition)) == pytest.approx(published, rel=tolerance)


def test_the_file_in_the_documentation_is_a_machine_file():
    text = (Path(__file__).parents[2] / "docs" / "machines.md").read_text("utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    machine = read_machine("\n".join(blocks).encode(), "docs/machines.md")
    assert machine.torus.bandwidth == (5e9, 5e9, 2.5e9) and str(machine.partition("8x4x4")) == "8x4x4:mesh"


PLAIN = {"shape": '"4x4"', "tasks_per_node": "2", "link_bandwidth": '"1 GB/s"'}


def machine_file(**figures):
    lines = ['name = "demo"', 'title = "for a test"']
    for key, value in {**PLAIN, **figures}.items():
        lines.append(f'{key} = '
                     f'{{value = {value}, source = "a test", certain = {str(key != "hop_latency").lower()}, note = "why"}}')
    return "\n".join(lines).encode()


def test_every_cost_of_the_time_model_can_stand_in_a_machine_file():
    assert {name for name, _, _ in COSTS.values()} | {MESSAGES, "fitted_nodes"} == {f.name for f in fields(Costs)}
    values = {None: "0.5", "s": '"2 us"', "byte/s": '"3 MB/s"', "flop/s": '"4 Gflop/s"', "byte": '"5 kB"'}
    si = {None: 0.5, "s": 2e-6, "byte/s": 3e6, "flop/s": 4e9, "byte": 5e3}
    figures = {key: values[unit] for key, (_, unit, _) in COSTS.items()}
    costs = read_machine(machine_file(**figures), "demo.toml").costs
    for name, unit, _ in COSTS.values():
        assert getattr(costs, name) == pytest.approx(si[unit]), name
    by_message = ("message_cost", "message_size_cost", "message_hop_cost")
    figures = {key: text for key, text in figures.items() if key not in by_message}
    ranges = '[{up_to = "8 KiB", start = "2 us", ports = 4, rate = "1 GB/s"}, {start = "3 us", together = "2 GB/s"}]'
    assert read_machine(machine_file(**figures, messages=ranges), "demo.toml").costs.messages == (
        MessageRange(8192, 2e-6, 4, 1e9), MessageRange(float("inf"), 3e-6, 1, None, 2e9))


@pytest.mark.parametrize("text, expected", [
    ("8x8x16", None),                     # the result of the rule
    ("8x8x8:mesh", None),                 # fewer rings than the rule's result
    ("4x4x2:mesh", None),
    ("4x4x4:mesh", None),                 # not a partition but a part of a partition: an open box claims nothing
    ("8x4x4", "gives 8x4x4:mesh for it"),
    ("4x4x4", "hands out multiples of 8x8x8"),
    ("2x2x2", None),                      # rings of two are no rings
    ("16x16", None),                      # the rule does not cover another number of dimensions
])
def test_rings_that_the_machine_has_not_are_noted(text, expected):
    notes = load_machine("bluegene-l").doubts(parse_torus(text))
    assert (notes == ()) if expected is None else (len(notes) == 1 and expected in notes[0])


def test_another_shape_keeps_the_bandwidth_of_its_dimensions():
    slow = load_machine("trainium2-ultraserver")
    assert slow.with_shape("2x4x4").torus == Torus((2, 4, 4), bandwidth=(128e9, 128e9, 64e9))
    with pytest.raises(MachineError, match="its own bandwidth or cables for each of 3"):
        slow.with_shape("4x4")


@pytest.mark.parametrize("name", ["tpu-v4", "tpu-v5p", "tpu7x"])
@pytest.mark.parametrize("shape, twists", [("4x4x8", True), ("4x8x8", True), ("8x8x16", True), ("8x16x16", True),
                                           ("4x4x4", False), ("8x8x8", False), ("4x4x8:mesh", False), ("4x4x16", False)])
def test_slices_are_twisted_as_their_maker_says_unless_the_plain_torus_is_asked_for(name, shape, twists):
    machine = load_machine(name)
    found = machine.partition(shape)
    assert isinstance(found, TwistedTorus) == twists and found.bandwidth == (machine.torus.bandwidth[0],) * 3
    notes = [note for note in machine.doubts(found) if "twisted torus" in note]
    assert len(notes) == twists and all(f"{shape}:torus is the plain torus" in note for note in notes)
    if twists:
        plain = machine.partition(f"{shape}:torus")
        assert plain == found.plain
        assert any("the plain torus is predicted" in note for note in machine.doubts(plain))


TWISTS = """
name = "mine"
title = "a twisted torus"
axes = "uvw"
shape = {value = "4x6x9", source = "our wiki, Network", certain = true}
twists = {value = [[0, 2, 3], [0, 0, 5], [0, 0, 0]], source = "our wiki, Cables", certain = false, note = "as planned"}
tasks_per_node = {value = 2, source = "our wiki, Nodes", certain = true}
link_bandwidth = {value = ["1 GB/s", "2 GB/s", "3 GB/s"], source = "our wiki, Network", certain = true}
cables = {value = [1, 2, 1], source = "our wiki, Cables", certain = true}
"""


def test_twist_vectors_are_read():
    machine = read_machine(TWISTS.encode(), "mine.toml")
    torus = machine.torus
    assert torus == parse_twisted("4x6x9:twist=uv2,uw3,vw5:axes=uvw", bandwidth=(1e9, 2e9, 3e9), cables=(1, 2, 1))
    past_the_end = torus.reached(torus.node((3, 1, 8)), 0, 1)
    assert torus.coordinates(past_the_end).tolist() == [0, 3, 2], "1 + 2, and 8 + 3 modulo 9"
    assert machine.doubts(torus, ["twists"]) == ("twists of machine mine is uncertain: as planned",)
    text = TWISTS.replace('"4x6x9"', '"4x6x9:twist=uv2,uw3,vw5"').replace("twists = {", "# {")
    assert read_machine(text.encode(), "mine.toml").torus == torus, "the text of a shape says the same"


def test_slices_have_the_twists_that_the_file_names():
    content = package_file("tpu-v4").decode().replace('"4x4x8", ', '"4x4x8:twist=xz2", ')
    machine = read_machine(content.encode(), "mine.toml")
    assert str(machine.partition("4x4x8")) == "4x4x8:twist=xz2" and str(machine.partition("4x8x8")) == "4x8x8:twisted"
    assert any("unless 4x4x8_untwisted is asked" in note for note in machine.doubts(machine.partition("4x4x8")))
    assert str(machine.partition("4x4x8_untwisted")) == "4x4x8"
    with pytest.raises(PartitionError, match="twisted are 4x4x8:twist=xz2, 4x8x8"):
        machine.partition("4x4x8:twisted")


@pytest.mark.parametrize("figure, said", [
    ("", r"top level: it needs \[shape\], or \[network\] without axes"),
    ('network = {value = "topology.conf,taper=2", source = "x", certain = true}',
     "is no text such as fat-tree:leaves=4,hosts=16,taper=2; a file of cables is given beside the machine"),
])
def test_a_file_without_a_network_or_with_a_file_of_cables_says_so(figure, said):
    text = f"""name = "mine"
title = "mine"
tasks_per_node = {{value = 4, source = "x", certain = true}}
link_bandwidth = {{value = "1 GB/s", source = "x", certain = true}}
{figure}
"""
    with pytest.raises(MachineError, match=said):
        read_machine(text.encode(), "mine.toml")


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


@pytest.mark.parametrize("dims, cables", [((1,), 0), ((2,), 1), ((3,), 3), ((4, 4, 4), 192), ((2, 2), 4), ((1, 5), 5)])
def test_cable_count(dims, cables):
    assert Torus(dims).n_cables == cables


def test_grids_of_a_number_multiply_to_it():
    assert [str(g) for g in all_grids(12)] == ["1x12", "2x6", "3x4", "4x3", "6x2", "12x1"]


SPELLINGS = {"byte/s": ("kibibyte/hour", "megaoctet/second", "Tbps", "kilobaud", "Ebits/min"), "byte": ("Pibits", "octet"),
             "s": ("minutes", "µs", "secs", "hr", "nanosecond"), "flop/s": ("teraflops/min", "flop/h")}


@pytest.fixture(scope="module")
def registry():
    """The units of the package pint, from its own definitions, of which flop is missing."""
    found = pytest.importorskip("pint").UnitRegistry()
    found.define("flop = [operation]")
    return found


@pytest.mark.parametrize("unit, kind", [(unit, kind) for kind in UNITS for unit in (*UNITS[kind], *SPELLINGS[kind])])
def test_units_are_those_of_pint(registry, unit, kind):
    assert parse(f"2.75 {unit}", kind) == pytest.approx(registry.Quantity(f"2.75 {unit}").m_as(kind), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 12, 16])
def test_every_pattern_is_found_again_from_its_images(n):
    for pattern in patterns(n):
        images = {letter: set(np.flatnonzero(pattern.group(letter) == 0).tolist()) for letter in "rc"}
        assert pattern_of_images(images, n) == pattern


@pytest.mark.parametrize("n", [2, 4, 6, 8, 16])
@pytest.mark.parametrize("ring", [True, False])
def test_formula_equals_the_routed_load_on_even_rings_and_lines_of_two_digits(n, ring):
    """Lines, dense blocks and their complements: the images of the paper."""
    torus = Torus((n,), (ring,))
    for pattern in patterns(n):
        if len(pattern.digits) <= 2:
            for owner in "rc":
                if all(radix % 2 == 0 for _, radix in pattern.digits):
                    assert effective_length(pattern, owner, torus, 0) == ring_load(pattern, owner, torus.is_ring(0)).largest


@pytest.mark.parametrize("tie", ["split", "parity", "plus"])
@pytest.mark.parametrize("ring", [True, False])
def test_the_busiest_link_of_a_line_is_the_first_with_the_largest_load(ring, tie):
    rng, ways = np.random.default_rng(3), set()
    maps = [RingMap(tuple(map(tuple, rng.permutation(12).reshape(3, 4).tolist()))) for _ in range(30)]
    for image in (*patterns(8), *maps):
        for letter in "rc":
            found, halves = ring_load(image, letter, ring, tie), ring_halves(image, letter, ring, tie)
            links = [(load, way, at) for way, loads in zip((1, -1), halves.tolist()) for at, load in enumerate(loads)]
            busiest = max(links, key=lambda link: link[0])
            assert (found.direction, found.position) == busiest[1:]
            assert found.largest == Fraction(2 * busiest[0], image.extent(letter))
            assert found.total == Fraction(2 * sum(load for load, _, _ in links), image.extent(letter))
            ways.add(found.direction)
    assert ways == ({1, -1} if ring and tie == "parity" else {1}), "ties that are not split may be heavier downwards"


@pytest.mark.parametrize("network, grid, schedule", [("8x8", "8x8", "overlap:2"), ("4x4:mesh", "2x8", "sequence"),
                                                     ("dragonfly:a=2,p=2,h=1", "4x3", "sequence")])
def test_a_prediction_holds_no_functions_and_answers_after_it_was_stored(network, grid, schedule):
    found, = setting(network=network, bandwidth="1 GB/s", fft="48", halo=1).predictions(grid, ["default"], schedule=schedule)
    again = pickle.loads(pickle.dumps(found))
    assert [stage.as_dict() for stage in again.stages] == [stage.as_dict() for stage in found.stages]
    assert again.schedule.load_joint == found.schedule.load_joint
    assert [p.cost for p in again.bracket] == [p.cost for p in found.bracket]


# The table of networks: text forms, classes of links, bandwidths, routings

def test_every_kind_names_routings_that_exist_and_every_routing_has_a_kind():
    named = {name for kind in KINDS.values() for name in (*kind.routings, *kind.bracket)}
    assert named == set(ROUTINGS)
    for name, kind in KINDS.items():
        assert kind.name == name and kind.routings[0] in ROUTINGS and set(kind.bracket) <= set(kind.routings)


def test_no_kind_is_forgotten_in_the_table():
    rows = [row for module in iter_modules(kinds.__path__, f"{kinds.__name__}.")
            for row in vars(import_module(module.name)).values() if isinstance(row, Kind)]
    assert {id(row) for row in rows} == {id(row) for row in KINDS.values()}


@pytest.mark.parametrize("values, says", [({}, "missing"), ({"n": 0}, "1 to 65536"), ({"n": "two"}, "whole number")])
def test_numbers_are_whole(values, says):
    with pytest.raises(NetworkError, match=says):
        whole("tree", values, "n")
    assert whole("tree", {}, "n", 4) == 4


REFUSED = [  # what is called; its error; what each message has; rows of arguments, and at their end words of the message
    (lambda change: read_machine(change(package_file("frontera").decode()).encode(), "mine.toml"), MachineError, "", [
        (lambda t: t.replace("fat-tree:leaves=182", "fat-tree:leafs=182"), "leafs"),
        (lambda t: t.replace('up = "25 GB/s"', 'global = "25 GB/s"'), "no class of links with this name"),
        (lambda t: t.replace(', up = "25 GB/s"', ""), "links of class up have no bandwidth"),
        (lambda t: t.replace('{host = "12.5 GB/s", up = "25 GB/s"}', '["1 GB/s"]'), "link_bandwidth is a list of rates"),
        (lambda t: t.replace("certain = true", "certain = nan", 1), "machine file mine.toml: the number nan is not fin"),
        (lambda t: t + '[shape]\nvalue = "4x4"\nsource = "0123456789"\ncertain = true\n', "top level"),
        (lambda t: t + '[cache_per_task]\nvalue = "32 KiB"\nsource = "0123456789"\ncertain = true\n',
         "'cache_bandwidth_per_task' is a dependency of 'cache_per_task'"),
        (lambda t: t + '[partition]\nvalue = {rule = "any"}\nsource = "0123456789"\ncertain = true\n', "no partition"),
        (lambda t: t.replace('"fat-tree:leaves=182,hosts=44,up=18,spines=6"', '"torus:4x4"').replace(
            '{host = "12.5 GB/s", up = "25 GB/s"}', '"1 GB/s"'), "write it as")]),
    (lambda change: read_machine(change(package_file("bluegene-l").decode()).encode(), "my.toml"), MachineError, "my.toml", [
        (lambda t: t.replace('"148 MB/s"', '"148"'), "148"), (lambda t: t.replace('"8x8x8"', '"8by8"'), "8by8"),
        (lambda t: t.replace("title", "titel"), "title"), (lambda t: t.replace("certain = true", "certain = maybe"), "TOML"),
        (lambda t: t + "\n[colour]\nvalue = 1\n", "colour"),
        (lambda t: t.replace("value = 1\n", "value = 0\n"), "tasks_per_node"),
        *((lambda t, order=order: t.replace('order = "xyzt"', f'order = "{order}"'),
           f"launch_order '{order}' is not an order of this machine; name t and each of x")
          for order in ("xyt", "txyzw", "nxt", "xyz"))]),
    (lambda figures: read_machine(machine_file(**figures), "demo.toml"), MachineError, "machine file demo.toml", [
        (dict(messages='[{start = "2 us"}]', message_cost='"1 us"'), "would count them twice"),
        (dict(messages='[{start = "2 us", up_to = "1 kB"}]'), "the last has no end"),
        (dict(messages='[{start = "2 us", ports = 0}]'), "ports.*less than the minimum"),
        (dict(messages='"2 us"'), "not of type 'array'"),
        (dict(hop_latency='"100"'), "'100' is not a quantity in s"),
        (dict(hop_latency='"5 MB/s"'), "not a quantity in s"),
        (dict(hop_latency="100"), "hop_latency.*not of type 'string'"),
        (dict(injection_per_task='"0 MB/s"'), "injection_per_task 0.0"),
        (dict(fft_rate_per_task='"3 GB/s"'), "e.g. '2.8 Gflop/s'"),
        (dict(contention="-0.5"), "contention.*less than the minimum"),
        (dict(progress="1.5"), "progress.*greater than the maximum"),
        (dict(contention='"a bit"'), "contention.*not of type 'number'"),
        (dict(latency='"1 us"'), "'latency' was unexpected"),
        (dict(partition='"spans"'), "partition.*not of type 'object'"),
        (dict(partition='{rule = "spans", unit = "3x3x3"}'), "does not fit into torus 4x4"),
        (dict(partition='{rule = "moebius", unit = "2x2"}'), "known are spans"),
        (dict(partition='{rule = "spans", unit = "2wx2"}'), "extents alone"),
        (dict(partition='{rule = "spans", units = "2x2"}'), "'units' was unexpected"),
        (dict(partition='{unit = "2x2"}'), "'rule' is a required property"),
    ]),
    (lambda given, wanted: read_machine(TWISTS.replace(given, wanted).encode(), "mine.toml"), MachineError, "", [
        ("[[0, 2, 3], [0, 0, 5], [0, 0, 0]]", "[[0, 2, 3], [0, 0, 5]]", "3 rows of 3 numbers"),
        ("[0, 2, 3]", "[1, 2, 3]", "a ring along u has a twist of 1 along u; no twist"),
        ("[0, 2, 3]", "[0, 6, 3]", "a twist of 6 along v; a twist of 0 to 5"),
        ("[0, 2, 3]", "[0, -2, 3]", "less than the minimum"),
        ("[0, 0, 5]", "[1, 0, 5]", "form a circle"),
        ("[0, 2, 3]", '"0, 2, 3"', "twists.value"),
        ('"4x6x9"', '"4x6x9:mesh"', "the shape is 4x6x9:mesh"),
        ('"4x6x9"', '"4x6x9:twist=uv2"', "the shape is 4x6x9:twist=uv2"),
        ('shape = {value = "4x6x9"', 'network = {value = "hypercube:3"', "oneOf|top level")]),
    (lambda fields: Partitions(largest=Torus((4, 4)), **fields), PartitionError, "", [
        (dict(rule="sometimes", unit=(2, 2)), "known are spans"), (dict(rule="spans"), "needs the unit"),
        (dict(rule="multiple", shapes=((2, 2),)), "at which rings close"), (dict(rule="spans", unit=(8, 2)), "does not fit"),
        (dict(rule="spans", unit=(2, 2), shapes=((5, 5),)), "does not fit")]),
    (lambda machine, text: load_machine(machine).partition(text), PartitionError, "nodes.*allowed are", [
        (*names.split(), names.split()[1]) for names in (
            "bluegene-l 8x8x4", "bluegene-l 64x8x8", "bluegene-q 2x2x2x2x1", "fugaku 4x4x4x1x3x2", "tpu-v4 4x8x4",
            "tpu-v4 2x4x8", "tpu-v5p 16x20x28", "trainium2 2x4")]),
    (lambda order: Allocation(TORUS, np.array(order, dtype=np.int64)), AllocationError, "", [
        ([], "at least one"), ([24], "0..23"), ([-1], "0..23"), ([5, 3, 5], "(1, 1, 0) is listed twice")]),
    (Allocation(TORUS, [0, 1]).without, AllocationError, "is not among the 2 nodes", [([0, 23], "(3, 2, 1)")]),
    (Site, AllocationError, "", [(TORUS, 0, "at least 1"), (Torus((4, 4)), 1, Allocation(TORUS), "not of 4x4")]),
    (lambda text: parse_nodes(text, TORUS), AllocationError, "", [
        ("1-2", "2 coordinates"), ("5", "has 1 coordinate, .* node number 5 is written 1-1-0"), ("24", "3 dimensions$"),
        *((text, "not understood") for text in ("1-2-x", "", "1-2-0,", "1--2-0"))]),
    (parse_torus, TorusError, "", [(text, "") for text in (
        "", "8x", "x8", "8*8", "8x8:ring", "8wx8:mesh", "0x4", "1x2x3x4x5x6x7x8x9", "-8", "8 x 8", "9" * 14, "8" * 300)]),
    (lambda value: Torus((4, 4), **value), TorusError, "", [(value, "") for value in (
        dict(wrap=(True,)), dict(bandwidth=(1.0,)), dict(bandwidth=(1.0, 0.0)), dict(cables=(0, 1)), dict(axes="xt"),
        dict(axes="xx"), dict(axes="xyz"))]),
    (parse_transform, GridError, "", [(text, "") for text in (
        "", "16x16", "16x16xa", "ax16x16", "16x-1x8", "16xx8", "16x1234567890x8", "1234567890", "٣", "16x²x8", "0x1x1",
        "512:c2c:double:x", "512:nope", "512:x:c2c", "512:fields=", "512:fields=0")]),
    (parse_grid, GridError, "", [(text, "") for text in ("8x", "8x64x2", "ax4", "-1x4", "8 x 64")]),
    (lambda nodes, slots: Mapping(Torus((2, 2)), ProcessGrid(2, 2), 1, np.array(nodes), np.array(slots)), MappingError, "", [
        ([0, 1, 2, 2], [0] * 4, "ranks 2 and 3 both sit on node"), ([0, 1, 2, 4], [0] * 4, "rank 3 sits on node 4"),
        ([0, 1, 2, -1], [0] * 4, "rank 3"), ([0, 1, 2, 3], [0, 0, 1, 0], "rank 2 has slot 1"),
        ([0, 1, 2], [0] * 3, "4 ranks")]),
    (network_named, PencilmapError, "", [
        ("fat-treee:leaves=3", "unknown"),
        ("cluster", "write a shape such as 8x8x8"),
        ("4y4", "not understood"),
        ("hypercube:9", "1 to 8 dimensions"),
        ("hyperx:4x0,hosts=2", "not understood"),
        ("hyperx:4x4", "hosts is missing"),
        ("fat-tree:leaves=4,hosts=4", "give up=CABLES or taper=RATIO"),
        ("fat-tree:leaves=4,hosts=4,up=2,taper=2", "one of both"),
        ("fat-tree:leaves=4,hosts=4,taper=3", "does not divide the 4 cables below"),
        ("fat-tree:leaves=4,hosts=4,up=4,spines=3", "divisor of up"),
        ("fat-tree:leaves=4,hosts=4,up=4,core=3", "give pods=NUMBER"),
        ("fat-tree:leaves=4,hosts=4,up=4,pods=3,core=3", "do not fill pods=3"),
        ("fat-tree:leaves=4,hosts=4,up=4,rails=3", "no multiple of rails=3"),
        ("fat-tree:leaves=4,hosts=4,up=4,use=both", "even, task"),
        ("fat-tree:leaves=65536,hosts=65536,up=65536", "too many"),
        ("fat-tree:leaves=60000,hosts=1,up=60000", "too many"),
        ("dragonfly:a=4,p=2", "h is missing"),
        ("dragonfly:a=4,p=2,h=1,groups=4,cables=2", "give fewer groups or cables"),
        ("dragonfly:a=4,p=2,cables=2,groups=60000", "too many"),
        ("dragonfly:a=1024,p=1,h=32", "too many"),
        ("dragonfly:a=3,p=2,h=1,rails=2", "no multiple of rails=2"),
        ("dragonfly-plus:leaves=2,spines=2,hosts=2", "groups is missing"),
        ("hyperx:999x999,hosts=2", "too many"),
        ("graph:file.edges", "give the file of its cables")]),
    (lambda rates: bandwidths(rates, ("host", "up")), NetworkError, "", [
        ("up=1 GB/s", "class host have no bandwidth"), ("up=1 GB/s,hots=2 GB/s", "did you mean host?"),
        ("up=1 GB/s,host", "names no class"), ("0 GB/s", "more than 0"), ({"up": -1.0, "host": 1e9}, "more than 0")]),
    (lambda text: numbers("tree", text, {"leaves": ""}, "tree:leaves=2"), NetworkError, "", [
        ("leaves=3,leafs=2", "'leafs' is unknown (did you mean leaves?)"), ("leaves=3,leaves=2", "leaves is given twice"),
        ("leaves", "leaves has no value")]),
]


@pytest.mark.parametrize("call, error, each, row", [(*rest, row) for *rest, rows in REFUSED for row in rows])
def test_what_cannot_be_is_refused_in_words(call, error, each, row):
    *given, words = row
    with pytest.raises(error) as told:
        call(*given)
    message = str(told.value)
    assert all(part in message or re.search(part, message, re.DOTALL) for part in (each, words))
