"""The C units that need no MPI: CMakeLists.txt lists them, ctest runs them."""

import re
import subprocess

import numpy as np
import pytest

from pencilmap.model.algorithms import partner_order
from pencilmap.model.decompositions import DECOMPOSITIONS as MODEL_DECOMPOSITIONS
from pencilmap.model.decompositions.decomposition import LocalPass
from pencilmap.model.remap import REMAPS
from pencilmap.model.torus import parse_torus
from pencilmap.model.transform import TYPES as MODEL_TYPES
from tests.fft_runner.tables import DECOMPOSITIONS, EXCHANGES, SCHEDULES, SOURCE, TYPES


def test_c_units(programs):
    done = subprocess.run(["ctest", "--output-on-failure", "--no-tests=error"], cwd=programs.parent, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout


def test_tables_are_read_as_the_runner_has_them(mpirun):
    said = mpirun(1, "--help").stdout
    for option, names in {"exchange": [*EXCHANGES, "auto"], "type": TYPES, "decomposition": DECOMPOSITIONS}.items():
        [line] = re.findall(rf"^  --{option} .*", said, re.MULTILINE)
        assert line.endswith(": " + ", ".join(names)), option


@pytest.mark.parametrize("room, kind, names",
                         [("exchange", "exchange", EXCHANGES), ("geometry", "decomposition", DECOMPOSITIONS),
                          ("schedule", "schedule", SCHEDULES)])
def test_every_file_is_in_the_table_of_its_kind(room, kind, names):
    """Built with the rest, but not to be chosen: a file whose name was forgotten in the table."""
    files = {path.stem.removeprefix(f"{kind}_") for path in (SOURCE / room).glob(f"{kind}_*.c")} - {"table"}
    assert files == set(names)


def test_every_decomposition_is_in_both_tables():
    assert list(MODEL_DECOMPOSITIONS) == DECOMPOSITIONS


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_a_decomposition_has_the_same_stages_here_and_in_the_model(run, name):
    model = MODEL_DECOMPOSITIONS[name]
    record = run(2, "--size", 4, 4, 4, "--decomposition", name, "--grid", "x".join(["1"] * (len(model.letters) - 1) + ["2"]),
                 "--reps", 1, "--warmup", 0, "--rigor", "estimate", "--verify")
    phases = [phase for stage in model.stages for phase in (
        [f"fft_{axis}" for axis in stage.axes] if isinstance(stage, LocalPass)
        else [f"{step}_{stage.name}" for step in ("pack", "exchange", "unpack")])]
    if model.has_bricks:
        before, after = ([f"{step}_{remap}" for step in ("pack", "exchange", "unpack")] for remap in REMAPS)
        phases = [*before, *phases, *after]
    assert list(record["phases"]) == [*phases, "total"] and record["verify"]["passed"]


def test_every_type_has_its_row_in_the_model_and_is_told_in_the_header():
    assert list(MODEL_TYPES) == TYPES
    header = (SOURCE.parent / "include" / "pencilfft.h").read_text("utf-8")
    assert [name for name in TYPES if not re.search(rf"^ \*     (\w+, )*{name}\b", header, re.MULTILINE)] == []


@pytest.mark.parametrize("torus, slots, R, C", [("4x4x4", 1, 8, 8), ("7x5", 1, 5, 7), ("8wx4", 2, 4, 16),
                                                ("6x6:mesh", 1, 4, 9)])
def test_the_model_knows_the_partners_of_p2p(torus, slots, R, C, programs):
    done = subprocess.run([programs / "partners_test", torus, str(slots), str(R), str(C)], capture_output=True, text=True,
                          timeout=60, check=True)
    network, rank = parse_torus(torus), np.arange(R * C)
    for line, group in zip(done.stdout.splitlines(), (rank // R, rank % R), strict=True):
        found = partner_order.phases(network, network.coordinates(rank // slots), group, 0)
        theirs = [sorted(map(int, phase.split())) for phase in line.split("|")]
        assert [sorted(phase[:, 0]) for phase in found] == theirs
