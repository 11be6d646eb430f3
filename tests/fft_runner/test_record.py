"""The run record and the printed output."""

import fcntl
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pencilmap.mapper.runs.records import grid_of_record, transform_of_record
from pencilmap.model.placement.transform import parse_transform
from pencilmap.model.traffic.exchange import exchanges
from tests.fft_runner.conftest import ROOT

TINY = ["--size", 4, 4, 4, "--grid", "1x2", "--reps", 1, "--rigor", "estimate"]
OPTIONS = ["size", "grid", "decomposition", "algorithm", "order", "input-boxes", "output-boxes", "direction", "type",
           "kinds", "skip", "padded", "precision", "exchange-precision", "layout", "in-place",
           "destroy-input", "fields", "threads", "exchange", "schedule",
           "auto-budget", "reps", "warmup", "halo", "time-limit", "verify", "json", "label", "rigor", "sync", "barrier",
           "per-rank", "print-plan", "byte-matrix", "wisdom", "machine-torus", "tasks-per-node", "mapfile", "launch-order",
           "coordinates", "help", "version"]


def test_records_are_appended_one_a_line(mpirun, records, tmp_path):
    path = tmp_path / "out.jsonl"
    for _ in range(2):
        assert mpirun(2, *TINY, "--json", path).returncode == 0
    first, second = records(path)
    assert first["command"] == second["command"] and first["command"][-2:] == ["--json", str(path)]


def test_a_record_is_not_written_into_one_that_another_run_writes(mpirun, records, tmp_path):
    path = tmp_path / "out.jsonl"
    assert mpirun(2, *TINY, "--json", path).returncode == 0
    line, waits = path.read_text(), re.compile(rf"-> FLOCK .*:{path.stat().st_ino} ")
    with path.open("a") as other, ThreadPoolExecutor() as beside:
        fcntl.flock(other, fcntl.LOCK_EX)
        run = beside.submit(mpirun, 2, *TINY, "--json", path)
        while not run.done() and not waits.search(Path("/proc/locks").read_text()):
            time.sleep(0.01)
        for part in (line[:20], line[20:]):
            other.write(part)
            other.flush()
        assert not run.done() and path.read_text() == 2 * line
        fcntl.flock(other, fcntl.LOCK_UN)
        assert run.result().returncode == 0
    assert len(records(path)) == 3


def test_records_hold_grid_and_stages_of_their_decomposition(run):
    pencil, slab = run(4, *TINY, "--grid", "2x2"), run(4, *TINY, "--grid", 4, "--decomposition", "slab")
    assert (pencil["decomposition"], pencil["grid"]) == ("pencil", [2, 2])
    assert (slab["decomposition"], slab["grid"]) == ("slab", [4])
    assert [stage["name"] for stage in pencil["stages"]] == ["row", "column"]
    assert [(stage["name"], stage["messages"]) for stage in slab["stages"]] == [("slab", [3] * 4)]
    assert list(slab["phases"]) == ["fft_z", "fft_y", "pack_slab", "exchange_slab", "unpack_slab", "fft_x", "total"]


def test_standard_output_as_file_holds_the_record_alone(mpirun, schema):
    done = mpirun(2, *TINY, "--json", "-")
    schema.validate(json.loads(done.stdout))
    assert "fft_z" in done.stderr


def test_labels_are_recorded_verbatim(run):
    labels = {"site": "here", "note": 'a "b" = c, ü\\', "empty": ""}
    words = [word for key, value in labels.items() for word in ("--label", f"{key}={value}")]
    assert run(2, *TINY, *words)["labels"] == labels


def test_bytes_that_are_no_text_do_not_break_the_record(mpirun, records, tmp_path):
    path = tmp_path / "out.jsonl"
    assert mpirun(2, *TINY, "--label", "k=\udce9", "--json", path).returncode == 0
    assert records(path)[0]["labels"] == {"k": "?"}


def test_record_names_versions(run):
    record = run(2, *TINY)
    assert re.fullmatch(r"\d+\.\d+\.\d+", record["fftw"]) and re.fullmatch(r"\d+\.\d+\.\d+\S*", record["hwloc"])
    assert record["mpi"]["library"] and record["mpi"]["standard"][0] >= 3
    assert record["verify"] is None


def test_table_shows_every_phase_and_the_verdict(mpirun):
    done = mpirun(2, *TINY, "--verify")
    for word in ("fft_z", "exchange_row", "unpack_column", "total", "GFlop/s", "verification passed"):
        assert word in done.stdout
    assert not done.stderr


@pytest.mark.parametrize("grid, decomposition, stages", [("1x2", "pencil", ["row", "column"]), ("2", "slab", ["slab"])])
def test_the_plan_is_printed_on_request(mpirun, grid, decomposition, stages):
    words = [*TINY, "--grid", grid, "--decomposition", decomposition]
    plain, told = mpirun(2, *words).stdout, mpirun(2, *words, "--print-plan").stdout
    assert len(told.splitlines()) > len(plain.splitlines()) + len(stages)
    assert all(stage in told for stage in stages) and "pass" in told


def test_the_readme_shows_the_plan_that_its_command_prints(mpirun):
    text = (ROOT / "fft_runner" / "README.md").read_text("utf-8")
    command = re.search(r"`fft_runner ([^`]* --print-plan)` does", text)[1].split()
    shown = re.search(r"from array 1\s+to the end of a forward transform:\n\n((?:      .*\n)+)", text)[1]
    printed = mpirun(4, *command, "--reps", 1).stdout
    assert re.sub("(?m)^    ", "", shown) in printed


def test_help_names_every_option_and_ends_well(mpirun):
    done = mpirun(2, "--help")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  --")] == [f"--{o}" for o in OPTIONS]


def test_threads_are_in_the_record(run):
    record = run(1, "--size", 8, 8, 8, "--grid", "1x1", "--threads", 2, "--reps", 1, "--rigor", "estimate", "--verify")
    assert record["threads"] == 2 and record["verify"]["passed"]


def test_the_reference_lists_every_option():
    reference = (Path(__file__).parents[2] / "docs" / "reference" / "fft-runner.md").read_text()
    assert [option for option in OPTIONS if f"--{option}" not in reference] == []


def test_padding_and_the_precision_of_messages_are_in_the_record(run):
    words = ["--size", 8, 8, 8, "--grid", "2x2", "--reps", 1, "--rigor", "estimate", "--verify"]
    plain = run(4, *words)
    record = run(4, *words, "--padded", 12, 12, 10, "--exchange-precision", "single")
    assert (plain["points"], plain["exchange_precision"]) == ([8, 8, 8], "double")
    assert (record["points"], record["exchange_precision"], record["precision"]) == ([12, 12, 10], "single", "double")
    assert record["verify"]["passed"] and 1e-9 < record["verify"]["error_fftw"] < 1e-6
    transform = transform_of_record(record)
    assert transform == parse_transform("8:sent=single:points=12x12x10") and str(transform_of_record(plain)) == "8x8x8"
    for stage, exchange in zip(record["stages"], exchanges(grid_of_record(record), transform), strict=True):
        assert sum(stage["bytes"]) == exchange.group_weight.sum() * exchange.unit_bytes * (
            exchange.send_weight.sum() * exchange.receive_weight.sum() - exchange.send_weight @ exchange.receive_weight)
