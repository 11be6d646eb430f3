"""Pieces of the parts of an array, sent to one rank or from one rank, in the order of the ranks."""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pencilfft.boxes import Array
from pencilfft.errors import PencilfftError, _integer, _shown

if TYPE_CHECKING:
    from pencilfft._together import Team

Slices: TypeAlias = tuple[slice, ...]
Piece: TypeAlias = tuple[int, int, Slices, Slices]  # rank, part, place in the slice of the whole array, place in the part
PIECE = 1 << 26  # bytes of a message


def ranges_of(key: Any, shape: Sequence[int]) -> tuple[list[range], list[bool]]:
    """Return the indices of a slice along each axis, and whether NumPy keeps the axis."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, one in enumerate(keys) if one is ...] or [len(keys)]
    keys[dots[0]:dots[0] + 1] = [slice(None)] * (len(shape) - len([one for one in keys if one is not ...]))
    if len(keys) != len(shape) or not all(isinstance(one, slice | int | np.integer) for one in keys):
        raise PencilfftError(f"index {_shown(key)}; give up to {len(shape)} integers or slices, and ... once")
    ranges = []
    for one, n in zip(keys, shape, strict=True):
        if not isinstance(one, slice):
            at = _integer(one, "index")
            if not -n <= at < n:
                raise PencilfftError(f"index {at} is outside the whole array of shape {tuple(shape)}")
            ranges.append(range(at % n, at % n + 1))
        elif one.step is not None and _integer(one.step, "step") < 1:
            raise PencilfftError(f"step {one.step} of a slice; give 1 or more")
        else:
            ranges.append(range(n)[one])
    return ranges, [isinstance(one, slice) for one in keys]


def cut(ranges: Sequence[range], part: Slices) -> tuple[Slices, Slices]:
    """Return the indices that lie in a part of the array: their place in the part, and their place in the slice."""
    local, place = [], []
    for one, mine in zip(ranges, part, strict=True):
        first, end = (min(max(0, -((one.start - edge) // one.step)), len(one)) for edge in (mine.start, mine.stop))
        start = one.start + first * one.step - mine.start
        local.append(slice(start, start + (end - first - 1) * one.step + 1, one.step) if end > first else slice(0, 0))
        place.append(slice(first, max(first, end)))
    return tuple(local), tuple(place)


def pieces_of(ranks: int, parts: int, part_of: Callable[[int, int], Slices], ranges: Sequence[range],
              itemsize: int) -> Iterator[Piece]:
    """Yield the pieces of a slice of the whole array, of about `PIECE` bytes; `part_of` tells part i of a rank."""
    for rank, i in np.ndindex(ranks, parts):
        part = part_of(rank, i)
        extents = [len(range(*one.indices(one.stop))) for one in part]
        longest = extents.index(max(extents))
        step = max(1, extents[longest] * PIECE // max(1, prod(extents) * itemsize))
        for start in range(0, extents[longest], step):
            begin = part[longest].start + start
            some = (*part[:longest], slice(begin, min(begin + step, part[longest].stop)), *part[longest + 1:])
            local, place = cut(ranges, some)
            if all(one.stop > one.start for one in place):
                shift = slice(local[longest].start + start, local[longest].stop + start, local[longest].step)
                yield rank, i, place, (*local[:longest], shift, *local[longest + 1:])


def pass_on(team: "Team", pieces: Iterator[Piece], parts: Sequence[Array], root: int, take: Callable[[Slices, Array], Any],
            back: bool = False) -> None:
    """Give the places and pieces of all ranks to `take` on rank `root`, which uses or, with `back`, fills them."""
    for rank, i, place, local in pieces:
        is_mine, is_root = team.rank == rank, team.rank == root
        if not is_mine and not is_root:
            continue
        block = np.ascontiguousarray(parts[i][local]) if is_mine else np.zeros([one.stop - one.start for one in place],
                                                                               parts[i].dtype)
        if is_root and back:
            take(place, block)
        if is_mine != is_root:
            (team.send if is_root == back else team.receive)(block, rank if is_root else root)
        if is_root and not back:
            take(place, block)
        if is_mine and back:
            parts[i][local] = block
