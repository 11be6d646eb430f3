"""All output fits 80 columns with words whole: every command, on several networks, as a pipe and a file get it."""

import json
import re
from collections import defaultdict
from itertools import pairwise

import pytest

from pencilmap.mapper.placements import as_mapping
from pencilmap.mapper.setting import setting
from pencilmap.scripts.command_line import tables
from pencilmap.scripts.command_line.topics import TOPICS
from tests.mapper.run_records import record

COLUMNS = 80
NETWORKS = {
    "torus": ("--machine", "fugaku", "--nodes", "8x12x8", "--grid", "48x64"),
    "cube": ("--machine", "bluegene-l", "--network", "4x4x4:torus", "--grid", "8x8"),
    "mesh": ("--network", "8x8:mesh", "--bandwidth", "1 Gbit/s", "--grid", "8x8"),
    "pod": ("--machine", "tpu-v4", "--network", "4x4x8", "--grid", "8x16"),
    "fat-tree": ("--network", "fat-tree:leaves=4,hosts=16,up=8", "--bandwidth", "25 GB/s", "--grid", "8x8"),
    "slingshot": ("--machine", "lumi-c", "--nodes", "16", "--tasks-per-node", "4", "--grid", "8x8"),
    "graph": ("--network", "names.edges", "--bandwidth", "12.5 GB/s", "--grid", "2x4"),
}
COMMANDS = {
    "predict": ("predict", "--fft", "64", "-p", "default"),
    "schedule": ("predict", "--fft", "64", "-p", "default", "--schedule", "best"),
    "rules": ("predict", "--fft", "64", "-p", "default", "--routing", "all"),
    "terms": ("predict", "--fft", "64", "-p", "default", "--terms"),
    "loads": ("predict", "-p", "default"),
    "map": ("map", "--fft", "64", "-p", "default", "-o", "my.map"),
    "hostfile": ("map", "--fft", "64", "-p", "default", "-f", "hostfile", "-o", "my.hosts"),
    "draw": ("draw", "-p", "default"),
    "draw loads": ("draw", "-p", "default", "--what", "loads"),
    "report": ("report", "--fft", "64", "-p", "default", "--schedule", "sequence", "-o", "page.html"),
    "plan": ("plan", "--fft", "64", "--effort", "quick", "--top", "5"),
}
PASTED = ("  ", "SwitchName")  # lines for a shell or a job script are not broken
LONG_NAMES = "".join(f"rack{k // 4}-chassis{k // 2}-node{k:04d} switch-of-rack-{k // 4}\n" for k in range(8))


def too_wide(text):
    """Lines with several words that are wider than a terminal, and lines that end inside a word."""
    return [line for line in text.splitlines() if len(line) > COLUMNS and " " in line.strip()
            and not line.startswith(PASTED)]


def broken_words(text):
    """Lines of a table whose next line goes on with the rest of a word, such as a number after its decimal point."""
    lines = text.splitlines()
    return [pair for pair in pairwise(lines) if len(pair[0]) >= COLUMNS - 1 and pair[0][-1].isalnum()
            and re.match(r"[a-z0-9]{1,3}$", pair[1])]


@pytest.fixture(autouse=True)
def lines(pencilmap, monkeypatch):
    """Break sentences as for a user; `pencilmap` has them on one line for the words of other tests."""
    monkeypatch.setattr(tables, "LINE", COLUMNS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    switches = "".join(f"switch-of-rack-{k} {{'kind': 'switch'}}\n" for k in range(2))
    (tmp_path / "names.edges").write_text(switches + LONG_NAMES + "switch-of-rack-0 switch-of-rack-1\n")
    return tmp_path


@pytest.mark.sampled(20)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("network", NETWORKS)
def test_every_command_fits_eighty_columns(network, command, folder, pencilmap):
    words = COMMANDS[command]
    asked = NETWORKS[network][:-2] if words[0] == "plan" else NETWORKS[network]
    status, out, err = pencilmap(*words, *asked)
    assert status in (0, 1, 2), err
    assert too_wide(out + err) == [] and broken_words(out + err) == []
    if command in ("map", "hostfile") and status == 0:
        file = "my.map" if command == "map" else "my.hosts"
        status, out, err = pencilmap("check", file, *asked, "--fft", "64")
        assert too_wide(out + err) == [] and broken_words(out + err) == []


def test_records_fit_eighty_columns(folder, pencilmap):
    where = setting(machine="bluegene-l", network="4x4x4:torus", fft="64")
    found = [record(as_mapping(where.place(text, where.grid("8x8")), text), where.transform, where.costs,
                    {"machine": "bluegene-l", "placement": text, "network": "a network with a rather long name"})
             for text in ("default", "digits:x=r2c2,y=r2c2,z=r2c2", "box:2x2x2")]
    (folder / "runs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in found))
    wide = defaultdict(list)
    for words in (("compare",), ("report", "-o", "p.html"), ("study", "calibrate")):
        _, out, err = pencilmap(*words, "runs.jsonl")
        wide[words] = too_wide(out + err)
        assert out or err
    assert dict(wide) == {words: [] for words in wide}


@pytest.mark.parametrize("words", [
    ("network", "--machines"), ("network", "--machine", "fugaku"), ("network", "--machine", "lumi-c"),
    ("network", "--machine", "tpu-v4"), ("network", "--no-hardware"), ()], ids=" ".join)
def test_descriptions_fit_eighty_columns(words, folder, pencilmap):
    _, out, err = pencilmap(*words)
    assert too_wide(out + err) == [] and broken_words(out + err) == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("topic", TOPICS)
def test_the_pages_of_help_fit_eighty_columns(topic, pencilmap):
    _, out, err = pencilmap("help", topic)
    assert too_wide(out + err) == []
