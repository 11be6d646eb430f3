"""`--traffic` of map, predict and check: answers for scripts against the schema, and errors of impossible traffic."""

import json
from pathlib import Path

import jsonschema
import pytest

RING = "".join(f"{a} {(a + 3) % 8} 1000\n" for a in range(8))
SCHEMA = json.loads((Path(__file__).parents[2] / "scripts" / "command_line" / "answers.schema.json").read_text("utf-8"))


@pytest.fixture
def ring(tmp_path):
    path = tmp_path / "ring.txt"
    path.write_text(RING)
    return path


@pytest.mark.parametrize("bandwidth", [[], ["--bandwidth", "1 GB/s"]])
@pytest.mark.parametrize("network", ["4x2", "fat-tree:leaves=2,hosts=4,up=2"])
def test_answers_have_the_form_of_the_schema(pencilmap_json, ring, tmp_path, network, bandwidth):
    on = ["--network", network, *bandwidth, "--traffic", ring]
    hosts = tmp_path / "ring.hosts"
    written = pencilmap_json.one("map", *on, "--format", "hostfile", "-o", hosts, "--effort", "quick")
    shown = pencilmap_json.one("predict", *on, "--placement", "default:nt", "--placement", f"file:{hosts}")
    checked = pencilmap_json.one("check", hosts, *on)
    assert [len(answer["predictions"]) for answer in (written, shown, checked)] == [2, 3, 2]
    for answer in (written, shown, checked):
        assert answer["ranks"] == 8 and answer["traffic"] == str(ring)
        assert (answer["predictions"][0]["link_s"] is None) == (not bandwidth)
        first, last = answer["predictions"][0], answer["predictions"][-1]
        assert last["link_bytes"] == pytest.approx(written["predictions"][-1]["link_bytes"])
        assert last["gain"] == pytest.approx(first["link_bytes"] / last["link_bytes"])


@pytest.mark.parametrize("command", ["map", "predict", "check"])
@pytest.mark.parametrize("key", ["advice", "ranks"])
def test_schema_refuses_answers_without_a_key(command, key):
    placed = {"placement": "best", "routing": "dimension-order", "link_bytes": 1, "link_s": None, "phase_bytes": [1],
              "busiest_link": None, "bound_bytes": None, "certificate": None, "run_s": None, "gain": 1.0}
    answer = {"traffic": "t", "ranks": 1, "advice": "none", "predictions": [placed], "output": "o", "format": "f",
              "launch": "l", "job_script": [], "needs": [], "warnings": [], "caveats": [], "launch_order": {}, "file": "f",
              "valid": True, "valid_for": []}
    whole = {"schema": "pencilmap-answers/1", "command": command, "answers": [answer]}
    jsonschema.validate(whole, SCHEMA)
    for wrong in ({k: v for k, v in answer.items() if k != key}, {**answer, "predictions": [{**placed, "more": 1}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**whole, "answers": [wrong]}, SCHEMA)
