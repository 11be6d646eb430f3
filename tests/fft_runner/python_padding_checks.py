"""Started by test_python_binding.py under mpirun: padded plans against serial sums of NumPy, and a product by the 3/2 rule
against the direct convolution; the bytes of messages against those of the model.
"""

from itertools import product

import numpy as np
from mpi4py import MPI

from pencilfft import PencilfftError, Plan
from pencilmap.model.decompositions.slab import SLAB
from pencilmap.model.placement.grid import ProcessGrid, parse_grid
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.traffic.exchange import exchanges

comm = MPI.COMM_WORLD


def kept(n, points, halved):
    """Return the forward transform of a line of points to its kept modes, and the backward transform: two matrices.

    The mode n/2 of an even n < points stands for n/2 and -n/2.
    """
    modes = np.arange(n // 2 + 1) if halved else np.fft.fftfreq(n, 1 / n)
    forward = np.exp(-2j * np.pi / points * np.outer(modes, np.arange(points)))
    shared = (2 * abs(modes) == n) & (points > n)
    forward[shared] = 2 * forward[shared].real
    backward = forward.conj().T / (1 + shared)
    return forward, backward * np.where(shared | (modes == 0) | (2 * modes == points), 1, 2) if halved else backward


def check_sums(n, points, grid, **choices):
    halved = choices["type"] == "r2c"
    lines = [kept(*ends, halved and axis == 2) for axis, ends in enumerate(zip(n, points, strict=True))]
    draw = np.random.default_rng(5)
    f = draw.standard_normal(points) + (0 if halved else 1j * draw.standard_normal(points))
    f_hat = np.einsum("ijk,xi,yj,zk->xyz", f, *(forward for forward, _ in lines), optimize=True)
    back = np.einsum("xyz,ix,jy,kz->ijk", f_hat, *(backward for _, backward in lines), optimize=True)
    names = dict(zip(("padded_nx", "padded_ny", "padded_nz"), points, strict=True))
    with Plan(n, grid, comm, **names, **choices) as plan, Plan(n, plan.grid, comm, **choices) as plain:
        assert plan.part("output") == plain.part("output"), "spectra are divided alike"
        assert all(np.array_equal(a, b) for a, b in zip(plan.waves(), plain.waves(), strict=True))
        assert plan.scale == np.prod(points) and plan.shape("input") == plan.empty("input").shape
        mine = plan.forward(np.ascontiguousarray(f[plan.part("input")]))
        assert abs(mine - f_hat[plan.part("output")]).max(initial=0) < 1e-12 * plan.scale, (n, points, grid, choices)
        there = plan.backward(mine)
        expected = back[plan.part("input")]
        far = abs(there - (expected.real if halved else expected)).max(initial=0)
        assert far < 1e-12 * plan.scale * np.prod(n), (n, points, grid, choices, far)


def check_product(shape, grid, kind):
    """Compare the spectrum of a product with the sum over all pairs of modes, those of n/2 left out."""
    draw = np.random.default_rng(6)
    waves = np.meshgrid(*(np.fft.fftfreq(n, 1 / n) for n in shape), indexing="ij")
    low = np.all([2 * abs(k) < n for k, n in zip(waves, shape, strict=True)], axis=0)
    fields = [np.fft.fftn(draw.standard_normal(shape)) / np.prod(shape) * low for _ in "fg"]
    direct = np.zeros(shape, complex)
    for p in zip(*np.nonzero(low), strict=True):
        k = [np.fft.fftfreq(n, 1 / n)[i] for i, n in zip(p, shape, strict=True)]
        q = [wave - one for wave, one in zip(waves, k, strict=True)]
        there = np.all([2 * abs(one) < n for one, n in zip(q, shape, strict=True)], axis=0)
        at = tuple(one.astype(int) % n for one, n in zip(q, shape, strict=True))
        direct += fields[0][p] * np.where(there, fields[1][at], 0)
    with Plan(shape, grid, comm, type=kind, padding=1.5) as plan:
        part, half = plan.part("output"), (slice(None), slice(None), slice(plan.global_shape("output")[2]))
        f, g = (plan.backward(field[half][part].astype(complex)) for field in fields)
        mine = plan.forward(f * g) / plan.scale
        assert abs((mine - direct[half][part]) * low[half][part]).max(initial=0) < 1e-12 * abs(direct).max()


def check_traffic(n, points, grid, kind, decomposition):
    """Compare the bytes of each message with those of the model."""
    names = dict(zip(("padded_nx", "padded_ny", "padded_nz"), points, strict=True))
    tasks = ProcessGrid(*grid) if decomposition == "pencil" else parse_grid(str(comm.size), SLAB)
    transform = parse_transform(f"{'x'.join(map(str, n))}:{kind}:points={'x'.join(map(str, points))}")
    with Plan(n, grid if decomposition == "pencil" else comm.size, comm, type=kind, decomposition=decomposition,
              rigor="estimate", exchange="alltoallv", **names) as plan:
        for name, exchange in zip(plan.exchanges, exchanges(tasks, transform), strict=True):
            [group], [a] = np.nonzero(exchange.members == comm.rank)
            expected = np.zeros(comm.size, int)
            expected[exchange.members[group]] = (exchange.unit_bytes * exchange.group_weight[group] * exchange.send_weight[a]
                                                 * exchange.receive_weight)
            expected[comm.rank] = 0
            assert plan.traffic(name)[0] == expected.tolist(), (n, points, grid, kind, name)


def check_open_grids(n):
    """The library chooses one grid for plans of one spectrum, although the bytes of a padded plan would choose another."""
    with Plan(n, comm, type="r2c", rigor="estimate") as plain, \
            Plan(n, comm, type="r2c", rigor="estimate", padding=1.5) as padded:
        assert plain.grid == padded.grid and plain.part("output") == padded.part("output"), (n, plain.grid, padded.grid)


grids = sorted({(r, comm.size // r) for r in range(1, comm.size + 1) if comm.size % r == 0})
EXTENTS = [((4, 5, 6), (4, 5, 6)), ((4, 5, 6), (6, 8, 9)), ((5, 4, 7), (10, 8, 14)), ((6, 3, 4), (7, 3, 5)),
           ((1, 2, 1), (3, 5, 2)), ((2, 6, 5), (2, 9, 11)), ((8, 1, 2), (31, 7, 3))]
for (n, points), grid, kind, layout in product(EXTENTS, grids, ("c2c", "r2c"), ("natural", "stride1")):
    check_sums(n, points, grid, type=kind, layout=layout, rigor="estimate")
for (n, points), grid, kind in product(EXTENTS, grids, ("c2c", "r2c")):
    check_traffic(n, points, grid, kind, "pencil")
    check_traffic(n, points, grid, kind, "slab")
for n, points in EXTENTS[1:4]:
    check_sums(n, points, comm.size, type="r2c", decomposition="slab")
    check_sums(n, points, (0, 0), type="c2c", decomposition="brick")
for n in ((2, 12, 30), (4, 12, 30), (4, 4, 12)):
    check_open_grids(n)
for grid, kind in product(grids, ("c2c", "r2c")):
    check_product((6, 7, 8), grid, kind)
for padding in (0.9, (1.5, 1), "2"):
    try:
        Plan((4, 4, 4), comm, padding=padding)
    except PencilfftError as error:
        what = "a number" if padding == "2" else "a factor of 1 or more, or three for x, y and z"
        assert f"give {what}" in str(error), error
    else:
        raise AssertionError(f"padding {padding} is taken")
if comm.rank == 0:
    print(f"padding checked on grids {grids}")
