"""The unmodified runner on trees, dragonflies, HyperX and graphs is right, takes the predicted time, and writes records."""

import json
import re

import pytest

from pencilmap.mapper.runs.compare import compare_records, prediction_of_record
from pencilmap.mapper.setting import setting
from pencilmap.scripts.networks.simulated import SimulatedNetwork, simulate, simulation_of
from pencilmap.scripts.networks.suites import CLAIMS, cases_of
from pencilmap.scripts.networks.validation import validate_simulated

SAMPLE = ("pods=2,core=2,", "rails=2,use=task", "valiant", "hyperx:2x3", "4x8:twisted")  # in names of cases


def test_a_sample_of_the_suite_takes_the_predicted_time(build):
    cases = [case for case in cases_of("networks") if any(text in case.name for text in SAMPLE)]
    cases = [case for case in cases if case.process_grid().n_tasks <= 64]
    assert len(cases) == 8 and all(case.verify for case in cases)
    rows = validate_simulated(cases)
    claim = next(claim for claim in CLAIMS if "other than tori" in claim.text)
    count, least, most, holds = claim.judge(rows)
    assert count == len(rows) == 16 and holds, (least, most)


def test_by_hand_two_leaves_share_their_cables(build):
    """Each of 4 hosts sends a quarter of its data to each other host: 2 x 2 quarters cross a cable upwards at 2:1."""
    where = setting(network="fat-tree:leaves=2,hosts=2,up=1", bandwidth="1 GB/s", fft="32")
    run = simulation_of(where, SimulatedNetwork(where.network), where.grid("4x1"), "default", verify=True)
    [record] = simulate(run)
    host_bytes = 16 * 32**3 / 4
    assert record["phases"]["exchange_row"]["max_s"][0] == pytest.approx(host_bytes / 1e9, rel=1e-3)
    assert record["verify"]["passed"] and record["placement"]["torus"] is None
    labels = record["labels"]
    assert (labels["topology"], labels["routing"]) == ("fat-tree:leaves=2,hosts=2,up=1", "shortest-path")


def test_latency_and_message_costs_are_added(build):
    where = setting(network="fat-tree:leaves=2,hosts=2,up=1", bandwidth="1 GB/s", fft="32")
    times = []
    for options in ({}, {"latency_s": 1e-4}, {"message_s": 1e-2}):
        run = simulation_of(where, SimulatedNetwork(where.network, **options), where.grid("4x1"), "default")
        times.append(simulate(run)[0]["phases"]["exchange_row"]["max_s"][0])
    assert times[1] - times[0] == pytest.approx(4e-4, rel=0.05)  # four links between leaves
    assert times[2] - times[0] == pytest.approx(3e-2, rel=0.01)  # three messages to others


@pytest.mark.parametrize("network, rule", [("fat-tree:leaves=4,hosts=4,up=2", "static"),
                                           ("dragonfly:a=2,p=2,h=1", "valiant"),
                                           ("fat-tree:leaves=4,hosts=4,up=2,links=2,use=task", "shortest-path")])
def test_the_command_and_its_records(build, pencilmap, tmp_path, network, rule):
    """Records of `simulate` are read by `compare` and `report`, with the same prediction."""
    records = tmp_path / "runs.jsonl"
    pencilmap.out("simulate", "--network", network, "--bandwidth", "1 GB/s", "--tasks-per-node", "2", "--fft",
                  "48", "--placement", "default", "--routing", rule, "--verify", "-o", records, "--wide")
    [record] = [json.loads(line) for line in records.read_text().splitlines()]
    assert record["verify"]["passed"]
    found, note = prediction_of_record(record)
    assert note == "" and found.routing == rule and str(found.network) == network
    for row in compare_records([record], "run"):
        assert row.m is None or not row.m or row.t_ratio == pytest.approx(1.0, abs=0.01)
    status, compared, err = pencilmap("compare", records, "--json")
    assert status == 0 and f'"{network}"' in compared, err
    page = tmp_path / "report.html"
    pencilmap.out("report", records, "-o", page)
    assert re.search(re.escape(network), page.read_text())


def test_a_record_keeps_the_cables_and_the_part_of_its_file(build, pencilmap, tmp_path):
    """The links above a leaf are the slowest; without taper=4 the prediction would be a quarter."""
    (tmp_path / "topology.conf").write_text("".join(
        f"SwitchName=s{s}0 Nodes={s}[0-3]\nSwitchName=s{s}1 Nodes={s}[4-7]\nSwitchName={s} Switches=s{s}[0-1]\n"
        for s in "xy"))
    (tmp_path / "hosts").write_text("".join(f"y{i}\n" for i in (0, 4, 1, 5, 2, 6, 3, 7)))
    status, out, err = pencilmap("simulate", "--network", f"{tmp_path}/topology.conf,taper=4", "--bandwidth", "1 GB/s",
                                 "--fft", "64", "--grid", "2x4", "-p", tmp_path / "hosts", "-o", tmp_path / "runs.jsonl")
    assert status == 0 and "measured times are 1.000 times the predicted ones" in out, err
    assert json.loads((tmp_path / "runs.jsonl").read_text())["labels"]["topology"].endswith("/topology.conf,taper=4")


def test_a_file_of_cables(build, pencilmap, tmp_path):
    """The record names the file, so that `compare` can read the cables again."""
    graph, records = tmp_path / "star.txt", tmp_path / "runs.jsonl"
    graph.write_text("s {'kind': 'switch'}\n" + "".join(f"h{i} s\n" for i in range(8)))
    pencilmap.out("simulate", "--network", graph, "--bandwidth", "1 GB/s", "--fft", "32", "--grid", "2x4",
                  "--placement", "default", "--verify", "-o", records)
    record = json.loads(records.read_text())
    assert record["labels"]["topology"] == str(graph)
    assert pencilmap("compare", records)[0] == 0
    graph.unlink()
    assert prediction_of_record({**record, "time": "later", "labels": {**record["labels"], "x": "y"}})[0] is None
