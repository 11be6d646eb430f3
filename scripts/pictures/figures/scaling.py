"""Strong scaling and its fit, after Fig. 4 of Pekurovsky, SIAM J. Sci. Comput. 34 (2012): time over ranks, both logarithmic.

Marks are the times of the fastest grids, lines the fitted a/P + d/P^(2/3), and the thin line is a/P alone.
"""

from collections.abc import Sequence
from typing import Any

from pencilmap.model.base.errors import FigureError
from pencilmap.scripts.pictures.figures import canvas
from pencilmap.scripts.pictures.figures.canvas import Target, figure, save


def draw_scaling(studies: Sequence[dict[str, Any]], path: Target) -> None:
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
