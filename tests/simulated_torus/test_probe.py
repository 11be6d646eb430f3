"""A probe finds the known properties of a simulated torus: starts, ports, rates, hops and links."""

import numpy as np
import pytest

from pencilmap.mapper.runs.probes import read_probes
from pencilmap.model.machines.probe import fit_probe
from pencilmap.model.network.torus import parse_torus
from pencilmap.scripts.networks.measured import simulate_probe
from pencilmap.scripts.networks.simulated import SimulatedNetwork

SIZES = (0, 64, 512, 4096, 16384, 65536, 262144)
NEAR = 0.04


def probed(path, shape, bandwidth, **network):
    torus = parse_torus(shape, bandwidth=bandwidth)
    simulate_probe(SimulatedNetwork(torus, **network), path, SIZES, at_once=9)
    return fit_probe(read_probes([path]))


def check(fit, bandwidth, latency_s, starts, ports, together):
    """Check the figures within four per cent, and the exact number of ports."""
    assert [each.ports for each in fit.messages] == [ports] * len(starts)
    assert [each.start_s for each in fit.messages] == pytest.approx(starts, rel=NEAR)
    assert fit.hop_latency_s == pytest.approx(latency_s, rel=NEAR, abs=1e-12)
    for cut, rate in zip(fit.cuts, bandwidth, strict=True):
        assert cut.link_bandwidth == pytest.approx(rate, rel=NEAR)
    assert all(each.rate == pytest.approx(max(bandwidth), rel=NEAR) for each in fit.messages)
    joint = fit.messages[-1].together
    assert joint is None if together is None else joint == pytest.approx(together, rel=NEAR)
    assert all(q.mean < 0.03 for q in fit.quality), fit.quality


@pytest.mark.parametrize("shape, bandwidth, latency_s, start_s, ports, injection, larger", [
    ("6:mesh", (2.5e8,), 0.0, 5e-6, 1, 0.0, ()),
    ("4x3", (1e9, 5e8), 1e-7, 2e-6, 3, 0.0, ()),
    ("3x2x2:mesh", (1e10,) * 3, 2e-7, 3e-6, 2, 1.2e10, ()),
    ("4x4", (1e10,) * 2, 5e-8, 2e-6, 4, 0.0, ((2048, 9e-6),)),
    pytest.param("8x8", (1e9,) * 2, 0.0, 1e-6, 5, 1e9, (), marks=pytest.mark.slow),
    pytest.param("4x4x4", (1e9,) * 3, 5e-8, 1e-6, 6, 0.0, (), marks=pytest.mark.slow),
    pytest.param("8x4x4:mesh", (1e9, 2e9, 2e9), 1e-7, 4e-6, 1, 0.0, (), marks=pytest.mark.slow),
    pytest.param("16", (3e8,), 1e-6, 8e-6, 4, 0.0, (), marks=pytest.mark.slow),
    pytest.param("5x6", (1e10,) * 2, 2e-7, 2e-6, 4, 0.0, ((2048, 8e-6),), marks=pytest.mark.slow)])
def test_a_probe_finds_what_is_known(build, tmp_path, shape, bandwidth, latency_s, start_s, ports, injection, larger):
    fit = probed(tmp_path / "p.jsonl", shape, bandwidth, latency_s=latency_s, message_s=start_s, ports=ports,
                 injection_bytes_per_s=injection, larger_messages=larger)
    check(fit, bandwidth, latency_s, [start_s, *(start for _, start in larger)], ports, injection or None)
    if larger:
        assert fit.messages[0].up_to == pytest.approx(np.sqrt(512 * 4096), rel=0.01)  # between the sizes around 2048


def test_predictions_with_what_was_probed(build, pencilmap, pencilmap_json, tmp_path):
    """The prediction includes the ports, and agrees with the simulation."""
    network = ["--network", "4x4", "--bandwidth", "10 GB/s", "--message-cost", "5 us", "--ports", "3"]
    probe, machine = tmp_path / "probe.jsonl", tmp_path / "known.toml"
    pencilmap("simulate", *network, "--probe", probe)
    pencilmap("study", "calibrate", "--probe", probe, "-o", machine)
    transform = ["--grid", "8x2", "--fft", "16", "--placement", "default"]
    [told] = pencilmap_json("predict", "--machine", machine, *transform)
    assert told["stages"][0]["terms"]["messages_s"] == pytest.approx(15e-6, rel=0.02)  # 7 messages in 3 batches
    rows = pencilmap_json("simulate", *network, *transform)
    for row, stage in zip(rows, told["stages"], strict=True):
        assert row["time_s"] == pytest.approx(stage["time_s"], rel=0.02)
        assert row["measured_s"] == pytest.approx(stage["time_s"], rel=0.05)
