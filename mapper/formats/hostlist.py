"""Compressed lists of hosts, as Slurm and Flux write them: ``rack[0-1]n[00-15],login``.

Source: srun(1) and scontrol(1) of Slurm 22.05. Numbers keep their leading zeros; several brackets vary from the right.

``tux[000x113]`` is a box: the last characters of a name are coordinates in base 36, and the corners of the box are given.
The last coordinate varies fastest. Numbers beside a box are also in base 36 if they have as many characters. Source: the
comment of ``hostlist_create`` in src/common/hostlist.h of Slurm, and ``_add_box_ranges`` in hostlist.c.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cmp_to_key
from itertools import groupby, product
from math import prod
from os import PathLike
from os.path import exists
from typing import Any, NamedTuple

from numpy import base_repr

from pencilmap.mapper.base.hosts import MAX_NAME
from pencilmap.mapper.formats.lines import Document, read_document
from pencilmap.model.base.errors import MapfileError
from pencilmap.model.base.reading import MOST_HOSTS

_PIECE = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")
_DIGITS = re.compile("[0-9]+")
_WORD = r"[A-Za-z0-9_][\w.-]*(?:\[[\w,-]+\][\w.-]*)*"
_TYPED = re.compile(rf"(?=.*[\[,]){_WORD}(?:,{_WORD})*", re.ASCII)
_BOX = re.compile(r"([0-9A-Z]{2,5})x([0-9A-Z]{2,5})")


#: notes of networks from Slurm's files, on which the launch of a job depends
BLOCKS = "Slurm's blocks are taken for leaves, and the network between them for one switch"
BY_SWITCH = "Slurm sorts the nodes by switch or block (TopologyParam), in the order of the file"


class _Run(NamedTuple):
    """A range of numbers (one axis), or a box (an axis for each coordinate); `width` characters for each number."""

    axes: tuple[range, ...]
    width: int
    base: int


def expand_hosts(text: str, most: int = MOST_HOSTS) -> list[str]:
    """Expand a compressed list to names, in order.

    Parameters
    ----------
    text : str
        The list, e.g. ``r[0-1]n[08-09],login``.
    most : int
        Most names that the list may have, checked before the expansion.

    Raises
    ------
    MapfileError
        If the list is malformed or too long.

    Examples
    --------
    >>> expand_hosts("r[0-1]n[08-09],login")
    ['r0n08', 'r0n09', 'r1n08', 'r1n09', 'login']
    >>> expand_hosts("tux[000x011,11A]")
    ['tux000', 'tux001', 'tux010', 'tux011', 'tux11A']
    """
    names: list[str] = []
    parts = split_hosts(text)
    if len(parts) > most:
        raise MapfileError(f"host list {text[:40]!r} stands for more than {most} hosts")
    for part in parts:
        fixed = _PIECE.split(part)[::2]
        if any("[" in piece or "]" in piece for piece in fixed):
            raise MapfileError(f"host list {text[:60]!r} has brackets that do not match")
        if len(fixed) - 1 + sum(map(len, fixed)) > MAX_NAME:  # before the text stands in each of many names
            raise MapfileError(f"host list {text[:40]!r} has a name of more than {MAX_NAME} characters")
        choices = [_runs(item[1], text) for item in _PIECE.finditer(part)]
        size = 1
        for choice in choices:
            size *= sum(prod(map(len, run.axes)) for run in choice)
            if len(names) + size > most:
                raise MapfileError(f"host list {text[:40]!r} stands for more than {most} hosts")
        spelled = [[number for run in choice for number in _spelled(run)] for choice in choices]
        names += ["".join(a + b for a, b in zip(fixed, (*chosen, ""))) for chosen in product(*spelled)]
    return names


def folded_hosts(names: Sequence[str]) -> str:
    """Return a short list that stands for names in this order.

    >>> folded_hosts(["n08", "n09", "n10", "n12", "login"]), folded_hosts(["r1-2", "r1-3"]), folded_hosts(["r1-2", "r2-2"])
    ('n[08-10,12],login', 'r1-[2-3]', 'r[1-2]-2')
    """
    return min((",".join(_folded(names, place)) for place in (-1, -2)), key=len)


def _folded(names: Sequence[str], place: int) -> Iterator[str]:
    """Yield the parts of a list whose ranges are at some number of the names: -1 is the last."""
    for (before, after, width), group in groupby(names, key=lambda name: _around(name, place)):
        numbers = [int(name[len(before):len(name) - len(after)]) for name in group if width]
        first = [n for i, n in enumerate(numbers) if not i or n != numbers[i - 1] + 1]
        last = [n for i, n in enumerate(numbers) if i + 1 == len(numbers) or numbers[i + 1] != n + 1]
        inside = ",".join(f"{a:0{width}d}" + (f"-{b:0{width}d}" if b > a else "") for a, b in zip(first, last))
        yield before + (f"[{inside}]" if len(numbers) > 1 else inside) + after


def _around(name: str, place: int) -> tuple[str, str, int]:
    """Return the text before and after a number of a name, and its digits; names with equal results are a range.

    >>> _around("n07-1", -2), _around("login", -1)
    (('n', '-1', 2), ('login', '', 0))
    """
    digits = list(_DIGITS.finditer(name))[place:][:1]
    return (name[:digits[0].start()], name[digits[0].end():], len(digits[0][0])) if digits else (name, "", 0)


def box_coordinates(text: str) -> dict[str, tuple[int, ...]]:
    """Return the coordinates of the hosts of a list in box notation, by name; {} for any other list.

    >>> box_coordinates("tux[000x001,11A]"), box_coordinates("tux[000-001]")
    ({'tux000': (0, 0, 0), 'tux001': (0, 0, 1), 'tux11A': (1, 1, 10)}, {})
    """
    places: dict[str, tuple[int, ...]] = {}
    for part in split_hosts(text):
        pieces = _PIECE.findall(part)
        width = _box_width(pieces[-1]) if pieces and part.endswith("]") else None
        if width and all(len(run.axes) * run.width == width for run in _runs(pieces[-1], text)):
            places |= {name: base_36(name[-width:]) for name in expand_hosts(part, MOST_HOSTS - len(places))}
    return places


def base_36(text: str) -> tuple[int, ...]:
    """Return coordinates of one character each.

    >>> base_36("01A")
    (0, 1, 10)
    """
    return tuple(int(character, 36) for character in text)


def is_typed(text: str | PathLike[str]) -> bool:
    """Return whether a text is a list of hosts, with brackets or commas, and no file has this name.

    >>> is_typed("c[010-023,200]"), is_typed("a,b-1"), is_typed("hosts.txt"), is_typed("topology.conf,taper=2")
    (True, True, False, False)
    """
    return bool(_TYPED.fullmatch(str(text))) and not exists(text)  # also of a text that is too long for a name


def hosts_document(text: str | PathLike[str]) -> Document:
    """Return a file of nodes, or a list of hosts that stands in its place, with a host in each line.

    Raises
    ------
    MapfileError
        If the file cannot be read, or if the list is malformed.
    """
    if not is_typed(text):
        return read_document(text)
    return Document("".join(f"{name}\n" for name in expand_hosts(str(text))).encode(), str(text))


def sorted_by_slurm(names: Iterable[str]) -> list[str]:
    """Return host names in the order of Slurm's table of nodes: ``strnatcmp`` of src/common/strnatcmp.c.

    Runs of digits compare as numbers, unless one begins with 0; then they compare digit by digit.

    >>> sorted_by_slurm(["n10", "n9", "m2", "n010", "n09"])
    ['m2', 'n010', 'n09', 'n9', 'n10']
    """
    return sorted(names, key=cmp_to_key(_compared_by_slurm))


def _compared_by_slurm(a: str, b: str) -> int:
    at = 0
    while at < min(len(a), len(b)):
        one, other = (_DIGITS.match(name, at) for name in (a, b))
        if one and other:
            is_text = "0" in (one[0][0], other[0][0])
            first, second = ((text[0] if is_text else f"{len(text[0]):03d}{text[0]}") for text in (one, other))
            if first != second:
                return -1 if first < second else 1
            at = one.end()
        elif a[at] != b[at]:
            return -1 if a[at] < b[at] else 1
        else:
            at += 1
    return len(a) - len(b)


def split_hosts(text: str) -> list[str]:
    """Split a list at commas outside brackets.

    >>> split_hosts("a[1,3],b")
    ['a[1,3]', 'b']
    """
    parts, inside, depth = list[str](), list[str](), 0
    for piece in text.split(","):
        inside.append(piece)
        depth += piece.count("[") - piece.count("]")
        if depth <= 0:
            parts.append(",".join(inside).strip())
            inside, depth = [], 0
    if inside:
        parts.append(",".join(inside).strip())
    if not all(parts):
        raise MapfileError(f"host list {text[:60]!r} has an empty entry; write names separated by single commas")
    return parts


def _box_width(inside: str) -> int | None:
    """Return the number of coordinates of the boxes in a bracket; None without a box."""
    return next((len(match[1]) for part in inside.split(",") if (match := _BOX.fullmatch(part.strip()))), None)


def _runs(inside: str, text: str) -> list[Any]:
    """Return the ranges and boxes in a bracket."""
    width = _box_width(inside)
    return [_run(part.strip(), width, text) for part in inside.split(",")]


def _run(part: str, width: int | None, text: str) -> Any:
    if match := _BOX.fullmatch(part):
        first, last, base = base_36(match[1]), base_36(match[2]), 36
    elif width and (match := re.fullmatch(f"([0-9A-Z]{{{width}}})(?:-([0-9A-Z]{{{width}}}))?", part)):
        first, last, base = (int(match[1], 36),), (int(match[2] or match[1], 36),), 36
    elif match := _RANGE.fullmatch(part):
        first, last, base = (int(match[1]),), (int(match[2] or match[1]),), 10
    else:
        raise MapfileError(f"host list {text[:60]!r}: [{part[:20]}] is not a list of numbers such as [0-3,7] or boxes "
                           "such as [000x113]")
    if len(first) != len(last):
        raise MapfileError(f"host list {text[:60]!r}: the corners of box {part[:40]} differ in length")
    if any(b < a for a, b in zip(first, last)):
        raise MapfileError(f"host list {text[:60]!r}: range {part[:40]} runs backwards")
    return _Run(tuple(range(a, b + 1) for a, b in zip(first, last)), len(match[1]) // len(first), base)


def _spelled(run: Any) -> Iterable[Any]:
    axes = [[(str(n) if run.base == 10 else base_repr(n, run.base)).zfill(run.width) for n in axis] for axis in run.axes]
    return map("".join, product(*axes))
