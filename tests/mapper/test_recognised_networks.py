"""Files of cables are the kind that they form; placements are recognised as products, ring maps and tilings."""

import random
import time
from collections import Counter, defaultdict

import networkx as nx
import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.graphs import parse_graph
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.placements.tilings import named
from pencilmap.model.base.errors import NetworkError
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
