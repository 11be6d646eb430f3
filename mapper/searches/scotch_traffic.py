"""Scotch's mapping of the traffic of a program, as a start: bytes as the weights of edges, onto the usable nodes.

Source: F. Pellegrini, "Scotch and PT-Scotch user's guide"; Debian package scotch (`scotch_gmap`, `amk_grf`).
"""

from collections.abc import Iterator

import numpy as np

from pencilmap.mapper.base.files import temporary_folder
from pencilmap.mapper.searches.scotch_map import network_graph, read_map, run, scotch_is_there
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.placement.allocation import Site
from pencilmap.model.traffic.program import Traffic

MOST_VERTICES = 600  # amk_grf needs the square
LARGEST = 10_000  # weight of the heaviest edge


def scotch_starts(site: Site, traffic: Traffic) -> Iterator[tuple[str, Ints]]:
    """Yield name and places of Scotch's mappings, none if it is not installed or fails."""
    if not scotch_is_there() or not traffic.total.bytes.nnz or traffic.n_ranks < 2:
        return
    with temporary_folder() as folder:
        (folder / "ranks.grf").write_text(traffic_graph(traffic))
        try:
            for target in _targets(site, folder):
                run("scotch_gmap", "-Cdf", "-b0", folder / "ranks.grf", folder / target, folder / "out.map")
                yield f"scotch {target}", _seated(site, read_map(folder / "out.map", traffic.n_ranks))
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


def _targets(site, folder):
    """Write files that describe the site, and yield their names."""
    network = site.network
    kind = None
    if network.has_products and site.allocation.is_complete and len(set(network.wrap)) == 1:
        kind = "torus" if network.wrap[0] else "mesh"
    if kind:
        (folder / "built-in").write_text(f"{kind}XD {network.n_dimensions} {' '.join(map(str, network.shape))}\n")
        yield "built-in"
    if network.arcs().n_vertices <= MOST_VERTICES:
        (folder / "network.grf").write_text(network_graph(network))
        nodes = np.sort(site.allocation.nodes)
        (folder / "usable.txt").write_text(f"{len(nodes)}\n{' '.join(map(str, nodes))}\n")
        run("amk_grf", f"-l{folder / 'usable.txt'}", folder / "network.grf", folder / "graph")
        yield "graph"


def _seated(site, wanted):
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
