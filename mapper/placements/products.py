"""Products by text, for example ``digits:x=r2c4,y=r2c4,z=c8,t=r2``, ``box:2x2x2`` and ``ring:x=r8,y=4.3/5.2/0.1/6.7``.

``digits`` spells digit patterns out. The slots ``t`` are one more dimension, so rows and columns can lie on different
numbers of nodes. With two tasks per node ``t=c2`` puts two rows on every row image (the paper's 8x128 on 8-cubes), and
``t=r2`` puts rows of 16 on 8 nodes. Dimensions without a pattern belong to the last dimension of the grid, the columns.
Slots without a pattern belong to its first dimension, the rows, until the rows are long enough, and then to the columns. One
more owner, ``i``, leaves nodes or slots idle: of its digits only 0 is used.

``box``, ``line`` and ``plane`` put groups of the grid's first dimension on dense boxes, groups of its second on the
complement. Of pencils: rows on boxes, columns on every n-th node. Of bricks: x-lines on boxes; y-lines take the boxes in the
order of the axes, and z-lines the rest.

``ring`` gives a dimension a pattern or a map: the positions of the members of each row, rows separated by strokes. Without
an argument the placement is the product with the least joint load, for exchanges that run at once
(`pencilmap.mapper.seeds.products`, with the stored maps of `pencilmap.mapper.seeds.products`).

Source of the images: Jagode, Hein, Trew, UT-CS-08-613 (2008), sec. 4 and 6.
"""

from collections.abc import Iterable, Sequence
from math import gcd, prod
from typing import Any

import numpy as np

from pencilmap.mapper.seeds.products import best_product
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Mapping, Placement, Site
from pencilmap.model.placement.grid import ProcessGrid, per_node
from pencilmap.model.placement.product import Pattern, Product, RingMap, parse_pattern, parse_ring_map
from pencilmap.model.traffic.loads import Objective, at_once

INSTEAD = "default, search or file:PATH"
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
    texts, letters = _parse("digits", argument, site.network, "PATTERN", "r2c4"), grid.decomposition.letters
    if any(IDLE in text for text in texts.values()):
        return _with_idle(argument, texts, site, grid)
    check_product("digits", site, grid)
    return _product("digits", argument, {axis: parse_pattern(text, letters) for axis, text in texts.items()}, site, grid)


def _parse(name: str, argument: str, torus: Torus | Network, what: str, example: str) -> dict[str, str]:
    """Return the text of each named pattern or map, by axis."""
    named = {}
    for part in argument.split(","):
        axis, equals, pattern = part.partition("=")
        if not equals or axis not in (*torus.axes, "t") or axis in named:
            raise PlacementError(f"{name}:{argument}: {part!r} is not understood; write AXIS={what} once for each of "
                                 f"{', '.join(torus.axes)} and t, e.g. {torus.axes[0]}={example}")
        named[axis] = pattern
    return named


def _product(name: str, argument: str, named: dict[str, Any], site: Site, grid: ProcessGrid) -> Product:
    """Return the product of the named patterns and maps, and of the last dimension of the grid on all other axes."""
    torus, tasks_per_node, letters = as_torus(site.network), site.tasks_per_node, grid.decomposition.letters
    patterns = tuple(named.get(axis, Pattern(((letters[-1], n),))) for axis, n in zip(torus.axes, torus.shape))
    slots = named.get("t") or slots_that_fill(grid, patterns, tasks_per_node)
    product = Product(torus, patterns, slots, grid.decomposition)
    if slots.n != tasks_per_node:
        raise PlacementError(f"{name}:{argument}: the slots t={slots} stand for {per_node(slots.n)}, not {tasks_per_node}")
    _check_grid(f"{name}:{argument}", product.grid.shape, grid)
    return product


def slots_that_fill(grid: ProcessGrid, patterns: Iterable[Pattern | RingMap], tasks_per_node: int) -> Pattern:
    """Return the pattern of the slots that completes the groups of the grid's first dimension."""
    first, last = grid.decomposition.letters[0], grid.decomposition.letters[-1]
    k = max(1, grid.shape[0] // prod(p.extent(first) for p in patterns))
    return Pattern(((first, k), (last, tasks_per_node // k if tasks_per_node % k == 0 else 1)))


def _check_grid(text: str, made: tuple[Any, ...], grid: ProcessGrid) -> None:
    if made != grid.shape:
        needed = ", ".join(f"of all {letter} digits must multiply to {n}"
                           for letter, n in zip(grid.decomposition.letters, grid.shape))
        raise PlacementError(f"{text} makes grid {'x'.join(map(str, made))}, but the grid is {grid}; the radices {needed}")


def _with_idle(argument: str, texts: Any, site: Site, grid: ProcessGrid) -> Mapping:
    """Return the mapping of patterns with idle digits: the places whose idle digits are 0, numbered as in a product."""
    site.check_grid(grid)
    torus, letters = site.network, grid.decomposition.letters
    extents = dict(zip(torus.axes, torus.shape), t=site.tasks_per_node)
    patterns = [_pattern_of(argument, axis, texts.get(axis, f"{letters[-1]}{n}"), n, letters) for axis, n in extents.items()]
    _check_grid(f"digits:{argument}", tuple(prod(p.extent(letter) for p in patterns) for letter in letters), grid)
    place = np.arange(torus.n_nodes * site.tasks_per_node)
    node, slot = place % torus.n_nodes, place // torus.n_nodes
    coordinates = [*torus.coordinates(node).T, slot]
    rank = sum(_number(patterns, letter, coordinates) * prod(grid.shape[:i]) for i, letter in enumerate(letters))
    first = np.flatnonzero(_number(patterns, IDLE, coordinates) == 0)
    order = first[np.argsort(rank[first])]
    mapping = Mapping(torus, grid, site.tasks_per_node, node[order], slot[order], f"digits:{argument}")
    site.check_mapping(mapping)
    return mapping


def _pattern_of(argument: str, axis: str, text: str, n: int, letters: str) -> Pattern:
    """Return the pattern of an axis; idle digits are allowed."""
    try:
        pattern = parse_pattern(text, letters + IDLE)
    except PlacementError as error:
        raise PlacementError(f"digits:{argument}: {error}; {IDLE} leaves places idle") from None
    if pattern.n != n:
        what = "tasks per node" if axis == "t" else "nodes"
        raise PlacementError(f"digits:{argument}: pattern {text} of {axis} stands for {pattern.n} {what}, but there are "
                             f"{n}; its radices must multiply to {n}")
    return pattern


def _number(patterns: Iterable[Pattern | RingMap], letter: str, coordinates: list[Ints]) -> Any:
    """Return the number of every place in its group of a grid dimension, or among the idle; first dimension fastest."""
    number: Any = 0
    stride = 1
    for pattern, coordinate in zip(patterns, coordinates):
        number = number + pattern.index(letter)[coordinate] * stride
        stride *= pattern.extent(letter)
    return number


def check_product(name: str, site: Site, grid: ProcessGrid) -> None:
    """Raise PlacementError unless `grid` takes every slot of a site that is a whole torus.

    `name` is the placement, for the error.
    """
    site.check_grid(grid)
    if not site.allocation.is_complete:
        raise PlacementError(f"{name} needs every node of torus {site.network}, but only {site.allocation} are usable; take "
                             f"{INSTEAD}")
    if grid.n_tasks < site.n_slots:
        raise PlacementError(f"{name} fills every slot, but grid {grid} leaves {site.n_slots - grid.n_tasks} of "
                             f"{site.n_slots} idle; take {INSTEAD}")


def box(argument: str, site: Site, grid: ProcessGrid) -> Product:
    """Place rows on boxes of the given extents, e.g. ``2x2x2``.

    Parameters
    ----------
    argument : str
        One extent for each dimension of the torus.
    site : Site
    grid : ProcessGrid

    Raises
    ------
    PlacementError
        If the extents are not understood or do not divide the torus and the grid.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> str(box("2x2x2", Site(Torus((8, 8, 8))), ProcessGrid(8, 64)))
    'digits:x=r2c4,y=r2c4,z=r2c4'
    """
    parts, torus = argument.split("x"), site.network
    if not all(p.isdecimal() and p.isascii() and len(p) < 16 and int(p) for p in parts) or len(parts) != torus.n_dimensions:
        raise PlacementError(f"box {argument!r} is not understood; torus {torus} needs {torus.n_dimensions} extents, e.g. "
                             f"box:{'x'.join(['2'] * torus.n_dimensions)}")
    return _boxes(f"box:{argument}", [int(p) for p in parts], site, grid)


def line(argument: str, site: Site, grid: ProcessGrid) -> Product:
    """Place rows on lines along an axis, by default the first axis.

    Raises
    ------
    PlacementError
        If the argument is not one axis.
    """
    torus = site.network
    axes = argument or torus.axes[0]
    if len(axes) != 1:
        raise PlacementError(f"line:{argument} names {len(axes)} axes; a line has one of {', '.join(torus.axes)}")
    return _along(f"line:{axes}", axes, site, grid)


def plane(argument: str, site: Site, grid: ProcessGrid) -> Product:
    """Place rows on planes of two axes, by default the first two.

    Raises
    ------
    PlacementError
        If the argument is not two axes.
    """
    torus = site.network
    axes = argument or torus.axes[:2]
    if len(axes) != 2 or axes[0] == axes[1]:
        raise PlacementError(f"plane:{argument} is not understood; a plane has two of the axes {', '.join(torus.axes)}")
    return _along(f"plane:{axes}", axes, site, grid)


def _along(name: str, axes: str, site: Site, grid: ProcessGrid) -> Product:
    torus = site.network
    unknown = [a for a in axes if a not in torus.axes]
    if unknown:
        raise PlacementError(f"{name}: torus {torus} has no axis {unknown[0]!r}, only {', '.join(torus.axes)}")
    extents = [n if a in axes else 1 for a, n in zip(torus.axes, torus.shape)]
    return _boxes(name, extents, site, grid)


def _boxes(name: str, extents: Sequence[int], site: Site, grid: ProcessGrid) -> Product:
    check_product(name, site, grid)
    torus, tasks_per_node, decomposition = as_torus(site.network), site.tasks_per_node, grid.decomposition
    if len(decomposition.letters) < 2:
        raise PlacementError(f"{name} puts groups of one dimension of the grid on boxes and those of another on the "
                             f"complement, but grid {grid} of a {decomposition.name} decomposition has {len(grid.shape)}; "
                             "take best or default")
    inner, *between, outer = list(decomposition.letters)
    for axis, extent, n in zip(torus.axes, extents, torus.shape):
        if n % extent:
            raise PlacementError(f"{name}: extent {extent} does not divide the {n} nodes of dimension {axis} of torus "
                                 f"{torus}; take a divisor of {n}")
    nodes = prod(extents)
    size, rows = grid.shape[0], f"{decomposition.dimensions[0].name}s"
    slots, rest = divmod(size, nodes)
    if rest or slots == 0 or tasks_per_node % slots:
        allowed = ", ".join(str(nodes * k) for k in range(1, tasks_per_node + 1) if tasks_per_node % k == 0)
        raise PlacementError(f"{name} has {nodes} nodes, which {rows} of {size} tasks do not fill; with "
                             f"{per_node(tasks_per_node)} {rows} must have {allowed} tasks")
    used = *extents, slots
    digits, room = [[(inner, e)] for e in used], [n // e for n, e in zip((*torus.shape, tasks_per_node), used)]
    for letter, left in zip(between, grid.shape[1:]):
        for i, digits_ in enumerate(digits):
            radix = gcd(left, room[i])
            digits_.append((letter, radix))
            room[i], left = room[i] // radix, left // radix
    *patterns, of_slots = (Pattern((*digits_, (outer, n))) for digits_, n in zip(digits, room))
    return Product(torus, tuple(patterns), of_slots, decomposition)


def ring(argument: str, site: Site, grid: ProcessGrid, objective: Objective | None = None) -> Product:
    """Return the named product, or without an argument the best product.

    Parameters
    ----------
    argument : str
        Map or pattern by axis, or empty.
    site : Site
    grid : ProcessGrid
    objective : Objective, optional
        Objective of the best product; by default the exchanges at once.

    Raises
    ------
    PlacementError
        If the argument is not understood or does not fit the torus or the grid.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> str(ring("x=0.1/3.2,y=r4", Site(Torus((4, 4))), ProcessGrid(8, 2)))
    'ring:x=0.1/3.2,y=r4'
    """
    check_product("ring", site, grid)
    torus = as_torus(site.network)
    if not argument:
        return best_product(torus, grid, site.tasks_per_node, objective or at_once(len(grid.decomposition.exchanges)))
    if len(grid.shape) != 2:
        raise PlacementError(f"ring:{argument} shares a dimension between rows and columns, and grid {grid} has no columns; "
                             "take digits")
    texts = _parse("ring", argument, torus, "MAP", f"0.1/3.2 or {torus.axes[0]}=r2c2")
    return _product("ring", argument, {axis: parse_ring_map(text) if text[:1].isdecimal() and axis != "t" else
                                       parse_pattern(text) for axis, text in texts.items()}, site, grid)
