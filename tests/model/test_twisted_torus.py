"""Twisted tori compared with walks of every message, on a network that is built step by step."""

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product as cartesian
from math import prod

import numpy as np
import pytest
from hypothesis import given

from pencilmap.model.base.errors import RoutingError, TorusError
from pencilmap.model.kinds import routing
from pencilmap.model.kinds.twisted_torus import routes_of
from pencilmap.model.network.twisted_torus import TwistedTorus, parse_twisted
from pencilmap.model.placement.allocation import Allocation, Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, cut_bound, lower_bound, together_bound
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import m_scale, routed_joint
from tests.model import brute_force as brute
from tests.model.cases import (
    assert_same,
    drawn,
    random_case,
    random_full_mapping,
    random_shape,
    random_transform,
    repeatable,
)


def random_twisted(rng, most_nodes=30):
    """Return a twisted torus of one to four dimensions whose twists lead from some dimensions to later ones of an order."""
    shape = random_shape(rng, most_nodes, 4)
    order = rng.sample(range(len(shape)), len(shape))
    twists = [[rng.randrange(n) if order[j] > order[i] and rng.random() < 0.7 else 0 for j, n in enumerate(shape)]
              for i in range(len(shape))]
    return TwistedTorus(tuple(shape), tuple(map(tuple, twists)), cables=tuple(rng.choice([1, 1, 2]) for _ in shape))


def walk(torus, here, i, direction):
    """Take one step; past the end of a ring, take the steps of its twists as well."""
    here = [*here]
    here[i] += direction
    if not 0 <= here[i] < torus.shape[i]:
        here[i] %= torus.shape[i]
        for j, twist in enumerate(torus.twists[i]):
            for _ in range(twist):
                here = walk(torus, here, j, direction)
    return tuple(here)


class Walked:
    """The network of a twisted torus, built by walking."""

    def __init__(self, torus):
        self.torus = torus
        self.links = {}
        for node in cartesian(*map(range, torus.shape)):
            self.links[node] = {}
            for i in range(torus.n_dimensions):
                up, down = walk(torus, node, i, 1), walk(torus, node, i, -1)
                ends = {} if up == node else {1: up} if up == down else {1: up, -1: down}
                self.links[node].update({(i, direction): end for direction, end in ends.items()})
        self.trees = {}

    def paths(self, source, target):
        """Return all shortest paths as lists of (node, dimension, direction)."""
        if source not in self.trees:
            found, level = {source: [[]]}, [source]
            while level:
                later = defaultdict(list)
                for node in level:
                    for (i, direction), end in self.links[node].items():
                        if end not in found:
                            later[end] += [[*path, (node, i, direction)] for path in found[node]]
                found.update(later)
                level = list(later)
            self.trees[source] = found
        return self.trees[source][target]

    def loads(self, traffic, node_of_rank, order=None):
        """Return the load of every link: dict from (node, dimension, direction) to Fraction."""
        found = defaultdict(Fraction)
        for a, b, amount in traffic:
            ends = [brute.coordinates(self.torus, int(node_of_rank[rank])) for rank in (a, b)]
            paths = self.paths(*ends)
            if order:
                paths = [path for path in paths if [order.index(i) for _, i, _ in path] == sorted(
                    order.index(i) for _, i, _ in path)]
                assert paths
            ways = [1 if order else prod(self.torus.cables[i] for _, i, _ in path) for path in paths]  # a cable is a path
            for path, some in zip(paths, ways):
                for link in path:
                    found[link] += Fraction(amount * some, sum(ways))
        return dict(found)


twisted_cases = drawn(lambda rng: (random_case(rng, random_twisted(rng)), rng.sample("abcd", 4)))()


@repeatable(150)
@given(twisted_cases)
def test_even_loads_are_those_of_walking_every_shortest_path(case):
    (mapping, exchange, traffic), _ = case
    walked = Walked(mapping.network).loads(traffic, mapping.node_of_rank)
    assert_same(routing("shortest-path", mapping.network).loads(mapping.network, exchange, mapping.node_of_rank), walked)


@repeatable(150)
@given(twisted_cases)
def test_ordered_loads_are_those_of_walking_one_dimension_after_the_other(case):
    (mapping, exchange, traffic), letters = case
    torus = mapping.network
    order = [i for i in ("abcd".index(letter) for letter in letters) if i < torus.n_dimensions]
    walked = Walked(torus).loads(traffic, mapping.node_of_rank, order)
    rule = routing(f"dimension-order:{''.join(torus.axes[i] for i in order)}", torus)
    assert_same(rule.loads(torus, exchange, mapping.node_of_rank), walked)


@repeatable(60)
@given(twisted_cases)
def test_no_routing_is_better_than_the_cuts_and_none_of_shortest_paths_than_the_best(case):
    (mapping, exchange, _), _ = case
    torus, nodes = mapping.network, mapping.node_of_rank
    bound = max(cut_bound(torus, exchange, nodes))
    best, even, ordered = (max(routing(name, torus).loads(torus, exchange, nodes).largest())
                           for name in ("optimal-minimal", "shortest-path", "dimension-order"))
    assert float(bound) <= float(best) * (1 + 1e-6)
    assert float(best) <= min(map(float, (even, ordered))) * (1 + 1e-6)


@repeatable(60)
@given(drawn(lambda rng: (mapping := random_full_mapping(rng, random_twisted(rng, 16)), random_transform(rng, mapping.grid),
                          [Fraction(rng.randint(0, 4), 4) for _ in range(2)]))())
def test_shares_of_both_exchanges_at_once_load_the_links_as_walked(case):
    mapping, transform, shares = case
    found = exchanges(mapping.grid, transform)
    joint = routed_joint(mapping.network, found, mapping.node_of_rank, routing("shortest-path", mapping.network))
    together, walked = defaultdict(Fraction), Walked(mapping.network)
    for share, exchange, traffic in zip(shares, found, brute.messages(mapping.grid, transform)):
        for link, load in walked.loads(traffic, mapping.node_of_rank).items():
            together[link] += share * m_scale(load, mapping.network, exchange.total_bytes)
    largest = [max((load / mapping.network.cables[i] for (_, j, _), load in together.items() if i == j), default=0)
               for i in range(mapping.network.n_dimensions)]
    assert [float(x) for x in joint.largest(shares)] == pytest.approx([float(x) for x in largest], rel=1e-9)


@repeatable(60)
@given(drawn(lambda rng: (torus := random_twisted(rng), rng.randrange(torus.n_nodes), rng.choice([None, 0])))())
def test_cosets_of_a_subgroup_load_all_links_of_a_direction_alike(case):
    torus, generator, ordered = case
    order = None if ordered is None else tuple(range(torus.n_dimensions))
    group = [0]
    while (following := int(torus.sums(np.array([group[-1]]), np.array([generator]))[0, 0])) != 0:
        group.append(following)
    rows, left = [], set(range(torus.n_nodes))
    while left:
        rows.append(torus.sums(np.array([min(left)]), np.array(group))[0])
        left -= set(rows[-1].tolist())
    grid = ProcessGrid(len(group), len(rows))
    row, _ = exchanges(grid)
    name = "shortest-path" if order is None else "dimension-order"
    found = routing(name, torus).loads(torus, row, np.concatenate(rows)).bytes().reshape(-1, torus.n_nodes)
    steps = routes_of(torus, order).steps[group].sum(axis=0)
    assert found == pytest.approx(np.repeat(steps[:, None], torus.n_nodes, axis=1), rel=1e-9)


SMALL = [TwistedTorus((2, 3), ((0, 1), (0, 0))), TwistedTorus((6, 1), ((0, 0), (2, 0))),
         TwistedTorus((3, 2), ((0, 1), (0, 0)), cables=(1, 2)), TwistedTorus((3, 2), ((0, 0), (2, 0)), (2.0, 1.0))]


@pytest.mark.parametrize("torus", SMALL, ids=str)
def test_no_placement_of_a_small_machine_is_below_the_bounds(torus):
    for R in (R for R in range(2, torus.n_nodes) if torus.n_nodes % R == 0):
        grid = ProcessGrid(R, torus.n_nodes // R)
        apart, together = [], []
        for others in permutations(range(1, torus.n_nodes)):
            if list(others[:R - 1]) != sorted(others[:R - 1]):
                continue  # the order inside the first row does not matter
            joint = routed_joint(torus, exchanges(grid), np.array([0, *others]), routing("shortest-path", torus))
            apart.append(joint.length((1, 0)) + joint.length((0, 1)))
            together.append(joint.length((1, 1)))
        assert 0 < lower_bound(Site(torus), grid).value <= min(apart)
        assert 0 < together_bound(Site(torus), grid).value <= min(together)


@pytest.mark.parametrize("nodes", [(0, 1, 3, 4), (0, 2, 5, 7), (1, 2, 3, 6)])
def test_no_placement_on_some_nodes_is_below_the_bounds(nodes):
    torus, grid = TwistedTorus((2, 4)), ProcessGrid(2, 2)
    site = Site(torus, allocation=Allocation(torus, nodes))
    costs = [predict(Mapping(torus, grid, 1, np.array(some), np.zeros(4, dtype=int)), site=site).cost
             for some in permutations(nodes)]
    assert 0 < Bounds(site, grid).any <= lower_bound(site, grid).value <= min(costs)


@pytest.mark.parametrize("text, problem", [
    ("4x4x4:twisted", "no usual twist"), ("4x4x8:twist", "is not understood"), ("4x4x8:twist=xz8,yz4", "0 to 7"),
    ("4x4x8:twist=xx1", "no twist"), ("4x4x8:twist=xw1", "'xw1' is not understood"), ("4x4:twist=xy1,yx1", "circle"),
    ("4x4x8:twist=xz2,xz2", "two twists"), ("4wx4x8:twisted", "is not understood"), ("4x4x8:twist=", "'' is not understood"),
    ("2x4x8:twisted", "no usual twist"), ("999999x999999:twist=xy1", "nodes; at most")])
def test_other_texts_are_refused(text, problem):
    with pytest.raises(TorusError, match=problem):
        parse_twisted(text)


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


def test_rules_for_ties_are_for_tori_without_twists():
    torus = TwistedTorus((4, 8))
    _, column = exchanges(ProcessGrid(4, 8))
    with pytest.raises(RoutingError, match="twisted torus 4x8"):
        routing("dimension-order:plus", torus).loads(torus, column, np.arange(32))
    with pytest.raises(RoutingError, match="does not work"):
        routing("minimal-adaptive", torus)
