"""Plans of transforms."""

from collections.abc import Callable, Sequence
from ctypes import byref, c_char_p, c_double, c_int, c_int64, c_void_p
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

import numpy as np

from pencilfft.boxes import (
    ENDS,
    NEEDED_ALIGNMENT,
    Array,
    _Array,
    _array_of,
    _box,
    _check_apart,
    _check_form,
    _check_is_array,
    _Ends,
    _ends_of,
    _Form,
    _given,
    _in_place,
    _laid,
    _made,
    _meet,
    _piece_of,
    _Place,
    _place_of,
)
from pencilfft.errors import (
    BACKWARD,
    FORWARD,
    PencilfftError,
    _direction,
    _factors,
    _integer,
    _integers,
    _known,
    _real,
    _shown,
    _text,
    _truth,
)
from pencilfft.halo import Halo
from pencilfft.library import (
    NORMS,
    _asked,
    _call,
    _collective,
    _comm_and_grid,
    _Descriptor,
    _Format,
    _function,
    _GridTrial,
    _handle,
    _Handled,
    _Line,
    _names,
    _Part,
    _sent,
    _text_of,
    names,
)

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

#: Number of threads that follows ``OMP_NUM_THREADS``.
OMP_THREADS = -1
#: With a number added: an array before its lines are transformed.
BEFORE = 16
PHASE_KINDS = ("fft", "pack", "exchange", "unpack", "total", "wait", "hidden")
LINE_KINDS = ("none", "dft", "r2c", "cosine", "sine")
REMAPS = {"remap_in": -2, "remap_out": -1}
ORDERS = {2: "yx", 3: "zyx"}  # of the axes, by default
NEARLY = 1e-6  # points that rounding may add to an extent times a factor


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


class GridTrial(NamedTuple):
    """Times of whole transforms on a grid, in seconds of the slowest rank, forward and backward together if the plan has
    both. `spread` is the distance of the quartiles. Without `runs` the grid was refused or not tried.
    """

    grid: tuple[int, int]
    runs: int
    least: float
    median: float
    spread: float


#: For each keyword of `Plan`: the last part of ``pencilfft_desc_set_``, and the conversion of its value.
MEMBERS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    **dict.fromkeys(("decomposition", "type", "kinds", "skip", "precision", "exchange_precision", "order", "layout",
                     "exchange", "rigor", "sync", "schedule", "torus", "node"), ("text", _text)),
    **dict.fromkeys(("directions", "fields", "threads"), ("integer", partial(_integer, bits=32))),
    **dict.fromkeys(("padded_nx", "padded_ny", "padded_nz"), ("integer", _integer)), "padding": ("factors", _factors),
    "destroy_input": ("integer", _truth), "nonblocking": ("integer", _truth),
    "caller_work": ("integer", _truth), "interleaved": ("integer", _truth), "auto_budget_s": ("real", _real),
    "input_box": ("box", _box), "output_box": ("box", _box)}


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
