"""Product placements: a digit pattern or a ring map for every dimension, and a digit pattern for the slots.

A dimension of n nodes is written in mixed radix, low digit first. Every digit belongs to a dimension of the grid, named by
its letter. The letters of pencils are r (rows) and c (columns). For example, ``r2c4`` on 8 nodes means that rows are dense
pairs and columns take every second node. All images of the paper (lines, planes, cubes and their complements) are products
of such patterns. For a product the load in dimension i depends on the pattern of dimension i alone: every line carries, for
each ordered pair of nodes in one group, the same D_T / (N a) bytes, if the group has a nodes on the line.

A ring map of r x c tasks on n = r c nodes gives the node of each member of every row. Digit patterns are only some of the
ring maps.

Source: H. Jagode, J. Hein, A. Trew, "Task placement of parallel multi-dimensional FFTs on a mesh communication network",
UT-CS-08-613 (2008), eq. 4 to 16.
"""

import re
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import prod

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.decompositions import PENCIL, Decomposition
from pencilmap.model.network.torus import Torus, as_torus, check_lines, ring_link_loads
from pencilmap.model.placement.allocation import Mapping, Placement
from pencilmap.model.placement.grid import ProcessGrid


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
        result, stride = np.zeros(self.n, dtype=np.int64), 1
        for axis, letter in ((1, row), (0, column)):
            if letter in letters:
                result[np.array(self.rows)] += np.indices((len(self.rows), len(self.rows[0])))[axis] * stride
                stride *= self.extent(letter)
        return result

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


def parse_ring_map(text: str) -> RingMap:
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
    return RingMap(tuple(tuple(map(int, row)) for row in parts))


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
def _number(pattern: Pattern, letters: str, of_letters: bool) -> Ints:
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
    span, stride = 0, 1
    for o, radix in pattern.digits:
        stride *= radix
        span = stride if o in letters else span
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


def pattern_of_images(images: Dictionary[str, set[int]], n: int) -> Pattern | None:
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
    members = {letter: set(np.flatnonzero(pattern.group(letter) == 0).tolist()) for letter in images}
    return pattern if pattern.n == n and members == dict(images) else None


@dataclass(frozen=True)
class Product:
    """Digits of the dimensions of the torus for the dimensions of the process grid.

    Parameters
    ----------
    torus : Torus
    dimensions : tuple of Pattern or RingMap
        One for each dimension of the torus.
    slots : Pattern
        Pattern of the tasks of a node.
    decomposition : Decomposition
        Gives the letters of the digits.
    """

    torus: Torus
    dimensions: tuple[Pattern | RingMap, ...]
    slots: Pattern
    decomposition: Decomposition = field(default=PENCIL, repr=False)

    def __post_init__(self) -> None:
        if len(self.dimensions) != self.torus.n_dimensions:
            raise PlacementError(f"torus {self.torus} needs {self.torus.n_dimensions} patterns, got {len(self.dimensions)}")
        for axis, pattern, n in zip(self.torus.axes, self.dimensions, self.torus.shape):
            if pattern.n != n:
                raise PlacementError(f"pattern {pattern.text(self.decomposition.letters)} of dimension {axis} stands for "
                                     f"{pattern.n} nodes, but torus "
                                     f"{self.torus} has {n}; its radices must multiply to {n}")

    @property
    def network(self) -> Torus:
        return self.torus

    @property
    def name(self) -> str:
        return str(self)

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def is_product(self) -> bool:
        return True

    @property
    def is_digits(self) -> bool:
        """Whether every dimension has a digit pattern, and none a ring map."""
        return all(isinstance(pattern, Pattern) for pattern in self.dimensions)

    @property
    def tasks_per_node(self) -> int:
        return self.slots.n

    @property
    def grid(self) -> ProcessGrid:
        every = (*self.dimensions, self.slots)
        return ProcessGrid(*(prod(p.extent(letter) for p in every) for letter in self.decomposition.letters),
                           decomposition=self.decomposition)

    def mapping(self, name: str | None = None) -> Mapping:
        """Return the mapping: in every group the first dimension of the torus varies fastest, the slots last."""
        nodes = self.torus.coordinates(np.arange(self.torus.n_nodes))
        T, rank, stride = self.tasks_per_node, np.zeros(1, dtype=np.int64), 1
        for letter, extent in zip(self.decomposition.letters, self.grid.shape):
            rank = rank + self._number(letter, nodes).ravel() * stride
            stride *= extent
        place = np.empty_like(rank)
        place[rank] = np.arange(rank.size)
        return Mapping(self.torus, self.grid, T, place // T, place % T, name or str(self))

    def _number(self, owner: str, nodes: Ints) -> Ints:
        """Return the number of every place within its group: int array, shape (N, T)."""
        number, stride = np.zeros(len(nodes), dtype=np.int64), 1
        for i, pattern in enumerate(self.dimensions):
            number += pattern.index(owner)[nodes[:, i]] * stride
            stride *= pattern.extent(owner)
        return number[:, None] + self.slots.index(owner)[None, :] * stride

    def __str__(self) -> str:
        letters = self.decomposition.letters
        parts = [f"{axis}={pattern.text(letters)}" for axis, pattern in zip(self.torus.axes, self.dimensions)]
        slots = [f"t={self.slots}"] if self.slots.n > 1 else []
        return ("digits:" if self.is_digits else "ring:") + ",".join([*parts, *slots])


def product_of(placed: Placement) -> Product | None:
    """Return the product whose groups use the same places as the groups of a placement, or None.

    The order of ranks within a group does not matter, because it changes no load of an even exchange.
    """
    if isinstance(placed, Product):
        return placed
    mapping = placed.mapping()
    if not mapping.fills_network or not mapping.network.has_products:
        return None
    torus, grid = as_torus(mapping.network), mapping.grid
    places = np.concatenate([mapping.coordinates(), mapping.slot_of_rank[:, None]], axis=1)
    origin = int(np.flatnonzero((places == 0).all(axis=1))[0])
    letters = grid.decomposition.letters
    images = {letter: places[_group_of(grid, letter, origin)] for letter in letters}
    patterns = [pattern_of_images({letter: set(image[:, i].tolist()) for letter, image in images.items()}, n)
                for i, n in enumerate((*torus.shape, mapping.tasks_per_node))]
    known = [pattern for pattern in patterns if pattern is not None]
    if len(known) < len(patterns):
        return None
    product = Product(torus, tuple(known[:-1]), known[-1], grid.decomposition)
    return product if product.grid == grid and same_groups(product.mapping(), mapping) else None


def _group_of(grid: ProcessGrid, letter: str, rank: int) -> Ints:
    """Return the ranks of the group of a rank along a dimension."""
    groups = grid.groups(letter)
    return groups[int(np.flatnonzero((groups == rank).any(axis=1))[0])]


def same_groups(a: Mapping, b: Mapping) -> bool:
    """Return whether every group of both mappings takes the same places. Both fill their network and have the same grid."""
    return all(_same_partition(_labels(a, stage.letters), _labels(b, stage.letters))
               for stage in a.grid.decomposition.exchanges)


def _labels(mapping: Mapping, letters: str) -> Ints:
    """Return the number of the group of every place."""
    labels = np.empty(mapping.n_tasks, dtype=np.int64)
    place = mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank
    groups = mapping.grid.groups(letters)
    labels[place[groups]] = np.arange(len(groups))[:, None]
    return labels


def _same_partition(a: Ints, b: Ints) -> bool:
    """Return whether two labellings split the places into the same groups; all groups of both have the same size."""
    partner = np.zeros(int(a.max()) + 1, dtype=np.int64)
    partner[a] = b
    return bool((partner[a] == b).all())
