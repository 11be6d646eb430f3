"""A step of the flow in a channel, (u - u0) / dt = G + nu laplace(u), between walls at x = -1 and x = 1, where u = 0,
periodic in y and z with period 2 pi. G is the pressure gradient. Along y and z by Fourier modes, along x by Chebyshev
polynomials on the points cos(pi i / (nx - 1)): a DCT-I beside DFTs. Each mode of y and z is solved by the tau method
(C. Canuto et al., Spectral Methods in Fluid Dynamics, Springer 1988, section 5.1), and the result compared with a direct
solution: dense systems for the values on the points, without transforms.

mpirun -n 4 python channel.py
"""

import numpy as np
from mpi4py import MPI

from pencilfft import Plan

N = (33, 20, 18)  # with the points on the walls
TOP, DT, NU, G = N[0] - 1, 0.1, 0.05, 0.3
comm = MPI.COMM_WORLD


def integrated(k: int, v: np.ndarray) -> np.ndarray:
    """Return mode k of the second integral of a series whose last two modes are left out."""
    mode = v[k - 2] * (2 if k == 2 else 1) / (4 * k * (k - 1))
    if k + 2 <= TOP:
        mode = mode - v[k] / (2 * (k**2 - 1))
    return mode + v[k + 2] / (4 * k * (k + 1)) if k + 4 <= TOP else mode


def solve(decay: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Solve u'' - decay u = v with u = 0 on both walls, in modes along the first axis. Even and odd modes are apart: mode k
    is slope[k] times mode k - 2, plus rest[k], from the highest down. The lowest follows from the walls.
    """
    slope, rest = np.zeros((N[0] + 2, *decay.shape)), np.zeros((N[0] + 2, *decay.shape), complex)
    for k in range(TOP, 1, -1):
        above = decay / (4 * k * (k + 1)) * (k + 4 <= TOP)
        pivot = 1 + decay / (2 * (k**2 - 1)) * (k + 2 <= TOP) - above * slope[k + 2]
        slope[k] = decay * (2 if k == 2 else 1) / (4 * k * (k - 1)) / pivot
        rest[k] = (integrated(k, v) + above * rest[k + 2]) / pivot
    u = np.zeros_like(v)
    for lowest in (0, 1):
        product, total, without, rests = np.ones_like(decay), np.ones_like(decay), 0, 0
        for k in range(lowest + 2, N[0], 2):
            product = product * slope[k]
            without = slope[k] * without + rest[k]
            total, rests = total + product, rests + without
        u[lowest] = -rests / total
        for k in range(lowest + 2, N[0], 2):
            u[k] = slope[k] * u[k - 2] + rest[k]
    return u


def direct(right: np.ndarray, squares: float) -> np.ndarray:
    """Solve u - DT NU (u'' - squares u) = right on the points along x, with the matrix that differentiates polynomials."""
    x, ends = np.cos(np.pi * np.arange(N[0]) / TOP), np.where(np.arange(N[0]) % TOP, 1, 2) * (-1.0) ** np.arange(N[0])
    slope = ends[:, None] / ends / (x[:, None] - x + np.eye(N[0])) - np.eye(N[0])
    slope -= np.diag(slope.sum(axis=1))  # of a constant 0
    system = np.eye(N[0]) * (1 + DT * NU * squares) - DT * NU * slope @ slope
    system[[0, -1]] = np.eye(N[0])[[0, -1]]
    return np.linalg.solve(system, np.where(np.arange(N[0]) % TOP, right, 0))


with Plan(N, comm, type="dct1,c2c,r2c") as plan:  # along x, y and z
    i, j, k = np.ogrid[plan.part("input")]
    wave = np.sin(4 * np.pi * j / N[1]) * np.cos(6 * np.pi * k / N[2])
    x = np.cos(np.pi * np.arange(N[0]) / TOP)
    mean, shape = 1 - x**4, np.sin(3 * x) * (1 - x)  # u0 is mean(x) + shape(x) wave(y, z)
    u0 = mean[i] + shape[i] * wave
    v = plan.forward(u0 + DT * G, norm="1/N")
    twice = np.where(np.arange(N[0]) % TOP, 2, 1)[:, None, None]  # FFTW's sum counts modes but the first and last twice
    _, ky, kz = plan.waves()
    u = plan.backward(solve((ky**2 + kz**2)[0] + 1 / (NU * DT), v * twice / (-NU * DT)) / twice)
    right = direct(mean + DT * G, 0)[i] + direct(shape, 2**2 + 3**2)[i] * wave

error = comm.allreduce(float(np.abs(u - right).max(initial=0)), MPI.MAX)
if comm.rank == 0:
    print(f"channel.py: {N}, largest error {error:.1e}")
if error > 1e-12:
    raise SystemExit(1)
