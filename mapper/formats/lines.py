"""Lines of a text file that somebody else may have written: comments and blank lines skipped, garbage refused early."""

import numpy as np

from pencilmap.model.errors import MapfileError

MAX_LINE = 4096


def text_lines(content, label, comment="#"):
    """Number (from 1) and text of the lines that say something."""
    if b"\0" in content:
        raise MapfileError(f"{label} line {content[:content.index(0)].count(10) + 1}: a NUL byte; this is no text file")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[:error.start].count(10) + 1
        raise MapfileError(f"{label} line {line}: byte {content[error.start]:#04x} is no UTF-8 text") from error
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_LINE:
            raise MapfileError(f"{label} line {number} is {len(line)} characters long; at most {MAX_LINE} are read")
        line = line.partition(comment)[0].strip()
        if line:
            yield number, line


def integers(line, number, label, count, meaning):
    """`count` integers of one line."""
    words = line.split()
    if len(words) != count:
        raise MapfileError(f"{label} line {number}: {len(words)} columns, but {count} are needed ({meaning})")
    for column, word in enumerate(words, 1):
        digits = word[1:] if word[0] in "+-" else word
        if not (digits.isdecimal() and digits.isascii() and len(digits) <= 12):
            raise MapfileError(f"{label} line {number} column {column}: {word[:20]!r} is no integer ({meaning})")
    return [int(w) for w in words]


def columns(rows, width):
    """Rows of equal length as int array, shape (len(rows), width)."""
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)
