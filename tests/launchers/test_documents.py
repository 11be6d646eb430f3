"""Every format has its command in the how-to, and the options in docs/formats.md exist."""

import re

import pytest

from pencilmap.mapper.formats import FORMATS
from pencilmap.model.machines.machine import load_machine
from tests.launchers.conftest import ROOT

TEXT = (ROOT / "docs" / "formats.md").read_text()
HOW_TO = (ROOT / "docs" / "howto" / "launchers.md").read_text()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_command_in_the_how_to(name):
    """By the option, or by a machine whose format it is."""
    asked = re.search(rf"^\$ pencilmap (map|convert) .*--format {name}\b", HOW_TO, re.MULTILINE)
    machines = re.findall(r"^\$ pencilmap map .*--machine ([\w-]+)(?!.*--format)", HOW_TO, re.MULTILINE)
    assert asked or name in {load_machine(machine).figures["formats"].value[0] for machine in machines}


def test_options_that_the_document_names_exist(pencilmap):
    _, out, _ = pencilmap("map", "--help-all")
    for option in re.findall(r"^\| `(--[a-z-]+)", TEXT, re.MULTILINE):
        assert option in out
