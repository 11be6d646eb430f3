"""Images from users: by digits, by a file, by a Python function."""

import sys
from itertools import product as cartesian
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.model.base.errors import AllocationError, GridError, PlacementError
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Allocation, Site
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


def test_four_tasks_a_node_can_be_shared_between_rows_and_columns():
    mapping = as_mapping(place("digits:x=r4c2,y=c4,t=r2c2", Site(Torus((8, 4)), 4), ProcessGrid(8, 16)), "own")
    assert {len(image) for image in nodes_of(mapping, "row")} == {4}
    assert {len(image) for image in nodes_of(mapping, "column")} == {8}


def test_idle_digits_use_what_their_digit_0_names():
    site = Site(Torus((4, 4)), 2, idle=True)
    mapping = place("digits:x=r2i2,y=c4,t=i2", site, ProcessGrid(2, 4))
    assert mapping.coordinates().tolist() == [[p, q] for q in range(4) for p in range(2)]
    assert mapping.slot_of_rank.tolist() == [0] * 8


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


def test_idle_digits_work_around_nodes_that_are_not_usable():
    torus = Torus((4, 2))
    usable = Allocation(torus).without(torus.node([[2, 0], [3, 1]]))
    mapping = place("digits:x=r2i2,y=c2", Site(torus, allocation=usable, idle=True), ProcessGrid(2, 2))
    assert set(mapping.node_of_rank.tolist()) == {0, 1, 4, 5}
    with pytest.raises(AllocationError, match=r"not among the usable .*\(2, 0\)"):
        place("digits:x=i2r2,y=c2", Site(torus, allocation=usable, idle=True), ProcessGrid(2, 2))


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


def test_images_of_columns_are_the_images_of_rows_the_other_way_round(written):
    path = written(CUBES_OF_8)
    rows, columns = (place(f"images:{path}{which}", Site(CUBE), grid)
                     for which, grid in (("", ProcessGrid(8, 64)), (",columns", ProcessGrid(64, 8))))
    assert nodes_of(columns, "column") == nodes_of(rows, "row")
    assert nodes_of(columns, "row") == nodes_of(rows, "column")


def test_an_image_takes_rows_in_the_order_of_its_nodes_then_of_its_slots(written):
    path = written("image slots=0,2-3 1 0\nimage slots=1 1 0\nimage 2 3\n")
    mapping = place(f"images:{path}", Site(Torus((4,)), 4), ProcessGrid(2, 8))
    places = list(zip(mapping.node_of_rank.tolist(), mapping.slot_of_rank.tolist()))
    expected = [*((n, t) for t in (0, 2, 3) for n in (1, 0)), (1, 1), (0, 1), *((n, t) for t in range(4) for n in (2, 3))]
    assert places == expected


def test_repeated_images_wrap_where_the_torus_does(written):
    path = written("image 3-0 0-0\nrepeat 2 2-0\nrepeat 2 0-1")
    mapping = place(f"images:{path}", Site(Torus((4, 2), (True, False))), ProcessGrid(2, 4))
    assert mapping.coordinates().tolist() == [[3, 0], [0, 0], [1, 0], [2, 0], [3, 1], [0, 1], [1, 1], [2, 1]]


def test_images_serve_allocations_with_holes(written):
    torus = Torus((3, 2))
    site = Site(torus, allocation=Allocation(torus, [0, 1, 4, 5]))
    mapping = place(f"images:{written('image 0-0 1-0 image 1-1 2-1')}", site, ProcessGrid(2, 2))
    assert mapping.node_of_rank.tolist() == [0, 1, 4, 5]
    with pytest.raises(AllocationError, match=r"\(2, 0\)"):
        place(f"images:{written('image 0-0 2-0 image 1-1 2-1')}", site, ProcessGrid(2, 2))


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


def test_images_do_not_wrap_around_a_mesh(written):
    path = written("image 2-0 3-0\nrepeat 4 1-0")
    with pytest.raises(PlacementError, match=r"line 2.*\(4, 0\) is outside.*does not wrap"):
        place(f"images:{path}", Site(Torus((4, 2), (False, True))), ProcessGrid(2, 4))


@pytest.mark.parametrize("argument, words", [("", "images:PATH"), ("no-such-file", "cannot be read"),
                                             ("own,cells", "columns")])
def test_image_arguments_are_checked(argument, words):
    with pytest.raises(PlacementError, match=words):
        place(f"images:{argument}", Site(Torus((4, 2))), ProcessGrid(2, 4))


# a Python function

FUNCTIONS = '''
import numpy as np
from helper import two                      # a neighbour of the file

def listed(torus, R, C, tasks_per_node):
    return [(p % two, q % 4, p // two) for q in range(C) for p in range(R)]

def generated(torus, R, C, tasks_per_node):
    yield from listed(torus, R, C, tasks_per_node)

def by_rank(torus, R, C, tasks_per_node):
    return lambda rank: np.array([rank % R % two, rank // R, rank % R // two])

def as_array(torus, R, C, tasks_per_node):
    return np.array(listed(torus, R, C, tasks_per_node), dtype=np.int32)

def from_nodes(torus, R, C, tasks_per_node, nodes):
    return [(*nodes[2 * (rank // R) + rank % 2], rank % R // 2) for rank in range(R * C)]

def endless(torus, R, C, tasks_per_node):
    while True:
        yield 0, 0, 0

def short(torus, R, C, tasks_per_node):
    return listed(torus, R, C, tasks_per_node)[1:]

def twice(torus, R, C, tasks_per_node):
    return [(0, 0, 0)] * (R * C)

def outside(torus, R, C, tasks_per_node):
    return [(0, 9, 0)] * (R * C)

def bad_slot(torus, R, C, tasks_per_node):
    return [(0, 0, 2)] * (R * C)

def halves(torus, R, C, tasks_per_node):
    return [(0.5, 0, 0)] * (R * C)

def no_slot(torus, R, C, tasks_per_node):
    return [(0, 0)] * (R * C)

def huge(torus, R, C, tasks_per_node):
    return [(0, 0, 10**30)] * (R * C)

def nothing(torus, R, C, tasks_per_node):
    pass

def raises(torus, R, C, tasks_per_node):
    return [1 // 0]

def late(torus, R, C, tasks_per_node):
    yield from (here for here in [(0, 0, 0)])
    raise KeyError("late")

def leaves(torus, R, C, tasks_per_node):
    raise SystemExit(0)

def wrong_arguments(torus):
    return []

def imports_late(torus, R, C, tasks_per_node):
    from second_helper import four
    return [(rank % 2, rank // four, rank % four // 2) for rank in range(R * C)]

def talks(torus, R, C, tasks_per_node):
    print("thinking")
    return listed(torus, R, C, tasks_per_node)
'''
SITE = Site(Torus((2, 4)), 2)


@pytest.fixture
def user_file(written):
    written("two = 2\n", "helper.py")
    written("four = 4\n", "second_helper.py")
    return written(FUNCTIONS, "own.py")


def line_of(text):
    return FUNCTIONS.split("\n").index(next(line for line in FUNCTIONS.split("\n") if text in line)) + 1


@pytest.mark.parametrize("name", ["listed", "generated", "by_rank", "as_array", "from_nodes", "imports_late"])
def test_a_function_says_where_ranks_sit_in_any_of_its_forms(name, user_file):
    mapping = place(f"python:{user_file}:{name}", SITE, ProcessGrid(4, 4))
    assert product_of(mapping) == place("digits:x=r2,y=c4,t=r2", SITE, ProcessGrid(4, 4))
    assert mapping.slot_of_rank.tolist() == [0, 0, 1, 1] * 4


def test_the_slot_may_be_left_out_with_one_task_a_node(written):
    path = written("def f(torus, R, C, T):\n    return np.argwhere(np.ones(torus.shape))\nimport numpy as np\n", "own.py")
    assert place(f"python:{path}:f", Site(Torus((2, 3))), ProcessGrid(2, 3)).coordinates().tolist() == [
        [x, y] for x in range(2) for y in range(3)]


@pytest.mark.parametrize("name, words", [
    ("endless", ["more than 16 places", "16 ranks"]),
    ("short", ["15 places", "16 ranks"]),
    ("twice", ["ranks 0 and 1", "(0, 0) slot 0"]),
    ("outside", ["rank 0", "(0, 9) is outside torus 2x4", "y must be 0..3"]),
    ("bad_slot", ["rank 0", "slots are 0..1"]),
    ("halves", ["rank 0", "(0.5, 0, 0) is not a place", "(x, y, slot)"]),
    ("no_slot", ["rank 0", "(0, 0) is not a place"]),
    ("huge", ["rank 0", "not a place"]),
    ("nothing", ["own.py", "TypeError"]),
    ("raises", [f"own.py line {line_of('1 // 0')}", "ZeroDivisionError"]),
    ("late", [f"own.py line {line_of('raise KeyError')}", "KeyError: 'late'"]),
    ("leaves", [f"own.py line {line_of('raise SystemExit')}", "SystemExit"]),
    ("wrong_arguments", ["own.py", "TypeError", "wrong_arguments()"]),
    ("absent", ["no function 'absent'", "listed"]),
    ("not a name", ["is not understood"]),
])
def test_what_goes_wrong_in_a_function_is_one_clear_message(name, words, user_file):
    with pytest.raises(PlacementError) as error:
        place(f"python:{user_file}:{name}", SITE, ProcessGrid(4, 4))
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_a_file_without_functions_has_none(written):
    with pytest.raises(PlacementError, match="has no function 'f'; it has none$"):
        place(f"python:{written('f = 1', 'own.py')}:f", SITE, ProcessGrid(4, 4))


@pytest.mark.parametrize("text, words", [("def f(:\n", ["own.py line 1", "SyntaxError"]),
                                         ("\nimport nowhere\n", ["line 2", "nowhere"]), ("x = '\0'", ["own.py", "null"])])
def test_files_that_are_no_python_are_refused(text, words, written):
    with pytest.raises(PlacementError) as error:
        place(f"python:{written(text, 'own.py')}:f", SITE, ProcessGrid(4, 4))
    for word in words:
        assert word in str(error.value)


def test_user_code_leaves_nothing_behind(user_file, capsys):
    path, modules = list(sys.path), set(sys.modules) | {"helper"}
    place(f"python:{user_file}:talks", SITE, ProcessGrid(4, 4))
    assert sys.path == path and set(sys.modules) <= modules
    out, err = capsys.readouterr()
    assert out == "" and "thinking" in err      # standard output belongs to the command's JSON


def test_the_grid_is_checked_before_the_function_is_called(user_file):
    with pytest.raises(GridError):
        place(f"python:{user_file}:raises", SITE, ProcessGrid(4, 5))


def test_an_array_of_every_rank_is_taken_as_it_is(written):
    path = written("import numpy as np\ndef f(torus, R, C, T):\n    return torus.coordinates(np.arange(R * C))\n", "own.py")
    mapping = place(f"python:{path}:f", Site(Torus((64, 64, 16))), ProcessGrid(256, 256))
    assert np.array_equal(mapping.node_of_rank, np.arange(1 << 16))


def test_the_command_line_takes_own_images(written, pencilmap_json, tmp_path):
    path = written(CUBES_OF_8)
    machine = ("--machine", "bluegene-l", "--grid", "8x64")
    found = pencilmap_json("predict", *machine, "-p", f"images:{path}", "-p", "box:2x2x2")
    assert found[0]["patterns"] == found[1]["patterns"] and found[0]["stages"][0]["m"] == [2, 2, 2]
    pencilmap_json.one("map", *machine, "-p", f"images:{path}", "-o", tmp_path / "own.map")
    assert pencilmap_json.one("check", tmp_path / "own.map", *machine)["predictions"][0]["patterns"] == found[0]["patterns"]
    assert Path(tmp_path / "own.map").read_text().splitlines()[1] == "1 0 0 0"


# the examples of the docs

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def test_the_cubes_of_the_docs_are_those_of_the_paper():
    site = Site(CUBE)
    mapping = place(f"images:{EXAMPLES}/cubes.images", site, ProcessGrid(8, 64))
    assert product_of(mapping) == place("box:2x2x2", site, ProcessGrid(8, 64))


@pytest.mark.parametrize("shape, tasks_per_node", [((8, 8, 8), 1), ((3, 4, 2), 2), ((5,), 1), ((2, 3, 2, 3), 1)])
def test_the_snake_of_the_docs_steps_from_neighbour_to_neighbour(shape, tasks_per_node):
    site = Site(Torus(shape), tasks_per_node)
    mapping = place(f"python:{EXAMPLES}/snake.py:snake", site, ProcessGrid(1, site.n_slots))
    steps = np.abs(np.diff(mapping.coordinates()[::tasks_per_node], axis=0)).sum(axis=1)
    assert (steps == 1).all() and len(steps) == site.network.n_nodes - 1
