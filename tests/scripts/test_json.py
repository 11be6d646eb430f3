"""JSON of the predicting commands: always a list of predictions that satisfies the schema of the package."""

import json
from importlib.resources import files

import jsonschema
import pytest

from pencilmap.model.machines.machine import load_machine
from pencilmap.model.predict import SCHEMA

BGL = ("--machine", "bluegene-l", "--fft", "512")
SHAPE = ("--network", "4x4x4:mesh")


@pytest.fixture(scope="module")
def validate():
    schema = json.loads((files("pencilmap.model") / "prediction.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$defs"]["prediction"]["properties"]["schema"]["const"] == SCHEMA
    return jsonschema.Draft202012Validator(schema).validate


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "ring.edges"
    path.write_text("a b\nb c\nc d\nd a\n")
    return path


@pytest.mark.parametrize("arguments, n, names", [
    ((*BGL, "--grid", "8x64"), 1, ["row", "column"]),
    ((*BGL, "--grid", "8x64", "-p", "default", "-p", "box:2x2x2"), 2, ["row", "column"]),
    ((*BGL, "--decomposition", "slab", "--grid", "512"), 1, ["slab"]),
    ((*BGL, "--decomposition", "slab", "--grid", "512", "-p", "default"), 1, ["slab"]),
    ((*SHAPE, "--grid", "8x8", "-p", "default", "--routing", "all"), 7, ["row", "column"]),
    (("--machine", "fugaku", "--nodes", "4x6x4", "-t", "1", "--grid", "8x12", "-p", "default"), 1, ["row", "column"]),
    ((*SHAPE, "--decomposition", "slab", "--grid", "60", "--idle", "-p", "default"), 1, ["slab"]),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_predict_prints_a_list_of_predictions(arguments, n, names, pencilmap_json, validate):
    found = pencilmap_json("predict", *arguments)
    validate(found)
    assert len(found) == n and all([stage["name"] for stage in p["stages"]] == names for p in found)


def test_a_graph_has_the_same_json(graph, pencilmap_json, validate):
    for more in (("--grid", "2x2"), ("--decomposition", "slab", "--grid", "4")):
        found = pencilmap_json("predict", "--network", graph, *more, "-p", "default", "--bandwidth", "1 GB/s", "--fft", "16")
        validate(found)
        assert found[0]["stages"][0]["t_s"] > 0


@pytest.mark.parametrize("more", [("--decomposition", "pencil"), ("--decomposition", "slab")], ids=["pencil", "slab"])
def test_map_check_and_shapes_hold_predictions(more, tmp_path, pencilmap_json, validate):
    mapped = pencilmap_json.one("map", *BGL, *more, "--effort", "quick", "--schedule", "sequence", "--format",
                                "hostfile", "-o", tmp_path / "hosts")
    validate(mapped["predictions"])
    assert len(mapped["predictions"]) >= 1
    grid = "x".join(map(str, mapped["predictions"][0]["grid"]))
    checked = pencilmap_json.one("check", tmp_path / "hosts", *BGL, *more, "--grid", grid)
    validate(checked["predictions"])
    assert checked["predictions"][0]["stages"][0]["load"] == mapped["predictions"][0]["stages"][0]["load"]
    shapes = pencilmap_json.one("study", "shapes", "--machine", "bluegene-l", "--nodes", "512", "--fft", "512",
                                *more)["shapes"]
    scaled = pencilmap_json.one("study", "shapes", "--machine", "bluegene-l", "--nodes", "512,1024", "--fft", "2048",
                                *more)["points"]
    for found in (*shapes, *scaled):
        validate(found["predictions"])


def test_the_slab_is_one_exchange_that_moves_everything(pencilmap_json):
    """Like the row of a grid of one row, whose other exchange is empty; the slab copies less."""
    slab, = pencilmap_json("predict", *BGL, "--decomposition", "slab", "--grid", "512", "-p", "default")
    pencil, = pencilmap_json("predict", *BGL, "--grid", "512x1", "-p", "default")
    empty = pencil["stages"][1]
    assert empty["time_s"] == 0 and slab["certificate"] == 1.0
    assert {**slab["stages"][0], "name": "row"} == pencil["stages"][0]
    assert slab["terms_local"]["fft_s"] == pencil["terms_local"]["fft_s"]
    packing = 511 * load_machine("bluegene-l").costs.copy_cost_s
    assert slab["terms_local"]["memory_s"] - packing == pytest.approx(5 / 7 * (pencil["terms_local"]["memory_s"] - packing))
