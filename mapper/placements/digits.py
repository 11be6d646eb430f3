"""Digit patterns spelled out, e.g. ``digits:x=r2c4,y=r2c4,z=c8,t=r2``.

Dimensions that are not named belong to the columns; slots that are not named make the rows as long as the grid asks.
"""

from math import prod

from pencilmap.mapper.placements.whole import check_product
from pencilmap.model.errors import PlacementError
from pencilmap.model.pattern import Pattern, parse_pattern
from pencilmap.model.product import Product


def digits(argument, site, grid):
    """Make the product of the patterns named.

    >>> from pencilmap.model.grid import ProcessGrid
    >>> from pencilmap.model.allocation import Site
    >>> from pencilmap.model.torus import Torus
    >>> str(digits("x=r2c4,y=r4c2", Site(Torus((8, 8))), ProcessGrid(8, 8)))
    'digits:x=r2c4,y=r4c2'
    """
    check_product("digits", site, grid)
    torus, tasks_per_node = site.torus, site.tasks_per_node
    named = _parse(argument, torus)
    patterns = tuple(named.get(axis, Pattern((("c", n),))) for axis, n in zip(torus.axes, torus.shape))
    slots = named.get("t") or _fill(grid, patterns, tasks_per_node)
    product = Product(torus, patterns, slots)
    if slots.n != tasks_per_node:
        raise PlacementError(f"digits:{argument}: the slots t={slots} stand for {slots.n} tasks per node, not {tasks_per_node}")
    if product.grid != grid:
        raise PlacementError(f"digits:{argument} makes rows of {product.grid.R} tasks, but the grid is {grid}; the radices "
                             f"of all r digits must multiply to {grid.R}")
    return product


def _parse(argument, torus):
    named = {}
    for part in argument.split(","):
        axis, equals, pattern = part.partition("=")
        if not equals or axis not in (*torus.axes, "t") or axis in named:
            raise PlacementError(f"digits:{argument}: {part!r} is not understood; write AXIS=PATTERN once for each of "
                                 f"{', '.join(torus.axes)} and t, e.g. {torus.axes[0]}=r2c4")
        named[axis] = parse_pattern(pattern)
    return named


def _fill(grid, patterns, tasks_per_node):
    k = max(1, grid.R // prod(p.extent("r") for p in patterns))
    return Pattern((("r", k), ("c", tasks_per_node // k if tasks_per_node % k == 0 else 1)))
