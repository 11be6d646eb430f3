"""A real network: 16 namespaces, Open MPI over TCP, the runner; the counters of all links compared with the model."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pencilmap.mapper.placements import as_mapping, place
from pencilmap.mapper.runs.compare import prediction_of_record
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.network.torus import parse_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.transform import Transform
from pencilmap.model.times.costs import Costs
from pencilmap.scripts.networks.namespaces import experiment
from pencilmap.scripts.networks.namespaces.experiment import Experiment
from tests.documents import ROOT, run_by
from tests.mapper.run_records import record as run_record
from tests.patience import patience

pytestmark = pytest.mark.namespaces
PENCILMAP = [sys.executable, "-c", "from pencilmap.scripts.command_line.cli import main; main()"]
VALIDATE = ("validate", "namespaces", "--network", "4x4:mesh", "--rate", "10mbit")
SIXTEEN, *ON_DEMAND, AT_ONCE, TREE = run_by(__file__)  # nodes: 16, then 64; schedules on 16; a fat tree


def as_the_document_says(command, folder, timeout_s):
    """Run a command of the document in a folder with a copy of the document; return JSON and records."""
    status, out, err = as_printed(f"{command} --records records.jsonl --json", folder, timeout_s)
    assert status == 0, out[-3000:] + err
    records = (folder / "records.jsonl").read_text().splitlines()
    return json.loads(out)["answers"][0], [json.loads(line) for line in records]


def as_printed(command, folder, timeout_s=300):
    """Return status, output and errors of a command in a folder with a copy of the documents."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    done = subprocess.run([*PENCILMAP, *command.split()[1:]], cwd=folder, capture_output=True, text=True,
                          timeout=patience(timeout_s))
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def sixteen(namespaces, tmp_path_factory):
    """Lines compared with squares on 16 nodes."""
    return as_the_document_says(SIXTEEN, tmp_path_factory.mktemp("sixteen"), 300)


def test_a_tree_of_two_leaves_carries_what_was_predicted(namespaces, tmp_path):
    """By hand: 4x2 with a leaf for each row; columns of 2 cross the leaves, half of what a host holds each."""
    found, [record] = as_the_document_says(TREE, tmp_path, 300)
    [placement] = found["placements"]
    assert found["holds"] and len(placement["links"]) == 24
    loads = {link["link"]: link["predicted_bytes"] for link in placement["links"]}
    n = int(found["transform"].split("x")[0])
    host = 16 * n**3 / 8 * 4  # bytes of a host, in four repetitions
    up = [load for link, load in loads.items() if "->spine" in link]
    assert up == pytest.approx([4 * (host / 2) / 2] * 4, rel=0.01)  # 4 hosts on 2 cables, less the smaller run
    assert loads["n0000-00->leaf0"] == pytest.approx((3 / 4 + 1 / 2) * host, rel=0.01)
    assert record["labels"]["routing"] == "static" and {r["host"] for r in record["placement"]["ranks"]} == {
        f"n{leaf:04d}-{host:02d}" for leaf in range(2) for host in range(4)}
    prediction, note = prediction_of_record(record)
    assert note == "" and prediction.routing == "static"


@pytest.mark.slow
@pytest.mark.parametrize("command", ON_DEMAND)
def test_more_nodes_carry_what_was_predicted(command, namespaces, tmp_path):
    found, _ = as_the_document_says(command, tmp_path, 1500)
    assert found["holds"]


@pytest.mark.slow
def test_schedules_run_whole_verified_transforms(namespaces, tmp_path):
    """Small, and predicted from the links only; the document tests speed on a quiet machine."""
    status, out, err = as_printed(f"{AT_ONCE} --fft 32 --reps 1 --records records.jsonl --json", tmp_path)
    assert status in (0, 1), err
    [found], records = json.loads(out)["answers"], (tmp_path / "records.jsonl").read_text().splitlines()
    unit = 16 * 32**3 / (4 * 16 * 10e6 / 8 * 1448 / 1547)
    assert [(row["placement"], row["schedule"]) for row in found["rows"]] == list(experiment.RUNS)
    for row, m in zip(found["rows"], (8, 6, 5, 4.5, 4.5, 4.25, 4, 4)):
        assert row["verified"] and row["t_s"] == pytest.approx(m * unit, rel=1e-3)
    assert len(records) == experiment.ROUNDS * len(experiment.RUNS) and len(found["claims"]) == 2
    assert status == (0 if found["holds"] else 1)


@pytest.mark.parametrize("seconds, holds", [((0.66, 0.56, 0.44, 0.42, 0.39, 0.37, 0.36, 0.36), [True, True]),
                                            ((0.66, 0.56, 0.42, 0.44, 0.39, 0.37, 0.36, 0.36), [False, True]),
                                            ((0.50, 0.56, 0.37, 0.37, 0.30, 0.37, 0.36, 0.36), [True, False])])
def test_gains_are_over_the_best_in_sequence(seconds, holds):
    """Medians of all rounds, so that a late repetition changes nothing."""
    mapping = as_mapping(place("default", Site(parse_torus("4x4:mesh", bandwidth=(1e6, 1e6))), ProcessGrid(4, 4)), "default")
    found = []
    for (_, schedule), median in zip(experiment.RUNS, seconds):
        record = run_record(mapping, Transform(32, 32, 32), Costs(), {"link_bandwidth": "1 MB/s"}) | {
            "schedule": schedule, "verify": {"passed": True}}
        record["phases"]["total"] = {"max_s": [median, median - 0.01, 9.0]}
        found.append([record, record])
    rows = experiment.rows_of(found)
    assert [row.gain for row in rows] == pytest.approx([min(seconds[:2]) / s for s in seconds])
    assert [claim.judge(rows)[-1] for claim in experiment.CLAIMS] == holds


@pytest.mark.sampled(1)
@pytest.mark.parametrize("schedule", ("sequence", "overlap:4:x", "overlap:8:x"))
def test_no_placement_has_less_link_time_than_the_boxes(schedule, pencilmap):
    """The claims are about the best placement under each schedule."""
    network = ("--network", "4x4:mesh", "--bandwidth", "10 Mbit/s", "--grid", "4x4", "--fft", str(experiment.TRANSFORM))
    _, out, _ = pencilmap("predict", *network, "--schedule", schedule, "-p", experiment.BOXES, "-p", "best", "--json")
    boxes, best = (found["schedule"]["t_s"] for found in json.loads(out)["answers"])
    assert boxes == pytest.approx(best, rel=1e-12)


def test_every_link_carries_what_was_predicted(sixteen):
    found, _ = sixteen
    assert found["holds"] and [p["placement"] for p in found["placements"]] == ["default", "box:2x2"]
    for placement in found["placements"]:
        assert len(placement["links"]) == 48
        for link in placement["links"]:
            assert 0.9 <= link["ratio"] <= 1.1, link


def test_bytes_times_hops_are_those_of_the_messages(sixteen):
    """By hand: |a - b| over all pairs of a line of 4 sums to 20; 8 lines, messages of n^3 / 4 bytes, 4 repetitions."""
    found, _ = sixteen
    n = int(found["transform"].split("x")[0])
    carried = sum(link["carried_bytes"] for link in found["placements"][0]["links"])
    assert carried == pytest.approx(20 * 8 * n**3 / 4 * 4, rel=0.05)


def test_the_records_know_where_the_ranks_were(sixteen):
    _, records = sixteen
    for record, second in zip(records, ([1, 0], [1, 0])):
        assert record["placement"]["coordinate_source"] == "hostname" and record["sync"] == "clock"
        assert len({tuple(rank["coordinate"]) for rank in record["placement"]["ranks"]}) == 16
        assert record["placement"]["ranks"][1]["coordinate"] == second
    rows = [[tuple(rank["coordinate"]) for rank in record["placement"]["ranks"][:4]] for record in records]
    assert rows == [[(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 0), (1, 0), (0, 1), (1, 1)]]


def test_an_exchange_that_moves_nothing_has_no_ratio(namespaces, pencilmap, monkeypatch):
    """Two nodes are one column of two, so its rows are single tasks. Remains of another MPI job do no harm."""
    monkeypatch.setenv("OMPI_MCA_ess", "singleton")
    out = pencilmap.out("validate", "namespaces", "--network", "2:mesh", "--placement", "default", "--reps", "1")
    row = next(line.split() for line in out.splitlines() if " row " in line)
    assert row[2:] == ["0", "ms", "0", "ms", "-", "-", "-"]


def test_routes_that_are_not_the_predicted_ones_are_found_out(namespaces, monkeypatch):
    """The network sends ties upwards, the prediction splits them by parity: on a ring of 4, a link carries 3 for 2, and 1
    for 2."""
    from pencilmap.model.network.torus import parse_torus
    from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork

    network = EmulatedNetwork(parse_torus("4"), 10**7)
    boxed = experiment.run_boxed
    monkeypatch.setattr(experiment, "run_boxed", lambda job, *rest: boxed(job | {"tie": "plus"}, *rest))
    result = experiment.run(Experiment(network, ProcessGrid(4, 1), ("default",), verify=False, reps=1), 60)[0]
    assert not result.holds
    assert max(result.ratios) == pytest.approx(1.5, abs=0.1) and min(result.ratios) == pytest.approx(0.5, abs=0.1)


def test_a_failed_run_says_what_the_program_said(namespaces):
    from pencilmap.model.network.torus import parse_torus
    from pencilmap.scripts.networks.namespaces.network import EmulatedNetwork

    network = EmulatedNetwork(parse_torus("2:mesh"), 10**7)
    broken = Experiment(network, ProcessGrid(2, 1), ("default",), verify=False)
    object.__setattr__(broken, "reps", -1)
    with pytest.raises(PencilmapError, match="--reps"):
        experiment.run(broken, 60)


def test_no_root_is_needed_where_users_may_have_namespaces(namespaces):
    """As a user without rights, with the checkout owned by the user: the box also gets a user namespace."""
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED here: the other tests run without root already")
    probe = "from pencilmap.scripts.networks.namespaces.experiment import check_available; check_available()"
    ordinary = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    done = subprocess.run([*ordinary, sys.executable, "-c", probe], cwd="/", capture_output=True, text=True,
                          timeout=patience(60))
    if "unshare failed" in done.stderr:
        pytest.skip("NOT TESTED: networks without root, for this kernel gives users no namespaces")
    assert done.returncode == 0, done.stderr


# ---- nothing is left -------------------------------------------------------------------------------------------------


def processes():
    """Return {(pid, start time): parent} of all running processes."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            found[int(stat.parent.name), fields[19]] = int(fields[1])
    return found


def descendants(pid):
    everything = processes()
    family, grown = {pid}, True
    while grown:
        young = {child for (child, _), parent in everything.items() if parent in family} - family
        family |= young
        grown = bool(young)
    return {key for key in everything if key[0] in family}


def name_of(pid):
    """Return the name of a process, empty if the process has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def surroundings():
    """Return possible remains of a run: mounts, named namespaces, devices, session directories."""
    return {
        "mounts": Path("/proc/self/mounts").read_text(),
        "namespaces": sorted(p.name for p in Path("/run/netns").iterdir()) if Path("/run/netns").exists() else None,
        "devices": sorted(os.listdir("/sys/class/net")),
    }


def ended(keys, seconds=10):
    """Return the processes that still run after a while."""
    end = time.monotonic() + patience(seconds)
    while (left := keys & set(processes())) and time.monotonic() < end:
        time.sleep(0.05)
    return left


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_killed_leaves_nothing_behind(number, namespaces, tmp_path):
    before = surroundings()
    with open(tmp_path / "err", "w+") as err:
        run = subprocess.Popen([*PENCILMAP, *VALIDATE, "--placement", "default", "--reps", "50"], stdout=subprocess.DEVNULL,
                               stderr=err, start_new_session=True, env=os.environ | {"TMPDIR": str(tmp_path)})
        try:
            family = wait_for_ranks(run, Path(err.name))
            run.send_signal(number)
            run.wait(timeout=patience(20))
        finally:
            if run.poll() is None:
                run.kill()
    assert run.returncode != 0
    assert ended(family) == set()
    assert surroundings() == before
    assert {p.name for p in tmp_path.iterdir()} == {"err"}


def wait_for_ranks(run, err, ranks=16, seconds=120):
    """Return the processes of a run once all its ranks run."""
    end = time.monotonic() + patience(seconds)
    while time.monotonic() < end and run.poll() is None:
        if "default" in err.read_text():
            family = descendants(run.pid)
            if sum(name_of(pid) == "fft_runner" for pid, _ in family) >= ranks:
                return family
        time.sleep(0.1)
    raise AssertionError(f"the run never came to its ranks: status {run.poll()}\n{err.read_text()}")


# ---- machines that cannot make networks ------------------------------------------------------------------------------


def test_without_the_tools_it_says_so_and_has_its_own_exit_status(pencilmap, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    status, out, err = pencilmap(*VALIDATE)
    assert status == 3 and out == ""
    assert "need setpriv, unshare" in err and "apt-get install util-linux" in err and "Traceback" not in err


def test_without_rights_it_says_so_and_has_its_own_exit_status(pencilmap, monkeypatch, tmp_path):
    for name in ("setpriv", "unshare", "nsenter", "ip", "tc", "mpirun.openmpi", "hostname", "mount", "cc"):
        tool = tmp_path / name
        tool.write_text("#!/bin/sh\necho unshare failed: Operation not permitted >&2\nexit 1\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    status, out, err = pencilmap(*VALIDATE)
    assert status == 3 and out == ""
    assert "Operation not permitted" in err and "root or user namespaces" in err
