"""All mappings of the paper's Table 1 on the simulated torus, on demand: ``scripts/test --slow -k table_1_simulated``."""

import shutil

import pytest

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(not shutil.which("smpirun"), reason="SimGrid is missing; scripts/setup installs it")]


@pytest.mark.parametrize("grid, placement", [("8x64", "default"), ("8x64", "box:2x2x2"), ("64x8", "default"),
                                             ("64x8", "box:4x4x4")])
def test_simulated_times_are_within_two_percent_of_the_bound(grid, placement, pencilmap_json):
    rows = pencilmap_json("simulate", "--machine", "bluegene-l", "--grid", grid, "--placement", placement, "--fft", "256")
    assert [r["stage"] for r in rows] == ["row", "column"]
    for row in rows:
        assert 0.999 <= row["t_ratio"] <= 1.02, row
