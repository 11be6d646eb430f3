"""libpencilfft from Python: plans over an mpi4py communicator, and transforms of NumPy arrays in their own memory, without
copies.

>>> from mpi4py import MPI                                                                     # doctest: +SKIP
>>> with Plan((128, 128, 128), (2, 4), MPI.COMM_WORLD, type="r2c") as plan:                    # doctest: +SKIP
...     f, f_hat = plan.empty("input"), plan.empty("output")
...     f[...] = 1
...     plan.forward(f, f_hat)

Every array has the axes x, y, z (after the fields, if there are several; before them if they are interleaved) in any order
in memory; `Plan.start` is the first global index of the calling rank's part. Rank i of the communicator is task ``i % R`` of
row ``i // R`` of the process grid. The library is loaded when it is first needed: the file named by PENCILFFT_LIBRARY, else
the library beside this module (`pip install`), else the build of the checkout, else the library that the loader finds.

Arrays are numbered from 0, the array before the first exchange of a forward transform. Arrays of pencils are also named by
their undivided axis, here in the order ``zyx`` of the axes:

=================== ===================================================================================================
``"z"`` or 0        input of the forward row exchange: x in C parts, y in R
``"y"`` or 1        between the exchanges: x in C parts, z in R
``"x"`` or 2        output of the column exchange: z in R parts, y in C
``BEFORE + 1``      array 1 before its lines are transformed; differs from array 1 if these are padded; ``BEFORE + 2``
``"input"``         source of `Plan.forward`: as array 0, but of real numbers and with nz, if the transform halves z
``"output"``        target of `Plan.forward`: as the last array
``"inner input"``   array to transform, if the input has bricks or given boxes and is remapped
``"inner output"``  transformed array, if such an output is remapped
=================== ===================================================================================================

Under schedule ``two-way``, and ``opposite`` with several fields, all arrays but the input and array 0 have two parts, one
behind the other in memory. Such an array has a single axis; `Plan.split` gives its parts as views with axes x, y, z, and
their places in the global array:

>>> with Plan((128, 128, 128), (2, 4), MPI.COMM_WORLD, schedule="two-way") as plan:             # doctest: +SKIP
...     f, f_hat = plan.empty("input"), plan.empty("output")
...     plan.forward(f, f_hat)
...     for at, part in plan.split(f_hat, "output"):
...         part *= whole[at]

All ranks of the communicator must make the same collective calls with the same arguments. If an argument is wrong on one
rank, or the calls differ, all ranks will raise the same message: they agree before each collective call, which takes log2 P
messages of 24 bytes. Only a rank without a communicator raises its error alone.
"""

import ctypes
import mmap
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from functools import partial, wraps
from itertools import count, islice
from math import ceil, inf, prod
from numbers import Real
from operator import index
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self, TypeAlias, TypedDict, TypeVar, Unpack
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from pencilfft._together import Team, team_of

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

Array: TypeAlias = NDArray[Any]
Key = TypeVar("Key")
Value = TypeVar("Value")
Ready = TypeVar("Ready")
Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result", bound=ctypes.Structure | c_char_p | c_double | c_int | c_int64)

__all__ = ["BACKWARD", "BEFORE", "FORWARD", "OMP_THREADS", "BrickLinesPlan", "GridTrial", "Halo", "LinePlan",
           "PencilfftError", "Plan", "forget_wisdom", "grid_numbers", "load_wisdom", "names", "save_wisdom"]

#: Direction of a transform or of an exchange alone; the bits of `directions`.
FORWARD = 1
#: Factors of a transform, for the argument `norm`; N is `Plan.scale`.
NORMS = {"none": 0, "1/N": 1, "1/sqrt(N)": 2}
#: The opposite direction.
BACKWARD = 2
#: Number of threads that follows ``OMP_NUM_THREADS``.
OMP_THREADS = -1
#: With a number added: an array before its lines are transformed.
BEFORE = 16
ENDS = {"input": -2, "output": -1, "inner input": -4, "inner output": -3}
LINE_ENDS = {"input": -2, "output": -1}
PHASE_KINDS = ("fft", "pack", "exchange", "unpack", "total", "wait", "hidden")
LINE_KINDS = ("none", "dft", "r2c", "cosine", "sine")
TABLES = ("decomposition", "exchange", "layout", "line_algorithm", "line_order", "order", "precision", "rigor", "schedule",
          "sync", "type")  # of names, each with a function that gives the i-th
REMAPS = {"remap_in": -2, "remap_out": -1}
ORDERS = {2: "yx", 3: "zyx"}  # of the axes, by default
ALIGNMENT = 64  # of arrays that are made here
LARGE_PAGE = 1 << 21  # bytes; the alignment of arrays that have so many
NEEDED_ALIGNMENT = 16
MOST_SHOWN = 80
NEARLY = 1e-6  # points that rounding may add to an extent times a factor
AXES = {2: "two for x and y", 3: "three for x, y and z"}
NUMBERS = "biufc"  # kinds of NumPy's types that can be copied
PLACES = (Path(__file__).with_name("libpencilfft.so"),  # from the wheel
          Path(__file__).resolve().parents[3] / "build" / "lib" / "libpencilfft.so")


class PencilfftError(Exception):
    """An error of the library, with its message; also raised if an array does not fit the plan, or the library is missing
    or was built for another MPI.
    """


class Choices(TypedDict, total=False):
    """Keyword arguments of `Plan`, the members of the library's descriptor; None has the same effect as no argument."""

    decomposition: str | None
    type: str | None
    kinds: str | None
    skip: str | None
    precision: str | None
    exchange_precision: str | None
    order: str | None
    layout: str | None
    exchange: str | None
    rigor: str | None
    sync: str | None
    schedule: str | None
    torus: str | None
    node: str | None
    directions: int | None
    padding: float | Sequence[float] | None
    padded_nx: int | None
    padded_ny: int | None
    padded_nz: int | None
    fields: int | None
    threads: int | None
    destroy_input: bool | None
    nonblocking: bool | None
    caller_work: bool | None
    interleaved: bool | None
    auto_budget_s: float | None
    input_box: Sequence[slice] | None
    output_box: Sequence[slice] | None


class _Box(ctypes.Structure):
    _fields_ = [("offset", c_int64 * 3), ("extent", c_int64 * 3), ("stride", c_int64 * 3)]


class _Part(ctypes.Structure):
    _fields_ = [("box", _Box), ("start", c_int64), ("first_field", c_int), ("fields", c_int), ("field_stride", c_int64)]


class _GridTrial(ctypes.Structure):
    _fields_ = [("R", c_int), ("C", c_int), ("runs", c_int), ("least", c_double), ("median", c_double), ("spread", c_double)]


class GridTrial(NamedTuple):
    """Times of whole transforms on a grid, in seconds of the slowest rank, forward and backward together if the plan has
    both. `spread` is the distance of the quartiles. Without `runs` the grid was refused or not tried.
    """

    grid: tuple[int, int]
    runs: int
    least: float
    median: float
    spread: float


class _Line(ctypes.Structure):
    _fields_ = [("kind", c_int), ("number", c_int), ("n", c_int64), ("points", c_int64)]


class _Format(ctypes.Structure):
    _fields_ = [("element_bytes", c_size_t), ("real_bytes", c_size_t), ("is_complex", c_int), ("fields", c_int),
                ("field_stride", c_int64), ("n", c_int64 * 3)]


SIGNATURES: dict[str, list[Any]] = {
    "desc_new": [],
    "desc_set_integer": [c_void_p, c_char_p, c_int64],
    "desc_set_real": [c_void_p, c_char_p, c_double],
    "desc_set_text": [c_void_p, c_char_p, c_char_p],
    "desc_set_box": [c_void_p, c_char_p, c_void_p],
    "desc_free": [c_void_p],
    "plan_create_fortran": [c_void_p, c_int, POINTER(c_void_p)],  # takes mpi4py's py2f(), for any kind of MPI handle
    "plan_destroy": [c_void_p],
    "parts": [c_void_p, c_int, POINTER(c_int)],
    "part_mine": [c_void_p, c_int, c_int, POINTER(_Part)],
    "part_of": [c_void_p, c_int, c_int, c_int, POINTER(_Part)],
    "bricks": [c_void_p, POINTER(c_int)],
    "line_of": [c_void_p, c_int, POINTER(_Line)],
    "grid_numbers": [c_char_p],
    **{f"{table}_name": [c_int] for table in TABLES},
    "grid": [c_void_p, POINTER(c_int), POINTER(c_int)],
    "threads": [c_void_p, POINTER(c_int)],
    "waves": [c_void_p, c_int, c_int64, POINTER(c_double)],
    "format_of": [c_void_p, c_int, POINTER(_Format)],
    "scale": [c_void_p, POINTER(c_double)],
    "work_bytes": [c_void_p, c_int, POINTER(c_int64)],
    "set_work": [c_void_p, c_void_p, c_int64],
    "alloc_bytes": [c_void_p, POINTER(c_int64)],
    "execute": [c_void_p, c_int, c_void_p, c_void_p],
    "execute_pair": [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
    "start": [c_void_p, c_int, c_void_p, c_void_p],
    "start_pair": [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p],
    "progress": [c_void_p, POINTER(c_int)],
    "set_norm": [c_void_p, c_int, c_int],
    "exchange_error": [c_void_p, POINTER(c_double)],
    "wait": [c_void_p],
    "grid_trials": [c_void_p, POINTER(c_int)],
    "grid_trial_of": [c_void_p, c_int, POINTER(_GridTrial)],
    "phase_seconds": [c_void_p, POINTER(c_double)],
    "phase_name": [c_void_p, c_int],
    "phase_kind": [c_void_p, c_int],
    "traffic": [c_void_p, c_int, c_int, POINTER(c_int64), POINTER(c_int64)],
    "auto_seconds": [c_void_p, c_int, c_int, POINTER(c_double)],
    "exchange_means": [c_void_p, c_int],
    "plan_text": [c_void_p, POINTER(c_char_p)],
    "exchange_stage": [c_void_p, c_int],
    "exchange_chosen": [c_void_p, c_int],
    "schedule_chosen": [c_void_p],
    "transpose": [c_void_p, c_int, c_int, c_void_p, c_void_p],
    "halo_create": [c_void_p, c_int, POINTER(c_int64), POINTER(c_int64), POINTER(c_void_p)],
    "halo_destroy": [c_void_p],
    "halo_part": [c_void_p, POINTER(_Part)],
    "halo_exchange": [c_void_p, c_void_p, c_void_p],
    "halo_accumulate": [c_void_p, c_void_p, c_void_p],
    "halo_traffic": [c_void_p, c_int, POINTER(c_int64), POINTER(c_int64)],
    "line_create_fortran": [c_int64, c_int64, *[c_char_p] * 5, c_int, POINTER(c_void_p)],
    "line_destroy": [c_void_p],
    "line_elements": [c_void_p, POINTER(c_int64)],
    "line_points": [c_void_p, c_int, c_int, POINTER(c_int64)],
    "line_indices": [c_void_p, c_int, c_int, c_void_p],
    "line_execute": [c_void_p, c_int, c_void_p, c_void_p],
    "line_exchange_name": [c_void_p, c_int],
    "line_is_all_to_all": [c_void_p, c_int],
    "line_traffic": [c_void_p, c_int, c_int, POINTER(c_int64), POINTER(c_int64)],
    "line_phase_name": [c_void_p, c_int],
    "line_phase_seconds": [c_void_p, POINTER(c_double)],
    "brick_lines_create_fortran": [POINTER(c_int64), POINTER(c_int), c_int, *[c_char_p] * 5, c_int, POINTER(c_void_p)],
    "brick_lines_destroy": [c_void_p],
    "brick_lines_elements": [c_void_p, POINTER(c_int64)],
    "brick_lines_extent": [c_void_p, c_int, c_int, POINTER(c_int64)],
    "brick_lines_indices": [c_void_p, c_int, c_int, c_int, c_void_p],
    "brick_lines_execute": [c_void_p, c_int, c_void_p, c_void_p],
    "brick_lines_exchange_name": [c_void_p, c_int],
    "brick_lines_is_all_to_all": [c_void_p, c_int],
    "brick_lines_traffic": [c_void_p, c_int, c_int, POINTER(c_int64), POINTER(c_int64)],
    "brick_lines_phase_name": [c_void_p, c_int],
    "brick_lines_phase_seconds": [c_void_p, POINTER(c_double)],
    "wisdom_load_fortran": [c_char_p, c_int, POINTER(c_int)],
    "wisdom_save_fortran": [c_char_p, c_int],
    "wisdom_forget": [],
    "error_message": [],
}


def _load() -> ctypes.CDLL:
    path = os.environ.get("PENCILFFT_LIBRARY") or next((str(p) for p in PLACES if p.exists()), "libpencilfft.so.1")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise PencilfftError(f"{error}; name libpencilfft.so in PENCILFFT_LIBRARY, or build it, in a checkout of pencilmap: "
                             "pip install ./fft_runner") from error
    for name, arguments in SIGNATURES.items():
        getattr(library, f"pencilfft_{name}").argtypes = arguments
    library.pencilfft_desc_new.restype = c_void_p
    for name in ("error_message", "exchange_stage", "exchange_chosen", "exchange_means", "schedule_chosen",
                 *(name for name in SIGNATURES if name.endswith("_name"))):
        getattr(library, f"pencilfft_{name}").restype = c_char_p
    _refuse_two_mpis(path)
    return library


def _refuse_two_mpis(path: str) -> None:
    """Refuse a second MPI in the process, because a communicator of another MPI crashes the library."""
    with open("/proc/self/maps") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if line.count(" ") > 4 and "/" in line}
    loaded = sorted({os.path.realpath(name) for name in files
                     if os.path.basename(name).startswith(("libmpi.so", "libmpich.so"))})
    if len(loaded) > 1:
        from mpi4py.MPI import Get_library_version

        is_open_mpi = Get_library_version().startswith("Open MPI")
        abi, name = ("mpich", "libmpi.so.12") if is_open_mpi else ("openmpi", "libmpi.so.40")
        other = next((file for file in loaded if ("mpich" in file or ".so.12" in file) == is_open_mpi), loaded[0])
        raise PencilfftError(f"mpi4py and {path} use different MPIs: {', '.join(loaded)}; build the library with mpi4py's, "
                             "or mpi4py with the library's: MPICC=... pip install --no-binary mpi4py mpi4py. A wheel of "
                             "mpi4py also takes the library's MPI without a build: "
                             f"ln -s {other} FOLDER/{name}, then start with MPI4PY_MPIABI={abi} LD_LIBRARY_PATH=FOLDER")


_library: ctypes.CDLL | None = None


def _function(name: str) -> Any:
    global _library
    if _library is None:
        _library = _load()
    return getattr(_library, f"pencilfft_{name}")


def _text_of(message: bytes) -> str:
    """Decode a message, whose names of files and texts of the user may have any encoding."""
    return message.decode(errors="backslashreplace")


def _call(name: str, *arguments: Any) -> None:
    status = _function(name)(*arguments)
    if status != 0:
        raise PencilfftError(_text_of(_function("error_message")()))


def _names(of: str, *handle: c_void_p) -> list[str]:
    """Return all values of a name function, for 0, 1, ... until NULL."""
    return [_text_of(name) for name in iter(map(partial(_function(of), *handle), count()).__next__, None)]


def _sent(of: str, handle: c_void_p, ranks: int, *where: int) -> tuple[list[int], list[int]]:
    """Return the bytes and messages of a traffic function, to each rank."""
    sent, messages = (c_int64 * ranks)(), (c_int64 * ranks)()
    _call(of, handle, *where, sent, messages)
    return list(sent), list(messages)


# ---- arguments for C -----------------------------------------------------------------------------------------------------


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # e.g. an integer of more digits than Python prints
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN - 4]} ..."


def _integer(value: Any, name: str, bits: int = 64) -> int:
    """Return an integer. Refuse truth values, numbers with a fraction, and numbers that ctypes would cut."""
    try:
        number = None if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:
        number = None
    if number is None:
        raise PencilfftError(f"{name} is {_shown(value)}; give an integer")
    if not -2**(bits - 1) <= number < 2**(bits - 1):
        raise PencilfftError(f"{name} is {_shown(number)}; it must be an integer of {bits} bits")
    return number


def _integers(values: Any, counts: tuple[int, ...], name: str, allowed: str, bits: int = 64) -> tuple[int, ...]:
    """Return integers, as many as one of `counts` allows; a single integer needs no sequence."""
    alone = np.ndim(values) == 0 if isinstance(values, np.ndarray) else not isinstance(values, Iterable)
    given = (values,) if alone else tuple(islice(values, max(counts) + 1))
    if len(given) not in counts or any(isinstance(one, str | float | np.floating) for one in given):
        raise PencilfftError(f"{name} is {_shown(values)}; give {allowed}")
    return tuple(_integer(one, name, bits) for one in given)


def _text(value: Any, name: str) -> bytes:
    try:
        encoded = value.encode() if isinstance(value, str) else None
    except UnicodeEncodeError:  # half of a character
        encoded = None
    if encoded is None or b"\0" in encoded:
        raise PencilfftError(f"{name} is {_shown(value)}; give a text without NUL")
    return encoded


def _path(value: Any) -> bytes:
    try:
        encoded = os.fsencode(value)
    except (TypeError, UnicodeEncodeError):
        encoded = b"\0"
    if b"\0" in encoded:
        raise PencilfftError(f"path is {_shown(value)}; give the path of a file")
    return encoded


def _real(value: Any, name: str) -> float:
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else None
    except OverflowError:
        number = None
    if number is None:
        raise PencilfftError(f"{name} is {_shown(value)}; give a number")
    return number


def _factors(value: Any, name: str, axes: int = 3) -> tuple[float, ...]:
    factors = tuple(islice(value, 4)) if isinstance(value, Iterable) else (value,) * axes
    numbers = tuple(_real(factor, name) for factor in factors)
    if len(factors) != axes or not all(1 <= number < inf for number in numbers):
        raise PencilfftError(f"{name} is {_shown(value)}; give a factor of 1 or more, or {AXES[axes]}")
    return numbers


def _truth(value: Any, name: str) -> int:
    if not isinstance(value, bool | np.bool_) and _integer(value, name) not in (0, 1):
        raise PencilfftError(f"{name} is {_shown(value)}; give True or False")
    return int(value)


def _box(given: Any, name: str, axes: int = 3) -> "_Box":
    """Return a box from slices of x, y and z, or of x and y, with both ends."""
    slices = tuple(islice(given, 4)) if isinstance(given, Iterable) else ()
    if len(slices) != axes or not all(isinstance(one, slice) and one.step in (None, 1) for one in slices):
        given_axes = AXES[axes].replace("for", "slices of")
        raise PencilfftError(f"{name} is {_shown(given)}; give {given_axes}, each with start and stop")
    slices += (slice(0, 1),) * (3 - axes)
    ends = [(_integer(one.start, f"start of {name}"), _integer(one.stop, f"stop of {name}")) for one in slices]
    box = _Box()
    box.offset[:], box.extent[:] = zip(*((start, _integer(stop - start, f"extent of {name}")) for start, stop in ends),
                                       strict=True)
    return box


#: For each keyword of `Plan`: the last part of ``pencilfft_desc_set_``, and the conversion of its value.
MEMBERS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    **dict.fromkeys(("decomposition", "type", "kinds", "skip", "precision", "exchange_precision", "order", "layout",
                     "exchange", "rigor", "sync", "schedule", "torus", "node"), ("text", _text)),
    **dict.fromkeys(("directions", "fields", "threads"), ("integer", partial(_integer, bits=32))),
    **dict.fromkeys(("padded_nx", "padded_ny", "padded_nz"), ("integer", _integer)), "padding": ("factors", _factors),
    "destroy_input": ("integer", _truth), "nonblocking": ("integer", _truth),
    "caller_work": ("integer", _truth), "interleaved": ("integer", _truth), "auto_budget_s": ("real", _real),
    "input_box": ("box", _box), "output_box": ("box", _box)}


def _known(table: Mapping[Key, Value], name: Any) -> Value:
    if isinstance(name, bool | float) or not isinstance(name, str | int | np.integer) or name not in table:
        raise PencilfftError(f"unknown {_shown(name)}; known: {', '.join(map(str, table))}")
    return table[name]  # type: ignore[index]


def _handle(comm: "Comm") -> int:
    """Return the communicator as a Fortran integer, for any kind of MPI handle."""
    try:
        return int(comm.py2f())
    except AttributeError:
        raise PencilfftError(f"{_shown(comm)} is not a communicator of mpi4py; give e.g. MPI.COMM_WORLD") from None


# ---- agreement -----------------------------------------------------------------------------------------------------------


def _team_among(arguments: tuple[Any, ...]) -> Team:
    try:
        return team_of(arguments)
    except ValueError as error:
        raise PencilfftError(str(error)) from None


def _nothing(_ready: Any) -> str:
    return ""


def _in_place(ends: "_Ends") -> str:
    return ", in place" if ends.addresses[0] == ends.addresses[1] else ""


def _comm_and_grid(grid: Any) -> "tuple[Comm, Any]":
    """Return the communicator, which may stand in the place of the grid, and the grid."""
    if hasattr(grid, "py2f"):
        return grid, (0, 0)
    from mpi4py import MPI

    return MPI.COMM_WORLD, grid


def _agreed(team: Team, call: str, prepare: Callable[[], Ready], details: Callable[[Ready], str] = _nothing) -> Ready:
    """Return the result of `prepare`, if `prepare` fails on no rank and all ranks make the same call."""
    def loaded() -> Ready:
        _function("error_message")  # a missing library is an error on all ranks, too
        return prepare()

    ready, message, error = team.agree(call, loaded, details)
    if message is not None:
        raise PencilfftError(message) from error
    return ready  # type: ignore[return-value]


def _collective(function: Function) -> Function:
    """Tell the other ranks if the call itself is wrong: an unknown keyword, too many or too few arguments."""
    @wraps(function)
    def call(*arguments: Any, **more: Any) -> Any:
        try:
            return function(*arguments, **more)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # the error comes from inside
                raise
            wrong = error
        given = (*arguments, *more.values())
        team = next((one._team for one in given if isinstance(one, _Handled) and one._team), None)
        return _agreed(team or _team_among(given), function.__qualname__, partial(_refuse, wrong))
    return call  # type: ignore[return-value]


def _refuse(error: Exception) -> NoReturn:
    raise error


class _Handled:
    """An object with a handle of the library, which all ranks free together, also when a ``with`` block ends."""

    _kind: ClassVar[str]  #: of its functions: "plan" of ``pencilfft_plan_destroy``
    _handle: c_void_p | None = None
    _team: Team | None = None

    @_collective
    def destroy(self) -> None:
        """Free the handle; a second call does nothing. Arrays of `empty` will stay valid. Collective."""
        if self._handle is not None:
            handle, team = self._agreed("destroy", self._at_rest), self._running()
            self._handle = self._team = None
            _call(f"{self._kind}_destroy", handle)
            team.leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:  # after an error the other ranks may not get here
            self.destroy()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse copy, deepcopy and pickle: a copy would free the same plan a second time."""
        raise PencilfftError(f"a {type(self).__name__} cannot be copied or pickled; make another one")

    def _alive(self) -> c_void_p:
        if self._handle is None:
            raise PencilfftError(f"the {self._kind} was destroyed")
        return self._handle

    def _at_rest(self) -> c_void_p:
        """Return the handle, unless something is in flight."""
        return self._alive()

    def _begin(self, arguments: tuple[Any, ...], prepare: Callable[[], Callable[[c_void_p], None]]) -> None:
        """Make the handle with the function that `prepare` returns for the arguments."""
        team, handle = _team_among(arguments), c_void_p()
        try:
            _agreed(team, type(self).__name__, prepare)(handle)
        except PencilfftError:  # on all ranks
            team.leave()
            raise
        self._handle, self._team = handle, team
        team.watch()

    def _running(self) -> Team:
        """Return the team. Its errors arise on all ranks, which destroy the object and end MPI together."""
        self._alive()
        assert self._team is not None
        if self._team.ended():
            raise PencilfftError(f"MPI has been finalized; use the {self._kind} before")
        return self._team

    def _agreed(self, call: str, prepare: Callable[[], Ready], details: Callable[[Ready], str] = _nothing) -> Ready:
        return _agreed(self._running(), f"{type(self).__name__}.{call}", prepare, details)


class _Descriptor:
    """The library's descriptor, with its texts and boxes, which the library does not copy."""

    def __init__(self) -> None:
        self.at = _function("desc_new")()
        finalize(self, _function("desc_free"), self.at)
        self._values: list[Any] = []

    def set(self, name: str, kind: str, value: Any) -> None:
        self._values.append(value)
        _call(f"desc_set_{kind}", self.at, name.encode(), byref(value) if kind == "box" else value)


class Plan(_Handled):
    """A planned transform. All ranks create and destroy a plan together. A context manager destroys the plan when its block
    ends, unless there was an error.

    Parameters
    ----------
    shape : three ints, or two
        Global extents nx, ny, nz; two extents for arrays of two dimensions, whose arrays have the axes x and y alone.
    grid : two ints, or one int, optional
        R tasks in a row, C in a column; R * C is the size of the communicator. For slabs, and with two dimensions, a single
        number, that size. If an extent is shorter than the number of tasks that share the axis, some tasks will hold
        nothing. The library will choose numbers that are 0 or omitted; see `Plan.grid`. `grid` may be left out before
        `comm`: ``Plan(shape, comm)``.
    comm : mpi4py.MPI.Comm, optional
        The library duplicates it; ``MPI.COMM_WORLD`` by default.
    decomposition : str, optional
        ``pencil`` (default), ``slab``, ``brick:PxQxS``, remapped to pencils; ``brick`` has the least surface.
    type : str, optional
        ``c2c`` (default) or another of the table in pencilfft.h.
    kinds : str, optional
        For ``dct`` and ``dst``: 1 to 4 for x, y, z (default ``2,2,2``); ``c1,s2,3`` mixes cosines and sines.
    skip : str, optional
        Axes that are not transformed: ``x``, ``yz``; not z if the transform halves z.
    precision : str, optional
        ``double`` (default), ``single``.
    exchange_precision : str, optional
        ``single`` sends the numbers of a plan of precision double as floats; see `Plan.exchange_error`.
    order : str, optional
        Axes in the order in which a forward transform goes through them: ``zyx`` (default) or another. Real transforms
        halve the first, which is whole in the input; the last is whole in the output. Two dimensions: ``yx`` (default),
        ``xy``.
    layout : str, optional
        Order of the output in memory, slowest first: ``natural`` (x y z, default) or ``stride1`` (z y x, slabs y z x).
    exchange : str, optional
        An exchange of ``fft_runner --help``, or ``auto``, which tries several when the plan is made. By default ``node`` if
        all ranks are on one node and one exchange moves data (see docs/library.md), otherwise ``alltoallv``.
    rigor : str, optional
        Rigor of FFTW: ``estimate``, ``measure`` (default), ``patient``.
    sync : str, optional
        Synchronisation before each exchange: ``none`` (default), ``barrier``, ``clock``.
    schedule : str, optional
        Order of exchanges and computing: ``sequence`` (default), ``overlap:4`` and others of the table in pencilfft.h.
        Under ``two-way``, and ``opposite`` with several fields, the output has two parts (`split`).
    torus, node : str, optional
        Places of the ranks, for exchange ``p2p``: the shape and this rank's own coordinates, for example ``8x8x8`` and
        ``1 2 3``.
    directions : int, optional
        `FORWARD`, `BACKWARD` or both (default), or-ed.
    fields : int, optional
        Arrays to transform together, one after the other in memory; 1.
    interleaved : bool, optional
        Whether the fields are the last axis of all arrays, and the fastest in memory, for example a vector field of shape
        (x, y, z, 3); False.
    padding : float, or a float for each axis, optional
        Points of an axis for each of its modes, 1 or more, for example 1.5 for the 3/2 rule. The input has the extents times
        these factors, rounded up, and the output the modes of a plan without padding; see Padding in pencilfft.h.
    padded_nx, padded_ny, padded_nz : int, optional
        The same as numbers of points along x, y and z.
    threads : int, optional
        OpenMP threads that share the work of this rank: 1 (default), more, or `OMP_THREADS`, as many as ``OMP_NUM_THREADS``
        says.
    destroy_input : bool, optional
        Whether a transform into another array may overwrite its input. This saves the work buffer with most exchanges, and
        a copy for ``c2r`` on a single rank; False.
    nonblocking : bool, optional
        Whether transforms may be started (`start_forward`). The plan will then have communicators of its own; False.
    caller_work : bool, optional
        Whether the program gives the work memory (`set_work`); False.
    auto_budget_s : float, optional
        Seconds that ``auto`` may try when the plan is made; 3.0.
    input_box, output_box : a slice for each axis, optional
        This rank's part of the input and of the output, if the decomposition has other parts. Either all
        ranks give a box or none does; together the boxes hold each element once. ``slice(0, 0)`` holds nothing.

    Raises
    ------
    PencilfftError
        On all ranks, with the reason: an impossible name or extent, different arguments between ranks, no memory, no
        library.
    """

    _kind = "plan"

    @_collective
    def __init__(self, shape: Sequence[int], grid: "int | Sequence[int] | Comm" = (0, 0), comm: "Comm | None" = None,
                 **choices: Unpack[Choices]) -> None:
        self._told = "not made"
        self._work: Array | None = None  # kept for the library
        self._flight: tuple[_Ends, ...] = ()  # what is in flight, which keeps the arrays
        if comm is None:
            comm, grid = _comm_and_grid(grid)
        given = {name: value for name, value in choices.items() if value is not None}
        self._begin((shape, grid, comm, *given.values()), partial(self._describe, shape, grid, comm, given))
        handle, pair = self._alive(), (c_int(), c_int())
        _call("grid", handle, *map(byref, pair))
        self._grid = (pair[0].value, pair[1].value)
        self._told = ", ".join([f"{'x'.join(map(str, self._extents))} on {'x'.join(map(str, self._grid[-self._numbers:]))}",
                                *(f"{name} {value}" for name, value in given.items()), f"rank {comm.rank} of {comm.size}"])
        self._exchanges = _names("exchange_stage", handle)
        numbers: dict[str | int, int] = {number: number for number in range(len(self._exchanges) + 1)}
        numbers.update({BEFORE + number: BEFORE + number for number in range(1, len(self._exchanges) + 1)})
        numbers.update(ENDS)
        if choices.get("decomposition") in (None, "pencil"):
            numbers.update({axis: number for number, axis in enumerate(self._order)})
        self._arrays = {name: _array_of(handle, number, self._form) for name, number in numbers.items()}
        self._array_numbers, self._ranks = numbers, comm.size
        self._given, self._loses_input = given, bool(choices.get("destroy_input"))
        self._buffer_bytes = _asked("alloc_bytes", handle, c_int64()).value

    def _describe(self, shape: Any, grid: Any, comm: "Comm", given: dict[str, Any]) -> Callable[[c_void_p], None]:
        self._extents = _integers(shape, (2, 3), "shape", "three extents nx, ny, nz, or two")
        axes = len(self._extents)
        self._form = _Form(axes, bool(given.get("interleaved")))
        self._order = given.get("order", ORDERS[axes])
        if isinstance(self._order, str) and len(self._order) != axes and self._order in names("order"):
            raise PencilfftError(f"shape is {_shown(shape)} and order {self._order}; give as many extents as letters")
        tasks = _integers(grid, (1, 2), "grid", "two numbers of tasks R, C (slabs: one number)", 32)
        self._numbers, communicator, desc = len(tasks), _handle(comm), _Descriptor()
        pair = (*tasks, 1) if axes == 2 else (1, *tasks)  # of a single number
        for name, size in zip(("R", "C"), tasks if len(tasks) == 2 else pair, strict=True):
            desc.set(name, "integer", size)
        for name, size in zip(("nx", "ny", "nz"), self._extents, strict=False):
            desc.set(name, "integer", size)
        for name, value in {"order": ORDERS[axes], **given}.items():
            kind, convert = _known(MEMBERS, name)
            if kind == "factors":
                for axis, n, factor in zip("xyz", self._extents, _factors(value, name, axes), strict=False):
                    desc.set(f"padded_n{axis}", "integer", _integer(ceil(n * factor - NEARLY), name))
            elif kind == "box":
                desc.set(name, kind, _box(value, name, axes))
            else:
                desc.set(name, kind, convert(value, name))
        return lambda handle: _call("plan_create_fortran", desc.at, communicator, byref(handle))

    def __repr__(self) -> str:
        return f"<pencilfft.Plan {self._told}{'' if self._handle else ', destroyed'}>"

    def _array(self, name: str | int) -> "_Array":
        self._alive()
        return _known(self._arrays, name)

    @property
    def grid(self) -> tuple[int, int]:
        """R tasks in a row and C in a column, as given or as chosen for 0; slabs have R = 1."""
        return self._grid

    @property
    def ranks(self) -> int:
        """Ranks of the plan."""
        return self._ranks

    @property
    def extents(self) -> tuple[int, ...]:
        """Global extents nx, ny, nz, of the input if it is not padded."""
        return self._extents

    def choice(self, keyword: str) -> Any:
        """Return a keyword argument with which the plan was made; None without this argument."""
        _known(MEMBERS, keyword)
        return self._given.get(keyword)

    @property
    def threads(self) -> int:
        """OpenMP threads that share the work of a rank, as given or as `OMP_THREADS` found."""
        return _asked("threads", self._alive(), c_int()).value

    def start(self, array: str | int) -> tuple[int, ...]:
        """Return the global x, y, z of the first local element of an array with a single part."""
        self.part(array)  # which refuses several parts
        return tuple(axis.start for axis in self._array(array).parts[0].box)

    def shape(self, array: str | int) -> tuple[int, ...]:
        """Return the local extents of x, y, z, after the fields if there are several. An array of several parts has a
        single extent, its number of elements.
        """
        return self._array(array).shape

    def global_shape(self, array: str | int) -> tuple[int, ...]:
        """Return the global extents of x, y, z, after the fields if there are several."""
        form = _asked("format_of", self._alive(), _Format(), _known(self._array_numbers, array))
        return self._form.with_fields(tuple(form.n)[:self._form.axes], form.fields, form.fields)

    def part(self, array: str | int) -> tuple[slice, ...]:
        """Return the calling rank's slices of x, y, z in the global array, after the fields if the plan has several:
        ``local[...] = whole[plan.part("input")]``.

        Raises
        ------
        PencilfftError
            If the array has several parts; see `part_mine`.
        """
        if self.parts(array) > 1:
            raise PencilfftError(f"under schedule {self.schedule_chosen} array {array} has {self.parts(array)} parts; "
                                 "ask part_mine() or split()")
        return self._array(array).parts[0].at

    def part_of(self, array: str | int, rank: int, i: int = 0) -> tuple[slice, ...]:
        """Return the slices of part `i` of any rank, as `part_mine` does for the calling rank. Local."""
        number = _known(self._array_numbers, array)
        form = _asked("format_of", self._alive(), _Format(), number)
        which = (number, _integer(rank, "rank", 32), _integer(i, "i", 32))
        return _piece_of(_asked("part_of", self._alive(), _Part(), *which), form, self._form).at

    @property
    def bricks(self) -> tuple[int, int, int]:
        """Bricks along x, y and z; zeros if the decomposition has none."""
        found = (c_int * 3)()
        _call("bricks", self._alive(), found)
        x, y, z = found
        return x, y, z

    def parts(self, array: str | int) -> int:
        """Return the number of parts of an array, on all ranks: 1, or 2 behind the first exchange under ``two-way`` and
        under ``opposite`` with several fields.
        """
        return len(self._array(array).parts)

    def part_mine(self, array: str | int, i: int) -> tuple[slice, ...]:
        """Return the slices of part `i` (from 0) of the calling rank in the global array: x, y, z, after the fields if the
        plan has several. A part may be empty.
        """
        return _known(dict(enumerate(self._array(array).parts)), i).at

    def split(self, whole: Array, array: str | int) -> list[tuple[tuple[slice, ...], Array]]:
        """Return the parts of an array, in its own memory. Local.

        Parameters
        ----------
        whole : array of `empty`
        array : its name

        Returns
        -------
        list of (slices, NumPy array)
            For each part the slices of `part_mine`, and its elements: axes x, y, z, after the fields if the plan has
            several.

        Raises
        ------
        PencilfftError
            If `whole` is no such array.
        """
        _check_form(whole, self._array(array), False, str(array))
        return [(part.at, _laid(whole, part.start, _Array(whole.dtype, 1, (part,))))
                for part in self._array(array).parts]

    def dtype(self, array: str | int) -> np.dtype[Any]:
        """Return NumPy's type of the elements of an array: complex128, complex64, float64 or float32."""
        return self._array(array).dtype

    @property
    def exchanges(self) -> tuple[str, ...]:
        """Names of the exchanges of a transform in forward order: ``("row", "column")``; ``("slab",)``."""
        return tuple(self._exchanges)

    def __str__(self) -> str:
        """Describe the plan on the calling rank: passes, exchanges, buffers. Local."""
        text = _asked("plan_text", self._alive(), c_char_p()).value
        assert text is not None
        return _text_of(text)

    def phase_seconds(self) -> dict[str, float]:
        """Return the seconds of this rank in each phase of the last transform, by name. Local.

        Phases ``fft_z`` to ``total`` come first. Then follow the time that `sync` waited (``wait_row``, ``wait_column``),
        which is part of no other phase, and the time in which exchanges overlapped other work (``hidden_row``,
        ``hidden_column``), which is not part of ``total``.
        """
        names = _names("phase_name", self._alive())
        seconds = (c_double * len(names))()
        _call("phase_seconds", self._handle, seconds)
        return dict(zip(names, seconds, strict=True))

    @property
    def grid_trials(self) -> list[GridTrial]:
        """Grids that exchange ``auto`` tried because none was given, the grid of the rule first. Empty if wisdom knew it."""
        found = _asked("grid_trials", self._alive(), c_int()).value
        rows = [_asked("grid_trial_of", self._alive(), _GridTrial(), i) for i in range(found)]
        return [GridTrial((row.R, row.C), row.runs, row.least, row.median, row.spread) for row in rows]

    def phase_kinds(self) -> dict[str, str]:
        """Return the work that each phase measures: ``fft``, ``pack``, ``exchange``, ``unpack``, ``total``, ``wait`` or
        ``hidden``. Local.
        """
        names = _names("phase_name", self._alive())
        return {name: PHASE_KINDS[_function("phase_kind")(self._handle, phase)] for phase, name in enumerate(names)}

    def traffic(self, exchange: str, direction: int = FORWARD) -> tuple[list[int], list[int]]:
        """Return the bytes and messages that the calling rank sends to each rank in an exchange or remap. Local.

        Data that stay on the rank do not count.
        """
        return _sent("traffic", self._alive(), self._ranks, self._number(exchange), _direction(direction))

    def auto_seconds(self, exchange: str) -> dict[str, float]:
        """Return the seconds of a transform with each algorithm that ``auto`` tried for an exchange; infinity after a
        refusal. Local.
        """
        number = self._number(exchange)
        tried = {name: _asked("auto_seconds", self._alive(), c_double(), number, i).value
                 for i, name in enumerate(names("exchange"))}
        return {name: seconds for name, seconds in tried.items() if seconds}

    def exchange_means(self, exchange: str) -> str | None:
        """Return the MPI calls of the algorithm of an exchange, if they depend on the MPI. Local."""
        means = _function("exchange_means")(self._alive(), self._number(exchange))
        return None if means is None else _text_of(means)

    def line_of(self, axis: int) -> tuple[str, int]:
        """Return the forward transform along axis 0, 1 or 2 (x, y or z). Local.

        Returns
        -------
        tuple of str and int
            ``none``, ``dft``, ``r2c``, ``cosine`` or ``sine``, and for the last two the number, 1 to 4; else 0.
        """
        line = _asked("line_of", self._alive(), _Line(), _integer(axis, "axis", 32))
        return LINE_KINDS[line.kind], line.number

    def exchange_chosen(self, exchange: str) -> str:
        """Return the algorithm of an exchange of `exchanges`: the given algorithm, or the choice of ``auto``. Local."""
        return _text_of(_function("exchange_chosen")(self._alive(), self._number(exchange)))

    @property
    def schedule_chosen(self) -> str:
        """The schedule with all choices, e.g. ``overlap:4:x``."""
        return _text_of(_function("schedule_chosen")(self._alive()))

    def _number(self, exchange: str) -> int:
        there = {name: e for name, e in REMAPS.items() if _function("exchange_stage")(self._alive(), e)}
        return _known({name: e for e, name in enumerate(self._exchanges)} | there, exchange)

    def waves(self, i: int = 0) -> tuple[np.ndarray[Any, np.dtype[np.float64]], ...]:
        """Return the waves of the modes of this rank's output, or of its part `i`: three arrays for x, y, z that broadcast
        to its shape.

        A value is the number of waves of a mode in the n steps of its axis: 0, 1, ..., -2, -1 along an axis with a DFT, with
        +n/2 for mode n/2 of an even n, which also stands for -n/2; see
        ``pencilfft_waves`` in pencilfft.h for cosines and sines; 0 if an axis is not transformed. A grid with step h has
        the wavenumbers ``2 pi waves / (n h)``.
        """
        def of(axis: int, index: int) -> float:
            return float(_asked("waves", self._alive(), c_double(), axis, c_int64(index)).value)

        output = _known(dict(enumerate(self._array("output").parts)), i)
        behind = [[0.]] * (len(output.shape) - len(output.box) if self._form.interleaved else 0)
        return np.ix_(*([of(axis, index) for index in range(mine.start, mine.stop)]
                        for axis, mine in enumerate(output.box)), *behind)[:self._form.axes]

    @property
    def scale(self) -> float:
        """Factor of backward after forward: the result is this number times the input."""
        return _asked("scale", self._alive(), c_double()).value

    @property
    def exchange_error(self) -> float:
        """Most relative error, in the L2 norm, that exchanges in single precision add to a transform; 0.0 without them."""
        return _asked("exchange_error", self._alive(), c_double()).value

    @property
    def buffer_bytes(self) -> int:
        """Bytes of the largest array, or more: what `empty` allocates, so that `view` finds room for any other array."""
        self._alive()
        return self._buffer_bytes

    def work_bytes(self, in_place: bool = False) -> int:
        """Return the bytes of work memory that a plan with `caller_work` needs, for transforms between two arrays or also in
        place. 0 for other plans. Local.
        """
        return _asked("work_bytes", self._alive(), c_int64(), _truth(in_place, "in_place")).value

    def set_work(self, memory: Array) -> None:
        """Give a plan with `caller_work` its work memory. Plans that do not run at the same time may share it. Local.

        Parameters
        ----------
        memory : array
            Contiguous, writable and aligned to 16 bytes, of `work_bytes` or more, for example
            ``np.empty(plan.work_bytes(), np.uint8)``. The plan keeps it, and will overwrite it in each transform.

        Raises
        ------
        PencilfftError
            If the memory is too small or not aligned, the plan has its own, or is in flight.
        """
        _check_is_array(memory)
        if not memory.flags.writeable or not memory.flags.forc:
            raise PencilfftError("the work memory is not contiguous or cannot be written; give an array of np.empty()")
        _call("set_work", self._at_rest(), memory.ctypes.data, memory.nbytes)
        self._work = memory

    def _check_work(self, in_place: bool) -> None:
        """Refuse a run without enough memory of the program, for which the other ranks would wait."""
        needed, there = self.work_bytes(in_place), 0 if self._work is None else self._work.nbytes
        if there < needed:
            raise PencilfftError(f"the plan has {there} bytes of work memory, and a run "
                                 f"{'in place' if in_place else 'with two arrays'} needs {needed}; call set_work() with "
                                 "memory of work_bytes()")

    def empty(self, array: str | int) -> Array:
        """Return an unfilled array for the calling rank's part, aligned to 64 bytes, of `buffer_bytes`. Local.

        From 2 MB on the array begins at a large page, and Linux is asked for such pages.
        """
        return _made(self.buffer_bytes, self._array(array))

    def view(self, part: Array, array: str | int) -> Array:
        """Return the same memory as another array, for transforms in place. Local.

        Raises
        ------
        PencilfftError
            If less memory than that of the other array lies behind `part`.
        """
        return _laid(part, 0, self._array(array))

    def _place(self, part: Array, array: str | int, written: bool) -> "_Place":
        return _place_of(part, self._array(array), written, str(array), NEEDED_ALIGNMENT)

    def _ends(self, source: Any, first: str, target: Any, last: str) -> "_Ends":
        return _ends_of(source, self._array(first), target, self._array(last), (first, last), self._buffer_bytes,
                        self._loses_input)

    @_collective
    def forward(self, source: Array, target: Array | None = None, norm: str = "none") -> Array:
        """Transform forward. Collective.

        Parameters
        ----------
        source : part of ``input``
            Kept, unless source and target are the same memory (`view`; they must not overlap partly) or the plan has
            `destroy_input`. An array with other strides, or a type that NumPy casts to the type of the plan, will be copied.
        target : part of ``output``, optional
            A new array by default. The result is copied into an array with other strides or another type.
        norm : str, optional
            The factor of the result, applied in the last pass: ``none``, ``1/N`` or ``1/sqrt(N)``, with N = `scale`.

        Returns
        -------
        array
            `target`.

        Raises
        ------
        PencilfftError
            On all ranks, if an array on any rank has another shape or a type that cannot be cast; if the target is
            read-only; if arrays overlap partly; if the plan was made without this direction or was destroyed.
        """
        return self._execute("forward", "execute", FORWARD, source, "input", target, "output", norm).result()

    def _execute(self, call: str, name: str, direction: int, source: Any, first: str, target: Any, last: str,
                 norm: Any) -> "_Ends":
        def ready() -> "tuple[_Ends, int]":
            self._at_rest()
            ends = self._ends(source, first, target, last)
            self._check_work(bool(_in_place(ends)))
            return ends, _known(NORMS, norm)

        ends, factor = self._agreed(call, ready, lambda made: _in_place(made[0]) + (f", norm {norm}" if made[1] else ""))
        _call("set_norm", self._alive(), direction, factor)
        _call(name, self._alive(), direction, *ends.addresses)
        return ends

    @_collective
    def backward(self, source: Array, target: Array | None = None, norm: str = "none") -> Array:
        """Transform backward; results and errors as in `forward`. Collective.

        Parameters
        ----------
        source : part of ``output``
        target : part of ``input``, optional
        norm : str, optional
            ``none``, ``1/N``, with which backward after forward gives the input, or ``1/sqrt(N)``.
        """
        return self._execute("backward", "execute", BACKWARD, source, "output", target, "input", norm).result()

    @_collective
    def execute_pair(self, forward_source: Array, forward_target: Array, backward_source: Array,
                     backward_target: Array) -> None:
        """Transform an array forward and another backward: both at once under schedule ``opposite``, else one after the
        other. Errors as in `forward`, also if the two share memory. Collective.

        Parameters
        ----------
        forward_source, backward_target : parts of ``input``
        forward_target, backward_source : parts of ``output``
        """
        for ends in self._pair("execute_pair", forward_source, forward_target, backward_source, backward_target):
            ends.result()

    def _pair(self, name: str, *arrays: Array) -> "tuple[_Ends, _Ends]":
        def both() -> "tuple[_Ends, _Ends]":
            one = self._ends(arrays[0], "input", _given(arrays[1]), "output")
            other = self._ends(arrays[2], "output", _given(arrays[3]), "input")
            if any(_meet(mine, its) for mine in one.places for its in other.places):
                raise PencilfftError("arrays of the forward transform overlap those of the backward one; give others")
            self._check_work(bool(_in_place(one) or _in_place(other)) and self.schedule_chosen != "opposite")
            return one, other

        pair = self._agreed(name, both, lambda ready: _in_place(ready[0]))
        for direction in (FORWARD, BACKWARD):
            _call("set_norm", self._alive(), direction, NORMS["none"])
        _call(name, self._alive(), *pair[0].addresses, *pair[1].addresses)
        return pair

    @_collective
    def start_forward(self, source: Array, target: Array | None = None, norm: str = "none") -> None:
        """Start a forward transform, for a plan with `nonblocking`. Until `wait` returns, the arrays belong to the plan, and
        the plan can do nothing else. Other plans may be in flight meanwhile, and the program may send its own messages. All
        ranks start and wait in the same order. Arguments and errors as in `forward`. Collective.

        Parameters
        ----------
        source : part of ``input``
        target : part of ``output``, optional
        norm : str, optional
        """
        self._flight = (self._execute("start_forward", "start", FORWARD, source, "input", target, "output", norm),)

    @_collective
    def start_backward(self, source: Array, target: Array | None = None, norm: str = "none") -> None:
        """Start a backward transform, as `start_forward` does. Collective.

        Parameters
        ----------
        source : part of ``output``
        target : part of ``input``, optional
        norm : str, optional
        """
        self._flight = (self._execute("start_backward", "start", BACKWARD, source, "output", target, "input", norm),)

    @_collective
    def start_pair(self, forward_source: Array, forward_target: Array, backward_source: Array,
                   backward_target: Array) -> None:
        """Start a pair with the arrays of `execute_pair`, as `start_forward` starts a transform. Collective."""
        self._flight = self._pair("start_pair", forward_source, forward_target, backward_source, backward_target)

    def progress(self) -> bool:
        """Do the work whose messages have arrived, without waiting. Local.

        Returns
        -------
        bool
            Whether the transform in flight is complete on this rank; you should call `wait` all the same.

        Raises
        ------
        PencilfftError
            If nothing is in flight.
        """
        done = c_int()
        _call("progress", self._alive(), byref(done))
        return bool(done.value)

    @_collective
    def wait(self) -> "Array | tuple[Array, Array]":
        """Complete what is in flight. Collective.

        Returns
        -------
        array, or two arrays of a pair
            The target; of a pair, the forward target and the backward target.

        Raises
        ------
        PencilfftError
            On all ranks, if nothing is in flight.
        """
        flight = self._agreed("wait", self._in_flight)
        _call("wait", self._alive())
        self._flight = ()
        results = tuple(ends.result() for ends in flight)
        return results[0] if len(results) == 1 else (results[0], results[1])

    def _in_flight(self) -> "tuple[_Ends, ...]":
        self._alive()
        if not self._flight:
            raise PencilfftError("the plan is not in flight; call start_forward(), start_backward() or start_pair() first")
        return self._flight

    def _at_rest(self) -> c_void_p:
        if self._flight:
            raise PencilfftError("the plan is in flight; call wait() first")
        return self._alive()

    @_collective
    def transpose(self, exchange: str, direction: int, source: Array, target: Array) -> None:
        """Run an exchange alone, without any FFT; errors as in `forward`. Collective.

        Parameters
        ----------
        exchange : str
            One of `exchanges`: for pencils ``row``, from Z to Y, or ``column``, from Y to X; or ``remap_in``,
            ``remap_out``.
        direction : int
            `FORWARD`, or `BACKWARD` for the other direction.
        source, target : parts of the arrays before and after the exchange
            Array e and array e + 1, or ``BEFORE + e + 1`` with padding; or the reverse. The contents of `source` will be
            lost. The two must not share memory.
        """
        def arguments() -> tuple[int, int, int, int]:
            e = self._number(exchange)
            ends: dict[int, tuple[str | int, str | int]] = {-2: ("input", "inner input"), -1: ("inner output", "output")}
            before, after = ends.get(e, (e, BEFORE + e + 1))
            first, last = _known({FORWARD: (before, after), BACKWARD: (after, before)}, direction)
            given, taken = self._place(source, first, True), self._place(target, last, True)
            _check_apart(given, taken)
            self._check_work(False)
            return e, int(direction), given.address, taken.address

        _call("transpose", self._alive(), *self._agreed("transpose", arguments, lambda ready: f" {ready[:2]}"))

    @_collective
    def halo(self, array: str | int, low: int | Sequence[int], high: int | Sequence[int] | None = None) -> "Halo":
        """Return the halo of an array, which outlives the plan. Collective.

        Parameters
        ----------
        array : its name
            An array with a single part; a halved spectrum takes no halo along z.
        low : int, or an int for each axis
            Planes below the part of every rank along x, y and z, each from 0 to the array's extent.
        high : the same, optional
            Planes above the part, equal to `low` by default.

        Raises
        ------
        PencilfftError
            On all ranks, with the reason.
        """
        return Halo(self, array, low, low if high is None else high)


class Halo(_Handled):
    """Planes of the neighbours around the calling rank's part of an array, edges and corners as well; the array is periodic.
    `Plan.halo` makes a halo. A context manager destroys the halo when its block ends, unless there was an error.

    >>> with Plan((128, 128, 128), (2, 4), MPI.COMM_WORLD, type="r2c") as plan:                # doctest: +SKIP
    ...     with plan.halo("input", 2) as halo:
    ...         f, wide = plan.empty("input"), halo.empty()
    ...         halo.exchange(wide, f)
    ...         halo.accumulate(wide, f)
    """

    _kind = "halo"

    @_collective
    def __init__(self, plan: Plan, array: str | int, low: int | Sequence[int], high: int | Sequence[int]) -> None:
        number, low_planes, high_planes = plan._agreed("halo", lambda: (
            _known(plan._array_numbers, array), _widths(low, "low", plan._form.axes),
            _widths(high, "high", plan._form.axes)))
        handle, team = c_void_p(), plan._running().another()
        try:
            _call("halo_create", plan._alive(), number, low_planes, high_planes, byref(handle))
        except PencilfftError:  # on all ranks
            team.leave()
            raise
        self._handle, self._team = handle, team
        team.watch()
        self._ranks, of = plan._ranks, plan._array(array)
        self._inner, self._form = of, plan._form
        form = _Format(element_bytes=of.dtype.itemsize, fields=of.fields)
        self._padded = _Array(of.dtype, of.fields, (_piece_of(_asked("halo_part", handle, _Part()), form, plan._form),))

    @property
    def part(self) -> tuple[slice, ...]:
        """Slices of x, y, z of the global array for the array with halo. Slices may begin below 0 and end beyond the array:
        indices count on, modulo its extents.
        """
        return self._padded.parts[0].box

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of x, y, z with the halo, after the fields if there are several."""
        return self._padded.shape

    def empty(self) -> Array:
        """Return an array with halo, unfilled. Local."""
        return _made(prod(self.shape) * self._padded.dtype.itemsize, self._padded)

    def inner(self, padded: Array) -> Array:
        """Return the calling rank's own part of an array with halo, in the same memory. Local."""
        _check_form(padded, self._padded, False, "with halo")
        pairs = zip(self.part, self._inner.parts[0].box, strict=True)
        own = tuple(slice(mine.start - wide.start, mine.stop - wide.start) for wide, mine in pairs)
        at: Any = own if self._form.interleaved else (..., *own)
        return padded[at]

    @_collective
    def exchange(self, padded: Array, source: Array | None = None) -> None:
        """Fill the halo. Collective.

        Parameters
        ----------
        padded : array of `empty`
        source : part of the array, optional
            Copied into `padded` before; without `source`, the elements of `inner` must be there already.

        Raises
        ------
        PencilfftError
            On all ranks, if an array on any rank has another shape, type or strides, or is read-only; if arrays overlap.
        """
        self._move("exchange", padded, True, source, False)

    @_collective
    def accumulate(self, padded: Array, target: Array | None = None) -> None:
        """Add each value of the halo to its original element: the adjoint of `exchange`, with the same errors. Collective.

        Parameters
        ----------
        padded : array of `empty`
            Unchanged if `target` is given.
        target : part of the array, optional
            Receives the sums; without `target`, the elements of `inner` in `padded` receive the sums.
        """
        self._move("accumulate", padded, target is None, target, True)

    def _move(self, name: str, padded: Array, padded_is_written: bool, array: Array | None, array_is_written: bool) -> None:
        def addresses() -> tuple[int, int | None]:
            wide = _place_of(padded, self._padded, padded_is_written, "with halo")
            if array is None:
                return wide.address, None
            own = _place_of(array, self._inner, array_is_written, "of a halo")
            _check_apart(wide, own)
            return wide.address, own.address

        of_padded, of_array = self._agreed(name, addresses)
        pair = (of_array, of_padded) if name == "exchange" else (of_padded, of_array)
        _call(f"halo_{name}", self._alive(), *pair)

    def traffic(self, direction: int = FORWARD) -> tuple[list[int], list[int]]:
        """Return the bytes and messages that the calling rank sends to each rank. Local.

        `FORWARD` means `exchange`, `BACKWARD` means `accumulate`. Data that stay on the rank do not count.
        """
        return _sent("halo_traffic", self._alive(), self._ranks, _direction(direction))


class _Lines(_Handled):
    """The common part of plans for distributed lines, alone and on bricks."""

    _ranks: int
    _dtype: "np.dtype[Any]"
    _exchanges: list[str]

    def _create(self, comm: "Comm", names: Mapping[str, str | None], *arguments: Any,
                numbers: Callable[[], tuple[Any, ...]]) -> None:
        """Make the plan; `numbers` returns the first arguments of C, and `arguments` contain a communicator."""
        def prepare() -> Callable[[c_void_p], None]:
            texts = [None if text is None else _text(text, name) for name, text in names.items()]
            given = [*numbers(), *texts, _handle(comm)]
            return lambda handle: _call(f"{self._kind}_create_fortran", *given, byref(handle))

        self._begin((comm, *arguments, *names.values()), prepare)
        self._ranks, self._rank = comm.size, comm.rank
        self._dtype = np.dtype(np.complex64 if names["precision"] == "single" else np.complex128)
        self._exchanges = _names(f"{self._kind}_exchange_name", self._alive())
        elements = _asked(f"{self._kind}_elements", self._alive(), c_int64()).value
        self._buffer_bytes = elements * self._dtype.itemsize

    @property
    def buffer_bytes(self) -> int:
        """Bytes of the larger of input and output, or more: what `empty` allocates, so that `view` finds room."""
        self._alive()
        return self._buffer_bytes

    def shape(self, array: str) -> tuple[int, ...]:
        raise NotImplementedError

    @property
    def exchanges(self) -> tuple[str, ...]:
        """Names of the exchanges of a forward transform, in their order: ``("to_columns", "to_rows", "to_blocks")``; on
        bricks with the axis, ``z_to_rows``.
        """
        return tuple(self._exchanges)

    def empty(self, array: str) -> Array:
        """Return an unfilled array for the calling rank's ``input`` or ``output``, aligned to 64 bytes, with `buffer_bytes`
        behind the first element. Local.
        """
        return _made(self.buffer_bytes, self._array(array))

    def view(self, part: Array, array: str) -> Array:
        """Return the memory of an array of `empty` as the other array, for transforms in place. Local.

        Raises
        ------
        PencilfftError
            If less memory than that of the other array lies behind `part`.
        """
        return _laid(part, 0, self._array(array))

    @_collective
    def forward(self, source: Array, target: Array | None = None) -> Array:
        """Transform forward, as `numpy.fft.fft` and `numpy.fft.fftn`, all lines or fields. Collective.

        Parameters
        ----------
        source : part of ``input``
            Kept, unless source and target are the same memory (`view`); they must not overlap partly. Copied if it has
            other strides, or a type that NumPy casts to the type of the plan.
        target : part of ``output``, optional
            A new array by default. The result is copied into an array with other strides or another type.

        Returns
        -------
        array
            `target`.

        Raises
        ------
        PencilfftError
            On all ranks, if an array on any rank has another shape or a type that cannot be cast; if the target is
            read-only; if arrays overlap partly; if the plan was destroyed.
        """
        return self._execute("forward", FORWARD, source, "input", target, "output")

    @_collective
    def backward(self, source: Array, target: Array | None = None) -> Array:
        """Transform backward, not normalised: backward after forward gives the input times the number of points. Results
        and errors as in `forward`. Collective.

        Parameters
        ----------
        source : part of ``output``
        target : part of ``input``, optional
        """
        return self._execute("backward", BACKWARD, source, "output", target, "input")

    def _execute(self, name: str, direction: int, source: Any, first: str, target: Any, last: str) -> Array:
        ends = self._agreed(name, lambda: _ends_of(source, self._array(first), target, self._array(last), (first, last),
                                                   self._buffer_bytes), _in_place)
        _call(f"{self._kind}_execute", self._alive(), direction, *ends.addresses)
        return ends.result()

    def _array(self, name: str) -> "_Array":
        shape = self.shape(name)
        steps = tuple(self._dtype.itemsize * prod(max(n, 1) for n in shape[axis + 1:]) for axis in range(len(shape)))
        return _Array(self._dtype, 1, (_Piece((), (), shape, 0, steps),))

    def _rank_of(self, rank: int | None) -> int:
        return self._rank if rank is None else _integer(rank, "rank", 32)

    def traffic(self, exchange: str, direction: int = FORWARD) -> tuple[list[int], list[int]]:
        """Return the bytes and messages that the calling rank sends to each rank in one of `exchanges`. Local.

        Data that stay on the rank do not count.
        """
        return _sent(f"{self._kind}_traffic", self._alive(), self._ranks, self._number(exchange), _direction(direction))

    def is_all_to_all(self, exchange: str) -> bool:
        """Return whether an exchange is an all-to-all, and not one of whole blocks in a group. Local."""
        return bool(_function(f"{self._kind}_is_all_to_all")(self._alive(), self._number(exchange)))

    def _number(self, exchange: str) -> int:
        return _known({name: e for e, name in enumerate(self._exchanges)}, exchange)

    def phase_seconds(self) -> dict[str, float]:
        """Return the seconds of this rank in each phase of the last transform, by name. Local.

        The phases are computing (``fft_line``, ``fft_z``), ``pack_``, ``exchange_`` and ``unpack_`` of each exchange, on
        bricks ``pack_y`` and the like for transposing them, and ``total``, their sum.
        """
        names = _names(f"{self._kind}_phase_name", self._alive())
        seconds = (c_double * len(names))()
        _call(f"{self._kind}_phase_seconds", self._handle, seconds)
        return dict(zip(names, seconds, strict=True))


class LinePlan(_Lines):
    """Transforms of lines that are distributed over the ranks. All ranks create and destroy the plan together. A context
    manager destroys the plan when its block ends, unless there was an error.

    >>> with LinePlan(2**20, MPI.COMM_WORLD, order="transposed") as plan:                       # doctest: +SKIP
    ...     f, f_hat = plan.empty("input"), plan.empty("output")
    ...     f[...] = whole[plan.indices("input")]
    ...     plan.forward(f, f_hat)
    ...     f_hat *= filter_of_waves[plan.indices("output")]
    ...     plan.backward(f_hat, f)

    Parameters
    ----------
    n : int
        Points of a line.
    comm : mpi4py.MPI.Comm
        The library duplicates it.
    lines : int, optional
        Lines to transform together; 1.
    algorithm : str, optional
        ``transpose`` (default), ``binary2``, ``binary4``, ``dft``, ``dft-reduce``, see pencilfft_line.h.
    order : str, optional
        Order of the points after a forward transform, ``natural`` (default) or ``transposed``; ``transposed-both``: also
        before.
    precision : str, optional
        ``double`` (default), ``single``.
    rigor : str, optional
        Rigor of FFTW: ``estimate``, ``measure`` (default), ``patient``.
    sync : str, optional
        Synchronisation before each exchange: ``none`` (default), ``barrier``, ``clock``.

    Raises
    ------
    PencilfftError
        On all ranks, with the reason: an impossible name or length, different arguments between ranks, no memory.
    """

    _kind = "line"

    @_collective
    def __init__(self, n: int, comm: "Comm", *, lines: int = 1, algorithm: str | None = None, order: str | None = None,
                 precision: str | None = None, rigor: str | None = None, sync: str | None = None) -> None:
        def numbers() -> tuple[int, int]:
            self._lines = _integer(lines, "lines")
            return _integer(n, "n"), self._lines

        names = dict(algorithm=algorithm, order=order, precision=precision, rigor=rigor, sync=sync)
        self._create(comm, names, n, lines, numbers=numbers)

    def indices(self, array: str, rank: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the indices, from 0, of a rank's points in the line for ``input`` or ``output`` of a forward transform.
        Local.

        The rank is the calling rank by default.
        """
        where = (_known(LINE_ENDS, array), self._rank_of(rank))
        points = _asked("line_points", self._alive(), c_int64(), *where).value
        found = np.empty(points, np.int64)
        _call("line_indices", self._handle, *where, found.ctypes.data)
        return found

    def shape(self, array: str) -> tuple[int, ...]:
        """Return the number of points of the calling rank, after the lines if there are several."""
        points = _asked("line_points", self._alive(), c_int64(), _known(LINE_ENDS, array), self._rank).value
        return (points,) if self._lines == 1 else (self._lines, points)


class BrickLinesPlan(_Lines):
    """Transforms of an array in bricks by distributed lines, z first. All ranks create and destroy the plan together. A
    context manager destroys the plan when its block ends, unless there was an error.

    >>> with BrickLinesPlan((64, 48, 1), (2, 3, 1), MPI.COMM_WORLD) as plan:                    # doctest: +SKIP
    ...     f, f_hat = plan.empty("input"), plan.empty("output")
    ...     f[...] = whole[np.ix_(*plan.indices("input"))]
    ...     plan.forward(f, f_hat)

    Parameters
    ----------
    shape : three ints
        Global extents nx, ny, nz; an axis of one point is not transformed.
    bricks : three ints
        P, Q and S, the ranks along x, y and z; their product is the size of the communicator. Rank (c*Q + b)*P + a holds
        block a of x, b of y, c of z.
    comm : mpi4py.MPI.Comm
        The library duplicates it.
    fields : int, optional
        Arrays to transform together; 1.
    algorithm : str, optional
        For the lines of every axis: ``transpose`` (default), ``binary2``, ``binary4``, ``dft``, ``dft-reduce``, see
        pencilfft_line.h.
    order : str, optional
        Order of the points after a forward transform, ``natural`` (default) or ``transposed``; ``transposed-both``: also
        before.
    precision : str, optional
        ``double`` (default), ``single``.
    rigor : str, optional
        Rigor of FFTW: ``estimate``, ``measure`` (default), ``patient``.
    sync : str, optional
        Synchronisation before each exchange among the ranks of a line: ``none`` (default), ``barrier``, ``clock``.

    Raises
    ------
    PencilfftError
        As for `LinePlan`; also if the number of bricks differs from the number of ranks.
    """

    _kind = "brick_lines"

    @_collective
    def __init__(self, shape: Iterable[int], bricks: Iterable[int], comm: "Comm", *, fields: int = 1,
                 algorithm: str | None = None, order: str | None = None, precision: str | None = None,
                 rigor: str | None = None, sync: str | None = None) -> None:
        def numbers() -> tuple[Any, ...]:
            size = _integers(shape, (3,), "shape", "three extents nx, ny, nz")
            parts = _integers(bricks, (3,), "bricks", "three numbers of bricks along x, y and z", 32)
            self._fields = _integer(fields, "fields", 32)
            return (c_int64 * 3)(*size), (c_int * 3)(*parts), self._fields

        names = dict(algorithm=algorithm, order=order, precision=precision, rigor=rigor, sync=sync)
        self._create(comm, names, shape, bricks, fields, numbers=numbers)

    def indices(self, array: str, rank: int | None = None) -> "tuple[np.ndarray[Any, np.dtype[np.int64]], ...]":
        """Return the indices, from 0, of a rank's points along x, y and z, for ``input`` or ``output`` of a forward
        transform. Local.

        The rank is the calling rank by default. `numpy.ix_` makes an index of the whole array from the three arrays.
        """
        number, who = _known(LINE_ENDS, array), self._rank_of(rank)
        found = tuple(np.empty(n, np.int64) for n in self._extent(number, who))
        for axis, points in enumerate(found):
            _call("brick_lines_indices", self._handle, number, who, axis, points.ctypes.data)
        return found

    def shape(self, array: str) -> tuple[int, ...]:
        """Return the numbers of points of the calling rank along x, y and z, after the fields if there are several."""
        extent = self._extent(_known(LINE_ENDS, array), self._rank)
        return extent if self._fields == 1 else (self._fields, *extent)

    def _extent(self, array: int, rank: int) -> tuple[int, ...]:
        extent = (c_int64 * 3)()
        _call("brick_lines_extent", self._alive(), array, rank, extent)
        return tuple(extent)


def _widths(given: Any, name: str, axes: int) -> Any:
    widths = _integers(given, (1, axes), name, f"a width of a halo: one number, or {AXES[axes]}")
    return (c_int64 * 3)(*(widths * axes if len(widths) == 1 else widths))


def _direction(given: Any) -> int:
    return _known({FORWARD: FORWARD, BACKWARD: BACKWARD}, given)


# ---- memory of arrays ----------------------------------------------------------------------------------------------------


def _allocate(n_bytes: int) -> Array:
    return np.empty(n_bytes, np.uint8)


def _made(n_bytes: int, as_laid: "_Array") -> Array:
    """Return a new array with so many bytes behind its first element; like pencilfft_alloc() in large pages."""
    unit = LARGE_PAGE if n_bytes >= LARGE_PAGE else ALIGNMENT
    memory = _allocate(n_bytes + unit)
    start = -memory.ctypes.data % unit
    if unit == LARGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):  # a request; nothing depends on the answer
        ctypes.CDLL(None).madvise(c_void_p(memory.ctypes.data + start), c_size_t(n_bytes // unit * unit), mmap.MADV_HUGEPAGE)
    return np.ndarray(as_laid.shape, as_laid.dtype, memory, start, as_laid.strides)


def _reach(array: Array) -> int:
    """Return the bytes from the first element to the end of the last."""
    between = sum(step * (n - 1) for n, step in zip(array.shape, array.strides, strict=True))
    return between + array.itemsize if array.size else 0


def _laid(array: Array, start: int, as_laid: "_Array") -> Array:
    """Return another array in the same memory, `start` bytes behind the first element of this array."""
    memory, offset = _memory_behind(array, start + prod(as_laid.shape) * as_laid.dtype.itemsize)
    laid = np.ndarray(as_laid.shape, as_laid.dtype, memory, offset + start, as_laid.strides)
    laid.flags.writeable = laid.flags.writeable and array.flags.writeable
    return laid


def _memory_behind(array: Array, needed: int) -> tuple[Array, int]:
    """Return the array that owns the memory, and the offset of this array in bytes."""
    _check_is_array(array)
    owner: Array = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    offset = array.ctypes.data - owner.ctypes.data
    if not owner.flags.forc or offset < 0 or offset + needed > owner.nbytes:
        raise PencilfftError(f"the memory behind the array must hold {needed} bytes; make it by empty()")
    return (owner if owner.flags.c_contiguous else owner.T), offset


@dataclass(frozen=True)
class _Place:
    """Memory that C may read and write."""

    address: int
    n_bytes: int


def _place_of(part: Array, wanted: "_Array", written: bool, name: str, alignment: int = 1) -> _Place:
    """Return the place of an array of this form."""
    _check_form(part, wanted, written, name)
    if not part.flags.aligned:
        raise PencilfftError(f"array {name} is not aligned; make it by empty()")
    if part.ctypes.data % alignment:
        raise PencilfftError(f"array {name} is not aligned to {alignment} bytes; make it by empty()")
    return _whole(part)


def _whole(array: Array) -> _Place:
    return _Place(array.ctypes.data, _reach(array))


@dataclass(frozen=True)
class _Ends:
    """The memory of a transform, and the array of the caller that takes the result."""

    source: Array
    target: Array
    taker: Array

    @property
    def places(self) -> tuple[_Place, _Place]:
        return _whole(self.source), _whole(self.target)

    @property
    def addresses(self) -> tuple[int, int]:
        return self.source.ctypes.data, self.target.ctypes.data

    def result(self) -> Array:
        if self.taker is not self.target:
            self.taker[...] = self.target
        return self.taker


def _ends_of(source: Any, as_first: "_Array", target: Any, as_last: "_Array", names: tuple[str, str], needed: int,
             loses_input: bool = False) -> _Ends:
    """Return the arrays of a transform, or copies with the form of the library if the library cannot work on an array."""
    _check_like(source, as_first, names[0])
    taker = _made(needed, as_last) if target is None else target
    _check_like(taker, as_last, names[1], True)
    before = source if _fits(source, as_first, loses_input) else None
    after = taker if _fits(taker, as_last, True) else None
    same = source.ctypes.data == taker.ctypes.data and (source.size > 0 or (before is not None and after is not None))
    in_place = source is taker or same  # arrays of no element may have any address
    if before is None or (in_place and after is None):
        before = _made(needed, as_first)
        before[...] = source
        after = _laid(before, 0, as_last) if in_place else after
    if after is None:
        after = _made(needed, as_last)
    if not in_place:
        _check_apart(_whole(before), _whole(after))
    return _Ends(before, after, taker)


def _given(target: Any) -> Any:
    if target is None:
        raise PencilfftError("a target is None; give an array")
    return target


def _fits(part: Array, wanted: "_Array", written: bool) -> bool:
    """Return whether the library can work in the memory of an array."""
    try:
        _place_of(part, wanted, written, "", NEEDED_ALIGNMENT)
    except PencilfftError:
        return False
    return True


def _check_like(part: Any, wanted: "_Array", name: str, written: bool = False) -> None:
    """Refuse an array of another shape, and an array that NumPy does not cast."""
    _check_is_array(part)
    from_type, to_type = (wanted.dtype, part.dtype) if written else (part.dtype, wanted.dtype)
    if part.shape != wanted.shape or part.dtype.kind not in NUMBERS or not np.can_cast(from_type, to_type, "same_kind"):
        raise PencilfftError(f"array of {part.dtype} {part.shape}; array {name} is {wanted.dtype} {wanted.shape}")
    if written and not part.flags.writeable:
        raise PencilfftError(f"array {name} cannot be written; make it by empty()")


def _meet(one: _Place, other: _Place) -> bool:
    return one.address < other.address + other.n_bytes and other.address < one.address + one.n_bytes


def _check_apart(one: _Place, other: _Place) -> None:
    if _meet(one, other):
        raise PencilfftError("the arrays overlap; make two by empty(), or one and its view()")


def _check_is_array(part: Any) -> None:
    if isinstance(part, np.ma.MaskedArray):
        raise PencilfftError("the library knows no masks; give the data of the masked array, or its filled()")
    if not isinstance(part, np.ndarray):
        raise PencilfftError(f"{type(part).__name__} is not an array of NumPy; make it by empty()")


def _check_form(part: Array, wanted: "_Array", written: bool, name: str) -> None:
    _check_is_array(part)
    if part.shape != wanted.shape or part.dtype != wanted.dtype:
        raise PencilfftError(f"array of {part.dtype} {part.shape}; array {name} is {wanted.dtype} {wanted.shape}")
    if part.size and any(  # along axes of extent 1 strides do not matter
            n > 1 and mine != its for n, mine, its in zip(part.shape, part.strides, wanted.strides, strict=True)):
        raise PencilfftError(f"strides {part.strides}; array {name} has {wanted.strides}; make it by empty()")
    if written and not part.flags.writeable:
        raise PencilfftError(f"array {name} cannot be written; make it by empty()")


@dataclass(frozen=True)
class _Form:
    """The axes of all arrays of a plan."""

    axes: int  # without the fields
    interleaved: bool

    def with_fields(self, axes: tuple[Value, ...], fields: int, value: Value) -> tuple[Value, ...]:
        """Add a value for the fields, if there are several, behind the axes or in front."""
        if fields == 1:
            return axes
        return (*axes, value) if self.interleaved else (value, *axes)


@dataclass(frozen=True)
class _Piece:
    """A part of an array: its place in the global array and in memory."""

    at: tuple[slice, ...]
    box: tuple[slice, ...]  # without the fields
    shape: tuple[int, ...]
    start: int  # bytes, as are the strides
    strides: tuple[int, ...]


@dataclass(frozen=True)
class _Array:
    """The library's description of the calling rank's part of an array; constant while the plan lives."""

    dtype: np.dtype[Any]
    fields: int
    parts: tuple[_Piece, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape; for several parts, which fill the memory one behind the other, the number of all elements."""
        return self.parts[0].shape if len(self.parts) == 1 else (sum(prod(part.shape) for part in self.parts),)

    @property
    def strides(self) -> tuple[int, ...]:
        return self.parts[0].strides if len(self.parts) == 1 else (self.dtype.itemsize,)


def _array_of(handle: c_void_p, number: int, laid: _Form) -> _Array:
    form = _asked("format_of", handle, _Format(), number)
    parts = range(_asked("parts", handle, c_int(), number).value)
    return _Array(np.dtype(f"{'c' if form.is_complex else 'f'}{form.element_bytes}"), form.fields,
                  tuple(_piece_of(_asked("part_mine", handle, _Part(), number, i), form, laid) for i in parts))


def _piece_of(part: _Part, form: _Format, laid: _Form) -> _Piece:
    inner = tuple(zip(part.box.offset, part.box.extent, part.box.stride, strict=True))[:laid.axes]
    box = tuple(slice(first, first + n) for first, n, _ in inner)
    axes = laid.with_fields(inner, form.fields, (part.first_field, part.fields, part.field_stride))
    return _Piece(tuple(slice(first, first + n) for first, n, _ in axes), box, tuple(n for _, n, _ in axes),
                  part.start * form.element_bytes, tuple(step * form.element_bytes for _, _, step in axes))


def _asked(name: str, handle: c_void_p, result: Result, *arguments: Any) -> Result:
    """Return the value that a library function writes through its last pointer."""
    _call(name, handle, *arguments, byref(result))
    return result


@_collective
def load_wisdom(path: str | os.PathLike[str], comm: "Comm") -> bool:
    """Add a file's wisdom: FFTW's plans and the choices of ``auto``. Rank 0 reads. Collective.

    Parameters
    ----------
    path : path
    comm : mpi4py.MPI.Comm

    Returns
    -------
    bool
        False if there is no such file.

    Raises
    ------
    PencilfftError
        If the file comes from another kind of machine or another MPI, or is no wisdom file.
    """
    found = c_int()
    _with_file("load_wisdom", path, comm, lambda file, handle: _call("wisdom_load_fortran", file, handle, byref(found)))
    return bool(found.value)


@_collective
def save_wisdom(path: str | os.PathLike[str], comm: "Comm") -> None:
    """Replace the file by all wisdom. Rank 0 writes. Collective.

    Raises
    ------
    PencilfftError
        If the file cannot be written; an existing file will then be unchanged.
    """
    _with_file("save_wisdom", path, comm, partial(_call, "wisdom_save_fortran"))


def _with_file(name: str, path: Any, comm: "Comm", call: Callable[[bytes, int], None]) -> None:
    team = _team_among((path, comm))
    try:
        call(*_agreed(team, name, lambda: (_path(path), _handle(comm))))
    finally:  # an error on one rank is an error on all
        team.leave()


def forget_wisdom() -> None:
    """Forget all wisdom, including FFTW's. Local."""
    _function("wisdom_forget")()


def names(of: str) -> list[str]:
    """Return the names that an argument may have. Local.

    Parameters
    ----------
    of : str
        ``decomposition``, ``exchange``, ``layout``, ``line_algorithm``, ``line_order``, ``order``, ``precision``,
        ``rigor``, ``schedule`` (without options after a colon), ``sync`` or ``type``.
    """
    return _names(f"{_known(dict(zip(TABLES, TABLES, strict=True)), of)}_name")


def grid_numbers(decomposition: str) -> int:
    """Return the number of numbers in the grid of a decomposition: 2 for ``pencil``, 1 for ``slab``; 0 for an unknown name.
    Local.
    """
    return int(_function("grid_numbers")(_text(decomposition, "decomposition")))
