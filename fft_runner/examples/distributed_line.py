"""A derivative along a line that is distributed over the ranks, by libpencilfft's binary exchange, from Python.

    mpirun -n 4 python distributed_line.py

Nothing is put into natural order between the two transforms: the spectrum is multiplied where the first one left it. The
line is periodic, and of a function whose derivative is known.
"""

import sys

import numpy as np
from mpi4py import MPI

from pencilfft import LinePlan

N = 960  # a multiple of the ranks
TWO_PI = 2 * np.pi
comm = MPI.COMM_WORLD

with LinePlan(N, comm, algorithm="binary2", order="transposed", rigor="estimate") as plan:
    x = TWO_PI * plan.indices("input") / N
    waves = np.fft.fftfreq(N, 1 / N)[plan.indices("output")]
    f, f_hat = plan.empty("input"), plan.empty("output")
    f[...] = np.exp(np.sin(x))
    plan.forward(f, f_hat)
    f_hat *= 1j * waves / N
    plan.backward(f_hat, f)
    error = comm.allreduce(np.abs(f - np.cos(x) * np.exp(np.sin(x))).max(initial=0), MPI.MAX)
    exchanges = ", ".join(plan.exchanges)

if comm.rank == 0:
    print(f"distributed_line.py: {N} points on {comm.size} ranks, exchanges {exchanges}; largest error {error:.1e}")
sys.exit(int(error > 1e-10))
