"""Fortran and Python have every function of the C headers, or say what takes its place, and C's structures and numbers."""

import re
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from operator import attrgetter

import pytest

from tests.fft_runner.tables import SOURCE, fortran_module

HEADERS = "\n".join((SOURCE.parent / "include" / f"{name}.h").read_text("utf-8") for name in ("pencilfft", "pencilfft_line"))
FUNCTIONS = sorted({name.removeprefix("pencilfft_") for name in re.findall(
    r"^[a-z][\w ]*?[ *](pencilfft_\w+)\(", HEADERS, re.MULTILINE)})
KINDS = ("", "line_", "brick_lines_")
#: Functions that a language need not have, and what takes their place.
IN_FORTRAN = {
    **{f"{kind}desc_init{of}": f"{kind}create" if kind else "plan_create" for kind in KINDS for of in ("", "_bytes")},
    **dict.fromkeys(("desc_new", "desc_free", *(f"desc_set_{of}" for of in ("integer", "real", "text", "box"))),
                    "plan_create"),
    "error_message": "message", "halo_create_walls": "halo_create", "plan_print": "plan_text"}
IN_PYTHON = {
    **{f"{kind}desc_init{of}": plan for kind, plan in zip(KINDS, ("Plan", "LinePlan", "BrickLinesPlan"), strict=True)
       for of in ("", "_bytes")}, "alloc": "Plan.empty",
    "alloc_elements": "Plan.buffer_bytes", "box_mine": "Plan.part", "box_of": "Plan.part_of", "forward": "Plan.forward",
    "backward": "Plan.backward", "plan_print": "Plan.__str__", "exchanges": "Plan.exchanges", "phases": "Plan.phase_seconds",
    "line_exchanges": "LinePlan.exchanges", "brick_lines_exchanges": "BrickLinesPlan.exchanges",
    "line_phases": "LinePlan.phase_seconds", "brick_lines_phases": "BrickLinesPlan.phase_seconds",
    "line_index": "LinePlan.indices", "brick_lines_index": "BrickLinesPlan.indices",
    "halo_create": "Plan.halo",
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


CODE = re.sub(r"/\*.*?\*/", "", HEADERS, flags=re.DOTALL)
FORTRAN_TYPES = {"integer(c_int)": "int", "integer(c_int64_t)": "int64_t", "integer(c_size_t)": "size_t",
                 "real(c_double)": "double", "type(pencilfft_box)": "box", "type(pencilfft_part)": "part",
                 "type(pencilfft_plan)": "plan"}


def members(declarations):
    """Return (name, type, length) of the members in pairs of a type and names such as ``n(3), start``."""
    return [(name, kind, int(length or 1)) for kind, names in declarations
            for name, length in re.findall(r"(\w+)(?:[\[(](\d+)[\])])?", names)]


def structures_of_c():
    found = re.findall(r"typedef struct \{(.*?)\} pencilfft_(\w+);", CODE, re.DOTALL)
    return {name: [(member, "int" if kind == "line_kind" else kind, length) for member, kind, length in members(
        re.findall(r"(?:pencilfft_)?(\w+) ([^;]+);", body))] for body, name in found if "*" not in body}


def enumerated():
    """Return {name: number} of the enumerators of C."""
    numbers = {}
    for body in re.findall(r"enum \{(.*?)\}", CODE, re.DOTALL):
        number = -1
        for name, _, expression in (one.strip().partition(" = ") for one in body.split(",") if one.strip()):
            numbers[name] = number = eval(expression, {}, numbers) if expression else number + 1
    return {name.removeprefix("PENCILFFT_").lower(): number for name, number in numbers.items()}


def test_structures_and_numbers_are_those_of_c_in_fortran():
    module, in_c = fortran_module(), structures_of_c()
    types = re.findall(r"type, bind\(C\), public :: pencilfft_(\w+).*?\n(.*?)end type", module, re.DOTALL)
    in_fortran = {name: members([(FORTRAN_TYPES[kind], names) for kind, names in re.findall(
        r"^ *(\w+\(\w+\)).* :: (.*)$", body, re.MULTILINE)]) for name, body in types if "handle" not in body}
    assert in_fortran == {name: in_c[name] for name in in_fortran} and len(in_fortran) == 6
    parameters = "".join(re.findall(r"parameter, public ::((?:.*&\n)*.*\n)", module))
    numbers = {re.sub("^(kind|direction)_", "", name): int(number)
               for name, number in re.findall(r"pencilfft_(\w+) = (-?\d+)", parameters)}
    assert numbers == {name: number for name, number in enumerated().items() if name in numbers} and len(numbers) > 40


def test_structures_and_numbers_are_those_of_c_in_python():
    python = pytest.importorskip("pencilfft", reason="NOT TESTED: the structures of the Python binding")
    in_c, numbers = structures_of_c(), enumerated()
    names = {c_int: "int", c_int64: "int64_t", c_size_t: "size_t", c_double: "double", python.library._Box: "box"}
    for name, structure in (("box", "_Box"), ("part", "_Part"), ("grid_trial", "_GridTrial"), ("format", "_Format"),
                            ("line", "_Line")):
        fields = getattr(python.library, structure)._fields_
        assert [(member, names[getattr(kind, "_type_", None) if hasattr(kind, "_length_") else kind],
                 getattr(kind, "_length_", 1)) for member, kind in fields] == in_c[name], name
    queries = python.queries
    told = {"forward": python.FORWARD, "backward": python.BACKWARD, "before": python.BEFORE, **python.boxes.ENDS,
            **queries.REMAPS, **{f"norm_{name}": number for name, number in zip(
                ("none", "n", "sqrt_n"), python.library.NORMS.values(), strict=True)},
            **{f"line_{name}": number for number, name in enumerate(queries.LINE_KINDS)},
            **{name: number for number, name in enumerate(queries.PHASE_KINDS)}, "omp_threads": python.plan.OMP_THREADS}
    assert told == {name: numbers[name.replace(" ", "_")] for name in told}
