"""Routes of single messages on networks of every kind: against the model's loads, and the table that SimGrid reads."""

import re
from collections import Counter, defaultdict
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from pencilmap.model.kinds import KINDS, network_named, recognised, routing, routings_of
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.networks.routes import SIMULATED, routes_on
from pencilmap.scripts.networks.simulated import SimulatedNetwork
from tests.scripts.test_every_kind import SMALL

NETWORKS = ("fat-tree:leaves=3,hosts=2,up=2", "fat-tree:leaves=4,hosts=2,up=4,spines=2,pods=2,core=2",
            "fat-tree:leaves=4,hosts=2,up=2,links=2", "fat-tree:leaves=4,hosts=2,up=2,rails=2,use=task",
            "dragonfly:a=2,p=1,h=2", "dragonfly:a=2,p=2,groups=3,cables=3,links=2,use=task",
            "dragonfly-plus:leaves=2,spines=2,hosts=1,groups=3,cables=2", "hyperx:2x3,hosts=1,cables=2",
            "3x2x4:twist=xz1,yz2", *(text for kind, (text, _) in SMALL.items() if not (
                "graph" in kind or issubclass(KINDS[kind].type, Torus))))  # files, and tori without a table
PAIRS = [(text, rule) for text in NETWORKS for rule in routings_of(network_named(text)) if rule in SIMULATED]


def launched(text, tasks=2):
    """Return a mapping with two rows and the ranks in a drawn order."""
    network = network_named(text, bandwidth=1e9)
    n = network.n_nodes * tasks // 2 * 2
    ranks = np.random.default_rng(3).permutation(n)
    return Mapping(network, ProcessGrid(2, n // 2), tasks, ranks // tasks, ranks % tasks)


def messages(mapping, exchange):
    """Yield the ends of every message between nodes, and the node of each."""
    ends = mapping.ends
    for group in exchange.members:
        for a in group:
            for b in group:
                if mapping.node_of_rank[a] != mapping.node_of_rank[b]:
                    yield int(ends[a]), int(ends[b])


@pytest.mark.parametrize("rule", ["shortest-path", "dimension-order", "dimension-order:yx:parity", "dimension-order:plus"])
def test_routes_in_a_file_of_a_torus_add_up_to_the_loads(rule):
    grid = nx.cartesian_product(nx.path_graph(3), nx.cycle_graph(6))
    network = recognised(from_networkx(grid, "net", 1e9))
    ranks = np.random.default_rng(3).permutation(network.n_nodes)
    check_routes(Mapping(network, ProcessGrid(2, 9), 1, ranks, np.zeros_like(ranks)), rule)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text, rule", PAIRS)
def test_routes_of_all_messages_add_up_to_the_loads(text, rule):
    check_routes(launched(text), rule)


def check_routes(mapping, rule):
    network = mapping.network
    routes = routes_on(network, rule)
    for exchange in exchanges(mapping.grid):
        found = defaultdict(Fraction)
        for a, b in messages(mapping, exchange):
            for piece in routes.pieces(a, b):
                for link, part in routes.links(piece).items():
                    found[link] += part
        loads = routing(rule, network).loads(network, exchange, mapping.ends).bytes().reshape(-1)
        places = network.place_of_link if hasattr(network, "place_of_link") else np.arange(len(loads))
        unit = max(loads) / max(map(float, found.values()))
        assert loads[places] == pytest.approx([float(found[link] * Fraction(unit)) for link in range(len(places))], rel=1e-6)


def of_table(text):
    """Return bandwidth of each link, and the links of each route with the number of their uses."""
    bandwidth, routes = {}, {}
    for line in text.splitlines():
        word, *rest = line.split()
        if word == "link":
            bandwidth[rest[0]] = float(rest[1])
        elif word == "route":
            uses = Counter()
            for use in rest[3:]:
                name, times = re.fullmatch(r"([^*]+)(?:\*(\d+))?", use).groups()
                uses[name] += int(times or 1)
            routes[rest[0], rest[1]] = (float(rest[2]), uses)
    return bandwidth, routes


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text, rule", PAIRS)
def test_the_busiest_link_of_the_table_takes_the_predicted_time(text, rule):
    """Also where links with equal use became one link."""
    mapping = launched(text)
    simulated = SimulatedNetwork(mapping.network, rule=rule)
    names = simulated.hosts(mapping)
    bandwidth, routes = of_table(simulated.files(names)["routes.txt"])
    for exchange in exchanges(mapping.grid):
        seconds = defaultdict(float)
        for group in exchange.members:
            for a in group:
                for b in group:
                    for link, times in routes.get((names[a], names[b]), (0, {}))[1].items():
                        seconds[link] += times / bandwidth[link]
        loads = routing(rule, mapping.network).loads(mapping.network, exchange, mapping.ends)
        size = exchange.total_bytes / exchange.size / mapping.n_tasks
        assert max(seconds.values()) * size == pytest.approx(loads.bytes().max() / 1e9, rel=1e-6)


def test_latency_and_injection_are_in_the_table():
    network = SimulatedNetwork(network_named("fat-tree:leaves=2,hosts=2,up=1", bandwidth=1e9), 1e-6, 5e8)
    bandwidth, routes = of_table(network.files(["n0000-00", "n0000-01", "n0001-00"])["routes.txt"])
    seconds, links = routes["n0000-00", "n0001-00"]
    assert seconds == pytest.approx(4e-6) and routes["n0000-00", "n0000-01"][0] == pytest.approx(2e-6)
    assert {"node0:injection", "node2:ejection"} < set(links) and bandwidth["node0:injection"] == 5e8


def test_two_links_of_a_host_need_no_network():
    network = SimulatedNetwork(network_named("fat-tree:leaves=2,hosts=2,up=2,rails=2,use=task", bandwidth=1e9))
    _, routes = of_table(network.files(["n0000-00.0", "n0000-00.1", "n0000-01.0"])["routes.txt"])
    assert routes["n0000-00.0", "n0000-00.1"] == (0.0, {})
    assert len(routes["n0000-00.1", "n0000-01.0"][1]) == 3  # from one rail to the other, up and down as one link
