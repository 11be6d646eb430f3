"""Twisted and folded tori compared with walks of every message."""

from collections import defaultdict
from fractions import Fraction
from itertools import permutations, product as cartesian
from math import prod
from random import Random

import numpy as np
import pytest
from hypothesis import given

from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import PartitionError, RoutingError, TorusError
from pencilmap.model.kinds import kind_of, network_named, routing
from pencilmap.model.kinds.twisted_torus import routes_of
from pencilmap.model.machines.machine import load_machine, machine_partitions
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.twisted_torus import FoldedTorus, TwistedTorus, fold, folds, parse_twisted
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


# Folded tori: rings through pairs of dimensions, and loads in the box against messages walked one by one.

def random_box(rng):
    """Return a Tofu-like box of one to three pairs and a logical torus that fits it."""
    half = rng.randint(1, 3)
    outer, inner = [rng.randint(1, 4) for _ in range(half)], [rng.choice([2, 3, 3, 4]) for _ in range(half)]
    while prod(outer) * prod(inner) > 200:
        outer = [max(1, n - 1) for n in outer]
        inner = [2 if prod(inner) > 50 else n for n in inner]
    wrap = [rng.random() < 0.3 for _ in outer] + [n == 3 or (n == 4 and i % 2 > 0) for i, n in zip(outer, inner)]
    sizes, parts = [o * i for o, i in zip(outer, inner)], []
    rng.shuffle(sizes)
    cut = sorted(rng.sample(range(1, half), rng.randint(0, half - 1)))
    for a, b in zip([0, *cut], [*cut, half]):
        parts.append(prod(sizes[a:b]))
    return fold(Torus((*outer, *inner), tuple(wrap)), parts)


boxes = drawn(random_box)


@repeatable(60)
@given(boxes())
def test_every_step_along_a_logical_axis_follows_one_link_of_the_box(box):
    assert sorted(box.from_logical.tolist()) == list(range(box.n_nodes))
    assert np.array_equal(box.to_logical[box.from_logical], np.arange(box.n_nodes))
    linked = {link[:2] for link in brute.neighbours(box)}
    for node in range(box.n_nodes):
        here = box.logical.coordinates(node)
        for axis, n in enumerate(box.folded):
            if n > 1:
                there = here.copy()
                there[axis] = (there[axis] + 1) % n
                a, b = (tuple(box.coordinates(box.from_logical[box.logical.node(at)]).tolist()) for at in (here, there))
                assert (*sorted((a, b)),) in linked


def ring_of_two(n):
    return [(i, 0) for i in range(n)] + [(i, 1) for i in reversed(range(n))]


def ring_of_three(n):
    back = [(i, j) for number, i in enumerate(reversed(range(n))) for j in ((1, 2) if number % 2 == 0 else (2, 1))]
    return [(i, 0) for i in range(n)] + back


@pytest.mark.parametrize("seed", range(12))
def test_loads_are_those_of_messages_walked_in_the_six_dimensions(seed):
    """The places of the logical coordinates are built here a second time, and so are the routes."""
    rng = Random(seed)
    x, y, z = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 2)
    shape = (2 * x, 3 * y, 2 * z)
    box = load_machine("fugaku").partition("x".join(map(str, shape)))
    assert box.shape == (x, y, z, 2, 3, 2) and box.wrap == (False, False, False, False, True, False)
    rings = ring_of_two(x), ring_of_three(y), ring_of_two(z)
    T = rng.randint(1, 2)
    n_tasks = min(box.n_nodes * T, 24)
    grid = ProcessGrid(rng.choice([r for r in (2, 3, 4, 6) if n_tasks % r == 0]), 1)
    grid = ProcessGrid(grid.shape[0], n_tasks // grid.shape[0])
    slots = rng.sample(range(box.n_nodes * T), n_tasks)
    logical = [tuple(int(c) for c in box.logical.coordinates(slot // T)) for slot in slots]
    at = [tuple(rings[i][place[i]][half] for half in (0, 1) for i in range(3)) for place in logical]
    mapping = Mapping(box, grid, T, box.from_logical[np.array(slots) // T], np.array(slots) % T)
    assert [tuple(c) for c in mapping.coordinates().tolist()] == at
    transform = random_transform(rng, grid)
    prediction = predict(mapping, transform)
    for stage, messages in zip(prediction.stages, brute.messages(grid, transform)):
        loads = brute.dimension_order(box, messages, mapping.node_of_rank)
        total = sum(size for *_, size in messages)
        largest = max(loads.values(), default=0)
        assert max(stage.load) == 4 * Fraction(largest) * box.n_nodes / total


def test_the_text_of_a_folded_torus_is_read_back():
    for text in ("4x12x4:box=2x4x2x2x3wx2", "6x4:box=3x2x2x2", "48:box=4wx2x2x3w", "4x12:box=2x4x2x3w:axes=pqrs"):
        box = network_named(text)
        assert isinstance(box, FoldedTorus) and str(box) == text and kind_of(box).name == "folded-torus"
        assert network_named(str(box)) == box
    assert network_named("4x12x4:box=2x4x2x2x3wx2").as_dict()["logical"] == [4, 12, 4]


@pytest.mark.parametrize("text, words", [
    ("4x12x5:box=2x4x2x2x3wx2", "cannot be laid into a box"), ("4x12x4:box=2x4x2x2x3", "cannot be laid"),
    ("4x12x4:box=", "not understood"),
    ("4x12x4x2:box=2x4x2x2x3wx2", "cannot be laid"), ("9:box=3x3:mesh", "inner dimension needs"),
    ("4x:box=2x2", "not understood"), ("4:box=4x1", "no ring passes"),
    ("1024x1024x4:box=512x512x2x2x2x2", "too large to be numbered")])
def test_impossible_boxes_are_refused(text, words):
    with pytest.raises(TorusError, match=words):
        network_named(text)


def test_the_boxes_of_a_shape_are_all_that_hold_it():
    rule = load_machine("fugaku").partition_rule()
    for shape in [(12, 24), (24, 12, 4), (6, 6, 12), (48,), (5, 7), (4, 6), (6, 6)]:
        every = [box for box in cartesian(range(1, 13), repeat=3) if prod(box) * 12 == prod(shape)]
        wanted = {(*box, 2, 3, 2) for box in every if folds(shape, (*box, 2, 3, 2))}
        if len(shape) == 3:  # three axes take the pairs in their order, as the source says, if they can
            named = {box for box in wanted if [box[i] * box[i + 3] for i in range(3)] == list(shape)}
            wanted = named or wanted
        assert {box.shape for box in rule.boxes(shape)} == wanted


def test_a_box_that_the_machine_does_not_give_is_refused_with_those_that_it_gives():
    fugaku = load_machine("fugaku")
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
