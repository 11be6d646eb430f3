"""The particle-mesh Ewald example (examples/pme.c) against a direct Ewald sum in NumPy, and the constant of rock salt."""

import re
from itertools import product

import numpy as np
import pytest
from scipy.special import erfc

MADELUNG = 1.747564594633


def charges(done):
    """Parse the output of --print: edge, energy, and arrays of charges, positions and forces."""
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    edge, energy = (float(word) for word in head.split()[1::2])
    table = np.array([row.split() for row in rows], float)
    return edge, energy, table[:, 0], table[:, 1:4], table[:, 4:]


def direct_ewald(edge, q, at):
    """Return energy and forces from both sums in their plain form, with another splitting than in the example."""
    alpha = 6 / edge
    d = at[:, None] - at[None]
    energy, force = -alpha / np.sqrt(np.pi) * (q @ q), np.zeros_like(at)
    for image in product((-1, 0, 1), repeat=3):
        away = d + edge * np.array(image)
        r = np.linalg.norm(away, axis=2)
        r[r == 0] = np.inf
        qq = np.outer(q, q)
        energy += (qq * erfc(alpha * r) / r).sum() / 2
        slope = (erfc(alpha * r) / r + 2 * alpha / np.sqrt(np.pi) * np.exp(-(alpha * r) ** 2)) / r**2
        force += ((qq * slope)[:, :, None] * away).sum(axis=1)
    waves = np.array([m for m in product(range(-12, 13), repeat=3) if 0 < np.dot(m, m) <= 144]) * 2 * np.pi / edge
    k2 = (waves**2).sum(axis=1)
    phase = q * np.exp(1j * waves @ at.T)
    sums, factor = phase.sum(axis=1), 4 * np.pi / edge**3 * np.exp(-k2 / (4 * alpha**2)) / k2
    energy += (factor * np.abs(sums) ** 2).sum() / 2
    force += ((factor[:, None] * np.imag(phase * sums.conj()[:, None])).T @ waves)
    return energy, force


def far(found, right):
    return np.sqrt(((found - right) ** 2).sum() / (right**2).sum())


@pytest.mark.parametrize("ranks, n, options", [
    (1, 40, ["--order", 5]), (4, 41, ["--order", 6, "--seed", 1]),
    (4, 60, ["--order", 7, "--seed", 2, "--reciprocal-ranks", 3, "--decomposition", "brick", "--mesh", 60]),
    (3, 50, ["--order", 10, "--seed", 3, "--reciprocal-ranks", 1]),
    (3, 40, ["--order", 5, "--reciprocal-ranks", 2, "--decomposition", "slab", "--schedule", "overlap:4:x"]),
    pytest.param(3, 150, ["--seed", 4, "--decomposition", "slab"], marks=pytest.mark.slow)])
def test_energy_and_forces_are_those_of_a_direct_sum(mpirun, ranks, n, options):
    edge, energy, q, at, force = charges(mpirun(ranks, "--random", n, *options, "--steps", 1, "--print", program="pme_c"))
    right, forces = direct_ewald(edge, q, at)
    assert q.sum() == 0 and len(q) == n and (q**2).sum() > n / 5
    assert energy == pytest.approx(right, rel=1e-6) and far(force, forces) < 1e-6


def test_low_orders_converge_with_the_mesh(mpirun):
    """The slope of a spline of order p is a spline of order p - 1."""
    right = None
    for order in (3, 4):
        errors = []
        for mesh in (24, 48):
            edge, _, q, at, force = charges(mpirun(2, "--random", 20, "--order", order, "--mesh", mesh, "--steps", 1,
                                                   "--print", program="pme_c"))
            right = direct_ewald(edge, q, at)[1] if right is None else right
            errors.append(far(force, right))
        assert 1e-6 < errors[1] < errors[0] / 2 ** (order - 2)


def test_madelung_constant_of_rock_salt(mpirun):
    done = mpirun(2, "--nacl", 2, "--check", "--steps", 1, program="pme_c")
    assert done.returncode == 0, done.stderr
    found = {by: float(value) for by, value in re.findall(r"Madelung constant by ([\w ]+) (1\.\d+),", done.stdout)}
    assert found["PME"] == pytest.approx(MADELUNG, abs=1e-6)
    assert found["the direct sum"] == pytest.approx(MADELUNG, abs=1e-10)


@pytest.mark.parametrize("options, words", [
    (["--random", 10, "--order", 11], "'11' is not a number from 3 to 10"), (["--nacl", 1, "--random", 2], "use: pme_c"),
    (["--nacl", 1, "--cutoff", 5], "the cutoff is longer than half the edge"),
    (["--nacl", 1, "--reciprocal-ranks", 2], "'2' is not a number from 0 to 1"),
    (["--nacl", 1, "--decomposition", "cubes"], "unknown decomposition 'cubes'")])
def test_what_cannot_be_done_is_told(mpirun, options, words):
    done = mpirun(2, *options, program="pme_c")
    assert done.returncode != 0 and words in done.stderr and not done.stdout
