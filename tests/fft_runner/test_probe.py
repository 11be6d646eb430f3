"""network_probe on real ranks, its refusals, and lines that are not its results."""

import json
from pathlib import Path

import jsonschema
import pytest

from pencilmap.mapper.runs.probes import read_probes
from pencilmap.model.base.errors import CalibrationError, RecordError
from pencilmap.model.machines.probe import fit_probe

ROOT = Path(__file__).resolve().parents[2]
SIZES = [0, 64, 1024, 16384]


@pytest.fixture(scope="module")
def schema():
    schema = json.loads((ROOT / "fft_runner" / "network_probe.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def test_real_ranks_are_probed(mpirun, schema, tmp_path, pencilmap_json):
    path, key = tmp_path / "probe.jsonl", 200 * "k"
    for places in (["--machine-torus", "4x1", "--coordinates", "assumed"], []):
        done = mpirun(4, "--reps", 2, "--rounds", 2, "--warmup", 1, "--bytes", ",".join(map(str, SIZES)), *places,
                      "--stream-bytes", 65536, "--label", f"{key}=b=c", "--json", path, program="network_probe")
        assert done.returncode == 0, done.stdout + done.stderr
    located, blind = map(json.loads, path.read_text().splitlines())
    assert [result["launch_order"] for result in (located, blind)] == ["tn", None]
    for result in (located, blind):
        jsonschema.validate(result, schema)
        assert result["nodes"] == 4 and result["labels"] == {key: "b=c"}
        assert {t["bytes"] for t in result["round_trips"]} == set(SIZES)
        for size in SIZES:
            bursts = [b for b in result["bursts"] if b["bytes"] == size]
            assert sorted(len(b["to"]) for b in bursts) == sorted(3 * [1, 2, 3])
    assert {t["hops"] for t in located["round_trips"]} == {1, 2} and {t["hops"] for t in blind["round_trips"]} == {None}
    assert [(s["axis"], s["pairs"]) for s in located["streams"]] == [("x", [[0, 2]]), ("x", [[0, 2], [1, 3]])]
    assert [(s["axis"], len(s["pairs"])) for s in blind["streams"]] == [(None, 1), (None, 2)]
    with pytest.raises(CalibrationError, match="several networks"):
        read_probes([path])
    path.write_text(json.dumps(located))
    told = pencilmap_json("study", "calibrate", "--probe", path)[0]
    fit = fit_probe(read_probes([path]))
    assert told["messages"][0]["start_s"] == fit.messages[0].start_s >= 0 and told["cuts"][0]["axis"] == "x"
    assert [q["of"] for q in told["quality"]] == ["messages alone", "messages at once", "streams across a cut"]
    path.write_text(json.dumps(blind))
    assert fit_probe(read_probes([path])).hop_latency_s is None


@pytest.mark.parametrize("arguments, part", [
    (["--bytes", "-1"], "is not an integer of 0.."), (["--at-once", "99"], "is not an integer of 1..64"),
    (["--machine-torus", "2x"], "torus"), (["--label", "x"], "is not of the form key=value"),
    (["stray"], "does not belong to any option")])
def test_what_is_refused(mpirun, arguments, part):
    done = mpirun(2, *arguments, program="network_probe")
    lines = [line for line in done.stderr.splitlines() if line.startswith("network_probe:")]
    assert done.returncode != 0 and len(lines) == 1 and part in lines[0]


def result(**changes):
    trips = [{"hops": 1, "from": 0, "to": 1, "bytes": size, "seconds": 1e-6 + 1e-9 * size, "least": 1e-6}
             for size in SIZES]
    return {"schema": "pencilmap-network-probe/1", "program": {"name": "network_probe", "version": "0"}, "mpi": "none",
            "ranks": 2, "nodes": 2, "torus": "2", "tasks_per_node": 1, "coordinate_source": "assumed",
            "reps": 1, "rounds": 1, "labels": {},
            "round_trips": trips, "bursts": [], "streams": []} | changes


@pytest.mark.parametrize("content, part", [
    ("", "has no result of a probe"), ("no", "is not JSON"), ("{}", "is not a result of network_probe"),
    (json.dumps(result(torus=7)), "torus: 7 is not of type"),
    (json.dumps(result(bursts=[{"from": 0, "to": [5], "bytes": 0, "seconds": 1.0, "least": 1.0}])),
     "node 5 is outside of torus 2")])
def test_what_is_no_result(tmp_path, content, part):
    (tmp_path / "p").write_text(content)
    with pytest.raises(RecordError, match=part):
        read_probes([tmp_path / "p"])


def test_what_does_not_suffice(tmp_path, pencilmap):
    """Round trips alone give figures of messages, but no machine."""
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(result()))
    fit = fit_probe(read_probes([path]))
    assert fit.messages[0].start_s == pytest.approx(1e-6, rel=1e-6) and fit.messages[0].rate == pytest.approx(1e9, rel=1e-6)
    path.write_text(json.dumps(result(round_trips=result()["round_trips"][:2])))
    with pytest.raises(CalibrationError, match="3 sizes"):
        fit_probe(read_probes([path]))
    status, _, err = pencilmap("study", "calibrate", "--probe", path, "--honest")
    assert status and "a probe is fitted whole" in err
    path.write_text(json.dumps(result(torus=None)))
    status, _, err = pencilmap("study", "calibrate", "--probe", path, "-o", tmp_path / "m.toml")
    assert status and "had no coordinates" in err and not (tmp_path / "m.toml").exists()
