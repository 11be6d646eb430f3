"""Lines, planes and boxes: the place of every group, and the words of refusals."""

from itertools import product

import numpy as np
import pytest

from pencilmap.mapper.placements import place
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid


def boxes_of(site, extents):
    """Return the nodes of each box of these extents: a set of frozen sets."""
    torus = site.network
    where = torus.coordinates(np.arange(torus.n_nodes))
    corners = product(*(range(0, n, e) for n, e in zip(torus.shape, extents)))
    return {frozenset(np.flatnonzero(((where >= low) & (where < np.add(low, extents))).all(axis=1)).tolist())
            for low in corners}


@pytest.mark.parametrize("text, extents, shape, T, grid", [
    ("line", (4, 1, 1), (4, 2, 6), 1, "4x12"), ("line:y", (1, 2, 1), (4, 2, 6), 1, "2x24"),
    ("line:z", (1, 1, 6), (4, 2, 6), 3, "18x8"), ("plane", (4, 2, 1), (4, 2, 6), 2, "8x12"),
    ("plane:zx", (4, 1, 6), (4, 2, 6), 1, "24x2"), ("plane:xz", (4, 1, 6), (4, 2, 6), 1, "24x2"),
    ("box:2x1x3", (2, 1, 3), (4, 2, 6), 2, "12x8"), ("box:1x1x1", (1, 1, 1), (4, 2, 6), 4, "4x48"),
    ("box:4x2x6", (4, 2, 6), (4, 2, 6), 1, "48x1")])
def test_rows_fill_boxes_and_columns_their_complement(text, extents, shape, T, grid):
    site, grid = Site(Torus(shape), T), parse_grid(grid)
    mapping = place(text, site, grid).mapping()
    rows = mapping.node_of_rank[grid.groups("r")]
    assert {frozenset(row.tolist()) for row in rows} == boxes_of(site, extents)
    each = grid.shape[0] // int(np.prod(extents))
    assert all(np.bincount(row, minlength=site.network.n_nodes).max() == each for row in rows)
    columns = site.network.coordinates(mapping.node_of_rank)[grid.groups("c")]
    assert all(len(np.unique(column % extents, axis=0)) == 1 for column in columns), "the same place of every box"
    assert sorted(zip(mapping.node_of_rank.tolist(), mapping.slot_of_rank.tolist())) == list(
        product(range(site.network.n_nodes), range(T)))


@pytest.mark.parametrize("text, shape, T, grid, words", [
    ("box:2x2", (4, 4, 4), 1, "4x16", "box '2x2' is not understood; torus 4x4x4 needs 3 extents, e.g. box:2x2x2"),
    ("box:2x0x2", (4, 4, 4), 1, "4x16", "box '2x0x2' is not understood"),
    ("box:2x-2x2", (4, 4, 4), 1, "4x16", "box '2x-2x2' is not understood"),
    ("box:2x²x2", (4, 4, 4), 1, "4x16", "is not understood"),
    ("box:2xtwox2", (4, 4, 4), 1, "4x16", "is not understood"),
    ("box:3x1x1", (4, 4, 6), 1, "3x32", "box:3x1x1: extent 3 does not divide the 4 nodes of dimension x of torus 4x4x6; "
                                       "take a divisor of 4"),
    ("box:1x1x4", (4, 4, 6), 1, "4x24", "extent 4 does not divide the 6 nodes of dimension z"),
    ("line:xy", (4, 4, 4), 1, "4x16", "line:xy names 2 axes; a line has one of x, y, z"),
    ("line:q", (4, 4, 4), 1, "4x16", "line:q: torus 4x4x4 has no axis 'q', only x, y, z"),
    ("plane:x", (4, 4, 4), 1, "4x16", "plane:x is not understood; a plane has two of the axes x, y, z"),
    ("plane:xx", (4, 4, 4), 1, "4x16", "plane:xx is not understood"),
    ("plane:xyz", (4, 4, 4), 1, "4x16", "plane:xyz is not understood"),
    ("plane:qx", (4, 4, 4), 1, "16x4", "plane:qx: torus 4x4x4 has no axis 'q'"),
    ("plane", (4,), 1, "2x2", "plane: is not understood; a plane has two of the axes x"),
    ("box:2x2x2", (4, 4, 4), 1, "4x16", "box:2x2x2 has 8 nodes, which rows of 4 tasks do not fill; with 1 task per node "
                                       "rows must have 8 tasks"),
    ("box:2x1x1", (4, 2, 3), 4, "6x16", "box:2x1x1 has 2 nodes, which rows of 6 tasks do not fill; with 4 tasks per node "
                                       "rows must have 2, 4, 8 tasks"),
    ("box:2x1x1", (4, 2, 3), 6, "9x16", "rows must have 2, 4, 6, 12 tasks")])
def test_what_is_no_box_is_told_with_what_is(text, shape, T, grid, words):
    with pytest.raises(PlacementError) as error:
        place(text, Site(Torus(shape), T), parse_grid(grid))
    assert words in str(error.value)
