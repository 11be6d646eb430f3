"""Tasks compared with threads: messages between nodes counted individually, fewer by a factor of T^2."""

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.threads import choices, messages_of_node

WORDS = ("--network", "4x2", "--bandwidth", "1 GB/s", "--tasks-per-node", 4)


@pytest.mark.parametrize("grid, placement, decomposition", [
    ("4x8", "best", "pencil"), ("8x4", "default:txy", "pencil"), ("2x16", "default", "pencil"),
    ("32", "default:ytx", "slab")])
def test_messages_of_a_node_are_those_of_its_tasks(grid, placement, decomposition):
    where = setting(network="4x2", bandwidth="1 GB/s", tasks_per_node=4, fft="64", decomposition=decomposition)
    [p] = where.predictions(grid, [placement])
    node = as_mapping(where.place(placement, p.grid), placement).node_of_rank
    sent = np.zeros(8, dtype=int)
    for stage in p.grid.decomposition.exchanges:
        for group in p.grid.groups(stage.letters):
            for a in group:
                sent[node[a]] += sum(node[a] != node[b] for b in group)
    assert messages_of_node(p, where) == sent.max()


def test_between_two_nodes_pass_t_squared_fewer_messages(pencilmap_json):
    """Slabs: every task sends to every other, so a node of T tasks sends T T (N - 1) messages to N - 1 nodes."""
    found = pencilmap_json("plan", *WORDS, "--fft", 64, "--decomposition", "slab", "--threads", 4, "--effort", "quick")
    rows = [row for row in found if "threads" in row]
    assert [(row["tasks_per_node"], row["threads"]) for row in rows] == [(4, 1), (2, 2), (1, 4)]
    array = 16 * 64**3
    for row in rows:
        tasks = row["tasks_per_node"]
        assert row["messages_of_node"] == tasks**2 * 7
        assert row["message_bytes"] == pytest.approx(array / (8 * tasks)**2)
        assert row["node_bytes"] == 2 * array / 8 and row["table_entries_of_node"] == tasks * 8 * tasks
        assert row["grid"] == [8 * tasks]


def test_threads_compute_as_fast_together_as_tasks():
    where = setting("bluegene-p", network="4x2x2:torus", tasks_per_node=4, fft="32")
    tasks, threads = choices(where, [4, 1], lambda here: here.predictions("best", ["default"])[0])
    assert threads.prediction.local.fft_s == pytest.approx(tasks.prediction.local.fft_s)
    assert threads.prediction.grid.n_tasks == 16 and tasks.prediction.grid.n_tasks == 64


def test_an_exchange_that_moves_nothing_has_no_messages():
    where = setting(network="4x2", bandwidth="1 GB/s", tasks_per_node=4, fft="64")
    [one] = choices(where, [4], lambda here: here.predictions("1x32", ["default"])[0])
    assert one.message_bytes == 16 * 64**3 / 32**2
    assert (one.messages, one.peers) == (4 * 28, 4 * 33)


@pytest.mark.parametrize("words, part", [
    (["--fft", 64, "--threads", 3], "divides 4"), (["--threads", 2], "name it with --fft"),
    (["--fft", 64, "--threads", 2, "--grid", "4x8"], "leave out --grid")])
def test_what_is_refused(pencilmap, words, part):
    status, out, err = pencilmap("plan", *WORDS, *words)
    assert status and not out and part in err
