"""The input, and some elements of the correct result by the sums that define them.

Every element is a function of its global index, so every library's layout has the same array. The input of c2r is the
transform of a few peaks, so its result is these peaks.
"""

from typing import Any

import numpy as np

from pencilmap.scripts.maintenance.benchmarks import Case

HEIGHTS = np.array([1.0, 2.0, 0.0, 0.0])  # of the peaks at `places`, for c2r
PLACES = len(HEIGHTS)
KNUTH, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)  # odd numbers without a pattern
IMAGINARY = np.uint64(1 << 40)


def places(case: Case) -> list[tuple[int, ...]]:
    """Return the checked positions of the result: tuples x, y, z, drawn with a fixed seed."""
    dice = np.random.default_rng(1)
    return [tuple(int(dice.integers(n)) for n in case.output_shape) for _ in range(PLACES)]


def input_part(case: Case, part: tuple[slice, ...]) -> np.ndarray:
    """Return the input in a part of the global array: `part` is three slices, axes x, y, z, type ``case.input_dtype``."""
    if case.type == "c2r":
        return _of_peaks(case, part)
    index = _global_index(case.shape, part)
    values = _hashed(index)
    return (values + 1j * _hashed(index + IMAGINARY) if case.type == "c2c" else values).astype(case.input_dtype)


def expected(case: Case, comm: Any) -> tuple[np.ndarray, float]:
    """Return the elements of the result at `places`, complex (PLACES,), and the typical size of an element. Collective."""
    if case.type == "c2r":
        whole = np.prod(case.shape, dtype=float)
        return whole * HEIGHTS, whole
    nx = case.shape[0]
    sums = np.zeros(PLACES, complex)
    for x in range(comm.rank * nx // comm.size, (comm.rank + 1) * nx // comm.size):
        plane = input_part(case, (slice(x, x + 1), *(slice(0, n) for n in case.shape[1:])))[0]
        for i, (kx, ky, kz) in enumerate(places(case)):
            along_z = plane @ _weights(case, 2, kz)
            sums[i] += _weights(case, 0, kx)[x] * (along_z @ _weights(case, 1, ky))
    return comm.allreduce(sums), np.sqrt(np.prod(case.shape, dtype=float))


def _of_peaks(case, part):
    total = np.zeros([axis.stop - axis.start for axis in part], complex)
    for height, place in zip(HEIGHTS, places(case), strict=True):
        x, y, z = (_wave(n, at)[axis] for n, at, axis in zip(case.shape, place, part, strict=True))
        total += height * x[:, None, None] * y[:, None] * z
    return total.astype(case.input_dtype)


def _wave(n, k):
    """exp(-2 pi i j k / n) for all j."""
    return np.exp(-2j * np.pi * (np.arange(n) * k % n) / n)


def _weights(case, axis, k):
    """The weights of the sum for element k of a line along an axis."""
    n = case.shape[axis]
    if case.type == "dct":
        return 2 * np.cos(np.pi * ((2 * np.arange(n) + 1) * k % (4 * n)) / (2 * n))
    if case.type == "dst":
        return 2 * np.sin(np.pi * ((2 * np.arange(n) + 1) * (k + 1) % (4 * n)) / (2 * n))
    return _wave(n, k)


def _global_index(shape, part):
    x, y, z = (np.arange(axis.start, axis.stop, dtype=np.uint64) for axis in part)
    _, ny, nz = (np.uint64(n) for n in shape)
    return (x[:, None, None] * ny + y[:, None]) * nz + z


def _hashed(numbers):
    """Pseudo-random numbers between -1/2 and 1/2."""
    mixed = numbers * KNUTH
    mixed ^= mixed >> np.uint64(32)
    mixed *= MIX
    return (mixed >> np.uint64(40)).astype(np.float64) / (1 << 24) - 0.5
