"""Derivatives of fields by their spectra: gradient, divergence, curl, Laplacian, its inverse, solenoidal part.

>>> from pencilfft import Plan                                                                 # doctest: +SKIP
>>> from pencilfft.operators import divergence, gradient                                       # doctest: +SKIP
>>> with Plan((128, 128, 128), type="r2c") as plan:                                            # doctest: +SKIP
...     slopes = [plan.backward(part) / plan.scale for part in gradient(plan, plan.forward(f))]

All functions but `derivative` need a plan that transforms all axes, by DFTs, cosines or sines. They are local. Plans of two
dimensions have x and y in place of x, y and z. `lengths` are the periods of axes with a DFT, and the distances between the
walls of axes with cosines or sines: (n - 1) grid steps for ``dct1``, (n + 1) for ``dst1``, n for the other kinds. Odd
derivatives of the wave with two points a period, which exists for even extents and some cosines and sines, will be 0. If the
output has several parts (schedules ``two-way`` and ``opposite``), the arrays are those of part `part`; see `Plan.split`.

A derivative of cosines is a series of sines, which another plan transforms: `derivative_plan` tells its shape and type. The
components of a gradient, and of the vectors that `divergence`, `curl` and `solenoidal` take, have this type each along its
own axis; the components of a curl along the two other axes. Modes of kinds I and II then change their numbers, so that the
axis must be whole in the output, the last of `order`. Kind III has its points at grid steps 0, 1, ... for cosines, and 1, 2,
... for sines.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencilfft import PencilfftError, Plan
from pencilfft.boxes import WALLS, WHOLE, Lengths

Array = NDArray[Any]
OTHER = {"cosine": "sine", "sine": "cosine"}
MOVES = {("cosine", 1): (slice(1, -1), (0, 0)), ("cosine", 2): (slice(1, None), (0, 1)),  # modes with a wave in the other
         ("sine", 1): (slice(None), (1, 1)), ("sine", 2): (slice(None, -1), (1, 0))}  # series, and zeros around them


def wavenumbers(plan: Plan, lengths: Lengths = WHOLE, part: int = 0) -> tuple[NDArray[np.float64], ...]:
    """Return the wavenumbers of the modes of this rank.

    Parameters
    ----------
    plan : Plan
    lengths : float or three floats, optional
        Periods of x, y and z, or distances between walls; 2 pi.
    part : int, optional
        Part of an output with several parts.

    Returns
    -------
    three arrays, or two
        Wavenumbers along x, y and z, of shapes (nx, 1, 1), (1, ny, 1) and (1, 1, nz) with the extents of the part, which
        broadcast to arrays with fields in front; 0 along an axis that is not transformed.

    Raises
    ------
    PencilfftError
        If the fields are interleaved; if a length is not positive and finite.
    """
    if plan.choice("interleaved"):
        raise PencilfftError(f"{plan!r} has the fields behind the axes, and operators take them in front; make a plan "
                             "without interleaved")
    return tuple(2 * np.pi / period * waves
                 for period, waves in zip(plan._periods(lengths), plan.waves(part), strict=True))


def _check(plan: Plan, given: Any, waves: Sequence[NDArray[np.float64]], vector: bool) -> None:
    """Refuse anything but a spectrum of this rank, or a vector of spectra, which NumPy might broadcast."""
    shape, numbers = tuple(k.size for k in waves), plan.dtype("output").kind
    right = isinstance(given, np.ndarray) and given.dtype.kind == numbers
    if right and given.shape[-len(shape):] == shape and (not vector or given.shape[:-len(shape)] == (len(shape),)):
        return
    what = f"{given.dtype} {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
    raise PencilfftError(f"{what} given; give a {'complex' if numbers == 'c' else 'real'} array of shape "
                         f"{(len(shape), *shape) if vector else (..., *shape)}")


def _kind_along(plan: Plan, axis: int) -> tuple[str, int]:
    """Return `Plan.line_of`, if derivatives are known."""
    kind, number = plan.line_of(axis)
    if kind == "none":
        raise PencilfftError(f"{plan!r} does not transform {'xyz'[axis]}, along which its spectra have no derivative; "
                             "multiply by wavenumbers() of the other axes")
    if plan.choice("type") == "chebyshev" and number:
        raise PencilfftError(f"{plan!r} has Chebyshev polynomials along {'xyz'[axis]}, whose derivatives are a recurrence "
                             "on whole lines; a series of cosines is type dct1,c2c,r2c")
    return kind, number


def derivative_plan(plan: Plan, axis: int) -> tuple[tuple[int, ...], str]:
    """Return shape and type of a plan, on the same grid, for the derivative along axis 0, 1 or 2 (x, y or z).

    >>> with Plan((9, 8, 10), type="dct1,c2c,r2c") as plan:                                    # doctest: +SKIP
    ...     derivative_plan(plan, 0)
    ((7, 8, 10), 'dst1,c2c,r2c')
    """
    names, shape = [], list(plan.extents)
    if _kind_along(plan, axis) == ("cosine", 1) and shape[axis] == 2:
        raise PencilfftError(f"{plan!r} has the points of {'xyz'[axis]} on the walls, where the derivative of cosines is 0; "
                             "give 3 points or more")
    for at in range(len(shape)):
        kind, number = plan.line_of(at)
        if at == axis and number == 1:
            shape[at] += 2 * WALLS[kind]
        kind = OTHER.get(kind, kind) if at == axis else kind
        names.append({"dft": "c2c", "cosine": f"dct{number}", "sine": f"dst{number}"}.get(kind, kind))
    return tuple(shape), ",".join(names)


def _moved(plan: Plan, given: Array, axis: int, kind: str, number: int) -> Array:
    """Return modes of cosines or sines along an axis at the numbers that the same waves have in the other series."""
    if number > 2:
        return given
    at = given.ndim - len(plan.extents) + axis
    shape = plan.extents if kind == plan.line_of(axis)[0] else derivative_plan(plan, axis)[0]
    least = plan.part_of("output", plan.ranks - 1)[axis - len(shape)]  # the last rank has the shortest part: all agree
    if least.stop - least.start != plan.extents[axis] or given.shape[at] != shape[axis]:
        letter = "xyz"[axis]
        raise PencilfftError(f"the ranks divide {letter} of the output, along which cosines and sines of kinds I and II "
                             f"have other numbers for the same mode; make {letter} the last of order")
    kept, zeros = MOVES[kind, number]
    lines = np.moveaxis(given, at, -1)[..., kept]
    return np.moveaxis(np.pad(lines, [*[(0, 0)] * (lines.ndim - 1), zeros]), -1, at)


def _slope(plan: Plan, given: Array, axis: int, k: NDArray[np.float64], back: bool = False) -> Array:
    """Return the derivative of a spectrum of the plan, or `back` the spectrum of the plan that is the derivative of another
    plan's (`derivative_plan`).
    """
    kind, number = _kind_along(plan, axis)
    if kind not in OTHER:
        return (given * (1j * k)).astype(given.dtype, copy=False)
    factor = k if (kind == "sine") != back else -k
    if back:
        return (_moved(plan, given, axis, OTHER[kind], number) * factor).astype(given.dtype, copy=False)
    return _moved(plan, (given * factor).astype(given.dtype, copy=False), axis, kind, number)


def _check_equal_extents(plan: Plan) -> None:
    for axis in range(len(plan.extents)):
        if _kind_along(plan, axis)[1] == 1:
            raise PencilfftError(f"{plan!r} has kind I along {'xyz'[axis]}, whose derivative has other extents; take "
                                 "derivative() for each axis")


def _odd(plan: Plan, given: Any, vector: bool, lengths: Lengths, part: int) -> tuple[NDArray[np.float64], ...]:
    """Return the wavenumbers of odd derivatives of the given spectra."""
    found = wavenumbers(plan, lengths, part)
    _check(plan, given, found, vector)
    return tuple(np.where(np.isclose(2 * np.abs(waves), n), 0, k)
                 for k, waves, n in zip(found, plan.waves(part), plan.extents, strict=True))


def _squares(plan: Plan, given: Any, lengths: Lengths, part: int) -> NDArray[np.float64]:
    k = wavenumbers(plan, lengths, part)
    for axis in range(len(k)):
        _kind_along(plan, axis)
    _check(plan, given, k, vector=False)
    return np.asarray(sum(one**2 for one in k))


def derivative(plan: Plan, f_hat: Array, axis: int, lengths: Lengths = WHOLE, part: int = 0) -> Array:
    """Return the spectrum of the derivative along axis 0, 1 or 2 (x, y or z), an output of `derivative_plan`.

    Parameters
    ----------
    plan : Plan
    f_hat : array (..., nx, ny, nz)
        A spectrum, or several in front.
    axis : int
    lengths, part
        See `wavenumbers`.

    Raises
    ------
    PencilfftError
        If the axis is not transformed, has `dct1` of two points, or has kind I or II and is divided over ranks.
    """
    derivative_plan(plan, axis)  # may refuse the axis
    return _slope(plan, f_hat, axis, _odd(plan, f_hat, False, lengths, part)[axis])


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
    _check_equal_extents(plan)
    result = np.empty((len(waves), *f_hat.shape), f_hat.dtype) if out is None else out
    for axis, k in enumerate(waves):
        result[axis] = _slope(plan, f_hat, axis, k)
    return result


def divergence(plan: Plan, v_hat: Array, lengths: Lengths = WHOLE, part: int = 0) -> Array:
    """Return the spectrum of the divergence, of shape (nx, ny, nz), of a vector's spectra (3, nx, ny, nz)."""
    waves = _odd(plan, v_hat, True, lengths, part)
    _check_equal_extents(plan)
    return np.asarray(sum(_slope(plan, v_hat[axis], axis, k, back=True) for axis, k in enumerate(waves)))


def curl(plan: Plan, v_hat: Array, lengths: Lengths = WHOLE, part: int = 0, out: Array | None = None) -> Array:
    """Return the spectra of the curl, of shape (3, nx, ny, nz), of a vector's spectra of the same shape.

    `out` takes the result and must not share memory with `v_hat`.
    """
    if len(plan.extents) != 3:
        raise PencilfftError(f"{plan!r} has two dimensions; the curl is that of three")
    k = _odd(plan, v_hat, True, lengths, part)
    _check_equal_extents(plan)
    result = np.empty_like(v_hat) if out is None else out
    for i in range(3):
        j, other = (i + 1) % 3, (i + 2) % 3
        result[i] = _slope(plan, v_hat[other], j, k[j]) - _slope(plan, v_hat[j], other, k[other])
    return result


def solenoidal(plan: Plan, v_hat: Array, lengths: Lengths = WHOLE, part: int = 0, out: Array | None = None) -> Array:
    """Return the spectra of the part of a vector field without divergence, of the shape (3, nx, ny, nz) of `v_hat`.

    `out` takes the result and may be `v_hat`. The waves are those of `divergence`, so its result for this part will be 0,
    also if the field has waves of two points a period; v - gradient(inverse_laplacian(divergence(v))) leaves these.
    """
    k = _odd(plan, v_hat, True, lengths, part)
    squares = np.asarray(sum(one**2 for one in k))
    potential = divergence(plan, v_hat, lengths, part)
    np.divide(potential, squares, out=potential, where=squares > 0, casting="same_kind")
    result = np.empty_like(v_hat) if out is None else out
    for axis, one in enumerate(k):
        np.add(v_hat[axis], _slope(plan, potential, axis, one), out=result[axis])
    return result


def laplacian(plan: Plan, f_hat: Array, lengths: Lengths = WHOLE, part: int = 0) -> Array:
    """Return the spectrum of the Laplacian, of the shape (..., nx, ny, nz) of `f_hat`."""
    return np.asarray((f_hat * -_squares(plan, f_hat, lengths, part)).astype(f_hat.dtype, copy=False))


def inverse_laplacian(plan: Plan, f_hat: Array, lengths: Lengths = WHOLE, part: int = 0) -> Array:
    """Return the spectrum of u with mean 0 whose Laplacian is f less its mean, of the shape (..., nx, ny, nz) of `f_hat`."""
    squares = _squares(plan, f_hat, lengths, part)
    inverse = np.divide(-1, squares, out=np.zeros_like(squares), where=squares > 0)
    return np.asarray((f_hat * inverse).astype(f_hat.dtype, copy=False))
