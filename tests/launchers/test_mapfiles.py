"""mapfiles/ is the output of its command, and every placement has the loads of its manifest entry."""

import json
import shlex

import pytest

from pencilmap.mapper.formats import FORMATS, Job, read_mapping
from pencilmap.mapper.setting import setting
from pencilmap.model.placement.grid import parse_grid
from pencilmap.scripts.maintenance.write_tables import MAPFILES as FOLDER, make
from tests.model.cases import predict_routed

MANIFEST = json.loads((FOLDER / "manifest.json").read_text())["entries"]
each = pytest.mark.parametrize("entry", [pytest.param(e, id=e["file"]) for e in MANIFEST])


def test_the_command_makes_the_same_bytes(tmp_path):
    (tmp_path / "README.md").write_bytes((FOLDER / "README.md").read_bytes())
    make(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert sorted(made) == sorted(kept), "run python -m pencilmap.scripts.maintenance.write_tables mapfiles"
    for name in made:
        assert made[name] == kept[name], f"{name} differs; run python -m pencilmap.scripts.maintenance.write_tables mapfiles"


@each
def test_files_have_the_loads_that_the_manifest_says(entry):
    """Closed forms gave the manifest; this test routes every message of the file."""
    shape = {key: entry[key] for key in ("network",)}
    site = setting(machine=entry["machine"], tasks_per_node=entry["tasks_per_node"], **shape).site
    mapping = read_mapping(FOLDER / entry["file"], Job(site), parse_grid(entry["grid"]), entry["format"])
    prediction = predict_routed(mapping)
    for stage, said in zip(prediction.stages, entry["prediction"]["stages"], strict=True):
        assert [float(x) for x in stage.load] == pytest.approx(said["load"], abs=1e-6)


@each
def test_no_placement_is_worse_than_the_launch_order(entry):
    assert entry["prediction"]["sum"] <= entry["default"]["sum"]


def test_every_format_has_one_file_of_at_most_256_ranks():
    assert sorted(entry["format"] for entry in MANIFEST) == sorted(FORMATS)
    assert max(entry["ranks"] for entry in MANIFEST) <= 256


@each
def test_the_command_of_the_manifest_writes_the_file(entry, tmp_path, pencilmap):
    words = shlex.split(entry["command"])[1:]
    words[words.index("--output") + 1] = str(tmp_path / entry["file"])
    assert pencilmap(*words)[0] == 0
    assert (tmp_path / entry["file"]).read_bytes() == (FOLDER / entry["file"]).read_bytes()
