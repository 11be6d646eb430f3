"""Solve laplace(u) = f on the periodic cube [0, 2 pi)^3 with real-complex transforms, and check u.

mpirun -n 4 python poisson.py
"""

import numpy as np
from mpi4py import MPI

from pencilfft import Plan

N = (48, 40, 36)
comm = MPI.COMM_WORLD

with Plan(N, (0, 0), comm, type="r2c") as plan:  # the library chooses the grid
    R, C = plan.grid
    f, f_hat = plan.empty("input"), plan.empty("output")
    x, y, z = f.coordinates()
    u = np.sin(x) * np.cos(2 * y) * np.sin(3 * z) + np.cos(4 * x) * np.sin(y)
    f[...] = -14 * np.sin(x) * np.cos(2 * y) * np.sin(3 * z) - 17 * np.cos(4 * x) * np.sin(y)

    plan.forward(f, f_hat)
    k2 = sum(k**2 for k in f_hat.wavenumbers())
    f_hat *= np.where(k2 > 0, -1 / np.maximum(k2, 1), 0) / plan.scale
    plan.backward(f_hat, f)
    error = np.abs(f - u).global_max()

if comm.rank == 0:
    print(f"poisson.py: {N} on {R}x{C}, largest error {error:.1e}")
if error > 1e-13:
    raise SystemExit(1)
