"""The runner's own verification, and its place in the record: types, phases. test_fuzz.py crosses all choices."""

import pytest

from tests.fft_runner.tables import TYPES

PHASES = ["fft_z", "pack_row", "exchange_row", "unpack_row", "fft_y", "pack_column", "exchange_column", "unpack_column",
          "fft_x"]
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


def test_precision_layout_place_and_fields_are_taken(run):
    options = ["--precision", "single", "--layout", "stride1", "--in-place", "--fields", 3]
    record = check(run, "2x3", (9, 11, 16), "r2c", *options)
    assert (record["precision"], record["layout"], record["in_place"], record["fields"]) == ("single", "stride1", True, 3)
    assert record["verify"]["tolerance"] > 1e-6


@pytest.mark.parametrize("kind, option, value", [("dct", "kinds", "c3,s4,1"), ("c2c", "skip", "yz")])
def test_kinds_and_skipped_axes_are_right_backward(run, kind, option, value):
    assert check(run, "2x2", (6, 9, 10), kind, f"--{option}", value, "--direction", "backward")[option] == value


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("grid, size", [("1x1", (1, 1, 1)), ("1x1", (5, 1, 7)), ("1x2", (8, 8, 2)), ("4x1", (1, 6, 5)),
                                        ("3x2", (50, 37, 29)), ("2x4", (17, 19, 23))])
def test_a_transform_is_right_by_three_checks(run, grid, size, direction):
    record = check(run, grid, size, "c2c", "--direction", direction)
    verify = record["verify"]
    assert verify["error_fftw"] <= verify["tolerance"] and verify["error_direct"] <= verify["tolerance"]
    assert record["direction"] == direction
    assert record["size"] == list(size) and record["ranks"] == ranks_of(grid) == len(record["placement"]["ranks"])


def test_the_input_may_be_destroyed(run):
    record = run(1, "--size", 12, 10, 14, "--grid", "1x1", "--destroy-input", "--rigor", "measure", "--reps", 1, "--verify")
    assert record["verify"]["passed"] and record["verify"]["moved_data_exact"]


def test_phases_are_sampled_per_repetition_and_add_up(run):
    phases = run(4, "--size", 32, 32, 32, "--grid", "2x2", "--reps", 3)["phases"]
    assert list(phases) == [*PHASES, "total"]
    for phase in phases.values():
        assert len(phase["max_s"]) == len(phase["mean_s"]) == len(phase["min_s"]) == 3
        assert all(low <= mean * (1 + 1e-6) and mean <= high * (1 + 1e-6)
                   for low, mean, high in zip(phase["min_s"], phase["mean_s"], phase["max_s"], strict=True))
    for repetition in range(3):
        parts = sum(phases[phase]["mean_s"][repetition] for phase in PHASES)
        assert phases["total"]["mean_s"][repetition] == pytest.approx(parts, rel=1e-6)


@pytest.mark.parametrize("sync", ["none", "barrier", "clock"])
@pytest.mark.parametrize("rigor", ["measure"])
def test_sync_is_recorded_and_changes_no_number(run, sync, rigor):
    record = run(4, "--size", 12, 12, 12, "--grid", "2x2", "--sync", sync, "--rigor", rigor, "--verify", "--reps", 2)
    assert record["sync"] == sync and record["rigor"] == rigor and record["verify"]["passed"]


def test_a_single_task_exchanges_nothing(run):
    phases = run(1, "--size", 16, 16, 16, "--grid", "1x1", "--reps", 2)["phases"]
    assert phases["exchange_row"]["max_s"] == phases["exchange_column"]["max_s"] == [0, 0]


@pytest.mark.slow
def test_serial_fftw_is_left_out_above_its_limit_and_said_so(run):
    size = ["--size", 1024, 512, 257, "--grid", "1x2"]
    verify = run(2, *size, "--rigor", "estimate", "--reps", 1, "--warmup", 0, "--verify")["verify"]
    assert verify["error_fftw"] is None and "not done" in verify["note"] and verify["passed"]


@pytest.mark.parametrize("grid, size, kind, more", [
    ("1x2", (8, 8, 2), "c2c", ()), ("3x2", (9, 8, 7), "c2c", ()), *(
        pytest.param("2x2", (10, 9, 12), kind, ("--precision", "single", "--layout", "stride1"), marks=pytest.mark.slow)
        for kind in ("r2c", "chebyshev"))])
def test_mpich_gives_the_same(run, mpich_run, grid, size, kind, more):
    assert "MPICH" in check(run, grid, size, kind, *more, start=mpich_run)["mpi"]["library"]


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
