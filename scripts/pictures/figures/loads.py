"""Link loads of an exchange as a heat map, and effective lengths and loads of several placements as bars.

In the heat map every link of the torus is a cell, and each dimension and direction has a strip. In a strip, the position
along the dimension runs to the right and the next dimension upwards. The others repeat that block: the third to the right,
the fourth upwards, the fifth to the right again, each with a wider gap ("x in z": a numbered block of x for each z). Missing
links (the ends of an open line) are white.
"""

import re
from collections.abc import Sequence

import numpy as np

from pencilmap.model.base.arrays import Floats, Ints
from pencilmap.model.base.errors import FigureError
from pencilmap.model.network.torus import Torus, as_torus
from pencilmap.model.predict.results import Prediction
from pencilmap.model.traffic.loads import LinkLoads, m_scale
from pencilmap.scripts.pictures.figures.canvas import (
    BLACK,
    CYCLE,
    TALLEST,
    WIDTH,
    Target,
    figure,
    heading,
    load_colours,
    save,
)

MAX_LINKS, MAX_VECTOR_LINKS = 60_000, 20_000
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
    if not 0 < links <= MAX_LINKS:
        raise FigureError(f"torus {torus} has {links} links; a picture takes 1 to {MAX_LINKS}; take another torus")
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


def _heights(strips, width, columns):
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


def _strip(axes, blocks, values, largest, raster):
    """Draw a dimension and direction: a cell for each node."""
    cells = np.full(blocks.extent[::-1], np.nan)
    right, up = blocks.place()
    cells[up, right] = values
    return axes.pcolormesh(np.ma.masked_invalid(cells), cmap=load_colours(), vmin=0, vmax=largest or 1, linewidth=0,
                           antialiased=False, rasterized=raster)


def _axes_of(axes, blocks, inches):
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
        _legend(drawn, panels[0], predictions[0].network)
        save(drawn, path)


def _label(prediction, with_grid, letters):
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


def _bars(axes, exchanges, network):
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


def _legend(drawn, axes, network):
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown = [i for i, n in enumerate(network.shape) if n > 1] or [0]
    marks = [Patch(facecolor=CYCLE[i], hatch=SHADES[i], edgecolor="white", label=f"m_{network.axes[i]}") for i in shown]
    marks.append(Line2D([], [], color=BLACK, linewidth=2.2, label="routed load"))
    drawn.legend(handles=marks, loc="outside lower center", ncols=len(marks), handlelength=1.8, columnspacing=1.5)
