"""The two commands for a new user. The main run is 512 simulated ranks on 8x8x8: default order and cubes, verified.
Then lines with both exchanges at once are compared with cubes in sequence on 8x8x2."""

import json
import re
import subprocess

import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.scripts.command_line.commands import demo as study
from tests.documents import ROOT, run_by
from tests.mapper.run_records import record
from tests.patience import patience

M = {("default", "row"): 4, ("default", "column"): 4, ("box:2x2x2", "row"): 2, ("box:2x2x2", "column"): 4}

DEMO, TEST = run_by(__file__)


@pytest.fixture(scope="module")
def installed():
    missing = subprocess.run([ROOT / "scripts" / "setup", "--missing"], capture_output=True, text=True).stdout.strip()
    if missing:
        pytest.skip(f"NOT TESTED: scripts/demo and scripts/test, for scripts/setup would install {missing}")


@pytest.fixture(scope="module")
def demo(tmp_path_factory, installed):
    """The result of the first command of the README: folder, JSON, tables."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run([*DEMO.split(), "-o", folder], cwd=ROOT, capture_output=True, text=True, timeout=patience(600))
    assert done.returncode == 0, done.stderr
    return folder, json.loads((folder / "demo.json").read_text()), done.stdout


def test_all_tables_are_printed_with_the_times_of_the_model(pencilmap, monkeypatch, tmp_path):
    """In place of the simulation, which takes a minute; its answers are tested at night."""
    def run(where, network, grid, text, schedule, verify):
        made = record(as_mapping(where.place(text, grid, schedule), text), where.transform, where.costs,
                      {"machine": "bluegene-l", "placement": text})
        return [made | {"schedule": schedule}]

    monkeypatch.setattr(study, "simulation_of", run)
    monkeypatch.setattr(study, "simulate_all", lambda runs, json_path: runs)
    status, out, err = pencilmap("study", "demo", "-o", tmp_path)
    assert status == 0 and re.findall(r"^(\d)\. ", out, re.MULTILINE) == list("12345"), err
    assert re.search(r"^Cubes are 1\.1\dx faster than the order XYZT: .*\nPredicted 1\.33x\. On Blue Gene/L 1\.11x was "
                     r"measured, and 1\.10x is predicted\.\Z", out.rstrip(), re.MULTILINE), "the verdict ends it"
    found = json.loads((tmp_path / "demo.json").read_text())
    assert found["speedup"]["t_s"] == pytest.approx(8 / 6) and [run["joint"] for run in found["at_once"]] == [4, 6, 4, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["box-2x2x2.map", "default.map", "demo.json"]


@pytest.mark.slow  # a second collection of all tests
def test_the_second_command_finds_all_tests(installed):
    """The command also runs all tests; here the command only lists the tests: one test of every file."""
    done = subprocess.run([*TEST.split(), "--collect-only", "-q"], cwd=ROOT, capture_output=True, text=True,
                          timeout=patience(600))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    files = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert files >= {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}
    assert {"model/network/torus.py", "mapper/runs/compare.py", "scripts/documents.py"} & files, "no doctests"


@pytest.mark.slow
def test_the_readme_shows_what_it_prints(demo):
    """The times and the gain of the verdict, and the gain on the real machine."""
    page = (ROOT / "README.md").read_text("utf-8")
    lines = [line for line in page.splitlines() if "rows before columns |" in line]
    rows = {line.split(",")[0].strip("| "): line.split("|")[3:5] for line in lines}
    cubes, order = (rows[name] for name in ("rows on 2x2x2 cubes", "the launch order"))
    gain = cubes[1].strip()
    first, second = demo[2].rstrip().splitlines()[-2:]
    assert first == f"Cubes are {gain} faster than the order XYZT: {cubes[0].strip()} simulated, not {order[0].strip()}."
    assert "1.11x was measured, and 1.10x is predicted" in second and "exchanges were 1.11 times faster" in page


@pytest.mark.slow
def test_simulated_exchanges_are_within_two_percent_of_the_bound(demo):
    rows = demo[1]["comparison"]
    assert {(r["placement"], r["stage"]) for r in rows} == set(M)
    for row in rows:
        bound = M[row["placement"], row["stage"]] * 16 * 256**3 / (4 * 512 * 148e6)
        assert row["measured_s"] == pytest.approx(bound, rel=0.02), row


@pytest.mark.slow
def test_lines_with_both_exchanges_at_once_beat_cubes_in_sequence_and_reach_the_bound(demo):
    """On the m scale 8 and 6 in sequence, (4 + 7 4 + 4) / 8 in chunks, 4 two ways, which is the bound."""
    runs, unit = demo[1]["at_once"], 16 * 128**3 / (4 * 128 * 148e6)
    assert [(run["placement"], run["schedule"], run["joint"]) for run in runs] == [
        ("default", "sequence", 4), ("box:2x2x2", "sequence", 6), ("default", "overlap:8:x", 4),
        ("default", "two-way:64", 4)]
    for run, m in zip(runs, (8, 6, 4.5, 4)):
        assert (run["t_s"], run["bound_s"]) == pytest.approx((m * unit, 4 * unit))
        assert run["measured_s"] == pytest.approx(run["t_s"], rel=0.02)
