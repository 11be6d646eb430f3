"""libpencilfft from Python: plans over an mpi4py communicator, transforms of NumPy arrays in their own memory, without
copying.

>>> from mpi4py import MPI                                                                     # doctest: +SKIP
>>> with Plan((128, 128, 128), (2, 4), MPI.COMM_WORLD, type="r2c") as plan:                    # doctest: +SKIP
...     f, f_hat = plan.empty("input"), plan.empty("output")
...     f[...] = 1
...     plan.forward(f, f_hat)

Every array has the axes x, y, z (after the fields, if there are several), whatever its order in memory; `Plan.start` says
where the calling rank's part begins. Rank i of the communicator is task ``i % R`` of row ``i // R`` of the process grid. The
library is the file named by PENCILFFT_LIBRARY, else the one built in the checkout, else the one the loader finds.

Arrays are numbered from 0, before the first exchange of a forward transform, on. Those of pencils also have the name of the
axis that is whole in them:

=============== =======================================================================================================
``"z"`` or 0    input of the forward row exchange: x in C parts, y in R
``"y"`` or 1    between the exchanges: x in C parts, z in R
``"x"`` or 2    output of the column exchange: z in R parts, y in C
``"input"``     what `Plan.forward` takes: as array 0, but of real numbers and of nz, where the transform halves z
``"output"``    what `Plan.forward` gives: as the last array
=============== =======================================================================================================

Collective functions must be called by all ranks of the communicator with the same arguments; a failure on one rank is raised
on all.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from functools import partial
from itertools import count
from operator import index
from pathlib import Path

import numpy as np

__all__ = ["BACKWARD", "FORWARD", "PencilfftError", "Plan", "forget_wisdom", "load_wisdom", "save_wisdom"]

#: Direction of a transform or of an exchange alone; the bits of `directions`.
FORWARD = 1
#: The opposite direction.
BACKWARD = 2
ENDS = {"input": -2, "output": -1}
PENCILS = {"z": 0, "y": 1, "x": 2}
ALIGNMENT = 64
BUILT = Path(__file__).resolve().parents[3] / "build" / "lib" / "libpencilfft.so"


class PencilfftError(Exception):
    """An error of the library, with its message; an array that does not fit the plan; no library, or one built for another
    MPI."""


class _Box(ctypes.Structure):
    _fields_ = [("offset", c_int64 * 3), ("extent", c_int64 * 3), ("stride", c_int64 * 3)]


class _Format(ctypes.Structure):
    _fields_ = [("element_bytes", c_size_t), ("real_bytes", c_size_t), ("is_complex", c_int), ("fields", c_int),
                ("field_stride", c_int64), ("n", c_int64 * 3)]


SIGNATURES = {
    "desc_new": [],
    "desc_set_integer": [c_void_p, c_char_p, c_int64],
    "desc_set_real": [c_void_p, c_char_p, c_double],
    "desc_set_text": [c_void_p, c_char_p, c_char_p],
    "desc_free": [c_void_p],
    "plan_create_fortran": [c_void_p, c_int, POINTER(c_void_p)],  # takes mpi4py's py2f(), whatever MPI's handles are
    "plan_destroy": [c_void_p],
    "box_mine": [c_void_p, c_int, POINTER(_Box)],
    "format_of": [c_void_p, c_int, POINTER(_Format)],
    "scale": [c_void_p, POINTER(c_double)],
    "alloc_bytes": [c_void_p, POINTER(c_int64)],
    "execute": [c_void_p, c_int, c_void_p, c_void_p],
    "phase_seconds": [c_void_p, POINTER(c_double)],
    "phase_name": [c_void_p, c_int],
    "plan_text": [c_void_p, POINTER(c_char_p)],
    "exchange_stage": [c_void_p, c_int],
    "exchange_chosen": [c_void_p, c_int],
    "transpose": [c_void_p, c_int, c_int, c_void_p, c_void_p],
    "wisdom_load_fortran": [c_char_p, c_int, POINTER(c_int)],
    "wisdom_save_fortran": [c_char_p, c_int],
    "wisdom_forget": [],
}


def _load():
    path = os.environ.get("PENCILFFT_LIBRARY") or (str(BUILT) if BUILT.exists() else "libpencilfft.so.0")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise PencilfftError(f"{error}; name libpencilfft.so in PENCILFFT_LIBRARY, or build it: cmake -S fft_runner "
                             "-B build && cmake --build build") from error
    for name, arguments in SIGNATURES.items():
        getattr(library, f"pencilfft_{name}").argtypes = arguments
    library.pencilfft_desc_new.restype = c_void_p
    for name in ("error_message", "phase_name", "exchange_stage", "exchange_chosen"):
        getattr(library, f"pencilfft_{name}").restype = c_char_p
    _refuse_two_mpis(path)
    return library


def _refuse_two_mpis(path):
    """A communicator of one MPI passed to another crashes, so this checks which MPIs are loaded."""
    with open("/proc/self/maps") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if line.count(" ") > 4 and "/" in line}
    loaded = sorted({os.path.realpath(name) for name in files
                     if os.path.basename(name).startswith(("libmpi.so", "libmpich.so"))})
    if len(loaded) > 1:
        raise PencilfftError(f"mpi4py and {path} use different MPIs: {', '.join(loaded)}; build the library with mpi4py's, "
                             "or mpi4py with the library's: MPICC=... pip install --no-binary mpi4py mpi4py")


_library = None


def _function(name):
    global _library
    if _library is None:
        _library = _load()
    return getattr(_library, f"pencilfft_{name}")


def _call(name, *arguments):
    status = _function(name)(*arguments)
    if status != 0:
        raise PencilfftError(_function("error_message")().decode())


def _names(of, handle):
    """All values of a name function, for 0, 1, ... until it returns NULL."""
    return [name.decode() for name in iter(map(partial(_function(of), handle), count()).__next__, None)]


def _set_member(desc, name, value):
    kind = "text" if value is None or isinstance(value, bytes) else "real" if isinstance(value, float) else "integer"
    if kind == "integer" and not -2**63 <= index(value) < 2**63:  # ctypes would cut it
        raise PencilfftError(f"{name} is {value}; it must be an integer of 64 bits")
    _call(f"desc_set_{kind}", desc, name.encode(), index(value) if kind == "integer" else value)


class Plan:
    """A planned transform. Making and destroying it is collective. As a context manager it destroys itself, unless there was
    an error.

    Parameters
    ----------
    shape : three ints
        Global extents nx, ny, nz.
    grid : two ints, or one
        R tasks in a row, C in a column; R * C is the size of the communicator. nx >= C, ny >= R and C, and the exchanged
        extent along z >= R. Of slabs one number, that size; nx and ny are not smaller.
    comm : mpi4py.MPI.Comm
        The library duplicates it.
    decomposition : str, optional
        ``pencil`` (default), ``slab``.
    type : str, optional
        ``c2c`` (default) or another of the table in pencilfft.h.
    kinds : str, optional
        Of ``dct`` and ``dst``: 1 to 4 for x, y, z (default ``2,2,2``); ``c1,s2,3`` mixes cosines and sines.
    skip : str, optional
        Axes that are not transformed: ``x``, ``yz``; not z where it is halved.
    precision : str, optional
        ``double`` (default), ``single``.
    layout : str, optional
        Order of the output in memory, slowest first: ``natural`` (x y z, default) or ``stride1`` (z y x, slabs y z x).
    exchange : str, optional
        ``alltoallv`` (default), another that ``fft_runner --help`` names, or ``auto``, which tries them.
    rigor : str, optional
        Of FFTW: ``estimate``, ``measure`` (default), ``patient``.
    sync : str, optional
        What precedes each exchange: ``none`` (default), ``barrier``, ``clock``.
    directions : int, optional
        `FORWARD`, `BACKWARD` or both (default), or-ed.
    fields : int, optional
        Arrays that are transformed together, one after the other in memory; 1.
    auto_budget_s : float, optional
        Seconds that ``auto`` may try; 10.0.

    Raises
    ------
    PencilfftError
        On all ranks, with the reason: an impossible name or extent, different arguments between ranks, no memory, no
        library.
    """

    def __init__(self, shape, grid, comm, **choices):
        self._handle, handle = None, c_void_p()
        if len(shape) != 3 or not 1 <= len(grid) <= 2:
            raise PencilfftError(f"shape {shape}, grid {grid}; give three extents nx, ny, nz and two numbers of tasks R, C "
                                 "(slabs: one number)")
        R, C = (1, *grid)[-2:]
        members = {**choices, **dict(zip(("nx", "ny", "nz", "R", "C"), (*shape, R, C), strict=True))}
        members = {name: value.encode() if isinstance(value, str) else value for name, value in members.items()}
        desc = _function("desc_new")()
        try:
            for name, value in members.items():
                _set_member(desc, name, value)
            _call("plan_create_fortran", desc, comm.py2f(), byref(handle))  # texts are not copied: members live until here
        finally:
            _function("desc_free")(desc)
        self._handle = handle
        self._exchanges = _names("exchange_stage", handle)
        numbers = {**ENDS, **{number: number for number in range(len(self._exchanges) + 1)}}
        if choices.get("decomposition", "pencil") == "pencil":
            numbers |= PENCILS
        self._arrays = {name: _array_of(handle, number) for name, number in numbers.items()}
        self._buffer_bytes = _asked("alloc_bytes", handle, c_int64()).value

    def destroy(self):
        """Free the plan; a second call does nothing. Arrays of `empty` stay valid. Collective."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            _call("plan_destroy", handle)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:  # after an error the other ranks may not get here
            self.destroy()

    def _alive(self):
        if self._handle is None:
            raise PencilfftError("the plan was destroyed")
        return self._handle

    def _array(self, name):
        self._alive()
        return _known(self._arrays, name)

    def start(self, array):
        """Global x, y, z of the first local element: tuple of three ints."""
        return self._array(array).offset

    def shape(self, array):
        """Local extents of x, y, z, before them the fields, when there are several: tuple of three or four ints."""
        return self._array(array).shape

    def part(self, array):
        """Slices of x, y, z of the global array that are the calling rank's: ``local[...] = whole[plan.part("input")]``."""
        at = self._array(array)
        return tuple(slice(start, start + n) for start, n in zip(at.offset, at.shape[-3:], strict=True))

    def dtype(self, array):
        """NumPy's type of the elements of an array: complex128, complex64, float64 or float32."""
        return self._array(array).dtype

    @property
    def exchanges(self):
        """Names of the exchanges of a transform in forward order: ``("row", "column")``; ``("slab",)``."""
        return tuple(self._exchanges)

    def __str__(self):
        """What the plan does on the calling rank: passes, exchanges between them, buffers. Local."""
        return _asked("plan_text", self._alive(), c_char_p()).value.decode()

    def phase_seconds(self):
        """Seconds this rank spent in each phase of the last transform: dict by name, ``fft_z`` to ``total``, then the time
        that `sync` waited (``wait_row``, ``wait_column``), which is part of no other phase. Local."""
        names = _names("phase_name", self._alive())
        seconds = (c_double * len(names))()
        _call("phase_seconds", self._handle, seconds)
        return dict(zip(names, seconds, strict=True))

    def exchange_chosen(self, exchange):
        """Name of the algorithm of an exchange of `exchanges`: what was asked for, or what ``auto`` took. Local."""
        return _function("exchange_chosen")(self._alive(), self._number(exchange)).decode()

    def _number(self, exchange):
        return _known({name: e for e, name in enumerate(self._exchanges)}, exchange)

    @property
    def scale(self):
        """Backward after forward gives this float times the input."""
        return _asked("scale", self._alive(), c_double()).value

    @property
    def buffer_bytes(self):
        """Bytes that must lie behind an array from its first element on, those of the largest array or more."""
        self._alive()
        return self._buffer_bytes

    def empty(self, array):
        """The calling rank's part of an array, not filled, aligned to 64 bytes, with `buffer_bytes` behind it. Local."""
        memory = np.empty(self.buffer_bytes + ALIGNMENT, np.uint8)
        return self._lay(memory, -memory.ctypes.data % ALIGNMENT, array)

    def view(self, part, array):
        """The same memory as another array, for transforms in place. Local.

        Raises
        ------
        PencilfftError
            When less than `buffer_bytes` lie behind `part`.
        """
        memory, offset = self._memory(part)
        return self._lay(memory, offset, array)

    def _lay(self, memory, offset, array):
        as_laid = self._array(array)
        return np.ndarray(as_laid.shape, as_laid.dtype, memory, offset, as_laid.strides)

    def _memory(self, array):
        """The array that owns the memory, and the offset of this one in bytes."""
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        offset = array.ctypes.data - owner.ctypes.data
        if not owner.flags.c_contiguous or offset < 0 or offset + self.buffer_bytes > owner.nbytes:
            raise PencilfftError(f"the memory behind the array must hold {self.buffer_bytes} bytes; make it by empty()")
        return owner, offset

    def _checked(self, part, array, written):
        wanted = self._array(array)
        if part.shape != wanted.shape or part.dtype != wanted.dtype:
            raise PencilfftError(f"array of {part.dtype} {part.shape}; array {array} is {wanted.dtype} {wanted.shape}")
        if part.strides != wanted.strides and any(  # along axes of extent 1 they do not matter
                n > 1 and mine != its for n, mine, its in zip(part.shape, part.strides, wanted.strides, strict=True)):
            raise PencilfftError(f"strides {part.strides}; array {array} has {wanted.strides}; make it by empty()")
        if written and not part.flags.writeable:
            raise PencilfftError("the array cannot be written")
        memory, offset = self._memory(part)
        return memory.ctypes.data + offset

    def forward(self, source, target):
        """Transform forward. Collective.

        Parameters
        ----------
        source : part of ``input``
            Kept, unless source and target are the same memory (`view`); they must not overlap partly.
        target : part of ``output``

        Raises
        ------
        PencilfftError
            For an array of another shape, type or strides, or with too little memory; this is raised on that rank alone,
            while the others wait. Also when the plan does not have this direction or was destroyed.
        """
        _call("execute", self._alive(), FORWARD, self._checked(source, "input", False),
              self._checked(target, "output", True))

    def backward(self, source, target):
        """Transform backward, not normalised (`scale`); errors as in `forward`. Collective.

        Parameters
        ----------
        source : part of ``output``
        target : part of ``input``
        """
        _call("execute", self._alive(), BACKWARD, self._checked(source, "output", False),
              self._checked(target, "input", True))

    def transpose(self, exchange, direction, source, target):
        """One exchange alone, without any FFT; errors as in `forward`. Collective.

        Parameters
        ----------
        exchange : str
            One of `exchanges`: of pencils ``row``, from Z to Y, or ``column``, from Y to X.
        direction : int
            `FORWARD`, or `BACKWARD` for the other direction.
        source, target : parts of the arrays before and after it
            The contents of `source` are lost. The two must not share memory.
        """
        e = self._number(exchange)
        first, last = _known({FORWARD: (e, e + 1), BACKWARD: (e + 1, e)}, direction)
        _call("transpose", self._alive(), e, direction, self._checked(source, first, True),
              self._checked(target, last, True))


@dataclass(frozen=True)
class _Array:
    """The library's description of the calling rank's part; constant while the plan lives."""

    offset: tuple
    shape: tuple
    strides: tuple  # bytes
    dtype: np.dtype


def _array_of(handle, number):
    box, form = _asked("box_mine", handle, _Box(), number), _asked("format_of", handle, _Format(), number)
    several = form.fields > 1
    return _Array(tuple(box.offset), ((form.fields,) if several else ()) + tuple(box.extent),
                   ((form.field_stride * form.element_bytes,) if several else ())
                   + tuple(step * form.element_bytes for step in box.stride),
                   np.dtype(f"{'c' if form.is_complex else 'f'}{form.element_bytes}"))


def _asked(name, handle, result, *arguments):
    """The value that a library function writes through its last pointer."""
    _call(name, handle, *arguments, byref(result))
    return result


def load_wisdom(path, comm):
    """Add a file's wisdom: FFTW's plans and the choices of ``auto``. Rank 0 reads. Collective.

    Parameters
    ----------
    path : path
    comm : mpi4py.MPI.Comm

    Returns
    -------
    bool
        False when there is no such file.

    Raises
    ------
    PencilfftError
        When it was written on another kind of machine or with another MPI, or is not a wisdom file.
    """
    found = c_int()
    _call("wisdom_load_fortran", os.fsencode(path), comm.py2f(), byref(found))
    return bool(found.value)


def save_wisdom(path, comm):
    """Replace the file by all wisdom. Rank 0 writes. Collective.

    Raises
    ------
    PencilfftError
        When it cannot be written; the file is then unchanged.
    """
    _call("wisdom_save_fortran", os.fsencode(path), comm.py2f())


def forget_wisdom():
    """Forget all wisdom, including FFTW's. Local."""
    _function("wisdom_forget")()


def _known(table, name):
    if name not in table:
        raise PencilfftError(f"unknown {name!r}; known: {', '.join(map(str, table))}")
    return table[name]
