"""The runner on the simulated torus: its exchanges take the time of the busiest link, and its result is right.

A bound is m * D_T / (4 N B) in the dimension with the largest bound; the m are the paper's, derived by hand.
"""

import numpy as np
import pytest

from pencilmap.mapper.runs.compare import compare_records
from pencilmap.model.kinds.torus_routes import dimension_order_loads
from pencilmap.model.placement.transform import Transform
from pencilmap.model.traffic.exchange import exchanges
from pencilmap.scripts.networks.simulated import ENVELOPE_BYTES, simulate

BYTES_PER_S = 148e6
BYTES_PER_ELEMENT = 16
TOLERANCE = 0.02
EXCHANGES = ("exchange_row", "exchange_column")


def bounds_s(simulation, m_row, m_column):
    """Return the two bounds; each m has a number for each dimension."""
    torus = simulation.network.network
    total_bytes = BYTES_PER_ELEMENT * np.prod(simulation.size)
    rates = np.multiply(torus.bandwidth, torus.cables)
    return [max(np.array(m) / rates) * total_bytes / (4 * torus.n_nodes) for m in (m_row, m_column)]


def times_s(records):
    [record] = records
    return [max(record["phases"][name]["max_s"]) for name in EXCHANGES]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape, grid, n, m_row, m_column, options", [
    ("4x4x4", "4x16", 64, (2, 0, 0), (0, 2, 2), {}),  # a row is a full ring of 4
    ("4x4x4:mesh", "4x16", 64, (4, 0, 0), (0, 4, 4), {}),  # an open line: all data across its middle goes the same way
    ("4wx4x2w", "4x8", 64, (2, 0, 0), (0, 4, 2), {}),  # a ring, a line, and a pair with a single cable, wrapped or not
    ("2x2x2x2x3", "16x3", 96, (2, 2, 2, 2, 0), (0, 0, 0, 0, 4 / 3), {}),
    ("4x4", "4x4", 64, (2, 0), (0, 2), {"bandwidth": (BYTES_PER_S, BYTES_PER_S / 4)}),
    ("4x2", "4x2", 64, (2, 0), (0, 2), {"cables": (1, 2)}),
    ("4x4x4", "4x16", 64, (2, 0, 0), (0, 2, 2), {"order": (2, 0, 1), "direction": "backward"}),
    ("4x4x4", "4x16", 64, (2, 0, 0), (0, 2, 2), {"latency_s": 1e-7}),
], ids=lambda value: value if isinstance(value, str) else "")
def test_exchanges_take_as_long_as_the_busiest_link(build, simulation, shape, grid, n, m_row, m_column, options):
    run = simulation(shape, grid, n, verify=True, **options)
    records = simulate(run)
    assert records[0]["verify"]["passed"]
    assert times_s(records) == pytest.approx(bounds_s(run, m_row, m_column), rel=TOLERANCE)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape, grid, n", [
    ("8x8", "8x8", 64), ("4x4x4", "4x16", 64), ("8x4:mesh", "4x8", 64), ("5x5", "5x5", 50), ("6x6", "6x6", 36),
    ("4x8", "8x4", 64), ("3x3x3", "9x3", 54), ("4x4x4", "8x8", 64)])
def test_p2p_whose_partners_know_the_torus_keeps_to_the_bound(build, simulation, shape, grid, n):
    at_once, in_phases = (times_s(simulate(simulation(shape, grid, n, exchange=exchange, verify=exchange == "p2p")))
                          for exchange in ("alltoallv", "p2p"))
    assert np.all(np.divide(in_phases, at_once) < 1.05)


def test_ties_all_one_way_double_the_load_of_a_ring(build, simulation):
    run = simulation("8", "8x1", 128, tie="plus")
    row_s, _ = times_s(simulate(run))
    upward = 1 + 2 + 3 + 4  # messages on each + link; 8 with split ties
    assert row_s == pytest.approx(bounds_s(run, [4 * upward / 8], [0])[0], rel=TOLERANCE)


def test_an_injection_limit_bounds_what_leaves_a_node(build, simulation):
    limit = BYTES_PER_S / 4
    run = simulation("4x4x4", "4x16", 64, injection_bytes_per_s=limit)
    leaving = np.array([3 / 4, 15 / 16]) * run.bytes_per_rank
    assert times_s(simulate(run)) == pytest.approx(leaving / limit, rel=TOLERANCE)


def test_rows_inside_a_node_cost_the_network_nothing(build, simulation):
    slots_first = [(x, y, z) for z in range(4) for y in range(4) for x in range(4) for _ in range(2)]
    run = simulation("4x4x4", "2x64", 128, slots_first, verify=True)
    records = simulate(run)
    row_s, column_s = times_s(records)
    assert run.tasks_per_node == records[0]["placement"]["tasks_per_node"] == 2
    assert row_s < 1e-6
    assert column_s == pytest.approx(bounds_s(run, (0, 0, 0), (2, 2, 2))[1], rel=TOLERANCE)


@pytest.mark.parametrize(("torus", "grid", "size"), [("4x4x4", "4x16", 64), ("4x4", "4x4", 16), ("4x4", "4x4", 8)])
def test_folding_the_buffers_leaves_the_times(build, simulation, torus, grid, size):
    whole, folded = (times_s(simulate(simulation(torus, grid, size, timing_only=fold))) for fold in (False, True))
    assert folded == whole


@pytest.mark.parametrize("kind", [{"type": "r2c"}, {"type": "r2c", "precision": "single"}, {"type": "dct"},
                                  {"type": "r2c", "fields": 2, "schedule": "overlap:2"}])
def test_every_type_takes_its_predicted_time(build, simulation, kind):
    labels = {"link_bandwidth": "148e6byte/s", "routing": "dimension-order:parity"}
    run = simulation("4x4", "4x4", (24, 40, 60), labels=labels, **kind)
    rows = compare_records(simulate(run), "run")
    assert rows and all(row.measured_s == pytest.approx(row.t_s, rel=0.02) for row in rows)  # with SMPI's envelopes


def test_the_runner_reads_its_coordinates_from_the_hosts(build, simulation):
    coordinates = [(1, 2), (0, 0), (3, 1), (2, 2)]
    [record] = simulate(simulation("4x3", "2x2", 8, coordinates, labels={"placement": "by:hand"}))
    assert [rank["coordinate"] for rank in record["placement"]["ranks"]] == [list(c) for c in coordinates]
    assert record["labels"] == {"network": "simulated", "placement": "by:hand"}


def usage_of_exchanges(path):
    """Return the payload of each link in both exchanges, whose messages start together and have the most bytes of all."""
    by_date = {}
    for line in path.read_text().splitlines()[1:]:
        start_s, link, messages, carried = line.split()
        by_date.setdefault(float(start_s), {})[link] = int(carried) - ENVELOPE_BYTES * int(messages)
    return [by_date[start] for start in sorted(sorted(by_date, key=lambda start: -sum(by_date[start].values()))[:2])]


@pytest.mark.parametrize("shape, grid, size, tie", [
    ("4x4x4", "8x8", (64, 64, 64), "parity"),
    ("6x4x3", "8x9", (72, 72, 36), "parity"),  # half of 6 is odd, so that links differ even under the parity rule
    ("5wx4x2", "4x10", (23, 21, 45), "plus"),  # blocks of unequal length
])
def test_every_link_carries_what_the_model_says(build, simulation, tmp_path, shape, grid, size, tie):
    usage_path = tmp_path / "usage.txt"
    run = simulation(shape, grid, size, tie=tie, usage_path=usage_path)
    simulate(run)
    torus = run.network.network
    nodes = np.arange(torus.n_nodes)
    for usage, exchange in zip(usage_of_exchanges(usage_path), exchanges(run.grid, Transform(*size)), strict=True):
        loads = dimension_order_loads(torus, exchange, nodes, tie=tie).bytes()
        expected = {f"{'-'.join(map(str, torus.coordinates(n)))}:{i}{sign}": loads[i, k, n]
                    for i in range(torus.n_dimensions) for k, sign in enumerate("+-") for n in nodes if loads[i, k, n]}
        carried = {link: b for link, b in usage.items() if b and link != "loopback"}
        assert carried == expected


