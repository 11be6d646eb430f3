"""Boxes, the forms of arrays, and their memory."""

import ctypes
import mmap
from collections.abc import Iterable
from ctypes import c_size_t, c_void_p
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pencilfft.errors import AXES, PencilfftError, Value, _integer, _shown
from pencilfft.header import STRUCTURES, numbers
from pencilfft.library import _asked

Array: TypeAlias = NDArray[Any]
ENDS = numbers("input", "output", "inner input", "inner output")
ALIGNMENT = 64  # of arrays that are made here
LARGE_PAGE = 1 << 21  # bytes; the alignment of arrays that have so many
NEEDED_ALIGNMENT = 16
NUMBERS = "biufc"  # kinds of NumPy's types that can be copied


def _box(given: Any, name: str, axes: int = 3) -> ctypes.Structure:
    """Return a box from slices of x, y and z, or of x and y, with both ends."""
    slices = tuple(islice(given, 4)) if isinstance(given, Iterable) else ()
    if len(slices) != axes or not all(isinstance(one, slice) and one.step in (None, 1) for one in slices):
        given_axes = AXES[axes].replace("for", "slices of")
        raise PencilfftError(f"{name} is {_shown(given)}; give {given_axes}, each with start and stop")
    slices += (slice(0, 1),) * (3 - axes)
    ends = [(_integer(one.start, f"start of {name}"), _integer(one.stop, f"stop of {name}")) for one in slices]
    box = STRUCTURES["box"]()
    box.offset[:], box.extent[:] = zip(*((start, _integer(stop - start, f"extent of {name}")) for start, stop in ends),
                                       strict=True)
    return box


def _in_place(ends: "_Ends") -> str:
    return ", in place" if ends.addresses[0] == ends.addresses[1] else ""


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
    form = _asked("format_of", handle, number)
    parts = range(_asked("parts", handle, number))
    return _Array(np.dtype(f"{'c' if form.is_complex else 'f'}{form.element_bytes}"), form.fields,
                  tuple(_piece_of(_asked("part_mine", handle, number, i), form, laid) for i in parts))


def _piece_of(part: Any, form: Any, laid: _Form) -> _Piece:
    inner = tuple(zip(part.box.offset, part.box.extent, part.box.stride, strict=True))[:laid.axes]
    box = tuple(slice(first, first + n) for first, n, _ in inner)
    axes = laid.with_fields(inner, form.fields, (part.first_field, part.fields, part.field_stride))
    return _Piece(tuple(slice(first, first + n) for first, n, _ in axes), box, tuple(n for _, n, _ in axes),
                  part.start * form.element_bytes, tuple(step * form.element_bytes for _, _, step in axes))
