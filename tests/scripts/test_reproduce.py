"""`pencilmap study reproduce`: exact results are reproduced exactly; every figure is listed; gaps are named."""

import re
import signal
import time
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from pencilmap.mapper.base.progress import say
from pencilmap.model.lines.line_plan import crossbar_break_even
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.times.costs import MessageRange
from pencilmap.scripts.command_line.commands import reproduce
from pencilmap.scripts.maintenance.write_tables import row, rows_in, table_of
from pencilmap.scripts.networks import measured
from pencilmap.scripts.reproduce import SOURCES, jocksch, schulz
from pencilmap.scripts.reproduce.figure import KINDS, Found
from pencilmap.scripts.reproduce.jagode import FULL, Image, image_of, symmetric_images, wrap_verdict
from pencilmap.scripts.reproduce.jocksch import butterflies
from pencilmap.scripts.reproduce.schulz import networks, two_networks
from tests.modules import needs_simgrid

SLOW = ("jocksch:strong600", "jocksch:strong768", "jocksch:strong1200", "p3dfft:fig4", "p3dfft:fig5",
        "p3dfft:fig9", "jocksch:weak", "jocksch:break-even")  # the last two simulate up to 256 ranks
COMPUTED = [f"{source}:{name}" for source, figures in SOURCES.items() for name, f in figures.items()
            if not f.measures and (source != "cramer" or not f.simulates)]  # see test_reproduce_cramer.py
SIMULATED = [f"cramer:{name}" for name, f in SOURCES["cramer"].items() if f.simulates]
MEASURED = [f"{source}:{name}" for source, figures in SOURCES.items() for name, f in figures.items() if f.measures]


#: of a network as the slides describe it: short messages cost their start
FIGURES = jocksch.Measured((MessageRange(inf, 2e-6),), 2e-6, 10e9, 1)


def rows_of(name):
    source, _, figure = name.partition(":")
    found = SOURCES[source][figure].compute()
    assert found.rows and all(len(row) == len(found.columns) for row in found.rows)
    assert found.compared and all(set(c.kind.split(", ")) <= set(KINDS) and c.difference.endswith(".")
                                  for c in found.compared)
    return found.rows


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
    assert {f["figure"] for f in listed} == {*COMPUTED, *SIMULATED, *MEASURED}
    status, out, _ = pencilmap("study", "reproduce")
    assert status == 0 and all(f["figure"] in out for f in listed)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in COMPUTED])
def test_figures_are_computed_whole_and_are_those_of_the_page(name):
    rows_of(name)
    source, _, figure = name.partition(":")
    page = (PAGES / f"{source}.md").read_text()
    if not SOURCES[source][figure].simulates:
        assert [line for line in page.splitlines() if line.startswith(f"| `{name}` ")] == [
            f"| {' | '.join(row(name, each))} |" for each in SOURCES[source][figure].compute().compared]


def test_two_networks_under_fftw_are_compared_as_printed_the_larger_over_the_smaller():
    """At 512 bytes Myrinet takes longer from 16 processes on: 186/153, 436/282 and 952/661 us."""
    found = two_networks("fftw-networks")
    again = next(row for row in found.rows if row[0] == 512)[7:]
    assert again[3:] == pytest.approx([1.42, 1.42, 1.39], abs=0.005)
    mean, worst = found.compared
    assert (mean.ratio, worst.here) == pytest.approx((0.986, 1.22), abs=0.005)


def test_drawings_are_told_from_wrong_images():
    """By hand: a line of two tasks on an axis of 8 in two halves; rows of two cubes share a place in VN mode only."""
    full = {(text, network): m for text, network, _, m, _ in symmetric_images(FULL).rows}
    assert full["a line along x", "8x8x8"] == 4 and full["a line along x", "8x8x8:mesh"] == 8
    assert image_of(parse_torus("8x8x8"), 2, "8x128", "box:2x2x2").rows == 2
    assert image_of(parse_torus("8x8x8"), 1, "8x64", "default") == Image(8, "8x1x1", 1, 64, 4)
    assert [row[3] for row in butterflies(16, 64).rows] == [4, 2 * 3, 2 * 15 / 16]


def test_table_1_is_exact(pencilmap_json):
    found = pencilmap_json.one("study", "reproduce", "jagode:table1")
    assert len(found["rows"]) == 8 and all(row["equal"] for row in found["rows"])


def test_ratios_of_networks_are_those_of_the_tables_of_times():
    """Two tables of the paper give a third; each printed ratio is rounded to a tenth."""
    pairs = [(row[1 + k], row[5 + k]) for row in networks().rows for k in range(4) if row[5 + k] != "-"]
    assert len(pairs) == 60 and all(abs(old - again) <= 0.0501 for old, again in pairs)


def test_break_even_is_where_both_times_are_equal():
    """By both times directly: starts and bytes of the all-to-alls, and of binary exchange."""
    ranks, radix, ports, alphas, start = 256, 4, 3, 3, 5000.0
    n = crossbar_break_even(ranks, radix, start, 1.0, alphas, ports)
    transposes = alphas * (start * -(-(ranks - 1) // ports) + 16 * n)
    binary = 4 * (start * -(-(radix - 1) // ports) + (radix - 1) * 16 * n)
    assert transposes == pytest.approx(binary) and crossbar_break_even(16, 2, 1.0, 1.0, 4) == inf


@needs_simgrid
def test_simulated_lines_take_what_the_formula_says(monkeypatch):
    """Weak scaling on a crossbar of 16: transposes and radix 2 as by hand; in radix 4 some starts overlap with messages."""
    monkeypatch.setattr(jocksch, "RANKS", (16,))
    monkeypatch.setattr(jocksch, "measured", lambda: FIGURES)
    rows = rows_of("jocksch:weak")
    found = {way: (by_hand, simulated) for _, tasks, way, _, _, by_hand, simulated in rows if tasks == 1}
    for way, least in (("3 all-to-alls", 1.0), ("radix 2", 1.0), ("radix 4", 0.85)):
        assert least <= found[way][1] / found[way][0] < 1.01, way
    for _, tasks, _, messages, sent, by_hand, simulated in rows:  # inside a node, simulated messages also cost starts
        assert simulated >= 0.85 * by_hand
        assert by_hand == pytest.approx(1e6 * (messages * FIGURES.start_s + tasks * sent / FIGURES.rate))


@needs_simgrid
def test_the_steps_of_the_poisson_example_are_simulated_as_counted():
    """The slides: two steps more for data rearrangement, and one step for each of four FFTs."""
    for way, published_, counted_3, simulated_3, counted_1, simulated_1 in rows_of("jocksch:meshes"):
        if simulated_3 != "-":
            assert (simulated_3, simulated_1) == (counted_3, counted_1), way
        assert published_ in ("-", 4, "4 and 2 more") and (published_ != 4 or counted_3 == 4)


def test_the_node_aware_exchange_gains_with_the_number_of_nodes(monkeypatch):
    monkeypatch.setattr(jocksch, "measured", lambda: FIGURES)
    gains = [row[4] for row in rows_of("jocksch:strong1200")]
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


def test_the_mesh_is_slower_as_in_the_paper_and_images_without_rings_are_not():
    rows = rows_of("jagode:wraps")
    assert len(rows) == 47 and all(row[-1] > 1.1 for row in rows)
    assert all(row[4] == row[5] for row in rows if row[2] in ("cube8", "cube64"))
    assert all("NOT" not in line for line in wrap_verdict(rows)[:2])
    assert all("NOT" in line for line in wrap_verdict([*rows[:-1], [*rows[-1][:5], 2 * rows[-1][4], 1.0, 0.9, 0.9]])[:2])
