"""Launch orders: ranks fill the machine axis by axis, or the usable nodes in the order of their list.

`pencilmap.model.placement.launch_order` describes the notation of an order. Orders skip nodes that may not be used. Without
an argument the order is the launcher's order of the site. Searches start from launch orders, so this module is not among
the placements.
"""

from itertools import permutations

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.launch_order import USUAL
from pencilmap.model.placement.mapping import Mapping

FILLING = USUAL.orders[0]  # ranks fill a node before the next one


def default(argument: str, site: Site, grid: ProcessGrid) -> Mapping:
    """Place ranks in the launcher's order or in a named order.

    Parameters
    ----------
    argument : str
        Name of an order, e.g. ``yxt``; empty for the launcher's order.
    site : Site
    grid : ProcessGrid

    Returns
    -------
    Mapping

    Raises
    ------
    PlacementError
        If the order does not fit the network, or the launcher's order is not an order of axes or slots.

    Examples
    --------
    >>> from pencilmap.model.placement.allocation import Allocation
    >>> torus = Torus((2, 3))
    >>> default("yxt", Site(torus), ProcessGrid(2, 3)).node_of_rank.tolist()
    [0, 2, 4, 1, 3, 5]
    >>> some = Site(torus, allocation=Allocation(torus, [5, 0, 2, 1]))
    >>> [default(order, some, ProcessGrid(2, 2)).node_of_rank.tolist() for order in ("", "yxt")]
    [[5, 0, 2, 1], [0, 2, 1, 5]]
    """
    site.check_grid(grid)
    network = site.network
    if not argument and not site.launch.orders:
        raise PlacementError(f"{site.launch.title} ({site.launch.reason}) is no order of axes or slots; name an order, e.g. "
                             "default:nt, or a file with the places of all ranks, file:PATH")
    order = argument or site.launch.orders[0]
    if site.digits(order) is None:
        raise PlacementError(f"default:{argument} is not an order of {network.title}; name each of "
                             f"{', '.join(network.axes)} and t (the slot) once, the fastest first, e.g. "
                             f"default:t{network.axes}, or nt or tn for the nodes in the order of their list")
    node, slot = places(order, site)
    name = "default" if not argument else f"default:{order}"
    return Mapping(network, grid, site.tasks_per_node, node[:grid.n_tasks], slot[:grid.n_tasks], name)


def launched(site: Site, grid: ProcessGrid) -> Mapping:
    """Place ranks in the launcher's order, or node after node if this order is unknown."""
    return default("" if site.launch.orders else FILLING, site, grid)


def places(order: str, site: Site) -> tuple[Ints, Ints]:
    """Return node and slot of every usable place, in an order that fits the site: two int arrays."""
    digits = site.digits(order) or []
    place = np.arange(np.prod([count for _, _, count in digits], dtype=np.int64))
    at = {letter: np.zeros_like(place) for letter, _, _ in digits}
    for letter, step, count in digits:
        place, digit = np.divmod(place, count)
        at[letter] += step * digit
    network, slot = site.network, at.pop("t")
    if set(at) != set(network.axes):
        return site.allocation.nodes[at["n"]], slot
    node = sum((at[letter] * stride for letter, stride in zip(network.axes, network.strides)), np.zeros_like(slot))
    kept = site.allocation.is_usable()[node]
    return node[kept], slot[kept]


def axis_order(order: str, network: Network, tasks_per_node: int) -> tuple[Ints, Ints]:
    """Return node and slot of every place of a whole network in the given order: two int arrays."""
    return places(order, Site(network, tasks_per_node))


def all_orders(torus: Torus) -> list[str]:
    """Return every order of the axes, with the slots first and with the slots last."""
    axes = ["".join(p) for p in permutations(torus.axes)]
    return [order for a in axes for order in (a + "t", "t" + a)]
