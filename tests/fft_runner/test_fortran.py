"""The Fortran module under two MPIs, and the structures that C, Fortran and Python share."""

import ctypes
import subprocess
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[2] / "fft_runner" / "python"


@pytest.fixture(params=["mpirun", "mpich_run"])
def start(request):
    """A launcher whose programs have the Fortran test."""
    launcher = request.getfixturevalue(request.param)
    if not (launcher.programs / "fortran_test").exists():
        pytest.skip("NOT TESTED: the Fortran module, for no Fortran compiler or MPI of Fortran was found (Debian: gfortran)")
    return launcher


@pytest.mark.parametrize("R, C", [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1)])
def test_module_works(start, R, C, tmp_path):
    done = start(R * C, R, C, tmp_path / "wisdom", program="fortran_test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["0 failures"] * (R * C)


def layouts(program, *arguments):
    """{structure: (size, offset of the first member, ...)} as a program prints them."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {name: tuple(map(int, numbers)) for name, *numbers in lines}


def layout_of(structure):
    return (ctypes.sizeof(structure), *(getattr(structure, name).offset for name, _ in structure._fields_))


def test_structures_have_the_layout_of_c_in_fortran(start):
    in_c = layouts(start.programs / "layout_test")
    assert layouts(start.programs / "fortran_test", "layout") == {"pencilfft_box": in_c["pencilfft_box"]}


def test_structures_have_the_layout_of_c_in_python(programs, monkeypatch):
    monkeypatch.syspath_prepend(PYTHON)
    pencilfft = pytest.importorskip("pencilfft")
    in_c = layouts(programs / "layout_test")
    assert in_c == {"pencilfft_box": layout_of(pencilfft._Box), "pencilfft_format": layout_of(pencilfft._Format)}
