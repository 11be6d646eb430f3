"""Placements by name: places of every group on jobs with holes and on twisted tori, images, and the words of refusals."""

from itertools import product, product as cartesian

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pencilmap.mapper.base.search import Search
from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.seeds.default_order import launched
from pencilmap.mapper.seeds.twisted_torus import best_basis, best_pair, best_twisted, generators, subgroups, work_of_basis
from pencilmap.model.base.arrays import prime_factors
from pencilmap.model.base.errors import AllocationError, GridError, PlacementError
from pencilmap.model.kinds import routing
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.twisted_torus import TwistedTorus, parse_twisted
from pencilmap.model.placement.allocation import Allocation, Site
from pencilmap.model.placement.grid import ProcessGrid, all_grids, parse_grid
from pencilmap.model.placement.product import product_of
from pencilmap.model.predict import predict
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.model.traffic.loads import at_once, in_sequence, routed_joint
from tests.model.cases import repeatable


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


TORUS = Torus((3, 2, 2))


def places(mapping):
    return list(zip(mapping.node_of_rank.tolist(), mapping.slot_of_rank.tolist()))


@repeatable(60)
@given(st.permutations(range(12)), st.integers(1, 12), st.integers(1, 3), st.integers(0, 5))
def test_default_fills_the_usable_nodes_in_the_order_of_the_launcher(order, kept, tasks_per_node, n_idle):
    nodes = order[:kept]
    site = Site(TORUS, tasks_per_node, Allocation(TORUS, nodes), idle=True)
    grid = ProcessGrid(max(1, site.n_slots - n_idle), 1)
    slots = range(tasks_per_node)
    assert places(place("default", site, grid)) == [(n, t) for n in nodes for t in slots][:grid.n_tasks]
    assert places(place("default:nt", site, grid)) == [(n, t) for t in slots for n in nodes][:grid.n_tasks]
    assert places(place("default:tn", site, grid)) == [(n, t) for n in nodes for t in slots][:grid.n_tasks]
    assert places(place("default:txyz", site, grid)) == [(n, t) for n in sorted(nodes) for t in slots][:grid.n_tasks]
    by_z = sorted(nodes, key=lambda n: TORUS.coordinates(n).tolist())       # x is the slowest
    assert places(place("default:zyxt", site, grid)) == [(n, t) for t in slots for n in by_z][:grid.n_tasks]


def test_files_may_use_only_usable_nodes(tmp_path):
    path = tmp_path / "job.map"
    path.write_text("0 0 0 0\n2 1 1 0\n")
    found = place(f"file:{path},bgl", Site(TORUS, allocation=Allocation(TORUS, [11, 0])), ProcessGrid(2, 1))
    assert places(found) == [(0, 0), (11, 0)]
    with pytest.raises(AllocationError, match=r"rank 1 is the first, on node \(2, 1, 1\)"):
        place(f"file:{path},bgl", Site(TORUS, allocation=Allocation(TORUS, [1, 0])), ProcessGrid(2, 1))


REACHED = [("4x4x8", "2x64", 3.63), ("4x4x8", "4x32", 4.17), ("4x4x8", "8x16", 4.00), ("4x8x8", "2x128", 4.27),
           ("4x8x8", "4x64", 4.81), ("4x8x8", "8x32", 4.98), ("4x8x8", "16x16", 5.48), ("8x8x16", "8x128", 8.67),
           ("8x8x16", "16x64", 8.46), ("8x8x16", "32x32", 8.80)]
LARGE = [("8x16x16", "8x256", 9.75), ("8x16x16", "16x128", 10.53)]
AT_ONCE = [("4x4x8", "4x32", 3.84, None), ("4x4x8", "8x16", 3.34, None), ("4x8x8", "8x32", 4.80, 4),
           ("4x8x8", "16x16", 4.95, 4)]


def joint(mapping):
    return routed_joint(mapping.network, exchanges(mapping.grid), mapping.node_of_rank,
                        routing("shortest-path", mapping.network))


def reach(shape, grid, least):
    site, grid = Site(parse_twisted(f"{shape}:twisted")), parse_grid(grid)
    found = best_twisted(site, grid, Search())[-1]
    cost = predict(found).cost
    assert found.name == "default" or predict(place(found.name, site, grid)).cost == cost
    assert float(cost) <= least + 0.005
    assert cost <= predict(launched(site, grid)).cost


@pytest.mark.sampled(6)
@pytest.mark.thorough
@pytest.mark.parametrize("shape, grid, least", REACHED)
def test_best_reaches_what_is_known(shape, grid, least):
    reach(shape, grid, least)


@pytest.mark.slow
@pytest.mark.parametrize("shape, grid, least", LARGE)
def test_best_reaches_what_is_known_of_large_slices(shape, grid, least):
    reach(shape, grid, least)


@pytest.mark.parametrize("shape, grid, least, plain", AT_ONCE)
def test_exchanges_at_once_are_told_to_take_the_plain_slice_if_it_is_better(shape, grid, least, plain):
    found = best_twisted(Site(parse_twisted(f"{shape}:twisted")), parse_grid(grid), Search(), at_once(2))[-1]
    assert float(joint(found).length((1, 1))) <= least
    told = [note for note in found.notes if "plain torus" in note]
    assert len(told) == (plain is not None) and all(f"links cost {plain}," in note for note in told)


@pytest.mark.parametrize("objective", [in_sequence(2), at_once(2)])
@pytest.mark.parametrize("torus, tasks", [
    (TwistedTorus((3, 6)), 1), (TwistedTorus((3, 3, 6)), 1), (TwistedTorus((2, 5), ((0, 3), (0, 0)), cables=(2, 1)), 2),
    (TwistedTorus((4, 6), ((0, 2), (0, 0)), (2.0, 1.0)), 1), (TwistedTorus((2, 4)), 3),
    (TwistedTorus((7, 2), ((0, 1), (0, 0))), 1)], ids=str)
def test_a_basis_costs_what_it_says_on_every_grid_and_never_more_than_the_launch_order(torus, tasks, objective):
    site = Site(torus, tasks)
    for grid in all_grids(site.n_slots):
        if min(grid.shape) > 1:
            found, cost = best_basis(torus, grid, tasks, objective, Search(100 * work_of_basis(torus, grid)))
            mapping = found.mapping(grid)
            assert float(objective.of_loads(joint(mapping))) == pytest.approx(cost, rel=1e-9)
            assert place(str(found), site, grid).node_of_rank.tolist() == mapping.node_of_rank.tolist()
            best = best_twisted(site, grid, Search(12_500_000), objective)
            assert objective.of_loads(joint(best[-1])) <= objective.of_loads(joint(launched(site, grid)))


@pytest.mark.parametrize("torus", [TwistedTorus((2, 4)), TwistedTorus((3, 4), ((0, 2), (0, 0))), TwistedTorus((2, 2, 4)),
                                   TwistedTorus((3, 3), ((0, 1), (0, 0)))], ids=str)
def test_subgroups_are_all_sets_that_are_closed_under_sums(torus):
    """A subgroup of these groups is generated by at most three nodes."""
    nodes = np.arange(torus.n_nodes)
    sums, found = torus.sums(nodes, nodes), set()
    for some in np.ndindex(*(torus.n_nodes,) * 3):
        have = {0}
        while (more := have | {int(sums[a, b]) for a in have for b in some}) != have:
            have = more
        found.add(frozenset(have))
    for order in [*nodes[1:].tolist(), torus.n_nodes]:
        listed = [frozenset(np.flatnonzero(row).tolist()) for row in subgroups(torus, order)]
        assert len(listed) == len(set(listed)) and set(listed) == {have for have in found if len(have) == order}


@pytest.mark.parametrize("shape, grid", [("4x4x8", "4x32"), ("4x4x8", "8x16"), ("4x8x8", "4x64")])
def test_cosets_of_complements_cost_what_the_table_of_steps_says(shape, grid):
    torus, grid = parse_twisted(f"{shape}:twisted"), parse_grid(grid)
    rows, columns, cost = best_pair(torus, grid.shape, in_sequence(2))
    assert float(predict(place("cosets", Site(torus), grid)).cost) == pytest.approx(cost, rel=1e-9)
    assert [len(generators(torus, members, len(members))) for members in (rows, columns)] == [
        len(prime_factors(size)) for size in grid.shape]


TWISTED = Site(TwistedTorus((2, 4)))


CUBE = Torus((8, 8, 8))
CUBES_OF_8 = """
image 0-0-0 1-0-0 0-1-0 1-1-0
      0-0-1 1-0-1 0-1-1 1-1-1   # an image goes on in the next line
repeat 4 2-0-0
repeat 4 0-2-0
repeat 4 0-0-2
"""


def nodes_of(mapping, owner):
    """Return the set of nodes of each row or column."""
    groups = mapping.grid.groups("r") if owner == "row" else mapping.grid.groups("c")
    return [frozenset(nodes.tolist()) for nodes in mapping.node_of_rank[groups]]


@pytest.fixture
def written(tmp_path):
    def write(text, name="own"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path
    return write


# digits


@pytest.mark.parametrize("grid, slots, rows_per_image, nodes_row, nodes_column", [
    (ProcessGrid(8, 128), "c2", 2, 8, 64),     # the paper's VN 8x128: two rows on each 8-cube
    (ProcessGrid(16, 64), "r2", 1, 8, 64),
])
def test_slots_put_rows_and_columns_on_different_numbers_of_nodes(grid, slots, rows_per_image, nodes_row, nodes_column):
    placed = place(f"digits:x=r2c4,y=r2c4,z=r2c4,t={slots}", Site(CUBE, 2), grid)
    mapping, prediction = as_mapping(placed, "own"), predict(placed)
    rows, columns = nodes_of(mapping, "row"), nodes_of(mapping, "column")
    assert {len(image) for image in rows} == {nodes_row} and {len(image) for image in columns} == {nodes_column}
    assert {rows.count(image) for image in rows} == {rows_per_image}
    assert [max(stage.m) for stage in prediction.stages] == [2, 4]  # the table of m_i: 8-cubes and their complement


@st.composite
def digit_texts(draw):
    """Draw a torus, digits for the torus (also idle digits), and their grid."""
    shape = draw(st.lists(st.sampled_from([2, 3, 4, 6]), min_size=1, max_size=3))
    texts, extent = [], {"r": 1, "c": 1, "i": 1}
    for n in shape:
        text, rest = "", n
        while rest > 1:
            radix = draw(st.sampled_from([k for k in range(2, rest + 1) if rest % k == 0]))
            owner = draw(st.sampled_from("rci"))
            text, rest, extent[owner] = f"{text}{owner}{radix}", rest // radix, extent[owner] * radix
        texts.append(text)
    return Torus(shape), texts, ProcessGrid(extent["r"], extent["c"])


@given(digit_texts())
@repeatable(60)
def test_digits_place_each_rank_where_its_digits_say(case):
    torus, texts, grid = case
    named = ",".join(f"{axis}={text}" for axis, text in zip(torus.axes, texts))
    mapping = as_mapping(place(f"digits:{named}", Site(torus, idle=True), grid), "own")
    expected = {}
    for coordinates in cartesian(*(range(n) for n in torus.shape)):
        number, stride = {"r": 0, "c": 0, "i": 0}, {"r": 1, "c": 1, "i": 1}
        for coordinate, text in zip(coordinates, texts):
            for owner, radix in zip(text[::2], map(int, text[1::2])):
                number[owner] += coordinate % radix * stride[owner]
                stride[owner] *= radix
                coordinate //= radix
        if number["i"] == 0:
            expected[number["c"] * grid.shape[0] + number["r"]] = list(coordinates)
    assert mapping.coordinates().tolist() == [expected[rank] for rank in range(grid.n_tasks)]


# an image file


@pytest.mark.parametrize("tasks_per_node, grid, slots", [(1, ProcessGrid(8, 64), "c1"), (2, ProcessGrid(8, 128), "c2"),
                                                         (2, ProcessGrid(16, 64), "r2"), (4, ProcessGrid(16, 128), "r2c2")])
def test_cubes_from_a_file_are_the_cubes_of_the_digits(tasks_per_node, grid, slots, written):
    site = Site(CUBE, tasks_per_node)
    mapping = place(f"images:{written(CUBES_OF_8)}", site, grid)
    assert product_of(mapping) == place(f"digits:x=r2c4,y=r2c4,z=r2c4,t={slots}", site, grid)


def test_an_image_takes_rows_in_the_order_of_its_nodes_then_of_its_slots(written):
    path = written("image slots=0,2-3 1 0\nimage slots=1 1 0\nimage 2 3\n")
    mapping = place(f"images:{path}", Site(Torus((4,)), 4), ProcessGrid(2, 8))
    places = list(zip(mapping.node_of_rank.tolist(), mapping.slot_of_rank.tolist()))
    expected = [*((n, t) for t in (0, 2, 3) for n in (1, 0)), (1, 1), (0, 1), *((n, t) for t in range(4) for n in (2, 3))]
    assert places == expected


CUBIC, SQUARE, RING = Site(Torus((4, 4, 4))), Site(Torus((4, 4)), idle=True), Site(Torus((2, 4)))
REFUSED = [  # site; grid; texts with words of their messages
    (CUBIC, "4x16", [
        ("box:2x2", "box '2x2' is not understood; torus 4x4x4 needs 3 extents, e.g. box:2x2x2"),
        ("box:2x0x2", "box '2x0x2' is not understood"), ("box:2x-2x2", "box '2x-2x2' is not understood"),
        ("box:2x²x2", "is not understood"), ("box:2xtwox2", "is not understood"),
        ("line:xy", "line:xy names 2 axes; a line has one of x, y, z"),
        ("line:q", "line:q: torus 4x4x4 has no axis 'q', only x, y, z"),
        ("plane:x", "plane:x is not understood; a plane has two of the axes x, y, z"),
        ("plane:xx", "plane:xx is not understood"), ("plane:xyz", "plane:xyz is not understood"),
        ("plane:qx", "plane:qx: torus 4x4x4 has no axis 'q'"),
        ("box:2x2x2", "box:2x2x2 has 8 nodes, which rows of 4 tasks do not fill; with 1 task per node rows must have 8")]),
    (Site(Torus((4, 4, 6))), "3x32", [
        ("box:3x1x1", "box:3x1x1: extent 3 does not divide the 4 nodes of dimension x of torus 4x4x6; take a divisor of 4"),
        ("box:1x1x4", "extent 4 does not divide the 6 nodes of dimension z")]),
    (Site(Torus((4,))), "2x2", [("plane", "plane: is not understood; a plane has two of the axes x")]),
    (Site(Torus((4, 2, 3)), 4), "6x16", [
        ("box:2x1x1", "2 nodes, which rows of 6 tasks do not fill; with 4 tasks per node rows must have 2, 4, 8 tasks")]),
    (Site(Torus((4, 2, 3)), 6), "9x16", [("box:2x1x1", "rows must have 2, 4, 6, 12 tasks")]),
    (TWISTED, "2x4", [
        ("basis:r=1.0,c=0.1", "and 2 for c"), ("basis:r=1.0,c=0.1/1.0", "every slot takes one rank"),
        ("basis:r=1.0.0,c=0.1/0.2", "each of 2 numbers"), ("basis:r=9.0,c=0.1/0.2", "is outside torus"),
        ("basis:seed=1,seed=2", "is not understood"), ("basis:fast", "is not understood"),
        ("cosets:1", "takes no argument"), ("line", "needs a torus without twists"),
        ("plane", "needs a torus without twists")]),
    (RING, "2x4", [("basis", "is for twisted tori"), ("cosets", "is for twisted tori")]),
    (Site(TWISTED.network, allocation=Allocation(TWISTED.network, [0, 1, 2, 3])), "2x2", [
        ("basis", "fills all slots"), ("cosets", "fills all slots")]),
    (SQUARE, "4x4", [
        ("digits:x=r2i2,y=c4", "makes grid 2x4"), ("digits:x=r2i2,y=c4", "grid is 4x4"),
        ("digits:x=r2i3,y=c4", "x stands for 6 nodes"), ("digits:x=r2i3,y=c4", "multiply to 4"),
        ("digits:x=r4,y=c2q2i1", "'c2q2i1'"), ("digits:x=r4,y=c2q2i1", "i leaves places idle"),
        ("digits:x=r2c2,y=r2i0c2", "digit i0"), ("digits:x=r2c2,y=r2i0c2", "1 or more"),
        ("lattice:seed", "not understood"), ("lattice:seed=1,seed=2", "not understood"),
        ("lattice:c=1.0.0/0.4.0/0.0.1,tile=0.4.8.9", "one of every coset"),
        ("lattice:c=1.0.0/0.3.0/0.0.1,tile=0.4.8", "names no lattice of 4 cosets"),
        *((f"search:{wrong}", "search:") for wrong in (
            "seed", "seed=", "seed=x", "tries=3", "seed=1;seconds=2", "evaluations=1.5", "seconds=nan", "seed=-1",
            "evaluations=1e3", "seed=99999999999999999999"))]),
    (SQUARE, "1x16", [("lattice", "rows and columns")]),
    (Site(Torus((4, 4))), "4x5", [("lattice", "20 tasks")]),
    (Site(Torus((4, 4), (False, False))), "4x4", [("lattice", "dimension x of torus 4x4:mesh is open")]),
    (RING, "4x2", [
        ("ring:x=0.1/2", "does not name every position once, from 0 on"), ("ring:x=0.1/3.2", "stands for 4 nodes"),
        ("ring:x=0.1/1.0", "every position"), ("ring:x=0,1", "is not understood"), ("ring:x=0.a/1.2", "is not understood"),
        ("ring:x=r2,y=r4", "makes grid 8x1"), ("ring:q=r2", "'q=r2'")]),
    (Site(Torus((4, 2))), "2x4", [("images:", "images:PATH"), ("images:no-such-file", "cannot be read"),
                                  ("images:own,cells", "columns")])]


@pytest.mark.parametrize("site, grid, text, words", [(site, grid, *row) for site, grid, rows in REFUSED for row in rows])
def test_what_is_no_placement_is_told_with_what_is(site, grid, text, words):
    with pytest.raises((PlacementError, GridError)) as error:
        place(text, site, parse_grid(grid))
    assert words in str(error.value)


BAD_FILES = [
    ("# no image\n", "own describes no image", "image 0-0"), ("0-0 1-0\n", "own line 1", "'0-0' belongs to no image"),
    ("image 0-0 1-0\nrepeat 2 2-0\n0-1", "own line 3", "belongs to no image"),
    ("image\nimage 0-0 1-0\n", "own line 1", "without nodes"),
    ("image 0-0 9-0\n", "own line 1", "(9, 0) is outside torus 4x2", "x must be 0..3"),
    ("image 0-0 1-0-0\n", "own line 1", "1-0-0 has 3 coordinates", "2 dimensions"),
    ("image 0-0 here\n", "own line 1", "'here'"),
    ("image slots=0-2 0-0 1-0\n", "own line 1", "slots are 0..1"), ("image slots=1-0 0-0 1-0\n", "own line 1", "slots=0-1"),
    ("image 0-0 1-0\nrepeat 2-0\n", "own line 2", "repeat TIMES SHIFT"),
    ("repeat 2 2-0\nimage 0-0 1-0", "own line 1", "after the first image"),
    ("image 0-0 1-0\nrepeat 99999 1-0\n", "own line 2", "16 slots"),
    ("image 0-0 1-0 2-0\n", "own line 1", "6 places (3 nodes with 2 slots)", "multiple of 4"),
    ("image 0-0 1-0\n", "images for 1 rows", "4x4 has 4 rows of 4 tasks", "16 places"),
    ("image 0-0 0-0\nimage 1-0 2-0 image 3-0 0-1 image 1-1 2-1", "own line 1", "(0, 0) slot 0"),
    ("image 0-0 1-0\nimage 2-0 3-0\nimage 1-0 0-1\nimage 2-1 3-1", "own line 3", "(1, 0) slot 0", "of line 1")]


@pytest.mark.parametrize("text, words", [(text, words) for text, *words in BAD_FILES])
def test_bad_image_files_are_refused_with_their_line(text, words, written):
    with pytest.raises(PlacementError) as error:
        place(f"images:{written(text)}", Site(Torus((4, 2)), 2), ProcessGrid(4, 4))
    assert all(word in str(error.value) for word in words)
