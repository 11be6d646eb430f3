"""The floor by spread covers every group of tasks."""

from fractions import Fraction
from itertools import product as cartesian
from math import ceil

import numpy as np
import pytest

from pencilmap.model.kinds.torus_floors import _dimensions, every_case, floor_of, optima
from pencilmap.model.kinds.torus_spread import _Program, spread_floor
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Site

PROVED = 31  # optima that only the floors prove


def program(torus, size, T, split):
    dimensions = tuple(sorted(_dimensions(torus, [Fraction(1)] * torus.n_dimensions)))
    return _Program(dimensions, size, T, 1.0, split)


def hops(torus, i, a, b):
    apart = abs(int(a) - int(b))
    return min(apart, torus.shape[i] - apart) if torus.is_ring(i) else apart


def end_length(torus, where, i, split):
    """Return the load of a link in dimension i at the own end of messages between tasks at these places, by counting.

    Every node counts as a single task; unsplit ties go to the right.
    """
    most, n = Fraction(0), torus.shape[i]
    for here in where:
        loads = {1: Fraction(0), -1: Fraction(0)}
        for there in where:
            ahead = int(there[i] - here[i]) % n
            if ahead == 0:
                continue
            if not torus.is_ring(i):
                loads[1 if there[i] > here[i] else -1] += 1
            elif 2 * ahead == n and split:
                loads[1] += Fraction(1, 2)
                loads[-1] += Fraction(1, 2)
            else:
                loads[1 if 2 * ahead <= n else -1] += 1
        most = max(most, *loads.values())
    return 4 * most / len(where)


def line_length(torus, where, i):
    """Return the mean load of the fullest line of dimension i from the messages of its tasks."""
    sent = {}
    for here in where:
        line = tuple(np.delete(here, i).tolist())
        sent[line] = sent.get(line, 0) + sum(hops(torus, i, here[i], there[i]) for there in where)
    return Fraction(4 * max(sent.values()), len(where) * 2 * torus.cable_positions(i))


@pytest.mark.parametrize("shape, T, size", [
    ("4x4", 1, 4), ("4x3x2", 1, 5), ("4x4:mesh", 1, 6), ("5x3", 2, 7), ("4x4x2x2", 1, 8), ("6x6", 3, 8), ("5", 2, 7)])
@pytest.mark.parametrize("split", [True, False])
def test_no_group_of_tasks_has_fewer_hops_than_the_cheapest_that_there_can_be(shape, T, size, split):
    """For random compact and spread groups, at random prices, for every pair of a first and a last dimension."""
    torus, rng = parse_torus(shape), np.random.default_rng(7)
    weighed = program(torus, size, T, split)
    places = np.repeat(torus.coordinates(np.arange(torus.n_nodes)), T, axis=0)
    for k in range(40):
        middle = places[rng.integers(len(places))]
        near = np.array([sum(hops(torus, i, a, b) for i, (a, b) in enumerate(zip(place, middle))) for place in places])
        where = places[np.argsort(near * (k % 3) + rng.random(len(places)) * (1 + k % 2), kind="stable")[:size]]
        varies = [i for i in range(torus.n_dimensions) if len(set(where[:, i].tolist())) > 1]
        mean = [sum(hops(torus, i, a, b) for a, b in cartesian(where[:, i], where[:, i])) / size**2
                for i in range(torus.n_dimensions)]
        prices = rng.random(len(weighed.classes)) + 0.01
        kind = [weighed.classes.index(each) for each in _dimensions(torus, [Fraction(1)] * torus.n_dimensions)]
        cost = sum(prices[kind[i]] * mean[i] for i in range(torus.n_dimensions))
        for first, last in cartesian(varies, varies):
            if (first == last) != (len(varies) == 1):
                continue
            length = max(end_length(torus, where, i, split) for i in (first, last))
            length = max(length, *(line_length(torus, where, i) for i in (first, last)))
            if first == last:
                length = max(length, Fraction(4 * size * mean[first]) / (2 * torus.cable_positions(first)))
            found = weighed._cheapest(*weighed._limits(float(length) + 1e-9), prices)
            assert found is not None and prices @ found <= cost + 1e-9, (where.tolist(), first, last)


@pytest.mark.thorough
def test_the_floors_of_rows_and_columns_are_not_above_any_optimum_and_often_reach_it():
    """The true optima of small machines, ties split; both lengths are multiples of half a message's load on a link."""
    reached = 0
    for torus, T, R, C in every_case():
        if max(torus.shape) > 6:
            continue    # these take seconds
        one = [Fraction(1)] * torus.n_dimensions
        units = [Fraction(2, T * size) for size in (R, C)]
        floors = [unit * ceil(floor_of(Site(torus, T), one, size, R * C, True, True) / unit)
                  for size, unit in zip((R, C), units)]
        assert sum(floors) <= optima(torus, T, R, C).sequence, (str(torus), T, R, C)
        reached += sum(floors) == optima(torus, T, R, C).sequence
    assert reached >= PROVED


@pytest.mark.parametrize("shape, size, P, least", [
    ((4, 4, 4, 4), 16, 256, Fraction("1.394")), ((4, 4, 4, 2, 2), 16, 256, Fraction("1.39")),
    ((8, 8, 8), 8, 512, Fraction("1.999")), ((6, 6, 6), 10, 200, Fraction("1.879")), ((16, 16), 16, 256, Fraction(0))])
def test_known_floors(shape, size, P, least):
    torus = Torus(shape)
    found = spread_floor(_dimensions(torus, [Fraction(1)] * len(shape)), size, 1, Fraction(torus.n_nodes, P), True)
    assert least <= found <= least + Fraction(1, 1000)
    known = floor_of(Site(torus, 1, idle=True), [Fraction(1)] * len(shape), size, P, True, True)
    assert known >= max(1, found - Fraction(1, 100))


@pytest.mark.parametrize("shape, size, T, least", [
    ("4x4x4x4", 16, 1, "1.394"), ("4x4x4", 8, 1, "1.4995"), ("4x4x4", 16, 2, "0.9997"), ("4x4x4x2", 8, 1, "1.4096"),
    ("6x6x6", 8, 1, "1.6245"), ("2x2x2x2x2", 8, 1, "1.9995"), ("4x4x4:mesh", 8, 1, "1.9995"), ("4x4x4:mesh", 8, 2, "0.9997"),
    ("6x4x4", 12, 1, "1.4995"), ("5x5x5", 10, 1, "1.5996"), ("3x3x3x3", 9, 1, "1.333")])
def test_known_floors_where_messages_half_round_a_ring_go_one_way(shape, size, T, least):
    torus = parse_torus(shape)
    found = spread_floor(_dimensions(torus, [Fraction(1)] * torus.n_dimensions), size, T, Fraction(1, T), False)
    assert Fraction(least) <= found <= Fraction(least) + Fraction(1, 1000)
