"""Plans on one communicator share the library's communicators (communicators_test.c), under two MPIs."""

import pytest


@pytest.mark.parametrize("ranks", [1, 3])
def test_plans_share_communicators(mpirun, ranks):
    done = mpirun(ranks, 200, 200, program="communicators_test")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_2000_plans_are_alive_at_once_under_mpich(mpich_run):
    """An MPICH has 2048 communicators."""
    done = mpich_run(2, 2000, 200, program="communicators_test")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("start", ["mpirun", pytest.param("mpich_run", marks=pytest.mark.slow)])
def test_threads_run_plans_at_once(request, start):
    done = request.getfixturevalue(start)(2, 0, 200, program="communicators_test")
    assert done.returncode == 0, done.stdout + done.stderr
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip("NOT TESTED: threads at once, for this MPI has no MPI_THREAD_MULTIPLE")
