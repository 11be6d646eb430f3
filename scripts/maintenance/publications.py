"""Write the tables in docs/results/publications: each table and figure of a publication, published and own values.

``python -m pencilmap.scripts.maintenance.publications SOURCE...`` computes the figures of the sources, but measured figures
only if the page has them already. ``SOURCE:FIGURE`` computes this figure alone. The rows of all other figures stay.
"""

import re
import sys
from pathlib import Path

from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.reproduce import SOURCES
from pencilmap.scripts.reproduce.figure import Compared, Figure

PAGES = Path(__file__).resolve().parents[2] / "docs" / "results" / "publications"
COLUMNS = ["figure", "of", ">published", ">ours", ">ratio", "kind", "difference"]
PLACE = "published and ours"


def shown(value: float | str | None) -> str:
    """Return a value with three digits.

    >>> shown(0.0013), shown(2201.9), shown("moderate"), shown(None)
    ('0.0013', '2202', 'moderate', '-')
    """
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.3g}"


def row(name: str, each: Compared) -> list[str]:
    """Return the row of a compared value of a figure."""
    return [f"`{name}`", each.of, shown(each.published), shown(each.here), shown(each.ratio), each.kind, each.difference]


def rows_of(name: str, figure: Figure) -> list[str]:
    """Return the lines of a figure in the table."""
    rows = [row(name, each) for each in figure.compute().compared]
    rows = rows or [[f"`{name}`", "-", "-", "-", "-", "-", "No number is compared."]]
    return markdown_table(COLUMNS, rows).splitlines()[2:]


def rows_in(text: str) -> dict[str, list[str]]:
    """Return the lines of the table of a page by the names of their figures.

    >>> rows_in("| figure | of |\\n| --- | --- |\\n| `a:fig1` | m |\\n| `a:fig1` | n |\\n")
    {'a:fig1': ['| `a:fig1` | m |', '| `a:fig1` | n |']}
    """
    found: dict[str, list[str]] = {}
    for line, name in re.findall(r"^(\| `(\w+:[\w-]+)` \|.*)$", text, re.MULTILINE):
        found.setdefault(name, []).append(line)
    return found


def table_of(source: str, rows: dict[str, list[str]]) -> str:
    """Return the table of a source, its figures in their order."""
    lines = [line for name in SOURCES[source] for line in rows.get(f"{source}:{name}", [])]
    return "\n".join([markdown_table(COLUMNS, []), *lines])


def write(asked: str) -> None:
    """Compute a figure, or the figures of a source, and write their rows into the page."""
    source, _, only = asked.partition(":")
    path = PAGES / f"{source}.md"
    rows = rows_in(path.read_text("utf-8"))
    for name, figure in SOURCES[source].items():
        full = f"{source}:{name}"
        if name == only or (not only and (full in rows or not figure.measures)):
            print(full, flush=True)
            rows[full] = rows_of(full, figure)
            fill(path, PLACE, table_of(source, rows))


if __name__ == "__main__":
    for each in sys.argv[1:]:
        write(each)
