"""Bars of times on the page: the exchanges of each placement, side by side, with their lower limit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pencilmap.model.predict.results import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.pictures.report.entries import Entry

TOGETHER = "together"  # concurrent exchanges, which have a common time


@dataclass(frozen=True)
class Part:
    """An exchange of a bar; kind is the colour: the colour of its groups in the torus."""

    name: str
    kind: str
    seconds: float
    share: str = ""


@dataclass(frozen=True)
class Bar:
    """A placement; `group` is the same for bars side by side, `least_s` the seconds that the busiest links need."""

    group: str
    label: str
    parts: tuple[Part, ...]
    least_s: float | None

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)


def bar_of_entry(entry: Entry) -> Bar:
    """Return the measured bar: the slowest rank, the median of the repetitions."""
    rows = entry.comparisons
    least = [row.t_s for row in rows]
    group = ", ".join(filter(None, (entry.machine, rows[0].torus.strip("-"), rows[0].transform, rows[0].network)))
    return Bar(group, entry.label, tuple(_part(row.stage, row.measured_s) for row in rows), _sum(least))


def bar_of_forecast(prediction: Prediction) -> Bar | None:
    """Return the bar predicted by all terms of the time model; None if no time is known."""
    found = prediction.schedule
    if prediction.time_s is None:
        return None
    schedule = found.name if found and (found.name != SEQUENCE or found.transforms > 1) else ""
    if found and schedule:
        parts, least = (_part(f"exchanges under {schedule}", found.time_s or 0.0),), found.t_s
    else:
        parts = tuple(_part(stage.name, stage.time_s or 0.0) for stage in prediction.stages)
        least = prediction.t_s
    label = ", ".join(filter(None, (f"{prediction.grid} {prediction.placement}", schedule)))
    return Bar(str(prediction.network), label, parts, least)


def groups_of_bars(bars: Iterable[Bar | None]) -> list[dict]:
    """Return bars of the same torus and transform on one scale, for the template; single bars are left out."""
    groups: dict[str, list[Bar]] = {}
    for bar in bars:
        if bar and bar.seconds > 0:
            groups.setdefault(bar.group, []).append(bar)
    return [{"title": title, "bars": [_shown(bar, max(max(b.seconds, b.least_s or 0.0) for b in some)) for bar in some]}
            for title, some in groups.items() if len(some) > 1]


def kinds_of_bars(groups: Sequence[dict]) -> dict[str, str]:
    """Return the colours of the legend, with their meaning."""
    parts = [part for group in groups for bar in group["bars"] for part in bar["parts"]]
    return {part.kind: "exchanges beside each other" if part.kind == TOGETHER else f"{part.name} exchange" for part in parts}


def _part(name, seconds):
    return Part(name, name if name in ("row", "column", "slab") else TOGETHER, seconds)


def _shown(bar, most):
    parts = [Part(p.name, p.kind, p.seconds, f"{p.seconds / bar.seconds:.4f}") for p in bar.parts]
    return {"label": bar.label, "parts": parts, "seconds": bar.seconds, "width": f"{100 * bar.seconds / most:.2f}",
            "least": None if bar.least_s is None else f"{100 * bar.least_s / most:.2f}"}


def _sum(seconds):
    return None if None in seconds else sum(seconds)
