"""Build the runner once, start it under mpirun or smpirun, read and validate its records."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from pencilmap.scripts.networks.build import ensure_built
from pencilmap.scripts.networks.namespaces.inside import build_nap
from tests.modules import needs_module
from tests.patience import patience

collect_ignore_glob = ["python_*.py"]  # programs for mpirun
ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "fft_runner"
KEPT = ROOT / "build" / "tests"  # of further builds, which take 20 s each
GUARDED = Path(__file__).with_name("python_guarded.py")
BUILD_S, RUN_S, ALONE_S = 600, 300, 20
SANITIZED_UNITS = "geometry_test", "copy_test", "schedule_test"
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl": "self,vader",  # all ranks are on one machine; TCP costs a tenth of a start
               "NAP_US": "200", "NAP_AFTER": "100"}
OPEN_MPI_OPTIONS = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
AT_ONCE = "OMPI_MCA_odls_base_sigkill_timeout=0"  # else half of the failing runs end a second later

# Eight hosts on one switch, with names like the nodes of the simulated torus.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="-0-0" radical="0-7" speed="1Gf" bw="125MBps" lat="1us"/>
</platform>
"""
SIMULATION = ["--log=root.thresh:warning", "--cfg=smpi/simulate-computation:no"]


def build(directory, *options, targets=("all",)):
    """Configure if necessary, also with other options than before, and build; one process at a time."""
    directory.mkdir(parents=True, exist_ok=True)
    before = directory / ".options"
    with open(directory / ".pencilmap-lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "CMakeCache.txt").exists() or (before.exists() and before.read_text() != repr(options)):
            execute(["cmake", "-S", SOURCE, "-B", directory, *options], BUILD_S)
            before.write_text(repr(options))
        execute(["cmake", "--build", directory, "--parallel", "2", "--target", *targets], BUILD_S)
    return directory / "bin"


def links(compiler):
    """Return whether a compiler of MPI has its headers and library; Debian's `mpich` has only the compiler."""
    program = "#include <mpi.h>\nint main(void) { return MPI_Initialized(&(int){0}); }"
    return subprocess.run([compiler, "-xc", "-", "-o", os.devnull], input=program, text=True, capture_output=True,
                          timeout=patience(RUN_S)).returncode == 0


def execute(command, seconds):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=patience(seconds))
    assert done.returncode == 0, done.stdout + done.stderr


def run_bounded(command, cwd=None, seconds=RUN_S):
    """Run a launcher in a session of its own; after the time limit, list the running processes and end the session.

    Try again if only the launcher is left: mpirun of Open MPI 4 sometimes stays after all ranks have ended.
    """
    for attempt in reversed(range(4)):
        with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", cwd=cwd, env=ENVIRONMENT,
                              start_new_session=True) as process:
            try:
                return awaited(process, seconds)
            except subprocess.TimeoutExpired as late:
                left = [number for number in started_by(process.pid) if number != process.pid]
                if left or not attempt:
                    last = [(text or b"").decode(errors="replace")[-1000:] for text in (late.stdout, late.stderr)]
                    pytest.fail("\n".join([f"not finished in {seconds} s: {process.args}", *last, *map(told, left)]))
            finally:
                end_session(process)


def awaited(process, seconds):
    """Return the output of a launcher. The time is also up if all its children ended `ALONE_S` ago."""
    end, alone_since = time.monotonic() + patience(seconds), None
    while True:
        now = time.monotonic()
        alone = started_by(process.pid) <= {process.pid}
        alone_since = (alone_since or now) if alone else None
        up = now > end or (alone_since is not None and now > alone_since + patience(ALONE_S))
        try:
            out, err = process.communicate(timeout=0 if up else min(1, end - now))
            return subprocess.CompletedProcess(process.args, process.returncode, out, err)
        except subprocess.TimeoutExpired:
            if up:
                raise


def end_session(process):
    started = started_by(process.pid)
    if process.poll() is None:
        process.terminate()  # mpirun ends its ranks
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=patience(10))
    for number in started | started_by(process.pid):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def started_by(launcher):
    """Return the launcher, the processes of its session and their descendants: ranks of MPICH have sessions of their own."""
    known = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent, _, session, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            if state != "Z":
                known[int(folder.name)] = int(parent), int(session)
    found = {number for number, (_, session) in known.items() if session == launcher}
    while more := {number for number, (parent, _) in known.items() if parent in found} - found:
        found |= more
    return found


def told(number):
    """Describe a process: program, state, processor seconds, and the stacks of its threads if there is a gdb."""
    try:
        name, _, rest = Path(f"/proc/{number}/stat").read_text().rpartition(")")
    except OSError:
        return f"{number} has ended"
    state, used = rest.split()[0], sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    where = shutil.which("gdb") and subprocess.run(["gdb", "-p", str(number), "-batch", "-ex", "thread apply all bt"],
                                                   capture_output=True, text=True, errors="replace",
                                                   timeout=patience(RUN_S)).stdout
    return f"{name}) {state}, {used:.1f} s\n{where or ''}"


@dataclass(frozen=True)
class Launcher:
    """The programs of a build, and the mpirun that belongs to its MPI."""

    programs: Path
    mpirun: tuple

    def __call__(self, ranks, *arguments, program="fft_runner", cwd=None, seconds=RUN_S):
        command = [*self.mpirun, "-n", ranks, self.programs / program, *arguments]
        return run_bounded(command, cwd, seconds)


def launcher(programs, folder):
    """Return the launcher of a build. Ranks that wait long for others sleep: yielding took half of the processors' time."""
    version = subprocess.run([programs / "fft_runner", "--version"], capture_output=True, text=True, timeout=patience(RUN_S),
                             env=ENVIRONMENT).stdout
    napping = ("env", f"LD_PRELOAD={build_nap(folder)}", AT_ONCE)
    if "Open MPI" in version:
        return Launcher(programs, (*napping, shutil.which("mpirun.openmpi") or "mpirun", *OPEN_MPI_OPTIONS))
    return Launcher(programs, (*napping, shutil.which("mpiexec.mpich") or "mpiexec"))


@pytest.fixture(scope="session")
def programs():
    """Directory of the built programs."""
    return ensure_built(simulated=False).directory / "bin"


@pytest.fixture(scope="session")
def mpirun(programs, tmp_path_factory):
    return launcher(programs, tmp_path_factory.mktemp("nap"))


@pytest.fixture(scope="session")
def mpich_run(tmp_path_factory, pytestconfig):
    """The same runner under MPICH; without --slow, only the programs of a few tests are built."""
    compiler = shutil.which("mpicc.mpich")
    if not compiler or not shutil.which("mpiexec.mpich") or not links(compiler):
        pytest.skip("NOT TESTED: MPICH, its compiler or its headers are not installed (Debian: mpich libmpich-dev)")
    targets = ("all",) if pytestconfig.getoption("--slow") else ("fft_runner", "fuzz_test")
    programs = build(KEPT / "mpich", f"-DMPI_C_COMPILER={compiler}",
                     "-DPENCILFFT_SMPI=OFF", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-w",  # builds in half the time
                     "-DCMAKE_C_FLAGS_DEBUG=",  # without -g: a quarter less again
                     targets=targets)
    return launcher(programs, tmp_path_factory.mktemp("nap"))


def check_clean(done):
    """Check that a program ended well, and that no sanitizer has found anything."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "AddressSanitizer" not in done.stderr and "runtime error" not in done.stderr


def built_with_sanitizers(*targets):
    """Return programs built with AddressSanitizer and UBSan, and their launcher; the caller decides about leaks."""
    compiler = shutil.which("mpicc.openmpi")
    if not compiler:
        pytest.skip("NOT TESTED: Open MPI is missing")
    flags = "-O0 -w -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"  # other builds warn
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASAN_OPTIONS", "detect_leaks=0")
        programs = build(KEPT / "sanitized", f"-DMPI_C_COMPILER={compiler}",
                         "-DPENCILFFT_SMPI=OFF", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS={flags}",
                         f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_C_FLAGS_DEBUG=-g1", targets=targets)
    return programs, (shutil.which("mpirun.openmpi") or "mpirun", *OPEN_MPI_OPTIONS)


@pytest.fixture(scope="session")
def sanitized():
    """All programs with sanitizers; valgrind checks for leaks, because MPI has some of its own."""
    programs, start = built_with_sanitizers("all")
    return Launcher(programs, ("env", "ASAN_OPTIONS=detect_leaks=0", *start))


@pytest.fixture(scope="session")
def sanitized_plans():
    """`known_plans_test` and some units with sanitizers; leaks are printed but are no failure."""
    programs, start = built_with_sanitizers("known_plans_test", *SANITIZED_UNITS)
    return Launcher(programs, ("env", "LSAN_OPTIONS=exitcode=0", *start))


@pytest.fixture(scope="session")
def schema():
    text = json.loads((SOURCE / "run_record.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(text)
    return jsonschema.Draft202012Validator(text, format_checker=jsonschema.FormatChecker())


@pytest.fixture
def records(schema):
    """Return a function that reads a file of valid run records."""

    def read(path):
        lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
        for record in lines:
            schema.validate(record)
        return lines

    return read


@pytest.fixture
def run(mpirun, records, tmp_path):
    """Return a function that runs the runner successfully and returns the record."""

    def one(ranks, *arguments, start=mpirun):
        path = tmp_path / "record.jsonl"
        path.unlink(missing_ok=True)
        done = start(ranks, *arguments, "--json", path)
        assert done.returncode == 0, done.stdout + done.stderr
        [record] = records(path)
        return record

    return one


@pytest.fixture
def start_python(mpirun, programs):
    """Run a Python program that uses the binding, under the mpirun of the library's MPI, with guard bytes around arrays."""
    needs_module("mpi4py", "the Python binding, for mpi4py is missing (pip install mpi4py)")
    return partial(start_binding, mpirun, programs, (GUARDED,))


def start_binding(mpirun, programs, before, ranks, script, *arguments, more=()):
    """Run a Python program with the library of a build, after the program `before`, which may guard the arrays."""
    places = [f"PYTHONPATH={SOURCE / 'python'}:{ROOT / 'packaging'}",
              f"PENCILFFT_LIBRARY={programs.parent / 'lib' / 'libpencilfft.so'}", "OMP_NUM_THREADS=1", *more]
    env = replace(mpirun, programs=Path("/usr/bin"))
    return env(ranks, *places, sys.executable, "-m", "mpi4py", *before, script, *arguments, program="env")


@pytest.fixture(scope="session")
def sanitized_python():
    """Run a Python program under AddressSanitizer, which also watches the arrays of NumPy, so guard bytes are not needed."""
    needs_module("mpi4py", "the Python binding, for mpi4py is missing (pip install mpi4py)")
    programs, start = built_with_sanitizers("pencilfft_shared")
    files = [subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
             for name in ("libasan.so", "libubsan.so")]
    return partial(start_binding, Launcher(programs, start), programs, (),
                   more=[f"LD_PRELOAD={':'.join(files)}", "ASAN_OPTIONS=detect_leaks=0", "PYTHONMALLOC=malloc"])


@pytest.fixture
def run_python(start_python):
    """Run a Python program successfully and return its output."""
    def run(ranks, script, *arguments):
        done = start_python(ranks, script, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def smpirun(programs, records, tmp_path):
    """Return a function that runs the runner on the simulated hosts of a list and returns the record."""
    if not shutil.which("smpirun") or not (programs / "fft_runner_smpi").exists():
        pytest.skip("NOT TESTED: the simulated run, for smpirun is missing (Debian: libsimgrid-dev)")

    def one(hosts, *arguments):
        platform, hostfile, path = (tmp_path / name for name in ("platform.xml", "hosts", "simulated.jsonl"))
        platform.write_text(PLATFORM)
        hostfile.write_text("".join(f"{host}\n" for host in hosts))
        path.unlink(missing_ok=True)
        command = ["smpirun", "-np", len(hosts), "-platform", platform, "-hostfile", hostfile, *SIMULATION,
                   programs / "fft_runner_smpi", *arguments, "--json", path]
        done = run_bounded(command)
        assert done.returncode == 0, done.stdout + done.stderr
        [record] = records(path)
        return record

    return one


@pytest.fixture
def one_message():
    """Check a failed run: non-zero status and exactly one short message of ours, which is returned."""

    def check(done):
        assert done.returncode != 0, done.stdout
        messages = [line for line in done.stderr.splitlines() if line.startswith("fft_runner:")]
        assert len(messages) == 1 and len(messages[0]) <= 400, done.stderr
        return messages[0]

    return check
