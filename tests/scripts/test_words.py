"""Messages for wrong words: the nearest name, the list, one `error:`; and shell completions."""

import os
import re
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete

from pencilmap.mapper import choose
from pencilmap.mapper.formats import FORMATS
from pencilmap.mapper.placements import PLACEMENTS
from pencilmap.model.base.units import UNITS, parse
from pencilmap.model.kinds import ROUTINGS
from pencilmap.model.machines.machine import machine_names
from pencilmap.scripts.command_line import cli
from pencilmap.scripts.command_line.commands import simulate
from tests.documents import ROOT
from tests.patience import patience

COMMANDS = {name: cli.pencilmap.get_command(None, name) for name in cli.pencilmap.list_commands(None)}


def test_units_are_listed_and_each_is_understood(pencilmap):
    _, _, err = pencilmap("predict", "--network", "4x4", "-g", "4x4", "--bandwidth", "3 furlongs")
    assert all(unit in err for unit in UNITS["byte/s"])
    for kind, spellings in UNITS.items():
        assert all(parse(f"2 {unit}", kind) > 0 for unit in spellings)


def test_the_reference_lists_the_labels_of_answers():
    text = (ROOT / "docs" / "reference" / "command-line.md").read_text("utf-8")
    table = text.partition("| label |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"\w+", " ".join(re.findall(r"(?m)^\| ([a-z, ]+) \| ", table))))
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "scripts/command_line/examples").iterdir()]
    blocks = [block for page in pages
              for block in re.findall(r"(?m)^\$ pencilmap .*\n((?:(?!```).*\n)*)", page.read_text("utf-8"))]
    shown = {label for block in blocks for label in re.findall(r"(?m)^  (?=[a-z ]{8}\S)([a-z]+) +\S", block)}
    assert len(shown) > 10 and shown - listed <= {"others", "node"}  # a row of a tree, a heading


def completed(*words):
    """Return the completions of the last word, in this process."""
    *before, last = words
    return [found.value for found in ShellComplete(cli.pencilmap, {}, "pencilmap", "").get_completions(list(before), last)]


def test_bash_asks_for_completions():
    asked = {"_PENCILMAP_COMPLETE": "bash_complete", "COMP_WORDS": "pencilmap predict --mach", "COMP_CWORD": "2"}
    start = "import sys; sys.argv[0] = 'pencilmap'; from pencilmap.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", start], env=os.environ | asked, capture_output=True, text=True,
                          timeout=patience(60))
    assert done.stdout == "plain,--machine\n"


@pytest.mark.parametrize("words, wanted", [
    (("predict", "-m", "blue"), [name for name in machine_names() if name.startswith("blue")]),
    (("network", "--machine", "tpu-v5"), ["tpu-v5e", "tpu-v5p"]),
    (("map", "--placement", "d"), [name for name in PLACEMENTS if name.startswith("d")]),
    (("predict", "--routing", "s"), [name for name in ROUTINGS if name.startswith("s")]),
    (("map", "--format", "openmpi"), [name for name in FORMATS if name.startswith("openmpi")]),
    (("predict", "--decomposition", "s"), ["slab"]),
    (("predict", "--exchange", "pers"), ["persistent"]),
    (("map", "--schedule", "over"), ["overlap"]),
])
def test_the_shell_completes_values(words, wanted):
    assert wanted and completed(*words) == wanted


def test_the_shell_completes_every_option_that_takes_a_name_or_a_file():
    silent = [(name, option.opts[0]) for name, command in COMMANDS.items() for option in command.params
              if re.search("NAME|FILE|FOLDER", option.metavar or "")
              and not option.shell_complete(click.Context(cli.pencilmap), "")]
    assert silent == []


@pytest.mark.parametrize("old, new", cli.pencilmap.renamed.items())
def test_a_renamed_command_is_answered_with_the_new_one(pencilmap, old, new):
    status, out, err = pencilmap(old)
    assert (status, out) == (2, "") and f"command '{old}' is now {new}\n" in err
    if new.startswith("pencilmap "):
        assert pencilmap(*re.match("pencilmap ([a-z ]+[a-z])", new)[1].split(), "--help")[0] == 0


def test_a_simulation_that_does_not_fit_shares_its_buffers(pencilmap, monkeypatch):
    """Without starting the run: the test checks the arguments of the run."""
    from pencilmap.scripts.command_line.commands import simulate

    asked = []
    monkeypatch.setattr(simulate, "simulate_all", lambda runs, **more: asked.extend(runs) or [])
    words = ("simulate", "-m", "bluegene-l", "--network", "2x2x2:torus", "-g", "2x4", "--fft", "1024", "-p", "default")
    monkeypatch.setattr(simulate, "available", lambda: 16 * 2**30)
    _, _, err = pencilmap(*words)
    assert "note: transform 1024x1024x1024 needs 64.0 GiB, and 16.0 GiB of memory are free; the ranks share" in err
    assert [run.timing_only for run in asked] == [True]
    status, _, err = pencilmap(*words, "--verify")
    assert status in (1, 2) and "--verify needs all of the data" in err and len(asked) == 1
    monkeypatch.setattr(simulate, "available", lambda: 128 * 2**30)
    _, _, err = pencilmap(*words)
    assert "note" not in err and [run.timing_only for run in asked] == [True, False]


def test_routing_rules_are_reported_with_the_done_part(pencilmap, monkeypatch):
    monkeypatch.setattr(choose, "MANY_NODES", 16)
    _, _, err = pencilmap("predict", "--network", "4x4", "--grid", "4x4", "-p", "default", "--routing", "all")
    told = re.findall(r"(?m)^\d+ s, (\d+) %: routing \S+$", err)
    assert len(told) == len(err.splitlines()) > 3 and list(map(int, told)) == sorted(map(int, told))


def test_what_is_available_is_what_the_control_group_leaves(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    assert simulate.available(tmp_path) is None
    (tmp_path / "proc/meminfo").write_text("MemTotal: 100 kB\nMemAvailable:   64 kB\n")
    assert simulate.available(tmp_path) == 65536
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert simulate.available(tmp_path) == 65536
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("10000\n")
    (tmp_path / "sys/fs/cgroup/memory.current").write_text("4000\n")
    assert simulate.available(tmp_path) == 6000
