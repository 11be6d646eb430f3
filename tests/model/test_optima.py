"""The table of true optima, and its consequences for bounds and searches."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.kinds.torus import may_reach, why_unreachable
from pencilmap.model.kinds.torus_floors import every_case, optima
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.predict.certificates import Bounds, together_bound
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import at_once, in_sequence, routed_joint

CASES = every_case()
ORDER = DimensionOrder()


def lengths(torus, T, grid, nodes):
    """Return the lengths in sequence and at once, from routing every message."""
    nodes = np.array(nodes).ravel()
    slots = np.array([(nodes[:rank] == node).sum() for rank, node in enumerate(nodes)])
    mapping = Mapping(torus, grid, T, nodes, slots)
    loads = routed_joint(torus, exchanges(grid, None), mapping.node_of_rank, ORDER)
    return in_sequence(2).of_loads(loads), at_once(2).of_loads(loads)


def test_the_table_has_tori_meshes_and_several_tasks_of_up_to_16():
    assert len(CASES) >= 100
    assert {torus.n_nodes for torus, T, _, _ in CASES if T == 1} == {4, 6, 8, 9, 10, 12, 14, 15, 16}
    assert {torus.n_dimensions for torus, *_ in CASES} == {1, 2, 3, 4} and {T for _, T, _, _ in CASES} >= {1, 2, 3}
    assert any(all(torus.wrap) for torus, *_ in CASES) and any(not any(torus.wrap) for torus, *_ in CASES)


def test_the_stored_placements_have_the_stored_lengths_in_any_orientation():
    for i, (torus, T, R, C) in enumerate(CASES):
        grid = ProcessGrid(R, C)
        if i % 2:
            torus, grid = Torus((*torus.shape[::-1], 1), (*torus.wrap[::-1], False)), ProcessGrid(C, R)
        found = optima(torus, T, *grid.shape)
        assert lengths(torus, T, grid, found.rows_sequence)[0] == found.sequence
        assert lengths(torus, T, grid, found.rows_joint)[1] == found.joint


@pytest.mark.parametrize("torus, T, R, C", [case for case in CASES if case[0].n_nodes * case[1] <= 6], ids=str)
def test_the_optima_are_those_of_every_placement(torus, T, R, C):
    every = {lengths(torus, T, ProcessGrid(R, C), np.array(order) // T) for order in permutations(range(R * C))
             if order[0] == min(order)}
    found = optima(torus, T, R, C)
    assert found.sequence == min(sequence for sequence, _ in every) and found.joint == min(joint for _, joint in every)


@pytest.mark.thorough
def test_no_bound_is_above_an_optimum():
    for i, (torus, T, R, C) in enumerate(CASES):
        site, found = Site(torus, T), optima(torus, T, R, C)
        bounds = Bounds(site, ProcessGrid(C, R) if i % 2 else ProcessGrid(R, C), routing="dimension-order:plus")
        assert bounds.together.value <= found.joint, (str(torus), T, R, C)
        assert bounds.in_sequence.value <= found.sequence, (str(torus), T, R, C)


def test_the_optima_known_from_elsewhere():
    """Another program found these optima before this table existed."""
    in_turn = {("4x4", 4): 4, ("4x4", 2): 3, ("2x8", 4): 6, ("2x8", 2): 6, ("3x3", 3): Fraction(8, 3), ("8", 2): 6,
               ("9", 3): Fraction(20, 3), ("12", 3): Fraction(26, 3), ("16", 4): 12, ("4x4:mesh", 4): 6,
               ("3x5:mesh", 3): Fraction(36, 5), ("8:mesh", 2): 10, ("2x2x4", 4): 4}
    joint = {("4x4", 2): 2, ("2x8", 4): 5, ("2x6", 3): Fraction(11, 3), ("8", 2): 5, ("9", 3): Fraction(16, 3),
             ("4x4:mesh", 2): 4, ("8:mesh", 2): 9}
    for name, known in (("sequence", in_turn), ("joint", joint)):
        for (text, R), least in known.items():
            torus = parse_torus(text)
            assert getattr(optima(torus, 1, R, torus.n_nodes // R), name) == least, (text, R)


def test_the_theorem_of_the_all_to_all_against_every_placement():
    """The bound is reached only if the factors are found; on a torus of equal extents, always if they are."""
    seen = set()
    for torus, T, R, C in CASES:
        least = together_bound(Site(torus, T), ProcessGrid(R, C)).value
        reached, may = optima(torus, T, R, C).joint == least, may_reach(torus, R, C)
        assert may or not reached, (str(torus), T, R, C)
        alike = len(set(torus.shape)) == 1 and all(torus.is_ring(i) or n == 2 for i, n in enumerate(torus.shape))
        assert reached or not (may and alike), (str(torus), T, R, C)
        seen.add((may, reached, alike))
    assert {(True, True, True), (False, False, True), (True, False, False)} <= seen


@pytest.mark.parametrize("shape, T, able", [
    ((8, 8, 8), 1, (1, 8, 64, 512)), ((5, 5), 1, (1, 5, 25)), ((6, 6), 2, (1, 2, 6, 12, 36, 72)),
    ((4, 4, 4), 1, (1, 2, 4, 8, 16, 32, 64)), ((3, 3), 1, (1, 3, 9))])
def test_grids_that_reach_the_all_to_all_do_so_by_a_product(shape, T, able):
    torus = Torus(shape)
    P = torus.n_nodes * T
    for R in (R for R in range(1, P + 1) if P % R == 0):
        grid = ProcessGrid(R, P // R)
        why = why_unreachable(Site(torus, T), grid)
        assert (why is None) == (R in able)
        if why is None:
            found = predict(best_product(torus, grid, T, at_once(2)), schedule="two-way")
            assert found.schedule.certificate == 1
        else:
            assert f"only R = {', '.join(map(str, able))} can" in why


@pytest.mark.parametrize("shape, T, R, least", [((8, 8, 8), 1, 16, 4.23), ((9, 9), 1, 3, 4.71), ((10, 10), 2, 5, 5.28),
                                               ((8, 8, 8), 1, 8, 4), ((4, 4, 4), 1, 8, 2), ((8, 8, 4), 1, 2, 4)])
def test_the_joint_bound_beyond_the_all_to_all(shape, T, R, least):
    torus = Torus(shape)
    grid = ProcessGrid(R, torus.n_nodes * T // R)
    bound = Bounds(Site(torus, T), grid).together.value
    assert least <= bound < least + 0.01 <= at_once(2).of_loads(
        ORDER.joint_of_product(best_product(torus, grid, T, at_once(2)), ("r", "c"))) + 0.01
