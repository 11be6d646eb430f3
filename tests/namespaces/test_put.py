"""Exchange put between nodes: MPI_Put over TCP from namespace to namespace gives the right transform, or is refused."""

import re
import subprocess

import pytest

from pencilmap.scripts.networks.build import ensure_built
from pencilmap.scripts.networks.namespaces.box import run_boxed
from pencilmap.scripts.networks.namespaces.network import EmulationError
from tests.patience import patience

pytestmark = pytest.mark.namespaces
NODES = ("n0000", "n0001")


def open_mpi():
    """Return the major version of Open MPI."""
    told = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"\) (\d+)\.", told)[1])


def run_put(grid, hosts):
    """Run a verified transform with exchange put, rank i on ``hosts[i]``, and return its record."""
    program = [str(ensure_built().mpi_runner), "--size", "12", "10", "8", "--grid", grid, "--exchange", "put", "--verify",
               "--reps", "2", "--rigor", "estimate"]
    job = {"network": "2:mesh", "rate_bits_per_s": 10**8, "mtu": 1500, "tie": "parity", "timeout_s": patience(60),
           "runs": [{"name": "put", "program": program, "hosts": list(hosts)}]}
    return run_boxed(job, patience(120))[0]["record"]


@pytest.mark.parametrize("grid, hosts", [
    ("1x2", NODES),                                      # a group of one rank on each node
    ("2x2", (NODES[0], NODES[0], NODES[1], NODES[1])),   # rows share the memory of a node; columns of one rank on each
    ("2x2", (NODES[0], NODES[1], NODES[0], NODES[1]))])  # the other way round
def test_one_sided_messages_between_nodes_give_the_right_transform(grid, hosts, namespaces):
    record = run_put(grid, hosts)
    assert record["verify"]["passed"] and record["exchange"]["algorithm"] == "put"
    assert len({rank["host"] for rank in record["placement"]["ranks"]}) == 2


def test_a_group_of_several_ranks_on_each_of_several_nodes_is_refused_or_right(namespaces):
    hosts = [NODES[0]] * 2 + [NODES[1]] * 2
    if open_mpi() >= 5:
        assert run_put("4x1", hosts)["verify"]["passed"]
        return
    with pytest.raises(EmulationError) as failed:
        run_put("4x1", hosts)
    told = " ".join(str(failed.value).split())
    assert "exchange put needs Open MPI 5 or MPICH" in told and "use another exchange" in told
