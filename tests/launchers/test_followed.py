"""Launchers start ranks on four simulated hosts as our files say; a script stands in for ssh."""

import os

import numpy as np
import pytest

from pencilmap.mapper.formats import FORMATS, parse_mapping, read_mapping
from tests.launchers.conftest import AGENT, intel_mpi, needs, open_mpi, succeed
from tests.launchers.placed import (
    PLATFORM,
    REPORT,
    SEVERAL,
    TASKS,
    assert_bound_by_slot,
    assert_bound_inside,
    assert_where_the_file_says,
    written,
)


def wrapped(folder, name, program):
    """Return a PATH whose `name` is a program; a link would not do, because Hydra has its proxies beside the called name."""
    (folder / "bin").mkdir()
    (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    (folder / "bin" / name).chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


@pytest.fixture
def hosts(tmp_path):
    """The hostfile that tells the launcher the hosts."""
    path = tmp_path / "all"
    path.write_text("".join(f"node-{x}-{y} slots={TASKS}\n" for y in range(2) for x in range(2)))
    return str(path)


@pytest.fixture
def mpirun(tmp_path, hosts_tmp):
    """Run a line with a version of Open MPI: ``mpirun(version, line, hosts)``; hosts is a file or None."""

    def run(version, line, hosts=None):
        program, environment = open_mpi(version)
        known = {"OMPI_MCA_orte_default_hostfile": hosts, "PRTE_MCA_prte_default_hostfile": hosts} if hosts else {}
        path = wrapped(tmp_path, "mpirun", program) if version == 4 else {}
        return succeed(["sh", "-c", line], {**environment, **path, **known, "HOSTS_TMP": hosts_tmp})

    return run


@pytest.mark.parametrize("program", [REPORT, SEVERAL])
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("version", [4, 5])
def test_open_mpi_follows_the_rankfile(tmp_path, hosts, mpirun, version, alone, program):
    mapping, job, line = written(tmp_path, f"openmpi{version}", int(alone), program, alone=alone)
    out = mpirun(version, line, None if alone else hosts)
    assert_where_the_file_says(out, mapping, job)
    assert_bound_by_slot(out, mapping)


@pytest.mark.parametrize("version", [4, 5])
def test_open_mpi_binds_inside_the_nodes(tmp_path, hosts, mpirun, version, this_node):
    mapping, job, line = written(tmp_path, f"openmpi{version}", 3, node=this_node)
    assert_bound_inside(mpirun(version, line, hosts), job, mapping.slot_of_rank)


@pytest.mark.parametrize("version", [4, 5])
def test_check_reads_the_job_map(tmp_path, hosts, mpirun, version):
    # prterun of Open MPI 5 hangs in a quarter of runs if the programs end at once
    mapping, job, line = written(tmp_path, f"openmpi{version}", 2, program="sleep 1")
    used = mpirun(version, line.replace("-np", f"{'--display-map' if version == 4 else '--display map'} -np"), hosts)
    assert np.array_equal(parse_mapping(used.encode(), "used", job).node_of_rank, mapping.node_of_rank)


def test_open_mpi_4_follows_the_hostfile_in_sequence(tmp_path, mpirun):
    mapping, job, line = written(tmp_path, "hostfile", 5)
    assert line.startswith("smpirun")
    out = mpirun(4, f"mpirun -np {mapping.n_tasks} --hostfile '{tmp_path}/ranks and hosts' --map-by seq {job.program}")
    assert_where_the_file_says(out, mapping, job)


@pytest.mark.parametrize(("seed", "program"), [(0, REPORT), (1, SEVERAL)])
@pytest.mark.parametrize("name", ["hydra", "intel"])
def test_mpich_and_intel_mpi_follow_the_machinefile(tmp_path, name, seed, program):
    mapping, job, line = written(tmp_path, name, seed, program)
    environment = intel_mpi()[1] if name == "intel" else {
        **wrapped(tmp_path, "mpiexec", needs("mpiexec.mpich", "mpich")), "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(AGENT)}
    assert_where_the_file_says(succeed(["sh", "-c", line], environment), mapping, job)


@pytest.mark.parametrize("seed", range(3))
def test_mpich_binds_inside_the_nodes(tmp_path, seed, this_node):
    """Each line has its own list, also the second line of a host."""
    mapping, job, line = written(tmp_path, "hydra", seed, node=this_node)
    environment = {**wrapped(tmp_path, "mpiexec", needs("mpiexec.mpich", "mpich")), "HYDRA_LAUNCHER": "ssh",
                   "HYDRA_LAUNCHER_EXEC": str(AGENT)}
    text = succeed(["sh", "-c", line], environment)
    assert_where_the_file_says(text, mapping, job)
    assert_bound_inside(text, job, mapping.slot_of_rank)
    read = read_mapping(tmp_path / "ranks and hosts", job)
    assert np.array_equal(read.slot_of_rank, mapping.slot_of_rank)


def test_smpirun_follows_the_hostfile(tmp_path):
    """smpirun 3.32 cuts the path of the hostfile at a blank."""
    needs("smpirun", "libsimgrid-dev")
    program = tmp_path / "where"
    succeed(["smpicc", AGENT.with_name("where.c"), "-o", program])
    (tmp_path / "platform.xml").write_text(PLATFORM)
    for seed in range(2):
        mapping, job, line = written(tmp_path, "hostfile", seed, program, "node-{node}", "hosts")
        out = succeed(["sh", "-c", line.replace("PLATFORM", "platform.xml")], cwd=tmp_path)
        assert_where_the_file_says(out, mapping, job)
    assert any("blank" in w for w in FORMATS["hostfile"].launch(mapping, job, "my hosts").warnings)
    assert not FORMATS["hostfile"].launch(mapping, job, "my_hosts").warnings
