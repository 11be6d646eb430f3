"""Bounds of known cases keep their sharpness: a weaker bound breaks no proof, so no other test would fail.

`test_bounds_hold.py` tests that bounds hold. After an improvement, run
``python -m tests.model.test_known_bounds > tests/model/known_bounds.csv``.
"""

import csv
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from pencilmap.model.base.arrays import divisors
from pencilmap.model.kinds.torus_translations import translation_bound
from pencilmap.model.network.graph import from_networkx
from pencilmap.model.network.torus import Torus, parse_torus
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.certificates import Bounds

KNOWN = Path(__file__).with_name("known_bounds.csv")
SHAPES = ("6x4", "8:mesh", "5x3", "4x4x2", "4wx6", "3x3x3", "8x8", "6x6:mesh", "2x2x2x2", "7x2", "4x4x4", "10", "6x3x2",
          "5x5:mesh", "12x2", "4x4x4:mesh", "9", "16x4", "6x6x2")
ROUNDING = Fraction(1, 1000)  # of linear programs, between versions of their solver


def cases():
    """Yield a site, a grid, perhaps a transform, and the routing of messages; only the seed is chosen."""
    rng = np.random.default_rng(11)
    for number, shape in enumerate(2 * SHAPES):
        torus = parse_torus(shape)
        d = torus.n_dimensions
        if number % 5 == 3:
            torus = Torus(torus.shape, torus.wrap, tuple(float(b) for b in rng.choice([1.0, 2.0, 3.0], d)),
                          tuple(int(c) for c in rng.integers(1, 3, d)))
        T = int(rng.integers(1, 4)) if number % 2 else 1
        holes = number % 3 == 1
        nodes = np.sort(rng.permutation(torus.n_nodes)[:-max(1, torus.n_nodes // 6)]) if holes else None
        where = Site(torus, T, Allocation(torus, nodes), idle=True)
        P = where.n_slots - (number % 4 == 2) * (where.n_slots // 3)
        R = int(rng.choice(divisors(P)[1:-1] or [1]))
        transform = Transform(*(int(n) for n in rng.integers(max(R, P // R), 3 * max(R, P // R) + 2, 3))) \
            if number % 7 == 5 else None
        yield Bounds(where, ProcessGrid(R, P // R), transform,
                     "dimension-order" if number % 4 == 0 else "dimension-order:plus" if number % 2 == 0 else "")
    for graph in (nx.cycle_graph(8), nx.petersen_graph(), nx.balanced_tree(2, 3), nx.grid_2d_graph(3, 4)):
        network = from_networkx(graph, "graph")
        yield Bounds(Site(network), ProcessGrid(2, network.n_nodes // 2))


def found(bounds):
    """Return the texts of a row: case, bounds, their proofs, and on small machines the bound from translations alone."""
    torus, T, (R, C) = bounds.site.network, bounds.site.tasks_per_node, bounds.grid.shape
    alone = Fraction(0)
    if isinstance(torus, Torus) and torus.n_nodes < 30 and bounds.transform is None:
        alone = translation_bound(torus, tuple(map(Fraction, torus.cables)), T, R, C,
                                  usable=bounds.site.allocation.is_usable())
    return [f"{torus} x {T}, {bounds.site.n_slots} slots, {bounds.grid}, {bounds.transform}", str(bounds.in_sequence.value),
            bounds.in_sequence.argument, str(bounds.together.value), bounds.together.argument, str(bounds.any), str(alone)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bounds, known", [
    pytest.param(bounds, known, id=known[0])
    for bounds, known in zip(cases(), csv.reader(KNOWN.read_text("utf-8").splitlines()), strict=True)])
def test_known_bounds_stay_as_sharp(bounds, known):
    case, *values = found(bounds)
    assert case == known[0]
    for value, least in zip(values, known[1:], strict=True):
        if least[:1].isdigit():
            assert abs(Fraction(value) - Fraction(least)) <= ROUNDING, (values, known)
        else:
            assert value == least


if __name__ == "__main__":
    print("\n".join(",".join(f'"{text}"' for text in found(bounds)) for bounds in cases()))
