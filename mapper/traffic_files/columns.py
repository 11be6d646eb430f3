"""Tables with commas, semicolons or a head, as spreadsheets, TAU, pandas and ``numpy.savetxt(delimiter=",")`` write them.

    Source,Destination,Volume (bytes),Count
    0,1,8000,10

The head names the columns in any order; other columns are left out. Without a head the order is from, to, bytes, messages.
A square matrix may have the numbers of its ranks above it and beside it.
"""

import re

from pencilmap.mapper.formats.lines import Document
from pencilmap.mapper.traffic_files.numbers import looks_numeric, parted
from pencilmap.model.base.errors import TrafficError

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


def _cells(line, separator):
    return [cell.strip(" \t\"'") for cell in line.strip().removesuffix(separator or " ").split(separator)]


def _head(document, lines, separator):
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


def _named(cells):
    """Return how many cells name a column that is read."""
    return sum(any(names.fullmatch(cell.lower()) for names in ROLES.values()) for cell in cells)


def _written(document, lines, separator, wanted, marks):
    """Return a document of some columns of some lines, and of the marks, each in a line of its old number."""
    texts = [""] * max((number for number, _ in (*lines, *marks)), default=0)
    for number, line in marks:
        texts[number - 1] = line
    for number, line in lines:
        cells = _cells(line, separator)
        texts[number - 1] = " ".join(cells[wanted] if isinstance(wanted, slice) else
                                     [cells[i] for i in wanted if i < len(cells)])
    return Document("\n".join(texts).encode(), document.label)
