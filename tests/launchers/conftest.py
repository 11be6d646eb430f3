"""Start real launchers, bounded in time, and end all that they started."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from pencilmap.scripts.networks.build import find_build
from tests.modules import needs_module
from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]
BUILD_S, RUN_S = 600, 60
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OPEN_MPI = ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
AGENT = Path(__file__).with_name("on_host.sh")


def needs(program, package):
    """Skip, and say loudly what was not tested."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"NOT TESTED: {program} is not installed (Debian: {package})")
    return path


class Stalled(Exception):
    """A launcher that did not end in its time and was ended."""


def run_bounded(command, environment=None, cwd=None, seconds=RUN_S):
    """Run a launcher in a session of its own; when its time is up, end the session.

    Output goes to files, not pipes: a daemon that outlives its launcher would keep a pipe open.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   cwd=cwd, start_new_session=True, env={**ENVIRONMENT, **(environment or {})})
        try:
            status = process.wait(patience(seconds))
        except subprocess.TimeoutExpired as late:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Stalled(f"not finished in {seconds} s: {process.args}") from late
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(process.args, status, out.read(), err.read())


def succeed(command, environment=None, cwd=None, seconds=RUN_S):
    """Standard output of a command that must end well."""
    done = run_bounded(command, environment, cwd, seconds)
    assert done.returncode == 0, f"{done.args}\n{done.stdout}{done.stderr}"
    return done.stdout


def end_all_with(variable):
    """End what we started and is still there, known by a variable NAME=VALUE of its environment that is ours alone."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


@pytest.fixture(scope="session")
def programs():
    """Directory of the programs of tests/launchers, built; `make` finds that there is nothing to do."""
    needs("mpicc", "libopenmpi-dev")
    directory = find_build().directory
    if not (directory / "CMakeCache.txt").exists():
        succeed(["cmake", "-S", ROOT / "fft_runner", "-B", directory])
    with open(directory / ".pencilmap-lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["cmake", "--build", directory], capture_output=True, text=True, timeout=patience(BUILD_S))
    assert done.returncode == 0, done.stdout + done.stderr
    return directory / "bin"


@pytest.fixture
def mpirun():
    """Start a command on some ranks of this machine under Open MPI; gives what subprocess gives."""
    program = needs("mpirun.openmpi", "openmpi-bin")

    def start(ranks, *command, environment=None, cwd=None):
        return run_bounded([program, *OPEN_MPI, "-n", ranks, *command], environment, cwd)

    return start


@pytest.fixture
def mpi_python(mpirun, tmp_path):
    """Run a text of Python on some ranks; gives what subprocess gives."""
    needs_module("mpi4py", "mpi4py is not installed (pip install pencilmap[test])")

    def start(ranks, text, *arguments):
        (tmp_path / "program.py").write_text(text)
        return mpirun(ranks, sys.executable, tmp_path / "program.py", *arguments)

    return start
