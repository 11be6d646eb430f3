"""Shapes of a number of nodes: the partitions that a machine hands out, or every torus."""

from itertools import islice
from typing import Any

from pencilmap.model.base.arrays import factorisations
from pencilmap.model.base.errors import PartitionError
from pencilmap.model.machines.machine import Machine, machine_partitions
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus

MAX_SHAPES = 20_000


def torus_shapes(n_nodes: int, n_dimensions: int, like: Torus | None = None, wrap: bool = True) -> list[Torus]:
    """Return every shape of `n_nodes` nodes in `n_dimensions` dimensions.

    Parameters
    ----------
    n_nodes, n_dimensions : int
    like : Torus, optional
        Gives bandwidths and cables; if its dimensions differ, shapes with extents in another order count as different.
    wrap : bool
        Whether dimensions close to rings.

    Returns
    -------
    list of Torus

    Raises
    ------
    PartitionError
        If a number is out of range or there are too many shapes.

    Examples
    --------
    >>> [str(t) for t in torus_shapes(12, 2)]
    ['1x12', '2x6', '3x4']
    """
    if not 1 <= n_dimensions <= MAX_DIMENSIONS:
        raise PartitionError(f"{n_dimensions} dimensions; a torus has 1 to {MAX_DIMENSIONS}")
    if n_nodes < 1:
        raise PartitionError(f"{n_nodes} nodes; a partition has at least one")
    bandwidth, cables = (like.bandwidth, like.cables) if like else (None, ())
    equal = like is None or len(set(zip(bandwidth or cables, cables))) == 1
    shapes = list(islice(factorisations(n_nodes, n_dimensions, 1 if equal else None), MAX_SHAPES + 1))
    if len(shapes) > MAX_SHAPES:
        raise PartitionError(f"{n_nodes} nodes have more than {MAX_SHAPES} shapes of {n_dimensions} dimensions; take fewer "
                             "dimensions, or a machine with a rule for partitions")
    return [Torus(shape, (wrap,) * n_dimensions, bandwidth, cables) for shape in shapes]


def partition_shapes(machine: Machine, n_nodes: int) -> list[Torus]:
    """Return the partitions of a machine, one for each set of extents in any order.

    Raises
    ------
    MachineError
        If the machine file has no rule for partitions.
    PartitionError
        If the machine hands out no partition of `n_nodes` nodes.

    Examples
    --------
    >>> from pencilmap.model.machines.machine import load_machine
    >>> [str(t) for t in partition_shapes(load_machine("bluegene-l"), 2048)]
    ['8x16x16', '8x8x32']
    """
    different: dict[tuple[Any, ...], Torus] = {}
    for torus in machine_partitions(machine, n_nodes):
        different.setdefault(alike(torus), torus)
    if not different:
        sizes = machine.partition_rule().sizes()
        near = sorted(sorted(sizes, key=lambda size: abs(size - n_nodes))[:4])
        raise PartitionError(f"machine {machine.name} hands out no partition of {n_nodes} nodes; the nearest sizes are "
                             f"{', '.join(map(str, near))}")
    return list(different.values())


def alike(torus: Torus) -> tuple[Any, ...]:
    """Return the properties that decide a time: extents, rings, bandwidths, cables, in any order."""
    rates = torus.bandwidth or (None,) * torus.n_dimensions
    return tuple(sorted(zip(torus.shape, map(torus.is_ring, range(torus.n_dimensions)), rates, torus.cables)))
