"""Effective lengths m_i and routed loads of several placements as bars, a panel for each exchange."""

import re
from collections.abc import Sequence

from pencilmap.model.base.errors import FigureError
from pencilmap.model.predict import Prediction
from pencilmap.scripts.pictures.figures.canvas import BLACK, CYCLE, WIDTH, Target, figure, heading, save

MAX_PLACEMENTS, MAX_BESIDE = 12, 5                                      # side by side, in all exchanges
SHADES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo", "***")   # dimensions can be told apart without colour
LETTER = 0.062                                                         # inches, mean width under the bars


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
    letters = int((WIDTH - 0.8) / columns / len(predictions) / LETTER)
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
