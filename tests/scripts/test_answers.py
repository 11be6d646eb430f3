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


def test_faults_are_seen():
    good = "my.map is 1.34x faster than block order: 5.288 ms, not 7.100 ms (predicted).\n"
    assert list(faults("pencilmap map", good)) == []
    for text in ("take 48x64 best: 5.288 ms\n", good + "at most 46 % above\n", good + "x" * 81, good + "\n" * 30 + "end",
                 "error: no\n", good + "the busiest links carry 5.3"):
        assert list(faults("pencilmap map", text)), text
