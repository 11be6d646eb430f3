"""Measured and predicted bandwidth of a link against the size of the transform, after Fig. 8 and 9 of UT-CS-08-613 (2008).

A panel shows an exchange: the bandwidth at which the busiest link carries its load. This is eq. 16 solved for B, with the
routed load instead of m. Marks are measured, with the spread of the repetitions; lines are the time model. The dashed line
is the link bandwidth, the limit under this routing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from textwrap import wrap

from pencilmap.mapper.runs.compare import Comparison
from pencilmap.scripts.pictures.figures import canvas
from pencilmap.scripts.pictures.figures.canvas import Target, figure, heading, save

WIDTH = 3.6  # inches: half a page, or a telephone
LETTERS_OF_LEGEND = 46
_ASIDE, _WIDEST = 0.06, 0.5  # of an octave: marks of equal size are side by side, so that no mark hides another
_LABEL = 0.1    # of the axis: the width of the text of a size
_COLOURS = (canvas.BLUE, canvas.VERMILLION, canvas.GREEN, canvas.PURPLE, canvas.ORANGE, canvas.SKY)
_SERIES = tuple(zip(_COLOURS * 2, "os^DvPX<>*hp"))  # colour, mark


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
        aside = min(_ASIDE, _WIDEST / len(series))
        for k, (some, look) in enumerate(zip(series.values(), _SERIES * len(series))):
            _draw_series(axes, some, 2 ** (aside * (k - (len(series) - 1) / 2)), *look)
        for rate in nominal:
            axes.axhline(rate / 1e6, color=canvas.BLACK, linestyle="--", linewidth=0.8)
        axes.set_ylim(0, 1.12 * max(nominal[-1], *(p.fastest for p in points)) / 1e6)
        _axis_of_sizes(axes, sorted({round(p.n, 1) for p in points}))
        axes.set_ylabel("bandwidth of a link, MB/s")
        axes.grid(axis="y", color=canvas.GREY, alpha=0.3, linewidth=0.4)
        drawn.legend(handles=legend, loc="outside lower left", handlelength=2.2)
        save(drawn, path)


def _draw_series(axes, points, aside, colour, mark):
    measured = [p.measured / 1e6 for p in points]
    below = [max(0.0, p.measured - p.slowest) / 1e6 for p in points]
    above = [max(0.0, p.fastest - p.measured) / 1e6 for p in points]
    axes.errorbar([p.n * aside for p in points], measured, yerr=[below, above], linestyle="none", marker=mark,
                  markersize=4.5, color=colour, elinewidth=0.7)
    modelled = [p for p in points if p.model]
    if len({p.n for p in modelled}) > 1:
        axes.plot([p.n for p in modelled], [p.model / 1e6 for p in modelled], color=colour)
    else:
        axes.scatter([p.n * aside for p in modelled], [p.model / 1e6 for p in modelled], marker="_", s=180, color=colour,
                     linewidths=1.2)


def _axis_of_sizes(axes, sizes):
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, labels=_labels(sizes))
    axes.set_xticks([], minor=True)
    axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    axes.set_xlabel("n of the n³ transform")


def _labels(sizes):
    """Return the sizes as text; empty for text that would overlap the previous text."""
    apart = (sizes[-1] / sizes[0] * 1.5**2) ** _LABEL
    found, last = [], 0.0
    for n in sizes:
        fits = n >= last * apart
        found.append(f"{n:g}" if fits else "")
        last = n if fits else last
    return found


def _legend(series, nominal):
    from matplotlib.lines import Line2D

    def line(label, **look):
        lines = "\n".join(wrap(label, LETTERS_OF_LEGEND, break_on_hyphens=False))
        return Line2D([], [], **{"color": canvas.GREY, "markersize": 4.5, "label": lines, **look})

    return [*(line(name, color=colour, marker=mark, linestyle="none")
              for name, (colour, mark) in zip(series, _SERIES * len(series))),
            line("time model"),
            *(line(f"bound: the link, {rate_text(rate)}", linestyle="--", color=canvas.BLACK, linewidth=0.8)
              for rate in nominal)]
