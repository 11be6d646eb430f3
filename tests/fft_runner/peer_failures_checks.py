"""Started by test_peer_failures.py under mpirun with the name of a check: plans in the cases in which peers failed."""

import ctypes
import os
import sys

import numpy as np
from mpi4py import MPI

import pencilfft
from pencilfft import Plan

comm = MPI.COMM_WORLD
SHAPE = (48, 40, 36)
GRIDS = [(r, comm.size // r) for r in range(1, comm.size + 1) if comm.size % r == 0]
TOLERANCE = 1e-14  # of the largest value, as rounding errors grow with log2 of 69120


def whole(kind, seed=11):
    made = np.random.default_rng(seed).standard_normal((2, *SHAPE))
    return made[0] if kind == "r2c" else made[0] + 1j * made[1]


def spectrum(a, kind):
    return (np.fft.rfftn if kind == "r2c" else np.fft.fftn)(a)


def assert_near(mine, right, what):
    far = np.abs(mine - right).max() / np.abs(right).max()
    assert far < TOLERANCE, (what, far)


def forget_plans():
    """Forget the wisdom of FFTW and of the library, so that the next plans are measured."""
    ctypes.CDLL(os.environ["PENCILFFT_LIBRARY"]).pencilfft_wisdom_forget()


def plans_measured_anew_are_right_in_and_out_of_place():
    for kind in ("c2c", "r2c"):
        a = whole(kind)
        right = spectrum(a, kind)
        for again in range(3):  # in all, 6 runs; dtFFT would pass once in 5
            forget_plans()
            with Plan(SHAPE, (2, 2), comm, type=kind, rigor="measure") as plan:
                source, target = plan.empty("input"), plan.empty("output")
                source[...] = a[plan.part("input")]
                plan.forward(source, target)
                assert_near(target, right[plan.part("output")], (kind, again, "out of place"))
                over = plan.view(source, "output")
                plan.forward(source, over)
                assert_near(over, right[plan.part("output")], (kind, again, "in place"))
                plan.backward(over, source)
                assert_near(source / plan.scale, a[plan.part("input")], (kind, again, "back, in place"))


def rounds_keep_their_input():
    for kind in ("c2c", "r2c"):
        a = whole(kind)
        for layout in ("natural", "stride1"):
            with Plan(SHAPE, (2, 2), comm, type=kind, layout=layout, rigor="measure") as plan:
                f, f_hat, back = plan.empty("input"), plan.empty("output"), plan.empty("input")
                f[...] = a[plan.part("input")]
                for again in range(3):
                    before = f.copy()
                    plan.forward(f, f_hat)
                    assert np.array_equal(f, before), (kind, layout, again, "forward keeps its input")
                    before = f_hat.copy()
                    plan.backward(f_hat, back)
                    assert np.array_equal(f_hat, before), (kind, layout, again, "backward keeps its input")
                    f[...] = back / plan.scale
                assert_near(f, a[plan.part("input")], (kind, layout, "after three rounds"))


def guarded(plan, pencil, guard):
    """Return an array in memory of exactly the requested size, and the guard behind the array."""
    memory = np.full(plan.buffer_bytes + pencilfft.ALIGNMENT + guard, 0xA5, np.uint8)
    start = -memory.ctypes.data % pencilfft.ALIGNMENT
    array = np.ndarray(plan.shape(pencil), plan.dtype(pencil), memory, start)
    return array, memory[:start], memory[start + plan.buffer_bytes:]


def nothing_is_written_behind_the_buffer():
    for grid in GRIDS:
        for kind in ("c2c", "r2c"):
            for exchange in ("alltoallv", "padded", "alltoallw", "persistent"):
                with Plan(SHAPE, grid, comm, type=kind, exchange=exchange, rigor="estimate") as plan:
                    source, *around = guarded(plan, "input", 4096)
                    target, *more = guarded(plan, "output", 4096)
                    source[...] = whole(kind)[plan.part("input")]
                    plan.forward(source, target)
                    plan.backward(target, source)
                    plan.forward(source, plan.view(source, "output"))
                    assert all((part == 0xA5).all() for part in (*around, *more)), (grid, kind, exchange)


def the_result_does_not_depend_on_the_grid():
    """Gather the parts of every rank at their places: together they cover the array once."""
    a = whole("c2c")
    right = spectrum(a, "c2c")
    for grid in GRIDS:
        for layout in ("natural", "stride1"):
            with Plan(SHAPE, grid, comm, layout=layout, rigor="estimate") as plan:
                source, target = plan.empty("input"), plan.empty("output")
                source[...] = a[plan.part("input")]
                plan.forward(source, target)
                mine, covered = np.zeros(SHAPE, complex), np.zeros(SHAPE, int)
                mine[plan.part("output")] = target
                covered[plan.part("output")] = 1
                comm.Allreduce(MPI.IN_PLACE, mine)
                comm.Allreduce(MPI.IN_PLACE, covered)
                assert (covered == 1).all(), (grid, layout)
                assert_near(mine, right, (grid, layout))


def mpi4py_fft_gives_the_same():
    from mpi4py_fft import PFFT, newDistArray

    for shape, kind in ((SHAPE, "c2c"), (SHAPE, "r2c"), ((16, 14, 12), "r2c"), ((50, 37, 29), "c2c")):
        made = np.random.default_rng(3).standard_normal((2, *shape))
        a = made[0] if kind == "r2c" else made[0] + 1j * made[1]
        peer = PFFT(comm, shape=shape, dtype=a.dtype)
        u, u_hat = newDistArray(peer, False), newDistArray(peer, True)
        u[...] = a[u.local_slice()]
        peer.forward(u, u_hat, normalize=False)
        theirs = np.zeros(peer.global_shape(True), complex)
        theirs[u_hat.local_slice()] = u_hat
        comm.Allreduce(MPI.IN_PLACE, theirs)
        with Plan(shape, (2, 2), comm, type=kind, rigor="estimate") as plan:
            source, target = plan.empty("input"), plan.empty("output")
            source[...] = a[plan.part("input")]
            plan.forward(source, target)
            assert_near(target, theirs[plan.part("output")], (shape, kind))


check = sys.argv[1]
globals()[check]()
comm.Barrier()
if comm.rank == 0:
    print(f"{check}: passed")
