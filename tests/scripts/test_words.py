"""Messages for wrong words: the nearest name, the list, one `error:`; and shell completions."""

import ast
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
from pencilmap.scripts.command_line.pages import spelled
from tests.documents import ROOT
from tests.patience import patience

TORUS = ("--network", "4x4", "-g", "4x4")
COMMANDS = {name: cli.pencilmap.get_command(None, name) for name in cli.pencilmap.list_commands(None)}


def test_units_are_listed_and_each_is_understood(pencilmap):
    _, _, err = pencilmap("predict", *TORUS, "--bandwidth", "3 furlongs")
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


def test_hosts_are_told_to_be_nodes(pencilmap, tmp_path):
    """A command without --hosts points to --nodes, as do files whose hosts are no nodes or have too many ranks."""
    assert "plan has no option --hosts; give a file or list of the hosts as --nodes" in " ".join(
        pencilmap("plan", "--hosts", "c[010-033]")[2].split())
    (tmp_path / "rankfile").write_text("".join(f"rank {r}=c{r // 2 + 16:03} slot={r % 2}\n" for r in range(32)))
    for network, words in (("32", "line 2: host c016 has more ranks than 1 task per node; correct the line, give "
                                  "more --tasks-per-node, or name the hosts of the job with --nodes"),
                           ("16", "line 1 column 8: host c016: node (16) is outside torus 16; x must be 0..15"),
                           ("4x8", "host 'c016' does not end in 2 coordinates of torus 4x8, as node-0-0 does")):
        for command in (("check", tmp_path / "rankfile"),
                        ("map", "--from", tmp_path / "rankfile", "-f", "slurm", "-o", tmp_path / "out")):
            status, _, err = pencilmap(*command, "--network", network)
            said = " ".join(err.replace("\nhelp:", ";").split())
            assert status == 1 and words in said and "--nodes" in said and ",)" not in said, said


@pytest.mark.sampled(1)
@pytest.mark.parametrize("write", ["write_weighted_edgelist", "write_edgelist"])
def test_predict_with_nothing_but_a_graph_of_networkx(pencilmap, pencilmap_json, tmp_path, write):
    import networkx as nx

    graph = nx.cycle_graph(4)
    nx.set_edge_attributes(graph, 2.5, "weight")
    getattr(nx, write)(graph, tmp_path / "graph")
    words = ("plan", "--network", tmp_path / "graph", "--bandwidth", "1 GB/s", "--fft", "64", "--decomposition", "pencil",
             "--schedule", "sequence", "-e", "alltoallv")
    found = pencilmap_json(*words)
    assert {p["placement"] for p in found} == {"best", "default"}
    assert {tuple(p["grid"]) for p in found} == {(1, 4), (2, 2), (4, 1)}
    status, out, err = pencilmap(*words)
    assert status == 0 and "2x2" in out and "error" not in err
    assert pencilmap("map", "--network", tmp_path / "graph", "-f", "hostfile", "-o", tmp_path / "hosts")[0] == 0
    assert {p["placement"] for p in pencilmap_json(*words, "-p", "best")} == {"best"}


@pytest.mark.parametrize("words, said", [
    (("predict", "bluegene-l"), "'bluegene-l' belongs to no option; write --machine bluegene-l"),
    (("map", "mine.toml", "-o", "x"), "'mine.toml' belongs to no option; write --machine mine.toml"),
    (("plan", "4x4", "-n", "8"), "write --network 4x4"),
    (("study", "shapes", "-N", "8", "bluegene-p"), "write --machine bluegene-p"),
    (("predict", "something", *TORUS), "'something' belongs to no option; leave it out, this command takes"),
    (("help", "placement"), "did you mean placements"),
    (("predict", "--torus", "4x4", "--grid", "4x4"), "error: option --torus is now --network\n"),
    *[((old,), f"command '{old}' is now {new}\n") for old, new in cli.pencilmap.renamed.items()]])
def test_a_word_in_a_wrong_place_is_answered_with_the_right_one(pencilmap, words, said):
    status, out, err = pencilmap(*words)
    assert status in (1, 2) and out == "" and said in err
    if "is now pencilmap" in said:
        assert pencilmap(*re.search(r"is now pencilmap ([a-z ]+[a-z])", said)[1].split(), "--help")[0] == 0


def test_every_argument_that_a_message_of_the_library_names_is_an_option():
    """Messages name arguments in backquotes; the command line turns these names into options."""
    known = {option for command in COMMANDS.values() for parameter in command.params for option in parameter.opts}
    for path in [*(ROOT / "model").rglob("*.py"), *(ROOT / "mapper").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                for named in re.findall(r"`([a-z]\w*)`", ast.unparse(node.exc)):
                    assert spelled(f"`{named}`") in known, (path.name, named)


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


def test_a_whole_machine_is_confirmed_with_an_option(pencilmap):
    asked = ("predict", "-m", "cray-xe6", "-g", "384x408", "-p", "default:txyz")
    status, _, err = pencilmap(*asked)
    assert status == 1 and err == ("error: this is the whole of cray-xe6, 156,672 tasks; name the nodes of the job with "
                                   "--nodes, or confirm with --whole-machine\n")
    assert pencilmap(*asked, "--whole-machine")[0] == 0
    part = ("predict", "-m", "cray-xe6", "--network", "4x4x4", "-g", "48x64", "-p", "default:txyz")
    assert pencilmap(*part)[0] == pencilmap("predict", "-m", "bluegene-l", "-g", "8x64", "-p", "default")[0] == 0


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
