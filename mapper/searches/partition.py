"""Units of a graph without levels: its hosts, divided into halves again and again.

Idea: along its slowest vibration a graph falls into two parts with few cables between them. Hosts are sorted along it and
divided in the middle, switches go with their neighbours in this order, and each part is divided in the same way. So the
parts of a fat tree that is known by its cables alone are its leaves and pods.
Source: M. Fiedler, "A property of eigenvectors of nonnegative symmetric matrices and its application to graph theory",
Czech. Math. J. 25 (1975); `networkx.spectral_ordering`.
Cost: an eigenvector for each part; nothing above `MOST_VERTICES`.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Ints

MOST_VERTICES = 4096
MOST_DENSE = 1024       # above this number the eigenvector is found by iteration, which fails on a hypercube
UNLIKE = 1e-4           # how much the weights differ, so that the eigenvector is unique on symmetric graphs


@lru_cache(maxsize=8)
def halves(network: Any) -> tuple[Ints, ...]:
    """Return the part of each host after each division, from the smallest parts to the largest; the parts are nested.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.network.graph import from_networkx
    >>> [len(set(part.tolist())) for part in halves(from_networkx(nx.path_graph(8), "line"))]
    [4, 2]
    """
    import networkx as nx

    arcs = network.arcs()
    if arcs.n_vertices > MOST_VERTICES:
        return ()
    graph = nx.Graph()
    graph.add_nodes_from(range(arcs.n_vertices))
    for a, b, capacity in zip(arcs.source.tolist(), arcs.target.tolist(), arcs.capacity.tolist()):
        before = graph.get_edge_data(a, b, {"weight": 0.0})["weight"]
        graph.add_edge(a, b, weight=before + capacity)
    parts, found = [graph], []
    while max(_hosts(part, network) for part in parts) > 2:
        parts = [half for part in parts for half in _divided(part, network)]
        unit = np.empty(network.n_nodes, dtype=np.int64)
        for number, part in enumerate(parts):
            unit[[v for v in part if v < network.n_nodes]] = number
        found.append(unit)
    return tuple(found[::-1])


def _hosts(part, network):
    return sum(v < network.n_nodes for v in part)


def _divided(part, network):
    """Return the two halves of a part, or the part alone if it has one host."""
    import networkx as nx

    half = _hosts(part, network) // 2
    if not half:
        return [part]
    order = _in_order(part) if len(part) <= MOST_DENSE else nx.spectral_ordering(part, seed=1)
    last = np.flatnonzero(np.cumsum([v < network.n_nodes for v in order]) == half)[0] + 1
    return [part.subgraph(order[:last]), part.subgraph(order[last:])]


def _in_order(part):
    """Return the vertices along the slowest vibration."""
    import networkx as nx

    weights = nx.to_numpy_array(part) * (1 + UNLIKE * np.add.outer(np.arange(len(part)), np.arange(len(part))) / len(part))
    slowest = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)[1][:, 1]
    slowest = slowest * np.sign(slowest[np.abs(slowest).argmax()])
    return [v for _, v in sorted((round(float(x), 9), v) for x, v in zip(slowest, part))]
