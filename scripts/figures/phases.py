"""Where the time of a transform goes: the phases of each run, one bar a run."""

from pencilmap.scripts.figures.canvas import (BLACK, BLUE, GREEN, GREY, ORANGE, SKY, VERMILLION, YELLOW, figure, heading,
                                              save)

WIDTH = 3.6                       # inches
MAX_RUNS = 20                     # in one picture
KINDS = {                         # phases of a run record, colour, hatch
    "FFT": (("fft_z", "fft_y", "fft_x"), SKY, ""),
    "pack, unpack": (("pack_row", "unpack_row", "pack_column", "unpack_column"), YELLOW, "..."),
    "row exchange": (("exchange_row",), BLUE, "///"),
    "column exchange": (("exchange_column",), VERMILLION, "\\\\\\"),
}
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def draw_phases(runs, path, title):
    """Draw stacked bars.

    Parameters
    ----------
    runs : list of (str, dict)
        Name of each run and seconds by phase, at most `MAX_RUNS`.
    path : str or binary file
    title : str
    """
    lines, top = heading(title, WIDTH)
    totals = [sum(seconds[p] for phases, _, _ in KINDS.values() for p in phases) for _, seconds in runs]
    scale, unit = next(((s, u) for s, u in _UNITS if max(totals) >= s), _UNITS[-1])
    with figure(0.34 * len(runs) + top + 1.05, WIDTH) as drawn:
        axes = drawn.subplots()
        axes.set_title(lines)
        left = [0.0] * len(runs)
        for name, (phases, colour, hatch) in KINDS.items():
            widths = [sum(seconds[p] for p in phases) / scale for _, seconds in runs]
            axes.barh(range(len(runs)), widths, 0.42, left=left, color=colour, hatch=hatch, edgecolor=GREY, linewidth=0.3,
                      label=name)
            left = [a + b for a, b in zip(left, widths)]
        for k, (name, _) in enumerate(runs):
            axes.text(0, k - 0.26, name, fontsize=7, va="bottom", color=BLACK)
        axes.set_ylim(len(runs) - 0.6, -0.75)
        axes.set_yticks([])
        axes.set_xlim(left=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(f"slowest rank, median of the repetitions, {unit}")
        drawn.legend(loc="outside lower left", ncols=2, handlelength=1.8, columnspacing=1.2)
        save(drawn, path)
