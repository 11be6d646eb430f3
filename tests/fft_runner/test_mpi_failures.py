"""An MPI call that fails on one rank, in each exchange and beside other work: one message, and all ranks end in time.

The status is not success. A run without failures counts the calls (failures_test.c), so that no call is forgotten.
"""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.fft_runner.tables import EXCHANGES, SCHEDULES
from tests.patience import patience

OTHER_RADICES = ("bruck4", "bruck8")  # the calls of bruck2
LINES = ["line-transpose", "line-binary2", "line-dft", "line-dft-reduce"]  # binary4 makes the calls of binary2
BRICKS = ["bricks-transpose", "bricks-binary2"]
CASES = [*EXCHANGES, "node-of-one", "halo", *LINES, *BRICKS]
MOVES_DATA = {  # calls that an exchange needs; a new exchange needs at least one call of this table
    "alltoallv": {"MPI_Alltoallv"}, "alltoall": {"MPI_Alltoall"}, "padded": {"MPI_Alltoall"}, "alltoallw": {"MPI_Alltoallw"},
    "p2p": {"MPI_Sendrecv"}, "persistent": {"MPI_Startall", "MPI_Waitall"}, "fftw": {"MPI_Comm_dup"},
    **{name: {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"} for name in ("bruck2", *OTHER_RADICES)},
    "halo": {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"},
    "line-transpose": {"MPI_Alltoallv", "MPI_Barrier", "MPI_Comm_dup", "MPI_Allreduce"},
    "line-binary2": {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Alltoallv"},
    "bricks-transpose": {"MPI_Alltoallv", "MPI_Barrier", "MPI_Comm_split"},
    "bricks-binary2": {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Alltoallv"},
    "line-dft-reduce": {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"},
    "line-dft": {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"},
    "put": {"MPI_Win_fence", "MPI_Put"}, "node": {"MPI_Barrier", "MPI_Ibarrier", "MPI_Wait"},
    "node-of-one": {"MPI_Isend", "MPI_Irecv", "MPI_Waitall"}}
BESIDE = {  # the same under schedules; the table has all exchanges that run beside other work
    "alltoallv@overlap:2": {"MPI_Ialltoallv", "MPI_Request_get_status", "MPI_Waitall"},
    "p2p@opposite": {"MPI_Isend", "MPI_Irecv", "MPI_Request_get_status", "MPI_Waitall"},
    "alltoall@pipelined:2": {"MPI_Ialltoall", "MPI_Test", "MPI_Wait"},
    "padded@two-way": {"MPI_Ialltoall", "MPI_Test", "MPI_Wait"},
    "alltoallw@overlap:2:field": {"MPI_Ialltoallw", "MPI_Test", "MPI_Wait"},
    "bruck2@pipelined:2": {"MPI_Isend", "MPI_Irecv", "MPI_Testall", "MPI_Waitall"},
    "persistent@two-way": {"MPI_Startall", "MPI_Request_get_status", "MPI_Waitall"}}
NEEDED = MOVES_DATA | BESIDE
SLOW = {*OTHER_RADICES, *LINES, *BRICKS, *BESIDE} - {"line-binary2", "alltoallv@overlap:2", "p2p@opposite"}  # alike
UNCHECKED = {"MPI_Error_string", "MPI_Get_library_version", "MPI_Initialized", "MPI_Finalized",
             "MPI_Comm_f2c", "MPI_Comm_c2f", "MPI_Wtime", "MPI_Error_class",  # whose errors do not matter
             "MPI_Request_free",  # at the end of a plan
             "MPI_Abort"}
BY_ARRIVAL = {"MPI_Testall", "MPI_Waitall"}  # a round of radix r that arrived beside other work needs no wait
UNTOLD = {("auto", f"MPI_{name}") for name in ("Comm_free", "Type_free", "Wait")}  # no status reports a release
GRID = (2, 1)


def program(start, exchange, name_of_it):
    """Return a function that runs failures_test with this exchange, or exchange@schedule, and the call that fails."""
    if exchange == "node-of-one":  # messages between nodes, too
        start = replace(start, mpirun=("env", "PENCILFFT_RANKS_PER_NODE=1", *start.mpirun))
    name, _, schedule = exchange.partition("@")
    words = [*GRID, name.removesuffix("-of-one"), schedule or "sequence"]
    ranks = 3 if name in LINES else 2
    return lambda *failure: start(ranks, *words, *failure, program=name_of_it)


def calls_of(start, exchange, name_of_it="failures_test"):
    """Return {(rank, function): number of calls}."""
    done = program(start, exchange, name_of_it)()
    assert done.returncode == 0, done.stdout + done.stderr
    return called(done)


def called(done):
    """Return the calls of a run that ended well."""
    return {(int(rank), name): int(times)
            for rank, name, times in re.findall(r"rank (\d) called (\w+) (\d+) times", done.stdout)}


def depends_on_time(exchange, function):
    """Return whether another run may omit the call: `auto` tries as long as time permits."""
    return exchange == "auto" or (exchange.startswith("bruck") and "@" in exchange and function in BY_ARRIVAL)


def check_failure(start, exchange, name_of_it, rank, function, at):
    done = program(start, exchange, name_of_it)(rank, function, at)
    case = (exchange, rank, function, at)
    if depends_on_time(exchange, function) and done.returncode == 0:
        assert called(done).get((rank, function), 0) < at or (exchange, function) in UNTOLD, case
        return
    assert done.returncode != 0, case
    messages = [line for line in done.stderr.splitlines() if line.startswith("failures_test: ")]
    if exchange in ("fftw", "auto") and not messages:  # inside FFTW, MPI itself ends the program with a message
        assert done.stderr, case
    else:
        [message] = messages
        assert f"rank {rank}, " in message and f"{function} failed: " in message, (case, message)


def check_failures(start, exchange, cases, name_of_it="failures_test"):
    """Run several cases at a time: most of a failed run is a wait for the launcher to read the message."""
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(check_failure, start, exchange, name_of_it, *case) for case in cases]:
            done.result()


def own_calls(start, exchange):
    """Return the calls of the exchange beyond the calls of every plan."""
    mine = calls_of(start, exchange)
    if exchange in ("alltoallv", "line-transpose", "bricks-transpose"):  # includes the calls of every plan
        return mine
    every = {key: times for key, times in calls_of(start, "alltoallv").items()
             if key[1].removesuffix("_c") not in MOVES_DATA["alltoallv"]}
    return {key: times for key, times in mine.items() if times > every.get(key, 0)}


def last(function, times):
    """Return the last call that every run makes: the number of polls depends on the arrival of messages."""
    return 1 if function in ("MPI_Testall", "MPI_Request_get_status") else times


def first_or_last(calls):
    """Return the first call of each function on rank 0, and the last on the other ranks."""
    return [(rank, function, 1 if rank == 0 else last(function, times)) for (rank, function), times in calls.items()]


def mpi_symbols(path, kinds):
    names = subprocess.run(["nm", path], capture_output=True, text=True, timeout=patience(60), check=True).stdout
    return set(re.findall(rf" [{kinds}] (MPIX?_\w+)", names))


def test_every_function_that_the_library_calls_can_fail_here(mpirun):
    used = mpi_symbols(mpirun.programs.parent / "lib" / "libpencilfft.a", "U")
    assert "MPI_Alltoallv" in used
    assert used - mpi_symbols(mpirun.programs / "failures_test", "T") == UNCHECKED


@pytest.mark.parametrize("exchange", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else [])
                                      for name in [*CASES, *BESIDE]])
def test_first_and_last_call_of_each_kind(mpirun, exchange):
    calls = own_calls(mpirun, exchange)
    found = {function.removesuffix("_c") for _, function in calls}  # without large counts
    assert NEEDED.get(exchange, set()) <= found and found & set.union(*MOVES_DATA.values())
    check_failures(mpirun, exchange, first_or_last(calls))


def test_every_schedule_that_runs_beside_other_work_is_among_them():
    assert {name.partition("@")[2].partition(":")[0] for name in BESIDE} | {"sequence"} == {
        name.replace("_", "-") for name in SCHEDULES}


BEYOND_COUNTS = {  # calls that an exchange needs for messages beyond a count (small_counts.c)
    "alltoallv": {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Type_create_struct"},
    "alltoall": {"MPI_Alltoall", "MPI_Type_create_struct"}, "padded": {"MPI_Alltoall", "MPI_Type_create_struct"},
    "alltoallw": {"MPI_Alltoallw", "MPI_Type_create_struct"}, "p2p": {"MPI_Sendrecv", "MPI_Type_create_struct"},
    "persistent": {"MPI_Send_init", "MPI_Recv_init", "MPI_Startall", "MPI_Type_create_struct"},
    "bruck2": {"MPI_Isend", "MPI_Irecv", "MPI_Type_create_struct"},
    "put": {"MPI_Put", "MPI_Type_create_struct"}, "node-of-one": {"MPI_Isend", "MPI_Irecv", "MPI_Type_create_struct"}}


@pytest.mark.parametrize("exchange", BEYOND_COUNTS)
def test_messages_beyond_counts_are_moved_as_data_types(mpirun, exchange):
    found = {name for _, name in calls_of(mpirun, exchange, "failures_test_small_counts")}
    assert found >= BEYOND_COUNTS[exchange] and not found & {"MPI_Alltoallv", "MPIX_Alltoallv_init"}


@pytest.mark.slow
@pytest.mark.parametrize("exchange", BEYOND_COUNTS)
def test_first_and_last_call_of_data_types(mpirun, exchange):
    calls = calls_of(mpirun, exchange, "failures_test_small_counts")
    made = {key: times for key, times in calls.items() if key[1].startswith("MPI_Type_")}
    check_failures(mpirun, exchange, first_or_last(made), "failures_test_small_counts")


@pytest.mark.slow
@pytest.mark.parametrize("exchange", [*CASES, *BESIDE, "auto"])
def test_every_call(mpirun, exchange):
    check_failures(mpirun, exchange, [(rank, function, at) for (rank, function), times in calls_of(mpirun, exchange).items()
                                      for at in range(1, 1 + min(last(function, times), 30))])  # auto: hundreds, all alike


@pytest.mark.slow
@pytest.mark.parametrize("exchange", [name for name in [*CASES, *BESIDE] if name != "fftw"])
def test_under_mpich(mpich_run, exchange):
    check_failures(mpich_run, exchange, first_or_last(own_calls(mpich_run, exchange)))
