"""Images from users: by digits, by a file."""

from itertools import product as cartesian

import pytest
from hypothesis import given, strategies as st

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.product import product_of
from pencilmap.model.predict import predict
from tests.model.cases import repeatable

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


@pytest.mark.parametrize("text, words", [
    ("x=r2i2,y=c4", ["makes grid 2x4", "grid is 4x4"]),
    ("x=r2i3,y=c4", ["x stands for 6 nodes", "multiply to 4"]),
    ("x=r4,y=c2q2i1", ["'c2q2i1'", "i leaves places idle"]),
    ("x=r2c2,y=r2i0c2", ["digit i0", "1 or more"]),
])
def test_bad_digits_are_refused(text, words):
    with pytest.raises(PlacementError) as error:
        place(f"digits:{text}", Site(Torus((4, 4)), idle=True), ProcessGrid(4, 4))
    for word in words:
        assert word in str(error.value)


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


BAD_FILES = {
    "nothing": ("# no image\n", ["own describes no image", "image 0-0"]),
    "node before image": ("0-0 1-0\n", ["own line 1", "'0-0' belongs to no image"]),
    "node after repeat": ("image 0-0 1-0\nrepeat 2 2-0\n0-1", ["own line 3", "belongs to no image"]),
    "empty image": ("image\nimage 0-0 1-0\n", ["own line 1", "without nodes"]),
    "node outside": ("image 0-0 9-0\n", ["own line 1", "(9, 0) is outside torus 4x2", "x must be 0..3"]),
    "dimensions": ("image 0-0 1-0-0\n", ["own line 1", "1-0-0 has 3 coordinates", "2 dimensions"]),
    "no node": ("image 0-0 here\n", ["own line 1", "'here'"]),
    "slot": ("image slots=0-2 0-0 1-0\n", ["own line 1", "slots are 0..1"]),
    "slots backwards": ("image slots=1-0 0-0 1-0\n", ["own line 1", "slots=0-1"]),
    "repeat what": ("image 0-0 1-0\nrepeat 2-0\n", ["own line 2", "repeat TIMES SHIFT"]),
    "repeat nothing": ("repeat 2 2-0\nimage 0-0 1-0", ["own line 1", "after the first image"]),
    "repeat much": ("image 0-0 1-0\nrepeat 99999 1-0\n", ["own line 2", "16 slots"]),
    "not filled": ("image 0-0 1-0 2-0\n", ["own line 1", "6 places (3 nodes with 2 slots)", "multiple of 4"]),
    "too few": ("image 0-0 1-0\n", ["images for 1 rows", "4x4 has 4 rows of 4 tasks", "16 places"]),
    "twice in an image": ("image 0-0 0-0\nimage 1-0 2-0 image 3-0 0-1 image 1-1 2-1", ["own line 1", "(0, 0) slot 0"]),
    "twice": ("image 0-0 1-0\nimage 2-0 3-0\nimage 1-0 0-1\nimage 2-1 3-1", ["own line 3", "(1, 0) slot 0", "of line 1"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_image_files_are_refused_with_their_line(case, written):
    text, words = BAD_FILES[case]
    with pytest.raises(PlacementError) as error:
        place(f"images:{written(text)}", Site(Torus((4, 2)), 2), ProcessGrid(4, 4))
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("argument, words", [("", "images:PATH"), ("no-such-file", "cannot be read"),
                                             ("own,cells", "columns")])
def test_image_arguments_are_checked(argument, words):
    with pytest.raises(PlacementError, match=words):
        place(f"images:{argument}", Site(Torus((4, 2))), ProcessGrid(2, 4))
