"""Solve laplace(u) = f on the periodic cube [0, 2 pi)^3 as in poisson.py, once in sequence and once by two ways: some planes
exchange rows before columns, the others columns before rows. Check u, and compare the two speeds.

mpirun -n 4 python poisson_two_ways.py
"""

from contextlib import ExitStack

import numpy as np
from mpi4py import MPI

from pencilfft import Plan

N = (64, 64, 64)
REPETITIONS = 15
comm = MPI.COMM_WORLD
C, R = MPI.Compute_dims(comm.size, 2)


class Solver:
    """A plan with its arrays: f, its spectrum, the solution, and for each part of the spectrum what it is multiplied by."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.seconds = plan, list[float]()
        self.f, self.f_hat, self.u = plan.empty("input"), plan.empty("output"), plan.empty("input")
        x, y, z = (2 * np.pi * index / n for index, n in zip(np.ogrid[plan.part("input")], N, strict=True))
        self.exact = np.sin(x) * np.cos(2 * y) * np.sin(3 * z) + np.cos(4 * x) * np.sin(y)
        self.f[...] = -14 * np.sin(x) * np.cos(2 * y) * np.sin(3 * z) - 17 * np.cos(4 * x) * np.sin(y)
        self.parts = [(part, self.factor(at)) for at, part in plan.split(self.f_hat, "output")]

    def factor(self, at: tuple[slice, ...]) -> np.ndarray:
        """-1 / k^2, and the scale, at the waves of these slices; 0 for the mean."""
        k2 = sum(np.where(k > n // 2, k - n, k) ** 2 for k, n in zip(np.ogrid[at], N, strict=True))
        return np.where(k2 > 0, -1 / np.maximum(k2, 1), 0) / self.plan.scale

    def solve(self) -> None:
        """As in sequence, except that the spectrum may have two parts."""
        comm.Barrier()
        start = MPI.Wtime()
        self.plan.forward(self.f, self.f_hat)
        for part, factor in self.parts:
            part *= factor
        self.plan.backward(self.f_hat, self.u)
        self.seconds.append(comm.allreduce(MPI.Wtime() - start, MPI.MAX))

    def error(self) -> float:
        """Largest error of the solution."""
        return comm.allreduce(float(np.abs(self.u - self.exact).max()), MPI.MAX)


with ExitStack() as plans:
    plain, two_ways = (Solver(plans.enter_context(Plan(N, (R, C), comm, type="r2c", schedule=schedule)))
                       for schedule in ("sequence", "two-way"))
    for _ in range(REPETITIONS):  # in turn, so that both meet the same disturbances
        plain.solve()
        two_ways.solve()
    error, schedule = max(plain.error(), two_ways.error()), two_ways.plan.schedule_chosen

one, two = np.median(plain.seconds), np.median(two_ways.seconds)
if comm.rank == 0:
    print(f"poisson_two_ways.py: {N} on {R}x{C}, largest error {error:.1e}; in sequence {1e3 * one:.2f} ms, "
          f"{schedule} {1e3 * two:.2f} ms, {one / two:.2f} times as fast")
if error > 1e-13:
    raise SystemExit(1)
