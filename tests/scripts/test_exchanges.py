"""Bricks, halos, ports, wraps, twists and grids PxQxS in the commands: by hand, as simulated, and alike in each command."""

import json
from math import ceil

import pytest

from tests.modules import needs_simgrid

# bricks

CUBE = ("--network", "2x2x2", "--bandwidth", "1 GB/s", "--fft", "16")
BRICKS = (*CUBE, "--decomposition", "brick:2x2x2")


def test_a_mapfile_for_bricks_is_checked_with_its_remaps(pencilmap, pencilmap_json, tmp_path):
    path = tmp_path / "bricks.map"
    status, out, err = pencilmap("map", *BRICKS, "--grid", "2x4", "--placement", "default", "--format", "bgl", "-o", path)
    assert status == 0 and "of it for remaps" in " ".join(out.split()), err
    [predicted] = pencilmap_json("predict", *BRICKS, "--grid", "2x4", "--placement", "default")
    [checked] = pencilmap_json("check", path, *BRICKS, "--grid", "2x4", "--format", "bgl")
    assert [r["name"] for r in predicted["remaps"]] == ["remap_in", "remap_out"]
    assert str(predicted["time_s"]) in str(checked)


def time_of(shape):
    return min(p["total_s"] for p in shape["predictions"])


def test_shapes_for_bricks_have_their_remaps_in_the_time(pencilmap_json):
    some = ("study", "shapes", "--machine", "bluegene-l", "--nodes", "32", "--fft", "32")
    with_bricks, pencils = (pencilmap_json.one(*some, *more)["shapes"] for more in (("--decomposition", "brick:4x4x2"), ()))
    assert all("remaps" in p for shape in with_bricks for p in shape["predictions"])
    assert min(map(time_of, with_bricks)) > min(map(time_of, pencils))


# halos

TORUS = ("--network", "4x4x4", "--bandwidth", "1 GB/s", "--placement", "default")


def test_predict_has_the_halo_of_bricks(pencilmap_json, pencilmap):
    """By hand: 6 faces, 12 edges and 8 corners of 16^3; each link carries a face, four edges and four corners."""
    words = ("predict", *TORUS, "--fft", "64", "--decomposition", "brick:4x4x4", "--grid", "8x8", "--halo", "2")
    found = pencilmap_json.one(*words)["halo"]
    assert found["width"] == 2 and found["stage"]["messages"] == 26
    assert found["stage"]["t_s"] == pytest.approx(16 * (2 * 16**2 + 4 * 4 * 16 + 4 * 8) / 1e9)
    status, out, _ = pencilmap(*words)
    assert status == 0 and "halo of 2 planes" in out and "\nno range: halos not measured" in out and "62464" in out
    assert "ms (no range: halos not measured" in " ".join(out.split("\n\n")[0].split())  # the time has halos


@needs_simgrid
def test_simulate_has_the_halo_beside_the_exchanges(pencilmap_json):
    rows = pencilmap_json("simulate", "--network", "2x4", "--bandwidth", "1 MB/s", "--fft", "13x16x9:r2c", "--grid", "2x4",
                          "--placement", "default", "--halo", "3")
    assert [row["stage"] for row in rows] == ["row", "column", "halo"]
    assert rows[-1]["measured_s"] == pytest.approx(rows[-1]["time_s"], rel=0.02)


# ports

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


# wraps

PARTITION = ("--machine", "bluegene-l", "--fft", "512")


@pytest.mark.parametrize("nodes", [(), ("--nodes", "1024")])
def test_a_plan_shows_the_best_of_each_wrap(pencilmap, pencilmap_json, nodes):
    asked = ("plan", *PARTITION, *nodes, "--effort", "quick", "--top", "1", "--wrap", "both")
    torus, mesh = pencilmap_json(*asked)
    assert torus["wrap"] == [True] * 3 and mesh["wrap"] == [False] * 3 and torus["total_s"] < mesh["total_s"]
    _, out, _ = pencilmap(*asked)
    assert "The open mesh is 1." in " ".join(out.split())


# twisted

TWISTED = ["--network", "2x4:twisted", "--grid", "2x4"]


def test_best_is_the_default_placement_and_its_mapfile_is_for_jax(pencilmap, tmp_path):
    path = tmp_path / "devices.json"
    status, out, err = pencilmap("map", *TWISTED, "--format", "jax", "-o", path)
    assert status == 0 and "no placement is searched" not in out + err
    assert [len(row) for row in json.loads(path.read_text())] == [2, 2, 2, 2]
    status, out, _ = pencilmap("check", path, *TWISTED, "--notes")
    assert status == 0 and "valid   for JAX" in out


@needs_simgrid
def test_a_simulation_takes_the_predicted_time(pencilmap_json):
    """With messages of megabytes, latencies count little."""
    found = pencilmap_json("simulate", *TWISTED, "--fft", "128", "--bandwidth", "1 GB/s", "-p", "default")
    assert [row["stage"] for row in found] == ["row", "column"]
    assert [row["t_ratio"] for row in found] == [pytest.approx(1, abs=0.002)] * 2


# grids of three numbers


@pytest.mark.usefixtures("brief_searches")
def test_a_file_for_the_numbers_in_the_other_order_is_noticed(pencilmap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    question = "--machine", "fugaku", "--nodes", "2x6x2", "--fft", "128"
    assert pencilmap("map", *question, "--grid", "8x6x2", "--effort", "quick", "-o", "my.map")[0] == 0
    said = pencilmap.said("check", "my.map", *question, "--grid", "2x6x8")
    assert "check was it made for 8x6x2? There it is " in said


def test_plan_ranks_all_grids_of_bricks_if_asked(pencilmap):
    status, said, _ = pencilmap("plan", "--network", "4x4:mesh", "--decomposition", "cubic", "--fft", "16")
    assert status == 0 and "of 15 grids" in said and "three exchanges" in said
    assert "cubic" not in pencilmap("plan", "--network", "4x4:mesh", "--fft", "16")[1]
