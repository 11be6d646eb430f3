"""Orders of the axes, arrays of two dimensions, interleaved fields and work memory of the caller, against NumPy.

mpirun -n 4 python python_order_checks.py
"""

from itertools import product

import numpy as np
from mpi4py import MPI

from pencilfft import BACKWARD, FORWARD, PencilfftError, Plan, names

comm = MPI.COMM_WORLD
TOLERANCE = 1e-12  # of the largest value
SHAPE = (12, 10, 9)


def whole_of(shape, fields, is_real):
    """Return the same random array on all ranks, the fields first."""
    random = np.random.default_rng(3)
    real = random.standard_normal((fields, *shape))
    return real if is_real else real + 1j * random.standard_normal((fields, *shape))


def spectra(whole, order, is_real):
    """Return the transforms of all fields, halved along the first axis of the order."""
    axes = ["xyz".index(letter) + 1 for letter in order]
    return np.fft.rfftn(whole, axes=axes[::-1]) if is_real else np.fft.fftn(whole, axes=axes)


def laid(whole, interleaved):
    """Return an array as the plan has its fields: none for one field, in front, or last."""
    return whole[0] if len(whole) == 1 else np.moveaxis(whole, 0, -1) if interleaved else whole


def largest(difference, scale):
    return comm.allreduce(float(np.abs(difference).max(initial=0)) / scale, MPI.MAX)


def local(plan, array, values):
    """Return the calling rank's part of a whole array with its fields."""
    return values[plan.part_mine(array, 0)]


def check(shape, order, is_real, fields=1, interleaved=False, **more):
    whole = whole_of(shape, fields, is_real)
    expected = laid(spectra(whole, order, is_real), interleaved)
    given = laid(whole, interleaved)
    with Plan(shape, comm, type="r2c" if is_real else "c2c", order=order, fields=fields, interleaved=interleaved,
              **more) as plan:
        assert plan.global_shape("output") == expected.shape and plan.global_shape("input") == given.shape
        if more.get("caller_work"):
            plan.set_work(np.empty(plan.work_bytes(in_place=True), np.uint8))
        f_hat = plan.forward(local(plan, "input", given))
        assert f_hat.shape == plan.shape("output")
        error = largest(f_hat - local(plan, "output", expected), np.abs(expected).max())
        again = plan.backward(f_hat, norm="1/N")
        error = max(error, largest(again - local(plan, "input", given), np.abs(whole).max()))
        both = plan.empty("input")
        both[...] = local(plan, "input", given)
        in_place = plan.forward(both, plan.view(both, "output"))
        error = max(error, largest(in_place - local(plan, "output", expected), np.abs(expected).max()))
        assert error < TOLERANCE, (plan, error)
        check_waves(plan, expected.shape)


def check_waves(plan, shape):
    waves = plan.waves()
    assert len(waves) == len(plan.extents)
    assert np.broadcast_shapes(*(axis.shape for axis in waves), plan.shape("output")) == plan.shape("output")
    halved, first = plan.choice("order")[0], len(plan.shape("output")) > len(waves) and not plan.choice("interleaved")
    box = plan.part("output")[first:]
    for axis, (n, mine) in enumerate(zip(plan.extents, waves, strict=True)):
        is_halved = "xyz"[axis] == halved and plan.choice("type") == "r2c"
        modes = np.fft.rfftfreq(n, 1 / n) if is_halved else np.fft.fftfreq(n, 1 / n)
        if not is_halved and n % 2 == 0:
            modes[n // 2] = n // 2
        assert np.array_equal(mine.ravel(), modes[box[axis]])


def check_orders():
    for order, is_real, layout in product(names("order"), (False, True), ("natural", "stride1")):
        check(SHAPE[:len(order)], order, is_real, layout=layout)
        check(SHAPE[:len(order)], order, is_real, 3, True, layout=layout, caller_work=True)
    check(SHAPE, "yzx", True, 2, False, schedule="overlap:2:y", caller_work=True)
    check(SHAPE, "xyz", True, 3, True, exchange="auto", auto_budget_s=0.01)
    check((64, 48), "xy", True, exchange="auto", auto_budget_s=0.01)
    for order in ("xyz", "yx"):
        check(SHAPE[:len(order)], order, True, 3, True, decomposition="brick", caller_work=True)


def check_phases():
    with Plan((8, 6), comm, order="xy") as plan:
        assert [name for name in plan.phase_seconds() if name.startswith("fft_")] == ["fft_x", "fft_y"]
        assert plan.grid == (comm.size, 1) and plan.part("x")[0] == slice(0, 8)
    with Plan((8, 6, 4), comm, order="xzy", type="r2c") as plan:
        assert [name for name in plan.phase_seconds() if name.startswith("fft_")] == ["fft_x", "fft_z", "fft_y"]
        assert [plan.line_of(axis)[0] for axis in range(3)] == ["r2c", "dft", "dft"]
        assert plan.part("x")[0] == slice(0, 5) and plan.part("y")[1] == slice(0, 6)


def check_halos():
    """Fill a halo of an array whose elements are their numbers, and add it up again."""
    for shape, order, fields, interleaved in ((SHAPE, "xyz", 2, True), (SHAPE[:2], "yx", 3, True),
                                              (SHAPE[:2], "xy", 1, False)):
        whole = laid(np.arange(float(np.prod(shape) * fields)).reshape(fields, *shape), interleaved)
        with (Plan(shape, comm, type="dct", order=order, fields=fields, interleaved=interleaved) as plan,
              plan.halo("input", 2) as halo):
            wide, own = halo.empty(), plan.empty("input")
            own[...] = local(plan, "input", whole)
            halo.exchange(wide, own)
            around = [np.arange(one.start, one.stop) % n for one, n in zip(halo.part, shape, strict=True)]
            if wide.size:
                index = [*around, np.arange(fields)] if fields > 1 else around
                assert np.array_equal(wide, whole[np.ix_(*index)])
            wide[...] = 1
            halo.accumulate(wide, own)
            assert np.isclose(comm.allreduce(own.sum()), comm.allreduce(float(wide.size)))


def refused(words, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except PencilfftError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


def check_errors():
    refused("unknown order 'zz'", Plan, SHAPE, comm, order="zz")
    refused("give as many extents as letters", Plan, (8, 8), comm, order="zyx")
    refused("give as many extents as letters", Plan, SHAPE, comm, order="yx")
    refused("is for three dimensions", Plan, (8, 8), comm, decomposition="slab")
    refused("is for a third axis", Plan, (8, 8), comm, type="chebyshev")
    refused("give letters of x and y", Plan, (8, 8), comm, skip="z")
    refused("so x cannot be skipped", Plan, SHAPE, comm, order="xyz", type="r2c", skip="x")
    refused("give x,y, each 1 to 4", Plan, (8, 8), comm, type="dct", kinds="2,2,2")
    refused("brick:PxQ with the numbers", Plan, (8, 8), comm, decomposition=f"brick:{comm.size}x1x1")
    refused("is tied to the buffers", Plan, SHAPE, comm, exchange="persistent", caller_work=True)
    if comm.size > 1:
        refused("of which one is divided at a time", Plan, (8, 8), (1, comm.size), comm)
    with Plan(SHAPE, comm) as plan:
        assert plan.work_bytes() == plan.work_bytes(in_place=True) == 0
        refused("the plan has its own work memory", plan.set_work, np.empty(1 << 20, np.uint8))
    with Plan(SHAPE, comm, caller_work=True) as plan:
        f = plan.empty("input")
        needed = comm.allreduce(plan.work_bytes(), MPI.MIN)
        if needed:
            refused("call set_work() with memory", plan.forward, f)
            if comm.rank:  # all ranks hear of the rank without memory
                plan.set_work(np.empty(plan.work_bytes(in_place=True), np.uint8))
            refused("the plan has 0 bytes of work memory", plan.forward, f)
            refused("the plan has 0 bytes of work memory", plan.execute_pair, f, plan.view(f, "output"),
                    plan.empty("output"), plan.empty("input"))
            refused("the plan has 0 bytes of work memory", plan.transpose, plan.exchanges[0], FORWARD, plan.empty(0),
                    plan.empty(1))
            refused("the plan needs", plan.set_work, np.empty(needed - 1, np.uint8))
            refused("not aligned to 16 bytes", plan.set_work, np.empty(plan.work_bytes() + 64, np.uint8)[1:])
        refused("not contiguous", plan.set_work, np.empty(1 << 20, np.uint8)[::2])
        plan.set_work(np.empty(plan.work_bytes(), np.uint8))
        f[...] = 1
        assert largest(plan.backward(plan.forward(f), norm="1/N") - 1, 1) < TOLERANCE


def check_transposes():
    with Plan(SHAPE, comm, type="dct", skip="xyz", order="xzy", fields=2, interleaved=True) as plan:
        whole = laid(np.arange(2.0 * np.prod(SHAPE)).reshape(2, *SHAPE), True)
        for e, exchange in enumerate(plan.exchanges):
            for direction, first, last in ((FORWARD, e, e + 1), (BACKWARD, e + 1, e)):
                source, target = plan.empty(first), plan.empty(last)
                source[...] = local(plan, first, whole)
                plan.transpose(exchange, direction, source, target)
                assert np.array_equal(target, local(plan, last, whole))


check_orders()
check_phases()
check_halos()
check_errors()
check_transposes()
if comm.rank == 0:
    print("orders checked")
