"""Graphs and files of networks: read, written, recognised, and refused."""

import json
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.allocations.network_file import summary
from pencilmap.mapper.base.search import Search
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import GRAPHS, parse_graph, read_graph
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.placements.tilings import named
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GraphError, NetworkError, PencilmapError
from pencilmap.model.kinds import network_named, recognised, routing, routings_of
from pencilmap.model.kinds.fat_tree import FatTree, fat_tree
from pencilmap.model.kinds.reading import Hosts
from pencilmap.model.network.graph import GraphNetwork, from_networkx
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.predict.certificates import lower_bound
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import in_sequence, routed_joint
from pencilmap.scripts.command_line.job_network import level_lines
from tests.patience import patience

NETWORKS = {  # text: words of the note
    "fat-tree:leaves=4,hosts=4,taper=2": "fat tree, 4 leaves of 4, taper 2",
    "fat-tree:leaves=8,hosts=2,up=2,pods=2,core=3": "fat tree, 8 leaves of 2, taper 1, 2 pods, core taper 1.33",
    "fat-tree:leaves=6,hosts=3,up=2,links=2": "fat tree, 6 leaves of 3, taper 3",
    "fat-tree:leaves=4,hosts=4,up=4,rails=2": "fat tree, 2 units of 4, taper 1",
    "fat-tree:leaves=2,hosts=4,up=2,spines=1": "fat tree, 2 leaves of 4, taper 2",
    "hyperx:3x4,hosts=2": "HyperX 3x4, 2 hosts on each switch",
    "hyperx:2x2x2,hosts=1": "HyperX 2x2x2, 1 host on each switch",
    "hyperx:5,hosts=2,cables=2": "HyperX 5, 2 hosts on each switch",
    "dragonfly:a=4,p=1,h=1": "dragonfly, 5 groups of 4 switches",
    "dragonfly:a=4,p=2,groups=3,cables=2": "dragonfly, 3 groups of 4 switches",
    "dragonfly-plus:leaves=2,spines=2,hosts=2,groups=4": "Dragonfly+, 4 groups of 2 leaves and 2 spines",
    "4x5": "torus 4x5", "2x3x4:mesh": "mesh 2x3x4", "3wx4x2": "torus 2wx3wx4", "7": "torus 7", "5:mesh": "mesh 5",
    "3x3x3": "torus 3x3x3", "4x4": "hypercube of 4 dimensions", "hypercube:3": "hypercube of 3 dimensions",
    "2x2": "torus 2x2", "4x4x8": "torus 4x4x8", "6x4:mesh": "mesh 4x6",
    "4x8:twisted": "twisted torus 4x8:twisted", "4x4x8:twisted": "twisted torus 4x4x8:twisted",
    "2x2x4:twisted": "twisted torus 2x2x4:twisted",
    "8x3:twist=yx5": "twisted torus 3x8:twist=xy3", "6x4:twist=xy2": "twisted torus 4x6:twist=yx2",
    "2x3x6:twist=yz3": "twisted torus 2x3x6:twist=yz3", "5x5:twist=xy2": "twisted torus 5x5:twist=xy2",
}


def cables(network):
    """Return (lower, upper, cables, bytes per second) of each arc upwards, in numbers of the vertices."""
    arcs, fastest = network.arcs(), max(network.bandwidth or (1.0,))
    return [(a, b, int(n), capacity / n * fastest) for a, b, n, capacity in zip(
        arcs.source.tolist(), arcs.target.tolist(), arcs.ways.tolist(), arcs.capacity.tolist()) if a < b]


def relabelled(network, seed, rates=False, without=()):
    """Return a networkx graph with other names, and vertices and cables in random order."""
    rng, n = random.Random(seed), network.arcs().n_vertices
    names = [f"v{i}" for i in range(n)]
    rng.shuffle(names)
    kept = [cable for i, cable in enumerate(cables(network)) if i not in without]
    graph = nx.MultiGraph()
    kinds = [(names[v], "host" if v < network.n_nodes else "switch") for v in range(n)]
    for name, kind in rng.sample(kinds, n):
        graph.add_node(name, kind=kind)
    for a, b, count, rate in rng.sample(kept, len(kept)):
        ends = rng.sample((names[a], names[b]), 2)
        graph.add_edge(*ends, cables=count, **({"bandwidth": f"{rate} B/s"} if rates else {}))
    return graph


def as_edges(graph):
    lines = [f"{v} {{'kind': '{kind}'}}" for v, kind in graph.nodes(data="kind")]
    return "\n".join([*lines, *(f"{a} {b} {data}" for a, b, data in graph.edges(data=True))])


def as_dot(graph):
    lines = [f"{v} [kind={kind}];" for v, kind in graph.nodes(data="kind")]
    lines += [f"{a} -- {b} [{','.join(f'{k}={chr(34)}{x}{chr(34)}' for k, x in data.items())}];"
              for a, b, data in graph.edges(data=True)]
    return "\n".join(["graph g {", *lines, "}"])


def as_fabric(graph):
    """As ibnetdiscover writes it: a card for each host, a line for each cable at both ends."""
    ports, lines = Counter(), defaultdict(list)
    for a, b, data in graph.edges(data=True):
        for _ in range(data["cables"]):
            ports.update((a, b))
            for here, there in ((a, b), (b, a)):
                lines[here].append(f'[{ports[here]}] "{there}"[{ports[there]}] # "x" 4xHDR')
    words = {"host": "Ca", "switch": "Switch"}
    return "\n".join(line for v, kind in graph.nodes(data="kind")
                     for line in (f'{words[kind]} 40 "{v}" # "{v}"', *lines[v], ""))


FORMATS = {"edge-list": as_edges, "graphml": lambda graph: "\n".join(nx.generate_graphml(graph)), "dot": as_dot,
           "ibnetdiscover": as_fabric}


def read(graph, form="edge-list", plain=False, bandwidth=None):
    return parse_graph(Document(FORMATS[form](graph).encode(), "net"), form, bandwidth, plain=plain)


def loads_of_cables(network, exchange, nodes, rule):
    """Return the bytes from vertex to vertex, by name."""
    found, arcs = Counter(), network.arcs()
    values = routing(rule, network).loads(network, exchange, nodes).bytes().reshape(-1)[arcs.index]
    for a, b, load in zip(arcs.source.tolist(), arcs.target.tolist(), values.tolist()):
        names = [network.node_name(v) if v < network.n_nodes else network.vertices[v] for v in (a, b)]
        found[tuple(names)] += load
    return found


def check_loads(found, plain, seed):
    """Check that every cable has the load that it has in the plain graph, for random placements."""
    assert found.vertices[:found.n_nodes] == plain.vertices[:plain.n_nodes] and set(found.vertices) == set(plain.vertices)
    assert routings_of(found)[:3] == routings_of(plain)
    n = found.n_nodes
    grid, rng = ProcessGrid(n // 2, 2) if n > 3 else ProcessGrid(n, 1), np.random.default_rng(seed)
    nodes = rng.permutation(n)[:grid.n_tasks]
    for rule in ("shortest-path", "each-hop"):
        for exchange in exchanges(grid, None):
            ours, theirs = (loads_of_cables(net, exchange, nodes, rule) for net in (found, plain))
            assert ours.keys() == theirs.keys()
            assert all(ours[ends] == pytest.approx(theirs[ends], abs=1e-9) for ends in theirs)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("text", NETWORKS)
def test_a_network_is_found_in_its_cables_whatever_their_names_and_order(text, form):
    named = network_named(text)
    if form == "ibnetdiscover" and not named.levels:
        return  # cards have no cables to cards
    for seed in range(2):
        graph = relabelled(named, seed)
        found = read(graph, form)
        assert found.recognised and found.notes[-1] == f"recognised: {NETWORKS[text]}"
        check_loads(found, read(graph, form, plain=True), seed)
        if found.levels:  # a search on the named network is one on the file
            ours, theirs = ([net.source, net.target, *(level.unit for level in net.levels)]
                            for net in (found.in_order, named))
            assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text", NETWORKS)
def test_a_recognised_network_has_the_bounds_of_the_named(text):
    named = network_named(text)
    found = read(relabelled(named, 3))
    n = named.n_nodes
    for grid in (ProcessGrid(2, n // 2),) if n % 2 == 0 else (ProcessGrid(n, 1),):
        assert lower_bound(Site(found), grid).value == lower_bound(Site(named), grid).value


COSTS = [("fat-tree:leaves=8,hosts=16,taper=2", (8, 16), "shortest-path"),
         ("fat-tree:leaves=9,hosts=8,taper=2", (8, 9), "shortest-path"),
         ("fat-tree:leaves=9,hosts=8,taper=2", (8, 9), "static"),
         ("fat-tree:leaves=8,hosts=4,up=2,pods=4,core=2", (4, 8), "static"), ("hyperx:4x4,hosts=4", (8, 8), "shortest-path"),
         ("dragonfly-plus:leaves=2,spines=2,hosts=2,groups=4", (4, 4), "minimal"),
         ("dragonfly:a=4,p=2,h=2", (8, 9), "minimal"), ("4x5", (4, 5), "dimension-order"),
         ("4x8x2", (8, 8), "dimension-order"), ("6x4:mesh", (4, 6), "dimension-order"),
         ("4x8:twisted", (4, 8), "shortest-path"), ("dragonfly:a=4,p=2,h=2", (8, 9), "shortest-path"),
         ("fat-tree:leaves=8,hosts=4,up=2,pods=4,core=2", (4, 8), "shortest-path"), ("4x4x6", (8, 12), "optimal-minimal"),
         ("hypercube:5", (4, 8), "optimal-minimal"), ("6x4:mesh", (4, 6), "optimal-minimal"),
         ("8x2x3", (6, 8), "optimal-minimal"), ("4x4x4", (8, 8), "optimal-minimal"),
         ("2x4x4:twisted", (4, 8), "optimal-minimal")]


def cost_of_best(network, shape, rule, **options):
    grid = ProcessGrid(*shape)
    best = candidates(Site(network), grid, rules=(rule,), **options)[-1]
    best = best if hasattr(best, "ends") else best.mapping()
    loads = routed_joint(network, exchanges(grid, None), best.ends, routing(rule, network))
    return float(in_sequence(2).of_loads(loads))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text, shape, rule", COSTS)
def test_the_best_placement_costs_as_much_as_that_of_the_named_network(text, shape, rule):
    named = network_named(text)
    wanted = cost_of_best(named, shape, rule)
    for seed, form in ((0, "edge-list"), (1, "graphml")):
        graph = relabelled(named, seed)
        found = cost_of_best(read(graph, form), shape, rule)
        assert found == pytest.approx(wanted, rel=0.005)


def test_a_torus_with_holes_is_searched_under_the_routing_asked_for():
    torus = parse_torus("4x6")
    site, grid = Site(torus, allocation=Allocation(torus).without([3, 10, 17, 20])), ProcessGrid(4, 5)
    rule = "optimal-minimal"
    usual, ours = (candidates(site, grid, within=Search(20_000), rules=rules)[-1] for rules in ((), (rule,)))
    costs = [in_sequence(2).of_loads(routed_joint(torus, exchanges(grid), placed.ends, routing(rule, torus)))
             for placed in (usual, ours)]
    assert costs[1] < costs[0]


@pytest.mark.parametrize("text, other", [("6x4:mesh", "4x6:mesh"), ("4x4", "hypercube:4"), ("4x2x2:mesh", "2x2x4:mesh")])
def test_a_torus_is_searched_alike_in_every_spelling(text, other):
    shape, within = (4, 4 + 2 * (text[0] == "6")), Search(20_000)
    ours, theirs = (cost_of_best(network_named(some), shape, "optimal-minimal", within=within) for some in (text, other))
    assert ours == pytest.approx(theirs)


def test_a_search_follows_the_routes_of_the_routing_asked_for():
    assert cost_of_best(network_named("dragonfly:a=4,p=2,h=2"), (8, 9), "shortest-path") < 8.5  # by minimal routes 8.83


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text", NETWORKS)
def test_with_a_cable_less_the_loads_stay_those_of_the_graph(text):
    """It stays a graph, or it is another kind with exactly these cables."""
    named, rng = network_named(text), random.Random(7)
    inside = [i for i, (a, b, *_) in enumerate(cables(named)) if a >= named.n_nodes or not named.levels]
    for _ in range(3):
        graph = relabelled(named, 4, without=[rng.choice(inside)])
        if not nx.is_connected(graph):
            continue
        found, plain = read(graph), read(graph, plain=True)
        check_loads(found, plain, 4)
        assert not found.recognised or found.notes[-1] != f"recognised: {NETWORKS[text]}"


@pytest.mark.parametrize("text, words", [("fat-tree:leaves=4,hosts=4,taper=2", "fat tree, 4 leaves of 3 to 4"),
                                         ("hyperx:3x4,hosts=2", "HyperX 3x4, 1 to 2 hosts on each switch"),
                                         ("dragonfly:a=4,p=2,groups=3,cables=2", "dragonfly, 3 groups of 4 switches"),
                                         ("4x5", "")])
def test_with_a_host_less_a_kind_has_a_hole(text, words):
    graph = relabelled(network_named(text), 6)
    graph.remove_node(next(v for v, kind in graph.nodes(data="kind") if kind == "host"))
    found = read(graph)
    assert (words in found.notes[-1]) if words else type(found) is GraphNetwork
    check_loads(found, read(graph, plain=True), 6)


def test_uneven_trees_have_the_loads_of_their_graphs():
    """Leaves with different numbers of hosts and cables, pods with different numbers of leaves."""
    rng, kinds = np.random.default_rng(5), set()
    for _ in range(25):
        spines, pods = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        pod_of_leaf = np.sort(np.concatenate([np.arange(pods), rng.integers(pods, size=4)]))
        leaves, of_core = len(pod_of_leaf), int(rng.integers(1, 3))
        above, up = [np.arange(leaves)], [spines * rng.integers(1, 4, size=leaves)]
        switches = [1, spines]
        if pods > 1:
            above, up, switches = [*above, pod_of_leaf], [*up, spines * of_core * rng.integers(1, 3, size=pods)], \
                [1, spines, spines * of_core]
        home = np.sort(np.concatenate([np.arange(leaves), rng.integers(leaves, size=5)]))
        try:
            tree = fat_tree("tree", Hosts(tuple(f"h{i}" for i in range(len(home))), 1, "even", home), above, up, switches)
        except NetworkError:
            continue
        graph = relabelled(tree, int(rng.integers(100)))
        found = read(graph)
        kinds.add(type(found))
        check_loads(found, read(graph, plain=True), 2)
    assert FatTree in kinds


@pytest.mark.parametrize("ports", [[(0, 2), (1, 1)], [(0, 1)]])
def test_a_tree_whose_shortest_paths_are_not_even_stays_a_graph(ports):
    """A leaf with three cables to two spines, or with cables to one of them alone."""
    graph = nx.Graph()
    for leaf in range(2):
        graph.add_edges_from((f"h{leaf}{i}", f"l{leaf}") for i in range(3))
    graph.add_edges_from([("l0", f"s{s}", {"cables": n}) for s, n in ports] + [("l1", "s0"), ("l1", "s1")])
    nx.set_node_attributes(graph, {v: "host" if v.startswith("h") else "switch" for v in graph}, "kind")
    network = from_networkx(graph, "net")
    found = recognised(network)
    assert found is None or found.vertices != network.vertices


@pytest.mark.parametrize("text, rates", [("fat-tree:leaves=4,hosts=3,up=3", "host=1 GB/s,up=4 GB/s"),
                                         ("hyperx:3x4,hosts=2", "host=1 GB/s,x=2 GB/s,y=3 GB/s"),
                                         ("dragonfly:a=2,p=2,h=1", "host=1 GB/s,local=2 GB/s,global=3 GB/s"),
                                         ("4x5", "x=1 GB/s,y=2 GB/s"), ("3x4x6", "x=1 GB/s,y=2 GB/s,z=3 GB/s")])
def test_each_class_has_the_rate_of_its_cables(text, rates):
    named = network_named(text, bandwidth=rates)
    graph = relabelled(named, 8, rates=True)
    found = read(graph)
    own = getattr(found, "torus", found)
    assert found.recognised and sorted(own.bandwidth) == sorted(named.bandwidth)
    check_loads(found, read(graph, plain=True), 8)
    data = next(iter(graph.edges(data=True)))[2]
    data["bandwidth"] = "7 GB/s"  # a cable of another rate
    assert type(read(graph)) is GraphNetwork


@pytest.mark.parametrize("edges, note", [
    ([("a", "s"), ("b", "s")], ""),                                                 # a single switch
    ([("a", "s"), ("b", "t"), ("s", "t")], "HyperX 2"),                             # two switches
    ([("a", "b")], "torus 2"), ([("a", "b"), ("b", "c"), ("a", "c")], "torus 3"),
    ([(a, b) for a in "abcd" for b in "abcd" if a < b], ""),                        # a complete graph of hosts
    ([("a", "s"), ("b", "t"), ("s", "t"), ("s", "r"), ("t", "r"), ("c", "r")], "HyperX 3"),
    ([("a", "s"), ("a", "t"), ("b", "t"), ("b", "r"), ("s", "t"), ("t", "r"), ("s", "r")], ""),  # rails that differ
    ([("a", "s"), ("b", "s"), ("a", "b")], ""),                                     # a cable between hosts
    ([("a", "s"), ("b", "t"), ("s", "u"), ("t", "u")], "fat tree, 2 leaves of 1"),
])
def test_a_small_network_is_the_first_kind_that_it_is(edges, note):
    graph = nx.Graph(edges)
    nx.set_node_attributes(graph, {v: "switch" if v in "rstu" else "host" for v in graph}, "kind")
    network = from_networkx(graph, "net")
    found = recognised(network)
    assert (found is None and not note) or (note and found.notes[-1].startswith(f"recognised: {note}"))
    check_loads(found or network, network, 1)


@pytest.mark.parametrize("text", ["fat-tree:leaves=64,hosts=32,up=32", "hyperx:8x8,hosts=30", "dragonfly:a=8,p=4,h=4",
                                  "16x16x8", "4096", "50x50:mesh"])
def test_recognition_takes_time_of_the_cables(text):
    graph = from_networkx(relabelled(network_named(text), 1), "net")
    begin = time.process_time()
    assert recognised(graph) is not None
    assert time.process_time() - begin < 3e-5 * len(graph.source) + 1


TEXTS = [("4x4x4", 1, "8x8", "ring:x=r4,y=1.0/2.3,z=c4"), ("8x8", 2, "4x32", "ring:x=0.2.7.6/1.3.5.4,y=c8,t=c2"),
         ("6x4", 2, "12x4", "ring:x=1.0.5/2.3.4,y=0.1/3.2,t=r2"), ("5x9", 1, "15x3", "ring:x=r5,y=0.1.2/6.5.4/8.7.3"),
         ("4x4", 4, "8x8", "ring:x=0.1/3.2,y=0.1/3.2,t=r2c2"),
         ("7x7", 1, "7x7", "lattice:c=1.2.0/0.7.0/0.0.1,tile=41.46.40.48.4.47.5"),
         ("7x7", 1, "7x7", "lattice:c=1.2.0/0.7.0/0.0.1,tile=35.47.41.42.5.48.6"),  # begins at no move of the origin
         ("5x5", 2, "5x10", "lattice:r=1.2.0/0.5.0/0.0.2,tile=8.9.7.13.3.47.48.29.27.28"),
         ("4x4x4", 2, "8x16", "lattice:c=1.1.1.0/0.2.0.0/0.0.2.0/0.0.0.2,tile=61.9.57.13.74.126.78.122")]


@pytest.mark.parametrize("torus, tasks, grid, text", TEXTS, ids=[text[:22] for *_, text in TEXTS])
def test_a_placement_is_named_by_its_text_and_no_longer_when_two_ranks_change_places(torus, tasks, grid, text):
    site, grid = Site(parse_torus(torus), tasks), parse_grid(grid)
    made = as_mapping(place(text, site, grid), text)
    unnamed = Mapping(made.network, grid, tasks, made.node_of_rank, made.slot_of_rank, "file")
    assert text in (named(unnamed) or "").split()
    swap = np.arange(grid.n_tasks)
    swap[[0, -1]] = swap[[-1, 0]]
    assert named(Mapping(made.network, grid, tasks, made.node_of_rank[swap], made.slot_of_rank[swap], "file")) is None


def test_only_whole_tori_with_rows_and_columns_are_looked_at():
    ring, ranks = parse_torus("4x4"), np.arange(16)
    graph = from_networkx(nx.cycle_graph(16), "ring")
    for network, grid in ((graph, "4x4"), (ring, "16x1"), (ring, "1x16"), (parse_torus("8x4"), "4x4")):
        assert named(Mapping(network, parse_grid(grid), 1, ranks, np.zeros(16, dtype=int), "file")) is None


def cluster():
    """Return two hosts on each of two switches, with two cables of QDR between the switches."""
    graph = nx.MultiGraph()
    for host, switch in (("n1", "s1"), ("n2", "s1"), ("n3", "s2"), ("n4", "s2")):
        graph.add_edge(host, switch, bandwidth="4 GB/s")
    graph.add_edge("s1", "s2", bandwidth="4 GB/s")
    graph.add_edge("s1", "s2", bandwidth="4 GB/s")
    nx.set_node_attributes(graph, {v: "switch" if v[0] == "s" else "host" for v in graph}, "kind")
    return graph


IDS = {"n1": "0002:c903:0000:0001", "n2": "0002:c903:0000:0002", "n3": "0002:c903:0000:0003", "n4": "0002:c903:0000:0004",
       "s1": "0008:f105:0000:0001", "s2": "0008:f105:0000:0002"}


def wires():
    """Return the two ends of every cable, each cable once."""
    return [(a, b) for a, b, _ in cluster().edges]


def as_graphml(tmp_path):
    nx.write_graphml(cluster(), tmp_path / "g.graphml")
    return (tmp_path / "g.graphml").read_bytes()


def as_edge_list(tmp_path):
    nx.write_edgelist(cluster(), tmp_path / "g.edges")
    return (tmp_path / "g.edges").read_bytes() + b"s1 {'kind': 'switch'}\ns2 {'kind': 'switch'} # as is s1\n"


def as_plain_edges(tmp_path):
    lines = [f"{a} {b} 32 Gbit/s" for a, b in wires() if {a, b} != {"s1", "s2"}]
    lines += ["s1 {'kind': 'switch'}", "s2 {'kind': 'switch'}", "s1  s2  {'bandwidth': '4 GB/s', 'cables': 2}"]
    return "\n".join(lines).encode()


def as_netloc_graphml(tmp_path):
    """Write the graph as netloc 0.5 does: the head says undirected, but each link is listed once from each end."""
    keys = "".join(f'<key id="{k}" for="{kind}" attr.name="{k}" attr.type="string"/>' for kind, names in (
        ("node", ("type", "physical_id", "description")), ("edge", ("source_port", "speed", "width"))) for k in names)
    nodes = "".join(f'<node id="{i}"><data key="type">{"Switch" if n[0] == "s" else "Host"}</data>'
                    f'<data key="physical_id">{i}</data><data key="description">\'{n} HCA-1\'</data></node>' for n,
                    i in IDS.items())
    edges = "".join(f'<edge source="{IDS[a]}" target="{IDS[b]}"><data key="source_port">{k}</data>'
                    f'<data key="speed">QDR</data><data key="width">4x</data></edge>' for k, ends in enumerate(wires())
                    for a, b in (ends, ends[::-1]))
    return (f'<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
            f'<graph id="G" edgedefault="undirected">{nodes}{edges}</graph></graphml>').encode()


def as_ndat(tmp_path):
    nodes = {i: {"phy_id": i, "node_type": 1 if n[0] == "s" else 2, "desc": f"'{n} HCA-1'"} for n, i in IDS.items()}
    edges = {str(2 * k + i): {"src_node_id": IDS[ends[0]], "dest_node_id": IDS[ends[1]], "speed": "QDR", "width": "4x"}
             for k, cable in enumerate(wires()) for i, ends in enumerate((cable, cable[::-1]))}
    return json.dumps({"network_info": {"network_type": 2}, "node_info": nodes, "edge_info": edges}).encode()


def as_netloc_text(tmp_path, head="1\nfe80:0000:0000:0000\n\n"):
    nodes = [f"{i},{k},{1 if n[0] == 's' else 0},0:1,'{n} HCA-1',{n if n[0] == 'n' else ''}"
             for k, (n, i) in enumerate(IDS.items())]
    lines = []
    for name, identity in IDS.items():
        line = identity
        for other in IDS:
            n = sum({a, b} == {name, other} for a, b in wires())
            if n:
                links = ",".join(f"7,1,2,4x,QDR,8.0,'{name} - {other}',8,0:1" for _ in range(n))
                line += f",{IDS[other]},{8.0 * n},0:1,{n},{links}"
        lines.append(line)
    return (head + "\n".join([str(len(IDS)), *nodes, *lines, "part", f"{IDS['n1']},{IDS['n3']},7,8"]) + "\n").encode()


WRITERS = {"graphml": as_graphml, "edge-list": as_edge_list, "plain edge-list": as_plain_edges,
           "netloc-graphml": as_netloc_graphml, "netloc-ndat": as_ndat, "netloc": as_netloc_text,
           "early netloc": lambda tmp_path: as_netloc_text(tmp_path, "")}


def links_of(network):
    """Return the strength of every link: dict from names to cables."""
    names = {identity: name for name, identity in IDS.items()}  # netloc has no names of switches
    short = [names.get(v, v) for v in network.vertices]
    found = Counter[tuple[str, str]]()
    for a, b, c in zip(network.source, network.target, network.cables):  # some kinds have a link for each cable
        found[short[a], short[b]] += c
    return found


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("named", [False, True])
def test_every_format_gives_the_same_network(writer, named, tmp_path):
    (tmp_path / "net").write_bytes(WRITERS[writer](tmp_path))
    network = read_graph(str(tmp_path / "net"), writer.split()[-1] if named else None)
    expected = {ends: Fraction(1 + (set(ends) == {"s1", "s2"})) for cable in wires() for ends in (cable, cable[::-1])}
    assert links_of(network) == expected
    assert set(network.bandwidth) == {4e9} and set(network.vertices[:network.n_nodes]) == {"n1", "n2", "n3", "n4"}


HWLOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine">{packages}</object></topology>"""
PACKAGES = "".join(f"""<object type="Package"><object type="NUMANode" cpuset="{3 << 2 * k:#x}"/><object type="L3Cache">
<object type="Core" cpuset="{1 << 2 * k:#x}"><object type="PU"/></object><object type="Core" cpuset="{2 << 2 * k:#x}">
<object type="PU"/></object></object></object>""" for k in range(2))


@pytest.mark.parametrize("form, hosts, switches, links", [
    (None, ["core-0", "core-1", "core-2", "core-3"], ["machine-0", "l3cache-0", "l3cache-1"], 12),
    ("hwloc-numa", ["numanode-0", "numanode-1"], ["machine-0"], 4),
    ("hwloc-package", ["package-0", "package-1"], ["machine-0"], 4)])
def test_a_node_is_a_tree_whose_forks_are_switches(form, hosts, switches, links):
    network = parse_graph(Document(HWLOC.format(packages=PACKAGES).encode(), "node.xml"), form, 1e9, plain=True)
    assert list(network.vertices[:network.n_nodes]) == hosts
    assert sorted(network.vertices[network.n_nodes:]) == sorted(switches) and network.link_shape == (1, links)


BROKEN = {
    "empty": (b"", None, "is empty"),
    "an unknown format": (b"a b\n", "visio", "known are netloc-graphml"),
    "nothing known": (b"<xml/>\n", None, "not a recognised graph"),
    "a line of one name": (b"a b\nc\n", "edge-list", "line 2"),
    "a dict that is none": (b"a b {'bandwidth': }\n", "edge-list", "line 1"),
    "a call in a dict": (b"a b {'bandwidth': print(1)}\n", "edge-list", "line 1"),
    "an unknown attribute": (b"a b {'speed': 1}\n", "edge-list", "'speed' is not one of the attributes"),
    "a bandwidth in an unknown unit": (b"a b 12 Gx\n", "edge-list", "'12 Gx' is not a quantity"),
    "broken GraphML": (b"<graphml><graph>", None, "is not GraphML"),
    "GraphML without a graph": (b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"/>', None, "is not GraphML"),
    **{f"GraphML with {what}": (f'<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>{more}</graph>'
                                "</graphml>".encode(), None, words) for what, more, words in (
        ("an end without a vertex", '<edge source="a" target="bb"/>', "edge 'a' - 'bb': no <node> has the id 'bb'"),
        ("a vertex twice", '<edge source="a" target="b"/><node id="a"/>', "vertex 'a' is given twice"),
        ("a cable of three ends", '<hyperedge/>', "has a <hyperedge>, which joins any number of vertices; write a"),
        ("another graph", '<edge source="a" target="b"/></graph><graph><node id="c"/>', "it has 2 graphs; leave one"),
        ("a graph in a vertex", '<edge source="a" target="b"/><node id="c"><graph/></node>', "it has 2 graphs; leave one"),
        ("a directed edge", '<edge source="a" target="b" directed="true"/>', "differs from edgedefault; leave directed="))},
    "broken hwloc": (b"<topology><object></topology>", None, "is not XML"),
    "hwloc without cores": (b"<topology><object type='Machine'/></topology>", None, "no object of type Core"),
    "broken ndat": (b'{"node_info": {"a": {}}, "edge_info": {}}', None, "is not netloc data: KeyError"),
    "ndat of another kind": (b'{"node_info": {"a": {"phy_id": "a", "node_type": 7}}, "edge_info": {}}', None,
                             "is not netloc data"),
    "netloc cut short": (b"1\nfe80\n\n3\na,1,0,,x,x\n", "netloc", "ends after 5 lines"),
    "a netloc node without fields": (b"1\nfe80\n\n1\na,1\na\n", "netloc", "line 5: a node has the fields"),
    "netloc links cut short": (b"1\nfe80\n\n2\na,1,0,,x,x\nb,1,0,,y,y\na,b,2.0,,3,1,2\nb\n", "netloc", "line 7 field 2"),
    "the second neighbour's links cut short": (b"1\nfe80\n\n3\na,1,0,,x,x\nb,1,0,,y,y\nc,1,0,,z,z\n"
                                               b"a,b,2.0,,1,1,2,3,4x,QDR,2,d,9,0,c,2.0,,1,1,2,3,4x,QDR\nb\nc\n", "netloc",
                                               "line 8 field 15: a neighbour has the fields"),
    "netloc without its last line": (b"1\nfe80\n\n2\na,1,0,,x,x\nb,1,0,,y,y\na\n", "netloc",
                                     "ends after 7 lines; 2 nodes need 8"),
    "a netloc link to nowhere": (b"1\nfe80\n\n1\na,1,0,,x,x\na,b,2.0,,1,1,2,3,4x,QDR,2,d,9,\n", "netloc", "ends at 'b'"),
    "a netloc link to a long name": (b"1\nfe80\n\n1\na,1,0,,x,x\na," + b"b" * 50 + b",2.0,,1,1,2,3,4x,QDR,2,d,9,\n",
                                     "netloc", f"ends at '{'b' * 40}', not one of the 1 nodes"),
    "no number of nodes": (b"one\ntwo\n", "netloc", "line 1 or line 4"),
    "a network in two parts": (b"a b\nc d\n", None, "2 parts that no cable joins: a, b (2 hosts); c, d"),
    "parts in the order of the file": (b"e f\nf g\ng h\nc d\nb d\n", None, "the cables between them, e.g. from e to c"),
    "CSV without a head": (b"a,b,12.5 GB/s\nb,a,12.5 GB/s\n", None,
                           "looks like a CSV table, which is not read as a graph"),
    "semicolons": (b"a;b\n", None, "line 1: 'a;b' looks like a line of a CSV table"),
    "a bandwidth without unit in a dict": (b"a b {'bandwidth': 100}\n", None, "line 1: bandwidth 100 has no unit"),
    "a bandwidth without unit as text": (b"a b {'bandwidth': '100'}\n", None, "'100' is not a quantity in byte/s"),
    "leaves on an unmarked vertex": (b"leaf1 h1\nleaf1 h2\nleaf2 h3\nleaf2 h4\nleaf1 spine\nleaf2 spine\n", None,
                                     "'leaf1' carries the leaf 'h1' and 2 other neighbours; give 'leaf1' the kind switch"),
    "hosts on a chain of unmarked switches": (b"h1 s1\ns1 s2\ns2 h2\n", None, "does not say which vertices are switches"),
}


@pytest.mark.parametrize("attributes, words", [
    ({"bandwidth": 1e10}, "bandwidth 10000000000.0 has no unit"),
    ({"bandwidth": "100"}, "'100' is not a quantity in byte/s"), ({"bandwidth": True}, "bandwidth True has no unit"),
    ({"latency": 1.5}, "'latency', which is not one of the attributes bandwidth, cables, weight"),
    ({"cables": 1.5}, "1.5 cables; a whole number"), ({"cables": "two"}, "'two' cables; a whole number")])
def test_graphml_whose_numbers_would_be_guesses_is_refused(attributes, words, tmp_path):
    graph = nx.Graph()
    graph.add_edge("a", "b", **attributes)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(GraphError) as error:
        read_graph(tmp_path / "g.graphml")
    assert words in str(error.value) and "'a' - 'b'" in str(error.value)


def test_defaults_of_graphml_hold_for_all_elements():
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
        <key id="k" for="all" attr.name="kind" attr.type="string"><default>switch</default></key>
        <key id="b" attr.name="bandwidth" attr.type="string"><default>2 GB/s</default></key>
        <key id="c" for="all" attr.name="cables" attr.type="int"><default>3</default></key>
        <graph edgedefault="undirected">
        <node id="a"><data key="k">host</data></node><node id="s"/><node id="c"><data key="k">host</data></node>
        <edge source="a" target="s"/><edge source="c" target="s"><data key="b">1 GB/s</data></edge></graph></graphml>"""
    network = parse_graph(Document(text.encode(), "net"))
    assert network.vertices == ("a", "c", "s") and network.n_nodes == 2 and max(network.bandwidth) == 2e9
    assert {str(network.link_number(i)): float(c) for i, c in enumerate(network.cables)} == {
        "a->s": 3, "s->a": 3, "c->s": 1.5, "s->c": 1.5}


def test_edge_lists_lose_the_quotes_of_a_shell():
    text = b"""'a' "s 1" 2 GB/s\n"b c" 's 1' "2 GB/s"\n"s 1" {'kind': "switch"}\n"""
    network = parse_graph(Document(text, "net"))
    assert network.vertices == ("a", "b c", "s 1") and network.n_nodes == 2
    for broken in (b"'a b\n", b"'' b\n", b"'a' b '1 GB/s' {'cables': 2}\n", b"'a b'\n", b"o'hara b\n"):
        with pytest.raises(GraphError, match="is not an edge"):
            parse_graph(Document(b"x y\n" + broken, "net"))


def test_a_list_of_edges_from_both_ends_has_each_cable_once():
    texts = b"a b\nb a\nb c\nc b\nc a\na c\n", b"a b\nb c\nc a\n"
    both, one = (parse_graph(Document(text, "net"), plain=True) for text in texts)
    assert set(both.cables) == set(one.cables) == {1} and both.source.size == one.source.size == 6
    assert both.notes == ("net lists each edge from both ends; both lines are one cable",) and one.notes == ()
    assert 2 in set(parse_graph(Document(b"a b\nb a\nb c\nc a\n", "net")).cables), "else lines are parallel cables"


def drawn(edges, default="directed"):
    """Return GraphML of unnamed switches, like the files of a drawing editor."""
    vertices = "".join(f'<node id="{v}"/>' for v in sorted({v for edge in edges for v in edge}))
    lines = "".join(f'<edge source="{a}" target="{b}"/>' for a, b in edges)
    return Document(f'<graphml><graph edgedefault="{default}">{vertices}{lines}</graph></graphml>'.encode(), "given")


def test_edges_without_any_edge_back_are_refused_unless_they_close_rings():
    path = [("a", "b"), ("b", "c")]
    with pytest.raises(GraphError, match='has no edge back; if each edge is a cable .* write edgedefault="undirected"'):
        parse_graph(drawn(path))
    with pytest.raises(GraphError, match="edge 'b' -> 'c' has no edge back"):
        parse_graph(drawn([("a", "b"), ("b", "a"), ("b", "c")]))
    with pytest.raises(GraphError, match="edge 'a' -> 'b' has no edge back; .* write graph and -- in place of digraph"):
        parse_graph(Document(b"digraph { a -> b }", "given"))
    assert parse_graph(drawn([*path, ("c", "a")])).source.size == 3
    assert parse_graph(drawn([*path, ("c", "a")], "undirected")).source.size == 6


@pytest.mark.parametrize("text", [
    """<graphml><key id="t" for="node" attr.name="type" attr.type="string"/><graph edgedefault="undirected">
    <node id="a"><data key="t">compute</data></node><node id="b"><data key="t">compute</data></node><node
    id="s"><data key="t">router</data></node><edge source="a" target="s"/><edge source="b" target="s"/></graph></graphml>""",
    "graph { a [type=compute]; b [type=compute]; s [type=router]; t [type=router]; {a b} -- {s t} }",
    'graph { a [kind=compute]; b [kind=compute]; s [kind=router]; a -- s -- b }'])
def test_types_that_are_not_read_are_named_with_the_words_to_write(text):
    with pytest.raises(GraphError, match="compute.*kind=host or kind=switch|kind=host or kind=switch.*compute, router"):
        parse_graph(Document(text.encode(), "given"))


NODE = """<topology version="2.0"><object type="Machine" cpuset="0x0000000f" allowed_cpuset="0x0000000b">{far} <object
type="Package" cpuset="0x0000000f"><object type="Group" cpuset="0x00000003"><object type="NUMANode"
cpuset="0x00000003"/><object type="NUMANode" subtype="HBM" cpuset="0x00000003"/><object type="Core"
cpuset="0x00000001"/><object type="Core" cpuset="0x00000002"/></object><object type="Group"
cpuset="0x0000000c"><object type="NUMANode" cpuset="0x0000000c"/><object type="NUMANode" subtype="HBM"
cpuset="0x0000000c"/><object type="Core" cpuset="0x00000004"/><object type="Core"
cpuset="0x00000008"/></object></object></object></topology>"""


def test_tasks_of_a_node_sit_where_the_job_may_use_cores():
    """Core 2 is not allowed; high-bandwidth memory and memory behind CXL have no cores of their own."""
    document = Document(NODE.format(far='<object type="NUMANode" subtype="CXL" cpuset="0x0"/>').encode(), "given")
    assert parse_graph(document, "hwloc").n_nodes == 3
    assert parse_graph(document, "hwloc-numa").n_nodes == 2


CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "graph"
FABRIC = (CORPUS / "ibnetdiscover").read_text()
TUX = tuple(f"tux{i}" for i in range(12))


def network(name, bandwidth=None, **options):
    return parse_graph(Document((CORPUS / name).read_bytes(), name), None, bandwidth, options)


SAMPLES = {  # file: format that recognises it
    "slurm": "slurm", "slurm-blocks": "slurm", "slurm-shown": "slurm", "slurm-shown-blocks": "slurm", "slurm-yaml": "slurm",
    "slurm-addresses": "slurm-addresses", "topograph": "topograph", "topograph-slurm": "slurm",
    "ibnetdiscover": "ibnetdiscover", "scotch": "scotch", "scotch-tree": "scotch", "metis": "metis", "dot": "dot",
    "simgrid": "simgrid", "simgrid-zones": "simgrid", "simgrid-tree": "simgrid", "simgrid-torus": "simgrid",
    "graphml": "graphml", "hwloc": "hwloc", "netloc": "netloc", "ndat": "netloc-ndat", "netlocml": "netloc-graphml",
    "edges": "edge-list"}


@pytest.mark.parametrize("name, text", [*((name, None) for name in SAMPLES), *(("edges", text) for text in (
    b"1 2\n2 1\n", b"0 1 3.0\n", b"a b # c\n", b"topology b\n", b"2\t1\n"))])
def test_a_file_is_recognised_by_its_content(name, text):
    document = Document(text or (CORPUS / name).read_bytes(), name)
    first = next(form for form, row in GRAPHS.items() if form != "edge-list" and row.looks_like(document)) \
        if name != "edges" else "edge-list"
    assert first == SAMPLES[name] and parse_graph(document, bandwidth=1e9).n_nodes > 1


@pytest.mark.parametrize("name", ["slurm", "slurm-shown", "slurm-yaml", "slurm-addresses", "topograph", "topograph-slurm"])
def test_a_file_of_leaves_and_a_spine_is_a_fat_tree(name):
    tree = network(name)
    assert isinstance(tree, FatTree) and tree.vertices[:12] == TUX
    assert tree.vertices[12:] == ("leaf0", "leaf1", "leaf2", "spine") and tree.link_classes == ("host", "up")
    assert [(level.name, level.unit[:12].tolist()) for level in tree.levels] == [("leaf", [0] * 4 + [1] * 4 + [2] * 4)]
    assert tree.cables_up[0].tolist() == [4, 4, 4] and tree.bandwidth is None


@pytest.mark.parametrize("name", ["slurm-blocks", "slurm-shown-blocks"])
def test_blocks_are_leaves_under_one_switch(name):
    tree = network(name)
    assert isinstance(tree, FatTree) and tree.vertices == (*TUX, "block1", "block2", "block3", "top")


@pytest.mark.parametrize("name", ["slurm", "slurm-blocks", "slurm-addresses", "topograph", "scotch-tree"])
@pytest.mark.parametrize("options, cables", [({}, 4), ({"taper": "2"}, 2), ({"up": "3"}, 3), ({"taper": "3"}, 2)])
def test_numbers_of_cables_that_a_file_leaves_out(name, options, cables):
    tree = network(name, **options)
    assumed = f"as many cables up as down are assumed for {name}"
    assert set(tree.cables_up[0].tolist()) == {cables} and (assumed in " ".join(tree.notes)) == (not options)


@pytest.mark.parametrize("options, leaf, pod, told", [
    ({}, 4, 8, True), ({"taper": "2"}, 2, 2, True), ({"taper": "2", "core-taper": "1"}, 2, 4, False),
    ({"up": "3"}, 3, 6, True), ({"up": "3", "core-taper": "3"}, 3, 2, False), ({"core-taper": "4"}, 4, 2, True)])
def test_levels_above_the_leaves_have_a_taper_of_their_own(options, leaf, pod, told):
    lines = [f"SwitchName=l{k} Nodes=n[{4 * k}-{4 * k + 3}]" for k in range(4)]
    lines += ["SwitchName=p0 Switches=l[0-1]", "SwitchName=p1 Switches=l[2-3]", "SwitchName=t Switches=p[0-1]"]
    tree = parse_graph(Document("\n".join(lines).encode() + b"\n", "given"), "slurm", 1e9, options)
    assert [set(cables.tolist()) for cables in tree.cables_up] == [{leaf}, {pod}] and bool(tree.notes) == told


MIXED = """SwitchName=root Switches=high,low
SwitchName=high Switches=p2
SwitchName=low Switches=a,b
SwitchName=p2 Switches=c,d
SwitchName=a Nodes=n[1-4]
SwitchName=b Nodes=n[5-8]
SwitchName=c Nodes=n[9-12]
SwitchName=d Nodes=n[13-16]
"""


def test_a_cable_past_a_level_adds_no_switch_to_any_count():
    tree = parse_graph(Document(MIXED.encode(), "net"))
    about = tree.as_dict()
    assert about["switches"] == 8 and about["levels"] == {"leaf": 4, "pod": 2, "level3": 1}
    assert about["links"] == 2 * (16 + 16 + 16 + 8), "of hosts, of leaves, of p2 and low, of high"
    assert summary(tree) == "a fat tree of 16 hosts, 8 switches, 4 leaves, 2 pods, 1 level3"
    assert "  1 level3, 8 cables upwards each (assumed)" in list(level_lines(tree))
    low, implied, root = (tree.vertices.index(name) for name in ("low", "low+1", "root"))
    parts = [i for i, ends in enumerate(zip(tree.source, tree.target)) if set(ends) in ({low, implied}, {implied, root})]
    assert {str(tree.link_number(i)) for i in parts} == {"low->root", "root->low"}
    cut = parse_graph(Document(MIXED.replace(" Nodes=n[13-16]", "").encode(), "net"))  # d is no leaf, so this is no fat tree
    assert not isinstance(cut, FatTree) and cut.as_dict()["switches"] == 8


PARTS = {
    "topology.conf": "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-6]\nSwitchName=c Nodes=n[7-8]\n"
                     "SwitchName=d Switches=b,c\n",
    "topology.yaml": "- topology: t\n  tree:\n    switches:\n    - {switch: a, nodes: 'n[1-4]'}\n"
                     "    - {switch: b, nodes: 'n[5-8]'}\n",
    "net.edges": "s {'kind': 'switch'}\n" + "".join(f"n{i} s\n" for i in range(1, 5)) + "n5 n6\nn6 n7\nn7 n8\nn8 n5\n",
    "net.dot": "graph g { s [kind=switch]; s -- {n1 n2 n3 n4}; t [kind=switch]; t -- {n5 n6 n7 n8} }",
    "addresses.txt,slurm-addresses": "".join(f"a.n{i}\n" for i in range(1, 5)) + "".join(f"b.n{i}\n" for i in range(5, 9)),
    "net.json": json.dumps({"instances": [{"id": f"n{i}", "network_layers": ["ab"[i > 4]]} for i in range(1, 9)]}),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_job_in_one_part_of_a_file_has_this_part_as_its_network(name, tmp_path):
    path = str(tmp_path / name)
    Path(path.partition(",")[0]).write_text(PARTS[name])
    for hosts, n in (("n[1-3]", 3), ("n[5,8]", 2)):
        where = setting(network=path, environ={"SLURM_JOB_NODELIST": hosts})
        assert (where.network.n_nodes, where.n_slots) == (4, n)
        assert any("2 parts that no cable joins; the network is the part of the nodes of this job" in note
                   for note in where.notes)
    (tmp_path / "list").write_text("n6\nn7\n")
    (tmp_path / "lists").write_text("n[6-7]\n")
    for nodes in (tmp_path / "list", tmp_path / "lists", "n[6-7]"):
        assert setting(network=path, nodes=nodes).network.host_names[1] == "n6"
    for environ, words in (({}, r"n1, n2, \.\.\. \(4 hosts\); n5"),
                           ({"SLURM_JOB_NODELIST": "x"}, "list the nodes of one part"),
                           ({"SLURM_JOB_NODELIST": "n[4,8]"}, "lie in 2 of them: n4 in part 1, n8 in part 2")):
        with pytest.raises(GraphError, match=words):
            setting(network=path, environ=environ)


def test_a_fabric_tells_its_cables_and_rates():
    tree = network("ibnetdiscover")
    assert isinstance(tree, FatTree)
    assert tree.vertices == ("cn01", "cn02", "cn03", "cn04", "leaf0", "leaf1", "spine0", "spine1")
    assert tree.cables_up[0].tolist() == [4, 4] and tree.switches == (1, 2) and tree.bandwidth == (12.5e9, 25e9)
    assert tree.notes == ("ibnetdiscover: 1 aggregation nodes of switches run no tasks and are left out",
                          "recognised: fat tree, 2 leaves of 2, taper 0.5")


def test_warnings_among_the_lines_of_a_fabric_are_left_out_with_a_note():
    lines = FABRIC.split("\n")
    lines[6:6] = ["ibwarn: [4711] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)"]
    lines[2:2] = ["src/query_smp.c:227; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out"]
    tree = parse_graph(Document("\n".join(lines).encode(), "net"))
    assert tree.vertices == network("ibnetdiscover").vertices
    assert any("2 warnings of ibnetdiscover, e.g. 'src/query_smp.c:227;" in note for note in tree.notes)


def test_cards_without_the_name_of_a_host_are_hosts_of_their_own_with_a_note():
    lines = [f'Ca 1 "H-{i}" # "{name}"\n[1](0) "S-1"[{i}] # lid 1 4xHDR' for i, name in enumerate(
        ["n1 mlx5_0", "n1 mlx5_1", "localhost mlx5_0", "localhost mlx5_0", "MT4129 ConnectX7 Mellanox", "n2 HCA-1"], 1)]
    fabric = parse_graph(Document("\n".join([*lines, 'Switch 40 "S-1" # "leaf"']).encode(), "net"))
    assert fabric.vertices == ("n1", "H-3", "H-4", "H-5", "n2", "leaf")
    assert any("3 cards whose description names no host, e.g. 'localhost mlx5_0', are taken for a host each" in note
               for note in fabric.notes)
    with pytest.raises(GraphError, match="has no card of a host .Ca. with a cable; run ibnetdiscover for the whole fabric"):
        parse_graph(Document(b'Ca 1 "H-1" # "n1 HCA-1"\nSwitch 40 "S-1" # "leaf"\n', "net"))


def test_a_file_for_ibsim_is_a_fabric():
    text = """Switch 8 "S1"\n[1] "H1"[1]\n[2]\t"H2" [1]\n[7] "S2"[7]\n[8] "S2"[8] w=1\n
Switch 8 "S2"\n[1] "H3"[1]\n[7] "S1"[7]\n[8] "S1"[8]\n
Hca 2 "H1"\n[1] "S1"[1]\n\nHca 2 "H2"\n[1] "S1"[2]\n\nHca 2 "H3"\n[1] "S2"[1]\n"""
    fabric = parse_graph(Document(text.encode(), "net"))
    assert fabric.vertices == ("H1", "H2", "H3", "S1", "S2") and sum(fabric.cables) == 2 * 5
    assert any("widths and speeds of ibsim, e.g. w=1, are not read" in note for note in fabric.notes)


DAMAGED = {
    "two trees": ("SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\n",
                  "2 parts that no cable joins: n0, n1, ... (4 hosts); n4, n5"),
    "two above": ("SwitchName=a Nodes=n0\nSwitchName=b Switches=a\nSwitchName=c Switches=a\nSwitchName=d Switches=b,c\n",
                  "line 3: switch a is below both b and c"),
    "no switches": ("NodeName=n[0-3] CPUs=4\n", "names no switches and no blocks"),
    "shortened": ("SwitchName=a Level=0 LinkSpeed=1 Nodes=n[0-3],n...\n", "line 1: ends in ..., for scontrol has shortened"),
    "unknown child": ("SwitchName=a Nodes=n0\nSwitchName=b Switches=a,x\n", "line 2: switch b has an invalid child x"),
    "host and switch": ("SwitchName=a Nodes=b\nSwitchName=b Nodes=n1\nSwitchName=c Switches=a,b\n",
                        "line 1: b is both a host and a switch"),
    "yaml cycle": ("- topology: t\n  tree:\n    switches: [{switch: a, children: b}, {switch: b, children: a}]\n",
                   "is below itself"),
    "yaml ring": ("- topology: t\n  ring:\n    rings: [{ring: a, nodes: 'n[0-3]'}]\n", "no topology of kind tree or block"),
    "topograph": ('{"instances": [{"id": "n1", "network_layers": ["a"]},\n {"network_layers": ["a"]}]}',
                  "is not topograph's JSON: KeyError: 'id'"),
    "topograph cut": ('{"instances": [\n{"id": "n1", "network_layers": ["a"', "line 2 is not topograph's JSON"),
    "fabric cut": (FABRIC[:900], "is no node of the file; it may be cut off"),
    "fabric line": (FABRIC.replace("[20]", "[2o]", 1), "line 14: "),
    "fabric contradicts": (FABRIC.replace('"S-b8599f0300000002"[1]', '"S-b8599f0300000002"[3]', 1),
                           "whose cable leads elsewhere"),
    "target": ("tleaf 2 4\n", "line 1: 'tleaf 2 4' is no target that is a network"),
    "other target": ("deco 0 3\n", "line 1: 'deco 0 3' is no target that is a network"),
    "large target": ("tleaf 2 60000 1 60000 1\n", "hosts is too large"),
    "dot open": ("graph g {\n a -- b;\n", "line 1: the graph that begins here has no end"),
    "dot arrow": ("graph g {\n a -> b;\n}\n", "line 2: -> in an undirected graph"),
    "dot speed": ("graph g {\n a -- b [speed=3];\n}\n", "line 2: the edge has 'speed'"),
    "dot bare": ("graph g {\n a -- b [bandwidth=3];\n}\n", "line 2: the edge: bandwidth 3.0 has no unit"),
    "dot html": ("graph g {\n a [label=<b>];\n}\n", "line 2: '<b>];' is not read in DOT"),
    "platform": ("<platform version='4.1'>\n<zone id='z'>\n</platform>\n", "line 3 column 3: is not XML"),
    "cluster": ("<platform><cluster id='c' radical='0-3' bw='1Bps' topology='DRAGONFLY' topo_parameters='1,1;1,1;1,1;1'/>"
                "</platform>", "cluster c has topology DRAGONFLY"),
    "cluster size": ("<platform><cluster id='c' radical='0-3' bw='1Bps' topology='TORUS' topo_parameters='4,4'/></platform>",
                     "cluster c has 4 hosts, and its topology 16"),
}


@pytest.mark.parametrize("options, words", [
    ({"taper": "0"}, "taper=0 is not a whole number .*up=CABLES"), ({"up": "x"}, "up=x is not a whole number"),
    ({"taper": "2", "up": "2"}, "one of both"), ({"tapir": "2"}, "is no option")])
def test_options_of_a_file_are_checked(options, words):
    with pytest.raises(GraphError, match=words):
        network("slurm", **options)
    with pytest.raises(GraphError, match="its cables are in the file"):
        network("ibnetdiscover", taper="2")


LARGE = """
import resource, sys, time
from pencilmap.scripts.command_line.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(end.code, used.ru_maxrss)
"""


@pytest.mark.thorough
def test_the_launch_order_of_80_000_tasks_on_a_dragonfly_of_a_file_needs_little_memory(tmp_path):
    """Hosts are taken together at their switch; host by host there would be a matrix of 10,000 x 10,000."""
    groups, switches, hosts = range(25), range(20), range(20)
    lines = [f"r{g}-{r} {{'kind': 'switch'}}" for g in groups for r in switches]
    lines += [f"h{g}-{r}-{h} r{g}-{r} 25 GB/s" for g in groups for r in switches for h in hosts]
    lines += [f"r{g}-{r} r{g}-{s} 25 GB/s" for g in groups for r in switches for s in range(r)]
    lines += [f"r{g}-{(4 * f + k) % 20} r{f}-{(4 * g + k) % 20} 25 GB/s" for g in groups for f in range(g) for k in range(4)]
    (tmp_path / "dragonfly.edges").write_text("\n".join(lines) + "\n")
    words = ["predict", "--network", "dragonfly.edges", "-t", "8", "-g", "250x320", "-p", "default", "--fft", "4096"]
    done = subprocess.run([sys.executable, "-c", LARGE, *words], cwd=tmp_path, capture_output=True, text=True,
                          timeout=patience(60))
    status, kilobytes = done.stdout.splitlines()[-1].split()
    assert status in ("0", "None"), done.stderr
    assert int(kilobytes) < 2 << 20 and "Grid 250x320" in done.stdout


def platform(text):
    return f'<?xml version="1.0"?>\n<platform version="4.1">{text}</platform>\n'


def simgrid(name="c", radical="0-3", bw="1GBps", **given):
    rest = " ".join(f'{key}="{value}"' for key, value in given.items())
    return f'<cluster id="{name}" prefix="{name}" suffix="" radical="{radical}" speed="1Gf" bw="{bw}" lat="1us" {rest}/>'


def link(name, rate, policy="SHARED"):
    return f'<link id="{name}" bandwidth="{rate}GBps" latency="1us" sharing_policy="{policy}"/>'


def route(src, dst, *links, gates=None, **given):
    """``links`` are names, with + or - for the direction of a link in two."""
    ways = {"+": ' direction="UP"', "-": ' direction="DOWN"'}
    over = "".join(f'<link_ctn id="{each.strip("+-")}"{ways.get(each[-1], "")}/>' for each in links)
    ends = f'src="{src}" dst="{dst}" ' + " ".join(f'{key}="{value}"' for key, value in given.items())
    gateways = gates and f'gw_src="{gates[0]}" gw_dst="{gates[1]}"'
    return f"<zoneRoute {ends} {gateways}>{over}</zoneRoute>" if gates else f"<route {ends}>{over}</route>"


def zone(content, routing="Full", name="w"):
    return f'<zone id="{name}" routing="{routing}">{content}</zone>'


def hosts(*names):
    return "".join(f'<host id="{name}" speed="1Gf"/>' for name in names)


PAIR = simgrid("a") + simgrid("b")
GATES = ("aa_router", "bb_router")
ROWS = hosts("a", "b", "c", "d") + '<router id="r"/><router id="s"/>'
PEERS = "".join(f'<peer id="p{i}" coordinates="{i} 1 1" speed="1Gf" bw_in="{i + 1}GBps" bw_out="{i + 2}GBps"/>'
                for i in range(3))
TREE, TORUS = ({"topology": topology} for topology in ("FAT_TREE", "TORUS"))
CABINETS = ('<cabinet id="q" prefix="q" suffix="" radical="0-2" speed="1Gf" bw="1GBps" lat="1us"/>'
            '<cabinet id="t" prefix="t" suffix="" radical="0" speed="1Gf" bw="500MBps" lat="1us"/>'
            '<backbone id="bb" bandwidth="2GBps" latency="1us"/>')
EXPLICIT = hosts("a", "b", "c") + "".join(link(name, 1, "SPLITDUPLEX") for name in "abc") + link("m", 1)

# each host sends 1 GB to each other host: seconds of the busiest link
TIMES = {
    "a star of 4": (simgrid(), 3),
    "a backbone carries all 12 messages": (simgrid(bb_bw="1GBps", bb_lat="1us"), 12),
    "a backbone as a pipe": (simgrid(bb_bw="1GBps", bb_lat="1us", bb_sharing_policy="FATPIPE"), 3),
    "a shared link carries 3 messages in and 3 out": (simgrid(sharing_policy="SHARED"), 6),
    "a limiter, too": (simgrid(limiter_link="1.5GBps"), 4),
    "limiter, backbone and shared links": (
        simgrid(limiter_link="4GBps", bb_bw="4GBps", bb_lat="1us", sharing_policy="SHARED"), 6),
    "numbers of a radical": (simgrid(radical="0-1,7", bw="8Gbps"), 2),
    "a tree: 8 messages leave each leaf": (simgrid(radical="0-15", **TREE, topo_parameters="2;4,4;1,1;1,1"), 48),
    "a ring of 5: one and two hops": (simgrid(radical="0-4", **TORUS, topo_parameters="5"), 3),
    "a ring of 2 with one cable": (simgrid(radical="0-1", **TORUS, topo_parameters="2", sharing_policy="SHARED"), 2),
    "two clusters: 16 messages each way over a shared link": (
        zone(PAIR + link("up", 2) + route("a", "b", "up", gates=GATES)), 16),
    "over two directions": (zone(PAIR + link("up", 2, "SPLITDUPLEX") + route("a", "b", "up+", gates=GATES)), 8),
    "over a link each way": (zone(PAIR + link("f", 1) + link("g", 4)
                                  + route("a", "b", "f", gates=GATES, symmetrical="NO")
                                  + route("b", "a", "g", gates=GATES[::-1], symmetrical="NO")), 16),
    "over a pipe": (zone(PAIR + link("f", 9, "FATPIPE") + route("a", "b", "f", gates=GATES)), 7),
    "zones through a zone": (zone(PAIR + simgrid("d", "0") + link("f", 1, "SPLITDUPLEX") + link("g", 1, "SPLITDUPLEX")
                                  + route("a", "b", "f+", gates=GATES)
                                  + route("b", "d", "g-", gates=("b0", "dd_router")), "Floyd"), 20),
    "one way fast, one way slow": (zone(hosts("a", "b") + link("f", 1) + link("g", 0.1) + route(
        "a", "b", "f", symmetrical="no") + route("b", "a", "g", symmetrical="no")), 10),
    "routers, shared links": (zone(ROWS + "".join(link(name, 1) for name in "abcdm") + "".join(
        route(name, end, name) for name, end in zip("abcd", "rrss")) + route("r", "s", "m"), "Floyd"), 8),
    "the same by Dijkstra, two directions": (zone(ROWS + "".join(link(name, 1, "SPLITDUPLEX") for name in "abcdm") + "".join(
        route(name, end, f"{name}+") for name, end in zip("abcd", "rrss")) + route("r", "s", "m-"), "DijkstraCache"), 4),
    "a link in several routes": (zone(EXPLICIT + route("a", "b", "a+", "m", "b-") + route("a", "c", "a+", "m", "c-")
                                      + route("b", "c", "b+", "m", "c-")), 6),
    "peers": (zone(PEERS, "Vivaldi"), 2),
    "cabinets on a backbone": (zone(CABINETS, "Cluster"), 6),
    "links of hosts, of which one is shared": (zone(
        hosts("a", "b") + link("a", 1, "SPLITDUPLEX") + link("b", 1) + '<host_link id="a" up="a_UP" down="a_DOWN"/>'
        '<host_link id="b" up="b" down="b"/>', "Cluster"), 2),
    "an old name of a zone, and a host as the gateway of 12 messages of 3 others": (
        f'<AS id="w" routing="Full">{PAIR}{link("up", 4)}<ASroute src="a" dst="b" gw_src="a0" gw_dst="bb_router">'
        '<link_ctn id="up"/></ASroute></AS>', 15)}


def slowest_link(network):
    """Return seconds of the busiest link if each host sends 1 GB to each other; all shortest paths are alone."""
    graph = nx.DiGraph(zip(network.source.tolist(), network.target.tolist()))
    number = {ends: i for i, ends in enumerate(zip(network.source.tolist(), network.target.tolist()))}
    sent = Counter()
    for a, b in permutations(range(network.n_nodes), 2):
        path, = nx.all_shortest_paths(graph, a, b)
        sent.update(number[ends] for ends in pairwise(path))
    classes = network.class_of_link.tolist() if network.class_of_link is not None else [0] * len(number)
    return max(count * 1e9 / float(network.cables[i] * network.bandwidth[classes[i]]) for i, count in sent.items())


@pytest.mark.parametrize("name", TIMES)
def test_links_of_a_platform_carry_what_simgrid_has_them_carry(name):
    text, seconds = TIMES[name]
    network = parsed(text)
    assert slowest_link(network) == pytest.approx(seconds)
    assert isinstance(network, FatTree) == name.startswith("a tree")


def parsed(text):
    return parse_graph(Document(platform(text).encode(), "net"))


def test_a_backbone_limits_a_transform(tmp_path):
    """Rows of 4 send 3/4 of the 268.4 MB over it, columns of 2 send half."""
    (tmp_path / "net").write_text(platform(simgrid(radical="0-7", bb_bw="1GBps", bb_lat="1us")))
    found, = setting(network=str(tmp_path / "net"), fft="256").predictions("2x4", ["default"])
    assert found.time_s == pytest.approx(0.3355, rel=1e-3)
    assert "that several routes or both directions share" in read_graph(tmp_path / "net").notes[0]


def test_what_changes_hosts_alone_is_noted():
    text = zone('<host id="a" speed="1Gf" speed_file="x"/>' + hosts("b") + link("l", 1) + route("a", "b", "l"))
    assert "changes of hosts and latencies with the time in net are passed over: speed_file" in parsed(text).notes


TWO = hosts("a", "b") + link("l", 1)
REFUSED = {
    "a slow pipe": (simgrid(bb_bw="100MBps", bb_lat="1us", bb_sharing_policy="FATPIPE"),
                    'from c0 to c1 (c_link_0_UP, c_backbone, c_link_1_DOWN) is limited by a link with sharing_policy="'),
    "a slow pipe between zones": (zone(PAIR + link("f", 0.2, "FATPIPE") + route("a", "b", "f", gates=GATES)), "FATPIPE"),
    "no link": (zone(hosts("a", "b") + link("f", 1, "FATPIPE") + route("a", "b", "f")),
                "between hosts a and b is no link whose bandwidth messages share"),
    "no route": (zone(TWO, "None"), "zone w has no route from a to b"),
    "one way": (zone(TWO + route("a", "b", "l", symmetrical="NO")), "zone w has no route from b to a"),
    "two ways": (zone(hosts(*"abcd") + "".join(link(f"l{end}", 1) for end in "abcd") + "".join(
        route(a, b, f"l{a}") for a, b in zip("abcd", "bcda")), "Floyd"),
        "two ways from a to c have the fewest links of zone w, and SimGrid takes one of them"),
    "a detour": (zone(hosts("a", "b", "c") + "".join(link(end, 1) for end in "klm") + route("a", "b", "k", "l", "m")
                      + route("a", "c", "k") + route("c", "b", "m")), "from a to b (k, l, m) is not the only shortest"),
    "a torus": (simgrid(topology="TORUS", topo_parameters="2,2"), "give 2x2 as `network`"),
    "a fat tree": (simgrid(radical="0-15", **TREE, topo_parameters="2;4,4;1,2;1,2"), "give the text fat-tree:..."),
    "a dragonfly": (simgrid(topology="DRAGONFLY", topo_parameters="1,4;2,1;2,1;1"), "give the text dragonfly:..."),
    "a bypass": (zone(TWO + route("a", "b", "l") + '<bypassRoute src="a" dst="b"/>'), "<bypassRoute> is not read; give"),
    "wifi": (zone("", "Wifi"), "zone w has the routing 'Wifi'; Full, Floyd"),
    "a wifi link": (zone(link("l", 1, "WIFI")), "hosts on WIFI have no links of their own"),
    "a profile": (zone('<link id="l" bandwidth="1Bps" latency="0" bandwidth_file="x"/>'), "with the time (bandwidth_file)"),
    "a trace": ('<trace_connect kind="BANDWIDTH" trace="t" element="l"/>' + zone(TWO), "'l' changes with the time (BANDW"),
    "an include": (zone('<include file="x"/>'), "write the elements of the other file in its place"),
    "a direction too few": (zone(TWO + link("d", 1, "SPLITDUPLEX") + route("a", "b", "d")), "'d' with direction NONE"),
    "an unknown link": (zone(TWO + route("a", "b", "x")), "names link 'x', which is not defined before it"),
    "a route twice": (zone(TWO + route("a", "b", "l") + route("b", "a", "l")), "from b to a is given twice"),
    "a wrong gateway": (zone(PAIR + link("l", 1) + route("a", "b", "l", gates=GATES[::-1])), "ends at 'a' with the gateway"),
    "an end elsewhere": (zone(PAIR + link("l", 1) + route("a0", "b0", "l")), "ends at 'a0', which is no host, router"),
    "a name twice": (zone(hosts("a", "a")), "'a' is defined twice"),
    "a rate": (simgrid(bw="fast"), "bw 'fast' of <cluster> is no bandwidth"),
    "too many": (simgrid(radical="0-65536"), "with <cluster> c it has more than the 65536 hosts"),
    "a long line": (zone(hosts(*map(str, range(700))) + "".join(link(f"l{i}", 1) for i in range(699)) + "".join(
        route(i, i + 1, f"l{i}") for i in range(699)), "Floyd"), "700 hosts at different places are too many to compare"),
    "too many shared": (simgrid(radical="0-32768", sharing_policy="SHARED"), "32769 links are each shared"),
    "processes": ('<actor host="a" function="f"/>', "it has 0 outermost zones"),
    "two zones": (simgrid("a") + simgrid("b"), "it has 2 outermost zones")}


@pytest.mark.slow
def test_a_cluster_of_65536_hosts_is_read_in_time():
    assert parsed(simgrid(radical="0-65535", bb_bw="10GBps", bb_lat="1us")).n_nodes == 65536


@pytest.mark.parametrize("content, form, words", [
    *BROKEN.values(), *((text.encode(), None, words) for text, words in DAMAGED.values()),
    *((platform(text).encode(), None, words) for text, words in REFUSED.values())])
def test_what_is_no_graph_is_refused_by_name_and_line(content, form, words):
    with pytest.raises(PencilmapError) as error:
        parse_graph(Document(content, "net"), form)
    message = str(error.value)
    assert words in message and message.startswith(("net", "graph")) and "\n" not in message
