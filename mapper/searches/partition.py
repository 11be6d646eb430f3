"""Units of a graph without levels: its hosts, divided into halves again and again.

Idea: a graph falls into two parts with few cables between them, each with half of the hosts; each part is divided in the
same way. So the parts of a fat tree that is known by its cables alone are its leaves and pods. A divider puts the vertices
into an order, and the parts are its beginning and its end. networkx's order follows the slowest vibration of the graph.
KaHIP, METIS and Scotch find two parts with nearly equal numbers of hosts; hosts that the other part attracts come next.
Source: M. Fiedler, "A property of eigenvectors of nonnegative symmetric matrices and its application to graph theory",
Czech. Math. J. 25 (1975); `networkx.spectral_ordering`; KaHIP (package kahip); METIS (package pymetis); Scotch (Debian
package scotch).
Cost: an eigenvector, or a call of a program, for each part; nothing above `MOST_VERTICES`.
Needs: nothing for networkx; the other dividers are used if they are installed.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.files import temporary_folder
from pencilmap.mapper.searches.scotch_map import read_map, run, scotch_is_there
from pencilmap.model.base.arrays import Floats, Ints

MOST_VERTICES = 4096
MOST_DENSE = 1024       # above this number the eigenvector is found by iteration, which fails on a hypercube
UNLIKE = 1e-4           # how much the weights differ, so that the eigenvector is unique on symmetric graphs
FINEST = 1000           # parts of the thickest cable
IMBALANCE = 0.03        # of the hosts of two parts
OUTSIDE = 3             # place of switches, outside those of hosts
STRONG = 2              # a setting of KaHIP


class Divider(NamedTuple):
    """A program that divides a graph into halves."""

    name: str
    is_there: Callable[[], bool]
    places: Callable[[Any, Ints], Sequence[float] | Floats]  #: of the vertices, from a graph and its hosts (0 or 1)


@lru_cache(maxsize=32)
def halves(network: Any, divider: str = "networkx") -> tuple[Ints, ...]:
    """Return the part of each host after each division, from the smallest parts to the largest; the parts are nested.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.network.graph import from_networkx
    >>> [len(set(part.tolist())) for part in halves(from_networkx(nx.path_graph(8), "line"))]
    [4, 2]
    """
    import networkx as nx

    arcs, places = network.arcs(), next(each.places for each in DIVIDERS if each.name == divider)
    if arcs.n_vertices > MOST_VERTICES:
        return ()
    graph = nx.Graph()
    graph.add_nodes_from(range(arcs.n_vertices))
    for a, b, capacity in zip(arcs.source.tolist(), arcs.target.tolist(), arcs.capacity.tolist()):
        before = graph.get_edge_data(a, b, {"weight": 0.0})["weight"]
        graph.add_edge(a, b, weight=before + capacity)
    parts, found = [graph], []
    while max(_hosts(part, network) for part in parts) > 2:
        parts = [half for part in parts for half in _divided(part, network, places)]
        unit = np.empty(network.n_nodes, dtype=np.int64)
        for number, part in enumerate(parts):
            unit[[v for v in part if v < network.n_nodes]] = number
        found.append(unit)
    return tuple(found[::-1])


@cache
def dividers() -> tuple[str, ...]:
    """Return the names of the dividers that are installed."""
    return tuple(divider.name for divider in DIVIDERS if divider.is_there())


def _hosts(part, network):
    return sum(v < network.n_nodes for v in part)


def _divided(part, network, places):
    """Return the two halves of a part, or the part alone if it has one host."""
    half = _hosts(part, network) // 2
    if not half:
        return [part]
    is_host = np.array([int(v < network.n_nodes) for v in part])
    order = [v for _, v in sorted((round(float(x), 9), v) for x, v in zip(places(part, is_host), part))]
    last = np.flatnonzero(np.cumsum([v < network.n_nodes for v in order]) == half)[0] + 1
    return [part.subgraph(order[:last]), part.subgraph(order[last:])]


def _vibration(part, is_host):
    """Return the places of the vertices along the slowest vibration."""
    import networkx as nx

    n = len(part)
    if n > MOST_DENSE:
        order = nx.spectral_ordering(part, seed=1)
        place = dict(zip(order, range(n)))
        return [place[v] for v in part]
    strength = nx.to_numpy_array(part) * (1 + UNLIKE * np.add.outer(np.arange(n), np.arange(n)) / n)
    slowest = np.linalg.eigh(np.diag(strength.sum(axis=1)) - strength)[1][:, 1]
    return slowest * np.sign(slowest[np.abs(slowest).argmax()])


def _between(divided):
    """Return a function that gives places: those of two parts, and those of hosts between those of switches."""
    def places(part, is_host):
        import networkx as nx

        cables = nx.to_scipy_sparse_array(part, format="csr")
        cables.data = np.maximum(1, np.rint(cables.data * (FINEST / max(cables.data.max(initial=0), 1e-300))))
        side = np.asarray(divided(cables, is_host)) * 2 - 1
        return np.where(is_host, side + cables @ side / (2 * np.maximum(1, cables.sum(axis=1))), OUTSIDE * side)

    return places


def _by_metis(cables, is_host):
    import pymetis

    adjacency = pymetis.CSRAdjacency(cables.indptr.tolist(), cables.indices.tolist())
    return pymetis.part_graph(2, adjacency, vweights=is_host.tolist(), eweights=cables.data.astype(int).tolist(),
                              options=pymetis.Options(seed=1))[1]


def _by_kahip(cables, is_host):
    import kahip

    return kahip.kaffpa((3 * is_host + 1).tolist(), cables.indptr.tolist(), cables.data.astype(int).tolist(),
                        cables.indices.tolist(), 2, IMBALANCE, True, 1, STRONG)[1]


def _by_scotch(cables, is_host):
    lines = ["0", f"{len(is_host)} {cables.nnz}", "0 011"]
    for v, (first, last) in enumerate(zip(cables.indptr, cables.indptr[1:])):
        row = (f"{int(cables.data[i])} {cables.indices[i]}" for i in range(first, last))
        lines.append(" ".join([str(is_host[v]), str(last - first), *row]))
    with temporary_folder() as folder:
        (folder / "part.grf").write_text("\n".join(lines) + "\n")
        run("scotch_gpart", "-Cdf", f"-b{IMBALANCE}", 2, folder / "part.grf", folder / "part.map")
        return read_map(folder / "part.map", len(is_host))


DIVIDERS = (
    Divider("networkx", lambda: True, _vibration),
    Divider("METIS", lambda: find_spec("pymetis") is not None, _between(_by_metis)),
    Divider("KaHIP", lambda: find_spec("kahip") is not None, _between(_by_kahip)),
    Divider("Scotch", scotch_is_there, _between(_by_scotch)),
)
