"""Digit patterns: how one dimension of the torus is shared out between the rows and the columns.

A dimension of n nodes is written in mixed radix; every digit belongs to the rows (r) or the columns (c), low digit first.
``r2c4`` on 8 nodes: rows are dense pairs, columns take every second node. All images of the paper (lines, planes, cubes
and their complements) are products of such patterns, and for a product the load in dimension i depends on the pattern of
dimension i alone:
every line carries, for each ordered pair of nodes in one row class, the same D_T / (N a) bytes, a nodes in a class.

Source: H. Jagode, J. Hein, A. Trew, "Task placement of parallel multi-dimensional FFTs on a mesh communication network",
UT-CS-08-613 (2008), eq. 4 to 16.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

import numpy as np

from pencilmap.model.errors import PlacementError
from pencilmap.model.torus import check_lines, ring_link_loads


@dataclass(frozen=True)
class Pattern:
    """The digits of one dimension (or of the slots), low digit first: tuple of (owner, radix), owner "r" or "c".

    Neighbouring digits of one owner are merged and digits of radix 1 dropped, so equal patterns compare equal.

    >>> Pattern((("r", 2), ("c", 2), ("c", 2)))
    Pattern('r2c4')
    """

    digits: tuple

    def __post_init__(self):
        merged = []
        for owner, radix in self.digits:
            if owner not in ("r", "c") or radix < 1:
                raise PlacementError(f"digit {owner}{radix}: a digit is r or c and a radix of 1 or more")
            if radix == 1:
                continue
            if merged and merged[-1][0] == owner:
                radix *= merged.pop()[1]
            merged.append((owner, int(radix)))
        object.__setattr__(self, "digits", tuple(merged))

    @property
    def n(self):
        """Nodes of the dimension."""
        return prod(radix for _, radix in self.digits)

    def extent(self, owner):
        """How many of the nodes one row ("r") or one column ("c") takes."""
        return prod(radix for o, radix in self.digits if o == owner)

    def index(self, owner):
        """For each node the number it has within its row ("r") or column ("c"): int array, shape (n,).

        >>> Pattern((("r", 2), ("c", 4))).index("r").tolist()
        [0, 1, 0, 1, 0, 1, 0, 1]
        """
        node, index, stride = np.arange(self.n), np.zeros(self.n, dtype=np.int64), 1
        for o, radix in self.digits:
            if o == owner:
                index += node % radix * stride
                stride *= radix
            node = node // radix
        return index

    def __str__(self):
        return "".join(f"{owner}{radix}" for owner, radix in self.digits) or "r1"

    def __repr__(self):
        return f"Pattern({str(self)!r})"


def parse_pattern(text):
    """Read ``r2c4``, low digit first.

    >>> parse_pattern("c2r2c2").extent("r")
    2
    """
    if not re.fullmatch(r"(?:[rc]\d{1,12})+", text):
        raise PlacementError(f"digit pattern {text[:40]!r} is not understood; write owner and radix of each digit, lowest "
                             "first, e.g. r2c4: rows take pairs of neighbours, columns every second node")
    return Pattern(tuple((o, int(r)) for o, r in re.findall(r"([rc])(\d+)", text)))


def effective_length(pattern, owner, torus, i):
    """The paper's m_i of a row ("r") or column ("c") whose image follows `pattern` in dimension `i` of the torus.

    n_i/g_i where the image spreads over the whole dimension, the length of the dense block it stays in (n_i/f_i) where it
    does not, 0 where it has one node. Equation 16 and the table of m_i; per cable.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> from pencilmap.model.torus import Torus
    >>> ring = Torus((8,))
    >>> [str(effective_length(parse_pattern(p), "r", ring, 0)) for p in ("r8", "r2c4", "c4r2", "c8")]
    ['4', '2', '4', '0']
    """
    span, here = 0, 1
    for o, radix in pattern.digits:
        here *= radix
        span = here if o == owner else span
    g = torus.g(i) if span == torus.shape[i] else 1
    return Fraction(span, g * torus.cables[i])


@dataclass(frozen=True)
class RingLoad:
    """Routed loads of a pattern on one line, on the m scale (4 load N / D_T), for one cable.

    largest : Fraction
    total : Fraction, sum over all links of the line
    position, direction : the busiest link leaves `position` upwards (+1) or downwards (-1); the first of equals
    """

    largest: Fraction
    total: Fraction
    position: int
    direction: int


@lru_cache(maxsize=4096)
def ring_load(pattern, owner, ring, tie="split"):
    """Loads of `pattern` under dimension-ordered routing in the shortest direction, ties as in `ring_link_loads`.

    >>> ring_load(parse_pattern("r3"), "r", True).largest
    Fraction(4, 3)
    """
    n, a = pattern.n, pattern.extent(owner)
    check_lines((n,))
    other = pattern.index("c" if owner == "r" else "r")
    same = other[:, None] == other[None, :]
    halves = ring_link_loads(same.astype(np.int64), ring, tie)
    direction, position = np.unravel_index(int(halves.argmax()), halves.shape)
    return RingLoad(Fraction(4 * int(halves.max()), 2 * a), Fraction(4 * int(halves.sum()), 2 * a),
                    int(position), (1, -1)[direction])



def pattern_of_set(indices, n):
    """The pattern whose row through node 0 takes just these nodes, or None when there is none.

    >>> pattern_of_set([0, 1, 4, 5], 8)
    Pattern('r2c2r2')
    >>> pattern_of_set([0, 1, 3], 8) is None
    True
    """
    rest, stride, digits = sorted({int(i) for i in indices}), 1, []
    wanted = list(rest)
    while len(rest) > 1:
        if rest[1] % stride:
            return None
        gap = rest[1] // stride
        digits.append(("c", gap))
        stride *= gap
        radix = 1
        while radix < len(rest) and rest[radix] == radix * stride:
            radix += 1
        digits.append(("r", radix))
        stride *= radix
        rest = [i for i in rest if i % stride == 0]
    if n % stride:
        return None
    pattern = Pattern((*digits, ("c", n // stride)))
    column = pattern.index("c")
    return pattern if np.flatnonzero(column == 0).tolist() == wanted else None
