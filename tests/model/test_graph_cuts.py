"""Cuts of graphs compared with link counts of every run, and with the best possible routing, by linear programming."""

from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from pencilmap.model.bounds import graph_cuts
from pencilmap.model.bounds.graph_cuts import _orders, _worst_run, all_to_all_cuts, leaving
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.network import host_hops
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.traffic.exchange import exchanges, node_totals, node_traffic

SEEDS = range(6)


def two_way_graph(seed, n=6):
    """Return a connected graph with different cables, also in the two directions; every fourth vertex is a switch."""
    draw, graph = Random(seed), nx.DiGraph()
    for vertex in range(n):
        graph.add_node(vertex, kind="switch" if vertex % 4 == 3 else "host")
    edges = {(draw.randrange(v), v) for v in range(1, n)} | {tuple(sorted(draw.sample(range(n), 2))) for _ in range(n // 2)}
    for a, b in sorted(edges):
        graph.add_edge(a, b, cables=draw.randint(1, 3))
        graph.add_edge(b, a, cables=draw.randint(1, 3))
    return from_networkx(graph, f"graph {seed}")


def drawn_traffic(graph, seed):
    traffic = np.random.default_rng(seed).integers(0, 9, (graph.n_nodes,) * 2)
    np.fill_diagonal(traffic, 0)
    return traffic


def across(graph, traffic, inside):
    """Return bytes and cables that leave a set of vertices, and bytes and cables that enter the set."""
    hosts, ways, outside = range(graph.n_nodes), [], set(range(len(graph.vertices))) - inside
    for here, there in ((inside, outside), (outside, inside)):
        sent = sum(int(traffic[a, b]) for a in hosts for b in hosts if a in here and b in there)
        links = zip(graph.source, graph.target, graph.cables)
        ways.append((sent, sum((c for a, b, c in links if a in here and b in there), Fraction(0))))
    return ways


def needed(graph, traffic, inside):
    return max((Fraction(sent) / cables for sent, cables in across(graph, traffic, inside) if cables), default=Fraction(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_bytes_that_leave_runs_are_those_counted_one_by_one(seed):
    matrix = np.random.default_rng(seed).integers(0, 9, (7, 7))
    sent = leaving(matrix)
    for low in range(8):
        for high in range(8):
            inside = range(low, high)
            assert sent[low, high] == sum(matrix[a, b] for a in inside for b in range(7) if b not in inside)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_worst_run_of_an_order_needs_no_less_than_any_other(seed):
    graph = two_way_graph(seed)
    traffic, arcs = drawn_traffic(graph, seed), graph.arcs()
    V = arcs.n_vertices
    whole, capacity = np.zeros((V, V), dtype=np.int64), np.zeros((V, V))
    whole[:graph.n_nodes, :graph.n_nodes] = traffic
    np.add.at(capacity, (arcs.source, arcs.target), arcs.capacity)
    orders = list(_orders(arcs))
    assert orders[0].tolist() == list(range(V)) and len(orders) == 2 + min(4, V - 1)
    for order in orders:
        assert sorted(order.tolist()) == list(range(V))
        runs = [set(order[low:high].tolist()) for low in range(V) for high in range(low + 1, V + 1)]
        found = needed(graph, traffic, set(_worst_run(order, whole, capacity).tolist()))
        assert found == max(needed(graph, traffic, run) for run in runs)


def least_load(graph, traffic):
    """Return the least possible load of the busiest cable if messages split freely among paths: a linear program."""
    V, A, hosts = len(graph.vertices), len(graph.cables), range(graph.n_nodes)
    equal, demand = np.zeros((len(hosts) * V, len(hosts) * A + 1)), np.zeros(len(hosts) * V)
    for s in hosts:  # the flow of all data of host s
        for i, (a, b) in enumerate(zip(graph.source, graph.target)):
            equal[s * V + a, s * A + i] += 1
            equal[s * V + b, s * A + i] -= 1
        demand[s * V + s] = traffic[s].sum()
        for t in hosts:
            demand[s * V + t] -= traffic[s, t]
    below = np.zeros((A, len(hosts) * A + 1))
    for i, cables in enumerate(graph.cables):
        below[i, i:-1:A] = 1
        below[i, -1] = -float(cables)
    done = linprog([0] * (len(hosts) * A) + [1], below, np.zeros(A), equal, demand, method="highs")
    assert done.success
    return done.fun


def bound_of(graph, traffic):
    parts = graph_cuts._parts(graph)
    between = np.zeros((parts.inner.n_vertices,) * 2, dtype=np.int64)
    np.add.at(between, (parts.home[:graph.n_nodes, None], parts.home[:graph.n_nodes]), traffic)
    np.fill_diagonal(between, 0)
    return graph_cuts._bound_of_parts(graph, traffic.sum(axis=1), traffic.sum(axis=0), between)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_routing_is_below_the_bound(seed):
    graph = two_way_graph(seed)
    for traffic in (drawn_traffic(graph, seed), 1 - np.eye(graph.n_nodes, dtype=np.int64)):
        assert 0 < bound_of(graph, traffic) <= least_load(graph, traffic) * (1 + 1e-9)


def hosts_on_switches(seed):
    """Return a graph of hosts with one link, or now and then two, on switches that are joined at random."""
    draw, graph = Random(seed), nx.Graph()
    switches = [f"s{i}" for i in range(draw.randint(1, 4))]
    graph.add_nodes_from(switches, kind="switch")
    for i, switch in enumerate(switches[1:], 1):
        graph.add_edge(switch, draw.choice(switches[:i]), cables=draw.randint(1, 3))
    for host in range(draw.randint(2, 7)):
        for switch in draw.sample(switches, min(len(switches), draw.choice([1, 1, 1, 2]))):
            graph.add_edge(f"h{host}", switch, cables=draw.randint(1, 3))
    return from_networkx(graph, f"hosts {seed}")


@pytest.mark.parametrize("seed", range(12))
def test_hops_between_hosts_are_those_of_the_whole_graph(seed):
    graph = hosts_on_switches(seed)
    hosts = range(graph.n_nodes)
    assert host_hops(graph).tolist() == graph.arcs().distances(hosts)[:, hosts].tolist()


@pytest.mark.parametrize("rows", [1, 7, 64])
@pytest.mark.parametrize("seed", range(4))
def test_the_worst_runs_of_an_all_to_all_need_as_long_as_any(seed, rows, monkeypatch):
    """Each run is counted from the links that leave and enter the run."""
    graph = hosts_on_switches(seed)
    monkeypatch.setattr(graph_cuts, "ROWS", rows)
    graph_cuts._all_to_all_runs.cache_clear()

    def seconds(run):
        hosts, cables = int((run < graph.n_nodes).sum()), graph_cuts._cables(graph, run)
        return hosts * (graph.n_nodes - hosts) / (min(cables) or max(cables)) if any(cables) else 0

    for order, found in zip(graph_cuts.orders_of(graph), graph_cuts._all_to_all_runs(graph)):
        V = len(order)
        assert seconds(found) == max(seconds(order[low:high]) for low in range(V) for high in range(low + 1, V + 1))


@pytest.mark.parametrize("parts", [0, 2048])
@pytest.mark.parametrize("seed", range(12))
def test_a_large_graph_is_bounded_without_its_leaves(seed, parts, monkeypatch):
    """The runs are sets of whole switches, each load is counted one by one, and the hops are those of all pairs."""
    graph, draw = hosts_on_switches(seed), Random(seed)
    T = draw.randint(1, 3)
    R = draw.choice([r for r in range(1, graph.n_nodes * T + 1) if graph.n_nodes * T % r == 0])
    grid = ProcessGrid(R, graph.n_nodes * T // R)
    node = np.array(draw.sample(range(graph.n_nodes * T), grid.n_tasks)) // T
    monkeypatch.setattr(graph_cuts, "MAX_VERTICES", 0)
    monkeypatch.setattr(graph_cuts, "_is_small", lambda found: found.inner.n_vertices <= parts)
    graph_cuts._parts.cache_clear()
    for exchange in exchanges(grid):
        traffic = node_traffic(exchange, node, graph.n_nodes).toarray()
        out, into = traffic.sum(axis=1), traffic.sum(axis=0)
        assert [x.tolist() for x in node_totals(exchange, node, graph.n_nodes)] == [out.tolist(), into.tolist()]
        found = graph_cuts.exchange_bound(graph, exchange, node)
        single = max(needed(graph, traffic, {host}) for host in range(graph.n_nodes))
        assert single <= found <= Fraction(least_load(graph, traffic)) * (1 + Fraction(1, 10**9))
        if parts:
            hops = int((host_hops(graph) * traffic).sum()) / graph_cuts.cables_of(graph)
            home = graph_cuts._parts(graph).home
            between = node_traffic(exchange, home[node], graph_cuts._parts(graph).inner.n_vertices).toarray()
            runs = graph_cuts._runs_of_parts(graph, out, into, between)
            assert found == max(*(needed(graph, traffic, set(run.tolist())) for run in runs), hops)
    everybody = 1 - np.eye(graph.n_nodes, dtype=np.int64)
    assert graph_cuts.whole_bound(graph) <= Fraction(least_load(graph, everybody)) * (1 + Fraction(1, 10**9))
    all_to_all_cuts.cache_clear()
    for hosts, cables in all_to_all_cuts(graph):
        assert Fraction(hosts * (graph.n_nodes - hosts)) / cables <= Fraction(least_load(graph, everybody)) * (
            1 + Fraction(1, 10**9))
