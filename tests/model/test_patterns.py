"""Patterns that are recognised in traffic: grids of FFTs by their communicators, halos with extents by their pairs."""

from itertools import product

import numpy as np
import pytest

from pencilmap.model.traffic.patterns import FFT, HALO, find_halo, patterns
from pencilmap.model.traffic.program import MEASURED, POINT, STATED, Communicator, Phase, Traffic, joined, pairs_of


def fft(r, c, kind=STATED):
    """An all-to-all in each row of r successive ranks and in each column of c ranks."""
    n = r * c
    groups = [np.arange(i * r, i * r + r) for i in range(c)] + [np.arange(i, n, r) for i in range(r)]
    parts = []
    for number, members in enumerate(groups):
        source, target = (side.ravel() for side in np.meshgrid(members, members, indexing="ij"))
        parts.append(pairs_of(source, target, 100, 1, kind, number if kind == STATED else -1))
    return Traffic(n, (Phase(n, joined(parts)),), tuple(Communicator(members) for members in groups))


def halo_pairs(extents, periodic, reach):
    """Brute force: all pairs of a grid at most one step apart along each axis, and along at most `reach` axes."""
    ranks = list(product(*map(range, extents)))
    found = []
    for a, b in product(range(len(ranks)), repeat=2):
        steps = [abs(x - y) for x, y in zip(ranks[a], ranks[b])]
        steps = [min(step, n - step) if ends else step for step, n, ends in zip(steps, extents, periodic)]
        if 0 < sum(map(bool, steps)) <= reach and max(steps) == 1:
            found.append((a, b))
    return np.array(found).T


@pytest.mark.parametrize("kind", [STATED, MEASURED])
@pytest.mark.parametrize("r, c", [(2, 3), (4, 4), (8, 2), (3, 5)])
def test_the_grid_of_an_fft(r, c, kind):
    found = [pattern for pattern in patterns(fft(r, c, kind)) if pattern.kind == FFT]
    assert [pattern.extents for pattern in found] == [(r, c)] and f"{r}x{c}" in str(found[0])
    assert found[0].bytes == fft(r, c).pairs.bytes.sum()


@pytest.mark.parametrize("extents, periodic, reach", [
    ((7,), (True,), 1), ((7,), (False,), 1), ((4, 5), (True, True), 1), ((4, 5), (False, False), 2),
    ((4, 4), (True, False), 1), ((3, 4, 5), (True, True, True), 3), ((4, 4, 4), (False, True, False), 2),
    ((8, 8, 8), (True, True, True), 1),
    ((3, 3, 3, 4), (True, True, True, True), 1)])
def test_a_halo_with_its_extents(extents, periodic, reach):
    source, target = halo_pairs(extents, periodic, reach)
    n = int(np.prod(extents))
    found = find_halo(n, source, target, np.full(len(source), 10))
    assert found and found.kind == HALO and found.extents == extents
    assert found.periodic == tuple(ends and size > 2 for ends, size in zip(periodic, extents))
    noisy = joined([pairs_of(source, target, 1000), pairs_of(np.arange(1, n), 0, 1)])
    assert patterns(Traffic(n, (Phase(n, noisy),)))[0].extents == extents, "small messages to one rank are no part of it"


def everyone(*groups):
    """Return (source, target) of the all-to-alls of groups."""
    return np.array([(a, b) for group in groups for a in group for b in group if a != b]).T


@pytest.mark.parametrize("n, groups, text", [
    (16, [range(16)], "an all-to-all of 16 ranks"), (4, [range(4)], "an all-to-all of 4 ranks"),
    (16, [range(i, 16, 4) for i in range(4)], "all-to-alls in 4 groups of 4 ranks"),
    (12, [range(5), range(8, 12)], "all-to-alls in 2 groups of 4 to 5 ranks")])
@pytest.mark.parametrize("kind", [POINT, STATED, MEASURED])
def test_all_to_alls_are_named(n, groups, text, kind):
    noise = pairs_of(np.arange(1, n), 0, 1, kind=kind)
    pairs = joined([pairs_of(*everyone(*groups), 1000, kind=kind), noise])
    assert [str(pattern) for pattern in patterns(Traffic(n, (Phase(n, pairs),)))] == [text]


@pytest.mark.parametrize("traffic, text", [(fft(4, 8), "an FFT on a 4x8 grid"), (fft(7, 3), "an FFT on a 7x3 grid"), (
    Traffic(60, (Phase(60, pairs_of(*halo_pairs((5, 4, 3), (True, False, True), 1), 10)),)), "a halo of 5x4x3 ranks")])
def test_patterns_of_the_pairs_alone(traffic, text):
    """A matrix has no communicators, and the numbers of the ranks may be any."""
    n, name = traffic.n_ranks, np.random.default_rng(5).permutation(traffic.n_ranks)
    pairs = traffic.pairs
    [found] = patterns(Traffic(n, traffic.phases))
    assert str(found).startswith(text) and not found.shuffled
    shuffled = pairs_of(name[pairs.source], name[pairs.target], pairs.bytes)
    [again] = patterns(Traffic(n, (Phase(n, shuffled),)))
    assert again.shuffled and (again.kind, sorted(again.extents)) == (found.kind, sorted(found.extents))
