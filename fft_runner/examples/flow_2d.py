"""The velocity of a flow of two dimensions from its vorticity: laplace(psi) = -w, (u, v) = (d psi/dy, -d psi/dx), on
[0, 2 pi)^2. The spectra are halved along x, u and v are interleaved, and both plans share work memory of the program.

mpirun -n 4 python flow_2d.py
"""

from typing import Any

import numpy as np
from mpi4py import MPI

from pencilfft import Plan

N = (96, 80)
comm = MPI.COMM_WORLD
options: dict[str, Any] = {"type": "r2c", "order": "xy", "caller_work": True}  # order: x is whole in the input, and halved

with Plan(N, comm, **options) as scalar, Plan(N, comm, fields=2, interleaved=True, **options) as vector:
    work = np.empty(max(scalar.work_bytes(), vector.work_bytes()), np.uint8)
    scalar.set_work(work)
    vector.set_work(work)
    x, y = scalar.empty("input").coordinates()
    w_hat = scalar.forward(13 * np.sin(2 * x) * np.cos(3 * y))
    kx, ky = scalar.waves()
    squares = kx**2 + ky**2
    psi = np.divide(w_hat, squares, out=np.zeros_like(w_hat), where=squares > 0)
    velocity = vector.backward(np.stack([1j * ky * psi, -1j * kx * psi], axis=-1), norm="1/N")  # (x, y, component)
    exact = np.stack([-3 * np.sin(2 * x) * np.sin(3 * y), -2 * np.cos(2 * x) * np.cos(3 * y)], axis=-1)

error = comm.allreduce(float(np.abs(velocity - exact).max(initial=0)), MPI.MAX)
if comm.rank == 0:
    print(f"flow_2d.py: {N}, largest error {error:.1e}")
if error > 1e-12:
    raise SystemExit(1)
