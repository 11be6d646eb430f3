"""Lattice tilings: the forms against all subgroups, folded loads against routing, and what the search finds."""

from itertools import product as cartesian
from math import prod

import numpy as np
import pytest

from pencilmap.mapper.lattice_search import (
    _Run,
    best_tiling,
    coordinates,
    coset_numbers,
    is_form,
    normal_forms,
    tried_lattices,
)
from pencilmap.mapper.placements import place
from pencilmap.mapper.product_search import best_product
from pencilmap.model.allocation import Site
from pencilmap.model.errors import GridError, PlacementError
from pencilmap.model.grid import ProcessGrid, parse_grid
from pencilmap.model.predict import predict, predict_routed
from pencilmap.model.torus import Torus, parse_torus


def subgroups(shape):
    """All subgroups of Z_n1 x Z_n2 .., as frozen sets of elements, from every set of up to len(shape) generators."""
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
    tiling, found = best_tiling(torus, grid, tasks, evaluations=150_000)
    assert found <= cost + 0.005 < predict(best_product(torus, grid, tasks)).cost
    assert found == pytest.approx(float(predict_routed(tiling.mapping(grid)).cost))


def test_the_same_seed_gives_the_same_tiling_and_its_text_gives_it_again():
    site, grid = Site(Torus((6, 6)), 1), ProcessGrid(6, 6)
    one, two = (place("lattice:seed=3,evaluations=30000", site, grid) for _ in range(2))
    again = place(one.name, site, grid)
    assert one.name == two.name == again.name
    assert (one.node_of_rank == again.node_of_rank).all() and sorted(one.node_of_rank.tolist()) == list(range(36))


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
