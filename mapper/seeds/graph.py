"""Seeds on graphs: halves of halves of the hosts, Scotch's mappings, and on a graph that is a torus the placements there.

Halves: a graph falls into two parts with few cables between them, each with half of the hosts; each part is divided in the
same way. So the parts of a fat tree that is known by its cables alone are its leaves and pods. A divider puts the vertices
into an order, and the parts are its beginning and its end. networkx's order follows the slowest vibration of the graph.
KaHIP, METIS and Scotch find two parts with nearly equal numbers of hosts; hosts that the other part attracts come next.
Source: M. Fiedler, "A property of eigenvectors of nonnegative symmetric matrices and its application to graph theory",
Czech. Math. J. 25 (1975); `networkx.spectral_ordering`; KaHIP (package kahip); METIS (package pymetis); Scotch (Debian
package scotch). Cost: an eigenvector, or a call of a program, for each part; nothing above `MOST_VERTICES`.
Needs: nothing for networkx; the other dividers are used if they are installed.

Scotch's mapping of the traffic of a program, as a start, and of the exchanges of a grid, for comparison: it minimises bytes
times hops. The ranks are the vertices of its source graph, and their bytes the weights of its edges. The target is the
network as a graph, restricted to the usable nodes (`amk_grf -l`). So routes may cross the other nodes, as ours do. The
built-in torus or mesh is also tried if it describes the site. Scotch balances loads within a tolerance, so a node may get
too many ranks. These go to the nearest free slot.
Source: F. Pellegrini, "Scotch and PT-Scotch user's guide"; Debian package scotch (`scotch_gmap`, `amk_grf`).
Cost: seconds for 512 nodes; amk_grf needs the square of the nodes.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from math import inf
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.files import temporary_folder
from pencilmap.mapper.seeds import Seeds, Twin, twin_at, twin_on
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.kinds.graph import of_torus, simplest
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.traffic.program import Traffic, joined, one_phase, pairs_of

PROGRAMS = ("scotch_gmap", "amk_grf")
ONE_THREAD = {"SCOTCH_PTHREAD_NUMBER": "1"}  # threads of Scotch 7 make another map each time
STRATEGIES = ("-cb", "-cbq", "-cq", "-ct")  # its strategies: balance, balance and quality, quality, safety
SECONDS = 300
MOST_MAPPED = 600  # vertices of a network whose graph is a target of a start: amk_grf needs the square
LARGEST = 10_000  # weight of the heaviest edge


def scotch_is_there() -> bool:
    """Return whether the programs are installed."""
    return all(which(program) for program in PROGRAMS)


def scotch_mapping(site: Site, grid: ProcessGrid) -> Mapping:
    """Return the cheapest mapping of the exchanges of a grid that Scotch finds with its strategies and targets.

    Raises
    ------
    PlacementError
        If Scotch is not installed or fails.
    """
    site.check_grid(grid)
    if not scotch_is_there():
        raise PlacementError("Scotch is not installed; install the Debian package scotch")
    T, traffic = site.tasks_per_node, traffic_of(grid)
    mappings = [Mapping(site.network, grid, T, site.allocation.nodes[places // T], places % T, name)
                for name, places in _mapped(site, traffic, STRATEGIES)]
    return min(mappings, key=lambda mapping: predict(mapping, site=site).cost)


def scotch_starts(site: Site, traffic: Traffic) -> Iterator[tuple[str, Ints]]:
    """Yield name and places of Scotch's mappings, none if it is not installed or fails."""
    if scotch_is_there() and traffic.total.bytes.nnz and traffic.n_ranks > 1:
        with suppress(PlacementError):  # other starts remain
            yield from _mapped(site, traffic, ("-b0",), MOST_MAPPED)


def _mapped(site: Site, traffic: Traffic, strategies: Sequence[str], most: float = inf) -> Iterator[tuple[str, Ints]]:
    """Yield name and places of the mapping of each strategy and target; of networks up to so many vertices as graphs."""
    with temporary_folder() as folder:
        (folder / "ranks.grf").write_text(graph_text(_scaled(traffic)))
        for target in _targets(site, folder, most):
            for strategy in strategies:
                run("scotch_gmap", "-Cdf", strategy, folder / "ranks.grf", folder / target, folder / "out.map")
                yield f"scotch {target}", _seated(site, read_map(folder / "out.map", traffic.n_ranks))


def traffic_of(grid: ProcessGrid) -> Traffic:
    """Return the messages of all exchanges of a grid: of pencils a row message weighs C, a column message R."""
    parts = []
    for stage in grid.decomposition.exchanges:
        groups = grid.groups(stage.letters)
        source, target = np.broadcast_arrays(groups[:, :, None], groups[:, None, :])
        parts.append(pairs_of(source.ravel(), target.ravel(), len(groups)))
    return one_phase(grid.n_tasks, joined(parts))


def _scaled(traffic: Traffic) -> Any:
    """Return the bytes between ranks, both ways, as small whole numbers: a sparse matrix."""
    matrix = traffic.total.bytes.astype(float)
    matrix = (matrix + matrix.T).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.data = np.maximum(1, np.rint(matrix.data * (LARGEST / matrix.data.max(initial=1.0))))
    return matrix


def graph_text(edges: Any, sizes: Ints | None = None) -> str:
    """Return the weights of edges, a sparse matrix, in Scotch's graph format, with the weights of vertices if given.

    >>> print(graph_text(_scaled(traffic_of(ProcessGrid(2, 1)))).rstrip())
    0
    2 2
    0 010
    1 10000 1
    1 10000 0
    """
    lines = ["0", f"{edges.shape[0]} {edges.nnz}", "0 010" if sizes is None else "0 011"]
    weights, ends = edges.data.astype(np.int64).tolist(), edges.indices.tolist()
    for v, (first, last) in enumerate(pairwise(edges.indptr.tolist())):
        row = [f"{weight} {end}" for weight, end in zip(weights[first:last], ends[first:last])]
        lines.append(" ".join([*([] if sizes is None else [str(sizes[v])]), str(last - first), *row]))
    return "\n".join(lines) + "\n"


def network_graph(network: Network) -> str:
    """Return the vertices and cables of a network in Scotch's graph format.

    >>> from pencilmap.model.network.torus import Torus
    >>> print(network_graph(Torus((3,), (False,))).rstrip())
    0
    3 4
    0 010
    1 1 1
    2 1 0 1 2
    1 1 1
    """
    from scipy.sparse import coo_array  # slow to import

    arcs = network.arcs()
    cables = coo_array((np.ones(len(arcs.source)), (arcs.source, arcs.target)), shape=(arcs.n_vertices,) * 2).tocsr()
    cables.data[:] = 1
    return graph_text(cables)


def _targets(site: Site, folder: Path, most: float) -> Iterator[str]:
    """Write files that describe the site, and yield their names; the graph of a network of at most so many vertices."""
    network = site.network
    if network.has_products and site.allocation.is_complete and len(wrap := set(as_torus(network).wrap)) == 1:
        (folder / "built-in").write_text(f"{'torus' if True in wrap else 'mesh'}XD {network.n_dimensions} "
                                         f"{' '.join(map(str, network.shape))}\n")
        yield "built-in"
    if network.arcs().n_vertices <= most:
        (folder / "network.grf").write_text(network_graph(network))
        nodes = np.sort(site.allocation.nodes)
        (folder / "usable.txt").write_text(f"{len(nodes)}\n{' '.join(map(str, nodes))}\n")
        run("amk_grf", f"-l{folder / 'usable.txt'}", folder / "network.grf", folder / "graph")
        yield "graph"


def read_map(path: Path, n: int) -> Ints:
    """Return the target of each of n vertices in a file that Scotch wrote; -1 for none."""
    places = np.full(n, -1, dtype=np.int64)
    for line in path.read_text().splitlines()[1:]:
        vertex, target = map(int, line.split())
        places[vertex] = target
    return places


def run(*command: object) -> None:
    """Run a program of Scotch. Raises PlacementError if it fails."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS,
                              env=os.environ | ONE_THREAD)
    except subprocess.TimeoutExpired as error:
        raise PlacementError(f"{command[0]} did not finish within {SECONDS} s; use a smaller case") from error
    if done.returncode:
        raise PlacementError(f"{command[0]} failed with status {done.returncode}: {done.stderr.strip()[-200:]}")


def _seated(site: Site, vertices: Ints) -> Ints:
    """Put every rank on its intended node while places remain there, otherwise on the nearest node with a free place."""
    T, nodes, places = site.tasks_per_node, site.allocation.nodes, np.full(len(vertices), -1)
    position, used = np.zeros(site.network.n_nodes, np.int64), np.zeros(len(nodes), np.int64)
    position[nodes] = np.arange(len(nodes))

    def seat(rank: int, at: int) -> None:
        places[rank] = at * T + used[at]
        used[at] += 1

    for rank, node in enumerate(vertices.tolist()):
        if node >= 0 and used[position[node]] < T:
            seat(rank, int(position[node]))
    for rank in np.flatnonzero(places < 0).tolist():
        free = np.flatnonzero(used < T)
        seat(rank, int(free[_apart(site.network, nodes[free], max(int(vertices[rank]), 0)).argmin()]))
    return places


def _apart(network: Any, nodes: Ints, node: int) -> Ints:
    """Return the hops from nodes to a node; on other networks than tori the distance of their numbers."""
    if not network.has_products:
        return np.abs(nodes - node)
    apart = np.abs(network.coordinates(nodes) - network.coordinates(node))
    return sum(np.minimum(a, n - a) if w else a for a, n, w in zip(apart.T, network.shape, network.wrap))


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
    """Return the part of each vertex after each division, from the smallest parts to the largest; the parts are nested.

    Examples
    --------
    >>> import networkx as nx
    >>> from pencilmap.model.network.graph import from_networkx
    >>> [len(set(part.tolist())) for part in halves(from_networkx(nx.path_graph(8), "line"))]
    [4, 2]
    """
    from scipy.sparse import coo_array  # slow to import

    arcs, places = network.arcs(), next(item.places for item in DIVIDERS if item.name == divider)
    V, N = arcs.n_vertices, network.n_nodes
    if V > MOST_VERTICES:
        return ()
    cables = coo_array((arcs.capacity, (arcs.source, arcs.target)), shape=(V, V)).tocsr()
    cables += cables.T
    parts, orders = [np.arange(V)], []
    while max(np.count_nonzero(part < N) for part in parts) > 2:
        parts = [half for part in parts for half in _divided(part, cables, N, places)]
        unit = np.empty(V, dtype=np.int64)
        for number, part in enumerate(parts):
            unit[part] = number
        orders.append(unit)
    return tuple(orders[::-1])


@cache
def dividers() -> tuple[str, ...]:
    """Return the names of the dividers that are installed."""
    return tuple(divider.name for divider in DIVIDERS if divider.is_there())


def _divided(part: Ints, cables: Any, N: int, places: Callable[..., Any]) -> list[Ints]:
    """Return the vertices of the two halves of a part, or the part alone if it has one host."""
    is_host = (part < N).astype(int)
    half = is_host.sum() // 2
    if not half:
        return [part]
    order = np.lexsort((part, np.round(np.asarray(places(cables[part][:, part], is_host), dtype=float), 9)))
    last = np.flatnonzero(np.cumsum(is_host[order]) == half)[0] + 1
    return [np.sort(part[order[:last]]), np.sort(part[order[last:]])]


def _vibration(cables: Any, is_host: Ints) -> Floats:
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


def _between(divided: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that gives places: those of two parts, and those of hosts between those of switches."""
    def places(cables: Any, is_host: Ints) -> Floats:
        cables = cables.tocsr()
        cables.data = np.maximum(1, np.rint(cables.data * (FINEST / max(cables.data.max(initial=0), 1e-300))))
        side = np.asarray(divided(cables, is_host)) * 2 - 1
        return np.where(is_host, side + cables @ side / (2 * np.maximum(1, cables.sum(axis=1))), OUTSIDE * side)

    return places


def _by_metis(cables: Any, is_host: Any) -> Any:
    import pymetis

    adjacency = pymetis.CSRAdjacency(cables.indptr.tolist(), cables.indices.tolist())
    return pymetis.part_graph(2, adjacency, vweights=is_host.tolist(), eweights=cables.data.astype(int).tolist(),
                              options=pymetis.Options(seed=1))[1]


def _by_kahip(cables: Any, is_host: Any) -> Any:
    import kahip

    return kahip.kaffpa((3 * is_host + 1).tolist(), cables.indptr.tolist(), cables.data.astype(int).tolist(),
                        cables.indices.tolist(), 2, IMBALANCE, True, 1, STRONG)[1]


def _by_scotch(cables: Any, is_host: Ints) -> Ints:
    with temporary_folder() as folder:
        (folder / "part.grf").write_text(graph_text(cables, is_host))
        run("scotch_gpart", "-Cdf", f"-b{IMBALANCE}", 2, folder / "part.grf", folder / "part.map")
        return read_map(folder / "part.map", len(is_host))


DIVIDERS = (
    Divider("networkx", lambda: True, _vibration),
    Divider("METIS", lambda: find_spec("pymetis") is not None, _between(_by_metis)),
    Divider("KaHIP", lambda: find_spec("kahip") is not None, _between(_by_kahip)),
    Divider("Scotch", scotch_is_there, _between(_by_scotch)),
)


class _TorusGraphSeeds(Seeds):
    def twin(self, site: Site) -> Twin:
        return twin_on(site, of_torus(site))


class _TorusSeeds(Seeds):
    def twin(self, site: Site) -> Twin | None:
        torus = as_torus(site.network)
        found, node = simplest(torus)
        is_found = found.shape == torus.shape and (node == np.arange(torus.n_nodes)).all()
        return None if is_found else twin_at(site, found, node)


SEEDS, OF_TORUS = _TorusGraphSeeds(), _TorusSeeds()
