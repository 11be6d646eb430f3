"""The functions, structures and numbers of libpencilfft, as the C headers of the wheel or the checkout declare them."""

import ctypes
import re
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent
_FOLDER = _PACKAGE if (_PACKAGE / "include").exists() else _PACKAGE.parents[1]
_FILES = "include/pencilfft.h", "include/pencilfft_line.h", "fortran/handles.h"
_CODE = re.sub(r"/\*.*?\*/", "", "\n".join((_FOLDER / name).read_text("utf-8") for name in _FILES), flags=re.DOTALL)
#: Types that are passed by value.
_TYPES: dict[str, Any] = {
    "int": c_int, "int64_t": c_int64, "size_t": c_size_t, "double": c_double, "MPI_Fint": c_int,
    **dict.fromkeys(re.findall(r"typedef enum \{[^}]*\} (\w+);", _CODE), c_int),
    **dict.fromkeys(re.findall(r"typedef struct \w+ \*(\w+);", _CODE), c_void_p)}
#: Structures by their names without ``pencilfft_``; not the descriptors, whose members are set by name.
STRUCTURES: dict[str, type[ctypes.Structure]] = {}
for _body, _name in re.findall(r"typedef struct \{([^}*]*)\} pencilfft_(\w+);", _CODE):
    _fields = [(member, _TYPES[base] * int(length) if length else _TYPES[base])
               for base, names in re.findall(r"(\w+) ([^;]+);", _body)
               for member, length in re.findall(r"(\w+)(?:\[(\d+)\])?", names)]
    _TYPES[f"pencilfft_{_name}"] = STRUCTURES[_name] = type(_name, (ctypes.Structure,), {"_fields_": _fields})


def _kind(argument: str) -> Any:
    """Return the type of ctypes for an argument of C."""
    base, stars, array = re.fullmatch(r"(?:const )?(?:struct )?(\w+) (\**)\w*(\[\d*\])?", argument).groups()  # type: ignore
    if base == "char":
        return c_char_p if stars == "*" else POINTER(c_char_p)
    if stars or array:
        return POINTER(_TYPES[base]) if base in _TYPES else c_void_p
    return _TYPES[base]


#: (result, arguments) of the functions by their names without ``pencilfft_``, but those that take a communicator of C.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    name: ({"int": c_int, "void": None, "char": c_char_p}.get(result, c_void_p),
           [_kind(" ".join(argument.split())) for argument in arguments.split(",") if argument != "void"])
    for result, name, arguments in re.findall(r"^(?:const )?(\w+) \*?pencilfft_(\w+)\(([^)]*)\);", _CODE, re.MULTILINE)
    if "MPI_Comm " not in arguments}
#: Constants by their names without ``PENCILFFT_``.
NUMBERS: dict[str, int] = {}
for _body in re.findall(r"enum \{([^}]*)\}", _CODE):
    _number = -1
    for _name, _value in re.findall(r"PENCILFFT_(\w+)(?: = (-?\d+))?", _body):
        NUMBERS[_name] = _number = int(_value or _number + 1)


def numbers(*names: str, prefix: str = "") -> dict[str, int]:
    """Return the numbers of the constants of C that have these names behind ``PENCILFFT_`` and a prefix."""
    return {name: NUMBERS[f"{prefix}{name}".upper().replace(" ", "_")] for name in names}
