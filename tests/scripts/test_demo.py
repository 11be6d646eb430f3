"""The main job: 512 simulated ranks on 8x8x8, default order against 2x2x2 cubes, verified inside the run."""

import json
import shutil

import pytest

pytestmark = pytest.mark.skipif(not shutil.which("smpirun"), reason="SimGrid is missing; scripts/setup installs it")

M = {("default", "row"): 4, ("default", "column"): 4, ("box:2x2x2", "row"): 2, ("box:2x2x2", "column"): 4}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run([sys.executable, "-c", "from pencilmap.scripts.cli import main; main()", "demo", "--json", "-o", folder],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_simulated_exchanges_are_within_two_percent_of_the_bound(demo):
    rows = demo[1]["comparison"]
    assert {(r["placement"], r["exchange"]) for r in rows} == set(M)
    for row in rows:
        bound = M[row["placement"], row["exchange"]] * 16 * 256**3 / (4 * 512 * 148e6)
        assert row["measured_s"] == pytest.approx(bound, rel=0.02), row


def test_the_transform_was_verified_inside_the_simulation(demo):
    records = [json.loads(line) for line in (demo[0] / "records.jsonl").read_text().splitlines()]
    assert len(records) == 2
    for record in records:
        assert record["verify"]["passed"] and record["verify"]["moved_data_exact"]
        assert record["verify"]["error_fftw"] is not None and record["verify"]["error_direct"] < record["verify"]["tolerance"]


def test_every_rank_sat_where_its_mapfile_says(demo):
    folder, _ = demo
    for line, name in zip((folder / "records.jsonl").read_text().splitlines(), ("default.map", "box-2x2x2.map")):
        placement = json.loads(line)["placement"]
        assert placement["coordinate_source"] == "hostname"
        where = [[*r["coordinate"], r["slot"]] for r in sorted(placement["ranks"], key=lambda r: r["rank"])]
        assert where == [[int(w) for w in line.split()] for line in (folder / name).read_text().splitlines()]


def test_cubes_beat_the_default_as_predicted(demo):
    assert demo[1]["speedup"]["predicted"] == pytest.approx(8 / 6)
    assert demo[1]["speedup"]["simulated"] == pytest.approx(8 / 6, rel=0.02)
