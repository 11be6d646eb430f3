"""Started by test_python_binding.py under mpirun: arguments at the limits of C types, and the lifetime of memory."""

import copy
import os
import pickle
import tempfile
from pathlib import Path
from threading import Thread

import numpy as np
from mpi4py import MPI

from pencilfft import BrickLinesPlan, LinePlan, PencilfftError, Plan, load_wisdom

comm = MPI.COMM_WORLD
SHAPE, GRID = (8, 6, 5), (1, comm.size)


def refused(words, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except PencilfftError as error:
        assert words in str(error), error
        str(error).encode()
        return
    raise AssertionError(f"not refused: {words}")


def plan_of(**choices):
    return Plan(SHAPE, GRID, comm, rigor="estimate", **choices)


def check_waves_of_fields():
    for schedule in ("sequence", "two-way", "opposite"):
        with plan_of(fields=2, schedule=schedule) as plan:
            for i in range(plan.parts("output")):
                waves, at = plan.waves(i), plan.part_mine("output", i)
                right = [np.fft.fftfreq(n, 1 / n)[mine] for n, mine in zip(SHAPE, at[-3:])]
                assert all(np.array_equal(np.abs(a.ravel()), np.abs(b)) for a, b in zip(waves, right))
                assert np.broadcast_shapes((at[0].stop - at[0].start, 1, 1, 1), sum(waves).shape)[1:] == sum(waves).shape


def check_source_that_must_not_be_written(folder):
    """A plan that may overwrite its input copies a read-only input."""
    for kind, ends in (("c2c", ("input", "output")), ("c2r", ("output", "input"))):
        with plan_of(type=kind, destroy_input=True) as plan:
            source, target = map(plan.empty, ends)
            path = folder / f"{kind}{comm.rank}"
            path.write_bytes(bytes(plan.buffer_bytes))
            mapped = np.memmap(path, np.uint8, "r")
            read_only = np.ndarray(source.shape, source.dtype, mapped, 0, source.strides)
            call = plan.forward if kind == "c2c" else plan.backward
            source[...] = 0
            call(read_only if comm.rank == 0 else source, target)
            assert not target.any()
            assert path.read_bytes() == bytes(plan.buffer_bytes)
    with plan_of() as plan:
        source, target = plan.empty("input"), plan.empty("output")
        source[...] = 1
        source.flags.writeable = False
        plan.forward(source, target)
        assert not plan.view(source, "output").flags.writeable, "a view is as writeable as its array"
        refused("cannot be written", plan.backward, target, plan.view(source, "input"))


def check_messages(folder):
    """Messages may contain names of files and texts that are not UTF-8."""
    path = os.fsencode(folder) + b"/\xff\xfe"
    if comm.rank == 0:
        with open(path, "w") as file:
            file.write("no wisdom")
    comm.Barrier()
    refused(r"\xff\xfe", load_wisdom, path, comm)
    refused("exchange", plan_of, exchange="\N{SNOWMAN}" * 500)  # the limit is inside a character


def check_copies():
    for plan in (plan_of(), LinePlan(8, comm, rigor="estimate"), BrickLinesPlan(SHAPE, (*GRID, 1), comm, rigor="estimate")):
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
    with Plan(np.array(SHAPE), np.array(GRID, np.int32), comm, fields=np.int8(2), destroy_input=np.bool_(True),
              auto_budget_s=np.float32(1), rigor=np.str_("estimate")) as plan:
        assert repr(plan).startswith(f"<pencilfft.Plan 8x6x5 on 1x{comm.size}, fields 2, destroy_input True,")
        assert plan.empty(np.int64(0)).shape == plan.shape("z")
    with Plan(iter(SHAPE), np.int64(comm.size), comm, decomposition="slab", rigor="estimate") as plan:
        assert repr(plan).startswith(f"<pencilfft.Plan 8x6x5 on {comm.size}, ")
    with BrickLinesPlan(np.array(SHAPE), (*GRID, 1), comm, fields=np.int64(1), rigor="estimate") as plan:
        assert all(a.size == n for a, n in zip(plan.indices("input", np.int32(comm.rank)), plan.shape("input")))


def check_arrays_of_the_user():
    """Large enough arrays of any origin are accepted, also in the memory order of Fortran."""
    with plan_of(layout="stride1") as plan:
        ends = plan.empty("input"), plan.empty("output")
        ends[0][...] = comm.rank + np.arange(ends[0].size).reshape(ends[0].shape)
        plan.forward(*ends)
        x, y, z = plan.shape("output")
        memory = np.zeros((x, y, z + plan.buffer_bytes // (16 * x * y) + 1), complex, order="F")
        mine = memory[:, :, :z]
        plan.forward(ends[0], mine)
        assert np.array_equal(mine, ends[1])


def check_communicators():
    refused("communicator of mpi4py", Plan, SHAPE, GRID, 5)
    refused("communicator of mpi4py", LinePlan, 8, None)
    refused("MPI.COMM_NULL", Plan, SHAPE, GRID, MPI.COMM_NULL)
    if comm.size > 1:
        half = comm.Split(comm.rank % 2, comm.rank)
        between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
        refused("intercommunicator", LinePlan, 8, between)
        between.Free()
        half.Free()
    own = comm.Dup()
    plans = [Plan(SHAPE, GRID, own, rigor="estimate") for _ in range(3)]
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


def check_memory_of_brick_lines():
    """Some orders need more memory between the axes than input and output have."""
    more = 0
    for order in ("natural", "transposed", "transposed-both"):
        with BrickLinesPlan((10, 7, 13), (1, *GRID) if comm.size != 4 else (1, 2, 2), comm, order=order,
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


folder = Path(comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None))
check_waves_of_fields()
check_source_that_must_not_be_written(folder)
check_messages(folder)
check_copies()
check_kinds_of_numbers()
check_arrays_of_the_user()
check_communicators()
check_threads()
check_memory_of_brick_lines()
comm.Barrier()
if comm.rank == 0:
    for file in os.listdir(os.fsencode(folder)):
        os.remove(os.path.join(os.fsencode(folder), file))
    folder.rmdir()
    print("arguments checked")
plan = plan_of()
MPI.Finalize()
refused("MPI has been finalized", plan.destroy)
refused("MPI is not running", plan_of)
