"""Floors of rows that are proved by computation (docs/theory.md)."""

from fractions import Fraction

from pencilmap.model.kinds.torus_floors import floor_of
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site

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
