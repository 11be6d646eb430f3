"""Open MPI 4 and 5 start ranks on four simulated hosts as the rankfile says; a script stands in for ssh."""

import os

import numpy as np
import pytest

from pencilmap.mapper.formats import parse_mapping
from tests.launchers.conftest import AGENT, needs, open_mpi_5, succeed
from tests.launchers.placed import TASKS, assert_bound_by_slot, assert_where_the_file_says, written


@pytest.fixture
def hosts(tmp_path):
    """The hostfile that tells the launcher the hosts."""
    path = tmp_path / "all"
    path.write_text("".join(f"node-{x}-{y} slots={TASKS}\n" for y in range(2) for x in range(2)))
    return path


@pytest.fixture
def open_mpi_4(tmp_path, hosts_tmp):
    """Run a launch line with Open MPI 4."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mpirun").symlink_to(needs("mpirun.openmpi", "openmpi-bin"))

    def run(line, **more):
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "OMPI_MCA_plm_rsh_agent": str(AGENT),
                       "HOSTS_TMP": hosts_tmp, **more}
        return succeed(["sh", "-c", line], environment)

    return run


@pytest.mark.parametrize("alone", [False, True])
def test_open_mpi_4_follows_the_rankfile(tmp_path, hosts, open_mpi_4, alone):
    mapping, job, line = written(tmp_path, "openmpi4", int(alone), alone=alone)
    out = open_mpi_4(line, **({} if alone else {"OMPI_MCA_orte_default_hostfile": str(hosts)}))
    assert_where_the_file_says(out, mapping, job)
    assert_bound_by_slot(out, mapping)


@pytest.mark.parametrize("version", [4, 5])
def test_check_reads_the_job_map(tmp_path, hosts, hosts_tmp, open_mpi_4, version):
    # prterun of Open MPI 5 hangs in a quarter of runs if the programs end at once
    mapping, job, line = written(tmp_path, f"openmpi{version}", 2, program="sleep 1")
    line = line.replace("-np", f"{'--display-map' if version == 4 else '--display map'} -np")
    used = open_mpi_4(line, OMPI_MCA_orte_default_hostfile=str(hosts)) if version == 4 else succeed(["sh", "-c", line], {
        **open_mpi_5()[1], "PRTE_MCA_prte_default_hostfile": str(hosts), "HOSTS_TMP": hosts_tmp})
    assert np.array_equal(parse_mapping(used.encode(), "used", job).node_of_rank, mapping.node_of_rank)


def test_open_mpi_4_follows_the_hostfile_in_sequence(tmp_path, open_mpi_4):
    mapping, job, line = written(tmp_path, "hostfile", 5)
    assert line.startswith("smpirun")
    out = open_mpi_4(f"mpirun -np {mapping.n_tasks} --hostfile '{tmp_path}/ranks and hosts' --map-by seq {job.program}")
    assert_where_the_file_says(out, mapping, job)


@pytest.mark.parametrize("alone", [False, True])
def test_open_mpi_5_follows_the_rankfile(tmp_path, hosts, hosts_tmp, alone):
    _, environment = open_mpi_5()
    mapping, job, line = written(tmp_path, "openmpi5", int(alone), alone=alone)
    known = {} if alone else {"PRTE_MCA_prte_default_hostfile": str(hosts)}
    out = succeed(["sh", "-c", line], {**environment, **known, "HOSTS_TMP": hosts_tmp})
    assert_where_the_file_says(out, mapping, job)
    assert_bound_by_slot(out, mapping)


