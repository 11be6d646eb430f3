"""The text of a placement in a file, if the placement is a product of ring maps or a tiling.

`pencilmap.model.placement.product.product_of` recognises digit patterns. The order of ranks within a group does not matter.
"""

import numpy as np

from pencilmap.mapper.placements.products import ring
from pencilmap.mapper.placements.tilings import lattice
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.decompositions import PENCIL
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.placement.product import same_groups

MOST_PLACES = 16_384  # above this number tilings are not searched either


def named(mapping: Mapping) -> str | None:
    """Return the name of the mapping, in words and as a text that makes it again, or None.

    None if the mapping is neither of ring maps nor a tiling.

    >>> from pencilmap.model.network.torus import Torus
    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> site, grid = Site(Torus((4, 4))), ProcessGrid(8, 2)
    >>> named(ring("x=0.1/3.2,y=r4", site, grid).mapping())
    'the product of ring maps ring:x=0.1/3.2,y=r4'
    >>> named(lattice("c=1.2.0/0.5.0/0.0.1,tile=0.1.5.6.10", Site(Torus((5, 5))), ProcessGrid(5, 5)))
    'the tiling lattice:c=1.2.0/0.5.0/0.0.1,tile=0.1.5.6.10 (columns are moves of a lattice, rows of a tile)'
    """
    if not (mapping.network.has_products and mapping.fills_network and mapping.grid.decomposition is PENCIL
            and min(mapping.grid.shape) > 1):
        return None
    torus = as_torus(mapping.network)
    site = Site(torus, mapping.tasks_per_node)
    for arguments in _rings(mapping, torus):
        try:
            found = ring(arguments, site, mapping.grid)
        except PlacementError:
            continue
        if same_groups(found.mapping(), mapping):
            return f"the product of ring maps {found}"
    if mapping.n_tasks > MOST_PLACES:
        return None
    for letter, names in (("c", ("columns", "rows")), ("r", ("rows", "columns"))):
        try:
            tiling = lattice(_tiling(mapping, torus, letter), site, mapping.grid)
        except PlacementError:
            continue
        if same_groups(tiling, mapping):
            return f"the tiling {tiling.name} ({names[0]} are moves of a lattice, {names[1]} of a tile)"
    return None


def _rings(mapping, torus):
    """Return the texts of possible ring maps, from the lines through the first place."""
    R, places = mapping.grid.shape[0], _places(mapping)
    parts = []
    for i, axis in enumerate((*torus.axes, "t")):
        line = np.flatnonzero((np.delete(places, i, axis=1) == 0).all(axis=1))
        rows: dict[int, list[int]] = {}
        for rank in sorted(line.tolist()):                         # rank = q R + p: by rows, then along each
            rows.setdefault(rank // R, []).append(int(places[rank, i]))
        parts.append((axis, list(rows.values())))
    *dimensions, (_, slots) = parts
    text = ",".join(f"{axis}={_map(rows)}" for axis, rows in dimensions)
    r, c = f"r{len(slots[0])}" if len(slots[0]) > 1 else "", f"c{len(slots)}" if len(slots) > 1 else ""
    return [f"{text},t={digits}" for digits in dict.fromkeys((r + c, c + r))] if r or c else [text]


def _map(rows):
    """Return the text of one dimension, a digit pattern for whole rows or columns."""
    if len(rows) == 1:
        return f"r{len(rows[0])}"
    return f"c{len(rows)}" if len(rows[0]) == 1 else "/".join(".".join(map(str, row)) for row in rows)


def _tiling(mapping, torus, letter):
    """Return the text of a possible tiling, from the two groups of rank 0: along `letter` and along the other letter."""
    R, C = mapping.grid.shape
    shape, places = np.array([*torus.shape, mapping.tasks_per_node]), _places(mapping)
    across, along = np.arange(C) * R, np.arange(R)
    cosets, tile = (across, along) if letter == "c" else (along, across)
    lattice_places = (places[cosets] - places[0]) % shape
    form = []
    for i, n in enumerate(shape):
        starting = lattice_places[(lattice_places[:, :i] == 0).all(axis=1) & (lattice_places[:, i] > 0)]
        form.append(starting[np.lexsort(starting.T[::-1])][0] if len(starting) else np.eye(len(shape), dtype=int)[i] * n)
    strides = np.cumprod([1, *shape[:-1]])
    return (f"{letter}=" + "/".join(".".join(str(int(x)) for x in row) for row in form)
            + ",tile=" + ".".join(str(int(x)) for x in places[tile] @ strides))


def _places(mapping):
    return np.concatenate([mapping.coordinates(), mapping.slot_of_rank[:, None]], axis=1)
