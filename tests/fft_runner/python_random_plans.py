"""Started by test_python_binding.py under mpirun, with a seed and a number: random plans, each with a round trip. The
program that starts this program guards the memory of all arrays.

    python -m mpi4py python_guarded.py python_random_plans.py SEED NUMBER
"""

import sys
from collections import Counter
from ctypes import c_char_p
from itertools import count
from math import prod

import numpy as np
from mpi4py import MPI

from pencilfft import BACKWARD, BEFORE, FORWARD, BrickLinesPlan, LinePlan, PencilfftError, Plan, library

comm = MPI.COMM_WORLD
TOLERANCE = {"double": 1e-11, "single": 1e-3}


class Refused(Exception):
    """The library cannot make such a plan."""


def made(kind, *arguments, **choices):
    try:
        return kind(*arguments, comm, **choices)
    except PencilfftError as error:
        raise Refused(str(error)) from error


def names(what):
    """Return all names of a table of the library."""
    function = library._function(f"{what}_name")
    function.restype = c_char_p
    return [name.decode() for name in iter(map(function, count()).__next__, None)]


def divided(draw, n, parts):
    """Return `parts` numbers with the product n."""
    numbers = [1] * parts
    while n > 1:
        prime = next(p for p in range(2, n + 1) if n % p == 0)
        numbers[draw.integers(parts)] *= prime
        n //= prime
    return tuple(int(number) for number in numbers)


def one_of(draw, values):
    return values[draw.integers(len(values))]


def fill(draw, array):
    """Fill an array with numbers that differ between ranks, so that no rank knows the numbers of another."""
    own = np.random.default_rng([int(draw.integers(2**31)), comm.rank])
    array[...] = own.standard_normal(array.shape)
    if array.dtype.kind == "c":
        array += 1j * own.standard_normal(array.shape)
    return array.copy()


def random_plan(draw):
    order = one_of(draw, ["zyx", *names("order")])
    shape = tuple(int(n) for n in draw.integers(1, 15, len(order)))
    decomposition = one_of(draw, names("decomposition") if len(order) == 3 else ["pencil", "brick"])
    grid = divided(draw, comm.size, 2) if decomposition == "pencil" else comm.size if decomposition == "slab" else (0, 0)
    if len(order) == 2:
        grid = comm.size if draw.integers(2) else (0, 0)
    if decomposition == "brick" and draw.integers(2):
        decomposition = "brick:" + "x".join(map(str, divided(draw, comm.size, len(order))))
    schedule = one_of(draw, [None, None, *names("schedule")])
    choices = dict(decomposition=decomposition, type=one_of(draw, names("type")), layout=one_of(draw, names("layout")),
                   precision=one_of(draw, list(TOLERANCE)), exchange=one_of(draw, names("exchange")), schedule=schedule,
                   skip=one_of(draw, [None, None, "x", "y"]), fields=int(draw.integers(1, 4)),
                   order=order, interleaved=bool(draw.integers(2)), caller_work=not draw.integers(4),
                   destroy_input=bool(draw.integers(2)), nonblocking=bool(draw.integers(2)),
                   rigor="estimate", auto_budget_s=0.01)
    if choices["type"] in ("c2c", "r2c", "c2r") and not draw.integers(3):
        choices["padding"] = [1 if axis in (choices["skip"] or "") else 1 + draw.integers(5) / 4 for axis in sorted(order)]
    return made(Plan, shape, grid, **choices), choices


def use_plan(draw):
    plan, choices = random_plan(draw)
    precision = TOLERANCE[choices["precision"]]
    with plan:
        if choices["caller_work"]:
            plan.set_work(np.empty(plan.work_bytes(in_place=True), np.uint8))
        source = plan.empty("input")
        given, in_place = fill(draw, source), bool(draw.integers(2))
        target = plan.view(source, "output") if in_place else plan.empty("output")
        plan.forward(source, target)
        assert in_place or choices["destroy_input"] or np.array_equal(source, given), "the input is kept"
        assert plan.parts("output") > 1 or tuple(at.stop - at.start for at in plan.part("output")) == plan.shape("output")
        if choices.get("padding"):  # the spectrum survives, not the input
            spectrum = target.copy()
            plan.forward(plan.backward(target), target)
            far = np.abs(target / plan.scale - spectrum).max(initial=0) / np.abs(spectrum).max(initial=1)
        else:
            plan.backward(target, source)
            far = np.abs(source / plan.scale - given).max(initial=0)
        assert far < precision, (str(plan), far)
        if draw.integers(2):
            arrays = [plan.empty(name) for name in ("input", "output", "output", "input")]
            for array in arrays:
                array[...] = 0
            plan.execute_pair(*arrays)
            if choices["nonblocking"]:
                plan.start_pair(*arrays)
                plan.progress()
                plan.wait()
        if plan.parts("output") == 1:
            use_exchange(draw, plan)
            use_halo(draw, plan)


def use_exchange(draw, plan):
    e = int(draw.integers(len(plan.exchanges)))
    before, after, back = plan.empty(e), plan.empty(BEFORE + e + 1), plan.empty(e)
    given = fill(draw, before)
    plan.transpose(plan.exchanges[e], FORWARD, before, after)
    plan.transpose(plan.exchanges[e], BACKWARD, after, back)
    assert np.array_equal(back, given), str(plan)


def use_halo(draw, plan):
    name, widths = one_of(draw, ["input", "output"]), [int(n) for n in draw.integers(0, 2, len(plan.extents))]
    if name == "output":
        widths["xyz".index(plan.choice("order")[0])] = 0  # a spectrum is not periodic along its halved axis
    with plan.halo(name, widths) as halo:
        own, wide = plan.empty(name), halo.empty()
        given = fill(draw, own)
        halo.exchange(wide, own)
        assert np.array_equal(halo.inner(wide), given)
        halo.accumulate(wide, own)
        halo.accumulate(wide)


def use_lines(draw, plan):
    with plan:
        source = plan.empty("input")
        given, in_place = fill(draw, source), bool(draw.integers(2))
        target = plan.view(source, "output") if in_place else plan.empty("output")
        plan.forward(source, target)
        plan.backward(target, source)
        return source, given


def lines_of(draw):
    return dict(algorithm=one_of(draw, names("line_algorithm")), order=one_of(draw, names("line_order")),
                precision=one_of(draw, list(TOLERANCE)), rigor="estimate")


def use_line(draw):
    n, choices = int(draw.integers(1, 200)), lines_of(draw)
    source, given = use_lines(draw, made(LinePlan, n, lines=int(draw.integers(1, 4)), **choices))
    assert np.abs(source / n - given).max(initial=0) < TOLERANCE[choices["precision"]], (n, choices)


def use_brick_lines(draw):
    shape, choices = tuple(int(n) for n in draw.integers(1, 15, 3)), lines_of(draw)
    bricks = divided(draw, comm.size, 3)
    source, given = use_lines(draw, made(BrickLinesPlan, shape, bricks, fields=int(draw.integers(1, 4)), **choices))
    assert np.abs(source / prod(shape) - given).max(initial=0) < TOLERANCE[choices["precision"]], (shape, bricks, choices)


seed, number, ends = int(sys.argv[1]), int(sys.argv[2]), Counter()
for case in range(number):
    random = np.random.default_rng([seed, case])
    use = one_of(random, [use_plan, use_plan, use_line, use_brick_lines])
    try:
        use(random)
        ends["used"] += 1
    except Refused as error:
        said = str(error)
        assert len(set(comm.allgather(said))) == 1, said
        ends["refused"] += 1
    except (AssertionError, PencilfftError) as error:
        raise AssertionError(f"case {case} of seed {seed}: {error}") from error
if comm.rank == 0:
    assert ends["used"] > number / 3, ends
    print(f"{ends['used']} of {number} plans used")
