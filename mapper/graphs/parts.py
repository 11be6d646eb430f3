"""Parts of a network file that no cable joins, such as leaves without a common top.

Sites leave the switches above out on purpose, for example if no job crosses them. A job whose nodes lie in one part has this
part as its network. Any other question needs all hosts to reach each other, and the file is refused.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pencilmap.model.base.errors import GraphError
from pencilmap.model.base.units import counted

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

    def _listed(self):
        told = [f"{', '.join(name[:40] for name in hosts[:2])}{', ...' * (len(hosts) > 2)} ({counted(len(hosts), 'host')})"
                for hosts in self.hosts[:SHOWN]]
        return "; ".join(told) + "; ..." * (len(self.hosts) > SHOWN)

    def holding(self, hosts: Iterable[str]) -> Any:
        """Return the part that has all those of the hosts that the file names.

        Raises
        ------
        GraphError
            If the hosts lie in several parts, or in none.
        """
        part_of = {name: i for i, names in enumerate(self.hosts) for name in names}
        found = dict[int, str]()
        for host in hosts:
            if host in part_of:
                found.setdefault(part_of[host], host)
        if not found:
            raise self
        if len(found) > 1:
            named = ", ".join(f"{host[:40]} in part {i + 1}" for i, host in sorted(found.items())[:SHOWN])
            raise GraphError(f"{self.label} is {self.summary}, and the nodes of this job lie in {len(found)} of them: "
                             f"{named}{', ...' * (len(found) > SHOWN)}; name nodes of one part, or add "
                             f"{_joint(self.graph, [self.parts[i] for i in sorted(found)])}")
        number, = found
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


def _is_host(graph, vertex):
    return graph.nodes[vertex].get("kind", "host") != "switch"


def _joint(graph, parts):
    """Return what joins parts: the switch above the tops of trees, else a cable."""
    tops = graph.graph.get("tops")
    if tops:
        above = [next(top for top in tops if top in part) for part in parts[:SHOWN]]
        return f"the switch above them, for Slurm as SwitchName=top Switches={','.join(map(str, above))[:80]}" + (
            ",..." * (len(parts) > SHOWN))
    ends = [next((v for v in part if not _is_host(graph, v)), next(iter(part))) for part in parts[:2]]
    return f"the cables between them, e.g. from {' to '.join(str(end)[:40] for end in ends)}"
