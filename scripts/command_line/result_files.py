"""Result files: the rows of a long table as comma-separated values, next to the page with the short table."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pencilmap.mapper.base.files import check_writable, write_whole
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import read_whole

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
    split = [column for each in named for column in each]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in split])
    writer.writerows(zip(*(cells for _, cells in split)))
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise ResultFileError(f"{path.parent} cannot be made: {error.strerror}") from error
    write_whole(path, text.getvalue(), ResultFileError)


def _columns(name, cells):
    """Split a column of a table into (name, cells) of one or three columns.

    >>> _columns("time", ["1.5 ms", "-"]), _columns("a", ["0.9 [0.8, 1.0]"])
    ([('time ms', ['1.5', ''])], [('a', ['0.9']), ('a lowest', ['0.8']), ('a highest', ['1.0'])])
    """
    there = [cell for cell in cells if cell != NOTHING]
    units = {match[2] if (match := WITH_UNIT.fullmatch(cell)) else None for cell in there}
    if len(units) == 1 and None not in units:
        return [(f"{name} {units.pop()}", ["" if cell == NOTHING else cell.split(" ")[0] for cell in cells])]
    if there and all(map(WITH_SPREAD.fullmatch, there)):
        parts = [found.groups() if (found := WITH_SPREAD.fullmatch(cell)) else ("", "", "") for cell in cells]
        return [(name + suffix, [part[i] for part in parts]) for i, suffix in enumerate(("", " lowest", " highest"))]
    return [(name, ["" if cell == NOTHING else cell for cell in cells])]


def read_result(path: str | PathLike[str]) -> list[dict[str, str]]:
    """Return the rows of a result file, each cell by the name of its column.

    Raises
    ------
    ResultFileError
        If the file cannot be read, or if a line and the first line differ in their number of cells.
    """
    try:
        lines = list(csv.reader(io.StringIO(read_whole(path, ResultFileError).decode("utf-8")), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ResultFileError(f"{path} cannot be read: {error}") from error
    if not lines:
        raise ResultFileError(f"{path} cannot be read: it is empty; its first line must name the columns")
    names, *rows = lines
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ResultFileError(f"{path}, line {number}: {len(row)} cells, but there are {len(names)} columns")
    return [dict(zip(names, row)) for row in rows]
