"""Whole numbers in lines of text, read at once; if something is wrong, the line is named."""

from collections.abc import Sequence

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TrafficError

MOST = 1 << 53  # beyond it, floating point numbers skip whole numbers
Lines = Sequence[tuple[int, str]]


def whole_numbers(document: Document, lines: Lines, width: int, meaning: str) -> Ints:
    """Return the numbers of lines of `width` words each: int array, shape (lines, width).

    Decimals such as ``2.5e6`` are read if they are whole.

    Raises
    ------
    TrafficError
        With the line, for other words, negative numbers and another number of words.

    Examples
    --------
    >>> whole_numbers(Document(b"", "demo"), [(1, "1 2e3")], 2, "from, to").tolist()
    [[1, 2000]]
    """
    try:
        words = " ".join(text for _, text in lines).split()
        table = np.array(words, dtype=np.int64) if words else np.empty(0, np.int64)
        if len(table) == width * len(lines) and (not len(table) or 0 <= table.min() <= table.max() <= MOST):
            widths = {len(text.split()) for _, text in lines} if width * len(lines) < 1 << 16 else {width}
            if widths <= {width}:
                return table.reshape(-1, width)
    except (ValueError, OverflowError):
        pass  # the loop below reads decimals, or names the line
    return np.array([_of_line(document, number, text, width, meaning) for number, text in lines],
                    dtype=np.int64).reshape(-1, width)


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


def looks_numeric(text: str) -> bool:
    """Return whether a line has only numbers.

    >>> looks_numeric("0 1 2e6"), looks_numeric("a 1"), looks_numeric("")
    (True, False, False)
    """
    try:
        return bool([float(word) for word in text.split()]) and "_" not in text
    except ValueError:
        return False
