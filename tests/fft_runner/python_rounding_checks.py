"""Started by test_python_binding.py under mpirun: exchanges in single precision against plans in double precision, by the
error that the plan tells; bytes of messages against those of the model.
"""

from itertools import product

import numpy as np
from mpi4py import MPI

from pencilfft import BACKWARD, FORWARD, PencilfftError, Plan
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.traffic.exchange import exchanges

UNIT = 2.0**-24
comm = MPI.COMM_WORLD


def norm(a):
    return np.sqrt(comm.allreduce(float((abs(a)**2).sum())))


def check_error(shape, grid, **choices):
    """Compare both directions with those of a plan in double precision, by the same input."""
    draw = np.random.default_rng(comm.rank)
    with Plan(shape, grid, comm, exchange_precision="single", **choices) as plan, \
            Plan(shape, plan.grid, comm, **choices) as exact:
        sent = sum(n > 1 for n in plan.grid) + 2 * ("brick" in choices.get("decomposition", "") and comm.size > 1)
        assert plan.exchange_error == sent * UNIT and exact.exchange_error == 0, (sent, plan.exchange_error)
        f = draw.standard_normal(plan.shape("input"))
        if plan.empty("input").dtype.kind == "c":
            f = f + 1j * draw.standard_normal(plan.shape("input"))
        f_hat = exact.forward(f)
        for right, mine in ((f_hat, plan.forward(f)), (exact.backward(f_hat.copy()), plan.backward(f_hat.copy()))):
            error = norm(mine - right) / norm(right)
            assert error == 0 if sent == 0 else 0 < error <= plan.exchange_error, (shape, grid, choices, error)
        for name in plan.exchanges if choices.get("exchange") != "auto" else ():  # which may take two
            for way in (FORWARD, BACKWARD):
                halves, whole = plan.traffic(name, way)[0], exact.traffic(name, way)[0]
                assert [2 * n for n in halves] == list(whole)


def check_model(shape, grid, text, **choices):
    tasks = ProcessGrid(*grid)
    with Plan(shape, grid, comm, exchange_precision="single", rigor="estimate", exchange="alltoallv", **choices) as plan:
        for name, exchange in zip(plan.exchanges, exchanges(tasks, parse_transform(text)), strict=True):
            [group], [a] = np.nonzero(exchange.members == comm.rank)
            expected = np.zeros(comm.size, int)
            expected[exchange.members[group]] = (exchange.unit_bytes * exchange.group_weight[group] * exchange.send_weight[a]
                                                 * exchange.receive_weight)
            expected[comm.rank] = 0
            assert plan.traffic(name)[0] == expected.tolist(), (shape, grid, text, name)


grids = sorted({(r, comm.size // r) for r in range(1, comm.size + 1) if comm.size % r == 0})
for grid, kind, exchange in product(grids, ("c2c", "r2c", "dct", "chebyshev"), ("alltoallv", "alltoallw", "node", "bruck2")):
    check_error((10, 12, 9), grid, type=kind, exchange=exchange, rigor="estimate")
for schedule in ("overlap:2:field", "pipelined:2", "two-way", "opposite"):
    check_error((10, 12, 9), grids[len(grids) // 2], schedule=schedule, fields=2, rigor="estimate")
check_error((16, 16, 16), (0, 0), exchange="auto", auto_budget_s=0.1)
check_error((8, 8, 8), (0, 0), decomposition="brick", type="r2c", rigor="estimate")
check_error((8, 9, 10), grids[0], padding=1.5, type="r2c", layout="stride1", rigor="estimate")
for grid in grids:
    check_model((4, 5, 6), grid, "4x5x6:sent=single")
    check_model((4, 5, 6), grid, "4x5x6:r2c:sent=single:points=6x8x9:fields=2", type="r2c", padding=1.5, fields=2)
try:
    Plan((4, 4, 4), comm, precision="single", exchange_precision="double")
except PencilfftError as error:
    assert "exchange_precision double is more than precision single has" in str(error), error
else:
    raise AssertionError("more than the precision is taken")
if comm.rank == 0:
    print(f"rounding checked on grids {grids}")
