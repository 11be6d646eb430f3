"""Digit patterns spelled out, e.g. ``digits:x=r2c4,y=r2c4,z=c8,t=r2``.

The slots ``t`` are one more dimension, and that is how rows and columns come to lie on different numbers of nodes: with two
tasks a node ``t=c2`` puts two rows on every row image (the paper's 8x128 on 8-cubes), ``t=r2`` puts rows of 16 on 8 nodes.
Dimensions that are not named belong to the columns; slots that are not named make the rows as long as the grid asks.
A third owner, ``i``, leaves nodes or slots idle: of its digit only 0 is used.

Source of the images: Jagode, Hein, Trew, UT-CS-08-613 (2008), sec. 4 and 6.
"""

import re
from math import prod

import numpy as np

from pencilmap.mapper.placements.whole import check_product
from pencilmap.model.allocation import Site
from pencilmap.model.errors import PlacementError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.pattern import Pattern, parse_pattern
from pencilmap.model.product import Product


def digits(argument: str, site: Site, grid: ProcessGrid) -> Product | Mapping:
    """Make the product of the patterns named; a Mapping where digits are idle.

    >>> from pencilmap.model.allocation import Site
    >>> from pencilmap.model.torus import Torus
    >>> str(digits("x=r2c4,y=r4c2", Site(Torus((8, 8))), ProcessGrid(8, 8)))
    'digits:x=r2c4,y=r4c2'
    >>> digits("x=r2i2c2", Site(Torus((8,)), idle=True), ProcessGrid(2, 2)).node_of_rank.tolist()
    [0, 1, 4, 5]
    """
    texts = _parse(argument, site.torus)
    return (_with_idle if any("i" in text for text in texts.values()) else _whole)(argument, texts, site, grid)


def _parse(argument, torus):
    """Text of each pattern named, by axis."""
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
    torus, tasks_per_node = site.torus, site.tasks_per_node
    named = {axis: parse_pattern(text) for axis, text in texts.items()}
    patterns = tuple(named.get(axis, Pattern((("c", n),))) for axis, n in zip(torus.axes, torus.shape))
    slots = named.get("t") or _fill(grid, patterns, tasks_per_node)
    product = Product(torus, patterns, slots)
    if slots.n != tasks_per_node:
        raise PlacementError(f"digits:{argument}: the slots t={slots} stand for {slots.n} tasks per node, not "
                             f"{tasks_per_node}")
    _check_grid(argument, product.grid, grid)
    return product


def _fill(grid, patterns, tasks_per_node):
    k = max(1, grid.R // prod(p.extent("r") for p in patterns))
    return Pattern((("r", k), ("c", tasks_per_node // k if tasks_per_node % k == 0 else 1)))


def _check_grid(argument, made, grid):
    if made != grid:
        raise PlacementError(f"digits:{argument} makes {made.C} rows of {made.R} tasks, but the grid is {grid}; the radices "
                             f"of all r digits must multiply to {grid.R}, those of all c digits to {grid.C}")


def _with_idle(argument, texts, site, grid):
    """Patterns with idle digits: the places whose idle digits are 0, numbered as in a product."""
    site.check_grid(grid)
    torus = site.torus
    extents = dict(zip(torus.axes, torus.shape), t=site.tasks_per_node)
    patterns = [_digits_of(argument, axis, texts.get(axis, f"c{n}"), n) for axis, n in extents.items()]
    _check_grid(argument, ProcessGrid(*(prod(r for p in patterns for o, r in p if o == owner) for owner in "rc")), grid)
    place = np.arange(torus.n_nodes * site.tasks_per_node)
    node, slot = place % torus.n_nodes, place // torus.n_nodes
    coordinates = [*torus.coordinates(node).T, slot]
    p, q, idle = (_number(patterns, owner, coordinates) for owner in "rci")
    rank = q * grid.R + p
    first = np.flatnonzero(idle == 0)
    order = first[np.argsort(rank[first])]
    mapping = Mapping(torus, grid, site.tasks_per_node, node[order], slot[order], f"digits:{argument}")
    site.check_mapping(mapping)
    return mapping


def _digits_of(argument, axis, text, n):
    """(owner, radix) of each digit, low digit first; idle digits allowed."""
    if not re.fullmatch(r"(?:[rci]\d{1,12})+", text):
        raise PlacementError(f"digits:{argument}: pattern {text[:40]!r} is not understood; write owner and radix of each "
                             "digit, lowest first: r rows, c columns, i idle, e.g. r2i2c2")
    found = [(owner, int(radix)) for owner, radix in re.findall(r"([rci])(\d+)", text)]
    if prod(radix for _, radix in found) != n:
        what = "tasks per node" if axis == "t" else "nodes"
        raise PlacementError(f"digits:{argument}: pattern {text} of {axis} stands for {prod(r for _, r in found)} {what}, "
                             f"but there are {n}; its radices must multiply to {n}")
    return found


def _number(patterns, owner, coordinates):
    """Number of every place within its row ("r"), its column ("c") or among the idle ("i"); first dimension fastest."""
    number, stride = 0, 1
    for digits_of_axis, coordinate in zip(patterns, coordinates):
        own = Pattern(tuple(("r" if o == owner else "c", radix) for o, radix in digits_of_axis))
        number = number + own.index("r")[coordinate] * stride
        stride *= own.extent("r")
    return number
