"""mapfiles/ is what its command makes, and every placement does what the manifest says of it."""

import json
import shlex

import pytest

from pencilmap.mapper.formats import Job, read_mapping
from pencilmap.mapper.setting import setting
from pencilmap.model.exchange import exchanges
from pencilmap.model.grid import parse_grid
from pencilmap.model.joint import routed_joint
from pencilmap.model.predict import predict_routed
from pencilmap.model.routing import DEFAULT_ROUTING, routing
from pencilmap.scripts.maintenance.make_mapfiles import FOLDER, MAX_RANKS, OVERLAPPED, make

MANIFEST = json.loads((FOLDER / "manifest.json").read_text())["entries"]
FILES = [e for e in MANIFEST if e["file"]]


def where(entry):
    shape = entry["command"].split("--partition ")[1].split()[0] if "--partition" in entry["command"] else None
    return setting(machine=entry["machine"], tasks_per_node=entry["tasks_per_node"],
                   **({"partition": shape} if shape else {"torus": entry["shape"]}))


@pytest.mark.slow
def test_the_command_makes_the_same_bytes(tmp_path):
    (tmp_path / "README.md").write_bytes((FOLDER / "README.md").read_bytes())
    make(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert sorted(made) == sorted(kept), "run python -m pencilmap.scripts.maintenance.make_mapfiles"
    for name in made:
        assert made[name] == kept[name], f"{name} differs; run python -m pencilmap.scripts.maintenance.make_mapfiles"


@pytest.mark.parametrize("entry", [pytest.param(e, id=e["name"], marks=[pytest.mark.thorough] if e["ranks"] > 1024 else [])
                                   for e in FILES])
def test_files_have_the_loads_that_the_manifest_says(entry):
    """By routing every message of the file, where the manifest was made in closed form."""
    site = where(entry).site
    mapping = read_mapping(FOLDER / entry["file"], Job(site), parse_grid(entry["grid"]), entry["format"])
    prediction = predict_routed(mapping)
    for stage, said in zip(prediction.stages, entry["prediction"]["stages"], strict=True):
        assert [float(x) for x in stage.load] == pytest.approx(said["load"], abs=1e-6)
    joint = routed_joint(site.network, exchanges(mapping.grid), mapping.node_of_rank, routing(DEFAULT_ROUTING))
    assert float(OVERLAPPED.of_loads(joint)) == pytest.approx(entry["prediction"]["overlapped"], abs=1e-6)


def test_no_placement_is_worse_than_the_default_and_some_are_much_better():
    gains = [e["default"]["sum"] / e["prediction"]["sum"] for e in MANIFEST if e["schedule"] == "sequence"]
    assert min(gains) >= 1 and max(gains) >= 2


def test_a_placement_for_overlapped_exchanges_is_better_than_the_other_one_then():
    """And worse, or as good, one after the other."""
    for_sequence = {(e["machine"], e["shape"], e["ranks"], e["grid"]): e["prediction"] for e in MANIFEST
                    if e["schedule"] == "sequence"}
    for_overlap = [e for e in MANIFEST if e["schedule"] == "overlap"]
    assert {e["machine"] for e in for_overlap} == {e["machine"] for e in MANIFEST}
    for e in for_overlap:
        other = for_sequence[e["machine"], e["shape"], e["ranks"], e["grid"]]
        assert e["prediction"]["overlapped"] < other["overlapped"] and e["prediction"]["sum"] >= other["sum"]


def test_all_partitions_that_were_asked_for_are_there():
    shapes = {(e["machine"], e["shape"]) for e in MANIFEST}
    assert {("bluegene-l", "8x8x8"), ("bluegene-l", "32x32x32"), ("bluegene-q", "4x4x4x4x2"), ("bluegene-q", "8x8x8x8x2"),
            ("bluegene-p", "16x16x16"), ("bluegene-l", "16x16x16"),
            ("tpu-v4", "4x4x4"), ("tpu-v5p", "16x16x24"), ("fugaku", "24x24x24")} <= shapes
    stored = {(e["machine"], e["shape"]) for e in FILES}
    assert {("bluegene-p", "8x8x16"), ("bluegene-q", "4x4x4x4x2"), ("bluegene-l", "16x16x16"), ("tpu-v4", "16x16x16"),
            ("fugaku", "8x12x16")} <= stored


def test_the_folder_stays_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4_000_000
    assert all((e["file"] is not None) == (e["ranks"] <= MAX_RANKS) for e in MANIFEST)


def test_a_command_of_the_manifest_writes_its_file(tmp_path, pencilmap):
    for entry in FILES[0], next(e for e in FILES if e["format"] == "jax"):
        words = shlex.split(entry["command"])[1:]
        words[words.index("--output") + 1] = str(tmp_path / entry["name"])
        assert pencilmap(*words)[0] == 0
        assert (tmp_path / entry["name"]).read_bytes() == (FOLDER / entry["file"]).read_bytes()
