"""Commands on twisted tori: predicted, written for JAX, checked, drawn; and what is refused."""

import json

TWISTED = ["--torus", "2x4:twisted", "--grid", "2x4"]


def test_best_is_the_default_placement_and_its_mapfile_is_for_jax(pencilmap, tmp_path):
    path = tmp_path / "devices.json"
    status, out, err = pencilmap("map", *TWISTED, "--format", "jax", "-o", path)
    assert status == 0 and "no placement is searched" not in out + err
    assert [len(row) for row in json.loads(path.read_text())] == [2, 2, 2, 2]
    status, out, _ = pencilmap("check", path, *TWISTED)
    assert status == 0 and "valid for JAX" in out


def test_twisted_tori_are_drawn_in_the_terminal_alone(pencilmap, tmp_path):
    _, image, _ = pencilmap("draw", *TWISTED, "-p", "default")
    _, loads, _ = pencilmap("draw", *TWISTED, "-p", "default", "--what", "loads")
    assert "row 0: 2 ranks on 2 nodes" in image and "+x" in loads and "-x" in loads
    for what in ("image", "loads"):
        status, _, err = pencilmap("draw", *TWISTED, "-p", "default", "--what", what, "-o", tmp_path / "a.svg")
        assert status and "has twists, which no file shows" in err


def test_a_simulation_is_refused_in_a_sentence(pencilmap):
    status, _, err = pencilmap("simulate", *TWISTED, "--fft", "8", "--bandwidth", "1 GB/s", "-p", "default")
    assert status and "twisted torus 2x4:twisted has twists" in err


def test_a_machine_lists_its_twisted_partitions(pencilmap):
    out = pencilmap("network", "--machine", "tpu-v4", "--nodes", "128")[1]
    assert "4x4x8:twisted" in out.splitlines() and "twisted are 4x4x8, 4x8x8" in " ".join(out.split())
    assert "twisted" not in pencilmap("network", "--machine", "bluegene-l", "--nodes", "1024")[1]
