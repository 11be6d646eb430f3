"""Digit patterns spelled out, e.g. ``digits:x=r2c4,y=r2c4,z=c8,t=r2``.

The slots ``t`` are one more dimension, so rows and columns can lie on different numbers of nodes. With two tasks per node
``t=c2`` puts two rows on every row image (the paper's 8x128 on 8-cubes), and ``t=r2`` puts rows of 16 on 8 nodes.
Dimensions without a pattern belong to the last dimension of the grid, the columns. Slots without a pattern belong to its
first dimension, the rows, until the rows are long enough, and then to the columns. One more owner, ``i``, leaves nodes or
slots idle: of its digits only 0 is used.
Source of the images: Jagode, Hein, Trew, UT-CS-08-613 (2008), sec. 4 and 6.
"""

from collections.abc import Iterable
from math import prod

import numpy as np

from pencilmap.mapper.placements.whole import check_product
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, per_node
from pencilmap.model.placement.mapping import Mapping, Placement
from pencilmap.model.placement.product import Pattern, Product, RingMap, parse_pattern

IDLE = "i"  # owner of digits that leave places idle


def digits(argument: str, site: Site, grid: ProcessGrid) -> Placement:
    """Make the product of the named patterns, or a mapping if digits are idle.

    Parameters
    ----------
    argument : str
        Patterns by axis, separated by commas.
    site : Site
    grid : ProcessGrid

    Raises
    ------
    PlacementError
        If a pattern is not understood or does not fit the torus or the grid.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> str(digits("x=r2c4,y=r4c2", Site(Torus((8, 8))), ProcessGrid(8, 8)))
    'digits:x=r2c4,y=r4c2'
    >>> digits("x=r2i2c2", Site(Torus((8,)), idle=True), ProcessGrid(2, 2)).node_of_rank.tolist()
    [0, 1, 4, 5]
    """
    texts = _parse(argument, site.network)
    return (_with_idle if any(IDLE in text for text in texts.values()) else _whole)(argument, texts, site, grid)


def _parse(argument, torus):
    """Return the text of each named pattern, by axis."""
    named = {}
    for part in argument.split(","):
        axis, equals, pattern = part.partition("=")
        if not equals or axis not in (*torus.axes, "t") or axis in named:
            raise PlacementError(f"digits:{argument}: {part!r} is not understood; write AXIS=PATTERN once for each of "
                                 f"{', '.join(torus.axes)} and t, e.g. {torus.axes[0]}=r2c4")
        named[axis] = pattern
    return named


def _whole(argument, texts, site, grid):
    check_product("digits", site, grid)
    torus, tasks_per_node = site.network, site.tasks_per_node
    letters = grid.decomposition.letters
    named = {axis: parse_pattern(text, letters) for axis, text in texts.items()}
    patterns = tuple(named.get(axis, Pattern(((letters[-1], n),))) for axis, n in zip(torus.axes, torus.shape))
    slots = named.get("t") or slots_that_fill(grid, patterns, tasks_per_node)
    product = Product(torus, patterns, slots, grid.decomposition)
    if slots.n != tasks_per_node:
        raise PlacementError(f"digits:{argument}: the slots t={slots} stand for {per_node(slots.n)}, not "
                             f"{tasks_per_node}")
    _check_grid(argument, product.grid.shape, grid)
    return product


def slots_that_fill(grid: ProcessGrid, patterns: Iterable[Pattern | RingMap], tasks_per_node: int) -> Pattern:
    """Return the pattern of the slots that completes the groups of the grid's first dimension."""
    first, last = grid.decomposition.letters[0], grid.decomposition.letters[-1]
    k = max(1, grid.shape[0] // prod(p.extent(first) for p in patterns))
    return Pattern(((first, k), (last, tasks_per_node // k if tasks_per_node % k == 0 else 1)))


def _check_grid(argument, made, grid):
    if made != grid.shape:
        wanted = ", ".join(f"of all {letter} digits must multiply to {n}"
                           for letter, n in zip(grid.decomposition.letters, grid.shape))
        raise PlacementError(f"digits:{argument} makes grid {'x'.join(map(str, made))}, but the grid is {grid}; the radices "
                             f"{wanted}")


def _with_idle(argument, texts, site, grid):
    """Return the mapping of patterns with idle digits: the places whose idle digits are 0, numbered as in a product."""
    site.check_grid(grid)
    torus, letters = site.network, grid.decomposition.letters
    extents = dict(zip(torus.axes, torus.shape), t=site.tasks_per_node)
    patterns = [_pattern_of(argument, axis, texts.get(axis, f"{letters[-1]}{n}"), n, letters) for axis, n in extents.items()]
    _check_grid(argument, tuple(prod(p.extent(letter) for p in patterns) for letter in letters), grid)
    place = np.arange(torus.n_nodes * site.tasks_per_node)
    node, slot = place % torus.n_nodes, place // torus.n_nodes
    coordinates = [*torus.coordinates(node).T, slot]
    rank = sum(_number(patterns, letter, coordinates) * prod(grid.shape[:i]) for i, letter in enumerate(letters))
    first = np.flatnonzero(_number(patterns, IDLE, coordinates) == 0)
    order = first[np.argsort(rank[first])]
    mapping = Mapping(torus, grid, site.tasks_per_node, node[order], slot[order], f"digits:{argument}")
    site.check_mapping(mapping)
    return mapping


def _pattern_of(argument, axis, text, n, letters):
    """Return the pattern of an axis; idle digits are allowed."""
    try:
        found = parse_pattern(text, letters + IDLE)
    except PlacementError as error:
        raise PlacementError(f"digits:{argument}: {error}; {IDLE} leaves places idle") from None
    if found.n != n:
        what = "tasks per node" if axis == "t" else "nodes"
        raise PlacementError(f"digits:{argument}: pattern {text} of {axis} stands for {found.n} {what}, but there are {n}; "
                             f"its radices must multiply to {n}")
    return found


def _number(patterns, letter, coordinates):
    """Return the number of every place in its group of a grid dimension, or among the idle; first dimension fastest."""
    number, stride = 0, 1
    for pattern, coordinate in zip(patterns, coordinates):
        number = number + pattern.index(letter)[coordinate] * stride
        stride *= pattern.extent(letter)
    return number
