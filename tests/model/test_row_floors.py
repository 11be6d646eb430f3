"""Floors of rows that are proved by computation, and the arguments of the proofs."""

from fractions import Fraction

import numpy as np
import pytest

from pencilmap.mapper.placements import place
from pencilmap.model.bounds.one_exchange import floor_of
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.scripts.maintenance import row_floors

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


@pytest.mark.parametrize("n, size, argument", [(4, 8, "planes"), (4, 16, "planes")])
def test_what_takes_a_second_is_proved_again(n, size, argument):
    assert row_floors.ARGUMENTS[argument](n, size)


def test_no_argument_proves_what_is_false():
    """Pairs of opposite nodes have length 1; lines of 4 have length 2, so hops alone do not require planes."""
    assert not any(proves(4, 2) for proves in row_floors.ARGUMENTS.values())
    assert not row_floors.by_hops(4, 8) and not row_floors.by_planes(4, 4)


def test_rows_alone_are_those_of_all_subsets():
    """Compare with every row of 3 nodes of a plane, from its single messages."""
    loads = row_floors.pair_loads(parse_torus("4x4x4"))
    found = {row for row, _ in row_floors.rows_of(loads, range(16), 3)}
    every = {(a, b, c) for a in range(16) for b in range(a) for c in range(b)}
    least = {tuple(sorted(row)) for row in every
             if max(loads[row[0], row[1]] + loads[row[0], row[2]] + loads[row[1], row[2]]) < 3}
    assert found == least and 0 < len(found) < len(every)


@pytest.mark.slow
def test_the_table_is_what_is_proved(tmp_path, monkeypatch):
    before = row_floors.PATH.read_text()
    monkeypatch.setattr(row_floors, "PATH", tmp_path / "row_floors.csv")
    row_floors.main()
    assert row_floors.PATH.read_text() == before and "not proved" not in before
