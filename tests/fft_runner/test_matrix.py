"""Every transform crossed with every precision, layout, place, direction, exchange, extents and grid (matrix_test.c).

Grids have 1 to 8 ranks. The tests cover every pair of choices among a part of the cases; with --slow among all cases, the
whole product, and slices of the product under MPICH and sanitizers.
"""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

SHARES = {1: 50, 2: 10}  #: by ranks: the part of the cases among which pairs are looked for at each commit; all with --slow
NO_FFTW = ["--without", "fftw"]  # Debian's MPI library of FFTW is for Open MPI


def grids_of(ranks):
    return [f"{R}x{ranks // R}" for R in range(1, ranks + 1) if ranks % R == 0]


def run_matrix(start, ranks, *arguments, seconds=600, program="matrix_test"):
    """Return verified transforms by choice and value, and the counts of the last line."""
    done = start(ranks, *arguments, "--list", program=program, seconds=seconds)  # shows the case of a hang
    assert done.returncode == 0, done.stdout + done.stderr
    choices = {choice: dict(pair.split("=") for pair in pairs.split())
               for choice, pairs in re.findall(r"^([\w-]+):(.*)$", done.stdout, re.MULTILINE)}
    [counts] = re.findall(r"^(\d+) plans, (\d+) transforms, (\d+) refused, 0 failures$", done.stdout, re.MULTILINE)
    plans, transforms, refused = map(int, counts)
    assert 2 * plans <= transforms <= 4 * plans  # in place and out of place, forward and backward
    return choices, plans, refused


def check_values(choices, grids, names, absent=()):
    """Check that each value of each choice has been verified, except extents that do not fit these grids, and patience."""
    assert list(choices["grid"]) == grids
    for choice in set(names) - {"grid"}:
        expected = [value for value in names[choice] if value not in ("patient", *absent)]
        if choice == "extents":
            assert set(choices[choice]) <= set(expected) and {"cube", "even", "uneven", "divided"} <= set(choices[choice])
        else:
            assert list(choices[choice]) == expected


@pytest.mark.examples
@pytest.mark.parametrize("ranks", [*SHARES, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 9))])
def test_every_pair_of_choices_is_right(mpirun, library_names, ranks, pytestconfig):
    part = () if pytestconfig.getoption("--slow") else ("--share", SHARES[ranks])
    choices, _, refused = run_matrix(mpirun, ranks, "--pairs", *part)
    check_values(choices, grids_of(ranks), library_names)
    assert refused > 0


@pytest.mark.parametrize("ranks, words", [
    (6, "6x1 pencil 3x4x2 double stride1 auto sequence pieces=tiny"),
    (8, "1x8 slab 3x4x2 double auto sequence pieces=tiny")])
def test_ranks_with_unequal_arrays_try_exchanges_alike(mpirun, ranks, words):
    """With tiny pieces the limit for warming up candidates is 0 bytes; some ranks hold no more, and must not be awaited."""
    _, plans, _ = run_matrix(mpirun, ranks, *words.split(), seconds=60)
    assert plans > 0


@pytest.mark.slow
@pytest.mark.parametrize("ranks, grid", [(ranks, grid) for ranks in range(1, 9) for grid in grids_of(ranks)])
def test_every_combination_is_right(mpirun, library_names, ranks, grid):
    choices, plans, refused = run_matrix(mpirun, ranks, grid, seconds=3600)
    check_values(choices, [grid], library_names, absent=[] if grid.startswith("1x") else ["slab"])  # slabs have one number
    types = len(library_names["type"]) + 1  # one more with axes left alone, of any type
    crossed = [len(library_names[choice]) for choice in ("decomposition", "extents", "precision", "layout", "exchange")]
    assert plans + refused == types * math.prod(crossed)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_pair_of_choices_is_right_under_mpich(mpich_run, library_names, ranks):
    choices, _, _ = run_matrix(mpich_run, ranks, "--pairs", *NO_FFTW, seconds=1200)  # ranks of MPICH wait busily
    check_values(choices, grids_of(ranks), library_names, absent=["fftw"])


@pytest.mark.parametrize("ranks_per_node, ranks", [(1, 2), (3, 4), *(
    pytest.param(*each, marks=pytest.mark.slow) for each in ((2, 4), (2, 6), (3, 8)))])
def test_node_gathers_for_several_nodes(mpirun, ranks_per_node, ranks):
    start = replace(mpirun, mpirun=("env", f"PENCILFFT_RANKS_PER_NODE={ranks_per_node}", *mpirun.mpirun))
    choices, plans, _ = run_matrix(start, ranks, "--share", 40, "node")
    assert list(choices["exchange"]) == ["node"] and list(choices["grid"]) == grids_of(ranks) and plans > 10


# ---- messages beyond what MPI counts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)])
def test_messages_beyond_counts_are_moved_right(mpirun, library_names, ranks):
    """Five elements are too many for a count (small_counts.c); FFTW's transposes go slice by slice."""
    choices, _, _ = run_matrix(mpirun, ranks, "--share", 300, program="matrix_test_small_counts")
    assert list(choices["exchange"]) == list(library_names["exchange"])


@pytest.mark.slow
def test_messages_beyond_counts_are_moved_right_under_mpich(mpich_run):
    run_matrix(mpich_run, 2, "--pairs", *NO_FFTW, program="matrix_test_small_counts", seconds=600)


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
    done = start(2, exchange, *more, program="exchange_test", seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    [size] = re.findall(rf"{exchange}: (\d+) bytes in one message", done.stdout)
    assert int(size) > (2**31 if more else 2**33)


# ---- the matrix itself -------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("exchange, what", [("swapped", "moved data wrong"), ("forgetful", "moved data wrong"),
                                            ("scaled", "moved data exact, error"), ("nan", "error nan to serial FFTW")])
def test_an_exchange_that_errs_fails_and_its_case_can_be_run_alone(mpirun, exchange, what):
    """The exchanges are in faulty_exchanges.c."""
    done = mpirun(2, exchange, "2x1", "8x8x8", "c2c", "sequence", program="matrix_test_faulty")
    failures = re.findall(rf"^FAILED (.*): .*{what}", done.stdout, re.MULTILINE)
    assert done.returncode != 0 and failures, done.stdout + done.stderr
    again = mpirun(2, *failures[0].split(), program="matrix_test_faulty")
    assert again.returncode != 0 and re.search("1 plans, 1 transforms, 0 refused, [1-9] failures", again.stdout)
    right = mpirun(2, "right", "2x1", "8x8x8", "c2c", "sequence", program="matrix_test_faulty")
    assert right.returncode == 0 and " 0 failures" in right.stdout


def test_words_that_no_case_has_are_no_success(mpirun):
    done = mpirun(1, "teleport", program="matrix_test")
    assert done.returncode != 0 and "0 plans, 0 transforms, 0 refused" in done.stdout
