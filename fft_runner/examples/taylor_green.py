"""Taylor-Green vortex by Navier-Stokes in rotational form and RK4, without aliases by the 2/3 rule or, for argument 3/2, by
products on 3/2 as many points; the energy at t = 0.1 is checked.

mpirun -n 4 python taylor_green.py [3/2]
"""

import sys

import numpy as np
from mpi4py import MPI

from pencilfft import Plan
from pencilfft.operators import curl, divergence, gradient, inverse_laplacian, laplacian

N, NU, STEP, STEPS = 32, 0.000625, 0.01, 10
comm, padded = MPI.COMM_WORLD, "3/2" in sys.argv

with Plan((N, N, N), type="r2c", fields=3) as vectors, Plan((N, N, N), vectors.grid, comm, type="r2c") as plan, \
        Plan((N, N, N), vectors.grid, comm, type="r2c", fields=3, padding=1.5 if padded else 1) as product:
    kept = np.all(np.broadcast_arrays(*(np.abs(k) < (N / 2 if padded else N / 3) for k in plan.waves())), axis=0)
    u: np.ndarray = vectors.empty("input")
    x, y, z = u[0].coordinates()
    u[0], u[1], u[2] = np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0

    def change(u_hat: np.ndarray) -> np.ndarray:
        """Return du/dt: u x curl(u), without its gradient part, and the viscous term."""
        u = product.backward(u_hat) / vectors.scale
        w = product.backward(curl(plan, u_hat)) / vectors.scale
        force = product.forward(np.cross(u, w, axis=0)) * (kept * vectors.scale / product.scale)
        pressure = inverse_laplacian(plan, divergence(plan, force))
        return force - gradient(plan, pressure) + NU * laplacian(plan, u_hat)

    u_hat = vectors.forward(u)
    for _ in range(STEPS):
        k1 = change(u_hat)
        k2 = change(u_hat + STEP / 2 * k1)
        k3 = change(u_hat + STEP / 2 * k2)
        u_hat += STEP / 6 * (k1 + 2 * k2 + 2 * k3 + change(u_hat + STEP * k3))
    energy = vectors.array(vectors.backward(u_hat, norm="1/N")**2, "input").global_mean().sum() / 2

if comm.rank == 0:
    print(f"taylor_green.py: {N}^3 on {vectors.grid[0]}x{vectors.grid[1]}, energy {energy:.12f}")
if abs(energy - 0.124953117517) > 1e-12:
    raise SystemExit(1)
