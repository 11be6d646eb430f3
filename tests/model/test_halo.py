"""Messages of halos compared with every element of every rank's array with its halo."""

from collections import Counter

import numpy as np
import pytest

from pencilmap.model.base.errors import GridError
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.placement.grid import ProcessGrid, transform_of
from pencilmap.model.traffic.exchange import halo


def lengths(n, parts):
    return [n // parts + (i < n % parts) for i in range(parts)]


def boxes(extents, parts):
    """Return for each block, x fastest, its indices along each axis."""
    ends = [np.cumsum([0, *lengths(n, p)]) for n, p in zip(extents, parts)]
    return [[range(ends[i][at], ends[i][at + 1]) for i, at in enumerate((x, y, z))]
            for z in range(parts[2]) for y in range(parts[1]) for x in range(parts[0])]


CASES = [  # decomposition, grid, kind, array, blocks along x, y and z (as ranks number them), extents
    ("pencil", (2, 3), "c2c", "input", "x of c, y of r", (7, 5, 6)),
    ("pencil", (2, 3), "r2c", "output", "y of c, z of r", (7, 5, 9)),
    ("pencil", (2, 3), "c2c", 1, "x of c, z of r", (7, 5, 6)), ("pencil", (2, 3), "c2c", 0, "x of c, y of r", (7, 5, 6)),
    ("pencil", (2, 3), "c2c", "inner output", "y of c, z of r", (7, 5, 6)), ("slab", (4,), "c2c", "input", None, (9, 5, 4)),
    ("slab", (4,), "c2c", "output", None, (9, 5, 4))]


@pytest.mark.parametrize("low, high", [((1, 2, 0), (0, 1, 0)), ((2, 0, 0), None), ((0, 0, 0), (3, 4, 0))])
@pytest.mark.parametrize("name, shape, kind, array, cut, extents", CASES)
def test_a_halo_takes_from_each_rank_what_lies_in_it(name, shape, kind, array, cut, extents, low, high):
    grid, transform = ProcessGrid(*shape, decomposition=decomposition_named(name)), transform_of(extents, kind)
    held = transform.exchanged if array in ("output", "inner output", 1) else extents
    if cut:
        letters = {part[0]: grid.extent(part[-1]) for part in cut.split(", ")}
        order = {part[-1]: part[0] for part in cut.split(", ")}
        first, second = order["r"], order["c"]  # rank q R + p has position p of r and q of c
        ends = {axis: np.cumsum([0, *lengths(n, letters.get(axis, 1))]) for axis, n in zip("xyz", held)}
        mine = [{first: p, second: q} for q in range(grid.extent("c")) for p in range(grid.extent("r"))]
        parts = [[range(ends[a][at.get(a, 0)], ends[a][at.get(a, 0) + 1]) for a in "xyz"] for at in mine]
    else:
        axis = 0 if array == "input" else 1
        parts = boxes(held, [shape[0] if i == axis else 1 for i in range(3)])
    owner = {}
    for rank, part in enumerate(parts):
        for x in part[0]:
            for y in part[1]:
                owner |= {(x, y, z): rank for z in part[2]}
    assert len(owner) == np.prod(held)
    above = low if high is None else high
    expected = Counter()
    for rank, part in enumerate(parts):
        if not all(map(len, part)):
            continue
        wide = [[i % n for i in range(one.start - a, one.stop + b)] for one, a, b, n in zip(part, low, above, held)]
        expected.update((owner[x, y, z], rank) for x in wide[0] for y in wide[1] for z in wide[2])
    expected = {pair: n for pair, n in expected.items() if pair[0] != pair[1]}
    told = halo(grid, transform, array, low, high)
    assert {tuple(pair): n for pair, n in zip(told.members.tolist(), told.group_weight.tolist())} == expected
    assert told.unit_bytes == (8 if kind == "r2c" and array == "input" else 16)


@pytest.mark.parametrize("array, low, words", [
    ("input", (8, 0, 0), "8 planes along x, where the array has 7; give 0 to 7"),
    ("input", (0, -1, 0), "-1 planes along y"),
    ("output", (0, 0, 1), "1 planes along z, where the array has 5; give 0 to 0"),
    ("middle", (0, 0, 0), "array 'middle' is unknown; known are input, inner input, output, inner output, 0, 1, 2")])
def test_what_is_no_halo_is_refused(array, low, words):
    with pytest.raises(GridError) as error:
        halo(ProcessGrid(2, 3), transform_of((7, 5, 9), "r2c"), array, low)
    assert words in str(error.value)
    assert halo(ProcessGrid(2, 3), transform_of((7, 5, 9), "r2c"), "input", (7, 5, 9)).members.shape[1] == 2
