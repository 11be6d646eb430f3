"""Memory that runs out at any place on one rank: the same failure on all, one message, nothing half-written, no hang."""

import re
from dataclasses import replace

import pytest

EXCHANGES = {"alltoallv", "alltoall", "padded", "alltoallw", "p2p", "pipelined", "persistent", "node", "fftw", "auto"}
TYPES = {"c2c", "r2c", "c2r", "dct", "dst", "chebyshev", "empty"}
ARGUMENTS = ["--size", 6, 5, 4, "--grid", "2x1", "--rigor", "estimate", "--reps", 2, "--verify", "--per-rank",
             "--label", "a=b", "--machine-torus", "2x1", "--mapfile", "demo.map", "--wisdom", "wisdom",
             "--byte-matrix", "matrix.grf", "--json", "record.jsonl"]
INPUT, OUTPUT = {"demo.map"}, {"wisdom", "matrix.grf", "record.jsonl"}


@pytest.mark.parametrize("start, R, C", [("mpirun", 1, 1), ("mpirun", 2, 1), ("mpirun", 2, 2), ("mpich_run", 2, 1)])
def test_library_fails_on_all_ranks_and_keeps_its_wisdom(request, tmp_path, start, R, C):
    done = request.getfixturevalue(start)(R * C, R, C, tmp_path / "wisdom", program="memory_failures_test")
    assert done.returncode == 0, done.stdout + done.stderr
    tried = set(re.findall(r"(\w+): \d+ of \d+ calls failed it", done.stdout))
    assert tried | {"fftw"} == EXCHANGES | TYPES | {"save", "load"}  # not every MPI has fftw
    assert [path.name for path in tmp_path.iterdir()] == ["wisdom"]


def run_short(mpirun, folder, rank, allocation):
    """Run with that allocation failing; whether it was one that exists."""
    for path in folder.iterdir():
        path.unlink()
    (folder / "demo.map").write_text("0 0 0\n1 0 0\n")
    start = replace(mpirun, mpirun=("env", f"PENCILFFT_FAILING_RANK={rank}", f"PENCILFFT_FAILING_ALLOCATION={allocation}",
                                    *mpirun.mpirun))
    done = start(2, *ARGUMENTS, program="fft_runner_out_of_memory", cwd=folder)
    return done, "allocations made: " not in done.stderr


def check(done, folder, one_message, records):
    written = {path.name for path in folder.iterdir()} - INPUT
    assert written <= OUTPUT, "something is left behind"
    if done.returncode == 0:  # of the checks one may be left out, which is then said
        [record] = records(folder / "record.jsonl")
        assert "serial FFTW not done: no memory" in record["verify"]["note"] and written == OUTPUT
        return
    message = one_message(done)
    assert "no memory" in message or "FFTW made no plan" in message
    if "record.jsonl" in written:
        assert (folder / "record.jsonl").read_text() == ""


@pytest.mark.parametrize("rank, stride", [(0, 31), (1, 13), pytest.param(0, 2, marks=pytest.mark.slow),
                                          pytest.param(1, 1, marks=pytest.mark.slow)])
def test_runner_fails_as_one(mpirun, one_message, records, tmp_path, rank, stride):
    allocation, failed = 0, True
    while failed:
        done, failed = run_short(mpirun, tmp_path, rank, allocation)
        if failed:
            check(done, tmp_path, one_message, records)
        allocation += stride
    assert done.returncode == 0 and allocation > 3 * stride, "without a failure it succeeds"
