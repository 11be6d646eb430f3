"""Compressed lists of hosts, as Slurm and Flux write them: ``rack[0-1]n[00-15],login``.

Source: srun(1) and scontrol(1) of Slurm 22.05. Numbers keep their leading zeros; several brackets vary from the right.
"""

import re
from itertools import product

from pencilmap.model.errors import MapfileError

MAX_HOSTS = 1 << 22
_PIECE = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")


def expand_hosts(text: str, most: int = MAX_HOSTS) -> list[str]:
    """Names of a compressed list, in order. Raises MapfileError.

    A list of more than `most` names is refused before it is expanded.

    >>> expand_hosts("r[0-1]n[08-09],login")
    ['r0n08', 'r0n09', 'r1n08', 'r1n09', 'login']
    """
    names: list[str] = []
    for part in split_hosts(text):
        choices = [_numbers(found[1], text, most) for found in _PIECE.finditer(part)]
        size = 1
        for choice in choices:
            size *= len(choice)
        if len(names) + size > most:
            raise MapfileError(f"host list {text[:40]!r} stands for more than {most} hosts")
        fixed = _PIECE.split(part)[::2]
        if any("[" in piece or "]" in piece for piece in fixed):
            raise MapfileError(f"host list {text[:60]!r} has brackets that do not match")
        names += ["".join(a + b for a, b in zip(fixed, (*chosen, ""))) for chosen in product(*choices)]
    return names


def split_hosts(text: str) -> list[str]:
    """The parts of a list between commas outside brackets.

    >>> split_hosts("a[1,3],b")
    ['a[1,3]', 'b']
    """
    parts = [part.strip() for part in re.split(r",(?![^\[]*\])", text)]
    if not all(parts):
        raise MapfileError(f"host list {text[:60]!r} has an empty entry; write names separated by single commas")
    return parts


def _numbers(inside, text, most):
    numbers = []
    for part in inside.split(","):
        found = _RANGE.fullmatch(part.strip())
        if not found:
            raise MapfileError(f"host list {text[:60]!r}: [{inside[:20]}] is not a list of numbers such as [0-3,7]")
        first, last = int(found[1]), int(found[2] or found[1])
        if not 0 <= last - first < most - len(numbers):
            raise MapfileError(f"host list {text[:60]!r}: range {part[:40]} runs backwards or is longer than {most}")
        numbers += [str(n).zfill(len(found[1])) for n in range(first, last + 1)]
    return numbers
