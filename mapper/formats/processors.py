"""Processors of a rank as Open MPI's ``slot=`` lists them.

A list has parts between semicolons. A part names cores of the node (``2``, ``0-3``, ``0,2``), or cores of a package after a
colon: ``1:2``, ``1:0-2`` or ``1:*``. ``*`` alone is core 0, because both versions read it with ``atoi``. In a part with a
colon, a comma is followed by another package in version 4, and by another core of the same package in version 5.
"""

import re
from collections.abc import Iterable

_N = "[0-9]{1,9}"
_ONES = rf"(?:\*|{_N}(?:-{_N})?)"
_OF_NODE = rf"{_ONES}(?:,{_ONES})*"
_PART = {4: re.compile(rf"{_OF_NODE}|{_N}:{_ONES}(?:,{_N}:{_ONES})*"),
         5: re.compile(rf"{_OF_NODE}|{_N}:(?:\*|{_N}-{_N}|{_N}(?:,{_N})*)")}
_BEYOND = 1 << 30  # more cores than a package has


def problem(text: str, version: int) -> str:
    """Return the reason why that version does not bind a rank to these processors, or "".

    >>> problem("0-3", 4), problem("1:0,1", 5), problem("a", 5)
    ('', '', 'names no processors; 2, 0-3, 0,2, 1:2, 1:0-2 and 1:* are allowed')
    """
    for part in text.split(";"):
        if _PART[version].fullmatch(part):
            backwards = [found[0] for found in re.finditer(rf"({_N})-({_N})", part) if int(found[1]) > int(found[2])]
            if backwards:
                return f"has the range {backwards[0]}, which runs backwards and binds to nothing"
        elif any(pattern.fullmatch(part) for pattern in _PART.values()):
            return _OTHER_VERSION[version]
        else:
            return "names no processors; 2, 0-3, 0,2, 1:2, 1:0-2 and 1:* are allowed"
    return ""


_OTHER_VERSION = {
    4: "lists cores of a package by commas, of which Open MPI 4 takes all but the first for packages (5 reads them: format "
       "openmpi5); write 1:0;1:1",
    5: "lists packages by commas, which Open MPI 5 takes for cores of the first one; put a semicolon between packages"}


def shared(lists: Iterable[str]) -> tuple[int, int] | None:
    """Return the positions in `lists` of two ranks of a node that share a processor, or None.

    Core 2 of package 0 is core 2 of the node. Cores of other packages are compared only with cores of that package,
    because a rankfile does not say how many cores a package has.

    >>> shared(["0-1", "2", "1"]), shared(["0:2", "2"]), shared(["1:*", "1:3"]), shared(["0", "1:0"])
    ((0, 2), (0, 1), (0, 1), None)
    """
    ranges: dict[str, list[tuple[int, int, int]]] = {}
    for rank, text in enumerate(lists):
        for where, first, last in _ranges(text):
            ranges.setdefault(where, []).append((first, last, rank))
    for of_one in ranges.values():
        end, owner = -1, -1
        for first, last, rank in sorted(of_one):
            if first <= end and rank != owner:
                return min(owner, rank), max(owner, rank)
            if last > end:
                end, owner = last, rank
    return None


def _ranges(text):
    """Return (package, first core, last core) for each range of a list; the package is "node" for cores of the node."""
    for part in text.split(";"):
        package = ""
        for one in part.split(","):
            before, colon, cores = one.rpartition(":")
            package = str(int(before)) if colon else package
            every = cores == "*" and package
            numbers = [int(n) for n in cores.split("-")] if cores != "*" else [0]
            if package:
                yield package, numbers[0], _BEYOND if every else numbers[-1]
            if package in ("", "0"):
                yield "node", numbers[0], numbers[-1]
