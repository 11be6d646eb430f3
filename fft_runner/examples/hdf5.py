"""Write steps of a field and its spectrum, read the last step on another grid, and check that the two fit. ParaView and
VisIt open fields.xdmf.

mpirun -n 4 python hdf5.py [fields]
"""

import sys

import numpy as np
from mpi4py import MPI

from pencilfft import Plan
from pencilfft.hdf5 import Series

N = (32, 24, 20)
comm = MPI.COMM_WORLD
path = sys.argv[1] if len(sys.argv) > 1 else "fields"

with Plan(N, (1, comm.size), comm, type="r2c") as plan:
    series, f = Series(path, plan), plan.empty("input")
    x, y, z = f.coordinates()
    for step in range(3):
        f[...] = np.sin(x + step) * np.cos(2 * y) * np.sin(3 * z)
        series.write(step, 0.1 * step, f=f, f_hat=plan.forward(f))

with Plan(N, (comm.size, 1), comm, type="r2c") as plan:
    series = Series(path, plan)
    f, f_hat = series.read("f"), series.read("f_hat", "output")
    error = plan.array(np.abs(plan.backward(f_hat, norm="1/N") - f), "input").global_max()
    most = f.global_max()

if comm.rank == 0:
    print(f"hdf5.py: {len(series.steps)} steps of {N} written on 1x{comm.size}, read on {comm.size}x1, largest error "
          f"{error:.1e}")
if error > 1e-14 or most < 0.9:
    raise SystemExit(1)
