"""Commands in documents: what is shown is run, and what is shown to be printed is what is printed.

A block that starts with ```` ```console ```` holds commands, each behind ``$ ``, and what they print on standard output. All
commands of a document are run in one folder, in order. A comment on the line before the block says what is different:

    <!-- output: digits differ -->       times of real runs: words and shape are compared, digits are not
    <!-- output: not compared -->
    <!-- slow -->                        run with --slow only

Commands in other blocks are not run here; a block of shell with a command of ours names the test that runs it:

    <!-- run by tests/launchers/test_slurm.py -->

``python tests/documents.py FILE...`` writes all outputs anew.
"""

import contextlib
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
BLOCK = re.compile(r"(?P<comments>(?:^<!-- [^\n]* -->\n)*)^```console\n(?P<content>.*?)^```$", re.S | re.M)
SHELL = re.compile(r"(?P<comments>(?:^<!-- [^\n]* -->\n)*)^```(?:sh|bash|shell)\n(?P<content>.*?)^```$", re.S | re.M)
COMMENT = re.compile(r"^<!-- (.*) -->$", re.M)
SHELL_ONLY = "|&;<>$`*?~\n"   # commands with these are given to a shell
READ_ONLY = (".venv", "build", "scripts", "fft_runner", "mapfiles", "model", "tests")  # what commands find beside themselves
ENVIRONMENT = os.environ | {"PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


@dataclass(frozen=True)
class Command:
    """One command of a document."""

    text: str
    shown: str
    comments: tuple

    @property
    def is_slow(self):
        return "slow" in self.comments

    def agrees(self, printed):
        """Whether the document shows what was printed."""
        if "output: not compared" in self.comments:
            return True
        if "output: digits differ" in self.comments:
            return without_digits(printed) == without_digits(self.shown)
        return printed == self.shown


def commands(text):
    """All commands of a document: list of Command."""
    return [command for block in BLOCK.finditer(text) for command in _commands(block)]


def _commands(block):
    comments = tuple(COMMENT.findall(block["comments"]))
    for part in re.split(r"^\$ ", block["content"], flags=re.M)[1:]:
        text, _, shown = part.partition("\n")
        while text.endswith("\\"):
            more, _, shown = shown.partition("\n")
            text += "\n" + more
        yield Command(text, shown.rstrip("\n"), comments)


def without_digits(text):
    """Words and shape of an output, without its digits and the widths that follow from them."""
    return re.sub(r"[─-]+", "-", re.sub(r"[ \t]+", " ", re.sub(r"[\d.]+(e[+-]\d+)?", "#", text)))


def make_folder(folder):
    """Fill a new folder with what commands read: a copy of the docs, which they may change, and links to the rest."""
    for name in READ_ONLY:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "docs", folder / "docs")


def run(command, folder, timeout_s=400):
    """Standard output of a command; AssertionError when it fails."""
    in_process = command.text.startswith("pencilmap ") and not set(command.text) & set(SHELL_ONLY)
    printed = _run_here(command, folder) if in_process else _run_in_shell(command, folder, timeout_s)
    return "\n".join(line.rstrip() for line in printed.splitlines()).rstrip("\n")


def _run_here(command, folder):
    """A command of ours without a new process, which would take longer to start than most of them take to run."""
    from pencilmap.scripts.cli import main

    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(shlex.split(command.text, comments=True)[1:])
        except SystemExit as end:
            status = end.code
    assert not status, f"{command.text}\n{out.getvalue()}{err.getvalue()}"
    return out.getvalue()


def _run_in_shell(command, folder, timeout_s):
    program = re.sub(r"\bmpirun\b", "mpirun.openmpi", command.text, count=1)
    done = subprocess.run(program, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=timeout_s)
    assert done.returncode == 0, f"{command.text}\n{done.stdout}{done.stderr}"
    return done.stdout


def unrun(text):
    """Shell blocks with commands of ours that name no test which runs them: list of str."""
    found = []
    for block in SHELL.finditer(text):
        ours = re.search(r"^\s*(?:\w+=\S+ )*(?:pencilmap|fft_runner|scripts/\w+|python scripts/\S+)\b", block["content"], re.M)
        named = [c.removeprefix("run by ") for c in COMMENT.findall(block["comments"]) if c.startswith("run by ")]
        if ours and not (named and (ROOT / named[0]).exists()):
            found.append(block["content"])
    return found


def refresh(path):
    """Write what each command of a document prints into it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder)

        def fill(block):
            parts = ["\n".join(filter(None, [f"$ {command.text}", run(command, folder)])) + "\n"
                     for command in _commands(block)]
            return f"{block['comments']}```console\n{''.join(parts)}```"

        path.write_text(BLOCK.sub(fill, path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(argument))
