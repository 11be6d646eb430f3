"""Matrix Market: entry (i, j) has the bytes that rank i - 1 sends to rank j - 1, as ``scipy.io.mmwrite`` writes it.

Reference: R. Boisvert, R. Pozo, K. Remington, The Matrix Market exchange formats, NISTIR 5935, 1996.
"""

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.numbers import whole_numbers
from pencilmap.mapper.traffic_files.sparse import refuse_twice
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import MOST_RANKS, Traffic, one_phase, pairs_of

_HEAD = "%%MatrixMarket matrix"


def looks_like(document: Document) -> bool:
    return document.text[:len(_HEAD)].casefold() == _HEAD.casefold()


def read(document: Document) -> Traffic:
    """Return the traffic of a matrix of whole numbers.

    Raises
    ------
    TrafficError
        If the matrix is not square, or an entry is no number of bytes.

    Examples
    --------
    >>> text = b"%%MatrixMarket matrix coordinate integer general\\n3 3 2\\n1 2 8\\n2 3 4\\n"
    >>> read(Document(text, "demo")).total.bytes.toarray().tolist()
    [[0, 8, 0], [0, 0, 4], [0, 0, 0]]
    """
    n, is_array, is_symmetric, lines = _head(document)
    if is_array:
        values = whole_numbers(document, lines, 1, "bytes")[:, 0]
        column, row = np.nonzero(np.ones((n, n)) if not is_symmetric else np.triu(np.ones((n, n))))  # column by column
    else:
        table = whole_numbers(document, lines, 3, "row, column, bytes")
        row, column, values = table[:, 0] - 1, table[:, 1] - 1, table[:, 2]
        wrong = (np.minimum(row, column) < 0) | (np.maximum(row, column) >= n) | (is_symmetric & (row < column))
        if wrong.any():
            number, text = lines[int(np.argmax(wrong))]
            raise TrafficError(f"{document.label} line {number}: {text.strip()[:40]!r} is outside of "
                               f"{'the lower half of ' if is_symmetric else ''}a matrix of {n} rows")
        refuse_twice(document, [number for number, _ in lines], row * n + column)
    if is_symmetric:
        mirrored = row != column
        row, column = np.concatenate([row, column[mirrored]]), np.concatenate([column, row[mirrored]])
        values = np.concatenate([values, values[mirrored]])
    return one_phase(n, pairs_of(row, column, values).where(values[row != column] > 0))


def _head(document):
    """Return the number of ranks, whether all entries are given, whether half are, and the lines of the entries."""
    lines = document.lines(comment="%", longest=None)
    words = document.text.splitlines()[0].split()
    kind, field, symmetry = (word.casefold() for word in (*words[2:5], "", "", "")[:3])
    if (kind not in ("coordinate", "array") or field not in ("integer", "unsigned-integer", "real")
            or symmetry not in ("general", "symmetric")):
        raise TrafficError(f"{document.label} line 1: a matrix {kind[:20]} {field[:20]} {symmetry[:20]} has no numbers of "
                           "bytes; known are coordinate or array, integer or real, general or symmetric")
    number, text = lines[0] if lines else (1, "")
    sizes = text.split()
    if len(sizes) != (3 if kind == "coordinate" else 2) or not all(word.isdecimal() and len(word) < 10 for word in sizes):
        raise TrafficError(f"{document.label} line {number}: {text.strip()[:40]!r} is not the size of a matrix {kind}")
    rows, columns, *entries = map(int, sizes)
    held = entries[0] if entries else rows * columns if symmetry == "general" else rows * (rows + 1) // 2
    if rows != columns or not 1 <= rows <= MOST_RANKS:
        raise TrafficError(f"{document.label} line {number}: {rows} rows and {columns} columns; the traffic of P ranks has "
                           f"P of both, P from 1 to {MOST_RANKS}")
    if held != len(lines) - 1:
        raise TrafficError(f"{document.label} line {number}: {held} entries are promised, but {len(lines) - 1} lines follow")
    return rows, kind == "array", symmetry == "symmetric", lines[1:]
