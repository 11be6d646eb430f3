"""Random plans (fuzz_test.c): every pair of choices and a sample here, thousands by hand (docs/contributing.md)."""

import re
from dataclasses import replace
from itertools import cycle, product

import pytest

from tests.documents import run_by
from tests.fft_runner.tables import DECOMPOSITIONS, EXCHANGES, LINE_KINDS, SCHEDULES, TYPES

SEED, SAMPLE, MANY = 20, 30, 1500
ON_RANKS = {4: 40, 6: 20}  #: plans of the sample
PAIRS = {1: 250, 2: 180}  #: by ranks: plans among which pairs are looked for; with --slow MANY
NO_FFTW = ["--without", "fftw"]  # Debian's MPI library of FFTW is for Open MPI
NAMES = {f"{member}={name}" for member, names in {
    "exchange": [*EXCHANGES, "auto"], "type": TYPES, "decomposition": DECOMPOSITIONS, "rigor": ["measure"],
    "sync": ["clock"], "schedule": [name.replace("_", "-") for name in SCHEDULES], "pieces": ["tiny", "clocked"],
    "precision": ["single"], "layout": ["stride1"], "caller_work": [1],
    "boxes": [""], "x": LINE_KINDS, "y": LINE_KINDS, "z": LINE_KINDS}.items() for name in names} - {"x=r2c", "y=r2c"}


def run_fuzz(start, ranks, *arguments, seconds=150, program="fuzz_test"):
    """Return the numbers of checked plans and refusals, all right, and the words of the plans."""
    done = start(ranks, *arguments, "--list", program=program, seconds=seconds)  # shows the plan of a hang
    assert done.returncode == 0, done.stdout + done.stderr
    [counts] = re.findall(r"^(\d+) plans, (\d+) transforms, (\d+) refused, 0 failures$", done.stdout, re.MULTILINE)
    plans, transforms, refused = map(int, counts)
    assert 2 * plans <= transforms <= 4 * plans  # in place and out of place, forward and backward
    return plans, refused, set(re.findall(r"^verified (\S+): ", done.stdout, re.MULTILINE))


@pytest.mark.examples
@pytest.mark.parametrize("ranks", [*PAIRS, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 9))])
def test_every_pair_of_choices_is_right(mpirun, ranks, pytestconfig):
    plans = MANY if pytestconfig.getoption("--slow") else PAIRS[ranks]
    _, refused, words = run_fuzz(mpirun, ranks, "--pairs", "--plans", plans, seconds=3600)
    assert words >= NAMES and refused > 0


@pytest.mark.parametrize("ranks", ON_RANKS)
def test_plans_at_random_are_right(mpirun, ranks):
    plans, refused, _ = run_fuzz(mpirun, ranks, "--seed", SEED, "--plans", ON_RANKS[ranks])
    assert plans + refused == ON_RANKS[ranks] and refused < ON_RANKS[ranks] / 4


PLANS = {  #: by ranks: plans that were wrong once, or that chance draws seldom
    1: [*(f"{extents} threads={n}" for extents in ("nx=3 ny=40 nz=41", "nx=32 ny=30 nz=35") for n in (2, 7)),
        "nx=40 ny=12 nz=18 threads=3 pieces=clocked rigor=measure",  # more groups of planes than are tried
        *(f"nx=12 ny=7 nz=10 pieces=direct rigor=measure type={kind} destroy_input={threads % 2} threads={threads} {more}"
          for kind in ("c2c", "r2c", "dct")
          for threads, more in ((1, ""), (2, ""), (2, "skip=x"), (7, "layout=stride1 skip=y"), (7, ""))),
        # axes left alone where input and output are one array: FFTW's plans for shorter lines work on other arrays
        *(f"nx=12 ny=10 nz=36 skip={axes} decomposition={decomposition}" for decomposition in ("pencil", "brick")
          for axes in ("x", "y", "z", "xy", "yz", "xz"))],
    2: ["R=1 C=2 nx=4 ny=4 nz=6 threads=7",  # not worth any
        "R=1 C=2 nx=6 ny=5 nz=70 threads=2 pieces=clocked rigor=measure",
        "R=1 C=2 nx=2 ny=2 nz=1 threads=3 pieces=clocked rigor=measure",  # a plane on a rank
        # in place, a field of the spectrum is longer than its input: written early, it would lie over later fields
        "R=2 C=1 nx=6 ny=4 nz=8 fields=6 type=r2c schedule=overlap:6:field rigor=estimate"],
    # a chunk that gets no field: alltoallw sent one over the fields of the next chunk
    4: [f"R=2 C=2 nx=3 ny=5 nz=3 fields=4 exchange={exchange} schedule=overlap:1,100,1:field rigor=estimate sync=barrier"
        for exchange in ("alltoallw", "alltoallv", "padded", "p2p", "persistent", "bruck2")],
    # unequal arrays: with tiny pieces, candidates above 0 bytes are warmed up, for which ranks without any must not wait
    6: ["R=6 C=1 layout=stride1 nx=3 ny=4 nz=2 exchange=auto schedule=sequence pieces=tiny"],
    8: ["R=1 C=8 decomposition=slab nx=3 ny=4 nz=2 exchange=auto schedule=sequence pieces=tiny"]}


@pytest.mark.parametrize("ranks", PLANS)
def test_plans_that_chance_draws_seldom_are_right(mpirun, ranks):
    assert run_fuzz(mpirun, ranks, *" / ".join(PLANS[ranks]).split())[:2] == (len(PLANS[ranks]), 0)


def kinds_of_axes(ranks, every):
    """Return plans with all kinds along z beside all others along x and y, or a choice of these. Decompositions, exchanges,
    grids and layouts take turns.
    """
    others = [kind for kind in LINE_KINDS if kind != "r2c"]
    lists = [f"{x},{y},{z}" for x, y, z in product(others, others, LINE_KINDS)]
    grids = {1: ["1x1"], 2: ["1x2", "2x1"], 4: ["2x2", "1x4"], 6: ["2x3", "3x2", "6x1"]}[ranks]
    ways = [f"decomposition={name} R={grid[0]} C={grid[2]}" for name in ("pencil", "brick") for grid in grids]
    ways.append(f"decomposition=slab R=1 C={ranks}")
    takes = zip(lists, cycle(ways), cycle(name for name in EXCHANGES if name != "alltoall"), cycle(["double", "single"]),
                cycle(["natural", "natural", "stride1"]))
    return [f"nx=7 ny=9 nz=11 type={kinds} {way} exchange={exchange} precision={precision} layout={layout} rigor=estimate"
            for kinds, way, exchange, precision, layout in takes][::1 if every else 19]


@pytest.mark.parametrize("ranks", [1, 2, 4, 6])
def test_every_kind_goes_with_every_other_along_the_other_axes(mpirun, ranks, pytestconfig):
    plans = kinds_of_axes(ranks, pytestconfig.getoption("--slow"))
    assert run_fuzz(mpirun, ranks, *" / ".join(plans).split(), seconds=1800)[:2] == (len(plans), 0)


@pytest.mark.parametrize("ranks_per_node, ranks", [(1, 2), (3, 4), *(
    pytest.param(*each, marks=pytest.mark.slow) for each in ((2, 4), (2, 6), (3, 8)))])
def test_node_gathers_for_several_nodes(mpirun, ranks_per_node, ranks):
    start = replace(mpirun, mpirun=("env", f"PENCILFFT_RANKS_PER_NODE={ranks_per_node}", *mpirun.mpirun))
    plans, _, words = run_fuzz(start, ranks, "--plans", 400, "--only", "exchange=node", seconds=600)
    assert plans > 10 and {word for word in words if word.startswith("exchange=")} == {"exchange=node"}


@pytest.mark.parametrize("ranks, plans", [(2, 100), pytest.param(3, MANY, marks=pytest.mark.slow),
                                          pytest.param(6, MANY, marks=pytest.mark.slow)])
def test_messages_beyond_counts_are_moved_right(mpirun, ranks, plans):
    """Five elements are too many for a count (small_counts.c); FFTW's transposes go slice by slice."""
    _, _, words = run_fuzz(mpirun, ranks, "--seed", SEED, "--pairs", "--plans", plans, seconds=600,
                           program="fuzz_test_small_counts")
    assert words >= {f"exchange={name}" for name in [*EXCHANGES, "auto"]}


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_plans_at_random_are_right_under_mpich(mpich_run, ranks):
    run_fuzz(mpich_run, ranks, "--seed", SEED, "--plans", SAMPLE // 2, *NO_FFTW, seconds=600)


@pytest.mark.slow
@pytest.mark.parametrize("program, ranks", [*(("fuzz_test", n) for n in range(1, 5)), ("fuzz_test_small_counts", 2)])
def test_every_pair_of_choices_is_right_under_mpich(mpich_run, program, ranks):
    run_fuzz(mpich_run, ranks, "--pairs", "--plans", MANY, *NO_FFTW, seconds=1200, program=program)  # ranks wait busily


@pytest.mark.slow
@pytest.mark.parametrize("ranks", range(1, 9))
def test_many_plans_at_random_are_right(mpirun, ranks):
    run_fuzz(mpirun, ranks, "--seed", SEED + 1, "--plans", 2 * MANY, seconds=3600)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4, 6])
def test_plans_at_random_are_clean_under_sanitizers(sanitized, ranks):
    run_fuzz(sanitized, ranks, "--seed", SEED + 2, "--plans", MANY // 5, seconds=3600)


@pytest.mark.slow
def test_the_command_of_the_docs_finds_nothing_wrong(mpirun):
    words = run_by(__file__)[0].split()
    run_fuzz(mpirun, int(words[words.index("-n") + 1]), *words[words.index("--seed"):], seconds=3600)


# ---- the checks themselves -----------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("exchange, what", [("swapped", "moved data wrong"), ("forgetful", "moved data wrong"),
                                            ("scaled", "moved data exact, error"), ("nan", "error nan to serial FFTW")])
def test_an_exchange_that_errs_fails(mpirun, exchange, what):
    """The exchanges are in faulty_exchanges.c."""
    words = ["R=2", "C=1", "nx=8", "ny=8", "nz=8", "schedule=sequence"]
    done = mpirun(2, *words, f"exchange={exchange}", program="fuzz_test_faulty")
    assert done.returncode != 0 and re.search(rf"^FAILED .*: .*{what}", done.stdout, re.MULTILINE), done.stdout
    assert run_fuzz(mpirun, 2, *words, "exchange=right", program="fuzz_test_faulty")[:2] == (1, 0)


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


@pytest.mark.parametrize("words", [["nx=4", "teleport=5"], ["--only", "exchange=teleport"]])
def test_words_that_are_no_plan_are_no_success(mpirun, words):
    done = mpirun(1, *words, program="fuzz_test")
    assert done.returncode != 0 and ("these words are not a plan" in done.stdout or "0 plans, 0 transforms, 0 refused" in
                                     done.stdout)
