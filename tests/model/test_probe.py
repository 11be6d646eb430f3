"""The fit of a probe against figures from which its times are made, message by message, without a network."""

from itertools import product

import numpy as np
import pytest

from pencilmap.model.errors import CalibrationError
from pencilmap.model.probe import Burst, Probe, Streams, Trip, fit_probe
from pencilmap.model.torus import Torus

SIZES = (0, 256, 4096, 65536, 1 << 18, 1 << 20)


def neighbours(torus, node):
    here = torus.coordinates(np.array([node]))[0]
    found = [np.array(here) for _ in range(2 * torus.n_dimensions)]
    for i in range(torus.n_dimensions):
        for side, step in enumerate((1, -1)):
            found[2 * i + side][i] = (here[i] + step) % torus.shape[i]
    return [int(torus.node(at)) for at in found]


def made(torus, rates, start_s, hop_s, ports, together=None, later=None):
    """A probe of a torus whose links are as fast as the message: every neighbour has a link of its own. `later`: a size from
    which messages start with other seconds."""
    where = torus.coordinates(np.arange(torus.n_nodes))

    def start_of(size):
        return later[1] if later and size >= later[0] else start_s

    def hops(a, b):
        apart = np.abs(where[a] - where[b])
        return int(np.minimum(apart, np.array(torus.shape) - apart).sum())

    def slowest(a, b):
        return min((rate for rate, x, y in zip(rates, where[a], where[b]) if x != y), default=max(rates))

    def alone(a, b, size):
        return size / min(slowest(a, b), max(rates))

    trips = [Trip(0, b, hops(0, b), size, start_of(size) + hops(0, b) * hop_s + alone(0, b, size))
             for b, size in product(range(1, torus.n_nodes), SIZES)]
    fast = [n for n in neighbours(torus, 0) if slowest(0, n) == max(rates)]
    bursts = []
    for size, m in product(SIZES, range(1, len(fast) + 1)):
        batches = [range(first, m) for first in range(0, m, ports)]
        flow = max(start_of(size) * k + max(size / max(rates), len(left) * size / together if together else 0)
                   for k, left in enumerate(batches))
        bursts.append(Burst(0, tuple(fast[:m]), size, start_of(size) + start_s + 2 * hop_s + flow))
    streams = []
    for i, rate in enumerate(rates):
        pairs = tuple((node, neighbours(torus, node)[2 * i]) for node in range(torus.n_nodes) if where[node][i] == 0)
        streams += [Streams(torus.axes[i], pairs[:n], 1 << 22, start_s + hop_s + (1 << 22) / rate) for n in (1, len(pairs))]
    return Probe(torus, 1, tuple(trips), tuple(bursts), tuple(streams))


@pytest.mark.parametrize("shape, rates, start_s, hop_s, ports, together", [
    ((3, 3, 3), (1e9,) * 3, 2e-6, 1e-7, 1, None), ((3, 3, 3), (1e9,) * 3, 5e-6, 0.0, 2, None),
    ((3, 5), (4e9, 4e9), 1e-6, 3e-7, 3, None), ((3, 3, 3), (1e9,) * 3, 2e-6, 1e-7, 2, 2.5e9),
    ((3, 3, 3), (2e9, 1e9, 2e9), 3e-6, 2e-7, 2, None)])
def test_the_figures_of_which_times_are_made_are_found(shape, rates, start_s, hop_s, ports, together):
    fit = fit_probe(made(Torus(shape), rates, start_s, hop_s, ports, together))
    [messages] = fit.messages
    assert messages.start_s == pytest.approx(start_s, rel=0.02) and messages.rate == pytest.approx(max(rates), rel=0.02)
    assert messages.ports == ports and fit.hop_latency_s == pytest.approx(hop_s, rel=0.03, abs=1e-10)
    assert [cut.link_bandwidth for cut in fit.cuts] == pytest.approx(list(rates), rel=1e-3)
    assert [cut.axis for cut in fit.cuts] == list("xyz"[:len(shape)])
    if together:
        assert messages.together == pytest.approx(together, rel=0.03)
    else:
        assert messages.together is None or messages.together >= 0.9 * max(rates)
    assert all(quality.mean < 0.02 for quality in fit.quality), fit.quality


def test_sizes_that_start_later_have_a_range_of_their_own():
    fit = fit_probe(made(Torus((3, 3, 3)), (1e9,) * 3, 2e-6, 1e-7, 1, later=(65536, 4e-5)))
    small, large = fit.messages
    assert small.start_s == pytest.approx(2e-6, rel=0.02) and large.start_s == pytest.approx(4e-5, rel=0.02)
    assert small.up_to == pytest.approx((4096 * 65536) ** 0.5) and large.up_to == np.inf
    assert large.rate == pytest.approx(1e9, rel=0.02)


def test_three_sizes_are_needed():
    probe = made(Torus((3, 3)), (1e9, 1e9), 1e-6, 0.0, 1)
    few = [trip for trip in probe.trips if trip.size < 4096]
    with pytest.raises(CalibrationError, match="round trips of 3 sizes"):
        fit_probe(Probe(probe.torus, 1, tuple(few), probe.bursts, probe.streams))
