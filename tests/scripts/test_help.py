"""Pages of help: they fit a terminal, and their examples are true."""

import re
import tempfile
from pathlib import Path

import pytest

from pencilmap.scripts.command_line.cli import pencilmap as group
from pencilmap.scripts.command_line.pages import EXAMPLES, MOST_LINES, WIDTH
from pencilmap.scripts.command_line.topics import TOPICS
from tests.documents import Command, run
from tests.scripts.test_known_answers import inputs

STUDIES = group.get_command(None, "study")
COMMANDS = {name: group.get_command(None, name) for name in group.list_commands(None)} | {
    f"study {name}": STUDIES.get_command(None, name) for name in STUDIES.list_commands(None)}
PAGES = [["--help"], *([*name.split(), "--help"] for name in COMMANDS), ["help"], *(["help", topic] for topic in TOPICS)]
MOST_COMMANDS, USUAL = 12, 10
LONG = " # "  # an example with a comment about its time is not run here, but by the tests of its command
LEFT_OUT = "..."  # a line of an example in place of lines of its output


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    inputs(folder)
    return folder


def fits(out):
    lines = out.splitlines()
    assert len(lines) <= MOST_LINES and [line for line in lines if len(line) > WIDTH] == []
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_a_page_fits_a_terminal(words, pencilmap):
    status, out, err = pencilmap(*words)
    assert (status, err) == (0, "")
    fits(out)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "study"])
def test_every_option_is_on_the_long_page_and_ten_at_most_on_the_short_one(name, pencilmap):
    short, long = (pencilmap(*name.split(), option)[1] for option in ("--help", "--help-all"))
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


def test_an_old_name_is_answered_with_the_new_one(pencilmap):
    for old, new in group.renamed.items():
        status, out, err = pencilmap(old)
        assert (status, out) == (2, "") and f"command '{old}' is now {new}\n" in err
        assert pencilmap(*re.match(r"pencilmap ([a-z ]+[a-z])", new)[1].split(), "--help")[0] == 0
    status, _, err = pencilmap("predict", "--torus", "4x4", "--grid", "4x4")
    assert status == 2 and err.startswith("error: option --torus is now --network\n")


def test_a_topic_has_every_name_of_its_table(pencilmap):
    from pencilmap.mapper.formats import FORMATS
    from pencilmap.mapper.placements import PLACEMENTS
    from pencilmap.model.kinds import ROUTINGS

    for topic, names in (("placements", PLACEMENTS), ("formats", FORMATS), ("routings", ROUTINGS)):
        _, out, _ = pencilmap("help", topic)
        assert [name for name in names if not re.search(rf"^  {name}\b", out, re.MULTILINE)] == []
    assert pencilmap("help", "predict")[1] == pencilmap("predict", "--help")[1]
    status, _, err = pencilmap("help", "placement")
    assert status == 2 and "did you mean placements" in err


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
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.txt")), ids=lambda path: path.stem)
def test_examples_show_what_their_commands_print(path, made):
    for command, _, shown in blocks(path.read_text("utf-8")):
        shown = shown.rstrip("\n")
        assert LONG in command or clipped(shown_by(command, made), shown) == shown, command


def test_a_line_that_an_example_does_not_show_is_seen():
    shown = "grid\n...\ntake a"
    assert clipped("grid\n1\n2\ntake a", shown) == shown
    for printed in ("grid\n1\ntake b", "torus\n1\ntake a", "grid\n1\ntake a\nmore", "grid\n1"):
        assert clipped(printed, shown) != shown


def test_every_command_has_three_examples_with_their_output():
    assert sorted(path.stem for path in EXAMPLES.glob("*.txt")) == sorted(
        name.replace(" ", "-") for name in COMMANDS if name != "study")
    for path in EXAMPLES.glob("*.txt"):
        found = blocks(path.read_text("utf-8"))
        assert len(found) == (1 if path.stem == "study-demo" else 3) and all(shown for _, _, shown in found), path.stem


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        inputs(Path(name))
        for path in sorted(EXAMPLES.glob("*.txt")):
            found = [f"$ {command}\n{shown if LONG in command else clipped(shown_by(command, Path(name)), shown) + chr(10)}"
                     for command, _, shown in blocks(path.read_text("utf-8"))]
            path.write_text("".join(found), "utf-8")
