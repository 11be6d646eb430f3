"""Launch orders: ranks fill the machine axis by axis, or the usable nodes in the order of their list.

`pencilmap.model.placement.allocation` describes the notation of an order. Orders skip nodes that may not be used. Without
an argument the order is the launcher's order of the site. Searches start from launch orders, so this module is not among
the placements.
"""

from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.twisted_torus import logical, nodes_of_logical
from pencilmap.model.placement.allocation import USUAL, Mapping, Site, slots_in_order
from pencilmap.model.placement.grid import ProcessGrid

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
    >>> from pencilmap.model.network.torus import Torus
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
        axes = logical(network).axes
        raise PlacementError(f"default:{argument} is not an order of {network.title}; name each of "
                             f"{', '.join(axes)} and t (the slot) once, the fastest first, e.g. "
                             f"default:t{axes}, or nt or tn for the nodes in the order of their list")
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
    if set(at) == {"n"} and logical(network).axes != "n":
        return _listed_places(site, at["n"], slot)
    named = network if set(at) == set(network.axes) else logical(network)
    node = sum((at[letter] * stride for letter, stride in zip(named.axes, named.strides)), np.zeros_like(slot))
    node = node if named is network else nodes_of_logical(network, node)
    kept = site.allocation.is_usable()[node]
    return node[kept], slot[kept]


def _listed_places(site: Any, position: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Node and slot at positions of the list of nodes, or of hosts that share nodes."""
    if site.hosts_per_node == 1:
        return site.allocation.nodes[position], slot
    hosts, tasks = site.allocation.hosts, site.tasks_per_node // site.hosts_per_node
    return hosts[position], slots_in_order(hosts)[position] * tasks + slot


def order_of(mapping: Mapping) -> str | None:
    """The order of the axes in which the ranks fill their places, None if they follow no such order.

    >>> from pencilmap.model.network.torus import Torus
    >>> order_of(default("yxt", Site(Torus((2, 3))), ProcessGrid(2, 3)))
    'yxt'
    """
    columns = dict(zip(mapping.network.axes, mapping.coordinates().T), t=mapping.slot_of_rank)
    moves = {letter: np.flatnonzero(column != column[0])[:1].tolist() for letter, column in columns.items()}
    order = "".join(sorted(moves, key=lambda letter: moves[letter] or [mapping.n_tasks]))
    node, slot = places(order, Site(mapping.network, mapping.tasks_per_node))
    place, used = node * mapping.tasks_per_node + slot, mapping.node_of_rank * mapping.tasks_per_node + mapping.slot_of_rank
    return order if np.array_equal(place[np.isin(place, used)], used) else None
