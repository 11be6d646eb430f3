"""Write the wrappers of all functions of an MPI library that take a communicator: wrappers.py OUTPUT COMPILER [OPTION...]

The compiler reads the installed mpi.h, so that each function has its parameters in this MPI, and functions of this MPI alone
are included. A wrapper replaces MPI_COMM_WORLD and calls the next function of its name.
"""

from __future__ import annotations  # for the Python that CMake finds

import re
import subprocess
import sys
from collections.abc import Sequence

BY_HAND = {
    "Abort",  # ends the processes of the real MPI_COMM_WORLD, in any order
    "Comm_c2f", "Comm_toint",  # a handle stays a handle; the functions that get it replace it
    "Attr_get", "Comm_get_attr",  # world.c
    "Comm_set_errhandler", "Errhandler_get", "Errhandler_set",
    "Comm_spawn", "Comm_spawn_multiple",
    "Cart_create", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent",  # topologies.c
}
HEADERS = """#include <mpi.h>
#if defined OPEN_MPI && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
"""


def preprocessed(compiler: Sequence[str]) -> str:
    """Return the text of mpi.h behind the preprocessor."""
    return subprocess.run([*compiler, "-E", "-P", "-x", "c", "-"], input=HEADERS, text=True, capture_output=True,
                          check=True).stdout


def without_attributes(text: str) -> str:
    """Return a text without __attribute__((...)), whose parentheses may be nested."""
    parts = re.split(r"__attribute__\s*(?=\()", text)
    return parts[0] + "".join(part[_end(part):] for part in parts[1:])


def _end(text: str) -> int:
    """Return the position behind the parenthesis that a text opens with."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return at + 1
    raise SystemExit("mpi.h: a parenthesis is not closed")


def functions(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return {name: [(declaration, name) of each parameter]} of the functions that take a communicator, without P in front.

    >>> functions("int PMPI_X(const int n[], MPI_Comm comm); int MPI_Y(MPI_Comm *comm); int MPI_Abort(MPI_Comm c, int n);")
    {'MPI_X': [('const int n[]', 'n'), ('MPI_Comm comm', 'comm')]}
    """
    found = {}
    for name, parameters in re.findall(r"\bint\s+P?(MPIX?_\w+)\s*\(([^;{}]*)\)\s*;", without_attributes(text)):
        words = [" ".join(parameter.split()) for parameter in parameters.split(",")]
        if name.split("_", 1)[1] not in BY_HAND and any(map(is_communicator, words)):
            found[name] = [(word, re.findall(r"\w+", word.partition("[")[0])[-1]) for word in words]
    return found


def is_communicator(parameter: str) -> bool:
    """Return whether a parameter is a communicator by value.

    >>> is_communicator("MPI_Comm comm"), is_communicator("MPI_Comm *comm")
    (True, False)
    """
    return re.fullmatch(r"(const )?MPI_Comm \w+", parameter) is not None


def wrapper(name: str, parameters: Sequence[tuple[str, str]]) -> str:
    """Return the definition of a wrapper. The header of MPICH lacks some names with P, so each is declared again.

    >>> print(wrapper("MPI_X", [("int n", "n"), ("MPI_Comm comm", "comm")]), end="")
    SHOWN int MPI_X(int n, MPI_Comm comm);
    int MPI_X(int n, MPI_Comm comm)
    {
        NEXT(MPI_X);
        return next(n, PLACED(comm));
    }
    """
    head = f"int {name}({', '.join(declared for declared, _ in parameters)})"
    given = (f"PLACED({name})" if is_communicator(declared) else name for declared, name in parameters)
    return f"SHOWN {head};\n{head}\n{{\n    NEXT({name});\n    return next({', '.join(given)});\n}}\n"


def main(output: str, *compiler: str) -> None:
    """Write the file of wrappers."""
    found = functions(preprocessed(compiler))
    if not found:
        raise SystemExit("mpi.h: no function with a communicator is found")
    with open(output, "w", encoding="utf-8") as file:
        file.write('#include "place.h"\n\n' + "\n".join(
            wrapper(first + name, parameters) for name, parameters in found.items() for first in ("", "P")))


if __name__ == "__main__":
    main(*sys.argv[1:])
