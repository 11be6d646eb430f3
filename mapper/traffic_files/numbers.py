"""Whole numbers in lines of text, read at once; if something is wrong, the line is named."""

import re
from collections.abc import Sequence

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TrafficError

MOST = 1 << 53  # beyond it, floating point numbers skip whole numbers
Lines = Sequence[tuple[int, str]]
_PLAIN = frozenset("0123456789- \t")
_MARK = re.compile(r"^[ \t]*(?:phase|ranks)(?!\S)", re.MULTILINE)
_NOT_PLAIN = re.compile(r"[0-9]-|-(?![0-9])|[0-9]{19}")  # a sign at another place, or more digits than 64 bits hold


def whole_numbers(document: Document, lines: Lines, width: int, meaning: str) -> Ints:
    """Return the numbers of lines of `width` words each: int array, shape (lines, width).

    Decimals are read if they are whole, for example ``2.5e6``.

    Raises
    ------
    TrafficError
        With the line, for other words, negative numbers and another number of words.

    Examples
    --------
    >>> whole_numbers(Document(b"", "demo"), [(1, "1 2e3")], 2, "from, to").tolist()
    [[1, 2000]]
    """
    table = plain_integers(lines, width)
    if table is not None and 0 <= table.min(initial=0) <= table.max(initial=0) <= MOST:
        return table
    return np.array([_of_line(document, number, text, width, meaning) for number, text in lines],
                    dtype=np.int64).reshape(-1, width)


def plain_integers(lines: Lines, width: int) -> Ints | None:
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


def _of_line(document, number, text, width, meaning):
    words = text.split()
    if len(words) != width:
        raise TrafficError(f"{document.label} line {number}: {len(words)} numbers, but {width} are needed ({meaning})")
    return [_whole(document, number, word, meaning) for word in words]


def _whole(document, number, word, meaning):
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MOST or value != int(value) or "_" in word:
        raise TrafficError(f"{document.label} line {number}: {word[:20]!r} is not a whole number from 0 to 2^53 ({meaning})")
    return int(value)


def parted(document: Document, lines: Lines) -> tuple[Lines, Lines]:
    """Return the lines that begin with ``ranks`` or ``phase``, about the numbers below them, and all other lines.

    >>> parted(Document(b"phase x\\n0 1 8\\n", "demo"), [(1, "phase x"), (2, "0 1 8")])
    ([(1, 'phase x')], [(2, '0 1 8')])
    """
    if not _MARK.search(document.text):
        return [], lines
    marks = [line for line in lines if _MARK.match(line[1])]
    numbers = {number for number, _ in marks}
    return marks, [line for line in lines if line[0] not in numbers]


def looks_numeric(text: str) -> bool:
    """Return whether a line has only numbers.

    >>> looks_numeric("0 1 2e6"), looks_numeric("a 1"), looks_numeric("")
    (True, False, False)
    """
    try:
        return bool([float(word) for word in text.split()]) and "_" not in text
    except ValueError:
        return False
