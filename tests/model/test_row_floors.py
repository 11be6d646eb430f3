"""Floors of rows that are proved by computation (docs/theory.md)."""

from fractions import Fraction

import numpy as np

from pencilmap.mapper.placements import place
from pencilmap.model.kinds.torus_floors import floor_of
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict

ONE = [Fraction(1)] * 3


def floor(text, size, T=1, n_tasks=None, split=True, cables=ONE):
    site = Site(parse_torus(text), T)
    return floor_of(site, cables, size, n_tasks or site.n_slots, True, split)


def test_they_hold_for_what_was_proved_alone():
    """Other numbers of tasks, ties to one side and unequal links have no proof."""
    assert floor("4x4x4", 8) == 2 and floor("4x4x4", 8, cables=[Fraction(2)] * 3) == 1
    assert floor("4x4x4", 8, T=2) < 1 and floor("4x4x4", 8, T=2, n_tasks=64) < 2
    assert floor("4x4x4", 8, split=False) < 2 and floor("4x4x4:mesh", 8, cables=ONE) == 2
    assert floor("4x4x4", 8, cables=[Fraction(1), Fraction(1), Fraction(2)]) < 2
    assert floor("4x4x4x1", 8, cables=[Fraction(1)] * 4) == 2


def test_a_placement_reaches_them():
    for R, C in ((8, 8), (4, 16)):
        found = predict(place("best", Site(parse_torus("4x4x4")), ProcessGrid(R, C)))
        assert [max(stage.load) for stage in found.stages] == [2, 2] and found.bounds.in_sequence.value == 4


def test_holes_keep_the_older_floor():
    torus = parse_torus("4x4x4")
    site = Site(torus, 1, Allocation(torus, np.arange(56)))
    assert floor_of(site, ONE, 8, 56, True, True) < 2
