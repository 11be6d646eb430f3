"""The C, C++ and Fortran programs of this folder that check themselves: under two MPIs and, with --slow, under sanitizers.

Other files have the programs whose output tells what they have checked.
"""

import re
import subprocess

import pytest

from tests.fft_runner.conftest import check_clean
from tests.patience import patience


def rows(program, quick, slow=(), mpich=(), sanitized=()):
    """Yield a case for each "RANKS ARGUMENT ..."; all but the first list run with --slow alone."""
    for start, lines, often in (("mpirun", quick, True), ("mpirun", slow, False), ("mpich_run", mpich, False),
                                ("sanitized", sanitized, False)):
        for line in lines:
            yield pytest.param(start, program, line, id=f"{program} {line} {start}", marks=[] if often else pytest.mark.slow)


@pytest.mark.parametrize("start, program, line", [
    *rows("plan_test", ["1 1 1", "2 2 1", "3 1 3", "4 2 2", "6 3 2"], sanitized=["2 2 1", "4 2 2", "3 3 1"]),
    *rows("plan_memory_test", ["2"]),  # input, output and work are three arrays, in place two, also if untouched
    *rows("failures_test", [], sanitized=[f"{grid} memory FOLDER/wisdom" for grid in ("2 2 1", "4 2 2", "3 3 1")]),
    *rows("threads_test", ["1 1 1", "2 1 2"]),
    *rows("auto_test", ["4 2 2"], slow=["6 3 2"]),
    *rows("cxx_test", ["1", "3"], slow=["4"], mpich=["1", "3", "4"], sanitized=["1", "3", "4"]),
    *rows("fortran_test", ["1 1 1 FOLDER/wisdom", "2 2 1 FOLDER/wisdom", "2 1 2 FOLDER/wisdom", "4 2 2 FOLDER/wisdom",
                           "3 3 1 FOLDER/wisdom"],
          mpich=["2 2 1 FOLDER/wisdom", "2 1 2 FOLDER/wisdom", "4 2 2 FOLDER/wisdom", "3 3 1 FOLDER/wisdom"])])
def test_programs(request, tmp_path, start, program, line):
    launch = request.getfixturevalue(start)
    if not (launch.programs / program).exists():
        pytest.skip(f"NOT TESTED: {program}, for this machine has no compiler for it (Debian: g++ gfortran)")
    ranks, *words = line.replace("FOLDER", str(tmp_path)).split()
    done = launch(int(ranks), *words, program=program, seconds=300)
    check_clean(done)
    assert re.findall(r"^(\d+) failures$", done.stdout, re.MULTILINE) == ["0"] * int(ranks), done.stdout + done.stderr
    if "NOT TESTED" in done.stdout:
        pytest.skip(done.stdout.splitlines()[0])


def test_c_units(programs):
    """The units that need no MPI: CMakeLists.txt lists them."""
    done = subprocess.run(["ctest", "--output-on-failure", "--no-tests=error"], cwd=programs.parent, capture_output=True,
                          text=True, timeout=patience(300))
    assert done.returncode == 0, done.stdout
