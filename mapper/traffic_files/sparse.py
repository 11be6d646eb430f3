"""Sparse matrix: a line for each pair that talks, with source, target, bytes and, if they are known, messages.

    ranks 64
    0 1 8000 10
    1 0 8000 10

Ranks count from 0. Without the first line there are as many ranks as the largest number says. ``#`` starts a comment.
"""

import re

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.numbers import looks_numeric, whole_numbers
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import MOST_RANKS, Traffic, one_phase, pairs_of

_RANKS = re.compile(r"\s*ranks\s+([0-9]{1,9})\s*")


def looks_like(document: Document) -> bool:
    lines = document.lines(longest=None)
    if lines and _RANKS.fullmatch(lines[0][1]):
        return True
    return bool(lines) and len(lines[0][1].split()) in (3, 4) and looks_numeric(lines[0][1])


def read(document: Document) -> Traffic:
    """Return the traffic of a list of pairs.

    Raises
    ------
    TrafficError
        If a line is not understood, a rank is too large, or a pair has two lines.

    Examples
    --------
    >>> read(Document(b"0 1 8\\n1 2 4", "demo")).total.bytes.toarray().tolist()
    [[0, 8, 0], [0, 0, 4], [0, 0, 0]]
    """
    lines = document.lines(longest=None)
    head = _RANKS.fullmatch(lines[0][1]) if lines else None
    lines = lines[1:] if head else lines
    width = min(max(len(lines[0][1].split()), 3), 4) if lines else 3
    table = whole_numbers(document, lines, width, "from, to, bytes, messages"[:None if width == 4 else 15])
    largest = int(table[:, :2].max()) if len(table) else -1
    n = int(head[1]) if head else largest + 1
    most = min(n, MOST_RANKS)
    if largest >= most:
        at = int(np.argmax(table[:, :2].max(axis=1) >= most))
        raise TrafficError(f"{document.label} line {lines[at][0]}: rank {table[at, :2].max()}, but there are ranks 0 to "
                           f"{most - 1}")
    refuse_twice(document, [number for number, _ in lines], table[:, 0] * max(n, 1) + table[:, 1])
    return one_phase(n, pairs_of(table[:, 0], table[:, 1], table[:, 2], table[:, 3] if width == 4 else 1))


def refuse_twice(document: Document, numbers: list[int], keys: np.ndarray) -> None:
    """Raise TrafficError with the line if a key, a pair of ranks, occurs twice."""
    _, first, at = np.unique(keys, return_index=True, return_inverse=True)
    again = np.nonzero(first[at] != np.arange(len(keys)))[0]
    if len(again):
        raise TrafficError(f"{document.label} line {numbers[again[0]]}: this pair of ranks is also in line "
                           f"{numbers[first[at[again[0]]]]}")
