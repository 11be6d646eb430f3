"""Folded tori: rings through pairs of dimensions, and loads in the box against messages walked one by one."""

from fractions import Fraction
from itertools import product as cartesian
from math import prod
from random import Random

import numpy as np
import pytest
from hypothesis import given

from pencilmap.mapper.setting import setting
from pencilmap.model.base.errors import PartitionError, TorusError
from pencilmap.model.kinds import kind_of, network_named
from pencilmap.model.machines.machine import load_machine, machine_partitions
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.twisted_torus import FoldedTorus, fold, folds
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from tests.model import brute_force as brute
from tests.model.cases import drawn, random_transform, repeatable


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
