"""Markdown tables, the marked places of a document that a command fills, and result files of comma-separated values."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pencilmap.mapper.base.files import check_writable, write_whole
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import noting_inputs, read_whole

END = "<!-- end -->"


class DocumentError(PencilmapError):
    """A document lacks the place that a command should fill."""


def markdown_table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a Markdown table; columns that start with ``>`` are numbers, aligned right.

    >>> print(markdown_table(["name", ">n"], [["a|b", 2]]))
    | name | n |
    | --- | ---: |
    | a\\|b | 2 |
    """
    lines = [[c.lstrip(">") for c in columns], ["---:" if c.startswith(">") else "---" for c in columns], *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def marker(name: str) -> str:
    """Return the line that starts a place; the place ends with `END`."""
    return f"<!-- {name} -->"


def filled(text: str, name: str, content: str) -> str:
    """Return a document with `content` between the marker of that name and the next `END`.

    Raise DocumentError if there is no such place.

    >>> filled("<!-- sum -->\\nold\\n<!-- end -->\\n", "sum", "new")
    '<!-- sum -->\\nnew\\n<!-- end -->\\n'
    """
    return between(text, marker(name), END, content)


def between(text: str, first: str, last: str, content: str) -> str:
    """Return a document with `content` between a line `first` and the next line `last`.

    Raises
    ------
    DocumentError
        If the document lacks one of the lines.
    """
    place = re.compile(rf"^{re.escape(first)}$.*?^{re.escape(last)}$", re.DOTALL | re.MULTILINE)
    if not place.search(text):
        raise DocumentError(f"there is no line {first!r} followed by a line {last!r}; write both lines where the "
                            "tables should go")
    return place.sub(lambda match: f"{first}\n{content}\n{last}", text, count=1)


def fill(path: str | PathLike[str], name: str, content: str) -> None:
    """Write `content` into the place of that name in a file."""
    write_whole(path, _filled_file(path, name, content), DocumentError)


def check_place(path: str | PathLike[str], name: str) -> None:
    """Raise DocumentError unless a file has a place of that name; a check before a long run."""
    _filled_file(path, name, "")


def _filled_file(path: str | PathLike[str], name: str, content: str) -> str:
    try:
        with noting_inputs():  # the command may write this file, of which it changes one place
            return filled(read_whole(path, DocumentError).decode("utf-8"), name, content)
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path} cannot be read: it is not text in UTF-8") from error
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from None


FOLDER = "results"
NOTHING = "-"  #: the cell of a table without a value; empty in a result file
WITH_UNIT = re.compile(r"(-?[\d.]+) (ms|%)")
WITH_SPREAD = re.compile(r"([\d.]+) \[([\d.]+), ([\d.]+)\]")


class ResultFileError(PencilmapError):
    """A result file cannot be read or written."""


def result_file(page: str | PathLike[str], name: str) -> Path:
    """Return the path of a result file next to a page.

    >>> result_file("docs/validation.md", "validate namespaces 4x4:mesh").as_posix()
    'docs/results/validate-namespaces-4x4-mesh.csv'
    """
    return Path(page).parent / FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.csv"


def check_result_file(path: Path) -> None:
    """Raise ResultFileError if `write_result` could not write the file; a check before a long run."""
    check_writable(path if path.parent.exists() else path.parent, ResultFileError)


def write_result(path: Path, columns: Iterable[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table of text cells, with numbers that programs can read.

    The unit of a column moves into its name, and a median with its lowest and highest value becomes three columns.
    """
    named = [_columns(name.lstrip(">"), [str(row[i]) for row in rows]) for i, name in enumerate(columns)]
    split = [column for item in named for column in item]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in split])
    writer.writerows(zip(*(cells for _, cells in split)))
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise ResultFileError(f"{path.parent} cannot be made: {error.strerror}") from error
    write_whole(path, text.getvalue(), ResultFileError)


def _columns(name: str, cells: list[str]) -> list[tuple[str, list[str]]]:
    """Split a column of a table into (name, cells) of one or three columns.

    >>> _columns("time", ["1.5 ms", "-"]), _columns("a", ["0.9 [0.8, 1.0]"])
    ([('time ms', ['1.5', ''])], [('a', ['0.9']), ('a lowest', ['0.8']), ('a highest', ['1.0'])])
    """
    numbers = [cell for cell in cells if cell != NOTHING]
    units = {match[2] if (match := WITH_UNIT.fullmatch(cell)) else None for cell in numbers}
    if len(units) == 1 and None not in units:
        return [(f"{name} {units.pop()}", ["" if cell == NOTHING else cell.split(" ")[0] for cell in cells])]
    if numbers and all(map(WITH_SPREAD.fullmatch, numbers)):
        parts = [result.groups() if (result := WITH_SPREAD.fullmatch(cell)) else ("", "", "") for cell in cells]
        return [(name + suffix, [part[i] for part in parts]) for i, suffix in enumerate(("", " lowest", " highest"))]
    return [(name, ["" if cell == NOTHING else cell for cell in cells])]
