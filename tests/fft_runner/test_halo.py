"""Halos in the runner, and boxes read from files; python_random_plans.py tests the library."""

import numpy as np
import pytest

from pencilmap.mapper.runs.compare import compare_record
from pencilmap.mapper.runs.records import grid_of_record, read_records, transform_of_record
from pencilmap.model.traffic.exchange import halo
from tests.documents import run_by


def test_the_command_of_the_document_sends_what_the_model_counts(mpirun, tmp_path):
    [command] = run_by(__file__)
    words = command.split()
    assert words[:4] == ["mpirun", "-n", "4", "fft_runner"] and words[-2:] == ["--json", "run.jsonl"]
    path = tmp_path / "run.jsonl"
    done = mpirun(4, *words[4:-1], path, "--reps", 2, "--machine-torus", "2x2", "--label", "link_bandwidth=1 GB/s")
    assert done.returncode == 0 and "halo of 2 planes: 12 messages" in done.stdout, done.stdout + done.stderr
    assert "verified, exact" in done.stdout and words[-3] == "--verify"
    [record] = read_records(path)
    sent = halo(grid_of_record(record), transform_of_record(record), "input", (2, 2, 2))
    bytes_sent = np.bincount(sent.members[:, 0], sent.group_weight * sent.unit_bytes, 4)
    assert record["halo"]["bytes"] == bytes_sent.tolist() and record["halo"]["messages"] == [3, 3, 3, 3]
    assert len(record["halo"]["max_s"]) == 2 and min(record["halo"]["max_s"]) > 0
    row = compare_record(record, "run")[-1]
    assert row.stage == "halo" and row.measured_s == pytest.approx(sum(record["halo"]["max_s"]) / 2)
    assert 0.5 * max(bytes_sent) / 1e9 < row.t_s < 3 * max(bytes_sent) / 1e9


def test_boxes_are_read_from_files(mpirun, records, one_message, tmp_path):
    boxes, out = tmp_path / "boxes", tmp_path / "out.jsonl"
    boxes.write_text("# x y z and extents\n0 0 0 4 4 1\n0 0 1 4 4 2\n\n0 0 3 2 4 1 # the lower half\n2 0 3 2 4 1\n")
    done = mpirun(4, "--size", 4, 4, 4, "--grid", "2x2", "--input-boxes", boxes, "--output-boxes", boxes, "--verify",
                  "--reps", 1, "--json", out)
    assert done.returncode == 0, done.stderr
    [record] = records(out)
    assert [stage["name"] for stage in record["stages"]] == ["remap_in", "row", "column", "remap_out"]
    assert record["verify"]["passed"] and sum(record["stages"][0]["bytes"]) == 16 * 48  # 16 of 64 elements stay
    boxes.write_text("0 0 0 4 4 1\n")
    assert "has boxes of 1 ranks, and there are 4" in one_message(mpirun(
        4, "--size", 4, 4, 4, "--grid", "2x2", "--input-boxes", boxes))
