"""Random plans (fuzz_test.c): a sample here, thousands by hand (docs/contributing.md)."""

import re

import pytest

from tests.documents import run_by

SEED, SAMPLE, MANY = 20, 30, 1500
ON_RANKS = {1: 100, 2: 40, 4: 40, 6: 20}  #: plans of the sample; plans of 1 rank have the most variants, and are quick


def run_fuzz(start, ranks, *arguments, seconds=150):
    """Return the numbers of checked plans and refusals, all right."""
    done = start(ranks, *arguments, program="fuzz_test", seconds=seconds)
    assert done.returncode == 0, done.stdout + done.stderr
    [counts] = re.findall(r"^(\d+) plans, (\d+) transforms, (\d+) refused, 0 failures$", done.stdout, re.MULTILINE)
    plans, transforms, refused = map(int, counts)
    assert 2 * plans <= transforms <= 4 * plans
    return plans, refused


@pytest.mark.parametrize("ranks", ON_RANKS)
def test_plans_at_random_are_right(mpirun, ranks):
    plans, refused = run_fuzz(mpirun, ranks, "--seed", SEED, "--plans", ON_RANKS[ranks])
    assert plans + refused == ON_RANKS[ranks] and refused < ON_RANKS[ranks] / 4


@pytest.mark.parametrize("exchange", ["alltoallw", "alltoallv", "padded", "p2p", "persistent", "bruck2"])
def test_a_chunk_that_gets_no_field_moves_nothing(mpirun, exchange):
    """alltoallw sent a field of such a chunk over the fields of the next chunk; random plans on 8 ranks found this."""
    words = ("R=2 C=2 nx=3 ny=5 nz=3 fields=4 threads=1 destroy_input=0 directions=3 pieces=usual decomposition=pencil "
             f"type=c2c precision=double layout=natural exchange={exchange} schedule=overlap:1,100,1:field rigor=estimate "
             "sync=barrier")
    assert run_fuzz(mpirun, 4, *words.split()) == (1, 0)


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_plans_at_random_are_right_under_mpich(mpich_run, ranks):
    run_fuzz(mpich_run, ranks, "--seed", SEED, "--plans", SAMPLE // 2, "--without", "fftw", seconds=600)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", range(1, 9))
def test_many_plans_at_random_are_right(mpirun, ranks):
    run_fuzz(mpirun, ranks, "--seed", SEED + 1, "--plans", MANY, seconds=3600)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4, 6])
def test_plans_at_random_are_clean_under_sanitizers(sanitized, ranks):
    run_fuzz(sanitized, ranks, "--seed", SEED + 2, "--plans", MANY // 5, seconds=3600)


@pytest.mark.slow
def test_the_command_of_the_docs_finds_nothing_wrong(mpirun):
    words = run_by(__file__)[0].split()
    run_fuzz(mpirun, int(words[words.index("-n") + 1]), *words[words.index("--seed"):], seconds=3600)


def test_a_plan_that_fails_is_told_as_a_command_that_checks_it_alone(mpirun):
    """The exchanges of faulty_exchanges.c swap, forget, scale or break data, or are right."""
    done = mpirun(2, "--seed", SEED, "--plans", SAMPLE, program="fuzz_test_faulty")
    failures = re.findall(r"^FAILED mpirun -n 2 fuzz_test (.*): .*moved data wrong", done.stdout, re.MULTILINE)
    assert done.returncode != 0 and failures, done.stdout + done.stderr
    assert f"seed {SEED}, plans 0 to {SAMPLE - 1}" in done.stdout
    again = mpirun(2, *failures[0].split(), program="fuzz_test_faulty")
    assert again.returncode != 0 and re.search("1 plans, 1 transforms, 0 refused, [12] failures", again.stdout)
    right = re.sub(r"exchange=\w+", "exchange=right", failures[0])
    done = mpirun(2, *right.split(), program="fuzz_test_faulty")
    assert done.returncode == 0 and "1 plans, 1 transforms, 0 refused, 0 failures" in done.stdout


def test_words_that_are_no_plan_are_no_success(mpirun):
    done = mpirun(1, "nx=4", "teleport=5", program="fuzz_test")
    assert done.returncode != 0 and "these words are not a plan" in done.stdout
