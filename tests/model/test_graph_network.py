"""Graphs as machines: loads compared with enumerated paths, bounds with all cuts, and tori written as graphs."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import place
from pencilmap.mapper.placements.best import candidates
from pencilmap.model.base.errors import GraphError
from pencilmap.model.kinds import KINDS, routing
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.network import Arcs, CoordinateNetwork
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, cut_bound, machine_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.routing import shortest_path
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL, OptimalMinimal
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH, ShortestPath
from pencilmap.model.traffic.exchange import Traffic, exchanges
from pencilmap.scripts.networks.routes import routes_on
from pencilmap.scripts.pictures.text import image_text, loads_table
from tests.model import brute_force as brute
from tests.model.cases import drawn, predict_routed, random_case, random_mapping, random_torus, repeatable


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
    loads = ShortestPath().loads(network, exchange, mapping.node_of_rank)
    ends = [(network.vertices[a], network.vertices[b]) for a, b in zip(network.source, network.target)]
    carried = {link: load for link, load in zip(ends, loads.values[0]) if load}
    assert carried == pytest.approx({(str(a), str(b)): float(load) for (a, b), load in expected.items()})
    worst = max((load / strength(graph, a, b) for (a, b), load in expected.items()), default=0)
    assert float(loads.largest()[0]) == pytest.approx(float(worst))
    if worst:
        busiest = loads.busiest()
        a, b = (next(v for v in graph if str(v) == name) for name in busiest)
        assert float(expected[a, b] / strength(graph, a, b)) == pytest.approx(float(worst))


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
    monkeypatch.setattr(shortest_path, "FEW", 12)
    whole = shortest_path.even_loads_of_arcs(arcs, some, by_hop)
    monkeypatch.setattr(shortest_path, "AT_ONCE", 1)
    assert shortest_path.even_loads_of_arcs(arcs, some, by_hop) == pytest.approx(whole) and whole.sum() == pytest.approx(20)


# A kind of network that no table by class knows: loads, bounds, tables of routes and searches work by its links alone

BY_LINKS = ("shortest-path", "each-hop", "optimal-minimal")


@dataclass(frozen=True)
class Mirrored(CoordinateNetwork):
    """A torus of two dimensions whose rings along x come back mirrored in y."""

    shape: tuple[int, int]
    bandwidth: tuple[float, ...] | None = None
    axes = "xy"
    cables = (1, 2)

    def arcs(self):
        x, y = self.coordinates(np.arange(self.n_nodes)).T
        (n, m), rates = self.shape, np.array(self.bandwidth or (1.0, 1.0))
        along_x = [self.node(np.stack([to % n, np.where((to < 0) | (to >= n), m - 1 - y, y)], axis=1))
                   for to in (x + 1, x - 1)]
        along_y = [self.node(np.stack([x, to % m], axis=1)) for to in (y + 1, y - 1)]
        return Arcs(self.n_nodes, np.tile(np.arange(self.n_nodes), 4), np.concatenate(along_x + along_y),
                    np.arange(4 * self.n_nodes), np.repeat(rates * self.cables / rates.max(), 2 * self.n_nodes))

    def as_dict(self):
        return {"shape": list(self.shape)}

    def __str__(self):
        return "x".join(map(str, self.shape))


@pytest.fixture(params=[(3, 3), (4, 3)])
def network(request, monkeypatch):
    monkeypatch.setitem(KINDS, "mirrored", Kind("mirrored", "", "", "", Mirrored, Mirrored,
                                                  (SHORTEST_PATH, EACH_HOP, OPTIMAL_MINIMAL)))
    return Mirrored(request.param, (1e9, 3e9))


def drawn_mapping(network, seed=3):
    n = network.n_nodes
    return Mapping(network, ProcessGrid(3, n // 3), 1, np.random.default_rng(seed).permutation(n), np.zeros(n, int))


@pytest.mark.parametrize("rule", BY_LINKS[:2])
def test_loads_tables_and_routes_of_single_messages_agree(network, rule):
    mapping, value = drawn_mapping(network), routing(rule, network)
    index = network.arcs().index
    tables = value.routes(network, np.arange(network.n_nodes), np.zeros(network.n_nodes, int))
    routes = routes_on(network, rule)
    for exchange in exchanges(mapping.grid):
        walked, listed = np.zeros(len(index)), np.zeros(len(index))
        for a, b in (pair for group in mapping.node_of_rank[exchange.members] for pair in permutations(group.tolist(), 2)):
            row = slice(*tables.start[a * network.n_nodes + b:][:2])
            np.add.at(listed, tables.link[row], tables.load[row])
            for link, part in routes.links((a, b)).items():
                walked[link] += float(part)
        loads = np.asarray(value.loads(network, exchange, mapping.ends).bytes(), dtype=float).reshape(-1)[index]
        message = loads.sum() / walked.sum()
        assert loads == pytest.approx(message * walked, rel=1e-9, abs=1e-9)
        assert listed == pytest.approx(walked / np.array([float(x) for x in network.capacities]))


@pytest.mark.parametrize("rule", BY_LINKS)
def test_bounds_hold(network, rule):
    for seed in range(3):
        mapping = drawn_mapping(network, seed)
        for exchange in exchanges(mapping.grid):
            loads = routing(rule, network).loads(network, exchange, mapping.ends).largest()
            weights = [3, 1]
            least = max(float(x) * w for x, w in zip(cut_bound(network, exchange, mapping.node_of_rank), weights))
            assert 0 < least <= max(float(x) * w for x, w in zip(loads, weights)) * (1 + 1e-9)
        bounds = Bounds(Site(network), mapping.grid)
        assert 0 < bounds.together.value <= bounds.in_sequence.value <= predict(mapping, routing_name=rule).cost
    assert max(machine_bound(network)) > 0


@pytest.mark.thorough
def test_the_search_beats_the_launch_order_and_pictures_show_the_answer(network):
    grid = ProcessGrid(3, network.n_nodes // 3)
    best, default = candidates(Site(network), grid, within=Search(5_000_000))[-1], place("default", Site(network), grid)
    assert predict(best).cost <= predict(default).cost
    assert any("row 0: 3 ranks" in line for line in image_text(best, {"row": 0, "column": 0}, 80))
    exchange = exchanges(grid)[0]
    columns = [("rows", [("", routing(BY_LINKS[0], network).loads(network, exchange, best.ends))])]
    assert 2 < len(loads_table(columns, False, network.n_nodes)) <= 2 + 2
