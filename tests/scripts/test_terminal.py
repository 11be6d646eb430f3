"""Terminals of 80 columns: help fits, sentences break between words. Also: messages for a first-time user."""

import ast
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from pencilmap.model.base.units import parse
from pencilmap.scripts.command_line import cli
from pencilmap.scripts.command_line.plain_options import spelled
from tests.patience import patience

ROOT = Path(__file__).resolve().parents[2]
START = "import sys; sys.argv[0] = 'pencilmap'; from pencilmap.__main__ import main; main()"
TORUS = ("--network", "4x4", "--grid", "4x4", "--placement", "default")
COMMANDS = cli.pencilmap.list_commands(click.Context(cli.pencilmap))
COLUMNS = 80


def loaded(name):
    return cli.pencilmap.get_command(click.Context(cli.pencilmap), name)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_fits_eighty_columns(name):
    own = click.Context(loaded(name), info_name=name, parent=click.Context(cli.pencilmap, info_name="pencilmap"),
                        terminal_width=COLUMNS)
    assert [line for line in own.get_help().splitlines() if len(line) > COLUMNS] == []


def on_terminal(folder, *words):
    """Return the output of a terminal of 80 columns, and the exit status."""
    master, slave = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR", "TERM")}
    running = subprocess.Popen([sys.executable, "-c", START, *words], cwd=folder, stdin=slave, stdout=slave, stderr=slave,
                               env=env | {"COLUMNS": str(COLUMNS), "TERM": "dumb"})
    os.close(slave)
    said = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the end, on Linux
            break
        if not part:
            break
        said += part
    os.close(master)
    return re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", said.decode()).replace("\r", ""), running.wait(patience(120))


LONG = "a-name-of-a-file-that-is-rather-long"
PASTED = ("  ",)  # lines for a shell or a job script


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words, told", [
    (("map", *TORUS, "-f", "cray", "-o", f"{LONG}.map"),
     ("No file is needed: ", "  launch  ", "  file    ", "  needs   ", "  warning ")),
    (("map", "-m", "bluegene-l", "--grid", "8x64", "-p", "default", "-o", LONG),
     (f"{LONG} is the order XYZT", "  needs   ")),
    (("check", "default.map", "--network", "4x4", "--grid", "4x4"), ("default.map is valid", "  notes   ")),
    (("map", "--from", "default.map", "--network", "4x4", "--grid", "4x4", "-f", "jax", "-o", LONG), ("wrote", "  needs ")),
    (("network", "--no-hardware", "nodes"), ("Your job has", "Ask for")),
    (("network", "--no-hardware", "hosts"), ("Not known:",)),
    (("network", "--no-hardware", "topology.conf"), ("The network is", "Ask for")),
    (("predict", *TORUS, "--bandwidth", "1Gbit"), ("error: '1Gbit'",)),
    (("predict", "--network", "4x4", "--grid", "2x4", "--placement", "default"), ("error: grid 2x4",)),
    (("map", *TORUS, "-f", "no-such-format", "-o", LONG), ("error:", "help:")),
], ids=lambda value: value[0] if isinstance(value[0], str) else "")
def test_sentences_on_a_terminal_break_between_words(words, told, tmp_path):
    (tmp_path / "default.map").write_text("".join(f"{x} {y} 0\n" for y in range(4) for x in range(4)))
    (tmp_path / "nodes").write_text("0 0\n1 1\n")
    (tmp_path / "hosts").write_text("some-node\n")
    (tmp_path / "topology.conf").write_text("SwitchName=s0 Nodes=some-node[0-7]x\n")
    said, _ = on_terminal(tmp_path, *words)
    assert [start for start in told if start not in said] == []
    wide = [line for line in said.splitlines() if len(line) > COLUMNS and " " in line.strip()]
    assert [line for line in wide if not line.startswith(PASTED)] == []
    whole = " ".join(said.split())
    piped = subprocess.run([sys.executable, "-c", START, *words], cwd=tmp_path, capture_output=True, text=True,
                           timeout=patience(120))
    sentences = [line for line in (piped.stdout + piped.stderr).splitlines() if line.startswith(told)]
    assert sentences and [line for line in sentences if " ".join(line.split()) not in whole] == []


ECHOES = {"cli.py": 1, "study.py": 1, "help.py": 4, "pages.py": 1, "tables.py": 5, "draw.py": 1, "check.py": 1,
          "job_network.py": 1}  # help, pasted lines, JSON, pictures


def test_sentences_are_said_and_not_echoed():
    """`say` breaks lines between words; a terminal breaks the output of `echo` anywhere."""
    found = {}
    for path in (ROOT / "scripts" / "command_line").rglob("*.py"):
        calls = sum(ast.unparse(node.func) in ("click.echo", "echo") and bool(node.args) for node in ast.walk(ast.parse(
            path.read_text("utf-8"))) if isinstance(node, ast.Call))
        if calls:
            found[path.name] = calls
    assert found == ECHOES


def test_the_bare_command_lists_the_commands(pencilmap):
    status, out, err = pencilmap()
    assert status == 0 and err == "" and all(f"\n  {name}  " in out for name in COMMANDS)
    assert out == pencilmap("--help")[1]


def test_a_missing_choice_is_one_sentence_without_escapes(pencilmap):
    status, out, err = pencilmap("validate")
    assert status in (1, 2) and out == "" and "\\" not in err
    assert err.splitlines()[0] == ("error: Missing argument '{simulated|namespaces}'. Choose from: simulated, namespaces; "
                                   "give {simulated|namespaces}; see pencilmap validate --help")


@pytest.mark.parametrize("words, said", [
    (("predict", "bluegene-l"), "'bluegene-l' belongs to no option; write --machine bluegene-l"),
    (("map", "mine.toml", "-o", "x"), "'mine.toml' belongs to no option; write --machine mine.toml"),
    (("predict", "8x8x8:mesh", "--fft", "64"), "write --network 8x8x8:mesh"),
    (("plan", "4x4", "-n", "8"), "write --network 4x4"),
    (("study", "shapes", "-N", "8", "bluegene-p"), "write --machine bluegene-p"),
    (("predict", "something", *TORUS), "'something' belongs to no option; leave it out, this command takes")])
def test_a_word_without_its_option_is_answered_with_the_option(pencilmap, words, said):
    status, out, err = pencilmap(*words)
    assert status in (1, 2) and out == "" and said in err


def test_a_word_beside_help_does_not_hide_the_help(pencilmap):
    assert pencilmap("predict", "bluegene-l", "--help")[1].startswith("Usage:")


@pytest.mark.parametrize("rate, meant", [
    ("1Gbit", "1 Gbit/s"), ("1.5e3 MB", "1.5e3 MB/s"), ("10 GBps", "10 GB/s"), ("4 gib/s", "4 GiB/s"), ("1 GB", "1 GB/s"),
    ("7", None), ("1,2GB/s", None), ("5 gb/s", None), ("1..5 GB", None), ("5 furlongs", None)])
def test_a_rate_without_its_time_is_answered_with_the_rate(pencilmap, rate, meant):
    _, _, err = pencilmap("predict", *TORUS, "--bandwidth", rate)
    assert f"{rate!r} is not a quantity in byte/s" in err
    assert (f"(did you mean {meant!r}?)" in err and parse(meant, "byte/s")) if meant else "did you mean" not in err


def options():
    return {option for name in COMMANDS for parameter in loaded(name).params for option in parameter.opts}


def test_every_argument_that_a_message_of_the_library_names_is_an_option():
    """Messages name arguments in backquotes; the command line turns these names into options."""
    known = options()
    for layer in ("model", "mapper"):
        for path in (ROOT / layer).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Raise) and node.exc is not None:
                    for named in re.findall(r"`([a-z]\w*)`", ast.unparse(node.exc)):
                        assert spelled(f"`{named}`") in known, (path.name, named)


def test_idle_slots_are_allowed_by_the_option_that_the_message_names(pencilmap):
    words = ("predict", "--network", "4x4", "--grid", "2x4", "--placement", "default")
    assert "or allow idle slots with --idle" in pencilmap(*words)[2] and pencilmap(*words, "--idle")[0] == 0
