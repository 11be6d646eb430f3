"""Ring maps: any way to put rows and columns on the nodes of a dimension. Digit patterns are only some of these ways.

A map of r x c tasks on n = r c nodes gives the node of each member of every row. A product placement uses ring maps like
digit patterns: the load in their dimension depends on the map alone.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np

from pencilmap.model.base.errors import PlacementError


@dataclass(frozen=True)
class RingMap:
    """Positions of the members of every row: ``rows[q][p]`` is the position of member p of row q.

    Parameters
    ----------
    rows : tuple of tuple of int
    letters : str
        The letters of the grid's dimensions, the first along a row, the second along a column.

    Examples
    --------
    >>> gray = RingMap(((0, 1), (3, 2)))
    >>> gray.n, str(gray), gray.index("r").tolist(), gray.group("r").tolist()
    (4, '0.1/3.2', [0, 1, 1, 0], [0, 0, 1, 1])
    """

    rows: tuple[tuple[int, ...], ...]
    letters: str = "rc"

    def __post_init__(self) -> None:
        if len(set(map(len, self.rows))) != 1 or sorted(chain(*self.rows)) != list(range(self.n)):
            raise PlacementError(f"ring map {self} does not name every position once, from 0 on, in rows of one length; "
                                 "write e.g. 0.1/3.2 for two rows of two")

    @property
    def n(self) -> int:
        """Nodes of the dimension."""
        return len(self.rows) * len(self.rows[0])

    def extent(self, letters: str) -> int:
        """Return the number of nodes that a group along the dimensions of these letters takes."""
        row, column = tuple(self.letters)
        return (len(self.rows[0]) if row in letters else 1) * (len(self.rows) if column in letters else 1)

    def index(self, letters: str) -> np.ndarray:
        """Return for each node its number within its group: int array, shape (n,)."""
        row, column = tuple(self.letters)
        found, stride = np.zeros(self.n, dtype=np.int64), 1
        for axis, letter in ((1, row), (0, column)):
            if letter in letters:
                found[np.array(self.rows)] += np.indices((len(self.rows), len(self.rows[0])))[axis] * stride
                stride *= self.extent(letter)
        return found

    def group(self, letters: str) -> np.ndarray:
        """Return for each node the number of its group: int array, shape (n,)."""
        return self.index("".join(letter for letter in self.letters if letter not in letters))

    def cut(self, letters: str, ring: bool) -> Fraction:
        """Return the load of the best cut, on the m scale of `effective_length`: a lower bound for any routing.

        >>> RingMap(((0, 1), (3, 2))).cut("r", True)
        Fraction(2, 1)
        """
        n, a = self.n, self.extent(letters)
        group = self.group(letters)
        before = np.zeros((n + 1, n // a), dtype=np.int64)
        np.cumsum(group[:, None] == np.arange(n // a), axis=0, out=before[1:])
        low, high = np.triu_indices(n + 1, 1) if ring else (np.zeros(n, dtype=np.int64), np.arange(1, n + 1))
        inside = before[high] - before[low]
        return Fraction(4 * int((inside * (a - inside)).sum(axis=1).max()), a * (2 if ring else 1))

    def text(self, letters: str) -> str:
        """Return the map as `parse_ring_map` reads it."""
        return str(self)

    def __str__(self) -> str:
        return "/".join(".".join(map(str, row)) for row in self.rows)


def parse_ring_map(text: str, letters: str = "rc") -> RingMap:
    """Read ``4.3/5.2/0.1/6.7``: rows separated by a stroke, positions by a point.

    Raises
    ------
    PlacementError
        If the text is not understood.

    Examples
    --------
    >>> parse_ring_map("0.1/3.2").rows
    ((0, 1), (3, 2))
    """
    parts = [row.split(".") for row in text.split("/")]
    if not all(word.isascii() and word.isdecimal() and len(word) < 7 for row in parts for word in row):
        raise PlacementError(f"ring map {text[:40]!r} is not understood; write rows separated by / and positions by a "
                             "point, e.g. 0.1/3.2")
    return RingMap(tuple(tuple(map(int, row)) for row in parts), letters)
