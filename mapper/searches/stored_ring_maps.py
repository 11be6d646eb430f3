"""The stored ring maps: for rings and lines of up to 32 nodes the map of rows and columns with the least joint load.

With both exchanges at once a link carries the load of the rows plus the load of the columns, and digit patterns are seldom
the best way to share a dimension. For rings of up to 15 nodes and lines of up to 14 every map was tried. Longer rings and
lines were annealed.
"""

from functools import lru_cache
from importlib.resources import files

from pencilmap.model.placement.product import RingMap, parse_ring_map


def ring_maps(n: int, ring: bool) -> list[RingMap]:
    """Return the maps of a ring (or an open line) of n nodes with a joint load below the load of every digit pattern.

    >>> [str(m) for m in ring_maps(4, True)], ring_maps(4, False), len(ring_maps(12, True))
    (['1.0/2.3'], [], 4)
    """
    return [found for (kind, nodes, _), found in _table().items() if (kind, nodes) == (ring, n)]


@lru_cache(maxsize=1)
def _table():
    """Return the map of each (ring, nodes, row members). Its transpose has the same joint load."""
    found = {}
    for line in (files("pencilmap.mapper.data") / "ring_maps.txt").read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        kind, extents, _, _, text = line.split()
        r, c = map(int, extents.split("x"))
        if text != "=":
            rows = parse_ring_map(text).rows
            found[kind == "ring", r * c, r] = RingMap(rows)
            found[kind == "ring", r * c, c] = found.get((kind == "ring", r * c, c), RingMap(tuple(zip(*rows))))
    return found
