"""Networks of all kinds: loads against messages walked one by one, bounds against loads and against all placements."""

from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, permutations, product as cartesian
from math import prod
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import place
from pencilmap.mapper.placements.best import candidates
from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import GraphError, PartitionError, RoutingError, TorusError
from pencilmap.model.kinds import KINDS, default_routing, kind_of, network_named, routing, with_bandwidth
from pencilmap.model.kinds.kind import Kind
from pencilmap.model.kinds.levels import crossing, units_of
from pencilmap.model.kinds.twisted_torus import routes_of
from pencilmap.model.machines.machine import load_machine, machine_partitions
from pencilmap.model.network.graph import SwitchedNetwork, from_networkx
from pencilmap.model.network.network import Arcs, CoordinateNetwork, link_weights
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.twisted_torus import FoldedTorus, TwistedTorus, fold, folds, parse_twisted
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, cut_bound, machine_bound
from pencilmap.model.predict.question import Question
from pencilmap.model.routing import shortest_path
from pencilmap.model.routing.optimal_minimal import OPTIMAL_MINIMAL
from pencilmap.model.routing.shortest_path import EACH_HOP, SHORTEST_PATH, ShortestPath
from pencilmap.model.schedules import SCHEDULES
from pencilmap.model.traffic.exchange import Traffic, exchanges
from pencilmap.model.traffic.loads import m_scale, routed_joint
from pencilmap.scripts.networks.routes import routes_on
from pencilmap.scripts.pictures.text import image_text, loads_table
from tests.model import brute_force as brute
from tests.model.cases import (
    assert_same,
    drawn,
    in_three,
    predict_routed,
    random_case,
    random_full_mapping,
    random_mapping,
    random_shape,
    random_torus,
    random_transform,
    repeatable,
)

# Random networks


def some_hosts(rng, rails=1):
    """Links of a host, to one switch or several, and how tasks use them."""
    return f"links={rng.choice([1, 1, 2, 3])},rails={rails},use={rng.choice(['even', 'task'])}"


def random_fat_tree(rng):
    rails, spines, pods = rng.choice([1, 1, 2]), rng.randint(1, 3), rng.choice([0, 0, 2, 3])
    leaves = rails * rng.randint(1, 3) * max(1, pods)
    up = f"up={spines * rng.randint(1, 2)},spines={spines}"
    top = f",pods={pods},core={rng.randint(1, 3)}" if pods else ""
    return f"fat-tree:leaves={leaves},hosts={rng.randint(1, 3)},{up}{top},{some_hosts(rng, rails)}"


def random_dragonfly(rng):
    rails = rng.choice([1, 1, 2])
    size = f"h={rng.randint(1, 2)}" if rng.random() < 0.4 else f"groups={rng.randint(1, 5)},cables={rng.randint(1, 4)}"
    return f"dragonfly:a={rails * rng.randint(1, 2)},p={rng.randint(1, 2)},{size},{some_hosts(rng, rails)}"


def random_dragonfly_plus(rng):
    rails = rng.choice([1, 1, 2])
    return (f"dragonfly-plus:leaves={rails * rng.randint(1, 2)},spines={rng.randint(1, 3)},hosts={rng.randint(1, 2)},"
            f"groups={rng.randint(1, 4)},cables={rng.randint(1, 3)},{some_hosts(rng, rails)}")


def random_hyperx(rng):
    shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    hosts = some_hosts(rng, rng.choice([1, 1, shape[0]]))  # rails along the first dimension
    return f"hyperx:{'x'.join(map(str, shape))},hosts={rng.randint(1, 2)},cables={rng.randint(1, 2)},{hosts}"


RANDOM = {"fat-tree": random_fat_tree, "dragonfly": random_dragonfly, "dragonfly-plus": random_dragonfly_plus,
          "hyperx": random_hyperx}


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


def random_twisted(rng, most_nodes=30):
    """Return a twisted torus of one to four dimensions whose twists lead from some dimensions to later ones of an order."""
    shape = random_shape(rng, most_nodes, 4)
    order = rng.sample(range(len(shape)), len(shape))
    twists = [[rng.randrange(n) if order[j] > order[i] and rng.random() < 0.7 else 0 for j, n in enumerate(shape)]
              for i in range(len(shape))]
    return TwistedTorus(tuple(shape), tuple(map(tuple, twists)), cables=tuple(rng.choice([1, 1, 2]) for _ in shape))


@dataclass(frozen=True)
class Mirrored(CoordinateNetwork):
    """A kind that no table by class knows: a torus of two dimensions whose rings along x come back mirrored in y."""

    shape: tuple[int, int]
    bandwidth: tuple[float, ...] | None = (1e9, 3e9)
    axes = "xy"
    cables = (1, 2)

    def arcs(self):
        x, y = self.coordinates(np.arange(self.n_nodes)).T
        (n, m), rates = self.shape, np.array(self.bandwidth)
        along_x = [self.node(np.stack([to % n, np.where((to < 0) | (to >= n), m - 1 - y, y)], axis=1))
                   for to in (x + 1, x - 1)]
        along_y = [self.node(np.stack([x, to % m], axis=1)) for to in (y + 1, y - 1)]
        return Arcs(self.n_nodes, np.tile(np.arange(self.n_nodes), 4), np.concatenate(along_x + along_y),
                    np.arange(4 * self.n_nodes), np.repeat(rates * self.cables / rates.max(), 2 * self.n_nodes))

    def as_dict(self):
        return {"shape": list(self.shape)}

    def __str__(self):
        return "x".join(map(str, self.shape))


@pytest.fixture(autouse=True)
def mirrored(monkeypatch):
    monkeypatch.setitem(KINDS, "mirrored", Kind("mirrored", "", "", "", Mirrored, Mirrored,
                                                  (SHORTEST_PATH, EACH_HOP, OPTIMAL_MINIMAL)))


def random_rates(rng, kind):
    """Return a switched network with a bandwidth for each class, or without."""
    network = network_named(RANDOM[kind](rng))
    return with_bandwidth(network, rng.choice([None, [rng.choice([1e9, 2e9, 3e9]) for _ in network.link_classes]]))


EVERY = {"graph": lambda rng: from_networkx(random_graph(rng), "random"), "twisted-torus": random_twisted,
         "mirrored": lambda rng: Mirrored(rng.choice([(3, 3), (4, 3)])),
         **{kind: lambda rng, kind=kind: random_rates(rng, kind) for kind in RANDOM}}


# Routes: all messages are walked one by one in plain Python with fractions, which shares nothing with the fast loads.


class Walker:
    """Routes from the links of each vertex, (link, neighbour, cables): pairs of a share and a list of links."""

    def __init__(self, links):
        self.links = links

    def shortest(self, a, b, end=None, usable=None):
        """All shortest paths; cables beside each other are as many paths."""
        paths, seen = [([], a, 1)], {a}
        while a != b and not any(v == b for _, v, _ in paths):
            paths = [([*route, k], w, ways * cables) for route, v, ways in paths for k, w, cables in self.links[v]
                     if w not in seen and (usable is None or usable(k))]
            seen |= {v for _, v, _ in paths}
        found = [(ways, route) for route, v, ways in paths if v == b]
        return [(Fraction(ways, sum(ways for ways, _ in found)), route) for ways, route in found]

    def each_hop(self, a, b, end=None):
        """All shortest paths; at each vertex all cables towards the target have equal shares."""
        if a == b:
            yield Fraction(1), []
            return
        far = len(self.shortest(a, b)[0][1])
        nearer = [(k, w, cables) for k, w, cables in self.links[a] if len(self.shortest(w, b)[0][1]) < far]
        for k, w, cables in nearer:
            for share, route in self.each_hop(w, b):
                yield share * Fraction(cables, sum(cables for *_, cables in nearer)), [k, *route]


class Switches(Walker):
    """Routes between the switches of a network, and of messages over the links of their hosts."""

    def __init__(self, network):
        super().__init__(defaultdict(list))
        self.network, self.L, self.up, self.down = network, network.links_per_host, defaultdict(list), defaultdict(list)
        for k, (a, b) in enumerate(zip(network.source.tolist(), network.target.tolist())):
            if self.kind(k) != "host":
                self.links[a].append((k, b, 1))
            elif a < network.n_nodes:
                self.up[a].append((k, b))
            else:
                self.down[b].append((k, a))

    def kind(self, number):
        return self.network.link_classes[self.network.class_of_link[number]]

    def message(self, mapping, a, b, rule):
        """Yield share and route of a message between two ranks."""
        here, there = int(mapping.node_of_rank[a]), int(mapping.node_of_rank[b])
        if here == there:
            return
        even = self.network.use == "even"
        pairs = [(i, i) for i in range(self.L)] if even else [
            (int(mapping.slot_of_rank[a]) % self.L, int(mapping.slot_of_rank[b]) % self.L)]
        for i, j in pairs:
            (up, first), (down, last) = self.up[here][i], self.down[there][j]
            for part, route in getattr(self, rule)(first, last, there if even else there * self.L + j):
                yield part / len(pairs), [up, *route, down]

    def static(self, a, b, end):
        """Up by the digits of the receiving end, down by the cables that the receiving leaf would take."""
        for (up, at), (down, there) in zip(self.climb(a, end), self.climb(b, end)):
            if at == there:
                return [(Fraction(1), [*up, *(self.back(k) for k in reversed(down))])]
        raise AssertionError("the cables of the digits do not meet")

    def climb(self, v, digits):
        """The cables upwards from a leaf, and where they lead; switches are numbered from the leaves upwards.

        Each level takes its digit, whose radix is the number of switches above: cables beside each other do not divide.
        """
        found = [([], v)]
        while ports := [(k, w) for k, w, _ in self.links[v] if w > v]:
            (k, v), digits = ports[digits % len(ports)], digits // len({w for _, w in ports})
            found.append(([*found[-1][0], k], v))
        return found

    def back(self, k):
        """The same cable in the other direction."""
        a, b = self.network.source[k], self.network.target[k]
        one, other = ([n for n, w, _ in self.links[x] if w == y] for x, y in ((a, b), (b, a)))
        return other[one.index(k)]

    def group(self, v):
        return int(self.network.level("group").unit[v])

    def local(self, a, b):
        return self.shortest(a, b, usable=lambda k: self.kind(k) == "local")

    def nearest(self, a, group, b=None):
        """Cables from the group of a switch to another with the fewest local hops: (link, its switches)."""
        ways = [(len(self.local(a, v)[0][1]) + (0 if b is None else len(self.local(w, b)[0][1])), k, v, w)
                for v in list(self.links) for k, w, _ in self.links[v]
                if self.kind(k) == "global" and self.group(v) == self.group(a) and self.group(w) == group]
        return [way[1:] for way in ways if way[0] == min(ways)[0]]

    def minimal(self, a, b, end=None):
        """One global cable at most, evenly over the cables with the fewest local hops."""
        if self.group(a) == self.group(b):
            yield from self.local(a, b)
            return
        least = self.nearest(a, self.group(b), b)
        for k, v, w in least:
            for (share, before), (other, after) in cartesian(self.local(a, v), self.local(w, b)):
                yield share * other / len(least), [*before, k, *after]

    def valiant(self, a, b, end=None):
        """Through every third group evenly, on the nearest cables to it, then minimal."""
        ends = {self.group(a), self.group(b)}
        thirds = {int(g) for g in self.network.level("group").unit if g >= 0} - ends
        if len(ends) == 1 or not thirds:
            yield from self.minimal(a, b)
            return
        for third in thirds:
            least = self.nearest(a, third)
            for k, v, w in least:
                for (share, before), (other, after) in cartesian(self.local(a, v), self.minimal(w, b)):
                    yield share * other / len(least) / len(thirds), [*before, k, *after]


def loads_of(traffic, ways):
    """Return the bytes on each link, {link: Fraction}, from the shares and routes that a function says for two ranks."""
    found = defaultdict(Fraction)
    for a, b, amount in traffic:
        for share, route in ways(a, b):
            for link in route:
                found[link] += share * amount
    return {link: load for link, load in found.items() if load}


WALKED = {"shortest-path": "shortest", "static": "static", "minimal": "minimal", "valiant": "valiant",
          "each-hop": "each_hop"}  # rule: of `Switches`


def test_every_kind_of_switches_is_drawn_and_every_rule_is_walked():
    assert set(RANDOM) == {name for name, kind in KINDS.items() if issubclass(kind.type, SwitchedNetwork)}
    assert {rule for kind in RANDOM for rule in KINDS[kind].routings} == {*WALKED, "ideal-adaptive"}


@pytest.mark.parametrize("kind, rule", [(kind, rule) for kind in RANDOM for rule in KINDS[kind].routings if rule in WALKED])
def test_loads_of_switches_are_those_of_walked_messages(kind, rule):
    """Uneven blocks, idle slots, several tasks and several links a host, on random small networks."""

    @repeatable(40)
    @given(drawn(lambda rng: random_case(rng, network_named(RANDOM[kind](rng)), 16))())
    def check(case):
        mapping, exchange, traffic = case
        network, walker = mapping.network, Switches(mapping.network)
        walked = loads_of(traffic, lambda a, b: walker.message(mapping, a, b, WALKED[rule]))
        loads = routing(rule, network).loads(network, exchange, mapping.ends)
        found = loads.bytes().reshape(-1)[network.place_of_link].tolist()
        assert found == pytest.approx([float(walked.get(k, 0)) for k in range(len(found))], rel=1e-9, abs=1e-9)
        assert loads.hop_bytes() == pytest.approx(float(sum(walked.values())))
        largest = [max((load / network.cables[k] for k, load in walked.items() if network.class_of_link[k] == i),
                       default=0)
                   for i in range(len(network.link_classes))]
        assert [float(x) for x in loads.largest()] == pytest.approx([float(x) for x in largest])

    check()


RATES = {1e9: 1, "2 GB/s": 2, "24 Gbit/s": 3, None: 1}


def strength(graph, a, b):
    """Return the capacity of a link in cables of the fastest kind."""
    fastest = max(RATES[data.get("bandwidth")] for _, _, data in graph.edges(data=True))
    return graph.edges[a, b]["cables"] * Fraction(RATES[graph.edges[a, b].get("bandwidth")], fastest)


def on_graph(rng):
    graph = random_graph(rng)
    return graph, *random_case(rng, from_networkx(graph, "random"), 10)


@pytest.mark.parametrize("rule", ["shortest-path", "each-hop"])
def test_loads_of_graphs_are_those_of_walked_messages(rule):
    """Each cable is a way, whatever its rate."""

    @repeatable(80)
    @given(drawn(on_graph)())
    def check(case):
        graph, mapping, exchange, traffic = case
        network, vertex = mapping.network, {str(v): v for v in graph}
        at = [vertex[network.node_name(node)] for node in mapping.node_of_rank]
        walker = Walker({v: [((v, w), w, graph.edges[v, w]["cables"]) for w in graph[v]] for v in graph})
        walk = getattr(walker, WALKED[rule])
        walked = loads_of(traffic, lambda a, b: walk(at[a], at[b]))
        loads = routing(rule, network).loads(network, exchange, mapping.node_of_rank)
        ends = [(vertex[network.vertices[a]], vertex[network.vertices[b]]) for a, b in zip(network.source, network.target)]
        found = {link: load for link, load in zip(ends, loads.values[0].tolist()) if load}
        assert found == pytest.approx({link: float(load) for link, load in walked.items()})
        worst = max((load / strength(graph, *link) for link, load in walked.items()), default=0)
        assert float(loads.largest()[0]) == pytest.approx(float(worst))
        if worst:
            busiest = tuple(vertex[name] for name in loads.busiest())
            assert float(walked[busiest] / strength(graph, *busiest)) == pytest.approx(float(worst))

    check()


def walk(torus, here, i, direction):
    """Take one step on a twisted torus; past the end of a ring, take the steps of its twists as well."""
    here = [*here]
    here[i] += direction
    if not 0 <= here[i] < torus.shape[i]:
        here[i] %= torus.shape[i]
        for j, twist in enumerate(torus.twists[i]):
            for _ in range(twist):
                here = walk(torus, here, j, direction)
    return tuple(here)


def walker_of(torus):
    """Return the walker of a twisted torus, built by walking; a link is (node, dimension, direction)."""
    links = {node: [] for node in cartesian(*map(range, torus.shape))}
    for node, i in cartesian(links, range(torus.n_dimensions)):
        up, down = walk(torus, node, i, 1), walk(torus, node, i, -1)
        ends = {} if up == node else {1: up} if up == down else {1: up, -1: down}
        links[node] += [((node, i, direction), end, torus.cables[i]) for direction, end in ends.items()]
    return Walker(links)


def loads_of_twisted(mapping, traffic, order=None):
    """Return the loads of all shortest paths, or of those that take one dimension after the other."""
    walker, at = walker_of(mapping.network), [brute.coordinates(mapping.network, int(n)) for n in mapping.node_of_rank]

    def ways(a, b):
        found = walker.shortest(at[a], at[b])
        if order:
            paths = [path for _, path in found if (dims := [order.index(i) for _, i, _ in path]) == sorted(dims)]
            return [(Fraction(1, len(paths)), path) for path in paths]
        return found

    return loads_of(traffic, ways)


@repeatable(150)
@given(drawn(lambda rng: (random_case(rng, random_twisted(rng)), rng.sample("abcd", 4)))())
def test_loads_of_twisted_tori_are_those_of_walked_messages(case):
    """Over all shortest paths, and over one dimension after the other."""
    (mapping, exchange, traffic), letters = case
    torus = mapping.network
    order = [i for i in ("abcd".index(letter) for letter in letters) if i < torus.n_dimensions]
    for name, dims in (("shortest-path", None), (f"dimension-order:{''.join(torus.axes[i] for i in order)}", order)):
        loads = routing(name, torus).loads(torus, exchange, mapping.node_of_rank)
        assert_same(loads, loads_of_twisted(mapping, traffic, dims))


@repeatable(60)
@given(drawn(lambda rng: (mapping := random_full_mapping(rng, random_twisted(rng, 16)), random_transform(rng, mapping.grid),
                          [Fraction(rng.randint(0, 4), 4) for _ in range(2)]))())
def test_shares_of_both_exchanges_at_once_load_the_links_as_walked(case):
    mapping, transform, shares = case
    torus, found = mapping.network, exchanges(mapping.grid, transform)
    joint = routed_joint(torus, found, mapping.node_of_rank, routing("shortest-path", torus))
    together = defaultdict(Fraction)
    for share, exchange, traffic in zip(shares, found, brute.messages(mapping.grid, transform)):
        for link, load in loads_of_twisted(mapping, traffic).items():
            together[link] += share * m_scale(load, torus, exchange.total_bytes)
    largest = [max((load / torus.cables[i] for (_, j, _), load in together.items() if i == j), default=0)
               for i in range(torus.n_dimensions)]
    assert [float(x) for x in joint.largest(shares)] == pytest.approx([float(x) for x in largest], rel=1e-9)


@pytest.mark.parametrize("kind", ["mirrored", "graph"])
@pytest.mark.parametrize("rule", ["shortest-path", "each-hop"])
def test_loads_tables_and_routes_of_single_messages_agree(kind, rule):
    @repeatable(16)
    @given(drawn(lambda rng: random_mapping(rng, EVERY[kind](rng)))())
    def check(mapping):
        network, n = mapping.network, mapping.network.n_nodes
        index, routes, value = network.arcs().index, routes_on(network, rule), routing(rule, network)
        tables = value.routes(network, np.arange(n), np.zeros(n, int))
        for exchange in exchanges(mapping.grid):
            walked, listed = np.zeros(len(index)), np.zeros(len(index))
            for a, b in (pair for group in mapping.node_of_rank[exchange.members]
                         for pair in permutations(group.tolist(), 2) if pair[0] != pair[1]):
                row = slice(*tables.start[a * n + b:][:2])
                np.add.at(listed, tables.link[row], tables.load[row])
                for link, part in routes.links((a, b)).items():
                    walked[link] += float(part)
            loads = np.asarray(value.loads(network, exchange, mapping.ends).bytes(), dtype=float).reshape(-1)[index]
            message = loads.sum() / (walked.sum() or 1)
            assert loads == pytest.approx(message * walked, rel=1e-9, abs=1e-9)
            assert listed == pytest.approx(walked / network.arcs().capacity)

    check()


def as_graph(torus):
    """Return a torus as a graph; `brute.neighbours` is independent of the fast numbering."""
    graph = nx.Graph()
    graph.add_nodes_from(brute.coordinates(torus, node) for node in range(torus.n_nodes))
    graph.add_edges_from((a, b, {"cables": torus.cables[i]}) for a, b, i in brute.neighbours(torus))
    return from_networkx(graph, "t")


@repeatable(40)
@given(drawn(lambda rng: random_mapping(rng, random_torus(rng), 16))())
def test_a_torus_written_as_a_graph_is_routed_over_all_minimal_paths(mapping):
    on_torus = predict_routed(mapping, None, Question("minimal-adaptive:paths"))
    for a, b in zip(on_torus.stages, predict_routed(replace(mapping, network=as_graph(mapping.network))).stages):
        assert float(max(a.load)) == pytest.approx(float(max(b.load)), rel=1e-9)
        assert float(a.hop_length) == pytest.approx(float(b.hop_length), rel=1e-9)


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
    mappings = [mapping := random_mapping(rng, one), replace(mapping, network=two)]
    loads = [ShortestPath().loads(m.network, exchanges(m.grid)[0], m.node_of_rank) for m in mappings]
    found = [dict(zip(zip(n.source.tolist(), n.target.tolist()), each.bytes().reshape(-1)[n.place_of_link].tolist()))
             for n, each in zip((one, two), loads)]
    assert found[0] == pytest.approx(found[1])
    for rule in ("shortest-path", "each-hop"):
        before, after = (predict(each, routing_name=rule) for each in mappings)
        assert float(after.cost) == pytest.approx(float(before.cost))
        assert float(after.lower_bound.value) == pytest.approx(float(before.lower_bound.value))


@pytest.mark.parametrize("by_hop", [False, True])
def test_loads_of_arcs_do_not_depend_on_the_roots_that_are_walked_together(monkeypatch, by_hop):
    """Only two vertices have traffic, so most parts of the roots have none."""
    arcs = from_networkx(nx.circular_ladder_graph(6), "ladder").arcs()
    some = Traffic(12, np.array([0, 9]), np.array([9, 0]), np.array([2.0, 3.0]))
    monkeypatch.setattr(shortest_path, "FEW", 12)
    whole = shortest_path.even_loads_of_arcs(arcs, some, by_hop)
    monkeypatch.setattr(shortest_path, "AT_ONCE", 1)
    assert shortest_path.even_loads_of_arcs(arcs, some, by_hop) == pytest.approx(whole) and whole.sum() == pytest.approx(20)


# Bounds

SLACK = 1 + 1e-6


def bounded(rng, kind):
    mapping = random_mapping(rng, EVERY[kind](rng), 16)
    mapping = in_three(rng, mapping) if rng.random() < 0.3 else mapping
    return mapping, random_transform(rng, mapping.grid)


def longest(lengths, weights):
    return float(max(length * weight for length, weight in zip(lengths, weights)))


@pytest.mark.parametrize("kind", EVERY)
def test_no_routing_is_below_the_cut_bound_and_no_placement_below_the_lower_bounds(kind):
    """Holes, idle slots and several bandwidths included; ideal adaptive routing is itself a bound, on global cables only."""

    @repeatable(40)
    @given(drawn(bounded)(kind))
    def check(case):
        mapping, transform = case
        network, weights = mapping.network, link_weights(mapping.network)
        site = Site(network, mapping.tasks_per_node, Allocation(network, np.unique(mapping.node_of_rank)), idle=True)
        for rule in set(kind_of(network).routings) - {"ideal-adaptive"}:
            prediction = predict(mapping, transform, rule, site=site)
            assert float(prediction.lower_bound.value) <= float(prediction.cost) * SLACK
            assert float(prediction.bounds.together.value) <= longest(prediction.schedule.load_joint, weights) * SLACK
        for exchange in exchanges(mapping.grid, transform):
            loads = {rule: longest(routing(rule, network).loads(network, exchange, mapping.ends).largest(), weights)
                     for rule in set(kind_of(network).routings) - {"ideal-adaptive"}}
            assert longest(cut_bound(network, exchange, mapping.node_of_rank), weights) <= min(loads.values()) * SLACK
            assert loads.get("optimal-minimal", 0) <= min(loads.values()) * SLACK

    check()


def both_ways(graph):
    return list(graph.edges) if graph.is_directed() else [link for a, b in graph.edges for link in ((a, b), (b, a))]


def all_cuts(graph, between):
    """Return the best of all cuts, from all sets of vertices."""
    best = Fraction(0)
    for inside in (set(some) for k in range(1, len(graph)) for some in combinations(graph, k)):
        crossed = sum(w for (a, b), w in between.items() if a in inside and b not in inside)
        if crossed:
            best = max(best, crossed / sum(strength(graph, a, b) for a, b in both_ways(graph)
                                           if a in inside and b not in inside))
    return best


@repeatable(80)
@given(drawn(on_graph)())
def test_the_bound_of_a_graph_is_that_of_hops_or_one_of_all_cuts(case):
    graph, mapping, exchange, traffic = case
    vertex, between, hop_bytes = {str(v): v for v in graph}, defaultdict(int), 0
    for source, target, amount in traffic:
        a, b = (vertex[mapping.network.node_name(mapping.node_of_rank[rank])] for rank in (source, target))
        between[a, b] += amount
        hop_bytes += amount * nx.shortest_path_length(graph, a, b)
    bound, = cut_bound(mapping.network, exchange, mapping.node_of_rank)
    by_hops = hop_bytes / sum(strength(graph, a, b) for a, b in both_ways(graph))
    assert by_hops <= bound <= max(all_cuts(graph, between), by_hops)


SMALL = [("fat-tree:leaves=3,hosts=2,up=1", 1), ("fat-tree:leaves=3,hosts=1,up=1", 2), ("dragonfly:a=2,p=1,h=1", 1),
         ("dragonfly:a=1,p=1,h=2", 2), ("dragonfly-plus:leaves=1,spines=1,hosts=2,groups=3", 1),
         ("dragonfly-plus:leaves=1,spines=1,hosts=1,groups=3", 2), ("hyperx:3,hosts=2", 1), ("hyperx:3,hosts=1", 2),
         (TwistedTorus((2, 3), ((0, 1), (0, 0))), 1), (TwistedTorus((6, 1), ((0, 0), (2, 0))), 1),
         (TwistedTorus((3, 2), ((0, 1), (0, 0)), cables=(1, 2)), 1),
         (TwistedTorus((3, 2), ((0, 0), (2, 0)), (2.0, 1.0)), 1)]


@pytest.mark.parametrize("network, tasks", SMALL, ids=str)
def test_no_placement_of_a_small_network_is_below_its_bounds(network, tasks):
    """Every placement is tried; on switches the bounds are near the best of them."""
    network, switched = network_named(network) if isinstance(network, str) else network, isinstance(network, str)
    rule = routing(default_routing(network), network)
    for grid in (ProcessGrid(2, 3), ProcessGrid(3, 2)):
        apart, together = [], []
        for order in permutations(range(6)):
            at = np.array(order)
            group = network.switch_of_link[at // tasks] if switched else at
            alike = any(at[i] > at[j] for i, j in combinations(range(6), 2) if group[i] == group[j])
            if alike or (not switched and order[0]):
                continue  # hosts of a switch change places, and a twisted torus is alike from every node
            joint = routed_joint(network, exchanges(grid), at // tasks, rule)
            apart.append(float(joint.length((1, 0)) + joint.length((0, 1))))
            together.append(float(joint.length((1, 1))))
        bounds = Bounds(Site(network, tasks), grid)
        for bound, costs in ((bounds.in_sequence.value, apart), (bounds.together.value, together)):
            assert min(costs) * 0.6 * switched <= float(bound) <= min(costs) + 1e-9 and bound > 0
    assert max(machine_bound(network)) > 0


PUBLISHED = [  # network, hosts of a job or None, tasks, grid, routing, cost and bound of the launch order: own prototypes
    ("fat-tree:leaves=9,hosts=8,taper=2", None, 1, "8x9", "shortest-path", 10.61, 9.94),
    ("fat-tree:leaves=9,hosts=8,taper=2", None, 1, "8x9", "static", 10.61, 9.94),
    ("fat-tree:leaves=32,hosts=16,taper=2", None, 8, "64x64", "shortest-path", 11.25, 7.81),
    ("fat-tree:leaves=640,hosts=16,taper=2,pods=20,core=4", None, 8, "256x320", "shortest-path", 64.8, None),
    ("dragonfly:a=16,p=8,h=8,groups=80", None, 8, "256x320", "minimal", 14.4, None),
    ("dragonfly:a=4,p=2,h=2", None, 1, "6x12", "minimal", 9.33, 7.00),
    ("dragonfly:a=6,p=3,h=3", None, 1, "38x9", "minimal", 41.2, None),
    ("dragonfly:a=6,p=3,h=3", None, 1, "38x9", "ideal-adaptive", 8.39, None),
    ("dragonfly:a=8,p=8,groups=8,cables=8", None, 1, "16x32", "minimal", 24.0, 7.62),
    ("fat-tree:leaves=9,hosts=8,taper=2", 42, 8, "16x21", "shortest-path", 8.48, 6.96),
    ("fat-tree:leaves=32,hosts=16,taper=2", 288, 8, "48x48", "shortest-path", 9.98, 7.25),
    ("dragonfly:a=6,p=3,h=3", 204, 1, "12x17", "minimal", 16.47, 7.43)]


def launched(text, tasks, grid, hosts=None):
    network = network_named(text)
    hosts, ranks = np.arange(network.n_nodes) if hosts is None else hosts, np.arange(grid.n_tasks)
    return Mapping(network, grid, tasks, hosts[ranks // tasks], ranks % tasks)


@pytest.mark.parametrize("text, number, tasks, grid, rule, cost, bound", PUBLISHED)
def test_costs_and_bounds_of_launch_orders(text, number, tasks, grid, rule, cost, bound):
    """Of whole machines and of hosts drawn at random, whose lengths count the hosts in use."""
    n = network_named(text).n_nodes
    hosts = np.sort(Random(1).sample(range(n), number) if "tree" in text else np.random.default_rng(1).choice(
        n, number, replace=False)) if number else np.arange(n)
    mapping = launched(text, tasks, parse_grid(grid), hosts)
    site = Site(mapping.network, tasks, Allocation(mapping.network, hosts)) if number else None
    found, share = predict(mapping, routing_name=rule, site=site), len(hosts) / n
    assert float(found.cost) * share == pytest.approx(cost, abs=0.05 if cost > 20 or "80" in text else 0.006)
    if bound:
        assert bound - 0.006 <= float(found.lower_bound.value) * share <= bound * 1.01


@pytest.mark.parametrize("text", ["fat-tree:leaves=3,hosts=4,up=2", "dragonfly:a=2,p=2,groups=3,cables=1",
                                  "dragonfly-plus:leaves=2,spines=1,hosts=2,groups=3", "hyperx:2x3,hosts=2"])
def test_every_schedule_is_predicted(text):
    """The joint loads of a schedule are sums over the walked messages of both exchanges."""
    mapping = launched(text, 1, ProcessGrid(3, 4))
    rule = routing(default_routing(mapping.network), mapping.network)
    joint = sum(rule.loads(mapping.network, e, mapping.ends).bytes() * 4 * 12 / e.total_bytes
                for e in exchanges(mapping.grid)).max()
    for schedule in SCHEDULES:
        found = predict(mapping, schedule=schedule).schedule
        assert max(map(float, found.load_joint)) == pytest.approx(joint) and float(found.cost) >= joint - 1e-9


@repeatable(40)
@given(drawn(lambda rng: random_case(rng, network_named(RANDOM[rng.choice(["dragonfly", "dragonfly-plus"])](rng)), 16))())
def test_ideal_adaptive_routing_is_below_every_rule_and_above_the_cuts_of_groups(case):
    """On global cables. On host links all rules are equal."""
    mapping, exchange, _ = case
    network = mapping.network
    ideal, *rest = ([float(x) for x in routing(rule, network).loads(network, exchange, mapping.ends).largest()]
                    for rule in ("ideal-adaptive", "minimal", "valiant"))
    assert all(ideal[2] <= found[2] * SLACK and ideal[0] == found[0] for found in rest)
    *_, group = units_of(network)
    cables = group.leaving[:, 2]
    if cables.all():
        leaving = np.maximum(*crossing(exchange, mapping.node_of_rank, group.of_node, len(cables)))[:, 0]
        assert ideal[2] >= (leaving / cables).max() * (1 - 1e-6)


def test_the_linear_program_is_left_for_cuts_above_its_limit(monkeypatch):
    mapping = launched("dragonfly:a=4,p=2,h=2", 1, ProcessGrid(12, 6))
    row, rule = exchanges(mapping.grid)[0], routing("ideal-adaptive", mapping.network)
    solved = rule.loads(mapping.network, row, mapping.ends).largest()
    monkeypatch.setattr("pencilmap.model.kinds.dragonfly_network.MOST_WAYS", 0)
    cut = rule.loads(mapping.network, row, mapping.ends).largest()
    assert float(cut[2]) == pytest.approx(float(cut_bound(mapping.network, row, mapping.node_of_rank)[2]))
    assert cut[0] == solved[0] and cut[2] <= solved[2]


@pytest.mark.thorough
def test_the_search_on_an_unknown_kind_beats_the_launch_order_and_pictures_show_the_answer():
    network, grid = Mirrored((4, 3)), ProcessGrid(3, 4)
    best, default = candidates(Site(network), grid, within=Search(5_000_000))[-1], place("default", Site(network), grid)
    assert predict(best).cost <= predict(default).cost
    assert any("row 0: 3 ranks" in line for line in image_text(best, {"row": 0, "column": 0}, 80))
    loads = routing("shortest-path", network).loads(network, exchanges(grid)[0], best.ends)
    assert 2 < len(loads_table([("rows", [("", loads)])], False, network.n_nodes)) <= 2 + 2


# Twisted and folded tori


@repeatable(60)
@given(drawn(lambda rng: (torus := random_twisted(rng), rng.randrange(torus.n_nodes), rng.choice([None, 0])))())
def test_cosets_of_a_subgroup_load_all_links_of_a_direction_alike(case):
    torus, generator, ordered = case
    order = None if ordered is None else tuple(range(torus.n_dimensions))
    group, rows, left = [0], [], set(range(torus.n_nodes))
    while (following := int(torus.sums(np.array([group[-1]]), np.array([generator]))[0, 0])) != 0:
        group.append(following)
    while left:
        rows.append(torus.sums(np.array([min(left)]), np.array(group))[0])
        left -= set(rows[-1].tolist())
    row, _ = exchanges(ProcessGrid(len(group), len(rows)))
    rule = routing("shortest-path" if order is None else "dimension-order", torus)
    found = rule.loads(torus, row, np.concatenate(rows)).bytes().reshape(-1, torus.n_nodes)
    steps = routes_of(torus, order).steps[group].sum(axis=0)
    assert found == pytest.approx(np.repeat(steps[:, None], torus.n_nodes, axis=1), rel=1e-9)


@repeatable(100)
@given(drawn(random_twisted)())
def test_every_text_is_read_back_and_every_step_back_leads_back(torus):
    if any(map(any, torus.twists)):
        assert parse_twisted(str(torus), cables=torus.cables) == torus
    nodes = np.arange(torus.n_nodes)
    for i in range(torus.n_dimensions):
        assert (torus.reached(torus.reached(nodes, i, 1), i, -1) == nodes).all()
        walked = [int(torus.node(walk(torus, brute.coordinates(torus, node), i, 1))) for node in nodes.tolist()]
        assert torus.neighbours[i, 0].tolist() == walked


def random_box(rng):
    """Return a Tofu-like box of one to three pairs and a logical torus that fits it."""
    half = rng.randint(1, 3)
    outer, inner = [rng.randint(1, 4) for _ in range(half)], [rng.choice([2, 3, 3, 4]) for _ in range(half)]
    while prod(outer) * prod(inner) > 200:
        outer = [max(1, n - 1) for n in outer]
        inner = [2 if prod(inner) > 50 else n for n in inner]
    wrap = [rng.random() < 0.3 for _ in outer] + [n == 3 or (n == 4 and i % 2 > 0) for i, n in zip(outer, inner)]
    sizes = [o * i for o, i in zip(outer, inner)]
    rng.shuffle(sizes)
    cut = sorted(rng.sample(range(1, half), rng.randint(0, half - 1)))
    return fold(Torus((*outer, *inner), tuple(wrap)), [prod(sizes[a:b]) for a, b in zip([0, *cut], [*cut, half])])


@repeatable(60)
@given(drawn(random_box)())
def test_every_step_along_a_logical_axis_follows_one_link_of_the_box(box):
    assert sorted(box.from_logical.tolist()) == list(range(box.n_nodes))
    assert np.array_equal(box.to_logical[box.from_logical], np.arange(box.n_nodes))
    linked = {link[:2] for link in brute.neighbours(box)}
    for node, (axis, n) in cartesian(range(box.n_nodes), enumerate(box.folded)):
        if n > 1:
            here = box.logical.coordinates(node)
            there = here.copy()
            there[axis] = (there[axis] + 1) % n
            a, b = (tuple(box.coordinates(box.from_logical[box.logical.node(at)]).tolist()) for at in (here, there))
            assert (*sorted((a, b)),) in linked


def ring_of_two(n):
    return [(i, 0) for i in range(n)] + [(i, 1) for i in reversed(range(n))]


def ring_of_three(n):
    back = [(i, j) for number, i in enumerate(reversed(range(n))) for j in ((1, 2) if number % 2 == 0 else (2, 1))]
    return [(i, 0) for i in range(n)] + back


@pytest.mark.parametrize("seed", range(6))
def test_loads_are_those_of_messages_walked_in_the_six_dimensions(seed):
    """The places of the logical coordinates are built here a second time, and so are the routes."""
    rng = Random(seed)
    x, y, z = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 2)
    box = load_machine("fugaku").partition(f"{2 * x}x{3 * y}x{2 * z}")
    assert box.shape == (x, y, z, 2, 3, 2) and box.wrap == (False, False, False, False, True, False)
    rings, T = (ring_of_two(x), ring_of_three(y), ring_of_two(z)), rng.randint(1, 2)
    n_tasks = min(box.n_nodes * T, 24)
    R = rng.choice([r for r in (2, 3, 4, 6) if n_tasks % r == 0])
    grid, slots = ProcessGrid(R, n_tasks // R), np.array(rng.sample(range(box.n_nodes * T), n_tasks))
    at = [tuple(rings[i][place[i]][half] for half in (0, 1) for i in range(3))
          for place in box.logical.coordinates(slots // T).tolist()]
    mapping = Mapping(box, grid, T, box.from_logical[slots // T], slots % T)
    assert [tuple(c) for c in mapping.coordinates().tolist()] == at
    transform = random_transform(rng, grid)
    for stage, traffic in zip(predict(mapping, transform).stages, brute.messages(grid, transform)):
        largest = max(brute.dimension_order(box, traffic, mapping.node_of_rank).values(), default=0)
        assert max(stage.load) == 4 * Fraction(largest) * box.n_nodes / sum(size for *_, size in traffic)


def test_the_text_of_a_folded_torus_is_read_back():
    for text in ("4x12x4:box=2x4x2x2x3wx2", "6x4:box=3x2x2x2", "48:box=4wx2x2x3w", "4x12:box=2x4x2x3w:axes=pqrs"):
        box = network_named(text)
        assert isinstance(box, FoldedTorus) and str(box) == text and kind_of(box).name == "folded-torus"
        assert network_named(str(box)) == box
    assert network_named("4x12x4:box=2x4x2x2x3wx2").as_dict()["logical"] == [4, 12, 4]


def test_the_boxes_of_a_shape_are_all_that_hold_it_and_others_are_refused():
    fugaku = load_machine("fugaku")
    rule = fugaku.partition_rule()
    for shape in [(12, 24), (24, 12, 4), (6, 6, 12), (48,), (5, 7), (4, 6), (6, 6)]:
        every = [box for box in cartesian(range(1, 13), repeat=3) if prod(box) * 12 == prod(shape)]
        boxes = {(*box, 2, 3, 2) for box in every if folds(shape, (*box, 2, 3, 2))}
        if len(shape) == 3:  # three axes take the pairs in their order, as the source says, if they can
            boxes = {box for box in boxes if [box[i] * box[i + 3] for i in range(3)] == list(shape)} or boxes
        assert {box.shape for box in rule.boxes(shape)} == boxes
    known = "12x24:box=2x4x3x2x3wx2, 12x24:box=3x4x2x2x3wx2, .* and 10 more"
    with pytest.raises(PartitionError, match=f"boxes of 12x24 are {known}"):
        fugaku.partition("12x24:box=24x1x1x2x3wx2")
    assert fugaku.partition("12x24:box=6x2x2x2x3wx2").bandwidth == (6.8e9,) * 6
    assert [str(t) for t in machine_partitions(fugaku, 24)][:2] == ["2x3x4:box=1x1x2x2x3wx2", "2x2x6:box=1x2x1x2x3wx2"]


def test_a_question_on_fugaku_is_answered_for_the_box():
    where = setting(machine="fugaku", nodes="4x6x4", tasks_per_node=1, failed="1-2-3,0-0-0", idle=True)
    gone = set(range(96)) - set(where.site.allocation.nodes.tolist())
    at = {tuple(where.network.logical.coordinates(where.network.to_logical[node]).tolist()) for node in gone}
    assert at == {(1, 2, 3), (0, 0, 0)}, "nodes are named by their logical coordinates"
    default, = where.predictions("8x11", ["default"])
    assert default.network.shape == (2, 2, 2, 2, 3, 2) and any("in a box" in note for note in default.notes)


# Refusals


def edge(a="a", b="b", **data):
    graph = nx.Graph()
    graph.add_edge(a, b, **data)
    return graph


def with_node(**data):
    graph = nx.path_graph(3)
    graph.add_node(1, **data)
    return graph


NO_GRAPHS = [
    (edge(bandwidth="148"), "148"), (edge(bandwidth="-1 GB/s"), "-1 GB/s"), (edge(bandwidth=0), "more than 0"),
    (edge(bandwidth=float("nan")), "more than 0"), (edge(bandwidth=[1]), "text with a unit"), (edge(cables=0), "0 cables"),
    (edge(cables="two"), "'two' cables"), (edge(cables=1.5), "1.5 cables"), (with_node(kind="router"), "a host or a switch"),
    (nx.Graph(), "0 hosts"), (nx.empty_graph(2), "there is no path"), (nx.DiGraph([(0, 1)]), "there is no path"),
    (nx.Graph([("1", 1)]), "two vertices called '1'"),
    (nx.compose(edge(bandwidth=2e9), edge("b", "c")), "some edges have a bandwidth and others have none"),
    (nx.compose(edge(**{"class": "thin"}), edge("b", "c", bandwidth=1e9)), "class thin have no bandwidth")]


@pytest.mark.parametrize("graph, words", NO_GRAPHS)
def test_what_is_no_network_is_refused(graph, words):
    with pytest.raises(GraphError) as error:
        from_networkx(graph, "demo")
    assert words in str(error.value) and "demo" in str(error.value)


def test_a_bandwidth_for_all_edges_or_classes_that_say_none():
    assert from_networkx(NO_GRAPHS[-2][0], "mixed", 1e9).cables == (1, 1, Fraction(1, 2), Fraction(1, 2))
    assert from_networkx(NO_GRAPHS[-1][0], "whole", {"thin": 2e9}).bandwidth == (2e9, 1e9)


@pytest.mark.parametrize("text, problem", [
    ("4x4x4:twisted", "no usual twist"), ("4x4x8:twist", "is not understood"), ("4x4x8:twist=xz8,yz4", "0 to 7"),
    ("4x4x8:twist=xx1", "no twist"), ("4x4x8:twist=xw1", "'xw1' is not understood"), ("4x4:twist=xy1,yx1", "circle"),
    ("4x4x8:twist=xz2,xz2", "two twists"), ("4wx4x8:twisted", "is not understood"), ("4x4x8:twist=", "'' is not understood"),
    ("2x4x8:twisted", "no usual twist"), ("999999x999999:twist=xy1", "nodes; at most"),
    ("4x12x5:box=2x4x2x2x3wx2", "cannot be laid into a box"), ("4x12x4:box=2x4x2x2x3", "cannot be laid"),
    ("4x12x4:box=", "not understood"), ("4x12x4x2:box=2x4x2x2x3wx2", "cannot be laid"),
    ("9:box=3x3:mesh", "inner dimension needs"), ("4x:box=2x2", "not understood"), ("4:box=4x1", "no ring passes"),
    ("1024x1024x4:box=512x512x2x2x2x2", "too large to be numbered")])
def test_impossible_twists_and_boxes_are_refused(text, problem):
    with pytest.raises(TorusError, match=problem):
        parse_twisted(text) if "twist" in text else network_named(text)


def test_rules_for_ties_are_for_tori_without_twists():
    torus = TwistedTorus((4, 8))
    with pytest.raises(RoutingError, match="twisted torus 4x8"):
        routing("dimension-order:plus", torus).loads(torus, exchanges(ProcessGrid(4, 8))[1], np.arange(32))
    with pytest.raises(RoutingError, match="does not work"):
        routing("minimal-adaptive", torus)
