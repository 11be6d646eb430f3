"""Distributed lines directly on bricks: the library (brick_lines_test.c), and the runner's --algorithm with bricks."""

import numpy as np
import pytest

from pencilmap.mapper.runs.compare import compare_records
from pencilmap.mapper.runs.records import read_records, transform_of_record
from pencilmap.model.base.errors import RecordError
from pencilmap.model.lines.brick_lines import brick_line_stages
from tests.documents import run_by


def test_every_axis_of_bricks_is_transformed_across_its_ranks_and_sends_what_the_model_counts(mpirun):
    """Compare every element with serial FFTW in three dimensions, on 1, 2, 4, 6 and 8 of the ranks."""
    done = mpirun(8, program="brick_lines_test")
    assert done.returncode == 0, done.stdout + done.stderr
    told = {}
    for line in done.stdout.splitlines():
        if line.startswith("counts "):
            _, size, bricks, algorithm, order, name, *numbers = line.split()
            told.setdefault((size, bricks, algorithm, order), []).append((name, *map(int, numbers)))
    assert len(told) > 100 and {("5x7x11", "2x2x2"), ("6x9x10", "1x2x3"), ("24x17x1", "8x1x1")} <= {key[:2] for key in told}
    for (size, bricks, algorithm, order), stages in told.items():
        counted = []
        for stage in brick_line_stages([*map(int, size.split("x"))], [*map(int, bricks.split("x"))], algorithm, order):
            sent = stage.sent()
            counted.append((stage.name, *np.column_stack((sent.sum(axis=1), (sent > 0).sum(axis=1))).ravel().tolist()))
        assert stages == counted, (size, bricks, algorithm, order)


@pytest.mark.parametrize("bricks, algorithm, order, direction, size", [
    ("2x1x3", "transpose", "natural", "forward", (7, 5, 12)), ("6x1x1", "dft", "transposed", "backward", (17, 8, 1))])
def test_the_runner_verifies_bricks_of_lines_and_writes_their_record(mpirun, tmp_path, bricks, algorithm, order, direction,
                                                                     size):
    path = tmp_path / "bricks.jsonl"
    done = mpirun(6, "--decomposition", f"brick:{bricks}", "--algorithm", algorithm, "--order", order, "--size", *size,
                  "--direction", direction, "--verify", "--fields", 2, "--rigor", "estimate", "--reps", 1, "--json", path,
                  "--machine-torus", 6, "--label", "link_bandwidth=1 GB/s")
    assert done.returncode == 0, done.stderr
    [record] = read_records(path)
    assert record["verify"]["passed"] and record["verify"]["error_fftw"] < 1e-14 and record["verify"]["points"] == 8
    assert record["size"] == list(size) and {"fft_x", "pack_x", "unpack_x"} <= set(record["phases"])
    stages = brick_line_stages(size, [*map(int, bricks.split("x"))], algorithm, order)
    for told, stage in zip(record["stages"], stages, strict=True):
        sent = stage.sent().T if direction == "backward" and stage.stage.is_all_to_all else stage.sent()
        assert told["bytes"] == (32 * sent.sum(axis=1)).tolist() and told["messages"] == (sent > 0).sum(axis=1).tolist()
    rows = compare_records([record], "here")
    assert [row.stage for row in rows] == [stage.name for stage in stages] and rows[0].grid == bricks
    with pytest.raises(RecordError, match="bricks on which distributed lines run; only pencilmap compare"):
        transform_of_record(record)


def test_the_phases_of_bricks_stand_in_columns(mpirun):
    """Columns line up even with the widest name."""
    done = mpirun(2, "--decomposition", "brick:1x2x1", "--algorithm", "transpose", "--size", 4, 16, 4, "--reps", 1)
    assert done.returncode == 0, done.stderr
    table = done.stdout[done.stdout.index("phase "):].splitlines()
    rows = table[1:table.index("")]
    assert any(row.startswith("exchange_y_to_columns ") for row in rows)
    assert len({len(row) for row in rows}) == 1 and table[0].index(" max") + 4 == len(rows[0]) - 26
    told = [line for line in done.stdout.splitlines() if line.startswith("exchange y_")]
    assert len({line.index("all-to-all") for line in told}) == 1 and len(told) == 3


def test_the_command_of_the_document_verifies_two_dimensions(mpirun):
    [command] = run_by(__file__)
    words = command.split()
    done = mpirun(int(words[2]), *words[4:])
    assert done.returncode == 0 and "verification passed" in done.stdout, done.stdout + done.stderr


def test_bricks_of_lines_that_cannot_be_are_refused_in_a_sentence(mpirun, one_message):
    for message, words in [("along y: a binary exchange needs points", ["brick:1x2x1", "--algorithm", "binary2"]),
                           ("bricks 2x2x1 on 2 ranks", ["brick:2x2x1", "--algorithm", "dft"]),
                           ("write brick:PxQxS", ["brick", "--algorithm", "dft"]),
                           ("--grid: bricks with --algorithm", ["brick:1x2x1", "--algorithm", "dft", "--grid", "1x2"])]:
        assert message in one_message(mpirun(2, "--size", 8, 7, 6, "--decomposition", *words))
