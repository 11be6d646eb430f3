"""Derivatives of periodic fields by their spectra: gradient, divergence, curl, Laplacian, its inverse, solenoidal part.

>>> from pencilfft import Plan                                                                 # doctest: +SKIP
>>> from pencilfft.operators import divergence, gradient                                       # doctest: +SKIP
>>> with Plan((128, 128, 128), type="r2c") as plan:                                            # doctest: +SKIP
...     slopes = [plan.backward(part) / plan.scale for part in gradient(plan, plan.forward(f))]

All functions take the output of a plan of type ``c2c`` or ``r2c`` that transforms all axes, and are local. Plans of two
dimensions have x and y in place of x, y and z. `lengths` are the periods of x, y and z. Odd derivatives of the wave with two
points a period, which exists for even extents, will be 0. If the output has several parts (schedules ``two-way`` and
``opposite``), the arrays are those of part `part`; see `Plan.split`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilfft import PencilfftError, Plan

Array = NDArray[Any]
Lengths = float | Sequence[float]
PERIODIC = (None, "c2c", "r2c", "c2r")
WHOLE = 2 * np.pi


def wavenumbers(plan: Plan, lengths: Lengths = WHOLE, part: int = 0) -> tuple[NDArray[np.float64], ...]:
    """Return the wavenumbers of the modes of this rank.

    Parameters
    ----------
    plan : Plan
    lengths : float or three floats, optional
        Periods of x, y and z; 2 pi.
    part : int, optional
        Part of an output with several parts.

    Returns
    -------
    three arrays, or two
        Wavenumbers along x, y and z, of shapes (nx, 1, 1), (1, ny, 1) and (1, 1, nz) with the extents of the part, which
        broadcast to arrays with fields in front.

    Raises
    ------
    PencilfftError
        If the plan does not transform all axes by DFTs; if a length is not positive and finite.
    """
    if plan.choice("type") not in PERIODIC or plan.choice("skip"):
        raise PencilfftError(f"{plan!r} does not transform all axes by DFTs; make a plan of type c2c or r2c without skip")
    if plan.choice("interleaved"):
        raise PencilfftError(f"{plan!r} has the fields behind the axes, and operators take them in front; make a plan "
                             "without interleaved")
    try:
        periods = np.broadcast_to(np.asarray(lengths, float), (len(plan.extents),))
    except ValueError:
        periods = np.zeros(1)
    if not (np.isfinite(periods).all() and (periods > 0).all()):
        raise PencilfftError(f"lengths are {lengths}; give one positive number, or one for each axis")
    return tuple(2 * np.pi / length * waves for length, waves in zip(periods, plan.waves(part), strict=True))


def _check(given: Any, waves: Sequence[NDArray[np.float64]], vector: bool) -> None:
    """Refuse anything but a spectrum of this rank, which NumPy might broadcast, or a vector of spectra."""
    shape = tuple(k.size for k in waves)
    right = isinstance(given, np.ndarray) and given.dtype.kind == "c"
    if right and given.shape[-len(shape):] == shape and (not vector or given.shape[:-len(shape)] == (len(shape),)):
        return
    what = f"{given.dtype} {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
    raise PencilfftError(f"{what} given; give a complex array of shape {(len(shape), *shape) if vector else (..., *shape)}")


def _odd(plan: Plan, given: Any, vector: bool, lengths: Lengths, part: int) -> tuple[NDArray[np.float64], ...]:
    """Return the wavenumbers of odd derivatives of the given spectra."""
    found = wavenumbers(plan, lengths, part)
    _check(given, found, vector)
    return tuple(np.where(2 * np.abs(waves) == n, 0, k)
                 for k, waves, n in zip(found, plan.waves(part), plan.extents, strict=True))


def _squares(plan: Plan, given: Any, lengths: Lengths, part: int) -> NDArray[np.float64]:
    k = wavenumbers(plan, lengths, part)
    _check(given, k, vector=False)
    return np.asarray(sum(one**2 for one in k))


def gradient(plan: Plan, f_hat: Array, lengths: Lengths = WHOLE, part: int = 0, out: Array | None = None) -> Array:
    """Return the spectra of the derivatives along x, y and z.

    Parameters
    ----------
    plan : Plan
    f_hat : array (..., nx, ny, nz)
        A spectrum, or several in front.
    lengths, part
        See `wavenumbers`.
    out : array (3, ..., nx, ny, nz), optional
        Takes the result, e.g. ``empty("output")`` of a plan of three fields; a new array by default.

    Returns
    -------
    array (3, ..., nx, ny, nz)
    """
    waves = _odd(plan, f_hat, False, lengths, part)
    result = np.empty((len(waves), *f_hat.shape), f_hat.dtype) if out is None else out
    for slope, k in zip(result, waves, strict=True):
        np.multiply(f_hat, 1j * k, out=slope, casting="same_kind")
    return result


def divergence(plan: Plan, v_hat: Array, lengths: Lengths = WHOLE, part: int = 0) -> Array:
    """Return the spectrum of the divergence, of shape (nx, ny, nz), of a vector's spectra (3, nx, ny, nz)."""
    total = sum(k * component for k, component in zip(_odd(plan, v_hat, True, lengths, part), v_hat, strict=True))
    return np.asarray((1j * total).astype(v_hat.dtype, copy=False))


def curl(plan: Plan, v_hat: Array, lengths: Lengths = WHOLE, part: int = 0, out: Array | None = None) -> Array:
    """Return the spectra of the curl, of shape (3, nx, ny, nz), of a vector's spectra of the same shape.

    `out` takes the result and must not share memory with `v_hat`.
    """
    if len(plan.extents) != 3:
        raise PencilfftError(f"{plan!r} has two dimensions; the curl is that of three")
    k = _odd(plan, v_hat, True, lengths, part)
    result = np.empty_like(v_hat) if out is None else out
    for i in range(3):
        result[i] = 1j * (k[i - 2] * v_hat[i - 1] - k[i - 1] * v_hat[i - 2])
    return result


def solenoidal(plan: Plan, v_hat: Array, lengths: Lengths = WHOLE, part: int = 0, out: Array | None = None) -> Array:
    """Return the spectra of the part of a vector field without divergence, of the shape (3, nx, ny, nz) of `v_hat`.

    `out` takes the result and may be `v_hat`. The waves are those of `divergence`, so its result for this part will be 0,
    also if the field has waves of two points a period; v - gradient(inverse_laplacian(divergence(v))) leaves these.
    """
    k = _odd(plan, v_hat, True, lengths, part)
    squares = np.asarray(sum(one**2 for one in k))
    along = np.divide(sum(one * component for one, component in zip(k, v_hat, strict=True)), squares,
                      out=np.zeros_like(v_hat[0]), where=squares > 0, casting="same_kind")
    result = np.empty_like(v_hat) if out is None else out
    for mine, component, one in zip(result, v_hat, k, strict=True):
        np.subtract(component, one * along, out=mine, casting="same_kind")
    return result


def laplacian(plan: Plan, f_hat: Array, lengths: Lengths = WHOLE, part: int = 0) -> Array:
    """Return the spectrum of the Laplacian, of the shape (..., nx, ny, nz) of `f_hat`."""
    return np.asarray((f_hat * -_squares(plan, f_hat, lengths, part)).astype(f_hat.dtype, copy=False))


def inverse_laplacian(plan: Plan, f_hat: Array, lengths: Lengths = WHOLE, part: int = 0) -> Array:
    """Return the spectrum of u with mean 0 whose Laplacian is f less its mean, of the shape (..., nx, ny, nz) of `f_hat`."""
    squares = _squares(plan, f_hat, lengths, part)
    inverse = np.divide(-1, squares, out=np.zeros_like(squares), where=squares > 0)
    return np.asarray((f_hat * inverse).astype(f_hat.dtype, copy=False))
