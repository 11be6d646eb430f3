"""Lattice tilings: the forms compared with all subgroups, folded loads with routing, and results of the search."""

from itertools import product as cartesian
from math import prod

import numpy as np
import pytest

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import place
from pencilmap.mapper.seeds.products import best_product
from pencilmap.mapper.seeds.tilings import (
    _Run,
    best_tiling,
    coordinates,
    coset_numbers,
    is_form,
    normal_forms,
    tried_lattices,
)
from pencilmap.model.base.errors import GridError, PlacementError
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.predict import predict, predict_routed


def subgroups(shape):
    """Return all subgroups of Z_n1 x Z_n2 .. as frozen sets, from all sets of up to len(shape) generators."""
    every = list(cartesian(*map(range, shape)))
    found = set()
    for generators in cartesian(every, repeat=len(shape)):
        group, new = {(0,) * len(shape)}, {(0,) * len(shape)}
        while new:
            new = {tuple((a + b) % n for a, b, n in zip(x, g, shape)) for x in new for g in generators} - group
            group |= new
        found.add(frozenset(group))
    return found


@pytest.mark.parametrize("shape", [(4, 2), (6, 3), (5,), (4, 4), (2, 2, 2)], ids=str)
def test_there_is_one_form_for_every_subgroup(shape):
    expected = subgroups(shape)
    found = {}
    for index in (k for k in range(1, prod(shape) + 1) if prod(shape) % k == 0):
        for form in normal_forms(shape, index):
            assert is_form(np.array(shape), form, index)
            numbers = coset_numbers(np.array(shape), form)
            assert np.bincount(numbers).tolist() == [prod(shape) // index] * index
            elements = coordinates(np.array(shape), np.flatnonzero(numbers == 0))
            found[form] = frozenset(map(tuple, elements.tolist()))
    assert len(set(found.values())) == len(found) and set(found.values()) == expected


@pytest.mark.parametrize("torus, tasks, grid", [
    (Torus((6, 4)), 1, "4x6"), (Torus((5, 5)), 2, "10x5"), (Torus((4, 2, 3)), 1, "6x4"), (Torus((3, 4)), 4, "6x8"),
    (Torus((6, 4), bandwidth=(1.0, 2.0), cables=(1, 2)), 1, "4x6")], ids=str)
def test_folded_loads_are_those_of_routing_every_message(torus, tasks, grid):
    grid = parse_grid(grid)
    shape = np.array([*torus.shape, tasks])
    for number, lattice in enumerate(tried_lattices(torus, shape, grid)):
        run = _Run(torus, tasks, lattice, grid, seed=number)
        run.anneal(20)
        prediction = predict_routed(run.tiling().mapping(grid))
        assert run.cost == pytest.approx(float(prediction.cost), rel=1e-12)
        assert lattice.floor <= run.cost - lattice.load + 1e-12


@pytest.mark.parametrize("shape, grid, tasks, cost", [
    ("13x13", "13x13", 1, 10.77), ("10x10", "10x20", 2, 7.4), ("7x7", "14x7", 2, 6.29)])
def test_tilings_beat_digit_patterns(shape, grid, tasks, cost):
    torus, grid = parse_torus(shape), parse_grid(grid)
    tiling, found = best_tiling(torus, grid, tasks, within=Search(150_000 * 320))
    assert found <= cost + 0.005 < predict(best_product(torus, grid, tasks)).cost
    assert found == pytest.approx(float(predict_routed(tiling.mapping(grid)).cost))


def test_rows_may_be_the_cosets():
    site, grid = Site(Torus((4, 4)), 1), ProcessGrid(2, 8)
    text = "lattice:r=1.0.0/0.2.0/0.0.4"
    with pytest.raises(PlacementError, match="diagonal multiplies to 8"):
        place(f"{text},tile=0.1.2.3.4.5.6.7", site, grid)
    mapping = place("lattice:r=2.0.0/0.4.0/0.0.1,tile=0.1.4.5.8.9.12.13", site, grid)
    rows = mapping.node_of_rank[grid.groups("r")]
    assert sorted(map(sorted, rows.tolist())) == sorted([a + 4 * b, a + 2 + 4 * b] for a in (0, 1) for b in range(4))


@pytest.mark.parametrize("text, torus, grid, error, match", [
    ("lattice", "4x4:mesh", "4x4", PlacementError, "dimension x of torus 4x4:mesh is open"),
    ("lattice", "4x4", "1x16", PlacementError, "rows and columns"),
    ("lattice:seed", "4x4", "4x4", PlacementError, "not understood"),
    ("lattice:seed=1,seed=2", "4x4", "4x4", PlacementError, "not understood"),
    ("lattice:c=1.0.0/0.4.0/0.0.1,tile=0.4.8.9", "4x4", "4x4", PlacementError, "one of every coset"),
    ("lattice:c=1.0.0/0.3.0/0.0.1,tile=0.4.8", "4x4", "4x4", PlacementError, "names no lattice of 4 cosets"),
    ("lattice", "4x4", "4x5", GridError, "20 tasks")])
def test_what_cannot_be_tiled_is_refused(text, torus, grid, error, match):
    with pytest.raises(error, match=match):
        place(text, Site(parse_torus(torus)), parse_grid(grid))


def kinds_of(torus, grid, tasks):
    """Return for every lattice of both letters the load of its cosets and the least load of a tile, by definition."""
    shape = np.array([*torus.shape, tasks])
    every = coordinates(shape, np.arange(int(np.prod(shape))))
    apart = np.minimum(every, shape - every)[:, :-1]
    rates = torus.bandwidth or (1.0,) * len(torus.shape)
    weight = [max(rates) / rate for rate in rates]
    factor = np.array([(2 if torus.is_ring(i) else 4) * weight[i] / torus.cables[i] for i in range(len(torus.shape))])
    for letter, size in zip("cr", grid.shape):
        used = [i for i, n in enumerate(torus.shape) if n > 1]
        floor = np.sort(apart.sum(axis=1))[:size].mean() / (1 / factor[used]).sum()
        for form in normal_forms(tuple(shape.tolist()), size):
            members = apart[coset_numbers(shape, form) == 0]
            yield letter, form, float((members.mean(axis=0) * factor).max()), float(floor)


@pytest.mark.parametrize("torus, tasks, grid", [
    (Torus((6, 4)), 1, "4x6"), (Torus((4, 4)), 2, "4x8"), (Torus((2, 6)), 1, "2x6"), (Torus((1, 8)), 2, "4x4"),
    (Torus((4, 4, 3), bandwidth=(1.0, 2.0, 1.0)), 1, "8x6")], ids=str)
def test_of_lattices_that_are_alike_one_is_tried_and_the_least_loads_first(torus, tasks, grid):
    grid, shape = parse_grid(grid), np.array([*torus.shape, tasks])
    every = {(letter, form): (load, floor) for letter, form, load, floor in kinds_of(torus, grid, tasks)}
    tried = tried_lattices(torus, shape, grid)
    for one in tried:
        assert (one.load, one.floor) == pytest.approx(every[one.cosets, one.form], rel=1e-12)
        assert np.array_equal(one.numbers, coset_numbers(shape, one.form))
    kinds = {(letter, round(load, 9), round(floor, 9)) for (letter, _), (load, floor) in every.items()}
    assert {(one.cosets, round(one.load, 9), round(one.floor, 9)) for one in tried} == kinds
    sums = [one.load + one.floor for one in tried]
    assert sums == sorted(sums) and len(tried) <= len(every)
    for below in (sums[0], sums[len(sums) // 2], sums[-1] + 1):
        kept = tried_lattices(torus, shape, grid, below)
        assert [one.form for one in kept] == [one.form for one, total in zip(tried, sums) if total < below - 1e-9]
