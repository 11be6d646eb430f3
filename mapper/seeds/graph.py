"""Seeds on graphs: halves of halves of the hosts, and Scotch's mappings.

Halves: a graph falls into two parts with few cables between them, each with half of the hosts; each part is divided in the
same way. So the parts of a fat tree that is known by its cables alone are its leaves and pods. A divider puts the vertices
into an order, and the parts are its beginning and its end. networkx's order follows the slowest vibration of the graph.
KaHIP, METIS and Scotch find two parts with nearly equal numbers of hosts; hosts that the other part attracts come next.
Source: M. Fiedler, "A property of eigenvectors of nonnegative symmetric matrices and its application to graph theory",
Czech. Math. J. 25 (1975); `networkx.spectral_ordering`; KaHIP (package kahip); METIS (package pymetis); Scotch (Debian
package scotch). Cost: an eigenvector, or a call of a program, for each part; nothing above `MOST_VERTICES`.
Needs: nothing for networkx; the other dividers are used if they are installed.

Scotch's mapping of the same job, for comparison: it minimises bytes times hops. The tasks are the vertices of its source
graph, and every pair of a row or of a column is an edge weighted by its bytes. The target is the network as a graph,
restricted to the usable nodes (`amk_grf -l`). So routes may cross the other nodes, as ours do. The built-in torus or mesh
is also tried if it describes the site. Scotch balances loads within a tolerance, so a node may get too many tasks. These go
to the nearest free slot. The traffic of a program is mapped likewise, as a start.
Source: F. Pellegrini, "Scotch and PT-Scotch user's guide"; Debian package scotch (`scotch_gmap`, `amk_grf`).
Cost: seconds for 512 nodes; amk_grf needs the square of the nodes.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import numpy as np

from pencilmap.mapper.base.files import temporary_folder
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Mapping, Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.predict import predict
from pencilmap.model.traffic.program import Traffic

PROGRAMS = ("scotch_gmap", "amk_grf")
ONE_THREAD = {"SCOTCH_PTHREAD_NUMBER": "1"}  # threads of Scotch 7 make another map each time
STRATEGIES = ("-cb", "-cbq", "-cq", "-ct")  # its strategies: balance, balance and quality, quality, safety
SECONDS = 300


def scotch_is_there() -> bool:
    """Return whether the programs are installed."""
    return all(which(program) for program in PROGRAMS)


def scotch_mapping(site: Site, grid: ProcessGrid) -> Mapping:
    """Return the cheapest mapping that Scotch finds with its strategies and targets.

    Raises
    ------
    PlacementError
        If Scotch is not installed or fails.
    """
    site.check_grid(grid)
    if not scotch_is_there():
        raise PlacementError("Scotch is not installed; install the Debian package scotch")
    with temporary_folder() as folder:
        (folder / "tasks.grf").write_text(task_graph(grid))
        mappings = [_mapped(site, grid, folder, target, strategy)
                    for target in _targets(site, folder) for strategy in STRATEGIES]
    return min(mappings, key=lambda mapping: predict(mapping, site=site).cost)


def task_graph(grid: ProcessGrid) -> str:
    """Return the messages of all exchanges in Scotch's graph format: of pencils a row message weighs C, a column message R.

    >>> from pencilmap.model.placement.grid import ProcessGrid
    >>> print(task_graph(ProcessGrid(2, 1)).rstrip())
    0
    2 2
    0 010
    1 1 1
    1 1 0
    """
    edges: list[list[str]] = [[] for _ in range(grid.n_tasks)]
    for stage in grid.decomposition.exchanges:
        groups = grid.groups(stage.letters).tolist()
        for group in groups:
            for rank in group:
                edges[rank] += [f"{len(groups)} {other}" for other in group if other != rank]
    lines = ["0", f"{grid.n_tasks} {sum(map(len, edges))}", "0 010"]
    return "\n".join([*lines, *(" ".join([str(len(some)), *some]) for some in edges)]) + "\n"


def network_graph(network: Network) -> str:
    """Return the vertices and cables of a network in Scotch's graph format.

    >>> from pencilmap.model.network.torus import Torus
    >>> print(network_graph(Torus((3,), (False,))).rstrip())
    0
    3 4
    0 000
    1 1
    2 0 2
    1 1
    """
    arcs = network.arcs()
    neighbours: list[list[int]] = [[] for _ in range(arcs.n_vertices)]
    for source, target in sorted(set(zip(arcs.source.tolist(), arcs.target.tolist()))):
        neighbours[source].append(target)
    lines = ["0", f"{arcs.n_vertices} {sum(map(len, neighbours))}", "0 000"]
    lines += [" ".join(map(str, [len(some), *some])) for some in neighbours]
    return "\n".join(lines) + "\n"


def _targets(site: Site, folder: Path) -> Iterator[Path]:
    """Write target files that describe the site."""
    torus = as_torus(site.network) if site.network.has_products else None
    (folder / "network.grf").write_text(network_graph(site.network))
    nodes = np.sort(site.allocation.nodes)
    (folder / "usable.txt").write_text(f"{len(nodes)}\n{' '.join(map(str, nodes))}\n")
    run("amk_grf", f"-l{folder / 'usable.txt'}", folder / "network.grf", folder / "network.tgt")
    yield folder / "network.tgt"
    if torus and len(set(torus.wrap)) == 1 and site.allocation.is_complete:
        kind = "torus" if torus.wrap[0] else "mesh"
        (folder / "built-in.tgt").write_text(f"{kind}XD {torus.n_dimensions} {' '.join(map(str, torus.shape))}\n")
        yield folder / "built-in.tgt"


def _mapped(site: Site, grid: ProcessGrid, folder: Path, target: Path, strategy: str) -> Mapping:
    run("scotch_gmap", "-Cdf", strategy, folder / "tasks.grf", target, folder / "out.map")
    return _seated(site, grid, read_map(folder / "out.map", grid.n_tasks))


def read_map(path: Path, n: int) -> Ints:
    """Return the target of each of n vertices in a file that Scotch wrote; -1 for none."""
    found = np.full(n, -1, dtype=np.int64)
    for line in path.read_text().splitlines()[1:]:
        vertex, target = map(int, line.split())
        found[vertex] = target
    return found


def run(*command: object) -> None:
    """Run a program of Scotch. Raises PlacementError if it fails."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS,
                              env=os.environ | ONE_THREAD)
    except subprocess.TimeoutExpired as error:
        raise PlacementError(f"{command[0]} did not finish within {SECONDS} s; use a smaller case") from error
    if done.returncode:
        raise PlacementError(f"{command[0]} failed with status {done.returncode}: {done.stderr.strip()[-200:]}")


def _seated(site: Site, grid: ProcessGrid, wanted: Ints) -> Mapping:
    """Put every task on its intended node while free slots remain there, otherwise on the nearest node with a free slot."""
    network, T = site.network, site.tasks_per_node
    free = np.where(site.allocation.is_usable(), T, 0)
    node, left = np.empty(grid.n_tasks, dtype=np.int64), []
    for rank, at in enumerate(wanted):
        if at >= 0 and free[at]:
            node[rank] = at
            free[at] -= 1
        else:
            left.append(rank)
    for rank in left:
        open_nodes = np.flatnonzero(free)
        node[rank] = open_nodes[_apart(network, open_nodes, max(int(wanted[rank]), 0)).argmin()]
        free[node[rank]] -= 1
    slot, seen = np.empty_like(node), dict[int, int]()
    for rank, at in enumerate(node.tolist()):
        slot[rank] = seen.get(at, 0)
        seen[at] = seen.get(at, 0) + 1
    return Mapping(network, grid, T, node, slot, f"scotch ({len(left)} moved)")


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


MOST_MAPPED = 600  # amk_grf needs the square
LARGEST = 10_000  # weight of the heaviest edge


def scotch_starts(site: Site, traffic: Traffic) -> Iterator[tuple[str, Ints]]:
    """Yield name and places of Scotch's mappings, none if it is not installed or fails."""
    if not scotch_is_there() or not traffic.total.bytes.nnz or traffic.n_ranks < 2:
        return
    with temporary_folder() as folder:
        (folder / "ranks.grf").write_text(traffic_graph(traffic))
        try:
            for target in _traffic_targets(site, folder):
                run("scotch_gmap", "-Cdf", "-b0", folder / "ranks.grf", folder / target, folder / "out.map")
                yield f"scotch {target}", _traffic_seated(site, read_map(folder / "out.map", traffic.n_ranks))
        except PlacementError:
            return  # other starts remain


def traffic_graph(traffic: Traffic) -> str:
    """Return the bytes between ranks in Scotch's graph format, scaled to small whole numbers.

    >>> from pencilmap.model.traffic.program import one_phase, pairs_of
    >>> print(traffic_graph(one_phase(2, pairs_of([0], [1], [8]))).rstrip())
    0
    2 2
    0 010
    1 10000 1
    1 10000 0
    """
    matrix = traffic.total.bytes.astype(float)
    matrix = (matrix + matrix.T).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    weight = np.maximum(1, np.rint(matrix.data * (LARGEST / matrix.data.max(initial=1.0)))).astype(np.int64)
    lines = ["0", f"{traffic.n_ranks} {matrix.nnz}", "0 010"]
    for rank in range(traffic.n_ranks):
        some = range(matrix.indptr[rank], matrix.indptr[rank + 1])
        lines.append(" ".join([str(len(some)), *(f"{weight[k]} {matrix.indices[k]}" for k in some)]))
    return "\n".join(lines) + "\n"


def _traffic_targets(site: Site, folder: Path) -> Iterator[str]:
    """Write files that describe the site, and yield their names."""
    network = site.network
    kind = None
    if network.has_products and site.allocation.is_complete and len(wrap := set(as_torus(network).wrap)) == 1:
        kind = "torus" if True in wrap else "mesh"
    if kind:
        (folder / "built-in").write_text(f"{kind}XD {network.n_dimensions} {' '.join(map(str, network.shape))}\n")
        yield "built-in"
    if network.arcs().n_vertices <= MOST_MAPPED:
        (folder / "network.grf").write_text(network_graph(network))
        nodes = np.sort(site.allocation.nodes)
        (folder / "usable.txt").write_text(f"{len(nodes)}\n{' '.join(map(str, nodes))}\n")
        run("amk_grf", f"-l{folder / 'usable.txt'}", folder / "network.grf", folder / "graph")
        yield "graph"


def _traffic_seated(site: Site, wanted: Ints) -> Ints:
    """Put every rank on its node while places remain there, the others on the next node with a free place."""
    T, position = site.tasks_per_node, np.full(site.network.n_nodes, 0, np.int64)
    position[site.allocation.nodes] = np.arange(site.allocation.n_nodes)
    used, places, left = np.zeros(site.allocation.n_nodes, np.int64), np.full(len(wanted), -1), []
    for rank, node in enumerate(wanted.tolist()):
        at = position[max(node, 0)]
        if used[at] < T:
            places[rank] = at * T + used[at]
            used[at] += 1
        else:
            left.append((rank, at))
    for rank, at in left:
        free = np.flatnonzero(used < T)
        at = free[np.argmin(np.abs(free - at))]
        places[rank] = at * T + used[at]
        used[at] += 1
    return places
