"""Sparse matrix: a line for each pair that talks, with source, target, bytes and, if they are known, messages.

    ranks 64
    phase x
    0 1 8000 10
    1 0 8000 10
    phase y
    0 8 4000

Ranks count from 0. Without the first line there are as many ranks as the largest number says. A line ``phase NAME`` begins
messages that travel after all messages above it. ``#`` starts a comment.
"""

import re
from bisect import bisect

import numpy as np

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.numbers import looks_numeric, parted, whole_numbers
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import MOST_RANKS, Phase, Traffic, check_ranks, pairs_of

MOST_PHASES = 1024
_RANKS = re.compile(r"\s*ranks\s+([0-9]{1,9})\s*")
_PHASE = re.compile(r"\s*phase\s+(\S.{0,79})")


def looks_like(document: Document) -> bool:
    lines = document.lines(longest=None)
    if lines and (_RANKS.fullmatch(lines[0][1]) or _PHASE.fullmatch(lines[0][1].rstrip())):
        return True
    return bool(lines) and len(lines[0][1].split()) in (3, 4) and looks_numeric(lines[0][1])


def read(document: Document) -> Traffic:
    """Return the traffic of a list of pairs.

    Raises
    ------
    TrafficError
        If a line is not understood, a rank is too large, a pair has two lines in a phase, or a phase has none.

    Examples
    --------
    >>> read(Document(b"0 1 8\\n1 2 4", "demo")).total.bytes.toarray().tolist()
    [[0, 8, 0], [0, 0, 4], [0, 0, 0]]
    """
    lines = document.lines(longest=None)
    head = _RANKS.fullmatch(lines[0][1]) if lines else None
    lines, marks = _phases(document, lines[1:] if head else lines)
    width = min(max(len(lines[0][1].split()), 3), 4) if lines else 3
    table = whole_numbers(document, lines, width, "from, to, bytes, messages"[:None if width == 4 else 15])
    largest = int(table[:, :2].max()) if len(table) else -1
    n = int(head[1]) if head else largest + 1
    most = min(n, MOST_RANKS)
    if largest >= most:
        at = int(np.argmax(table[:, :2].max(axis=1) >= most))
        raise TrafficError(f"{document.label} line {lines[at][0]}: rank {table[at, :2].max()}, but there are ranks 0 to "
                           f"{most - 1}")
    check_ranks(n)
    phase = np.searchsorted([at for at, _ in marks], np.arange(len(table)), "right") - 1
    refuse_twice(document, [number for number, _ in lines], (phase * n + table[:, 0]) * n + table[:, 1])
    pairs = [table[phase == i].T for i in range(len(marks))]
    return Traffic(n, tuple(Phase(n, pairs_of(*some[:4]), name=name) for some, (_, name) in zip(pairs, marks)))


def _phases(document, lines):
    """Return the lines of pairs, and for each phase the number of pairs above it and its name."""
    marks, kept = parted(document, lines)
    numbers, found = [number for number, _ in kept], list[tuple[int, str]]()
    for number, line in marks:
        match, at, where = _PHASE.fullmatch(line.rstrip()), bisect(numbers, number), f"{document.label} line {number}"
        if match is None:
            what = "belongs into the first line" if line.split()[0] == "ranks" else "is not phase NAME, of up to 80 letters"
            raise TrafficError(f"{where}: {line.strip()[:40]!r} {what}")
        if len(found) == MOST_PHASES:
            raise TrafficError(f"{where}: more than {MOST_PHASES} phases; add up phases with the same pairs")
        if at and not found:
            found.append((0, ""))
        found.append((at, match[1]))
    for (at, name), (after, _), (number, _) in zip(found[-len(marks):], [*found[-len(marks):], (len(kept), "")][1:], marks):
        if at == after:
            raise TrafficError(f"{document.label} line {number}: phase {name!r} has no messages")
    return kept, found or [(0, "")]


def refuse_twice(document: Document, numbers: list[int], keys: np.ndarray) -> None:
    """Raise TrafficError with the line if a key, a pair of ranks, occurs twice."""
    _, first, at = np.unique(keys, return_index=True, return_inverse=True)
    again = np.nonzero(first[at] != np.arange(len(keys)))[0]
    if len(again):
        raise TrafficError(f"{document.label} line {numbers[again[0]]}: this pair of ranks is also in line "
                           f"{numbers[first[at[again[0]]]]}")
