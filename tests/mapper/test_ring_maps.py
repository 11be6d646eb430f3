"""Ring maps: the stored table compared with the loads of every message, and placements from the table."""

from fractions import Fraction

import numpy as np
import pytest

from pencilmap.mapper.placements import place
from pencilmap.mapper.seeds.products import best_product, patterns, ring_maps
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds.torus_routes import DimensionOrder
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, Transform, parse_grid
from pencilmap.model.placement.product import Pattern, Product, RingMap
from pencilmap.model.predict import predict, predict_product, predict_routed
from pencilmap.model.traffic.loads import at_once, in_sequence

ONCE = at_once(2)


def joint(product):
    return ONCE.of_loads(DimensionOrder().joint_of_product(product, ("r", "c")))


def on_line(found, ring):
    return Product(Torus((found.n,), (ring,)), (found,), Pattern(()))


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("n", range(2, 33))
def test_every_stored_map_beats_all_digit_patterns(n, ring):
    for found in ring_maps(n, ring):
        rivals = [p for p in patterns(n) if p.extent("r") == found.extent("r")]
        assert joint(on_line(found, ring)) < min(joint(on_line(p, ring)) for p in rivals)


@pytest.mark.parametrize("n, r, load", [
    (4, 2, 2), (6, 2, Fraction(11, 3)), (8, 2, 5), (8, 4, 5), (9, 3, Fraction(16, 3)), (10, 2, Fraction(31, 5)),
    (12, 2, Fraction(22, 3)), (12, 3, Fraction(23, 3)), (14, 2, Fraction(61, 7)), (15, 3, Fraction(136, 15))])
def test_rings_have_the_optima_of_an_independent_exhaustive_search(n, r, load):
    found = next(m for m in ring_maps(n, True) if m.extent("r") == r)
    assert joint(on_line(found, True)) == load


@pytest.mark.parametrize("shape, grid", [("8x6", "4x12"), ("8x6", "12x4"), ("9x4", "6x6"), ("5x8", "10x4"),
                                         ("6x6:mesh", "6x6")])
def test_never_worse_than_digit_patterns_and_equal_in_sequence(shape, grid):
    torus, grid = parse_torus(shape), parse_grid(grid)
    digits, maps = best_product(torus, grid), best_product(torus, grid, wanted=ONCE)
    assert digits.is_digits and best_product(torus, grid, wanted=in_sequence(2)) == digits
    assert joint(maps) <= joint(digits)


@pytest.mark.parametrize("n", [3, 5, 6, 7, 8, 9, 10, 12])
def test_the_joint_load_of_the_all_to_all_is_reached_only_by_lines_and_planes(n):
    """The theorem of docs/theory.md on n x n: R = 1, n or n^2; on rings of 2 and 4 every power of two."""
    torus, bound = Torus((n, n)), predict(best_product(Torus((n, n)), ProcessGrid(1, n * n))).cost
    for r in (r for r in range(1, n * n + 1) if n * n % r == 0):
        reached = joint(best_product(torus, ProcessGrid(r, n * n // r), wanted=ONCE)) == bound
        assert reached == (r in (1, n, n * n))


@pytest.mark.parametrize("text, shape, tasks, grid", [
    ("ring:x=r8,y=4.3/5.2/0.1/6.7,z=c8", "8x8x8", 1, "16x32"), ("ring:x=0.1/3.2,y=r2c3,t=r2", "4x6", 2, "8x6"),
    ("ring:x=0.2.4/1.3.5", "6:mesh", 1, "3x2")])
def test_closed_form_of_ring_maps_agrees_with_routing(text, shape, tasks, grid):
    torus = parse_torus(shape, bandwidth=(1e9,) * len(shape.partition(":")[0].split("x")))
    product = place(text, Site(torus, tasks), parse_grid(grid))
    assert str(product) == text
    for transform in (None, Transform(64, 64, 64), Transform(67, 66, 65)):
        closed, routed = predict_product(product, transform), predict_routed(product.mapping(), transform, product=product)
        for a, b in zip(closed.stages, routed.stages):
            assert (a.load, a.hop_length, a.busiest, a.m) == (b.load, b.hop_length, b.busiest, b.m)
        assert closed.certificate == routed.certificate >= 1


@pytest.mark.parametrize("text, wanted", [
    ("x=0.1/2", "does not name every position once, from 0 on"), ("x=0.1/3.2", "stands for 4 nodes"),
    ("x=0.1/1.0", "every position"),
    ("x=0,1", "is not understood"), ("x=0.a/1.2", "is not understood"), ("x=r2,y=r4", "makes grid 8x1"), ("q=r2", "'q=r2'")])
def test_wrong_maps_are_refused(text, wanted):
    with pytest.raises(PlacementError, match=wanted.replace("(", r"\(")):
        place(f"ring:{text}", Site(Torus((2, 4))), ProcessGrid(4, 2))


@pytest.mark.parametrize("ring", [True, False])
@pytest.mark.parametrize("letters", ["r", "c", "rc"])
@pytest.mark.parametrize("rows, columns", [(2, 2), (2, 3), (3, 2), (1, 4), (4, 2), (3, 3), (2, 1)])
def test_the_best_cut_is_that_of_all_cuts_by_counting_pairs(rows, columns, letters, ring):
    n, rng = rows * columns, np.random.default_rng(rows * columns)
    cuts = [(0 if not ring else low, high) for high in range(1, n + 1) for low in range(high if ring else 1)]
    for _ in range(8):
        ring_map = RingMap(tuple(map(tuple, rng.permutation(n).reshape(rows, columns).tolist())))
        group = ring_map.group(letters)
        pairs = max(sum(group[x] == group[y] for x in range(low, high) for y in range(n) if not low <= y < high)
                    for low, high in cuts)
        assert ring_map.cut(letters, ring) == Fraction(4 * int(pairs), ring_map.extent(letters) * (2 if ring else 1))
