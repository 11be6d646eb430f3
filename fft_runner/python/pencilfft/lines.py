"""Plans of distributed lines, and of bricks of lines."""

from collections.abc import Callable, Iterable, Mapping
from ctypes import byref, c_double, c_int, c_int64, c_void_p
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pencilfft.boxes import Array, _Array, _ends_of, _in_place, _laid, _made, _Piece
from pencilfft.errors import BACKWARD, FORWARD, _direction, _integer, _integers, _known, _text
from pencilfft.header import numbers
from pencilfft.library import _asked, _call, _collective, _function, _handle, _Handled, _names, _sent

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

LINE_ENDS = numbers("input", "output")


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
        elements = _asked(f"{self._kind}_elements", self._alive())
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
        points = _asked("line_points", self._alive(), *where)
        found = np.empty(points, np.int64)
        _call("line_indices", self._handle, *where, np.ctypeslib.as_ctypes(found))
        return found

    def shape(self, array: str) -> tuple[int, ...]:
        """Return the number of points of the calling rank, after the lines if there are several."""
        points = _asked("line_points", self._alive(), _known(LINE_ENDS, array), self._rank)
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
            _call("brick_lines_indices", self._handle, number, who, axis, np.ctypeslib.as_ctypes(points))
        return found

    def shape(self, array: str) -> tuple[int, ...]:
        """Return the numbers of points of the calling rank along x, y and z, after the fields if there are several."""
        extent = self._extent(_known(LINE_ENDS, array), self._rank)
        return extent if self._fields == 1 else (self._fields, *extent)

    def _extent(self, array: int, rank: int) -> tuple[int, ...]:
        extent = (c_int64 * 3)()
        _call("brick_lines_extent", self._alive(), array, rank, extent)
        return tuple(extent)
