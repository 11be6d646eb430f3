"""Grids PxQxS in every command: the same times, the grid in its words, and refusals in a sentence."""

import pytest

pytestmark = pytest.mark.usefixtures("brief_searches")

QUESTION = ("--machine", "fugaku", "--nodes", "4x6x4", "--fft", "250")
GRID = ("--grid", "8x6x8")


def test_commands_agree_on_a_grid_of_three_numbers(pencilmap, pencilmap_json, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, said, err = pencilmap("map", *QUESTION, *GRID, "-o", "my.map")
    assert status == 0 and "Grid 8x6x8 (three exchanges): at most" in said, err
    of_file, launch = pencilmap_json("predict", *QUESTION, *GRID, "-p", "my.map", "-p", "default")
    checked, = pencilmap_json("check", "my.map", *QUESTION, *GRID)
    assert checked["predictions"][0]["total_s"] == of_file["total_s"]
    assert of_file["total_s"] < launch["total_s"] and [stage["name"] for stage in launch["stages"]] == [
        "x-line", "y-line", "z-line"]
    points = 32 * 42 * 4, 32 * 42 * 6, 32 * 6 * 32  # 250/8, 250/6 and 250/8 planes, then 32/8, 32/6 and 42/8, rounded up
    assert [round(stage["message_bytes"]) for stage in launch["stages"]] == [16 * n for n in points]
    status, said, _ = pencilmap("report", *QUESTION, *GRID, "--effort", "quick", "-o", "page.html")
    assert status == 0 and "Grid 8x6x8 (three exchanges)" in said


def test_a_file_for_the_numbers_in_the_other_order_is_noticed(pencilmap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    question = "--machine", "fugaku", "--nodes", "2x6x2", "--fft", "128"
    assert pencilmap("map", *question, "--grid", "8x6x2", "--effort", "quick", "-o", "my.map")[0] == 0
    said = " ".join(pencilmap("check", "my.map", *question, "--grid", "2x6x8")[1].split())
    assert "check was it made for 8x6x2? There it is " in said


def test_plan_ranks_all_grids_of_bricks_if_asked(pencilmap):
    status, said, _ = pencilmap("plan", "--network", "4x4:mesh", "--decomposition", "cubic", "--fft", "16")
    assert status == 0 and "of 15 grids" in said and "three exchanges" in said
    assert "cubic" not in pencilmap("plan", "--network", "4x4:mesh", "--fft", "16")[1]
