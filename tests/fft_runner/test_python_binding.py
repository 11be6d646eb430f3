"""The Python module pencilfft on NumPy arrays, under the mpirun of the library's MPI."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_binding_agrees_with_numpy(run_python, ranks):
    assert "binding checked" in run_python(ranks, Path(__file__).with_name("python_binding_checks.py"))


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_calls_that_differ_are_errors_on_all_ranks_where_they_are_compared(run_python, ranks):
    assert "calls compared" in run_python(ranks, Path(__file__).with_name("python_check_calls.py"))


def test_who_waits_for_a_rank_without_a_plan_ends_the_job_after_so_many_seconds(start_python):
    done = start_python(2, Path(__file__).with_name("python_lost_plan.py"))
    assert done.returncode != 0 and "null plan or buffer" in done.stdout
    assert "rank 0 has waited 2 s in Plan.forward for ranks" in done.stderr, done.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize("example", ["poisson", "poisson_two_ways", "transposes", "distributed_line"])
@pytest.mark.parametrize("ranks", [1, 4])
def test_examples_in_python(run_python, example, ranks):
    assert f"{example}.py: " in run_python(ranks, ROOT / "fft_runner" / "examples" / f"{example}.py")
