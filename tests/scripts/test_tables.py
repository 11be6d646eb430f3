"""The line with the recommended choice, and tables in plain text."""

import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest

from pencilmap.mapper.runs.compare import compare_published
from pencilmap.mapper.setting import setting
from pencilmap.model.predict.ranking import uncounted
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


def first_sentence(text):
    return " ".join(text.split("\n\n")[0].split()).partition(". ")[0]


CROSSBAR = "fat-tree:leaves=4,hosts=4,taper=1"


@pytest.mark.parametrize("words, said", [
    (["-p", "default", "--network", CROSSBAR, "--grid", "4x4", "--fft", "256"], "nothing is faster"),
    (["-p", "default", "--network", CROSSBAR, "--grid", "1x16", "--fft", "256"], "Placement does not matter"),
    (["-p", "default", "--network", "4x4x4", "--grid", "1x64", "--fft", "256"], "Placement does not matter"),
    (["-p", "default", "--network", "1", "-t", "8", "--grid", "2x4", "--fft", "256"], "Placement does not matter"),
    (["-p", "box:2x2x2", "--network", "8x8x8", "--grid", "8x64", "--fft", "64"], "may be no faster than"),
    (["-p", "box:2x2x2", "--machine", "bluegene-l", "--grid", "8x64", "--fft", "64"], "may be as fast as"),
    (["-p", "default", "--network", "8x8x8", "--grid", "8x64", "--fft", "256", "--message-cost", "50 us"],
     "mostly message starts, so placement hardly matters"),
    (["-p", "box:2x2x2", "--network", "8x8x8", "--grid", "8x64", "--fft", "512"], "are 1.33x faster than"),
    (["-p", "best", "--network", "16x16", "--grid", "16x16", "--fft", "512"], "is 1.33x faster than")])
def test_the_first_sentence_says_whether_placement_can_matter(pencilmap, words, said):
    """Not if all placements are alike, if messages dominate, or if measured gains include 1; but if it halves rows."""
    first = first_sentence(pencilmap("predict", *words, "--bandwidth", "1 GB/s", "--effort", "quick")[1])
    assert said in first and ("may be" in first) == ("may be" in said)


def test_a_plan_for_one_node_needs_no_file(pencilmap):
    said = pencilmap("plan", "--network", "1", "-t", "8", "--fft", "64", "--bandwidth", "1 GB/s", "--effort", "quick")[1]
    assert said.startswith("Use grid 2x4, placement does not matter: 0 ms, ") and "  write " not in said


def test_the_same_bytes_are_shown_alike_in_a_small_network_and_in_a_part_of_a_large_one(pencilmap, tmp_path):
    """Four nodes in a line: alone, and as the listed nodes of a ring of 16. Both state the unit."""
    nodes = tmp_path / "nodes"
    nodes.write_text("0\n1\n2\n3\n")
    alone, listed = (pencilmap("predict", *where, "--grid", "2x2", "-p", "default")[1]
                     for where in (("--network", "4:mesh"), ("--network", "16", "--nodes", nodes)))
    for out in (alone, listed):
        assert "1.5 times the data of a node (predicted)" in out
    assert "0 times the data of a node" in pencilmap("predict", "--network", "1", "-t", "4", "--grid", "2x2")[1]
    wide = pencilmap("predict", "--network", "16", "--nodes", nodes, "--grid", "2x2", "-p", "default", "--wide",
                     "--notes")[1]
    assert "a load of 1 with --wide is 1/16 of the array, a quarter of the data of a node" in wide and " 24 " not in wide
    timed = pencilmap("predict", "--network", "4", "--grid", "2x2", "-p", "default", "--fft", "8", "--bandwidth",
                      "1 GB/s")[1]
    assert "data of a node" not in timed


def test_a_path_that_is_wider_than_its_column_breaks_after_a_slash(capsys):
    path = "FILE=/" + "folder/" * 12 + "name"
    tables.print_table(None, ["what", "from"], [["a list", path]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80 and "".join(line[8:] for line in lines[2:]).strip() == path


def test_the_time_names_the_costs_that_it_leaves_out(pencilmap):
    asked = ("predict", "--network", "4", "--grid", "4x1", "--bandwidth", "1 GB/s", "-n", "64", "-p", "default", "--notes")
    left_out = [line.strip() for line in pencilmap(*asked)[1].splitlines() if "time: " in line]
    assert left_out == ["note    time: the exchanges; not counted, because unknown: the cost of a message, computing"]
    told = pencilmap.said(*asked, "--message-cost", "1 us")
    assert "unknown: what a node puts into the network, the start of an exchange, computing" in told
    [known] = setting(machine="bluegene-l", network="4x4x4:torus", fft="64").predictions("8x8", ["default"])
    assert not uncounted(known)
