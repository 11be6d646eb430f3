"""libpencilfft by ctypes: its functions and structures, calls on which all ranks agree, names and wisdom."""

import ctypes
import os
from collections.abc import Callable
from ctypes import byref, c_int, c_int64, c_void_p
from functools import partial, wraps
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar
from weakref import finalize

from pencilfft._together import Team, team_of
from pencilfft.errors import PencilfftError, _known, _path, _refuse, _shown, _text
from pencilfft.header import FUNCTIONS, numbers

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

Ready = TypeVar("Ready")
Function = TypeVar("Function", bound=Callable[..., Any])
#: Factors of a transform, for the argument `norm`; N is `Plan.scale`.
NORMS = dict(zip(("none", "1/N", "1/sqrt(N)"), numbers("none", "n", "sqrt_n", prefix="norm_").values(), strict=True))
TABLES = [name.removesuffix("_name") for name, (_, arguments) in FUNCTIONS.items()
          if name.endswith("_name") and len(arguments) == 1]  # of names, each with a function that gives the i-th
PLACES = (Path(__file__).with_name("libpencilfft.so.1"),  # from the wheel
          Path(__file__).resolve().parents[3] / "build" / "lib" / "libpencilfft.so")


def _load() -> ctypes.CDLL:
    path = os.environ.get("PENCILFFT_LIBRARY") or next((str(p) for p in PLACES if p.exists()), "libpencilfft.so.1")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        if "libfftw3" in str(error):
            raise PencilfftError(f"{error}; {path} needs FFTW 3 of double and single precision: on Debian apt-get install "
                                 "libfftw3-double3 libfftw3-single3; else name its folder in LD_LIBRARY_PATH") from error
        raise PencilfftError(f"{error}; name libpencilfft.so in PENCILFFT_LIBRARY, or build it, in a checkout of pencilmap: "
                             "pip install ./fft_runner") from error
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, f"pencilfft_{name}")
        function.restype, function.argtypes = result, arguments
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
    return ready


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


def _asked(name: str, handle: c_void_p, *arguments: Any) -> Any:
    """Return the value or the structure that a library function writes through its last pointer."""
    result = FUNCTIONS[name][1][-1]._type_()
    _call(name, handle, *arguments, byref(result))
    return getattr(result, "value", result)


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
    table = _known(dict(zip(TABLES, TABLES, strict=True)), of)
    return _names(f"{table}_name")


def grid_numbers(decomposition: str) -> int:
    """Return the number of numbers in the grid of a decomposition: 2 for ``pencil``, 1 for ``slab``; 0 for an unknown name.
    Local.
    """
    return int(_function("grid_numbers")(_text(decomposition, "decomposition")))
