"""`compare --published --plot`: the table with its errors, and the picture after Fig. 8 and 9."""

import re

import pytest

from pencilmap.mapper.runs.compare import compare_published


def test_link_time_and_predicted_time_stand_side_by_side(pencilmap_json):
    rows = pencilmap_json("compare", "--published")
    for row in rows:
        if row["stage"] == "total":
            assert row["time_s"] > row["t_s"]
        else:
            assert row["time_s"] >= row["t_s"] * 0.999999
        assert row["time_ratio"] == pytest.approx(row["measured_s"] / row["time_s"])


def test_no_published_exchange_is_off_by_30_percent():
    """The figures of the machine file, fitted to half of the cells, applied to all cells."""
    rows = [row for row in compare_published() if row.stage != "total"]
    errors = [abs(row.time_s / row.measured_s - 1) for row in rows]
    assert len(rows) == 94
    assert max(errors) < 0.30 and sum(errors) / len(errors) < 0.10
    bound = [abs(row.t_s / row.measured_s - 1) for row in rows]
    assert max(bound) > 0.70


def test_the_errors_of_both_halves_are_printed(pencilmap):
    status, out, _ = pencilmap("compare", "--published")
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    held_out = next(line for line in lines if line[:2] == ["exchanges", "predicted"])
    assert held_out[2] == "47" and float(held_out[7]) < 10 and float(held_out[9]) < 30


def test_the_picture_has_every_series_and_is_the_same_whenever_it_is_drawn(pencilmap, tmp_path):
    for name in ("a.svg", "b.svg"):
        status, out, err = pencilmap("compare", "--published", "--plot", tmp_path / name)
        assert status == 0 and f"wrote {tmp_path / name}" in out, err
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert text == (tmp_path / "b.svg").read_text("utf-8")
    for series in ("8x64 2x2x2, 1 task/node", "16x64 default, 2 tasks/node", "64x8 4x4x4, 1 task/node", "bound, 148 MB/s"):
        assert re.search(re.escape(series), text)


@pytest.mark.parametrize("arguments, message", [
    (("--published", "--plot", "x.txt"), "a picture ends in"),
    (("runs.jsonl", "--plot", "x.svg"), "give --published too"),
])
def test_a_picture_that_cannot_be_drawn_is_refused_first(arguments, message, pencilmap):
    status, out, err = pencilmap("compare", *arguments)
    assert status in (1, 2) and message in " ".join(err.split()) and out == ""


def test_terms_are_printed_each(pencilmap):
    status, out, _ = pencilmap("predict", "-m", "bluegene-l", "-g", "8x64", "-p", "box:2x2x2", "-n", "256", "--terms")
    assert status == 0
    rows = [line.split("  ") for line in out[out.index("8x64 rows on 2x2x2 cubes: "):].splitlines()[1:12]]
    found = {cells[0]: next(filter(None, cells[1:]), "").strip() for cells in rows if len(cells) > 2}
    assert [found[name] for name in ("link", "contention", "injection", "start", "messages", "hops", "time")] == [
        "1.771 ms", "0 ms", "2.672 ms", "0.04427 ms", "0.04886 ms", "-", "2.765 ms"]


def test_terms_need_times(pencilmap):
    status, _, err = pencilmap("predict", "-m", "bluegene-l", "-g", "8x64", "--terms")
    assert status in (1, 2) and "give --fft" in err
