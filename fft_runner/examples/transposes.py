"""Laplacian of a periodic function, computed on whole lines with the library's transposes alone, without its FFTs.

mpirun -n 4 python transposes.py

Second derivative by a differentiation matrix: L. N. Trefethen, Spectral Methods in MATLAB, 2000, (3.12).
"""

import numpy as np
from mpi4py import MPI

from pencilfft import BACKWARD, FORWARD, Plan

N = (32, 24, 28)  # even, for that matrix
comm = MPI.COMM_WORLD
C, R = MPI.Compute_dims(comm.size, 2)


def second_derivative(a: np.ndarray, axis: int) -> np.ndarray:
    """Second derivative along an undivided axis."""
    n = a.shape[axis]
    distance = np.arange(1, n)
    column = np.concatenate([[-(n**2 + 2) / 12], -((-1.0) ** distance) / (2 * np.sin(distance * np.pi / n) ** 2)])
    matrix = column[np.subtract.outer(np.arange(n), np.arange(n)) % n]
    return np.moveaxis(np.tensordot(matrix, a, (1, axis)), 0, axis)


# Real numbers in all pencils, and no axis is transformed.
with Plan(N, (R, C), comm, type="dct", skip="xyz") as plan:
    u, total = {}, {}
    for pencil in "zyx":
        u[pencil], total[pencil] = plan.empty(pencil), plan.empty(pencil)
    x, y, z = (2 * np.pi * index / n for index, n in zip(np.ogrid[plan.part("z")], N, strict=True))
    u["z"][...] = np.sin(x) * np.cos(2 * y) * np.sin(3 * z)
    right = -14 * u["z"]

    total["z"][...] = second_derivative(u["z"], 2)
    for exchange, first, last in (("row", "z", "y"), ("column", "y", "x")):
        for array in (u, total):
            plan.transpose(exchange, FORWARD, array[first], array[last])
        total[last] += second_derivative(u[last], "xyz".index(last))
    plan.transpose("column", BACKWARD, total["x"], total["y"])
    plan.transpose("row", BACKWARD, total["y"], total["z"])

error = comm.allreduce(float(np.abs(total["z"] - right).max()), MPI.MAX)
if comm.rank == 0:
    print(f"transposes.py: {N} on {R}x{C}, largest error {error:.1e}")
if error > 1e-11:
    raise SystemExit(1)
