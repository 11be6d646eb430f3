"""Clocks that jump while the programs of the runner measure; plan_test.c tests the library."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from .conftest import execute

HERE, SOURCE = Path(__file__).parent, Path(__file__).resolve().parents[2] / "fft_runner"


@pytest.fixture(scope="module")
def loading(mpirun, tmp_path_factory):
    """``loading(name, ranks, ...)``: mpirun, with a clock of ours in place of the programs' clock."""
    folder, compiler = tmp_path_factory.mktemp("clock"), shutil.which("mpicc.openmpi")
    if not compiler or "openmpi" not in str(mpirun.mpirun):
        pytest.skip("the clock is loaded by the options of Debian's Open MPI")
    for name in ("backward_clock", "asleep_clock"):
        execute([compiler, "-shared", "-fPIC", "-O1", "-o", folder / f"{name}.so", HERE / f"{name}.c"], 60)
    return lambda name, *arguments, set=(), **more: replace(mpirun, mpirun=(
        *mpirun.mpirun, "-x", f"LD_PRELOAD={folder / name}.so", *set))(*arguments, **more)


@pytest.fixture
def clock(loading):
    """``clock(every, ranks, ...)``: mpirun; each rank's clock goes back by 100 s at every so many-th call."""
    return lambda every, *arguments, **more: loading("backward_clock", *arguments, set=("-x", f"BACK_EVERY={every}"), **more)


def numbers(value):
    """Return all numbers of a record under names of times."""
    for key, inner in value.items():
        for one in inner if isinstance(inner, list) else [inner]:
            if isinstance(one, dict):
                yield from numbers(one)
            elif key.endswith("_s") or key in ("seconds", "least"):
                yield from [one] if isinstance(one, (int, float)) else []


@pytest.mark.parametrize("program, arguments", [
    ("fft_runner", "--size 8 8 8 --grid 2x2 --sync clock --rigor estimate --reps 3"),
    ("fft_runner", "--size 8 8 8 --grid 2x2 --sync clock --rigor estimate --reps 3 --halo 1"),
    ("fft_runner", "--size 64 --grid 4 --decomposition line --rigor estimate --reps 3"),
    ("transpose_bench", "--ranks 2,4 --bytes 64 --exchange p2p,mpi_alltoall --reps 3")])
def test_no_time_is_negative(clock, tmp_path, program, arguments):
    path = tmp_path / "record.jsonl"
    done = clock(1, 4, *arguments.split(), "--json", path, program=program)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [number for line in path.read_text().splitlines() for number in numbers(json.loads(line))]
    assert found and min(found) >= 0


def test_a_probe_leaves_such_repetitions_out_and_is_refused_where_they_are_too_many(clock, tmp_path):
    schema = json.loads((SOURCE / "network_probe.schema.json").read_text())
    probe = ["--reps", "5", "--rounds", "2", "--warmup", "0", "--bytes", "0,64", "--stream-bytes", "4096"]
    done = clock(30, 4, *probe, "--json", tmp_path / "some", program="network_probe")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "some").read_text())
    jsonschema.validate(result, schema)
    assert max(numbers(result)) < 100 / 2
    done = clock(1, 4, *probe, "--json", tmp_path / "all", program="network_probe")
    assert done.returncode != 0 and "network_probe: the clock went back in half of the 5 repetitions" in done.stderr
    assert not (tmp_path / "all").exists() or (tmp_path / "all").read_text() == ""


def test_waiting_for_the_clock_is_a_phase_of_its_own(loading, tmp_path):
    """A sleep takes 100 s with this clock."""
    options = ["--size", 8, 8, 8, "--grid", "1x2", "--sync", "clock", "--rigor", "estimate", "--reps", 5]
    done = loading("asleep_clock", 2, *options, "--json", tmp_path / "record", program="fft_runner")
    assert done.returncode == 0, done.stdout + done.stderr
    slept = [int(count) for count in re.findall(r"slept (\d+) times", done.stderr)]
    assert len(slept) == 2 and min(slept) >= 5
    phases = json.loads((tmp_path / "record").read_text())["phases"]
    assert min(phases.pop("wait_column")["min_s"]) >= 100
    assert max(numbers(phases)) < 100
