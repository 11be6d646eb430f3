"""Every exchange algorithm of the library takes its predicted time on the simulated torus."""

import numpy as np
import pytest

from pencilmap.model.mapping import Mapping
from pencilmap.model.predict import predict
from pencilmap.model.transform import Transform
from pencilmap.scripts.networks.simulated import ENVELOPE_BYTES, simulate

TOLERANCE = 0.005
NETWORKS = [  # torus, tasks per node, grid, n; blocks are even
    ("8x8", 1, "8x8", 64),
    ("6x6", 1, "6x6", 60),
    ("5x6:mesh", 1, "6x5", 60),
    ("4x4x2:mesh", 2, "8x8", 64),
    ("4x4", 4, "8x8", 64),
    ("2x2x2x2x3", 1, "16x3", 96),
]


def predicted_s(run, exchange):
    """Seconds of each exchange, with the envelope that SMPI adds to each message."""
    torus, grid, tasks = run.network.torus, run.grid, run.tasks_per_node
    place = np.arange(grid.n_tasks)
    mapping = Mapping(torus, grid, tasks, place % torus.n_nodes, place // torus.n_nodes)
    transform = Transform(*run.size)
    stages = predict(mapping, transform, run.network.routing, exchange=exchange).stages
    message = [transform.total_bytes / grid.n_tasks / grid.extent(stage.letters) for stage in grid.decomposition.exchanges]
    return [stage.time_s * (1 + ENVELOPE_BYTES / size) for stage, size in zip(stages, message)]


@pytest.mark.parametrize("exchange, shape, tasks, grid, n", [
    *((exchange, *network) for exchange in ("p2p", "node") for network in NETWORKS),
    *((exchange, *NETWORKS[3]) for exchange in ("alltoallv", "alltoall", "padded", "alltoallw", "persistent")),
], ids=str)
def test_an_algorithm_takes_its_predicted_time(build, simulation, exchange, shape, tasks, grid, n):
    run = simulation(shape, grid, n, tasks_per_node=tasks, exchange=exchange)
    [record] = simulate(run)
    measured = [record["phases"][f"exchange_{name}"]["max_s"][0] for name in ("row", "column")]
    assert measured == pytest.approx(predicted_s(run, exchange), rel=TOLERANCE)


@pytest.mark.parametrize("exchange", ["alltoallv", "padded", "alltoallw", "persistent", "node"])
def test_an_algorithm_takes_its_predicted_time_with_uneven_blocks(build, simulation, exchange):
    run = simulation("4x3x2", "6x8", (101, 113, 97), tasks_per_node=2, exchange=exchange, verify=True)
    [record] = simulate(run)
    assert record["verify"]["passed"]
    measured = [record["phases"][f"exchange_{name}"]["max_s"][0] for name in ("row", "column")]
    assert measured == pytest.approx(predicted_s(run, exchange), rel=TOLERANCE)
