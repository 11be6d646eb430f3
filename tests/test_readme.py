"""Every command of the README is run, and what it shows is what the command prints.

``python tests/documents.py README.md`` writes the outputs anew.
"""

import os
import re
import shutil

import pytest

from tests.documents import ROOT, Command, commands, make_folder, run, unrun

README = (ROOT / "README.md").read_text("utf-8")
MACHINES = re.findall(r"^\|.*\| `(pencilmap .*)` \|$", README, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all commands, for later ones read what earlier ones wrote."""
    path = tmp_path_factory.mktemp("readme")
    make_folder(path)
    return path


@pytest.mark.skipif(not shutil.which("mpirun.openmpi") or not shutil.which("smpirun"),
                    reason="Open MPI or SimGrid is missing; scripts/setup installs them")
@pytest.mark.parametrize("command", commands(README), ids=lambda c: c.text[:60])
def test_the_readme_shows_what_its_commands_print(command, folder):
    printed = run(command, folder)
    assert command.agrees(printed), printed


@pytest.mark.parametrize("command", MACHINES, ids=lambda c: c[10:50])
def test_what_to_type_for_a_machine_works(command, folder):
    """FILE stands for the user's; a fat tree is at hand."""
    assert run(Command(command.replace("FILE", str(ROOT / "docs" / "examples" / "fat-tree.edges")), "", ()), folder)


def test_the_readme_can_be_read_in_one_go():
    assert len(README.splitlines()) <= 120


def test_no_command_of_the_readme_is_left_out():
    assert unrun(README) == []


def test_the_two_commands_for_a_stranger_are_there():
    for name in ("demo", "test", "setup"):
        assert os.access(ROOT / "scripts" / name, os.X_OK)
