"""Fortran and Python have every function of the C headers, or say what takes its place, and C's structures and numbers."""

import re
import subprocess
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_void_p
from operator import attrgetter
from pathlib import Path

import pytest

from tests.fft_runner.tables import SOURCE, fortran_module
from tests.patience import patience

HEADERS = "\n".join((SOURCE.parent / "include" / f"{name}.h").read_text("utf-8") for name in ("pencilfft", "pencilfft_line"))
FUNCTIONS = sorted({name.removeprefix("pencilfft_") for name in re.findall(
    r"^[a-z][\w ]*?[ *](pencilfft_\w+)\(", HEADERS, re.MULTILINE)})
KINDS = ("", "line_", "brick_lines_")
#: Functions that a language need not have, and what takes their place.
IN_FORTRAN = {
    **{f"{kind}desc_init{of}": f"{kind}create" if kind else "plan_create" for kind in KINDS for of in ("", "_bytes")},
    **dict.fromkeys(("desc_new", "desc_free", *(f"desc_set_{of}" for of in ("integer", "real", "text", "box"))),
                    "plan_create"),
    "error_message": "message", "plan_print": "plan_text"}
IN_PYTHON = {
    **{f"{kind}desc_init{of}": plan for kind, plan in zip(KINDS, ("Plan", "LinePlan", "BrickLinesPlan"), strict=True)
       for of in ("", "_bytes")}, "alloc": "Plan.empty",
    "alloc_elements": "Plan.buffer_bytes", "box_mine": "Plan.part", "box_of": "Plan.part_of", "forward": "Plan.forward",
    "backward": "Plan.backward", "plan_print": "Plan.__str__", "exchanges": "Plan.exchanges", "phases": "Plan.phase_seconds",
    "line_exchanges": "LinePlan.exchanges", "brick_lines_exchanges": "BrickLinesPlan.exchanges",
    "line_phases": "LinePlan.phase_seconds", "brick_lines_phases": "BrickLinesPlan.phase_seconds",
    "line_index": "LinePlan.indices", "brick_lines_index": "BrickLinesPlan.indices",
    "walk_begin": "Plan.waves", "walk_next": "Plan.waves"}


def test_names_on_the_page_of_other_libraries_exist():
    page = (SOURCE.parents[1] / "docs" / "other-libraries.md").read_text("utf-8")
    known = HEADERS + fortran_module()
    assert [name for name in set(re.findall(r"pencilfft_\w+", page)) if not re.search(rf"\b{name}\b", known)] == []
    python = pytest.importorskip("pencilfft", reason="NOT TESTED: the functions of the Python binding")
    called = set(re.findall(r"`(?:[^`]*\b)?plan\.(\w+)", page)) - {"make"}  # of C++
    assert len(called) > 10 and [name for name in called if not hasattr(python.Plan, name)] == []


def test_the_headers_are_read():
    assert {"plan_create", "phase_name", "wisdom_forget", "line_execute", "brick_lines_phase_seconds"} < set(FUNCTIONS)


@pytest.mark.parametrize("language", ["Fortran", "Python"])
def test_every_function_of_c_is_there(language):
    if language == "Fortran":
        there = {name for line in re.findall(r"^ *public :: (.*)$", fortran_module(), re.MULTILINE)
                 for name in re.findall(r"pencilfft_(\w+)", line)}
        instead = IN_FORTRAN
        missing = set(instead.values()) - there
    else:
        pencilfft = pytest.importorskip("pencilfft", reason="NOT TESTED: the functions of the Python binding")
        there, instead = {name.removesuffix("_fortran") for name in pencilfft.library.SIGNATURES}, IN_PYTHON
        missing = {name for name in instead.values() if not attrgetter(name)(pencilfft)}
    assert sorted(set(FUNCTIONS) - there - set(instead)) == [], f"write these for {language}"
    assert not missing and not set(instead) & there and set(instead) <= set(FUNCTIONS)


def kind_of(argument):
    """Return the kind of an argument of C or of ctypes: how it is passed, and to what a pointer points if that is told."""
    base, stars = re.fullmatch(r"(?:const )?(?:struct )?(\w+) (\**)\w*(?:\[\d*\])?", argument).groups()
    to = {"int": c_int, "int64_t": c_int64, "double": c_double, "MPI_Fint": c_int, "pencilfft_direction": c_int,
          "pencilfft_norm": c_int}.get(base)
    return {c_char_p} if base == "char" and stars == "*" else {POINTER(to), c_void_p} if to and (stars or "[" in argument) \
        else {to} if to else None


def test_arguments_in_python_are_those_of_the_headers():
    library = pytest.importorskip("pencilfft", reason="NOT TESTED: the functions of the Python binding").library
    prototypes = (SOURCE.parent / "fortran" / "handles.c").read_text("utf-8").partition("\n\n/* MPI would")[0]
    text = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", HEADERS + prototypes, flags=re.DOTALL))
    for name, arguments in library.SIGNATURES.items():
        [told] = re.findall(rf"[ *]pencilfft_{name}\(([^)]*)\);", text)
        expected = [] if told == "void" else [kind_of(one) for one in told.split(", ")]
        assert len(arguments) == len(expected), name
        for argument, kinds in zip(arguments, expected, strict=True):
            pointer = argument is c_void_p or hasattr(argument, "contents")
            assert argument in kinds if kinds else pointer, (name, argument)


def parsed(text):
    """Parse {structure: (size, offset of the first member, ...)} and {kind of names: numbers} from a program's output."""
    return {name: tuple(map(int, numbers)) for name, *numbers in (line.split() for line in text.split("\n") if line)}


def layouts(program):
    return parsed(subprocess.run([program, "layout"], capture_output=True, text=True, timeout=patience(60),
                                 check=True).stdout)


@pytest.mark.parametrize("mpi", ["mpirun", pytest.param("mpich_run", marks=pytest.mark.slow)])
def test_structures_and_numbers_are_those_of_c_in_fortran(request, mpi):
    programs = request.getfixturevalue(mpi).programs
    if not (programs / "fortran_test").exists():
        pytest.skip("NOT TESTED: the Fortran module, for no Fortran compiler or MPI of Fortran was found (Debian: gfortran)")
    assert layouts(programs / "fortran_test") == layouts(programs / "ask_test")


def test_structures_and_numbers_are_those_of_c_in_python(programs, run_python):
    """Run in a separate process, because a process that has started MPI passes its job on to every program it starts."""
    in_c = layouts(programs / "ask_test")
    in_python = parsed(run_python(1, Path(__file__).with_name("python_checks.py"), "layouts"))
    assert in_python == {name: in_c[name] for name in in_python} and len(in_python) == 7 and len(in_c["pencil"]) == 8
