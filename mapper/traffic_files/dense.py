"""Dense matrix: line i has the bytes that rank i sends to each rank, as ``fft_runner --byte-matrix`` writes them.

    0 800 0
    800 0 800
    0 800 0

``#`` starts a comment. TreeMatch reads the same files.
"""

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.numbers import looks_numeric, parted, whole_numbers
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import Traffic, one_phase, pairs_of


def looks_like(document: Document) -> bool:
    lines = document.lines(longest=None)
    return (bool(lines) and len(lines[0][1].split()) == len(lines) and looks_numeric(lines[0][1])
            and not parted(document, lines)[0])


def read(document: Document) -> Traffic:
    """Return the traffic of a square matrix.

    Raises
    ------
    TrafficError
        If the matrix is not square, or a number is not whole.

    Examples
    --------
    >>> read(Document(b"0 8\\n4 0", "demo")).total.bytes.toarray().tolist()
    [[0, 8], [4, 0]]
    """
    lines = document.lines(longest=None)
    n = len(lines)
    if not n or len(lines[0][1].split()) != n:
        width = len(lines[0][1].split()) if lines else 0
        raise TrafficError(f"{document.label}: {n} lines, the first of {width} numbers; a dense matrix has as many numbers "
                           "in each line as it has lines")
    matrix = whole_numbers(document, lines, n, "bytes to each rank")
    source, target = np.nonzero(matrix)
    return one_phase(n, pairs_of(source, target, matrix[source, target]))
