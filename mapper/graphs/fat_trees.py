"""The fat tree that the hosts, switches and cables of a file form.

Switches of a level are equally far from the hosts. The switches up to a level and the cables between them divide into
units: leaves, pods, the machine. The tree is built from the counts of units and cables, and is taken only if it has exactly
the cables of the file. Any other file stays a graph.
"""

from collections import Counter, deque
from dataclasses import replace
from typing import Any

import numpy as np

from pencilmap.model.base.errors import NetworkError
from pencilmap.model.base.units import parse
from pencilmap.model.kinds.fat_tree import FatTree, fat_tree
from pencilmap.model.kinds.reading import Hosts, Rates

MIXED = object()  # the rate of cables of different rates


def fat_tree_of(graph: Any, name: str, bandwidth: Rates | None = None) -> FatTree | None:
    """Return the fat tree that a graph is, or None if the graph is none.

    Parameters
    ----------
    graph : networkx.Graph or MultiGraph
        As for `pencilmap.model.network.graph.from_networkx`, undirected.
    name : str
    bandwidth : str, float or dict, optional
        Rates of the classes of links if the graph has none, see `pencilmap.model.kinds.reading.bandwidths`.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph([("a", "s0"), ("b", "s0"), ("c", "s1"), ("d", "s1"), ("s0", "top"), ("s1", "top")])
    >>> nx.set_node_attributes(graph, {"s0": "switch", "s1": "switch", "top": "switch"}, "kind")
    >>> tree = fat_tree_of(graph, "small")
    >>> tree.link_classes, tree.cables_up[0].tolist(), tree.vertices[4:]
    (('host', 'up'), [1, 1], ('s0', 's1', 'top'))
    """
    names = tuple(v for v, data in graph.nodes(data=True) if data.get("kind") != "switch")
    if (known := set(names)) and all(a in known or b in known for a, b in graph.edges()):
        return None  # no cable joins two switches
    joined, rate = _cables(graph)
    level = _levels(joined, names)
    if level is None or max(level.values(), default=0) < 1:
        return None
    units = _units(joined, level)
    order = _in_order(joined, level, units)
    hosts = _hosts(joined, names, order[0])
    counts = [Counter(unit[switch] for switch in some) for unit, some in zip(units, order)]
    if hosts is None or len(counts[-1]) > 1 or any(len(set(count.values())) > 1 for count in counts):
        return None
    cables = [_up(joined, level, units[i], order[i], len(counts[i])) for i in range(len(order) - 1)]
    above = [np.array([unit[leaf] for leaf in order[0]]) for unit in units[:-1]]
    rates = [_rate(rate, level, names, i) for i in range(len(order))]
    if MIXED in rates or (None in rates and any(rates)):
        return None
    try:
        tree = fat_tree(name, hosts, above, cables, [next(iter(count.values())) for count in counts],
                        rates if any(rates) else bandwidth, order)
    except NetworkError as error:
        if "evenly" in str(error):  # the switches of a unit do not share its cables
            return None
        raise
    if not _same(tree, joined):
        return None
    number = {name: i for i, name in enumerate(tree.vertices)}
    implied = [v for v, data in graph.nodes(data=True) if data.get("implied")]
    passed = Counter(level[v] for v in implied)
    return replace(tree, notes=tuple(graph.graph.get("notes", ())), implied=frozenset(number[str(v)] for v in implied),
                   levels=tuple(replace(each, implied=passed[i]) for i, each in enumerate(tree.levels)))


def without_implied(graph: Any) -> Any:
    """Return the graph with one cable in place of two cables and the implied switch between them.

    Parameters
    ----------
    graph : networkx.Graph
        Vertices with the attribute ``implied`` have two neighbours.
    """
    implied = [v for v, data in graph.nodes(data=True) if data.get("implied")]
    graph = graph.copy() if implied else graph
    for v in implied:
        (a, data), (b, _) = graph.adj[v].items()
        graph.remove_node(v)
        graph.add_edge(a, b, **data)
    return graph


def _cables(graph):
    """Return the number of cables of each vertex to each neighbour, and the rate of each pair (`MIXED` for several)."""
    joined: dict[Any, Counter[Any]] = {vertex: Counter() for vertex in graph}
    rate: dict[tuple[Any, Any], Any] = {}
    for a, b, data in graph.edges(data=True):
        joined[a][b] += data.get("cables", 1)
        joined[b][a] += data.get("cables", 1)
        for pair in ((a, b), (b, a)):
            given = data.get("bandwidth")
            given = parse(given, "byte/s") if isinstance(given, str) else given
            rate[pair] = given if rate.get(pair, given) == given else MIXED
    return joined, rate


def _levels(joined, hosts):
    """Return hops from each switch to its nearest leaf; None if a cable joins hosts or switches of one level."""
    known = set(hosts)
    leaves = dict.fromkeys(switch for host in hosts for switch in joined[host])
    if not leaves or any(leaf in known for leaf in leaves):
        return None
    level, queue = dict.fromkeys(leaves, 0), deque(leaves)
    while queue:
        switch = queue.popleft()
        for other in joined[switch]:
            if other not in known and other not in level:
                level[other] = level[switch] + 1
                queue.append(other)
    pairs = ((a, b) for a in level for b in joined[a] if b in level)
    return None if any(abs(level[a] - level[b]) != 1 for a, b in pairs) else level


def _units(joined, level):
    """Return for each level the unit of each switch of the levels up to it: list of dicts."""
    found = []
    for i in range(max(level.values()) + 1):
        unit: dict[Any, int] = {}
        number = 0
        for start in level:
            if level[start] > i or start in unit:
                continue
            unit[start], stack = number, [start]
            while stack:
                for other in joined[stack.pop()]:
                    if level.get(other, i + 1) <= i and other not in unit:
                        unit[other] = number
                        stack.append(other)
            number += 1
        found.append(unit)
    return found


def _in_order(joined, level, units):
    """Return the switches of each level, unit by unit. The switches of a unit are in the order of the switches above."""
    found: list[list[Any]] = []
    for i in range(len(units) - 1, -1, -1):
        some = [switch for switch in level if level[switch] == i]
        if found:
            place = {switch: number for number, switch in enumerate(found[0])}
            key = {s: min((place[other] for other in joined[s] if other in place), default=0) for s in some}
        else:
            place = {switch: number for number, switch in enumerate(level)}
            key = {s: min((place[other] for other in joined[s] if other in place), default=0) for s in some}
        found.insert(0, sorted(some, key=lambda s: (units[i][s], key[s])))
    return found


def _hosts(joined, names, leaves):
    """Return the hosts, or None if they have different numbers of links."""
    number = {leaf: i for i, leaf in enumerate(leaves)}
    links = [sorted(number[leaf] for leaf in joined[host].elements()) for host in names]
    if not links or not links[0] or len(set(map(len, links))) > 1:
        return None
    return Hosts(tuple(map(str, names)), len(links[0]), "even", np.array(links, dtype=np.int64).ravel())


def _up(joined, level, unit, switches, n):
    """Return the cables upwards of each unit of a level."""
    found = np.zeros(n, dtype=np.int64)
    for switch in switches:
        found[unit[switch]] += sum(count for other, count in joined[switch].items()
                                   if level.get(other, -1) > level[switch])
    return found


def _rate(rate, level, hosts, i):
    """Return the rate of the cables below the switches of a level: of the hosts, or of the level below."""
    known = set(hosts)
    found = {given for (a, b), given in rate.items()
             if level.get(a) == i and (b in known if i == 0 else level.get(b) == i - 1)}
    return found.pop() if len(found) == 1 else MIXED


def _same(tree, joined):
    """Return whether the tree has the cables of the graph."""
    built = Counter(zip(tree.source.tolist(), tree.target.tolist()))
    names = [str(name) for name in tree.vertices]
    given = {(str(a), str(b)): count for a, others in joined.items() for b, count in others.items()}
    return {(names[a], names[b]): count for (a, b), count in built.items()} == given
