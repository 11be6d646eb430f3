"""Every transform crossed with every precision, layout, place, direction, exchange, extents and grid of 1 to 8 ranks
(matrix_test.c): every pair of choices at once, the whole product with --slow, slices of it under MPICH and sanitizers."""

import math
import re
from dataclasses import replace

import pytest

NO_FFTW = ["--without", "fftw"]  # Debian's MPI library of FFTW is for Open MPI


def grids_of(ranks):
    return [f"{R}x{ranks // R}" for R in range(1, ranks + 1) if ranks % R == 0]


def run_matrix(start, ranks, *arguments, seconds=150):
    """What was verified: transforms by choice and value, and the counts of the last line."""
    done = start(ranks, *arguments, program="matrix_test", seconds=seconds)
    assert done.returncode == 0, done.stdout + done.stderr
    choices = {choice: dict(pair.split("=") for pair in pairs.split())
               for choice, pairs in re.findall(r"^([\w-]+):(.*)$", done.stdout, re.MULTILINE)}
    [counts] = re.findall(r"^(\d+) plans, (\d+) transforms, (\d+) refused, 0 failures$", done.stdout, re.MULTILINE)
    plans, transforms, refused = map(int, counts)
    assert 2 * plans <= transforms <= 4 * plans  # in place and out of place, forward and backward
    return choices, plans, refused


def check_values(choices, ranks, names, absent=()):
    """Each value of each choice has been verified, except extents that these grids do not fit, and patience."""
    assert list(choices["grid"]) == grids_of(ranks)
    for choice in set(names) - {"grid"}:
        expected = [value for value in names[choice] if value not in ("patient", *absent)]
        if choice == "extents":
            assert set(choices[choice]) <= set(expected) and {"cube", "even", "uneven", "divided"} <= set(choices[choice])
        else:
            assert list(choices[choice]) == expected


@pytest.mark.parametrize("ranks", [1, 2, 4, 6, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 5, 7, 8))])
def test_every_pair_of_choices_is_right(mpirun, library_names, ranks):
    choices, _, refused = run_matrix(mpirun, ranks, "--pairs")
    check_values(choices, ranks, library_names)
    assert refused > 0


@pytest.mark.slow
@pytest.mark.parametrize("ranks", range(1, 9))
def test_every_combination_is_right(mpirun, library_names, ranks):
    choices, plans, refused = run_matrix(mpirun, ranks, seconds=3600)
    check_values(choices, ranks, library_names)
    types = len(library_names["type"]) + 1  # and one of any type with axes left alone
    crossed = [len(library_names[choice]) for choice in ("decomposition", "extents", "precision", "layout", "exchange")]
    assert plans + refused == len(grids_of(ranks)) * types * math.prod(crossed)


@pytest.mark.parametrize("ranks", [1, 2, pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)])
def test_every_pair_of_choices_is_right_under_mpich(mpich_run, library_names, ranks):
    choices, _, _ = run_matrix(mpich_run, ranks, "--pairs", *NO_FFTW, seconds=600)  # ranks that wait do not give way
    check_values(choices, ranks, library_names, absent=["fftw"])


@pytest.mark.parametrize("ranks_per_node, ranks", [(1, 2), (2, 4), (3, 4), (2, 6), (3, 8)])
def test_node_gathers_for_several_nodes(mpirun, ranks_per_node, ranks):
    start = replace(mpirun, mpirun=("env", f"PENCILFFT_RANKS_PER_NODE={ranks_per_node}", *mpirun.mpirun))
    choices, plans, _ = run_matrix(start, ranks, "--share", 20, "node")
    assert list(choices["exchange"]) == ["node"] and list(choices["grid"]) == grids_of(ranks) and plans > 10


# ---- the matrix itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exchange, what", [("swapped", "moved data wrong"), ("forgetful", "moved data wrong"),
                                            ("scaled", "moved data exact, error"), ("nan", "error nan to serial FFTW")])
def test_an_exchange_that_errs_fails_and_its_case_can_be_run_alone(mpirun, exchange, what):
    """faulty_exchanges.c has them."""
    done = mpirun(2, exchange, "2x1", "8x8x8", "c2c", "sequence", program="matrix_test_faulty")
    failures = re.findall(rf"^FAILED (.*): .*{what}", done.stdout, re.MULTILINE)
    assert done.returncode != 0 and failures, done.stdout + done.stderr
    again = mpirun(2, *failures[0].split(), program="matrix_test_faulty")
    assert again.returncode != 0 and "1 plans, 1 transforms, 0 refused, 1 failures" in again.stdout
    right = mpirun(2, "right", "2x1", "8x8x8", "c2c", "sequence", program="matrix_test_faulty")
    assert right.returncode == 0 and " 0 failures" in right.stdout


def test_words_that_no_case_has_are_no_success(mpirun):
    done = mpirun(1, "teleport", program="matrix_test")
    assert done.returncode != 0 and "0 plans, 0 transforms, 0 refused" in done.stdout
