"""What launchers do when they are told nothing: ranks fill the machine axis by axis.

The order names the axes and the slot t, the fastest first: ``xyzt`` fills x first and the second slot of a node last,
``txyz`` fills the slots of a node first. (Blue Gene's own words XYZT and TXYZ mean the same.)
"""

from itertools import permutations

import numpy as np

from pencilmap.model.errors import PlacementError
from pencilmap.model.grid import check_tasks
from pencilmap.model.mapping import Mapping


def default(argument, torus, grid, tasks_per_node):
    """Ranks in axis order.

    >>> from pencilmap.model.grid import ProcessGrid
    >>> from pencilmap.model.torus import Torus
    >>> default("yxt", Torus((2, 3)), ProcessGrid(2, 3), 1).node_of_rank.tolist()
    [0, 2, 4, 1, 3, 5]
    """
    order = argument or torus.axes + "t"
    if sorted(order) != sorted(torus.axes + "t"):
        raise PlacementError(f"default:{argument} is no order of torus {torus}; name each of {', '.join(torus.axes)} and t "
                             f"(the slot) once, the fastest first, e.g. default:t{torus.axes}")
    n_slots = torus.n_nodes * tasks_per_node
    check_tasks(grid, n_slots, f"torus {torus} with {tasks_per_node} tasks per node")
    node, slot = axis_order(order, torus, tasks_per_node)
    name = "default" if not argument else f"default:{order}"
    return Mapping(torus, grid, tasks_per_node, node[:grid.n_tasks], slot[:grid.n_tasks], name)


def axis_order(order, torus, tasks_per_node):
    """Node and slot of every place in the given order, the first letter fastest."""
    extent = dict(zip(torus.axes, torus.shape), t=tasks_per_node)
    stride = dict(zip(torus.axes, torus.strides), t=0)
    place = np.arange(torus.n_nodes * tasks_per_node)
    node, slot = np.zeros_like(place), np.zeros_like(place)
    for letter in order:
        place, digit = np.divmod(place, extent[letter])
        if letter == "t":
            slot = digit
        else:
            node += digit * stride[letter]
    return node, slot


def all_orders(torus):
    """Every order of the axes with the slots first and with the slots last."""
    axes = ["".join(p) for p in permutations(torus.axes)]
    return [order for a in axes for order in (a + "t", "t" + a)]
