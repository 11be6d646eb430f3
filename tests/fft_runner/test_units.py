"""The tables of the library, in its sources, in the runner and in the model; and the partners of p2p."""

import re
import subprocess

import numpy as np
import pytest

from pencilmap.model import algorithms
from pencilmap.model.decompositions import DECOMPOSITIONS as MODEL_DECOMPOSITIONS, LocalPass
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.grid import TYPES as MODEL_TYPES
from pencilmap.model.traffic.exchange import REMAPS
from tests.fft_runner.tables import DECOMPOSITIONS, EXCHANGES, SCHEDULES, SOURCE, TYPES
from tests.patience import patience


def test_tables_are_read_as_the_runner_has_them(mpirun):
    said = mpirun(1, "--help").stdout
    for option, names in {"exchange": [*EXCHANGES, "auto"], "type": TYPES, "decomposition": DECOMPOSITIONS}.items():
        [line] = re.findall(rf"^  --{option} .*", said, re.MULTILINE)
        assert line.endswith(": " + ", ".join(names)), option


@pytest.mark.parametrize("room, kind, names",
                         [("exchange", "exchange", EXCHANGES), ("geometry", "decomposition", DECOMPOSITIONS),
                          ("schedule", "schedule", SCHEDULES)])
def test_every_file_is_in_the_table_of_its_kind(room, kind, names):
    """A file in the build is also in the table, otherwise nobody could choose its name."""
    files = {path.stem.removeprefix(f"{kind}_") for path in (SOURCE / room).glob(f"{kind}_*.c")} - {"table"}
    assert files == {name.rstrip("0123456789") for name in names}  # bruck2, bruck4 and bruck8 are rows of one file


def test_every_decomposition_is_in_both_tables():
    assert [*DECOMPOSITIONS, "cubic"] == list(MODEL_DECOMPOSITIONS)


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


def placed(kind, ranks, slots, extents):
    """Return the node of each rank: `slots` a node in order, at random, in boxes with a coordinate reversed, or any node."""
    node = np.arange(ranks) // slots
    if kind == "shuffled":
        return np.random.default_rng(ranks).permutation(node)
    if kind == "reversed":
        return node + extents[0] - 1 - 2 * (node % extents[0])
    return np.random.default_rng(slots).integers(0, np.prod(extents), ranks) if kind == "any" else node


@pytest.mark.parametrize("torus, slots, R, C, kind", [
    ("4x4x4", 1, 8, 8, "in order"), ("7x5", 1, 5, 7, "in order"), ("8wx4", 2, 4, 16, "in order"),
    ("6x6:mesh", 1, 4, 9, "in order"), ("8x8", 1, 8, 8, "reversed"), ("7x4", 2, 14, 4, "reversed"),
    ("8x6", 1, 24, 2, "in order"), ("5x2x3", 1, 10, 3, "in order"), ("6:mesh", 2, 4, 3, "reversed"),
    ("16", 1, 16, 1, "in order"), ("6x6", 1, 6, 6, "shuffled"),
    ("4x4", 2, 4, 8, "shuffled"), ("3x3", 1, 4, 4, "any"), ("5x5:mesh", 1, 3, 7, "any"), ("2x2x2", 4, 8, 4, "in order"),
    ("12", 1, 4, 3, "in order"), ("9", 1, 3, 3, "in order"), ("8x4", 4, 32, 4, "in order"),
    ("3x3x3x3", 1, 81, 1, "in order")])  # phases with the largest number of messages
def test_the_model_knows_the_partners_of_p2p(torus, slots, R, C, kind, programs):
    """Compare every phase of every member of every group; the sources of a member are the members that send to it."""
    network, rank = parse_torus(torus), np.arange(R * C)
    node = placed(kind, R * C, slots, network.shape)
    done = subprocess.run([programs / "partners_test", torus, str(R), str(C)], input=" ".join(map(str, node.tolist())),
                          capture_output=True, text=True, timeout=patience(60), check=True)
    lines = iter(done.stdout.splitlines())
    for group in (rank // R, rank % R):
        for number in range(group.max() + 1):
            found = algorithms.phases(network, network.coordinates(node), group, number)
            for me in range(np.count_nonzero(group == number)):
                theirs = [np.array(phase.split(), int).reshape(-1, 2) for phase in filter(None, next(lines).split("|"))]
                targets = [sorted(phase[:, me].tolist()) for phase in found]
                assert [sorted(phase[:, 0].tolist()) for phase in theirs] == targets, (number, me)
                sources = [sorted(np.flatnonzero(one == me).item() for one in phase) for phase in found]
                assert [sorted(phase[:, 1].tolist()) for phase in theirs] == sources, (number, me)
    assert next(lines, None) is None
