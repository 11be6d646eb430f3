"""The page: a template, a style, a script and pictures, filled with the records, in a single file."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from html import escape
from importlib.metadata import version
from importlib.resources import files
from io import BytesIO
from itertools import count
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from pencilmap.mapper.base import shell
from pencilmap.mapper.placements import placement_name
from pencilmap.mapper.programs import ProgramRuns
from pencilmap.mapper.runs.compare import Comparison, compare_published
from pencilmap.model.base.errors import FigureError
from pencilmap.model.base.units import amount, capitalised, could, expected_milliseconds, megabytes_per_second, milliseconds
from pencilmap.model.machines.machine import load_machine
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict import Prediction
from pencilmap.model.schedules.schedule import SEQUENCE
from pencilmap.scripts.pictures import canvas, runs
from pencilmap.scripts.pictures.canvas import Target
from pencilmap.scripts.pictures.image import draw_image
from pencilmap.scripts.pictures.links import draw_loads
from pencilmap.scripts.pictures.report.entries import (
    MEASURED,
    PREDICTED,
    Compared,
    Entry,
    bar_of_entry,
    bar_of_forecast,
    compared,
    kind_of_run,
    kinds_of_bars,
    label_of,
    shown_bars,
)
from pencilmap.scripts.pictures.report.networks import AT_ONCE, LAUNCHED, MAX_NODES, Placed, PlacedTraffic, panels, views

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
                 lambda match: f'<svg {match[1]} role="img" aria-label="{escape(label)}">', svg, count=1)
    for variable, colour in _COLOURS.items():
        svg = re.sub(colour, f"var(--{variable})", svg, flags=re.IGNORECASE)
    return svg.replace("xlink:href=", "href=")


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
              if (point := runs.point_of(comparison, nominal, label))]
    speeds, stages = _speeds(point.nominal for _, point in points), list(dict.fromkeys(c.stage for c, _ in points))
    result: dict[tuple[float, bool, int], list[runs.Point]] = {}
    for comparison, point in points:
        long = "x" in comparison.grid and int(comparison.grid.split("x")[0]) > LONG
        result.setdefault((speeds[point.nominal], long, stages.index(comparison.stage)), []).append(point)
    result = {key: points_ for key, points_ in result.items() if len({point.n for point in points_}) > 1}
    lengths, rates = {long for _, long, _ in result}, sorted(set(speeds.values()))
    return [_bandwidth_picture(result[rate, long, k], rate, long, stages[k], len(lengths) > 1,
                               rates.index(rate) + 1 if len(rates) > 1 else 0) for rate, long, k in sorted(result)]


def _speeds(rates: Iterable[Any]) -> dict[float, float]:
    """Return the ratio of each link's rate to the slowest rate in the same panel."""
    speeds, first = {}, 0.0
    for rate in sorted(set(rates)):
        first = rate if rate > ONE_AXIS * first else first
        speeds[rate] = first
    return speeds


def _with_nominal(entries: Sequence[Any], cells: Any) -> Iterator[tuple[Any, Any, str]]:
    for entry in entries:
        for comparison in entry.comparisons:
            if comparison.t_ratio and comparison.stage in entry.prediction.grid.decomposition.names:
                load, rates = entry.prediction.stage(comparison.stage).load, entry.prediction.network.bandwidth
                busiest = max(range(len(rates)), key=lambda i: float(load[i]) / rates[i])
                yield comparison, rates[busiest], entry.series
    rate = load_machine("bluegene-l").torus.bandwidth[0] if cells else None
    yield from ((cell, rate, label_of(cell)) for cell in cells)


def _bandwidth_picture(points: Sequence[runs.Point], rate: float, long: bool, stage: str, both_lengths: bool,
                       number: int) -> Picture:
    length = ("long" if long else "short") if both_lengths else ""
    title = f"{stage} exchange" + (f", {length} rows" if length else "") + (
        f", links from {runs.rate_text(rate)}" if number else "")
    name = "-".join(filter(None, ("bandwidth", stage, length, str(number or ""))))
    return Picture(name, title, partial(runs.draw_bandwidth, points, title=title))


def phase_pictures(entries: Sequence[Entry]) -> list[Picture]:
    """Return the phases of runs: a picture for each size and network, so that bars can be compared by length."""
    groups: dict[str, list[runs.Bar]] = {}
    for entry in entries:
        groups.setdefault(f"{entry.transform}, {entry.network}", []).append(_bar(entry))
    parts = [(title, bars[k:k + runs.MAX_BARS]) for title, bars in groups.items()
             for k in range(0, len(bars), runs.MAX_BARS)]
    titles = [f"where the time goes: {title}" for title, _ in parts]
    return [Picture(f"phases-{k}" if len(parts) > 1 else "phases", title, partial(runs.draw_phases, bars, title=title))
            for k, (title, (_, bars)) in enumerate(zip(titles, parts), 1)]


def _bar(entry: Entry) -> runs.Bar:
    """Return the phases without the waiting for an agreed time, which says nothing about the ranks."""
    seconds = {kind: entry.phase_s(*phases) for kind, phases in runs.kinds_of(entry.stages).items()}
    return runs.Bar(entry.label, seconds | ({runs.WAITING: 0.0} if entry.record["sync"] == "clock" else {}), entry.slowest_s)


def torus_pictures(entries: Sequence[Placed | None], of_placed: Sequence[int | None]) -> list[Picture]:
    """Return images and link loads of every placement, for files."""
    first = {view: one for one, view in reversed(list(zip(entries, of_placed))) if one and view is not None}
    return [picture for view, one in sorted(first.items()) for picture in _of_torus(one, view + 1)]


def _of_torus(placement: Placed, number: int) -> Iterator[Picture]:
    where = f"{placement.mapping.network}, grid {placement.mapping.grid}, placement {placement.name}"
    groups = {dimension.name: 0 for dimension in placement.mapping.grid.decomposition.dimensions}
    yield Picture(f"image-{number}", where, partial(draw_image, placement.mapping, groups, title=where))
    for name in placement.shown:
        what = name if name == AT_ONCE else f"{name} exchange"
        title = f"{where}, {what}, routing {placement.routing}"
        yield Picture(f"loads-{'joint' if name == AT_ONCE else name}-{number}", title,
                      partial(lambda name, title, to: draw_loads(placement.link_loads(name), to, title, False), name, title))


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


FEW = 3  # names in a title
NOT_IN_TOTAL = f"not in the total: {runs.WAITING}"
EXPLAINED = {
    PREDICTED: "Predicted from the loads of the links; nothing was run.",
    "simulated": "Simulated: the real program ran, each message on the links of a simulated network, without other costs.",
    MEASURED: "Measured in runs of the program.",
}


@dataclass(frozen=True)
class Forecast:
    """A prediction without a run, with the placement for its torus."""

    prediction: Prediction
    placed: Placed | None  #: None without a picture
    transform: Transform | None = None


def page(entries: Sequence[Entry], command: list[str], cells: Sequence[Comparison] = (),
         *, forecasts: Sequence[Forecast] = (), verdict: str = "", machine: str | None = None,
         programs: Sequence[ProgramRuns] = (), bound: str = "", launch: Sequence[tuple[str, str, bool]] = ()) -> str:
    """Return the report as HTML: a single file that loads nothing, the same bytes for the same records.

    Parameters
    ----------
    command
        The command line that makes the report.
    cells
        Published exchanges to show with the records.
    forecasts
        Predictions without a run, of `machine` if a machine is named.
    programs
        Traced programs, with or without runs.
    verdict
        The sentence with the result: of predictions what to take, of records how near the prediction was.
    bound
        The sentence about the grid and its bound, of predictions.
    launch
        Labels and lines that write the file and start the job, and whether a line is typed.
    """
    traced = [(program, m, p) for program in programs for m, p in zip(program.found.mappings, program.found.predictions)]
    placement = [*(entry.placed for entry in entries), *(forecast.placed for forecast in forecasts),
                 *(PlacedTraffic(m, p.placement, program.name_of(p), p.routing, program.found.traffic,
                            program.name if len(programs) > 1 else "")
                   for program, m, p in traced)]
    views_, of_all = views(placement)
    bars = [*map(bar_of_entry, entries),
            *(bar_of_forecast(f.prediction, f"{f.prediction.network}{f', {f.transform}' if f.transform else ''}")
              for f in forecasts)]
    amounts: list[Any] = [*(bar.amount for bar in bars), *(p.link_bytes if program is programs[0] else None
                                               for program, _, p in traced)]
    groups, in_mb = compared(bars), bool(programs) or any(forecast.transform for forecast in forecasts)
    first, second = _pair(views_, [*zip(of_all, amounts)])
    title = title_of(entries, forecasts, machine, programs)
    run_kinds = {kind_of_run(entry) for entry in entries}
    run_word = run_kinds.pop() if len(run_kinds) == 1 else MEASURED
    faster = "faster" if groups and groups[0].bars[0].timed else "less load"
    return _environment().get_template("page.html").render(
        title=title, programs=programs, headline=_headline(groups, forecasts, verdict) or title,
        kinds=[(kind, EXPLAINED[kind]) for kind in _kinds(groups, programs)],
        verdict=bound, launch=launch, run_word=run_word,
        agreement=verdict.replace(MEASURED, run_word) if entries else "", command=shell.command(command),
        version=version("pencilmap"), entries=entries, groups=[(group, shown_bars(group)) for group in groups],
        bar_kinds=kinds_of_bars(groups),
        table=_table([forecast.prediction for forecast in forecasts]), views=views_,
        notes=list(dict.fromkeys(note for forecast in forecasts for note in forecast.prediction.notes)),
        in_mb=in_mb, paired=second is not None,
        dimensions=list(dict.fromkeys(name for view in views_ for name in view["dimensions"])),
        stages=list(dict.fromkeys(name for view in views_ for name in view["loads"])),
        at_once=AT_ONCE, data=json.dumps({"views": views_, "first": first, "second": second,
                                          "amounts": _least(len(views_), zip(of_all, amounts)), "faster": faster,
                                          "unit": " MB" if in_mb else ""},
                                         separators=(",", ":")).replace("<", "\\u003c"),  # no text ends the script
        faster=faster, style=_part("page.css"), graphs=panels(placement, amounts),
        script=_part("torus.js"), waiting=NOT_IN_TOTAL,
        bandwidth=_inline(bandwidth_pictures(entries, cells)) if cells else [], phases=_inline(phase_pictures(entries)),
        comparisons=_numbered([(c, entry.distinction, entry.notes(c)) for entry in entries for c in entry.comparisons]
                              + [(cell, "", cell.note and [cell.note]) for cell in cells]),
        undrawn=[f"{entry.source}: {_undrawn(entry.placed) or f'the network is not drawn: {entry.comparisons[0].note}'}"
                 for entry in entries if entry.placed is None or _undrawn(entry.placed)],
        unseen=list(dict.fromkeys(filter(None, (_undrawn(f.placed) for f in forecasts if f.placed)))),
        phases_table=_phases_table(entries), join=shell.command)


def gains_of_runs(entries: Sequence[Entry]) -> list[str]:
    """Return a sentence about the gain of each group of runs that are comparable; of several groups with their titles."""
    groups = compared(map(bar_of_entry, entries))
    return [f"{group.title}: {group.sentence}" if len(groups) > 1 else group.sentence for group in groups if group.sentence]


def _headline(groups: Sequence[Compared], forecasts: Sequence[Forecast], verdict: str) -> str:
    """Return the answer about predictions, the gain of runs, or else the verdict."""
    said = groups[0].sentence if groups and not (forecasts and verdict) else verdict
    return capitalised(said) if said.partition(" ")[0].isalpha() else said


def _undrawn(placement: Placed | None) -> str:
    """Return why the network of a placement is not drawn; empty if it is drawn, or without a network."""
    if placement is None:
        return ""
    network = placement.mapping.network
    too_many = network.has_products and network.n_nodes > MAX_NODES
    return f"{network} is not drawn: it has more than {MAX_NODES} nodes" if too_many else ""


def _kinds(groups: Sequence[Compared], programs: Sequence[ProgramRuns]) -> list[str]:
    """Return how the times came about: each name once."""
    if programs:
        return [MEASURED if any(run.seconds for program in programs for run in program.measured) else PREDICTED]
    return list(dict.fromkeys(group.kind for group in groups))


def _least(n_views: int, timed: Iterable[Any]) -> Any:
    """Return the least amount of each view; None if it has none."""
    values: list[float | None] = [None] * n_views
    for view, value in timed:
        if view is not None and value is not None:
            values[view] = min(filter(None, (values[view], value)))
    return values


def title_of(entries: Sequence[Entry], forecasts: Sequence[Forecast], machine: str | None = None,
             programs: Sequence[ProgramRuns] = ()) -> str:
    """Return the subject of the page: machine, torus, grid, placements and sizes, if they are few; or the programs."""
    if programs:
        return _few([program.title for program in programs])
    if entries:
        rows = [entry.comparisons[0] for entry in entries]
        machines = [entry.machine or "" for entry in entries]
        parts = [[row.torus.strip("-") for row in rows], [row.grid for row in rows], [row.name for row in rows],
                 [row.transform for row in rows], [row.network for row in rows]]
    else:
        predictions = [forecast.prediction for forecast in forecasts]
        machines, parts = [machine or ""], [[str(p.network) for p in predictions], [str(p.grid) for p in predictions],
                                            [placement_name(p.placement, p.bounds.site) for p in predictions],
                                            [str(forecast.transform or "") for forecast in forecasts], ["predicted"]]
    where, *rest = (_few(part) for part in parts)
    return ", ".join(filter(None, (" ".join(filter(None, (_few(machines), where))), *rest)))


def _few(names: Sequence[str]) -> str:
    different = list(dict.fromkeys(filter(None, names)))
    return " and ".join(different) if len(different) <= FEW else f"{different[0]} and {len(different) - 1} others"


def _pair(result: list[dict[str, Any]], timed: list[tuple[int | None, float]]) -> Any:
    """Return the numbers of the views before and after, on the same torus.

    Before is the launch order or else the slowest view. After is the fastest view of other nodes under the same kind of
    schedule, or else of other nodes, or else of any other view; None if there is none.
    """
    best: dict[int, float] = {}
    for view, value in timed:
        if view is not None:
            best[view] = min(best.get(view, inf), inf if value is None else value)
    if not best:
        return 0, None
    before = next((view for view in best if result[view]["placement"] == LAUNCHED), max(best, key=best.__getitem__))
    others = [view for view in best if view != before
              and [result[view][key] for key in ("shape", "ring")] == [result[before][key] for key in ("shape", "ring")]]
    moved = [view for view in others if result[view]["nodes"] != result[before]["nodes"]]
    alike = [view for view in moved if [*result[view]["loads"]] == [*result[before]["loads"]]]
    return before, min(alike or moved or others, key=best.__getitem__, default=None)


def _inline(pictures: Iterable[Picture]) -> list[str]:
    return [inline_svg(picture.draw, picture.title, picture.name) for picture in pictures]


def _table(predictions: Sequence[Prediction]) -> dict[str, Any] | None:
    """Return the caption, the columns and the rows of the table of exchanges; None without predictions.

    Columns in which all rows agree are in the caption. A column is a title and whether it holds numbers.
    """
    if not predictions:
        return None
    rows, seen = [], set()
    for p in predictions:
        about = [str(p.network), str(p.grid), p.routing, placement_name(p.placement, p.bounds.site)]
        forecast: Any = p.schedule
        is_plain = forecast is None or (forecast.name == SEQUENCE and forecast.transforms == 1)
        if not is_plain:
            pair = " (pair)" if forecast.transforms > 1 else ""
            rows.append([*about, f"{forecast.name}{pair}", _loads([forecast.cost]), milliseconds(forecast.t_s),
                         milliseconds(forecast.time_s), could(forecast.certificate), "-"])
        if (key := tuple(about)) in seen:
            continue
        seen.add(key)
        rows += [[*about, stage.name, _loads(stage.load), milliseconds(stage.t_s), milliseconds(stage.time_s), "",
                  str(stage.busiest or "-")] for stage in p.stages]
        rows.append([*about, "one after the other", _loads([p.cost]), milliseconds(p.t_s),
                     milliseconds(p.time_s) + (f" ({expected_milliseconds(p.time_range_s)})" if p.time_range_s else ""),
                     could(p.certificate), "-"])
        if len(p.stages) > 1 and forecast is not None:
            rows.append([*about, AT_ONCE, _loads(forecast.load_joint), milliseconds(forecast.t_joint_s), "-", "-", "-"])
    titles = ["network", "grid", "routing", "placement", "exchange", "load", "links", "predicted", "links could gain",
              "busiest link"]
    on_tori = all(p.network.has_products for p in predictions)
    alike = [k for k in range(3) if len({row[k] for row in rows}) == 1]
    shown = [k for k in range(len(titles)) if k not in alike and (k != 5 or on_tori)]
    caption = ", ".join(f"{titles[k]} {rows[0][k]}" for k in alike)
    return {"caption": caption, "on_tori": on_tori, "columns": [(titles[k], 4 < k < 9) for k in shown],
            "rows": [[row[k] for k in shown] for row in rows]}


def _loads(values: Sequence[Fraction]) -> str:
    return " ".join(f"{float(value):.4g}" for value in values)


def _phases_table(entries: Sequence[Entry]) -> tuple[list[str], list[tuple[str, list[float]]]]:
    """Return columns and cells of the table of phases, in ms; waiting follows the total, which excludes waiting."""
    kinds = runs.kinds_of(dict.fromkeys(name for entry in entries for name in entry.stages))
    waiting = kinds.pop(runs.WAITING)
    after = {NOT_IN_TOTAL: waiting} if any(entry.record["sync"] != "none" for entry in entries) else {}
    columns = [*kinds, "total", "slowest rank", *after]
    rows = [(entry.title, [*(entry.phase_s(*names) for names in kinds.values()), entry.phase_s("total"), entry.slowest_s,
                           *(entry.phase_s(*names) for names in after.values())]) for entry in entries]
    return columns, rows


def _numbered(
        comparisons: list[tuple[Comparison, str, Any]]) -> tuple[list[tuple[Comparison, str, list[int]]], dict[str, int]]:
    """Return comparisons with their distinctions and the numbers of their notes, and the notes."""
    notes = dict(zip(dict.fromkeys(note for _, _, notes_ in comparisons for note in notes_), count(1)))
    return [(c, distinction, [notes[note] for note in notes_]) for c, distinction, notes_ in comparisons], notes


def _part(name: str) -> str:
    return (files("pencilmap.scripts.pictures.report") / name).read_text("utf-8")


@lru_cache
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(loader=jinja2.FunctionLoader(_part), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters |= dict[str, Callable[..., Any]](
        capitalize_first=capitalised, ms=milliseconds, rate=megabytes_per_second,
        plain_ms=lambda seconds: f"{1e3 * seconds:.5f}", ratio=lambda value: "-" if value is None else f"{value:.3f}",
        could=could, bytes=amount)
    return environment
