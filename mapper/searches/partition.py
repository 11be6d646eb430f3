"""Units of a graph without levels: its hosts, divided into halves again and again.

Idea: a graph falls into two parts with few cables between them, each with half of the hosts; each part is divided in the
same way. So the parts of a fat tree that is known by its cables alone are its leaves and pods. A divider puts the vertices
into an order, and the parts are its beginning and its end. networkx's order follows the slowest vibration of the graph.
KaHIP, METIS and Scotch find two parts of nearly equal weights; vertices that the other part attracts come next to it.
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
from pencilmap.mapper.searches.scotch_map import run, scotch_is_there
from pencilmap.model.base.arrays import Floats, Ints

MOST_VERTICES = 4096
MOST_DENSE = 1024       # above this number the eigenvector is found by iteration, which fails on a hypercube
UNLIKE = 1e-4           # how much the weights differ, so that the eigenvector is unique on symmetric graphs
HOST, SWITCH = 1000, 1  # weights of vertices, so that the parts have nearly equal numbers of hosts
FINEST = 1000           # parts of the thickest cable
IMBALANCE = 0.03        # of the weights of two parts


class Divider(NamedTuple):
    """A program that divides a graph into halves."""

    name: str
    is_there: Callable[[], bool]
    places: Callable[[Any, Ints], Sequence[float] | Floats]  #: from a graph and the weights of its vertices to their places


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
    weights = np.array([HOST if v < network.n_nodes else SWITCH for v in part])
    order = [v for _, v in sorted((round(float(x), 9), v) for x, v in zip(places(part, weights), part))]
    last = np.flatnonzero(np.cumsum([v < network.n_nodes for v in order]) == half)[0] + 1
    return [part.subgraph(order[:last]), part.subgraph(order[last:])]


def _vibration(part, weights):
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
    """Return a function that gives places: those of two parts, and in each the strongly attracted by the other part last."""
    def places(part, weights):
        import networkx as nx

        strength = nx.to_scipy_sparse_array(part, format="csr")
        strength.data = np.maximum(1, np.rint(strength.data * (FINEST / max(strength.data.max(initial=0), 1e-300))))
        side = np.asarray(divided(strength, weights)) * 2 - 1
        drawn = strength @ side
        return side + drawn / (2 * np.maximum(1, strength.sum(axis=1)))

    return places


def _by_metis(strength, weights):
    import pymetis

    return pymetis.part_graph(2, xadj=strength.indptr.tolist(), adjncy=strength.indices.tolist(), vweights=weights.tolist(),
                              eweights=strength.data.astype(int).tolist(), options=pymetis.Options(seed=1))[1]


def _by_kahip(strength, weights):
    import kahip

    return kahip.kaffpa(weights.tolist(), strength.indptr.tolist(), strength.data.astype(int).tolist(),
                        strength.indices.tolist(), 2, IMBALANCE, True, 1, 1)[1]


def _by_scotch(strength, weights):
    lines = ["0", f"{len(weights)} {strength.nnz}", "0 011"]
    for v, (first, last) in enumerate(zip(strength.indptr, strength.indptr[1:])):
        cables = (f"{int(strength.data[i])} {strength.indices[i]}" for i in range(first, last))
        lines.append(" ".join([str(weights[v]), str(last - first), *cables]))
    with temporary_folder() as folder:
        (folder / "part.grf").write_text("\n".join(lines) + "\n")
        run("scotch_gpart", "-Cdf", f"-b{IMBALANCE}", 2, folder / "part.grf", folder / "part.map")
        found = [line.split() for line in (folder / "part.map").read_text().splitlines()[1:]]
    side = np.zeros(len(weights), dtype=np.int64)
    for vertex, part in found:
        side[int(vertex)] = int(part)
    return side


DIVIDERS = (
    Divider("networkx", lambda: True, _vibration),
    Divider("METIS", lambda: find_spec("pymetis") is not None, _between(_by_metis)),
    Divider("KaHIP", lambda: find_spec("kahip") is not None, _between(_by_kahip)),
    Divider("Scotch", scotch_is_there, _between(_by_scotch)),
)
