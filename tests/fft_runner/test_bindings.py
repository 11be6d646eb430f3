"""Fortran and Python have every function of the C headers, or say what takes its place. Both generate their declarations
from the headers; a compiler of C counts the bytes of structures, and tells the numbers.
"""

import re
import shutil
from ctypes import sizeof
from operator import attrgetter

import pytest

from tests.fft_runner.tables import SOURCE, fortran_module
from tests.fft_runner.test_install import execute

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
        source = "".join(path.read_text("utf-8") for path in (SOURCE.parent / "python" / "pencilfft").glob("*.py"))
        called = {re.sub("{.*?}", r"\\w+", text.replace("{self._kind}", "(line|brick_lines|plan|halo)"))
                  for text in re.findall(r'"((?:{self._kind}|{table}|[a-z])[\w{}]*)"', source)}
        there = {name for name in FUNCTIONS for text in called if re.fullmatch(text.removesuffix("_fortran"), name)}
        instead = IN_PYTHON
        missing = {name for name in instead.values() if not attrgetter(name)(pencilfft)}
    assert sorted(set(FUNCTIONS) - there - set(instead)) == [], f"write these for {language}"
    assert not missing and set(instead) <= set(FUNCTIONS)


def test_structures_and_numbers_are_those_of_the_compiler(tmp_path):
    header = pytest.importorskip("pencilfft", reason="NOT TESTED: the structures of the Python binding").header
    told = {f"sizeof(pencilfft_{name})": sizeof(structure) for name, structure in header.STRUCTURES.items()} | {
        f"PENCILFFT_{name}": number for name, number in header.NUMBERS.items()}
    assert len(header.STRUCTURES) == 6 and len(told) > 45
    checks = "".join(f"_Static_assert({text} == {number}, \"{text}\");\n" for text, number in told.items())
    (tmp_path / "told.c").write_text(f"#include <pencilfft.h>\n{checks}")
    execute(shutil.which("mpicc.openmpi") or "mpicc", "-c", tmp_path / "told.c", "-o", tmp_path / "told.o",
            f"-I{SOURCE.parent / 'include'}")


def test_a_declaration_that_the_headers_do_not_have_is_refused(tmp_path):
    for wrong, line in (("!@C pencilfft_forwards", "        !@C pencilfft_forward"),
                        ("!@type pencilfft_boxes", "    !@type pencilfft_box"), ("!@numbers OKAY", "    !@numbers OK")):
        shutil.copytree(SOURCE.parent, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("src", "runner"))
        source = tmp_path / "fortran" / "pencilfft.f90.in"
        source.write_text(source.read_text("utf-8").replace(f"{line}\n", f"    {wrong}\n"), "utf-8")
        with pytest.raises(AssertionError, match=f"{wrong}: there is no such"):
            execute("cmake", f"-DTO={tmp_path / 'module.f90'}", "-P", tmp_path / "fortran" / "generate.cmake")
