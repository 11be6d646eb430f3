"""The pictures of a report: in the page, as SVG whose colours follow the page, light or dark, and as files for papers."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from pencilmap.mapper.runs.compare import Comparison, compare_published
from pencilmap.model.base.errors import FigureError
from pencilmap.model.machines.machine import load_machine
from pencilmap.scripts.pictures.figures import canvas
from pencilmap.scripts.pictures.figures.canvas import Target
from pencilmap.scripts.pictures.figures.image import draw_image
from pencilmap.scripts.pictures.figures.loads import draw_loads
from pencilmap.scripts.pictures.figures.runs import (
    MAX_BARS,
    WAITING,
    Bar,
    Point,
    draw_bandwidth,
    draw_phases,
    kinds_of,
    point_of,
    rate_text,
)
from pencilmap.scripts.pictures.report.entries import Entry, label_of
from pencilmap.scripts.pictures.report.networks import AT_ONCE, Placed

_COLOURS = {  # of a picture, by the name of the variable in page.css
    "blue": canvas.BLUE, "vermillion": canvas.VERMILLION, "green": canvas.GREEN, "orange": canvas.ORANGE, "sky": canvas.SKY,
    "purple": canvas.PURPLE, "yellow": canvas.YELLOW, "ink": canvas.BLACK, "grey": canvas.GREY, "pale": canvas.PALE,
    "paper": "#ffffff",
}


def inline_svg(draw: Callable[[BinaryIO], None], label: str, name: str) -> str:
    """Return an SVG element for a page with several pictures.

    Parameters
    ----------
    draw
        Function that draws into a binary file.
    label
        Text for readers who cannot see the picture.
    name
        Prefix of every id, so that ids of several pictures differ.
    """
    content = BytesIO()
    draw(content)
    svg = content.getvalue().decode("utf-8")
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg"):], flags=re.DOTALL)
    svg = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>",
                 lambda match: f'<svg {match[1]} role="img" aria-label="{_attribute(label)}">', svg, count=1)
    for variable, colour in _COLOURS.items():
        svg = re.sub(colour, f"var(--{variable})", svg, flags=re.IGNORECASE)
    return svg.replace("xlink:href=", "href=")


def _attribute(text):
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


LONG = 16    # rows with more tasks are long: they have their own panels, as in the paper
ONE_AXIS = 4  # links that are faster by more than this factor have their own panels


@dataclass(frozen=True)
class Picture:
    """A picture, drawn on demand by ``draw(path)``."""

    name: str
    title: str
    draw: Callable[[Target], None]


def published_cells() -> list[Comparison]:
    """Return the exchanges of the published table."""
    return [cell for cell in compare_published() if cell.stage != "total"]


def bandwidth_pictures(entries: Sequence[Entry], cells: Sequence[Comparison] = ()) -> list[Picture]:
    """Return Fig. 8 and 9: a picture for each exchange, of short and of long rows, and of links of about the same speed.

    Return no picture if all sizes are equal, because a single point makes no line.
    """
    points = [(comparison, point) for comparison, nominal, label in _with_nominal(entries, cells)
              if (point := point_of(comparison, nominal, label))]
    speeds, stages = _speeds(point.nominal for _, point in points), list(dict.fromkeys(c.stage for c, _ in points))
    found: dict[tuple[float, bool, int], list[Point]] = {}
    for comparison, point in points:
        long = "x" in comparison.grid and int(comparison.grid.split("x")[0]) > LONG
        found.setdefault((speeds[point.nominal], long, stages.index(comparison.stage)), []).append(point)
    found = {key: some for key, some in found.items() if len({point.n for point in some}) > 1}
    lengths, rates = {long for _, long, _ in found}, sorted(set(speeds.values()))
    return [_bandwidth_picture(found[rate, long, k], rate, long, stages[k], len(lengths) > 1,
                               rates.index(rate) + 1 if len(rates) > 1 else 0) for rate, long, k in sorted(found)]


def _speeds(rates):
    """Return the ratio of each link's rate to the slowest rate in the same panel."""
    found, first = {}, 0.0
    for rate in sorted(set(rates)):
        first = rate if rate > ONE_AXIS * first else first
        found[rate] = first
    return found


def _with_nominal(entries, cells):
    for entry in entries:
        for comparison in entry.comparisons:
            if comparison.t_ratio and comparison.stage in entry.prediction.grid.decomposition.names:
                exchange = entry.prediction.stage(comparison.stage)
                yield comparison, _slowest_link(entry.prediction.network, exchange), entry.series
    rate = load_machine("bluegene-l").torus.bandwidth[0] if cells else None
    yield from ((cell, rate, label_of(cell)) for cell in cells)


def _slowest_link(network, exchange):
    """Return the bandwidth in the dimension of the busiest link."""
    return network.bandwidth[max(range(network.n_dimensions), key=lambda i: float(exchange.load[i]) / network.bandwidth[i])]


def _bandwidth_picture(points, rate, long, stage, both_lengths, number):
    length = ("long" if long else "short") if both_lengths else ""
    title = f"{stage} exchange" + (f", {length} rows" if length else "") + (
        f", links from {rate_text(rate)}" if number else "")
    name = "-".join(filter(None, ("bandwidth", stage, length, str(number or ""))))
    return Picture(name, title, partial(draw_bandwidth, points, title=title))


def phase_pictures(entries: Sequence[Entry]) -> list[Picture]:
    """Return the phases of runs: a picture for each size and network, so that bars can be compared by length."""
    groups: dict[str, list[Bar]] = {}
    for entry in entries:
        groups.setdefault(f"{entry.transform}, {entry.network}", []).append(_bar(entry))
    parts = [(title, bars[k:k + MAX_BARS]) for title, bars in groups.items() for k in range(0, len(bars), MAX_BARS)]
    titles = [f"where the time goes: {title}" for title, _ in parts]
    return [Picture(f"phases-{k}" if len(parts) > 1 else "phases", title, partial(draw_phases, bars, title=title))
            for k, (title, (_, bars)) in enumerate(zip(titles, parts), 1)]


def _bar(entry):
    """Return the phases without the waiting for an agreed time, which says nothing about the ranks."""
    seconds = {kind: entry.phase_s(*phases) for kind, phases in kinds_of(entry.stages).items()}
    return Bar(entry.label, seconds | ({WAITING: 0.0} if entry.record["sync"] == "clock" else {}), entry.slowest_s)


def torus_pictures(placed: Sequence[Placed | None], of_placed: Sequence[int | None]) -> list[Picture]:
    """Return images and link loads of every placement, for files."""
    first = {view: one for one, view in reversed(list(zip(placed, of_placed))) if one and view is not None}
    return [picture for view, one in sorted(first.items()) for picture in _of_torus(one, view + 1)]


def _of_torus(placed, number):
    where = f"{placed.mapping.network}, grid {placed.mapping.grid}, placement {placed.name}"
    groups = {dimension.name: 0 for dimension in placed.mapping.grid.decomposition.dimensions}
    yield Picture(f"image-{number}", where, partial(draw_image, placed.mapping, groups, title=where))
    for name in placed.shown:
        what = name if name == AT_ONCE else f"{name} exchange"
        title = f"{where}, {what}, routing {placed.routing}"
        yield Picture(f"loads-{'joint' if name == AT_ONCE else name}-{number}", title,
                      partial(lambda name, title, to: draw_loads(placed.link_loads(name), to, title, False), name, title))


def make_folder(path: str | PathLike[str]) -> None:
    """Make a folder for pictures, unless the folder exists; raise FigureError on failure."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FigureError(f"{path} cannot be made: {error.strerror}") from error


def write_pictures(pictures: Iterable[Picture], folder: str | PathLike[str], kind: str) -> tuple[list[str], list[str]]:
    """Write every picture into a folder. Return the files, and the failures with their reasons."""
    files, refused = [], []
    for picture in pictures:
        path = Path(folder) / f"{picture.name}.{kind}"
        try:
            picture.draw(path)
        except FigureError as error:
            refused.append(f"{path}: {error}")
        else:
            files.append(str(path))
    return files, refused
