"""Loads of a fat tree by counts, for routes that are known from the ends of a message.

Idea: a message between two units uses the cables upwards of both and of the units above them, up to the unit that holds
both. So the traffic of a unit is the traffic that crosses its border (`pencilmap.model.traffic.counted`). An even split puts
an equal share on each cable. Static routes sort the traffic by the end that receives it.
Cost: sorting the ranks once for each level.
"""

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.base.errors import RoutingError
from pencilmap.model.network.fat_tree import FatTree
from pencilmap.model.routing.host_links import host_of_end, loads_with_hosts
from pencilmap.model.traffic.counted import crossing
from pencilmap.model.traffic.exchange import Exchange
from pencilmap.model.traffic.loads import LinkLoads


def even_loads(tree: FatTree, exchange: Exchange, ends: np.ndarray) -> LinkLoads:
    """Return the loads if all traffic of a unit is split evenly over its cables: the even split over all shortest paths."""
    return loads_with_hosts(tree, exchange, ends, [_even(tree, exchange, ends, i) for i in range(len(tree.above))])


def _even(tree, exchange, ends, level) -> Floats:
    cables = tree.cables_up[level]
    found = np.zeros((2, len(cables)))
    for plane in tree.planes():
        both = crossing(exchange, ends, tree.above[level][plane.switch], len(cables), host_of_end(tree))
        found += np.concatenate(both, axis=1).T * float(plane.share)
    return np.repeat(found / np.maximum(cables, 1), cables, axis=1).ravel()


def static_loads(tree: FatTree, exchange: Exchange, ends: np.ndarray) -> LinkLoads:
    """Return the loads if the end that receives a message decides about its cables: D modulo k at each level.

    End d takes cable d mod k of a leaf with k cables upwards, cable d/w mod k' of the switch above if a leaf has w switches
    above it, and so on, both ways.

    Raises
    ------
    RoutingError
        If units of a level have different numbers of cables.
    """
    for cables in tree.cables_up:
        if len(set(cables.tolist())) > 1:
            raise RoutingError(f"static routes need the same number of cables upwards on every switch of a level, and "
                               f"{tree.title} has {int(cables.min())} to {int(cables.max())}; take routing shortest-path")
    return loads_with_hosts(tree, exchange, ends, [_static(tree, exchange, ends, i) for i in range(len(tree.above))])


def _static(tree, exchange, ends, level) -> Floats:
    k, n = int(tree.cables_up[level][0]), len(tree.cables_up[level])
    found = np.zeros((2, n, k))
    for plane in tree.planes():
        port = static_cables(tree, np.arange(len(plane.links)), level)
        both = crossing(exchange, ends, tree.above[level][plane.switch], n, host_of_end(tree), port, k)
        found += np.stack(both) * float(plane.share)
    return found.ravel()


def static_cables(tree: FatTree, end: np.ndarray, level: int) -> np.ndarray:
    """Return the number of the cable upwards of each unit of a level on the way to these ends.

    >>> from pencilmap.model.network.fat_tree import parse
    >>> tree = parse("leaves=4,hosts=4,up=2,pods=2,core=2")
    >>> [static_cables(tree, np.arange(8), level).tolist() for level in (0, 1)]
    [[0, 1, 0, 1, 0, 1, 0, 1], [0, 2, 1, 3, 0, 2, 1, 3]]
    """
    rest, switch = np.asarray(end), np.zeros_like(end)
    for i, cables in enumerate(tree.cables_up):
        ports = int(cables[0]) // tree.switches[i]
        port = rest % ports
        if i == level:
            return switch * ports + port
        per = tree.switches[i + 1] // tree.switches[i]  # switches above this one; parallel cables do not divide
        switch, rest = switch * per + port % per, rest // per
    raise IndexError(level)


