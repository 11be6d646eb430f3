"""Placement files go round, and broken ones are refused with file and line."""

import random

import numpy as np
import pytest

from pencilmap.mapper.formats import FORMATS, parse_mapping, read_mapping, write_mapping
from pencilmap.model.errors import MapfileError, PencilmapError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.torus import Torus

TORUS, GRID = Torus((4, 2, 3)), ProcessGrid(4, 6)


def shuffled(torus, grid, tasks_per_node, seed):
    places = list(range(torus.n_nodes * tasks_per_node))
    random.Random(seed).shuffle(places)
    places = np.array(places[:grid.n_tasks])
    return Mapping(torus, grid, tasks_per_node, places // tasks_per_node, places % tasks_per_node)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_random_placements_go_round(tmp_path, name, seed):
    mapping = shuffled(TORUS, GRID, 1, seed)
    path = tmp_path / "demo.map"
    write_mapping(mapping, path, name)
    back = read_mapping(path, TORUS, GRID, 1)
    assert np.array_equal(back.node_of_rank, mapping.node_of_rank)
    assert np.array_equal(back.slot_of_rank, mapping.slot_of_rank)
    assert FORMATS[name].write(back) == path.read_text()


def test_mapfile_keeps_the_slots(tmp_path):
    mapping = shuffled(Torus((2, 2)), ProcessGrid(2, 4), 2, 7)
    write_mapping(mapping, tmp_path / "m", "bgl")
    assert np.array_equal(read_mapping(tmp_path / "m", Torus((2, 2)), ProcessGrid(2, 4), 2).slot_of_rank, mapping.slot_of_rank)


def test_comments_and_blank_lines_of_others_are_read():
    text = b"# by hand\n\n0 0 0 # rank 0\r\n1 0 0\n"
    assert parse_mapping(text, "m", Torus((2, 1)), ProcessGrid(2, 1), 1).node_of_rank.tolist() == [0, 1]


GOOD = "".join(f"{x} {y} {z} 0\n" for z in range(3) for y in range(2) for x in range(4))
BROKEN = {
    "a rank too many": (GOOD + "0 0 0 0\n", "line 25: rank 24 is one too many"),
    "a rank too few": (GOOD.replace("3 1 2 0\n", ""), "ends after rank 22; grid 4x6 needs 24"),
    "a node twice": (GOOD.replace("1 0 0 0", "0 0 0 0"), "line 2: rank 1 takes node (0, 0, 0) slot 0, which rank 0 in line 1"),
    "outside": (GOOD.replace("3 1 2 0", "4 1 2 0"), "line 24: node (4, 1, 2) is outside torus 4x2x3; x must be 0..3"),
    "negative": (GOOD.replace("3 1 2 0", "3 -1 2 0"), "line 24: node (3, -1, 2) is outside torus 4x2x3; y must be 0..1"),
    "slot": (GOOD.replace("3 1 2 0", "3 1 2 1"), "line 24: node (3, 1, 2) slot 1: with 1 tasks per node slots are 0..0"),
    "columns": (GOOD.replace("3 1 2 0", "3 1 2"), "line 24: 3 columns, but 4 are needed (x y z t)"),
    "no number": (GOOD.replace("3 1 2 0", "3 1 two 0"), "line 24 column 3: 'two' is no integer"),
    "huge number": (GOOD.replace("3 1 2 0", "3 1 2 " + "9" * 500), "line 24 column 4"),
    "NUL": (GOOD.replace("3 1 2 0", "3 1 2 0\0"), "line 24: a NUL byte"),
    "long line": (GOOD.replace("3 1 2 0", "3 1 2 0" + " " * 5000 + "1"), "line 24 is 5008 characters long"),
    "empty": ("", "is empty; 24 ranks are needed"),
    "no format": ("<xml/>\n", "the format is not recognised"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_mapfiles_are_refused(case):
    text, message = BROKEN[case]
    with pytest.raises(MapfileError) as error:
        parse_mapping(text.encode(), "demo.map", TORUS, GRID, 1)
    assert message in str(error.value) and "demo.map" in str(error.value)


def test_wrong_encoding_is_refused():
    with pytest.raises(MapfileError, match="line 2: byte 0xff is no UTF-8"):
        parse_mapping(b"0 0 0 0\n\xff\xfe", "demo.map", TORUS, GRID, 1)


@pytest.mark.parametrize("line, message", [("node-1-0", "does not end in 3 coordinates"), ("node-9-0-0", "x must be 0..3"),
                                           ("node-0-0-0:0", "no count of ranks"), ("node-0-0-0:x", "no count of ranks")])
def test_broken_hostfiles_are_refused(line, message):
    with pytest.raises(MapfileError, match=message):
        parse_mapping(line.encode(), "demo.hosts", TORUS, GRID, 1, "hostfile")


def test_hostfile_counts_stand_for_ranks_in_a_row():
    mapping = parse_mapping(b"node-1:2\nnode-0:2\n", "h", Torus((2,)), ProcessGrid(2, 2), 2)
    assert mapping.node_of_rank.tolist() == [1, 1, 0, 0] and mapping.slot_of_rank.tolist() == [0, 1, 0, 1]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(MapfileError, match="cannot be written"):
        write_mapping(shuffled(TORUS, GRID, 1, 0), tmp_path / "missing" / "demo.map", "bgl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", range(200))
def test_damaged_files_never_crash(seed):
    """Any damage is either harmless or a PencilmapError."""
    rng = random.Random(seed)
    content = bytearray(GOOD.encode())
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(content))
        content[at:at + rng.randint(0, 3)] = bytes(rng.randrange(256) for _ in range(rng.randint(0, 4)))
    try:
        parse_mapping(bytes(content), "demo.map", TORUS, GRID, 1)
    except PencilmapError:
        pass
