"""Matrix Market: entry (i, j) has the bytes that rank i - 1 sends to rank j - 1, as ``scipy.io.mmwrite`` writes it.

Reference: R. Boisvert, R. Pozo, K. Remington, The Matrix Market exchange formats, NISTIR 5935, 1996.
"""

import io

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.numbers import MOST
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.base.reading import in_a_line
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
    from scipy.io import mmread  # slow to import
    from scipy.sparse import coo_array

    n = _n_ranks(document)
    try:
        found = coo_array(mmread(io.BytesIO(document.text.encode())))
    except Exception as problem:
        raise TrafficError(f"{document.label} cannot be read as Matrix Market: {in_a_line(problem)}") from problem
    values = found.data
    whole = np.isreal(values) & (values >= 0) & (values <= MOST) & (values == np.rint(values))
    if not whole.all():
        at = int(np.argmin(whole))
        raise TrafficError(f"{document.label}: entry ({found.row[at] + 1}, {found.col[at] + 1}) is {values[at]}; bytes are "
                           "whole numbers from 0 to 2^53")
    keys = found.row.astype(np.int64) * n + found.col
    if len(np.unique(keys)) < len(keys):
        raise TrafficError(f"{document.label}: an entry of the matrix is given twice")
    kept = values > 0
    return one_phase(n, pairs_of(found.row[kept], found.col[kept], values[kept].astype(np.int64)))


def _n_ranks(document):
    """Return the rows of a square matrix, after a check that a file of this length can hold what the head promises."""
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
    return rows
