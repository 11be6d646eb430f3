"""`compare --published --plot`: the table with its errors, and the picture after Fig. 8 and 9."""

import re

from pencilmap.mapper.runs.compare import compare_published


def test_no_published_exchange_is_off_by_30_percent():
    """The figures of the machine file, fitted to half of the cells, applied to all cells."""
    every = compare_published()
    rows = [row for row in every if row.stage != "total"]
    errors = [abs(row.time_s / row.measured_s - 1) for row in rows]
    assert (len(every), len(rows)) == (141, 94)
    assert max(errors) < 0.30 and sum(errors) / len(errors) < 0.10
    bound = [abs(row.t_s / row.measured_s - 1) for row in rows]
    assert max(bound) > 0.70


def test_the_picture_has_every_series_and_is_the_same_whenever_it_is_drawn(pencilmap, tmp_path):
    for name in ("a.svg", "b.svg"):
        status, out, err = pencilmap("compare", "--published", "--plot", tmp_path / name)
        assert status == 0 and f"wrote {tmp_path / name}" in out, err
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert text == (tmp_path / "b.svg").read_text("utf-8")
    for series in ("8x64 2x2x2, 1 task/node", "16x64 default, 2 tasks/node", "64x8 4x4x4, 1 task/node",
                   "bound: the link, 148 MB/s"):
        assert re.search(re.escape(series), text)
