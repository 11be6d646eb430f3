"""The facts that a reader found about the job, and the combination of the results of several readers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.hosts import Hosts, check_even, check_name, first_hosts, hosts_per_node
from pencilmap.mapper.formats.hostlist import sorted_by_slurm
from pencilmap.mapper.graphs.parts import PartsError
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import AllocationError, GraphError, printable
from pencilmap.model.kinds import network_named
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import Torus
from pencilmap.model.network.twisted_torus import logical
from pencilmap.model.placement.allocation import Allocation

MOST_PLACES = 1 << 22  # of a box around nodes; the largest machines have 160,000 nodes
NO_NETWORK = ("the network: give the shape of a torus or the text of another network with `network`, e.g. 8x8x8 or "
              "fat-tree:leaves=32,hosts=16,up=8, or a file of it as an argument, such as topology.conf or the output of "
              "scontrol show topology")
NO_TORUS = "the shape of a torus, which a network of switches does not have; "  # the remedy follows


class Fact(NamedTuple):
    """A fact: its name, its value, and its source (variable or file)."""

    what: str
    value: str
    source: str


class Core(NamedTuple):
    """A core by its logical number, the numbers of its package and NUMA node, and its PUs as the system numbers them."""

    number: int
    package: int
    numa: int
    processors: tuple[int, ...] = ()


@dataclass(frozen=True)
class Found:
    """The result of a reader; everything is optional.

    Parameters
    ----------
    facts : tuple of Fact
    torus : str
        The shape as `parse_torus` reads it.
    hosts : tuple of str
        Names in the launcher's order.
    places : dict of str to tuple of int
        Coordinates by name.
    coordinates : tuple of tuple of int
        Nodes without names in the launcher's order.
    tasks_per_node : int
        Tasks on each node; the fewest, which all nodes can hold, if the nodes have different numbers.
    most_tasks : int
        On a node, if the nodes have different numbers.
    cores : tuple of Core
        Processors of a node.
    missing : str
        A further need of a placement, unless another source meets the need.
    network : Network
        Switches and hosts, in place of a torus.
    path : str
        The file of the network.
    parts : PartsError
        In place of a network, if no cable joins some hosts of the file.
    """

    facts: tuple[Fact, ...] = ()
    torus: str | None = None
    hosts: tuple[str, ...] | None = None
    places: dict[str, tuple[int, ...]] = field(default_factory=dict)
    coordinates: tuple[tuple[int, ...], ...] | None = None
    tasks_per_node: int | None = None
    most_tasks: int | None = None
    cores: tuple[Core, ...] | None = None
    missing: str | None = None
    network: Network | None = None
    path: str | None = None
    parts: PartsError | None = None

    def with_tasks(self, counts: Iterable[int]) -> "Found":
        """Return the result with the numbers of tasks on the nodes.

        >>> found = Found().with_tasks([2, 1, 2])
        >>> found.tasks_per_node, found.most_tasks
        (1, 2)
        """
        result = sorted({count for count in counts if count > 0})
        return replace(self, tasks_per_node=min(result, default=None), most_tasks=result[-1] if len(result) > 1 else None)


def uneven(fewest: int | None, most: int | None) -> str | None:
    """Return what to do about nodes with different numbers of tasks; None if all have the same.

    >>> uneven(1, 2)
    'the nodes of the job have 1 to 2 tasks, and placements need the same number on all; ask for it, in Slurm ...
    """
    if most is None:
        return None
    return (f"the nodes of the job have {fewest} to {most} tasks, and placements need the same number on all; ask for it, "
            f"in Slurm with --ntasks-per-node, or give `tasks_per_node` {fewest}, which all can hold")


@dataclass(frozen=True)
class Picture:
    """The facts of all readers about the job; None if unknown.

    Parameters
    ----------
    facts : tuple of Fact
    torus : Torus or TwistedTorus
        In whose coordinates the job names its nodes.
    nodes : int array
        Node numbers in the launcher's order.
    hosts : dict of str to int
        Node number of each host, in the launcher's order; a node may have several hosts.
    tasks_per_node : int
        Tasks of a node with all of its hosts.
    most_tasks : int
        On a node, if the nodes have different numbers.
    cores : tuple of Core
    missing : str
        The remaining needs of a placement.
    graph : Network
        The network if it is no torus.
    path : str
        The file of `graph`.
    text : str
        The network of `torus` as text, with the box of a logical torus.
    """

    facts: tuple[Fact, ...]
    torus: Network | None
    nodes: Ints | None
    hosts: dict[str, int]
    tasks_per_node: int | None
    cores: tuple[Core, ...] | None
    missing: str | None
    graph: Any = None
    path: str | None = None
    text: str | None = None
    most_tasks: int | None = None

    @property
    def network(self) -> Network | None:
        return self.torus or self.graph

    @property
    def names(self) -> dict[int, str]:
        """The first host of each node."""
        return first_hosts(self.hosts)

    @property
    def allocation(self) -> Allocation | None:
        if self.network is None or self.nodes is None:
            return None
        nodes = np.array(list(self.hosts.values()), dtype=np.int64)
        return Allocation(self.network, self.nodes, nodes if nodes.size > self.nodes.size else None)

    def in_order(self, order: str) -> "Picture":
        """Return the picture with the hosts in another order.

        Parameters
        ----------
        order : {"list", "name", "switch"}
            The launcher's order; the order of the names, in which Slurm sorts nodes; or the hosts of each switch in a row,
            and the switches of each larger unit in a row. Hosts of a switch stay in the launcher's order.

        Raises
        ------
        AllocationError
            If the hosts have no names, or for ``switch`` if the network has no switches.
        """
        if order == "list":
            return self
        if not self.hosts or self.network is None:
            raise AllocationError(f"the hosts cannot be sorted by {order}: their names or their network is not known; "
                                  f"{self.missing or 'give a file with their names'}")
        if order == "name":
            names = sorted_by_slurm(self.hosts)
        elif self.graph is None:
            raise AllocationError("the hosts cannot be sorted by switch: a torus has no switches; give a file of the "
                                  "switches, e.g. topology.conf or the output of ibnetdiscover")
        else:
            names = sorted(self.hosts, key=lambda name: _switches_of(self.graph, self.hosts[name]))
        hosts = {name: self.hosts[name] for name in names}
        return replace(self, hosts=hosts, nodes=np.array(list(dict.fromkeys(hosts.values())), dtype=np.int64))

    def table(self) -> str:
        """Return the nodes as the text of a plain table, a file for `nodes` and `hosts`."""
        if self.network is None or self.nodes is None:
            raise AllocationError("no nodes are known, and so there is no table of them")
        if self.graph is not None and self.torus is None:
            return "".join(f"{name}\n" for name in self.hosts)
        lines = [(*([name] if name else []), *coordinates) for name, coordinates in self.places()]
        return "".join(" ".join(map(str, line)) + "\n" for line in lines)

    def places(self) -> list[tuple[str | None, list[int]]]:
        """Return name and coordinates of each host in the launcher's order, or of each node if no host is known."""
        if self.network is None or self.nodes is None:
            return []
        names: list[str | None] = list(self.hosts) or [None] * self.nodes.size
        nodes = np.array(list(self.hosts.values()), dtype=np.int64) if self.hosts else self.nodes
        return list(zip(names, self.network.coordinates(nodes).tolist()))

    def arguments(self, path: str = "NODES") -> dict[str, str]:
        """Return arguments of `pencilmap.mapper.setting.setting` and its `job` (hosts), with the node table at `path`."""
        named = self.text if self.torus else self.path
        whole = self.graph is not None and self.nodes is not None and self.nodes.size == self.graph.n_nodes
        known = {"network": named, "tasks_per_node": named and self.tasks_per_node,
                 "nodes": None if self.nodes is None or whole else path,
                 "hosts": path if self.hosts and self.torus else None}
        return {name: str(value) for name, value in known.items() if value}


def combine(files: Iterable[Found], environment: Iterable[Found] = (), torus: str | None = None) -> Picture:
    """Combine the results of several readers. If two readers give the same fact, the first counts.

    Parameters
    ----------
    files : iterable of Found
        Results from files, which may describe the whole machine.
    environment : iterable of Found
        Results from the environment, which decide the hosts of the job.
    torus : str, optional
        The shape given by the user, which overrides any shape found.

    Raises
    ------
    AllocationError
        If the results contradict each other.
    """
    files, environment = list(files), list(environment)
    founds = [*files, *environment]

    def first(attribute: str, founds: list[Found] = founds) -> Any:
        return next((v for v in (getattr(f, attribute) for f in founds) if v), None)

    facts = tuple(fact._replace(value=printable(fact.value)) for f in founds for fact in f.facts)
    text, hosts, coordinates = torus or first("torus"), first("hosts", [*environment, *files]), first("coordinates")
    places = {name: place for f in reversed(founds) for name, place in f.places.items()}
    named: Any = network_named(text) if text else None
    shape = logical(named) if named and named.has_coordinates else None
    if torus is None and shape is not None and shape.n_nodes > MOST_PLACES:
        raise AllocationError(f"the box around the nodes, {text}, has more than {MOST_PLACES} places; correct the "
                              "coordinates, give the shape with `network`, or, if the lines are edges, name their file with "
                              "`network`")
    tasks, most = next(((f.tasks_per_node, f.most_tasks) for f in founds if f.tasks_per_node), (None, None))
    common = {"facts": facts, "cores": first("cores"), "most_tasks": most}
    graph = named if named and shape is None else first("network")
    jobs = [*environment, *(f for f in files if f.network is None and f.parts is None)]
    if shape is None and graph is None and (parts := first("parts")):
        try:
            graph = parts.holding(first("hosts", jobs) or ())
        except GraphError as error:
            return Picture(torus=None, nodes=None, hosts={}, tasks_per_node=tasks, missing=str(error), **common)
    if shape is None and graph is not None:
        path = first("path") if named is None else text
        nodes, held, missing = _in_graph(graph, path, first("hosts", jobs))
        return Picture(torus=None, nodes=nodes, hosts=held, tasks_per_node=tasks, missing=missing, graph=graph, path=path,
                       **common)
    if shape is None:
        missing = first("missing") or NO_NETWORK
        return Picture(torus=None, nodes=None, hosts={}, tasks_per_node=tasks, missing=missing, **common)
    if hosts or places:
        nodes, held, missing = _named(shape, hosts or tuple(places), places)
        if guess := guessed(shape, {name: node for name, node in held.items() if not _is_given(name, places)}):
            common["facts"] += (Fact("places of the hosts", guess, "their names"),)
    else:
        nodes, held, missing = _numbered(shape, coordinates)
    if (several := hosts_per_node(held)) > 1:
        common["facts"] += (Fact("hosts of a node", str(several), "hosts with the same coordinates"),)
    tasks, common["most_tasks"] = tasks and tasks * several, most and most * several
    return Picture(torus=shape, nodes=nodes, hosts=held, tasks_per_node=tasks, missing=missing, text=str(named), **common)


def _switches_of(graph: Any, node: int) -> list[int]:
    """Return the units around a host, from the largest to its switch."""
    if graph.levels:
        return [int(level.unit[node]) for level in reversed(graph.levels)]
    return [int(graph.target[graph.source == node].min())]


def _in_graph(graph: Any, path: str | PathLike[str],
              hosts: tuple[str, ...] | None) -> tuple[Ints | None, dict[str, int], str | None]:
    """Return nodes of the hosts of a job, or all nodes without a job."""
    known = Hosts(graph)
    if hosts is None:
        return np.arange(graph.n_nodes), {name: node for node, name in graph.host_names.items()}, None
    named: dict[str, int] = {}
    for host in hosts:
        node = known.node(host)
        if node is None:
            return None, {}, f"host {host[:40]} in {path}; name the file of the network that the job runs on"
        named[check_name(host)] = node
    return np.array(list(dict.fromkeys(named.values())), dtype=np.int64), named, None


def _numbered(torus: Torus,
              coordinates: tuple[tuple[int, ...], ...] | None) -> tuple[Ints | None, dict[Any, Any], str | None]:
    if coordinates is None:
        return None, {}, "which nodes of the torus are used: all are assumed"
    return _nodes(torus, coordinates), {}, None


def _named(torus: Torus, hosts: Sequence[str], places: Any) -> tuple[Any, ...]:
    """Return nodes of hosts by known places, or by the numbers in their names. Hosts with known places may share a node."""
    default, numbered, result, given = Hosts(torus), _by_number(places), list[Sequence[int]](), set[str]()
    for host in hosts:
        check_name(host)
        place = places.get(host) or numbered.get(_number(host)) or default.coordinates_in(host)
        if place is None or (host not in places and _number(host) not in numbered and torus.outside(place)):
            return None, {}, (f"the coordinates of host {host}: give a table NAME {' '.join(torus.axes)}, or a shape that "
                              f"fits the numbers in its name{from_one(torus, host)}")
        result.append(place)
        if host in places or _number(host) in numbered:
            given.add(host)
    nodes, names, named = _nodes(torus, result), dict[int, str](), dict[str, int]()
    for node, host in zip(nodes.tolist(), hosts):
        if node in names and not (host in given and names[node] in given):
            raise AllocationError(f"hosts {names[node]} and {host} have the same coordinates "
                                  f"{tuple(torus.coordinates(node).tolist())}; correct the table or the shape")
        names.setdefault(node, host)
        named[host] = node
    check_even(named, torus)
    return np.array(list(names), dtype=np.int64), named, None


def guessed(network: Network, hosts: Mapping[str, int]) -> str | None:
    """Return a note about hosts whose numbers were taken for coordinates; None without, or if they are node-3-0-7."""
    other = next((name for name, node in hosts.items() if Hosts(network).names([node]) != [name]), None)
    if other is None:
        return None
    axes = ", ".join(network.axes)
    return (f"the numbers in names of hosts are taken for {axes}, e.g. {other} for node {network.node_name(hosts[other])}; "
            f"lines NAME {' '.join(network.axes)} say otherwise")


def from_one(network: Network, name: str) -> str:
    """Return the advice for a name whose numbers are outside a network, if they may count from 1; "" else."""
    result = Hosts(network).coordinates_in(name) if not network.host_names else None
    if not result or min(result) < 1 or network.outside([c - 1 for c in result]):
        return ""
    return (f"; if the names count from 1, write lines NAME {' '.join(network.axes)}, e.g. {name[:40]} "
            f"{' '.join(str(c - 1) for c in result)}, or give a template such as node{{node+1}} as `hosts`")


def _is_given(name: str, places: Any) -> bool:
    """Return whether a table has the coordinates of a host, perhaps under another spelling of its number."""
    return name in places or _number(name) in _by_number(places)


def _number(name: str) -> Any:
    """Return the number in a name such as nid00012, so that other spellings match; None without a number."""
    match = re.fullmatch(r"(?:nid)?0*([0-9]{1,9})", name)
    return int(match[1]) if match else None


def _by_number(places: dict[str, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    return {_number(name): place for name, place in places.items() if _number(name) is not None}


def _nodes(torus: Torus, values: Sequence[Any] | list[Sequence[int]]) -> Ints:
    """Return numbers of the nodes at these coordinates."""
    for coordinates in values:
        if len(coordinates) != torus.n_dimensions:
            raise AllocationError(f"node {coordinates} has {len(coordinates)} coordinates, but torus {torus} has "
                                  f"{torus.n_dimensions} dimensions")
        problem = torus.outside(coordinates)
        if problem:
            raise AllocationError(problem)
    return torus.node(np.array(values, dtype=np.int64).reshape(len(values), torus.n_dimensions))


def shortened(hosts: Sequence[str], most: int = 4) -> str:
    """Join the first names of a list, with a mark if there are more."""
    return ", ".join(hosts[:most]) + (", ..." if len(hosts) > most else "")


def bounding_box(coordinates: Iterable[Sequence[int]]) -> str:
    """Return the smallest shape that contains the coordinates, as text; the coordinates do not show any wrap.

    >>> bounding_box([(0, 0), (3, 1)])
    '4x2'
    """
    return "x".join(str(max(values) + 1) for values in zip(*coordinates))


def box_facts(what: str, coordinates: Iterable[Sequence[int]], source: str) -> tuple[Fact, Fact]:
    """Return the box around the coordinates as a fact, and the fact that the wrap is unknown."""
    return (Fact(f"box around the {what}", bounding_box(coordinates), source),
            Fact("wrap", "not given; assumed a mesh; name the torus (4x4, 4wx4) if it wraps", source))


def mesh_box(coordinates: Iterable[Sequence[int]]) -> str:
    """Return the bounding box as a mesh, for sources that do not tell which dimensions wrap. A mesh claims no missing link.

    >>> mesh_box([(0, 0), (3, 1)])
    '4x2:mesh'
    """
    return f"{bounding_box(coordinates)}:mesh"
