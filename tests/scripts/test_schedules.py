"""Schedules on the command line and in settings: tables, JSON, the joint ranking, mapfiles."""

from itertools import product as cartesian

import pytest

from pencilmap.mapper.setting import setting
from pencilmap.model.predict import predict

pytestmark = pytest.mark.usefixtures("brief_searches")

TORUS = ("--network", "4x4x4", "--bandwidth", "1 GB/s", "--fft", "64")


def test_the_member_of_the_json(pencilmap_json):
    found, = pencilmap_json("predict", *TORUS, "--grid", "4x16", "-p", "default", "--schedule", "overlap:1,2,1:z")
    assert found["schedule"] == {"name": "overlap:1,2,1:z", "chunks": 3, "axis": "z", "sizes": [1, 2, 1],
                                 "load_joint": [2, 2, 2], "t_joint_s": pytest.approx(found["t_s"] / 2),
                                 "t_s": pytest.approx(found["t_s"] * 0.75), "time_s": pytest.approx(found["t_s"] * 0.75),
                                 "total_s": None, "certificate": pytest.approx(3 / (4 / 4 + 2 * 3 / 4)),
                                 "certificate_any": 1.5}
    plain, = pencilmap_json("predict", *TORUS, "--grid", "4x16", "-p", "default")
    assert plain["schedule"]["name"] == "sequence" and plain["schedule"]["time_s"] == plain["time_s"] == found["time_s"]


def test_a_pair_has_one_line_and_its_direction_in_the_json(pencilmap, pencilmap_json):
    asked = ("predict", *TORUS, "--grid", "4x16", "-p", "default", "--schedule", "opposite", "--direction", "pair")
    found, = pencilmap_json(*asked)
    assert found["direction"] == "pair" and found["schedule"]["name"] == "opposite"
    assert found["schedule"]["t_s"] == pytest.approx(2 * found["schedule"]["t_joint_s"]) == pytest.approx(found["t_s"])
    lines = [" ".join(line.split()) for line in pencilmap(*asked)[1].splitlines()]
    assert "block order opposite (pair) 0.06554 ms nothing" in lines
    assert "nothing is faster under opposite (proved), if your code sends rows beside columns" in " ".join(lines)
    alone, = pencilmap_json("predict", *TORUS, "--grid", "4x16", "-p", "default", "--direction", "backward")
    assert (alone["direction"], alone["schedule"]["t_s"]) == ("backward", alone["t_s"])
    best = pencilmap("predict", *TORUS, "--grid", "4x16", "--direction", "pair", "--schedule", "best")[1]
    assert best.startswith("best is as fast as block order: 0.06554 ms (no range: overlapped; predicted), ")
    status, _, err = pencilmap(*asked[:-1], "sideways")
    assert status and "forward, backward, pair" in err


def test_all_grids_and_schedules_are_ranked_together(pencilmap):
    where = setting(network="4x4x4", tasks_per_node=2, bandwidth="1 GB/s", fft="64")
    found = where.predictions("best", schedule="best")
    times = [p.schedule.known_s for p in found if not p.idle_tasks]  # grids with idle tasks come last
    assert times == sorted(times)
    tried = (("best", "sequence"), ("best", "overlap:4"), ("default", "best"))
    every = [where.predict(where.place(placement, p.grid, schedule), schedule=schedule).schedule.known_s
             for p, (placement, schedule) in cartesian(found[::3], tried)]
    assert times[0] <= min(every) * (1 + 1e-9)
    assert where.grid("best", "best") == found[0].grid
    shown = pencilmap("plan", *TORUS, "-t", "2", "--schedule", "best", "-p", "best", "-e", "alltoallv")[1]
    schedule = found[0].schedule.name
    named = "" if schedule == "sequence" else f", schedule {schedule}"
    assert shown.startswith(f"Use grid {found[0].grid}{named}")


def test_a_placement_is_searched_for_its_schedule():
    where = setting(network="8x8x8")
    grid = where.grid("8x64")
    costs = {(schedule, judged): predict(where.place("best", grid, schedule), schedule=judged).schedule.cost
             for schedule, judged in cartesian(("sequence", "two-way"), repeat=2)}
    assert costs == {("sequence", "sequence"): 6, ("sequence", "two-way"): 6, ("two-way", "two-way"): 4,
                     ("two-way", "sequence"): 8}


def test_schedules_of_other_codes_are_ranked_on_request(pencilmap, tmp_path):
    words = ("map", "--network", "4x4", "--bandwidth", "1 GB/s", "--grid", "4x4", "--fft", "64", "--format", "hostfile",
             "-o", tmp_path / "a")
    usual, every = (pencilmap.said(*words, *more) for more in ((), ("--schedule", "best")))
    assert "faster about 0.14 ms if your code sends rows beside columns: --schedule best" in usual and "overlap" not in usual
    assert "overlap" in every and "pencilmap plan --decomposition pencil --schedule best " in every


def test_one_line_says_the_schedule_and_its_time_beside_the_sequence(pencilmap):
    shown = pencilmap("predict", *TORUS, "--grid", "4x16", "-p", "default", "--schedule", "two-way")[1]
    line, = [line for line in shown.splitlines() if line.startswith("block order ")]
    assert line.split() == ["block", "order", "two-way", "0.03277", "ms", "nothing"]
    assert shown.startswith("No file is needed: block order takes 0.03277 ms (no range: overlapped; predicted), ")
    assert "if your code sends rows beside columns (two-way)." in " ".join(shown.split())
    assert "two-way" not in pencilmap("predict", *TORUS, "--grid", "4x16", "-p", "default")[1]
