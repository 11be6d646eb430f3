"""The default of launchers: ranks fill the machine axis by axis, or the usable nodes in a given order.

The order names the axes and the slot t, the fastest first: ``xyzt`` fills x first and the second slot of a node last,
``txyz`` fills the slots of a node first. (Blue Gene's names XYZT and TXYZ mean the same.) Nodes that may not be used are
skipped. ``nt`` and ``tn`` take the nodes in the launcher's own order instead, which is that of the list of usable nodes.
Without a list it is the order of the node numbers, so ``default`` and ``xyzt`` are then the same. This module is not among
the placements because searches start from it.
"""

from itertools import permutations

import numpy as np

from pencilmap.model.allocation import Site
from pencilmap.model.arrays import Ints
from pencilmap.model.errors import PlacementError
from pencilmap.model.grid import ProcessGrid
from pencilmap.model.mapping import Mapping
from pencilmap.model.network import Network
from pencilmap.model.torus import Torus


def default(argument: str, site: Site, grid: ProcessGrid) -> Mapping:
    """Ranks in axis order, or in the launcher's order of the usable nodes.

    >>> from pencilmap.model.allocation import Allocation
    >>> torus = Torus((2, 3))
    >>> default("yxt", Site(torus), ProcessGrid(2, 3)).node_of_rank.tolist()
    [0, 2, 4, 1, 3, 5]
    >>> some = Site(torus, allocation=Allocation(torus, [5, 0, 2, 1]))
    >>> [default(order, some, ProcessGrid(2, 2)).node_of_rank.tolist() for order in ("", "yxt")]
    [[5, 0, 2, 1], [0, 2, 1, 5]]
    """
    site.check_grid(grid)
    network = site.network
    order = argument or "nt"
    if sorted(order) == sorted(network.axes + "t"):
        node, slot = axis_order(order, network, site.tasks_per_node)
        kept = site.allocation.is_usable()[node]
        node, slot = node[kept], slot[kept]
    elif order in ("nt", "tn"):
        node, slot = launcher_order(site, slots_first=order == "tn")
    else:
        raise PlacementError(f"default:{argument} is not an order of {network.title}; name each of "
                             f"{', '.join(network.axes)} and t (the slot) once, the fastest first, e.g. "
                             f"default:t{network.axes}, or nt or tn for the launcher's order of the nodes")
    name = "default" if not argument else f"default:{order}"
    return Mapping(network, grid, site.tasks_per_node, node[:grid.n_tasks], slot[:grid.n_tasks], name)


def launcher_order(site: Site, slots_first: bool) -> tuple[Ints, Ints]:
    """Node and slot of every place, the nodes in the launcher's order."""
    nodes, T = site.allocation.nodes, site.tasks_per_node
    if slots_first:
        return np.repeat(nodes, T), np.tile(np.arange(T), nodes.size)
    return np.tile(nodes, T), np.repeat(np.arange(T), nodes.size)


def axis_order(order: str, network: Network, tasks_per_node: int) -> tuple[Ints, Ints]:
    """Node and slot of every place in the given order, the first letter fastest."""
    extent = dict(zip(network.axes, network.shape), t=tasks_per_node)
    stride = dict(zip(network.axes, network.strides), t=0)
    place = np.arange(network.n_nodes * tasks_per_node)
    node, slot = np.zeros_like(place), np.zeros_like(place)
    for letter in order:
        place, digit = np.divmod(place, extent[letter])
        if letter == "t":
            slot = digit
        else:
            node += digit * stride[letter]
    return node, slot


def all_orders(torus: Torus) -> list[str]:
    """Every order of the axes with the slots first and with the slots last."""
    axes = ["".join(p) for p in permutations(torus.axes)]
    return [order for a in axes for order in (a + "t", "t" + a)]
