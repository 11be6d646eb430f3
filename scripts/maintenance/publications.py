"""Write the page of a publication in docs/results/publications: each table and figure, published and own values.

``python -m pencilmap.scripts.maintenance.publications SOURCE...`` computes all figures of the sources and writes the pages.
``SOURCE:FIGURE`` computes this figure alone and keeps the other sections of the page. A page with the marker `PLACE` keeps
its text and gets one table there, of the figures that are not measured.
"""

import re
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from textwrap import fill as wrapped

from pencilmap.model.base.errors import PencilmapError
from pencilmap.scripts.command_line.documents import fill, markdown_table, marker
from pencilmap.scripts.reproduce import SOURCES, title_of
from pencilmap.scripts.reproduce.figure import Compared, Figure

PAGES = Path(__file__).resolve().parents[2] / "docs" / "results" / "publications"
COLUMNS = ["of", ">published", ">here", ">ratio", "kind", "difference"]
HEAD = "## "
PLACE = "published and ours"
WIDTH = 100  # of a line of the page
ABOUT = ("Published values, ours, their ratio, their [kind](../../reproduced.md), and the difference. The seconds are "
         "those of a computation of all figures in turn: measurements that several figures share count in the first of "
         "them.")


def section(name: str, figure: Figure) -> str:
    """Return the section of a figure: its command, and a table of published and own values."""
    head = f"{HEAD}{name.partition(':')[2]}: {figure.title}\n\n"
    try:
        compared = figure.compute().compared
    except PencilmapError as error:
        return head + _lines(f"Published: {figure.published}. Here: {figure.here}; not computed: {error}.")
    return head + _lines(f"`pencilmap study reproduce {name}`, on {date.today()}. Published: "
                         f"{figure.published}. Here: {figure.here}.") + "\n" + table_of(compared)


def table_of(compared: Sequence[Compared]) -> str:
    """Return the table of published and own values."""
    rows = [[c.of, _cell(c.published), _cell(c.here), "-" if c.ratio is None else f"{c.ratio:.2f}", c.kind, c.difference]
            for c in compared]
    return (markdown_table(COLUMNS, rows) if rows else "No number is compared.").rstrip() + "\n"


def _lines(text):
    return wrapped(text, WIDTH, break_on_hyphens=False, break_long_words=False) + "\n"


def page(source: str, sections: dict[str, str]) -> str:
    """Return the page of a source with the sections of all of its figures that are known."""
    return f"# {title_of(source)}\n\n{_lines(ABOUT)}\n" + "\n".join(sections[name] for name in SOURCES[source]
                                                                     if name in sections)


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
        if not figure.measures:
            rows += [row(f"{source}:{name}", each) for each in figure.compute().compared]
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
