"""The published Blue Gene/L measurements and the model, after Fig. 8 and 9 of Jagode, Hein, Trew, UT-CS-08-613 (2008).

The plots show the effective bandwidth of a link against the size of the transform: eq. 16 with this bandwidth gives the
measured time. Above are short rows, Fig. 8; below are long rows, Fig. 9. Marks are measured, full if the time was fitted
and hollow if predicted. Lines are the time model; the dashed line is the paper's bound.
"""

from collections.abc import Sequence

from pencilmap.mapper.runs.compare import Comparison
from pencilmap.scripts.pictures.figures import canvas
from pencilmap.scripts.pictures.figures.canvas import Target, figure, save

_SERIES = tuple(zip((canvas.BLUE, canvas.VERMILLION, canvas.GREEN, canvas.PURPLE, canvas.ORANGE), "os^Dv"))  # colour, mark
_ASIDE = 0.07  # of an octave: marks of equal size are side by side, so that no mark hides another


def draw_published(cells: Sequence[Comparison], fitted: Sequence[Comparison], bandwidth: float, path: Target,
                   title: str) -> None:
    """Draw exchanges, a panel for each kind of grid and exchange.

    `cells` are comparisons with predictions; `fitted` are the comparisons in the fit of the model. `bandwidth` is the bytes
    per second of a link, the bound.
    """
    groups, stages = dict[str, list[Comparison]](), list(dict.fromkeys(cell.stage for cell in cells))
    for cell in cells:
        groups.setdefault("short rows" if _tasks_in_row(cell) <= 16 else "long rows", []).append(cell)
    with figure(2.6 * len(groups) + 0.6) as drawn:
        axes = drawn.subplots(len(groups), len(stages), sharex=True, sharey=True, squeeze=False)
        for line, (name, some) in zip(axes, groups.items()):
            series = _by_series(some)
            for panel, stage in zip(line, stages):
                _panel(panel, {key: [c for c in found if c.stage == stage] for key, found in series.items()}, fitted)
                panel.axhline(bandwidth / 1e6, color=canvas.BLACK, linestyle="--", linewidth=0.8)
                panel.set_ylim(0, 1.12 * bandwidth / 1e6)
                panel.set_title(f"{stage} exchange, {name}")
            line[0].set_ylabel("bandwidth of a link, MB/s")
            line[-1].legend(handles=_legend(series, bandwidth), loc="center left", bbox_to_anchor=(1.0, 0.5))
        for panel in axes[-1]:
            panel.set_xlabel("n of the n³ transform")
        drawn.suptitle(title, fontsize=8)
        save(drawn, path)


def _tasks_in_row(cell):
    return int(cell.grid.split("x")[0])


def _n(cell):
    return int(cell.transform.split("x")[0])


def _by_series(cells):
    """Return cells by grid, placement and tasks on a node, with the name for the legend."""
    series: dict[str, list[Comparison]] = {}
    for cell in sorted(cells, key=lambda c: (c.tasks_per_node, _n(c))):
        mode = "1 task/node" if cell.tasks_per_node == 1 else f"{cell.tasks_per_node} tasks/node"
        series.setdefault(f"{cell.grid} {cell.placement.removeprefix('box:')}, {mode}", []).append(cell)
    return series


def _panel(panel, series, fitted):
    for k, (cells, (colour, mark)) in enumerate(zip(series.values(), _SERIES)):
        aside = 2 ** (_ASIDE * (k - (len(series) - 1) / 2))
        panel.plot([_n(c) for c in cells], [c.link_bandwidth * c.time_ratio / 1e6 for c in cells], color=colour)
        for filled in (True, False):
            some = [c for c in cells if (c in fitted) == filled]
            panel.plot([_n(c) * aside for c in some], [c.link_bandwidth / 1e6 for c in some], linestyle="none", marker=mark,
                       markersize=4.5, color=colour, markerfacecolor=colour if filled else "white")
    sizes = sorted({_n(c) for cells in series.values() for c in cells})
    panel.set_xscale("log", base=2)
    panel.set_xticks(sizes, labels=[str(n) for n in sizes])
    panel.grid(axis="y", color=canvas.GREY, alpha=0.3, linewidth=0.4)


def _legend(series, bandwidth):
    from matplotlib.lines import Line2D

    def line(label, **look):
        return Line2D([], [], **{"color": canvas.GREY, "markersize": 4.5, "linestyle": "none", "label": label, **look})

    return [*(line(name, color=colour, marker=mark, linestyle="-") for name, (colour, mark) in zip(series, _SERIES)),
            line("measured, fitted", marker="o"), line("measured, predicted", marker="o", markerfacecolor="white"),
            line("time model", linestyle="-"),
            line(f"bound, {bandwidth / 1e6:g} MB/s", linestyle="--", color=canvas.BLACK, linewidth=0.8)]
