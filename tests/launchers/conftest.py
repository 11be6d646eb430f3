"""Start real launchers for a limited time, and end all their processes."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from pencilmap.mapper.allocations.hwloc import read_node
from tests.fft_runner.conftest import programs  # noqa: F401  (a fixture)
from tests.launchers.placed import TASKS
from tests.launchers.slurm_cluster import NoCluster, cluster
from tests.modules import needs_module
from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]
RUN_S = 60
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OPEN_MPI = ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
AGENT = Path(__file__).with_name("on_host.sh")


def needs(program, package):
    """Skip with a clear message about the untested program."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"NOT TESTED: {program} is not installed (Debian: {package})")
    return path


class Stalled(Exception):
    """A launcher exceeded its time and was ended."""


def run_bounded(command, environment=None, cwd=None, seconds=RUN_S):
    """Run a launcher in its own session, and end the session if the time runs out.

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
    """Return the standard output of a command that must succeed."""
    done = run_bounded(command, environment, cwd, seconds)
    assert done.returncode == 0, f"{done.args}\n{done.stdout}{done.stderr}"
    return done.stdout


def end_all_with(variable):
    """End all remaining processes with a variable NAME=VALUE in their environment, which only our processes have."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


@pytest.fixture
def hosts_tmp():
    """Folder of the hosts' temporary folders, with a short path, because the folders hold sockets."""
    with tempfile.TemporaryDirectory(prefix="hosts", dir="/tmp", ignore_cleanup_errors=True) as folder:
        try:
            yield folder
        finally:
            end_all_with(f"HOSTS_TMP={folder}")


def open_mpi(version):
    """The launcher of version 4 or 5 of Open MPI, and the environment in which it starts hosts by the agent."""
    if version == 4:
        return needs("mpirun.openmpi", "openmpi-bin"), {"OMPI_MCA_plm_rsh_agent": str(AGENT)}
    folder = Path(os.environ.get("PENCILMAP_OPENMPI5", ROOT / "build" / "launchers" / "openmpi5")) / "bin"
    if not shutil.which(folder / "prterun"):
        pytest.skip(f"NOT TESTED: Open MPI 5 is not in {folder} (scripts/setup --everything puts it there)")
    return folder / "mpirun", {"PATH": f"{folder}:{os.environ['PATH']}", "PRTE_MCA_plm_ssh_agent": str(AGENT),
                               "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def intel_mpi():
    """The folder of Intel MPI's programs, and the environment in which they start hosts by the agent."""
    root = Path(os.environ.get("PENCILMAP_INTELMPI", ROOT / "build" / "launchers" / "intelmpi"))
    if not shutil.which(root / "bin" / "hydra_bstrap_proxy"):
        pytest.skip(f"NOT TESTED: Intel MPI is not in {root} (python3 -m venv {root} && {root}/bin/pip install impi-rt)")
    return root / "bin", {"PATH": f"{root}/bin:{os.environ['PATH']}", "I_MPI_ROOT": str(root),
                          "I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": str(AGENT)}


def running_slurm(tmp_path_factory, cloud=None, binds=False):
    """The environment in which srun finds a cluster of four nodes, or of nodes without daemons; `binds`: to processors."""
    for program, package in (("srun", "slurm-client"), ("slurmctld", "slurmctld"), ("slurmd", "slurmd"),
                             ("munged", "munge")):
        needs(program, package)
    with ExitStack() as running:
        try:
            environment = running.enter_context(cluster(tmp_path_factory.mktemp("slurm"), cloud, binds))
        except NoCluster as reason:
            pytest.skip(f"NOT TESTED: Slurm does not run here: {reason}")
        yield environment


slurm = pytest.fixture(scope="session")(running_slurm)


@pytest.fixture
def this_node():
    """The inside of this machine."""
    needs("lstopo-no-graphics", "hwloc-nox")
    return read_node("this", TASKS)


@pytest.fixture
def mpirun():
    """Start a command on some ranks of this machine under Open MPI; returns the result of subprocess."""
    program = needs("mpirun.openmpi", "openmpi-bin")

    def start(ranks, *command, environment=None, cwd=None):
        return run_bounded([program, *OPEN_MPI, "-n", ranks, *command], environment, cwd)

    return start


@pytest.fixture
def mpi_python(mpirun, tmp_path):
    """Run a Python text on some ranks; returns the result of subprocess."""
    needs_module("mpi4py", "mpi4py is not installed (pip install pencilmap[test])")

    def start(ranks, text, *arguments):
        (tmp_path / "program.py").write_text(text)
        return mpirun(ranks, sys.executable, tmp_path / "program.py", *arguments)

    return start
