"""Figures of answers: by hand, by brute force, as simulated, and alike in each command."""

import re
from dataclasses import replace
from itertools import product as cartesian
from math import ceil, prod
from pathlib import Path

import pytest

from pencilmap.mapper.graphs import GRAPHS
from pencilmap.mapper.runs.compare import compare_published
from pencilmap.mapper.setting import setting
from pencilmap.model.decompositions import PENCIL, SLAB
from pencilmap.model.kinds import ROUTINGS
from pencilmap.model.kinds.torus_adaptive import CHOICES
from pencilmap.model.machines.machine import machine_names
from pencilmap.model.network.torus import TIES
from pencilmap.model.placement.grid import ProcessGrid, all_grids
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.predict import predict
from pencilmap.model.predict.ranking import ranked
from pencilmap.model.times.costs import Costs
from pencilmap.scripts.command_line.documents import result_file, write_result
from tests.documents import read_result
from tests.modules import needs_simgrid

pytestmark = pytest.mark.usefixtures("brief_searches")
TORUS = ("--network", "4x4x4", "--bandwidth", "1 GB/s", "--fft", "64")


def time_of(shape):
    return min(p["total_s"] for p in shape["predictions"])


def test_shapes_for_bricks_have_their_remaps_in_the_time(pencilmap_json):
    some = ("study", "shapes", "--machine", "bluegene-l", "--nodes", "32", "--fft", "32")
    with_bricks, pencils = (pencilmap_json.one(*some, *more)["shapes"] for more in (("--decomposition", "brick:4x4x2"), ()))
    assert all("remaps" in p for shape in with_bricks for p in shape["predictions"])
    assert min(map(time_of, with_bricks)) > min(map(time_of, pencils))


def test_predict_has_the_halo_of_bricks(pencilmap_json):
    """By hand: 6 faces, 12 edges and 8 corners of 16^3; each link carries a face, four edges and four corners."""
    words = ("predict", *TORUS, "-p", "default", "--decomposition", "brick:4x4x4", "--grid", "8x8", "--halo", "2")
    found = pencilmap_json.one(*words)["halo"]
    assert found["width"] == 2 and found["stage"]["messages"] == 26
    assert found["stage"]["t_s"] == pytest.approx(16 * (2 * 16**2 + 4 * 4 * 16 + 4 * 8) / 1e9)


@needs_simgrid
def test_simulate_has_the_halo_beside_the_exchanges(pencilmap_json):
    rows = pencilmap_json("simulate", "--network", "2x4", "--bandwidth", "1 MB/s", "--fft", "13x16x9:r2c", "--grid", "2x4",
                          "--placement", "default", "--halo", "3")
    assert [row["stage"] for row in rows] == ["row", "column", "halo"]
    assert rows[-1]["measured_s"] == pytest.approx(rows[-1]["time_s"], rel=0.02)


START_S = 20e-6
NETWORK = ("--network", "4x4", "--bandwidth", "1 GB/s", "--fft", "32", "--placement", "default", "--message-cost", "20 us")
MESSAGES = {  # of a rank, by decomposition and grid: the messages of each exchange, as counted by hand
    ("pencil", "4x4"): {"row": 3, "column": 3},
    ("slab", "16"): {"slab": 15},
    ("brick:4x2x2", "4x4"): {"remap_in": 2, "row": 3, "column": 3, "remap_out": 4},
}


def words(decomposition, grid, ports):
    return (*NETWORK, "--decomposition", decomposition, "--grid", grid, "--ports", ports)


@pytest.mark.parametrize("decomposition, grid", MESSAGES, ids=str)
def test_ports_save_the_starts_of_messages_that_leave_together(pencilmap_json, decomposition, grid):
    """Bytes and links are the same, so the times differ by the starts alone."""
    by_ports = {k: pencilmap_json.one("predict", *words(decomposition, grid, k))["time_s"] for k in (1, 2, 3, 16)}
    starts = {k: sum(ceil(n / k) for n in MESSAGES[decomposition, grid].values()) for k in by_ports}
    for k, time_s in by_ports.items():
        assert by_ports[1] - time_s == pytest.approx(START_S * (starts[1] - starts[k]), abs=1e-9)


@needs_simgrid
@pytest.mark.parametrize("decomposition, grid", MESSAGES, ids=str)
@pytest.mark.parametrize("ports", [1, 3])
def test_simulated_exchanges_with_ports_take_the_predicted_time(pencilmap_json, decomposition, grid, ports):
    rows = pencilmap_json("simulate", *words(decomposition, grid, ports))
    assert [row["stage"] for row in rows] == list(MESSAGES[decomposition, grid])
    routed = ("--routing", "dimension-order:xy:parity")  # of the simulated torus
    predicted = pencilmap_json.one("predict", *words(decomposition, grid, ports), *routed)["time_s"]
    assert sum(row["time_s"] for row in rows) == pytest.approx(predicted)
    assert [row["measured_s"] for row in rows] == pytest.approx([row["time_s"] for row in rows], rel=0.003)


@needs_simgrid
def test_a_simulation_takes_the_predicted_time(pencilmap_json):
    """With messages of megabytes, latencies count little."""
    found = pencilmap_json("simulate", "--network", "2x4:twisted", "--grid", "2x4", "--fft", "128", "--bandwidth",
                           "1 GB/s", "-p", "default")
    assert [row["stage"] for row in found] == ["row", "column"]
    assert [row["t_ratio"] for row in found] == [pytest.approx(1, abs=0.002)] * 2


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


def test_all_rules_lie_between_the_cut_bound_and_each_other(pencilmap_json):
    lines = pencilmap_json("predict", "--network", "4x4x2", "-g", "4x8", "-p", "default:yzxt", "--routing", "all",
                           "--fft", "32", "--bandwidth", "1 GB/s")
    named = [p["routing"] for p in lines]
    assert named[:3] == ["any (cut bound)", "optimal-minimal", "dimension-order"]
    assert {"dimension-order:parity", "dimension-order:plus", "minimal-adaptive:hops", "minimal-adaptive:paths"} < set(named)
    times = [p["t_s"] for p in lines]
    assert times[0] <= times[1] * (1 + 1e-6) and all(times[1] <= t * (1 + 1e-6) for t in times[2:])
    assert lines[0]["certificate"] is None and lines[0]["stages"][0]["busiest"] is None and lines[0]["time_s"] is None


def test_the_document_names_every_rule_and_every_format():
    text = (Path(__file__).resolve().parents[2] / "docs" / "routing.md").read_text()
    for name in (*ROUTINGS, *GRAPHS, *TIES, *CHOICES):
        assert f"`{name}" in text or f":{name}" in text, name


@pytest.mark.parametrize("name", machine_names())
def test_one_machine_shows_every_figure_with_its_source(pencilmap, pencilmap_json, name):
    figures = pencilmap_json.one("network", "--machine", name)["figures"]
    assert all(f["source"] for f in figures.values())
    status, out, _ = pencilmap("network", "--machine", name)
    assert status == 0 and all(key in out for key in figures) and ("NO" in out) == any(not f["certain"]
                                                                                       for f in figures.values())


@pytest.mark.parametrize("size", ["8x8x8", "5x7x6", "6x4x9:r2c", "3x3x3"])
@pytest.mark.parametrize("decomposition", [PENCIL, SLAB], ids=lambda d: d.name)
def test_idle_tasks_are_counted(size, decomposition):
    """Block b of an axis is empty if it gets no plane; a task is idle if its block of some axis is empty."""
    transform = parse_transform(size)
    nx, ny, nz = transform.exchanged
    stages = ([(nx, "c"), (ny, "r")], [(nx, "c"), (nz, "r")], [(ny, "c"), (nz, "r")]) if decomposition is PENCIL else (
        [(nx, "s")], [(ny, "s")])
    for grid in all_grids(16, decomposition):
        busy = [prod(sum(b < n for b in range(grid.extent(letter))) for n, letter in stage) for stage in stages]
        assert transform.idle_tasks(grid) == 16 - min(busy) and (transform.idle_tasks(grid) == 0) == transform.fills(grid)


def test_it_is_taken_where_the_whole_transform_is_faster_by_more_than_a_tie():
    """With cheap computing the idle grid is first; with expensive computing the busy grid is first."""
    where = setting(network="4x4:mesh", tasks_per_node=4, fft="8", bandwidth="1 GB/s")
    for rate, first in ((1e15, (2, 32)), (1e7, (8, 8))):
        costly = replace(where, costs=Costs(fft_rate_per_task=rate))
        found = costly.predictions(placements=["default:nt"])
        assert found[0].grid.shape == first and not any(p.is_last for p in found)
    grids = [ProcessGrid(8, 8), ProcessGrid(2, 32)]
    tied = [replace(p, stages=found[0].stages, schedule=found[0].schedule) for p in found if p.grid in grids]
    assert [p.idle_tasks for p in ranked(tied[::-1])] == [0, 48] == [p.idle_tasks for p in ranked(tied)]


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


def test_units_and_spreads_become_columns_of_numbers(tmp_path):
    file = result_file(tmp_path / "page.md", "a b:c")
    write_result(file, ["name", ">time", ">ratio", ">share", ">mixed"],
                 [["x,y", "1.5 ms", "0.9 [0.8, 1.0]", "2.0 %", "1 ms"], ["z", "-", "-", "3.1 %", "2"]])
    assert file == tmp_path / "results" / "a-b-c.csv"
    assert read_result(file) == [
        {"name": "x,y", "time ms": "1.5", "ratio": "0.9", "ratio lowest": "0.8", "ratio highest": "1.0", "share %": "2.0",
         "mixed": "1 ms"},
        {"name": "z", "time ms": "", "ratio": "", "ratio lowest": "", "ratio highest": "", "share %": "3.1", "mixed": "2"}]


def test_a_halo_counts_under_every_rule():
    where = setting(network="dragonfly-plus:leaves=2,spines=2,hosts=2,groups=2", bandwidth="25 GB/s", fft="16", halo=1)
    placed = where.place("default", ProcessGrid(2, 4))
    halos = {found.routing: found.halo_s for found in where.predict(placed).bracket}
    assert halos == {rule: where.predict(placed, rule).halo_s for rule in halos} and len(halos) == 3 and all(halos.values())
