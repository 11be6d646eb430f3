"""Published times over their predictions, for each number of nodes; a colour and a mark for each machine."""

from collections.abc import Sequence

from pencilmap.model.times.published import CLOSE, Judged
from pencilmap.scripts.pictures.figures.canvas import PALE, Target, figure, save
from pencilmap.scripts.pictures.figures.runs import SERIES

ASIDE = 1.035  # factor between the marks of two machines on the same number of nodes


def draw_judged(panels: Sequence[tuple[str, Sequence[Judged]]], target: Target) -> None:
    """Draw a panel for each title and its judged values.

    Parameters
    ----------
    panels : sequence of (str, sequence of Judged)
    target : path or file
    """
    machines = list(dict.fromkeys(each.value.machine for _, judged in panels for each in judged))
    with figure(3.4) as drawn:
        axes = drawn.subplots(1, len(panels), sharey=True)
        for ax, (title, judged) in zip(axes, panels):
            ax.axhspan(1 / (1 + CLOSE), 1 + CLOSE, color=PALE, linewidth=0)
            for k, machine in enumerate(machines):
                some = [each for each in judged if each.value.machine == machine and each.value.size]
                colour, mark = SERIES[k]
                ax.plot([each.value.nodes * ASIDE ** (k - len(machines) / 2) for each in some],
                        [each.ratio for each in some], mark,
                        color=colour, markersize=2.5, linestyle="none", label=machine, markeredgewidth=0.3)
            ax.set(title=title, xscale="log", yscale="log", xlabel="nodes", ylim=(0.4, 10))
            ticks = (0.5, 1, 2, 5, 10)
            ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
            nodes = (2, 4, 8, 16, 32, 64, 128, 512)
            ax.set_xticks(nodes, list(map(str, nodes)))
            ax.minorticks_off()
        axes[0].set_ylabel("measured over predicted time")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
        save(drawn, target)
