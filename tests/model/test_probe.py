"""The fit of a probe whose times come from known figures, message by message, without a network."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.machines import probe as probe_module
from pencilmap.model.machines.probe import Burst, Probe, Streams, Trip, fit_probe
from pencilmap.model.network.torus import Torus

SIZES = (0, 256, 4096, 65536, 1 << 18, 1 << 20)


def neighbours(torus, node):
    here = torus.coordinates(np.array([node]))[0]
    found = [np.array(here) for _ in range(2 * torus.n_dimensions)]
    for i in range(torus.n_dimensions):
        for side, step in enumerate((1, -1)):
            found[2 * i + side][i] = (here[i] + step) % torus.shape[i]
    return [int(torus.node(at)) for at in found]


def made(torus, rates, start_s, hop_s, ports, together=None, later=None):
    """Return a probe of a torus whose links are as fast as the message: every neighbour has its own link.

    `later` is a size from which messages start with other seconds."""
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


@pytest.mark.parametrize("ends", [(3, 6), (4, 8), (3, 9), (5, 9)])
def test_three_ranges_are_told_apart(ends):
    """For twelve sizes, with starts and rates that differ between ranges."""
    sizes = [0, *(4**k for k in range(1, 12))]
    starts, rates = (1e-6, 9e-6, 8e-5), (1e8, 1e9, 4e9)
    kind = [sum(i >= end for end in ends) for i in range(12)]
    trips = [Trip(0, to, to, size, starts[k] + to * 1e-7 + size / rates[k]) for size, k in zip(sizes, kind) for to in (1, 2)]
    ranges, latency = probe_module._fit_trips(trips)
    assert [each.start_s for each in ranges] == pytest.approx(starts, rel=1e-6) and latency == pytest.approx(1e-7)
    assert [each.rate for each in ranges] == pytest.approx(rates, rel=1e-6)
    middle = [(sizes[end - 1] * sizes[end]) ** 0.5 for end in ends]
    assert [each.up_to for each in ranges] == pytest.approx([*middle, np.inf])


def test_three_sizes_are_needed():
    probe = made(Torus((3, 3)), (1e9, 1e9), 1e-6, 0.0, 1)
    few = [trip for trip in probe.trips if trip.size < 4096]
    with pytest.raises(CalibrationError, match="round trips of 3 sizes"):
        fit_probe(Probe(probe.torus, 1, tuple(few), probe.bursts, probe.streams))


def test_a_cut_is_told_with_its_streams_and_all_its_links():
    """Rings of 3 and 5 are cut twice, and each cut has a link for each line; the probe sent as many pairs as lines."""
    fit = fit_probe(made(Torus((3, 5), cables=(1, 2)), (4e9, 4e9), 1e-6, 3e-7, 3))
    seconds = 1.3e-6 + (1 << 22) / 4e9
    for cut, axis, lines, cables in zip(fit.cuts, "xy", (5, 3), (1, 2)):
        assert (cut.axis, cut.streams, cut.slowed) == (axis, lines, False)
        assert cut.alone == pytest.approx((1 << 22) / seconds) and cut.together == pytest.approx(lines * cut.alone)
        assert cut.link_bandwidth == pytest.approx(4e9 / cables, rel=2e-3)
        assert cut.bisection == pytest.approx(2 * lines * 4e9, rel=2e-3)
    assert [(quality.of, quality.number) for quality in fit.quality] == [
        ("messages alone", 14 * len(SIZES)), ("messages at once", 3 * len(SIZES)), ("streams across a cut", 4)]
    assert all(quality.mean <= quality.largest < 0.02 for quality in fit.quality)


def line_of_four(rate=1e9, start_s=1e-6, hop_s=1e-7, far=True, times=1.0):
    """Return four nodes in a row, with every pair; two streams share the link in the middle."""
    torus = Torus((4,), (False,))
    trips = [Trip(0, b, b, size, start_s + b * hop_s + size / rate) for b in ((1, 2, 3) if far else (2,)) for size in SIZES]
    size = 1 << 24
    streams = [Streams("x", pairs, size, times * (start_s + len(pairs) * size / rate))
               for pairs in (((1, 2),), ((0, 2), (1, 3)))]
    return Probe(torus, 1, tuple(trips), (), tuple(streams))


def test_streams_that_share_a_link_slow_each_other():
    fit = fit_probe(line_of_four())
    [cut] = fit.cuts
    assert cut.slowed and cut.streams == 2 and cut.link_bandwidth == pytest.approx(1e9, rel=1e-3) == cut.bisection
    assert cut.together == pytest.approx(cut.alone, rel=1e-3) and fit.hop_latency_s == pytest.approx(1e-7, rel=0.03)
    assert [messages.ports for messages in fit.messages] == [1] and fit.notes == ()
    assert fit.quality[-1].of == "streams across a cut" and fit.quality[-1].largest < 1e-3
    for times, slowed in ((0.515, False), (0.55, True)):  # of a rate that two streams fill by 1.03 and 1.1
        assert fit_probe(line_of_four(times=times)).cuts[0].slowed == slowed


def test_one_distance_tells_no_latency_of_a_hop():
    assert fit_probe(line_of_four(far=False)).hop_latency_s is None
    assert fit_probe(line_of_four(hop_s=0.0)).hop_latency_s == 0


def test_streams_that_are_shorter_than_a_start_are_refused():
    with pytest.raises(CalibrationError, match="took no longer than the start of a message: measure longer ones"):
        fit_probe(line_of_four(start_s=1e-3, times=1e-4))


def test_without_coordinates_a_cut_is_what_all_pairs_carry():
    """A switch carries all messages that the probe sent at once, and the probe sent no more."""
    trips = [Trip(0, b, None, size, 1e-6 + size / 1e9) for b in (1, 2, 3) for size in SIZES]
    bursts = [Burst(0, tuple(range(1, m + 1)), size, 2e-6 + size / 1e9) for m in (1, 2, 3) for size in SIZES]
    streams = [Streams(None, ((0, 1), (2, 3))[:n], 1 << 22, 1e-6 + (1 << 22) / 1e9) for n in (1, 2)]
    fit = fit_probe(Probe(None, 1, tuple(trips), tuple(bursts), tuple(streams)))
    [cut] = fit.cuts
    assert (cut.axis, cut.link_bandwidth, cut.slowed) == (None, None, False) and cut.bisection == cut.together
    assert cut.together == 2 * cut.alone == streams[1].rate and fit.hop_latency_s is None
    assert fit.messages[0].ports == 3 and "start 3 at a time, and no more were tried" in fit.notes[0]
    assert [quality.of for quality in fit.quality] == ["messages alone", "messages at once"]


def test_ports_of_small_messages_stand_where_bytes_hide_the_starts():
    """Above the first range no burst shows the ports; larger messages keep the ports of smaller messages."""
    probe = made(Torus((3, 3, 3)), (1e9,) * 3, 2e-6, 1e-7, 2, later=(65536, 4e-5))
    small = tuple(burst for burst in probe.bursts if burst.size < 65536)
    fit = fit_probe(Probe(probe.torus, 1, probe.trips, small, probe.streams))
    assert [messages.ports for messages in fit.messages] == [2, 2] and fit.notes == ()
    assert fit.messages[1].together is None


@pytest.mark.parametrize("seed", range(4))
def test_a_burst_takes_as_long_as_its_slowest_batch(seed):
    """The rule of the module, message by message, in a row of nodes; the messages of a side share links."""
    rng = np.random.default_rng(seed)
    torus, rate, hop_s, start_s = Torus((6,), (False,), (2e9,)), 1e9, 3e-7, float(rng.uniform(1e-6, 1e-4))
    fit = probe_module.ProbeFit((probe_module.MessageRange(np.inf, start_s, 1, rate),), hop_s, (), (), ())
    to = tuple(map(int, rng.permutation([0, 1, 3, 4, 5])))
    bursts = [Burst(2, to[:m], size, 1e-3 * m) for m in range(1, 6) for size in (0, 1000, 100_000)]
    found = probe_module._Bursts(bursts, fit, probe_module._Links(Probe(torus, 1, (), (), ()), torus.bandwidth))
    several = [burst for burst in bursts if len(burst.to) > 1]
    assert found.most == 5 and len(found.measured) == len(several) == 12

    def flow(messages, size, together):
        left, right = sum(node < 2 for node in messages), sum(node > 2 for node in messages)
        return max(size / rate, max(left, right) * size / 2e9, len(messages) * size * together)

    def far(messages):
        return max(abs(node - 2) for node in messages)

    for ports in range(1, 6):
        for together in (0.0, 4e-10):
            expected = [1e-3 - flow(to[:1], b.size, 0.0) + 2 * hop_s * (far(b.to) - far(to[:1])) + max(
                start_s * k + flow(b.to[gone:], b.size, together) for k, gone in enumerate(range(0, len(b.to), ports)))
                for b in several]
            assert found.times(start_s, ports, together).tolist() == pytest.approx(expected, rel=1e-12)


def test_noise_is_told_and_moves_the_figures_little():
    rng = np.random.default_rng(4)
    exact = made(Torus((3, 4)), (1e9, 1e9), 2e-6, 3e-7, 2)

    def noisy(some):
        return tuple(replace(one, seconds=one.seconds * float(np.exp(0.03 * rng.standard_normal()))) for one in some)

    fit = fit_probe(replace(exact, trips=noisy(exact.trips), bursts=noisy(exact.bursts), streams=noisy(exact.streams)))
    assert fit.messages[-1].rate == pytest.approx(1e9, rel=0.1) and fit.hop_latency_s == pytest.approx(3e-7, rel=0.3)
    assert [cut.link_bandwidth for cut in fit.cuts] == pytest.approx([1e9, 1e9], rel=0.1)
    for quality in fit.quality:
        assert 0.005 < quality.mean < 0.05 and quality.mean < quality.largest < 0.2, quality
    assert [quality.number for quality in fit.quality] == [66, 18, 4], "a burst of one is a message alone"
