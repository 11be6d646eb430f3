"""Machine files: every figure has a source, the presets agree with published totals, and bad files are refused."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from pencilmap.model.base.errors import MachineError, PartitionError
from pencilmap.model.machines import package_file
from pencilmap.model.machines.machine import COSTS, MESSAGES, load_machine, machine_names, read_machine
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.network.twisted_torus import TwistedTorus, parse_twisted
from pencilmap.model.times.costs import Costs, MessageRange

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


def test_a_machine_of_switches_has_no_shapes():
    machine = load_machine("frontera")
    for ask in (lambda: machine.partition("4x4"), lambda: machine.with_shape("4x4"), machine.partition_rule):
        with pytest.raises(MachineError, match=r"machine frontera is network fat-tree:.*, not a torus"):
            ask()


@pytest.mark.parametrize("change, words", [
    (lambda t: t.replace("fat-tree:leaves=182", "fat-tree:leafs=182"), "leafs"),
    (lambda t: t.replace('up = "25 GB/s"', 'global = "25 GB/s"'), "no class of links with this name"),
    (lambda t: t.replace(', up = "25 GB/s"', ""), "links of class up have no bandwidth"),
    (lambda t: t.replace('{host = "12.5 GB/s", up = "25 GB/s"}', '["1 GB/s"]'), "link_bandwidth is a list of rates"),
    (lambda t: t.replace("certain = true", "certain = nan", 1), "^machine file mine.toml: the number nan is not finite$"),
    (lambda t: t + '[shape]\nvalue = "4x4"\nsource = "0123456789"\ncertain = true\n', "top level"),
    (lambda t: t + '[cache_per_task]\nvalue = "32 KiB"\nsource = "0123456789"\ncertain = true\n',
     "'cache_bandwidth_per_task' is a dependency of 'cache_per_task'"),
    (lambda t: t + '[partition]\nvalue = {rule = "any"}\nsource = "0123456789"\ncertain = true\n', "no partition"),
    (lambda t: t.replace('"fat-tree:leaves=182,hosts=44,up=18,spines=6"', '"torus:4x4"').replace(
        '{host = "12.5 GB/s", up = "25 GB/s"}', '"1 GB/s"'), "write it as")])
def test_a_broken_machine_of_switches_is_refused(change, words):
    with pytest.raises(MachineError, match=words):
        read_machine(change(package_file("frontera").decode()).encode(), "mine.toml")


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


@pytest.mark.parametrize("name, published, tolerance", [
    ("bluegene-p", 5.1e9, 1e-9),              # a node, six links, both directions
    ("tpu-v5p", 1200e9, 0.11),                # a chip, six links, both directions
    ("trainium2", 1024e9, 1e-9),              # a chip, four links, both directions
])
def test_published_bandwidth_of_a_node(name, published, tolerance):
    torus = load_machine(name).torus
    both = sum(4 * torus.cables[i] * torus.bandwidth[i] for i in range(torus.n_dimensions))
    assert both == pytest.approx(published, rel=tolerance)


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


@pytest.mark.parametrize("figures, message", [
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
])
def test_wrong_figures_are_refused_with_the_file_named(figures, message):
    with pytest.raises(MachineError, match=f"machine file demo.toml.*{message}"):
        read_machine(machine_file(**figures), "demo.toml")


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


@pytest.mark.parametrize("given, wanted, words", [
    ("[[0, 2, 3], [0, 0, 5], [0, 0, 0]]", "[[0, 2, 3], [0, 0, 5]]", "3 rows of 3 numbers"),
    ("[0, 2, 3]", "[1, 2, 3]", "a ring along u has a twist of 1 along u; no twist"),
    ("[0, 2, 3]", "[0, 6, 3]", "a twist of 6 along v; a twist of 0 to 5"),
    ("[0, 2, 3]", "[0, -2, 3]", "less than the minimum"),
    ("[0, 0, 5]", "[1, 0, 5]", "form a circle"),
    ("[0, 2, 3]", '"0, 2, 3"', "twists.value"),
    ('"4x6x9"', '"4x6x9:mesh"', "the shape is 4x6x9:mesh"),
    ('"4x6x9"', '"4x6x9:twist=uv2"', "the shape is 4x6x9:twist=uv2"),
    ('shape = {value = "4x6x9"', 'network = {value = "hypercube:3"', "oneOf|top level"),
])
def test_impossible_twist_vectors_are_refused(given, wanted, words):
    with pytest.raises(MachineError, match=words):
        read_machine(TWISTS.replace(given, wanted).encode(), "mine.toml")


def test_slices_have_the_twists_that_the_file_names():
    content = package_file("tpu-v4").decode().replace('"4x4x8", ', '"4x4x8:twist=xz2", ')
    machine = read_machine(content.encode(), "mine.toml")
    assert str(machine.partition("4x4x8")) == "4x4x8:twist=xz2" and str(machine.partition("4x8x8")) == "4x8x8:twisted"
    assert any("unless 4x4x8_untwisted is asked" in note for note in machine.doubts(machine.partition("4x4x8")))
    assert str(machine.partition("4x4x8_untwisted")) == "4x4x8"
    with pytest.raises(PartitionError, match="twisted are 4x4x8:twist=xz2, 4x8x8"):
        machine.partition("4x4x8:twisted")


@pytest.mark.parametrize("order", ["xyt", "txyzw", "nxt", "xyz"])
def test_a_launch_order_of_other_letters_is_refused(order):
    content = package_file("bluegene-l").replace(b'order = "xyzt"', f'order = "{order}"'.encode())
    with pytest.raises(MachineError, match=f"launch_order '{order}' is not an order of this machine; name t and each of x"):
        read_machine(content, "mine.toml")


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
