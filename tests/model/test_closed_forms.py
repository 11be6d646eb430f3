"""Closed forms compared with walks of every message: any schedule, blocks, and order of ranks within the groups."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given

from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.network.torus import TIES, Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import Product, parse_pattern, product_of
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules.schedule import BACKWARD, DIRECTIONS, FORWARD, PAIR
from tests.model.cases import drawn, predict_routed, random_pattern, repeatable
from tests.model.flights import flights, walk

pytestmark = pytest.mark.usefixtures("quick_bounds")
MOST_TASKS = 24


def reordered(product, rows, columns):
    """Return the mapping with the groups of a product, and the members of its rows and columns, in another order."""
    mapping, (R, _) = product.mapping(), product.grid.shape
    rank = (np.asarray(rows)[None, :] + R * np.asarray(columns)[:, None]).ravel()
    return replace(mapping, node_of_rank=mapping.node_of_rank[rank], slot_of_rank=mapping.slot_of_rank[rank])


def random_product(rng):
    """Return a product of at most `MOST_TASKS` tasks on rings and lines, 1 to 3 on a node."""
    while True:
        shape = [rng.choice([1, 2, 2, 3, 4, 4, 6]) for _ in range(rng.randint(1, 3))]
        slots = rng.choice([1, 1, 2, 3])
        if 6 <= np.prod(shape) * slots <= MOST_TASKS:
            break
    torus = Torus(tuple(shape), tuple(rng.random() < 0.7 for _ in shape), bandwidth=(1e9,) * len(shape),
                  cables=tuple(rng.choice([1, 1, 2]) for _ in shape))
    return Product(torus, tuple(random_pattern(rng, n) for n in shape), random_pattern(rng, slots))


def random_placement(rng):
    """Return a product, or in three of four cases a mapping with its groups and ranks in another order."""
    product = random_product(rng)
    if rng.random() < 0.25:
        return product
    return reordered(product, *(rng.sample(range(n), n) for n in product.grid.shape))


def random_blocks(rng, grid):
    """Return a transform with even blocks, with uneven lanes only, or with uneven blocks."""
    R, C = grid.shape
    kind, fields = rng.choice(["c2c", "c2c", "r2c"]), rng.choice([1, 2, 3, 5])
    if rng.random() < 0.6:
        nx, ny, planes = R * C * rng.randint(1, 2), R * C * rng.randint(1, 2), R * rng.randint(1, 3)
        return Transform(nx, ny, planes if kind == "c2c" else max(1, 2 * planes - 2), 16, kind, fields)
    return Transform(*(rng.randint(max(R, C), 2 * R * C + 1) for _ in range(3)), 16, kind, fields)


def random_schedule(rng, transform):
    """Return text and direction of any schedule. Most lanes are uneven."""
    nz, K = transform.exchanged[2], rng.randint(1, 4)
    sizes = ",".join(str(rng.randint(1, 3)) for _ in range(K))
    planes = f"two-way:{rng.randint(1, max(1, nz - 1))}"
    texts = ["sequence", "two-way", planes, planes, planes, "opposite", "opposite", "opposite",
             f"overlap:{K}", f"overlap:{sizes}{rng.choice(['', ':x', ':z', ':field'])}", f"pipelined:{K}"]
    text = rng.choice(texts)
    return text, rng.choice(DIRECTIONS)


def random_case(rng):
    placed = random_placement(rng)
    transform = random_blocks(rng, placed.grid)
    return placed, transform, *random_schedule(rng, transform), rng.choice(["split", "split", *TIES])


@repeatable(1000)
@given(drawn(random_case)())
def test_every_schedule_takes_what_walking_its_messages_takes(case):
    """The uneven lanes of `two-way` and `opposite`, and chunks of uneven blocks, depend on the place of every rank."""
    placed, transform, text, direction, tie = case
    mapping = placed.mapping() if isinstance(placed, Product) else placed
    try:
        found = predict(placed, transform, f"dimension-order:{tie}", schedule=text, direction=direction).schedule
    except ScheduleError as error:
        assert "chunks" in str(error) or "planes" in str(error) or "fields" in str(error)
        return
    phases = flights(found, mapping.grid, transform)
    assert found.cost == walk(phases, mapping.network, mapping.node_of_rank, transform.total_bytes, tie=tie)


def test_most_random_placements_are_recognised_as_products_whose_ranks_sit_elsewhere():
    """Otherwise the test above would not test closed forms."""
    found = [random_placement(Random(seed)) for seed in range(100)]
    others = [product_of(m) for m in found if isinstance(m, Mapping)]
    assert all(others)
    moved = sum((product.mapping().node_of_rank != m.node_of_rank).any()
                for product, m in zip(others, (m for m in found if isinstance(m, Mapping))))
    assert moved >= 50


def few_elements(rng, grid):
    """A transform in which some tasks may hold nothing, and send and receive no message."""
    most = max(grid.shape) + 2
    return Transform(*(rng.randint(1, most) for _ in range(3)), 16, rng.choice(["c2c", "r2c"]))


def counted(mapping, transform, direction):
    """Return for each exchange the most messages of a task to other tasks, and the most roots of their sizes."""
    found = []
    for messages in flights(predict(mapping, transform, direction=direction).schedule, mapping.grid, transform):
        number, roots = np.zeros(mapping.n_tasks, dtype=int), np.zeros(mapping.n_tasks)
        for source, target, size in messages:
            number[source] += source != target and size > 0
            roots[source] += (source != target) * (size / 1024) ** 0.5
        found.append((number.max(), pytest.approx(roots.max())))
    return found


@repeatable(100)
@given(drawn(lambda rng: (product := random_product(rng), few_elements(rng, product.grid),
                          rng.choice([FORWARD, BACKWARD])))())
def test_no_message_is_counted_to_a_task_that_holds_nothing(case):
    product, transform, direction = case
    found = predict(product, transform, direction=direction)
    works = [stage.work for stage in found.stages]
    assert [(work.messages, work.message_roots) for work in works] == counted(product.mapping(), transform, direction)
    assert found.n_messages == sum(work.messages for work in works)
    routed = predict_routed(product.mapping(), transform, Question(direction=direction))
    assert [work.inside_bytes for work in works] == [stage.work.inside_bytes for stage in routed.stages]


def test_uneven_lanes_of_ranks_in_the_order_of_slots_first():
    """16x16 tasks with slots fastest on 8x8 nodes; 24 of 64 planes leave rows and columns of unequal blocks."""
    torus = parse_torus("8x8", bandwidth=(1e9, 1e9))
    node, slot = np.divmod(np.arange(256), 4)
    mapping = Mapping(torus, ProcessGrid(16, 16), 4, node, slot)
    found = predict(mapping, parse_transform("64"), schedule="two-way:24").schedule
    routed = walk(flights(found, mapping.grid, parse_transform("64")), torus, node, parse_transform("64").total_bytes)
    assert found.cost == routed and found.t_s == pytest.approx(0.1475e-3, rel=1e-3)


def test_remaps_of_bricks_follow_the_ranks_of_the_placement():
    """The exchanges of this placement have a product's closed form; the remaps depend on the place of every rank."""
    torus = parse_torus("4x4", bandwidth=(1e9, 1e9))
    product = Product(torus, (parse_pattern("r4"), parse_pattern("c4")), parse_pattern("r1"), decomposition_named("brick"))
    mapping = reordered(product, [2, 0, 3, 1], [0, 2, 1, 3])
    found, routed = (way(mapping, Transform(16, 16, 16)) for way in (predict, predict_routed))
    assert [r.load for r in found.remaps] == [r.load for r in routed.remaps]
    assert [r.load for r in found.remaps] != [r.load for r in predict(product, Transform(16, 16, 16)).remaps]
    pair = predict(mapping, Transform(15, 14, 13), direction=PAIR)
    for direction, remapped in ((FORWARD, pair.remaps), (BACKWARD, pair.turned_remaps)):
        one = predict(mapping, Transform(15, 14, 13), direction=direction).remaps
        assert [r.load for r in one] == [r.load for r in remapped]
    assert [r.load for r in pair.remaps] != [r.load for r in pair.turned_remaps]
