"""Started by test_python_binding.py under mpirun: the binding against numpy.fft, on every rank its part."""

import tempfile
from pathlib import Path

import numpy as np
from mpi4py import MPI

from pencilfft import BACKWARD, FORWARD, PencilfftError, Plan, forget_wisdom, load_wisdom, save_wisdom

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
        mine = a[:, *plan.part("input")].reshape(plan.shape("input"))
        right = reference[:, *plan.part("output")].reshape(plan.shape("output"))
        source = plan.empty("input")
        target = plan.view(source, "output") if in_place else plan.empty("output")
        source[...] = mine
        plan.forward(source, target)
        far = np.abs(target - right).max() / np.abs(reference).max()
        assert far < TOLERANCE[precision], (grid, kind, precision, layout, fields, in_place, far)
        assert in_place or np.array_equal(source, mine.astype(source.dtype)), "the input is kept"
        plan.backward(target, source)
        assert np.abs(source / plan.scale - mine).max() < 10 * TOLERANCE[precision]


def check_slab():
    a = whole(1, "c2c")
    with Plan(SHAPE, (comm.size,), comm, decomposition="slab", rigor="estimate") as plan:
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


def check_telling(grid):
    """What the last transform took and how it moved data; axes that are not divided exchange nothing."""
    with Plan(SHAPE, grid, comm, exchange="p2p", rigor="estimate") as plan:
        plan.forward(plan.empty("input"), plan.empty("output"))
        seconds = plan.phase_seconds()
        assert list(seconds)[:3] == ["fft_z", "pack_row", "exchange_row"] and min(seconds.values()) >= 0
        parts = sum(spent for name, spent in seconds.items() if name != "total" and not name.startswith("wait"))
        assert seconds["total"] > 0 and abs(parts - seconds["total"]) < 1e-3
        assert (seconds["exchange_row"] > 0, seconds["exchange_column"] > 0) == (grid[0] > 1, grid[1] > 1)
        assert str(plan).startswith(f"pencil {grid[0]}x{grid[1]}, rank {comm.rank}, size 12 10 9, double complex to complex")
        assert plan.exchanges == ("row", "column")
        assert plan.exchange_chosen("row") == plan.exchange_chosen("column") == "p2p"
    refused("destroyed", plan.exchange_chosen, "row")
    refused("destroyed", plan.phase_seconds)


def check_wisdom(grid, folder):
    """What one plan learnt is known to the next after the file is loaded, and not before."""
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


def check_refusals(grid):
    refused("nosuch", Plan, SHAPE, grid, comm, exchange="nosuch")
    refused("three extents", Plan, SHAPE[:2], grid, comm)
    refused("64 bits", Plan, (SHAPE[0] + 2**64, *SHAPE[1:]), grid, comm)
    with Plan(SHAPE, grid, comm, rigor="estimate") as plan:
        a, b = plan.empty("input"), plan.empty("output")
        refused("float32", plan.forward, np.zeros(plan.shape("input"), np.float32), b)
        refused("strides", plan.forward, np.asfortranarray(a), b)
        refused("unknown 3", plan.transpose, "row", FORWARD | BACKWARD, plan.empty("z"), plan.empty("y"))
        if a.nbytes < plan.buffer_bytes:
            refused("bytes", plan.forward, np.array(a), b)
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
check_refusals(GRIDS[0])
check_slab()
with tempfile.TemporaryDirectory() as mine:
    check_wisdom(GRIDS[-1], Path(comm.bcast(mine)))
    comm.Barrier()
if comm.rank == 0:
    print(f"binding checked on grids {GRIDS}")
