"""How the time of a transform depends on ranks and partition.

Fits of strong scaling follow Fig. 4 of Pekurovsky, SIAM J. Sci. Comput. 34 (2012): time over ranks, both logarithmic. Marks
are the times of the fastest grids, lines the fitted a/P + d/P^(2/3), and the thin line is a/P alone. Shapes of equal size
are bars, scaling over sizes is lines.
"""

from collections.abc import Sequence
from typing import Any

from pencilmap.mapper.studies.node_counts import RankedShape, ScalingPoint, efficiency
from pencilmap.model.base.errors import FigureError
from pencilmap.scripts.pictures.figures import canvas
from pencilmap.scripts.pictures.figures.canvas import Target, figure, heading, save


def draw_fits(studies: Sequence[dict[str, Any]], path: Target) -> None:
    """Draw studies of strong scaling from `pencilmap study scaling --json`.

    Raises
    ------
    FigureError
        If there are no studies.
    """
    if not studies:
        raise FigureError("there is no strong scaling to draw: no transform has times on two numbers of ranks")
    with figure(3.4, 5.0) as drawn:
        axes = drawn.subplots()
        for number, study in enumerate(studies):
            colour, mark = canvas.CYCLE[number % len(canvas.CYCLE)], "os^Dv<>p"[number % 8]
            ranks = [p["ranks"] for p in study["points"]]
            found = study["fit"]
            axes.plot(ranks, [p["time_s"] for p in study["points"]], linestyle="none" if found else "-", marker=mark,
                      markersize=4.5, color=colour, label=study["transform"])
            if found:
                first, last = min(ranks), max(ranks)
                line = [first * (last / first) ** (k / 64) for k in range(65)]
                axes.plot(line, [found["a"] / p + found["d"] / p ** (2 / 3) for p in line], color=colour)
                axes.plot(line, [found["a"] / p for p in line], color=colour, linewidth=0.6, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="time of a transform, s")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(drawn, path)


_LOOK = ((canvas.BLUE, ""), (canvas.ORANGE, "///"), (canvas.VERMILLION, "xxx"))  # of exchanges
_COMPUTING = ("computing", canvas.GREEN, "...")


def draw_shapes(shapes: Sequence[RankedShape], path: Target, title: str) -> None:
    """Draw the time of the best grid of each shape, as stacked bars, the fastest first; the shapes have times."""
    lines, top = heading(title, canvas.WIDTH)
    with figure(0.24 * len(shapes) + 0.9 + top) as drawn:
        drawn.suptitle(lines, fontsize=8)
        axes = drawn.add_subplot()
        left = [0.0] * len(shapes)
        best = [s.predictions[0] for s in shapes]
        names = [f"{stage.name} exchange" for stage in best[0].stages]
        parts = [*((name, *look) for name, look in zip(names, _LOOK)), _COMPUTING]
        for (name, colour, hatch), part in zip(parts, zip(*map(_parts, best))):
            if any(part):
                axes.barh(range(len(shapes)), part, 0.7, left=left, color=colour, hatch=hatch, edgecolor="white",
                          linewidth=0, label=name, zorder=2)
            left = [a + b for a, b in zip(left, part)]
        axes.plot([1e3 * (s.bound_s or 0.0) for s in shapes], range(len(shapes)), "|", color=canvas.BLACK, markersize=11,
                  markeredgewidth=1.8, label="lower bound of the exchanges", zorder=3, gid="bounds")
        axes.set_yticks(range(len(shapes)), [f"{p.network}  {p.grid}" for p in best])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_ylabel("torus and grid")
        axes.set_xlabel("predicted time, ms")
        axes.grid(axis="x", color="#e5e5e5", linewidth=0.6)
        drawn.legend(loc="outside lower center", ncols=4, columnspacing=1.5, handlelength=1.8)
        save(drawn, path)


def _parts(prediction):
    """Return milliseconds of every exchange and of the computing."""
    local = prediction.local and prediction.local.time_s
    return [1e3 * (t or 0.0) for t in (*(stage.time_s for stage in prediction.stages), local)]


def draw_scaling(points: Sequence[ScalingPoint], kind: str, path: Target, title: str) -> None:
    """Draw time and efficiency over the number of nodes. The points have times; `kind` is "strong" or "weak"."""
    lines, top = heading(title, canvas.WIDTH)
    labels = [f"{p.n_nodes}: {p.best.network}, {p.best.grid}" for p in points]
    below = 0.05 * max(map(len, labels))
    with figure(4.2 + top + below) as drawn:
        drawn.suptitle(lines, fontsize=8)
        upper, lower = drawn.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        _time(upper, points, kind)
        _efficiency(lower, points, kind)
        lower.set_xscale("log", base=2)
        lower.set_xticks([p.n_nodes for p in points], labels, rotation=35, ha="right", rotation_mode="anchor")
        lower.minorticks_off()
        lower.set_xlabel("nodes: their best shape and grid")
        for axes in (upper, lower):
            axes.grid(color="#e5e5e5", linewidth=0.6)
        drawn.legend(*upper.get_legend_handles_labels(), loc="outside lower center", ncols=4, columnspacing=1.5)
        save(drawn, path)


def _time(axes, points, kind):
    from matplotlib.ticker import LogLocator, NullLocator

    nodes, times = [p.n_nodes for p in points], [1e3 * p.best.known_s for p in points]
    exchanges = [1e3 * p.best.time_s for p in points]
    ideal = [times[0] * nodes[0] / n for n in nodes] if kind == "strong" else [times[0]] * len(nodes)
    axes.plot(nodes, ideal, "--", color=canvas.GREY, label="ideal", gid="ideal")
    if points[0].best.total_s is not None:
        axes.plot(nodes, times, "o-", color=canvas.BLUE, markersize=4, label="transform", gid="total")
    axes.plot(nodes, exchanges, "s-", color=canvas.VERMILLION, markersize=4, label="exchanges, best shape", gid="exchanges")
    axes.plot(nodes, [1e3 * p.worst_bound_s for p in points], "v:", color=canvas.BLACK, markersize=4, linewidth=0.9,
              label="exchanges, worst shape, at least", gid="worst")
    axes.set_yscale("log")
    axes.set_ylabel("predicted time, ms")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.06, y=0.12)


def _efficiency(axes, points, kind):
    axes.plot([p.n_nodes for p in points], [e and 100 * e for e in efficiency(points, kind)], "o-", color=canvas.BLUE,
              markersize=4, gid="efficiency")
    axes.axhline(100, linestyle="--", color=canvas.GREY)
    axes.set_ylim(0, 1.08 * max(axes.get_ylim()[1], 100))
    axes.set_ylabel("efficiency, %")
