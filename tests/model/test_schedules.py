"""Schedules: phases walked hop by hop, closed forms under any blocks, and order of ranks within the groups."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product as cartesian
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

from pencilmap.mapper.placements import place
from pencilmap.model.base.errors import ScheduleError
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import TIES, Torus, parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.product import Pattern, Product, parse_pattern
from pencilmap.model.placement.transform import Transform, parse_transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.question import Question
from pencilmap.model.schedules import SCHEDULES, best_shares, best_sizes, objectives, overlap_length, parse_schedule
from pencilmap.model.schedules.schedule import BACKWARD, DIRECTIONS, FORWARD, PAIR, cut
from pencilmap.model.times.costs import Costs
from pencilmap.model.times.timing import TIE
from pencilmap.model.traffic.loads import at_once, in_sequence, objective, overlapped
from tests.model import brute_force as brute
from tests.model.cases import (
    drawn,
    largest,
    predict_product,
    predict_routed,
    products,
    random_full_mapping,
    random_mapping,
    random_pattern,
    random_torus,
    repeatable,
)

pytestmark = pytest.mark.usefixtures("quick_bounds")
COSTS = Costs(hop_latency_s=1e-6, injection_per_task=2e8, injection_per_node=3e8, message_cost_s=5e-6, exchange_cost_s=1e-5,
              fft_rate_per_task=1e9, memory_bandwidth_per_node=2e9)


@st.composite
def settings(draw):
    mapping = draw(drawn(lambda rng: random_mapping(rng, random_torus(rng, 16), 12))())
    R, C = mapping.grid.shape
    least = max(R, C, 3)
    extents = [draw(st.integers(least, 3 * least)) for _ in range(3)]
    return mapping, Transform(*extents, fields=draw(st.sampled_from([2, 3, 4])))


def test_a_pair_takes_twice_as_long_as_all_exchanges_at_once_and_any_other_schedule_twice_its_time():
    costs, product = COSTS, place("default", Site(parse_torus("8x8x8", bandwidth=(148e6,) * 3)), ProcessGrid(8, 64))
    transform = Transform(256, 256, 256)
    of = {(text, direction): predict(product, transform, costs=costs, schedule=text, direction=direction)
          for text in ("sequence", "overlap:4:x", "two-way", "best") for direction in ("forward", "pair")}
    pair, one = predict(product, transform, costs=costs, schedule="opposite", direction="pair"), of["sequence", "forward"]
    assert pair.schedule.t_s == pytest.approx(2 * one.schedule.t_joint_s) == pytest.approx(2 * 4 * 2**28 / (4 * 512 * 148e6))
    assert pair.schedule.certificate_any == pair.schedule.certificate == 1.0 and pair.schedule.load_joint == (4, 4, 4)
    starts = sum(stage.terms.messages_s + stage.terms.start_s for stage in one.stages)
    assert pair.schedule.time_s >= pair.schedule.t_s + 2 * starts
    assert pair.schedule.total_s == pytest.approx(pair.schedule.time_s + 2 * pair.local.time_s)
    for text in ("sequence", "overlap:4:x", "two-way"):
        ahead, both = of[text, "forward"].schedule, of[text, "pair"].schedule
        assert (both.t_s, both.time_s, both.total_s, both.cost) == pytest.approx(
            [2 * x for x in (ahead.t_s, ahead.time_s, ahead.total_s, ahead.cost)])
        assert both.certificate == ahead.certificate
        assert of[text, "pair"].time_s == of[text, "forward"].time_s       # the stages belong to a single transform
    assert of["best", "pair"].schedule.known_s == min(of["best", "forward"].schedule.known_s * 2, pair.schedule.known_s)
    two = predict(product, replace(transform, fields=2), schedule="best", direction="pair").schedule
    assert two.name != "opposite"                          # half of the fields would have other boxes
    with pytest.raises(ScheduleError, match="forward, backward, pair"):
        predict(product, transform, direction="sideways")


@pytest.mark.thorough
@repeatable(15)
@given(drawn(lambda rng: random_full_mapping(rng, random_torus(rng, 16)))())
def test_what_holds_for_every_placement(mapping):
    R, C = mapping.grid.shape
    transform = Transform(8 * R * C, R * C, 8 * R * C, fields=2)
    bandwidth = (1e8,) * mapping.network.n_dimensions
    mapping = replace(mapping, network=replace(mapping.network, bandwidth=bandwidth))

    def of(text, costs=Costs(), bandwidth=bandwidth):
        network = replace(mapping.network, bandwidth=bandwidth)
        return predict_routed(replace(mapping, network=network), transform, Question(schedule=text), costs=costs)

    plain = of("sequence", COSTS)
    sequence, once = plain.schedule, of("overlap:1", COSTS).schedule
    assert (sequence.t_s, sequence.time_s, sequence.total_s) == pytest.approx((plain.t_s, plain.time_s, plain.total_s))
    assert (once.t_s, once.time_s, once.total_s) == pytest.approx((sequence.t_s, sequence.time_s, sequence.total_s))
    chunks = [of(f"overlap:{k}") for k in (2, 4, 8)]
    times = [sequence.t_s, *(p.schedule.t_s for p in chunks)]
    assert all(a >= b * (1 - 1e-12) for a, b in pairwise(times)) and times[-1] >= sequence.t_joint_s * (1 - 1e-12)
    for k, p in zip((2, 4, 8), chunks):
        row, column = (stage.t_s for stage in p.stages)
        assert p.schedule.t_s == pytest.approx((row + (k - 1) * sequence.t_joint_s + column) / k)
    assert of("two-way").schedule.t_s == pytest.approx(sequence.t_joint_s)
    assert of("opposite").schedule.t_s == pytest.approx(sequence.t_joint_s)
    best = of("best", COSTS).schedule
    some = min(of(text, COSTS).schedule.known_s for text in ("sequence", "overlap:2", "overlap:8"))
    assert best.known_s <= some * TIE
    assert of("overlap").schedule.cost <= chunks[-1].schedule.cost * Fraction(TIE)
    faster = tuple(2 * b for b in bandwidth)
    for text in ("sequence", "overlap:4", "two-way", "pipelined"):
        slow, fast = of(text, COSTS).schedule, of(text, COSTS, faster).schedule
        assert fast.time_s <= slow.time_s * (1 + 1e-12) and slow.time_s >= slow.t_s * (1 - 1e-12)
        dear = of(text, replace(COSTS, message_cost_s=1e-5)).schedule
        assert dear.time_s >= slow.time_s * (1 - 1e-12)
        for certificate in (slow.certificate, slow.certificate_any):
            assert certificate is None or certificate >= 1 - 1e-12


def test_progress_hides_computing_and_no_more_than_there_is():
    torus = Torus((4, 4), bandwidth=(1e8, 1e8))
    product, transform = place("default", Site(torus), ProcessGrid(4, 4)), Transform(64, 64, 64)
    for text in ("overlap:4:x", "overlap:4:z", "pipelined", "two-way"):
        found = [predict(product, transform, schedule=text, costs=replace(COSTS, progress=share)).schedule
                 for share in (0.0, 0.5, 1.0)]
        totals = [f.total_s for f in found]
        assert totals[0] > totals[1] > totals[2] and found[0].hidden_s == 0
        assert all(f.time_s == found[0].time_s and f.total_s > f.time_s for f in found)
    sequence = predict(product, transform, costs=replace(COSTS, progress=1.0))
    assert sequence.schedule.total_s == pytest.approx(sequence.total_s)
    assert predict(product, transform, schedule="pipelined", costs=COSTS).schedule.t_s == pytest.approx(sequence.t_s)


@repeatable(30)
@given(products(), st.integers(2, 4), st.integers(4, 9))
def test_best_sizes_of_a_block_are_those_of_trying_all(product, chunks, block):
    """Whole numbers: no sizes of a small block are better, up to a local optimum of one percent."""
    loads = DimensionOrder().joint_of_product(product, ("r", "c"))
    found = best_sizes(loads, chunks, block)
    assert len(found) == chunks and sum(found) == block and min(found) >= 1
    if not loads.weighted.any():
        return
    every = [c for c in cartesian(range(1, block + 1), repeat=chunks) if sum(c) == block]
    least = min(overlap_length(c, loads.weighted) for c in every)
    assert overlap_length(found, loads.weighted) <= least * 1.01 + 1e-9


@pytest.mark.parametrize("text", ["sequence", "overlap", "overlap:4", "overlap:4:x", "overlap:1,2,4,8:field", "pipelined",
                                  "pipelined:8", "two-way", "two-way:7", "opposite"])
def test_texts_are_read_and_written(text):
    assert str(parse_schedule(text)) == text


@pytest.mark.parametrize("text, transform, grid, words", [
    ("overlap:9", "32", "4x4", "x 8, z 8, field 1"), ("overlap:5:x", "16x16x64", "4x4", "x 4, z 16, field 1"),
    ("opposite", "32", "4x4", "fields=2"), ("two-way", "8x8x1", "4x4", "planes of z, and transform 8x8x1 has 1"),
    ("two-way:32", "32", "4x4", "1 to 31"),
    ("overlap:2:field", "32", "4x4", "field 1")])
def test_schedules_that_a_transform_cannot_have_are_refused(text, transform, grid, words):
    product = place("default", Site(Torus((4, 4))), parse_grid(grid))
    with pytest.raises(ScheduleError, match=words):
        predict(product, parse_transform(transform), schedule=text)


@pytest.mark.parametrize("extent, sizes", [(5, (1, 1, 1, 1)), (16, (1, 2, 4, 8)), (7, (3, 1)), (100, (1,) * 7),
                                           (3, (1, 5, 1))])
def test_chunks_make_up_the_block(extent, sizes):
    lengths = cut(extent, sizes)
    assert sum(lengths) == extent and len(lengths) == len(sizes) and min(lengths) >= 0
    assert all(abs(length - Fraction(extent * size, sum(sizes))) < 1 for length, size in zip(lengths, sizes))


def test_slabs_have_one_exchange():
    torus, letters = Torus((4, 4)), Pattern((("s", 4),))
    from pencilmap.model.decompositions import SLAB

    product = Product(torus, (letters, letters), Pattern(()), SLAB)
    transform = Transform(64, 64, 64)
    for name in SCHEDULES:
        if name in ("two-way", "opposite"):
            with pytest.raises(ScheduleError, match="two exchanges"):
                predict(product, transform, schedule=name)
        else:
            p = predict(product, transform, schedule=name)
            assert p.schedule.cost == p.cost and max(p.schedule.load_joint) == max(p.stages[0].load)


def test_the_best_shares_are_those_of_the_linear_program():
    """HiGHS solves a program with a variable for each chunk and each joint phase, and a row for each joint phase and
    link."""
    random = np.random.default_rng(14)
    for _ in range(40):
        pairs, n = random.integers(0, 9, (random.integers(1, 6), 2)) + 1e-3, int(random.integers(1, 13))
        goal = np.array([0.0] * n + [1.0] * (n - 1))
        goal[0] += pairs[:, 0].max()
        goal[n - 1] += pairs[:, 1].max()
        phases = np.zeros((n - 1, len(pairs), 2 * n - 1))
        for j in range(n - 1):
            phases[j, :, j + 1], phases[j, :, j], phases[j, :, n + j] = pairs[:, 0], pairs[:, 1], -1.0
        rows = phases.reshape(-1, 2 * n - 1)
        found = linprog(goal, rows if n > 1 else None, np.zeros(len(rows)) if n > 1 else None,
                        [[1.0] * n + [0.0] * (n - 1)], [1.0])
        assert overlap_length(best_shares(pairs, n), pairs) == pytest.approx(found.fun, rel=1e-6)


def test_what_a_search_minimises_under_each_schedule():
    """Phase by phase as in `SCHEDULES`: first eight chunks if their number is unknown, then the others, each once."""
    grid = parse_grid("8x64")
    alone, once = in_sequence(2), at_once(2)
    assert objectives("best", grid) == [alone, overlapped(2, 8), once]
    assert objectives("sequence", grid) == [alone]
    assert objectives("overlap", grid) == [overlapped(2, 8), once, alone]
    assert objectives("overlap:2", grid) == [overlapped(2, 2), once, alone]
    assert objectives("overlap:4:field", grid) == [overlapped(2, 4), once, alone] != objectives("overlap", grid)
    thirds = objective([(Fraction(1, 3), 0), (Fraction(2, 3), Fraction(1, 3)), (0, Fraction(2, 3))])
    assert objectives("overlap:1,2", grid) == [thirds, once, alone]
    assert objectives("two-way", grid) == objectives("two-way:7", grid) == objectives("opposite", grid) == [once, alone]
    assert objectives("overlap:1", grid) == [alone]
    slab = ProcessGrid(8, decomposition=decomposition_named("slab"))
    assert objectives("best", slab) == [in_sequence(1)] and objectives("sequence", slab) == [in_sequence(1)]


@pytest.mark.parametrize("seed", range(20))
def test_chunks_are_equal_where_no_others_are_better(seed):
    """For equal rows and columns, many sizes are equally good; then the sizes of the cut rule stay."""
    random = np.random.default_rng(seed)
    chunks, block = int(random.integers(2, 7)), int(random.integers(8, 40))
    pairs = random.integers(1, 9, (3, 2)).astype(float)
    for alike in (np.array([[4.0, 0.0], [0.0, 4.0]]), np.array([[3.0, 3.0]]), pairs):
        equal = [len(range(block * k // chunks, block * (k + 1) // chunks)) for k in range(chunks)]
        found = list(best_sizes(SimpleNamespace(weighted=alike), chunks, block))
        assert found == equal or overlap_length(found, alike) < overlap_length(equal, alike) * (1 - 1e-9)


@pytest.mark.parametrize("torus, placement", [
    (Torus((8, 4), bandwidth=(1e8, 2e8)), "digits:x=r2c4,y=r2c2"),
    (Torus((4, 4, 2), bandwidth=(1e8,) * 3), "digits:x=c4,y=r2c2,z=r2")], ids=str)
@pytest.mark.parametrize("text", ["sequence", "overlap:2", "overlap:1,3", "two-way", "opposite", "pipelined:4"])
def test_times_of_closed_forms_are_those_of_routing_with_every_term(torus, placement, text):
    """Contention, injection, starts, hops and hidden computing, of a transform and of a pair."""
    product = place(placement, Site(torus), ProcessGrid(4, 8))
    costs = replace(COSTS, contention=0.5, progress=0.75)
    transform = Transform(64, 32, 64, fields=2)
    for direction in ("forward", "pair"):
        asked = Question(schedule=text, direction=direction)
        closed, routed = (way(one, transform, asked, costs=costs).schedule for way, one in
                          ((predict_product, product), (predict_routed, product.mapping())))
        assert (closed.t_s, closed.time_s, closed.total_s, closed.hidden_s) == pytest.approx(
            (routed.t_s, routed.time_s, routed.total_s, routed.hidden_s), rel=1e-9)
        calm = predict(product, transform, costs=replace(costs, contention=None), schedule=text,
                       direction=direction).schedule
        assert calm.time_s <= closed.time_s and calm.t_s == closed.t_s


@pytest.mark.parametrize("progress, fft_rate", [(1.0, 1e8), (1.0, 1e10), (None, 1e8), (0.0, 1e8)])
def test_the_best_schedule_is_the_fastest_that_keeps_the_boxes(progress, fft_rate):
    """The output says so if the progress of the MPI is unknown."""
    product = place("best", Site(parse_torus("4x4", bandwidth=(1e8,) * 2)), ProcessGrid(4, 4))
    costs = replace(COSTS, progress=progress, fft_rate_per_task=fft_rate)
    of = {text: predict(product, Transform(64, 64, 64), costs=costs, schedule=text).schedule
          for text in ("sequence", "pipelined:4", "overlap", "overlap:2", "overlap:4:x", "best")}
    able = [found.known_s for text, found in of.items() if text != "best" and (progress or text != "pipelined:4")]
    assert of["best"].known_s <= min(able) * TIE
    said = "no computing counts as hidden beside the exchanges: the progress of the MPI is not known"
    assert [said in of[text].notes for text in ("overlap:2", "sequence")] == [progress is None, False]


@pytest.mark.parametrize("shape, ratio", [("8x16", 2), ("16x8", 0.5), ("4x16", 4), ("4x12:mesh", 3)])
def test_twice_the_chunks_are_taken_for_more_than_one_per_cent(shape, ratio):
    """On separate links, T(K) is geometric; fewer chunks are fewer and larger messages."""
    product = place("default", Site(parse_torus(shape)), parse_grid(shape.removesuffix(":mesh")))
    row, column = (float(max(stage.load)) for stage in predict(product).stages)
    assert column / row == pytest.approx(ratio)
    r = max(ratio, 1 / ratio)
    best = [1 + (r - 1) / (r ** k - 1) / r for k in range(1, 17)]  # T(K) over the longer exchange
    chosen = len(predict(product, schedule="overlap").schedule.sizes)
    assert best[chosen - 1] <= best[-1] * TIE < best[chosen // 2 - 1]


def test_lanes_that_are_unequal_are_routed_up_to_a_number_of_tasks(monkeypatch):
    product, transform = place("best", Site(parse_torus("4x4")), ProcessGrid(4, 4)), Transform(9, 16, 16)
    monkeypatch.setattr("pencilmap.model.predict.forecast.MOST_ROUTED", 16)
    assert predict(product, transform, schedule="overlap:2:x").schedule.name == "overlap:2:x"
    monkeypatch.setattr("pencilmap.model.predict.forecast.MOST_ROUTED", 15)
    with pytest.raises(ScheduleError, match="for up to 15 tasks, and grid 4x4 has 16; take a transform whose extents"):
        predict(product, transform, schedule="overlap:2:x")


def test_pipelined_has_four_chunks_where_nothing_is_said():
    placed = place("default", Site(parse_torus("8x8")), parse_grid("8x8"))
    plain, four = (predict(placed, parse_transform("64"), schedule=text).schedule for text in ("pipelined", "pipelined:4"))
    assert plain.name == four.name and plain.sizes == four.sizes and len(plain.sizes) == 4


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
    """Return a product, a mapping with its groups and ranks in another order, or one on random slots, some of them idle."""
    product, kind = random_product(rng), rng.random()
    if kind < 0.2:
        return product
    if kind < 0.5:
        torus = random_torus(rng, 16)
        return random_mapping(rng, replace(torus, bandwidth=(1e9,) * torus.n_dimensions), 12)
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


def walk(phases, torus, node_of_rank, total, order=None, tie="split"):
    """Return T on the m scale: walk every message in flight in each phase, hop by hop."""
    T = Fraction(0)
    for messages in phases:
        links = defaultdict(Fraction)
        for link, load in brute.dimension_order(torus, messages, node_of_rank, order, tie).items():
            links[link] += load
        T += max(largest(torus, links)) * 4 * torus.n_nodes / total
    return T


def flights(found, grid, transform):
    """Return for each phase of a forecast (`ScheduleForecast`) the messages in flight: (source, target, bytes)."""
    name, sizes, axis = found.schedule.name, found.sizes, found.axis
    if found.direction == "pair" and name == "opposite":
        return _pair(grid, transform)
    if found.direction == "pair":
        both = (replace(found, direction=direction) for direction in ("forward", "backward"))
        return [phase for one in both for phase in flights(one, grid, transform)]
    if found.direction == "backward" and name != "overlap":
        return list(map(turned_round, flights(replace(found, direction="forward"), grid, transform)))
    if name == "sequence":
        return [list(rows_first(grid, transform, whole, first)) for first in (True, False)]
    if name == "two-way":
        lower, upper = (lane_of("planes", sizes, k) for k in (0, 1))
        return _beside(grid, transform, lower, transform, upper)
    if name == "opposite":
        return _opposite(grid, transform, sizes)
    K = len(sizes)

    def in_flight(k, first):
        if not 0 <= k < K:
            return []
        if axis == "field":
            fields = len(chunk(range(transform.fields), sizes, k))
            return list(rows_first(grid, replace(transform, fields=fields), whole, first)) if fields else []
        return list(rows_first(grid, transform, lane_of(axis, sizes, k), first))

    if name == "pipelined":
        return [in_flight(k, first) for first in (True, False) for k in range(K)]
    assert name == "overlap"
    if found.direction == "backward":
        return [turned_round(in_flight(k, False) + in_flight(k - 1, True)) for k in range(K + 1)]
    return [in_flight(k, True) + in_flight(k - 1, False) for k in range(K + 1)]


def turned_round(messages):
    """Return the messages with source and target swapped."""
    return [(there, here, size) for here, there, size in messages]


def _pair(grid, transform):
    """Return the messages of a pair of transforms; with several fields, each transform goes two ways."""
    if transform.fields > 1:
        one = _opposite(grid, transform, (transform.fields - transform.fields // 2, transform.fields // 2))
    else:
        one = [list(rows_first(grid, transform, whole, first)) for first in (True, False)]
    return [one[0] + turned_round(one[1]), one[1] + turned_round(one[0])]


def _opposite(grid, transform, sizes):
    one, other = (replace(transform, fields=n) for n in sizes)
    return _beside(grid, one, whole, other, whole)


def _beside(grid, one, lane, other, other_lane):
    """Return the messages of a lane with rows first, beside another lane with columns first."""
    return [[*rows_first(grid, one, lane, first), *columns_first(grid, other, other_lane, first)] for first in (True, False)]


def rows_first(grid, transform, lane, first):
    """Return messages of an exchange of route A, for the elements that `lane(axis, block)` selects from a block."""
    R, C = grid.shape
    nx, ny, nz = transform.exchanged
    X, Y, Z = pieces(nx, C), pieces(ny, R), lane("planes", range(nz))
    Z, W = [Z[i] for i in map(slice_of, pieces(len(Z), R))], pieces(ny, C)
    for q, p in cartesian(range(C), range(R)):
        for other in range(R if first else C):
            if first:
                yield q * R + p, q * R + other, elements(lane("x", X[q]), Y[p], lane("z", Z[other]), transform)
            else:
                yield q * R + p, other * R + p, elements(lane("x", X[q]), W[other], lane("z", Z[p]), transform)


def columns_first(grid, transform, lane, first):
    """Return the messages on route B: columns gather x and divide z, rows gather y and divide x."""
    R, C = grid.shape
    nx, ny, nz = transform.exchanged
    X, Y, Z = pieces(nx, C), pieces(ny, R), lane("planes", range(nz))
    Z, V = [Z[i] for i in map(slice_of, pieces(len(Z), C))], pieces(nx, R)
    for q, p in cartesian(range(C), range(R)):
        for other in range(C if first else R):
            if first:
                yield q * R + p, other * R + p, elements(X[q], Y[p], Z[other], transform)
            else:
                yield q * R + p, q * R + other, elements(V[other], Y[p], Z[q], transform)


def pieces(n, parts):
    """Return the indices of every block, the first blocks the longest."""
    ends = np.cumsum([0, *(len(range(i, n, parts)) for i in range(parts))])
    return [range(a, b) for a, b in pairwise(ends)]


def chunk(block, sizes, k):
    """Return the k-th chunk of a block by the cut rule."""
    start, end = (len(block) * sum(sizes[:j]) // sum(sizes) for j in (k, k + 1))
    return block[start:end]


def lane_of(axis, sizes, k):
    return lambda name, block: chunk(block, sizes, k) if name == axis else block


def whole(axis, block):
    return block


def slice_of(block):
    return slice(block.start, block.stop)


def elements(x, y, z, transform):
    return len(x) * len(y) * len(z) * transform.element_bytes * transform.fields
