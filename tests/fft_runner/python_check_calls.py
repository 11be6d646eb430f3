"""Started by test_python_binding.py under mpirun: if a call or its arrays are wrong on the last rank, all ranks get an
error.

Afterwards the plan works.
"""

import numpy as np
from mpi4py import MPI

from pencilfft import FORWARD, LinePlan, PencilfftError, Plan

comm = MPI.COMM_WORLD
LAST = comm.rank == comm.size - 1
DIFFER = "the calls differ between ranks: "


def told(call, *arguments):
    try:
        call(*arguments)
    except PencilfftError as error:
        return str(error)
    raise AssertionError("no error")


def check(both, wrong, right):
    """Make different calls of `both` on the last rank and the others, then a call with a misfit array, then a right call."""
    said = comm.allgather(told(*both[LAST]))
    assert len(set(said)) == 1 and said[0].startswith(DIFFER), said
    said = comm.allgather(told(*(wrong if LAST else right)))
    assert len(set(said)) == 1 and said[0].startswith(f"rank {comm.size - 1}: array of "), said
    right[0](*right[1:])


with Plan((8, 8, 8), (1, comm.size), comm, rigor="estimate", nonblocking=True) as plan:
    source, target, other = plan.empty("input"), plan.empty("output"), plan.empty("input")
    for array in (source, target):
        array[...] = 0
    narrow = np.zeros((1, 1, 1), np.float32)
    check([(plan.forward, source, target), (plan.backward, target, source)], (plan.forward, narrow, target),
          (plan.forward, source, target))
    check([(plan.forward, source, target), (plan.execute_pair, source, target, plan.empty("output"), other)],
          (plan.backward, target, narrow), (plan.backward, target, other))
    check([(plan.forward, source, target), (plan.forward, source, plan.view(source, "output"))],
          (plan.forward, source, narrow), (plan.forward, source, target))
    check([(plan.forward, source, target), (plan.destroy,)], (plan.forward, target, narrow), (plan.forward, source, target))
    check([(plan.forward, source, target), (plan.start_forward, source, target)], (plan.start_forward, narrow, target),
          (plan.start_forward, source, target))
    plan.wait()
    z, y = plan.empty("z"), plan.empty("y")
    check([(plan.transpose, "row", FORWARD, z, y), (plan.transpose, "column", FORWARD, y, plan.empty("x"))],
          (plan.transpose, "row", FORWARD, z, narrow), (plan.transpose, "row", FORWARD, z, y))
    with plan.halo("input", 1) as halo:
        wide = halo.empty()
        wide[...] = 0
        check([(halo.exchange, wide, source), (halo.accumulate, wide, source)], (halo.exchange, narrow, source),
              (halo.exchange, wide, source))
made = comm.allgather(told(LinePlan, 24, comm) if LAST else told(Plan, (8, 8, 8), (1, comm.size), comm))
assert set(made) == {f"{DIFFER}Plan on rank 0; LinePlan on rank {comm.size - 1}"}, made
with LinePlan(24, comm, rigor="estimate") as line:
    a, b = line.empty("input"), line.empty("output")
    a[...] = b[...] = 0
    check([(line.forward, a, b), (line.backward, b, a)], (line.forward, a[:1], b), (line.forward, a, b))
if comm.rank == 0:
    print("calls compared")
