"""Run records, published measurements and exchanges alone, and how a time depends on ranks and partition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from math import prod
from textwrap import wrap
from typing import Any

from pencilmap.mapper.runs.compare import Comparison
from pencilmap.mapper.studies.node_counts import RankedShape, ScalingPoint, efficiency
from pencilmap.mapper.studies.transposes import Case, by_exchange, ratios
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import counted
from pencilmap.model.predict import Prediction
from pencilmap.model.times.published import CLOSE, Judged
from pencilmap.scripts.pictures import canvas
from pencilmap.scripts.pictures.canvas import Target, figure, heading, save

# Run records and published measurements: the bandwidth of a link over the size, and the phases of each run.
#
# The effective bandwidth of a link is eq. 16 of Jagode, Hein, Trew, UT-CS-08-613 (2008), with the measured time. The bars
# of phases are means over the ranks, because only means add up: different ranks are slowest in different phases. A mark
# shows the total of the slowest rank. The total excludes the time waited in barriers; the bars of waiting are next to the
# others, on the same scale, from their own zero.

WIDTH = 3.6  # inches: half a page, or a telephone
LETTERS_OF_LEGEND = 46
_ASIDE, _WIDEST = 0.06, 0.5  # of an octave: marks of equal size are side by side, so that no mark hides another
_LABEL = 0.1    # of the axis: the width of the text of a size
_COLOURS = (canvas.BLUE, canvas.VERMILLION, canvas.GREEN, canvas.PURPLE, canvas.ORANGE, canvas.SKY)
SERIES = tuple(zip(_COLOURS * 2, "os^DvPX<>*hp"))  # colour, mark


@dataclass(frozen=True)
class Point:
    """An exchange of a run; rates are bytes per second."""

    series: str  #: points of a series share a line
    n: float  #: extent of the transform; the geometric mean if the extents differ
    measured: float
    slowest: float
    fastest: float
    model: float | None  #: by the time model
    nominal: float  #: of the link
    is_fitted: bool = True  #: whether the mark is filled: that of a time in the fit of the model, if others are not


def point_of(comparison: Comparison, nominal: float, label: str) -> Point | None:
    """Return the point of a comparison; None if there is no prediction or no time.

    `nominal` is the bytes per second of the link. `label` is the same for all sizes; the function adds network and type of
    transform.
    """
    if not comparison.t_ratio or comparison.t_s is None:
        return None
    size, _, kind = comparison.transform.partition(":")
    load_bytes = nominal * comparison.t_s
    fast, slow = comparison.spread
    return Point(", ".join(filter(None, (label, kind, comparison.network))), n=prod(map(int, size.split("x"))) ** (1 / 3),
                 measured=load_bytes / comparison.measured_s, slowest=load_bytes / slow,
                 fastest=load_bytes / (fast or comparison.measured_s),
                 model=comparison.time_s and load_bytes / comparison.time_s, nominal=nominal)


def rate_text(rate: float) -> str:
    """Return the bandwidth of a link, in words for titles and legends.

    >>> rate_text(148e6), rate_text(1.8e9), rate_text(4.63e10)
    ('148 MB/s', '1800 MB/s', '46300 MB/s')
    """
    return f"{float(f'{rate / 1e6:.4g}'):.15g} MB/s"


def draw_bandwidth(points: Sequence[Point], path: Target, title: str) -> None:
    """Draw a panel. There is at least one point."""
    series: dict[str, list[Point]] = {}
    for point in sorted(points, key=lambda p: p.n):
        series.setdefault(point.series, []).append(point)
    nominal = sorted({p.nominal for p in points})
    lines, top = heading(title, WIDTH)
    legend = _legend(series, nominal)
    with figure(2.3 + top + 0.17 * sum(1 + line.get_label().count("\n") for line in legend), WIDTH) as drawn:
        axes = drawn.subplots()
        axes.set_title(lines)
        _panel(axes, series, nominal)
        drawn.legend(handles=legend, loc="outside lower left", handlelength=2.2)
        save(drawn, path)


def _panel(axes: Any, series: dict[str, list[Point]], nominal: Sequence[float]) -> None:
    """Draw each series, and the rates of links as bounds."""
    points, aside = [point for points_ in series.values() for point in points_], min(_ASIDE, _WIDEST / len(series))
    for k, (points_, look) in enumerate(zip(series.values(), SERIES * len(series))):
        _draw_series(axes, points_, 2 ** (aside * (k - (len(series) - 1) / 2)), *look)
    for rate in nominal:
        axes.axhline(rate / 1e6, color=canvas.BLACK, linestyle="--", linewidth=0.8)
    axes.set_ylim(0, 1.12 * max(nominal[-1], *(p.fastest for p in points)) / 1e6)
    sizes = sorted({round(p.n, 1) for p in points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, labels=_labels(sizes))
    axes.set_xticks([], minor=True)
    axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    axes.set_xlabel("n of the n³ transform")
    axes.set_ylabel("bandwidth of a link, MB/s")
    axes.grid(axis="y", color=canvas.GREY, alpha=0.3, linewidth=0.4)


def _draw_series(axes: Any, points: Sequence[Point], aside: float, colour: str, mark: str) -> None:
    for is_fitted in (True, False):
        kind = [p for p in points if p.is_fitted is is_fitted]
        below = [max(0.0, p.measured - p.slowest) / 1e6 for p in kind]
        above = [max(0.0, p.fastest - p.measured) / 1e6 for p in kind]
        axes.errorbar([p.n * aside for p in kind], [p.measured / 1e6 for p in kind], yerr=[below, above], linestyle="none",
                      marker=mark, markersize=4.5, color=colour, markerfacecolor=colour if is_fitted else "white",
                      elinewidth=0.7)
    modelled = [(p.n, p.model / 1e6) for p in points if p.model]
    sizes, rates = [n for n, _ in modelled], [rate for _, rate in modelled]
    if len(set(sizes)) > 1:
        axes.plot(sizes, rates, color=colour)
    else:
        axes.scatter([n * aside for n in sizes], rates, marker="_", s=180, color=colour, linewidths=1.2)


def _labels(sizes: Sequence[float]) -> list[str]:
    """Return the sizes as text; empty for text that would overlap the previous text."""
    apart = (sizes[-1] / sizes[0] * 1.5**2) ** _LABEL
    labels, last = [], 0.0
    for n in sizes:
        fits = n >= last * apart
        labels.append(f"{n:g}" if fits else "")
        last = n if fits else last
    return labels


def _legend(series: Iterable[str], nominal: list[float]) -> list[Any]:
    return [*(_line(name, color=colour, marker=mark, linestyle="none")
              for name, (colour, mark) in zip(series, cycle(SERIES))),
            _line("time model"), *(_bound(f"bound: the link, {rate_text(rate)}") for rate in nominal)]


def _line(label: str, **look: float | str) -> Any:
    """Return a line of a legend."""
    from matplotlib.lines import Line2D

    lines = "\n".join(wrap(label, LETTERS_OF_LEGEND, break_on_hyphens=False))
    return Line2D([], [], **{"color": canvas.GREY, "markersize": 4.5, "label": lines, **look})


def _bound(label: str) -> Any:
    return _line(label, linestyle="--", color=canvas.BLACK, linewidth=0.8)


LETTERS_OF_NAME = 56
MAX_BARS = 20                     # in one picture
LEAST_BESIDE = 0.4                # of the other scale: room for one of the two names
WAITING = "waiting before exchanges"
FFT, COPY = "FFT", "pack, unpack"
_LOOK = {FFT: (canvas.SKY, ""), COPY: (canvas.YELLOW, "..."), WAITING: (canvas.PALE, "xxx")}
_EXCHANGE_LOOKS = tuple(zip((canvas.BLUE, canvas.VERMILLION, canvas.GREEN, canvas.ORANGE, canvas.PURPLE),
                            ("///", "\\\\\\", "---", "|||", "+++")))  # later exchanges begin again
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def kinds_of(stages: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return every phase of records with these exchanges, by kind; the total is the sum of all phases except waiting.

    >>> kinds_of(["slab"])["pack, unpack"]
    ('pack_slab', 'unpack_slab')
    """
    stages = list(stages)
    return {FFT: ("fft_z", "fft_y", "fft_x"), COPY: tuple(f"{how}_{name}" for name in stages for how in ("pack", "unpack")),
            **{f"{name} exchange": (f"exchange_{name}",) for name in stages},
            WAITING: tuple(f"wait_{name}" for name in stages)}


@dataclass(frozen=True)
class Bar:
    """The bar of a run."""

    name: str
    seconds: dict[str, float]  #: for each kind of phases, mean over the ranks
    slowest_s: float  #: total of the slowest rank, without waiting

    @property
    def total_s(self) -> float:
        return sum(seconds for kind, seconds in self.seconds.items() if kind != WAITING)


def draw_phases(bars: Sequence[Bar], path: Target, title: str) -> None:
    """Draw stacked bars, and waiting to their right if there was any. There are at most `MAX_BARS` bars."""
    lines, top = heading(title, WIDTH)
    longest = max(max(bar.total_s, bar.slowest_s) for bar in bars)  # right end, without waiting
    waited = max(bar.seconds.get(WAITING, 0.0) for bar in bars)
    room, beside = max(longest, LEAST_BESIDE * waited), max(waited, LEAST_BESIDE * longest)
    scale, unit = next(((s, u) for s, u in _UNITS if longest >= s), _UNITS[-1])
    kinds = [kind for kind in dict.fromkeys(kind for bar in bars for kind in bar.seconds) if kind != WAITING]
    looks = _LOOK | dict(zip([kind for kind in kinds if kind not in _LOOK], cycle(_EXCHANGE_LOOKS)))
    with figure(0.34 * len(bars) + top + 1.2, WIDTH) as drawn:
        axes, *apart = drawn.subplots(1, 2, width_ratios=(room, beside)) if waited else [drawn.subplots()]
        drawn.suptitle(lines, fontsize=axes.title.get_fontsize())
        left, handles = [0.0] * len(bars), []
        for kind in kinds:
            widths = [bar.seconds.get(kind, 0.0) / scale for bar in bars]
            handles.append(_bars(axes, widths, looks[kind], kind, left))
            left = [a + b for a, b in zip(left, widths)]
        handles += axes.plot([bar.slowest_s / scale for bar in bars], range(len(bars)), linestyle="none", marker="|",
                             markersize=13, markeredgewidth=1.6, color=canvas.BLACK, label="slowest rank", gid="slowest")
        for k, bar in enumerate(bars):
            axes.text(0, k - 0.26, _short(bar.name), fontsize=7, va="bottom", color=canvas.BLACK, in_layout=not apart)
        _scale(axes, len(bars), room / scale, f"total, {unit}" if waited else f"mean over the ranks, {unit}")
        for other in apart:
            other.patch.set_visible(False)  # long names of runs may overlap the patch
            handles.append(_bars(other, [bar.seconds.get(WAITING, 0.0) / scale for bar in bars], looks[WAITING], WAITING))
            _scale(other, len(bars), beside / scale, f"waiting, {unit}")
            other.locator_params(axis="x", nbins=3)
        drawn.legend(handles=handles, loc="outside lower left", ncols=2, handlelength=1.8, columnspacing=1.2)
        save(drawn, path)


def _bars(axes: Any, widths: list[float], look: tuple[str, str], label: str, left: Any = 0.0) -> Any:
    return axes.barh(range(len(widths)), widths, 0.42, left=left, color=look[0], hatch=look[1], edgecolor=canvas.GREY,
                     linewidth=0.3, label=label)


def _scale(axes: Any, count: int, longest: float, label: str) -> None:
    axes.set_ylim(count - 0.6, -0.75)
    axes.set_yticks([])
    axes.set_xlim(0, 1.04 * longest)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(label)


def _short(name: str) -> str:
    return name if len(name) <= LETTERS_OF_NAME else name[:LETTERS_OF_NAME - 1] + "…"


def draw_published(cells: Sequence[Comparison], fitted: Sequence[Comparison], bandwidth: float, path: Target,
                   title: str) -> None:
    """Draw exchanges, a panel for each kind of grid and exchange.

    `cells` are comparisons with predictions; `fitted` are the comparisons in the fit of the model. `bandwidth` is the bytes
    per second of a link, the bound.
    """
    groups, stages = dict[str, dict[str, list[tuple[str, Point]]]](), list(dict.fromkeys(cell.stage for cell in cells))
    for cell in sorted(cells, key=lambda cell: (cell.tasks_per_node, int(cell.transform.split("x")[0]))):
        length = "short rows" if int(cell.grid.split("x")[0]) <= 16 else "long rows"
        label = f"{cell.grid} {cell.placement.removeprefix('box:')}, {counted(cell.tasks_per_node, 'task')}/node"
        if point := point_of(cell, bandwidth, label):
            point = replace(point, is_fitted=cell in fitted)
            groups.setdefault(length, {}).setdefault(label, []).append((cell.stage, point))
    with figure(2.6 * len(groups) + 0.6) as drawn:
        axes = drawn.subplots(len(groups), len(stages), sharex=True, sharey=True, squeeze=False)
        for line, (length, series) in zip(axes, groups.items()):
            for panel, stage in zip(line, stages):
                _panel(panel, {label: [point for name, point in name_ if name == stage] for label, name_ in series.items()},
                       [bandwidth])
                panel.set_title(f"{stage} exchange, {length}")
                panel.label_outer()
            line[-1].legend(handles=[
                *_legend(series, [bandwidth]), _line("measured, fitted", marker="o", linestyle="none"),
                _line("measured, predicted", marker="o", markerfacecolor="white", linestyle="none")],
                loc="center left", bbox_to_anchor=(1.0, 0.5))
        drawn.suptitle(title, fontsize=8)
        save(drawn, path)


# How the time of a transform depends on ranks and partition.
#
# Fits of strong scaling follow Fig. 4 of Pekurovsky, SIAM J. Sci. Comput. 34 (2012): time over ranks, both logarithmic.
# Marks are the times of the fastest grids, lines the fitted a/P + d/P^(2/3), and the thin line is a/P alone. Shapes of
# equal size are bars, scaling over sizes is lines.

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
            fit = study["fit"]
            axes.plot(ranks, [p["time_s"] for p in study["points"]], linestyle="none" if fit else "-", marker=mark,
                      markersize=4.5, color=colour, label=study["transform"])
            if fit:
                first, last = min(ranks), max(ranks)
                line = [first * (last / first) ** (k / 64) for k in range(65)]
                axes.plot(line, [fit["a"] / p + fit["d"] / p ** (2 / 3) for p in line], color=colour)
                axes.plot(line, [fit["a"] / p for p in line], color=colour, linewidth=0.6, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="time of a transform, s")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        save(drawn, path)


_LOOK_OF_SCALING = ((canvas.BLUE, ""), (canvas.ORANGE, "///"), (canvas.VERMILLION, "xxx"))  # of exchanges
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
        parts = [*((name, *look) for name, look in zip(names, _LOOK_OF_SCALING)), _COMPUTING]
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


def _parts(prediction: Prediction) -> list[float]:
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


def _time(axes: Any, points: Any, kind: str) -> None:
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
    axes.yaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.06, y=0.12)


def _efficiency(axes: Any, points: Sequence[ScalingPoint], kind: str) -> None:
    axes.plot([p.n_nodes for p in points], [e and 100 * e for e in efficiency(points, kind)], "o-", color=canvas.BLUE,
              markersize=4, gid="efficiency")
    axes.axhline(100, linestyle="--", color=canvas.GREY)
    axes.set_ylim(0, 1.08 * max(axes.get_ylim()[1], 100))
    axes.set_ylabel("efficiency, %")


ASIDE = 1.035  # factor between the marks of two machines on the same number of nodes


def draw_judged(panels: Sequence[tuple[str, Sequence[Judged]]], path: Target) -> None:
    """Draw published times over their predictions by the number of nodes: panels by title, a mark for each machine."""
    machines = list(dict.fromkeys(item.value.machine for _, judged in panels for item in judged))
    with figure(3.4) as drawn:
        axes = drawn.subplots(1, len(panels), sharey=True)
        for panel, (title, judged) in zip(axes, panels):
            panel.axhspan(1 / (1 + CLOSE), 1 + CLOSE, color=canvas.PALE, linewidth=0)
            for k, (machine, (colour, mark)) in enumerate(zip(machines, SERIES)):
                values = [item for item in judged if item.value.machine == machine and item.value.size]
                panel.plot([item.value.nodes * ASIDE ** (k - len(machines) / 2) for item in values],
                           [item.ratio for item in values], mark,
                           color=colour, markersize=2.5, linestyle="none", label=machine, markeredgewidth=0.3)
            panel.set(title=heading(title, 3.6)[0], xscale="log", yscale="log", xlabel="nodes", ylim=(0.4, 10))
            for axis, ticks in ((panel.yaxis, (0.5, 1, 2, 5, 10)), (panel.xaxis, (2, 4, 8, 16, 32, 64, 128, 512))):
                axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
            panel.minorticks_off()
        axes[0].set_ylabel("measured over predicted time")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
        save(drawn, path)


def draw_transposes(cases: Sequence[Case], reference: str, path: Target) -> None:
    """Draw times over ratios to the exchange `reference`, by the size of a message: a column for each size of groups."""
    groups = list(dict.fromkeys(case.group for case in cases))
    with figure(5, 2.6 * len(groups) + 1.4) as drawn:
        axes = drawn.subplots(2, len(groups), squeeze=False, sharex=True, sharey="row")
        for (upper, lower), group in zip(axes.T, groups):
            exchanges = by_exchange([case for case in cases if case.group == group])
            for number, (name, exchange) in enumerate(exchanges.items()):
                style = {"label": name, "marker": "osv^Dxp*h"[number % 9], "markersize": 4, "color": f"C{number}"}
                upper.plot([case.message_bytes for case in exchange], [1e6 * case.time_s for case in exchange], **style)
                relative = ratios(exchange, exchanges.get(reference, []))
                lower.plot(list(relative), [ratios_[group] for ratios_ in relative.values()], **style)
            upper.set(title=f"groups of {group} ranks", xscale="log", yscale="log")
            lower.set(xlabel="bytes of a message", xscale="log", yscale="log")
        axes[0][0].set_ylabel("microseconds, with packing")
        axes[1][0].set_ylabel(f"ratio to {reference}")
        axes[0][-1].legend(loc="upper left", bbox_to_anchor=(1.02, 1))
        save(drawn, path)
