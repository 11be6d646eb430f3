"""Places of ranks, the nodes that a job may use, and the order in which a launcher fills their slots without a placement.

A job may use all nodes of a network, or a subset from the scheduler. Messages between usable nodes may still pass through
the others, because routers belong to the network and not to the job. The same is assumed for failed nodes. If a router is
dead as well, you should describe the network as a graph.

An order names the slot t and the axes, the fastest first: ``xyzt`` fills x first and the second slot of a node last,
``txyz`` fills the slots of a node first. (Blue Gene's names XYZT and TXYZ mean the same.) ``tn`` and ``nt`` take the nodes
in the order of their list. A number limits a letter to so many steps, and the rest of the letter follows later: for example,
``tx2y2xyz`` goes through boxes of 2x2 nodes, ``t4nt`` puts four ranks on a node at a time. A launcher's order may hold ``+``
for all axes with the first axis fastest and ``-`` for all axes with the last axis fastest, because a launcher runs on
networks of any dimension.
"""

import re
from collections.abc import Callable, Mapping as Dictionary
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Bools, Ints
from pencilmap.model.base.errors import AllocationError, MappingError
from pencilmap.model.base.units import counted
from pencilmap.model.network.network import Network
from pencilmap.model.network.twisted_torus import logical, nodes_of_logical
from pencilmap.model.placement.grid import ProcessGrid, check_tasks, per_node


class Placement(Protocol):
    """The places of the ranks of a grid. A `Mapping` lists them, a `pencilmap.model.placement.product.Product` computes them
    from the patterns of the dimensions, so that no array has an entry for each rank.
    """

    @property
    def network(self) -> Network: ...
    @property
    def grid(self) -> ProcessGrid: ...
    @property
    def tasks_per_node(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def is_product(self) -> bool: ...
    def mapping(self, name: str | None = None) -> "Mapping": ...


@dataclass(frozen=True)
class Mapping:
    """A slot for every rank, no slot with two ranks; checked when constructed.

    Parameters
    ----------
    network : Network
    grid : ProcessGrid
    tasks_per_node : int
    node_of_rank : int array, shape (P,)
        Node number of each rank, first dimension fastest.
    slot_of_rank : int array, shape (P,)
        Slot inside the node, 0 <= slot < tasks_per_node.
    name : str
        The placement that made the mapping, e.g. ``box:2x2x2``.
    notes : tuple of str
        Notes on the making of the mapping, for readers of its prediction.

    Raises
    ------
    MappingError
        If ranks and slots are not one to one.
    """

    network: Network
    grid: ProcessGrid
    tasks_per_node: int
    node_of_rank: Ints = field(repr=False)
    slot_of_rank: Ints = field(repr=False)
    name: str = "unnamed"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for attribute in ("node_of_rank", "slot_of_rank"):
            array = np.array(getattr(self, attribute), dtype=np.int64)
            array.setflags(write=False)
            object.__setattr__(self, attribute, array)
        check_bijection(self)

    @property
    def is_product(self) -> bool:
        """Whether the placement is given by patterns; see `pencilmap.model.placement.product.product_of`."""
        return False

    def mapping(self, name: str | None = None) -> "Mapping":
        """Return the mapping, perhaps with another name."""
        return self if name is None else replace(self, name=name)

    @property
    def n_tasks(self) -> int:
        return self.grid.n_tasks

    @property
    def fills_network(self) -> bool:
        """Whether no slot stays idle."""
        return self.n_tasks == self.network.n_nodes * self.tasks_per_node

    @property
    def ends(self) -> Ints:
        """End of the network of each rank, as routing rules take it: int array, shape (P,)."""
        return self.network.ends(self.node_of_rank, self.slot_of_rank)

    def is_at(self, places: "Mapping") -> bool:
        """Return whether every rank sits on the node and slot of another mapping."""
        return np.array_equal(self.node_of_rank, places.node_of_rank) and np.array_equal(self.slot_of_rank,
                                                                                         places.slot_of_rank)

    def coordinates(self) -> Ints:
        """Return the coordinates of each rank: int array, shape (P, d)."""
        return self.network.coordinates(self.node_of_rank)


def check_bijection(mapping: Mapping) -> None:
    """Raise MappingError unless every rank has one slot of the network and no slot has two ranks."""
    node, slot, T = mapping.node_of_rank, mapping.slot_of_rank, mapping.tasks_per_node
    for what, array in (("nodes", node), ("slots", slot)):
        if array.shape != (mapping.n_tasks,):
            raise MappingError(f"grid {mapping.grid} needs {what} for {mapping.n_tasks} ranks, got {array.size}")
    outside = np.flatnonzero((node < 0) | (node >= mapping.network.n_nodes))
    if outside.size:
        raise MappingError(f"rank {outside[0]} sits on node {node[outside[0]]}, but {mapping.network.title} has nodes "
                           f"0..{mapping.network.n_nodes - 1}")
    outside = np.flatnonzero((slot < 0) | (slot >= T))
    if outside.size:
        raise MappingError(f"rank {outside[0]} has slot {slot[outside[0]]}; with {per_node(T)} slots are 0..{T - 1}")
    place = node * T + slot
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(np.diff(place[order]) == 0)
    if twice.size:
        first, second = order[twice[0]], order[twice[0] + 1]
        where = mapping.network.node_name(node[first])
        raise MappingError(f"ranks {first} and {second} both sit on node {where} slot {slot[first]}; "
                           "every slot takes one rank")


def slots_in_order(node: Ints) -> Ints:
    """Give the ranks of a node its slots in the order of the list.

    >>> slots_in_order(np.array([4, 2, 4, 4])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(node, kind="stable")
    first = np.searchsorted(node[order], node[order])
    slot = np.empty_like(node)
    slot[order] = np.arange(node.size) - first
    return slot


MOST_SLOTS = 1 << 24  # of a question; the largest machines have 10 million processors
MOST_TASKS_PER_NODE = 1 << 16
_DIGITS = re.compile(r"([a-z+-])([0-9]{0,6})")
_BOX = re.compile(r"t?((?:[a-su-z][0-9]+)+)[a-z+-]")


@dataclass(frozen=True)
class LaunchOrder:
    """A launcher's order, and its certainty.

    Parameters
    ----------
    orders : tuple of str
        Usually one. Several if the sources leave the order open, the likeliest first; none if the notation cannot
        express it.
    title : str
        Name in sentences.
    source : str
        The document or the run that states the order.
    certain : bool
        Whether the source states the order for this case.
    reason : str
        Why the order applies: a variable, a launcher, a machine.
    """

    orders: tuple[str, ...]
    title: str
    source: str
    certain: bool = True
    reason: str = ""

    def on(self, axes: str, fits: Callable[[str], object]) -> "LaunchOrder":
        """Return the order for a network, with its letters in place of ``+`` and ``-``, and without orders that do not fit.

        >>> LaunchOrder(("t-", "tz"), "a name", "a source").on("xy", lambda order: "z" not in order).orders
        ('tyx',)
        """
        written = (order.replace("+", axes).replace("-", axes[::-1]) for order in self.orders)
        return replace(self, orders=tuple(order for order in written if fits(order)))

    def of_nodes(self, listed: bool) -> "LaunchOrder":
        """The same for nodes whose order is given, or not. An order of the axes beside one of the list stands for a list
        that is not given; without the list it is open which of the two applies.

        >>> both = LaunchOrder(("tn", "tyx"), "a name", "a source")
        >>> both.of_nodes(True).orders, both.of_nodes(False).certain
        (('tn',), False)
        """
        by_list = tuple(order for order in self.orders if "n" in order)
        if not 0 < len(by_list) < len(self.orders):
            return self
        return replace(self, orders=by_list) if listed else replace(self, certain=False)

    def name(self, order: str = "") -> str:
        """Return its name in a table or sentence; of several possible orders with the words that tell this one apart.

        >>> LaunchOrder(("txy", "xyt"), "Fujitsu's order", "a source").name("xyt")
        "Fujitsu's order, round nodes"
        """
        if len(self.orders) < 2 or not order:
            return self.title
        short, same = _short(order), [other for other in self.orders if _short(other) == _short(order)]
        first = next((letter for letter in order if letter.isalpha() and letter != "t"), "")
        nodes = ("nodes as listed" if first == "n" else f"{first} fastest") if len(same) > 1 and first else ""
        parts = [short] * (len(same) < len(self.orders)) + [nodes] * bool(nodes)
        return ", ".join([self.title, *parts])

    def phrase(self, *orders: str, tasks_per_node: int = 0, listed: bool = True) -> str:
        """Return its name and some of its orders, in a sentence. For the other arguments see `spoken`.

        >>> LaunchOrder(("tn",), "Slurm's block order", "srun(1)").phrase("tn")
        "Slurm's block order (ranks fill each node first)"
        """
        assumed = not self.certain or ("n" in "".join(orders) and not listed)
        words = " or ".join(spoken(order, tasks_per_node, listed) for order in orders)
        return f"{self.title} ({words}{'; assumed' if assumed else ''})"


def by_name(order: str) -> tuple[str, str]:
    """An order of listed nodes, and the same for nodes that are sorted by names with all coordinates.

    >>> by_name("t4nt")
    ('t4nt', 't4-t')
    """
    return order, order.replace("n", "-")


def digits_of(order: str, extents: Dictionary[str, int]) -> list[tuple[str, int, int]] | None:
    """Return the letters of an order as digits: letter, value of one step, number of steps.

    None if the text is not an order of these letters.

    >>> digits_of("tx2x", {"x": 4, "t": 2})
    [('t', 1, 2), ('x', 1, 2), ('x', 2, 2)]
    >>> digits_of("xt", {"x": 2, "y": 2, "t": 1}) is None
    True
    """
    result = [(m[1], m[2]) for m in _DIGITS.finditer(order)]
    if "".join(letter + number for letter, number in result) != order or {letter for letter, _ in result} != set(extents):
        return None
    step, digits, done = dict.fromkeys(extents, 1), list[tuple[str, int, int]](), set[str]()
    for letter, number in result:
        left = extents[letter] // step[letter]
        count = int(number) if number else left
        if letter in done or count < 1 or left % count:
            return None
        if not number:
            done.add(letter)
        digits.append((letter, step[letter], count))
        step[letter] *= count
    return digits if step == dict(extents) else None


def spoken(order: str, tasks_per_node: int = 0, listed: bool = True) -> str:
    """Return an order in words.

    Parameters
    ----------
    order : str
    tasks_per_node : int
        0 stands for any number.
    listed : bool
        Whether the order of the nodes was given.

    Examples
    --------
    >>> spoken("tedcba"), spoken("nt", 1, False)
    ('ranks fill each node first, e fastest', 'nodes in the order of their numbers')
    """
    parts = [] if tasks_per_node == 1 else [_slots(order)]
    box = _BOX.match(order)
    if box and "n" not in order:
        parts.append(f"boxes of {'x'.join(re.findall('[0-9]+', box[1]))} nodes")
    letter = next((letter for letter in order if letter.isalpha() and letter != "t"), "")
    if "+" in order or "-" in order:
        parts.append(f"the {'first' if '+' in order else 'last'} axis fastest")
    elif letter != "n":
        parts.append(f"{letter} fastest")
    elif not listed:
        parts.append("nodes in the order of their numbers")
    elif tasks_per_node == 1:
        parts.append("nodes in the order of their list")
    return ", ".join(parts)


def _short(order: str) -> str:
    few = re.match(r"t([0-9]+)", order)
    return f"{few[1]} ranks at a time" if few else "nodes filled" if order.startswith("t") else "round nodes"


def _slots(order: str) -> str:
    few = re.match(r"t([0-9]+)", order)
    if few:
        return f"{few[1]} ranks on a node at a time"
    return "ranks fill each node first" if order.startswith("t") else "ranks go round the nodes"


USUAL = LaunchOrder(("tn",), "block order", "most launchers fill a node before the next one", certain=False,
                    reason="no machine, launcher or job setting tells another one")


def check_size(network: Network, n_nodes: int, tasks_per_node: int = 1) -> None:
    """Raise AllocationError for more nodes, tasks on a node, or tasks in all, than a question may have.

    >>> from pencilmap.model.network.torus import Torus
    >>> check_size(Torus((4, 4)), 16, 64)
    """
    if tasks_per_node > MOST_TASKS_PER_NODE:
        raise AllocationError(f"{tasks_per_node} tasks per node are too many; give at most {MOST_TASKS_PER_NODE:,}")
    if max(network.n_nodes, n_nodes * tasks_per_node) > MOST_SLOTS:
        raise AllocationError(f"{network.title} has {network.n_nodes:,} nodes, with {per_node(tasks_per_node)}; at most "
                              f"{MOST_SLOTS:,} nodes and as many tasks are possible, name fewer")


@dataclass(frozen=True, eq=False)
class Allocation:
    """Usable nodes in the launcher's order, each once; checked when constructed.

    Parameters
    ----------
    network : Network
    order : int array, shape (n,), optional
        Node numbers in the order in which the launcher fills them. All nodes in the order of their numbers by default.
    hosts : int array, optional
        The node of each host in the launcher's order, if several hosts share a node; each node has as many. The slots of a
        node are those of its hosts, one host after the other.
    listed : bool, optional
        Whether the order was given rather than assumed; by default whether `order` is.

    Raises
    ------
    AllocationError
        If a node is outside the network or listed twice, if there is none, or if the network has too many.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> some = Allocation(Torus((2, 2)), [3, 0])
    >>> some.n_nodes, some.is_complete, some.nodes.tolist()
    (2, False, [3, 0])
    """

    network: Network
    order: Ints | None = field(default=None, repr=False)
    hosts: Ints | None = field(default=None, repr=False)
    listed: bool = None  # type: ignore[assignment]  # filled in

    def __post_init__(self) -> None:
        if self.listed is None:
            object.__setattr__(self, "listed", self.order is not None)
        check_size(self.network, 0)
        if self.order is None:
            return
        order = np.array(self.order, dtype=np.int64).ravel()
        order.setflags(write=False)
        object.__setattr__(self, "order", order)
        _check_nodes(self.network, order)

    @property
    def n_nodes(self) -> int:
        return self.network.n_nodes if self.order is None else self.order.size

    @property
    def is_complete(self) -> bool:
        """Whether every node of the network may be used."""
        return self.order is None or self.order.size == self.network.n_nodes

    @property
    def nodes(self) -> Ints:
        """Node numbers in the launcher's order: int array, shape (n_nodes,)."""
        return np.arange(self.network.n_nodes) if self.order is None else self.order

    def is_usable(self) -> Bools:
        """Whether each node of the network may be used: bool array, shape (N,)."""
        usable = np.zeros(self.network.n_nodes, dtype=bool)
        usable[self.nodes] = True
        return usable

    def without(self, failed: ArrayLike) -> "Allocation":
        """Return the allocation without some nodes, in the same order.

        Raises
        ------
        AllocationError
            If a node of `failed` is not allocated, because such a node is usually a typing error.

        Examples
        --------
        >>> from pencilmap.model.network.torus import Torus
        >>> Allocation(Torus((2, 2))).without([1]).nodes.tolist()
        [0, 2, 3]
        """
        failed = np.asarray(failed, dtype=np.int64).ravel()
        foreign = np.setdiff1d(failed, self.nodes)
        if foreign.size:
            raise AllocationError(f"failed node {self._name(foreign[0])} is not among the {self.n_nodes} nodes of the "
                                  "allocation; name only nodes of the allocation")
        if not failed.size:
            return self
        hosts = None if self.hosts is None else self.hosts[~np.isin(self.hosts, failed)]
        return Allocation(self.network, self.nodes[~np.isin(self.nodes, failed)], hosts, self.listed)

    @property
    def hosts_per_node(self) -> int:
        return 1 if self.hosts is None else self.hosts.size // self.n_nodes

    def _name(self, node: int) -> str:
        return _name(self.network, node)

    def __str__(self) -> str:
        return f"{self.n_nodes} of {counted(self.network.n_nodes, 'node')}"


def whole_network(network: Network) -> Allocation:
    """Return all nodes; those of a folded torus are in the order of its logical coordinates, the first fastest."""
    if logical(network) is not network:
        return Allocation(network, nodes_of_logical(network, np.arange(network.n_nodes)), listed=False)
    return Allocation(network)


def _name(network: Network, node: int) -> str:
    return network.node_name(node) if 0 <= node < network.n_nodes else str(node)


def _check_nodes(network: Network, order: Ints) -> None:
    if order.size == 0:
        raise AllocationError(f"no node of {network.title} is usable; at least one is needed")
    outside = order[(order < 0) | (order >= network.n_nodes)]
    if outside.size:
        raise AllocationError(f"node {outside[0]} is outside {network.title}, which has nodes 0..{network.n_nodes - 1}")
    unique, count = np.unique(order, return_counts=True)
    if unique.size < order.size:
        raise AllocationError(f"node {_name(network, unique[count > 1][0])} is listed twice; list every usable node once")


def parse_nodes(text: str, network: Network) -> Ints:
    """Return the node numbers of coordinates written ``1-2-3,0-0-4``, or of the names of a graph's hosts.

    Raises
    ------
    AllocationError
        If the text is not understood, or a node is not in the network.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> parse_nodes("1-0,0-1", Torus((2, 2))).tolist()
    [1, 2]
    """
    if (folded := logical(network)) is not network:
        return nodes_of_logical(network, parse_nodes(text, folded))
    numbers, names = [], network.host_names or {}
    number_of = {name: node for node, name in names.items()}
    for part in map(str.strip, text.split(",")):
        if part in number_of and not part.isdecimal():
            numbers.append(number_of[part])
            continue
        if not re.fullmatch(r"\d{1,12}(-\d{1,12})*", part):
            written = f"the name or number of each node, e.g. {names[0]} or 0," if names else (
                f"coordinates joined by -, e.g. {'-'.join(['0'] * network.n_dimensions)},")
            raise AllocationError(f"node {part[:40]!r} is not understood; write {written} and commas between nodes")
        coordinates = [int(c) for c in part.split("-")]
        if len(coordinates) != network.n_dimensions:
            number, dimensions = len(coordinates), network.n_dimensions
            written = (f"; node number {part} is written {'-'.join(map(str, network.coordinates(int(part)).tolist()))}"
                       if number == 1 and int(part) < network.n_nodes else "")
            raise AllocationError(f"node {part} has {counted(number, 'coordinate')}, but {network.title} has "
                                  f"{counted(dimensions, 'dimension')}{written}")
        numbers.append(int(network.node(coordinates)))
    return np.array(numbers, dtype=np.int64)


@dataclass(frozen=True)
class Site:
    """The possible places of the tasks of a job: the network, the slots of a node, the usable nodes.

    Parameters
    ----------
    network : Network
    tasks_per_node : int
    allocation : Allocation, optional
        The whole network by default.
    idle : bool
        Whether a grid may leave slots empty.
    launch : LaunchOrder
        The order in which the launcher fills the slots without a placement.

    Examples
    --------
    >>> from pencilmap.model.network.torus import Torus
    >>> Site(Torus((4, 4)), 2).n_slots
    32
    """

    network: Network
    tasks_per_node: int = 1
    allocation: Allocation = None  # type: ignore[assignment]  # filled in
    idle: bool = False
    launch: LaunchOrder = USUAL

    def __post_init__(self) -> None:
        if self.allocation is None:
            object.__setattr__(self, "allocation", whole_network(self.network))
        if self.tasks_per_node < 1:
            raise AllocationError(f"{self.tasks_per_node} tasks per node: at least 1 is needed")
        check_size(self.network, self.allocation.n_nodes, self.tasks_per_node)
        if self.allocation.network != self.network:
            raise AllocationError(f"the allocation is of {self.allocation.network.title}, not of {self.network}")

    def moved(self, network: Network, node: Ints) -> "Site":
        """Return the same nodes on another network, in the order of their numbers there.

        Parameters
        ----------
        network : Network
            As many nodes.
        node : int array, shape (N,)
            The node there of each node here.
        """
        nodes, hosts = self.allocation.nodes, self.allocation.hosts
        return replace(self, network=network, allocation=Allocation(
            network, None if self.allocation.is_complete else np.sort(node[nodes]),
            None if hosts is None else np.sort(node[hosts]), self.allocation.listed))

    @cached_property
    def n_slots(self) -> int:
        """Slots of the usable nodes."""
        return self.allocation.n_nodes * self.tasks_per_node

    def digits(self, order: str) -> list[tuple[str, int, int]] | None:
        """Return the digits of a launch order here, or None if the text is not an order.

        See `pencilmap.model.placement.allocation.digits_of`.
        """
        tasks, hosts = self.tasks_per_node, self.hosts_per_node
        by_list = {"n": self.allocation.n_nodes * hosts, "t": tasks // hosts}
        by_axes = [dict(zip(network.axes, network.shape), t=tasks) for network in (self.network, logical(self.network))]
        return next((result for extents in (*by_axes, by_list) if (result := digits_of(order, extents)) is not None), None)

    @property
    def hosts_per_node(self) -> int:
        """Hosts that share the tasks of a node: those of the allocation, or 1 if the tasks cannot be shared evenly."""
        hosts = self.allocation.hosts_per_node
        return 1 if self.tasks_per_node % hosts else hosts

    def launch_name(self, order: str = "") -> str:
        """Return the name of a launch order, by default of the likeliest one."""
        return self.launch.name(order or next(iter(self.launch.orders), ""))

    def launch_phrase(self, *orders: str) -> str:
        """Return the launch order in words, as part of a sentence."""
        return self.launch.phrase(*orders, tasks_per_node=self.tasks_per_node, listed=self.allocation.listed)

    def check_grid(self, grid: ProcessGrid) -> None:
        """Raise GridError unless the grid fills the slots, or fits into the slots if some may stay idle."""
        check_tasks(grid, self.n_slots, self, allow_idle=self.idle, tasks_per_node=self.tasks_per_node)

    def check_mapping(self, mapping: Mapping) -> None:
        """Raise AllocationError if a rank sits on a node that may not be used."""
        if self.allocation.is_complete:
            return
        foreign = np.flatnonzero(~self.allocation.is_usable()[mapping.node_of_rank])
        if foreign.size:
            node = _name(self.network, mapping.node_of_rank[foreign[0]])
            raise AllocationError(f"{mapping.name.removeprefix('file:')} puts {foreign.size} of "
                                  f"{mapping.node_of_rank.size} ranks on nodes that are not among the usable "
                                  f"{self.allocation}: rank {foreign[0]} is the first, on node {node}; name the nodes of "
                                  "the file's job with `nodes`, or write a new file")

    def __str__(self) -> str:
        nodes = "" if self.allocation.is_complete else f", {self.allocation},"
        return f"{self.network.title}{nodes} with {per_node(self.tasks_per_node)}"
