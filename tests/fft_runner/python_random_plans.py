"""Started by test_python_binding.py under mpirun, with a seed and a number: random plans against NumPy, SciPy and the model.
The program that starts this program guards the memory of all arrays.

    python -m mpi4py python_guarded.py python_random_plans.py SEED NUMBER
"""

import sys
from collections import Counter
from itertools import product

import numpy as np
import scipy.fft
from mpi4py import MPI

from pencilfft import BACKWARD, BEFORE, FORWARD, BrickLinesPlan, LinePlan, PencilfftError, Plan, names
from pencilmap.model.decompositions import decomposition_named
from pencilmap.model.lines.line_plan import line_stages
from pencilmap.model.lines.line_problem import brick_line_stages
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import transform_of
from pencilmap.model.traffic.exchange import halo as model_halo

comm = MPI.COMM_WORLD
TOLERANCE = {"double": 1e-13, "single": 1e-5}
NORMS = {"none": 2, "1/sqrt(N)": 1, "1/N": 0}  # powers of sqrt(N) by which a transform and its inverse multiply


class Refused(Exception):
    """The library cannot make such a plan."""


def made(kind, *arguments, **choices):
    try:
        return kind(*arguments, comm, **choices)
    except PencilfftError as error:
        raise Refused(str(error)) from error


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


def random_array(draw, shape, is_complex):
    """Return an array that is the same on all ranks."""
    a = draw.standard_normal(shape)
    return a + 1j * draw.standard_normal(shape) if is_complex else a


def check_near(mine, right, scale, most, *case):
    """Compare on all ranks, relative to the largest number of `scale` on any."""
    largest = comm.allreduce(float(np.abs(scale).max(initial=0)), MPI.MAX)
    assert mine.shape == right.shape and np.abs(mine - right).max(initial=0) <= most * largest, case


def cut(draw, box, parts):
    """Return boxes of a part of the array, which is cut in two again and again; some are empty."""
    if parts == 1:
        return [box]
    axis, first = int(draw.integers(len(box))), int(draw.integers(1, parts))
    at = int(draw.integers(box[axis].start, box[axis].stop + 1))
    lower, upper = ([*box[:axis], part, *box[axis + 1:]] for part in (slice(box[axis].start, at), slice(at, box[axis].stop)))
    return cut(draw, lower, first) + cut(draw, upper, parts - first)


# ---- transforms ------------------------------------------------------------------------------------------------------


def random_plan(draw):
    order = one_of(draw, ["zyx", *names("order")])
    shape = tuple(int(n) for n in draw.integers(1, 15, len(order)))
    decomposition = one_of(draw, names("decomposition") if len(order) == 3 else ["pencil", "brick"])
    grid = divided(draw, comm.size, 2) if decomposition == "pencil" else comm.size if decomposition == "slab" else (0, 0)
    if len(order) == 2:
        grid = comm.size if draw.integers(2) else (0, 0)
    if decomposition == "brick" and draw.integers(2):
        decomposition = "brick:" + "x".join(map(str, divided(draw, comm.size, len(order))))
    choices = dict(decomposition=decomposition, type=one_of(draw, ["c2c", "r2c", *names("type")]),
                   layout=one_of(draw, names("layout")), precision=one_of(draw, list(TOLERANCE)),
                   exchange=one_of(draw, names("exchange")), schedule=one_of(draw, [None, None, *names("schedule")]),
                   skip=one_of(draw, [None, None, "x", "y", "".join(sorted(order))]), fields=int(draw.integers(1, 4)),
                   order=order, interleaved=bool(draw.integers(2)), caller_work=not draw.integers(4),
                   destroy_input=bool(draw.integers(2)), nonblocking=bool(draw.integers(2)),
                   rigor="estimate", auto_budget_s=0.01)
    if not draw.integers(3):
        kinds = {axis: one_of(draw, names("line_kind")) for axis in sorted(order)}
        kinds = {axis: "none" if kind == "r2c" and axis != order[0] else kind for axis, kind in kinds.items()}
        choices |= {"type": ",".join(kinds.values()), "skip": None}
    if choices["type"] in ("c2c", "r2c", "c2r") and not draw.integers(3):
        choices["padding"] = [1 if axis in (choices["skip"] or "") else 1 + draw.integers(5) / 4 for axis in sorted(order)]
    elif not draw.integers(4):
        choices["input_box"] = cut(draw, [slice(0, n) for n in shape], comm.size)[comm.rank]
    return made(Plan, shape, grid, **choices), choices


def kinds_of(plan):
    """Return the kind of each axis by its letter."""
    name, order = plan.choice("type"), plan.choice("order")
    if "," in name:
        return dict(zip("xyz", name.split(","), strict=False))
    last = {"chebyshev": "dct1", "empty": "none"}.get(name, "c2c")
    same = {"c2c": "c2c", "dct": "dct2", "dst": "dst2"}.get(name)
    found = dict(zip(order, (same,) * 3 if same else ("r2c", "c2c", last), strict=False))
    return {axis: "none" if axis in (plan.choice("skip") or "") else kind for axis, kind in found.items()}


def transformed(a, plan):
    """Return the forward transform of the whole array, axis after axis."""
    order, kinds = plan.choice("order"), kinds_of(plan)
    fields_in_front = a.ndim > len(order) and not plan.choice("interleaved")
    for letter in order:
        axis, kind = "xyz".index(letter) + fields_in_front, kinds[letter]
        if kind == "r2c":
            a = np.fft.rfft(a, axis=axis)
        elif kind == "c2c":
            a = np.fft.fft(a, axis=axis)
        elif kind != "none":
            a = getattr(scipy.fft, kind[:3])(a, int(kind[3]), axis=axis)
    return a


def of_axes(plan, values):
    """Return the values without that of the fields."""
    return values[:len(plan.extents)] if plan.choice("interleaved") else values[-len(plan.extents):]


def check_spectrum(plan, f_hat, right, most):
    """Every element lies in exactly one part of one rank, and modes have their waves."""
    seen = np.zeros(right.shape, int)
    for i, (at, part) in enumerate(plan.split(f_hat, "output")):
        assert at == plan.part_mine("output", i) == plan.part_of("output", comm.rank, i)
        assert np.shares_memory(part, f_hat) == (part.size > 0)
        check_near(part, right[at], right, most, str(plan))
        seen[at] += 1
        waves = plan.waves(i)
        assert np.broadcast_shapes(*(axis.shape for axis in waves), part.shape) == part.shape
        for axis, (n, mine, its) in enumerate(zip(plan.extents, waves, of_axes(plan, at), strict=True)):
            kind, _ = plan.line_of(axis)
            modes = np.fft.rfftfreq(n, 1 / n) if kind == "r2c" else np.fft.fftfreq(n, 1 / n)
            if n % 2 == 0 and kind == "dft":
                modes[n // 2] = n // 2
            assert kind not in ("dft", "r2c", "none") or np.array_equal(mine.ravel(), modes[its] * (kind != "none"))
    assert np.all(comm.allreduce(seen) == 1), str(plan)


def use_plan(draw):
    plan, choices = random_plan(draw)
    most, padded = TOLERANCE[choices["precision"]], "padding" in choices
    with plan:
        if choices["caller_work"]:
            plan.set_work(np.empty(plan.work_bytes(in_place=True), np.uint8))
        source, in_place, norm = plan.empty("input"), bool(draw.integers(2)), one_of(draw, list(NORMS))
        root, none = np.sqrt(plan.scale), set(kinds_of(plan).values()) == {"none"}
        a = random_array(draw, plan.global_shape("input"), source.dtype.kind == "c").astype(source.dtype)
        source[...] = given = a[plan.part("input")].astype(source.dtype)
        target = plan.view(source, "output") if in_place else plan.empty("output")
        assert plan.forward(source, target) is target
        assert in_place or choices["destroy_input"] or np.array_equal(source, given), "the input is kept"
        assert plan.parts("output") > 1 or target.shape == plan.shape("output") == tuple(
            at.stop - at.start for at in plan.part("output"))
        f_hat = plan.empty("output")
        f_hat[...] = target
        check_near(plan.forward(given.copy(), norm="1/sqrt(N)") * root, f_hat, f_hat, 100 * most, str(plan))
        back = plan.backward(target, None if draw.integers(2) else source, norm=norm) / root**NORMS[norm]
        if padded:  # the spectrum survives, not the input
            check_near(plan.forward(back.copy()), f_hat, f_hat, 100 * most, str(plan))
        else:
            check_spectrum(plan, f_hat, transformed(a, plan), 0 if none else most)  # what only moves is exact
            check_near(back, given, a, 10 * most, str(plan))
        use_pair(plan, given, f_hat, back, most)
        if plan.parts("output") == 1:
            use_exchanges(plan)
            use_halo(draw, plan)


def use_pair(plan, given, f_hat, back, most):
    """Transforms at the same time give what they give alone; those in flight, too."""
    calls = [plan.execute_pair]
    if plan.choice("nonblocking"):
        calls += [lambda *four: (plan.start_pair(*four), plan.progress(), plan.wait()),
                  lambda a, b, c, d: (plan.start_forward(a, b), plan.wait(), plan.start_backward(c, d), plan.wait())]
    for call, in_place in product(calls, (False, True)):
        one, other, third, last = (plan.empty(name) for name in ("input", "output", "output", "input"))
        if in_place:
            other, last = plan.view(one, "output"), plan.view(third, "input")
        one[...], third[...] = given, f_hat
        call(one, other, third, last)
        check_near(other, f_hat, f_hat, 100 * most, str(plan))
        check_near(last / plan.scale, back, back, 100 * most, str(plan))


def use_exchanges(plan):
    """Every exchange moves each element to its place."""
    for e, name in enumerate(plan.exchanges):
        index = np.arange(float(np.prod(plan.global_shape(e)))).reshape(plan.global_shape(e))
        for direction, first, last in ((FORWARD, e, BEFORE + e + 1), (BACKWARD, BEFORE + e + 1, e)):
            source, target = plan.empty(first), plan.empty(last)
            source[...] = index[plan.part(first)]
            plan.transpose(name, direction, source, target)
            assert np.array_equal(target, index[plan.part(last)]), str(plan)


# ---- halos -----------------------------------------------------------------------------------------------------------


def use_halo(draw, plan):
    """Compare with NumPy's indices modulo the extents, sums with sums over all ranks, messages with the model."""
    name = one_of(draw, ["input", "output", "inner input", "inner output", *range(len(plan.exchanges) + 1)])
    if plan.parts(name) > 1:
        return
    fields, interleaved = plan.choice("fields"), plan.choice("interleaved")
    extents, points = (of_axes(plan, plan.global_shape(array)) for array in (name, "input"))
    walls = "".join(axis for axis in "xyz"[:len(extents)] if draw.integers(3) == 0)
    most = [0 if n != its and axis not in walls else n if draw.integers(3) == 0 else (n + 2) // 3
            for n, its, axis in zip(extents, points, "xyz", strict=False)]  # a part of the modes is not periodic
    low, high = ([int(draw.integers(0, n + 1)) for n in most] for _ in range(2))
    a = np.round(random_array(draw, plan.global_shape(name), plan.dtype(name).kind == "c") * 10)  # so that sums are exact
    with plan.halo(name, low, high, walls) as halo:
        own, target, wide = plan.empty(name), plan.empty(name), halo.empty()
        own[...] = a[plan.part(name)]
        wide[...] = -99
        halo.exchange(wide, own)
        behind = np.zeros(wide.shape, bool)
        for i, (at, n) in enumerate(zip(halo.part, extents, strict=True)):
            index = np.arange(at.start, at.stop).reshape(-1, *[1] * (len(extents) - 1 - i + (fields > 1 and interleaved)))
            behind |= ((index < 0) | (index >= n)) & ("xyz"[i] in walls)
        around = [np.arange(at.start, at.stop) % n for at, n in zip(halo.part, extents, strict=True)]
        every = [np.arange(fields)] if fields > 1 else []
        places = np.ix_(*(around + every if interleaved else every + around))
        assert np.array_equal(wide, np.where(behind, -99, a[places])) and np.array_equal(halo.inner(wide), own), str(plan)
        sums = np.zeros(a.shape, a.dtype)
        np.add.at(sums, places, np.where(behind, 0, wide))
        comm.Allreduce(MPI.IN_PLACE, sums)
        halo.accumulate(wide, target)
        assert np.array_equal(target, sums[plan.part(name)]), str(plan)
        halo.accumulate(wide)
        assert np.array_equal(halo.inner(wide), target), str(plan)
        usual = plan.choice("order") == "zyx" and plan.choice("precision") == "double" and not plan.choice("padding")
        if usual and name == "input" and not plan.choice("input_box"):
            check_traffic_of_halo(plan, halo, low, high, walls)


def check_traffic_of_halo(plan, halo, low, high, walls):
    decomposition = decomposition_named(plan.choice("decomposition"))
    grid = ProcessGrid(*plan.grid[-len(decomposition.dimensions):], decomposition=decomposition)
    transform = transform_of(plan.extents, plan.choice("type"), fields=plan.choice("fields"))
    told = model_halo(grid, transform, "input", tuple(low), tuple(high), walls)
    for me, (sent, messages) in enumerate((halo.traffic(), halo.traffic(BACKWARD))):
        to = told.members[told.members[:, me] == comm.rank, 1 - me]
        weight = told.group_weight[told.members[:, me] == comm.rank]
        assert np.array_equal(np.bincount(to, weight * told.unit_bytes, comm.size), sent), str(plan)
        assert np.array_equal(np.bincount(to, minlength=comm.size), messages), str(plan)


# ---- lines -----------------------------------------------------------------------------------------------------------


def use_lines(draw, plan, shape, fields, stages):
    """Compare with numpy.fft in both directions, and messages with the model: stages are pairs of name and bytes sent."""
    most = TOLERANCE["single" if plan.empty("input").itemsize == 8 else "double"]
    a = random_array(draw, (fields, *shape), True)
    reference, in_place = np.fft.fftn(a, axes=range(1, 1 + len(shape))), bool(draw.integers(2))

    def places(end, *rank):
        found = plan.indices(end, *rank)
        return (slice(None), *np.ix_(*([found] if len(shape) == 1 else found)))

    with plan:
        for end in ("input", "output"):
            seen = np.zeros((1, *shape), int)
            for rank in range(comm.size):
                seen[places(end, rank)] += 1
            assert np.all(seen == 1), "each point on one rank"
        source = plan.empty("input")
        source[...] = given = a[places("input")].reshape(plan.shape("input")).astype(source.dtype)
        target = plan.view(source, "output") if in_place else plan.empty("output")
        plan.forward(source, target)
        check_near(target, reference[places("output")].reshape(plan.shape("output")), reference, most, shape, stages)
        assert in_place or np.array_equal(source, given), "the input is kept"
        plan.backward(target, source)
        check_near(source / np.prod(shape), given, a, 10 * most, shape, stages)
        assert plan.exchanges == tuple(name for name, _ in stages)
        for name, sent in stages:
            for direction in (FORWARD, BACKWARD):
                back = direction == BACKWARD and plan.is_all_to_all(name)  # sends back what came
                mine = (np.asarray(sent).T if back else np.asarray(sent))[comm.rank]
                told, messages = plan.traffic(name, direction)
                assert np.array_equal(mine * fields * source.itemsize, told) and np.array_equal(mine > 0, messages)
        seconds = list(plan.phase_seconds().values())
        assert abs(sum(seconds[:-1]) - seconds[-1]) < 1e-9 and len(seconds) >= 2 + 3 * len(stages)


def random_lines(draw):
    return dict(algorithm=one_of(draw, names("line_algorithm")), order=one_of(draw, names("line_order")),
                precision=one_of(draw, list(TOLERANCE)), rigor="estimate"), int(draw.integers(1, 4))


def use_line(draw):
    n, (choices, fields) = int(draw.integers(1, 200)), random_lines(draw)
    plan = made(LinePlan, n, lines=fields, **choices)
    stages = line_stages(n, comm.size, choices["algorithm"], choices["order"])
    use_lines(draw, plan, (n,), fields, [(stage.name, stage.sent(comm.size, n)) for stage in stages])


def use_brick_lines(draw):
    shape, (choices, fields) = tuple(int(n) for n in draw.integers(1, 15, 3)), random_lines(draw)
    bricks = divided(draw, comm.size, 3)
    plan = made(BrickLinesPlan, shape, bricks, fields=fields, **choices)
    stages = brick_line_stages(shape, bricks, choices["algorithm"], choices["order"])
    use_lines(draw, plan, shape, fields, [(stage.name, stage.sent()) for stage in stages])


seed, number, ends = int(sys.argv[1]), int(sys.argv[2]), Counter()
for case in range(number):
    random = np.random.default_rng([seed, case])
    use = one_of(random, [use_plan, use_plan, use_plan, use_line, use_brick_lines])
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
