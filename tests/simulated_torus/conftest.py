"""The built plugin and runner, and short descriptions of simulations."""

import os
import shutil

import pytest

from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.networks.build import ensure_built
from pencilmap.scripts.networks.simulated import SimulatedNetwork, Simulation

BYTES_PER_S = 148e6


def host(coordinate):
    return "node-" + "-".join(str(int(c)) for c in coordinate)


@pytest.fixture(scope="session")
def build():
    if not shutil.which("smpirun"):
        pytest.skip("NOT TESTED: the simulated torus, for smpirun is missing (Debian: libsimgrid-dev)")
    return ensure_built()


@pytest.fixture
def simulation():
    """``simulation("4x4x4", "4x16", 64)``: 64^3, ranks on the nodes in turn, first dimension fastest.

    `coordinates` sets other hosts, a host for each rank; the other arguments are fields of SimulatedNetwork and Simulation.
    """

    def make(shape, grid, size, coordinates=None, tasks_per_node=1, bandwidth=None, cables=None, **options):
        torus = parse_torus(shape)
        rates = bandwidth or (BYTES_PER_S,) * torus.n_dimensions
        torus = parse_torus(shape, bandwidth=rates, cables=cables)
        grid = parse_grid(grid)
        size = (size,) * 3 if isinstance(size, int) else size
        if coordinates is None:
            coordinates = [torus.coordinates(r % torus.n_nodes) for r in range(torus.n_nodes * tasks_per_node)]
        network = {k: options.pop(k) for k in ("latency_s", "injection_bytes_per_s", "message_s", "tie", "order")
                   if k in options}
        return Simulation(SimulatedNetwork(torus, **network), [host(c) for c in coordinates], size, grid, **options)

    return make


@pytest.fixture
def processes_below():
    """Return the processes whose working directory is a folder or a subfolder."""

    def find(folder):
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{process}/cwd").startswith(str(folder)):
                    found.append(int(process))
            except OSError:
                continue  # ended, or another user's process
        return found

    return find
