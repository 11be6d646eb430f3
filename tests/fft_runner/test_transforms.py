"""The runner's own verification in some cases, and its place in the record; test_matrix.py has all cases."""

import pytest

PHASES = ["fft_z", "pack_row", "exchange_row", "unpack_row", "fft_y", "pack_column", "exchange_column", "unpack_column",
          "fft_x"]
QUICK = ["--reps", "2", "--warmup", "1", "--rigor", "estimate", "--verify"]

CASES = [  # ranks, grid, nx ny nz
    (1, "1x1", (1, 1, 1)),
    (1, "1x1", (5, 1, 7)),
    (2, "1x2", (8, 8, 2)),
    (4, "4x1", (1, 6, 5)),
    (6, "3x2", (50, 37, 29)),
    (8, "2x4", (17, 19, 23)),
]


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("ranks, grid, size", CASES)
def test_transform_is_right_by_three_checks(run, ranks, grid, size, direction):
    record = run(ranks, "--size", *size, "--grid", grid, "--direction", direction, *QUICK)
    verify = record["verify"]
    assert verify["passed"] and verify["moved_data_exact"]
    assert verify["error_fftw"] <= verify["tolerance"] and verify["error_direct"] <= verify["tolerance"]
    assert record["direction"] == direction
    assert record["size"] == list(size) and record["ranks"] == ranks == len(record["placement"]["ranks"])


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("kind", ["c2c", "r2c", "dct"])
def test_a_rank_that_has_all_may_overwrite_its_input(run, kind, direction):
    """Plans are chosen by time: FFTW's own plans compete with the passes, on the arrays of the plan."""
    for more in ([], ["--in-place"]):
        record = run(1, "--size", 12, 10, 14, "--grid", "1x1", "--type", kind, "--direction", direction, "--destroy-input",
                     *more, "--rigor", "measure", "--reps", 1, "--verify")
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks, grid, size", [(2, "1x2", (8, 8, 2)), (4, "2x2", (13, 7, 5)), (6, "3x2", (9, 8, 7))])
def test_mpich_gives_the_same(run, mpich_run, ranks, grid, size):
    record = run(ranks, "--size", *size, "--grid", grid, *QUICK, start=mpich_run)
    assert record["verify"]["passed"] and "MPICH" in record["mpi"]["library"]
