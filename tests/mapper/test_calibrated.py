"""From run records to a machine file: the file has the figures behind the records."""

import json
import re
from dataclasses import replace

import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.runs.compare import compare_records, published_samples, record_samples
from pencilmap.mapper.runs.probes import machine_text
from pencilmap.model.base.errors import CalibrationError
from pencilmap.model.machines.machine import load_machine, machine_names
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import parse_grid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.times.calibrate import calibrate, computing_divisions, errors
from pencilmap.model.times.costs import Costs
from tests.documents import run_by
from tests.mapper.run_records import record

pytestmark = pytest.mark.thorough

BANDWIDTH = 2e8
TRUTH = Costs(injection_per_task=1.9e8, message_cost_s=1e-6, exchange_cost_s=30e-6, contention=0.5, fft_rate_per_task=1e9,
              memory_bandwidth_per_node=4e9)
RUNS = [("8x8x8", "8x64", "box:2x2x2", 1), ("8x8x8", "64x8", "box:4x4x4", 1), ("8x8x8", "8x64", "default", 1),
        ("8x8x8", "16x64", "box:2x2x2", 2), ("8x8x8", "128x8", "box:4x4x4", 2)]


def mapping_of(shape, grid, placement, tasks):
    torus = parse_torus(shape)
    torus = parse_torus(shape, bandwidth=(BANDWIDTH,) * torus.n_dimensions)
    return as_mapping(place(placement, Site(torus, tasks), parse_grid(grid)), placement)


@pytest.fixture(scope="module")
def records():
    """Return five placements at three sizes, without a bandwidth."""
    mappings = [mapping_of(*run) for run in RUNS]
    return [record(mapping, Transform(n, n, n), TRUTH) for n in (128, 256, 512) for mapping in mappings]


def write(records, path, **labels):
    path.write_text("".join(json.dumps(r | {"labels": r["labels"] | labels}) + "\n" for r in records), "utf-8")
    return path


def test_the_machine_file_holds_the_figures_behind_the_records(records, tmp_path, pencilmap):
    runs = write([r for r in records if r["placement"]["tasks_per_node"] == 1], tmp_path / "runs.jsonl",
                 link_bandwidth=f"{BANDWIDTH}byte/s")
    out = pencilmap.out("study", "calibrate", runs, "-o", tmp_path / "found.toml")
    found = load_machine(str(tmp_path / "found.toml"))
    assert str(found.torus) == "8x8x8" and found.torus.bandwidth == (BANDWIDTH,) * 3
    assert found.costs.injection_per_task == pytest.approx(TRUTH.injection_per_task, rel=0.02)
    assert found.costs.contention == pytest.approx(TRUTH.contention, rel=0.02)
    assert found.costs.message_cost_s == pytest.approx(TRUTH.message_cost_s, rel=0.05)
    assert found.figures["contention"].source == f"pencilmap study calibrate {runs} (rule all, 36 of 36 times fitted)"
    assert re.search(r"injection_per_node .*cannot be\s+separated", out)


@pytest.mark.parametrize("command", run_by(__file__))
def test_the_command_of_the_document_writes_what_it_names(command, records, tmp_path, pencilmap, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(records, tmp_path / "runs.jsonl")
    pencilmap.out(*command.split()[1:])
    assert load_machine("mymachine.toml").costs.fft_rate_per_task == pytest.approx(1e9, rel=0.02)


def test_the_work_of_a_record_is_that_of_its_placement(records):
    samples, refused = record_samples({"r": records[0]}, (BANDWIDTH,))
    assert refused == []
    assert [s.phase for s in samples] == ["row", "column", "fft", "copy"]
    for sample in samples:
        assert sample.time_s(TRUTH) == pytest.approx(sample.measured_s, rel=1e-6)


def test_assumed_coordinates_give_no_exchange_and_simulated_runs_no_computing():
    mapping, transform = mapping_of(*RUNS[0]), Transform(128, 128, 128)
    assumed, refused = record_samples({"r": record(mapping, transform, TRUTH, coordinate_source="assumed")}, (BANDWIDTH,))
    assert [s.phase for s in assumed] == ["fft", "copy"] and "assumed" in refused[0]
    simulated, refused = record_samples({"r": record(mapping, transform, TRUTH, {"network": "simulated"})}, (BANDWIDTH,))
    assert [s.phase for s in simulated] == ["row", "column"] and refused == []


def test_figures_in_the_labels_of_a_record_are_in_its_full_time():
    mapping, transform = mapping_of(*RUNS[0]), Transform(128, 128, 128)
    costs = Costs(injection_per_node=1e8, hop_latency_s=1e-6)
    labels = {"link_bandwidth": f"{BANDWIDTH}byte/s", "injection_per_node": "100 MB/s", "hop_latency": "1 us"}
    for row in compare_records([record(mapping, transform, costs, labels)], "r"):
        assert row.time_ratio == pytest.approx(1, rel=1e-6)
        assert row.time_s > row.t_s


@pytest.mark.parametrize("name", machine_names())
def test_every_machine_of_the_package_is_written_and_read_back(name, tmp_path):
    machine = load_machine(name)
    path = tmp_path / f"{name}.toml"
    path.write_text(machine_text(machine, machine.figures), "utf-8")
    again = load_machine(str(path))
    assert (again.costs, again.figures) == (machine.costs, machine.figures)
    assert (again.network.title, again.network.bandwidth) == (machine.network.title, machine.network.bandwidth)


def test_figures_that_the_records_say_nothing_of_stay(tmp_path, pencilmap):
    """Computing alone does not contradict the injection limit of an earlier calibration."""
    cached = replace(TRUTH, cache_per_node=load_machine("bluegene-l").costs.cache_per_node)
    alone = [record(mapping_of(*run), Transform(n, n, n), cached, coordinate_source="assumed")
             for n in (128, 256, 512) for run in RUNS]
    runs = write(alone, tmp_path / "runs.jsonl")
    pencilmap.out("study", "calibrate", runs, "-m", "bluegene-l", "-o", tmp_path / "f.toml")
    before, after = load_machine("bluegene-l"), load_machine(str(tmp_path / "f.toml"))
    assert after.figures["injection_per_task"] == before.figures["injection_per_task"]
    assert after.figures["fft_rate_per_task"] != before.figures["fft_rate_per_task"]


def test_an_earlier_calibration_that_is_not_borne_out_goes(tmp_path, pencilmap):
    mapping = mapping_of("8x8x8", "8x64", "default", 1)
    free = [record(mapping, Transform(n, n, n), Costs(exchange_cost_s=30e-6)) for n in (64, 128, 256, 512)]
    runs = write(free, tmp_path / "runs.jsonl")
    base = tmp_path / "base.toml"
    machine = load_machine("bluegene-l")
    base.write_text(machine_text(machine, machine.figures).replace("148 MB/s", "200 MB/s"), "utf-8")
    assert pencilmap("study", "calibrate", runs, "-m", base, "-o", tmp_path / "f.toml")[0] == 0
    after = load_machine(str(tmp_path / "f.toml"))
    assert "injection_per_task" not in after.figures and "partition" in after.figures
    assert after.costs.exchange_cost_s == pytest.approx(30e-6, rel=0.02)


BAD = [
    ((), "name files of run records, or --published"),
    (("runs.jsonl", "--published", "bluegene-l"), "name files of run records, or --published"),
    (("runs.jsonl", "-o", "x.txt"), "a machine file ends in .toml"),
    (("nowhere.jsonl",), "cannot be read"),
    (("runs.jsonl", "-m", "nix"), "machine 'nix' is unknown"),
    (("--published", "bluegene-l", "-o", "nowhere/x.toml"), "cannot be written"),
    (("alone.jsonl", "-o", "x.toml"), "a machine file needs the link bandwidth"),
    (("shapes.jsonl",), "the records are of 2 shapes of machine (4x4, 8x8x8); name the machine with --machine"),
]


@pytest.mark.parametrize("arguments, message", BAD)
def test_bad_input_is_one_clear_sentence(arguments, message, records, tmp_path, pencilmap, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(records[:2], tmp_path / "runs.jsonl")
    write([records[0] | {"placement": records[0]["placement"] | {"coordinate_source": "assumed"}}], tmp_path / "alone.jsonl")
    other = record(mapping_of("4x4", "4x4", "default", 1), Transform(64, 64, 64), TRUTH)
    write([records[0], other], tmp_path / "shapes.jsonl")
    status, _, err = pencilmap("study", "calibrate", *arguments)
    assert status in (1, 2) and message in " ".join(err.split())
    assert not (tmp_path / "x.toml").exists()


def test_unknown_published_measurements_are_refused():
    with pytest.raises(CalibrationError, match="known are bluegene-l"):
        published_samples("cray", load_machine("bluegene-l").torus)


def test_the_cost_of_a_copy_predicts_no_size_that_is_left_out():
    """The cost of a copy describes 64^3 but predicts 64^3 worse."""
    machine = load_machine("bluegene-l")
    as_it_is = [s for s in published_samples("bluegene-l", machine.torus) if s.phase == "local"]
    simpler = [replace(s, work=replace(s.work, copies=0)) for s in as_it_is]

    def percent(samples, training):
        return 100 * errors(samples, calibrate(training, machine.costs).time_s).mean

    found = [[percent(d.others, d.training) for d in computing_divisions(samples)] for samples in (as_it_is, simpler)]
    assert found == [pytest.approx([53.3, 8.9, 4.0, 2.1, 4.1], abs=0.1), pytest.approx([34.7, 8.7, 3.9, 1.9, 2.9], abs=0.1)]
    at_64 = [percent([s for s in samples if s.size == "64x64x64"], samples) for samples in (as_it_is, simpler)]
    assert at_64 == pytest.approx([1.8, 15.8], abs=0.2)
