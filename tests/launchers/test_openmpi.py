"""Open MPI 4 and 5 start ranks on four simulated hosts where the rankfile says; a script stands in for ssh."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.launchers.conftest import AGENT, ROOT, end_all_with, needs, succeed
from tests.launchers.placed import TASKS, assert_bound_by_slot, assert_where_the_file_says, written


@pytest.fixture
def hosts(tmp_path):
    """The hostfile with which the launcher finds the hosts."""
    path = tmp_path / "all"
    path.write_text("".join(f"node-{x}-{y} slots={TASKS}\n" for y in range(2) for x in range(2)))
    return path


@pytest.fixture
def hosts_tmp():
    """Folder of the hosts' temporary folders; sockets lie in them, so the path must be short."""
    with tempfile.TemporaryDirectory(prefix="hosts", dir="/tmp", ignore_cleanup_errors=True) as folder:
        try:
            yield folder
        finally:
            end_all_with(f"HOSTS_TMP={folder}")


@pytest.fixture
def open_mpi_4(tmp_path, hosts_tmp):
    """Run a launch line by Open MPI 4."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mpirun").symlink_to(needs("mpirun.openmpi", "openmpi-bin"))

    def run(line, **more):
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "OMPI_MCA_plm_rsh_agent": str(AGENT),
                       "HOSTS_TMP": hosts_tmp, **more}
        return succeed(["sh", "-c", line], environment)

    return run


@pytest.mark.parametrize("seed", range(2))
def test_open_mpi_4_follows_the_rankfile(tmp_path, hosts, open_mpi_4, seed):
    mapping, job, line = written(tmp_path, "openmpi4", seed)
    out = open_mpi_4(line, OMPI_MCA_orte_default_hostfile=str(hosts))
    assert_where_the_file_says(out, mapping, job)
    assert_bound_by_slot(out, mapping)


def test_open_mpi_4_follows_the_hostfile_in_sequence(tmp_path, open_mpi_4):
    mapping, job, line = written(tmp_path, "hostfile", 5)
    assert line.startswith("smpirun")
    out = open_mpi_4(f"mpirun -np {mapping.n_tasks} --hostfile '{tmp_path}/ranks and hosts' --map-by seq {job.program}")
    assert_where_the_file_says(out, mapping, job)


@pytest.mark.parametrize("seed", range(2))
def test_open_mpi_5_follows_the_rankfile(tmp_path, hosts, hosts_tmp, seed):
    folder = Path(os.environ.get("PENCILMAP_OPENMPI5", ROOT / "build" / "launchers" / "openmpi5")) / "bin"
    if not shutil.which(folder / "prterun"):
        pytest.skip(f"NOT TESTED: Open MPI 5 is not in {folder} (scripts/setup --everything puts it there)")
    mapping, job, line = written(tmp_path, "openmpi5", seed)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "PRTE_MCA_plm_ssh_agent": str(AGENT),
                   "PRTE_MCA_prte_default_hostfile": str(hosts), "PRTE_ALLOW_RUN_AS_ROOT": "1",
                   "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "HOSTS_TMP": hosts_tmp}
    out = succeed(["sh", "-c", line], environment)
    assert_where_the_file_says(out, mapping, job)
    assert_bound_by_slot(out, mapping)


