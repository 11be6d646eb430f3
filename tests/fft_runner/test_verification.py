"""The verification detects faulty exchanges (faulty_exchanges.c), and names the check."""

import pytest

ARGUMENTS = ["--size", 12, 10, 14, "--grid", "2x2", "--rigor", "estimate", "--reps", 1, "--warmup", 0, "--verify"]


def run_faulty(mpirun, exchange, *more):
    return mpirun(4, *ARGUMENTS, "--exchange", exchange, *more, program="fft_runner_faulty")


def test_the_faulty_runner_is_right_with_a_right_exchange(mpirun):
    done = run_faulty(mpirun, "right")
    assert done.returncode == 0 and "verification passed" in done.stdout


@pytest.mark.parametrize("exchange, exact", [("swapped", False), ("forgetful", False), ("scaled", True), ("nan", True)])
def test_wrong_data_fail_the_run_and_are_recorded(mpirun, records, one_message, tmp_path, exchange, exact):
    done = run_faulty(mpirun, exchange, "--json", tmp_path / "record.jsonl")
    assert "verification failed" in one_message(done)
    [record] = records(tmp_path / "record.jsonl")
    verify = record["verify"]
    assert not verify["passed"] and verify["moved_data_exact"] is exact
    assert verify["error_fftw"] is None or verify["error_fftw"] > verify["tolerance"]


@pytest.mark.parametrize("start", ["mpirun", pytest.param("mpich_run", marks=pytest.mark.slow)])
def test_an_mpi_error_on_one_rank_ends_all_with_one_message(request, one_message, start):
    for _ in range(3):  # MPICH's launcher dropped the message in one run of eight
        message = one_message(run_faulty(request.getfixturevalue(start), "mpi-error"))
        assert "process 1" in message and "MPI_Bcast failed" in message


def test_lack_of_memory_on_one_rank_ends_all_with_one_message(mpirun, one_message):
    assert "no memory on purpose" in one_message(run_faulty(mpirun, "out-of-memory"))
