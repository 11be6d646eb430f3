"""Nested lists of integers with their places in the file: the part of JSON that task maps and device lists need.

A general JSON parser does not serve, because errors must name line and column, and input of any depth or size must be
safe. This reader makes one pass and has no recursion.
"""

import re
from collections.abc import Callable
from json import JSONDecodeError
from typing import Any, NamedTuple

from pencilmap.mapper.formats.lines import MAX_DIGITS, MAX_PLACES, Document
from pencilmap.model.base.reading import parse_json

_TOKEN = re.compile(r"\s*(?:([\[\](),])|([+-]?[0-9]+)|(.))", re.DOTALL)
MAX_DEPTH = 8


class Leaf(NamedTuple):
    """An innermost list: its integers, its depth (counting itself), its place."""

    values: tuple[int, ...]
    depth: int
    line: int
    column: int


def check_json(document: Document) -> Any:
    """Return the value of a JSON document. Raises MapfileError if the text is not JSON."""
    document.refuse_marks("a parser of JSON", returns=False)
    try:
        return parse_json(document.text)
    except JSONDecodeError as error:
        raise document.refuse(f"is not JSON: {error.msg}", error.lineno, error.colno) from error


def leaves(document: Document, text: str | None = None, offset: int = 0) -> list[Leaf]:
    """Return the innermost lists of a nested list, in order.

    Raises MapfileError with line and column for anything except brackets, commas and integers.
    """
    text = document.text if text is None else text
    found, depth, start, count = list[Leaf](), 0, (0, 0), 0
    values: list[int] | None = None
    place = _places(document.text)
    for token in _TOKEN.finditer(text.rstrip()):
        bracket, number, other = token.groups()
        at = place(offset + token.end() - len(token[0].lstrip()))
        if number:
            if values is None or len(number) > MAX_DIGITS:
                raise document.refuse(f"{number[:20]} is not expected here; lists of integers in brackets are needed", *at)
            values.append(int(number))
            count += 1
            if count > 4 * MAX_PLACES:
                raise document.refuse(f"more than {4 * MAX_PLACES} numbers", *at)
        elif bracket and bracket in "[(":
            if depth == MAX_DEPTH or values:
                raise document.refuse("a list is not expected here", *at)
            depth, values, start = depth + 1, [], at
        elif bracket and bracket in "])":
            if depth == 0:
                raise document.refuse("closes a list that was never opened", *at)
            if values is not None and values:
                found.append(Leaf(tuple(values), depth, *start))
            depth, values = depth - 1, None
        elif other:
            raise document.refuse(f"{other!r} is not expected; lists of integers in brackets are needed", *at)
    if depth or not found:
        raise document.refuse("ends inside a list" if depth else "holds no list of integers")
    return found


def _places(text: str) -> Callable[[int], tuple[int, int]]:
    """Return a function from an offset to (line, column); offsets must not decrease."""
    state = {"offset": 0, "line": 1, "start": 0}

    def place(offset: int) -> tuple[int, int]:
        newlines = text.count("\n", state["offset"], offset)
        if newlines:
            state["line"] += newlines
            state["start"] = text.rfind("\n", 0, offset) + 1
        state["offset"] = offset
        return state["line"], offset - state["start"] + 1

    return place
