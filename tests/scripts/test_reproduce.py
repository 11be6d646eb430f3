"""`pencilmap study reproduce`: exact results are reproduced exactly; every figure is listed; gaps are named."""

import re
import signal
import time
from dataclasses import replace
from math import inf, log2
from pathlib import Path

import pytest

from pencilmap.mapper.base.progress import say
from pencilmap.model.decompositions import SLAB
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.times.costs import MessageRange
from pencilmap.scripts.command_line.commands import reproduce
from pencilmap.scripts.maintenance.write_tables import row, rows_in, table_of
from pencilmap.scripts.networks import measured
from pencilmap.scripts.networks.measured import EwaldRun, simulate_ewald
from pencilmap.scripts.networks.simulated import SimulatedNetwork, SimulationError, simulate_all, simulation_of
from pencilmap.scripts.reproduce import SOURCES, jocksch, p3dfft, schulz
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
from pencilmap.scripts.reproduce.figure import KINDS, Found
from pencilmap.scripts.reproduce.jagode import FULL, Image, image_of, symmetric_images
from pencilmap.scripts.reproduce.jocksch import butterflies
from tests.modules import needs_simgrid

SLOW = ("jocksch:strong600", "jocksch:strong768", "jocksch:strong1200", "p3dfft:fig4", "p3dfft:fig5",
        "p3dfft:fig9", "jocksch:weak", "jocksch:break-even")  # the last two simulate up to 256 ranks
FIGURES = {f"{source}:{name}": f for source, figures in SOURCES.items() for name, f in figures.items()}


def marked(name, figure):
    """Return the marks of a figure: those of Cramer and Board that simulate take minutes."""
    of_cramer = name.startswith("cramer:") and figure.simulates
    return [needs_simgrid] * of_cramer + [pytest.mark.slow] * (name in SLOW or (of_cramer and name != "cramer:fig7"))


#: of a network as the slides describe it: short messages cost their start
SLIDES = jocksch.Measured((MessageRange(inf, 2e-6),), 2e-6, 10e9, 1)


def computed(name):
    """Return a figure, whole."""
    found = FIGURES[name].compute()
    assert all(len(row) == len(found.columns) for row in found.rows)
    assert all(set(c.kind.split(", ")) <= set(KINDS) and c.difference.endswith(".") for c in found.compared)
    return found


#: numbered figures and tables of each publication, counted in its text; and its tables and pictures without a number
COUNTED = {
    "schulz": (6, 0, {"grids", "barrier", "alltoall-jaguar", "alltoallv-jaguar", "openmpi-alltoall-jaguar",
                      "openmpi-alltoallv-jaguar", "fftw-alltoall-jaguar", "fftw-alltoallv-jaguar", "alltoall-helics",
                      "alltoallv-helics", "openmpi-alltoall-helics", "fftw-alltoall-helics", "fftw-alltoallv-helics",
                      "networks", "fftw-networks"}),
    "p3dfft": (10, 1, set()),
    "jagode": (9, 3, {"totals", "text"}),
    "jocksch": (0, 0, {"strong600", "strong768", "strong1200", "meshes", "radix", "weak", "break-even"}),
    "cramer": (12, 0, {"messages"}),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_figure_and_table_of_a_publication_is_listed(source):
    figures, tables, others = COUNTED[source]
    assert {int(n) for name in SOURCES[source] for n in re.findall(r"^fig(\d+)[a-z]?$", name)} == {*range(1, figures + 1)}
    assert {int(n) for name in SOURCES[source] for n in re.findall(r"^table(\d+)$", name)} == {*range(1, tables + 1)}
    assert others <= set(SOURCES[source])


PAGES = Path(__file__).resolve().parents[2] / "docs" / "results" / "publications"


@pytest.mark.parametrize("source", SOURCES)
def test_the_page_of_a_publication_has_every_figure_and_table_as_the_program_would_write_them(source):
    """But the figures of Cramer and Board that measure this machine."""
    text = (PAGES / f"{source}.md").read_text()
    rows = rows_in(text)
    assert [*rows] == [f"{source}:{name}" for name, f in SOURCES[source].items() if source != "cramer" or not f.measures]
    assert table_of(source, rows) in text


def test_all_figures_are_listed(pencilmap, pencilmap_json):
    listed = pencilmap_json("study", "reproduce")
    assert {f["figure"].partition(":")[0] for f in listed} == {"schulz", "p3dfft", "jagode", "jocksch", "cramer"}
    assert {f["figure"] for f in listed} == set(FIGURES)
    status, out, _ = pencilmap("study", "reproduce")
    assert status == 0 and all(f["figure"] in out for f in listed)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [pytest.param(n, marks=marked(n, f)) for n, f in FIGURES.items() if not f.measures])
def test_figures_are_computed_whole_and_are_those_of_the_page(name):
    found, source = computed(name), name.partition(":")[0]
    shown = [line for line in (PAGES / f"{source}.md").read_text().splitlines() if line.startswith(f"| `{name}` ")]
    if source == "cramer" or not FIGURES[name].simulates:
        assert shown == [f"| {' | '.join(row(name, each))} |" for each in found.compared] or (
            not found.compared and len(shown) == 1)


def test_drawings_are_told_from_wrong_images():
    """By hand: a line of two tasks on an axis of 8 in two halves; rows of two cubes share a place in VN mode only."""
    full = {(text, network): m for text, network, _, m, _ in symmetric_images(FULL).rows}
    assert full["a line along x", "8x8x8"] == 4 and full["a line along x", "8x8x8:mesh"] == 8
    assert image_of(parse_torus("8x8x8"), 2, "8x128", "box:2x2x2").rows == 2
    assert image_of(parse_torus("8x8x8"), 1, "8x64", "default") == Image(8, "8x1x1", 1, 64, 4)
    assert [row[3] for row in butterflies(16, 64).rows] == [4, 2 * 3, 2 * 15 / 16]


@needs_simgrid
def test_simulated_lines_take_what_the_formula_says(monkeypatch):
    """Weak scaling on a crossbar of 16: transposes and radix 2 as by hand; in radix 4 some starts overlap with messages."""
    monkeypatch.setattr(jocksch, "RANKS", (16,))
    monkeypatch.setattr(jocksch, "measured", lambda: SLIDES)
    rows = computed("jocksch:weak").rows
    found = {way: (by_hand, simulated) for _, tasks, way, _, _, by_hand, simulated in rows if tasks == 1}
    for way, least in (("3 all-to-alls", 1.0), ("radix 2", 1.0), ("radix 4", 0.85)):
        assert least <= found[way][1] / found[way][0] < 1.01, way
    for _, tasks, _, messages, sent, by_hand, seen in rows:  # inside a node, simulated messages also cost starts
        assert seen >= 0.85 * by_hand
        assert by_hand == pytest.approx(1e6 * (messages * SLIDES.start_s + tasks * sent / SLIDES.rate))


def test_the_node_aware_exchange_gains_with_the_number_of_nodes(monkeypatch):
    monkeypatch.setattr(jocksch, "measured", lambda: SLIDES)
    gains = [row[4] for row in computed("jocksch:strong1200").rows]
    assert gains == sorted(gains) and gains[-1] > 1.01


def test_parts_of_a_transform_are_added_rank_by_rank():
    """Two ranks and two transforms: packing 1, 2, 3, 4 s and unpacking 1 s each; deviations add where phases do."""
    same, rising = [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]]
    phases = {"pack_row": rising, "unpack_row": same, "pack_column": same, "unpack_column": same, "fft_z": rising,
              "fft_y": rising, "exchange_row": same, "exchange_column": rising, "total": rising}
    found = schulz.parts_of({"phases": {name: {"ranks_s": times} for name, times in phases.items()}})
    spread = 1e3 * 1.25 ** 0.5
    assert found == [(pytest.approx(5500), pytest.approx(spread)), (pytest.approx(5000), pytest.approx(2 * spread)),
                     (1000, 0), (pytest.approx(2500), pytest.approx(spread))]


@pytest.mark.parametrize("name", ["schulz:openmpi-alltoall-jaguar"])
def test_a_missing_mpi_is_named_with_its_package(pencilmap, monkeypatch, name):
    monkeypatch.setattr(measured, "has_mpich", lambda: False)
    monkeypatch.setattr(measured, "OPEN_MPI", "MPICH")
    monkeypatch.setattr(schulz, "OPEN_MPI", "MPICH")
    status, out, err = pencilmap("study", "reproduce", name)
    assert status == 1 and out == "" and "apt-get install mpich" in " ".join(err.split())


@pytest.fixture
def slow_figure(monkeypatch):
    """Return a figure that takes half a second, in two steps; the first step reports progress."""
    def compute():
        time.sleep(0.25)
        say("half of it", 0.5)
        time.sleep(0.25)
        return Found(["x"], [[1]])

    monkeypatch.setattr(reproduce, "SILENT_S", 0.1)
    monkeypatch.setitem(SOURCES["jocksch"], "break-even", replace(SOURCES["jocksch"]["break-even"], compute=compute))


def test_a_long_figure_says_how_far_it_is_and_that_it_goes_on(pencilmap, slow_figure):
    status, out, err = pencilmap("study", "reproduce", "jocksch:break-even")
    assert status == 0 and "50 %: half of it" in err
    before, after = err.split("half of it")
    assert " s, jocksch:break-even: still computing after 0 s" in before
    assert " s, 50 %: jocksch:break-even: still computing after 0 s" in after and "still computing" not in out


def test_a_figure_that_takes_too_long_is_ended(pencilmap, slow_figure):
    status, out, err = pencilmap("study", "reproduce", "jocksch:break-even", "--seconds", "0.3")
    assert status in (1, 2) and "error: jocksch:break-even is not done within 0.3 s; give more with --seconds" in err
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0 and "x" not in out.split()


# ---- P3DFFT: transforms by the time model, judged by the numbers of the paper, which nothing is fitted to

def time_of(row, total_s):
    return p3dfft.Time(ProcessGrid(row, 1024 // row), total_s, 0.0, 0.0)


def test_the_machine_file_has_the_rates_that_the_published_all_to_alls_give():
    found, costs = p3dfft.rates(), load_machine("cray-xt5").costs
    assert costs.byte_hops_per_node == pytest.approx(found.byte_hops, rel=0.01)
    assert costs.message_cost_s == pytest.approx(found.start_s, rel=0.01)


@pytest.mark.parametrize("left_out", p3dfft.PROCESSES)
def test_the_rate_predicts_the_processes_that_were_left_out(left_out):
    """Held out: the coefficient of the other numbers of processes, by hand."""
    start = p3dfft.rates().start_s
    some = [a for a in p3dfft.published() if a.processes != left_out]
    parts = [a.byte_hops / a.time_s for a in some]
    rest = [1 - start * (a.processes - 1) / a.time_s for a in some]
    rates = p3dfft.Rates(start, sum(p * p for p in parts) / sum(p * r for p, r in zip(parts, rest)))
    for a in p3dfft.published():
        if a.processes == left_out:
            assert a.time_by(rates) == pytest.approx(a.time_s, rel=0.20)


def test_the_byte_hops_of_a_node_are_those_of_its_messages_by_hand():
    """Four nodes of two on a 2x2 torus: a task sends 6 of 8 messages off its node, 2 x 2 by one hop and 2 by two hops."""
    a, = (a for a in p3dfft.published() if (a.size, a.processes) == (65536, 8))
    assert a.byte_hops == pytest.approx(2 * (4 * 1 + 2 * 2) * 65536)


@pytest.mark.parametrize("times", [
    {1: 10.0, 8: 14.0, 16: 14.1, 32: 15.0},   # rises inside the node
    {1: 10.0, 8: 10.1, 16: 11.0, 32: 9.0}])   # the square grid is the best
def test_other_shapes_of_fig_3_are_not_as_published(times):
    assert p3dfft.aspect_verdict([time_of(row, s) for row, s in times.items()], 12)[1].endswith("NOT as published")


def test_the_rates_are_used_on_the_tori_that_they_were_fitted_on():
    """A job of the machine is a mesh of its nodes; a fit of its hops would have another rate."""
    assert str(p3dfft.on_torus(32, fft="64").network) == str(parse_torus(p3dfft.shape_for(32)))


# ---- Cramer and Board: computing takes its time on the simulated cluster

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
