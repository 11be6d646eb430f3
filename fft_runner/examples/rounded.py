"""Exchanges in single precision: a field is filtered by a Gaussian in double precision, and again with messages of floats,
which have half the bytes; the difference is compared with the error that the plan tells.

mpirun -n 4 python rounded.py
"""

import numpy as np
from mpi4py import MPI

from pencilfft import Plan

N, WIDTH = 64, 0.1
comm = MPI.COMM_WORLD


def norm(a: np.ndarray) -> float:
    return np.sqrt(comm.allreduce(float((a**2).sum())))


def filtered(plan: Plan, f: np.ndarray) -> np.ndarray:
    x, y, z = plan.waves()
    return plan.backward(plan.forward(f) * np.exp(-WIDTH**2 / 2 * (x**2 + y**2 + z**2))) / plan.scale


with Plan((N, N, N), type="r2c") as plan, \
        Plan((N, N, N), plan.grid, comm, type="r2c", exchange_precision="single") as rounded:
    f = np.random.default_rng(comm.rank).standard_normal(plan.shape("input"))
    right, most = filtered(plan, f), 2 * rounded.exchange_error  # forward and backward
    error = norm(filtered(rounded, f) - right) / norm(f)
    sent = [comm.allreduce(sum(sum(one.traffic(name)[0]) for name in one.exchanges)) for one in (plan, rounded)]

if comm.rank == 0:
    print(f"rounded.py: {N}^3, {sent[1]} bytes in place of {sent[0]}, error {error:.1e}, at most {most:.1e}")
if error > most or 2 * sent[1] != sent[0]:
    raise SystemExit(1)
