"""Types of transforms: options of the runner, and its record. test_matrix.py crosses all types with everything else."""

import pytest

from tests.fft_runner.tables import TYPES

QUICK = ["--reps", "1", "--warmup", "0", "--rigor", "estimate", "--verify"]


def ranks_of(grid):
    rows, columns = map(int, grid.split("x"))
    return rows * columns


def check(run, grid, size, kind, *more, start=None):
    arguments = ["--size", *size, "--grid", grid, "--type", kind, *QUICK, *more]
    record = run(ranks_of(grid), *arguments, **({"start": start} if start else {}))
    verify = record["verify"]
    assert verify["passed"] and verify["moved_data_exact"] and verify["error_fftw"] is not None
    return record


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_is_right(run, kind):
    record = check(run, "3x2", (13, 10, 14), kind)
    assert (record["type"], record["precision"], record["layout"]) == (kind, "double", "natural")
    assert record["in_place"] is False and record["fields"] == 1
    assert record["direction"] == ("backward" if kind == "c2r" else "forward")


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_is_right_in_single_precision_turned_in_place_with_fields(run, kind):
    record = check(run, "2x3", (9, 11, 16), kind, "--precision", "single", "--layout", "stride1", "--in-place", "--fields",
                   3)
    assert (record["precision"], record["layout"], record["in_place"], record["fields"]) == ("single", "stride1", True, 3)
    assert record["verify"]["tolerance"] > 1e-6


@pytest.mark.parametrize("kind", [kind for kind in TYPES if kind != "c2r"])
def test_each_type_is_right_backward(run, kind):
    check(run, "2x2", (12, 7, 9), kind, "--direction", "backward", "--layout", "stride1", "--fields", 2)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("kinds", ["1,2,3", "4,1,2", "c3,s4,1", "s1,s2,s3"])
def test_each_kind_of_cosine_and_sine_is_right_on_each_axis(run, kinds, direction):
    record = check(run, "2x2", (6, 9, 8), "dct", "--kinds", kinds, "--direction", direction)
    assert record["kinds"] == kinds


@pytest.mark.parametrize("kind, axes",
                         [("c2c", "x"), ("c2c", "yz"), ("c2c", "xyz"), ("r2c", "y"), ("r2c", "xy"), ("dct", "z")])
def test_axes_can_be_left_alone(run, kind, axes):
    assert check(run, "2x2", (6, 8, 10), kind, "--skip", axes)["skip"] == axes


@pytest.mark.parametrize("decomposition", ["pencil", "brick"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("axes", ["x", "y", "z", "xy", "yz", "xz"])
def test_a_rank_alone_leaves_axes_alone_where_input_and_output_are_one_array(run, decomposition, direction, axes):
    """Use lines of 36 along z, because FFTW's plans for shorter lines work on other arrays than planned."""
    check(run, "1x1", (12, 10, 36), "c2c", "--decomposition", decomposition, "--skip", axes, "--in-place", "--direction",
          direction)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["r2c", "chebyshev"])
def test_mpich_gives_the_same(run, mpich_run, kind):
    check(run, "2x2", (10, 9, 12), kind, "--precision", "single", "--layout", "stride1", start=mpich_run)


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, part", [
    (["--type", "fft"], f"unknown type 'fft'; known: {', '.join(TYPES)}"),
    (["--precision", "half"], "unknown precision 'half'; known: double, single"),
    (["--layout", "tiled"], "unknown layout 'tiled'; known: natural, stride1"),
    (["--type", "c2r", "--direction", "forward"], "c2r is backward; use r2c for forward"),
    (["--type", "dct", "--kinds", "1,2"], "kinds '1,2' are not understood"),
    (["--type", "dct", "--kinds", "0,1,2"], "kinds '0,1,2' are not understood"),
    (["--type", "chebyshev", "--kinds", "2,2,2"], "type chebyshev has no kinds"),
    (["--type", "dst", "--kinds", "1,2,5"], "kinds '1,2,5' are not understood"),
    (["--skip", "w"], "skip 'w' is not understood"),
    (["--type", "r2c", "--skip", "z"], "so z cannot be skipped"),
    (["--type", "dct", "--kinds", "1,1,1", "--size", 8, 1, 8, "--grid", "1x1"],
     "ny is 1; a cosine transform of kind I needs"),
    (["--fields", 0], "'0' is not an integer of 1.."),
], ids=lambda value: value if isinstance(value, str) else None)
def test_wrong_choices_are_refused(mpirun, one_message, arguments, part):
    plain = ["--size", 8, 8, 8, "--grid", "1x1"]
    grid = arguments[arguments.index("--grid") + 1] if "--grid" in arguments else "1x1"
    assert part in one_message(mpirun(ranks_of(grid), *plain, *arguments))
