"""The Fortran module under two MPIs, and the structures and numbers that C, Fortran and Python share."""

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
    """{structure: (size, offset of the first member, ...)} as a program prints them; {kind of names: their numbers}."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {name: tuple(map(int, numbers)) for name, *numbers in lines}


def layout_of(structure):
    return (ctypes.sizeof(structure), *(getattr(structure, name).offset for name, _ in structure._fields_))


def test_structures_and_numbers_are_those_of_c_in_fortran(start):
    in_c = layouts(start.programs / "layout_test")
    del in_c["pencilfft_format"]  # which Fortran does not know
    assert layouts(start.programs / "fortran_test", "layout") == in_c


def test_structures_and_numbers_are_those_of_c_in_python(programs, monkeypatch):
    monkeypatch.syspath_prepend(PYTHON)
    pencilfft = pytest.importorskip("pencilfft")
    in_c = layouts(programs / "layout_test")
    assert in_c["pencilfft_box"] == layout_of(pencilfft._Box)
    assert in_c["pencilfft_format"] == layout_of(pencilfft._Format)
    assert in_c["direction"] == (pencilfft.FORWARD, pencilfft.BACKWARD)
    pencils = ("z", "y", "x", "input", "output")
    assert in_c["pencil"] == tuple(map(pencilfft.PENCILS.get, pencils)) and len(pencilfft.PENCILS) == len(pencils)
    assert in_c["exchange"] == tuple(map(pencilfft.EXCHANGES.get, ("row", "column")))
