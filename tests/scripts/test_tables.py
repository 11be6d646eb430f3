"""The line with the recommended choice, and tables in plain text."""

import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest

from pencilmap.mapper.runs.compare import compare_published
from pencilmap.mapper.setting import setting
from pencilmap.model.times.expected import expected_gain
from pencilmap.scripts.command_line import tables
from pencilmap.scripts.command_line.answers import Answer, Launched, launched
from pencilmap.scripts.command_line.comparisons import agreement, claims_answer, decided_in_tie

WHERE = setting(network="8x8x8", bandwidth="148 MB/s", fft="256")


def test_the_sentence_compares_with_the_launchers_order():
    cubes, lines = WHERE.predictions("8x64", ["box:2x2x2", "default"])
    launch = launched(WHERE, cubes)
    [(_, found)] = launch.orders
    name = launch.title
    assert name == "block order" and found.t_s == lines.t_s
    said = Answer(cubes, launch)
    assert said.first("my.map") == (f"my.map is 1.33x faster than {name} (1.11x to 1.36x): {1e3 * cubes.t_s:.3f} ms "
                                    "(5.3 to 15; predicted).")
    assert said.bound == f"at most {cubes.certificate:.2f}x more is possible (proved)"
    slower = Answer(replace(lines, placement="plane"), replace(launch, orders=((name, cubes),)))
    assert slower.first("plane").startswith(f"plane is 1.33x slower than {name} (1.31x to 1.61x): ")
    slow, = setting(network="8x8x8", bandwidth="74 MB/s", fft="256").predictions("8x64", ["default"])
    halved = Answer(replace(lines, placement="f"), replace(launch, orders=((name, slow),)))
    assert halved.first("f").startswith(f"f is 2.00x faster than {name} (1.66x")
    other = Answer(replace(lines, placement="line"), launch)
    assert other.first("line").startswith(f"line is as fast as {name}: ") and "1.68x" in other.bound
    best = replace(lines, placement="best")
    assert Answer(best, launch, effort="normal").no_file().endswith(f"the search found nothing 1.01x faster than {name}.")
    for effort in ("", "quick"):
        assert "the search found" not in Answer(best, launch, effort=effort).no_file()


def test_the_sentence_says_where_no_placement_is_better():
    where = setting(network="4x4x4", bandwidth="1 GB/s", fft="64")
    best, = where.predictions("4x16", ["best"])
    assert Answer(best).bound == "no placement is faster (proved)"
    alone, = where.predictions("1x64", ["best"])
    assert Answer(alone).bound == "all placements are alike (proved)"


def compared(source, placement, measured_s, time_s=2e-3, **more):
    """Return an exchange, otherwise as published."""
    return replace(published(), **{"source": source, "placement": placement, "measured_s": measured_s, "time_s": time_s,
                                   "order": "x fastest" if placement == "default" else "",
                                   "name": "order XYZT" if placement == "default" else "rows on 2x2x2 cubes", **more})


@cache
def published():
    return next(c for c in compare_published() if c.stage == "row")


def test_the_line_of_measured_times_says_what_was_fastest_and_how_near_the_prediction_was():
    lines, cubes = compared("a:1", "default", 3e-3), compared("a:2", "box:2x2x2", 2e-3, 1.5e-3)
    said = agreement([lines, cubes])
    assert said == ("Rows on 2x2x2 cubes are 1.50x faster than order XYZT (x fastest): exchanges of 2.000 ms; "
                    "predicted 1.33x; measured times are 1.333 to 1.500 times the predicted ones")
    assert agreement([lines, replace(cubes, grid="16x32")]).startswith("measured times are"), "grids differ"
    assert agreement([lines]) == "measured times are 1.500 times the predicted ones"
    same = agreement([lines, replace(cubes, measured_s=3.01e-3)])
    assert "order XYZT (x fastest) and rows on 2x2x2 cubes took the same" in same
    far = compared("a:3", "line", 1.2e-3, time_s=4e-3, stage="column")
    assert "furthest is the column exchange of" in agreement([lines, cubes, far])
    assert agreement([replace(lines, time_s=None)]) == "" and agreement([replace(lines, stage="total")]) == ""


def test_the_line_of_claims_names_the_first_that_does_not_hold():
    good, bad = ("as predicted", (4, 0.999, 1.001, True)), ("faster", (2, 1.1, 1.2, False))
    assert claims_answer([good]) == "every claim holds: 1, of 4 times in all"
    assert claims_answer([good, bad]) == "1 of 2 claims do NOT hold: faster; found 1.100 to 1.200"


def test_messages_and_their_bytes_are_shown_and_named_where_they_decide(pencilmap, pencilmap_json):
    """8x64 of 256^3: 7 messages of 2^24 16 / 512 / 8 bytes to the row, 63 an eighth as large to the column."""
    asked = ("predict", "-m", "bluegene-l", "-g", "8x64", "-n", "256", "-p", "default")
    row, column = pencilmap_json(*asked)[0]["stages"]
    assert [(s["messages"], round(s["message_bytes"], 6)) for s in (row, column)] == [(7, 65536), (63, 8192)]
    assert re.search(r" 7 +65536 .*\n.* 63 +8192 ", pencilmap(*asked, "--wide")[1])
    few, many, slow, idle = (SimpleNamespace(grid=grid, order=(False, time), worth=time, n_messages=n, idle_tasks=idle)
                             for grid, time, n, idle in (("8x64", 1.005, 70, 0), ("1x512", 1.0, 511, 0),
                                                         ("2x256", 1.2, 256, 0), ("512", 1.0, 60, 9)))
    assert decided_in_tie(few, [many, few, slow]) == (
        "8x64 comes first because it is within 1 % of 1x512, in 70 messages of each task in place of 511")
    assert decided_in_tie(many, [many, few, slow]) == ""
    assert decided_in_tie(few, [few, idle]) == (
        "8x64 comes first because it is within 1 % of 512, with fewer idle tasks")


@pytest.mark.parametrize("columns, rows", [
    (["a"], []), (["a", ">b"], [["1", "2"], ["", "222"]]), (["torus", ">tasks/\nnode", ">"], [["8x8x8\n\n4", "1", "x y"]]),
    (["long name", ">b", "c"], [["[b]bold[/b]", "µ\n-", ""], ["two  spaces", "1\n22\n333", "end"]])])
def test_plain_tables_are_those_of_rich(columns, rows):
    assert tables.plain_table(columns, rows) == tables._drawn(columns, rows)
    assert tables.plain_table(["wide", "b"], [["x" * 500, "1"]]) is None is tables.plain_table(["a"], [["\u4e2d"]])


@pytest.mark.parametrize("tasks, grid, size, sure", [(1, "8x64", "256", False), (2, "16x64", "512", True)])
def test_a_ratio_that_may_be_1_is_not_called_a_gain(tasks, grid, size, sure):
    """For cubes over lines on Blue Gene/L, whose file has the range of measured over predicted times."""
    where = setting(machine="bluegene-l", fft=size, tasks_per_node=tasks)
    cubes, lines = where.predictions(grid, ["box:2x2x2", "default"])
    low, high = (end * lines.time_s / cubes.time_s for end in expected_gain("torus", 512, 1024, 512).range)
    assert (low > 1) == sure and high > 1  # computing takes the same time, so the whole transform is as sure
    said = Answer(cubes, Launched((("lines", lines),), title="lines"))
    assert ("may be no faster than lines" in said.first("cubes")) == (not sure)
    assert ("x faster than lines (1." in said.first("cubes")) == sure
    unknown = Answer(cubes.without_range("a reason"), Launched((("lines", lines),), title="lines"))
    assert "x faster than lines: " in unknown.first("cubes") and "(no range: a reason; predicted)" in unknown.first("cubes")


def test_a_path_that_is_wider_than_its_column_breaks_after_a_slash(capsys):
    path = "FILE=/" + "folder/" * 12 + "name"
    tables.print_table(None, ["what", "from"], [["a list", path]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80 and "".join(line[8:] for line in lines[2:]).strip() == path
