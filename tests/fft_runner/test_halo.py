"""Halos around bricks, pencils and any boxes (halo_test.c), all compared exactly; the bindings have their own tests."""

import pytest


@pytest.mark.parametrize("program", ["halo_test", "halo_test_small_counts"])
@pytest.mark.parametrize("ranks, cases", [
    (1, 12), (5, 24), *(pytest.param(n, 240, marks=pytest.mark.slow) for n in (2, 3, 6, 12))])
def test_halos_at_random(mpirun, ranks, cases, program):
    """In number modulo 4 order pencils, bricks, slabs and boxes at random come, modulo 3 complex, halved and real arrays."""
    done = mpirun(ranks, 1, cases, program=program, seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_halos_at_random_under_mpich(mpich_run):
    done = mpich_run(3, 2, 4, program="halo_test", seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr
