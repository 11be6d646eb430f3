"""What a network file must say of vertices and edges, and parts of a network that no cable joins.

Attributes of vertices and edges that a file must give, because a guess would change the answer.

Parts of a network file that no cable joins, such as leaves without a common top.

Sites leave the switches above out on purpose, for example if no job crosses them. A job whose nodes lie in one part has this
part as its network. Any other question needs all hosts to reach each other, and the file is refused.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pencilmap.mapper.formats.lines import Document
from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.units import counted

EDGE = ("bandwidth", "cables", "weight")  # attributes of an edge; a weight is ignored
_DEVICE = re.compile(r"switch|router|host|server|compute|leaf|spine", re.IGNORECASE)
_RATE = re.compile(r"band.?width|capacity|speed|throughput|\brate\b|\bbw\b|duplex|shar(ed|ing)|oversubscri|one.?way",
                   re.IGNORECASE)


def refuse_unmarked_switches(document: Document, graph: Any) -> None:
    """Raise GraphError if no vertex has a kind, although leaves hang on other vertices, which may be switches.

    A leaf has one neighbour. If at least one vertex has a kind, the vertices without a kind are hosts.

    >>> import networkx as nx
    >>> from pencilmap.mapper.formats.lines import Document
    >>> refuse_unmarked_switches(Document(b"", "ring"), nx.cycle_graph(4))
    >>> try:
    ...     refuse_unmarked_switches(Document(b"", "star"), nx.star_graph(3))
    ... except GraphError as error:
    ...     print(error)  # doctest: +NORMALIZE_WHITESPACE
    star does not say which vertices are switches, but '0' carries the leaf '1' and 2 other neighbours; give '0' the kind
    switch, or, if all vertices are hosts, give it the kind host
    """
    if any("kind" in data for _, data in graph.nodes(data=True)):
        return
    def near(vertex: int | str) -> set[int | str]:
        return {*graph.adj[vertex], *(graph.pred[vertex] if graph.is_directed() else ())} - {vertex}

    for leaf in graph:
        neighbours = near(leaf)
        for vertex in neighbours if len(neighbours) == 1 else ():
            others = len(near(vertex)) - 1
            if others:
                raise GraphError(f"{document.label} does not say which vertices are switches, but {str(vertex)[:40]!r} "
                                 f"carries the leaf {str(leaf)[:40]!r} and {others} other neighbour{'s' * (others > 1)}; "
                                 f"give {str(vertex)[:40]!r} the kind switch, or, if all vertices are hosts, give it the "
                                 f"kind host{_types(graph)}")
    if (types := _types(graph)) and _DEVICE.search(types.partition(": write")[0]):
        raise GraphError(f"{document.label} does not say which vertices are switches{types}")


def refuse_one_way(document: Document, graph: Any) -> None:
    """Raise GraphError if edges of a directed graph have no edge back and some host does not reach another, as from yEd.

    The attribute ``both_ways`` of the graph says how to write edges of both directions.
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    if not graph.is_directed():
        return
    hosts = [vertex for vertex, kind in graph.nodes(data="kind", default="host") if kind != "switch"]
    single = next(((a, b) for a, b in graph.edges() if not graph.has_edge(b, a)), None)
    if single and not any(part.issuperset(hosts) for part in nx.strongly_connected_components(graph)):
        a, b = (str(end)[:40] for end in single)
        raise GraphError(f"{document.label}: the graph is directed, and edge {a!r} -> {b!r} has no edge back; if each edge "
                         f"is a cable that carries both directions, "
                         f"{graph.graph.get('both_ways', 'list each edge from both ends')}")


def _types(graph: Any) -> str:
    """Return a sentence about other attributes that may tell hosts from switches; "" if there are none."""
    for key in ("type", "role", "node_type", "device_type", "device", "class", "category"):
        counts = Counter(str(data[key]).strip() for _, data in graph.nodes(data=True) if key in data)
        if len(counts) > 1:
            types = ", ".join(f"{name[:20]} ({count})" for name, count in counts.most_common(4))
            return f"; its vertices have {key} {types}{', ...' * (len(counts) > 4)}: write kind=host or kind=switch for each"
    return ""


def refuse_bare_number(where: str, attributes: dict[str, Any]) -> None:
    """Raise GraphError if a bandwidth is a number without a unit.

    >>> try:
    ...     refuse_bare_number("net line 2", {"bandwidth": 100})
    ... except GraphError as error:
    ...     print(error)
    net line 2: bandwidth 100 has no unit; write text with a unit, e.g. '12.5 GB/s' or '100 Gbit/s'
    """
    bandwidth = attributes.get("bandwidth")
    if isinstance(bandwidth, (int, float)):
        raise GraphError(f"{where}: bandwidth {str(bandwidth)[:40]} has no unit; write text with a unit, e.g. '12.5 GB/s' "
                         "or '100 Gbit/s'")


def refuse_other_numbers(where: str, attributes: dict[str, Any]) -> None:
    """Raise GraphError if an unread attribute of an edge is a number or seems to be a bandwidth, or how it is shared.

    >>> refuse_other_numbers("net", {"cables": 2, "label": "east"})
    >>> try:
    ...     refuse_other_numbers("net: edge 'a' - 'b'", {"LinkSpeed": "10"})
    ... except GraphError as error:
    ...     print(error)  # doctest: +NORMALIZE_WHITESPACE
    net: edge 'a' - 'b' has 'LinkSpeed', which is not one of the attributes bandwidth, cables, weight; rename or remove it
    """
    for name, value in attributes.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if name not in EDGE and (number or _RATE.search(str(name))):
            raise GraphError(f"{where} has {str(name)[:40]!r}, which is not one of the attributes {', '.join(EDGE)}; rename "
                             "or remove it")


def note_weights(document: Document, graph: Any, weights: Collection[Any]) -> None:
    """Add a note to a graph whose edges have different weights, which are not read.

    >>> import networkx as nx
    >>> from pencilmap.mapper.formats.lines import Document
    >>> graph = nx.Graph()
    >>> note_weights(Document(b"", "net"), graph, {1.0, 2.5})
    >>> graph.graph["notes"]
    ['weights of edges in net are passed over: bandwidth and cables say how strong an edge is']
    """
    if len(set(weights)) > 1:
        graph.graph.setdefault("notes", []).append(f"weights of edges in {document.label} are passed over: bandwidth and "
                                                   "cables say how strong an edge is")


SHOWN = 3  # parts and hosts in a sentence


class PartsError(GraphError):
    """A file of several parts; `holding` returns the part of a job.

    Parameters
    ----------
    label : str
        Name of the file.
    graph : networkx graph
    parts : sequence of set
        Vertices of each part that has hosts, from `parts_of`.
    network_of : callable
        Networkx graph of a part -> Network.
    """

    def __init__(self, label: str, graph: Any, parts: Sequence[set[Any]], network_of: Callable[[Any], Any]) -> None:
        self.label, self.graph, self.parts, self.network_of = label, graph, parts, network_of
        number = {v: i for i, part in enumerate(parts) for v in part}
        self.hosts: list[list[str]] = [[] for _ in parts]
        for v in graph:
            if v in number and _is_host(graph, v):
                self.hosts[number[v]].append(str(v))
        super().__init__(f"{label} is {self.summary}: {self._listed()}. A job in one of them has this part as its network: "
                         f"run this command in the job, or list the nodes of one part with `nodes` FILE. Else add "
                         f"{_joint(graph, parts)}")

    @property
    def summary(self) -> str:
        return f"{len(self.parts)} parts that no cable joins"

    def _listed(self) -> str:
        lines = [f"{', '.join(name[:40] for name in hosts[:2])}{', ...' * (len(hosts) > 2)} ({counted(len(hosts), 'host')})"
                 for hosts in self.hosts[:SHOWN]]
        return "; ".join(lines) + "; ..." * (len(self.hosts) > SHOWN)

    def holding(self, hosts: Iterable[str]) -> Any:
        """Return the part that has all those of the hosts that the file names.

        Raises
        ------
        GraphError
            If the hosts lie in several parts, or in none.
        """
        part_of = {name: i for i, names in enumerate(self.hosts) for name in names}
        parts = dict[int, str]()
        for host in hosts:
            if host in part_of:
                parts.setdefault(part_of[host], host)
        if not parts:
            raise self
        if len(parts) > 1:
            named = ", ".join(f"{host[:40]} in part {i + 1}" for i, host in sorted(parts.items())[:SHOWN])
            raise GraphError(f"{self.label} is {self.summary}, and the nodes of this job lie in {len(parts)} of them: "
                             f"{named}{', ...' * (len(parts) > SHOWN)}; name nodes of one part, or add "
                             f"{_joint(self.graph, [self.parts[i] for i in sorted(parts)])}")
        number, = parts
        graph = self.graph.copy()  # a subgraph of networkx has no fixed order
        graph.remove_nodes_from([v for v in self.graph if v not in self.parts[number]])
        network: Any = self.network_of(graph)
        return replace(network, notes=(*network.notes, (
            f"{self.label} is {self.summary}; the network is the part of the nodes of this job, "
            f"{network.n_nodes} of {counted(len(part_of), 'host')}")))


def parts_of(graph: Any) -> list[set[Any]]:
    """Return the vertices of each part of a graph that has hosts, in the order of the graph.

    >>> import networkx as nx
    >>> parts_of(nx.Graph([(0, 1), (2, 3)]))
    [{0, 1}, {2, 3}]
    """
    import networkx as nx  # slow to import, and only graphs need networkx

    parts = nx.weakly_connected_components(graph) if graph.is_directed() else nx.connected_components(graph)
    return [part for part in parts if any(_is_host(graph, v) for v in part)]


def _is_host(graph: Any, vertex: int | str) -> bool:
    return graph.nodes[vertex].get("kind", "host") != "switch"


def _joint(graph: Any, parts: list[set[str]] | Sequence[set[Any]]) -> str:
    """Return what joins parts: the switch above the tops of trees, else a cable."""
    tops = graph.graph.get("tops")
    if tops:
        above = [next(top for top in tops if top in part) for part in parts[:SHOWN]]
        return f"the switch above them, for Slurm as SwitchName=top Switches={','.join(map(str, above))[:80]}" + (
            ",..." * (len(parts) > SHOWN))
    ends = [min((v for v in graph if v in part), key=partial(_is_host, graph)) for part in parts[:2]]  # in the file's order
    return f"the cables between them, e.g. from {' to '.join(str(end)[:40] for end in ends)}"
