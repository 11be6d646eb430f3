"""`--decomposition line` in predict, simulate and validate."""


import pytest

from pencilmap.model.lines import ALGORITHMS
from pencilmap.scripts.command_line.documents import result_file
from pencilmap.scripts.networks import validation
from pencilmap.scripts.networks.validation import (
    MOST_RANKS,
    BrickCase,
    LineCase,
    brick_cases,
    line_cases,
    validate_bricks,
    validate_lines,
)
from tests.documents import ROOT, read_result, run_by
from tests.modules import needs_simgrid

DOCUMENT = ROOT / "docs" / "distributed-lines.md"
LINE = ("--network", "4x4", "--bandwidth", "1 GB/s", "--decomposition", "line", "--placement", "default")
BRICKS = (*LINE[:4], "--placement", "default", "--decomposition", "brick:2x2x4", "--fft", "12x8x16")


def test_predict_says_what_a_line_takes_and_where_the_break_even_is(pencilmap_json):
    found = pencilmap_json.one("predict", *LINE, "--message-cost", "2 us", "--size", 16 * 512, "--algorithm", "binary4",
                               "--order", "transposed")
    assert [(s["name"], s["messages"]) for s in found["stages"]] == [("stage_1", 3), ("stage_2", 3)]
    assert found["time_s"] == pytest.approx(sum(s["time_s"] for s in found["stages"]))
    assert (found["time_range_s"], found["unmeasured"]) == (None, "distributed lines not measured")
    evens = {e["algorithm"]: e for e in found["break_evens"]}
    assert evens["binary4"]["crossbar"] == pytest.approx(2e-6 * (2 * 15 - 6) / (16e-9 * (6 - 2)))  # as on the slides
    n = evens["binary4"]["routed"]
    below, above = (pencilmap_json.one("predict", *LINE, "--message-cost", "2 us", "--size", 16 * round(n * factor),
                                       "--order", "transposed")["times_s"] for factor in (0.9, 1.1))
    assert below["binary4"] < below["transpose"] and above["binary4"] > above["transpose"]


def test_predict_routes_every_message_of_bricks(pencilmap_json):
    """By hand: the ranks of lines are rings of 4 nodes, on which a whole block passes each link in either stage."""
    words = ("--network", "4x4", "--bandwidth", "1 GB/s", "--decomposition", "brick:4x4x1", "--fft", "32x16x1",
             "--message-cost", "2 us", "--placement", "default")
    found = pencilmap_json.one("predict", *words, "--algorithm", "binary2", "--order", "transposed")
    assert found["size"] == [32, 16, 1] and found["bricks"] == [4, 4, 1] and found["break_evens"] == []
    block = 16 * 32 * 16 / 16  # bytes of a rank
    for stage, links in zip(found["stages"], (1, 1, 1, 1), strict=True):  # a ring of 4: both stages load a link with a block
        assert (stage["messages"], stage["sent_bytes"], stage["link_bytes"]) == (1, 16 * block, links * block)
        assert stage["time_s"] == pytest.approx(2e-6 + links * block / 1e9)
    assert set(found["times_s"]) == set(ALGORITHMS)
    found = pencilmap_json.one("predict", *words[:-5], "31x16x1:single", "--algorithm", "dft", "--placement", "default")
    assert set(found["times_s"]) == {"transpose", "dft", "dft-reduce"}
    assert found["stages"][0]["sent_bytes"] == 3 * 8 * 31 * 16


@needs_simgrid
def test_simulate_runs_and_verifies_bricks(pencilmap_json):
    rows = pencilmap_json("simulate", *BRICKS[:-1], "48x32x64:single:fields=2", "--algorithm", "transpose", "--verify")
    assert [row["stage"][:2] for row in rows] == ["z_"] * 3 + ["y_"] * 3 + ["x_"] * 3
    assert all(row["measured_s"] == pytest.approx(row["time_s"], rel=0.05) for row in rows)


@needs_simgrid
def test_exchanges_of_bricks_take_what_was_predicted():
    [row] = validate_bricks([BrickCase("4x4:mesh", "transpose", 0.0, "natural", bricks=(2, 4, 2), size=(64, 48, 12))], 300)
    assert row.holds and row.messages == row.messages_sent and len(row.messages) == 9
    assert all(0.999 < ratio < 1.005 for ratio in row.ratios)


@needs_simgrid
def test_runs_that_cases_share_or_the_records_hold_are_not_simulated_again(tmp_path, monkeypatch):
    cases, records = [LineCase("16", f"binary{r}", 2e-6) for r in (2, 4)], tmp_path / "lines.jsonl"
    first = validate_lines(cases, 300, records)
    assert len(records.read_text().splitlines()) == 6  # two runs of transposes, of the same sizes in both cases
    monkeypatch.setattr(validation, "simulate_all", lambda *arguments, **options: pytest.fail("simulated again"))
    assert validate_lines(cases, 300, records) == first


@needs_simgrid
def test_a_simulated_break_even_is_near_the_predicted_one():
    [row] = validate_lines([LineCase("16", "binary2", 2e-6, crossbar=True)], 300)
    assert row.ratio == pytest.approx(1, rel=0.03) and row.holds and row.formula == pytest.approx(1625)


@pytest.mark.slow
@needs_simgrid
def test_the_command_of_the_document_holds_and_fills_its_table(tmp_path, monkeypatch, pencilmap):
    """Up to 256 ranks, because 1024 ranks take a quarter of an hour."""
    [command] = run_by(__file__)
    assert "--at-most 1024" in command
    command = command.replace("1024", str(MOST_RANKS))
    copy = tmp_path / "docs" / DOCUMENT.name
    copy.parent.mkdir()
    copy.write_text(DOCUMENT.read_text("utf-8").replace("| yes |", "| no |"), "utf-8")
    monkeypatch.chdir(tmp_path)
    pencilmap.out(*command.split()[1:])
    assert "| no |" not in copy.read_text("utf-8")
    found, kept = (rows_of(each, "break-evens") for each in (copy, DOCUMENT))
    assert found == [row for row in kept if int(row["ranks"]) <= MOST_RANKS]
    assert rows_of(copy, "bricks") == rows_of(DOCUMENT, "bricks")


def rows_of(page, name):
    """Return the rows of a result file of suite lines, next to a page."""
    return read_result(result_file(page, f"validate simulated lines {name}"))


def test_the_result_files_have_every_case_as_it_is_predicted():
    rows = rows_of(DOCUMENT, "break-evens")
    columns = ("network", "ranks", "algorithm", "order", "n* formula", "n* predicted")
    assert [[row[name] for name in columns] for row in rows] == [
        [case.name, str(case.ranks), case.algorithm, case.order, f"{case.formula():.0f}", f"{case.break_even():.0f}"]
        for case in line_cases(1024)]
    bricks = rows_of(DOCUMENT, "bricks")
    assert [row["network"] for row in bricks] == [case.name for case in brick_cases()]
    assert all(row["messages"] == row["sent"] for row in bricks)
    assert {row["holds"] for row in (*rows, *bricks)} == {"yes"}
