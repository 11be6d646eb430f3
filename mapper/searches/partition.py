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
MOST_WHOLE = 128        # above this number one vibration alone costs less than all of them
UNLIKE = 1e-4           # how much the weights differ, so that the eigenvector is unique on symmetric graphs
FINEST = 1000           # parts of the thickest cable
IMBALANCE = 0.03        # of the hosts of two parts
OUTSIDE = 3             # place of switches, outside those of hosts
STRONG = 2              # a setting of KaHIP


class Divider(NamedTuple):
    """A program that divides a graph into halves."""

    name: str
    is_there: Callable[[], bool]
    places: Callable[[Any, Ints], Sequence[float] | Floats]  #: of the vertices, from the cables between them and 1 for hosts


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
    from scipy.sparse import coo_array  # slow to import

    arcs, places = network.arcs(), next(each.places for each in DIVIDERS if each.name == divider)
    V, N = arcs.n_vertices, network.n_nodes
    if V > MOST_VERTICES:
        return ()
    cables = coo_array((arcs.capacity, (arcs.source, arcs.target)), shape=(V, V)).tocsr()
    cables += cables.T
    parts, found = [np.arange(V)], []
    while max(np.count_nonzero(part < N) for part in parts) > 2:
        parts = [half for part in parts for half in _divided(part, cables, N, places)]
        unit = np.empty(N, dtype=np.int64)
        for number, part in enumerate(parts):
            unit[part[part < N]] = number
        found.append(unit)
    return tuple(found[::-1])


@cache
def dividers() -> tuple[str, ...]:
    """Return the names of the dividers that are installed."""
    return tuple(divider.name for divider in DIVIDERS if divider.is_there())


def _divided(part, cables, N, places):
    """Return the vertices of the two halves of a part, or the part alone if it has one host."""
    is_host = (part < N).astype(int)
    half = is_host.sum() // 2
    if not half:
        return [part]
    order = np.lexsort((part, np.round(np.asarray(places(cables[part][:, part], is_host), dtype=float), 9)))
    last = np.flatnonzero(np.cumsum(is_host[order]) == half)[0] + 1
    return [np.sort(part[order[:last]]), np.sort(part[order[last:]])]


def _vibration(cables, is_host):
    """Return the places of the vertices along the slowest vibration."""
    n = len(is_host)
    if n > MOST_DENSE:
        import networkx as nx

        place = np.empty(n)
        place[nx.spectral_ordering(nx.from_scipy_sparse_array(cables), seed=1)] = np.arange(n)
        return place
    strength = cables.toarray() * (1 + UNLIKE * np.add.outer(np.arange(n), np.arange(n)) / n)
    strength = np.diag(strength.sum(axis=1)) - strength
    if n > MOST_WHOLE:
        from scipy.linalg import eigh

        slowest = eigh(strength, subset_by_index=[1, 1])[1][:, 0]
    else:
        slowest = np.linalg.eigh(strength)[1][:, 1]
    return slowest * np.sign(slowest[np.abs(slowest).argmax()])


def _between(divided):
    """Return a function that gives places: those of two parts, and those of hosts between those of switches."""
    def places(cables, is_host):
        cables = cables.tocsr()
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
