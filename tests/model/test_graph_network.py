"""Graphs as machines: loads compared with enumerated paths, bounds with all cuts, and tori written as graphs."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import prod
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from pencilmap.model.base.errors import GraphError
from pencilmap.model.bounds.graph_cuts import _hop_bound
from pencilmap.model.kinds import routing
from pencilmap.model.kinds.hyperx import parse as parse_hyperx
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.network import GraphLink
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict, predict_routed
from pencilmap.model.predict.certificates import cut_bound, machine_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.routing import even_ways
from pencilmap.model.routing.optimal_minimal import OptimalMinimal
from pencilmap.model.routing.shortest_path import ShortestPath, exact_loads
from pencilmap.model.traffic.exchange import Traffic, exchanges
from pencilmap.model.traffic.loads import as_fraction
from pencilmap.scripts.networks.routes import routes_on
from tests.model import brute_force as brute
from tests.model.cases import drawn, random_case, random_full_mapping, random_mapping, random_torus, repeatable


def random_graph(rng):
    """Return a connected graph: some vertices are switches, cables and bandwidths differ, some links are one-way."""
    n = rng.randint(2, 9)
    graph = nx.gnp_random_graph(n, rng.random(), seed=rng.randint(0, 10**6))
    graph.add_edges_from((i, rng.randint(0, i - 1)) for i in range(1, n))
    if rng.random() < 0.3:
        graph = graph.to_directed()
        for link in list(graph.edges):
            graph.remove_edge(*link)
            if rng.random() < 0.5 or not nx.is_strongly_connected(graph):
                graph.add_edge(*link)
    with_rates = rng.random() < 0.5
    for a, b in graph.edges:
        graph.edges[a, b]["cables"] = rng.choice([1, 1, 2, 3])
        if with_rates:
            graph.edges[a, b]["bandwidth"] = rng.choice([1e9, "2 GB/s", "24 Gbit/s"])
    for vertex in rng.sample(range(n), rng.randint(0, n - 2)):
        graph.nodes[vertex]["kind"] = "switch"
    return graph


graph_cases = drawn(lambda rng: (graph := random_graph(rng), random_case(rng, from_networkx(graph, "random"), 10)))
RATES = {1e9: 1, "2 GB/s": 2, "24 Gbit/s": 3, None: 1}


def enumerated(graph, case):
    """Return loads from all shortest paths of every message, each cable a path: dict from (source, target) to Fraction."""
    mapping, _, traffic = case
    vertex = {str(v): v for v in graph}
    loads = {}
    for source, target, amount in traffic:
        ends = [vertex[mapping.network.node_name(mapping.node_of_rank[rank])] for rank in (source, target)]
        paths = {tuple(pairwise(path)): prod(graph.edges[link]["cables"] for link in pairwise(path))
                 for path in nx.all_shortest_paths(graph, *ends)}
        for path, ways in paths.items():
            for link in path:
                loads[link] = loads.get(link, 0) + Fraction(amount * ways, sum(paths.values()))
    return {link: load for link, load in loads.items() if load}


def strength(graph, a, b):
    """Return the capacity of a link in cables of the fastest kind."""
    fastest = max(RATES[data.get("bandwidth")] for _, _, data in graph.edges(data=True))
    return graph.edges[a, b]["cables"] * Fraction(RATES[graph.edges[a, b].get("bandwidth")], fastest)


@repeatable(80)
@given(graph_cases())
def test_loads_are_those_of_all_shortest_paths(drawn_case):
    graph, case = drawn_case
    mapping, exchange, _ = case
    expected = enumerated(graph, case)
    network = mapping.network
    loads = exact_loads(network, exchange, mapping.node_of_rank)
    ends = [(network.vertices[a], network.vertices[b]) for a, b in zip(network.source, network.target)]
    found = {link: as_fraction(load) for link, load in zip(ends, loads.values[0]) if load}
    assert found == {(str(a), str(b)): load for (a, b), load in expected.items()}
    worst = max((load / strength(graph, a, b) for (a, b), load in expected.items()), default=0)
    assert loads.largest() == (worst,)
    assert float(ShortestPath().loads(network, exchange, mapping.node_of_rank).largest()[0]) == pytest.approx(float(worst))
    if worst:
        busiest = loads.busiest()
        a, b = (next(v for v in graph if str(v) == name) for name in busiest)
        assert expected[a, b] / strength(graph, a, b) == worst


def all_cuts(graph, traffic_between):
    """Return the best of all cuts, from all sets of vertices."""
    best = Fraction(0)
    for k in range(1, len(graph)):
        for inside in map(set, combinations(graph, k)):
            cut = [(a, b) for a, b in both_ways(graph) if a in inside and b not in inside]
            cables = sum((strength(graph, *link) for link in cut), Fraction(0))
            crossing = sum(w for (a, b), w in traffic_between.items() if a in inside and b not in inside)
            if crossing:
                best = max(best, crossing / cables)
    return best


def both_ways(graph):
    return list(graph.edges) if graph.is_directed() else [link for a, b in graph.edges for link in ((a, b), (b, a))]


@repeatable(80)
@given(graph_cases())
def test_the_bound_is_one_and_never_above_the_best_minimal_routing(drawn_case):
    graph, case = drawn_case
    mapping, exchange, traffic = case
    vertex, between, hop_bytes = {str(v): v for v in graph}, {}, 0
    for source, target, amount in traffic:
        a, b = (vertex[mapping.network.node_name(mapping.node_of_rank[rank])] for rank in (source, target))
        between[a, b] = between.get((a, b), 0) + amount
        hop_bytes += amount * nx.shortest_path_length(graph, a, b)
    bound, = cut_bound(mapping.network, exchange, mapping.node_of_rank)
    by_hops = hop_bytes / sum(strength(graph, a, b) for a, b in both_ways(graph))
    assert by_hops <= bound <= max(all_cuts(graph, between), by_hops)
    best, = OptimalMinimal().loads(mapping.network, exchange, mapping.node_of_rank).largest()
    routed, = ShortestPath().loads(mapping.network, exchange, mapping.node_of_rank).largest()
    assert float(bound) * (1 - 1e-6) <= float(best) <= float(routed) * (1 + 1e-6)


def random_tree(rng):
    n = rng.randint(3, 12)
    return nx.from_prufer_sequence([rng.randrange(n) for _ in range(n - 2)])


trees = drawn(lambda rng: random_case(rng, from_networkx(random_tree(rng), "tree"), 12))


@repeatable(40)
@given(trees())
def test_on_a_tree_cut_and_load_are_the_same(case):
    """Each message has a single path, and every branch is a cut with the load of its link."""
    mapping, exchange, _ = case
    assert cut_bound(mapping.network, exchange, mapping.node_of_rank) == \
        exact_loads(mapping.network, exchange, mapping.node_of_rank).largest()


def as_graph(torus):
    """Return a torus as a graph; `brute.neighbours` is independent of the fast numbering."""
    graph = nx.Graph()
    graph.add_nodes_from(brute.coordinates(torus, node) for node in range(torus.n_nodes))
    graph.add_edges_from((a, b, {"cables": torus.cables[i]}) for a, b, i in brute.neighbours(torus))
    return graph


tori_and_graphs = drawn(lambda rng: (mapping := random_mapping(rng, random_torus(rng), 16),
                                     from_networkx(as_graph(mapping.network), "t")))


@repeatable(40)
@given(tori_and_graphs())
def test_a_torus_written_as_a_graph_is_routed_over_all_minimal_paths(pair):
    mapping, graph = pair
    assert graph.n_nodes == mapping.network.n_nodes
    on_torus = predict_routed(mapping, None, Question("minimal-adaptive:paths"))
    on_graph = predict_routed(replace(mapping, network=graph))
    for a, b in zip(on_torus.stages, on_graph.stages):
        assert float(max(a.load)) == pytest.approx(float(max(b.load)), rel=1e-9)
        assert float(a.hop_length) == pytest.approx(float(b.hop_length), rel=1e-9)


graph_mappings = drawn(lambda rng: random_full_mapping(rng, from_networkx(random_graph(rng), "random")))


@repeatable(40)
@given(graph_mappings())
def test_no_mapping_beats_the_all_to_all_of_its_graph(mapping):
    prediction = predict(mapping)
    assert sum(stage.load[0] for stage in prediction.stages) >= machine_bound(mapping.network)[0] * (1 - Fraction(1, 10**9))
    assert prediction.certificate >= 1 - 1e-9


@pytest.mark.parametrize("shape", [(8,), (4, 4), (6, 3), (4, 2, 2)])
def test_the_bound_of_a_torus_as_a_graph_is_that_of_its_planes(shape):
    torus = Torus(shape)
    planes = max(machine_bound(torus))
    assert machine_bound(from_networkx(as_graph(torus), "t"))[0] >= planes


def fat_tree():
    """Return two leaf switches of four hosts and two spines, with uplinks of twice the bandwidth."""
    graph = nx.Graph()
    for leaf in "ab":
        graph.add_edges_from((f"{leaf}{k}", f"leaf-{leaf}", {"bandwidth": "1 GB/s"}) for k in range(4))
        graph.add_edges_from((f"leaf-{leaf}", f"spine-{k}", {"bandwidth": "2 GB/s"}) for k in range(2))
    nx.set_node_attributes(graph, {v: "switch" for v in graph if "-" in v}, "kind")
    return from_networkx(graph, "fat tree")


def test_a_fat_tree_of_full_bisection_is_bound_by_its_hosts():
    """Each host sends 7/8 of its block to 7 others over 1 GB/s; the four uplinks of 2 GB/s carry half of all data."""
    network = fat_tree()
    assert network.n_nodes == 8 and network.vertices[:4] == ("a0", "a1", "a2", "a3") and network.bandwidth == (2e9,)
    mapping = Mapping(network, ProcessGrid(8, 1), 1, np.arange(8), np.zeros(8))
    prediction = predict(mapping, Transform(8, 8, 8))
    block = 8**3 * 16 / 8
    assert prediction.stages[0].t_s == pytest.approx(block * 7 / 8 / 1e9)
    assert prediction.stages[0].busiest in [GraphLink(h, f"leaf-{h[0]}") for h in network.vertices[:8]] + [
        GraphLink(f"leaf-{h[0]}", h) for h in network.vertices[:8]]
    assert prediction.certificate == 1.0
    assert prediction.as_dict()["graph"] == "fat tree" and prediction.as_dict()["m_source"] == "cut"


def test_rows_inside_a_leaf_stay_off_the_spine():
    network = fat_tree()
    mapping = Mapping(network, ProcessGrid(4, 2), 1, np.arange(8), np.zeros(8))
    row, column = (ShortestPath().loads(network, e, mapping.node_of_rank) for e in exchanges(mapping.grid))
    spine = np.array(["spine" in network.vertices[a] + network.vertices[b] for a, b in zip(network.source, network.target)])
    assert row.values[0][spine].sum() == 0 < column.values[0][spine].sum()


def test_what_a_host_receives_bounds_as_much_as_what_it_sends():
    """One of eight hosts on a switch receives 7 messages of 3 units; every host sends 7 messages, of 1 or 3 units."""
    graph = nx.star_graph(8)
    graph.nodes[0]["kind"] = "switch"
    exchange = exchanges(ProcessGrid(8, 1))[0]
    for heavy in range(8):
        uneven = replace(exchange, receive_weight=np.where(np.arange(8) == heavy, 3, 1))
        assert cut_bound(from_networkx(graph, "star"), uneven, np.arange(8)) == (21,)


def test_parallel_edges_of_one_bandwidth_add_up():
    """Cables of another bandwidth are a link of their own: routers split messages over cables whatever their rates."""
    graph = nx.MultiGraph()
    for rate, cables in (("1 GB/s", 2), ("3 GB/s", 1), (1e9, 3)):
        graph.add_edge("a", "b", bandwidth=rate, cables=cables)
    network = from_networkx(graph, "two")
    assert network.cables == (Fraction(5, 3), 1) * 2 and network.bandwidth == (3e9,) and network.count.tolist() == [5, 1] * 2
    found = [predict(Mapping(network, ProcessGrid(2, 1), 1, np.arange(2), np.zeros(2, int)), Transform(100, 100, 100),
                     routing_name=rule).stages[0].t_s for rule in ("shortest-path", "each-hop")]
    assert found == pytest.approx([4e6 / 6 / 1e9] * 2)  # the slow cables carry as much as the fast cable


def ways_round(rates, cables, one_by_one=False):
    """Return two hosts on switches, with the ways over two other switches between them."""
    graph = nx.MultiGraph([("a", "s", {"bandwidth": 1e11}), ("b", "t", {"bandwidth": 1e11})])
    graph.add_nodes_from(["s", "t", *range(len(rates))], kind="switch")
    for k, (rate, number) in enumerate(zip(rates, cables)):
        for end in ("s", "t"):
            for _ in range(number if one_by_one else 1):
                graph.add_edge(k, end, bandwidth=rate, cables=1 if one_by_one else number)
    return from_networkx(graph, "ways")


@pytest.mark.parametrize("rates, cables, rule, share", [
    ((1e9, 3e9), (1, 1), "each-hop", Fraction(1, 2)), ((1e9, 3e9), (1, 1), "shortest-path", Fraction(1, 2)),
    ((1e9, 1e9), (1, 3), "each-hop", Fraction(1, 4)), ((1e9, 1e9), (1, 3), "shortest-path", Fraction(1, 10)),
    ((1e9, 2e9), (2, 3), "each-hop", Fraction(2, 5)), ((1e9, 2e9), (2, 3), "shortest-path", Fraction(4, 13))])
def test_each_cable_is_a_way_whatever_its_rate(rates, cables, rule, share):
    """Loads, tables of routes for searches, and routes for simulations: cables of an edge, or as many parallel edges."""
    for one_by_one in (False, True):
        network = ways_round(rates, cables, one_by_one)
        mapping = Mapping(network, ProcessGrid(2, 1), 1, np.arange(2), np.zeros(2, int))
        loads = routing(rule, network).loads(network, exchanges(mapping.grid)[0], np.arange(2)).values[0]
        ends = [(network.vertices[a], network.vertices[b]) for a, b in zip(network.source, network.target)]
        sent = dict(zip(ends, loads))
        assert sent["s", "0"] == pytest.approx(float(share)) and sent["s", "1"] == pytest.approx(float(1 - share))
        legs = routing(rule, network).legs(network, np.arange(2))
        (forth,) = np.flatnonzero((network.source == 2) & (network.target == 4))
        there = legs.load[(legs.pair == 1) & (legs.link == forth)] * float(network.capacities[forth])
        assert there.tolist() == pytest.approx([float(share)])
        assert routes_on(network, rule).links((0, 1))[forth] == share
        t_s = max(share / cables[0] * Fraction(1e9) / Fraction(rates[0]), (1 - share) / cables[1] * Fraction(1e9)
                  / Fraction(rates[1])) * Fraction(4, 1000)
        assert predict(mapping, Transform(100, 100, 100), routing_name=rule).t_s == pytest.approx(float(t_s))


@pytest.mark.parametrize("rule", ["shortest-path", "each-hop"])
def test_a_file_with_cables_has_the_loads_of_the_network_named_by_text(rule):
    named = parse_hyperx("2x3,hosts=2,cables=3")
    graph = nx.Graph()
    for a, b in zip(named.source.tolist(), named.target.tolist()):
        for v in (a, b):
            graph.add_node(v, kind="host" if v < named.n_nodes else "switch")
        graph.add_edge(a, b, cables=1 if min(a, b) < named.n_nodes else 3)
    node, one_task = np.random.default_rng(3).permutation(12), np.zeros(12, int)
    placed = [Mapping(each, ProcessGrid(3, 4), 1, node, one_task) for each in (named, from_networkx(graph, "file"))]
    one, other = (predict(each, Transform(13, 14, 15), routing_name=rule) for each in placed)
    loads = [[float(max(stage.load)) for stage in each.stages] for each in (one, other)]
    assert loads[0] == pytest.approx(loads[1])
    assert float(max(one.schedule.load_joint)) == pytest.approx(float(max(other.schedule.load_joint)))


def test_a_bandwidth_for_all_that_say_none():
    graph = nx.Graph([("a", "b"), ("b", "c")])
    graph.edges["a", "b"]["bandwidth"] = 2e9
    with pytest.raises(GraphError, match="some edges have a bandwidth and others have none"):
        from_networkx(graph, "mixed")
    assert from_networkx(graph, "mixed", 1e9).cables == (1, 1, Fraction(1, 2), Fraction(1, 2))


def with_edge(**data):
    graph = nx.Graph()
    graph.add_edge("a", "b", **data)
    return graph


def with_node(**data):
    graph = nx.path_graph(3)
    graph.add_node(1, **data)
    return graph


@pytest.mark.parametrize("graph, words", [
    (with_edge(bandwidth="148"), "148"), (with_edge(bandwidth="-1 GB/s"), "-1 GB/s"),
    (with_edge(bandwidth=0), "more than 0"),
    (with_edge(bandwidth=float("nan")), "more than 0"), (with_edge(bandwidth=[1]), "text with a unit"),
    (with_edge(cables=0), "0 cables"), (with_edge(cables="two"), "'two' cables"), (with_edge(cables=1.5), "1.5 cables"),
    (with_node(kind="router"), "a host or a switch"), (nx.Graph(), "0 hosts"), (nx.empty_graph(2), "there is no path"),
    (nx.DiGraph([(0, 1)]), "there is no path"), (nx.Graph([("1", 1)]), "two vertices called '1'")])
def test_what_is_no_network_is_refused(graph, words):
    with pytest.raises(GraphError) as error:
        from_networkx(graph, "demo")
    assert words in str(error.value) and "demo" in str(error.value)


def test_edges_to_oneself_carry_nothing():
    assert from_networkx(nx.Graph([("a", "b"), ("a", "a")]), "loop").link_shape == (1, 2)


def test_large_graphs_are_bound_by_single_hosts(monkeypatch):
    monkeypatch.setattr("pencilmap.model.bounds.graph_cuts.MAX_VERTICES", 4)
    network = from_networkx(nx.star_graph(6), "star")
    mapping = Mapping(network, ProcessGrid(7, 1), 1, np.arange(7), np.zeros(7))
    exchange = exchanges(mapping.grid)[0]
    assert cut_bound(network, exchange, mapping.node_of_rank) == (6,)  # each leaf sends to 6 others over its only link


def test_the_bound_of_a_cycle_is_that_of_cutting_two_links():
    """Or, on an odd cycle, the bound from counting hops."""
    for n in (4, 5, 8, 9):
        found, = machine_bound(from_networkx(nx.cycle_graph(n), "ring"))
        assert found == max(machine_bound(Torus((n,)))[0], Fraction(4 * sum(min(k, n - k) for k in range(n)), 2 * n))


def test_random_graphs_are_drawn_connected():
    assert all(from_networkx(random_graph(Random(seed)), "random").n_nodes >= 2 for seed in range(50))


def test_bytes_times_hops_are_shared_by_all_cables():
    """On the Petersen graph, each host has 3 others at 1 hop and 6 at 2; cables have 30 directions."""
    graph = from_networkx(nx.petersen_graph(), "petersen")
    traffic = 7 * (1 - np.eye(10, dtype=np.int64))
    assert _hop_bound(graph, traffic) == Fraction(7 * 10 * (3 + 2 * 6), 30)
    alone = from_networkx(nx.empty_graph(1), "one host")
    assert _hop_bound(alone, np.zeros((1, 1), dtype=np.int64)) == 0


@pytest.mark.parametrize("wrong", [[[8]], [[0], [-1]], [[0, 1]], [[[7], [8]]]])
def test_coordinates_of_no_node_are_refused(wrong):
    network = fat_tree()
    assert network.node([[0], [7]]).tolist() == [0, 7] and network.coordinates([3, 0]).tolist() == [[3], [0]]
    with pytest.raises(GraphError, match="its nodes are numbered 0 to 7"):
        network.node(wrong)
    assert network.outside([7]) is None
    for number in (8, -1):
        assert network.outside([number]) == f"node {number} is not in {network}; its nodes are numbered 0 to 7"


@repeatable(40)
@given(drawn(lambda rng: (rng, random_graph(rng)))())
def test_classes_of_links_change_names_and_no_costs(case):
    """Every link keeps its load and its time; each class has the bandwidth of its fastest cables."""
    rng, graph = case
    mixed = graph.copy()
    for a, b in mixed.edges:
        mixed.edges[a, b]["class"] = rng.choice(["thin", "thick"])
    one, two = from_networkx(graph, "one"), from_networkx(mixed, "two")
    assert set(two.link_classes) <= {"thin", "thick"} and (two.bandwidth is None) == (one.bandwidth is None)
    mapping = random_mapping(rng, one)
    other = replace(mapping, network=two)
    exchange = exchanges(mapping.grid)[0]
    loads = [ShortestPath().loads(each.network, exchange, each.node_of_rank) for each in (mapping, other)]
    found = [dict(zip(zip(n.source.tolist(), n.target.tolist()), each.bytes().reshape(-1)[n.place_of_link].tolist()))
             for n, each in zip((one, two), loads)]
    assert found[0] == pytest.approx(found[1])
    for rule in ("shortest-path", "each-hop"):
        before, after = (predict(each, routing_name=rule) for each in (mapping, other))
        assert float(after.cost) == pytest.approx(float(before.cost))
        assert float(after.lower_bound.value) == pytest.approx(float(before.lower_bound.value))


def each_hop(graph, a, b):
    """Yield share and path of all shortest paths, split at each vertex evenly over the cables towards the target."""
    if a == b:
        yield Fraction(1), [b]
        return
    far = nx.shortest_path_length(graph, a, b)
    nearer = [v for v in graph[a] if nx.has_path(graph, v, b) and nx.shortest_path_length(graph, v, b) < far]
    every = sum(graph.edges[a, v]["cables"] for v in nearer)
    for v in nearer:
        yield from ((share * graph.edges[a, v]["cables"] / every, [a, *path]) for share, path in each_hop(graph, v, b))


@repeatable(40)
@given(graph_cases())
def test_an_even_split_at_each_hop_is_that_of_walked_messages(drawn_case):
    graph, (mapping, exchange, traffic) = drawn_case
    vertex = {str(v): v for v in graph}
    expected = {}
    for source, target, amount in traffic:
        ends = [vertex[mapping.network.node_name(mapping.node_of_rank[rank])] for rank in (source, target)]
        for share, path in each_hop(graph, *ends):
            for a, b in pairwise(path):
                expected[str(a), str(b)] = expected.get((str(a), str(b)), 0) + float(share * amount)
    network = mapping.network
    loads = routing("each-hop", network).loads(network, exchange, mapping.node_of_rank).values[0].tolist()
    ends = [(network.vertices[a], network.vertices[b]) for a, b in zip(network.source, network.target)]
    assert {link: load for link, load in zip(ends, loads) if load} == pytest.approx(
        {link: load for link, load in expected.items() if load})


def test_a_class_without_bandwidth_beside_others_is_refused():
    graph = nx.Graph()
    graph.add_edge("a", "b", **{"class": "thin"})
    graph.add_edge("b", "c", bandwidth=1e9)
    with pytest.raises(GraphError, match="class thin have no bandwidth"):
        from_networkx(graph, "half")
    assert from_networkx(graph, "whole", {"thin": 2e9}).bandwidth == (2e9, 1e9)


@pytest.mark.parametrize("by_hop", [False, True])
def test_loads_of_arcs_do_not_depend_on_the_roots_that_are_walked_together(monkeypatch, by_hop):
    """Only two vertices have traffic, so most parts of the roots have none."""
    arcs = from_networkx(nx.circular_ladder_graph(6), "ladder").arcs()
    some = Traffic(12, np.array([0, 9]), np.array([9, 0]), np.array([2.0, 3.0]))
    monkeypatch.setattr(even_ways, "FEW", 12)
    whole = even_ways.even_loads_of_arcs(arcs, some, by_hop)
    monkeypatch.setattr(even_ways, "AT_ONCE", 1)
    assert even_ways.even_loads_of_arcs(arcs, some, by_hop) == pytest.approx(whole) and whole.sum() == pytest.approx(20)
