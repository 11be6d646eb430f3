"""Answers about one grid say if another grid, order or placement is much faster; `check` needs no grid for the places."""

import re

import pytest

from pencilmap.mapper.setting import setting
from pencilmap.scripts.command_line import answers

MESH = ("--network", "4x4:mesh", "--fft", "64", "--bandwidth", "1 GB/s")  # 4x4: lines 4/3 of the best; 1x16: 2/3 of it
MAP = ("--schedule", "sequence", "-f", "hostfile", "--effort", "quick")


@pytest.fixture
def told(pencilmap):
    """Run a command and return its output without line breaks."""

    def run(*words):
        status, out, err = pencilmap(*words)
        assert status == 0, err
        return " ".join(out.split())

    return run


def test_map_and_check_say_that_another_grid_is_faster(told, pencilmap_json, tmp_path):
    mapped = told("map", *MESH, *MAP, "--grid", "4x4", "-o", tmp_path / "hosts")
    mine, other = (pencilmap_json("predict", *MESH, "--grid", grid)[0]["t_s"] for grid in ("4x4", "1x16"))
    assert mine == pytest.approx(1.5 * other)
    sentence = "grid 1x16 is 50 % faster, with its best placement: pencilmap plan ranks the grids"
    assert sentence in mapped
    assert sentence in told("check", tmp_path / "hosts", *MESH, "--grid", "4x4")


def test_the_fastest_grid_and_the_choice_of_a_plan_get_no_such_sentence(told, tmp_path):
    for grid in ((), ("--grid", "1x16")):
        out = told("map", *MESH, *MAP, *grid, "-o", tmp_path / "hosts")
        assert "its best placement" not in out and "another placement" not in out


def test_map_and_check_say_that_another_placement_is_faster(told, tmp_path):
    words = (*MESH, "--grid", "4x4")
    sentence = "another placement of this grid is 33 % faster:"
    assert f"{sentence} --placement best writes it" in told(
        "map", *words, *MAP, "-p", "default", "-o", tmp_path / "lines")
    assert f"{sentence} pencilmap map writes it" in told("check", tmp_path / "lines", *words)
    told("map", *words, *MAP, "-o", tmp_path / "best")
    assert "another placement" not in told("check", tmp_path / "best", *words)


def test_check_asks_for_the_order_of_the_grid(told, tmp_path):
    """Around a ring, rows of neighbours load the links by 10, columns of neighbours by 16."""
    words = ("--network", "16", "-f", "hostfile")
    told("map", *words, "--grid", "2x8", "-p", "default", "-o", tmp_path / "hosts")
    assert "on grid 2x8 this file is 60 % faster" in told("check", tmp_path / "hosts", *words, "--grid", "8x2")
    assert "the order of your code" not in told("check", tmp_path / "hosts", *words, "--grid", "2x8")


def test_check_predicts_a_schedule(told, pencilmap_json, tmp_path):
    words = (*MESH, "--grid", "4x4", "--schedule", "overlap:2")
    told("map", *words, "-f", "hostfile", "-p", "default", "-o", tmp_path / "hosts")
    checked = pencilmap_json.one("check", tmp_path / "hosts", *words)["predictions"][0]
    predicted, = pencilmap_json("predict", *words, "-p", "default")
    assert checked["schedule"] == predicted["schedule"]
    assert "overlap:2:x" in told("check", tmp_path / "hosts", *words)


def test_check_without_a_grid_compares_the_nodes_with_the_launch_order(told, pencilmap_json, pencilmap, tmp_path):
    file, words = tmp_path / "used", ("--network", "4:mesh", "-t", "2", "--hosts", "n{x}", "-f", "slurm")
    file.write_text("n0\nn1\nn0\nn1\nn2\nn2\nn3\n")
    out = told("check", file, *words)
    assert "7 ranks on 4 of 4 nodes, 1 to 2 on each" in out
    assert "2 ranks on other nodes than in Slurm's block order" in out and "the first is rank 1: n1, not n0" in out
    assert "--traffic FILE" in out and "--grid RxC" in out
    found = pencilmap_json.one("check", file, *words)
    assert found["ranks"] == 7 and found["ranks_on_a_node"] == [1, 2] and found["moved"] == {"tn": 2}
    file.write_text("n0\nn0\nn1\nn1\n")
    assert "each node has the same ranks as in Slurm's block order" in told("check", file, *words)
    file.write_text("n0\nn0\nn0\nn1\n")
    assert pencilmap("check", file, *words)[0] == 1


def test_map_gives_the_grid_in_the_words_of_libraries(told, pencilmap_json, tmp_path):
    words = (*MESH, *MAP, "-o", tmp_path / "hosts", "--grid", "8x2")
    assert pencilmap_json.one("map", *words)["grid_words"] == {"p_row": 2, "p_col": 8, "iproc": 8, "jproc": 2}
    assert "p_row=2, p_col=8; P3DFFT iproc=8, jproc=2" in told("map", *words)
    assert pencilmap_json.one("map", *words[:-1], "1x16")["grid_words"] == {"p_row": 16, "p_col": 1, "iproc": 1, "jproc": 16}
    assert ("one exchange among all 16 ranks: 2DECOMP&FFT p_row=1, p_col=16; P3DFFT iproc=16, jproc=1;"
            in told("map", *words[:-1], "16x1"))


@pytest.mark.parametrize("placement, is_told", [("default", True), ("default:yxt", False), ("best", False)])
def test_map_says_if_its_file_gains_nothing(pencilmap, tmp_path, placement, is_told):
    words = ("--network", "8x2", "--bandwidth", "1 GB/s", "-n", "32", "-g", "4x4", "-f", "hostfile")
    out = pencilmap("map", *words, "-p", placement, "-o", tmp_path / "hosts")[1]
    assert ("no gain: launch as before, without the file, on grid 4x4\nwrote " in out) == is_told
    assert ("\nwith the file, if you want it:\n" in out, "\nlaunch with:\n" in out) == (is_told, not is_told)


@pytest.mark.parametrize("traffic, is_told", [("0 1 9\n1 2 9\n2 3 9\n3 0 9\n", True), ("0 2 9\n1 3 9\n", False)])
def test_map_says_if_a_program_gains_nothing(pencilmap, tmp_path, traffic, is_told):
    (tmp_path / "traffic").write_text(traffic)
    out = pencilmap("map", "--network", "4:mesh", "--traffic", tmp_path / "traffic", "-f", "hostfile", "-o",
                    tmp_path / "hosts")[1]
    assert ("no gain: launch as before, without the file\nwrote " in out) == is_told
    assert ("\nwith the file, if you want it:\n" in out, "\nlaunch with:\n" in out) == (is_told, not is_told)


@pytest.mark.parametrize("most, is_told", [(1.0134, True), (1.016, False)])
def test_a_range_of_gains_up_to_1_percent_is_no_gain(monkeypatch, most, is_told):
    monkeypatch.setattr(answers, "gains", lambda *_: (0.93, most))
    best, = setting(network="4x4").predictions("4x4", ["default"])
    assert bool(answers.launch_as_before(best, answers.Launched((("", best),)))) == is_told


def test_the_faster_grid_is_the_fastest_in_either_order(told, pencilmap_json, tmp_path):
    """Blocks of r2c are smaller on 1x16 than on 16x1."""
    words = (*MESH[:2], "--fft", "64:r2c", *MESH[4:])
    rising, falling = (pencilmap_json("predict", *words, "--grid", grid)[0]["t_s"] for grid in ("1x16", "16x1"))
    assert rising < 0.99 * falling
    mapped = told("map", *words, *MAP, "--grid", "8x2", "-o", tmp_path / "hosts")
    assert re.search("grid 1x16 is [0-9]+ % faster", mapped)
    assert "grid 16x1 is" in told("map", *MESH, *MAP, "--grid", "8x2", "-o", tmp_path / "hosts")


def test_a_plan_of_slabs_is_checked_by_its_number_of_tasks(told, tmp_path):
    words = ("--network", "4x4", "--fft", "64", "--bandwidth", "1 GB/s")
    assert "take slab 16 " in told("map", *words, *MAP, "--grid", "16", "-o", tmp_path / "hosts")
    assert "16 ranks" in told("check", tmp_path / "hosts", *words, "--grid", "16")
