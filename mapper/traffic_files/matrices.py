"""Files with the bytes between every two ranks: dense and sparse matrices, tables with a head, Matrix Market.

Whole numbers in lines of text, read at once; if something is wrong, the line is named.

Tables with commas, semicolons or a head, as spreadsheets, TAU, pandas and ``numpy.savetxt(delimiter=",")`` write them.

    Source,Destination,Volume (bytes),Count
    0,1,8000,10

The head names the columns in any order; other columns are left out. Without a head the order is from, to, bytes, messages.
A square matrix may have the numbers of its ranks above it and beside it.

Dense matrix: line i has the bytes that rank i sends to each rank, as ``fft_runner --byte-matrix`` writes them.

    0 800 0
    800 0 800
    0 800 0

``#`` starts a comment. TreeMatch reads the same files.

Sparse matrix: a line for each pair that talks, with source, target, bytes and, if they are known, messages.

    ranks 64
    phase x
    0 1 8000 10
    1 0 8000 10
    phase y
    0 8 4000

Ranks count from 0. Without the first line there are as many ranks as the largest number says. A line ``phase NAME`` begins
messages that travel after all messages above it. ``#`` starts a comment.

Matrix Market: entry (i, j) has the bytes that rank i - 1 sends to rank j - 1, as ``scipy.io.mmwrite`` writes it.

Reference: R. Boisvert, R. Pozo, K. Remington, The Matrix Market exchange formats, NISTIR 5935, 1996.
"""

import re
from bisect import bisect
from collections.abc import Sequence
from typing import Any

import numpy as np

from pencilmap.mapper.formats.lines import Document, plain_integers
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import TrafficError
from pencilmap.model.traffic.program import MOST_RANKS, Phase, Traffic, check_ranks, one_phase, pairs_of

MOST = 1 << 53  # beyond it, floating point numbers skip whole numbers
Lines = Sequence[tuple[int, str]]
_MARK = re.compile(r"^[ \t]*(?:phase|ranks)(?!\S)", re.MULTILINE)


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


def _of_line(document: Document, number: int, text: str, width: int, meaning: str) -> list[int]:
    words = text.split()
    if len(words) != width:
        raise TrafficError(f"{document.label} line {number}: {len(words)} numbers, but {width} are needed ({meaning})")
    return [_whole(document, number, word, meaning) for word in words]


def _whole(document: Document, number: int, word: str, meaning: str) -> int:
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


SEPARATORS = ";,\t"
_RANK = r"[ _-]?(rank|id|process)?"
ROLES = {  # meaning of a column: its names, without capitals
    "from": re.compile(rf"(from|source|src|sender|origin){_RANK}|rank"),
    "to": re.compile(rf"(to|destination|dest|dst|receiver|target|peer|partner){_RANK}"),
    "bytes": re.compile(r"((total|sent|message)[ _-]?)?(bytes|volume|size|data)([ _-]?(sent|\(?(bytes|b)\)?))?"),
    "messages": re.compile(r"((n|num|number of)[ _-]?)?(count|messages|msgs|calls)([ _-]?sent)?|n"),
}


def without_head(document: Document) -> tuple[Document, str | None]:
    """Return the document with blanks between its numbers and without a head, and the format that the head tells.

    Raises
    ------
    TrafficError
        If the head names other columns, or if its first line may be a head or not.

    Examples
    --------
    >>> table, name = without_head(Document(b"to,from,bytes\\n1,0,8\\n", "demo"))
    >>> table.lines(), name
    ([(2, '0 1 8')], 'sparse')
    """
    marks, lines = parted(document, document.lines(longest=None))
    if not lines:
        return document, None
    separator = next((mark for mark in SEPARATORS if mark in lines[0][1]), None)
    number, head = _head(document, lines, separator)
    body = [line for line in lines if line[0] > number]
    if not head:
        is_table = separator and all(map(looks_numeric, _cells(lines[0][1], separator)))
        return _written(document, lines, separator, slice(None), marks) if is_table else document, None
    if head == [""] * (head[0] == "") + [str(i) for i in range(len(body))]:
        return _written(document, body, separator, slice(int(head[0] == ""), None), marks), "dense"
    named = [next((role for role, names in ROLES.items() if names.fullmatch(cell.lower())), None) for cell in head]
    if any(named.count(role) != 1 for role in ("from", "to", "bytes")) or named.count("messages") > 1:
        raise TrafficError(f"{document.label} line {number}: columns {', '.join(head)[:80]!r}; name them from, to, bytes "
                           "and, if known, messages, or leave the head out and write from, to and bytes in each line")
    return _written(document, body, separator, [named.index(role) for role in ROLES if role in named], marks), "sparse"


def _cells(line: str, separator: str | None) -> list[str]:
    return [cell.strip(" \t\"'") for cell in line.strip().removesuffix(separator or " ").split(separator)]


def _head(document: Document, lines: list[tuple[int, str]] | Sequence[tuple[int, str]],
          separator: str | None) -> tuple[int, list[str]]:
    """Return the number of the line of the head and its cells; 0 and none if there is no head."""
    number, first = lines[0]
    cells = _cells(first, separator)
    n = len(lines) - 1
    if not all(map(looks_numeric, cells)):
        is_head = n and all(map(looks_numeric, _cells(lines[1][1], separator)))
        return (number, cells) if is_head and (separator or _named(cells) > 1) else (0, [])
    if separator and cells == [str(i) for i in range(n)]:
        if n in (3, 4):
            raise TrafficError(f"{document.label} line {number}: {first.strip()!r} may be a head or messages of a pair; "
                               "delete the line, or write from to bytes with blanks in each line")
        return number, cells
    before = document.text.split("\n", number)[:number - 1]  # a comment may be the head
    above = _cells(before[-1].strip().lstrip("#"), separator) if before and before[-1].lstrip().startswith("#") else []
    return (number - 1, above) if len(above) == len(cells) == _named(above) else (0, [])


def _named(cells: Any) -> Any:
    """Return how many cells name a column that is read."""
    return sum(any(names.fullmatch(cell.lower()) for names in ROLES.values()) for cell in cells)


def _written(document: Document, lines: list[tuple[int, str]] | Sequence[tuple[int, str]], separator: str | None,
             columns: list[int] | slice,
             marks: list[Any] | Sequence[tuple[int, str]]) -> Document:
    """Return a document of some columns of some lines, and of the marks, each in a line of its old number."""
    texts = [""] * max((number for number, _ in (*lines, *marks)), default=0)
    for number, line in marks:
        texts[number - 1] = line
    for number, line in lines:
        cells = _cells(line, separator)
        texts[number - 1] = " ".join(cells[columns] if isinstance(columns, slice) else
                                     [cells[i] for i in columns if i < len(cells)])
    return Document("\n".join(texts).encode(), document.label)


def looks_like_dense(document: Document) -> bool:
    lines = document.lines(longest=None)
    return (bool(lines) and len(lines[0][1].split()) == len(lines) and looks_numeric(lines[0][1])
            and not parted(document, lines)[0])


def read_dense(document: Document) -> Traffic:
    """Return the traffic of a square matrix.

    Raises
    ------
    TrafficError
        If the matrix is not square, or a number is not whole.

    Examples
    --------
    >>> read_dense(Document(b"0 8\\n4 0", "demo")).total.bytes.toarray().tolist()
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


MOST_PHASES = 1024
_RANKS = re.compile(r"\s*ranks\s+([0-9]{1,9})\s*")
_PHASE = re.compile(r"\s*phase\s+(\S.{0,79})")


def looks_like_sparse(document: Document) -> bool:
    lines = document.lines(longest=None)
    if lines and (_RANKS.fullmatch(lines[0][1]) or _PHASE.fullmatch(lines[0][1].rstrip())):
        return True
    return bool(lines) and len(lines[0][1].split()) in (3, 4) and looks_numeric(lines[0][1])


def read_sparse(document: Document) -> Traffic:
    """Return the traffic of a list of pairs.

    Raises
    ------
    TrafficError
        If a line is not understood, a rank is too large, a pair has two lines in a phase, or a phase has none.

    Examples
    --------
    >>> read_sparse(Document(b"0 1 8\\n1 2 4", "demo")).total.bytes.toarray().tolist()
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
    return Traffic(n, tuple(Phase(n, pairs_of(*pair[:4]), name=name) for pair, (_, name) in zip(pairs, marks)))


def _phases(document: Document, lines: list[tuple[int, str]]) -> Any:
    """Return the lines of pairs, and for each phase the number of pairs above it and its name."""
    marks, kept = parted(document, lines)
    numbers, phases = [number for number, _ in kept], list[tuple[int, str]]()
    for number, line in marks:
        match, at, where = _PHASE.fullmatch(line.rstrip()), bisect(numbers, number), f"{document.label} line {number}"
        if match is None:
            what = "belongs into the first line" if line.split()[0] == "ranks" else "is not phase NAME, of up to 80 letters"
            raise TrafficError(f"{where}: {line.strip()[:40]!r} {what}")
        if len(phases) == MOST_PHASES:
            raise TrafficError(f"{where}: more than {MOST_PHASES} phases; add up phases with the same pairs")
        if at and not phases:
            phases.append((0, ""))
        phases.append((at, match[1]))
    last = phases[-len(marks):]
    for (at, name), (after, _), (number, _) in zip(last, [*last, (len(kept), "")][1:], marks):
        if at == after:
            raise TrafficError(f"{document.label} line {number}: phase {name!r} has no messages")
    return kept, phases or [(0, "")]


def refuse_twice(document: Document, numbers: list[int], keys: np.ndarray) -> None:
    """Raise TrafficError with the line if a key, a pair of ranks, occurs twice."""
    _, first, at = np.unique(keys, return_index=True, return_inverse=True)
    again = np.nonzero(first[at] != np.arange(len(keys)))[0]
    if len(again):
        raise TrafficError(f"{document.label} line {numbers[again[0]]}: this pair of ranks is also in line "
                           f"{numbers[first[at[again[0]]]]}")


_HEAD = "%%MatrixMarket matrix"


def looks_like_market(document: Document) -> bool:
    return document.text[:len(_HEAD)].casefold() == _HEAD.casefold()


def read_market(document: Document) -> Traffic:
    """Return the traffic of a matrix of whole numbers.

    Raises
    ------
    TrafficError
        If the matrix is not square, or an entry is no number of bytes.

    Examples
    --------
    >>> text = b"%%MatrixMarket matrix coordinate integer general\\n3 3 2\\n1 2 8\\n2 3 4\\n"
    >>> read_market(Document(text, "demo")).total.bytes.toarray().tolist()
    [[0, 8, 0], [0, 0, 4], [0, 0, 0]]
    """
    n, is_array, is_symmetric, lines = _head_market(document)
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


def _head_market(document: Document) -> tuple[int, bool, bool, list[tuple[int, str]]]:
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
