"""Fair sharing of links compared with progressive filling, in exact fractions over routes walked hop by hop."""

from fractions import Fraction

import numpy as np
import pytest

from pencilmap.model.kinds import torus_routes
from pencilmap.model.kinds.torus_adaptive import MinimalAdaptive
from pencilmap.model.kinds.torus_routes import DimensionOrder, can_share, shared_seconds
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus
from pencilmap.model.traffic.exchange import Exchange


def walked(torus, a, b):
    """Return the links of a message in dimension order, each with its share of the message, ties in halves."""
    here, found = torus.coordinates(a).tolist(), {}
    for i, (n, to) in enumerate(zip(torus.shape, torus.coordinates(b).tolist())):
        up = (to - here[i]) % n if torus.is_ring(i) else to - here[i]
        lengths = {1: up, -1: n - up if torus.is_ring(i) else -up}
        least = min(length for length in lengths.values() if length >= 0)
        ways = [step for step, length in lengths.items() if length == least > 0]
        for step in ways:
            at = list(here)
            for _ in range(least):
                link = (i, step, *at)
                found[link] = found.get(link, 0) + Fraction(1, len(ways))
                at[i] = (at[i] + step) % n
        here[i] = to
    return found


def rates(routes, room):
    """Return the rates: all grow equally until a link is full; its messages keep their rate, and the others go on."""
    fixed = {}
    while len(fixed) < len(routes):
        free = [m for m in routes if m not in fixed]
        left = {link: room[link] - sum(rate * routes[m].get(link, 0) for m, rate in fixed.items()) for link in room}
        wanted = {link: sum(routes[m].get(link, 0) for m in free) for link in room}
        least, full = min((left[link] / wanted[link], link) for link in room if wanted[link])
        tight = {link for link in room if wanted[link] and left[link] == least * wanted[link]}
        fixed |= {m: least for m in free if tight & set(routes[m])}
        assert full in tight
    return fixed


def seconds(torus, messages):
    """Return the time until the last of (from, to, bytes) has arrived."""
    routes = {m: walked(torus, a, b) for m, (a, b, _) in enumerate(messages) if a != b}
    left = {m: Fraction(messages[m][2]) for m in routes}
    room = {link: Fraction(torus.bandwidth[link[0]]) * torus.cables[link[0]] for route in routes.values() for link in route}
    now = Fraction(0)
    while routes:
        rate = rates(routes, room)
        step = min(left[m] / rate[m] for m in routes)
        now += step
        left = {m: left[m] - step * rate[m] for m in routes}
        routes = {m: route for m, route in routes.items() if left[m]}
    return now


def drawn(seed):
    rng = np.random.default_rng(seed)
    shape = ((5,), (4, 3), (2, 3, 2), (6, 2))[seed % 4]
    d = len(shape)
    torus = Torus(shape, tuple(bool(w) for w in rng.integers(0, 2, d)), tuple(float(b) for b in rng.integers(1, 4, d)),
                  tuple(int(c) for c in rng.integers(1, 3, d)))
    ends = rng.integers(0, 2 * torus.n_nodes, (int(rng.integers(1, 10)), 2))
    return torus, ends, rng.integers(1, 9, len(ends)), int(rng.integers(1, 4))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("envelope", [0, 3])
def test_the_last_message_arrives_as_by_progressive_filling(seed, envelope):
    torus, ends, sizes, unit = drawn(seed)
    node = np.arange(2 * torus.n_nodes) // 2     # two ranks a node
    exchange = Exchange("some", "", ends, sizes, np.array([1, 0]), np.array([0, 1]), unit, 1)
    expected = seconds(torus, [(node[a], node[b], int(n) * unit + envelope) for (a, b), n in zip(ends, sizes)])
    assert shared_seconds(exchange, torus, node, DimensionOrder(), envelope) == pytest.approx(float(expected), rel=1e-7)


def test_what_can_be_told(monkeypatch):
    import networkx as nx

    monkeypatch.setattr(torus_routes, "MOST_MESSAGES", 3)
    torus = Torus((2, 2), bandwidth=(1.0, 1.0))

    def messages(n):
        return Exchange("some", "", np.zeros((n, 2), int), np.ones(n, int), np.array([1, 0]), np.array([0, 1]), 1, n)

    assert can_share(messages(3), torus) and not can_share(messages(4), torus)
    assert not can_share(messages(3), Torus((2, 2)))
    assert not can_share(messages(3), from_networkx(nx.path_graph(4), "path", bandwidth=1.0))
    assert MinimalAdaptive().shared_seconds(torus, messages(3), np.arange(4)) is None
    for dimensions, able in ((torus_routes.MAX_DIMENSIONS - 1, True), (torus_routes.MAX_DIMENSIONS, False)):
        assert can_share(messages(3), Torus((2,) * dimensions, bandwidth=(1.0,) * dimensions)) == able
