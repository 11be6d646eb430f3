"""A made plan: its arrays, exchanges, choices and times."""

from ctypes import c_double, c_int, c_int64
from typing import Any, NamedTuple

import numpy as np

from pencilfft.boxes import Array, _Array, _check_form, _Form, _laid, _made, _piece_of
from pencilfft.errors import FORWARD, PencilfftError, _direction, _integer, _known
from pencilfft.header import numbers
from pencilfft.library import _asked, _call, _function, _Handled, _names, _sent, _text_of, names

#: With a number added: an array before its lines are transformed.
[BEFORE] = numbers("before").values()
PHASE_KINDS = {number: name for name, number in numbers(
    "fft", "pack", "exchange", "unpack", "total", "wait", "hidden").items()}
LINE_KINDS = {number: name for name, number in numbers("none", "dft", "r2c", "cosine", "sine", prefix="line_").items()}
REMAPS = numbers("remap_in", "remap_out")


class GridTrial(NamedTuple):
    """Times of whole transforms on a grid, in seconds of the slowest rank, forward and backward together if the plan has
    both. `spread` is the distance of the quartiles. Without `runs` the grid was refused or not tried.
    """

    grid: tuple[int, int]
    runs: int
    least: float
    median: float
    spread: float


class _Queries(_Handled):
    """The functions of `Plan` that ask for something and run nothing."""

    _extents: tuple[int, ...]
    _grid: tuple[int, int]
    _ranks: int  # of the communicator
    _form: _Form
    _exchanges: list[str]
    _arrays: dict[str | int, _Array]
    _array_numbers: dict[str | int, int]  # in the library
    _buffer_bytes: int

    def _array(self, name: str | int) -> _Array:
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

    @property
    def threads(self) -> int:
        """OpenMP threads that share the work of a rank, as given or as `OMP_THREADS` found."""
        return _asked("threads", self._alive())

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
        form = _asked("format_of", self._alive(), _known(self._array_numbers, array))
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
        form = _asked("format_of", self._alive(), number)
        which = (number, _integer(rank, "rank", 32), _integer(i, "i", 32))
        return _piece_of(_asked("part_of", self._alive(), *which), form, self._form).at

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
        text = _asked("plan_text", self._alive())
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
        found = _asked("grid_trials", self._alive())
        rows = [_asked("grid_trial_of", self._alive(), i) for i in range(found)]
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
        tried = {name: _asked("auto_seconds", self._alive(), number, i)
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
        line = _asked("line_of", self._alive(), _known({n: n for n in range(len(self._extents))}, axis))
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
            return float(_asked("waves", self._alive(), axis, c_int64(index)))

        output = _known(dict(enumerate(self._array("output").parts)), i)
        behind = [[0.]] * (len(output.shape) - len(output.box) if self._form.interleaved else 0)
        return np.ix_(*([of(axis, index) for index in range(mine.start, mine.stop)]
                        for axis, mine in enumerate(output.box)), *behind)[:self._form.axes]

    @property
    def scale(self) -> float:
        """Factor of backward after forward: the result is this number times the input."""
        return _asked("scale", self._alive())

    @property
    def exchange_error(self) -> float:
        """Most relative error, in the L2 norm, that exchanges in single precision add to a transform; 0.0 without them."""
        return _asked("exchange_error", self._alive())

    @property
    def buffer_bytes(self) -> int:
        """Bytes of the largest array, or more: what `empty` allocates, so that `view` finds room for any other array."""
        self._alive()
        return self._buffer_bytes

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
