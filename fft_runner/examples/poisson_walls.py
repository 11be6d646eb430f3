"""Solve laplace(u) = f between walls at x = 0 and x = 1, where u = 0, periodic in y and z with period 2 pi. Along y and z by
transforms, along x by second differences: a tridiagonal system for each mode. u is a cubic in x, for which they are exact.

mpirun -n 4 python poisson_walls.py
"""

import numpy as np
from mpi4py import MPI

from pencilfft import Plan

N = (47, 40, 36)  # inner points along x
comm = MPI.COMM_WORLD


def solve_tridiagonal(diagonal: np.ndarray, right: np.ndarray) -> None:
    """Solve v[i - 1] + diagonal * v[i] + v[i + 1] = right[i] along the first axis, in place (Thomas's algorithm)."""
    pivot = np.empty((len(right), *diagonal.shape))
    pivot[0] = diagonal
    for i in range(1, len(right)):
        pivot[i] = diagonal - 1 / pivot[i - 1]
        right[i] -= right[i - 1] / pivot[i - 1]
    right[-1] /= pivot[-1]
    for i in range(len(right) - 2, -1, -1):
        right[i] = (right[i] - right[i + 1]) / pivot[i]


with Plan(N, comm, type="r2c", skip="x") as plan:  # after the transform every rank has whole lines along x
    step = 1 / (N[0] + 1)
    i, j, k = np.ogrid[plan.part("input")]
    x, y, z = (i + 1) * step, 2 * np.pi * j / N[1], 2 * np.pi * k / N[2]
    wave = np.sin(2 * y) * np.cos(3 * z)
    u = (x - x**3) * wave
    f_hat = plan.forward(-6 * x * wave - 13 * u)
    _, ky, kz = plan.waves()
    f_hat *= step**2 / plan.scale
    solve_tridiagonal(-2 - step**2 * (ky**2 + kz**2)[0], f_hat)
    result = plan.backward(f_hat)

error = comm.allreduce(float(np.abs(result - u).max(initial=0)), MPI.MAX)
if comm.rank == 0:
    print(f"poisson_walls.py: {N}, largest error {error:.1e}")
if error > 1e-12:
    raise SystemExit(1)
