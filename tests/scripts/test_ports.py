"""Messages that start together: pencils, slabs and bricks, predicted and simulated with every message."""

import shutil
from math import ceil

import pytest

START_S = 20e-6
NETWORK = ("--network", "4x4", "--bandwidth", "1 GB/s", "--fft", "32", "--placement", "default", "--message-cost", "20 us")
MESSAGES = {  # of a rank, by decomposition and grid: the messages of each exchange, as counted by hand
    ("pencil", "4x4"): {"row": 3, "column": 3},
    ("slab", "16"): {"slab": 15},
    ("brick:4x2x2", "4x4"): {"remap_in": 2, "row": 3, "column": 3, "remap_out": 4},
}


def words(decomposition, grid, ports):
    return (*NETWORK, "--decomposition", decomposition, "--grid", grid, "--ports", ports)


@pytest.mark.parametrize("decomposition, grid", MESSAGES, ids=str)
def test_ports_save_the_starts_of_messages_that_leave_together(pencilmap_json, decomposition, grid):
    """Bytes and links are the same, so the times differ by the starts alone."""
    by_ports = {k: pencilmap_json.one("predict", *words(decomposition, grid, k))["time_s"] for k in (1, 2, 3, 16)}
    starts = {k: sum(ceil(n / k) for n in MESSAGES[decomposition, grid].values()) for k in by_ports}
    for k, time_s in by_ports.items():
        assert by_ports[1] - time_s == pytest.approx(START_S * (starts[1] - starts[k]), abs=1e-9)


@pytest.mark.skipif(not shutil.which("smpirun"), reason="NOT TESTED: SimGrid is missing; scripts/setup installs it")
@pytest.mark.parametrize("decomposition, grid", MESSAGES, ids=str)
@pytest.mark.parametrize("ports", [1, 3])
def test_simulated_exchanges_with_ports_take_the_predicted_time(pencilmap_json, decomposition, grid, ports):
    rows = pencilmap_json("simulate", *words(decomposition, grid, ports))
    assert [row["stage"] for row in rows] == list(MESSAGES[decomposition, grid])
    routed = ("--routing", "dimension-order:xy:parity")  # of the simulated torus
    predicted = pencilmap_json.one("predict", *words(decomposition, grid, ports), *routed)["time_s"]
    assert sum(row["time_s"] for row in rows) == pytest.approx(predicted)
    assert [row["measured_s"] for row in rows] == pytest.approx([row["time_s"] for row in rows], rel=0.003)
