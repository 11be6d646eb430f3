"""Halos around the arrays of a plan."""

from collections.abc import Sequence
from ctypes import byref, c_int64, c_void_p
from math import prod
from typing import TYPE_CHECKING, Any

from pencilfft.boxes import Array, _Array, _check_apart, _check_form, _made, _piece_of, _place_of
from pencilfft.errors import AXES, FORWARD, PencilfftError, _direction, _integers, _known
from pencilfft.header import STRUCTURES
from pencilfft.library import _asked, _call, _collective, _Handled, _sent

if TYPE_CHECKING:
    from pencilfft.plan import Plan


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
    def __init__(self, plan: "Plan", array: str | int, low: int | Sequence[int], high: int | Sequence[int]) -> None:
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
        form = STRUCTURES["format"](element_bytes=of.dtype.itemsize, fields=of.fields)
        self._padded = _Array(of.dtype, of.fields, (_piece_of(_asked("halo_part", handle), form, plan._form),))

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


def _widths(given: Any, name: str, axes: int) -> Any:
    widths = _integers(given, (1, axes), name, f"a width of a halo: one number, or {AXES[axes]}")
    return (c_int64 * 3)(*(widths * axes if len(widths) == 1 else widths))
