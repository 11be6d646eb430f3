"""Scotch's mapping of the same job, for comparison: the row and column messages as a graph, mapped onto the usable nodes.

Idea: Scotch minimises bytes times hops. The tasks are the vertices of its source graph, and every pair of a row or of a
column is an edge weighted by its bytes. The target is the network as a graph, restricted to the usable nodes
(`amk_grf -l`). So routes may cross the other nodes, as ours do. The built-in torus or mesh is also tried if it describes
the site. Scotch balances loads within a tolerance, so a node may get too many tasks. These go to the nearest free slot.
Source: F. Pellegrini, "Scotch and PT-Scotch user's guide"; Debian package scotch (`scotch_gmap`, `amk_grf`).
Cost: seconds for 512 nodes; amk_grf needs the square of the nodes.
"""

import os
import subprocess
from pathlib import Path
from shutil import which

import numpy as np

from pencilmap.mapper.base.files import temporary_folder
from pencilmap.model.base.arrays import Ints
from pencilmap.model.base.errors import PlacementError
from pencilmap.model.network.network import Network
from pencilmap.model.network.torus import as_torus
from pencilmap.model.placement.allocation import Site
from pencilmap.model.placement.grid import ProcessGrid
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.predict import predict

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


def _targets(site, folder):
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


def _mapped(site, grid, folder, target, strategy):
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


def _seated(site, grid, wanted):
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


def _apart(network, nodes, node):
    """Return the hops from nodes to a node; on other networks than tori the distance of their numbers."""
    if not network.has_products:
        return np.abs(nodes - node)
    apart = np.abs(network.coordinates(nodes) - network.coordinates(node))
    return sum(np.minimum(a, n - a) if w else a for a, n, w in zip(apart.T, network.shape, network.wrap))
