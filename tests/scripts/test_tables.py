"""Tables in terminals of 80, 100 and 140 columns, and the line that says what to take."""

import re
from dataclasses import replace

import pytest
from rich.console import Console

from pencilmap.mapper.setting import setting
from pencilmap.scripts.command_line import tables
from pencilmap.scripts.command_line.answers import answer, launchers_order

COMMANDS = {
    "grids": ("predict", "-m", "bluegene-l", "-n", "512"),
    "placements": ("predict", "-m", "bluegene-l", "-g", "8x64", "-n", "256", "-p", "default", "-p", "box:2x2x2",
                   "-p", "digits:x=r2c4,y=r2c4,z=r2c4"),
    "schedules": ("predict", "--torus", "4x4x4", "--bandwidth", "1 GB/s", "-n", "128", "--schedule", "best"),
    "routings": ("predict", "--torus", "4x4", "--bandwidth", "1 GB/s", "-g", "4x4", "-n", "64", "-p", "default",
                 "--routing", "all"),
    "no times": ("predict", "--torus", "4x4x4x4x4", "-t", "4", "-g", "64x64", "-p", "default"),
    "published": ("compare", "--published"),
    "shapes": ("shapes", "-N", "512", "-d", "3", "--bandwidth", "2 GB/s", "-n", "512", "--top", "4"),
    "scaling": ("shapes", "-N", "512,1024", "-m", "bluegene-l", "-n", "512", "--scaling", "weak"),
}


@pytest.fixture
def printed(pencilmap, monkeypatch):
    """Lines that a command prints in a terminal of some columns, without colours."""
    def run(width, command):
        monkeypatch.setattr(tables, "console", lambda stderr=False: Console(
            stderr=stderr, highlight=False, force_terminal=True, width=width, _environ={}))
        status, out, _ = pencilmap(*command)
        assert status == 0
        return re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()

    return run


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_fits_its_terminal_with_words_whole(printed, name, width):
    lines, wide = (printed(columns, COMMANDS[name]) for columns in (width, 400))
    assert max(map(len, lines)) <= width
    assert re.findall(r"[^\s─]+", "\n".join(lines)) == re.findall(r"[^\s─]+", "\n".join(wide))


def test_wide_prints_lengths_loads_and_bounds(pencilmap):
    asked = ("predict", "-m", "bluegene-l", "-g", "8x64", "-n", "512", "-p", "box:2x2x2")
    wide, narrow = pencilmap(*asked, "--wide")[1], pencilmap(*asked)[1]
    for heading in ("m row", "load column", "busiest links", "lower bound", "row at best"):
        assert heading in wide and heading not in narrow
    assert re.search(r"8x64 +box:2x2x2 +2 2 2 +4 4 4 +2 2 2 +4 4 4 +6 ", wide)


def test_grids_that_only_swap_rows_and_columns_share_a_line(pencilmap):
    shown = pencilmap("predict", "--torus", "4x4x4", "--bandwidth", "1 GB/s", "-n", "64")[1]
    assert len(re.findall(r"^2x32, 32x2 ", shown, re.MULTILINE)) == 1
    uneven = pencilmap("predict", "--torus", "8x2", "--bandwidth", "1 GB/s", "-n", "16x64x64", "-p", "line:x")[1]
    assert "8x2, 2x8" not in uneven


WHERE = setting(torus="8x8x8", bandwidth="148 MB/s", fft="256")


def test_the_line_compares_with_the_launchers_order():
    cubes, lines = WHERE.predictions("8x64", ["box:2x2x2", "default"])
    assert launchers_order(WHERE, cubes).t_s == lines.t_s
    said = answer([lines, cubes], lines)
    assert said.startswith(f"take 8x64 box:2x2x2: exchanges {1e3 * cubes.t_s:.3f} ms, 1.33 times faster than the launcher's")
    assert f"at most {tables.from_optimal(cubes.certificate)}" in said
    assert "slower than the launcher's order" in answer([replace(lines, placement="plane")], cubes)
    assert "the launcher's own order" in answer([lines], lines)
    assert "as fast as the launcher's order" in answer([replace(lines, placement="line")], lines)


def test_the_line_names_the_first_of_the_list(pencilmap):
    """Grids within 1 % of the fastest are listed by their messages; the line follows the list."""
    lines = pencilmap("predict", "--torus", "4x4x4", "-t", "2", "--bandwidth", "1 GB/s", "-n", "64")[1].splitlines()
    first = lines[next(i for i, line in enumerate(lines) if line.startswith("─")) + 1]
    assert lines[-1].startswith(f"take {first.split()[0].rstrip(',')} ")


def test_the_line_says_where_no_placement_is_better():
    best, = setting(torus="4x4", bandwidth="1 GB/s", fft="64").predictions("1x16", ["best"])
    assert answer([best]).endswith("and no placement of this grid has less busy links")


def test_a_large_routed_order_is_not_compared_with():
    holes = setting(torus="24x24x24", failed="0-0-0", idle=True)
    assert launchers_order(holes, holes.predictions("16x512", ["default"])[0]) is None
