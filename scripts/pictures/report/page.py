"""The page: a template, a style and a script, filled with the records, in a single file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from itertools import count
from math import inf
from shlex import join

from pencilmap.mapper.program_records import ProgramRuns
from pencilmap.mapper.runs.compare import Comparison
from pencilmap.model.base.units import amount, megabytes_per_second, milliseconds, to_limit
from pencilmap.model.placement.transform import Transform
from pencilmap.model.predict.results import Prediction
from pencilmap.scripts.pictures.figures.phases import WAITING, kinds_of
from pencilmap.scripts.pictures.report.bars import bar_of_entry, bar_of_forecast, groups_of_bars, kinds_of_bars
from pencilmap.scripts.pictures.report.entries import Entry, printable
from pencilmap.scripts.pictures.report.inline import inline_svg
from pencilmap.scripts.pictures.report.pictures import bandwidth_pictures, phase_pictures
from pencilmap.scripts.pictures.report.tori import AT_ONCE, MAX_NODES, Placed, PlacedTraffic, views

FEW = 3  # names in a title
NOT_IN_TOTAL = f"not in the total: {WAITING}"


@dataclass(frozen=True)
class Forecast:
    """A prediction without a run, with the placement for its torus."""

    prediction: Prediction
    placed: Placed | None  #: None if the torus is too large to draw
    transform: Transform | None = None


def page(entries: Sequence[Entry], command: list[str], cells: Sequence[Comparison] = (),
         forecasts: Sequence[Forecast] = (), verdict: str = "", machine: str | None = None,
         programs: Sequence[ProgramRuns] = ()) -> str:
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
        The sentence with the result, at the top.
    """
    traced = [(program, m, p) for program in programs for m, p in zip(program.found.mappings, program.found.predictions)]
    found, of_all = views([*(entry.placed for entry in entries), *(forecast.placed for forecast in forecasts),
                           *(PlacedTraffic(m, p.placement, p.routing, program.found.traffic,
                                           program.name if len(programs) > 1 else "") for program, m, p in traced)])
    of_entry, of_forecast = of_all[:len(entries)], of_all[len(entries):len(entries) + len(forecasts)]
    bars = groups_of_bars([*map(bar_of_entry, entries), *(bar_of_forecast(f.prediction) for f in forecasts)])
    first, second = _pair(found, [*zip(of_entry, map(_measured_s, entries)), *zip(of_forecast, (
        f.prediction.known_s for f in forecasts)), *zip(of_all[len(entries) + len(forecasts):], (
            p.link_bytes for program, _, p in traced if program is programs[0]))])
    return _environment().get_template("page.html").render(
        title=title_of(entries, forecasts, machine, programs), programs=programs,
        verdict=verdict, command=printable(join(command)),
        version=version("pencilmap"), entries=entries, bars=bars, bar_kinds=kinds_of_bars(bars),
        forecasts=[forecast.prediction for forecast in forecasts], views=found, paired=second is not None,
        dimensions=list(dict.fromkeys(name for view in found for name in view["dimensions"])),
        stages=list(dict.fromkeys(name for view in found for name in view["loads"])),
        at_once=AT_ONCE, data=_script_data({"views": found, "first": first, "second": second}), style=_part("page.css"),
        script=_part("torus.js"), waiting=NOT_IN_TOTAL,
        bandwidth=_inline(bandwidth_pictures(entries, cells)), phases=_inline(phase_pictures(entries)),
        comparisons=_numbered([(c, entry.distinction, entry.notes(c)) for entry in entries for c in entry.comparisons]
                              + [(cell, "", cell.note and [cell.note]) for cell in cells]),
        undrawn=[entry for entry, view in zip(entries, of_entry) if view is None], max_nodes=MAX_NODES,
        unseen=[forecast.prediction for forecast in forecasts if forecast.placed is None],
        phases_table=_phases_table(entries), join=join)


def title_of(entries: Sequence[Entry], forecasts: Sequence[Forecast], machine: str | None = None,
             programs: Sequence[ProgramRuns] = ()) -> str:
    """Return the subject of the page: machine, torus, grid, placements and sizes, if they are few; or the programs."""
    if programs:
        return _few([program.title for program in programs])
    if entries:
        rows = [entry.comparisons[0] for entry in entries]
        machines = [entry.machine or "" for entry in entries]
        parts = [[row.torus.strip("-") for row in rows], [row.grid for row in rows], [row.placement for row in rows],
                 [row.transform for row in rows], [row.network for row in rows]]
    else:
        found = [forecast.prediction for forecast in forecasts]
        machines, parts = [machine or ""], [[str(p.network) for p in found], [str(p.grid) for p in found],
                                            [p.placement for p in found],
                                            [str(forecast.transform or "") for forecast in forecasts], ["predicted"]]
    where, *rest = (_few(part) for part in parts)
    return ", ".join(filter(None, (" ".join(filter(None, (_few(machines), where))), *rest)))


def _few(names):
    different = list(dict.fromkeys(filter(None, names)))
    return " and ".join(different) if len(different) <= FEW else f"{different[0]} and {len(different) - 1} others"


def _measured_s(entry):
    return sum(c.measured_s for c in entry.comparisons)


def _pair(found, timed):
    """Return the numbers of the views before and after, on the same torus.

    Before is the launch order or else the slowest view, after is the fastest view of another order; None if there is
    none.
    """
    best: dict[int, float] = {}
    for view, seconds in timed:
        if view is not None:
            best[view] = min(best.get(view, inf), inf if seconds is None else seconds)
    if not best:
        return 0, None
    before = next((view for view in best if found[view]["title"].endswith(", default")), max(best, key=best.__getitem__))
    others = [view for view in best if view != before
              and [found[view][key] for key in ("shape", "ring")] == [found[before][key] for key in ("shape", "ring")]]
    return before, min(others, key=best.__getitem__, default=None)


def _inline(pictures):
    return [inline_svg(picture.draw, picture.title, picture.name) for picture in pictures]


def _phases_table(entries):
    """Return columns and cells of the table of phases, in ms; waiting follows the total, which excludes waiting."""
    kinds = kinds_of(dict.fromkeys(name for entry in entries for name in entry.stages))
    waiting = kinds.pop(WAITING)
    after = {NOT_IN_TOTAL: waiting} if any(entry.record["sync"] != "none" for entry in entries) else {}
    columns = [*kinds, "total", "slowest rank", *after]
    rows = [(entry.title, [*(entry.phase_s(*names) for names in kinds.values()), entry.phase_s("total"), entry.slowest_s,
                           *(entry.phase_s(*names) for names in after.values())]) for entry in entries]
    return columns, rows


def _numbered(comparisons):
    """Return comparisons with their distinctions and the numbers of their notes, and the notes."""
    notes = dict(zip(dict.fromkeys(note for _, _, found in comparisons for note in found), count(1)))
    return [(c, distinction, [notes[note] for note in found]) for c, distinction, found in comparisons], notes


def _script_data(value):
    """Return JSON for a script element; nothing in the text ends the element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _part(name):
    return (files("pencilmap.scripts.pictures.report") / name).read_text("utf-8")


@lru_cache
def _environment():
    import jinja2

    environment = jinja2.Environment(loader=jinja2.FunctionLoader(_part), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {"ms": milliseconds, "rate": megabytes_per_second,
                            "lengths": lambda values: " ".join(f"{float(value):.4g}" for value in values),
                            "plain_ms": lambda seconds: f"{1e3 * seconds:.5f}",
                            "ratio": lambda value: "-" if value is None else f"{value:.3f}",
                            "to_limit": to_limit, "bytes": amount}
    return environment
