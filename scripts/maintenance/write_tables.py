"""Tables in the documents that follow from tables of the program.

    .venv/bin/python -m pencilmap.scripts.maintenance.write_tables

tests/test_docs.py holds the documents against the same tables.
"""

import re
from pathlib import Path

from pencilmap.mapper.formats import FORMATS
from pencilmap.mapper.placements import PLACEMENTS
from pencilmap.model.routing import ROUTINGS
from pencilmap.scripts.command_line.documents import fill, markdown_table

ROOT = Path(__file__).resolve().parents[2]
EXCHANGES = ROOT / "fft_runner" / "src" / "exchange"


def formats() -> str:
    """Placement formats."""
    return markdown_table(["format", "file", "gives slots", "source of the syntax"],
                          [[f"`{name}`", form.title, "yes" if form.says_slots else "no",
                           form.proof.replace("run here", "**run here**")]
                           for name, form in FORMATS.items()])


def placements() -> str:
    """Placements."""
    return markdown_table(["placement", "meaning"], [[f"`{p.usage}`", p.meaning] for p in PLACEMENTS.values()])


def routings() -> str:
    """Routing rules."""
    return markdown_table(["rule", "meaning"], [[f"`{rule.usage}`", rule.meaning] for rule in ROUTINGS.values()])


def exchanges() -> str:
    """Exchange algorithms, in the words of the comment that each file begins with.

    Raises ValueError when a file does not begin with ``/* Transpose ...`` and tell what it ``Needs:``.
    """
    names = re.findall(r"^    X\((\w+)\)", (EXCHANGES / "exchange_table.c").read_text("utf-8"), re.MULTILINE)
    rows = []
    for name in (name for name in names if name != "auto"):
        head = re.sub(r"\s*\n \*\s*", " ", (EXCHANGES / f"exchange_{name}.c").read_text("utf-8").partition("*/")[0])
        found = re.match(r"/\* Transpose (.*?)\. Idea:.* Needs:\s*(.*?)\.?\s*$", head)
        if not found:
            raise ValueError(f"exchange_{name}.c must begin with '/* Transpose ...', 'Idea:', ..., 'Needs:'")
        rows.append([f"`{name}`", *found.groups()])
    return markdown_table(["name", "transposes", "needs"], rows)


TABLES = (  # document, name of the place in it, what makes its content
    ("docs/formats.md", "table of formats", formats),
    ("README.md", "table of placements", placements),
    ("docs/routing.md", "table of routings", routings),
    ("fft_runner/README.md", "table of exchanges", exchanges),
)


def main() -> None:
    """Fill every place."""
    for document, name, content in TABLES:
        fill(ROOT / document, name, content())


if __name__ == "__main__":
    main()
