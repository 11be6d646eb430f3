"""No wrong access, no undefined behaviour (sanitizers), no leak of ours (valgrind). Building for it takes a minute."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from tests.fft_runner.conftest import ENVIRONMENT, SANITIZED_UNITS, check_clean
from tests.fft_runner.tables import EXCHANGES, SOURCE
from tests.patience import patience


def without_leaks(done):
    """Return the output of a program without the heads of leaks, whose first words the ranks may write over each other."""
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout, re.sub(
        r"ERROR: LeakSanitizer: detected memory leaks|AddressSanitizer: \d+ byte\(s\) leaked", "", done.stderr))


@pytest.mark.parametrize("unit", SANITIZED_UNITS)
def test_units_are_clean_under_sanitizers(sanitized_plans, unit):
    """Run the sample of every commit: index arithmetic and copies, with leaks."""
    check_clean(subprocess.run([sanitized_plans.programs / unit], capture_output=True, text=True, timeout=patience(300)))


def test_fftw_mpi_is_found_in_builds_with_sanitizers(programs, tmp_path):
    """MPI's leaks do not disable FFTW's library. A build with sanitizers finds the library if the normal build does."""
    compiler = shutil.which("mpicc.openmpi")
    feature = "PENCILFFT_HAVE_FFTW_MPI:BOOL=ON"
    if not compiler or feature not in (programs.parent / "CMakeCache.txt").read_text():
        pytest.skip("NOT TESTED: FFTW-MPI is not installed (Debian: libfftw3-mpi-dev)")
    environment = {**ENVIRONMENT, "ASAN_OPTIONS": "detect_leaks=1"}
    done = subprocess.run(["cmake", "-S", SOURCE.parent, "-B", tmp_path, f"-DMPI_C_COMPILER={compiler}",
                           "-DPENCILFFT_RUNNER=OFF", "-DPENCILFFT_FORTRAN=OFF",
                           "-DCMAKE_C_FLAGS=-fsanitize=address,undefined -fno-sanitize-recover=all"],
                          capture_output=True, text=True, timeout=patience(300), env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert feature in (tmp_path / "CMakeCache.txt").read_text()


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_plans_at_random_are_clean_under_sanitizers(sanitized_plans, ranks):
    """Run another sample of every commit. MPI leaks memory; the library frees all its memory."""
    done = sanitized_plans(ranks, 0, 99, program="known_plans_test")
    check_clean(without_leaks(done))
    assert len(done.stdout.splitlines()) == 101
    assert not re.search(r"^    #1 .*/fft_runner/(src|common)/", done.stderr, re.MULTILINE), done.stderr[-5000:]


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8])
def test_every_pair_of_choices_is_clean_under_sanitizers(sanitized, ranks):
    check_clean(sanitized(ranks, "--pairs", "--plans", 1500, program="fuzz_test", seconds=600))


@pytest.mark.slow
def test_messages_of_several_nodes_are_clean_under_sanitizers(sanitized):
    start = replace(sanitized, mpirun=("env", "PENCILFFT_RANKS_PER_NODE=2", *sanitized.mpirun))
    check_clean(start(6, "--plans", 1000, "--only", "exchange=node", program="fuzz_test"))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [
    ["--exchange", "auto", "--per-rank", "--barrier"],
    ["--type", "r2c", "--precision", "single", "--exchange", "p2p", "--in-place"],
    ["--type", "dct", "--fields", 2, "--exchange", "node", "--layout", "stride1"],
], ids=["auto", "r2c", "dct"])
def test_runner_is_clean_under_sanitizers(sanitized, tmp_path, arguments):
    check_clean(sanitized(4, "--size", 9, 8, 7, "--grid", "2x2", "--rigor", "estimate", "--reps", 2, "--verify", *arguments,
                          "--wisdom", tmp_path / "w", "--byte-matrix", tmp_path / "m.grf", "--json", tmp_path / "r.jsonl"))


@pytest.mark.slow
def test_bench_is_clean_under_sanitizers(sanitized):
    check_clean(sanitized(2, "--bytes", "16,1600", "--reps", 2, program="transpose_bench"))


def test_copies_touch_nothing_unset_and_leak_nothing(programs):
    valgrind = shutil.which("valgrind")
    if not valgrind:
        pytest.skip("NOT TESTED: valgrind is missing (Debian: valgrind)")
    lost = ("--leak-check=full", "--errors-for-leak-kinds=definite")  # possibly lost: memory of OpenMP's waiting threads
    done = subprocess.run([valgrind, "-q", "--error-exitcode=9", *lost, programs / "copy_test"],
                          capture_output=True, text=True, timeout=patience(300))
    assert done.returncode == 0, done.stderr


OURS = re.compile(r"(?:at|by) 0x\w+: (?!main )\w+ \(in .*/fuzz_test\)")  # main starts MPI, which keeps some memory
# valgrind misses writes of other ranks to shared memory after unset data of a trial
NO_TRIALS = {"node": ["--only", "rigor=estimate"]}
OPEN_MPI_LOSES_IT = "Alltoallv_init"  # data of a persistent collective, after the request is freed


@pytest.mark.slow
@pytest.mark.parametrize("exchange", [*EXCHANGES, "auto"])
def test_library_touches_nothing_unset_and_leaks_nothing(mpirun, tmp_path, exchange):
    valgrind = shutil.which("valgrind")
    if not valgrind:
        pytest.skip("NOT TESTED: valgrind is missing (Debian: valgrind)")
    done = mpirun(2, "-q", "--leak-check=full", "--show-leak-kinds=definite", f"--log-file={tmp_path}/log.%p",
                  mpirun.programs / "fuzz_test", "--plans", 900, "--only", f"exchange={exchange}",
                  *NO_TRIALS.get(exchange, ()), program=valgrind, seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    logs = list(tmp_path.glob("log.*"))
    assert len(logs) == 2
    for log in logs:
        blocks = re.split(r"==\d+== \n", log.read_text())
        assert [block for block in blocks if OURS.search(block) and OPEN_MPI_LOSES_IT not in block] == []
