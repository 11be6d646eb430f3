"""Commands on twisted tori: predicted, written for JAX, checked, drawn, simulated."""

import json
import shutil

import pytest

needs_simgrid = pytest.mark.skipif(not shutil.which("smpirun"),
                                   reason="NOT TESTED: SimGrid is missing; scripts/setup installs it")
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


def test_a_machine_file_gives_the_twists(pencilmap_json, pencilmap, tmp_path):
    (tmp_path / "mine.toml").write_text("""
name = "mine"
title = "a twisted torus"
shape = {value = "2x3x4", source = "our wiki, Network", certain = true}
twists = {value = [[0, 2, 3], [0, 0, 1], [0, 0, 0]], source = "our wiki, Cables", certain = true}
tasks_per_node = {value = 1, source = "our wiki, Nodes", certain = true}
link_bandwidth = {value = "1 GB/s", source = "our wiki, Network", certain = true}
""")
    asked = ("--grid", "4x6", "-p", "default", "--fft", "48")
    by_file = pencilmap_json.one("predict", "--machine", tmp_path / "mine.toml", *asked)
    by_text = pencilmap_json.one("predict", "--network", "2x3x4:twist=xy2,xz3,yz1", "--bandwidth", "1 GB/s", *asked)
    assert by_file["torus"] == by_text["torus"] == "2x3x4:twist=xy2,xz3,yz1"
    assert by_file["t_s"] == by_text["t_s"] > 0
    assert "0 2 3" in pencilmap("network", "--machine", tmp_path / "mine.toml")[1]
