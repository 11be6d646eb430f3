"""Cramer and Board again: computing takes its time on the simulated cluster, and the page has what the program gives."""

from math import log2
from pathlib import Path

import pytest

from pencilmap.model.decompositions import SLAB
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.scripts.maintenance.write_tables import PAGES, row
from pencilmap.scripts.networks.measured import EwaldRun, simulate_ewald
from pencilmap.scripts.networks.simulated import SimulatedNetwork, SimulationError, simulate_all, simulation_of
from pencilmap.scripts.reproduce import SOURCES
from pencilmap.scripts.reproduce.cramer import (
    CHARGES,
    CLUSTER,
    DUKE,
    ORDER,
    PROCESSES,
    RECIPROCAL,
    Parts,
    Place,
    best_forecast,
    dpme,
    fact,
    forecast,
    predicted,
    serial_s,
    simulated,
    simulated_network,
    where_of,
)
from tests.modules import needs_simgrid

LINK, RATE, MESSAGE_S = 11.875e6, 0.1e9, 130e-6  # of the machine file


def by_hand_s(n, processes, links):
    """Return the seconds of slabs in sequence: computing, bytes over a link, starts of messages."""
    sent = 16 * n**3 / processes * (1 - 1 / processes)
    return 15 * n**3 * log2(n) / RATE / processes + sent / links + (processes - 1) * MESSAGE_S


def runs(n, processes, *schedules):
    where = where_of(DUKE, str(n), Place(processes, CLUSTER))
    grid = ProcessGrid(processes, decomposition=SLAB)
    found = simulate_all([simulation_of(where, simulated_network(where), grid, "default", name) for name in schedules])
    return [record[0]["phases"]["total"]["max_s"][0] for record in found]


@pytest.mark.parametrize("n, processes", [(64, 4), (64, 16), (128, 8)])
def test_slabs_in_sequence_are_predicted_as_by_hand(n, processes):
    where = where_of(DUKE, str(n), Place(processes, CLUSTER))
    assert forecast(where, processes, "sequence")[2] == pytest.approx(by_hand_s(n, processes, LINK), rel=1e-6)


@needs_simgrid
def test_computing_and_messages_take_their_time_on_the_simulated_cluster():
    """One process takes serial FFTW's time; in sequence the sum of both; the slices hide what the model says."""
    assert runs(32, 1, "sequence")[0] == pytest.approx(serial_s(DUKE, 32), rel=1e-3)
    sequence, overlapped = runs(64, 4, "sequence", "overlap:8:x")
    where = where_of(DUKE, "64", Place(4, CLUSTER))
    assert sequence == pytest.approx(by_hand_s(64, 4, LINK), rel=0.005)
    assert overlapped == pytest.approx(forecast(where, 4, "overlap:8:x")[2], rel=0.02) and overlapped < 0.8 * sequence


@needs_simgrid
def test_without_a_rate_computing_takes_no_time():
    where = where_of(DUKE, "32", Place(2, CLUSTER))
    network = SimulatedNetwork(where.network)
    record, = simulate_all([simulation_of(where, network, ProcessGrid(2, decomposition=SLAB), "default")])[0]
    assert record["phases"]["fft_z"]["max_s"][0] < 1e-6 and record["phases"]["exchange_slab"]["max_s"][0] > 0
    with pytest.raises(SimulationError, match="flops -1"):
        SimulatedNetwork(where.network, flops=-1)


def test_the_best_number_of_messages_is_the_best_of_all_numbers():
    for n, processes in ((64, 4), (64, 16), (128, 16)):
        where = where_of(DUKE, str(n), Place(processes, CLUSTER))
        block = n // processes
        every = [forecast(where, processes, f"overlap:{k}:x")[2] for k in range(1, block + 1) if block % k == 0]
        name, messages, time_s = best_forecast(where, processes)
        assert time_s <= 1.01 * min(every) and 1 <= messages <= block, name


# ---- particle-mesh Ewald -------------------------------------------------------------------------------------------------


def test_the_best_split_is_the_best_of_all_splits():
    parts = Parts(9.0, {1: 4.0, 2: 2.0, 3: 1.5, 4: 1.4})
    best = parts.best(6)
    assert (best.direct, best.reciprocal) == (4, 2) and best.time_s == max(9 / 4, 2.0)
    assert parts.serial_s == 13.0 and parts.best(2).time_s == 9.0


def test_a_serial_reciprocal_part_limits_the_speed_up_to_the_published_one():
    """This number is fitted; the one of a parallel part follows, and is higher than the published one."""
    parts = predicted(64)
    assert parts.serial_s / parts.split(5, 1).time_s == pytest.approx(fact("dpme_serial_speedup"))
    assert parts.serial_s / parts.split(32, 1).time_s == pytest.approx(fact("dpme_serial_speedup"))
    speedup = parts.serial_s / parts.best(24).time_s
    assert fact("dpme_parallel_speedup") < speedup < 1.5 * fact("dpme_parallel_speedup")
    times_s = [parts.best(p).time_s for p in PROCESSES]
    assert times_s == sorted(times_s, reverse=True)


@needs_simgrid
def test_the_mesh_part_takes_the_predicted_time_on_the_simulated_cluster():
    """On one process the two real transforms; on four also two halos of four planes below."""
    found = {}
    for reciprocal in (1, 4):
        where = where_of(DUKE, "32:r2c", Place(reciprocal, CLUSTER))
        options = ("--random", "300", "--order", str(ORDER), "--mesh", "32", "--decomposition", "slab")
        found[reciprocal], = simulate_ewald([EwaldRun(simulated_network(where), reciprocal, options)])
    assert found[1]["total"] == pytest.approx(15 * 32**3 * log2(32) / RATE, rel=0.01)
    halo_s = 2 * (4 * 36 * 36 * 8 / LINK + MESSAGE_S)
    where = where_of(DUKE, "32:r2c", Place(4, CLUSTER))
    assert found[4]["halo"] == pytest.approx(halo_s, rel=0.03)
    assert found[4]["total"] == pytest.approx(halo_s + 2 * forecast(where, 4, "sequence")[2], rel=0.05)


@pytest.mark.slow
@needs_simgrid
@pytest.mark.parametrize("mesh", [64, 96])
def test_predicted_and_simulated_splits_agree(mesh):
    ours, checked = predicted(mesh), simulated(mesh)
    for reciprocal in RECIPROCAL:
        assert ours.reciprocal_s[reciprocal] == pytest.approx(checked.reciprocal_s[reciprocal], rel=0.06), reciprocal
    assert len(dpme(mesh).rows) == len(PROCESSES) and CHARGES == 2000


# ---- the page ------------------------------------------------------------------------------------------------------------


def page_rows(page: Path):
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in page.read_text().splitlines()
            if line.startswith("| `cramer:")]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[needs_simgrid] + [pytest.mark.slow] * (name != "fig7")
                                               if figure.simulates else [])
                                  for name, figure in SOURCES["cramer"].items() if not figure.measures])
def test_the_page_has_what_the_program_gives(name):
    rows = [cells for cells in page_rows(PAGES / "cramer.md") if cells[0] == f"`cramer:{name}`"]
    compared = SOURCES["cramer"][name].compute().compared
    assert [row(f"cramer:{name}", each) for each in compared] == rows if compared else len(rows) == 1
