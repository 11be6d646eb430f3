"""Costs of a distributed line: message counts, loads of rings by hand, break-even from the two times."""

from math import ceil, inf, prod

import numpy as np
import pytest

from pencilmap.model.base.errors import GridError
from pencilmap.model.lines.distributed_line import break_even, crossbar_break_even, exchanges_of_line, factors, line_times
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


@pytest.mark.parametrize("ranks", [16, 64, 256])
def test_on_a_ring_the_stages_carry_three_quarters_of_the_ranks_and_the_all_to_all_an_eighth(ranks):
    """In blocks a rank; ranks d apart load d links with the blocks of d ranks, in the last stage half each way round."""
    ring = line_on(str(ranks))
    block_s = POINT / 1e9
    assert line_times(ring, 2).point_s == pytest.approx((3 * ranks / 4 - 1) * block_s)
    assert line_times(ring, all_to_alls=1).point_s == pytest.approx(ranks / 8 * block_s)
    assert break_even(line_times(ring, costs=Costs(message_cost_s=1e-6)), line_times(ring, 2, costs=Costs(
        message_cost_s=1e-6))) > 0


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
