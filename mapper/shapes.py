"""Shapes of a number of nodes: the partitions that a machine hands out, or every torus; choices of hosts on switches."""

from collections.abc import Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints, factorisations
from pencilmap.model.base.errors import PartitionError
from pencilmap.model.base.units import counted, plural
from pencilmap.model.machines.machine import Machine, machine_partitions
from pencilmap.model.network.network import Network
from pencilmap.model.network.partition import Partitions, subbox
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus
from pencilmap.model.network.twisted_torus import logical
from pencilmap.model.placement.allocation import Allocation

MAX_SHAPES = 20_000
MOST_CHOICES = 24  # numbers of units over which nodes may be spread, all levels together
FEWEST_CHOICES = 6  # of them for many nodes
NODES_OF_CHOICES = 3072  # in all numbers together: Frontier's 512 nodes take 2 s of CPU under 6, and 8 s under 24


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

    Parameters
    ----------
    machine : Machine
    n_nodes : int
        Nodes of each partition.

    Returns
    -------
    list of Torus

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


def torus_boxes(torus: Any, n_nodes: int) -> list[Torus]:
    """Return the boxes of some nodes of a torus, one for each set of extents in any order; [] if it has no such box.

    >>> [str(box) for box in torus_boxes(Torus((8, 8, 8)), 64)]
    ['4x4x4:mesh', '2x4x8w', '1x8wx8w']
    """
    if not (torus.has_products and logical(torus) is torus and 0 < n_nodes < torus.n_nodes):
        return []
    found = Partitions("spans", torus, (1,) * torus.n_dimensions).of_size(n_nodes)
    return list({alike(box): box for box in [subbox(torus, each.shape) for each in found][::-1]}.values())[::-1]


def alike(torus: Torus) -> tuple[Any, ...]:
    """Return the properties that decide a time: extents, rings, bandwidths, cables, in any order."""
    rates = torus.bandwidth or (None,) * torus.n_dimensions
    return tuple(sorted(zip(torus.shape, map(torus.is_ring, range(torus.n_dimensions)), rates, torus.cables)))


def node_choices(free: Allocation, n_nodes: int, levels: Sequence[Ints], port: Ints | None = None) -> list[Ints]:
    """Return choices of some of the free nodes: over few or many units of each level.

    Parameters
    ----------
    free : Allocation
    n_nodes : int
    levels : sequence of int array, shape (N,)
        For each level, the smallest units first, the unit of each node.
    port : int array, shape (N,), optional
        The cable of a leaf that leads to each node under static routes: nodes of a leaf with different ones come first.

    Returns
    -------
    list of int array, shape (n_nodes,)
        Different choices, each in rising order.

    Examples
    --------
    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> [nodes.tolist() for nodes in node_choices(Allocation(parse("leaves=2,hosts=3,up=1")), 3, [np.arange(6) // 3])]
    [[0, 1, 2], [0, 1, 3]]
    """
    units = [range(1, 1 + len(np.unique(unit[free.nodes]))) for unit in levels]
    numbers = min(max(NODES_OF_CHOICES // n_nodes, FEWEST_CHOICES), MOST_CHOICES) // len(levels)
    most = [_some(sorted({-(-n_nodes // n) for n in some}, reverse=True), max(numbers, 2)) for some in units]
    ordered, found = by_port(free, port), dict[bytes, Ints]()
    for limits in product(*most):
        nodes = np.sort(_within(levels, ordered, n_nodes, limits))
        if len(nodes) == n_nodes:
            found.setdefault(nodes.tobytes(), nodes)
    return list(found.values())


def _some(numbers: Sequence[int], most: int) -> list[int]:
    """Return up to so many of some numbers, evenly, the first and the last among them."""
    return [numbers[i] for i in np.unique(np.linspace(0, len(numbers) - 1, most).round().astype(int)).tolist()]


def by_port(free: Allocation, port: Ints | None) -> Ints:
    """Return the free nodes: of each leaf first one behind each cable, then the second ones, and so on."""
    nodes = np.sort(free.nodes)
    if port is None:
        return nodes
    leaf = free.network.levels[0].unit[nodes]
    order = np.lexsort([nodes, port[nodes], leaf])
    first = np.concatenate([[True], (np.diff(leaf[order]) != 0) | (np.diff(port[nodes][order]) != 0)])
    turn = np.arange(len(nodes)) - np.maximum.accumulate(np.where(first, np.arange(len(nodes)), 0))
    return nodes[order][np.lexsort([nodes[order], turn])]


def _within(levels: Sequence[Ints], nodes: Ints, count: int, limits: Sequence[int]) -> Ints:
    """Return up to `count` of some nodes, with at most so many in a unit of each level; units with most room come first."""
    if not levels:
        return nodes[:count]
    unit = levels[-1][nodes]
    parts = [_within(levels[:-1], nodes[unit == u], limits[-1], limits[:-1]) for u in np.unique(unit)]
    chosen = list[Ints]()
    for part in sorted(parts, key=len, reverse=True):
        chosen.append(part if len(part) <= count else _within(levels[:-1], part, count, limits[:-1]))
        count -= len(chosen[-1])
    return np.concatenate(chosen)


def slurm_tree(free: Allocation, n_nodes: int) -> Ints:
    """Return the nodes that Slurm's topology/tree takes, for nodes of one weight.

    Leaf after leaf: the first takes the job if it can and has the fewest free nodes, else the leaf in the fullest unit; then
    a nearer leaf that can take the rest comes first. Each gives its first nodes.
    Source: `_eval_nodes_topo` in src/plugins/topology/tree/eval_nodes_tree.c of Slurm. Slurm 22.05 is the same on two
    levels; on more it keeps the chosen nodes in the counts of higher switches, and a nearer leaf need not have room.

    Parameters
    ----------
    free : Allocation
        Of a network with levels, whose top switch joins all nodes.
    n_nodes : int

    Examples
    --------
    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> slurm_tree(Allocation(parse("leaves=3,hosts=3,up=1"), [0, 2, 3, 4, 5, 6]), 5).tolist()
    [0, 2, 3, 4, 5]
    """
    nodes = np.sort(free.nodes)
    levels = [level.unit[nodes] for level in free.network.levels] + [np.zeros_like(nodes)]
    above = {int(u): [int(unit[np.argmax(levels[0] == u)]) for unit in levels] for u in np.unique(levels[0])}  # of each leaf
    counts = [np.bincount(unit) for unit in levels]
    far, left, chosen = dict.fromkeys(above, 0), n_nodes, list[Ints]()

    def compared(a: int, b: int) -> tuple[int, bool]:
        """Return whether leaf a is better (1) or worse (-1) than b, and whether a unit around a that decides has room."""
        for level, (x, y) in enumerate(zip(above[a], above[b])):
            mine, other = int(counts[level][x]), int(counts[level][y])
            fits = mine >= left
            if fits or other >= left:
                return (int(np.sign(other - mine)) if fits and other >= left else 1 if fits else -1), fits
            if above[a][level + 1] == above[b][level + 1]:
                break
        return int(np.sign(mine - other)), fits

    while left > 0 and above:
        best = -1
        for leaf in above:
            if counts[0][leaf] and best >= 0:
                better, fits = compared(leaf, best)
                best = leaf if (far[leaf] < far[best] and fits) or (far[leaf] == far[best] and better > 0) else best
            elif counts[0][leaf]:
                best = leaf
        if best < 0:
            break
        chosen.append(nodes[levels[0] == best][:left])
        left -= len(chosen[-1])
        taken = int(counts[0][best])
        for count, unit in zip(counts, above[best]):
            count[unit] -= taken
        for leaf in above:
            far[leaf] += 2 * sum(x != y for x, y in zip(above[leaf], above[best]))
    return np.sort(np.concatenate(chosen))


def slurm_dragonfly(free: Allocation, n_nodes: int) -> Ints:
    """Return the nodes that Slurm's topology/tree takes with TopologyParam=dragonfly.

    They are of the leaf with most free nodes if the job fits there, else of all leaves in turn.
    Source: `_eval_nodes_dfly` in the file of `slurm_tree`.

    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> free = Allocation(parse("leaves=3,hosts=3,up=1"), [0, 2, 3, 4, 5, 6])
    >>> slurm_dragonfly(free, 2).tolist(), slurm_dragonfly(free, 5).tolist()
    ([3, 4], [0, 2, 3, 4, 6])
    """
    nodes = np.sort(free.nodes)
    leaf = free.network.levels[0].unit[nodes]
    fullest = int(np.bincount(leaf).argmax())
    if np.count_nonzero(leaf == fullest) >= n_nodes:
        return nodes[leaf == fullest][:n_nodes]
    order = np.argsort(leaf, kind="stable")
    first = np.searchsorted(leaf[order], leaf[order])
    turn = np.arange(len(nodes)) - first
    return np.sort(nodes[order][np.argsort(turn, kind="stable")][:n_nodes])


def slurm_flat(free: Allocation, n_nodes: int) -> Ints:
    """Return the nodes that Slurm takes without a topology: the first of the shortest run of numbers with room for all.

    If no run has room, the longest one is taken whole, and so on.
    Source: `_eval_nodes_consec` in src/plugins/topology/common/eval_nodes.c of Slurm.

    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> free = Allocation(parse("leaves=3,hosts=3,up=1"), [0, 2, 3, 4, 6, 7])
    >>> slurm_flat(free, 2).tolist(), slurm_flat(free, 4).tolist()
    ([6, 7], [0, 2, 3, 4])
    """
    nodes = np.sort(free.nodes)
    runs, chosen = np.split(nodes, np.flatnonzero(np.diff(nodes) > 1) + 1), list[Ints]()
    while n_nodes:
        best = min(runs, key=lambda run: len(run) if len(run) >= n_nodes else len(nodes) - len(run) + len(nodes))
        chosen.append(best[:n_nodes])
        n_nodes -= len(chosen[-1])
        runs = [run for run in runs if run is not best]
    return np.sort(np.concatenate(chosen))


def in_words(network: Network, nodes: Ints) -> str:
    """Return a choice of nodes in words: how many of how many units.

    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> tree = parse("leaves=4,hosts=4,up=2")
    >>> in_words(tree, np.array([0, 1, 4, 5])), in_words(tree, np.arange(3)), in_words(tree, np.arange(6))
    ('2 nodes of each of 2 leaves', '3 nodes of one leaf', '2 to 4 nodes of each of 2 leaves')
    """
    words = ""
    for level in network.levels:
        unit = level.unit[nodes]
        count = np.bincount(unit)
        used = count[count > 0]
        if not words:
            number = str(used.min()) if used.min() == used.max() else f"{used.min()} to {used.max()}"
            words = f"{number} {plural('node', int(used.max()))} " + (
                f"of one {level.name}" if len(used) == 1 else f"of each of {counted(len(used), level.name)}")
        elif level.count > 1 and len(level.name) > 1:  # lines of HyperX have the names of its dimensions
            words += f", in {counted(len(used), level.name)}"
    return words or counted(len(nodes), "node")
