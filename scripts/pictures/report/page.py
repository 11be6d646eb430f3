"""The page: a template, a style and a script, filled with the records and put into one file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from itertools import count
from shlex import join

from pencilmap.mapper.compare import Comparison
from pencilmap.model.predict import Prediction
from pencilmap.model.units import megabytes_per_second, milliseconds
from pencilmap.scripts.pictures.figures.phases import WAITING, kinds_of
from pencilmap.scripts.pictures.report.entries import Entry, printable
from pencilmap.scripts.pictures.report.inline import inline_svg
from pencilmap.scripts.pictures.report.pictures import bandwidth_pictures, phase_pictures
from pencilmap.scripts.pictures.report.tori import AT_ONCE, MAX_NODES, Placed, views


@dataclass(frozen=True)
class Forecast:
    """A prediction without a run, with what its torus shows."""

    prediction: Prediction
    placed: Placed | None  #: None where the torus is too large to be drawn


def page(entries: Sequence[Entry], command: list[str], cells: Sequence[Comparison] = (),
         forecasts: Sequence[Forecast] = ()) -> str:
    """The report as HTML: one file, nothing loaded from anywhere, the same bytes for the same records.

    `command` is the command line that makes it; `cells` are published exchanges beside the records, `forecasts` predictions
    without a run.
    """
    found, of_entry = views([*(entry.placed for entry in entries), *(forecast.placed for forecast in forecasts)])
    return _environment().get_template("page.html").render(
        title="pencilmap report", command=printable(join(command)), version=version("pencilmap"), entries=entries,
        forecasts=[forecast.prediction for forecast in forecasts], views=found,
        dimensions=list(dict.fromkeys(name for view in found for name in view["dimensions"])),
        stages=list(dict.fromkeys(name for view in found for name in view["loads"])),
        at_once=AT_ONCE, data=_script_data({"views": found}), style=_part("page.css"), script=_part("torus.js"),
        bandwidth=_inline(bandwidth_pictures(entries, cells)), phases=_inline(phase_pictures(entries)),
        comparisons=_numbered([(c, entry.distinction, entry.notes(c)) for entry in entries for c in entry.comparisons]
                              + [(cell, "", cell.note and [cell.note]) for cell in cells]),
        undrawn=[entry for entry, view in zip(entries, of_entry) if view is None], max_nodes=MAX_NODES,
        unseen=[forecast.prediction for forecast in forecasts if forecast.placed is None],
        phases_table=_phases_table(entries), join=join)


def _inline(pictures):
    return [inline_svg(picture.draw, picture.title, picture.name) for picture in pictures]


def _phases_table(entries):
    """Columns and cells of the table of phases, in ms; waiting comes after the total, because it is not part of it."""
    kinds = kinds_of(dict.fromkeys(name for entry in entries for name in entry.stages))
    waiting = kinds.pop(WAITING)
    after = {WAITING: waiting} if any(entry.record["sync"] != "none" for entry in entries) else {}
    columns = [*kinds, "total", "slowest rank", *after]
    rows = [(entry.title, [*(entry.phase_s(*names) for names in kinds.values()), entry.phase_s("total"), entry.slowest_s,
                           *(entry.phase_s(*names) for names in after.values())]) for entry in entries]
    return columns, rows


def _numbered(comparisons):
    """Comparisons with what tells them apart and the numbers of their notes, and the notes."""
    notes = dict(zip(dict.fromkeys(note for _, _, found in comparisons for note in found), count(1)))
    return [(c, distinction, [notes[note] for note in found]) for c, distinction, found in comparisons], notes


def _script_data(value):
    """JSON that can stand in a script element: nothing in it ends the element."""
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
                            "ratio": lambda value: "-" if value is None else f"{value:.3f}"}
    return environment
