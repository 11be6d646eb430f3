"""The rounds of every exchange algorithm compared with each message of the transform."""

import re
from collections import Counter
from pathlib import Path

import networkx
import numpy as np
import pytest

from pencilmap.mapper.setting import setting
from pencilmap.model import algorithms
from pencilmap.model.algorithms import ALGORITHMS, algorithm_named
from pencilmap.model.base.errors import GridError
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import predict
from pencilmap.model.traffic.exchange import exchanges

TABLE = Path(__file__).parents[2] / "fft_runner" / "src" / "exchange" / "exchange_table.c"
NO_ALGORITHMS = {"auto"}  # auto chooses another algorithm


def messages(exchange):
    """Return {(source, target): bytes} of an exchange or a round, without data that stays on its rank."""
    sent = Counter()
    for ranks, weight in zip(exchange.members, exchange.group_weight):
        for source, s in zip(ranks, exchange.send_weight):
            for target, r in zip(ranks, exchange.receive_weight):
                if source != target and weight * s * r:
                    sent[int(source), int(target)] += int(weight * s * r) * exchange.unit_bytes
    return sent


def scattered(grid, tasks_per_node, seed=1):
    """Return ranks in random slots of a line of nodes."""
    torus = parse_torus(f"{grid.n_tasks // tasks_per_node}:mesh")
    slots = np.random.default_rng(seed).permutation(grid.n_tasks)
    return Mapping(torus, grid, tasks_per_node, slots // tasks_per_node, slots % tasks_per_node)


CASES = [((4, 6), 4, (17, 23, 19)), ((5, 3), 3, (15, 15, 15)), ((8, 2), 2, (16, 8, 24)), ((1, 6), 2, (12, 13, 14))]


@pytest.fixture(params=CASES, ids=str)
def case(request):
    shape, tasks, size = request.param
    mapping = scattered(ProcessGrid(*shape), tasks)
    return mapping, exchanges(mapping.grid, Transform(*size))


def test_the_model_knows_every_algorithm_of_the_library():
    rows = re.findall(r"^    X\((\w+)\)", TABLE.read_text("utf-8"), re.MULTILINE)
    assert [name for name in rows if name not in NO_ALGORITHMS] == list(ALGORITHMS)


@pytest.mark.parametrize("name", ["alltoallv", "alltoallw", "persistent", "put", "p2p"])
def test_every_message_is_in_one_round(case, name):
    mapping, found = case
    for exchange in found:
        carried = [messages(each) for each in algorithm_named(name).rounds(exchange, mapping)]
        assert sum(carried, Counter()) == messages(exchange)
        assert sum(map(len, carried)) == len(messages(exchange))


def test_without_coordinates_a_rank_sends_one_message_in_a_step_of_p2p(case):
    mapping, found = case
    network = from_networkx(networkx.path_graph(mapping.network.n_nodes), "line")
    mapping = Mapping(network, mapping.grid, mapping.tasks_per_node, mapping.node_of_rank, mapping.slot_of_rank)
    for exchange in found:
        rounds = algorithm_named("p2p").rounds(exchange, mapping)
        assert len(rounds) == max(1, exchange.size - 1)
        for each in map(messages, rounds):
            assert len({source for source, _ in each}) == len({target for _, target in each}) == len(each)


def blocks_by_digits(exchange, radix):
    """Return {(round, source, target): bytes}, block by block: the digits of a distance in turn."""
    sent, p = Counter(), exchange.size
    for ranks, weight in zip(exchange.members, exchange.group_weight):
        for source in range(p):
            for distance in range(1, p):
                size = weight * exchange.send_weight[source] * exchange.receive_weight[(source + distance) % p]
                at, left, unit, number = source, distance, 1, 0
                while left and size:
                    left, digit = divmod(left, radix)
                    after = (at + digit * unit) % p
                    if digit:
                        sent[number, int(ranks[at]), int(ranks[after])] += int(size) * exchange.unit_bytes
                    at, unit, number = after, unit * radix, number + 1
    return sent


@pytest.mark.parametrize("radix", [2, 4, 8])
def test_a_message_of_bruck_carries_all_blocks_of_its_digit(case, radix):
    mapping, found = case
    for exchange in found:
        rounds = algorithm_named(f"bruck{radix}").rounds(exchange, mapping)
        assert {(k, *pair): size for k, each in enumerate(rounds) for pair, size in messages(each).items()
                } == blocks_by_digits(exchange, radix)


@pytest.mark.parametrize("name", ["padded", "fftw"])
def test_padding_makes_the_messages_of_a_group_as_long_as_its_longest(case, name):
    mapping, found = case
    for exchange in found:
        [each] = algorithm_named(name).rounds(exchange, mapping)
        for ranks, weight in zip(exchange.members, exchange.group_weight):
            longest = int(weight) * exchange.send_weight.max() * exchange.receive_weight.max() * exchange.unit_bytes
            assert {messages(each)[a, b] for a in ranks for b in ranks if a != b} <= {int(longest)}
        assert messages(each).keys() == messages(exchange).keys()


def test_alltoall_is_refused_where_a_group_has_messages_of_several_lengths():
    grid = ProcessGrid(4, 6)
    for exchange in exchanges(grid, Transform(12, 24, 24)):
        assert algorithm_named("alltoall").rounds(exchange, scattered(grid, 1)) == (exchange,)
    with pytest.raises(GridError, match="row exchange blocks of 5 and 6; take padded or alltoallv"):
        algorithm_named("alltoall").rounds(exchanges(grid, Transform(12, 24, 23))[0], scattered(grid, 1))


def test_node_sends_one_message_between_two_nodes_with_all_their_bytes(case):
    mapping, found = case
    for exchange in found:
        [each] = algorithm_named("node").rounds(exchange, mapping)
        group = {int(rank): g for g, ranks in enumerate(exchange.members) for rank in ranks}
        expected, node = Counter(), mapping.node_of_rank
        for (a, b), size in messages(exchange).items():
            if node[a] != node[b]:
                expected[group[a], node[a], node[b]] += size
        assert Counter({(group[a], node[a], node[b]): size for (a, b), size in messages(each).items()}) == expected
        shares = Counter(a for a, _ in messages(each))
        for ranks in exchange.members:  # the ranks of a node differ by at most one message
            for here in set(node[ranks]):
                mine = [shares[int(rank)] for rank in ranks if node[rank] == here]
                assert max(mine) - min(mine) <= 1


def test_the_times_of_rounds_add_up_and_so_do_their_messages():
    """The busiest link of a line of four carries 2 messages in each of two phases, and 4 of all messages at once."""
    where = setting(network="4:mesh", bandwidth="1 MB/s", fft="16")
    placed = where.place("default", where.grid("4x1"))
    steps, at_once = (predict(placed, where.transform, exchange=[name, "alltoallv"]).stages[0]
                      for name in ("p2p", "alltoallv"))
    message_s = 16 * 16**3 / 16 / 1e6
    assert at_once.t_s == pytest.approx(4 * message_s)
    assert (steps.t_s, steps.n_rounds, steps.work.messages) == (pytest.approx(4 * message_s), 2, 3)
    assert steps.terms.link_s == pytest.approx(steps.t_s) and len(steps.rounds) == 2


@pytest.mark.parametrize("torus, slots, R, C, rows, columns", [
    ("8wx4", 2, 4, 16, [[2], [3], [1]], [[4, 6, 12, 14], [1, 3, 9, 11], [2, 8], [5, 15], [7, 13], [10]]),
    ("4x4", 2, 4, 8, [[2], [3], [1]], [[2, 3, 6, 7], [1, 4], [5]]),
    ("4x4x4", 1, 8, 8, [[1, 3, 5, 7], [2, 4], [6]], [[2, 3, 6, 7], [1, 4], [5]]),
    ("7x5", 1, 5, 7, [[2, 3], [1, 4]], [[1, 2, 3, 4, 5, 6]])])
def test_partners_of_rank_0_are_those_that_the_library_prints(torus, slots, R, C, rows, columns):
    """Data that stays on a node ends in its own phase; partners_test.c does so, too."""
    network, rank = parse_torus(torus), np.arange(R * C)
    for group, expected in ((rank // R, rows), (rank % R, columns)):
        found = algorithms.phases(network, network.coordinates(rank // slots), group, 0)
        assert [sorted(phase[:, 0].tolist()) for phase in found] == expected
