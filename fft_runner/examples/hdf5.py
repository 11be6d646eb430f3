"""Write a field and its spectrum to an HDF5 file in parallel, read both on another grid, and check that they fit.

mpirun -n 4 python hdf5.py [FILE]
"""

import sys

import h5py
import numpy as np
from mpi4py import MPI

from pencilfft import Plan
from pencilfft.hdf5 import load, save

N = (32, 24, 20)
comm = MPI.COMM_WORLD
path = sys.argv[1] if len(sys.argv) > 1 else "fields.h5"

with Plan(N, (1, comm.size), comm, type="r2c") as plan, h5py.File(path, "w", driver="mpio", comm=comm) as file:
    x, y, z = (2 * np.pi * i / n for i, n in zip(np.ogrid[plan.part("input")], N, strict=True))
    f = np.sin(x) * np.cos(2 * y) * np.sin(3 * z)
    save(file, "f", plan, "input", f)
    save(file, "f_hat", plan, "output", plan.forward(f))

with Plan(N, (comm.size, 1), comm, type="r2c") as plan, h5py.File(path, "r", driver="mpio", comm=comm) as file:
    f = load(file, "f", plan, "input")
    u = plan.backward(load(file, "f_hat", plan, "output")) / plan.scale
    error, most = (comm.allreduce(float(np.abs(a).max(initial=0)), MPI.MAX) for a in (u - f, f))

if comm.rank == 0:
    print(f"hdf5.py: {N} written on 1x{comm.size}, read on {comm.size}x1, largest error {error:.1e}")
if error > 1e-14 or most < 0.9:
    raise SystemExit(1)
