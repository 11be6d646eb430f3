"""The Fortran module under two MPIs, and the structures and numbers that C, Fortran and Python share."""

import subprocess
from pathlib import Path

import pytest

from tests.patience import patience


@pytest.fixture(params=["mpirun", pytest.param("mpich_run", marks=pytest.mark.slow)])
def start(request):
    return with_fortran(request.getfixturevalue(request.param))


def with_fortran(launcher):
    """Skip unless the launcher's programs have the Fortran test; return the launcher."""
    if not (launcher.programs / "fortran_test").exists():
        pytest.skip("NOT TESTED: the Fortran module, for no Fortran compiler or MPI of Fortran was found (Debian: gfortran)")
    return launcher


@pytest.mark.parametrize("R, C", [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1)])
def test_module_works(mpirun, R, C, tmp_path):
    check_module(with_fortran(mpirun), R, C, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("R, C", [(2, 1), (1, 2), (2, 2), (3, 1)])
def test_module_works_under_mpich(mpich_run, R, C, tmp_path):
    check_module(with_fortran(mpich_run), R, C, tmp_path)


def check_module(start, R, C, tmp_path):
    done = start(R * C, R, C, tmp_path / "wisdom", program="fortran_test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["0 failures"] * (R * C)


def parsed(text):
    """Parse {structure: (size, offset of the first member, ...)} and {kind of names: numbers} from a program's output."""
    return {name: tuple(map(int, numbers)) for name, *numbers in (line.split() for line in text.splitlines())}


def layouts(program, *arguments):
    return parsed(subprocess.run([program, *arguments], capture_output=True, text=True,
                                 timeout=patience(60), check=True).stdout)


def test_structures_and_numbers_are_those_of_c_in_fortran(start):
    assert layouts(start.programs / "fortran_test", "layout") == layouts(start.programs / "layout_test")


def test_structures_and_numbers_are_those_of_c_in_python(programs, run_python):
    """Run in a separate process, because a process that has started MPI passes its job on to every program it starts."""
    in_c = layouts(programs / "layout_test")
    in_python = parsed(run_python(1, Path(__file__).with_name("python_layouts.py")))
    assert in_python.pop("names") == (len(in_c["pencil"]),)
    assert in_python == {name: in_c[name] for name in in_python} and len(in_python) == 7
