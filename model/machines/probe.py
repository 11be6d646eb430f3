"""Figures of a machine from the times of network_probe: starts, rates and ports of messages, latency of hops, links.

Idea: half of a round trip is ``start + hops latency + bytes / rate``, with start and rate for each range of sizes. A range
is split if the better fit outweighs the additional figures (Akaike's information criterion). A burst of m messages at once
leaves in ``ceil(m / ports)`` batches, a start apart. From each batch on, the remaining bytes take the longest of three
times: of a single message, of all messages together, or of the busiest link. The best number of ports explains how the time
grows with m. Streams across a cut take as long as the busiest link, which the routing determines.
Source: A. Jocksch, N. Tselepidis, V. Karakasis, Improved scaling of massively parallel FFTs on modern supercomputers, Cray
User Group 2021 (ports that depend on the size of a message, measured at installation); C. E. Cramer, J. A. Board, The
development and integration of a distributed 3D FFT for a cluster of workstations, 2000 (simultaneous streams).
Cost: least squares for every way to split the sizes into at most three ranges.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, pairwise
from math import inf, log, sqrt
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.kinds import default_routing, routing
from pencilmap.model.kinds.torus_floors import hops_between
from pencilmap.model.network.torus import Torus
from pencilmap.model.times.costs import MessageRange
from pencilmap.model.traffic.exchange import of_messages

MOST_RANGES = 3
LEAST_SIZES = 3       # of a range
LEAST_NOISE = 1e-2    # ratio: no modelled time is assumed to be more accurate
WORTH = 2.0           # of twice the log-likelihood, for each additional figure (Akaike)
ALIKE = 0.03          # dimensions whose bandwidths differ by less are of one kind
SLOWED = 1.05         # streams slow each other down if their time exceeds this multiple of a single message's


@dataclass(frozen=True)
class Trip:
    """A message between two nodes, alone: half of a round trip."""

    start: int        #: number of the node, as in the probe
    to: int
    hops: int | None  #: None if the nodes have no coordinates
    size: int         #: bytes
    seconds: float


@dataclass(frozen=True)
class Burst:
    """Messages of one size at once from a node to others, until the last empty answer arrives."""

    start: int
    to: tuple[int, ...]
    size: int
    seconds: float


@dataclass(frozen=True)
class Streams:
    """Pairs of nodes that send to each other both ways at once."""

    axis: str | None
    pairs: tuple[tuple[int, int], ...]
    size: int
    seconds: float

    @property
    def rate(self) -> float:
        """Bytes per second of all pairs together, each way."""
        return len(self.pairs) * self.size / self.seconds


@dataclass(frozen=True)
class Probe:
    """The measurements of one or more runs of network_probe on one network."""

    torus: Torus | None  #: None if the nodes have no coordinates
    tasks_per_node: int | None
    trips: tuple[Trip, ...]
    bursts: tuple[Burst, ...]
    streams: tuple[Streams, ...]
    routing: str | None = None  #: of a simulated network; by default the routing of the torus


@dataclass(frozen=True)
class FitQuality:
    """``|fitted / measured - 1|`` of the times of one kind."""

    of: str
    number: int
    mean: float
    largest: float


@dataclass(frozen=True)
class Cut:
    """The streams across one dimension: effective bandwidth of its links, and of a cut of the whole network."""

    axis: str | None
    streams: int          #: pairs
    alone: float          #: bytes per second of a single pair, each way
    together: float       #: of all pairs
    link_bandwidth: float | None  #: bytes per second, None without a torus
    bisection: float      #: bytes per second each way through the cut: of its links, or else of all pairs
    slowed: bool          #: whether streams slow each other down; otherwise links may be faster


@dataclass(frozen=True)
class ProbeFit:
    """The figures: SI units."""

    messages: tuple[MessageRange, ...]
    hop_latency_s: float | None  #: None if all distances are equal
    cuts: tuple[Cut, ...]
    quality: tuple[FitQuality, ...]
    notes: tuple[str, ...]


def fit_probe(probe: Probe) -> ProbeFit:
    """Fit everything that a probe determines.

    Raises
    ------
    CalibrationError
        If there are no round trips of three sizes.
    """
    if len({t.size for t in probe.trips}) < LEAST_SIZES:
        raise CalibrationError(f"a probe needs round trips of {LEAST_SIZES} sizes of messages or more, to tell starts from "
                               "rates")
    links = _Links(probe, (1.0,) * (probe.torus.n_dimensions if probe.torus else 0))
    ranges, latency = _fit_trips(probe.trips)
    fit = ProbeFit(ranges, latency, (), (), ())
    cuts = tuple(_fit_cut(probe, axis, fit, links) for axis in dict.fromkeys(s.axis for s in probe.streams))
    links = _Links(probe, _rates(probe, cuts))
    fast = probe.trips
    if links.network is not None and links.network.bandwidth is not None:  # the others take as long as slow links
        fastest = (1 + ALIKE) / max(links.network.bandwidth)
        fast = tuple(t for t in fast if links.busiest([(t.start, t.to)]) <= fastest)
    if len({t.size for t in fast}) >= LEAST_SIZES and len(fast) < len(probe.trips):
        ranges, latency = _fit_trips(fast)
    fit, notes = _fit_bursts(probe, replace(fit, messages=ranges, hop_latency_s=latency, cuts=cuts), links)
    return replace(fit, quality=tuple(_quality(probe, fit, links)), notes=notes)


# ---- seconds of the links --------------------------------------------------------------------------------------------


class _Links:
    """Seconds per byte of single messages on every link, at some bandwidths of the dimensions. Without a torus, no links."""

    def __init__(self, probe: Probe, bandwidth: tuple[float, ...]) -> None:
        self.network = None if probe.torus is None or not bandwidth else replace(probe.torus, bandwidth=bandwidth)
        self.rule = self.network and routing(probe.routing or default_routing(self.network), self.network)
        self.vector = cache(self._vector)

    def _vector(self, start: int, to: int) -> Floats:
        assert self.network and self.network.bandwidth and self.rule  # only `busiest` asks
        message = of_messages("probe", np.array([[start, to]]), np.ones(1, dtype=np.int64), 1, 1)
        loads = self.rule.loads(self.network, message, np.arange(self.network.n_nodes)).bytes()
        return np.concatenate([np.ravel(load) / (cables * rate) for load, cables, rate in zip(
            loads, self.network.cables, self.network.bandwidth)])

    def busiest(self, messages: list[tuple[int, int]]) -> float:
        """Return seconds of the busiest link for a byte of each of some messages: pairs of nodes."""
        return float(np.sum([self.vector(*pair) for pair in messages], axis=0).max()) if self.network and messages else 0.0

    def hops(self, start: int, to: int) -> int:
        if self.network is None:
            return 0
        return int(hops_between(self.network, [start, to])[0, 1])


def _rates(probe: Probe, cuts: Sequence[Cut]) -> tuple[float, ...]:
    """Return the bandwidth of the links of each dimension. None without streams."""
    known = {c.axis: c.link_bandwidth for c in cuts if c.link_bandwidth}
    return tuple(known.get(axis) or max(known.values()) for axis in probe.torus.axes) if probe.torus and known else ()


# ---- messages alone --------------------------------------------------------------------------------------------------


def _fit_trips(trips: Sequence[Trip]) -> tuple[tuple[MessageRange, ...], float | None]:
    sizes = sorted({t.size for t in trips})
    best: Any = None
    best_score = inf
    for n in range(1, MOST_RANGES + 1):
        for cuts in combinations(range(LEAST_SIZES, len(sizes) - LEAST_SIZES + 1), n - 1):
            if any(b - a < LEAST_SIZES for a, b in pairwise(cuts)):
                continue
            ends = [sqrt(max(sizes[c - 1], 1) * sizes[c]) for c in cuts] + [inf]
            figures, rest = _least_squares(trips, ends)
            score = len(trips) * log(max(rest, LEAST_NOISE**2)) + WORTH * 2 * n
            if score < best_score - 1e-9:
                best, best_score = figures, score
    return best


def _least_squares(trips: Sequence[Trip], ends: list[float]) -> tuple[tuple[tuple[MessageRange, ...], float | None], float]:
    """Return ranges, latency of a hop (None if undetermined), and the mean squared relative error."""
    from scipy.optimize import nnls

    n = len(ends)
    rows = np.zeros((len(trips), 2 * n + 1))
    far = len({t.hops for t in trips}) > 1
    for row, trip in zip(rows, trips):
        i = next(i for i, end in enumerate(ends) if trip.size <= end)
        row[i], row[n + i], row[2 * n] = 1.0, trip.size, (trip.hops or 0) if far else 0.0
    rows /= np.array([t.seconds for t in trips])[:, None]
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    figures, distance = nnls(rows / scale, np.ones(len(trips)))
    figures = figures / scale
    ranges = tuple(MessageRange(end, float(figures[i]), 1, float(1 / figures[n + i]) if figures[n + i] > 0 else None)
                   for i, end in enumerate(ends))
    latency = float(figures[2 * n]) if figures[2 * n] > 1e-6 * min(t.seconds for t in trips) else 0.0
    return (ranges, latency if far else None), distance**2 / len(trips)


def _range(fit: ProbeFit, size: int) -> MessageRange:
    return next(range_ for range_ in fit.messages if size <= range_.up_to)


def _alone_s(fit: ProbeFit, size: int) -> float:
    """Return seconds of the bytes of a single message."""
    rate = _range(fit, size).rate
    return size / rate if rate else 0.0


def _trip_s(fit: ProbeFit, trip: Trip, links: _Links) -> float:
    flow = max(_alone_s(fit, trip.size), links.busiest([(trip.start, trip.to)]) * trip.size)
    return _range(fit, trip.size).start_s + (fit.hop_latency_s or 0.0) * (trip.hops or 0) + flow


# ---- streams across a cut --------------------------------------------------------------------------------------------


def _fit_cut(probe: Probe, axis: str | None, fit: ProbeFit, links: _Links) -> Cut:
    streams = [s for s in probe.streams if s.axis == axis]
    alone, all_pairs = min(streams, key=lambda s: len(s.pairs)), max(streams, key=lambda s: len(s.pairs))
    last = [s for s in streams if len(s.pairs) == len(all_pairs.pairs)]
    flow_s = float(np.median([s.seconds for s in last])) - _range(fit, all_pairs.size).start_s
    together = len(all_pairs.pairs) * all_pairs.size / float(np.median([s.seconds for s in last]))
    slowed = flow_s > SLOWED * _alone_s(fit, all_pairs.size)
    if flow_s <= 0:
        raise CalibrationError(f"streams of {all_pairs.size} bytes took no longer than the start of a message: measure "
                               "longer ones")
    if probe.torus is None or axis is None:
        return Cut(axis, streams=len(all_pairs.pairs), alone=alone.rate, together=together, link_bandwidth=None,
                   bisection=together, slowed=slowed)
    link = links.busiest(_both_ways(all_pairs)) * all_pairs.size / flow_s  # these links take a second for each byte
    i = probe.torus.axes.index(axis)
    n_links = probe.torus.n_nodes // probe.torus.shape[i] * (2 if probe.torus.is_ring(i) else 1) * probe.torus.cables[i]
    return Cut(axis, streams=len(all_pairs.pairs), alone=alone.rate, together=together, link_bandwidth=link,
               bisection=link * n_links, slowed=slowed)


def _both_ways(streams: Streams) -> list[tuple[int, int]]:
    return [way for pair in streams.pairs for way in (pair, pair[::-1])]


def _streams_s(fit: ProbeFit, streams: Streams, links: _Links) -> float | None:
    if links.network is None:
        return None
    range_ = _range(fit, streams.size)
    return range_.start_s + max(links.busiest(_both_ways(streams)) * streams.size, _alone_s(fit, streams.size),
                                streams.size / (range_.together or inf))


# ---- bursts: ports ---------------------------------------------------------------------------------------------------


def _fit_bursts(probe: Probe, fit: ProbeFit, links: _Links) -> tuple[ProbeFit, tuple[str, ...]]:
    """Return the ranges with ports and joint rates. If only a lower limit of the ports is known, a note says so."""
    ranges, notes, before = list[MessageRange](), [], None
    for range_ in fit.messages:
        lower = ranges[-1].up_to if ranges else -1.0
        bursts = _Bursts([b for b in probe.bursts if lower < b.size <= range_.up_to], fit, links)
        if not bursts.measured.size:
            ranges.append(replace(range_, ports=before or 1))
            continue
        ports, together = _ports(bursts, range_.start_s, before)
        if ports >= bursts.most and ports != before:
            size = "of any size" if range_.up_to == inf else f"up to {range_.up_to:.0f} bytes"
            notes.append(f"messages {size} start {bursts.most} at a time, and no more were tried: there may be more ports")
        ranges.append(replace(range_, ports=ports, together=together))
        before = ports
    return replace(fit, messages=tuple(ranges)), tuple(notes)


class _Bursts:
    """Bursts of two messages or more as arrays, with the single message of the same size from the same node."""

    def __init__(self, bursts: list[Burst], fit: ProbeFit, links: _Links) -> None:
        single = {(b.start, b.size): b for b in bursts if len(b.to) == 1}
        usable = [b for b in bursts if len(b.to) > 1 and (b.start, b.size) in single]
        first = [single[b.start, b.size] for b in usable]
        self.most = max((len(b.to) for b in usable), default=0)
        self.measured = np.array([b.seconds for b in usable])
        self.number, self.size = np.array([len(b.to) for b in usable]), np.array([b.size for b in usable], dtype=float)
        self.alone = np.array([_alone_s(fit, b.size) for b in usable])
        from_message = cache(lambda start, to: links.busiest([(start, node) for node in to]))
        self.links = np.array([[from_message(b.start, b.to[i:]) for i in range(self.most)] for b in usable]).reshape(
            len(usable), self.most) * self.size[:, None]
        latency = 2 * (fit.hop_latency_s or 0.0)  # of the message and of its answer
        far = [max(links.hops(b.start, node) for node in b.to) - links.hops(f.start, f.to[0]) for b, f in zip(usable, first)]
        flow = [max(_alone_s(fit, f.size), from_message(f.start, f.to) * f.size) for f in first]
        self.before = np.array([f.seconds for f in first]) - flow + latency * np.array(far)

    def times(self, start_s: float, ports: int, inverse: float) -> Floats:
        """Return seconds of every burst, by the inverse rate of all messages of a node together, or 0 if unlimited."""
        gone = np.arange(0, self.most, ports)  # messages before each batch
        left = np.maximum(self.number[:, None] - gone, 0)
        flow = np.maximum(np.maximum(self.alone[:, None], self.links[:, gone]), left * self.size[:, None] * inverse)
        return self.before + np.where(left > 0, start_s * np.arange(len(gone)) + flow, 0.0).max(axis=1)


def _ports(bursts: _Bursts, start_s: float, before: int | None) -> tuple[int, float | None]:
    """Return the number of ports, and the rate of all messages together (or None), that best explain how the bursts grow."""
    from scipy.optimize import minimize_scalar

    def score(ports: int, inverse: float, of: Any = slice(None)) -> float:
        error = np.log(np.maximum(bursts.times(start_s, ports, inverse), 1e-12) / bursts.measured)[of]
        return 2 * len(error) * log(max(float(np.mean(np.abs(error))), LEAST_NOISE))

    def best_of(ports: int) -> tuple[float, float]:
        own = (bursts.links[:, 0] <= SLOWED * bursts.alone) & (bursts.size > 0)  # a link for each message: no other limit
        if not own.any():
            return score(ports, 0.0), 0.0
        free, carried = score(ports, 0.0, own), bursts.number * bursts.size * own
        slowest = log(float((bursts.measured[carried > 0] / carried[carried > 0]).min()) * 2)
        grid = np.linspace(slowest - 6, slowest, 61)
        near = grid[int(np.argmin([score(ports, np.exp(x), own) for x in grid]))]
        optimum = minimize_scalar(lambda x: score(ports, np.exp(x), own), bounds=(near - 0.1, near + 0.1), method="bounded",
                                  options={"xatol": 1e-5})
        inverse = float(np.exp(optimum.x)) if optimum.fun + WORTH < free else 0.0
        return score(ports, inverse), inverse

    scores = {ports: best_of(ports) for ports in range(1, bursts.most + 1)}
    best = min(scores, key=lambda ports: (scores[ports][0], ports))
    if before is not None and before in scores and scores[before][0] <= scores[best][0] + WORTH:
        best = before  # if the starts are too short beside the bytes, keep the ports of smaller messages
    inverse = scores[best][1]
    return best, 1 / inverse if inverse else None


# ---- quality of the fit ----------------------------------------------------------------------------------------------


def _quality(probe: Probe, fit: ProbeFit, links: "_Links") -> Sequence[FitQuality]:
    at_once = []
    for i, range_ in enumerate(fit.messages):
        lower = fit.messages[i - 1].up_to if i else -1.0
        bursts = _Bursts([b for b in probe.bursts if lower < b.size <= range_.up_to], fit, links)
        if bursts.measured.size:
            inverse = 1 / range_.together if range_.together else 0.0
            at_once += list(zip(bursts.times(range_.start_s, range_.ports, inverse).tolist(), bursts.measured.tolist()))
    kinds = {
        "messages alone": [(_trip_s(fit, t, links), t.seconds) for t in probe.trips],
        "messages at once": at_once,
        "streams across a cut": [(_streams_s(fit, s, links), s.seconds) for s in probe.streams],
    }
    lines = []
    for name, pairs in kinds.items():
        errors = [abs(fitted / measured - 1) for fitted, measured in pairs if fitted is not None and measured > 0]
        if errors:
            lines.append(FitQuality(name, len(errors), float(np.mean(errors)), max(errors)))
    return lines
