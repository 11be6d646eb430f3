"""Plans of transforms."""

from collections.abc import Callable, Sequence
from ctypes import byref, c_int, c_void_p
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from pencilfft.boxes import (
    ENDS,
    NEEDED_ALIGNMENT,
    Array,
    _array_of,
    _box,
    _check_apart,
    _check_is_array,
    _Ends,
    _ends_of,
    _Form,
    _given,
    _in_place,
    _meet,
    _Place,
    _place_of,
)
from pencilfft.errors import (
    BACKWARD,
    FORWARD,
    PencilfftError,
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
from pencilfft.header import numbers
from pencilfft.library import NORMS, _asked, _call, _collective, _comm_and_grid, _Descriptor, _handle, _names, names
from pencilfft.queries import BEFORE, _Queries

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

#: Number of threads that follows ``OMP_NUM_THREADS``.
[OMP_THREADS] = numbers("omp_threads").values()
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


#: For each keyword of `Plan`: the last part of ``pencilfft_desc_set_``, and the conversion of its value.
MEMBERS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    **dict.fromkeys(("decomposition", "type", "kinds", "skip", "precision", "exchange_precision", "order", "layout",
                     "exchange", "rigor", "sync", "schedule", "torus", "node"), ("text", _text)),
    **dict.fromkeys(("directions", "fields", "threads"), ("integer", partial(_integer, bits=32))),
    **dict.fromkeys(("padded_nx", "padded_ny", "padded_nz"), ("integer", _integer)), "padding": ("factors", _factors),
    "destroy_input": ("integer", _truth), "nonblocking": ("integer", _truth),
    "caller_work": ("integer", _truth), "interleaved": ("integer", _truth), "auto_budget_s": ("real", _real),
    "input_box": ("box", _box), "output_box": ("box", _box)}


class Plan(_Queries):
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
        ``c2c`` (default) or another of the table in pencilfft.h, or a kind for each axis: ``dct1,c2c,r2c``
        (``names("line_kind")``).
    kinds : str, optional
        For the types ``dct`` and ``dst``: 1 to 4 for x, y, z (default ``2,2,2``); ``c1,s2,3`` mixes cosines and sines.
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
                                *(f"{name} {value}" for name, value in given.items())])
        self._exchanges = _names("exchange_stage", handle)
        numbers: dict[str | int, int] = {number: number for number in range(len(self._exchanges) + 1)}
        numbers.update({BEFORE + number: BEFORE + number for number in range(1, len(self._exchanges) + 1)})
        numbers.update(ENDS)
        if choices.get("decomposition") in (None, "pencil"):
            numbers.update({axis: number for number, axis in enumerate(self._order)})
        self._arrays = {name: _array_of(handle, number, self._form) for name, number in numbers.items()}
        self._array_numbers, self._ranks = numbers, comm.size
        self._given, self._loses_input = given, bool(choices.get("destroy_input"))
        self._buffer_bytes = _asked("alloc_bytes", handle)

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

    def choice(self, keyword: str) -> Any:
        """Return a keyword argument with which the plan was made; None without this argument."""
        _known(MEMBERS, keyword)
        return self._given.get(keyword)

    def work_bytes(self, in_place: bool = False) -> int:
        """Return the bytes of work memory that a plan with `caller_work` needs, for transforms between two arrays or also in
        place. 0 for other plans. Local.
        """
        return _asked("work_bytes", self._alive(), _truth(in_place, "in_place"))

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
