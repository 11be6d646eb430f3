"""Shapes of a number of nodes: the partitions that a machine hands out, or every torus; choices of hosts on switches."""

from collections.abc import Sequence
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints, factorisations
from pencilmap.model.base.errors import PartitionError
from pencilmap.model.base.units import counted, plural
from pencilmap.model.machines.machine import Machine, machine_partitions
from pencilmap.model.network.graph import nested
from pencilmap.model.network.partition import Partitions, subbox
from pencilmap.model.network.torus import MAX_DIMENSIONS, Torus, by_x
from pencilmap.model.network.twisted_torus import logical
from pencilmap.model.placement.allocation import Allocation

MAX_SHAPES = 20_000
MOST_BOXES = 2000  # extents of boxes that are tried
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


def nested_boxes(torus: Any) -> list[Ints]:
    """Return the box of each node, for boxes of 2, 4, 8, ... nodes in each dimension that are smaller than the torus.

    >>> [box.tolist() for box in nested_boxes(Torus((2, 4)))]
    [[0, 0, 0, 0, 1, 1, 1, 1]]
    """
    at, found, size = torus.coordinates(np.arange(torus.n_nodes)), list[Ints](), 2
    while size < max(torus.shape):
        found.append(np.unique(at // size, axis=0, return_inverse=True)[1].ravel())
        size *= 2
    return found


def box_choices(free: Allocation, n_nodes: int) -> list[Ints]:
    """Return choices of some of the free nodes of a torus: of each small box in which there are so many, the first ones.

    A box has up to twice the nodes of the smallest one. Of boxes with the same extents the fullest counts, and none around
    another one.
    Cost: sums along all lines for each extents, of which `MOST_BOXES` are tried.

    Parameters
    ----------
    free : Allocation
        Of a network with coordinates.
    n_nodes : int

    Returns
    -------
    list of int array, shape (n_nodes,)

    Examples
    --------
    >>> torus = Torus((4, 4))
    >>> [nodes.tolist() for nodes in box_choices(Allocation(torus, [0, 4, 5, 8, 9, 12]), 4)]
    [[4, 5, 8, 9], [0, 4, 8, 12]]
    """
    torus: Any = free.network
    nodes, is_free, found = np.sort(free.nodes), np.zeros(torus.n_nodes, dtype=np.int64), dict[tuple[int, ...], Ints]()
    is_free[nodes] = 1
    at, boxes = torus.coordinates(nodes), [box for box in product(*(range(1, n + 1) for n in torus.shape))
                                           if prod(box) >= n_nodes]
    boxes.sort(key=lambda box: (prod(box), sum(prod(box) / n for n in box)))
    for box in boxes[:MOST_BOXES]:
        smallest = next(iter(found), box)
        if len(found) == MOST_CHOICES or prod(box) > 2 * prod(smallest):
            break
        if any(all(a <= b for a, b in zip(small, box)) for small in found):
            continue
        inside = is_free.reshape(torus.shape[::-1])
        for axis, (n, is_ring) in enumerate(zip(box[::-1], torus.wrap[::-1])):  # free nodes of the box that begins at each
            inside = _runs(inside, axis, n, is_ring)
        first = int(inside.argmax())
        if inside.flat[first] >= n_nodes:
            found[box] = nodes[((at - torus.coordinates(np.array(first))) % torus.shape < box).all(axis=1)][:n_nodes]
    return list(found.values())


def _runs(values: Ints, axis: int, n: int, is_ring: bool) -> Ints:
    """Return the sums of the n values along an axis that begin at each; 0 for those that leave a line."""
    values = np.moveaxis(values, axis, 0)
    more = values[:n - 1] if is_ring else np.zeros_like(values[:n - 1])
    sums = np.cumsum(np.concatenate([np.zeros_like(values[:1]), values, more]), axis=0)
    found = sums[n:] - sums[:-n]
    if not is_ring:
        found[len(values) - n + 1:] = 0
    return np.moveaxis(found, 0, axis)


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


def slurm_tree(free: Allocation, n_nodes: int, number: Ints | None = None) -> Ints:
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
    number : int array, shape (N,), optional
        Slurm's number of each node; by default that in the network.

    Examples
    --------
    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> slurm_tree(Allocation(parse("leaves=3,hosts=3,up=1"), [0, 2, 3, 4, 5, 6]), 5).tolist()
    [0, 2, 3, 4, 5]
    """
    nodes = _by_number(free, number)
    inner = nested(free.network.levels, free.network.n_nodes)
    levels = [level.unit[nodes] for level in inner] + [np.zeros_like(nodes)]
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


def slurm_dragonfly(free: Allocation, n_nodes: int, number: Ints | None = None) -> Ints:
    """Return the nodes that Slurm's topology/tree takes with TopologyParam=dragonfly.

    They are of the leaf with most free nodes if the job fits there, else of all leaves in turn.
    Source: `_eval_nodes_dfly` in the file of `slurm_tree`.

    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> free = Allocation(parse("leaves=3,hosts=3,up=1"), [0, 2, 3, 4, 5, 6])
    >>> slurm_dragonfly(free, 2).tolist(), slurm_dragonfly(free, 5).tolist()
    ([3, 4], [0, 2, 3, 4, 6])
    """
    nodes = _by_number(free, number)
    leaf = free.network.levels[0].unit[nodes]
    fullest = int(np.bincount(leaf).argmax())
    if np.count_nonzero(leaf == fullest) >= n_nodes:
        return nodes[leaf == fullest][:n_nodes]
    order = np.argsort(leaf, kind="stable")
    first = np.searchsorted(leaf[order], leaf[order])
    turn = np.arange(len(nodes)) - first
    return np.sort(nodes[order][np.argsort(turn, kind="stable")][:n_nodes])


def slurm_block(free: Allocation, n_nodes: int, number: Ints | None = None, segment: int = 0, spread: bool = False) -> Ints:
    """Return the nodes that Slurm's topology/block takes, if BlockSizes has the hosts of a leaf alone; none if a job waits.

    The job takes as few leaves as full ones would be, or for each segment one. The next leaf is the one that can take the
    rest and has the fewest free nodes, else the fullest; the last among equals. Each gives its first nodes.
    Source: `eval_nodes_block` in src/plugins/topology/block/eval_nodes_block.c of Slurm, of November 2026.

    Parameters
    ----------
    free : Allocation
        Of a network with levels.
    n_nodes : int
    number : int array, shape (N,), optional
        See `slurm_tree`.
    segment : int
        Nodes of a segment (``--segment``), no more than a leaf has; 0 for none.
    spread : bool
        Whether each segment has a leaf of its own (``--spread-segments``).

    Examples
    --------
    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> free = Allocation(parse("leaves=3,hosts=3,up=1"), [0, 2, 3, 4, 5, 6])
    >>> slurm_block(free, 4).tolist(), slurm_block(free, 3, segment=1, spread=True).tolist()
    ([3, 4, 5, 6], [0, 3, 6])
    """
    nodes, unit = _by_number(free, number), free.network.levels[0].unit[:free.network.n_nodes]
    left = [nodes[unit[nodes] == leaf] for leaf in np.unique(unit[nodes])[::-1]]
    chosen, size = list[Ints](), segment or n_nodes
    for _ in range(n_nodes // size):
        rest, leaves = size, -(-size // int(np.bincount(unit).max()))
        for _ in range(leaves):
            at = min(range(len(left)), key=lambda i: len(left[i]) if len(left[i]) >= rest else 2 * len(nodes) - len(left[i]),
                     default=-1)
            if at < 0:
                return np.zeros(0, dtype=np.int64)
            chosen.append(left[at][:rest])
            rest -= len(chosen[-1])
            left[at] = left[at][:0] if spread else left[at][len(chosen[-1]):]
        if rest:
            return np.zeros(0, dtype=np.int64)
    return np.sort(np.concatenate(chosen))


def slurm_flat(free: Allocation, n_nodes: int, number: Ints | None = None) -> Ints:
    """Return the nodes that Slurm takes without a topology: the first of the shortest run of numbers with room for all.

    If no run has room, the longest one is taken whole, and so on.
    Source: `_eval_nodes_consec` in src/plugins/topology/common/eval_nodes.c of Slurm.

    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> free = Allocation(parse("leaves=3,hosts=3,up=1"), [0, 2, 3, 4, 6, 7])
    >>> slurm_flat(free, 2).tolist(), slurm_flat(free, 4).tolist()
    ([6, 7], [0, 2, 3, 4])
    """
    nodes = _by_number(free, number)
    gaps = np.diff(nodes if number is None else number[nodes]) > 1
    runs, chosen = np.split(nodes, np.flatnonzero(gaps) + 1), list[Ints]()
    while n_nodes:
        best = min(runs, key=lambda run: len(run) if len(run) >= n_nodes else len(nodes) - len(run) + len(nodes))
        chosen.append(best[:n_nodes])
        n_nodes -= len(chosen[-1])
        runs = [run for run in runs if run is not best]
    return np.sort(np.concatenate(chosen))


def _by_number(free: Allocation, number: Ints | None) -> Ints:
    """Return the free nodes in the order of their numbers, by default those in the network."""
    return np.sort(free.nodes) if number is None else free.nodes[np.argsort(number[free.nodes])]


def in_words(network: Any, nodes: Ints) -> str:
    """Return a choice of nodes in words: how many of how many units.

    >>> from pencilmap.model.kinds.fat_tree import parse
    >>> tree = parse("leaves=4,hosts=4,up=2")
    >>> in_words(tree, np.array([0, 1, 4, 5])), in_words(tree, np.arange(3)), in_words(tree, np.arange(6))
    ('2 nodes of each of 2 leaves', '3 nodes of one leaf', '2 to 4 nodes of each of 2 leaves')
    >>> in_words(Torus((4, 4)), np.array([0, 3, 4]))
    '3 nodes of box 2x2 at 3-0'
    """
    if network.has_products:
        first, spans = zip(*(_span(*line) for line in zip(network.coordinates(nodes).T, network.shape, network.wrap)))
        return f"{counted(len(nodes), 'node')} of box {by_x(spans)} at {'-'.join(map(str, first))}"
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


def _span(at: Ints, n: int, is_ring: bool) -> tuple[int, int]:
    """Return the beginning and length of the shortest run of a line or ring of n nodes in which some positions are."""
    used = np.unique(at)
    gaps = np.diff(used, prepend=used[-1] - n)
    first = int(gaps.argmax()) if is_ring else 0
    return int(used[first]), int(n + 1 - gaps[first]) if is_ring else int(used[-1] - used[0] + 1)
