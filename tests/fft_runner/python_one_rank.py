"""Started by test_python_binding.py under mpirun: every public function and method with wrong arguments on the last rank.

A collective call must raise the same message on all ranks, and no rank may wait; a local call must raise on that rank.
"""

import inspect
import os
import sys
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import gettempdir

import numpy as np
from mpi4py import MPI

import pencilfft
from pencilfft import (
    FORWARD,
    BrickLinesPlan,
    Halo,
    LinePlan,
    PencilfftError,
    Plan,
    grid_numbers,
    load_wisdom,
    names,
    save_wisdom,
)
from pencilfft.plan import MEMBERS

comm = MPI.COMM_WORLD
last = comm.size - 1
SHAPE, GRID = (8, 6, 4), (1, comm.size)
TOO_LONG = 10**5000  # Python does not write so many digits
CUT = 2**64 + 1  # ctypes would pass 1
NOT_INTEGERS = (1.5, "1", None, True, np.float64(1), np.array([1, 1]), CUT, TOO_LONG, object())
NOT_TEXTS = (5, b"c2c", "c2c\0", "\ud800", object())
NOT_NAMES = ("nosuch", 9, CUT, True, 0.0, [0], None, object())
seen = set()


def told(call):
    try:
        call()
    except PencilfftError as error:
        return str(error)
    return None


def collective(name, right, *wrong):
    """Call `wrong` on the last rank and `right` on the others."""
    seen.add(name)
    for number, call in enumerate(wrong):
        said = comm.allgather(told(call if comm.rank == last else right))
        assert said[0] is not None and len(set(said)) == 1, (name, number, said)


def local(name, *wrong):
    seen.add(name)
    for number, call in enumerate(wrong if comm.rank == last else ()):
        assert told(call), (name, number)


def each(function, values):
    return [lambda value=value: function(value) for value in values]


def creation(name, kind, arguments, choices, more):
    """Yield every argument with useless values, an argument too many or too few, and unknown keywords."""
    def call(*given, **other):
        return lambda: kind(*given, **choices, **other).destroy()

    wrong = [call(*arguments, comm, 5), call(*arguments[1:], comm), call(comm, *arguments), call(*arguments, comm, nosuch=1)]
    if kind is not Plan:  # which chooses the grid
        wrong.append(call(*arguments[:-1], comm=comm))
    for place in range(len(arguments)):
        values = [*NOT_INTEGERS, count(), (CUT, 1, 1), (1.0, 1, 1), ("8", "6", "4"), (True, 1, 1), (2**62, 6, 4), (1,) * 4]
        wrong += [call(*arguments[:place], value, *arguments[place + 1:], comm) for value in values if value is not None]
    for keyword, values in more.items():
        wrong += [call(*arguments, comm, **{keyword: value}) for value in values if value is not None]
    collective(name, call(*arguments, comm), *wrong)
    call(*arguments, comm)()


def useless(right):
    """Return arrays that cannot be copied to the form of `right` either."""
    return [[1.0], 5, np.float64(1), np.array(1j), right[:1], right[np.newaxis], np.ma.array(right), right.astype(str)]


def copied(right):
    """Return arrays with the elements of `right` and another form, which a transform copies."""
    return [right.astype(np.complex64), right.astype(right.dtype.newbyteorder()), right[::-1][::-1].copy()[::-1],
            right[..., ::-1], np.repeat(right, 2, axis=-1)[..., ::2], misaligned(right)]


def arrays_like(right):
    """Return arrays that do not fit in place of `right`."""
    return [None, *useless(right), *copied(right)]


def misaligned(right):
    return np.ndarray(right.shape, right.dtype, np.zeros(right.nbytes + 1000, np.uint8), 8 if right.dtype.kind == "c" else 4)


def locked(right):
    view = right[...]
    view.flags.writeable = False
    return view


def shifted(right, by):
    """Return an array of the same form some bytes behind, so that the two overlap."""
    memory = np.zeros(4 * right.nbytes + 4096, np.uint8)
    first = -memory.ctypes.data % 64
    return (np.ndarray(right.shape, right.dtype, memory, first, right.strides),
            np.ndarray(right.shape, right.dtype, memory, first + by, right.strides))


def exchange(name, call, source, target):
    """Check a function of a source and a target that copies neither."""
    either(name, call, source, target, arrays_like)
    collective(name, lambda: call(source, target), lambda: call(source))


def transform(name, call, source, target):
    """Check a function of a source and a target that copies both if it must."""
    either(name, call, source, target, useless)
    collective(name, lambda: call(source, target), lambda: call(None, target), lambda: call(source, target.real.copy()))
    for array in copied(source) if comm.rank == last else [source] * len(copied(source)):
        call(array, target)
    for array in copied(target) if comm.rank == last else [target] * len(copied(target)):
        call(source, array)


def either(name, call, source, target, wrong):
    collective(name, lambda: call(source, target), *each(lambda array: call(array, target), wrong(source)),
               *each(lambda array: call(source, array), [*wrong(target), locked(target)]),
               lambda: call(*shifted(source, 32)), lambda: call(source, target, 5),
               lambda: call(source, target, nosuch=5), call)
    call(source, target)


def check_library():
    """Call the library for the first time, which loads the library; the library is missing on one rank."""
    right = os.environ["PENCILFFT_LIBRARY"]
    if comm.rank == last:
        os.environ["PENCILFFT_LIBRARY"] = "/no/such/library.so"
    for make in (lambda: LinePlan(8, comm), lambda: Plan(SHAPE, GRID, comm), lambda: load_wisdom("/no/such/file", comm)):
        said = comm.allgather(told(make))
        assert len(set(said)) == 1 and "/no/such/library.so" in said[0], said
    os.environ["PENCILFFT_LIBRARY"] = right


def check_plan():
    integers = dict.fromkeys(("directions", "fields", "threads"), NOT_INTEGERS)
    texts = {name: NOT_TEXTS for name, (kind, _) in MEMBERS.items() if kind == "text"}
    boxes = (5, "xyz", [1, 2, 3], [slice(0, 1)] * 2, [slice(0, 1)] * 4, [slice(0, 1.5)] * 3, [slice(None, 4)] * 3,
             [slice(0, 4, 2)] * 3, [slice(CUT, CUT + 1)] * 3, [slice(-2**63, 2**63 - 1)] * 3, count())
    more = dict(destroy_input=("yes", 2, 1.0, CUT), nonblocking=("yes", 2), auto_budget_s=("3", 1j, True, 10**400),
                input_box=boxes, output_box=boxes)
    creation("Plan", Plan, (SHAPE, GRID), dict(rigor="estimate"), {**integers, **texts, **more, "rigor": ()})
    with Plan(SHAPE, GRID, comm, rigor="estimate", nonblocking=True) as plan:
        f, g, h, k = (plan.empty(name) for name in ("input", "output", "output", "input"))
        z, y = plan.empty("z"), plan.empty("y")
        for array in (f, g, h, k, z, y):
            array[...] = 0
        transform("Plan.forward", plan.forward, f, g)
        transform("Plan.backward", plan.backward, g, f)
        transform("Plan.execute_pair", lambda *two, **other: plan.execute_pair(*two, h, k, **other), f, g)
        collective("Plan.execute_pair", lambda: plan.execute_pair(f, g, h, k), lambda: plan.execute_pair(f, g, g, k),
                   lambda: plan.execute_pair(f, g, h, plan.view(g, "input")), lambda: plan.execute_pair(f, g, h))
        transform("Plan.start_forward", lambda *two, **other: plan.start_forward(*two, **other) or plan.wait(), f, g)
        transform("Plan.start_backward", lambda *two, **other: plan.start_backward(*two, **other) or plan.wait(), g, f)
        collective("Plan.start_pair", lambda: plan.start_pair(f, g, h, k) or plan.wait(),
                   lambda: plan.start_pair(f, g, g, k))
        collective("Plan.wait", lambda: plan.transpose("row", FORWARD, z, y), plan.wait, lambda: plan.wait(5))
        local("Plan.progress", plan.progress)
        local("Plan.set_work", *each(plan.set_work, [None, [1.0], np.zeros(1)]))
        local("Plan.work_bytes", *each(plan.work_bytes, [2, "1", None]))
        exchange("Plan.transpose", partial(plan.transpose, "column", FORWARD), y, plan.empty("x"))
        collective("Plan.transpose", lambda: plan.transpose("row", FORWARD, z, y),
                   *each(lambda name: plan.transpose(name, FORWARD, z, y), NOT_NAMES),
                   *each(lambda way: plan.transpose("row", way, z, y), (3, -1, 2**32 + 1, True, 1.0, "1", None, [1])),
                   lambda: plan.transpose("row", FORWARD, z, plan.view(z, "y")), plan.transpose)
        for name in ("shape", "start", "part", "parts", "dtype", "empty"):
            local(f"Plan.{name}", *each(getattr(plan, name), [*NOT_NAMES[:1], *NOT_NAMES[2:]]))
        local("Plan.part_mine", *each(lambda i: plan.part_mine("output", i), (1, -1, CUT, True, "0", None, [0])))
        local("Plan.split", *each(lambda array: plan.split(array, "output"), [*arrays_like(g)[:-1]]))
        local("Plan.view", *each(lambda array: plan.view(array, "output"), [None, [1.0], np.zeros(1)]),
              *each(lambda name: plan.view(f, name), ["nosuch", [0]]))
        for name in ("exchange_chosen", "exchange_means", "auto_seconds", "traffic"):
            local(f"Plan.{name}", *each(getattr(plan, name), NOT_NAMES))
        local("Plan.global_shape", *each(plan.global_shape, [*NOT_NAMES[:1], *NOT_NAMES[2:]]))
        local("Plan.part_of", *each(lambda rank: plan.part_of("input", rank), (-1, comm.size, CUT, True, "0", None)),
              *each(lambda i: plan.part_of("input", 0, i), (1, -1, CUT, "0")))
        local("Plan.line_of", *each(plan.line_of, (-1, 3, CUT, True, "x", None)))
        collective("Plan.group", lambda: plan.group("row").Free(), *each(plan.group, NOT_NAMES))
        local("Plan.choice", *each(plan.choice, NOT_NAMES))
        local("Plan.waves", *each(plan.waves, (1, -1, CUT, True, "0", None)))
        check_halo(plan, f)
        check_array(plan, f, g)
        collective("Plan.destroy", lambda: plan.transpose("row", FORWARD, z, y), lambda: plan.destroy(5))


def check_array(plan, f, g):
    seen.update(("PlanArray", "PlanArray.transpose", "PlanArray.swapaxes"))  # with NumPy's errors
    for one, method in ((f, "coordinates"), (g, "wavenumbers")):
        local(f"PlanArray.{method}", *each(getattr(one, method), [0, (1, 1), "x", None, np.inf, (1, 1, -1)]))
    local("Plan.array", *each(lambda array: plan.array(array, "input"), [None, [1.0], f.reshape(-1)]),
          *each(lambda name: plan.array(f, name), NOT_NAMES[2:]))
    collective("PlanArray.gather", f.gather,
               *each(f.gather, [(0,) * 4, 99, CUT, "x", None, [0], slice(None, None, -1), 1.5]),
               *each(lambda root: f.gather(..., root), (comm.size, -1, "0", 0.0, True, CUT)), lambda: f.gather(0, 0, 0))
    collective("PlanArray.global_dot", lambda: f.global_dot(f), f.global_sum, f.global_dot,
               *each(f.global_dot, [None, 1.0, f.reshape(-1)]))
    collective("PlanArray.global_norm", f.global_norm, lambda: f.global_norm(nosuch=1), lambda: f.reshape(-1).global_norm())


def check_halo(plan, f):
    collective("Plan.halo", lambda: plan.halo("input", 1).destroy(), *each(lambda name: plan.halo(name, 1), NOT_NAMES[2:]),
               *each(lambda low: plan.halo("input", low), [*NOT_INTEGERS, (1, 1), (1, 1, 1, 1), count(), 99]),
               *each(lambda high: plan.halo("input", 1, high), [(1, 2), CUT, "1", -1]),
               *each(lambda walls: plan.halo("input", 1, 1, walls), [*NOT_TEXTS, "w", "xx"]),
               lambda: plan.halo("input"), lambda: plan.halo("input", 1, 1, "x", 1), lambda: plan.halo("input", 1, deep=1))
    collective("Halo", lambda: Halo(plan, "input", 1, 1).destroy(), lambda: Halo(plan, "input", 1), lambda: Halo(plan),
               lambda: Halo(plan, "nosuch", 1, 1), lambda: Halo(plan=plan, array="input", low=1, deep=1))
    with plan.halo("input", 1) as halo:
        wide, overlapping = halo.empty(), np.zeros(halo.shape, halo.empty().dtype)
        wide[...] = 0
        own = np.ndarray(f.shape, f.dtype, overlapping)
        move("Halo.exchange", halo.exchange, wide, f, lambda: halo.exchange(overlapping, own))
        move("Halo.accumulate", halo.accumulate, wide, f, lambda: halo.accumulate(overlapping, own))
        collective("Halo.exchange", lambda: halo.exchange(wide, f), lambda: halo.exchange(locked(wide), f))
        collective("Halo.accumulate", lambda: halo.accumulate(wide, f), lambda: halo.accumulate(wide, locked(f)),
                   lambda: halo.accumulate(locked(wide)))
        local("Halo.inner", *each(halo.inner, [None, [1.0], f, 5]))
        local("Halo.traffic", *each(halo.traffic, (3, 2**32 + 1, True, "1", None)))
        collective("Halo.destroy", lambda: halo.exchange(wide, f), lambda: halo.destroy(now=True))


def move(name, call, wide, own, *more):
    collective(name, lambda: call(wide, own), *each(lambda array: call(array, own), arrays_like(wide)[:-1]),
               *each(lambda array: call(wide, array), arrays_like(own)[1:-1]), *more, call, lambda: call(wide, own, 5),
               lambda: call(wide, nosuch=5))


def check_lines(name, kind, arguments, integers):
    texts = dict.fromkeys(("algorithm", "order", "precision", "sync"), NOT_TEXTS)
    creation(name, kind, arguments, dict(rigor="estimate"), {**texts, integers: NOT_INTEGERS})
    with kind(*arguments, comm, rigor="estimate") as plan:
        f, g = plan.empty("input"), plan.empty("output")
        f[...] = g[...] = 0
        transform(f"{name}.forward", plan.forward, f, g)
        transform(f"{name}.backward", plan.backward, g, f)
        for method in ("shape", "empty", "indices"):
            local(f"{name}.{method}", *each(getattr(plan, method), NOT_NAMES))
        local(f"{name}.indices", *each(lambda rank: plan.indices("input", rank), (1.5, "1", True, CUT, 2**32, -1, 99)))
        local(f"{name}.view", *each(lambda array: plan.view(array, "output"), [None, [1.0], np.zeros(1)]))
        local(f"{name}.is_all_to_all", *each(plan.is_all_to_all, NOT_NAMES))
        local(f"{name}.traffic", *each(plan.traffic, NOT_NAMES),
              *each(lambda way: plan.traffic(plan.exchanges[0], way), (3, 2**32 + 1, True, "1")))
        collective(f"{name}.destroy", lambda: plan.forward(f, g), lambda: plan.destroy(5))


def check_wisdom():
    path = Path(gettempdir()) / f"pencilfft_one_rank_{comm.bcast(id(seen))}"
    wrong_paths = (5, None, "a\0b", "\ud800", ["a"])
    collective("load_wisdom", lambda: load_wisdom(path, comm), *each(lambda one: load_wisdom(one, comm), wrong_paths),
               lambda: load_wisdom(path, comm, 5), lambda: load_wisdom(path, comm, nosuch=5),
               lambda: load_wisdom(comm, path))
    collective("save_wisdom", lambda: save_wisdom(path, comm), *each(lambda one: save_wisdom(one, comm), wrong_paths),
               lambda: save_wisdom(path, comm, 5))
    assert not load_wisdom(path, comm) and not path.exists(), "nothing is written"


def public():
    """Return all functions with arguments."""
    for name in pencilfft.__all__:
        found = getattr(pencilfft, name)
        if inspect.isclass(found) and found not in (PencilfftError, pencilfft.GridTrial):
            yield name
            yield from (f"{name}.{method}" for method, function in inspect.getmembers(found, inspect.isfunction)
                        if not method.startswith("_") and (len(inspect.signature(function).parameters) > 1
                                                           or method == "destroy"))
        elif inspect.isfunction(found) and inspect.signature(found).parameters:
            yield name


check_library()
check_plan()
check_lines("LinePlan", LinePlan, (24,), "lines")
check_lines("BrickLinesPlan", BrickLinesPlan, (SHAPE, (1, 1, comm.size)), "fields")
check_wisdom()
local("names", *each(names, NOT_NAMES))
local("grid_numbers", *each(grid_numbers, NOT_TEXTS))
assert set(public()) <= seen, set(public()) - seen
if comm.rank == 0:
    print(f"{len(seen)} functions checked")
sys.stdout.flush()
