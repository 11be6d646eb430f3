"""The runner's report of each exchange; exchanges that cannot run and their reasons; plans that fail on all ranks; auto and
wisdom. test_fuzz.py checks the numbers of each exchange.
"""

import os
import re
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fft_runner.tables import DECOMPOSITIONS, EXCHANGES

ALONE = {"fftw", "node", "put"}  # exchanges that do not run beside other work
SCHEDULED = set(EXCHANGES) - ALONE - {"bruck4", "bruck8"}  # one of the three radices


@pytest.mark.slow
def test_a_transform_does_not_write_over_what_a_late_rank_has_not_read_under_mpich(mpich_run):
    done = mpich_run(4, 2, 2, program="late_test", seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    schedules = ("overlap:3:x", "overlap:2:field", "pipelined:2", "two-way", "opposite")
    assert {f"pencil {exchange} {schedule}" for exchange in SCHEDULED for schedule in schedules
            } <= set(done.stdout.splitlines())


@pytest.mark.parametrize("ranks, grid, per_node",
                         [(4, "2x2", 8), (4, "1x4", 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in (
                             (6, "3x2", 2), (6, "2x3", 8), (3, "3x1", 8)))])
def test_a_transform_does_not_write_over_what_a_late_rank_has_not_read(mpirun, ranks, grid, per_node):
    run = replace(mpirun, mpirun=("env", f"PENCILFFT_RANKS_PER_NODE={per_node}", *mpirun.mpirun))
    done = run(ranks, *grid.split("x"), program="late_test")
    assert done.returncode == 0, done.stdout + done.stderr
    decompositions = DECOMPOSITIONS if grid.startswith("1x") else ["pencil"]
    assert set(done.stdout.splitlines()) >= {f"{decomposition} {exchange}" for decomposition in decompositions
                                             for exchange in set(EXCHANGES) - {"fftw"}}
    if "1" not in grid.split("x"):
        schedules = ("overlap:3:x", "overlap:2:field", "pipelined:2", "two-way:3", "opposite")
        unequal = {("alltoall", "two-way:3")}  # three planes over two ranks
        assert set(done.stdout.splitlines()) >= {f"pencil {exchange} {schedule}" for schedule in schedules
                                                 for exchange in SCHEDULED
                                                 if (exchange, schedule) not in unequal}


def test_node_sends_one_message_between_two_nodes(mpirun, records, tmp_path):
    run = replace(mpirun, mpirun=("env", "PENCILFFT_RANKS_PER_NODE=2", *mpirun.mpirun))
    done = run(4, "--size", 8, 8, 8, "--grid", "4x1", "--exchange", "node", "--reps", 1, "--json", tmp_path / "r.jsonl")
    assert done.returncode == 0, done.stderr
    [record] = records(tmp_path / "r.jsonl")
    row = record["stages"][0]
    part = 8 * 8 * 8 * 16 // 16  # bytes that each of four ranks sends to another
    assert row["messages"] == [1, 0, 1, 0] and row["bytes"] == [4 * part, 0, 4 * part, 0]


def test_the_ranks_of_a_node_share_what_leaves(mpirun, records, tmp_path):
    run = replace(mpirun, mpirun=("env", "PENCILFFT_RANKS_PER_NODE=2", *mpirun.mpirun))
    done = run(6, "--size", 6, 6, 6, "--grid", "6x1", "--exchange", "node", "--reps", 1, "--verify", "--json",
               tmp_path / "r.jsonl", "--byte-matrix", f"row={tmp_path / 'matrix'}")
    assert done.returncode == 0, done.stderr
    parcel = 4 * 6 * 16  # two ranks to two, of 6 elements each
    assert records(tmp_path / "r.jsonl")[0]["stages"][0]["messages"] == [1] * 6
    assert [line.split() for line in (tmp_path / "matrix").read_text().splitlines()] == \
        [[str(parcel * (j == to)) for j in range(6)] for to in (3, 4, 5, 0, 1, 2)]


def test_both_ways_of_an_exchange_share_one_block(mpirun):
    done = mpirun(4, 2, 2, "node", "sequence", program="failures_test")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"rank \d called MPI_Comm_split_type (\d+) times", done.stdout) == ["2", "2"]  # row, column


@pytest.mark.parametrize("text", ["two", "0", "-1", "", "2 "])
def test_a_node_has_a_number_of_ranks(mpirun, one_message, text):
    run = replace(mpirun, mpirun=("env", f"PENCILFFT_RANKS_PER_NODE={text}", *mpirun.mpirun))
    message = one_message(run(2, "--size", 8, 8, 8, "--grid", "2x1", "--exchange", "node"))
    assert f"PENCILFFT_RANKS_PER_NODE is '{text}'" in message and "at least 1" in message


def test_fftw_is_refused_where_its_mpi_library_is_of_another_mpi(mpich_run, one_message):
    if shutil.which("mpicc.openmpi") is None:
        pytest.skip("NOT TESTED: FFTW's MPI library may be of this MPI")
    message = one_message(mpich_run(2, "--size", 8, 8, 8, "--grid", "1x2", "--exchange", "fftw"))
    assert "needs FFTW's MPI library built for this MPI" in message


def test_persistent_says_by_which_calls(run, mpich_run):
    arguments = ["--size", 8, 8, 8, "--grid", "1x2", "--exchange", "persistent", "--rigor", "estimate", "--reps", 1]
    known = {"MPI_Alltoallv_init", "MPI_Alltoallv_init_c", "MPIX_Alltoallv_init",
             "MPI_Send_init and MPI_Recv_init: no MPI_Alltoallv_init here"}
    assert run(2, *arguments)["stages"][1]["means"] in known
    assert run(2, *arguments, start=mpich_run)["stages"][1]["means"] in known


@pytest.mark.parametrize("exchange", [name for name in EXCHANGES if name != "fftw"])
def test_exchanges_run_in_the_simulation(smpirun, exchange):
    hosts = [f"node-{i}-0-0" for i in range(4)]
    record = smpirun(hosts, "--size", 8, 8, 8, "--grid", "2x2", "--exchange", exchange, "--rigor", "estimate", "--reps", 1,
                     "--verify")
    assert record["verify"]["passed"] and record["hosts"] == [] and record["warnings"] == []
    if exchange == "persistent":  # SimGrid's MPI is of MPI 3
        assert record["stages"][0]["means"] == "MPI_Send_init and MPI_Recv_init: no MPI_Alltoallv_init here"


# ---- auto ----------------------------------------------------------------------------------------------------------

AUTO = ["--size", 16, 12, 8, "--grid", "2x2", "--exchange", "auto", "--rigor", "estimate", "--reps", 1, "--verify"]


# auto_test.c tests the choice, with known speeds.
@pytest.mark.parametrize("grid, same", [("2x2", {"bruck4", "bruck8"}), ("1x3", {"bruck8"}), ("4x1", {"bruck8"}),
                                        ("1x5", set())])
def test_auto_tells_what_it_tried_and_tries_no_algorithm_by_two_names(run, grid, same):
    """Radix 4 in groups of two, and radix 8 in groups of four, send to all, like half the radix."""
    R, C = map(int, grid.split("x"))
    record = run(R * C, *AUTO, "--grid", grid, "--auto-budget", 2)
    for stage in record["stages"]:
        tried = [] if (R if stage["name"] == "row" else C) == 1 else [name for name in EXCHANGES if name not in same]
        assert list(stage["tried_s"]) == tried and all(stage["tried_s"][name] > 0 for name in tried[:1])
        assert not tried or stage["tried_s"][stage["exchange"]] > 0
    assert record["exchange"] == "auto" and record["auto_budget_s"] == 2


def test_auto_without_time_still_takes_one(run):
    record = run(4, *AUTO, "--auto-budget", 0)
    assert [list(e["tried_s"]) for e in record["stages"]] == [["alltoallv"], ["alltoallv"]]


def test_auto_leaves_out_what_refuses_and_prints_what_it_tried(mpirun, records, tmp_path):
    done = mpirun(4, "--size", 9, 9, 9, "--grid", "2x2", "--exchange", "auto", "--auto-budget", 5, "--rigor", "estimate",
                  "--reps", 1, "--verify", "--json", tmp_path / "r.jsonl")
    assert done.returncode == 0, done.stderr
    [record] = records(tmp_path / "r.jsonl")
    tried = record["stages"][0]["tried_s"]
    assert tried["alltoall"] is None and tried["padded"] > 0
    printed = re.findall(r"  tried: ((?:[^\n]+,\n)*[^\n]+)\n", done.stdout)
    assert [[(name, None if ms == "refused" else pytest.approx(1e-3 * float(ms), abs=1e-7))
             for name, ms in re.findall(r"(\w+) (refused|[\d.]+(?= ms))", text)] for text in printed] == [
        list(stage["tried_s"].items()) for stage in record["stages"]]
    assert all(len(line) <= 80 for text in printed for line in f"  tried: {text}".splitlines())


# ---- messages beyond what MPI counts -----------------------------------------------------------------------------------


def test_fftw_moves_slices_of_what_it_cannot_count(mpirun, records, tmp_path):
    messages = {}
    for program in ("fft_runner", "fft_runner_small_counts"):
        done = mpirun(2, "--size", 24, 16, 20, "--grid", "2x1", "--exchange", "fftw", "--reps", 1, "--verify", "--json",
                      tmp_path / program, program=program)
        assert done.returncode == 0, done.stderr
        messages[program] = records(tmp_path / program)[0]["stages"][0]["messages"]
    assert messages == {"fft_runner": [1, 1], "fft_runner_small_counts": [2, 2]}  # 20 planes are 7680 doubles a rank


AVAILABLE_KB = 12e6


@pytest.mark.slow
@pytest.mark.parametrize("exchange, more", [("p2p", ()), ("alltoallv", ()), ("persistent", ()), ("alltoallw", ()),
                                            ("bruck2", ()), ("alltoall", (16,)), ("padded", (16,)), ("node", (16,))])
@pytest.mark.parametrize("mpi", ["open mpi", "mpich"])
def test_more_than_2_gib_in_one_message(request, mpirun, mpi, exchange, more):
    """Send 8.6 GB, more than 2^31 numbers; 2.1 GB if all messages have equal length or memory is shared."""
    [available] = re.findall(r"MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text())
    if int(available) < AVAILABLE_KB:
        pytest.skip("NOT TESTED: messages beyond 2 GiB, for there are no 12 GB of free memory")
    start = mpirun if mpi == "open mpi" else request.getfixturevalue("mpich_run")
    start = replace(start, mpirun=("env", "PENCILFFT_RANKS_PER_NODE=1", *start.mpirun))
    done = start(2, exchange, *more, program="large_test", seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    [size] = re.findall(rf"{exchange}: (\d+) bytes in one message", done.stdout)
    assert int(size) > (2**31 if more else 2**33)


# ---- wisdom ----------------------------------------------------------------------------------------------------------


ONE_RANK = ("--size", 4, 4, 4, "--grid", "1x1", "--rigor", "measure", "--reps", 1)


def run_with_wisdom(mpirun, path, *more):
    return mpirun(4, *AUTO, "--wisdom", path, *more)


def checksum(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"checksum {value:016x}\n".encode()


@pytest.fixture
def wisdom(mpirun, tmp_path):
    path = tmp_path / "wisdom"
    done = run_with_wisdom(mpirun, path)
    assert done.returncode == 0, done.stderr
    return path


def test_wisdom_is_remembered(mpirun, records, wisdom, tmp_path):
    text = wisdom.read_text()
    assert text.startswith("pencilfft-wisdom 1\nmachine ") and "fftw_wisdom" in text
    assert text.count("\nexchange ") == 3  # of two stages, and with the schedule
    done = run_with_wisdom(mpirun, wisdom, "--json", tmp_path / "r.jsonl")
    assert done.returncode == 0, done.stderr
    [record] = records(tmp_path / "r.jsonl")
    assert record["wisdom"] == {"file": str(wisdom), "found": True} and "tried" not in done.stdout
    for stage in record["stages"]:
        assert stage["tried_s"] == {} and f" {stage['exchange']}\n" in text
    assert sorted(os.listdir(tmp_path)) == ["r.jsonl", "wisdom"]  # no other files remain


@pytest.mark.parametrize("mask, mode", [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664), (0o000, 0o664)])
def test_new_wisdom_has_the_permissions_that_umask_leaves(mpirun, tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        assert mpirun(1, *ONE_RANK, "--wisdom", tmp_path / "wisdom").returncode == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "wisdom").stat().st_mode) == mode
    assert b"is not read" not in mpirun(1, *ONE_RANK, "--wisdom", tmp_path / "wisdom").stderr.encode()


def test_wisdom_keeps_permissions_and_links(mpirun, tmp_path):
    """Wisdom is written through a link to a link in another folder, to an existing or a new file."""
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real", tmp_path / "link"
    (tmp_path / "far" / "other").symlink_to("real")
    link.symlink_to("far/other")
    for _ in range(2):
        assert mpirun(1, *ONE_RANK, "--wisdom", link).returncode == 0
        assert link.is_symlink() and os.readlink(link) == "far/other" and (tmp_path / "far" / "other").is_symlink()
        assert real.read_text().startswith("pencilfft-wisdom 1\n") and not real.is_symlink()
        assert sorted(os.listdir(tmp_path / "far")) == ["other", "real"] and os.listdir(tmp_path).count("link") == 1
        real.chmod(0o640)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    link.unlink()
    link.symlink_to("link")
    done = mpirun(1, *ONE_RANK, "--wisdom", link)
    assert done.returncode != 0 and "Too many levels of symbolic links" in done.stderr and link.is_symlink()


def test_what_fftw_learnt_of_each_precision_is_kept(mpirun, tmp_path):
    """A later run in double precision rewrites the file and keeps the wisdom of single precision."""
    path, parts = tmp_path / "wisdom", []
    for precision in ("single", "double", "double"):
        done = mpirun(1, "--size", 8, 6, 10, "--grid", "1x1", "--rigor", "measure", "--reps", 1, "--precision", precision,
                      "--wisdom", path)
        assert done.returncode == 0, done.stderr
        parts.append(re.split(r"^fftwf? \d+$", path.read_text(), flags=re.MULTILINE)[1:])
    for kind, first in ((0, 1), (1, 0)):  # double comes first in the file, and second in the runs
        learnt = [set(re.findall(r"^  \(fftwf?_codelet.*$", part[kind], re.MULTILINE)) for part in parts[first:]]
        assert learnt[0] and all(learnt[0] <= later for later in learnt[1:])


def spoil(data, how):
    body = data[:data.rindex(b"checksum ")]
    return {
        "empty": b"",
        "garbage": bytes(range(256)) * 9,
        "head alone": data[:data.index(b"\n") + 1],
        "shortened": data[:-40],
        "one byte": data.replace(b"machine", b"machine", 1).replace(b"fftw_wisdom", b"fftw_wisdoM", 1),
        "version": data.replace(b"wisdom 1", b"wisdom 7", 1),
        "machine": (other := body.replace(b"machine ", b"machine Cray-1; ", 1)) + checksum(other),
        "fftw": (cut := re.sub(rb"\nfftw \d+\n", b"\nfftw 99999999\n", body)) + checksum(cut),
    }[how]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how, part", [
    ("empty", "is not a pencilfft wisdom file"), ("head alone", "is not a pencilfft wisdom file"),
    ("garbage", "is not a pencilfft wisdom file"),
    ("shortened", "its checksum is wrong"), ("one byte", "its checksum is wrong"), ("version", "of another version"),
    ("machine", "was written for another machine or MPI"), ("fftw", "FFTW's part is too short")])
def test_wisdom_that_does_not_fit_is_refused_and_kept(mpirun, one_message, wisdom, how, part):
    spoilt = spoil(wisdom.read_bytes(), how)
    wisdom.write_bytes(spoilt)
    message = one_message(run_with_wisdom(mpirun, wisdom))
    assert part in message and str(wisdom) in message
    assert wisdom.read_bytes() == spoilt


def test_wisdom_that_everyone_may_write_is_not_read(mpirun, wisdom):
    wisdom.write_bytes(spoil(wisdom.read_bytes(), "garbage"))
    wisdom.chmod(0o646)
    done = run_with_wisdom(mpirun, wisdom)
    assert done.returncode == 0 and f"wisdom file {wisdom} is not read, for everyone may write it" in done.stderr
    assert wisdom.read_text().startswith("pencilfft-wisdom 1\n") and wisdom.stat().st_mode & 0o777 == 0o644


def test_wisdom_of_another_mpi_is_refused(mpich_run, one_message, wisdom):
    assert "was written for another machine or MPI" in one_message(run_with_wisdom(mpich_run, wisdom))


@pytest.mark.parametrize("path", ["/nowhere/wisdom", "/dev/null", "/"])
def test_wisdom_that_cannot_be_kept_is_no_success(mpirun, one_message, path):
    assert f"wisdom file {path}" in one_message(run_with_wisdom(mpirun, path))


@pytest.mark.parametrize("exchange, n, says", [("put", 160, "exchange put needs"), ("put", 16, ""),
                                               ("node", 160, "exchange node needs")])
def test_small_shared_memory_is_a_refusal(mpirun, exchange, n, says):
    """Containers have 64 MB by default. Open MPI waits for ever, or ends by a bus error, if a window finds no room."""
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("NOT TESTED: a small /dev/shm needs root")
    inside = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh", *mpirun.mpirun)
    done = replace(mpirun, mpirun=inside)(2, "--size", n, n, n, "--exchange", exchange, "--reps", 1, "--warmup", 0)
    if "unshare failed" in done.stderr or "permission denied" in done.stderr:
        pytest.skip("NOT TESTED: a small /dev/shm needs a mount namespace")
    assert (says in done.stderr and done.returncode != 0) if says else done.returncode == 0, done.stdout + done.stderr
