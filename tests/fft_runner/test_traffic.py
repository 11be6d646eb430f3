"""The tracer, libpencilmap_traffic: the messages of every call of MPI that sends, computed here independently."""

import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from pencilmap.mapper.traffic_files import read_traffic
from pencilmap.model.base.errors import TrafficError
from tests.fft_runner.conftest import ENVIRONMENT, OPEN_MPI_OPTIONS, SOURCE, links, run_bounded
from tests.patience import patience

HERE = Path(__file__).parent
LIBRARY = "libpencilmap_traffic.so"
TRACER = sorted((SOURCE / "traffic").glob("*.c"))
SHARED = ["-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden"]
POINT, ONE_SIDED, STATED, MODELLED = range(4)


@dataclass(frozen=True)
class Mpi:
    """An MPI library, with the tracer and a program compiled for it."""

    folder: Path
    compiler: str
    fortran: str | None
    mpirun: tuple[str, ...]
    given: str  #: option for a variable: -x NAME=VALUE or -genv NAME VALUE

    def compile(self, name, *sources, options=()):
        """Return the path of a program, compiled once."""
        path = self.folder / name
        if not path.exists():
            compiler = self.fortran if sources[0].suffix == ".F90" else self.compiler
            command = [compiler, *options, *sources, "-o", path, "-pthread"]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=patience(300))
            assert done.returncode == 0, done.stderr
        return path

    def __call__(self, ranks, program, *arguments, output=None, check=True, keep=False):
        """Run a program with the tracer; return its output and its traffic, None without a file."""
        output = output or self.folder / "traffic.txt"
        if not keep:
            output.unlink(missing_ok=True)
        variables = {"LD_PRELOAD": self.folder / LIBRARY, "PENCILMAP_TRAFFIC": output}
        given = [word for name, value in variables.items()
                 for word in ([self.given, f"{name}={value}"] if self.given == "-x" else [self.given, name, value])]
        done = run_bounded([*self.mpirun, "-n", ranks, *given, program, *arguments], seconds=60)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done, read_traffic(output) if output.is_file() else None


def compiled_for(name, kind, folders, given):
    """Return the compilers and the launcher of an MPI as a `kind` of `Compiled`, or skip the test."""
    compiler, start = shutil.which(f"mpicc.{name}"), shutil.which(f"mpirun.{name}")
    if not compiler or not start or not links(compiler):
        pytest.skip(f"NOT TESTED: {name}, its compiler or its headers are not installed")
    options = OPEN_MPI_OPTIONS if name == "openmpi" else ()
    return kind(folders.mktemp(name), compiler, shutil.which(f"mpif90.{name}"), (start, *options), given)


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def mpi(request, tmp_path_factory):
    found = compiled_for(request.param, Mpi, tmp_path_factory, "-x" if request.param == "openmpi" else "-genv")
    found.compile(LIBRARY, *TRACER, options=["-O1", "-Wall", "-Wextra", "-Werror", *SHARED])
    found.compile("traffic_test", HERE / "traffic_test.c", options=["-std=gnu11", "-w"])
    return found


@pytest.fixture
def mpi_of_today(mpi, request):
    """Open MPI; with --slow also MPICH, whose ranks compute while they wait: more of them than processors take minutes."""
    if "mpich" in mpi.compiler and not request.config.getoption("--slow"):
        pytest.skip("takes minutes under MPICH; run it with scripts/test --slow")
    return mpi


# ---- what each case sends: {(from, to, kind): (bytes, messages)} in ranks of the test's communicator ----------------------


def amount(i, k):
    return (3 * i + 5 * k) % 4


def ring(ranks, n_bytes, kind=POINT, times=1):
    return {(i, (i + 1) % ranks, kind): (n_bytes * times, times) for i in range(ranks)}


def to_all(ranks, n_bytes, kind=STATED):
    return {(i, k, kind): (n_bytes(i, k), 1) for i in range(ranks) for k in range(ranks) if i != k and n_bytes(i, k)}


def binomial(ranks, root, n_bytes, up):
    """The parent of v is v without its lowest set bit, counted from the root."""
    pairs = [((v & (v - 1)), v) for v in range(1, ranks)]
    ends = [pair[::-1] if up else pair for pair in pairs]
    return {((a + root) % ranks, (b + root) % ranks, MODELLED): (n_bytes, 1) for a, b in ends}


def doubling(ranks, n_bytes):
    """Recursive doubling, simulated: each round, partners exchange what they have, until all have all."""
    power = 1 << (ranks.bit_length() - 1)
    rest, sent = ranks - power, {}
    has = {i: {i} for i in range(ranks)}
    active = [i for i in range(ranks) if not (i < 2 * rest and i % 2 == 0)]
    for i in range(0, 2 * rest, 2):
        sent[i, i + 1, MODELLED] = n_bytes, 1
        has[i + 1] |= has[i]
    bit = 1
    while bit < power:
        before = {i: set(has[i]) for i in active}
        for place, i in enumerate(active):
            other = active[place ^ bit]
            sent[i, other, MODELLED] = n_bytes, 1
            has[other] |= before[i]
        bit *= 2
    assert all(has[i] == set(range(ranks)) for i in active)
    for i in range(0, 2 * rest, 2):
        sent[i + 1, i, MODELLED] = n_bytes, 1
    return sent


def around(ranks, n_bytes):
    """A ring in P - 1 steps, each of the bytes of one block."""
    return {(i, (i + 1) % ranks, MODELLED): (n_bytes(i), ranks - 1) for i in range(ranks)}


def dissemination(ranks):
    steps = [1 << k for k in range((ranks - 1).bit_length())]
    return {(i, (i + step) % ranks, MODELLED): (0, 1) for i in range(ranks) for step in steps}


def along(ranks, n_bytes):
    return {(i, i + 1, MODELLED): (n_bytes, 1) for i in range(ranks - 1)}


def neighbours(ranks, n_bytes):
    """A distributed graph: from i to i + 1 and i + 2."""
    found = Counter(), Counter()
    for i in range(ranks):
        for place in (0, 1):
            pair = i, (i + 1 + place) % ranks, STATED
            if n_bytes(i, place):
                found[0][pair] += n_bytes(i, place)
                found[1][pair] += 1
    return {pair: (found[0][pair], found[1][pair]) for pair in found[1]}


def expected(name, ranks):
    """The messages of a collective or neighbourhood case."""
    all_amounts = sum(4 * amount(i, 1) for i in range(ranks))
    table = {
        "Bcast": lambda: binomial(ranks, 1, 20, up=False),
        "Reduce": lambda: binomial(ranks, ranks - 1, 20, up=True),
        "Allreduce": lambda: doubling(ranks, 20),
        "Scan": lambda: along(ranks, 20),
        "Exscan": lambda: along(ranks, 20),
        "Reduce_scatter_block": lambda: around(ranks, lambda i: 20 * (ranks - 1)),
        "Reduce_scatter": lambda: around(ranks, lambda i: all_amounts - 4 * amount(i, 1)),
        "Allgather": lambda: around(ranks, lambda i: 20 * (ranks - 1)),
        "Allgatherv": lambda: around(ranks, lambda i: all_amounts - 4 * amount((i + 1) % ranks, 1)),
        "Gather": lambda: to_all(ranks, lambda i, k: 20 if k == 1 else 0),
        "Gatherv": lambda: to_all(ranks, lambda i, k: 4 * amount(i, 1) if k == 1 else 0),
        "Scatter": lambda: to_all(ranks, lambda i, k: 20 if i == 1 else 0),
        "Scatterv": lambda: to_all(ranks, lambda i, k: 4 * amount(k, 1) if i == 1 else 0),
        "Alltoall": lambda: to_all(ranks, lambda i, k: 20),
        "Alltoallv": lambda: to_all(ranks, lambda i, k: 4 * amount(i, k)),
        "Alltoallw": lambda: to_all(ranks, lambda i, k: 4 * amount(i, k)),
        "Neighbor_allgather": lambda: neighbours(ranks, lambda i, place: 12),
        "Neighbor_allgatherv": lambda: neighbours(ranks, lambda i, place: 4 * amount(i, 2)),
        "Neighbor_alltoall": lambda: neighbours(ranks, lambda i, place: 12),
        "Neighbor_alltoallv": lambda: neighbours(ranks, lambda i, place: 4 * amount(i, place)),
        "Neighbor_alltoallw": lambda: neighbours(ranks, lambda i, place: 4 * amount(i, place)),
        "Barrier": lambda: dissemination(ranks)}
    return table[name]()


def of_case(name, starts, ranks):
    """The messages of any case, by its name."""
    name = name.removesuffix("_c")
    other = {
        "vector": lambda: ring(ranks, 96),
        "to_itself": dict,
        "to_nobody": dict,
        "without_bytes": lambda: ring(ranks, 0),
        "large_allreduce": lambda: {(i, (i + 1) % ranks, MODELLED): (2 * (16384 * (ranks - 1) // ranks), 2 * (ranks - 1))
                                    for i in range(ranks)},
        "alltoall_in_place": lambda: to_all(ranks, lambda i, k: 20),
        "alltoallv_in_place": lambda: to_all(ranks, lambda i, k: 4 * ((i + k) % 3)),
        "alltoallw_in_place": lambda: to_all(ranks, lambda i, k: 4 * ((i + k) % 3)),
        "gather_in_place": lambda: to_all(ranks, lambda i, k: 20 if k == 1 else 0),
        "grid": lambda: to_all(ranks, lambda i, k: 12 if abs(i - k) == 1 else 0),
        "graph": lambda: to_all(ranks, lambda i, k: 12 if (i - k) % ranks in (1, ranks - 1) else 0),
        "Psend_init": lambda: dict.fromkeys(ring(ranks, 24), (3 * 24, 3 * 2)),
        "threads": lambda: dict.fromkeys(ring(ranks, 4), (200 * 4 * (1 + 2 + 3 + 4), 800))}
    if name in other:
        return other[name]()
    forth = ring(ranks, 28, ONE_SIDED)
    back = {(b, a, kind): sent for (a, b, kind), sent in forth.items()}
    one_sided = {"put": forth, "get": back, "accumulate": forth, "get_accumulate": forth | back,
                 "get_accumulate_no_op": back, "fetch_and_op": dict.fromkeys(forth | back, (4, 1)),
                 "fetch_and_op_no_op": dict.fromkeys(back, (4, 1)),
                 "compare_and_swap": dict.fromkeys(forth, (8, 1)) | dict.fromkeys(back, (4, 1))}
    for requested in (name.lower(), name[1:].lower() if name.startswith("R") else ""):
        if requested in one_sided:
            return one_sided[requested]
    if re.fullmatch("I?[sbr]?send(recv(_replace)?)?(_init)?|probed|matched|matched_later", name, re.IGNORECASE):
        return dict.fromkeys(ring(ranks, 24), (24 * starts, starts))
    base = name.removesuffix("_init")
    base = base[1:].capitalize() if re.match("I[a-z]", base) else base
    return {pair: (n * starts, messages * starts) for pair, (n, messages) in expected(base, ranks).items()}


def between_groups(name, ranks):
    """Cases of the intercommunicator of even and odd ranks of the world; the root is world rank 0."""
    even, odd = list(range(0, ranks, 2)), list(range(1, ranks, 2))
    opposite = {(rank, other[i % len(other)]) for group, other in ((even, odd), (odd, even)) for i, rank in enumerate(group)}
    everyone = {(a, b) for a in range(ranks) for b in range(ranks) if a % 2 != b % 2}
    down, up = {(0, k) for k in odd}, {(k, 0) for k in odd}
    size = 4 * len(even) * len(odd)
    pairs, kind, n = {"inter_send": (opposite, POINT, 16), "inter_barrier": (opposite, MODELLED, 0),
                      "inter_bcast": (down, MODELLED, 16), "inter_reduce": (up, MODELLED, 16),
                      "inter_allreduce": (opposite, MODELLED, 16), "inter_reduce_scatter": (opposite, MODELLED, size),
                      "inter_allgather": (everyone, MODELLED, 16), "inter_gather": (up, STATED, 16),
                      "inter_scatter": (down, STATED, 16), "inter_alltoall": (everyone, STATED, 16)}[name]
    return {(*pair, kind): (n, 1) for pair in pairs}


def found_in(phase):
    sent = {}
    for _, kind, a, b, n, messages in zip(*(column.tolist() for column in phase.pairs.columns)):
        assert (a, b, kind) not in sent, "a pair of a communicator has one line"
        sent[a, b, kind] = n, messages
    return sent


GROUPS = ("point", "collective", "neighbour", "one_sided", "point_c", "collective_c", "neighbour_c", "one_sided_c", "other",
          "other_one_sided", "between_groups", "threads")


@pytest.mark.parametrize("ranks, group", [(4, group) for group in GROUPS] + [(5, "collective"), (6, "other")])
def test_every_call_is_counted_exactly(mpi, ranks, group, request):
    if group.endswith("_c") and "mpich" not in mpi.compiler:
        pytest.skip("only MPI-4 has large counts")
    if not (group.endswith("_c") or group in ("point", "between_groups")):
        request.getfixturevalue("mpi_of_today")
    if group == "between_groups":
        ranks = 5
    done, traffic = mpi(ranks, mpi.folder / "traffic_test", group)
    cases = [line.split() for line in done.stdout.splitlines() if re.match("[0-9]+ ", line)]
    assert cases and traffic.n_ranks == ranks and traffic.outside == (0, 0)
    phases = {phase.name: found_in(phase) for phase in traffic.phases if phase.name}
    for level, name, starts in cases:
        if group == "between_groups":
            wanted = between_groups(name, ranks)
        else:
            wanted = {(ranks - 1 - a, ranks - 1 - b, kind): sent
                      for (a, b, kind), sent in of_case(name, int(starts), ranks).items()}
        assert phases[f"level {level}"] == wanted, name
    assert sum(map(len, phases.values())) == len(traffic.pairs), "nothing is counted between the cases"


def test_no_call_that_sends_is_forgotten(mpi):
    """The tracer's functions are those that the standard says send; the test program calls all of them."""
    def symbols(path, option):
        told = subprocess.run(["nm", "-D", option, path], capture_output=True, text=True, check=True).stdout
        return {line.split()[-1].partition("@")[0] for line in told.splitlines()}

    own = symbols(mpi.folder / LIBRARY, "--defined-only") - {"_exit", "_Exit"}  # the ends of a program
    assert {name.removeprefix("P") for name in own} == {name for name in own if name.startswith("MPI")}
    waits = re.compile("MPI_(Wait|Test|I?m?probe|M?recv|Win_|Comm_)", re.IGNORECASE)
    not_called = {"MPI_Init", "MPI_Session_init"}
    called = symbols(mpi.folder / "traffic_test", "--undefined-only")
    assert {name for name in own if name.startswith("MPI") and not waits.match(name)} - called <= not_called


@pytest.mark.parametrize("binding", [8, 90, 77])
def test_every_binding_of_fortran_is_counted_exactly(mpi, binding):
    if not mpi.fortran or not shutil.which("gfortran"):
        pytest.skip("NOT TESTED: the Fortran compiler of this MPI is missing (Debian: gfortran)")
    program = mpi.compile(f"fortran-{binding}", HERE / "world.F90",
                          options=[f"-DBINDING={binding}", "-w", "-fallow-argument-mismatch", f"-J{mpi.folder}"])
    done, traffic = mpi(4, program)
    cases = [line.split() for line in done.stdout.splitlines() if re.match(" *[0-9]+ ", line)]
    assert len(cases) == 15
    phases = {phase.name: found_in(phase) for phase in traffic.phases if phase.name}
    for level, name, starts in cases:
        wanted = {(3 - a, 3 - b, kind): sent for (a, b, kind), sent in of_case(name, int(starts), 4).items()}
        assert phases[f"level {level}"] == wanted, name


@pytest.mark.parametrize("seed", range(3))
def test_random_programs(mpi_of_today, seed):
    """A program that keeps its own account of random messages in random communicators."""
    done, traffic = mpi_of_today(6, mpi_of_today.folder / "traffic_test", "random", seed + 17, 60)
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("ACCOUNT")]
    own = {(int(a), int(b)): (int(n), int(messages)) for a, b, n, messages in lines}
    assert own and matrix(traffic) == own
    assert len(traffic.communicators) > 20


def matrix(traffic):
    """The bytes and messages of all phases by pair, without modelled collectives: barriers have no account."""
    return matrix_of(traffic.pairs.of([POINT, ONE_SIDED, STATED]))


def matrix_of(pairs):
    found = Counter(), Counter()
    for _, _, a, b, n, messages in zip(*(column.tolist() for column in pairs.columns)):
        found[0][a, b] += n
        found[1][a, b] += messages
    return {pair: (found[0][pair], found[1][pair]) for pair in found[1]}


# ---- phases ------------------------------------------------------------------------------------------------------------


def test_windows_between_collectives_are_phases_with_repetitions(mpi):
    _, traffic = mpi(4, mpi.folder / "traffic_test", "two_exchanges")
    shifts = {20: [], 1: []}
    for phase in traffic.phases:
        sent = {(a, b) for a, b, kind in found_in(phase) if kind == POINT}
        assert all(n == (480, 20) for (_, _, kind), n in found_in(phase).items() if kind == POINT)
        shifts[phase.times].append({(a - b) % 4 for a, b in sent})
    assert [some for some in shifts[20] if some] == [{1}, {2}], "to the next rank, then to the next but one"
    assert sum(phase.seconds for phase in traffic.phases) <= traffic.seconds + 1e-3


def test_times_of_each_rank_are_those_of_the_program(mpi):
    """Rank r computes for 20 (r + 1) ms of processor time before each of two barriers. What is left out has no time."""
    _, traffic = mpi(4, mpi.folder / "traffic_test", "computing")
    computing = traffic.computing
    assert computing == pytest.approx(2 * 0.02 * np.arange(1, 5), rel=0.5) or traffic.ranks_per_core <= 1
    assert (np.diff(computing) > 0).all() or traffic.ranks_per_core <= 1
    whole = sum(phase.computing + phase.waiting for phase in traffic.phases)
    assert (whole <= traffic.seconds + 1e-3).all() and all((phase.waiting >= 0).all() for phase in traffic.phases)


def test_exchanges_that_the_ranks_cannot_match_are_one_phase(mpi):
    """An open chain: the ends wait once less. With MPI_PROC_NULL they call as often, so the directions are phases."""
    _, traffic = mpi(4, mpi.folder / "traffic_test", "chains")
    sent = [sorted({b - a for a, b, kind in found_in(phase) if kind == POINT}) for phase in traffic.phases]
    assert sorted(some for some in sent if some) == [[-1], [-1, 1], [1]]


def test_phases_are_bounded_and_hold_all_traffic(mpi_of_today):
    """Rank 0 has 128 different windows, more than there are phases; the bytes of each pair are known."""
    _, traffic = mpi_of_today(8, mpi_of_today.folder / "traffic_test", "many_windows")
    assert len(traffic.phases) == 64 and traffic.phases[-1].name == "rest"
    assert sum(phase.times for phase in traffic.phases) == 401, "400 barriers, and the end"
    wanted = {}
    for k in range(1, 8):
        sizes = [i + 1 for i in range(400) if i >> (k - 1) & 1]
        wanted[7, 7 - k] = sum(sizes), len(sizes)
    assert matrix(traffic) == wanted


# ---- the file -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["abort", "signal", "return", "wait"])
def test_a_program_that_ends_early_leaves_what_it_has_counted(mpi, tmp_path, end):
    if end == "wait" and "mpich" in mpi.compiler:
        pytest.skip("MPICH kills all ranks when the first has ended")
    _, traffic = mpi(3, mpi.folder / "traffic_test", "ends", end, output=tmp_path / "t.txt", check=False)
    assert traffic is None and {path.name for path in tmp_path.glob("t.txt*")} == {f"t.txt.rank-{i}" for i in range(3)}
    traffic = read_traffic(tmp_path / "t.txt.rank-1")
    assert found_in(traffic.phases[0]) == ring(3, 100) and traffic.seconds < 60
    (tmp_path / "t.txt.rank-2").unlink()
    with pytest.raises(TrafficError, match="t.txt.rank-2 is missing: rank 2 was ended before"):
        read_traffic(tmp_path / "t.txt.rank-0")


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "link to a file"])
def test_only_a_regular_file_is_replaced(mpi, tmp_path, kind):
    """As root, a device would be gone; a link stays one, and its file keeps its permissions."""
    place = output = tmp_path / "traffic.txt"
    if "pipe" in kind:
        os.mkfifo(place)
    else:
        place.touch(mode=0o600)
    if "link" in kind:
        output = tmp_path / "link"
        output.symlink_to("traffic.txt")
    done, _ = mpi(2, mpi.folder / "traffic_test", "two_exchanges", output=output, keep=True)
    said = [line for line in done.stderr.splitlines() if "pencilmap traffic" in line]
    assert output.is_symlink() == ("link" in kind) and set(tmp_path.iterdir()) == {place, output}
    if "pipe" in kind:
        assert place.is_fifo() and len(said) == 1 and "a pipe or a device; name another" in said[0]
    else:
        assert not said and read_traffic(place).n_ranks == 2 and place.stat().st_mode & 0o777 == 0o600


def test_a_tracer_for_another_mpi_is_refused_in_words(mpi):
    other = "mpich" if "openmpi" in mpi.compiler else "openmpi"
    compiler = shutil.which(f"mpicc.{other}")
    if not compiler or not links(compiler):
        pytest.skip(f"NOT TESTED: {other}, its compiler or its headers are not installed")
    library = replace(mpi, compiler=compiler).compile("other.so", *TRACER, options=["-O0", *SHARED])
    done = run_bounded([*mpi.mpirun, "-n", 2, "env", f"LD_PRELOAD={library}", mpi.folder / "traffic_test"], seconds=60)
    said = [line for line in done.stderr.splitlines() if "refused" in line]
    built, used = ("MPICH", "Open MPI")[::1 if other == "mpich" else -1]
    assert done.returncode == 1 and len(said) == 1 and f"is built for {built}, but the program uses {used}" in said[0]


@pytest.mark.slow
@pytest.mark.parametrize("first", [True, False])
def test_a_tracer_in_one_of_two_programs_is_refused_in_words(mpi, first):
    given = ["env", f"LD_PRELOAD={mpi.folder / LIBRARY}"]
    parts = [["-n", 1, *(given if loaded else []), mpi.folder / "traffic_test", "two_exchanges"]
             for loaded in (first, not first)]
    done = run_bounded([*mpi.mpirun, *parts[0], ":", *parts[1]], seconds=60)
    said = [line for line in done.stderr.splitlines() if "refused" in line]
    assert done.returncode != 0 and len(said) == 1 and f"rank {int(not first)} of 2 has loaded" in said[0], done.stderr


def test_a_file_that_cannot_be_written_is_said_once(mpi, tmp_path):
    output = tmp_path / "missing" / "traffic.txt"
    done, traffic = mpi(4, mpi.folder / "traffic_test", "two_exchanges", output=output)
    said = [line for line in done.stderr.splitlines() if "pencilmap traffic" in line]
    assert traffic is None and len(said) == 1 and str(output) in said[0], said


def test_spawned_processes_are_refused_in_words_and_messages_to_them_summed_up(mpi, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "OMPI_MCA_btl", "self,vader,tcp")  # jobs reach each other by TCP alone
    if "mpich" in mpi.compiler:
        pytest.skip("Debian's MPICH cannot spawn")
    done, traffic = mpi(2, mpi.folder / "traffic_test", "spawn")
    said = [line for line in done.stderr.splitlines() if "pencilmap traffic" in line]
    assert len(said) == 2 and any("MPI_Comm_spawn started are not traced" in line for line in said), done.stderr
    assert traffic.n_ranks == 2 and traffic.outside == (12, 3), "a message to one of them, a broadcast to both"
    assert sorted(traffic.communicators[0].members.tolist()) == [-1, -1, 0, 1]


def test_sessions_are_refused_in_words(mpi):
    if "openmpi" in mpi.compiler:
        pytest.skip("only MPI-4 has sessions")
    done, traffic = mpi(1, mpi.folder / "traffic_test", "session")
    assert traffic is None and "MPI sessions are not traced" in done.stderr


def test_lammps_equals_the_counters_of_open_mpi(mpi, tmp_path):
    """Bytes and messages of each pair as Open MPI counts user messages (lines E)."""
    if "openmpi" not in mpi.compiler:
        pytest.skip("only Open MPI counts messages itself")
    if not shutil.which("lmp"):
        pytest.skip("NOT TESTED: LAMMPS is missing (Debian: lammps)")
    (tmp_path / "in.lj").write_text(LAMMPS)
    options = {"pml": "ob1,monitoring", "pml_monitoring_enable": 2, "pml_monitoring_enable_output": 3,
               "pml_monitoring_filename": tmp_path / "own"}
    given = [word for name, value in options.items() for word in ("--mca", name, value)]
    program = ["lmp", "-in", tmp_path / "in.lj", "-log", "none", "-nocite"]
    done = run_bounded([*mpi.mpirun, *given, "-n", 8, *program])
    again, traffic = mpi(8, *program)
    assert thermo(done.stdout) == thermo(again.stdout) != [], "the tracer changes no result"
    own = matrix_of(traffic.pairs.of([POINT]))
    assert own == matrix_of(read_traffic(tmp_path / "own.0.prof").pairs.of([POINT])) and len(own) == 56


def thermo(text):
    return re.findall(r"^ +[0-9]+ +[-0-9.]+ .*$", text, re.MULTILINE)


LAMMPS = """units lj
atom_style charge
lattice sc 0.8
region box block 0 12 0 12 0 12
create_box 2 box
create_atoms 1 box
set type 1 type/fraction 2 0.5 12345
set type 1 charge 1.0
set type 2 charge -1.0
mass * 1.0
velocity all create 1.0 87287 loop geom
pair_style lj/cut/coul/long 2.5 3.0
pair_coeff * * 1.0 1.0
kspace_style pppm 1.0e-4
kspace_modify mesh 16 16 16
fix 1 all nve
run 5
"""
