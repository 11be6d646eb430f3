"""The Python module pencilfft on NumPy arrays, under the mpirun of the library's MPI."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(sys.executable)


@pytest.fixture
def run_python(mpirun, programs):
    pytest.importorskip("mpi4py", reason="NOT TESTED: the Python binding, for mpi4py is missing (pip install mpi4py)")
    places = [f"PYTHONPATH={ROOT / 'fft_runner' / 'python'}",
              f"PENCILFFT_LIBRARY={programs.parent / 'lib' / 'libpencilfft.so'}"]
    env = replace(mpirun, programs=Path("/usr/bin"))

    def run(ranks, script):
        done = env(ranks, *places, "OMP_NUM_THREADS=1", PYTHON, script, program="env")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_binding_agrees_with_numpy(run_python, ranks):
    assert "binding checked" in run_python(ranks, Path(__file__).with_name("python_binding_checks.py"))


@pytest.mark.parametrize("ranks", [1, 4])
def test_poisson_example_in_python(run_python, ranks):
    assert "largest error" in run_python(ranks, ROOT / "fft_runner" / "examples" / "poisson.py")
