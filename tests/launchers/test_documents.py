"""docs/formats.md says of every format what the table of formats says."""

import re

import pytest

from pencilmap.mapper.formats import FORMATS
from tests.launchers.conftest import ROOT

TEXT = (ROOT / "docs" / "formats.md").read_text()
HOW_TO = (ROOT / "docs" / "howto" / "launchers.md").read_text()
ROWS = {cells[0].strip("` "): cells for cells in (line.strip("| \n").split(" | ") for line in TEXT.splitlines()
                                                    if line.startswith("| `")) if len(cells) == 5}


def test_every_format_has_its_line():
    assert sorted(ROWS) == sorted(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_command_in_the_how_to(name):
    assert re.search(rf"^\$ pencilmap (map|convert) .*--format {name}\b", HOW_TO, re.MULTILINE)


@pytest.mark.parametrize("name", FORMATS)
def test_lines_say_what_the_table_of_formats_says(name):
    _, _, _, says_slots, proof = ROWS[name]
    assert says_slots == ("yes" if FORMATS[name].says_slots else "no")
    assert ("**run here**" in proof) == ("run here with" in FORMATS[name].proof)


def test_options_that_the_document_names_exist(pencilmap):
    _, out, _ = pencilmap("convert", "--help")
    for option in re.findall(r"^\| `(--[a-z-]+)", TEXT, re.MULTILINE):
        assert option in out
