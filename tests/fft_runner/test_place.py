"""libpencilmap_place: a renumbered world is the world that the program would get by a split of its own."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import resources

import numpy as np
import pytest

from pencilmap.mapper.formats import write_mapping
from pencilmap.mapper.traffic_files import read_traffic
from pencilmap.model.kinds import network_named
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.scripts.networks.build import find_build
from tests.documents import run_by
from tests.fft_runner.conftest import SOURCE, run_bounded
from tests.fft_runner.test_traffic import HERE, LAMMPS, LIBRARY as TRACER, Mpi as Compiled, compiled_for, found_in, thermo
from tests.modules import needs_module
from tests.patience import patience

LIBRARY = "libpencilmap_place.so"
WRAPPERS = SOURCE / "place" / "wrappers.py"
REORDER = ("order.c", "placing.c", "request.c", "tiling.c")
INCLUDED = [f"-I{SOURCE / folder}" for folder in (".", "include", "reorder", "place")]
SHARED = ["-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden"]
ORDER = [3, 0, 2, 1]  # the rank of each process


@dataclass(frozen=True)
class Mpi(Compiled):
    """An MPI library, with our library and the test programs compiled for it."""

    def __call__(self, ranks, program, *arguments, check=True, preload=(LIBRARY,), **variables):
        """Run a program with the library; variables are without PENCILMAP_."""
        given = [f"LD_PRELOAD={':'.join(str(self.folder / name) for name in preload)}",
                 *(f"PENCILMAP_{name}={value}" for name, value in variables.items())]
        done = self.run(ranks, "env", *given, program, *arguments)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def run(self, ranks, *command):
        """Run a command; each rank writes to a file of its own, for Open MPI may join parts of lines of two ranks."""
        for old in self.folder.glob("lines.*"):
            old.unlink()
        own = ["sh", "-c", 'exec "$@" > "$0.${OMPI_COMM_WORLD_RANK-$PMI_RANK}"', self.folder / "lines"]
        done = run_bounded([*self.mpirun, "-n", ranks, *own, *command], cwd=self.folder, seconds=60)
        done.stdout += "".join(path.read_text() for path in sorted(self.folder.glob("lines.*")))
        return done

    def compile_tracer(self):
        self.compile(TRACER, *sorted((SOURCE / "traffic").glob("*.c")),
                     options=[*SHARED, "-w"])

    @property
    def program(self):
        return self.compile("place_test", HERE / "place_test.c", options=["-std=gnu11", "-w"])


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def mpi(request, tmp_path_factory):
    found = compiled_for(request.param, Mpi, tmp_path_factory, "env")
    written = found.folder / "wrappers.c"
    subprocess.run([sys.executable, WRAPPERS, written, found.compiler], check=True, timeout=patience(60))
    found.compile(LIBRARY, written, *sorted((SOURCE / "place").glob("*.c")), *sorted((SOURCE / "common").glob("*.c")),
                  *(SOURCE / "reorder" / name for name in REORDER),
                  options=[*SHARED, "-Wall", "-Wextra", "-Werror", *INCLUDED])
    return found


def said(done):
    """The only line that the library has written."""
    line, = (line for line in done.stderr.splitlines() if line.startswith("pencilmap place: "))
    return line.removeprefix("pencilmap place: ")


def lines(done):
    found = [line for line in done.stdout.splitlines() if re.match("[0-9]+: ", line)]
    assert len(found) == len(set(found)) > 0
    return set(found)


def values(done, name):
    """{rank as launched: value} of the lines of that name."""
    found = (re.fullmatch(f"([0-9]+): {name} (-?[0-9]+)", line) for line in lines(done))
    return {int(match[1]): int(match[2]) for match in found if match}


# ---- the world ---------------------------------------------------------------------------------------------------------


def test_a_renumbered_world_is_that_of_a_split(mpi):
    """Ranks, groups, messages, collectives in order, topologies, intercommunicators, windows, files, attributes, errors."""
    moved = mpi(4, mpi.program, "all", PLACEMENT="3,0-0,2,1")
    split = mpi.run(4, mpi.program, "all", mpi.folder / "place_test.dat", *ORDER)
    assert said(moved) == "MPI_COMM_WORLD is renumbered by 3,0-0,2,1: 3 of 4 ranks moved"
    assert lines(moved) == lines(split) and len(lines(moved)) > 4 * 60
    assert values(moved, "rank") == dict(enumerate(ORDER))
    assert values(moved, "MPI_TAG_UB")[0] >= 32767 and values(moved, "MPI_APPNUM") == dict.fromkeys(range(4), 0)
    assert values(moved, "in MPI_Finalize") == {ORDER.index(3): 0}, "callbacks of MPI_Finalize see the same world"


@pytest.mark.sampled(2)
def test_only_topologies_with_reorder_are_renumbered(mpi):
    moved = mpi(4, mpi.program, "reorder", PLACEMENT="3,0,2,1", PLACEMENT_FOR="topologies")
    split = mpi.run(4, mpi.program, "none", "-", *ORDER)
    own = re.compile("[0-9]+: (rank|in MPI_Finalize|cart of a half, rank|cart without reorder, rank) ")
    assert said(moved) == "topologies with reorder are renumbered by 3,0,2,1: 3 of 4 ranks moved"
    answered = [{line for line in lines(done) if not own.match(line)} for done in (moved, split)]
    assert answered[0] == answered[1]
    assert values(moved, "cart, rank") == values(moved, "adjacent, rank") == dict(enumerate(ORDER))
    assert values(moved, "rank") == values(moved, "cart without reorder, rank") == {i: i for i in range(4)}
    assert values(moved, "cart of a half, rank") == {i: i // 2 for i in range(4)}, "not of all processes"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("binding", [8, 90, 77])
def test_every_binding_of_fortran_sees_the_same_world(mpi, binding):
    if not mpi.fortran or not shutil.which("gfortran"):
        pytest.skip("NOT TESTED: the Fortran compiler of this MPI is missing (Debian: gfortran)")
    program = mpi.compile(f"fortran-{binding}", HERE / "world.F90",
                          options=[f"-DBINDING={binding}", "-w", "-fallow-argument-mismatch", f"-J{mpi.folder}"])
    wanted = {"rank": lambda r: r, "ring": lambda r: (r - 1) % 4, "allgather": lambda r: 1, "cart": lambda r: r,
              "tags": lambda r: 1, "attribute": lambda r: 100 + r, "attribute of a dup": lambda r: 100 + r,
              "deleted attribute": lambda r: 0}
    if binding != 8:
        wanted |= {"tags of MPI-1": lambda r: 1, "attribute of MPI-1": lambda r: 200 + r}
    done = mpi(4, program, PLACEMENT="3,0,2,1")
    assert lines(done) == {f"{i}: {name} {value(rank)}" for i, rank in enumerate(ORDER) for name, value in wanted.items()}


def test_every_function_with_a_communicator_is_wrapped(mpi):
    """The functions of the MPI standard that take a communicator, as far as this MPI library has them."""
    needs_module("pympistandard", "the list of functions, for pympistandard is missing (pip install pympistandard)")
    data = resources.files("pympistandard").joinpath("data", "apis.json").read_text("utf-8")
    functions = [function for function in json.loads(data).values() if not function["attributes"]["predefined_function"]]
    takes = {function["name"] for function in functions for parameter in function["parameters"]
             if parameter["kind"] == "COMMUNICATOR" and parameter["param_direction"] in ("in", "inout")}
    unchanged = {"MPI_Abort", "MPI_Comm_c2f", "MPI_Comm_toint", "MPI_Comm_free", "MPI_Comm_disconnect"}
    standard = {f"{first}{name}{last}" for name in takes - unchanged for first in ("", "P") for last in ("", "_c")}
    linked = subprocess.run(["ldd", mpi.folder / LIBRARY], capture_output=True, text=True, check=True).stdout
    library, = re.findall(r"libmp\S+ => (\S+/libmpi(?:ch)?\.so\S+)", linked)
    wrapped = symbols(mpi.folder / LIBRARY)
    known = symbols(library) & standard
    assert len(known) > 200 and known - wrapped == set()
    beyond = {name for name in wrapped if not re.match("P?MPIX?_", name)}
    assert all(re.match("p?mpi_|ompi_|MPII_", name) for name in beyond), "no function of our own is visible"


def symbols(path):
    told = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in told.splitlines()}


# ---- placements ----------------------------------------------------------------------------------------------------------

TWO = "a-0-0,a-0-1,a-1-0,a-1-1"
CASES = [  # hosts of the four processes, text or content of a file, ranks of the processes or part of a message
    ("-", "3 2 1 0", "3 2 1 0"),
    ("-", "2-3,0-1", "2 3 0 1"),
    ("-", "0,1,2", "the list of ranks places 3 of the 4 ranks of the program"),
    ("-", "0,1,2,3,4", "has rank 4 as number 5, but the program has 4 ranks"),
    ("-", "0,1,1,2", "has rank 1 twice"),
    ("-", "0,3-1", "'3-1' is not a rank"),
    ("-", "FILE:2,3\n0-1 # slots of the second node\n", "2 3 0 1"),
    ("-", "FILE:0 1\n2 x\n", "line 2: 'x' is not a rank"),
    ("-", "FILE:", "places 0 of the 4 ranks"),
    ("-", "FILE:0\n\001\n", "line 2: a byte is not text"),
    ("-", "/nowhere/ranks", "/nowhere/ranks cannot be opened: No such file"),
    ("-", "", "PENCILMAP_PLACEMENT is not set"),
    ("-", "5," * 2100, "is longer than 4094 characters"),
    ("a,b,a,b", "FILE:a\na\nb\nb\n", "0 2 1 3"),
    ("a,b,a,b", "FILE:b:2\na*2\n", "2 0 3 1"),
    ("a,b,a,b", "FILE:# hosts\nb.cluster # the first\na\nb,a", "1 0 3 2"),
    ("10.0.0.1,10.0.0.1,10.0.0.2,10.0.0.2", "FILE:10.0.0.2:2\n10.0.0.1:2\n", "2 3 0 1"),
    ("a,b,a,b", "FILE:a\na\na\nb\n", "line 3: host a has more ranks here than the 2 processes on it"),
    ("a,b,a,b", "FILE:a\nc\n", "line 2: no process runs on host c; one runs on a"),
    ("a,b,a,b", "FILE:a:2\nb\n", "places 3 of the 4 ranks of the program"),
    ("a,b,a,b", "FILE:a:x\n", "line 1: the number of ranks on host a is wrong"),
    (TWO, "2x2 placement=default:xyt", "0 2 1 3"),
    (TWO, "2x2 placement=default:yxt", "0 1 2 3"),
    (TWO, "2x2 placement=digits:x=r2,y=c2 grid=2x2", "0 2 1 3"),
    (TWO, "2x2 placement=digits:x=c2,y=r2 grid=2x2", "0 1 2 3"),
    ("-", "2 tasks=2 placement=default:tn where=assumed:nt", "0 2 1 3"),
    (TWO, "2x2 placement=nonsense", "placement=nonsense is unknown"),
    (TWO, "2x2 placement=default grid=2x3", "process grid '2x3' does not fit"),
    (TWO, "2x2 placement=file:MAPFILE", "3 1 0 2"),
]
MAPFILE = "1 0 0\n0 1 0\n1 1 0\n0 0 0\n"


def test_every_form_of_a_placement(mpi, tmp_path):
    if "mpich" in mpi.compiler:
        pytest.skip("texts are read alike under every MPI")
    sources = [HERE / "place_orders.c", *sorted((SOURCE / "common").glob("*.c")),
               *(SOURCE / "reorder" / name for name in REORDER)]
    program = mpi.compile("place_orders", *sources, options=["-std=gnu11", "-w", *INCLUDED])
    (tmp_path / "ranks.map").write_text(MAPFILE)
    pairs = []
    for number, (hosts, text, _) in enumerate(CASES):
        if text.startswith("FILE:"):
            path = tmp_path / f"{number}.txt"
            path.write_text(text.removeprefix("FILE:"))
            text = path
        pairs += [hosts, str(text).replace("MAPFILE", str(tmp_path / "ranks.map"))]
    done = mpi.run(4, program, *pairs)
    answers = done.stdout.splitlines()
    assert done.returncode == 0 and len(answers) == len(CASES), done.stdout + done.stderr
    for (hosts, text, wanted), answer in zip(CASES, answers):
        if re.fullmatch("[0-9 ]+", wanted):
            assert answer.strip() == wanted, (hosts, text)
        else:
            assert answer.startswith("refused: ") and wanted in answer, (text, answer)


# ---- nothing changed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variables, reason", [
    ({"PLACEMENT": "1"}, "the list of ranks places 1 of the 2 ranks of the program"),
    ({"PLACEMENT": "0,1"}, "every rank already is where 0,1 places it"),
    ({"PLACEMENT": "1,0", "PLACEMENT_FOR": "us"}, "PENCILMAP_PLACEMENT_FOR=us is unknown; known are world and topologies")])
def test_nothing_is_changed_and_the_reason_is_said_once(mpi, variables, reason):
    done = mpi(2, mpi.program, "rank", **variables)
    assert said(done) == f"nothing changed: {reason}"
    assert values(done, "rank") == {0: 0, 1: 1}


# ---- refusals ------------------------------------------------------------------------------------------------------------


def test_spawn_is_refused_and_all_ranks_end(mpi):
    done = mpi(2, mpi.program, "spawn", PLACEMENT="1,0", check=False)
    messages = [line for line in done.stderr.splitlines() if "refused" in line]
    assert done.returncode != 0 and len(messages) == 1 and "MPI_Comm_spawn in a renumbered" in messages[0], done.stderr


def test_sessions_are_refused_and_all_ranks_end(mpi):
    if "openmpi" in mpi.compiler:
        pytest.skip("only MPI-4 has sessions")
    done = mpi(2, mpi.program, "session", PLACEMENT="1,0", check=False)
    messages = [line for line in done.stderr.splitlines() if "refused" in line]
    assert done.returncode != 0 and len(messages) == 1 and "session" in messages[0], done.stderr
    assert "a session" not in done.stdout
    free = mpi(2, mpi.program, "session", PLACEMENT="1,0", PLACEMENT_FOR="topologies")
    assert free.stdout.count("a session") == 2


def test_the_library_of_another_mpi_is_refused_in_words(mpi):
    built = find_build().directory / "lib" / LIBRARY
    linked = subprocess.run(["ldd", built], capture_output=True, text=True).stdout
    used, other = ("MPICH", "Open MPI") if "mpich" in mpi.compiler else ("Open MPI", "MPICH")
    if not re.search("libmpich" if other == "MPICH" else r"libmpi\.so\.4", linked):
        pytest.skip(f"the built library is for {used}")
    done = mpi.run(2, "env", f"LD_PRELOAD={built}", "PENCILMAP_PLACEMENT=1,0", mpi.program, "rank")
    said = [line for line in done.stderr.splitlines() if "refused" in line]
    assert done.returncode == 1 and len(said) == 1 and f"is built for {other}, but the program uses {used}" in said[0]


@pytest.mark.slow
def test_a_library_in_one_of_two_programs_is_refused_and_all_ranks_end(mpi):
    given = ["env", f"LD_PRELOAD={mpi.folder / LIBRARY}", "PENCILMAP_PLACEMENT=1,0"]
    done = run_bounded([*mpi.mpirun, "-n", 1, mpi.program, "rank", ":", "-n", 1, *given, mpi.program, "rank"], seconds=60)
    assert done.returncode != 0 and "rank 1 of 2 has loaded libpencilmap_place.so, but not every rank has" in done.stderr


def test_abort_ends_all_ranks(mpi):
    done = mpi(3, mpi.program, "abort", PLACEMENT="1,2,0", check=False)
    assert done.returncode == 7, done.stderr


# ---- with other libraries and programs -----------------------------------------------------------------------------------

RING = """
#include <mpi.h>
int main(int argc, char **argv)
{
    char data[400] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(data, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(data, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.sampled(2)
def test_the_tracer_before_it_records_the_new_ranks(mpi, tmp_path):
    """Behind it, the tracer would have the old ranks and talk to the new ones, so nothing is changed."""
    (tmp_path / "ring.c").write_text(RING)
    program = mpi.compile("ring", tmp_path / "ring.c", options=["-w"])
    mpi.compile_tracer()
    done, pairs = {}, {}
    for preload in ((TRACER, LIBRARY), (LIBRARY, TRACER)):
        output = tmp_path / f"{preload[0]}.txt"
        done[preload[0]] = said(mpi(3, program, preload=preload, PLACEMENT="2,0,1", TRAFFIC=output))
        pairs[preload[0]] = {pair: sent for phase in read_traffic(output).phases for pair, sent in found_in(phase).items()}
    assert pairs == {first: {(0, 1, 0): (100, 1)} for first in (TRACER, LIBRARY)}
    assert done[TRACER].endswith("3 of 3 ranks moved")
    assert done[LIBRARY] == (f"nothing changed: {mpi.folder / TRACER} wraps MPI, too; libpencilmap_place.so must be the "
                             "last in LD_PRELOAD")


def test_the_commands_of_the_pages(mpi, tmp_path):
    """With the hosts that `map` writes for a torus of 4x2, and processes that the launcher puts on the hosts in order."""
    if "mpich" in mpi.compiler:
        pytest.skip("the commands are alike for every MPI")
    (tmp_path / "build" / "lib").mkdir(parents=True)
    mpi.compile_tracer()
    for name in (LIBRARY, TRACER):
        (tmp_path / "build" / "lib" / name).symlink_to(mpi.folder / name)
    (tmp_path / "a.c").write_text(RING)
    (tmp_path / "program").symlink_to(mpi.compile("ring-8", tmp_path / "a.c", options=["-w"]))
    (tmp_path / "a.out").write_text('#!/bin/sh\nexport PENCILMAP_HOST=node-$((OMPI_COMM_WORLD_RANK / 2))-'
                                    '$((OMPI_COMM_WORLD_RANK % 2))\nexec ./program\n')
    (tmp_path / "a.out").chmod(0o755)
    mapping = Mapping(network_named("4x2"), ProcessGrid(8, 1), 1, np.arange(8)[::-1].copy(), np.zeros(8, int))
    write_mapping(mapping, tmp_path / "program.hosts", "hostfile")
    commands = run_by(__file__)
    assert len(commands) == 2
    for command in commands:
        done = run_bounded(["sh", "-c", command.replace("mpirun", " ".join(map(str, mpi.mpirun)), 1)], cwd=tmp_path)
        assert done.returncode == 0 and said(done).endswith("8 of 8 ranks moved"), done.stderr
    assert found_in(read_traffic(tmp_path / "traffic.txt").phases[0])[0, 1, 0] == (100, 1)


PYTHON = """
import os
from mpi4py import MPI
world = MPI.COMM_WORLD
launched = int(os.environ["OMPI_COMM_WORLD_RANK"])
found = world.gather((launched, world.allreduce(world.rank, MPI.MAX)))
if world.rank == 0:
    for rank, (launched, last) in enumerate(found):
        print(f"{launched}: rank {rank}\\n{launched}: last {last}")
"""


def test_an_unchanged_program_of_mpi4py(mpi, tmp_path):
    needs_module("mpi4py", "mpi4py is missing (pip install mpi4py)")
    if "openmpi" not in mpi.compiler:
        pytest.skip("mpi4py takes the first MPI library here, which is Open MPI")
    (tmp_path / "ranks.py").write_text(PYTHON)
    done = mpi(4, sys.executable, "-m", "mpi4py", tmp_path / "ranks.py", PLACEMENT="3,0,2,1")
    assert said(done).endswith("3 of 4 ranks moved")
    assert values(done, "rank") == dict(enumerate(ORDER)) and values(done, "last") == dict.fromkeys(range(4), 3)


def test_lammps_gives_the_same_results(mpi, tmp_path):
    if "openmpi" not in mpi.compiler:
        pytest.skip("Debian's LAMMPS is for Open MPI")
    if not shutil.which("lmp"):
        pytest.skip("NOT TESTED: LAMMPS is missing (Debian: lammps)")
    (tmp_path / "in.lj").write_text(LAMMPS)
    program = ["lmp", "-in", tmp_path / "in.lj", "-log", "none", "-nocite"]
    plain = mpi.run(4, *program)
    moved = mpi(4, *program, PLACEMENT="3,0,2,1")
    assert said(moved).endswith("3 of 4 ranks moved")
    assert thermo(plain.stdout) == thermo(moved.stdout) != []


def test_the_writer_of_wrappers():
    done = subprocess.run([sys.executable, "-m", "doctest", WRAPPERS], capture_output=True, text=True, timeout=patience(60))
    assert done.returncode == 0, done.stdout
