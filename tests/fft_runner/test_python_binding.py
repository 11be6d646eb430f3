"""The Python module pencilfft on NumPy arrays, under the mpirun of the library's MPI."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_binding_agrees_with_numpy(run_python, ranks):
    assert "binding checked" in run_python(ranks, Path(__file__).with_name("python_binding_checks.py"))


@pytest.mark.parametrize("example", ["poisson", "poisson_two_ways", "transposes", "distributed_line"])
@pytest.mark.parametrize("ranks", [1, 4])
def test_examples_in_python(run_python, example, ranks):
    assert f"{example}.py: " in run_python(ranks, ROOT / "fft_runner" / "examples" / f"{example}.py")
