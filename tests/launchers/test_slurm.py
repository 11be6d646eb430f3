"""Slurm's arbitrary distribution, on a cluster on loopback that the test starts and stops."""

import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pencilmap.mapper.allocations import look_around
from pencilmap.mapper.formats import FORMATS, parse_mapping
from pencilmap.mapper.graphs import read_graph
from pencilmap.mapper.traffic_files import read_traffic
from pencilmap.model.kinds.fat_tree import FatTree
from pencilmap.model.placement.allocation import slots_in_order
from tests.documents import run_by
from tests.launchers.conftest import ROOT, needs, running_slurm, succeed
from tests.launchers.placed import REPORT, SEVERAL, TASKS, assert_bound_inside, assert_where_the_file_says, written
from tests.launchers.slurm_cluster import HOSTS


@pytest.mark.parametrize("cores", [1, 2])
def test_srun_follows_the_hostfile(tmp_path, slurm, cores):
    """With as many processors for a task as asked for."""
    mapping, job, _ = written(tmp_path, "slurm", seed=cores, program="sh -c 'test ${SLURM_CPUS_PER_TASK:-1} = "
                              f"{cores} && exec {REPORT}'")
    job = replace(job, cores=tuple(f"{slot * cores}-{(slot + 1) * cores - 1}" for slot in range(TASKS)))
    line = FORMATS["slurm"].launch(mapping, job, tmp_path / "ranks and hosts").line
    assert ("--cpus-per-task=2" in line) == (cores == 2)
    out = succeed(["sh", "-c", line], slurm)
    assert_where_the_file_says(out, mapping, job)


def test_srun_starts_several_programs(tmp_path, slurm):
    mapping, job, line = written(tmp_path, "slurm", 3, SEVERAL)
    assert_where_the_file_says(succeed(["sh", "-c", line], slurm, cwd=tmp_path), mapping, job)


@pytest.fixture(scope="module")
def binding_slurm(tmp_path_factory):
    """A cluster that binds tasks."""
    yield from running_slurm(tmp_path_factory, binds=True)


@pytest.mark.parametrize("seed", range(2))
def test_srun_binds_all_nodes_alike(tmp_path, binding_slurm, this_node, seed):
    """The first, second and further rank of each node, in an order that is not that of the processors."""
    node = this_node.in_order(np.random.default_rng(seed).permutation(TASKS)[::-1])
    mapping, job, line = written(tmp_path, "slurm", seed, node=node)
    assert "#SBATCH --exclusive" in FORMATS["slurm"].launch(mapping, job, "ranks").job_script
    text = succeed(["salloc", "--quiet", "--exclusive", "--nodes=4", "sh", "-c", line], binding_slurm)
    assert_where_the_file_says(text, mapping, job)
    assert_bound_inside(text, job, slots_in_order(mapping.node_of_rank))


def test_check_reads_the_labels_of_srun(tmp_path, slurm):
    mapping, job, line = written(tmp_path, "slurm", 3, program="printenv SLURMD_NODENAME")
    used = succeed(["sh", "-c", line.replace("srun ", "srun -l ")], slurm)
    assert np.array_equal(parse_mapping(used.encode(), "used", job).node_of_rank, mapping.node_of_rank)


def test_a_job_finds_its_nodes_and_tasks_in_the_environment(slurm):
    """`pencilmap network` reads the variables that srun really sets."""
    out = succeed(["srun", "-N", "3", f"--ntasks-per-node={TASKS}", "-w", f"{HOSTS[3]},{HOSTS[0]},{HOSTS[2]}", "sh", "-c",
                   "env | grep ^SLURM_"], slurm)
    environ = dict(line.split("=", 1) for line in out.splitlines())
    picture = look_around(environ, torus="2x2")
    assert sorted(picture.names.values()) == sorted([HOSTS[0], HOSTS[2], HOSTS[3]])
    assert picture.tasks_per_node == TASKS


RING = """
#include <mpi.h>
int main(void)
{
    int rank, ranks, other;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &other, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""
NETWORK = f"""
if [ $SLURM_PROCID = 0 ]; then
    {sys.executable} -m pencilmap network --no-hardware && echo ---- && env | grep SLURM_TOPOLOGY_ADDR
fi
"""


@pytest.mark.parametrize("asked", ["topology.conf", "scontrol"])
def test_a_job_finds_its_network_and_the_command_to_type_next(slurm, tmp_path, asked):
    """From the file beside slurm.conf, or where it cannot be read from scontrol."""
    environment = {**os.environ, **slurm, "PYTHONPATH": str(ROOT / "packaging"), "COLUMNS": "120"}
    folder = Path(slurm["SLURM_CONF"]).parent
    before = ""
    if asked == "scontrol":
        shutil.copy(folder / "slurm.conf", tmp_path)
        before = f"export SLURM_CONF={tmp_path}/slurm.conf\n"  # slurmd sets its own
    job = ["srun", "-N3", "-n6", "--ntasks-per-node=2", "-w", "node-0-0,node-1-0,node-0-1"]
    out, _, places = succeed([*job, "bash", "-c", before + NETWORK], environment, cwd=tmp_path).partition("----\n")
    assert "Your job has 3 of 4 hosts, on 2 of 2 leaves of a tree, 2 tasks on each host.\n" in out
    assert "  leaf0   ##  2 of 2 hosts\n  leaf1   #.  1 of 2 hosts\n" in out
    assert "SLURM_TOPOLOGY_ADDR=spine.leaf0.node-0-0\n" in places and "SLURM_TOPOLOGY_ADDR" in out
    commands = out.partition("\n  next ")[2].partition("\n  from ")[0].replace("\\\n", "")
    file = "topology.txt" if asked == "scontrol" else str(folder / "topology.conf")
    options = f"--network {file},taper=2 --tasks-per-node 2 --nodes nodes.txt --bandwidth '12.5 GB/s' --fft 512"
    assert options in " ".join(commands.split())
    typed = f"{before}if [ $SLURM_PROCID = 0 ]; then\n{commands.replace('pencilmap', f'{sys.executable} -m pencilmap')}\nfi"
    answer = succeed([*job, "bash", "-c", typed], environment, cwd=tmp_path)
    assert re.search(r"Use (grid (1x6|2x3|3x2|6x1)|slab 6)\b", answer), answer  # 2 tasks on each of 3 of the 4 nodes
    assert (tmp_path / "nodes.txt").read_text() == "node-0-0\nnode-0-1\nnode-1-0\n"


@pytest.mark.parametrize("line", ["srun -N2 -n4 --mpi=pmi2 ./ring", "srun -N2 -n4 --mpi=pmi2 --multi-prog programs"])
def test_a_program_under_srun_is_traced(slurm, tmp_path, line):
    compiler = needs("mpicc.mpich", "libmpich-dev")
    (tmp_path / "ring.c").write_text(RING)
    succeed([compiler, "-w", "ring.c", "-o", "ring"], cwd=tmp_path)
    (tmp_path / "programs").write_text("0-1 ./ring\n2-3 ./ring\n")
    succeed([sys.executable, "-m", "pencilmap", "trace", "--", *line.split()], {**os.environ, **slurm, "PYTHONPATH": str(
        ROOT / "packaging")}, cwd=tmp_path, seconds=120)
    found = read_traffic(tmp_path / "traffic.txt")
    assert sorted(zip(found.pairs.source.tolist(), found.pairs.target.tolist())) == [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_the_addresses_of_all_nodes_are_the_tree_above_the_job(slurm, tmp_path):
    [command] = run_by(__file__)
    succeed(["bash", "-c", command.replace("srun", "srun -N4")], {**os.environ, **slurm}, cwd=tmp_path)
    tree = read_graph(tmp_path / "addresses.txt")
    assert isinstance(tree, FatTree) and set(tree.vertices[:4]) == set(HOSTS) and tree.cables_up[0].tolist() == [2, 2]
