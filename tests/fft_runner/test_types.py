"""The runner's own verification, and its place in the record: types, phases. test_fuzz.py crosses all choices."""

import pytest

PHASES = ["fft_z", "pack_row", "exchange_row", "unpack_row", "fft_y", "pack_column", "exchange_column", "unpack_column",
          "fft_x"]
QUICK = ["--reps", "1", "--warmup", "0", "--rigor", "estimate", "--verify"]


USUAL = {"type": "c2c", "precision": "double", "layout": "natural", "in_place": False, "fields": 1, "direction": "forward",
         "rigor": "estimate", "sync": "none", "schedule": "sequence"}
RUNS = [  # ranks, words, members of the record
    (6, "--size 13 10 14 --grid 3x2", USUAL | {"size": [13, 10, 14], "grid": [3, 2]}),
    (6, "--size 13 10 14 --grid 3x2 --type c2r", {"type": "c2r", "direction": "backward"}),
    (6, "--size 9 11 16 --grid 2x3 --type r2c --precision single --layout stride1 --in-place --fields 3",
     {"type": "r2c", "precision": "single", "layout": "stride1", "in_place": True, "fields": 3}),
    (4, "--size 6 9 10 --grid 2x2 --type dct --kinds c3,s4,1 --direction backward",
     {"type": "dct", "kinds": "c3,s4,1", "direction": "backward"}),
    (4, "--size 5 9 7 --grid 2x2 --type dct1,c2c,r2c", {"type": "dct1,c2c,r2c", "skip": ""}),
    (6, "--size 7 9 11 --grid 2x3 --type c2c,none,dst2 --precision single --layout stride1 --direction backward",
     {"type": "c2c,none,dst2", "direction": "backward"}),
    (4, "--size 6 9 10 --grid 2x2 --skip yz --direction backward", {"skip": "yz", "direction": "backward"}),
    (1, "--size 1 1 1 --grid 1x1", {"size": [1, 1, 1]}), (4, "--size 1 6 5 --grid 4x1", {"grid": [4, 1]}),
    (2, "--size 8 8 2 --grid 1x2 --direction backward", {"direction": "backward"}),
    (8, "--size 17 19 23 --grid 2x4", {"grid": [2, 4]}),
    (1, "--size 12 10 14 --grid 1x1 --destroy-input --rigor measure", {"destroy_input": True}),
    *((4, f"--size 12 12 12 --grid 2x2 --sync {sync} --rigor measure", {"sync": sync, "rigor": "measure"})
      for sync in ("none", "barrier", "clock")),
    (4, "--size 8 12 16 --grid 2x2 --exchange bruck4", {"exchange": "bruck4"}),
    *((4, f"--size 9 12 16 --grid 2x2 --fields 2 --schedule {schedule}", {"schedule": settled})
      for schedule, settled in (("overlap:2", "overlap:2:x"), ("overlap:1,3:z", "overlap:1,3:z"), ("two-way:3", "two-way:3"),
                                ("opposite", "opposite"))),
    *((4, f"--size 10 12 14 --grid 2x2 --direction pair {more}", {"direction": "pair"})
      for more in ("--schedule opposite", "--schedule opposite --in-place --type r2c --exchange p2p", "--in-place",
                   "--schedule two-way --exchange persistent"))]


@pytest.mark.parametrize("ranks, words, members", RUNS, ids=[words for _, words, _ in RUNS])
def test_options_are_taken_verified_and_recorded(run, ranks, words, members):
    record = run(ranks, *QUICK, *words.split())
    verify = record["verify"]
    assert verify["passed"] and verify["moved_data_exact"]
    assert verify["error_fftw"] <= verify["tolerance"] and verify["error_direct"] <= verify["tolerance"]
    assert (verify["tolerance"] > 1e-6) == ("single" in words)
    assert verify["points"] == (16 if "pair" in words else 8)
    assert {name: record[name] for name in members} == members
    assert record["ranks"] == ranks == len(record["placement"]["ranks"])
    assert ("hidden_row" in record["phases"]) == ("--schedule" in words)
    two_parts = "two-way" in words or "--fields 2 --schedule opposite" in words
    assert (verify["note"] != "") == two_parts  # which are not exchanged alone


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


def test_a_single_task_exchanges_nothing(run):
    phases = run(1, "--size", 16, 16, 16, "--grid", "1x1", "--reps", 2)["phases"]
    assert phases["exchange_row"]["max_s"] == phases["exchange_column"]["max_s"] == [0, 0]


@pytest.mark.slow
def test_serial_fftw_is_left_out_above_its_limit_and_said_so(run):
    size = ["--size", 1024, 512, 257, "--grid", "1x2"]
    verify = run(2, *size, "--rigor", "estimate", "--reps", 1, "--warmup", 0, "--verify")["verify"]
    assert verify["error_fftw"] is None and "not done" in verify["note"] and verify["passed"]


@pytest.mark.parametrize("ranks, words", [
    (2, "--size 8 8 2 --grid 1x2"), (6, "--size 9 8 7 --grid 3x2"), *(
        pytest.param(4, f"--size 10 9 12 --grid 2x2 --type {kind} --precision single --layout stride1",
                     marks=pytest.mark.slow) for kind in ("r2c", "chebyshev"))])
def test_mpich_gives_the_same(run, mpich_run, ranks, words):
    record = run(ranks, *QUICK, *words.split(), start=mpich_run)
    assert record["verify"]["passed"] and record["verify"]["error_fftw"] is not None and "MPICH" in record["mpi"]["library"]
