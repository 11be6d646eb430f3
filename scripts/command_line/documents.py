"""Markdown tables, and the marked places of a document that a command fills."""

import re
from collections.abc import Iterable
from os import PathLike
from typing import Any

from pencilmap.mapper.base.files import write_whole
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
