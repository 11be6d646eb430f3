"""Output is safe: lines to type mean the words that were given, and no text of a file or name commands the terminal."""

import ast
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from pencilmap.mapper.base import shell
from pencilmap.mapper.formats import FORMATS
from pencilmap.scripts.command_line.tables import wrapped

ROOT = Path(__file__).parents[2]
TOPOLOGY = "SwitchName=leaf0 Nodes=n[0-3]\nSwitchName=leaf1 Nodes=n[4-7]\nSwitchName=top Switches=leaf[0-1]\n"
RED = "\x1b[31m"
HOSTILE = ("site;touch PWNED;.conf", "$(touch PWNED).conf", "`touch PWNED`.conf", "-o.conf",
           "it's a \"long\" name  with blanks" + " x" * 40,
           "two\nlines.conf", f"{RED}red.conf", "a\\b.conf", "~.conf", "!!.conf", "\u202eright.conf", "*.conf")
PATHS = ("my map.txt", "it's; \"one\" $(touch PWNED)" + " folder" * 30)
TYPED = ["--network", "4x4x4", "--bandwidth", "1 GB/s", "--fft", "16", "--grid", "8x8", "--placement", "default"]


def typed(out):
    """Return the lines to type: those that are indented, each with the lines that continue it."""
    return [line.strip() for line in re.sub(r" \\\n +", " ", out).split("\n") if line.startswith("  ")]


def pasted(folder, line):
    """Type a line into bash, with a program that prints its arguments in place of pencilmap; return these arguments."""
    stub = folder / "bin" / "pencilmap"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
    stub.chmod(0o755)
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, check=True,
                          env=os.environ | {"PATH": f"{stub.parent}:{os.environ['PATH']}"})
    return [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_pasted_line_names_the_file(name, pencilmap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(TOPOLOGY)
    out = pencilmap.out("network", "--no-hardware", "--", name)
    wanted = f"./{name}" if name.startswith("-") else name
    plan, = re.findall(r"^(?:next +)?(pencilmap plan .*)$", "\n".join(typed(out)), re.MULTILINE)
    assert pasted(tmp_path, plan) == ["plan", "--network", f"{wanted},taper=2", "--bandwidth", "12.5 GB/s", "--fft", "512"]
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("bgq", "jax")])
def test_launch_lines_keep_their_path_in_one_word(name, path, pencilmap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = pencilmap.out("map", *TYPED, "-f", name, "-o", path)
    lines = [line for line in typed(out) if line.endswith("./a.out") or "gmtst" in line]
    found = [word for line in lines for word in shlex.split(re.sub(r'"?\$\((c[au]t .*)\)"?', r"\1", line))]
    assert lines and (name == "rankmap" or any(word.removeprefix("./").endswith(path) for word in found))


def test_folded_lines_and_sentences_do_not_break_words_in_quotes():
    words = ["srun", "--export=ALL", "x y" * 30, "it's", "a\tb", "plain"]
    line = shell.command(words)
    assert list(map(shlex.split, shell.split(line)))[:4] == [[word] for word in words[:4]]
    assert " ".join(shell.folded(line, 20)) == line
    assert wrapped("dos2unix 'a b c' repairs", 12) == ["dos2unix", "'a b c'", "repairs"]


@pytest.mark.parametrize("command", ["network --machine {}", "network {}", "map --network 4x4 --from {} -f slurm -o a",
                                     "check {} --network 4x4 --grid 4x4", "trace --read {}", "compare {}",
                                     "plan --network 4x4 --fft 8 --grid {}", "predict --network {}", "study scaling {}"])
def test_nothing_commands_the_terminal(command, pencilmap, tmp_path, monkeypatch):
    """A file whose name and content have escape sequences, and a machine whose texts have them."""
    monkeypatch.chdir(tmp_path)
    name = f"{RED}\x9b31m\u202e.toml"
    red = r"\u001b[31m"
    figure = f'value = {{}}, source = "{red}", certain = false, note = "{red}" }}}}'
    (tmp_path / name).write_text("\n".join([f'name = "m"\ntitle = "{red}"', *(
        f"{key} = {{ {figure.format(value)}" for key, value in (
            ("shape", '"4x4"'), ("tasks_per_node", 1), ("link_bandwidth", '"1 GB/s"')))]))
    _, out, err = pencilmap(*(word.format(name) for word in command.split()))
    assert out + err and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out + err)


def test_all_output_passes_one_module():
    """Text that is printed elsewhere could command the terminal."""
    found = set()
    for path in (ROOT / "scripts" / "command_line").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"):
                found.add(path.name)
    assert found == {"tables.py"}


def run_by_a_shell(line):
    """Run a line with `python` of this environment; return status and standard error."""
    done = subprocess.run(["sh", "-c", line], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          encoding="latin-1", env=os.environ | {"PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}"})
    return done.returncode, done.stderr


@pytest.mark.parametrize("closed", ["<&- 2>&-", "PYTHONIOENCODING=latin-1"])
def test_closed_and_narrow_streams_are_no_tracebacks(closed):
    command = "python -m pencilmap predict --network 4x4 --grid 4x4 --placement default"
    assert run_by_a_shell(f"{closed} {command}" if "=" in closed else f"{command} {closed}") == (0, "")


@pytest.mark.parametrize(("to", "problem"), [(">&-", "is closed"),
                                             (">/dev/full", "cannot be written: No space left on device")])
@pytest.mark.parametrize("words", ["predict --network 4x4 --grid 4x4 --placement default", "plan --help", "map --help-all",
                                   "--version", "help nodes"])
def test_output_that_cannot_be_written_is_two_lines(words, to, problem):
    """Click prints some pages of help itself."""
    said = f"error: standard output {problem}\nhelp: write it to a terminal or to a file\n"
    assert run_by_a_shell(f"python -m pencilmap {words} {to}") == (1, said)


@pytest.mark.parametrize("output", ["a.map", "link", "hard", "./a.map"])
@pytest.mark.parametrize("words", [
    ("map", *TYPED, "--hosts", "a.map", "-f", "hydra"), ("network", "a.map"),
    ("map", *TYPED[:4], "--from", "a.map", "--from-format", "bgl", "-f", "bgl")])
def test_an_input_is_not_the_output(words, output, pencilmap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "".join(f"n{k} {k // 16} {k // 4 % 4} {k % 4}\n" for k in range(64)) if "--from" not in words else \
        "".join(f"{k % 4} {k // 4 % 4} {k // 16} 0\n" for k in range(64))
    Path("a.map").write_text(text)
    Path("link").symlink_to("a.map")
    Path("hard").hardlink_to("a.map")
    status, out, err = pencilmap(*words, "-o", output)
    assert status == 1 and f"{output} cannot be written: it is an input of this command" in " ".join(err.split()), out + err
    assert Path("a.map").read_text() == text
