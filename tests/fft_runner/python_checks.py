"""Started by test_python_binding.py under mpirun with names of groups below: the binding against NumPy and the model.

    python -m mpi4py python_guarded.py python_checks.py transforms
"""

import copy
import ctypes
import os
import pickle
import sys
import tempfile
import time
from functools import partial
from itertools import product
from pathlib import Path
from threading import Thread

import numpy as np
from mpi4py import MPI

from pencilfft import (
    BACKWARD,
    FORWARD,
    BrickLinesPlan,
    LinePlan,
    PencilfftError,
    Plan,
    forget_wisdom,
    grid_numbers,
    library,
    load_wisdom,
    names,
    save_wisdom,
)
from pencilfft.boxes import LARGE_PAGE
from pencilfft.hdf5 import Series
from pencilfft.operators import (
    curl,
    derivative,
    derivative_plan,
    divergence,
    gradient,
    inverse_laplacian,
    laplacian,
    solenoidal,
)
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.traffic.exchange import exchanges

comm = MPI.COMM_WORLD
LAST = comm.rank == comm.size - 1
SHAPE = (12, 10, 9)
GRIDS = [(r, comm.size // r) for r in range(1, comm.size + 1) if comm.size % r == 0]
ROW, FLAT = (1, comm.size), (SHAPE[0], SHAPE[1])
TOLERANCE = {"double": 1e-14, "single": 1e-5}
DIFFER = "the calls differ between ranks: "


def refused(words, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except PencilfftError as error:
        assert words in str(error), error
        str(error).encode()
        return str(error)
    raise AssertionError(f"not refused: {words}")


def plan_of(grid=None, shape=SHAPE, **choices):
    return Plan(shape, *([] if grid is None else [grid]), comm, **{**choices, "rigor": choices.get("rigor", "estimate")})


def whole(fields=1, kind="c2c", shape=SHAPE):
    """Return the same random array on all ranks, the fields first."""
    made = np.random.default_rng(7).standard_normal((2, fields, *shape))
    return made[0] if kind == "r2c" else made[0] + 1j * made[1]


def spectra(a, kind):
    """Return the transforms of all fields, halved along z if they are of real numbers."""
    return (np.fft.rfftn if kind == "r2c" else np.fft.fftn)(a, axes=(1, 2, 3))


def far(mine, right, scale):
    return comm.allreduce(float(np.abs(mine - right).max(initial=0)) / np.abs(scale).max(), MPI.MAX)


# ---- transforms ------------------------------------------------------------------------------------------------------


def check_other_forms(kind, layout, schedule):
    """Arrays of any strides, type and amount of memory give the same result as arrays of `empty`; a result is returned."""
    with plan_of(type=kind, layout=layout, schedule=schedule) as plan:
        f = np.ascontiguousarray(whole(1, kind)[0][plan.part("input")])
        right, kept = plan.empty("output"), f.copy()
        assert plan.forward(f, right) is right and np.array_equal(f, kept)
        assert np.array_equal(plan.forward(f), right) and np.array_equal(plan.forward(f[::-1].copy()[::-1]), right)
        small = f.astype(np.float32 if kind == "r2c" else np.complex64)
        assert np.array_equal(plan.forward(small), plan.forward(small.astype(f.dtype)))
        wide = np.zeros((*right.shape, 3), right.dtype)
        assert np.array_equal(plan.forward(f, wide[..., 1]), right) and not wide[..., ::2].any()
        g = plan.backward(right)
        assert g.shape == plan.shape("input") and far(g / plan.scale, f, 1) < 1e-14
        plan.execute_pair(f, wide[..., 0], plan.forward(f), g)
        assert np.array_equal(wide[..., 0], right)
        if all(comm.allgather(kind == "c2c" and f.shape == right.shape)):
            single = f.astype(np.complex64)
            plan.forward(single, single)  # in place, in a copy
            assert far(single, right, right) < 1e-4
        refused("array output is complex128", plan.forward, f, np.zeros(right.shape))


def check_arrays_of_the_user():
    """Large enough arrays of any origin are accepted, also in the memory order of Fortran."""
    with plan_of(ROW, layout="stride1") as plan:
        ends = plan.empty("input"), plan.empty("output")
        ends[0][...] = comm.rank + np.arange(ends[0].size).reshape(ends[0].shape)
        plan.forward(*ends)
        x, y, z = plan.shape("output")
        memory = np.zeros((x, y, z + plan.buffer_bytes // (16 * x * y) + 1), complex, order="F")
        mine = memory[:, :, :z]
        plan.forward(ends[0], mine)
        assert np.array_equal(mine, ends[1])


def check_what_is_no_number(exchange):
    """NaN and infinity spread within their field, to all dependent numbers, and nowhere else, then or later."""
    a = whole(2)
    reference = spectra(a, "c2c")
    with plan_of(GRIDS[-1], fields=2, exchange=exchange) as plan:
        source, target = plan.empty("input"), plan.empty("output")
        for one in (np.nan, np.inf, 0):
            b = a.copy()
            b[1, 3, 4, 5] += one
            source[...] = b[plan.part("input")]
            plan.forward(source, target)
            assert np.abs(target[0] - reference[0][plan.part("output")[-3:]]).max() < 1e-10, (exchange, one)
            assert np.isfinite(target[1]).all() if one == 0 else not np.isfinite(target[1]).any(), (exchange, one)


def check_slices_of_larger_arrays(grid):
    """Nothing but the slice is written, although the library writes more behind an array that has room."""
    with plan_of(grid, type="r2c", fields=3) as three, plan_of(grid, type="r2c", destroy_input=True) as plan:
        f = whole(1, "r2c")[0][plan.part("input")]
        for larger in (np.empty((3, *plan.shape("input"))), three.empty("input")):
            larger[...] = 7
            plan.backward(plan.forward(f.copy()), larger[0])
            assert np.abs(larger[0] / plan.scale - f).max(initial=0) < 1e-12 and (larger[1:] == 7).all()
            plan.forward(larger[1])
            assert (larger[2] == 7).all()


def check_two_parts():
    with plan_of(GRIDS[-1], fields=2, schedule="opposite") as plan:
        source, other = plan.empty("input"), plan.empty("input")
        target, again = plan.empty("output"), plan.empty("output")
        assert plan.parts("input") == 1 and plan.parts("output") == plan.parts(1) == 2
        refused("under schedule opposite array output has 2 parts; ask part_mine() or split()", plan.part, "output")
        refused("under schedule opposite", plan.start, "output")
        refused("unknown 2; known: 0, 1", plan.part_mine, "output", 2)
        refused("array output is complex128", plan.split, source, "output")
        refused("overlap those of the backward one", plan.execute_pair, source, target, again, source)
        refused("no exchange stands alone", plan.transpose, "row", FORWARD, plan.empty("z"), plan.empty("y"))
        refused("set nonblocking", plan.start_forward, source, target)
        refused("unknown 'ortho'; known: none, 1/N", plan.forward, source, None, "ortho")
        source[...] = 1
        plan.forward(source, target)
        assert np.allclose(plan.forward(source, norm="1/sqrt(N)"), target / np.sqrt(plan.scale), rtol=0, atol=1e-13)
        assert np.array_equal(plan.forward(source), target)  # a norm is for its call alone
        assert far(plan.backward(target, other, "1/N"), source, source) < 1e-14
    refused("destroyed", lambda: plan.schedule_chosen)
    with plan_of(GRIDS[-1], schedule="overlap:2") as plan:
        assert plan.schedule_chosen == ("sequence" if comm.size == 1 else "overlap:2:x")  # nothing to exchange


def check_flight():
    """Two plans in flight make progress beside messages of the program; a plan in flight waits."""
    one, other = plans = [plan_of(GRIDS[-1], nonblocking=True) for _ in range(2)]
    source, target = one.empty("input"), one.empty("output")
    source[...] = whole()[0][one.part("input")]
    expected = one.forward(source)
    refused("not in flight", one.progress)
    refused("not in flight", one.wait)
    one.start_forward(source, target)
    other.start_backward(np.asfortranarray(expected))  # copied
    refused("in flight; call wait() first", one.start_forward, source)
    refused("in flight", one.forward, source, one.empty("output"))
    refused("in flight; call wait() first", one.destroy)
    message = comm.sendrecv(comm.rank, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
    while not one.progress():
        other.progress()
    assert message == (comm.rank - 1) % comm.size
    assert far(other.wait() / other.scale, source, source) < 1e-14
    assert one.wait() is target and np.array_equal(target, expected)
    one.start_pair(source, target, expected, other.empty("input"))
    assert one.wait()[0] is target
    for plan in plans:
        plan.destroy()


def transforms():
    for grid in GRIDS:
        check_slices_of_larger_arrays(grid)
    check_two_parts()
    check_flight()
    for case in (("r2c", "natural", "sequence"), ("c2c", "stride1", "sequence"), ("c2c", "natural", "two-way")):
        check_other_forms(*case)
    check_arrays_of_the_user()
    for exchange in ("alltoallv", "node", "p2p"):
        check_what_is_no_number(exchange)


# ---- operators -------------------------------------------------------------------------------------------------------


def check_operators(kind, precision, schedule):
    """Compare with NumPy on the whole array; waves of two points a period have no odd derivative."""
    lengths = (3.0, 1.0, 2 * np.pi)
    spectrum = spectra(whole(3, kind), kind)
    k = np.ix_(*((np.fft.rfftfreq if kind == "r2c" and axis == 2 else np.fft.fftfreq)(n, length / n / 2 / np.pi)
                 for axis, (n, length) in enumerate(zip(SHAPE, lengths))))
    odd = [np.where(np.isclose(np.abs(one), np.pi * n / length), 0, one) for one, n, length in zip(k, SHAPE, lengths)]
    squares = sum(one**2 for one in k)
    odd_squares = sum(one**2 for one in odd)
    along = sum(one * part for one, part in zip(odd, spectrum)) / np.where(odd_squares > 0, odd_squares, 1)
    right = {gradient: np.stack([1j * one * spectrum for one in odd]),
             divergence: sum(1j * one * part for one, part in zip(odd, spectrum)),
             curl: 1j * np.stack([odd[i - 2] * spectrum[i - 1] - odd[i - 1] * spectrum[i - 2] for i in range(3)]),
             solenoidal: spectrum - np.stack([one * along for one in odd]),
             laplacian: -squares * spectrum,
             inverse_laplacian: np.where(squares > 0, -spectrum / np.where(squares > 0, squares, 1), 0)}
    with plan_of(type=kind, precision=precision, schedule=schedule) as plan:
        for part in range(plan.parts("output")):
            at = plan.part_mine("output", part)
            mine = spectrum[:, *at].astype(plan.dtype("output"))
            for operator, whole_result in right.items():
                made, wanted = operator(plan, mine, lengths, part), whole_result[..., *at]
                assert made.dtype == mine.dtype and made.shape == wanted.shape
                assert far(made, wanted, whole_result) < TOLERANCE[precision], (operator, kind, schedule)
        refused("give one positive number", laplacian, plan, mine, 0)
        for operator in right:  # what NumPy might broadcast, or cast
            for wrong in (None, [1j], mine.real, mine[..., :1, :1, :0]):
                refused("give a complex array of shape", operator, plan, wrong, lengths, part)
        for operator in (divergence, curl, solenoidal):
            refused("give a complex array of shape (3, ", operator, plan, mine[:2], lengths, part)
    for words, choices in (("does not transform x", {"type": "none,c2c,r2c"}), ("does not transform y", {"skip": "y"}),
                           ("has Chebyshev polynomials along x", {"type": "chebyshev"}),
                           ("take derivative() for each axis", {"type": "dst1,c2c,r2c"})):
        with plan_of(**choices) as plan:
            for operator in (gradient, laplacian)[:1 + ("derivative()" not in words)]:
                refused(words, operator, plan, plan.empty("output"))


def along_axis(kind, wave, x, length, times):
    """Return the derivative, `times` times, of a wave along an axis with this kind of transform."""
    periodic = kind in ("c2c", "r2c")
    k = 2 * np.pi * wave / length if periodic else np.pi * (wave + (kind[3] in "34") / 2) / length
    return k**times * np.cos(k * x + times * np.pi / 2 + (periodic or -np.pi / 2 * (kind[:3] == "dst")))


def field_of(plan, kinds, lengths, times):
    """Return two waves of these kinds along each axis at the points of this rank, differentiated `times` along each."""
    return sum(np.prod(np.broadcast_arrays(*(along_axis(*one) for one in zip(
        kinds, waves, plan.empty("input").coordinates(lengths), lengths, times, strict=True))), axis=0)
        for waves in ((1, 2, 3), (2, 1, 1)))


def check_operators_of_kinds(type):
    """Compare with derivatives of waves that fit between the walls."""
    kinds, lengths = type.split(","), (3.0, 1.0, 2.0)
    with plan_of(shape=(9, 8, 10), type=type) as plan:
        f = field_of(plan, kinds, lengths, (0, 0, 0))
        f_hat = plan.forward(f if plan.dtype("input").kind == "f" else f.astype(complex))
        for axis in range(3):
            shape, other_type = derivative_plan(plan, axis)
            with plan_of(plan.grid, shape, type=other_type) as other:
                slope = other.backward(derivative(plan, f_hat, axis, lengths), norm="1/N")
                right = field_of(other, kinds, lengths, np.eye(3, dtype=int)[axis])
                assert far(slope, right, right) < 1e-12, (type, axis)
        twice = sum(field_of(plan, kinds, lengths, 2 * row) for row in np.eye(3, dtype=int))
        assert far(plan.backward(laplacian(plan, f_hat, lengths), norm="1/N"), twice, twice) < 1e-12
        assert far(inverse_laplacian(plan, laplacian(plan, f_hat, lengths), lengths), f_hat, f_hat) < 1e-12
        if "1" not in type:
            kind = "c2c" if plan.dtype("input").kind == "c" else "r2c"
            slopes, noise = gradient(plan, f_hat, lengths), plan.forward(whole(1, kind, plan.extents)[0][plan.part("input")])
            assert far(divergence(plan, slopes, lengths), laplacian(plan, f_hat, lengths), twice * plan.scale) < 1e-12
            assert far(curl(plan, slopes, lengths), 0, slopes) < 1e-11
            v = np.stack([noise, 2 * noise, -noise])
            assert far(divergence(plan, solenoidal(plan, v, lengths), lengths), 0, divergence(plan, v, lengths)) < 1e-12


def operators():
    for type in ("dct2,c2c,r2c", "c2c,dst4,r2c", "dst2,dst4,dct3", "dct4,dst3,c2c", "dct1,dct4,dst3", "dst1,c2c,r2c"):
        check_operators_of_kinds(type)
    with plan_of(GRIDS[-1], type="c2c,c2c,dct2") as plan:
        if comm.size > 1:
            refused("make z the last of order", derivative, plan, plan.empty("output"), 2)
    with plan_of(GRIDS[-1], shape=(8, 6, 1), type="c2c,c2c,dct2") as plan:
        if comm.size > 1:  # also the rank that has the whole of z
            refused("make z the last of order", derivative, plan, plan.empty("output"), 2)
    for type in ("none,c2c,r2c", "chebyshev"):  # along y a derivative needs nothing of x
        with plan_of(shape=(9, 8, 10), type=type) as plan:
            given = whole(1, "r2c", plan.extents)[0]
            odd = 1j * np.array([0, 1, 2, 3, 0, -3, -2, -1])[:, None]
            slope = np.fft.ifft(np.fft.fft(given, axis=1) * odd, axis=1).real
            got = plan.backward(derivative(plan, plan.forward(given[plan.part("input")]), 1), norm="1/N")
            assert far(got, slope[plan.part("input")], slope) < 1e-12 and derivative_plan(plan, 1)[0] == plan.extents
            for axis in (-1, 3, "x", 1.0):
                refused(f"unknown {axis!r}; known: 0, 1, 2", derivative, plan, plan.empty("output"), axis)
                refused(f"unknown {axis!r}; known: 0, 1, 2", derivative_plan, plan, axis)
    with plan_of(shape=(2, 8, 10), type="dct1,c2c,r2c") as plan:
        refused("give 3 points or more", derivative, plan, plan.empty("output"), 0)
        refused("give 3 points or more", derivative_plan, plan, 0)
    for case in (("c2c", "double", "sequence"), ("r2c", "single", "sequence"), ("r2c", "double", "two-way")):
        check_operators(*case)


# ---- orders, two dimensions, work memory of the caller ----------------------------------------------------------------


def orders():
    with plan_of(comm.size, (8, 6), order="xy") as plan:
        assert [name for name in plan.phase_seconds() if name.startswith("fft_")] == ["fft_x", "fft_y"]
        assert plan.grid == (comm.size, 1) and plan.part("x")[0] == slice(0, 8)
    with plan_of(shape=(8, 6, 4), order="xzy", type="r2c") as plan:
        assert [name for name in plan.phase_seconds() if name.startswith("fft_")] == ["fft_x", "fft_z", "fft_y"]
        assert [plan.line_of(axis)[0] for axis in range(3)] == ["r2c", "dft", "dft"]
        assert plan.part("x")[0] == slice(0, 5) and plan.part("y")[1] == slice(0, 6)
    for words, shape, choices in (
            ("unknown order 'zz'", SHAPE, {"order": "zz"}), ("give as many extents as letters", FLAT, {"order": "zyx"}),
            ("give as many extents as letters", SHAPE, {"order": "yx"}),
            ("is for three dimensions", FLAT, {"decomposition": "slab"}),
            ("is for a third axis", FLAT, {"type": "chebyshev"}),
            ("give letters of x and y", FLAT, {"skip": "z"}),
            ("so x cannot be skipped", SHAPE, {"order": "xyz", "type": "r2c", "skip": "x"}),
            ("give x,y, each 1 to 4", FLAT, {"type": "dct", "kinds": "2,2,2"}),
            ("brick:PxQ with the numbers", FLAT, {"decomposition": f"brick:{comm.size}x1x1"}),
            ("is tied to the buffers", SHAPE, {"exchange": "persistent", "caller_work": True})):
        refused(words, plan_of, shape=shape, **choices)
    if comm.size > 1:
        refused("of which one is divided at a time", plan_of, ROW, FLAT)
    with plan_of() as plan:
        assert plan.work_bytes() == plan.work_bytes(in_place=True) == 0
        refused("the plan has its own work memory", plan.set_work, np.empty(1 << 20, np.uint8))
    check_work()


def check_work():
    with plan_of(caller_work=True) as plan:
        f = plan.empty("input")
        needed = comm.allreduce(plan.work_bytes(), MPI.MIN)
        if needed:
            refused("call set_work() with memory", plan.forward, f)
            if comm.rank:  # all ranks hear of the rank without memory
                plan.set_work(np.empty(plan.work_bytes(in_place=True), np.uint8))
            for call in ((plan.forward, f), (plan.execute_pair, f, plan.view(f, "output"), plan.empty("output"),
                                             plan.empty("input")),
                         (plan.transpose, plan.exchanges[0], FORWARD, plan.empty(0), plan.empty(1))):
                refused("the plan has 0 bytes of work memory", *call)
            refused("the plan needs", plan.set_work, np.empty(needed - 1, np.uint8))
            refused("not aligned to 16 bytes", plan.set_work, np.empty(plan.work_bytes() + 64, np.uint8)[1:])
        refused("not contiguous", plan.set_work, np.empty(1 << 20, np.uint8)[::2])
        plan.set_work(np.empty(plan.work_bytes(), np.uint8))
        f[...] = 1
        assert far(plan.backward(plan.forward(f), norm="1/N"), 1, 1) < 1e-12


# ---- boxes and halos -------------------------------------------------------------------------------------------------


def check_bricks():
    """Check boxes: from slabs of y to bricks, and a remap alone."""
    a, n = whole(1, "r2c")[0], comm.size
    ends = [SHAPE[1] * i // n for i in range(n + 1)]
    mine = slice(0, SHAPE[0]), slice(ends[comm.rank], ends[comm.rank + 1]), slice(0, SHAPE[2])
    with plan_of((0, 0), decomposition=f"brick:1x1x{n}", type="r2c", input_box=mine) as plan:
        source, target, inner = plan.empty("input"), plan.empty("output"), plan.empty("inner input")
        assert plan.part("input") == mine and plan.part("output")[:2] == (slice(0, SHAPE[0]), slice(0, SHAPE[1]))
        source[...] = a[mine]
        plan.forward(source, target)
        assert np.abs(target - np.fft.rfftn(a)[plan.part("output")]).max(initial=0) < 1e-11
        plan.transpose("remap_in", FORWARD, source, inner)
        assert np.array_equal(inner, a[plan.part("inner input")])
        source[...] = 0
        plan.transpose("remap_in", BACKWARD, inner, source)
        assert np.array_equal(source, a[mine]) and plan.phase_seconds()["exchange_remap_in"] > 0
    refused("give three slices", plan_of, input_box=[1, 2, 3])
    refused("the output boxes of all ranks hold 0 of the 1080", plan_of, output_box=[slice(0, 0)] * 3)


def halos():
    check_bricks()
    for shape in (SHAPE, FLAT):
        with plan_of((0, 0), shape) as plan, plan.halo("input", 1) as halo:
            wide, mine = halo.empty(), plan.empty("input")
            refused("array with halo is", halo.exchange, wide[..., :1].copy().T, mine)
            refused("one number, or", plan.halo, "input", (1,) * (5 - len(shape)))
            refused("give 0 to 12", plan.halo, "input", 13)
        refused("destroyed", halo.exchange, wide)


# ---- lines -----------------------------------------------------------------------------------------------------------


def check_memory_of_brick_lines():
    """Some orders need more memory between the axes than input and output have."""
    more = 0
    for order in ("natural", "transposed", "transposed-both"):
        with BrickLinesPlan((10, 7, 13), (1, *ROW) if comm.size != 4 else (1, 2, 2), comm, order=order,
                            rigor="estimate") as plan:
            f, g = plan.empty("input"), plan.empty("output")
            needed, held = plan.buffer_bytes, max(f.nbytes, g.nbytes)
            assert f.base.nbytes - (f.ctypes.data - f.base.ctypes.data) >= needed >= held
            more += comm.allreduce(needed > held) > 0
            made = f[...] = np.arange(f.size).reshape(f.shape)
            plan.forward(f, g)
            own = np.zeros(plan.shape("output"), complex)
            assert np.array_equal(plan.forward(f.copy(), own), g), "without memory for the bricks between"
            plan.backward(g, f)
            assert np.abs(f / 910 - made).max(initial=0) < 1e-12
    assert more == (2 if comm.size == 4 else more)


def lines():
    for plan, first in ((LinePlan(96, comm, rigor="estimate"), "fft_line"),
                        (BrickLinesPlan(SHAPE, (*ROW, 1), comm, algorithm="dft", rigor="estimate"), "fft_z")):
        source, target = plan.empty("input"), plan.empty("output")
        source[...] = 1
        plan.forward(source, target)
        seconds = plan.phase_seconds()
        assert next(iter(seconds)) == first
        assert 0 < seconds["total"] < 1.001 * sum(list(seconds.values())[:-1]) + 1e-9
        assert [plan.is_all_to_all(name) for name in plan.exchanges] == [isinstance(plan, LinePlan)] * len(plan.exchanges)
        refused("unknown 'z'", plan.empty, "z")
        refused("array output is complex", plan.forward, source, np.zeros(999, source.dtype))
        refused("unknown 'row'", plan.traffic, "row")
        refused("unknown 'wish'", plan.is_all_to_all, "wish")
        plan.destroy()
        refused("destroyed", plan.forward, source, target)
    check_memory_of_brick_lines()
    for words, *call in (
            ("known: transpose, binary2, binary4, dft", lambda: LinePlan(8, comm, algorithm="fastest")),
            ("a line of 0 points", LinePlan, 0, comm), ("64 bits", LinePlan, 2**64 + 8, comm),
            ("n is 8.5; give an integer", LinePlan, 8.5, comm), ("not a communicator", LinePlan, 8, None),
            (f"bricks 1x1x{comm.size + 1} on {comm.size} ranks", BrickLinesPlan, SHAPE, (1, 1, comm.size + 1), comm),
            ("give three numbers of bricks", BrickLinesPlan, SHAPE, ROW, comm),
            ("integer of 32 bits", BrickLinesPlan, SHAPE, (1, 1, 2**32 + comm.size), comm)):
        refused(words, *call)


# ---- what a plan tells -----------------------------------------------------------------------------------------------


def check_telling(grid):
    """Check the times and exchanges of the last transform; undivided axes need no exchange."""
    with plan_of(grid, exchange="p2p") as plan:
        plan.forward(plan.empty("input"), plan.empty("output"))
        seconds = plan.phase_seconds()
        assert list(seconds)[:3] == ["fft_z", "pack_row", "exchange_row"] and min(seconds.values()) >= 0
        parts = sum(spent for name, spent in seconds.items() if name != "total" and not name.startswith(("wait", "hidden")))
        assert seconds["total"] > 0 and abs(parts - seconds["total"]) < 1e-3
        assert (seconds["exchange_row"] > 0, seconds["exchange_column"] > 0) == (grid[0] > 1, grid[1] > 1)
        assert str(plan).startswith(f"pencil {grid[0]}x{grid[1]}, rank {comm.rank}, size 12 10 9, double complex to complex")
        assert plan.exchanges == ("row", "column")
        assert plan.exchange_chosen("row") == plan.exchange_chosen("column") == "p2p"
        sent, messages = plan.traffic("row")
        assert sum(count > 0 for count in messages) <= grid[0] - 1 and sent[comm.rank] == 0
        assert comm.allreduce(sum(sent)) == comm.allreduce(sum(plan.traffic("row", BACKWARD)[0]))
    with plan_of(grid, exchange="p2p", schedule="overlap:2:x") as beside:
        for _ in range(2):
            beside.forward(beside.empty("input"), beside.empty("output"))
            time.sleep(0.05)  # time between two transforms is hidden behind neither
        seconds = beside.phase_seconds()
        hidden = [spent for name, spent in seconds.items() if name.startswith("hidden")]
        assert len(hidden) == 2 and all(0 <= spent <= 2 * seconds["total"] for spent in hidden)  # in two chunks each
    refused("destroyed", plan.exchange_chosen, "row")
    refused("destroyed", plan.phase_seconds)
    assert repr(plan).endswith(", destroyed>")
    with plan_of(grid, type="r2c", exchange="auto", auto_budget_s=0.1) as plan:
        assert plan.bricks == (0, 0, 0) and plan.line_of(2) == ("r2c", 0) and plan.line_of(0) == ("dft", 0)
        assert comm.allgather(plan.part("output")) == [plan.part_of("output", rank) for rank in range(comm.size)]
        assert set(plan.auto_seconds("row")) <= set(names("exchange")) and plan.exchange_means("row") != ""
        kinds = plan.phase_kinds()
        assert list(kinds) == list(plan.phase_seconds()) and (kinds["fft_z"], kinds["total"]) == ("fft", "total")


def check_model(grid, text, **choices):
    """Compare the bytes of each message, of padded lines and in single precision, too, with those of the model."""
    transform = parse_transform(text)
    tasks = parse_grid(str(comm.size), decomposition_named("slab")) if isinstance(grid, int) else ProcessGrid(*grid)
    choices = {"decomposition": "slab" if isinstance(grid, int) else "pencil", "exchange": "alltoallv", **choices}
    n = tuple(int(number) for number in text.split(":")[0].split("x"))
    with plan_of(grid, n, **choices) as plan:
        for name, exchange in zip(plan.exchanges, exchanges(tasks, transform), strict=True):
            [group], [a] = np.nonzero(exchange.members == comm.rank)
            expected = np.zeros(comm.size, int)
            expected[exchange.members[group]] = (exchange.unit_bytes * exchange.group_weight[group] * exchange.send_weight[a]
                                                 * exchange.receive_weight)
            expected[comm.rank] = 0
            assert plan.traffic(name)[0] == expected.tolist(), (grid, text, name)


def check_padding():
    """Spectra of padded plans are those of plain plans, on the same grid; random plans have the numbers."""
    for n in ((2, 12, 30), (4, 12, 30), (4, 4, 12)):
        with plan_of(shape=n, type="r2c") as plain, plan_of(shape=n, type="r2c", padding=1.5) as padded:
            assert plain.grid == padded.grid and plain.part("output") == padded.part("output"), (n, plain.grid)
            assert padded.scale == np.prod([-(-3 * extent // 2) for extent in n])
            assert all(np.array_equal(a, b) for a, b in zip(padded.waves(), plain.waves(), strict=True))
    for padding in (0.9, (1.5, 1), "2"):
        refused("give a number" if padding == "2" else "give a factor of 1 or more, or three for x, y and z", plan_of,
                padding=padding)


def check_grids_and_threads():
    with plan_of((0, 0)) as plan:
        R, C = plan.grid
        assert comm.size == R * C and repr(plan).startswith(f"<pencilfft.Plan 12x10x9 on {R}x{C}, ")
        assert sum(plan.waves()).shape == plan.shape("output") and plan.grid_trials == [] and plan.threads == 1
    with plan_of(exchange="auto", auto_budget_s=0.01) as plan:
        assert {trial.grid[0] * trial.grid[1] for trial in plan.grid_trials} == ({comm.size} if comm.size > 1 else set())
        assert all(trial.least <= trial.median and trial.spread >= 0 for trial in plan.grid_trials)
    with plan_of(comm.size, decomposition="slab", exchange=None) as plan:
        assert repr(plan) == f"<pencilfft.Plan 12x10x9 on {comm.size}, decomposition slab, rigor estimate>"
        assert plan.forward(whole()[0][plan.part("input")]).shape == plan.shape("output") == plan.shape(1)
        assert plan.exchanges == ("slab",)
        refused("unknown 'z'", plan.empty, "z")
    with plan_of(0, decomposition="slab") as plan:
        assert plan.grid == (1, comm.size)
    try:
        with plan_of(threads=3) as plan:
            assert plan.threads == 3
    except PencilfftError as error:
        assert "built without OpenMP" in str(error)
    with plan_of(ROW, (64 * comm.size, 64 * comm.size, 32)) as plan:
        for array in ("input", "output"):
            assert plan.empty(array).nbytes >= LARGE_PAGE and plan.empty(array).ctypes.data % LARGE_PAGE == 0


def check_wisdom(grid, folder):
    """The next plan knows the wisdom of a plan only after the file is loaded."""
    def chosen(**more):
        with Plan(SHAPE, grid, comm, exchange="auto", **more) as plan:
            return plan.exchange_chosen("row"), plan.exchange_chosen("column")

    path = folder / "wisdom"
    forget_wisdom()
    assert not load_wisdom(path, comm), "there is no such file yet"
    found = chosen()
    save_wisdom(path, comm)
    forget_wisdom()
    assert load_wisdom(path, comm) and chosen(auto_budget_s=0.0) == found
    comm.Barrier()
    if comm.rank == 0:
        path.write_text("no wisdom\n")
    comm.Barrier()
    refused(str(path), load_wisdom, path, comm)


def telling():
    for grid in GRIDS:
        check_telling(grid)
    for (n, points), kind in product((("4x5x6", "4x5x6"), ("4x5x6", "6x8x9"), ("5x4x7", "10x8x14"), ("1x2x1", "3x5x2"),
                                      ("8x1x2", "31x7x3")), ("c2c", "r2c")):
        sizes = dict(zip(("padded_nx", "padded_ny", "padded_nz"), map(int, points.split("x")), strict=True))
        for grid in (*GRIDS, comm.size):
            check_model(grid, f"{n}:{kind}:points={points}", type=kind, **sizes)
    for grid in GRIDS:
        check_model(grid, "4x5x6:sent=single", exchange_precision="single")
        check_model(grid, "4x5x6:r2c:sent=single:points=6x8x9:fields=2", type="r2c", padding=1.5, fields=2,
                    exchange_precision="single")
        with plan_of(grid, exchange_precision="single") as plan, plan_of(grid) as exact:
            assert plan.exchange_error == sum(n > 1 for n in grid) * 2.0**-24 and exact.exchange_error == 0
    refused("exchange_precision double is more than precision single has", plan_of, precision="single",
            exchange_precision="double")
    check_padding()
    check_grids_and_threads()
    assert names("decomposition")[0] == "pencil" and "alltoallv" in names("exchange") and names("line_order")
    assert [grid_numbers(name) for name in ("pencil", "slab", "wish")] == [2, 1, 0]
    refused("unknown 'wish'", names, "wish")
    with tempfile.TemporaryDirectory() as mine:
        check_wisdom(GRIDS[-1], Path(comm.bcast(mine)))
        comm.Barrier()


# ---- arguments at the limits of C types, and the lifetime of memory --------------------------------------------------


def check_missing_h5py():
    """On the last rank."""
    if LAST:
        sys.modules["h5py"] = None
    with plan_of() as plan:
        refused("h5py is missing", Series, "flow", plan)
    sys.modules.pop("h5py", None)


def check_refusals(grid):
    for words, *call in (("nosuch", lambda: plan_of(exchange="nosuch")), ("extents", Plan, SHAPE[:1], grid, comm),
                         ("three extents", Plan, 64, grid, comm), ("three extents", Plan, (12.0, 10, 9), grid, comm),
                         ("two numbers", Plan, SHAPE, "2x4", comm), ("communicator of mpi4py", Plan, SHAPE, grid, 5),
                         ("communicator of mpi4py", LinePlan, 8, None), ("MPI.COMM_NULL", Plan, SHAPE, grid, MPI.COMM_NULL),
                         ("fields is [2]; give", lambda: plan_of(fields=[2])),
                         ("64 bits", Plan, (SHAPE[0] + 2**64, *SHAPE[1:]), grid, comm),
                         ("exchange", lambda: plan_of(exchange="\N{SNOWMAN}" * 500))):  # the limit is inside a character
        refused(words, *call)
    with plan_of(grid) as plan:
        a, b, locked = plan.empty("input"), plan.empty("output"), plan.empty("output")
        locked.flags.writeable = False
        refused("list is not an array", plan.forward, [1.0], b)
        refused("array output is complex128", plan.forward, a, b.real.copy())
        refused("unknown 3", plan.transpose, "row", FORWARD | BACKWARD, plan.empty("z"), plan.empty("y"))
        refused("written", plan.forward, a, locked)
    refused("destroyed", plan.empty, "input")


def check_source_that_must_not_be_written(folder):
    """A plan that may overwrite its input copies a read-only input."""
    for kind, ends in (("c2c", ("input", "output")), ("c2r", ("output", "input"))):
        with plan_of(ROW, type=kind, destroy_input=True) as plan:
            source, target = map(plan.empty, ends)
            path = folder / f"{kind}{comm.rank}"
            path.write_bytes(bytes(plan.buffer_bytes))
            mapped = np.memmap(path, np.uint8, "r")
            read_only = np.ndarray(source.shape, source.dtype, mapped, 0, source.strides)
            source[...] = 0
            (plan.forward if kind == "c2c" else plan.backward)(read_only if comm.rank == 0 else source, target)
            assert not target.any()
            assert path.read_bytes() == bytes(plan.buffer_bytes)
    with plan_of() as plan:
        source, target = plan.empty("input"), plan.empty("output")
        source[...] = 1
        source.flags.writeable = False
        plan.forward(source, target)
        assert not plan.view(source, "output").flags.writeable, "a view is as writeable as its array"
        refused("cannot be written", plan.backward, target, plan.view(source, "input"))


def check_copies():
    for plan in (plan_of(), LinePlan(8, comm, rigor="estimate"), BrickLinesPlan(SHAPE, (*ROW, 1), comm, rigor="estimate")):
        things = [plan, plan.halo("input", 1)] if isinstance(plan, Plan) else [plan]
        for thing in things:
            for make in (copy.copy, copy.deepcopy, pickle.dumps):
                refused("cannot be copied or pickled; make another one", make, thing)
        for thing in things:
            thing.destroy()
            thing.destroy()
            refused("destroyed", getattr(thing, "forward", None) or thing.exchange, None, None)


def check_kinds_of_numbers():
    """Integers of NumPy count as integers, and truth values of NumPy as truth values."""
    with Plan(np.array(SHAPE), np.array(ROW, np.int32), comm, fields=np.int8(2), destroy_input=np.bool_(True),
              auto_budget_s=np.float32(1), rigor=np.str_("estimate")) as plan:
        assert repr(plan).startswith(f"<pencilfft.Plan 12x10x9 on 1x{comm.size}, fields 2, destroy_input True,")
        assert plan.empty(np.int64(0)).shape == plan.shape("z")
    with Plan(iter(SHAPE), np.int64(comm.size), comm, decomposition="slab", rigor="estimate") as plan:
        assert repr(plan).startswith(f"<pencilfft.Plan 12x10x9 on {comm.size}, ")
    with BrickLinesPlan(np.array(SHAPE), (*ROW, 1), comm, fields=np.int64(1), rigor="estimate") as plan:
        assert all(a.size == n for a, n in zip(plan.indices("input", np.int32(comm.rank)), plan.shape("input")))


def check_communicators():
    if comm.size > 1:
        half = comm.Split(comm.rank % 2, comm.rank)
        between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
        refused("intercommunicator", LinePlan, 8, between)
        between.Free()
        half.Free()
    own = comm.Dup()
    plans = [Plan(SHAPE, ROW, own, rigor="estimate") for _ in range(3)]
    own.Free()  # before its plans
    for plan in plans:
        plan.forward(plan.empty("input"), plan.empty("output"))
        with plan.halo("input", 1) as halo:
            halo.exchange(halo.empty(), plan.empty("input"))
        plan.destroy()


def check_threads():
    """Two threads agree at the same time, each about calls of its own plan."""
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        return
    plans = [plan_of(), plan_of(fields=2)]
    failed = []

    def work(plan):
        f, g = plan.empty("input"), plan.empty("output")
        f[...] = 1
        for _ in range(20):
            plan.forward(f, g)
            plan.backward(g, f)
            f /= plan.scale
        if np.abs(f - 1).max(initial=0) > 1e-12:
            failed.append(plan)

    threads = [Thread(target=work, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for plan in plans:
        plan.destroy()


def limits():
    folder = Path(comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None))
    check_refusals(GRIDS[0])
    check_missing_h5py()
    check_source_that_must_not_be_written(folder)
    path = os.fsencode(folder) + b"/\xff\xfe"  # messages may contain names that are not UTF-8
    if comm.rank == 0:
        with open(path, "w") as file:
            file.write("no wisdom")
    comm.Barrier()
    refused(r"\xff\xfe", load_wisdom, path, comm)
    check_copies()
    check_kinds_of_numbers()
    check_communicators()
    check_threads()
    comm.Barrier()
    if comm.rank == 0:
        for file in os.listdir(os.fsencode(folder)):
            os.remove(os.path.join(os.fsencode(folder), file))
        folder.rmdir()
    plan = plan_of()
    size = comm.size
    MPI.Finalize()
    refused("MPI has been finalized", plan.destroy)
    refused("MPI is not running", plan_of, (1, size))


# ---- calls that differ between ranks ---------------------------------------------------------------------------------


def differ(both, wrong, right):
    """Make different calls of `both` on the last rank and the others, then a call with a misfit array, then a right call."""
    said = comm.allgather(refused(DIFFER, *both[LAST]))
    assert len(set(said)) == 1, said
    said = comm.allgather(refused(f"rank {comm.size - 1}: array of ", *(wrong if LAST else right)))
    assert len(set(said)) == 1, said
    right[0](*right[1:])


def calls():
    """If a call or its arrays are wrong on the last rank, all ranks get an error. Afterwards the plan works."""
    narrow = np.zeros((1, 1, 1), np.float32)
    with plan_of(ROW, nonblocking=True) as plan:
        f, g, other = plan.empty("input"), plan.empty("output"), plan.empty("input")
        f[...] = g[...] = 0
        forward, z, y = (plan.forward, f, g), plan.empty("z"), plan.empty("y")
        differ([forward, (plan.backward, g, f)], (plan.forward, narrow, g), forward)
        differ([forward, (plan.execute_pair, f, g, plan.empty("output"), other)], (plan.backward, g, narrow),
               (plan.backward, g, other))
        differ([forward, (plan.forward, f, plan.view(f, "output"))], (plan.forward, f, narrow), forward)
        differ([forward, (plan.destroy,)], (plan.forward, g, narrow), forward)
        differ([forward, (plan.start_forward, f, g)], (plan.start_forward, narrow, g), (plan.start_forward, f, g))
        plan.wait()
        row = plan.transpose, "row", FORWARD
        differ([(*row, z, y), (plan.transpose, "column", FORWARD, y, plan.empty("x"))], (*row, z, narrow), (*row, z, y))
        with plan.halo("input", 1) as halo:
            wide = halo.empty()
            wide[...] = 0
            right = halo.exchange, wide, f
            differ([right, (halo.accumulate, wide, f)], (halo.exchange, narrow, f), right)
    made = comm.allgather(refused("", LinePlan, 24, comm) if LAST else refused("", Plan, SHAPE, ROW, comm))
    assert set(made) == {f"{DIFFER}Plan on rank 0; LinePlan on rank {comm.size - 1}"}, made
    with LinePlan(24, comm, rigor="estimate") as line:
        a, b = line.empty("input"), line.empty("output")
        a[...] = b[...] = 0
        differ([(line.forward, a, b), (line.backward, b, a)], (line.forward, a[:1], b), (line.forward, a, b))


def lost_plan():
    """With PENCILFFT_CHECK_CALLS=2 the last rank calls without its plan and gets an error; the others wait for two seconds
    and then end the job.
    """
    os.environ["PENCILFFT_CHECK_CALLS"] = "2"
    plan = plan_of(ROW)
    source, target = plan.empty("input"), plan.empty("output")
    if not LAST:
        plan.forward(source, target)
        raise AssertionError("no rank can get here")
    status = library._function("execute")(None, FORWARD, source.ctypes.data, target.ctypes.data)
    print(f"status {status}: {ctypes.string_at(library._function('error_message')()).decode()}", flush=True)
    time.sleep(100)


def plan_of_kind(kind):
    """Return a function of C for a transform or a halo, and the plans behind it."""
    if kind in ("line", "bricks"):
        plan = (LinePlan(8 * comm.size, comm, lines=2, algorithm="dft", rigor="estimate") if kind == "line" else
                BrickLinesPlan((4, 4, 4), (comm.size, 1, 1), comm, rigor="estimate"))
        return partial(library._function(f"{plan._kind}_execute"), plan._handle, FORWARD), (plan,)
    if kind in ("halo", "brick"):
        plan = plan_of((0, 0), (4, 5, 4), decomposition="brick" if kind == "brick" else "pencil")
    else:
        plan = plan_of(ROW if kind == "persistent" else ROW[::-1], (4, 5, 4), exchange=kind,
                       schedule="overlap:2" if kind in ("p2p", "persistent") else None)
    if kind == "halo":
        halo = plan.halo("input", (1, 0, 1))
        return partial(library._function("halo_exchange"), halo._handle), (halo, plan)
    return partial(library._function("execute"), plan._handle, FORWARD), (plan,)


def shared():
    """Count the communicators of plans equal to others: Open MPI numbers them in their order. Then each rank runs the plans,
    whose messages are short, as fast as it can: an exchange that took the messages of another plan would change the results.
    """
    def next_number():
        duplicate = comm.Dup()
        number = duplicate.py2f()
        duplicate.Free()
        return number

    kinds = "halo", "alltoallv", "p2p", "persistent", "bruck2", "padded", "alltoallw", "brick", "line", "bricks"
    plans = [plan_of_kind(kind) for kind in kinds]
    first = next_number()
    plans += [plan_of_kind(kind) for kind in 2 * kinds]
    made, works, draw = next_number() - first, [], np.random.default_rng(5)
    for call, owners in plans:
        source, target = np.random.default_rng(comm.rank).standard_normal(2048), np.zeros((2, 2048))
        assert call(source.ctypes.data, target[0].ctypes.data) == 0
        works.append((call, owners, source, target))
    for _ in range(300):
        call, _, source, target = works[draw.integers(len(works))]
        if draw.integers(2 * comm.size) == comm.rank:
            time.sleep(2e-4)
        target[1] = 0
        assert call(source.ctypes.data, target[1].ctypes.data) == 0 and np.array_equal(*target)
    for i in draw.permutation(len(works)):
        for owner in works[i][1]:
            owner.destroy()
    if comm.rank == 0:
        print(f"{made} communicators made")


def overrun():
    """Write a byte too many behind an array, which the guard bytes must reveal."""
    plan = plan_of((1, 1))
    array = plan.empty("input")
    ctypes.memset(array.ctypes.data + plan.buffer_bytes, 0, 2)  # the first of these bytes is memory of the array
    print(plan.scale)


rank = comm.rank  # before MPI ends
for group in sys.argv[1:]:
    globals()[group]()
    if rank == 0:
        print(f"{group} checked")
