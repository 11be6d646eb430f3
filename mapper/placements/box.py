"""Groups of the grid's first dimension on dense boxes, lines, planes and cubes, groups of its second on the complement.

Of pencils: rows on boxes, columns on every n-th node. Of bricks: x-lines on boxes; y-lines take the boxes in the order of
the axes, and z-lines the rest.

Source: Jagode, Hein, Trew, UT-CS-08-613 (2008), sec. 4.
"""

from math import gcd, prod

from pencilmap.mapper.placements.whole import check_product
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, per_node
from pencilmap.model.placement.product import Pattern, Product


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
    return _whole(f"line:{axes}", axes, site, grid)


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
    return _whole(f"plane:{axes}", axes, site, grid)


def _whole(name, axes, site, grid):
    torus = site.network
    unknown = [a for a in axes if a not in torus.axes]
    if unknown:
        raise PlacementError(f"{name}: torus {torus} has no axis {unknown[0]!r}, only {', '.join(torus.axes)}")
    extents = [n if a in axes else 1 for a, n in zip(torus.axes, torus.shape)]
    return _boxes(name, extents, site, grid)


def _boxes(name, extents, site, grid):
    check_product(name, site, grid)
    torus, tasks_per_node, decomposition = site.network, site.tasks_per_node, grid.decomposition
    if len(decomposition.letters) < 2:
        raise PlacementError(f"{name} puts groups of one dimension of the grid on boxes and those of another on the "
                             f"complement, but grid {grid} of a {decomposition.name} decomposition has {len(grid.shape)}; "
                             "take best or default")
    inner, *between, outer = decomposition.letters
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
    taken = *extents, slots
    digits, room = [[(inner, e)] for e in taken], [n // e for n, e in zip((*torus.shape, tasks_per_node), taken)]
    for letter, left in zip(between, grid.shape[1:]):
        for i, some in enumerate(digits):
            radix = gcd(left, room[i])
            some.append((letter, radix))
            room[i], left = room[i] // radix, left // radix
    *patterns, of_slots = (Pattern((*some, (outer, n))) for some, n in zip(digits, room))
    return Product(torus, tuple(patterns), of_slots, decomposition)
