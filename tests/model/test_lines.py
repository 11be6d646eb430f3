"""Distributed lines: problems, plans and times."""

from math import ceil, inf, prod

import numpy as np
import pytest

from pencilmap.model.base.errors import GridError
from pencilmap.model.lines.line_plan import (
    block_sizes,
    break_even,
    convolution_of,
    crossbar_break_even,
    exchanges_of_line,
    factors,
    line_stages,
    line_times,
    matrix_of,
)
from pencilmap.model.lines.line_problem import brick_line_stages, brick_lines_forecast, check_bricks
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.times.costs import Costs, MessageRange
from tests.model.brute_force import dimension_order

POINT = 16  # bytes


def line_on(shape, bandwidth=1e9, tasks=1):
    torus = parse_torus(shape, bandwidth=(bandwidth,) * (shape.count("x") + 1))
    ranks = np.arange(torus.n_nodes * tasks)
    return Mapping(torus, ProcessGrid(1, len(ranks)), tasks, ranks // tasks, ranks % tasks)


@pytest.mark.parametrize("radix", [2, 4])
def test_the_stages_are_a_butterfly_over_all_ranks(radix):
    """The data of a rank after a stage comes from r times as many ranks, and after the last stage from all ranks."""
    for ranks in (1, 2, 12, 16, 17, 31, 32, 60, 127, 256):
        stages = factors(ranks, radix)
        assert prod(stages) == ranks and all(r in (2, 4) or all(r % d for d in range(2, r)) for r in stages)
        reached, size = np.eye(ranks, dtype=bool), 1
        for r, exchange in zip(stages, exchanges_of_line(ranks, radix)):
            assert sorted(exchange.members.ravel()) == list(range(ranks)) and exchange.size == r
            for group in exchange.members:
                reached[group] = reached[group].any(axis=0)
            size *= r
            assert (reached.sum(axis=1) == size).all()
        assert size == ranks


@pytest.mark.parametrize("ranks, radix, all_to_alls, ports", [(16, 2, 1, 1), (256, 2, 3, 1), (256, 4, 2, 3), (64, 4, 1, 1)])
def test_the_break_even_of_a_crossbar_is_where_both_take_as_long(ranks, radix, all_to_alls, ports):
    """By the formula, and by routing on unlimited links, 1 GB/s a node, if a rank keeps its own part of a block."""
    alpha, beta, stages = 1e-6, 1e-9, round(np.log(ranks) / np.log(radix))
    points = crossbar_break_even(ranks, radix, alpha, beta, all_to_alls, ports)
    transposes = all_to_alls * (ceil((ranks - 1) / ports) * alpha + points * POINT * beta)
    binary = stages * (ceil((radix - 1) / ports) * alpha + (radix - 1) * points * POINT * beta)
    assert transposes == pytest.approx(binary)
    costs = Costs(message_cost_s=alpha, injection_per_node=1 / beta)
    mapping = line_on(str(ranks), bandwidth=1e18)
    routed = break_even(line_times(mapping, all_to_alls=all_to_alls, costs=costs, ports=ports),
                        line_times(mapping, radix, costs=costs, ports=ports))
    assert routed == pytest.approx(points, rel=0.1) and routed <= points


def test_the_faster_way_changes_at_the_break_even_of_a_torus():
    mapping, costs = line_on("8x4x2", 1e9), Costs(message_cost_s=2e-6)
    transposes, binary = line_times(mapping, costs=costs), line_times(mapping, 4, costs=costs)
    points = break_even(transposes, binary)
    assert 0 < points < inf
    assert binary.time_s(0.99 * points) < transposes.time_s(0.99 * points)
    assert binary.time_s(1.01 * points) > transposes.time_s(1.01 * points)


@pytest.mark.parametrize("ask, why", [
    (lambda: factors(8, 3), "radix 3 of a binary exchange is unknown; known are 2, 4"),
    (lambda: factors(0, 2), "over 0 ranks has none to hold it; give 1"),
    (lambda: crossbar_break_even(8, 2, 1.0, 1.0, ports=0), "0 ports move nothing; give 1 or more"),
    (lambda: line_times(line_on("4"), all_to_alls=0), "0 all-to-alls move nothing"),
    (lambda: line_times(Mapping(parse_torus("4"), ProcessGrid(1, 4), 1, np.arange(4), np.zeros(4, int))), "no bandwidth"),
])
def test_what_makes_no_sense_is_refused(ask, why):
    with pytest.raises(GridError, match=why):
        ask()


def test_ports_and_starts_by_the_size_of_messages():
    """On a crossbar of 8 ranks, by hand: 7 small messages, 4 at a time, and 3 large messages in turn."""
    network = parse_torus("8", bandwidth=(1e9,))
    mapping = Mapping(network, ProcessGrid(1, 8), 1, np.arange(8), np.zeros(8, dtype=int))
    costs = Costs(messages=(MessageRange(1024, 1e-6, 4), MessageRange(float("inf"), 5e-6)))
    times = [line_times(mapping, radix, 1, costs, points=512).starts_s for radix in (None, 2)]  # 1 KiB, and 8 KiB
    assert times == pytest.approx([2 * 1e-6, 3 * 5e-6])


@pytest.mark.parametrize("size, bricks", [((2, 3, 8), (3, 1, 4)), ((8, 1, 4), (2, 2, 2)), ((5, 2, 9), (2, 3, 3))])
@pytest.mark.parametrize("backward", [False, True])
def test_messages_of_bricks_are_those_of_what_each_sends(size, bricks, backward):
    """Bricks without a plane send nothing, and no message is empty."""
    for stage in brick_line_stages(size, bricks):
        ranks, elements = stage.messages(backward)
        assert len(ranks) == len(elements) and (elements > 0).all() and (ranks[:, 0] != ranks[:, 1]).all()
        sent = np.zeros((prod(bricks),) * 2, dtype=int)
        np.add.at(sent, tuple(ranks.T), elements)
        assert (sent == (stage.sent().T if backward else stage.sent())).all()


@pytest.mark.parametrize("size, bricks, algorithm", [
    ((7, 6, 5), (2, 4, 2), "transpose"), ((16, 8, 4), (4, 2, 2), "binary4"), ((5, 3, 7), (4, 2, 2), "dft")])
@pytest.mark.parametrize("backward", [False, True])
def test_times_of_bricks_are_those_of_messages_walked_one_by_one(size, bricks, algorithm, backward):
    torus, rates = parse_torus("4x4", bandwidth=(1e9, 2e9)), (1e9, 2e9)
    placed = Mapping(torus, ProcessGrid(8, 2), 1, np.random.default_rng(5).permutation(16), np.zeros(16, dtype=int))
    costs, stages = Costs(message_cost_s=1e-6), brick_line_stages(size, bricks, algorithm)
    times = brick_lines_forecast(placed, size, bricks, algorithm, costs=costs, backward=backward)
    for stage, time in zip(stages, times, strict=True):
        turned = backward and stage.stage.is_all_to_all  # whole blocks go to the same ranks either way
        sent = POINT * (stage.sent().T if turned else stage.sent())
        loads = dimension_order(torus, [(a, b, int(sent[a, b])) for a, b in np.argwhere(sent)], placed.node_of_rank)
        assert (time.name, time.sent_bytes, time.link_bytes) == (stage.name, sent.sum(), max(loads.values(), default=0))
        assert time.link_s == pytest.approx(max((float(load) / rates[i] for (_, i, _), load in loads.items()), default=0))
        assert time.messages == (sent > 0).sum(axis=1).max() and time.points == prod(size) / 16
        assert time.time_s == pytest.approx(time.link_s + 1e-6 * time.messages)


@pytest.mark.parametrize("size, bricks, words", [
    ((4, 4), (2, 2, 1), "4x4 points on 2x2x1 bricks; there are three of each, 1 or more"),
    ((4, 4, 4), (2, 0, 1), "4x4x4 points on 2x0x1 bricks"), ((4, 0, 4), (2, 1, 1), "4x0x4 points"),
    ((4, 4, 6), (1, 1, 4), "along z: a binary exchange needs points that divide evenly")])
def test_bricks_that_cannot_be_are_refused(size, bricks, words):
    with pytest.raises(GridError) as error:
        brick_line_stages(size, bricks, "binary2")
    assert words in str(error.value)
    check_bricks((2, 3, 1), 6)
    with pytest.raises(GridError, match="2x3x1 bricks are 6, but there are 7 tasks"):
        check_bricks((2, 3, 1), 7)


CASES = [(12, 4), (64, 8), (60, 7), (127, 4), (31, 3), (1, 3), (5, 8), (360, 16), (97, 9), (2, 2)]


def fullest(n1, n2, ranks):
    """Return the points of the fullest rank, in columns or in rows."""
    return max(block_sizes(n2, ranks).max() * n1, block_sizes(n1, ranks).max() * n2)


def block_owner(n, ranks):
    return np.repeat(np.arange(ranks), block_sizes(n, ranks))


@pytest.mark.parametrize("n, ranks", [*CASES, (1009, 4), (211, 16), (53, 2)])
def test_a_line_that_cannot_be_shared_well_is_convolved_where_that_has_fewer_points_on_a_rank(n, ranks):
    six = fullest(*matrix_of(n, ranks), ranks)
    least = 2 * n - 1
    able = []
    for m in range(least, 2 * least):
        rest = m
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            able.append((fullest(*matrix_of(m, ranks), ranks), m))
    wanted = ranks > 1 and six > 2 * -(-n // ranks) and able and min(able)[0] < six
    found = convolution_of(n, ranks)
    assert found == (matrix_of(min(able)[1], ranks) if wanted else None)


@pytest.mark.parametrize("n, ranks", CASES)
@pytest.mark.parametrize("order", ["natural", "transposed", "transposed-both"])
def test_columns_and_rows_of_a_matrix_are_on_one_rank_and_blocks_at_the_ends(n, ranks, order):
    stages = line_stages(n, ranks, "transpose", order)
    chirp = convolution_of(n, ranks)
    n1, n2 = chirp or matrix_of(n, ranks)
    names = ["to_columns", "to_rows", "from_rows", "to_blocks"] if chirp else {
        "natural": ["to_columns", "to_rows", "to_blocks"], "transposed": ["to_columns", "to_rows"],
        "transposed-both": ["to_rows"]}[order]
    assert [stage.name for stage in stages] == names and all(stage.is_all_to_all for stage in stages)
    label = np.arange(n1 * n2)
    across = next(stage for stage in stages if stage.name == "to_rows")
    columns, rows = across.before(label).reshape(n1, n2), across.after(label).reshape(n1, n2)
    assert (columns == block_owner(n2, ranks)).all() and (rows == block_owner(n1, ranks)[:, None]).all()
    if names[0] == "to_columns":
        assert (stages[0].before(np.arange(n)) == block_owner(n, ranks)).all()
        assert (stages[0].after(np.arange(n)) == columns.ravel()[:n]).all() and stages[0].labels == n
    if names[-1] == "to_blocks":
        assert (stages[-1].after(np.arange(n)) == block_owner(n, ranks)).all()
        frequency = np.arange(n)          # of a six-step transform; k = k1 + N1 k2 is in row k1
        held = columns.ravel()[:n] if chirp else rows[frequency % n1, 0]
        assert (stages[-1].before(frequency) == held).all()
    if chirp:
        back = stages[2]
        assert (back.before(label) == rows.ravel()).all() and (back.after(label) == columns.ravel()).all()
    for stage in stages:
        label = np.arange(stage.labels)
        moved = np.zeros((ranks, ranks), dtype=int)
        np.add.at(moved, (stage.before(label), stage.after(label)), 1)
        np.fill_diagonal(moved, 0)
        assert (stage.sent(ranks, n) == moved).all()


@pytest.mark.parametrize("ranks", [2, 4, 6, 8, 12, 30])
@pytest.mark.parametrize("radix", [2, 4])
def test_binary_stages_leave_each_frequency_where_the_last_exchange_finds_it(ranks, radix):
    """By decimation in frequency: the branch of a stage is a digit of the frequency, the lowest first."""
    n = 3 * ranks
    stages = line_stages(n, ranks, f"binary{radix}")
    assert [stage.size for stage in stages[:-1]] == list(factors(ranks, radix))[::-1]
    assert [stage.apart for stage in stages[:-1]] == [
        int(ranks // np.prod([stage.size for stage in stages[:i + 1]])) for i in range(len(stages) - 1)]
    frequency = np.zeros(ranks, dtype=int)
    weight = 1
    for stage in stages[:-1]:
        frequency += np.arange(ranks) // stage.apart % stage.size * weight
        weight *= stage.size
    k = np.arange(n)
    assert (frequency[stages[-1].before(k)] == k % ranks).all() and (stages[-1].after(k) == block_owner(n, ranks)).all()
    assert stages[:-1] == line_stages(n, ranks, f"binary{radix}", "transposed")
    for stage in stages[:-1]:
        sent = stage.sent(ranks, n)
        assert (sent.sum(axis=1) == 3 * (stage.size - 1)).all() and (sent == sent.T).all()
        near = np.abs(np.subtract.outer(np.arange(ranks), np.arange(ranks)))
        assert (near[sent > 0] % stage.apart == 0).all() and (near[sent > 0] < stage.apart * stage.size).all()


@pytest.mark.parametrize("n, ranks", CASES)
def test_by_sums_each_gets_what_the_others_hold_or_sends_what_they_want(n, ranks):
    [gather], [scatter] = (line_stages(n, ranks, name) for name in ("dft", "dft-reduce"))
    held, others = block_sizes(n, ranks), 1 - np.eye(ranks, dtype=int)
    assert (gather.sent(ranks, n) == held[:, None] * others).all() and (scatter.sent(ranks, n) == held * others).all()
    assert (gather.name, scatter.name) == ("gather", "scatter")
    for name in ("dft", "dft-reduce"):
        [stage] = line_stages(n, ranks, name, "transposed")
        assert (stage.name == "stage_1") == (n % ranks == 0)


@pytest.mark.parametrize("words, said", [
    ((8, 4, "binari2"), "algorithm 'binari2' of a line is unknown (did you mean binary2?); known are transpose, binary2"),
    ((8, 4, "dft", "natura"), "order 'natura' of a line is unknown (did you mean natural?); known are natural, transposed"),
    ((0, 4), "a line of 0 points over 4 ranks; both are 1 or more"), ((4, 0), "a line of 4 points over 0 ranks"),
    ((10, 4, "binary2"), "10 points are not a multiple of 4 ranks; take 12 points")])
def test_what_is_no_line_is_refused(words, said):
    with pytest.raises(GridError) as error:
        line_stages(*words)
    assert said in str(error.value)
    assert [line_stages(8, 1, name) for name in ("transpose", "binary2", "dft")] == [()] * 3
