"""Every command of the README is run, and what it shows is what the command prints.

``python tests/test_readme.py`` writes the outputs anew. Times of real runs differ from run to run: in the output of
`mpirun`, and of the comparison with it, digits are not compared.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.S)
TIMED = ("mpirun", "real.jsonl")
ENVIRONMENT = os.environ | {"PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def commands(text):
    """(command, shown output) of every console block."""
    for block in BLOCK.findall(text):
        for part in block.split("$ ")[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown.rstrip("\n")


def run(command, folder):
    """Standard output of a command of the README."""
    program = command.replace("mpirun", "mpirun.openmpi", 1)
    done = subprocess.run(program, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).rstrip("\n")


def without_times(text):
    """Words and shape of an output, without its digits and the widths that follow from them."""
    return re.sub(r"[─-]+", "-", re.sub(r"[ \t]+", " ", re.sub(r"[\d.]+(e[+-]\d+)?", "#", text)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all commands, for later ones read what earlier ones wrote."""
    path = tmp_path_factory.mktemp("readme")
    (path / "build").symlink_to(ROOT / "build")
    return path


@pytest.mark.skipif(not shutil.which("mpirun.openmpi") or not shutil.which("smpirun"),
                    reason="Open MPI or SimGrid is missing; scripts/setup installs them")
@pytest.mark.parametrize("command, shown", commands(README.read_text("utf-8")), ids=lambda v: v[:60])
def test_the_readme_shows_what_its_commands_print(command, shown, folder):
    printed = run(command, folder)
    if any(word in command for word in TIMED):
        printed, shown = without_times(printed), without_times(shown)
    assert printed == shown


def test_the_two_commands_for_a_stranger_are_there():
    for name in ("demo", "test", "setup"):
        assert os.access(ROOT / "scripts" / name, os.X_OK)


def _refresh():
    import tempfile

    with tempfile.TemporaryDirectory() as path:
        (Path(path) / "build").symlink_to(ROOT / "build")

        def fill(match):
            parts = []
            for part in match[1].split("$ ")[1:]:
                command = part.partition("\n")[0]
                parts.append("\n".join(filter(None, [f"$ {command}", run(command, path)])) + "\n")
            return "```console\n" + "".join(parts) + "```"

        README.write_text(BLOCK.sub(fill, README.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    sys.exit(_refresh())
