"""Compressed lists of hosts, as Slurm and Flux write them: ``rack[0-1]n[00-15],login``.

Source: srun(1) and scontrol(1) of Slurm 22.05. Numbers keep their leading zeros; several brackets vary from the right.
"""

import re
from itertools import product

from pencilmap.mapper.hosts import MAX_NAME
from pencilmap.model.errors import MapfileError
from pencilmap.model.reading import MOST_HOSTS

_PIECE = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")


def expand_hosts(text: str, most: int = MOST_HOSTS) -> list[str]:
    """Names of a compressed list, in order. Raises MapfileError.

    A list of more than `most` names is refused before it is expanded.

    >>> expand_hosts("r[0-1]n[08-09],login")
    ['r0n08', 'r0n09', 'r1n08', 'r1n09', 'login']
    """
    names: list[str] = []
    parts = split_hosts(text)
    if len(parts) > most:
        raise MapfileError(f"host list {text[:40]!r} stands for more than {most} hosts")
    for part in parts:
        fixed = _PIECE.split(part)[::2]
        if any("[" in piece or "]" in piece for piece in fixed):
            raise MapfileError(f"host list {text[:60]!r} has brackets that do not match")
        if len(fixed) - 1 + sum(map(len, fixed)) > MAX_NAME:  # before it stands in each of many names
            raise MapfileError(f"host list {text[:40]!r} has a name of more than {MAX_NAME} characters")
        choices = [_ranges(found[1], text) for found in _PIECE.finditer(part)]
        size = 1
        for choice in choices:
            size *= sum(last - first + 1 for first, last, _ in choice)
            if len(names) + size > most:
                raise MapfileError(f"host list {text[:40]!r} stands for more than {most} hosts")
        names += ["".join(a + b for a, b in zip(fixed, (*chosen, ""))) for chosen in product(*map(_numbers, choices))]
    return names


def split_hosts(text: str) -> list[str]:
    """The parts of a list between commas outside brackets.

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


def _ranges(inside, text):
    """First and last number of each range, and the number of digits of the first."""
    ranges = []
    for part in inside.split(","):
        found = _RANGE.fullmatch(part.strip())
        if not found:
            raise MapfileError(f"host list {text[:60]!r}: [{inside[:20]}] is not a list of numbers such as [0-3,7]")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise MapfileError(f"host list {text[:60]!r}: range {part[:40]} runs backwards")
        ranges.append((first, last, len(found[1])))
    return ranges


def _numbers(ranges):
    return [str(n).zfill(width) for first, last, width in ranges for n in range(first, last + 1)]
