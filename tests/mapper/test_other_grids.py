"""Traffic on other process grids, predicted from one trace: against cells counted one by one, and traces of programs."""

import csv
import shutil
import subprocess
import sys
from collections import Counter
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest

from pencilmap.mapper.programs import place_program, with_other_grids
from pencilmap.mapper.setting import setting
from pencilmap.mapper.traffic_files import read_traffic
from pencilmap.model.base.arrays import factorisations
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.other_grids import CODES
from pencilmap.model.traffic.program import one_phase, pairs_of
from tests.patience import patience

TRACES = Path(__file__).parent / "traces"  # LAMMPS 2022-01-06, 40 steps of INPUT, the traces without their collectives;
# GROMACS 2022.5, 150 steps of 24,000 SPC/E waters in a box of 9 nm, reaction field, cutoff 0.9 nm, mdrun -npme 0 -dlb no
INPUT = """units lj
processors {} {} {}
lattice fcc 0.8442
region box block 0 {} 0 {} 0 {}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
run 40
"""


def launch_load(network, traffic):
    return place_program(setting(network=network), traffic, ("default",)).predictions[0].link_bytes


def numbers(code, extents):
    """The rank at each position of a grid: int array of its extents."""
    n = np.arange(prod(extents))
    return n.reshape(extents[::-1]).T if code.first_fastest else n.reshape(extents)


def halo(code, extents, domain, periodic):
    """The halo of depth 1 of a domain of cells, a message from each side: cells of their owners, or forwarded by axes.

    Ends of an axis with one rank are copied without messages, if the code has halos there. From one side only: the halo of
    the next positions comes, and as many bytes go back.
    """
    ranks, sent, one_side = numbers(code, extents), Counter(), code.forwards == 1
    blocks = [[range(n // p * k, n // p * (k + 1)) for k in range(p)] for n, p in zip(domain, extents)]
    owners = [{cell: k for k, block in enumerate(axis) for cell in block} for axis in blocks]
    for at in product(*(range(p) for p in extents)):
        own = [axis[k] for axis, k in zip(blocks, at)]
        wraps = [end and (p > 1 or code.has_own_ends) for p, end in zip(extents, periodic)]
        around = [[c for c in range(b[0] - (not one_side), b[-1] + 2) if end or 0 <= c < n]
                  for b, n, end in zip(own, domain, wraps)]
        for cell in product(*around):
            outside = [i for i, c in enumerate(cell) if c not in own[i]]
            if code.forwards:  # the neighbour along the last of these axes has the cell already
                outside = outside[-1:]
            source = tuple(owners[i][cell[i] % domain[i]] if i in outside else at[i] for i in range(len(at)))
            side = tuple((cell[i] > own[i][0]) - (cell[i] < own[i][0]) if i in outside else 0 for i in range(len(at)))
            sent[int(ranks[source]), int(ranks[at]), side] += 8
            sent[int(ranks[at]), int(ranks[source]), (*side, "back")] += 8 * one_side
    return one_phase(prod(extents), pairs_of(*np.array([(a, b, size) for (a, b, _), size in sent.items() if size]).T))


@pytest.mark.parametrize(("name", "grid", "domain", "periodic"), [
    ("cart3d", (4, 2, 2), (16, 16, 16), (True, False, True)), ("cart3d", (2, 4, 2), (32, 16, 16), (False, False, False)),
    ("cart2d", (4, 4), (32, 16), (True, True)), ("openfoam", (4, 2, 2), (16, 32, 16), (False, False, False)),
    ("nemo", (8, 2), (32, 32), (True, False)), ("wrf", (4, 4), (64, 16), (False, False)),
    ("cp2k", (2, 2, 4), (16, 32, 16), (True, True, True))])
def test_halos_of_other_grids_are_those_of_their_cells(name, grid, domain, periodic):
    code = CODES[name]
    found = with_other_grids({code.said(grid): halo(code, grid, domain, periodic)}, name)
    assert len(found) > 3
    for words, traffic in found.items():
        true = halo(code, code.numbers(words), domain, periodic)
        assert np.array_equal(traffic.total.bytes.toarray(), true.total.bytes.toarray()), words


@pytest.mark.parametrize("lengths", ["", ":16x32x16"])
@pytest.mark.parametrize("name", ["lammps", "gromacs"])
def test_forwarded_halos_of_other_grids_are_those_of_their_cells(name, lengths):
    code, domain = CODES[name], (16, 32, 16) if lengths else (16, 16, 16)
    found = with_other_grids({"2 2 4": halo(code, (2, 2, 4), domain, (True,) * 3)}, f"{name}{lengths}")
    assert len(found) == 15
    for words, traffic in found.items():
        true = halo(code, code.numbers(words), domain, (True,) * 3).total.bytes.toarray()
        assert np.abs(traffic.total.bytes.toarray() - true).max() <= 0.002 * true.max(), words


@pytest.mark.parametrize(("name", "grid"), [("2decomp", (8, 4)), ("p3dfft", (2, 16)), ("fft", (4, 8))])
def test_transforms_on_other_grids_move_the_points_of_their_pencils(name, grid):
    def transposes(rows, columns, n=64):
        """Every point of a cube from the rank with its x-pencil to that with its y-pencil, then to its z-pencil."""
        y, z = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        x, across = y, z  # the first axis of the cut that is followed
        first = (y * rows // n) + rows * (z * columns // n)
        pairs = [pairs_of(np.repeat(first.ravel(), rows), (np.tile(np.arange(rows), n * n) + rows *
                          np.repeat((z * columns // n).ravel(), rows)), 16 * n // rows)]
        second = (x * rows // n) + rows * (across * columns // n)
        pairs.append(pairs_of(np.repeat(second.ravel(), columns), np.repeat((x * rows // n).ravel(), columns) + rows *
                              np.tile(np.arange(columns), n * n), 16 * n // columns))
        return np.sum([one_phase(rows * columns, part).total.bytes.toarray() for part in pairs], axis=0)

    source, target = np.nonzero(transposes(*grid))
    trace = one_phase(32, pairs_of(source, target, transposes(*grid)[source, target]))
    found = with_other_grids({CODES[name].said(grid): trace}, name)
    assert {CODES[name].numbers(words) for words in found} == set(factorisations(32, 2))
    for words, traffic in found.items():
        assert np.array_equal(traffic.total.bytes.toarray(), transposes(*CODES[name].numbers(words)))


def measured(name, domain, network):
    """The busiest links of traces in the launch order, by the words of the grid."""
    with (TRACES / "measured.csv").open(encoding="ascii") as lines:
        return {CODES[name].said(tuple(map(int, row["grid"].split("x")))): float(row["bytes"])
                for row in csv.DictReader(lines) if (row["code"], row["domain"], row["network"]) == (name, domain, network)}


@pytest.mark.parametrize(("name", "domain", "network", "traces", "known"), [
    ("lammps", "16x16x16", "4x4", {"2 2 4": "lammps-cube-16.txt"}, ""),
    ("lammps", "16x16x16", "8x4", {"2 4 4": "lammps-cube-32.txt"}, ""),
    ("lammps", "24x16x10", "4x4", {"4 2 2": "lammps-box-16.txt"}, ":24x16x10"),
    ("lammps", "24x16x10", "4x4", {"4 2 2": "lammps-box-16.txt", "2 2 4": "lammps-box-16-2.txt"}, ""),
    ("gromacs", "9x9x9", "4x4", {"2 2 4": "gromacs-16.txt"}, "")])
def test_grids_of_programs_load_their_busiest_links_as_predicted(name, domain, network, traces, known):
    found = with_other_grids({grid: read_traffic(TRACES / file) for grid, file in traces.items()}, name + known)
    real = measured(name, domain, network)
    predicted = {words: launch_load(network, traffic) for words, traffic in found.items() if words in real}
    assert len(predicted) >= len(real) - len(traces) >= 7
    assert predicted == pytest.approx({words: real[words] for words in predicted}, rel=0.02 if name == "lammps" else 0.05)


def test_a_domain_whose_shape_is_not_known_is_refused():
    trace, cube = (read_traffic(TRACES / f"lammps-{name}-16.txt") for name in ("box", "cube"))
    for traces, code, reason in (({"4 2 2": trace}, "lammps", "shape of the domain"), ({"4 2 2": trace}, "lamps", "lammps?"),
                                 ({"4 2 2": trace}, "lammps:4x0x1", "not understood;"),
                                 ({"4 2 2": trace}, "lammps:", "not understood;"),
                                 ({"2 2 3": trace}, "lammps", "has 16 ranks, and this grid 12"),
                                 ({"4 2 2": cube}, "lammps", "100% of the bytes .* processors 2 2 4, 85% in"),
                                 ({"t": trace}, "fft", "no grid of 2"),
                                 ({"2 2 4": trace}, "lammps", "of the bytes are in the halo")):
        with pytest.raises(TrafficError, match=reason.replace("?", r"\?")):
            with_other_grids(traces, code)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("lmp") or not shutil.which("mpirun.openmpi"), reason="needs LAMMPS with Open MPI")
@pytest.mark.parametrize("n", [16, 32])
def test_all_grids_of_lammps_are_predicted_from_one_trace(n, tmp_path):
    found, network = {}, {16: "4x4", 32: "8x4"}[n]
    for grid in factorisations(n, 3):
        (tmp_path / "in").write_text(INPUT.format(*grid, 16, 16, 16))
        subprocess.run([sys.executable, "-m", "pencilmap", "trace", "-o", tmp_path / "t", "--", "mpirun.openmpi",
                        "--allow-run-as-root", "--oversubscribe", "-n", str(n), "lmp", "-in", "in", "-screen", "none"],
                       cwd=tmp_path, check=True, timeout=patience(300))
        found[CODES["lammps"].said(grid)] = read_traffic(tmp_path / "t")
    first = CODES["lammps"].said({16: (2, 2, 4), 32: (2, 4, 4)}[n])
    for words, traffic in with_other_grids({first: found[first]}, "lammps").items():
        assert launch_load(network, traffic) == pytest.approx(launch_load(network, found[words]), rel=0.05), words
