"""`pencilmap trace`: runs a program with the tracer, passes its exit status on, and says where the file is."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pencilmap.mapper.traffic_files import read_traffic
from pencilmap.model.traffic.program import MEASURED, MODELLED, POINT, STATED, joined, one_phase, pairs_of
from pencilmap.scripts.networks import tracer
from pencilmap.scripts.networks.build import Build
from tests.documents import run_by
from tests.fft_runner.conftest import ENVIRONMENT, OPEN_MPI_OPTIONS, SOURCE, links
from tests.patience import patience

SOURCES = Path(__file__).parents[1] / "fft_runner"
COMMAND = Path(sys.executable).with_name("pencilmap")


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def program(request, tmp_path_factory):
    """A program of an MPI library, and how it is started."""
    compiler, start = shutil.which(f"mpicc.{request.param}"), shutil.which(f"mpirun.{request.param}")
    if not compiler or not start or not links(compiler):
        pytest.skip(f"NOT TESTED: {request.param}, its compiler or its headers are not installed")
    path = tmp_path_factory.mktemp(request.param) / "traffic_test"
    subprocess.run([compiler, "-std=gnu11", "-w", SOURCES / "traffic_test.c", "-o", path, "-pthread"], check=True)
    return path, [start, *(OPEN_MPI_OPTIONS if request.param == "openmpi" else ()), "-n", "4"]


def trace(folder, *words, variables=None):
    return subprocess.run([COMMAND, "trace", *map(str, words)], cwd=folder, capture_output=True, text=True,
                          env={**ENVIRONMENT, **(variables or {})}, timeout=patience(300))


def test_a_program_is_traced(program, tmp_path):
    path, start = program
    done = trace(tmp_path, "-o", "found.txt", "--", *start, path, "two_exchanges")
    assert done.returncode == 0 and "wrote found.txt" in done.stderr, done.stderr
    traffic = read_traffic(tmp_path / "found.txt")
    assert list(tmp_path.iterdir()) == [tmp_path / "found.txt"], "nothing else is left"
    assert traffic.pairs.of([POINT]).bytes.sum() == 20 * 2 * 4 * 24 and traffic.n_ranks == 4
    inside = traffic.pairs.of([STATED, MODELLED])
    if "openmpi" in start[0]:
        measured = traffic.pairs.of([MEASURED])
        assert len(inside) == 0 and measured.bytes.sum() > 0 and "collective, measured" in done.stderr
    else:
        assert inside.bytes.sum() == 20 * 8 * 4, "20 sums of an integer, recursive doubling"
        assert "did not count the messages inside collectives" in done.stderr
    if "mpich" in start[0]:
        return  # it never counts inside
    without = trace(tmp_path, "--no-monitoring", "--", *start, path, "two_exchanges")
    assert without.returncode == 0 and read_traffic(tmp_path / "traffic.txt").pairs.of([MODELLED]).bytes.sum() == 640


def test_the_exit_status_of_the_program_is_passed_on(program, tmp_path):
    path, start = program
    whole = trace(tmp_path, "--", *start, path)
    assert whole.returncode == 7 and (tmp_path / "traffic.txt").exists(), "the program ends with 7 behind MPI_Finalize"


@pytest.mark.parametrize("of", ["colons", "a file"])
def test_several_programs_of_one_launch_line(program, tmp_path, of):
    path, start = program
    if of == "a file" and "mpich" in start[0]:
        pytest.skip("MPICH's option -genv is for the programs of a file, too")
    (tmp_path / "a file").write_text("".join(f"-n 2 {words} {path} two_exchanges\n" for words in ("", "env LD_PRELOAD=")))
    parts = ["-n", "2", path, "two_exchanges", ":", "-n", "2", "env", "LD_PRELOAD=", path, "two_exchanges"]
    done = trace(tmp_path, "--", *start[:-2], *(parts if of == "colons" else ["--app", "a file"]))
    assert done.returncode == 0, done.stderr
    assert read_traffic(tmp_path / "traffic.txt").pairs.of([POINT]).bytes.sum() == 20 * 2 * 4 * 24


ENDLESS = """
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&rank, 4, MPI_CHAR, 1 - rank, 0, &x, 4, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fclose(fopen(argv[1 + rank], "w"));
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_a_signal_ends_leaves_what_it_has_counted(program, tmp_path, number):
    """As a time limit does: the signal goes to the whole group."""
    compiler = program[1][0].replace("mpirun", "mpicc")
    (tmp_path / "a.c").write_text("#include <stdio.h>" + ENDLESS)
    subprocess.run([compiler, "-w", "a.c", "-o", "a.out"], cwd=tmp_path, check=True)
    command = [COMMAND, "trace", "--", *program[1][:-1], "2", "./a.out", "ready0", "ready1"]
    with subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, start_new_session=True) as process:
        end = time.monotonic() + patience(60)
        while not all((tmp_path / f"ready{rank}").exists() for rank in (0, 1)) and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(process.pid, number)
        err = process.communicate(timeout=patience(60))[1].decode()
    assert process.returncode == 128 + number and "wrote traffic.txt: the messages until the program ended" in err
    assert read_traffic(tmp_path / "traffic.txt").pairs.bytes.tolist() == [4, 4]
    assert {path.name for path in tmp_path.iterdir()} == {"a.c", "a.out", "ready0", "ready1", "traffic.txt"}


def test_a_program_that_ends_without_destructors_leaves_what_it_has_counted(program, tmp_path):
    """Also if Open MPI's launcher ends first, as behind `timeout 60 mpirun`: then the ranks end so."""
    compiler = program[1][0].replace("mpirun", "mpicc")
    (tmp_path / "a.c").write_text("#include <unistd.h>" + ENDLESS.replace(
        "fclose(fopen(argv[1 + rank], \"w\"))", "_exit(3)"))
    subprocess.run([compiler, "-w", "a.c", "-o", "a.out"], cwd=tmp_path, check=True)
    done = trace(tmp_path, "--", *program[1][:-1], "2", "./a.out")
    assert done.returncode == 3 and "wrote traffic.txt: the messages until the program ended" in done.stderr
    assert read_traffic(tmp_path / "traffic.txt").pairs.bytes.tolist() == [4, 4]


def test_a_choice_of_the_point_to_point_layer_keeps_the_monitoring(program, tmp_path):
    path, start = program
    if "openmpi" not in start[0]:
        pytest.skip("only Open MPI counts messages itself")
    for words, variables in ((["--mca", "pml", "ob1"], {}), ([], {"OMPI_MCA_pml": "ob1"})):
        done = trace(tmp_path, "--", start[0], *words, *start[1:], path, "two_exchanges", variables=variables)
        assert done.returncode == 0 and "collective, measured" in done.stderr, done.stderr


def test_launcher_and_program_of_different_libraries_are_refused(program, tmp_path):
    path, start = program
    other = shutil.which("mpirun.mpich" if "openmpi" in start[0] else "mpirun.openmpi")
    if not other:
        pytest.skip("NOT TESTED: there is one MPI library")
    done = trace(tmp_path, "--", other, "-n", "2", path)
    assert done.returncode in (1, 2) and "but the program uses" in " ".join(done.stderr.split())


def test_a_program_without_mpi_is_said(tmp_path):
    start = shutil.which("mpirun")
    if not start:
        pytest.skip("NOT TESTED: no MPI")
    done = trace(tmp_path, "--", start, "-n", "1", "true")
    assert done.returncode == 1 and "did not come to MPI_Finalize" in done.stderr and os.listdir(tmp_path) == []


SMALL = """
#include <mpi.h>
int main(void)
{
    int one = 1, ranks;
    MPI_Init(0, 0);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return one != ranks;
}
"""


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_the_commands_of_the_page(name, tmp_path):
    """The commands of docs/howto/trace-a-program.md, each with the launcher of an MPI library."""
    compiler, start = shutil.which(f"mpicc.{name}"), shutil.which(f"mpirun.{name}")
    if not compiler or not start or not links(compiler):
        pytest.skip(f"NOT TESTED: {name}, its compiler or its headers are not installed")
    (tmp_path / "a.c").write_text(SMALL)
    subprocess.run([compiler, "a.c", "-o", "a.out"], cwd=tmp_path, check=True)
    (tmp_path / "build" / "lib").mkdir(parents=True)
    subprocess.run([compiler, "-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
                    *sorted((SOURCE / "traffic").glob("*.c")), "-o", "build/lib/libpencilmap_traffic.so", "-pthread"],
                   cwd=tmp_path, check=True)
    launcher = " ".join([start, *(OPEN_MPI_OPTIONS if name == "openmpi" else ())])
    chosen = [command for command in run_by(__file__) if "LD_PRELOAD" not in command
              or ("-x LD_PRELOAD" in command) == (name == "openmpi")]
    assert len(chosen) == 3
    for command in chosen:
        here = command.replace("mpirun", launcher).replace("mpiexec", launcher)
        done = subprocess.run(here, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=patience(300),
                              env={**ENVIRONMENT, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"})
        assert done.returncode == 0, done.stderr
        assert read_traffic(tmp_path / "traffic.txt").n_ranks == 4
        assert "--read" not in command or "4 ranks" in done.stdout
        if "--read" in command:
            (tmp_path / "traffic.txt").unlink()


LAUNCHER = """#!{python}
import sys
given = dict(word.split("=", 1) for word in sys.argv if "=" in word)
prefix = sys.argv[sys.argv.index("pml_monitoring_filename") + 1]
with open(given["PENCILMAP_TRAFFIC"], "w") as file:
    file.write("pencilmap traffic 1\\nranks 2\\nphase 0 times 1 seconds 1\\n0 -1 2 0 1 8 1\\nend 1\\n")
for name, text in {files}.items():
    with open(prefix + name, "w") as file:
        file.write("# POINT TO POINT\\n" + text)
"""


@pytest.mark.parametrize("files, problem, n_bytes", [
    ({".0.prof": "I\t0\t1\t50 bytes\t1 msgs sent\n", ".1.prof": ""}, "", 50),
    ({}, "it has written none", 8),
    ({".0.prof": "what is this\n", ".1.prof": ""}, "line 2: 'what is this' is no line of Open MPI's monitoring", 8),
    ({".0.prof": "I\t0\t1\t3 bytes\t1 msgs sent\n", ".1.prof": ""},
     "they have 3 bytes of collectives, but the calls of the program state 8", 8),
    ({".0.prof": "", ".1.prof": "", ".2.prof": ""}, "they are of 3 ranks, but the program has 2", 8)])
def test_counts_of_open_mpi_that_cannot_be_used_are_told_and_the_model_is_kept(tmp_path, files, problem, n_bytes):
    """With a launcher that writes what the tracer and Open MPI would write."""
    start = tmp_path / "mpirun"
    start.write_text(LAUNCHER.format(python=sys.executable, files=files))
    start.chmod(0o755)
    found = tracer.trace(tracer.Launch((str(start),), 0, tracer.OPEN_MPI), Path("/none.so"), tmp_path / "traffic.txt")
    assert found.status == 0 and problem in found.problem and found.measured == (not problem)
    assert read_traffic(tmp_path / "traffic.txt").pairs.bytes.tolist() == found.traffic.pairs.bytes.tolist() == [n_bytes]


def test_own_messages_beyond_the_traced_ones_are_inside_collectives():
    """Open MPI counts alltoallv by persistent requests as own messages (E). Other such messages are the tracer's."""
    calls = pairs_of([0, 1, 3], [1, 2, 0], [80, 1, 40], 1, STATED)
    sent = one_phase(4, joined([pairs_of([0, 1, 2], [1, 2, 3], [100, 50, 7], [2, 1, 1]), calls]))
    own = pairs_of([0, 1, 2, 3, 2], [1, 2, 3, 0, 0], [180, 50, 5, 40, 70], [4, 1, 1, 3, 2], POINT)
    found = tracer.inside_collectives(sent, one_phase(4, joined([own, pairs_of([0], [1], [9], [1], MEASURED)])))
    assert sorted(zip(found.source.tolist(), found.target.tolist(), found.bytes.tolist(), found.messages.tolist())) == [
        (0, 1, 9, 1), (0, 1, 80, 2), (3, 0, 40, 3)]
    assert set(found.kind.tolist()) == {MEASURED}


def test_a_tracer_older_than_its_source_is_compiled_again(tmp_path, monkeypatch):
    found, made = tmp_path / "traffic/mpich" / tracer.LIBRARY, []
    found.parent.mkdir(parents=True)
    for path, age in ((found, 100), (tmp_path / "traffic/calls.c", 200)):
        path.touch()
        os.utime(path, (age, age))
    monkeypatch.setattr(tracer, "find_build", lambda: Build(tmp_path, tmp_path))
    monkeypatch.setattr(tracer, "_family", lambda *_: tracer.MPICH)
    monkeypatch.setattr(tracer, "_compiler", lambda _: "mpicc")
    monkeypatch.setattr(tracer, "_compile", lambda *words: made.append(words[-1]))
    launch = tracer.Launch(("mpirun", "./a.out"), 0, tracer.MPICH)
    assert tracer.library_for(launch) == found and made == [found]
    os.utime(found, (300, 300))
    assert tracer.library_for(launch) == found and made == [found]
