"""Slabs on the simulated torus: the only exchange takes the predicted time, and the result is right."""

import pytest

from pencilmap.model.placement.grid import parse_transform
from pencilmap.scripts.networks.simulated import ENVELOPE_BYTES

PLACEMENTS = ("default", "default:zyxt")


@pytest.mark.parametrize("torus, n", [("4x4:mesh", 32), ("4x4x4", 64), ("3x5", 30)])
def test_a_slab_takes_the_predicted_time(torus, n, build, pencilmap_json):
    placements = [f"-p{p}" for p in PLACEMENTS if torus.count("x") == p.count("z") * 2 or p == "default"]
    found = pencilmap_json("simulate", "--network", torus, "--bandwidth", "148 MB/s", "--decomposition", "slab", "--fft", n,
                           "--verify", *placements)
    assert [row["stage"] for row in found] == ["slab"] * len(placements)
    for row in found:
        tasks = int(row["grid"])
        envelopes = 1 + ENVELOPE_BYTES * tasks**2 / parse_transform(row["transform"]).total_bytes
        assert row["time_ratio"] / envelopes == pytest.approx(1, abs=0.005), row
