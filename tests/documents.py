"""Commands in documents: run each shown command and compare the output with the shown output.

A block that starts with ```` ```console ```` holds commands, each after ``$ ``, and their standard output. All commands of
a document run in a common folder, in order. A comment on the line before the block sets an exception:

    <!-- output: digits differ -->       times of real runs: words and shape are compared, digits are not
    <!-- output: not compared -->
    <!-- output: WORDS ... WORDS -->     only the lines from the first to the second words are shown, after "..."
    <!-- or refused: WORDS -->           a busy machine may refuse with these words
    <!-- slow -->                        run with --slow only

Commands in shell blocks are run by the tests that they name; the tests request these commands by `run_by(__file__)`:

    <!-- run by tests/scripts/test_validate.py -->

Examples of Python are blocks that start with ```` ```python ```` and ``>>> ``: `wrong_examples` runs the examples in order.

`unrun` finds our commands in any other place. ``python tests/documents.py FILE...`` replaces outdated outputs.
"""

import contextlib
import csv
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def read_result(path):
    """Return the rows of a result file, each cell by the name of its column."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


BLOCK = re.compile(r"(?P<comments>(?:^<!-- [^\n]* -->\n)*)^```console\n(?P<content>.*?)^```$", re.DOTALL | re.MULTILINE)
REFUSED = "or refused: "
SHELL = re.compile(r"(?P<comments>(?:^<!-- [^\n]* -->\n)*)^```(?:sh|bash|shell)\n(?P<content>.*?)^```$",
                   re.DOTALL | re.MULTILINE)
EXAMPLE = re.compile(r"^```python\n(?P<content>>>> .*?)^```$", re.DOTALL | re.MULTILINE)
OTHER = re.compile(r"^```(?!console|sh|bash|shell)[^\n]*\n(?P<content>.*?)^```$|(?P<indented>^    [^\n]*$)",
                   re.DOTALL | re.MULTILINE)
OURS = re.compile(r"^\s*(?:\w+=\S+ )*(?:pencilmap|(?:\S*/)?fft_runner|mpirun|cmake|scripts/\w+|python scripts/\S+)(?= |$)",
                  re.MULTILINE)
CUT = re.compile(r"output: (.+) \.\.\. (.+)")
RUN_BY = "run by "
COMMENT = re.compile(r"^<!-- (.*) -->$", re.MULTILINE)
SHELL_ONLY = "|&;<>$`*?~\n"   # commands with these characters run in a shell
RUN_S = 400  # limit of a command, on an idle machine
READ_ONLY = (".venv", "build", "scripts", "fft_runner", "mapfiles", "model", "tests")  # inputs of commands
ENVIRONMENT = os.environ | {"PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


@dataclass(frozen=True)
class Command:
    """A command of a document."""

    text: str
    shown: str
    comments: tuple

    @property
    def is_slow(self):
        return "slow" in self.comments

    def may_end(self, status, said):
        """Whether the command may end so: with success, or with an error that its block allows on some machines."""
        allowed = [comment.removeprefix(REFUSED) for comment in self.comments if comment.startswith(REFUSED)]
        return not status or any(part in said for part in allowed)

    def cut(self, printed):
        """Return the shown lines of an output: all, or those that the comment of the block names."""
        for first, last in (match.groups() for match in map(CUT.fullmatch, self.comments) if match):
            lines = printed.splitlines()
            begin = next(i for i, line in enumerate(lines) if first in line)
            end = next(i for i, line in enumerate(lines) if i >= begin and last in line)
            return "\n".join(["..."] * (begin > 0) + lines[begin:end + 1] + ["..."] * (end + 1 < len(lines)))
        return printed

    def agrees(self, printed):
        """Whether the document shows the printed output."""
        if "output: not compared" in self.comments:
            return True
        if "output: digits differ" in self.comments:
            return without_digits(printed) == without_digits(self.shown)
        return printed == self.shown


def commands(text):
    """Return all commands of a document: list of Command."""
    return [command for block in BLOCK.finditer(text) for command in _commands(block)]


def _commands(block):
    comments = tuple(COMMENT.findall(block["comments"]))
    for part in re.split(r"^\$ ", block["content"], flags=re.MULTILINE)[1:]:
        text, _, shown = part.partition("\n")
        while text.endswith("\\"):
            more, _, shown = shown.partition("\n")
            text += "\n" + more
        yield Command(text, shown.rstrip("\n"), comments)


def without_digits(text):
    """Return words and shape of an output, without digits and the widths that depend on digits."""
    return re.sub(r"[─-]+", "-", re.sub(r"[ \t]+", " ", re.sub(r"[\d.]+(e[+-]\d+)?", "#", text)))


def make_folder(folder):
    """Fill a new folder with the inputs of commands: a copy of the docs, which they may change, and links to the rest."""
    for name in READ_ONLY:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", folder / "docs")


def run(command, folder):
    """Return the standard output of a command; raise AssertionError on failure."""
    ours, pipe, rest = re.sub(r"\s#.*", "", command.text.replace("\\\n", " ")).partition(" | ")
    if not ours.startswith("pencilmap ") or set(ours) & set(SHELL_ONLY):
        printed = _run_in_shell(command, command.text, folder)
    else:
        printed = _run_here(command, ours, folder)
        printed = _run_in_shell(command, rest, folder, printed) if pipe else printed
    return command.cut("\n".join(line.rstrip() for line in printed.splitlines()).rstrip("\n"))


def _run_here(command, text, folder):
    """Run a pencilmap command in this process, because a new process takes longer to start than most commands run."""
    from pencilmap.scripts.command_line.cli import main

    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(shlex.split(text)[1:])
        except SystemExit as end:
            status = end.code
    assert command.may_end(status, err.getvalue()), f"{command.text}\n{out.getvalue()}{err.getvalue()}"
    return out.getvalue()


def _run_in_shell(command, text, folder, given=None):
    from tests.patience import patience

    program = re.sub(r"\bmpirun\b", "mpirun.openmpi", text, count=1)
    done = subprocess.run(program, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, input=given,
                          timeout=patience(RUN_S))
    assert command.may_end(done.returncode, done.stderr), f"{command.text}\n{done.stdout}{done.stderr}"
    return done.stdout


def unrun(text):
    """Return the commands that no test runs: list of str.

    Their block names no test that requests its commands, or is not a shell block.
    """
    found = [command for block in SHELL.finditer(text) if OURS.search(block["content"])
             and not all(map(_asks, _named_tests(block)) if _named_tests(block) else [False])
             for command in shell_commands(block["content"])]
    return found + [line.strip() for part in OTHER.finditer(SHELL.sub("", BLOCK.sub("", text)))
                    for line in (part["content"] or part["indented"] or "").splitlines() if OURS.match(line)]


def _named_tests(block):
    return [name for comment in COMMENT.findall(block["comments"]) if comment.startswith(RUN_BY)
            for name in comment.removeprefix(RUN_BY).split(", ")]


def _asks(name):
    return (ROOT / name).exists() and "run_by(__file__)" in (ROOT / name).read_text("utf-8")


def shell_commands(content):
    """Return the commands of a shell block, without comments: list of str."""
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in content.replace("\\\n", " ").splitlines())
    return [line for line in lines if line]


def wrong_examples(text, folder):
    """Run the Python examples of a document in a folder; return doctest's messages, "" if all outputs are right."""
    blocks = "\n".join(block["content"] for block in EXAMPLE.finditer(text))
    test, said = doctest.DocTestParser().get_doctest(blocks, {}, "examples", None, 0), []
    with contextlib.chdir(folder):
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


def run_by(test):
    """Return the commands of README and docs that a test claims to run.

    Parameters
    ----------
    test : path
        Its ``__file__``.

    Raises
    ------
    LookupError
        If no document names the test.
    """
    name = str(Path(test).resolve().relative_to(ROOT))
    found = [command for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
             for block in SHELL.finditer(path.read_text("utf-8")) if name in _named_tests(block)
             for command in shell_commands(block["content"])]
    if not found:
        raise LookupError(f"no document says that {name} runs a command of it")
    return found


def refresh(path):
    """Write the output of each command of a document into the document."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder)

        def fill(block):
            parts = []
            for command in _commands(block):
                printed = run(command, folder)
                shown = command.shown if not command.shown or command.agrees(printed) else printed
                parts.append("\n".join(filter(None, [f"$ {command.text}", shown])) + "\n")
            return f"{block['comments']}```console\n{''.join(parts)}```"

        path.write_text(BLOCK.sub(fill, path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # for `tests`
    for argument in sys.argv[1:]:
        refresh(Path(argument))
