"""Networks of named nodes and switches: any graph, hosts on switches, and tori whose nodes are in any order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pencilmap.model.base.arrays import Bools, Ints
from pencilmap.model.base.errors import GraphError, UnitError
from pencilmap.model.base.reading import MOST_UNITS
from pencilmap.model.base.units import parse
from pencilmap.model.network.network import Arcs, GraphLink

# Any graph as a network: named nodes and switches, and links with bandwidths.
#
# Graphs describe networks without torus coordinates: the cables of a cluster, the inside of a node. All links of a file
# form one class, in which the strength of a link is its bandwidth relative to a cable of the fastest kind. Kinds of
# networks with named classes of links (`pencilmap.model.network.graph`) are graphs as well, so everything that works on
# graphs works on them.

KINDS = ("host", "switch")
MAX_VERTICES = 1 << 16  # of each kind
FAR = 64
MOST_CABLES = 1 << 20  # most cables of one edge
_Strength: TypeAlias = tuple[int, Fraction | None]  # cables, and bandwidth of the fastest


@dataclass(frozen=True, eq=False)
class Level:
    """Units into which a network divides: its leaves, its pods, its groups."""

    name: str  #: "leaf", "pod", "group"
    unit: Ints = field(repr=False)  #: int array, shape (V,); unit of each vertex, hosts first; -1 outside of all units
    names: tuple[str, ...] = field(repr=False)  #: name of each unit
    implied: int = 0  #: units of which each is an implied switch, see `GraphNetwork`
    #: int array, shape (units,); cables upwards of each unit of a tree that really has some; None on other networks
    cables: Ints | None = field(default=None, repr=False)
    switches: int = 1  #: switches of a unit of a tree, which share these cables

    @property
    def count(self) -> int:
        """Number of units that the network really has."""
        return len(self.names) - self.implied


def nested(levels: Sequence[Level], n_nodes: int) -> Sequence[Level]:
    """Return the levels if the units of each consist of whole units of the level below, else the lowest level alone.

    >>> pairs, others, whole = (Level("x", np.array(unit), ()) for unit in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]))
    >>> len(nested([pairs, whole], 4)), len(nested([pairs, others, whole], 4))
    (2, 1)
    """
    units = [level.unit[:n_nodes] for level in levels]
    are_whole = all(np.unique(pair, axis=1).shape[1] == len(np.unique(pair[0])) for pair in map(np.stack, pairwise(units)))
    return levels if are_whole else levels[:1]


@dataclass(frozen=True, eq=False)
class GraphNetwork:
    """Hosts and switches joined by links.

    Raises
    ------
    GraphError
        If a name occurs twice or a host cannot reach another.

    Examples
    --------
    >>> import networkx as nx
    >>> ring = from_networkx(nx.cycle_graph(4), "ring")
    >>> ring.n_nodes, ring.link_shape, ring.node_name(3)
    (4, (1, 8), '3')
    """

    name: str
    vertices: tuple[str, ...]  #: hosts first, which can hold tasks, then switches
    n_nodes: int  #: number of vertices that are hosts
    #: source, target: int arrays, shape (L,); ends of each link; a link is one direction
    source: Ints = field(repr=False)
    target: Ints = field(repr=False)
    cables: tuple[Fraction, ...] = field(repr=False)  #: strength of each link in cables of the fastest kind of its class
    #: bytes per second of a cable of the fastest kind of each class; None if the links have no bandwidth
    bandwidth: tuple[float, ...] | None = None
    link_classes: tuple[str, ...] = ("link",)
    class_of_link: Ints | None = field(default=None, repr=False)  #: int array, shape (L,); None: one class
    count: Ints | None = field(default=None, repr=False)  #: int array, shape (L,); cables of each link; None: one each
    levels: tuple[Level, ...] = field(default=(), repr=False)  #: from the smallest units to the largest
    #: switches of the model alone, each on a cable that passes a level; they are neither counted nor named
    implied: frozenset[int] = field(default=frozenset(), repr=False)
    notes: tuple[str, ...] = ()  #: sentences for a reader of any prediction: assumptions where a file leaves figures out
    recognised: bool = False  #: whether this is the kind that the cables of a file form; its routings begin with the file's

    axes = "v"                    # nodes have a number instead of coordinates
    n_dimensions = 1
    has_coordinates = has_products = has_groups = False

    def __post_init__(self) -> None:
        _check_names(self)
        _check_reach(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_nodes,)

    @property
    def strides(self) -> tuple[int, ...]:
        return (1,)

    @cached_property
    def _links_of_class(self) -> list[Ints]:
        """Return the numbers of the links of each class."""
        if self.class_of_link is None:
            return [np.arange(len(self.source))]
        return [np.flatnonzero(self.class_of_link == i) for i in range(len(self.link_classes))]

    @cached_property
    def place_of_link(self) -> Ints:
        """Place of each link in a flat array of `link_shape`: int array, shape (L,)."""
        places = np.empty(len(self.source), dtype=np.int64)
        for i, links in enumerate(self._links_of_class):
            places[links] = i * self.link_shape[1] + np.arange(len(links))
        return places

    @property
    def link_shape(self) -> tuple[int, ...]:
        """Classes, and links of the largest class; entries beyond the links of a class stay 0."""
        return (len(self.link_classes), max(map(len, self._links_of_class), default=0))

    @cached_property
    def capacities(self) -> tuple[Fraction, ...]:
        """Strength of each link in cables of the fastest class."""
        if self.class_of_link is None or self.bandwidth is None or len(set(self.bandwidth)) == 1:
            return self.cables
        rates = [Fraction(rate) / Fraction(max(self.bandwidth)) for rate in self.bandwidth]
        return tuple(cables * rates[i] for cables, i in zip(self.cables, self.class_of_link.tolist()))

    def level(self, name: str) -> Level:
        """Return the level of a name.

        Raises
        ------
        GraphError
            If the network has no such level.
        """
        levels = [level for level in self.levels if level.name == name]
        if not levels:
            known = ", ".join(level.name for level in self.levels) or "none"
            raise GraphError(f"{self.title} has no level {name!r}; it has {known}")
        return levels[0]

    @property
    def ends_per_node(self) -> int:
        return 1

    def ends(self, node: Ints, slot: Ints) -> Ints:
        """Return the ends of the network at which ranks on these nodes and slots send and receive: here the nodes."""
        return node

    @property
    def router_of_end(self) -> Ints:
        """The nodes."""
        return np.arange(self.n_nodes)

    def router_arcs(self) -> Arcs:
        """Return the links between routers: here all links."""
        return self.arcs()

    @property
    def place_of_host(self) -> Ints:
        """Place of each host in the order in which a text of this kind lists hosts: int array, shape (N,).

        Here its number.
        """
        return np.arange(self.n_nodes)

    @property
    def in_order(self) -> "GraphNetwork":
        """The same network with its hosts in this order, whatever their order in a file."""
        return self

    def coordinates(self, node: ArrayLike) -> Ints:
        """Return node numbers as coordinates in one dimension."""
        return np.asarray(node, dtype=np.int64)[..., None]

    def node(self, coordinates: ArrayLike) -> Ints:
        """Return node numbers of coordinates, the inverse of `coordinates`."""
        coordinates = np.asarray(coordinates, dtype=np.int64)
        problem = coordinates.shape[-1:] != (1,) or ((coordinates < 0) | (coordinates >= self.n_nodes)).any()
        if problem:
            raise GraphError(f"node {coordinates.ravel()[:8].tolist()} is not in {self}; its nodes are numbered 0 to "
                             f"{self.n_nodes - 1}")
        return coordinates[..., 0]

    def outside(self, coordinates: Sequence[int] | Ints) -> str | None:
        """Return a sentence that names the number that is not a node, or None."""
        number = coordinates[0]
        return None if 0 <= number < self.n_nodes else (f"node {number} is not in {self}; its nodes are numbered 0 to "
                                                        f"{self.n_nodes - 1}")

    def node_name(self, node: int) -> str:
        return self.vertices[node]

    @property
    def title(self) -> str:
        return str(self)

    @property
    def host_names(self) -> dict[int, str]:
        """Name of each node: dict from number to str."""
        return dict(enumerate(self.vertices[:self.n_nodes]))

    def links_by_cables(self, i: int) -> list[tuple[Fraction, Ints]]:
        """Return the links of a class, grouped by their strength."""
        return self._links_by_cables[i]

    @cached_property
    def _links_by_cables(self) -> list[list[tuple[Fraction, Ints]]]:
        kinds: dict[Fraction, int] = {}
        every = np.array(list(map(id, self.cables)), dtype=np.int64)  # few objects; fractions are slow as keys
        _, first, place = np.unique(every, return_index=True, return_inverse=True)
        kind_of_object = [kinds.setdefault(self.cables[i], len(kinds)) for i in first.tolist()]
        strength = np.array(kind_of_object, dtype=np.int64)[place]
        return [[(cables, np.flatnonzero(strength[links] == kind)) for cables, kind in kinds.items()
                 if (strength[links] == kind).any()] for links in self._links_of_class]

    def link(self, i: int, position: int) -> GraphLink:
        """Return the link at a position in the list of links of a class."""
        return self.link_number(int(self._links_of_class[i][position]))

    def link_number(self, number: int) -> GraphLink:
        """Return the link with a number in `source` and `target`; a part of a cable past a level is the whole cable."""
        a, b = int(self.source[number]), int(self.target[number])
        return GraphLink(self.vertices[self._real_end(a, b)], self.vertices[self._real_end(b, a)])

    def _real_end(self, end: int, other: int) -> int:
        """Return the switch at the end of a cable from `other` to an implied switch."""
        while end in self.implied:
            end, other = int(next(v for v in self.target[self.source == end] if v != other)), end
        return end

    @property
    def real_switches(self) -> int:
        """Number of switches that the network really has."""
        return len(self.vertices) - self.n_nodes - len(self.implied)

    def arcs(self) -> Arcs:
        """Return all links as the arcs of a directed graph."""
        return self._arcs

    @cached_property
    def _arcs(self) -> Arcs:
        rates = self.bandwidth or (1.0,) * len(self.link_classes)
        capacity = np.zeros(len(self.cables))
        for i, links in enumerate(self._links_of_class):
            for cables, cable in self.links_by_cables(i):
                capacity[links[cable]] = float(cables * Fraction(rates[i]) / Fraction(max(rates)))
        count = None if self.count is None else self.count.astype(float)
        return Arcs(len(self.vertices), self.source, self.target, self.place_of_link, capacity, count)

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        parts = np.isin(np.minimum(self.source, self.target), list(self.implied))  # of a cable, above an implied switch
        return {"graph": self.name, "hosts": self.n_nodes, "switches": self.real_switches,
                "links": len(self.source) - int(parts.sum())}

    def __str__(self) -> str:
        return f"graph {self.name}"


def _check_names(graph: GraphNetwork) -> None:
    switches = len(graph.vertices) - graph.n_nodes
    if not 1 <= graph.n_nodes <= MAX_VERTICES or not 0 <= switches <= MAX_VERTICES:
        raise GraphError(f"{graph} has {graph.n_nodes} hosts and {switches} switches; at least one host and at most "
                         f"{MAX_VERTICES} of each kind are needed")
    seen = set()
    for name in graph.vertices:
        if name in seen:
            raise GraphError(f"{graph} has two vertices called {name!r}; every vertex needs a name of its own")
        seen.add(name)


def _check_reach(graph: GraphNetwork) -> None:
    V, ways = len(graph.vertices), (graph.source, graph.target)
    apart = np.flatnonzero(~(_reached(V, *ways) & _reached(V, *ways[::-1]))[:graph.n_nodes])
    if apart.size:
        raise GraphError(f"{graph}: there is no path from host {graph.vertices[0]!r} to host "
                         f"{graph.vertices[apart[0]]!r} and back; all hosts must reach each other")


def _reached(n: int, source: Ints, target: Ints) -> Bools:
    """Return whether each of n vertices is reached from vertex 0. scipy has this, too, but is slow to import.

    Vertices at the same distance are handled together, up to `FAR` links. Beyond it there are few at each distance, as on a
    ring, and they are handled one by one.
    """
    order = np.argsort(source, kind="stable")
    start, head = np.searchsorted(source[order], np.arange(n + 1)), target[order]
    reached, last = np.zeros(n, dtype=bool), np.zeros(1, dtype=np.int64)
    reached[last] = True
    for _ in range(FAR):
        if not last.size:
            return reached
        many = start[last + 1] - start[last]
        links = np.arange(many.sum()) + np.repeat(start[last] - np.cumsum(many) + many, many)
        last = np.unique(head[links][~reached[head[links]]])
        reached[last] = True
    waiting, known, heads, starts = last.tolist(), reached.tolist(), head.tolist(), start.tolist()
    while waiting:
        vertex = waiting.pop()
        for other in heads[starts[vertex]:starts[vertex + 1]]:
            if not known[other]:
                known[other] = True
                waiting.append(other)
    return np.array(known)


def from_networkx(graph: Any, name: str, bandwidth: float | Mapping[str, float] | None = None) -> GraphNetwork:
    """Make a network from a networkx graph: hosts in the order of the graph, then the switches.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Vertices may have ``kind`` "host" (default) or "switch". Edges may have ``bandwidth``, text with a unit or bytes per
        second, of a cable in one direction, ``cables``, a whole number (1), and ``class``, the name of a class of links
        ("link"). The graph may have ``notes``, a sequence of sentences. An undirected edge is a link each way; parallel
        edges of one class and bandwidth add up; edges from a vertex to itself carry nothing and will be omitted.
    name : str
        Used in messages.
    bandwidth : float or dict, optional
        Bytes per second of edges without a bandwidth: of all, or of each class, for example ``{"up": 25e9}``.

    Raises
    ------
    GraphError
        If the graph is too large, or has a vertex or an edge that cannot be used.

    Examples
    --------
    >>> import networkx as nx
    >>> star = nx.star_graph(4)
    >>> star.nodes[0]["kind"] = "switch"
    >>> from_networkx(star, "star", 1e9).vertices
    ('1', '2', '3', '4', '0')
    >>> star.edges[0, 1]["class"] = "thick"
    >>> from_networkx(star, "star", {"link": 1e9, "thick": 4e9}).bandwidth
    (4000000000.0, 1000000000.0)
    """
    if graph.number_of_nodes() > 2 * MAX_VERTICES:
        raise GraphError(f"graph {name} has {graph.number_of_nodes()} vertices; at most {MAX_VERTICES} hosts and as many "
                         "switches are supported")
    kinds = {v: str(data.get("kind", "host")) for v, data in graph.nodes(data=True)}
    for vertex, kind in kinds.items():
        if kind not in KINDS:
            others = ", ".join(sorted({other[:20] for other in kinds.values() if other not in KINDS}))[:80]
            raise GraphError(f"graph {name}: vertex {vertex!r} is of kind {kind[:20]!r}; a vertex is a "
                             f"{' or a '.join(KINDS)}: write kind=host or kind=switch in place of {others}")
    ordered = [v for kind in KINDS for v in kinds if kinds[v] == kind]
    number = {v: i for i, v in enumerate(ordered)}
    rates: dict[str, dict[tuple[int, int], list[tuple[int, Fraction | None]]]] = {}  # by class, by link
    known: dict[tuple[str, Any], tuple[int, Fraction | None]] = {}
    for a, b, data in graph.edges(data=True):
        if a != b:
            named = str(data.get("class", "link"))
            default = bandwidth.get(named) if isinstance(bandwidth, Mapping) else bandwidth
            strength = _strength(name, a, b, data, default, known)
            of_class = rates.setdefault(named, {})
            for link in ((a, b),) if graph.is_directed() else ((a, b), (b, a)):
                of_class.setdefault((number[link[0]], number[link[1]]), []).append(strength)
    rates = rates or {"link": {}}
    links, count, cables, fastest = zip(*(_links(name, edges) for edges in rates.values()))
    ends = np.array(list(chain(*links)), dtype=np.int64).reshape(-1, 2)
    if None in fastest and any(fastest):
        without = " and ".join(kind for kind, rate in zip(rates, fastest) if rate is None)
        raise GraphError(f"graph {name}: the links of class {without} have no bandwidth, and others have one; give one for "
                         "them with `bandwidth`")
    return GraphNetwork(name, vertices=tuple(str(v) for v in ordered), n_nodes=sum(k == "host" for k in kinds.values()),
                        source=ends[:, 0].copy(), target=ends[:, 1].copy(), cables=sum(cables, ()),
                        notes=tuple(graph.graph.get("notes", ())),
                        bandwidth=None if None in fastest else tuple(map(float, fastest)), link_classes=tuple(rates),
                        class_of_link=np.repeat(np.arange(len(rates)), list(map(len, cables))) if len(rates) > 1 else None,
                        count=np.array(list(chain(*count)), dtype=np.int64))


def _strength(name: str, a: Any, b: Any, data: dict[str, Any], default: float | None,
              known: dict[Any, _Strength]) -> _Strength:
    """Return cables and bandwidth of an edge. `known` has the values read before, because files repeat a few values."""
    where = f"graph {name}: edge {a!r} - {b!r}"
    written = data.get("cables", 1), data.get("bandwidth", default)
    if not isinstance(written[0], (str, int, float)):
        written = str(written[0]), written[1]
    if not isinstance(written[1], (str, int, float, type(None))):
        raise GraphError(f"{where} has bandwidth {str(written[1])[:40]!r}; text with a unit, e.g. '12.5 GB/s', or bytes per "
                         "second, more than 0, are needed")
    if written not in known:
        known[written] = _read_strength(where, *written, known)
    return known[written]


def _read_strength(where: str, count: Any, rate: float | str | None, known: dict[Any, _Strength]) -> _Strength:
    try:
        number = float(count)
        cables = Fraction(number) if 1 <= number <= MOST_CABLES else Fraction(0)
    except (ValueError, OverflowError):
        cables = Fraction(0)
    if cables < 1 or cables.denominator > 1:
        raise GraphError(f"{where} has {repr(count)[:40]} cables; a whole number of 1 to {MOST_CABLES} is needed")
    if isinstance(rate, str):
        if len(known) >= MOST_UNITS:
            raise GraphError(f"{where} has bandwidth {rate[:40]!r}, one more than {MOST_UNITS} different ones; round them")
        try:
            rate = parse(rate, "byte/s")
        except UnitError as error:
            raise GraphError(f"{where}: {error}") from error
    if rate is not None and not 0 < rate < float("inf"):
        raise GraphError(f"{where} has bandwidth {rate!r}; text with a unit, e.g. '12.5 GB/s', or bytes per second, more "
                         "than 0, are needed")
    return int(cables), None if rate is None else Fraction(rate)


def _links(name: str, edges: dict[tuple[int, int], list[_Strength]]) -> tuple[
        list[tuple[int, int]], list[int], tuple[Fraction, ...], Fraction | None]:
    """Return the ends of each link, its cables, its strength in cables of the fastest kind, and the bandwidth of these.

    The cables of a link have one bandwidth.
    """
    kinds = {_same(strengths): strengths for strengths in edges.values()}
    every = {rate for strengths in kinds.values() for _, rate in strengths}
    if None in every and any(every):
        raise GraphError(f"graph {name}: some edges have a bandwidth and others have none; give one for the others with "
                         "`bandwidth`, or give one to all or to none in the file")
    fastest = max((rate for rate in every if rate), default=None)
    parts = {}
    for kind, strengths in kinds.items():
        count = Counter[Fraction | None]()
        for n, rate in strengths:
            count[rate] += n
        parts[kind] = [(n, n * (rate / fastest if rate and fastest else Fraction(1))) for rate, n in count.items()]
    links = [(ends, *part) for ends, strengths in edges.items() for part in parts[_same(strengths)]]
    ends, cables, strength = map(list, zip(*links)) if links else ([], [], [])
    return ends, cables, tuple(strength), fastest


def _same(strengths: list[_Strength]) -> tuple[int, ...]:
    """Return a key that is equal for links of the same edges. This avoids the slow hash of fractions."""
    return tuple(map(id, strengths))


# Hosts on switches: the common part of trees, dragonflies and HyperX.
#
# A host has one or more links, to one switch or to several. How its tasks use them:
#
# even     Every message is split evenly over all links. The part that leaves by link i arrives by link i of the other host.
# So the     network consists of as many planes as a host has links, and each plane carries an equal share. task     Task t
# sends and receives by link t modulo the number of links (the nearest link of a core). Messages between different     links
# meet in the switches.
#
# Messages between tasks of a host stay in the host. A host link of a switch is one cable.

USES = ("even", "task")
HOST = "host"  # class of the cables between hosts and switches


def none() -> Ints:
    """Return an empty array."""
    return np.zeros(0, dtype=np.int64)


class Plane(NamedTuple):
    """The ends of the network between which some of the traffic travels."""

    share: Fraction  #: of every message
    links: Ints  #: int array, shape (E,); host link of each end
    switch: Ints  #: int array, shape (E,); switch of each end


@dataclass(frozen=True, eq=False)
class SwitchedNetwork(GraphNetwork):
    """Hosts with links to switches, and cables between switches in classes.

    The first class of links is `HOST`: the host links upwards, then the same links downwards.

    Parameters
    ----------
    links_per_host : int
    use : {"even", "task"}
    switch_of_link : int array, shape (N links_per_host,)
        Switch of link i of host n at ``n * links_per_host + i``. Switches are numbered from 0.
    """

    links_per_host: int = 1
    use: str = "even"
    switch_of_link: Ints = field(default_factory=none, repr=False)

    @property
    def n_switches(self) -> int:
        return len(self.vertices) - self.n_nodes

    @property
    def host_of_end(self) -> Ints:
        """Host of each end: int array, shape (E,)."""
        return np.arange(self.n_nodes * self.ends_per_node) // self.ends_per_node

    @property
    def ends_per_node(self) -> int:
        return self.links_per_host if self.use == "task" else 1

    def ends(self, node: Ints, slot: Ints) -> Ints:
        """Return the ends of ranks: the link of the task if each task uses one link, else the host."""
        L = self.ends_per_node
        return node if L == 1 else np.asarray(node) * L + np.asarray(slot) % L

    @property
    def router_of_end(self) -> Ints:
        """Switch of each end of the first plane."""
        return self.planes()[0].switch

    def router_arcs(self) -> Arcs:
        """Return the links between switches as arcs."""
        return self._router_arcs

    @cached_property
    def place_of_host(self) -> Ints:
        """Place of each host, switch by switch."""
        return np.argsort(np.lexsort(self.switch_of_link.reshape(self.n_nodes, -1).T[::-1]))

    @cached_property
    def in_order(self) -> "SwitchedNetwork":
        """The same network with its hosts switch by switch."""
        n, order = self.n_nodes, np.argsort(self.place_of_host)
        if (np.diff(order) > 0).all():
            return self
        ends = self.switch_of_link.reshape(n, -1)[order].ravel()
        host, between = np.repeat(np.arange(n), self.links_per_host), slice(2 * len(ends), None)
        return replace(self, vertices=(*(self.vertices[i] for i in order.tolist()), *self.vertices[n:]), switch_of_link=ends,
                       source=np.concatenate([host, ends + n, self.source[between]]),
                       target=np.concatenate([ends + n, host, self.target[between]]),
                       levels=tuple(replace(level, unit=np.concatenate([level.unit[order], level.unit[n:]]))
                                    for level in self.levels))

    @cached_property
    def _router_arcs(self) -> Arcs:
        arcs, n = self.arcs(), self.n_nodes
        links = np.flatnonzero((arcs.source >= n) & (arcs.target >= n))
        return Arcs(self.n_switches, arcs.source[links] - n, arcs.target[links] - n, links, arcs.capacity[links],
                    arcs.ways[links])

    def planes(self) -> list[Plane]:
        """Return the planes of the network, see the module."""
        L = self.links_per_host
        links = np.arange(self.n_nodes * L)
        if self.use == "task":
            return [Plane(Fraction(1), links, self.switch_of_link)]
        return [Plane(Fraction(1, L), links[i::L], self.switch_of_link[i::L]) for i in range(L)]

    def as_dict(self) -> dict[str, Any]:
        """Return the network for JSON."""
        return {**super().as_dict(), "links_per_host": self.links_per_host, "use": self.use,
                "classes": list(self.link_classes), "levels": {level.name: level.count for level in self.levels}}

    @property
    def title(self) -> str:
        return f"network {self.name}"

    def __str__(self) -> str:
        return self.name
