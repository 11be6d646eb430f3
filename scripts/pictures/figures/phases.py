"""The distribution of a transform's time: the phases of each run, a bar per run.

The phases are means over the ranks, because only means add up: different ranks are slowest in different phases. A mark
shows the total of the slowest rank. The total excludes the time waited in barriers; the bars of waiting are next to the
others, on the same scale, from their own zero.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle

from pencilmap.scripts.pictures.figures import canvas
from pencilmap.scripts.pictures.figures.canvas import Target, figure, heading, save

WIDTH = 3.6                       # inches
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
    def longest_s(self) -> float:
        """Right end of the bar, without waiting."""
        return max(self.total_s, self.slowest_s)

    @property
    def total_s(self) -> float:
        return sum(seconds for kind, seconds in self.seconds.items() if kind != WAITING)


def draw_phases(bars: Sequence[Bar], path: Target, title: str) -> None:
    """Draw stacked bars, and waiting to their right if there was any. There are at most `MAX_BARS` bars."""
    lines, top = heading(title, WIDTH)
    longest, waited = max(bar.longest_s for bar in bars), max(bar.seconds.get(WAITING, 0.0) for bar in bars)
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


def _bars(axes, widths, look, label, left=0.0):
    return axes.barh(range(len(widths)), widths, 0.42, left=left, color=look[0], hatch=look[1], edgecolor=canvas.GREY,
                     linewidth=0.3, label=label)


def _scale(axes, count, longest, label):
    axes.set_ylim(count - 0.6, -0.75)
    axes.set_yticks([])
    axes.set_xlim(0, 1.04 * longest)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(label)


def _short(name):
    return name if len(name) <= LETTERS_OF_NAME else name[:LETTERS_OF_NAME - 1] + "…"
