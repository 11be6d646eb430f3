"""The form of all output: whole words in 80 columns, verdict first, help that fits a terminal, examples that are true.

A sweep of every command on several networks and of all pages of help; `python -m tests.scripts.test_presentation` writes the
examples of the help.
"""

import json
import re
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest

from pencilmap.scripts.command_line import tables
from pencilmap.scripts.command_line.cli import pencilmap as group
from pencilmap.scripts.command_line.pages import EXAMPLES, MOST_LINES, TOPICS, WIDTH
from tests.answers import COLUMNS, faults
from tests.documents import ROOT, Command, commands, run
from tests.scripts.test_known_answers import inputs

NETWORKS = {
    "torus": ("--machine", "fugaku", "--nodes", "8x12x8", "--grid", "48x64"),
    "cube": ("--machine", "bluegene-l", "--network", "4x4x4:torus", "--grid", "8x8"),
    "mesh": ("--network", "8x8:mesh", "--bandwidth", "1 Gbit/s", "--grid", "8x8"),
    "pod": ("--machine", "tpu-v4", "--network", "4x4x8", "--grid", "8x16"),
    "fat-tree": ("--network", "fat-tree:leaves=4,hosts=16,up=8", "--bandwidth", "25 GB/s", "--grid", "8x8"),
    "twisted": ("--network", "4x4x8:twisted", "--grid", "8x16"),
    "dragonfly": ("--network", "dragonfly:a=4,p=2,h=2", "--grid", "8x9"),
    "hyperx": ("--machine", "frontier", "--network", "hyperx:4x4,hosts=4", "-t", "1", "--grid", "8x8"),
    "slingshot": ("--machine", "lumi-c", "--nodes", "16", "--tasks-per-node", "4", "--grid", "8x8"),
    "graph": ("--network", "names.edges", "--bandwidth", "12.5 GB/s", "--grid", "2x4"),
}
QUESTIONS = {
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


def badly_broken(text):
    """Lines of several words that are wider than a terminal, and lines whose next line goes on with the rest of a word."""
    lines = text.splitlines()
    return [line for line in lines if len(line) > COLUMNS and " " in line.strip() and not line.startswith(PASTED)] + [
        pair for pair in pairwise(lines) if len(pair[0]) >= COLUMNS - 1 and pair[0][-1].isalnum()
        and re.match(r"[a-z0-9]{1,3}$", pair[1])]


@pytest.fixture
def lines(pencilmap, monkeypatch):
    """Break sentences as for a user; `pencilmap` has them on one line for the words of other tests."""
    monkeypatch.setattr(tables, "LINE", COLUMNS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    switches = "".join(f"switch-of-rack-{k} {{'kind': 'switch'}}\n" for k in range(2))
    (tmp_path / "names.edges").write_text(switches + LONG_NAMES + "switch-of-rack-0 switch-of-rack-1\n")
    return tmp_path


# ---- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(7)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("network", NETWORKS)
def test_answers_on_each_network(network, question, folder, pencilmap, lines):
    words = QUESTIONS[question]
    on = NETWORKS[network][:-2] if words[0] == "plan" else NETWORKS[network]
    asked = [(*words, *on)] + [("check", words[-1], *on, "--fft", "64")] * (words[0] == "map")
    for command in asked:
        status, out, err = pencilmap(*command)
        assert status in (0, 1, 2) and badly_broken(out + err) == []
        assert list(faults(" ".join(words) if command[0] != "check" else "check", out if status == 0 else err)) == []
        if status:
            break
    else:
        found = json.loads(pencilmap(*asked[0], "--json")[1])
        assert found["schema"] == "pencilmap-answers/1" and isinstance(found["answers"], list)


PAGES = [*sorted(ROOT.joinpath("docs").rglob("*.md")), ROOT / "README.md", ROOT / "fft_runner" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_answers_in_a_page(page):
    """Commands with sed show a part of an answer."""
    shown = [command for command in commands(page.read_text("utf-8"))
             if command.shown and "pencilmap" in command.text and "| sed" not in command.text]
    wrong = {command.text: found for command in shown if (found := list(faults(command.text, command.shown)))}
    assert wrong == {}


def test_faults_are_seen():
    good = "my.map is 1.34x faster than block order: 5.288 ms, not 7.100 ms (predicted).\n"
    assert list(faults("pencilmap map", good)) == [] == badly_broken(good)
    for text in ("take 48x64 best: 5.288 ms\n", good + "at most 46 % above\n", good + "x" * 81, good + "\n" * 30 + "end",
                 "error: no\n", good + "the busiest links carry 5.3"):
        assert list(faults("pencilmap map", text)), text
    assert badly_broken("x" * 80 + "\n12\n") and badly_broken("x " * 41)


# ---- help --------------------------------------------------------------------------------------------------------------

STUDIES = group.get_command(None, "study")
COMMANDS = {name: group.get_command(None, name) for name in group.list_commands(None)} | {
    f"study {name}": STUDIES.get_command(None, name) for name in STUDIES.list_commands(None)}
HELP = [[], ["help"], *(["help", topic] for topic in TOPICS)]
MOST_COMMANDS, USUAL = 12, 10
LONG = " # "  # an example with a comment about its time is not run here, but by the tests of its command
LEFT_OUT = "..."  # a line of an example in place of lines of its output


def fits(out):
    lines = out.splitlines()
    assert len(lines) <= MOST_LINES and [line for line in lines if len(line) > WIDTH or line != line.rstrip()] == []


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_a_page_fits_a_terminal(words, pencilmap):
    status, out, err = pencilmap(*words)
    assert (status, err) == (0, "")
    fits(out)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_on_the_long_page_and_ten_at_most_on_the_short_one(name, pencilmap):
    short, long = (pencilmap(*name.split(), option)[1] for option in ("--help", "--help-all"))
    fits(short)
    assert " ".join(COMMANDS[name].help.partition("\n\n")[0].split()) in " ".join(short.split())
    if name == "study":
        return
    fits(long)
    options = [max(p.opts, key=len) for p in COMMANDS[name].params if p.opts[0].startswith("-") and not p.hidden]
    assert [option for option in options if not re.search(rf"{option}\b", long)] == []
    shown = [option for option in options if re.search(rf"^  (-., )?{option}\b", short, re.MULTILINE)]
    assert len(shown) == min(len(options), USUAL)
    assert (len(shown) < len(options)) == ("--help-all" in short)
    if len(shown) < len(options):
        lines = short.partition("\nOptions:\n")[2].partition("\n\n")[0].splitlines()
        assert len(lines) == USUAL, "the first line of the help of a usual option fits beside its name"


def test_the_list_has_few_commands_and_whole_summaries(pencilmap):
    _, out, _ = pencilmap()
    assert out == pencilmap("--help")[1] and len(group.list_commands(None)) <= MOST_COMMANDS
    for name in group.list_commands(None):
        line = next(line for line in out.splitlines() if line.startswith(f"  {name} "))
        summary = line.split(None, 1)[1]
        assert summary == COMMANDS[name].help.splitlines()[0] and summary.endswith(".") and name == COMMANDS[name].name


def test_a_topic_has_every_name_of_its_table(pencilmap):
    from pencilmap.mapper.formats import FORMATS
    from pencilmap.mapper.placements import PLACEMENTS
    from pencilmap.model.kinds import ROUTINGS

    for topic, names in (("placements", PLACEMENTS), ("formats", FORMATS), ("routings", ROUTINGS)):
        _, out, _ = pencilmap("help", topic)
        assert [name for name in names if not re.search(rf"^  {name}\b", out, re.MULTILINE)] == []
    assert pencilmap("help", "predict")[1] == pencilmap("predict", "--help")[1]


def shown_by(command, folder):
    """Return what a command prints on standard output, without empty lines."""
    return "\n".join(line for line in run(Command(command, "", ()), folder).splitlines() if line)


def blocks(text):
    return [part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]


def clipped(printed, shown):
    """Return the lines of an output that an example shows, with a line ... for each gap.

    The example says how many lines are between two gaps. The first of them is the next line that begins with its word.

    >>> clipped("grid\\ntime: 1\\nnote: 2\\ntake b", "grid\\n...\\ntake a")
    'grid\\n...\\ntake b'
    """
    lines, parts, found, at = printed.splitlines(), [[]], [], 0
    for line in shown.splitlines():
        parts.append([]) if line == LEFT_OUT else parts[-1].append(line)
    for number, part in enumerate(parts):
        if number and part:
            first = next((k for k in range(at, len(lines)) if lines[k].split()[0] == part[0].split()[0]), at)
        else:
            first = len(lines) if number else at
        found += [LEFT_OUT] * (first > at) + lines[first:first + len(part)]
        at = first + len(part)
    return "\n".join(found + lines[at:])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "study"])
def test_examples_show_what_their_commands_print(name, tmp_path):
    found = blocks((EXAMPLES / f"{name.replace(' ', '-')}.txt").read_text("utf-8"))
    assert len(found) == (1 if name == "study demo" else 3)
    inputs(tmp_path)
    for command, _, shown in found:
        shown = shown.rstrip("\n")
        assert shown and (LONG in command or clipped(shown_by(command, tmp_path), shown) == shown), command


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        inputs(Path(name))
        for path in sorted(EXAMPLES.glob("*.txt")):
            found = [f"$ {command}\n{shown if LONG in command else clipped(shown_by(command, Path(name)), shown) + chr(10)}"
                     for command, _, shown in blocks(path.read_text("utf-8"))]
            path.write_text("".join(found), "utf-8")


@pytest.mark.parametrize("words", [("--machines",), ("--machine", "fugaku"), ("--machine", "lumi-c"), ("--no-hardware",)],
                         ids=" ".join)
def test_descriptions_of_networks(words, folder, pencilmap, lines):
    _, out, err = pencilmap("network", *words)
    assert badly_broken(out + err) == []
