"""Text of files: garbage is refused, comments and blank lines are skipped, and errors have positions.

Nested lists of integers in JSON, as task maps and device lists are, with their places in the file.
"""

import codecs
import re
from collections.abc import Sequence
from functools import cached_property
from json import JSONDecodeError
from os import PathLike
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError

import numpy as np

from pencilmap.mapper.base.shell import path as shell
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import MapfileError, PencilmapError
from pencilmap.model.base.reading import MOST_BYTES, parse_json, parse_xml, read_whole

MAX_LINE = 4096
MAX_PLACES = 1 << 23  # lines or list entries; the values made from them take about a hundred times the memory
MAX_DIGITS = 12
HEAD = 1 << 16  # characters that are divided into lines to see the first ones
_PLAIN = frozenset("0123456789- \t")  # characters of lines that have only integers, which are read as a whole
_NOT_PLAIN = re.compile(r"[0-9]-|-(?![0-9])|[0-9]{19}")  # a sign at another place, or more digits than 64 bits hold


class Document:
    """The text of a file, and the errors that name places in the file.

    Parameters
    ----------
    content : bytes
        UTF-8 text, with or without a byte order mark, and any kind of line end.
    label : str
        Name of the file in errors.

    Raises
    ------
    MapfileError
        If the content is too long, contains a NUL byte or is not UTF-8.

    Examples
    --------
    >>> Document(b"a b # c\\r\\n\\n", "demo").lines()
    [(1, 'a b ')]
    """

    def __init__(self, content: bytes, label: str) -> None:
        self.label = label
        self.named: dict[int, str] = {}  # hosts by node, as the readers found them
        self._found: dict[str, list[tuple[int, str]]] = {}
        if len(content) > MOST_BYTES:
            raise self.refuse(f"is longer than {MOST_BYTES} bytes; that is not a placement file")
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise self.refuse("is text in UTF-16, as PowerShell writes it; save it as UTF-8")
        if b"\0" in content:
            raise self.refuse("a NUL byte; this is not a text file", content[:content.index(0)].count(10) + 1)
        try:
            self.text = content.decode("utf-8-sig")
            self.marked = content.startswith(codecs.BOM_UTF8)
        except UnicodeDecodeError as error:
            line = error.object[:error.start].count(10) + 1
            raise self.refuse(f"byte {error.object[error.start]:#04x} is not UTF-8 text; save it as UTF-8", line) from error

    def refuse(self, message: str, line: int | None = None, column: int | None = None) -> MapfileError:
        """Return the error to raise, with its place; lines and columns count from 1."""
        place = f"{self.label}{f' line {line}' if line else ''}{f' column {column}' if column else ''}"
        return MapfileError(f"{place}{':' if line else ''} {message}")

    def refuse_marks(self, consumer: str, returns: bool = True) -> None:
        """Refuse a byte order mark and carriage returns, which most launchers take for a part of a name."""
        if self.marked:
            raise self.refuse(f"begins with a byte order mark, which {consumer} does not read; {self._repair}", 1)
        if returns and "\r" in self.text:
            is_lone = re.search("\r(?!\n)", self.text)  # which dos2unix leaves as it is
            raise self.refuse(f"a carriage return, which {consumer} does not take for an end of line; "
                              f"{'write a line feed' if is_lone else self._repair}",
                              self.text[:self.text.index("\r")].count("\n") + 1)

    @property
    def _repair(self) -> str:
        return f"dos2unix {shell(self.label)} repairs the file"

    def lines(self, comment: str = "#", longest: int | None = MAX_LINE) -> list[tuple[int, str]]:
        """Return number and text of the lines that are not blank or comments; `comment` ends a line."""
        if longest and self._longest > longest:
            number, line = next((i, line) for i, line in enumerate(_split(self.text), 1) if len(line) > longest)
            raise self.refuse(f"{len(line)} characters long; at most {longest} are read", number)
        comment = comment if comment in self.text else "\n"
        if comment == "\n" and self.text.count("\n") > MAX_PLACES and not re.search(r"\n\s*?\n", self.text):
            raise self._too_many(MAX_PLACES + 1)
        if comment not in self._found:
            self._found[comment] = self._without(_split(self.text), comment)
        return self._found[comment]

    def head(self, count: int, comment: str = "#") -> list[tuple[int, str]]:
        """Return the first lines that are not blank or comments, at most `count`, without a look at the others."""
        size = HEAD
        while size < len(self.text):
            lines = self._without(_split(self.text[:size])[:-1], comment)
            if len(lines) >= count:
                return lines[:count]
            size *= 4
        return self.lines(comment, None)[:count]

    @cached_property
    def _longest(self) -> int:
        """Characters of the longest line."""
        return max(map(len, _split(self.text)))

    def _without(self, lines: list[str], comment: str) -> list[tuple[int, str]]:
        kept = [(number, line) for number, text in enumerate(lines, 1)
                if (line := text.partition(comment)[0] if comment != "\n" else text) and not line.isspace()]
        if len(kept) > MAX_PLACES:
            raise self._too_many(kept[MAX_PLACES][0])
        return kept

    def _too_many(self, number: int) -> MapfileError:
        return self.refuse(f"more than {MAX_PLACES} lines; that is not a placement file", number)

    def integers(self, count: int, meaning: str) -> tuple[Ints, Sequence[int]]:
        """Return `count` integers of every line that is not blank, shape (lines, count), and the numbers of the lines."""
        lines = self.lines()
        table = plain_integers(lines, count)
        if table is None or np.abs(table).max(initial=0) >= 10**MAX_DIGITS:  # then the loop finds the fault and its line
            table = columns([integers(line, number, self.label, count, meaning) for number, line in lines], count)
        return table, [number for number, _ in lines]


def plain_integers(lines: Sequence[tuple[int, str]], width: int) -> Ints | None:
    """Return lines of `width` integers of up to 18 digits: int array, shape (lines, width). None if there is anything else.

    Examples
    --------
    >>> plain_integers([(1, "1 -2"), (2, "3 4")], 2).tolist(), plain_integers([(1, "1 2-3")], 2)
    ([[1, -2], [3, 4]], None)
    """
    text = " ".join(line for _, line in lines)
    if not set(text) <= _PLAIN or _NOT_PLAIN.search(text) or any(len(line.split()) != width for _, line in lines):
        return None
    return np.fromstring(text, dtype=np.int64, sep=" ").reshape(-1, width)


def _split(text: str) -> list[str]:
    """Return all lines, with any line ending."""
    return re.split("\r\n|\n|\r", text) if "\r" in text else text.split("\n")


def read_document(path: str | PathLike[str], error: type[PencilmapError] = MapfileError) -> Document:
    """Read the document at a path. Raises MapfileError or `error` if the file cannot be read."""
    return Document(read_whole(path, error), str(path))


def text_lines(content: bytes, label: str) -> list[tuple[int, str]]:
    """Return number (from 1) and text of the lines of a file that are not blank or comments."""
    return Document(content, label).lines()


def words(line: str) -> list[tuple[str, int]]:
    """Return the words of a line and their first columns.

    >>> words("  3 11")
    [('3', 3), ('11', 5)]
    """
    return [(match[0], match.start() + 1) for match in re.finditer(r"\S+", line)]


def is_integer(word: str) -> bool:
    """Return whether a word is an integer of reasonable length."""
    return bool(re.fullmatch(rf"[+-]?[0-9]{{1,{MAX_DIGITS}}}", word))


def integers(line: str, number: int, label: str, count: int, meaning: str) -> list[int]:
    """Return `count` integers of a line. Raises MapfileError for any other words."""
    row = words(line)
    if len(row) != count:
        raise MapfileError(f"{label} line {number}: {len(row)} columns, but {count} are needed ({meaning})")
    for word, column in row:
        if not is_integer(word):
            raise MapfileError(f"{label} line {number} column {column}: {word[:20]!r} is not an integer ({meaning})")
    return [int(word) for word, _ in row]


def columns(rows: Sequence[Sequence[int]], width: int) -> Ints:
    """Return rows of equal length as int array, shape (len(rows), width)."""
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


_SPAN = re.compile(r"\s*([0-9]{1,12})(?:\s*-\s*([0-9]{1,12}))?\s*")


def span(text: str) -> range | None:
    """Return the numbers of ``3`` or ``0-3``, none if the range runs backwards; None for any other text.

    >>> span("2"), span("0-3"), list(span("3-0")), span("a")
    (range(2, 3), range(0, 4), [], None)
    """
    match = _SPAN.fullmatch(text)
    return range(int(match[1]), int(match[2] or match[1]) + 1) if match else None


def xml_root(document: Document, error: type[PencilmapError] = MapfileError) -> Element:
    """Return the root of an XML document. Raises MapfileError or `error` if the text is not XML."""
    try:
        root: Element = parse_xml(document.text.lstrip())
    except (ParseError, LookupError, ValueError, RecursionError) as problem:
        line, column = getattr(problem, "position", (None, -1))
        raise error(str(document.refuse(f"is not XML: {problem}", line, column + 1))) from problem
    return root


_INNERMOST = re.compile(r"\[[^][]*\]")


class Leaf(NamedTuple):
    """An innermost list: its integers, its depth (counting itself), its place."""

    values: tuple[int, ...]
    depth: int
    line: int
    column: int


def check_json(document: Document) -> Any:
    """Return the value of a JSON document. Raises MapfileError if the text is not JSON."""
    document.refuse_marks("a parser of JSON", returns=False)
    if document.text.count(",") > 4 * MAX_PLACES:
        raise document.refuse(f"more than {4 * MAX_PLACES} numbers")
    try:
        return parse_json(document.text)
    except (ValueError, RecursionError) as error:
        place = (error.lineno, error.colno) if isinstance(error, JSONDecodeError) else ()
        raise document.refuse(f"is not JSON: {getattr(error, 'msg', error)}", *place) from error


def leaves(document: Document, lists: Any) -> list[Leaf]:
    """Return the innermost lists, in order, of nested lists of integers in a JSON document.

    `lists` is the value of the document, or a part of it that has all its lists. Raises MapfileError for anything else.
    """
    result = list[tuple[list[int], int]]()

    def walk(value: Any, depth: int) -> None:
        if value and all(isinstance(inner, list) for inner in value):
            for inner in value:
                walk(inner, depth + 1)
        elif all(type(number) is int and abs(number) < 10**MAX_DIGITS for number in value):
            result.append((value, depth))
        else:
            raise document.refuse(f"{str(value)[:40]} is not a list of integers of up to {MAX_DIGITS} digits")

    walk(lists if isinstance(lists, list) else [lists], 1)
    places = places_of(document.text, [match.start() for match in _INNERMOST.finditer(document.text)])
    if not any(values for values, _ in result):
        raise document.refuse("holds no list of integers")
    return [Leaf(tuple(values), depth, *place) for (values, depth), place in zip(result, places) if values]


def places_of(text: str, offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Return line and column of each offset.

    >>> places_of("ab\\ncd", [1, 3])
    [(1, 2), (2, 1)]
    """
    ends = np.array([-1, *(newline.start() for newline in re.finditer("\n", text))])
    line = np.searchsorted(ends, offsets)
    return list(zip(line.tolist(), (np.array(offsets, dtype=np.int64) - ends[line - 1]).tolist()))
