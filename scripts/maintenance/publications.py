"""Write the page of a publication in docs/results/publications: each table and figure, published and own values.

``python -m pencilmap.scripts.maintenance.publications SOURCE...`` computes all figures of the sources and writes the pages.
``SOURCE:FIGURE`` computes this figure alone and keeps the other sections of the page. A page with the marker `PLACE` keeps
its text and gets one table there, of the figures that are not measured.
"""

import re
import sys
import time
from datetime import date
from pathlib import Path

from pencilmap.model.base.errors import PencilmapError
from pencilmap.scripts.command_line.documents import fill, markdown_table, marker
from pencilmap.scripts.reproduce import SOURCES, title_of
from pencilmap.scripts.reproduce.figure import Compared, Figure

PAGES = Path(__file__).resolve().parents[2] / "docs" / "results" / "publications"
COLUMNS = ["of", ">published", ">here", ">ratio", "kind", "difference"]
HEAD = "## "
PLACE = "published and ours"


def section(name: str, figure: Figure) -> str:
    """Return the section of a figure: its command, and a table of published and own values."""
    head = f"{HEAD}{name.partition(':')[2]}: {figure.title}\n\n"
    if figure.compute is None:
        return f"{head}Published: {figure.published}. Here: {figure.here}.\n"
    start = time.monotonic()
    try:
        compared = figure.compute().compared
    except PencilmapError as error:
        return f"{head}Published: {figure.published}. Here: {figure.here}; not computed: {error}.\n"
    rows = [[c.of, _cell(c.published), _cell(c.here), "-" if c.ratio is None else f"{c.ratio:.2f}", c.kind, c.difference]
            for c in compared]
    table = markdown_table(COLUMNS, rows) if rows else "No number was published.\n"
    return (f"{head}`pencilmap study reproduce {name}`, {time.monotonic() - start:.0f} s on {date.today()}. Published: "
            f"{figure.published}. Here: {figure.here}.\n\n{table.rstrip()}\n")


def page(source: str, sections: dict[str, str]) -> str:
    """Return the page of a source with the sections of all of its figures that are known."""
    head = (f"# {title_of(source)}\n\nPublished values, ours, their ratio, how ours were made ([kinds](../../reproduced.md)), "
            "and the difference.\n\n")
    return head + "\n".join(sections[name] for name in SOURCES[source] if name in sections)


def sections_of(text: str) -> dict[str, str]:
    """Return the sections of a page by the names of their figures.

    >>> list(sections_of("# Title\\n\\n## fig1: a\\n\\ntext\\n\\n## fig2: b\\n"))
    ['fig1', 'fig2']
    """
    parts = re.split(rf"^(?={HEAD})", text, flags=re.MULTILINE)[1:]
    return {part[len(HEAD):].partition(":")[0]: part.rstrip() + "\n" for part in parts}


def _cell(value):
    return value if isinstance(value, str) else f"{value:.4g}"


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


def write(asked: str) -> None:
    """Compute a figure, or all figures of a source, and write the page."""
    source, _, only = asked.partition(":")
    path = PAGES / f"{source}.md"
    if path.exists() and marker(PLACE) in path.read_text("utf-8"):
        fill(path, PLACE, comparison(source))
        return
    sections = sections_of(path.read_text("utf-8")) if path.exists() else {}
    for name, figure in SOURCES[source].items():
        if only in ("", name):
            print(f"{source}:{name}", flush=True)
            sections[name] = section(f"{source}:{name}", figure)
            PAGES.mkdir(parents=True, exist_ok=True)
            path.write_text(page(source, sections), "utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        write(each)
