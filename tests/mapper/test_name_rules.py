"""Names of hosts that tell their places: HPE Cray's xnames on a dragonfly."""

from itertools import product

import pytest

from pencilmap.mapper.allocations.table import NAME_RULES, named_places, parse_table
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.kinds import network_named
from pencilmap.model.machines.machine import load_machine


def places(text, network):
    return named_places(Document(text.encode(), "names"), network)


def test_every_rule_has_a_source():
    for rule in NAME_RULES:
        assert len(rule.source) > 20 and rule.note and rule.pattern.fullmatch(rule.title.split(", ")[1])


@pytest.mark.parametrize("machine, boards, nodes", [("lumi-g", 2, 1), ("lumi-c", 2, 2), ("frontier", 2, 1)])
def test_a_cabinet_is_a_group_and_a_chassis_has_switches_of_its_own(machine, boards, nodes):
    network = load_machine(machine).network
    every = list(product((1000, 1004), range(8), range(8), range(boards), range(nodes)))
    found = places("".join(f"x{x}c{c}s{s}b{b}n{n}\n" for x, c, s, b, n in every), network)
    hosts = network.n_nodes // network.groups
    assert sorted(found.values()) == list(range(2 * hosts))
    switches = network.switch_of_link.reshape(network.n_nodes, -1) // (network.per_group // 8)  # by chassis
    for (x, c, *_), node in zip(every, found.values()):
        assert node // hosts == (x - 1000) // 4 and set(switches[node].tolist()) == {8 * (node // hosts) + c}


def test_a_list_of_names_is_the_nodes_of_a_job(tmp_path):
    (tmp_path / "hosts").write_text("nid1 x1001c0s0b0n0\nnid2 x1001c0s0b1n0\nnid3 x1003c7s7b1n0\nnid4 x1001c1s0b0n0\n")
    where = setting(machine="lumi-g", nodes=str(tmp_path / "hosts"), tasks_per_node=1)
    assert where.site.allocation.nodes.tolist() == [0, 1, 255, 16] and list(where.hosts) == ["nid1", "nid2", "nid3", "nid4"]
    assert where.predictions("2x2", ["default"])[0].cost > 0


@pytest.mark.parametrize("text, network, words", [
    ("x1000c0s0b0n1\n", "dragonfly:a=32,p=16,groups=2,cables=2,rails=4,links=4", "no place in a group of 128 hosts"),
    ("x1c0s0b0n0\n", "dragonfly:a=32,p=16,groups=2,cables=2", "is not a node"),
    ("x1000c0s0b0n0\nx1001c0s0b0n0\nx1002c0s0b0n0\n", "dragonfly:a=4,p=16,groups=2,cables=2", "3 cabinets, but .* 2 groups"),
    ("x1000c0s0b0n0\nx1000c0s0b0n0\n", "dragonfly:a=4,p=16,groups=2,cables=2", "line 2: .* is also in line 1"),
    ("x1000c0s0b0n0\n", "dragonfly:a=4,p=2,h=2", "1 cabinets, but .* 9 groups of 8 hosts"),
    ("x1000c0s0b0n0\n", "fat-tree:leaves=2,hosts=2,up=2", "is not a node")])
def test_names_that_do_not_fit_the_network_are_refused(text, network, words):
    with pytest.raises(MapfileError, match=words):
        parse_table(Document(text.encode(), "names"), network_named(network))
