"""Tasks against threads: the table of docs/what-to-run.md, simulated again."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "what-to-run.md"
ROWS = re.findall(r"^\| (\d+) \| (\d+) \| (0\..*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)


def test_the_table_has_every_division_of_eight():
    assert [(int(tasks), int(threads)) for tasks, threads, _ in ROWS] == [(8, 1), (4, 2), (2, 4), (1, 8)]


@pytest.mark.slow
@pytest.mark.parametrize("tasks, numbers", [(tasks, numbers) for tasks, _, numbers in ROWS])
def test_the_table_of_tasks_or_threads_comes_out_again(pencilmap_json, tasks, numbers):
    shown = [float(number) for number in numbers.split(" | ")]
    for cost, expected in (([], shown[:3]), (["--message-cost", "2 us"], shown[3:])):
        row, = pencilmap_json("simulate", "--network", "4x4", "--bandwidth", "1 GB/s", "--tasks-per-node", tasks,
                              "--fft", "64", "--decomposition", "slab", "--grid", str(16 * int(tasks)),
                              "--placement", "default", *cost)
        predicted, measured = row["time_s"], row["measured_s"]
        assert [1e3 * predicted, 1e3 * measured, measured / predicted] == pytest.approx(expected, abs=6e-4)
