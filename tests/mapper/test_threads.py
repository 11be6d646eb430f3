"""Tasks compared with threads: messages between nodes counted individually, fewer by a factor of T^2."""

import numpy as np
import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import setting
from pencilmap.mapper.studies.threads import messages_of_node

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
