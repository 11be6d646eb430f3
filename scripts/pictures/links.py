"""Link loads of an exchange: as a heat map, as bars of several placements, and as colours of a drawn network."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pencilmap.mapper.base.files import write_whole
from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import FigureError
from pencilmap.model.network.network import Arcs, Network
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.placement.allocation import Mapping
from pencilmap.model.predict import Prediction
from pencilmap.model.predict.question import ExchangePrediction
from pencilmap.model.traffic.loads import LinkLoads, m_scale
from pencilmap.scripts.pictures.canvas import BLACK, CYCLE, TALLEST, WIDTH, Target, figure, heading, load_colours, save
from pencilmap.scripts.pictures.image import STUB, Lattices, groups_of, kinds_of_nodes, looks_of
from pencilmap.scripts.pictures.text import cable_loads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Link loads of an exchange as a heat map, and effective lengths and loads of several placements as bars.
#
# In the heat map every link of the torus is a cell, and each dimension and direction has a strip. In a strip, the position
# along the dimension runs to the right and the next dimension upwards. The others repeat that block: the third to the
# right, the fourth upwards, the fifth to the right again, each with a wider gap ("x in z": a numbered block of x for each
# z). Missing links (the ends of an open line) are white.

MAX_CELLS, MAX_VECTOR_LINKS = 60_000, 20_000
FLAT = 0.25                    # flatter strips have the width of the page, others are side by side
LOWEST, HIGHEST = 0.3, 3.2     # inches of a strip
AROUND, MARGINS = 0.46, 0.55   # inches of labels above and below a strip; at its sides
LETTER = 0.06                  # inches, mean width in labels
BAR = 0.55                     # inches of the scale of colours
TICK = 0.13                    # inches that the text of a tick needs


def draw_loads(loads: LinkLoads, path: Target, title: str, with_bytes: bool) -> None:
    """Draw the load of every link.

    With `with_bytes` (a transform is named), loads are megabytes, otherwise on the scale of m.

    Raises
    ------
    FigureError
        If there are too many links for a picture.
    """
    torus = as_torus(loads.network)
    strips = [Blocks(torus, i) for i, n in enumerate(torus.shape) if n > 1]
    links = 2 * len(strips) * torus.n_nodes
    if not 0 < links <= MAX_CELLS:
        raise FigureError(f"torus {torus} has {links} links; a picture takes 1 to {MAX_CELLS}; take another torus")
    values = link_values(loads, with_bytes)
    columns = 1 if all(b.extent[1] < FLAT * b.extent[0] for b in strips) else 2
    width = WIDTH / columns - MARGINS
    heights = _heights(strips, width, columns)
    lines, top = heading(title, WIDTH)
    with figure((sum(heights) + AROUND * len(strips)) * 2 / columns + top + BAR) as drawn:
        drawn.suptitle(lines, fontsize=8)
        repeated = np.repeat(heights, 2 // columns)
        grid = drawn.subplots(len(repeated), columns, squeeze=False, height_ratios=repeated)
        largest = max(float(np.nanmax(values[b.dimension])) for b in strips)
        for axes, (blocks, direction) in zip(grid.flat, [(b, k) for b in strips for k in (0, 1)]):
            mesh = _strip(axes, blocks, values[blocks.dimension, direction], largest, links > MAX_VECTOR_LINKS)
            height = heights[strips.index(blocks)]
            _axes_of(axes, blocks, (width, height))
            axes.set_title(f"links along {'+-'[direction]}{torus.axes[blocks.dimension]}", loc="left", pad=3)
        bar = drawn.colorbar(mesh, ax=grid.ravel().tolist(), location="bottom", fraction=0.03, pad=0.02, aspect=60)
        bar.set_label("load of one cable, MB (1e6 bytes)" if with_bytes else
                      "load of one cable on the scale of m: 4 \u00b7 load \u00b7 N / D_T")
        bar.outline.set_linewidth(0.5)
        save(drawn, path)


def _heights(strips: "list[Blocks]", width: float, columns: int) -> list[float]:
    """Return the size of each strip in inches: square cells, unless too flat for labels or too high for a page."""
    lowest = [max(LOWEST, len(b.label(1)) * LETTER) for b in strips]
    heights = [min(HIGHEST, max(low, width * b.extent[1] / b.extent[0])) for low, b in zip(lowest, strips)]
    room = (TALLEST - BAR) * columns / 2 - AROUND * len(strips)
    return [max(low, h * min(1, room / sum(heights))) for low, h in zip(lowest, heights)]


def link_values(loads: LinkLoads, with_bytes: bool) -> Floats:
    """Return the load of a cable of each link, nan for missing links: float array, shape (d, 2, N)."""
    torus = as_torus(loads.network)
    cables = np.array(torus.cables)[:, None, None]
    scale = 1e-6 if with_bytes else float(m_scale(1, torus, loads.total_bytes))
    values = np.asarray(loads.bytes(), dtype=float) / cables * scale
    coordinates = torus.coordinates(np.arange(torus.n_nodes))
    for i in range(torus.n_dimensions):
        if not torus.is_ring(i):
            values[i, 0, coordinates[:, i] == torus.shape[i] - 1] = np.nan
            values[i, 1, coordinates[:, i] == 0] = np.nan
    return values


class Blocks:
    """Position of each node's cell in the strip of a dimension: nested blocks, alternately to the right and upwards.

    >>> from pencilmap.model.network.torus import Torus
    >>> Blocks(Torus((4, 3, 2)), 1).extent           # y to the right, x upwards, z repeats: two blocks of 3 and a gap of 1
    (7, 4)
    """

    def __init__(self, torus: Torus, dimension: int) -> None:
        self.torus, self.dimension = torus, dimension
        self.order = [dimension] + [j for j, n in enumerate(torus.shape) if j != dimension and n > 1]
        self.strides, extent = {}, [1, 1]
        for level, j in enumerate(self.order):
            side, gap = level % 2, level // 2
            self.strides[j] = extent[side] + gap
            extent[side] = torus.shape[j] * self.strides[j] - gap
        self.extent = tuple(extent)

    def along(self, side: int) -> list[int]:
        """Return the dimensions that run to the right (0) or upwards (1), the inner dimensions first."""
        return self.order[side::2]

    def place(self) -> Ints:
        """Return right and up of the cell of each node: int array, shape (2, N)."""
        coordinates = self.torus.coordinates(np.arange(self.torus.n_nodes))
        return np.stack([sum((coordinates[:, j] * self.strides[j] for j in self.along(side)),
                             np.zeros(len(coordinates), dtype=np.int64)) for side in (0, 1)])

    def ticks(self, side: int, most: int) -> tuple[list[float], list[str]]:
        """Return centres and numbers of the outermost blocks of a side, up to a limit."""
        if not self.along(side):
            return [], []
        outer = self.along(side)[-1]
        n, stride = self.torus.shape[outer], self.strides[outer]
        shown = range(0, n, -(-n // max(1, most)))
        block = self.extent[side] - (n - 1) * stride
        return [k * stride + block / 2 for k in shown], [str(k) for k in shown]

    def label(self, side: int) -> str:
        """Return the dimensions of a side in words."""
        return " in ".join(self.torus.axes[j] for j in self.along(side))


def _strip(axes: Any, blocks: Blocks, values: Ints | Floats, largest: float, raster: bool) -> Any:
    """Draw a dimension and direction: a cell for each node."""
    cells = np.full(blocks.extent[::-1], np.nan)
    right, up = blocks.place()
    cells[up, right] = values
    return axes.pcolormesh(np.ma.masked_invalid(cells), cmap=load_colours(), vmin=0, vmax=largest or 1, linewidth=0,
                           antialiased=False, rasterized=raster)


def _axes_of(axes: Any, blocks: Blocks, inches: tuple[float, float]) -> None:
    for side, axis in enumerate((axes.xaxis, axes.yaxis)):
        axis.set_ticks(*blocks.ticks(side, int(inches[side] / (TICK * (2 - side)))))
        axis.set_tick_params(length=0, pad=1)
        axis.set_label_text(blocks.label(side), fontsize=7)
        axis.labelpad = 1
    for spine in axes.spines.values():
        spine.set_visible(False)


MAX_PLACEMENTS, MAX_BESIDE = 12, 5                                      # side by side, in all exchanges
SHADES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo", "***")   # dimensions can be told apart without colour
LETTER_BELOW = 0.062                                                         # inches, mean width under the bars


def draw_lengths(predictions: Sequence[Prediction], path: Target, title: str) -> None:
    """Draw the lengths and loads of each placement in each dimension; all predictions are for the same torus.

    Raises
    ------
    FigureError
        If there are too many placements for a picture.
    """
    if len(predictions) > MAX_PLACEMENTS:
        raise FigureError(f"{len(predictions)} placements; a picture takes at most {MAX_PLACEMENTS}")
    lines, top = heading(title, WIDTH)
    stages = len(predictions[0].stages)
    columns = stages if len(predictions) <= MAX_BESIDE else 1
    letters = int((WIDTH - 0.8) / columns / len(predictions) / LETTER_BELOW)
    labels = [_label(p, len({q.grid for q in predictions}) > 1, letters) for p in predictions]
    below = 0.15 * max(label.count("\n") + 1 for label in labels)
    with figure((2.3 + below) * stages / columns + 0.6 + top) as drawn:
        drawn.suptitle(lines, fontsize=8)
        panels = drawn.subplots(stages // columns, columns, sharey=True, squeeze=False).ravel()
        for axes, exchange in zip(panels, zip(*(p.stages for p in predictions))):
            _bars(axes, exchange, predictions[0].network)
            axes.set_title(f"{exchange[0].name} exchange")
            axes.set_xticks(range(len(predictions)), labels, fontsize=7)
            axes.tick_params(axis="x", length=0)
        for axes in panels[::columns]:
            axes.set_ylabel("m_i and load, 4 \u00b7 load \u00b7 N / D_T (links)")
        _legend_of_bars(drawn, predictions[0].network)
        save(drawn, path)


def _label(prediction: Prediction, with_grid: bool, letters: int) -> str:
    """Return the name of a placement in lines that fit, broken after commas and colons."""
    text = (f"{prediction.grid}: " if with_grid else "") + prediction.placement
    lines = [""]
    for part in re.split("(?<=[,:])", text):
        for piece in [part[k:k + letters] for k in range(0, len(part), letters)]:
            if len(lines[-1]) + len(piece) <= letters:
                lines[-1] += piece
            else:
                lines.append(piece)
    return "\n".join(lines)


def _bars(axes: Any, exchanges: tuple[ExchangePrediction, ...], network: Torus | Network) -> None:
    shown = [i for i, n in enumerate(network.shape) if n > 1] or [0]
    width = 0.8 / len(shown)
    for k, i in enumerate(shown):
        at = [place - 0.4 + (k + 0.5) * width for place in range(len(exchanges))]
        bars = axes.bar(at, [float(e.m[i]) for e in exchanges], 0.92 * width, color=CYCLE[i], hatch=SHADES[i],
                        edgecolor="white", linewidth=0, zorder=2)
        for bar in bars:
            bar.set_gid(f"m-{network.axes[i]}")
        loaded = [(x, float(e.load[i])) for x, e in zip(at, exchanges) if e.load[i]]
        axes.hlines([load for _, load in loaded], [x - 0.46 * width for x, _ in loaded],
                    [x + 0.46 * width for x, _ in loaded], color=BLACK, linewidth=2.2, zorder=3,
                    gid=f"load-{network.axes[i]}")
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
    axes.set_xlim(-0.6, len(exchanges) - 0.4)
    axes.set_ylim(bottom=0)


def _legend_of_bars(drawn: "Figure", network: Torus | Network) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown = [i for i, n in enumerate(network.shape) if n > 1] or [0]
    marks = [Patch(facecolor=CYCLE[i], hatch=SHADES[i], edgecolor="white", label=f"m_{network.axes[i]}") for i in shown]
    marks.append(Line2D([], [], color=BLACK, linewidth=2.2, label="routed load"))
    drawn.legend(handles=marks, loc="outside lower center", ncols=len(marks), handlelength=1.8, columnspacing=1.5)


# Networks with links coloured by their load in an exchange: any network, and a torus before and after.
#
# In the graph of any network, switches are above their nearest hosts, at a height given by the number of links to the
# nearest host. Without switches, a spring layout places the hosts. Hosts of the chosen row and column have the same marks
# as in the image of a torus.
#
# The picture of the gain has a torus under the launcher's order and under a placement, with the factor between them. It is
# a small SVG for a web page, written without matplotlib. Its colours follow the reader's light or dark page.

MAX_VERTICES = 1000
HEIGHT = 4.6         # inches
NAMED = 40           # largest number of vertices with names
LONGEST_NAME = 12    # letters
OUTSIDE, ASPECT = 1.3, 1.5  # radius of hosts around a circle of switches; width over height of the picture
LETTERS = 120        # of names beside each other, before the names of hosts stand upright


def draw_graph(mapping: Mapping, loads: LinkLoads, numbers: dict[str, int], path: Target, title: str,
               with_bytes: bool = False) -> None:
    """Draw hosts, switches and links.

    Parameters
    ----------
    mapping : Mapping
    loads : LinkLoads
    numbers : dict from str to int
        Selects row and column.
    path, title
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
        links.set_clim(0, max(both.values(), default=0.0) or 1.0)
        axes.add_collection(links)
        groups = groups_of(mapping, numbers)
        kinds = kinds_of_nodes(groups)
        implied = set() if network.has_coordinates else network.implied  # drawn as a cable alone
        hosts = np.arange(network.n_nodes)
        switches = np.array([v for v in range(network.n_nodes, V) if v not in implied], dtype=np.int64)
        others = np.setdiff1d(hosts, np.concatenate(list(kinds.values())))
        labels = {name: f"{name} {number}" for name, (number, _) in groups.items()} | {"other": None, "both": "in both"}
        looks = looks_of(groups)
        for name, nodes in {"other": others, **kinds}.items():
            colour, marker, _ = looks[name]
            axes.scatter(*where[nodes].T, s=14 if name == "other" else 46, c=colour, marker=marker, zorder=3,
                         gid=f"{name}-hosts", label=labels[name])
        axes.scatter(*where[switches].T, s=60, facecolors="white", edgecolors=BLACK, marker="h", zorder=2,
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


def _busier(arcs: Arcs, values: Ints | Floats) -> dict[tuple[int, int], float]:
    """Return loads of the busier direction of each pair of neighbours."""
    busier: dict[tuple[int, int], float] = {}
    for a, b, value in zip(arcs.source.tolist(), arcs.target.tolist(), values.tolist()):
        ends = (min(a, b), max(a, b))
        busier[ends] = max(value, busier.get(ends, 0.0))
    return busier


def _places(arcs: Arcs, n: int) -> Floats:
    """Return right and up of each vertex: float array, shape (V, 2)."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(arcs.n_vertices))
    graph.add_edges_from(zip(arcs.source.tolist(), arcs.target.tolist()))
    if arcs.n_vertices == n:
        places = nx.kamada_kawai_layout(graph) if n <= 100 else nx.spring_layout(graph, seed=1)
        return np.array([places[k] for k in range(n)])
    level = nx.multi_source_dijkstra_path_length(graph, set(range(n)))
    if max(level.values()) == 1 and arcs.n_vertices > n + 1:
        return _around(graph, n)
    right = {k: (k + 0.5) / n for k in range(n)}
    for height in range(1, max(level.values()) + 1):  # each switch above the middle of its lower neighbours, without overlap
        row = [k for k, at in level.items() if at == height]
        middle = {k: float(np.mean([right[b] for b in graph[k] if level[b] < height])) for k in row}
        ordered = sorted(row, key=lambda k: (middle[k], k))
        right |= {k: (place + 0.5) / len(ordered) for place, k in enumerate(ordered)}
    return np.array([(right[k], float(level[k])) for k in range(arcs.n_vertices)])


def _around(graph: Any, n: int) -> Floats:
    """Return places of switches on a circle, as links to each other would lie on one line, and of hosts around them."""
    switches = [k for k in graph if k >= n]
    turn = {k: place / len(switches) for place, k in enumerate(switches)}
    places = {k: (1.0, turn[k]) for k in switches}
    for k in switches:
        hosts = [b for b in graph[k] if b < n and min(s for s in graph[b] if s >= n) == k]
        step = min(0.04, 0.8 / len(switches) / max(len(hosts), 1))
        places |= {b: (OUTSIDE, turn[k] + (place - (len(hosts) - 1) / 2) * step) for place, b in enumerate(hosts)}
    radius, angle = np.array([places[k] for k in range(len(places))]).T
    return np.stack([ASPECT * radius * np.sin(2 * np.pi * angle), radius * np.cos(2 * np.pi * angle)], axis=1)


MAX_LINKS = 12_000
SIDE, BETWEEN = 380, 130      # pixels of a torus, and of the factor between two
ABOVE, BELOW, EDGE = 62, 64, 12
CLASSES = 6                   # colours of loads
RAMPS = {"light": ("#d9dee4", "#7a1f5c", "#1a1a1a", "#5c5c5c", "#0072b2"),
         "dark": ("#3a4049", "#ffe58a", "#e6e6e6", "#a8acb3", "#4aa8e8")}  # none, most, text, pale text, row
MIDDLE = {"light": "#d9a441", "dark": "#c9832b"}


@dataclass(frozen=True)
class Half:
    """One of the two tori: a title, a value in words, the loads of an exchange, and the nodes of one of its groups."""

    title: str
    value: str
    loads: LinkLoads
    nodes: Sequence[int]


def draw_gain(halves: Sequence[Half], factor: str, meaning: str, path: str | PathLike[str], with_bytes: bool) -> None:
    """Write the picture.

    Parameters
    ----------
    halves : two of Half
        Before and after, on one torus of up to three dimensions.
    factor : str
        How many times faster, such as ``1.33``.
    meaning : str
        What the colours show.
    with_bytes : bool
        Whether loads are megabytes, otherwise they are on the scale of m.

    Raises
    ------
    FigureError
        If the torus has too many links or dimensions.
    """
    torus = as_torus(halves[0].loads.network)
    wide = [i for i, n in enumerate(torus.shape) if n > 1]
    if len(wide) > 3 or len(wide) * torus.n_nodes > MAX_LINKS:
        raise FigureError(f"torus {torus} has {len(wide)} dimensions and {len(wide) * torus.n_nodes} cables; this picture "
                          f"takes 3 and {MAX_LINKS:,} at most; draw a smaller `network`, or pencilmap report")
    values = [np.nanmax(link_values(half.loads, with_bytes), axis=1) for half in halves]  # (d, N): busier direction
    most = max(float(np.nanmax(loads)) for loads in values) or 1.0
    lattices = Lattices(torus)
    scale = (SIDE - 2 * EDGE) / float(max(lattices.size + 2 * STUB))
    height = float(lattices.size[1] + 2 * STUB) * scale
    parts = [_half(half, loads, most, lattices, scale, (k * (SIDE + BETWEEN), height))
             for k, (half, loads) in enumerate(zip(halves, values))]
    width, total = 2 * SIDE + BETWEEN, ABOVE + height + BELOW
    middle = (SIDE + BETWEEN / 2, ABOVE + height / 2)
    label = f"{halves[0].title}: {halves[0].value}. {halves[1].title}: {halves[1].value}, {factor} times faster."
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total:.0f}" role="img" '
            f'aria-label="{escape(label)}">', f"<title>{escape(label)}</title>", f"<style>{_style()}</style>", *parts,
            f'<text class="factor" x="{middle[0]:.0f}" y="{middle[1]:.0f}">{escape(factor)}\N{MULTIPLICATION SIGN}</text>',
            f'<text class="soft" x="{middle[0]:.0f}" y="{middle[1] + 22:.0f}">faster</text>',
            f'<path class="arrow" d="M{middle[0] - 34:.0f} {middle[1] + 40:.0f}h62m-9 -6l9 6l-9 6"/>',
            *_legend(most, meaning, width, total), "</svg>\n"]
    write_whole(Path(path), "\n".join(text), FigureError)


def _half(half: Half, values: Ints | Floats, most: float, lattices: Lattices, scale: float,
          corner: tuple[int, float]) -> str:
    """Return a torus: title, links by class of load, nodes of the first row."""
    left, height = corner
    torus: Torus = lattices.torus
    coordinates = torus.coordinates(np.arange(torus.n_nodes))
    places = lattices.screen(coordinates)
    paths: list[list[str]] = [[] for _ in range(CLASSES)]

    def spot(place: Floats) -> str:
        """Return right and down in pixels."""
        return (f"{left + EDGE + (place[0] + STUB) * scale:.1f} "
                f"{ABOVE + height - (place[1] + STUB) * scale:.1f}")

    for k, i in enumerate(lattices.drawn):
        step = lattices.steps[k]
        for start in np.flatnonzero(coordinates[:, i] == 0).tolist():
            along = [torus.node(tuple(coordinates[start] + np.eye(torus.n_dimensions, dtype=int)[i] * at))
                     for at in range(torus.shape[i])]
            for kind, ends in _runs([values[i, node] for node in along], most):
                paths[kind].append("".join(f"{'ML'[n]}{spot(places[start] + step * end)}" for n, end in enumerate(ends)))
    marks = [f'<circle cx="{x}" cy="{y}" r="5.5"/>' for node in half.nodes for x, y in [spot(places[node]).split()]]
    links = [f'<path class="c{k}" d="{"".join(line)}"/>' for k, line in enumerate(paths) if line]
    middle = left + SIDE / 2
    return "\n".join([f'<text class="head" x="{middle:.0f}" y="22">{escape(half.title)}</text>',
                      f'<text class="soft" x="{middle:.0f}" y="44">{escape(half.value)}</text>',
                      *links, f'<g class="row">{"".join(marks)}</g>'])


def _runs(loads: list[float], most: float) -> list[tuple[int, list[float]]]:
    """Return a class of loads and two ends for each run of alike links of a line; the last link may close the ring."""
    n, kinds = len(loads), [None if np.isnan(load) else min(CLASSES - 1, int(CLASSES * load / most)) for load in loads]
    runs: list[tuple[int, list[float]]] = []
    for at, kind in enumerate(kinds[:-1]):
        if kind is None:
            continue
        if runs and runs[-1][0] == kind and runs[-1][1][1] == at:
            runs[-1][1][1] = at + 1
        else:
            runs.append((kind, [at, at + 1]))
    if kinds[-1] is not None:  # a short end on both sides
        runs += [(kinds[-1], [-STUB, 0]), (kinds[-1], [n - 1, n - 1 + STUB])]
    return runs


def _legend(most: float, meaning: str, width: int, total: float) -> list[str]:
    """Return the scale of colours, with its meaning and the mark of a row."""
    y, step = total - 38, 26
    left = width / 2 - CLASSES * step / 2
    boxes = [f'<rect class="f{k}" x="{left + k * step:.0f}" y="{y:.0f}" width="{step}" height="10"/>'
             for k in range(CLASSES)]
    return [*boxes, f'<text class="soft end" x="{left - 8:.0f}" y="{y + 10:.0f}">0</text>',
            f'<text class="soft start" x="{left + CLASSES * step + 8:.0f}" y="{y + 10:.0f}">{most:.4g}</text>',
            f'<text class="soft" x="{width / 2:.0f}" y="{y + 30:.0f}">{escape(meaning)}</text>']


def _style() -> str:
    rules = ["text{font:15px system-ui,sans-serif;text-anchor:middle}.head{font-weight:600}.end{text-anchor:end}"
             ".start{text-anchor:start}.factor{font-size:34px;font-weight:700}path{fill:none;stroke-width:1.3}"
             ".arrow{stroke-width:2.5}", _colours("light"),
             "@media(prefers-color-scheme:dark){" + _colours("dark") + "}"]
    return "".join(rules)


def _colours(scheme: str) -> str:
    none, most, ink, soft, row = RAMPS[scheme]
    stops = [[int(colour[k:k + 2], 16) for k in (1, 3, 5)] for colour in (none, MIDDLE[scheme], most)]
    colours = []
    for k in range(CLASSES):
        at = 2 * k / (CLASSES - 1)
        low = min(1, int(at))
        red, green, blue = (round(a + (b - a) * (at - low)) for a, b in zip(stops[low], stops[low + 1]))
        colour = f"#{red:02x}{green:02x}{blue:02x}"
        colours.append(f".c{k}{{stroke:{colour}}}.f{k}{{fill:{colour}}}")
    return "".join([f".head,.factor{{fill:{ink}}}.soft{{fill:{soft}}}.arrow{{stroke:{soft}}}.row{{fill:{row}}}", *colours])
