"""Bricks and any other boxes before and after a transform (remap_test.c); the matrix and the fuzzer also use bricks."""

import pytest


@pytest.mark.parametrize("ranks, cases", [(4, 14), *(pytest.param(n, 140, marks=pytest.mark.slow) for n in (2, 3, 5, 6))])
def test_boxes_at_random_are_remapped(mpirun, ranks, cases):
    """The number of a case modulo 7 selects the exchange; modulo 4, the kind of type."""
    done = mpirun(ranks, 5, cases, program="remap_test", seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_boxes_at_random_are_remapped_under_mpich(mpich_run):
    done = mpich_run(3, 6, 28, program="remap_test", seconds=300)
    assert done.returncode == 0, done.stdout + done.stderr


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
