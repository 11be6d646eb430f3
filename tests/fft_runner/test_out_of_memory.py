"""Memory that runs out anywhere on one rank: all ranks fail with one message, nothing half-written, no hang."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.fft_runner.tables import EXCHANGES, SCHEDULES, TYPES

ARGUMENTS = ["--size", 6, 5, 4, "--grid", "2x1", "--rigor", "estimate", "--reps", 2, "--verify", "--per-rank",
             "--label", "a=b", "--machine-torus", "2x1", "--mapfile", "demo.map", "--wisdom", "wisdom",
             "--byte-matrix", "matrix.grf", "--json", "record.jsonl"]
NEVER = 10**9
LINES = [f"line-{name}" for name in ("transpose", "binary2", "binary4", "dft", "dft-reduce")]
INPUT, OUTPUT = {"demo.map"}, {"wisdom", "matrix.grf", "record.jsonl"}


@pytest.mark.parametrize("start, R, C, stride", [("mpirun", 1, 1, 1), ("mpirun", 2, 1, 5), *(
    pytest.param(*each, 1, marks=pytest.mark.slow) for each in (("mpirun", 2, 1), ("mpich_run", 2, 1), ("mpirun", 2, 2)))])
def test_library_fails_on_all_ranks_and_keeps_its_wisdom(request, tmp_path, start, R, C, stride):
    done = request.getfixturevalue(start)(R * C, R, C, "memory", tmp_path / "wisdom", stride, program="failures_test")
    assert done.returncode == 0, done.stdout + done.stderr
    tried = set(re.findall(r"([\w-]+): \d+ of \d+ calls failed it", done.stdout))
    schedules = {name.replace("_", "-") for name in SCHEDULES} - {"sequence"}
    assert tried | {"fftw"} == {*EXCHANGES, *TYPES, *schedules, "auto", "halo", *LINES, "bricks-of-lines", "save",
                                     "load"}  # not all have fftw
    assert [path.name for path in tmp_path.iterdir()] == ["wisdom"]


def run_short(mpirun, folder, rank, allocation):
    """Run in a new folder, with this allocation failing."""
    folder.mkdir()
    (folder / "demo.map").write_text("0 0 0\n1 0 0\n")
    start = replace(mpirun, mpirun=("env", f"PENCILFFT_FAILING_RANK={rank}", f"PENCILFFT_FAILING_ALLOCATION={allocation}",
                                    *mpirun.mpirun))
    return start(2, *ARGUMENTS, program="fft_runner_out_of_memory", cwd=folder)


def check(done, folder, one_message, records):
    written = {path.name for path in folder.iterdir()} - INPUT
    assert written <= OUTPUT, "something is left behind"
    if done.returncode == 0:  # one check may be left out, with a message
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
    """Run several cases at a time: most of a failed run is a wait for the launcher to read the message."""
    whole = run_short(mpirun, tmp_path / "whole", rank, NEVER)
    assert whole.returncode == 0, whole.stderr
    [made] = re.findall(r"allocations made: (\d+)", whole.stderr)
    assert int(made) > 3 * stride

    def fails_as_one(allocation):
        folder = tmp_path / str(allocation)
        check(run_short(mpirun, folder, rank, allocation), folder, one_message, records)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(fails_as_one, range(0, int(made), stride)))
