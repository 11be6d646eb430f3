"""Started by test_python_binding.py: arrays that know their plan, compared with NumPy on the whole array: python_arrays SEED
CASES. Plans have any kinds, orders, layouts, grids, padding and components; some ranks have no elements.
"""

import sys

import numpy as np
from mpi4py import MPI

from pencilfft import PencilfftError, Plan, PlanArray

comm = MPI.COMM_WORLD
draw = np.random.default_rng(int(sys.argv[1]))  # the same on all ranks
KINDS = ["none", "c2c", *(f"{kind}{number}" for kind in ("dct", "dst") for number in range(1, 5))]
FIRST = {"none": 0, "c2c": 0, "r2c": 0, "dct1": 0, "dct3": 0, "dst1": 1, "dst3": 1}  # point in grid steps, else a half
used = 0


def one_of(values):
    return values[draw.integers(len(values))]


def index(n):
    """Return an index of an axis."""
    a, b = np.sort(draw.integers(-n, n + 1, 2)).tolist()
    return one_of([slice(None), slice(a, b), slice(None, None, 2), slice(a, None, 3), int(draw.integers(-n, n))])


def refused(call, *words):
    """All ranks raise the same message."""
    try:
        call()
        said = None
    except PencilfftError as error:
        said = str(error)
    everywhere = comm.allgather(said)
    assert said is not None and len(set(everywhere)) == 1 and all(word in said for word in words), everywhere


def check_slices(f, whole):
    key = tuple(index(n) for n in whole.shape)
    key = one_of([key, key[:2], (..., key[-1]), key[0], ...])
    assert np.array_equal(f.gather(key), whole[key])
    root = int(draw.integers(comm.size))
    found = f.gather(key, root)
    assert np.array_equal(found, whole[key]) if comm.rank == root else found is None
    mine = f.at[key]  # an integer keeps its axis
    assert np.shares_memory(mine, f) or not mine.size
    assert comm.allreduce(mine.size) == np.asarray(whole[key]).size
    f, whole = f.copy(), whole.copy()
    value = one_of([2., draw.standard_normal(np.shape(whole[key])), draw.standard_normal(np.shape(whole[key])[-1:])])
    f.at[key] = value
    whole[key] = value
    assert np.array_equal(f, whole[f.part])


def check_reductions(f, whole, axes):
    def near(found, expected):
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(whole).max(initial=0) * whole.size), (
            found, expected)

    near(f.global_sum(), whole.sum(axes))
    near(f.global_mean(), whole.mean(axes))
    near(f.global_dot(2 * f), 2 * (np.abs(whole)**2).sum(axes))
    near(f.global_norm(), np.sqrt((np.abs(whole)**2).sum(axes)))
    near(np.abs(f).global_max(), np.abs(whole).max(axes))
    near(f.imag.global_min(), whole.imag.min(axes))
    if whole.dtype.kind == "c":
        refused(f.global_min, "no minimum")


def check_places(f, f_hat, plan, kinds, points, lengths):
    n = plan.extents
    steps = [p - 1 if kind == "dct1" else p + 1 if kind == "dst1" else p for p, kind in zip(points, kinds, strict=True)]
    behind = f.ndim - 1 - f._axes[-1]
    for i, (x, at) in enumerate(zip(f.coordinates(lengths), plan.input_box, strict=True)):
        expected = (FIRST.get(kinds[i], 0.5) + np.arange(points[i])[at]) * lengths[i] / steps[i]
        assert np.allclose(x.ravel(), expected, 1e-13) and x.ndim == len(n) + behind
        np.broadcast_to(x, f.shape)
    for i, (k, at) in enumerate(zip(f_hat.wavenumbers(lengths), plan.output_box, strict=True)):
        m = np.arange(n[i])
        expected = {"c2c": np.fft.fftfreq(n[i], 1 / n[i]), "r2c": m, "none": 0 * m, "dct1": m / 2, "dct2": m / 2,
                    "dst1": (m + 1) / 2, "dst2": (m + 1) / 2}.get(kinds[i], (m + 0.5) / 2)[at]
        assert np.allclose(np.abs(k.ravel()), np.abs(expected) * 2 * np.pi / lengths[i], 1e-13)
        np.broadcast_to(k, f_hat.shape)


def case():
    global used
    axes = int(draw.integers(2, 4))
    order = one_of(["zyx", "xyz", "yzx"] if axes == 3 else ["yx", "xy"])
    kinds = [one_of(KINDS) for _ in range(axes)]
    if draw.integers(2):
        kinds["xyz".index(order[0])] = "r2c"
    n = [int(draw.integers(2, 8)) for _ in range(axes)]
    points = [m + int(draw.integers(4)) if kind in ("c2c", "r2c") and draw.integers(2) else m
              for m, kind in zip(n, kinds, strict=True)]
    fields, interleaved = int(draw.integers(1, 4)), bool(draw.integers(2))
    grid = one_of([g for g in ((comm.size, 1), (1, comm.size), (2, comm.size // 2)) if g[0] * g[1] == comm.size])
    choices = dict(type=",".join(kinds), order=order, fields=fields, interleaved=interleaved, rigor="estimate",
                   layout=one_of(["natural", "stride1"]), **{f"padded_n{a}": p for a, p in zip("xyz", points)})
    try:
        plan = Plan(n, (comm.size, 1) if axes == 2 else grid, comm, **choices)
    except PencilfftError:
        return
    used += 1
    with plan:
        f = plan.empty("input")
        whole = draw.standard_normal(plan.global_shape("input"))
        whole = whole + 1j * draw.standard_normal(whole.shape) if f.dtype.kind == "c" else whole
        f[...] = whole[plan.part("input")]
        f_hat = plan.forward(f)
        g = plan.backward(f_hat, norm="1/N")
        assert f.space == "physical" and f_hat.space == ("physical" if {*kinds} == {"none"} else "spectral")
        assert (3 * f + 1).plan is plan and np.zeros_like(f).global_shape == whole.shape and isinstance(g, PlanArray)
        plan.input_box, plan.output_box = (tuple(a.part[i] for i in a._axes) for a in (f, f_hat))
        spectrum = f_hat.gather()
        check_slices(f, whole)
        check_slices(f_hat, spectrum)
        check_reductions(f, whole, f._axes)
        check_reductions(f_hat, spectrum, f._axes)
        if f_hat.space == "spectral":
            check_places(f, f_hat, plan, kinds, points, [float(length) for length in draw.uniform(1, 7, axes)])
        g_hat = plan.forward(g)  # a field without the modes that are cut
        energy = [np.asarray(a.global_dot(a, weighted=True)).real for a in (g, g_hat)]
        assert np.allclose(energy[0] * plan.scale, energy[1], 1e-10), (choices, n, energy)
        if fields > 1:
            one = f[..., 0] if interleaved else f[0]
            assert np.array_equal(one.gather(), whole[..., 0] if interleaved else whole[0])
            assert np.allclose(one.global_sum(), np.ravel(f.global_sum())[0])
        more = plan.array(np.stack([np.asarray(f)] * 2, -1 if interleaved else 0), "input")
        assert np.array_equal(more.gather(), np.stack([whole] * 2, -1 if interleaved else 0))
        refused(f.reshape(-1).gather, "does not know its place")
        refused(lambda: f.gather((0,) * 9), "index")
        refused(lambda: f.gather(whole.shape[0]), "outside the whole array")
        refused(lambda: f.gather(root=comm.size if comm.rank == comm.size - 1 else 0), "root is", "give a rank from 0 to")
        refused(lambda: f.global_dot(f[:0] if comm.rank == 0 else f), "is not the shape")
        refused(lambda: f.gather(0, 0, 0) if comm.rank == 0 else f.gather(0, 0), "argument")
        assert type(f.T) is type(f.mT) is type(np.swapaxes(f, 0, 1)) is type(np.moveaxis(f, 0, 1)) is np.ndarray


for _ in range(int(sys.argv[2])):
    case()
with Plan((4, 6, 8), (comm.size, 1), comm, type="r2c", schedule="two-way") as plan:
    refused(plan.empty("output").gather, "has 2 parts")
    refused(lambda: plan.empty("y").coordinates() if plan.parts("y") == 1 else plan.empty("output").weights(), "parts")
if comm.rank == 0:
    print(f"arrays of {used} plans checked")
