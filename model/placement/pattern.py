"""Digit patterns: shares of a dimension of the torus for the dimensions of the process grid.

A dimension of n nodes is written in mixed radix, low digit first. Every digit belongs to a dimension of the grid, named by
its letter. The letters of pencils are r (rows) and c (columns). For example, ``r2c4`` on 8 nodes means that rows are dense
pairs and columns take every second node. All images of the paper (lines, planes, cubes and their complements) are products
of such patterns. For a product the load in dimension i depends on the pattern of dimension i alone: every line carries, for
each ordered pair of nodes in one group, the same D_T / (N a) bytes, if the group has a nodes on the line.

Source: H. Jagode, J. Hein, A. Trew, "Task placement of parallel multi-dimensional FFTs on a mesh communication network",
UT-CS-08-613 (2008), eq. 4 to 16.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from pencilmap.model.base.errors import PlacementError
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.network.torus import Torus, check_lines, ring_link_loads
from pencilmap.model.placement.ring_map import RingMap


@dataclass(frozen=True)
class Pattern:
    """The digits of a dimension (or of the slots), low digit first: tuple of (owner, radix), owner a letter.

    Neighbouring digits of one owner are merged and digits of radix 1 dropped, so equal patterns compare equal.

    >>> Pattern((("r", 2), ("c", 2), ("c", 2)))
    Pattern('r2c4')
    """

    digits: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        merged: list[tuple[str, int]] = []
        for owner, radix in self.digits:
            if len(owner) != 1 or radix < 1:
                raise PlacementError(f"digit {owner}{radix}: a digit is a letter and a radix of 1 or more")
            if radix == 1:
                continue
            if merged and merged[-1][0] == owner:
                radix *= merged.pop()[1]
            merged.append((owner, int(radix)))
        object.__setattr__(self, "digits", tuple(merged))

    @property
    def n(self) -> int:
        """Nodes of the dimension."""
        return prod(radix for _, radix in self.digits)

    def extent(self, letters: str) -> int:
        """Return the number of nodes that a group along the dimensions of these letters takes."""
        return prod(radix for owner, radix in self.digits if owner in letters)

    def index(self, letters: str) -> np.ndarray:
        """Return for each node its number within its group: int array, shape (n,).

        >>> Pattern((("r", 2), ("c", 4))).index("r").tolist()
        [0, 1, 0, 1, 0, 1, 0, 1]
        """
        return _number(self, letters, True)

    def group(self, letters: str) -> np.ndarray:
        """Return for each node the number of its group: int array, shape (n,).

        >>> Pattern((("r", 2), ("c", 4))).group("r").tolist()
        [0, 0, 1, 1, 2, 2, 3, 3]
        """
        return _number(self, letters, False)

    def text(self, letters: str) -> str:
        """Return the digits as `parse_pattern` reads them with these letters."""
        return str(self) or f"{letters[0]}1"

    def __str__(self) -> str:
        return "".join(f"{owner}{radix}" for owner, radix in self.digits)

    def __repr__(self) -> str:
        return f"Pattern({str(self)!r})"


@lru_cache(maxsize=1024)
def _number(pattern, letters, of_letters):
    """Return the number of each node made of the digits of some letters, or of all other digits."""
    node, index, stride = np.arange(pattern.n), np.zeros(pattern.n, dtype=np.int64), 1
    for owner, radix in pattern.digits:
        if (owner in letters) == of_letters:
            index += node % radix * stride
            stride *= radix
        node = node // radix
    index.setflags(write=False)
    return index


def parse_pattern(text: str, letters: str = PENCIL.letters) -> Pattern:
    """Read ``r2c4``, low digit first; a digit has one of these letters.

    Raises
    ------
    PlacementError
        If the text is not understood.

    Examples
    --------
    >>> parse_pattern("c2r2c2").extent("r"), parse_pattern("s8", "s").extent("s")
    (2, 8)
    """
    if not re.fullmatch(rf"(?:[{letters}]\d{{1,12}})+", text):
        example = "".join(f"{letter}{2 * k}" for k, letter in enumerate(letters, 1))
        raise PlacementError(f"digit pattern {text[:40]!r} is not understood; write owner ({', '.join(letters)}) and radix "
                             f"of each digit, the lowest first, e.g. {example}")
    return Pattern(tuple((o, int(r)) for o, r in re.findall(rf"([{letters}])(\d+)", text)))


def effective_length(pattern: Pattern | RingMap, letters: str, torus: Torus, i: int) -> Fraction:
    """Return the paper's m_i of a group, per cable.

    m_i is n_i/g_i if the image spreads over the whole dimension, otherwise the length of its dense block (n_i/f_i), and 0
    for a single node (equation 16 and the table of m_i). For a ring map m_i is the load of the best cut.

    Parameters
    ----------
    pattern : Pattern or RingMap
        Image of the group in dimension `i`.
    letters : str
        Grid dimensions of the group.
    torus : Torus
    i : int

    Examples
    --------
    >>> ring = Torus((8,))
    >>> [str(effective_length(parse_pattern(p), "r", ring, 0)) for p in ("r8", "r2c4", "c4r2", "c8")]
    ['4', '2', '4', '0']
    """
    if isinstance(pattern, RingMap):
        return pattern.cut(letters, torus.is_ring(i)) / torus.cables[i]
    span, here = 0, 1
    for o, radix in pattern.digits:
        here *= radix
        span = here if o in letters else span
    g = torus.g(i) if span == torus.shape[i] else 1
    return Fraction(span, g * torus.cables[i])


@dataclass(frozen=True)
class RingLoad:
    """Routed loads of a pattern on one line, on the m scale (4 load N / D_T), for one cable.

    Parameters
    ----------
    largest : Fraction
    total : Fraction
        Sum over all links of the line.
    position, direction : int
        The busiest link leaves `position` upwards (+1) or downwards (-1); the first of equals.
    """

    largest: Fraction
    total: Fraction
    position: int
    direction: int


def ring_halves(pattern: Pattern | RingMap, letters: str, ring: bool, tie: str = "split") -> np.ndarray:
    """Return the half messages of a group on the links of a line.

    Parameters
    ----------
    pattern : Pattern or RingMap
    letters : str
        Grid dimensions of the group.
    ring : bool
        Whether the line closes.
    tie : str
        Rule at half a ring, as for `ring_link_loads`.

    Returns
    -------
    int array, shape (2, n)
        ``[0, p]`` is the link from position p upwards, ``[1, p]`` downwards.
    """
    check_lines((pattern.n,))
    group = pattern.group(letters)
    same = group[:, None] == group[None, :]
    return ring_link_loads(same.astype(np.int64), ring, tie)


@lru_cache(maxsize=4096)
def ring_load(pattern: Pattern | RingMap, letters: str, ring: bool, tie: str = "split") -> RingLoad:
    """Return the loads of a pattern under dimension-ordered routing in the shortest direction.

    The parameters are those of `ring_halves`.

    >>> ring_load(parse_pattern("r3"), "r", True).largest
    Fraction(4, 3)
    """
    a, halves = pattern.extent(letters), ring_halves(pattern, letters, ring, tie)
    direction, position = np.unravel_index(int(halves.argmax()), halves.shape)
    return RingLoad(Fraction(4 * int(halves.max()), 2 * a), Fraction(4 * int(halves.sum()), 2 * a),
                    int(position), (1, -1)[direction])


def pattern_of_images(images: Mapping[str, set[int]], n: int) -> Pattern | None:
    """Return the pattern whose groups through node 0 take exactly these nodes, or None.

    Parameters
    ----------
    images : dict of str to set of int
        For each letter the nodes of the group along this dimension, 0 among them.
    n : int
        Nodes of the dimension.

    Examples
    --------
    >>> pattern_of_images({"r": {0, 1, 4, 5}, "c": {0, 2}}, 8)
    Pattern('r2c2r2')
    >>> pattern_of_images({"r": {0, 1, 3}, "c": {0, 2}}, 8) is None
    True
    """
    digits, stride = [], 1
    while stride < n:
        owner = next((letter for letter, image in images.items() if stride in image), None)
        if owner is None:
            return None
        radix = 2
        while radix * stride < n and radix * stride in images[owner]:
            radix += 1
        digits.append((owner, radix))
        stride *= radix
    pattern = Pattern(tuple(digits))
    found = {letter: set(np.flatnonzero(pattern.group(letter) == 0).tolist()) for letter in images}
    return pattern if pattern.n == n and found == dict(images) else None
