"""Products of ring maps, e.g. ``ring:x=r8,y=4.3/5.2/0.1/6.7,z=c8,t=r2``.

Every dimension has a digit pattern, as in ``digits``, or a map: the positions of the members of each row, rows separated by
strokes. Without an argument the placement is the product with the least joint load, for exchanges that run at once
(`pencilmap.mapper.searches.product_search`, with the stored maps of `pencilmap.mapper.searches.stored_ring_maps`).
"""

from pencilmap.mapper.placements.digits import slots_that_fill
from pencilmap.mapper.placements.whole import check_product
from pencilmap.mapper.searches.product_search import best_product
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid, per_node
from pencilmap.model.placement.product import Pattern, Product, RingMap, parse_pattern, parse_ring_map
from pencilmap.model.traffic.objective import Objective, at_once


def ring(argument: str, site: Site, grid: ProcessGrid, wanted: Objective | None = None) -> Product:
    """Return the named product, or without an argument the best product.

    Parameters
    ----------
    argument : str
        Map or pattern by axis, or empty.
    site : Site
    grid : ProcessGrid
    wanted : Objective, optional
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
        return best_product(torus, grid, site.tasks_per_node, wanted or at_once(len(grid.decomposition.exchanges)))
    if len(grid.shape) != 2:
        raise PlacementError(f"ring:{argument} shares a dimension between rows and columns, and grid {grid} has no columns; "
                             "take digits")
    named: dict[str, Pattern | RingMap] = {}
    for part in argument.split(","):
        axis, equals, text = part.partition("=")
        if not equals or axis not in (*torus.axes, "t") or axis in named:
            raise PlacementError(f"ring:{argument}: {part!r} is not understood; write AXIS=MAP once for each of "
                                 f"{', '.join(torus.axes)} and t, e.g. {torus.axes[0]}=0.1/3.2 or {torus.axes[0]}=r2c2")
        named[axis] = parse_ring_map(text) if text[:1].isdecimal() and axis != "t" else parse_pattern(text)
    dimensions = tuple(named.get(axis, Pattern((("c", n),))) for axis, n in zip(torus.axes, torus.shape))
    slots = named.get("t") or slots_that_fill(grid, dimensions, site.tasks_per_node)
    assert isinstance(slots, Pattern)
    product = Product(torus, dimensions, slots)
    if slots.n != site.tasks_per_node:
        raise PlacementError(f"ring:{argument}: the slots t={slots} stand for {per_node(slots.n)}, not "
                             f"{site.tasks_per_node}")
    made = product.grid.shape
    if made != grid.shape:
        raise PlacementError(f"ring:{argument} makes grid {made[0]}x{made[1]}, but the grid is {grid}; the members of a row "
                             f"in all dimensions must multiply to {grid.shape[0]}")
    return product
