"""A launcher and `check` agree on a file: valid, with each rank on the same host, or refused."""

import tempfile

import pytest

from pencilmap.mapper.base.hosts import Hosts
from pencilmap.mapper.formats import FORMATS, Document, Job, parse_mapping
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from tests.launchers.conftest import AGENT, Stalled, end_all_with, needs, open_mpi, run_bounded, running_slurm, succeed
from tests.launchers.placed import PLATFORM, REPORT, TASKS, TORUS
from tests.launchers.verdict_files import BROKEN, PASSED_OVER, USER, VALID, random_file

FORMAT = {"Open MPI 4.1": "openmpi4", "Open MPI 5.0": "openmpi5", "MPICH 4.0": "hydra", "Slurm 22.05": "slurm"}
SEEDS, ATTEMPTS, SECONDS = 100, 3, 15


def job_for(launcher):
    """Return the job of a launcher; the simulated platform of SimGrid numbers its hosts."""
    return Job(Site(TORUS, TASKS), Hosts(TORUS, "node-{node}" if launcher.startswith("SimGrid") else None))


def checked(launcher, text, n):
    """Return the hosts of the ranks from `check`, or its error."""
    job, content = job_for(launcher), text.encode()
    name = FORMAT.get(launcher, "hostfile")
    try:
        mapping = parse_mapping(content, "given", job, ProcessGrid(n, 1), name)
    except MapfileError as error:
        return str(error)
    judged = FORMATS[name].judged(Document(content, "given"))
    why = next((f"only {accepting}" for accepting in judged if accepting.startswith(f"{launcher} inside")), None)
    return why or judged[launcher] or job.hosts.names(mapping.node_of_rank)


slurm = pytest.fixture(scope="module")(running_slurm)  # of its own: bad files may stop the controller


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A folder with a program and a platform of SimGrid."""
    needs("smpirun", "libsimgrid-dev")
    folder = tmp_path_factory.mktemp("simgrid")
    succeed(["smpicc", AGENT.with_name("where.c"), "-o", folder / "where"])
    (folder / "platform.xml").write_text(PLATFORM)
    return folder


@pytest.fixture
def run(tmp_path, request):
    """Give a file to a launcher: (launcher, text, number of ranks) -> hosts of the ranks, or its output."""
    def start(launcher, text, n):
        path = tmp_path / "given"
        path.write_bytes(text.encode())
        if launcher.startswith("Slurm"):
            command = ["srun", "-n", n, "--distribution=arbitrary", "--immediate=5", REPORT]
            return answered(command, n, request.getfixturevalue("slurm") | {"SLURM_HOSTFILE": str(path)})
        if launcher.startswith("SimGrid"):
            folder = request.getfixturevalue("simulated")
            command = ["smpirun", "-np", n, "-platform", folder / "platform.xml", "-hostfile", path, folder / "where"]
            return answered(command, n, cwd=tmp_path)
        if launcher.startswith("MPICH"):
            command = [needs("mpiexec.mpich", "mpich"), "-f", path, "-n", n, REPORT]
            return answered(command, n, {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(AGENT)})
        return by_open_mpi(launcher, path, n)

    return start


def by_open_mpi(launcher, path, n):
    """Run Open MPI with four hosts in a hostfile, or in the given file if it lists the hosts of the ranks."""
    version = 5 if launcher.startswith("Open MPI 5") else 4
    program, environment = open_mpi(version)
    allocation = path.with_name("all")
    allocation.write_text("".join(f"{name} slots={TASKS}\n" for name in job_for(launcher).hosts.names(range(TORUS.n_nodes))))
    options = (["--hostfile", path, "--map-by", "seq"] if launcher.endswith("seq") else
               ["--hostfile", allocation, "--map-by", f"rankfile:file={path}"] if version == 5 else
               ["--hostfile", allocation, "--rankfile", path])
    return answered([program, "-np", n, *options, REPORT], n, environment)


def answered(command, n, environment=None, cwd=None):
    """Return the hosts of the ranks, or the launcher's output. Start a stalled launcher again: busy daemons stall."""
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(prefix="hosts", dir="/tmp", ignore_cleanup_errors=True) as folder:
            try:
                done = run_bounded(command, {**(environment or {}), "HOSTS_TMP": folder}, cwd, SECONDS)
            except Stalled as stalled:
                reason = stalled
                continue
            finally:
                end_all_with(f"HOSTS_TMP={folder}")
        found = {int(words[0]): words[1].removeprefix(USER).partition(".")[0]
                 for words in map(str.split, done.stdout.splitlines()) if len(words) == 3 and words[0].isdecimal()}
        ran = done.returncode == 0 and sorted(found) == list(range(n))
        return [found[rank] for rank in range(n)] if ran else f"status {done.returncode}: {done.stdout}{done.stderr}"
    pytest.skip(f"NOT TESTED: the launcher stalled {ATTEMPTS} times: {reason}")


@pytest.mark.sampled(25)
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("launcher", VALID)
def test_a_valid_file_puts_the_ranks_where_check_says(run, launcher, seed):
    text, nodes = random_file(launcher, seed, job_for(launcher).hosts.names(range(TORUS.n_nodes)))
    hosts = job_for(launcher).hosts.names(nodes)
    assert checked(launcher, text, len(nodes)) == hosts, text
    assert run(launcher, text, len(nodes)) == hosts, text


def named(launcher, text):
    """Return the text with the names of two hosts."""
    first, second = job_for(launcher).hosts.names([0, 1])
    return "".join({"A": first, "B": second}.get(letter, letter) for letter in text)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("launcher, kind", [(launcher, kind) for launcher in BROKEN for kind in BROKEN[launcher]])
def test_a_file_that_stops_the_launcher_is_not_valid(run, launcher, kind):
    text = named(launcher, BROKEN[launcher][kind])
    assert isinstance(run(launcher, text, 2), str), text
    assert isinstance(checked(launcher, text, 2), str), text


@pytest.mark.sampled(5)
@pytest.mark.parametrize("launcher, kind", [(launcher, kind) for launcher in PASSED_OVER for kind in PASSED_OVER[launcher]])
def test_a_file_of_which_a_part_is_passed_over_is_not_valid(run, launcher, kind):
    """If the launcher ever refuses a file of `PASSED_OVER`, move the file to `BROKEN`."""
    text = named(launcher, PASSED_OVER[launcher][kind])
    assert isinstance(run(launcher, text, 2), list), text
    assert isinstance(checked(launcher, text, 2), str), text


def test_twenty_kinds_of_broken_files_for_each_launcher():
    assert all(len(kinds) >= 20 for kinds in BROKEN.values()) and set(BROKEN) == set(PASSED_OVER) == set(VALID)
