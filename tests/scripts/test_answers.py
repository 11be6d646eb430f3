"""Every answer has the form that `tests/answers.py` describes: in the documents, and of each command on each network."""

import pytest

from tests.answers import faults
from tests.documents import ROOT, commands
from tests.scripts.test_columns import COMMANDS, NETWORKS, folder, lines  # noqa: F401  (fixtures)

PAGES = [*sorted(ROOT.joinpath("docs").rglob("*.md")), ROOT / "README.md", ROOT / "fft_runner" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_answers_in_a_page(page):
    """Commands with sed show a part of an answer."""
    shown = [command for command in commands(page.read_text("utf-8"))
             if command.shown and "pencilmap" in command.text and "| sed" not in command.text]
    wrong = {command.text: found for command in shown if (found := list(faults(command.text, command.shown)))}
    assert wrong == {}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_answers_of_each_command_on_each_network(network, command, folder, pencilmap):  # noqa: F811
    words = COMMANDS[command]
    asked = NETWORKS[network][:-2] if words[0] == "plan" else NETWORKS[network]
    status, out, err = pencilmap(*words, *asked)
    assert list(faults(" ".join(words), out if status == 0 else err)) == []
    if command in ("map", "hostfile") and status == 0:
        _, out, _ = pencilmap("check", words[-1], *asked, "--fft", "64")
        assert list(faults("check", out)) == []


@pytest.mark.parametrize("network", ["8x8x8", "4x4x8:twisted", "fat-tree:leaves=40,hosts=25,up=5,pods=4,core-taper=5",
                                     "dragonfly:a=8,p=4,h=4", "hyperx:3x3,hosts=2", "tree.conf"])
def test_the_answer_of_network_says_where_the_job_is(network, folder, pencilmap):  # noqa: F811
    """A job of some nodes: a sentence, a picture, a line to type."""
    (folder / "tree.conf").write_text("".join(f"SwitchName=leaf{k} Nodes=n[{9 * k}-{9 * k + 8}]\n" for k in range(30))
                                     + "SwitchName=spine Switches=leaf[0-29]\n")
    (folder / "job").write_text("".join(f"n{k}\n" for k in range(2, 200)) if network == "tree.conf" else "n1 1 0 0\n")
    given = ["tree.conf", "job"] if network == "tree.conf" else ["job", "--network", network] if network[0] in "48" else \
        ["--network", network]
    status, out, err = pencilmap("network", *given)
    assert status == 0 and list(faults("network", out)) == [], err
    assert out.startswith(("Your job has ", "The network is ")) and "\n  next    " in out
    assert ("Your job has" in out) == (len(given) > 2 or network == "tree.conf")


def test_faults_are_seen():
    good = "my.map is 1.34x faster than block order: 5.288 ms, not 7.100 ms (predicted).\n"
    assert list(faults("pencilmap map", good)) == []
    for text in ("take 48x64 best: 5.288 ms\n", good + "at most 46 % above\n", good + "x" * 81, good + "\n" * 30 + "end",
                 "error: no\n", good + "the busiest links carry 5.3"):
        assert list(faults("pencilmap map", text)), text
