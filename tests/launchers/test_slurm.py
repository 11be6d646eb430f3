"""Slurm's arbitrary distribution, on a cluster on loopback that the test starts and stops."""

import pytest

from pencilmap.mapper.allocations import look_around
from tests.launchers.conftest import succeed
from tests.launchers.placed import TASKS, assert_where_the_file_says, written
from tests.launchers.slurm_cluster import HOSTS


@pytest.mark.parametrize("seed", range(2))
def test_srun_follows_the_hostfile(tmp_path, slurm, seed):
    mapping, job, line = written(tmp_path, "slurm", seed)
    out = succeed(["sh", "-c", line], slurm)
    assert_where_the_file_says(out, mapping, job)


def test_a_job_finds_its_nodes_and_tasks_in_the_environment(slurm):
    """`pencilmap network` reads the variables that srun really sets."""
    out = succeed(["srun", "-N", "3", f"--ntasks-per-node={TASKS}", "-w", f"{HOSTS[3]},{HOSTS[0]},{HOSTS[2]}", "sh", "-c",
                   "env | grep ^SLURM_"], slurm)
    environ = dict(line.split("=", 1) for line in out.splitlines())
    picture = look_around(environ, torus="2x2")
    assert sorted(picture.names.values()) == sorted([HOSTS[0], HOSTS[2], HOSTS[3]])
    assert picture.tasks_per_node == TASKS
