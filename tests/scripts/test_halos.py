"""`--halo` in predict; test_validate.py tests the suite of halos, tests/fft_runner/test_halo.py the halos of the runner."""

import shutil

import pytest

TORUS = ("--network", "4x4x4", "--bandwidth", "1 GB/s", "--placement", "default")


def test_predict_has_the_halo_of_bricks(pencilmap_json, pencilmap):
    """By hand: 6 faces, 12 edges and 8 corners of 16^3; each link carries a face, four edges and four corners."""
    words = ("predict", *TORUS, "--fft", "64", "--decomposition", "brick:4x4x4", "--grid", "8x8", "--halo", "2")
    found = pencilmap_json.one(*words)["halo"]
    assert found["width"] == 2 and found["stage"]["messages"] == 26
    assert found["stage"]["t_s"] == pytest.approx(16 * (2 * 16**2 + 4 * 4 * 16 + 4 * 8) / 1e9)
    status, out, _ = pencilmap(*words)
    assert status == 0 and "halo of 2 planes" in out and "62464" in out


@pytest.mark.skipif(not shutil.which("smpirun"), reason="NOT TESTED: SimGrid is missing; scripts/setup installs it")
def test_simulate_has_the_halo_beside_the_exchanges(pencilmap_json):
    rows = pencilmap_json("simulate", "--network", "2x4", "--bandwidth", "1 MB/s", "--fft", "13x16x9:r2c", "--grid", "2x4",
                          "--placement", "default", "--halo", "3")
    assert [row["stage"] for row in rows] == ["row", "column", "halo"]
    assert rows[-1]["measured_s"] == pytest.approx(rows[-1]["time_s"], rel=0.02)
