"""Started by test_python_binding.py under mpirun: the binding against numpy.fft, with a part on every rank."""

import tempfile
from pathlib import Path
from time import sleep

import numpy as np
from mpi4py import MPI

from pencilfft import (
    BACKWARD,
    FORWARD,
    LARGE_PAGE,
    BrickLinesPlan,
    LinePlan,
    PencilfftError,
    Plan,
    forget_wisdom,
    grid_numbers,
    load_wisdom,
    names,
    save_wisdom,
)
from pencilfft.operators import curl, divergence, gradient, inverse_laplacian, laplacian, solenoidal
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.lines.brick_lines import brick_line_stages
from pencilmap.model.lines.line_plan import line_stages
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import transform_of
from pencilmap.model.traffic.halo import halo as model_halo

comm = MPI.COMM_WORLD
SHAPE = (12, 10, 9)
GRIDS = [(r, comm.size // r) for r in range(1, comm.size + 1) if comm.size % r == 0]
TOLERANCE = {"double": 1e-14, "single": 1e-5}


def whole(fields, kind):
    made = np.random.default_rng(7).standard_normal((2, fields, *SHAPE))
    return made[0] if kind == "r2c" else made[0] + 1j * made[1]


def check_transform(grid, kind, precision, layout, fields, in_place):
    a = whole(fields, kind)
    reference = (np.fft.rfftn if kind == "r2c" else np.fft.fftn)(a, axes=(1, 2, 3))
    with Plan(SHAPE, grid, comm, type=kind, precision=precision, layout=layout, fields=fields, rigor="estimate") as plan:
        mine = a[..., *plan.part("input")].reshape(plan.shape("input"))
        right = reference[..., *plan.part("output")].reshape(plan.shape("output"))
        source = plan.empty("input")
        target = plan.view(source, "output") if in_place else plan.empty("output")
        source[...] = mine
        plan.forward(source, target)
        far = np.abs(target - right).max() / np.abs(reference).max()
        assert far < TOLERANCE[precision], (grid, kind, precision, layout, fields, in_place, far)
        assert in_place or np.array_equal(source, mine.astype(source.dtype)), "the input is kept"
        plan.backward(target, source)
        assert np.abs(source / plan.scale - mine).max() < 10 * TOLERANCE[precision]


def check_other_forms(kind, layout, schedule):
    """Arrays of any strides, type and amount of memory give the same result as arrays of `empty`; a result is returned."""
    a = whole(1, kind)[0]
    with Plan(SHAPE, comm, type=kind, layout=layout, schedule=schedule, rigor="estimate") as plan:
        f = np.ascontiguousarray(a[plan.part("input")])
        right = plan.empty("output")
        kept = f.copy()
        assert plan.forward(f, right) is right and np.array_equal(f, kept)
        assert np.array_equal(plan.forward(f), right) and np.array_equal(plan.forward(f[::-1].copy()[::-1]), right)
        small = f.astype(np.float32 if kind == "r2c" else np.complex64)
        assert np.array_equal(plan.forward(small), plan.forward(small.astype(f.dtype)))
        wide = np.zeros((*right.shape, 3), right.dtype)
        assert np.array_equal(plan.forward(f, wide[..., 1]), right) and not wide[..., ::2].any()
        g = plan.backward(right)
        assert g.shape == plan.shape("input") and (g.size == 0 or np.abs(g / plan.scale - f).max() < 1e-14)
        if all(comm.allgather(kind == "c2c" and f.shape == right.shape)):
            single = f.astype(np.complex64)
            plan.forward(single, single)  # in place, in a copy
            assert right.size == 0 or np.abs(single - right).max() < 1e-4 * np.abs(right).max()
        refused("array output is complex128", plan.forward, f, np.zeros(right.shape))


def check_operators(kind, precision, schedule):
    """Compare with NumPy on the whole array; waves of two points a period have no odd derivative."""
    lengths, fields = (3.0, 1.0, 2 * np.pi), 3
    a = whole(fields, kind)
    spectrum = (np.fft.rfftn if kind == "r2c" else np.fft.fftn)(a, axes=(1, 2, 3))
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
    with Plan(SHAPE, comm, type=kind, precision=precision, schedule=schedule, rigor="estimate") as plan:
        for part in range(plan.parts("output")):
            at = plan.part_mine("output", part)
            mine = spectrum[:, *at].astype(plan.dtype("output"))
            for operator, whole_result in right.items():
                made = operator(plan, mine, lengths, part)
                wanted = whole_result[..., *at]
                assert made.dtype == mine.dtype and made.shape == wanted.shape
                far = np.abs(made - wanted).max(initial=0) / np.abs(whole_result).max()
                assert far < TOLERANCE[precision], (operator, kind, schedule, far)
        refused("give one positive number", laplacian, plan, mine, 0)
        for operator in right:  # what NumPy might broadcast, or cast
            for wrong in (None, [1j], mine.real, mine[..., :1, :1, :0]):
                refused("give a complex array of shape", operator, plan, wrong, lengths, part)
        for operator in (divergence, curl, solenoidal):
            refused("give a complex array of shape (3, ", operator, plan, mine[:2], lengths, part)
    for choices in ({"type": "dct"}, {"skip": "x"}):
        with Plan(SHAPE, comm, rigor="estimate", **choices) as plan:
            refused("does not transform all axes by DFTs", gradient, plan, plan.empty("output"))


def check_what_is_no_number(exchange):
    """NaN and infinity spread within their field, to all dependent numbers, and nowhere else, then or later."""
    a = whole(2, "c2c")
    reference = np.fft.fftn(a, axes=(1, 2, 3))
    with Plan(SHAPE, GRIDS[-1], comm, fields=2, exchange=exchange, rigor="estimate") as plan:
        source, target = plan.empty("input"), plan.empty("output")
        for one in (np.nan, np.inf, 0):
            b = a.copy()
            b[1, 3, 4, 5] += one
            source[...] = b[..., *plan.part("input")].reshape(plan.shape("input"))
            plan.forward(source, target)
            assert np.abs(target[0] - reference[0][plan.part("output")[-3:]]).max() < 1e-10, (exchange, one)
            assert np.isfinite(target[1]).all() if one == 0 else not np.isfinite(target[1]).any(), (exchange, one)


def check_bricks():
    """Check boxes: from slabs of y to bricks, and a remap alone."""
    a, n = whole(1, "r2c"), comm.size
    ends = [SHAPE[1] * i // n for i in range(n + 1)]
    mine = slice(0, SHAPE[0]), slice(ends[comm.rank], ends[comm.rank + 1]), slice(0, SHAPE[2])
    with Plan(SHAPE, (0, 0), comm, decomposition=f"brick:1x1x{n}", type="r2c", input_box=mine, rigor="estimate") as plan:
        source, target = plan.empty("input"), plan.empty("output")
        assert plan.part("input") == mine and plan.part("output")[:2] == (slice(0, SHAPE[0]), slice(0, SHAPE[1]))
        source[...] = a[0][mine]
        plan.forward(source, target)
        assert np.abs(target - np.fft.rfftn(a[0])[plan.part("output")]).max() < 1e-11
        inner = plan.empty("inner input")
        plan.transpose("remap_in", FORWARD, source, inner)
        assert np.array_equal(inner, a[0][plan.part("inner input")])
        source[...] = 0
        plan.transpose("remap_in", BACKWARD, inner, source)
        assert np.array_equal(source, a[0][mine]) and plan.phase_seconds()["exchange_remap_in"] > 0
    refused("give three slices", Plan, SHAPE, GRIDS[0], comm, input_box=[1, 2, 3])
    refused("the output boxes of all ranks hold 0 of the 1080", Plan, SHAPE, GRIDS[0], comm, output_box=[slice(0, 0)] * 3)


def check_halo(decomposition, kind, layout, fields, array):
    """Compare with NumPy's indices modulo the extents, sums with sums over all ranks, and messages with the model."""
    with Plan(SHAPE, (0, 0), comm, decomposition=decomposition, type=kind, layout=layout, fields=fields,
              rigor="estimate") as plan:
        a, low, high = whole(fields, kind), (3, 1, 9), (0, 7, 2)
        a = np.round((a if plan.dtype(array).kind == "c" else a.real) * 100)  # integers, so that sums are exact
        mine, target = plan.empty(array), plan.empty(array)
        mine[...] = a[..., *plan.part(array)].reshape(plan.shape(array))
        with plan.halo(array, low, high) as halo:
            wide = halo.empty()
            halo.exchange(wide, mine)
            places = np.ix_(*(np.arange(at.start, at.stop) % n for at, n in zip(halo.part, SHAPE)))
            assert np.array_equal(wide, a[:, *places].reshape(halo.shape)), (decomposition, layout, array)
            assert np.array_equal(halo.inner(wide), mine)
            sums = np.zeros((fields, *SHAPE), a.dtype)
            np.add.at(sums, (slice(None), *places), wide.reshape(fields, *halo.shape[-3:]))
            comm.Allreduce(MPI.IN_PLACE, sums)
            halo.accumulate(wide, target)
            assert np.array_equal(target, sums[..., *plan.part(array)].reshape(target.shape))
            halo.accumulate(wide)
            assert np.array_equal(halo.inner(wide), target)
            told = model_halo(ProcessGrid(*plan.grid, decomposition=decomposition_named(decomposition)),
                              transform_of(SHAPE, kind, fields=fields), array, low, high)
            for me, (sent, messages) in enumerate((halo.traffic(), halo.traffic(BACKWARD))):
                to = told.members[told.members[:, me] == comm.rank, 1 - me]
                weight = told.group_weight[told.members[:, me] == comm.rank]
                assert np.array_equal(np.bincount(to, weight * told.unit_bytes, comm.size), sent)
                assert np.array_equal(np.bincount(to, minlength=comm.size), messages)
            refused("array with halo is", halo.exchange, wide[..., :1].copy().T, mine)
        refused("destroyed", halo.exchange, wide)
        refused("one number, or three", plan.halo, array, (1, 2))
        refused("give 0 to 12", plan.halo, array, 13)


def check_lines(n, algorithm, order, precision, lines, in_place):
    """Compare with numpy.fft in both directions, and messages with the model."""
    made = np.random.default_rng(n).standard_normal((2, lines, n))
    a = made[0] + 1j * made[1] if lines > 1 else (made[0] + 1j * made[1])[0]
    reference, allowed = np.fft.fft(a), TOLERANCE[precision] * 10
    with LinePlan(n, comm, lines=lines, algorithm=algorithm, order=order, precision=precision, rigor="estimate") as plan:
        for end in ("input", "output"):
            held = np.concatenate([plan.indices(end, rank) for rank in range(comm.size)])
            assert np.array_equal(np.sort(held), np.arange(n)), "each point on one rank"
        if order == "natural":
            assert np.array_equal(plan.indices("input"), plan.indices("output"))
        source = plan.empty("input")
        source[...] = mine = a[..., plan.indices("input")]
        target = plan.view(source, "output") if in_place else plan.empty("output")
        plan.forward(source, target)
        right = reference[..., plan.indices("output")]
        scale, case = np.abs(reference).max(), (n, algorithm, order, precision, lines, in_place)
        assert np.all(np.abs(target - right) < allowed * scale), case
        assert in_place or np.array_equal(source, mine.astype(source.dtype)), "the input is kept"
        plan.backward(target, source)
        assert np.all(np.abs(source / n - mine) < allowed * np.abs(a).max()), case
        seconds = plan.phase_seconds()
        assert next(iter(seconds)) == "fft_line" and 0 < seconds["total"] < 1.001 * sum(list(seconds.values())[:-1]) + 1e-9
        stages = line_stages(n, comm.size, algorithm, order)
        assert plan.exchanges == tuple(stage.name for stage in stages)
        for stage in stages:
            told = np.asarray(stage.sent(comm.size, n))[comm.rank] * lines * source.itemsize
            sent, messages = plan.traffic(stage.name)
            assert np.array_equal(told, sent) and np.array_equal(told > 0, messages)
        refused("unknown 'z'", plan.empty, "z")
        refused("array output is complex", plan.forward, source, np.zeros(n + 1, source.dtype))
        refused("unknown 'row'", plan.traffic, "row")
    refused("destroyed", plan.forward, source, target)
    refused("known: transpose, binary2, binary4, dft", LinePlan, n, comm, algorithm="fastest")
    refused("a line of 0 points", LinePlan, 0, comm)
    refused("64 bits", LinePlan, 2**64 + n, comm)
    refused("n is 8.5; give an integer", LinePlan, 8.5, comm)
    refused("not a communicator", LinePlan, n, None)


def check_brick_lines(shape, bricks, algorithm, order, precision, fields, in_place):
    """Compare with numpy.fft.fftn in both directions, and messages with the model."""
    made = np.random.default_rng(7).standard_normal((2, fields, *shape))
    a = made[0] + 1j * made[1]
    reference, allowed = np.fft.fftn(a, axes=(1, 2, 3)), TOLERANCE[precision] * 10
    with BrickLinesPlan(shape, bricks, comm, fields=fields, algorithm=algorithm, order=order, precision=precision,
                        rigor="estimate") as plan:
        mine = {end: (slice(None), *np.ix_(*plan.indices(end))) for end in ("input", "output")}
        for end in mine:
            seen = np.zeros(shape, int)
            for rank in range(comm.size):
                seen[np.ix_(*plan.indices(end, rank))] += 1
            assert np.all(seen == 1), "each point on one rank"
        source = plan.empty("input")
        source[...] = given = a[mine["input"]].reshape(plan.shape("input"))
        target = plan.view(source, "output") if in_place else plan.empty("output")
        plan.forward(source, target)
        scale, case = np.abs(reference).max(), (shape, bricks, algorithm, order, precision, fields, in_place)
        right = reference[mine["output"]].reshape(plan.shape("output"))
        assert target.size == 0 or np.abs(target - right).max() < allowed * scale, case
        assert in_place or np.array_equal(source, given.astype(source.dtype)), "the input is kept"
        plan.backward(target, source)
        assert source.size == 0 or np.abs(source / np.prod(shape) - given).max() < allowed * np.abs(a).max(), case
        seconds = plan.phase_seconds()
        assert 0 < seconds["total"] < 1.001 * sum(list(seconds.values())[:-1]) + 1e-9
        stages = brick_line_stages(shape, bricks, algorithm, order)
        assert plan.exchanges == tuple(stage.name for stage in stages)
        for stage in stages:
            told = stage.sent()[comm.rank] * fields * source.itemsize
            sent, messages = plan.traffic(stage.name)
            assert np.array_equal(told, sent) and np.array_equal(told > 0, messages)
        refused("unknown 'z'", plan.empty, "z")
        refused("array output is complex", plan.forward, source, np.zeros(99, source.dtype))
    refused("destroyed", plan.forward, source, target)
    refused(f"bricks 1x1x{comm.size + 1} on {comm.size} ranks", BrickLinesPlan, shape, (1, 1, comm.size + 1), comm)
    refused("give three numbers of bricks", BrickLinesPlan, shape, (1, comm.size), comm)
    refused("integer of 32 bits", BrickLinesPlan, shape, (1, 1, 2**32 + comm.size), comm)


def check_chosen_grid():
    with Plan(SHAPE, (0, 0), comm, rigor="estimate") as plan:
        R, C = plan.grid
        waves = [np.fft.fftfreq(n, 1 / n)[mine] for n, mine in zip(SHAPE, plan.part("output"))]
        assert all(np.array_equal(np.abs(ours.ravel()), np.abs(theirs)) for ours, theirs in zip(plan.waves(), waves))
        assert sum(plan.waves()).shape == plan.shape("output")
        assert comm.size == R * C and repr(plan).startswith(f"<pencilfft.Plan 12x10x9 on {R}x{C}, ")
        assert plan.grid_trials == []
    with Plan(SHAPE, 0, comm, decomposition="slab", rigor="estimate") as plan:
        assert plan.grid == (1, comm.size)
    with Plan(SHAPE, comm, exchange="auto", auto_budget_s=0.01, rigor="estimate") as plan:
        assert {trial.grid[0] * trial.grid[1] for trial in plan.grid_trials} == ({comm.size} if comm.size > 1 else set())
        assert all(trial.least <= trial.median and trial.spread >= 0 for trial in plan.grid_trials)


def check_slab():
    a = whole(1, "c2c")
    with Plan(SHAPE, comm.size, comm, decomposition="slab", rigor="estimate", exchange=None) as plan:
        assert repr(plan) == (f"<pencilfft.Plan 12x10x9 on {comm.size}, decomposition slab, rigor estimate, "
                              f"rank {comm.rank} of {comm.size}>")
        source, target = plan.empty("input"), plan.empty("output")
        source[...] = a[0][plan.part("input")]
        plan.forward(source, target)
        assert np.abs(target - np.fft.fftn(a[0])[plan.part("output")]).max() < 1e-10
        assert plan.exchanges == ("slab",) and plan.shape(1) == plan.shape("output")
        refused("unknown 'z'", plan.empty, "z")


def check_transpose(grid):
    index = np.arange(np.prod(SHAPE), dtype=float).reshape(SHAPE)
    with Plan(SHAPE, grid, comm, rigor="estimate") as plan:
        a, b = plan.empty("z"), plan.empty("y")
        a[...] = index[plan.part("z")]
        plan.transpose("row", FORWARD, a, b)
        assert np.array_equal(b, index[plan.part("y")])
        c = plan.empty("x")
        plan.transpose("column", FORWARD, b, c)
        assert np.array_equal(c, index[plan.part("x")])
        back = plan.empty("y")
        plan.transpose("column", BACKWARD, c, back)
        assert np.array_equal(back, index[plan.part("y")])


def refused(words, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except PencilfftError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


def check_two_routes(grid, schedule, kind, layout, fields, in_place):
    """Check forward into parts, backward and a pair; every element of the output lies in exactly one part of one rank."""
    a = whole(fields, kind)
    reference = (np.fft.rfftn if kind == "r2c" else np.fft.fftn)(a, axes=(1, 2, 3))
    seen = np.zeros(reference.shape, int)
    with Plan(SHAPE, grid, comm, type=kind, layout=layout, fields=fields, schedule=schedule, rigor="estimate") as plan:
        assert plan.parts("input") == 1 and plan.parts("output") == plan.parts(1) == 2
        if fields == 1:  # with a single field the global array has three axes
            a, reference, seen = a[0], reference[0], seen[0]
        mine = a[plan.part_mine("input", 0)]
        source, result = plan.empty("input"), plan.empty("input")
        target = plan.view(source, "output") if in_place else plan.empty("output")
        source[...] = mine
        plan.forward(source, target)
        for i, (at, part) in enumerate(plan.split(target, "output")):
            assert at == plan.part_mine("output", i) and np.shares_memory(part, target) == (part.size > 0)
            assert part.size == 0 or np.abs(part - reference[at]).max() / np.abs(reference).max() < TOLERANCE["double"]
            seen[at] += 1
        assert target.shape == plan.shape("output") == (sum(part.size for _, part in plan.split(target, "output")),)
        assert np.all(comm.allreduce(seen) == 1), (grid, schedule, fields)
        plan.backward(target, result)
        assert np.abs(result / plan.scale - mine).max() < 10 * TOLERANCE["double"]
        again, back = plan.empty("output"), plan.empty("input")
        plan.execute_pair(result, again, target, back)
        assert np.abs(again / plan.scale - target).max() / np.abs(reference).max() < 10 * TOLERANCE["double"]
        assert np.abs(back / plan.scale - mine).max() < 10 * TOLERANCE["double"]
        chosen = f"under schedule {plan.schedule_chosen} array output has 2 parts; ask part_mine() or split()"
        assert plan.schedule_chosen.split(":")[0] == schedule.split(":")[0]
        refused(chosen, plan.part, "output")
        refused(chosen, plan.start, "output")
        refused("unknown 2; known: 0, 1", plan.part_mine, "output", 2)
        refused("array output is complex128", plan.split, source, "output")
        refused("overlap those of the backward one", plan.execute_pair, result, again, again, back)
        refused("no exchange stands alone", plan.transpose, "row", FORWARD, plan.empty("z"), plan.empty("y"))
    refused("destroyed", lambda: plan.schedule_chosen)


def check_one_part(grid):
    """Arrays with a single part split into this part, and pairs are possible under any schedule."""
    a = whole(1, "c2c")[0]
    with Plan(SHAPE, grid, comm, schedule="overlap:2", rigor="estimate") as plan:
        source, target, back = plan.empty("input"), plan.empty("output"), plan.empty("input")
        source[...] = a[plan.part("input")]
        plan.forward(source, target)
        [(at, part)] = plan.split(target, "output")
        assert at == plan.part("output") == plan.part_mine("output", 0) and part.shape == plan.shape("output")
        assert np.array_equal(part, target)
        again = plan.empty("output")
        plan.execute_pair(source, again, target, back)
        assert np.array_equal(again, target) and np.abs(back / plan.scale - source).max() < 1e-13
        refused("set nonblocking", plan.start_forward, source, again)
        assert np.abs(plan.backward(target, norm="1/N") - source).max() < 1e-14
        assert np.allclose(plan.forward(source, norm="1/sqrt(N)"), target / np.sqrt(plan.scale), rtol=0, atol=1e-13)
        assert np.array_equal(plan.forward(source), target)  # a norm is for its call alone
        refused("unknown 'ortho'; known: none, 1/N", plan.forward, source, None, "ortho")
        assert plan.schedule_chosen == ("sequence" if comm.size == 1 else "overlap:2:x")  # nothing to exchange


def check_flight(grid):
    """Transforms in flight give the results of `forward`, `backward` and `execute_pair`, and a plan in flight waits."""
    plans = [Plan(SHAPE, grid, comm, nonblocking=True, rigor="estimate") for _ in range(2)]
    one, other = plans
    source = one.empty("input")
    source[...] = whole(1, "c2c")[0][one.part("input")]
    expected = one.forward(source)
    back = other.backward(expected)
    targets = one.empty("output"), other.empty("input")
    refused("not in flight", one.progress)
    refused("not in flight", one.wait)
    one.start_forward(source, targets[0])
    other.start_backward(np.asfortranarray(expected))  # copied
    refused("in flight; call wait() first", one.start_forward, source)
    refused("in flight", one.forward, source, one.empty("output"))
    refused("in flight; call wait() first", one.destroy)
    message = comm.sendrecv(comm.rank, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)
    while not one.progress():
        other.progress()
    assert message == (comm.rank - 1) % comm.size
    assert np.array_equal(other.wait(), back) and one.wait() is targets[0] and np.array_equal(targets[0], expected)
    one.start_pair(source, one.empty("output"), expected, targets[1])
    again, there = one.wait()
    assert there is targets[1] and np.array_equal(again, expected) and np.array_equal(there, back)
    for plan in plans:
        plan.destroy()


def check_telling(grid):
    """Check the times and exchanges of the last transform; undivided axes need no exchange."""
    with Plan(SHAPE, grid, comm, exchange="p2p", rigor="estimate") as plan:
        plan.forward(plan.empty("input"), plan.empty("output"))
        seconds = plan.phase_seconds()
        assert list(seconds)[:3] == ["fft_z", "pack_row", "exchange_row"] and min(seconds.values()) >= 0
        parts = sum(spent for name, spent in seconds.items() if name != "total" and not name.startswith(("wait", "hidden")))
        assert seconds["total"] > 0 and abs(parts - seconds["total"]) < 1e-3
        assert (seconds["exchange_row"] > 0, seconds["exchange_column"] > 0) == (grid[0] > 1, grid[1] > 1)
        assert str(plan).startswith(f"pencil {grid[0]}x{grid[1]}, rank {comm.rank}, size 12 10 9, double complex to complex")
        assert plan.exchanges == ("row", "column")
        assert plan.exchange_chosen("row") == plan.exchange_chosen("column") == "p2p"
    with Plan(SHAPE, grid, comm, exchange="p2p", rigor="estimate", schedule="overlap:2:x") as beside:
        for _ in range(2):
            beside.forward(beside.empty("input"), beside.empty("output"))
            sleep(0.05)  # time between two transforms is hidden behind neither
        seconds = beside.phase_seconds()
        hidden = [spent for name, spent in seconds.items() if name.startswith("hidden")]
        assert len(hidden) == 2 and all(0 <= spent <= 2 * seconds["total"] for spent in hidden)  # in two chunks each
    refused("destroyed", plan.exchange_chosen, "row")
    refused("destroyed", plan.phase_seconds)
    assert repr(plan).endswith(", destroyed>")


def check_what_is_told(grid):
    """The names, numbers and traffic that C functions tell."""
    assert names("decomposition")[0] == "pencil" and "alltoallv" in names("exchange") and names("line_order")
    assert [grid_numbers(name) for name in ("pencil", "slab", "wish")] == [2, 1, 0]
    refused("unknown 'wish'", names, "wish")
    with Plan(SHAPE, grid, comm, type="r2c", rigor="estimate", exchange="auto", auto_budget_s=0.1) as plan:
        assert plan.bricks == (0, 0, 0) and plan.line_of(2) == ("r2c", 0) and plan.line_of(0) == ("dft", 0)
        assert [plan.part_of("input", rank) for rank in range(comm.size)][comm.rank] == plan.part("input")
        assert comm.allgather(plan.part("output")) == [plan.part_of("output", rank) for rank in range(comm.size)]
        assert set(plan.auto_seconds("row")) <= set(names("exchange")) and plan.exchange_means("row") != ""
        kinds = plan.phase_kinds()
        assert list(kinds) == list(plan.phase_seconds()) and (kinds["fft_z"], kinds["total"]) == ("fft", "total")
        sent, messages = plan.traffic("row")
        assert sum(count > 0 for count in messages) <= grid[0] - 1 and sent[comm.rank] == 0
        assert comm.allreduce(sum(sent)) == comm.allreduce(sum(plan.traffic("row", BACKWARD)[0]))
    with LinePlan(60, comm, rigor="estimate") as line:
        assert all(map(line.is_all_to_all, line.exchanges))
        refused("unknown 'wish'", line.is_all_to_all, "wish")


def check_slices_of_larger_arrays(grid):
    """Nothing but the slice is written, although the library writes more behind an array that has room."""
    with Plan(SHAPE, grid, comm, type="r2c", fields=3, rigor="estimate") as three, \
         Plan(SHAPE, grid, comm, type="r2c", rigor="estimate", destroy_input=True) as plan:
        f = whole(1, "r2c")[0][plan.part("input")]
        for larger in (np.empty((3, *plan.shape("input"))), three.empty("input")):
            larger[...] = 7
            plan.backward(plan.forward(f.copy()), larger[0])
            assert np.abs(larger[0] / plan.scale - f).max(initial=0) < 1e-12 and (larger[1:] == 7).all()
            plan.forward(larger[1])
            assert (larger[2] == 7).all()


def check_large_pages():
    with Plan((64 * comm.size, 64, 32), (1, comm.size), comm, rigor="estimate") as plan:
        for array in ("input", "output"):
            assert plan.empty(array).nbytes >= LARGE_PAGE
            assert plan.empty(array).ctypes.data % LARGE_PAGE == 0


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


def check_destroyed_input(grid):
    """The input may hold anything after a transform; forth and back is right."""
    with Plan(SHAPE, grid, comm, rigor="estimate", destroy_input=True) as plan:
        source, target = plan.empty("input"), plan.empty("output")
        mine = whole(1, "c2c")[0][plan.part("input")]
        source[...] = mine
        plan.forward(source, target)
        plan.backward(target, source)
        assert np.abs(source / plan.scale - mine).max() < 1e-12


def check_threads(grid):
    """A rank has the requested threads, or a refusal if the library has no threads."""
    try:
        with Plan(SHAPE, grid, comm, threads=3, rigor="estimate") as plan:
            assert plan.threads == 3
    except PencilfftError as error:
        assert "built without OpenMP" in str(error)
    with Plan(SHAPE, grid, comm, rigor="estimate") as plan:
        assert plan.threads == 1


def check_refusals(grid):
    refused("nosuch", Plan, SHAPE, grid, comm, exchange="nosuch")
    refused("extents", Plan, SHAPE[:1], grid, comm)
    refused("three extents", Plan, 64, grid, comm)
    refused("three extents", Plan, (12.0, 10, 9), grid, comm)
    refused("two numbers", Plan, SHAPE, "2x4", comm)
    refused("not a communicator", Plan, SHAPE, grid, 5)
    refused("fields is [2]; give", Plan, SHAPE, grid, comm, fields=[2])
    refused("64 bits", Plan, (SHAPE[0] + 2**64, *SHAPE[1:]), grid, comm)
    with Plan(SHAPE, grid, comm, rigor="estimate") as plan:
        a, b = plan.empty("input"), plan.empty("output")
        refused("list is not an array", plan.forward, [1.0], b)
        refused("array output is complex128", plan.forward, a, b.real.copy())
        refused("unknown 3", plan.transpose, "row", FORWARD | BACKWARD, plan.empty("z"), plan.empty("y"))
        locked = plan.empty("output")
        locked.flags.writeable = False
        refused("written", plan.forward, a, locked)
    refused("destroyed", plan.empty, "input")


for grid in GRIDS:
    for kind in ("c2c", "r2c"):
        for precision, layout, fields, in_place in [("double", "natural", 1, False), ("double", "stride1", 2, True),
                                                    ("single", "natural", 3, True), ("single", "stride1", 1, False)]:
            check_transform(grid, kind, precision, layout, fields, in_place)
    check_transpose(grid)
    check_telling(grid)
    check_what_is_told(grid)
    check_slices_of_larger_arrays(grid)
    check_threads(grid)
    check_destroyed_input(grid)
    check_one_part(grid)
    check_flight(grid)
    for schedule, kind, layout, fields, in_place in [
            ("two-way", "c2c", "natural", 1, False), ("two-way:2", "r2c", "stride1", 2, True),
            ("two-way:4", "r2c", "natural", 1, False), ("opposite", "r2c", "natural", 3, True),
            ("opposite", "c2c", "stride1", 2, False)]:
        check_two_routes(grid, schedule, kind, layout, fields, in_place)
check_refusals(GRIDS[0])
check_slab()
for case in (("r2c", "natural", "sequence"), ("c2c", "stride1", "sequence"), ("c2c", "natural", "two-way")):
    check_other_forms(*case)
for case in (("c2c", "double", "sequence"), ("r2c", "single", "sequence"), ("r2c", "double", "two-way")):
    check_operators(*case)
check_bricks()
for layout, fields in (("natural", 1), ("stride1", 2)):
    for array in ("inner input", 1, "output"):
        check_halo("pencil", "c2c", layout, fields, array)
    check_halo(f"brick:1x{comm.size}x1", "r2c", layout, fields, "input")
    check_halo("brick", "dct", layout, fields, "output")
check_lines(31, "transpose", "natural", "double", 1, False)
check_lines(96, "transpose", "transposed", "single", 2, True)
check_lines(96, "binary4", "natural", "double", 3, True)
check_lines(60, "binary2", "transposed", "double", 1, False)
check_lines(50, "dft", "natural", "single", 2, False)
check_brick_lines((6, 1, 12), (*GRIDS[-1][:1], 1, *GRIDS[-1][1:]), "transpose", "transposed", "double", 2, False)
check_brick_lines((7, 5, 4), (1, *GRIDS[-1]), "dft", "natural", "single", 1, True)
check_brick_lines((12, 12, 5), (*GRIDS[0], 1), "binary2", "natural", "double", 1, True)
check_chosen_grid()
check_large_pages()
for exchange in ("alltoallv", "node", "p2p"):
    check_what_is_no_number(exchange)
with tempfile.TemporaryDirectory() as mine:
    check_wisdom(GRIDS[-1], Path(comm.bcast(mine)))
    comm.Barrier()
if comm.rank == 0:
    print(f"binding checked on grids {GRIDS}")
