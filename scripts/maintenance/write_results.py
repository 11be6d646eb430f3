"""Write the comparison of our values with the published ones into the result pages.

    .venv/bin/python -m pencilmap.scripts.maintenance.write_results cramer

computes every figure of a source that is not measured, and writes a row for each compared value into the page
docs/publications/SOURCE.md. Simulated times are the same in every run, so a test can compare a page with a new computation.
"""

import sys
from pathlib import Path

from pencilmap.scripts.command_line.documents import fill, markdown_table
from pencilmap.scripts.reproduce import SOURCES
from pencilmap.scripts.reproduce.figure import Compared

PAGES = Path(__file__).resolve().parents[2] / "docs" / "publications"
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


def comparison(source: str) -> str:
    """Return the table of a source."""
    rows = []
    for name, figure in SOURCES[source].items():
        if figure.compute is None:
            rows.append([f"`{source}:{name}`", figure.title, "-", "-", "-", figure.kind, f"{figure.here}."])
        elif not figure.measures:
            found = figure.compute().compared
            rows += [row(f"{source}:{name}", each) for each in found] or [
                [f"`{source}:{name}`", figure.title, "-", "-", "-", figure.kind, f"{figure.here}."]]
    return markdown_table(["figure", "of", ">published", ">ours", ">ratio", "kind", "difference"], rows)


def main(sources: list[str]) -> None:
    """Fill the page of each source."""
    for source in sources:
        fill(PAGES / f"{source}.md", PLACE, comparison(source))


if __name__ == "__main__":
    main(sys.argv[1:])
