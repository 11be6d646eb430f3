"""Two transforms in flight on one communicator, with work and messages of the program meanwhile.

mpirun -n 4 python in_flight.py
"""

from typing import Any

import numpy as np
from mpi4py import MPI

from pencilfft import Plan

N = 32
comm = MPI.COMM_WORLD


def energy(array: Any) -> float:
    return float(np.vdot(array, array).real)


plans = [Plan((N, N, N), comm, nonblocking=True) for _ in range(2)]  # a plan for each transform in flight
fields = [plan.empty("input") for plan in plans]
x, y, z = np.ogrid[plans[0].part("input")]
for i, field in enumerate(fields):
    field[...] = np.sin(0.7 * (x + i)) * (y + 1) + 1j * np.cos(0.3 * (z - i))

for plan, field in zip(plans, fields, strict=True):
    plan.start_forward(field)
before = np.empty(2)
for i, field in enumerate(fields):  # the input may be read meanwhile
    before[i] = energy(field)
    for plan in plans:
        plan.progress()
request = comm.Iallreduce(MPI.IN_PLACE, before)
after = np.array([energy(plan.wait()) for plan in plans])
request.Wait()
comm.Allreduce(MPI.IN_PLACE, after)

error = np.abs(after / N**3 / before - 1).max()  # Parseval's theorem
for plan in plans:
    plan.destroy()
if comm.rank == 0:
    print(f"in_flight.py: two transforms of {N}^3 at once, largest error of the energy {error:.1e}")
if error > 1e-12:
    raise SystemExit(1)
