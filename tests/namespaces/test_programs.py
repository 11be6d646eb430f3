"""Programs of others, unchanged, on a real network: the counters of all links compared with the traced traffic."""

import json
import shutil
import subprocess
import sys

import pytest

from pencilmap.model.base.units import milliseconds
from pencilmap.scripts.networks.namespaces.experiment import PROGRAMS, is_there
from tests.documents import ROOT, run_by
from tests.patience import patience

pytestmark = pytest.mark.namespaces
PENCILMAP = [sys.executable, "-c", "from pencilmap.scripts.command_line.cli import main; main()"]
ALL, TREE = run_by(__file__)


def rows_of(command, folder, timeout_s):
    shutil.copytree(ROOT / "docs", folder / "docs")
    done = subprocess.run([*PENCILMAP, *command.split()[1:], "--json"], cwd=folder, capture_output=True, text=True,
                          timeout=patience(timeout_s))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    [found] = json.loads(done.stdout)["answers"]
    return found["rows"]


def test_a_program_of_fftw_is_traced_predicted_placed_and_renumbered(namespaces, tmp_path):
    """By hand: 2x2 nodes; in each of 16 transposes 2 messages of 1/16 of the data pass each link, wherever the ranks are."""
    if not shutil.which("mpicc.openmpi"):
        pytest.skip("NOT TESTED: Open MPI is missing")
    rows = rows_of("pencilmap validate namespaces --suite programs --program fftw --network 2x2:mesh --rate 40mbit "
                   "--records runs.jsonl", tmp_path, 300)
    assert [row["placement"] for row in rows] == ["default", "best", "best, renumbered"]
    for row in rows:
        assert row["same_results"] and len(row["ratios"]) == 8
        assert row["predicted_bytes"] == pytest.approx(16 * 2 * 16 * 64**3 / 16, rel=0.01)
        assert all(abs(ratio - 1) <= 0.1 for ratio in row["ratios"]), row
    done = subprocess.run([*PENCILMAP, "report", "runs.jsonl"], cwd=tmp_path, capture_output=True, text=True)
    page = (tmp_path / "report.html").read_text() if done.returncode == 0 else done.stderr
    data = json.loads(page.split('type="application/json">')[1].split("</script>")[0])
    assert data["first"] == 0 and all(milliseconds(row["measured_s"]) in page for row in rows)


@pytest.mark.slow
def test_every_program_that_is_there(namespaces, tmp_path):
    """By the traces: LAMMPS and Quantum ESPRESSO gain on the torus."""
    there = [name for name, program in PROGRAMS.items() if is_there(program.needs[0])]
    rows = rows_of(" ".join([ALL, *(f"--program {name}" for name in there)]), tmp_path, 2000)
    assert {row["program"] for row in rows} == set(there) and all(row["holds"] for row in rows)
    busiest = {(row["program"], row["placement"]): row["predicted_bytes"] for row in rows}
    for name, before, after in (("lammps", 14.5e6, 12.5e6), ("qe", 6.2e6, 4.0e6)):
        if name in there:
            assert busiest[name, "best"] == busiest[name, "best, renumbered"] <= after < before < busiest[name, "default"]
    if missing := set(PROGRAMS) - set(there):
        pytest.skip(f"NOT TESTED: {', '.join(missing)}; Debian packages: lammps, quantum-espresso, quantum-espresso-data")


@pytest.mark.slow
def test_a_tree_of_four_leaves(namespaces, tmp_path):
    if not is_there("pw.x"):
        pytest.skip("NOT TESTED: Quantum ESPRESSO is missing (Debian: quantum-espresso quantum-espresso-data)")
    default, best, _ = rows_of(TREE, tmp_path, 900)
    assert default["holds"] and best["holds"] and best["predicted_bytes"] < 0.6 * default["predicted_bytes"]
