"""Any network: its hosts and switches, with links coloured by their load in an exchange.

Switches are above their nearest hosts, at a height given by the number of links to the nearest host. Without switches, a
spring layout places the hosts. Hosts of the chosen row and column have the same marks as in the image of a torus.
"""

from typing import Any

import numpy as np

from pencilmap.model.base.arrays import Floats
from pencilmap.model.base.errors import FigureError
from pencilmap.model.network.network import Arcs
from pencilmap.model.placement.mapping import Mapping
from pencilmap.model.traffic.loads import LinkLoads, m_scale
from pencilmap.scripts.pictures.figures import canvas
from pencilmap.scripts.pictures.figures.canvas import WIDTH, Target, figure, heading, load_colours, save
from pencilmap.scripts.pictures.figures.image import groups_of, kinds_of_nodes, look_of
from pencilmap.scripts.pictures.loads_table import cable_loads

MAX_VERTICES = 1000
HEIGHT = 4.6         # inches
NAMED = 40           # largest number of vertices with names
LONGEST_NAME = 12    # letters
OUTSIDE, ASPECT = 1.3, 1.5  # radius of hosts around a circle of switches; width over height of the picture
LETTERS = 120        # of names beside each other, before the names of hosts stand upright


def draw_graph(mapping: Mapping, loads: LinkLoads, numbers: dict[str, int], path: Target, title: str,
               most: float | None = None, with_bytes: bool = False) -> None:
    """Draw hosts, switches and links.

    Parameters
    ----------
    mapping : Mapping
    loads : LinkLoads
    numbers : dict from str to int
        Selects row and column.
    path, title
    most : float, optional
        The load at the end of the scale.
    with_bytes : bool
        Whether loads are megabytes (a transform is named), otherwise they are on the scale of m.

    Raises
    ------
    FigureError
        If there is too much to draw.
    """
    from matplotlib.collections import LineCollection

    network: Any = mapping.network
    arcs = network.arcs()
    V = arcs.n_vertices
    if V > MAX_VERTICES:
        raise FigureError(f"{network} has {V} hosts and switches; a picture takes {MAX_VERTICES} at most")
    where = _places(arcs, network.n_nodes)
    scale = 1e-6 if with_bytes else float(m_scale(1, network, loads.total_bytes))
    both = _busier(arcs, cable_loads(loads) * scale)
    lines, top = heading(title, WIDTH)
    with figure(HEIGHT + top, WIDTH) as drawn:
        drawn.suptitle(lines, fontsize=8)
        axes = drawn.subplots()
        order = sorted(both, key=both.__getitem__)
        links = LineCollection([where[list(ends)] for ends in order], array=[both[ends] for ends in order],
                               cmap=load_colours(), linewidths=1.4, zorder=1, gid="links")
        links.set_clim(0, most or max(both.values(), default=0.0) or 1.0)
        axes.add_collection(links)
        groups = groups_of(mapping, numbers)
        kinds = kinds_of_nodes(groups)
        implied = set() if network.has_coordinates else network.implied  # drawn as a cable alone
        hosts = np.arange(network.n_nodes)
        switches = np.array([v for v in range(network.n_nodes, V) if v not in implied], dtype=np.int64)
        others = np.setdiff1d(hosts, np.concatenate(list(kinds.values())))
        for name, nodes in {"other": others, **kinds}.items():
            colour, marker, _ = look_of(name, groups)
            axes.scatter(*where[nodes].T, s=14 if name == "other" else 46, c=colour, marker=marker, zorder=3,
                         gid=f"{name}-hosts", label=None if name == "other" else _meaning(name, groups))
        axes.scatter(*where[switches].T, s=60, facecolors="white", edgecolors=canvas.BLACK, marker="h", zorder=2,
                     gid="switches", label="switch" if len(switches) else None)
        if V <= NAMED:
            names = [network.node_name(v) for v in range(V)] if network.has_coordinates else network.vertices
            upright = sum(len(name[:LONGEST_NAME]) + 1 for name in names[:network.n_nodes]) > LETTERS
            for v, (place, name) in enumerate(zip(where, names)):
                if v in implied:
                    continue
                axes.annotate(name[:LONGEST_NAME], place, (0, -7), textcoords="offset points", ha="center", va="top",
                              fontsize=6, rotation=90 if upright and v < network.n_nodes < V else 0)
        axes.set_axis_off()
        axes.margins(0.06)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4)
        bar = drawn.colorbar(links, ax=axes, location="bottom", fraction=0.04, pad=0.04, aspect=60)
        bar.set_label("load of one cable, the busier direction, "
                      + ("MB (1e6 bytes)" if with_bytes else "on the scale of m: 4 \u00b7 load \u00b7 N / D_T"))
        bar.outline.set_linewidth(0.5)
        save(drawn, path)


def _meaning(name, groups):
    return "in both" if name == "both" else f"{name} {groups[name][0]}"


def _busier(arcs, values):
    """Return loads of the busier direction of each pair of neighbours."""
    found: dict[tuple[int, int], float] = {}
    for a, b, value in zip(arcs.source.tolist(), arcs.target.tolist(), values.tolist()):
        ends = (min(a, b), max(a, b))
        found[ends] = max(value, found.get(ends, 0.0))
    return found


def _places(arcs: Arcs, n: int) -> Floats:
    """Return right and up of each vertex: float array, shape (V, 2)."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(arcs.n_vertices))
    graph.add_edges_from(zip(arcs.source.tolist(), arcs.target.tolist()))
    if arcs.n_vertices == n:
        found = nx.kamada_kawai_layout(graph) if n <= 100 else nx.spring_layout(graph, seed=1)
        return np.array([found[k] for k in range(n)])
    level = nx.multi_source_dijkstra_path_length(graph, set(range(n)))
    if max(level.values()) == 1 and arcs.n_vertices > n + 1:
        return _around(graph, n)
    right = {k: (k + 0.5) / n for k in range(n)}
    for height in range(1, max(level.values()) + 1):  # each switch above the middle of its lower neighbours, without overlap
        here = [k for k, at in level.items() if at == height]
        middle = {k: float(np.mean([right[b] for b in graph[k] if level[b] < height])) for k in here}
        ordered = sorted(here, key=lambda k: (middle[k], k))
        right |= {k: (place + 0.5) / len(ordered) for place, k in enumerate(ordered)}
    return np.array([(right[k], float(level[k])) for k in range(arcs.n_vertices)])


def _around(graph, n):
    """Return places of switches on a circle, as links to each other would lie on one line, and of hosts around them."""
    switches = [k for k in graph if k >= n]
    turn = {k: place / len(switches) for place, k in enumerate(switches)}
    found = {k: (1.0, turn[k]) for k in switches}
    for k in switches:
        hosts = [b for b in graph[k] if b < n and min(s for s in graph[b] if s >= n) == k]
        step = min(0.04, 0.8 / len(switches) / max(len(hosts), 1))
        found |= {b: (OUTSIDE, turn[k] + (place - (len(hosts) - 1) / 2) * step) for place, b in enumerate(hosts)}
    radius, angle = np.array([found[k] for k in range(len(found))]).T
    return np.stack([ASPECT * radius * np.sin(2 * np.pi * angle), radius * np.cos(2 * np.pi * angle)], axis=1)
