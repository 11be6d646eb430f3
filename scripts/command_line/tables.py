"""Tables and JSON on standard output, the two output forms of every command.

What is heavy is loaded where it is used, so that the commands without predictions start at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from pencilmap.model.units import megabytes_per_second, milliseconds

if TYPE_CHECKING:
    from rich.console import Console

    from pencilmap.mapper.compare import Comparison
    from pencilmap.model.calibrate import Quality
    from pencilmap.model.predict import Prediction
    from pencilmap.model.splits import Held

PLAIN_WIDTH = 400  # when standard output is not a terminal: as wide as the table


def console(stderr: bool = False) -> Console:
    """A console that does not fold tables when its output is piped."""
    from rich.console import Console

    out = Console(stderr=stderr, highlight=False)
    return out if out.is_terminal else Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, indent=2))


def print_table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[Any]],
                notes: Iterable[str] = ()) -> None:
    """A table; columns that start with ``>`` are numbers, aligned right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    if title:
        click.secho(title, bold=True)
    out = console()
    with out.capture() as text:
        out.print(table)
    click.echo("\n".join(line.rstrip() for line in text.get().splitlines()))
    for note in dict.fromkeys(notes):
        click.echo(note)
    click.echo()


def lengths(values: Iterable[Any]) -> str:
    """Effective lengths or loads, one for each dimension.

    >>> from fractions import Fraction
    >>> lengths([Fraction(4), Fraction(4, 3)])
    '4 1.333'
    """
    return " ".join(f"{float(v):.4g}" for v in values)


def prediction_table(predictions: Sequence[Prediction], title: str | None = None) -> None:
    """The table of one or more predictions of one decomposition; predicted times beside the link times where they differ."""
    predicted = any(p.time_s != p.t_s for p in predictions)
    several = len({p.routing for p in predictions}) > 1
    names = [stage.name for stage in predictions[0].stages]
    columns = ["grid", "placement", *(["routing"] if several else []), *(f"m {name}" for name in names),
               *(f"load {name}" for name in names), ">sum", *(f">t {name}" for name in names), ">link time",
               *([">predicted"] if predicted else []), ">lower bound", ">certificate"]
    rows = [[p.grid, p.placement, *([p.routing] if several else []), *(lengths(stage.m) for stage in p.stages),
             *(lengths(stage.load) for stage in p.stages), f"{float(p.cost):.4g}",
             *(milliseconds(stage.t_s) for stage in p.stages), milliseconds(p.t_s),
             *([milliseconds(p.time_s)] if predicted else []), f"{float(p.lower_bound.value):.4g}",
             "-" if p.certificate is None else f"{p.certificate:.3f}"]
            for p in predictions]
    print_table(title, columns, rows, [*schedule_lines(predictions), *likely_lines(predictions),
                                       *(f"note: {n}" for p in predictions for n in p.notes)])


def schedule_lines(predictions: Iterable[Prediction]) -> list[str]:
    """One line for each prediction of a pair, or of another schedule than the sequence: its T, and that of the sequence."""
    return [f"{p.grid} {p.placement[:24]}: {_schedule_line(p)}" for p in predictions
            if p.schedule and (not _is_sequence(p.schedule) or p.schedule.transforms > 1)]


def _is_sequence(found):
    from pencilmap.model.predict import SEQUENCE

    return found.name == SEQUENCE


def _schedule_line(p):
    found = p.schedule
    name = f"{found.name} ({found.direction})" if found.transforms > 1 else found.name
    if found.time_s is None or p.time_s is None:
        return f"{name} T {float(found.cost):.4g}, in sequence {float(found.transforms * p.cost):.4g}"
    return f"{name} {milliseconds(found.time_s)}, in sequence {milliseconds(found.transforms * p.time_s)}"


def winner(first: Prediction, alone: Prediction) -> str:
    """The line that says which grid, placement and schedule win, and over what: `alone` is the best in sequence."""
    found, plain = first.schedule, alone.schedule
    assert found is not None and plain is not None
    if found.known_s is None or plain.known_s is None:
        worth, other, ratio = f"T {float(found.cost):.4g}", f"T {float(plain.cost):.4g}", float(plain.cost / found.cost)
    else:
        worth, other, ratio = milliseconds(found.known_s), milliseconds(plain.known_s), plain.known_s / found.known_s
    joint, load = (float(max(x)) for x in (found.load_joint, [first.cost]))
    why = f"joint load {joint:.4g} of {load:.4g}" if not _is_sequence(found) else "no schedule gains"
    return f"best: {first.grid} {found.name}, {worth}; {other} in sequence ({ratio:.3g}x, {why})"


def terms_table(predictions: Iterable[Prediction]) -> None:
    """Every term of the time model, for each exchange and for the computing; "-" where the machine's figure is unknown."""
    columns = ["grid", "placement", "of", ">link", ">contention", ">injection", ">start", ">messages", ">hops", ">FFT",
               ">memory", ">time"]
    rows = []
    for p in predictions:
        for stage in p.stages:
            terms = stage.terms.as_dict().values() if stage.terms else [None] * 6
            rows.append([p.grid, p.placement, stage.name, *map(milliseconds, terms), "-", "-", milliseconds(stage.time_s)])
        if p.local:
            rows.append([p.grid, p.placement, "computing", *["-"] * 6, *map(milliseconds, p.local.as_dict().values()),
                         milliseconds(p.local.time_s)])
        rows.append([p.grid, p.placement, "total", *["-"] * 8, milliseconds(p.total_s)])
    print_table("time = max(link + contention, injection) + start + messages + hops", columns, rows)


def quality_table(rows: Iterable[Quality], title: str | None = None) -> None:
    """Errors of the bound and of the time model, of exchanges, by size, and of computing; held-out ones are "predicted"."""
    def pair(found):
        return ["-", "-"] if found is None else [f"{100 * found.mean:.1f} %", f"{100 * found.largest:.1f} %"]

    columns = ["of", "samples", ">number", ">bound mean", ">largest", ">model mean", ">largest", "worst of the model"]
    print_table(title, columns, [[row.group, row.half, row.model.n, *pair(row.bound), *pair(row.model), row.model.worst]
                                 for row in rows if row.model])


def honest_table(rows: Iterable[Held], title: str | None = None) -> None:
    """The errors of what was held out whole; of the random halves the range of their means too."""
    print_table(title, ["rule", "predicted", ">number", ">mean", ">largest", "worst"], [
        [row.rule, row.held_out, row.n, f"{100 * row.mean:.1f} %" + _range(row.means), f"{100 * row.largest:.1f} %",
         row.worst] for row in rows])


def _range(means):
    return f" ({100 * means[0]:.1f} to {100 * means[-1]:.1f})" if len(means) > 1 else ""


def likely_lines(predictions: Iterable[Prediction]) -> list[str]:
    """One line about how far measured times lie from the predicted ones; none where the machine was not calibrated."""
    return list(dict.fromkeys(f"nine in ten measured times are expected at {p.likely[0]:.3g} to {p.likely[1]:.3g} of the "
                              "predicted ones" for p in predictions if p.likely and p.time_s is not None))


def comparison_table(comparisons: Sequence[Comparison], title: str | None = None) -> None:
    """The table of link times and predicted times beside measured ones; notes are numbered and stand below."""
    notes = {note: f"[{number}]" for number, note in enumerate(dict.fromkeys(c.note for c in comparisons if c.note), 1)}
    columns = ["network", "grid", ">tasks/node", "placement", "size", "exchange", ">m", ">link time", ">measured", ">ratio",
               ">predicted", ">ratio", ">link B", "busiest", "note"]
    rows = [[c.network, c.grid, c.tasks_per_node, c.placement, c.transform, c.stage, "-" if c.m is None else f"{c.m:.4g}",
             milliseconds(c.t_s), milliseconds(c.measured_s), _ratio(c.t_ratio), milliseconds(c.time_s),
             _ratio(c.time_ratio), megabytes_per_second(c.link_bandwidth), c.busiest or "-", notes.get(c.note, "")]
            for c in comparisons]
    ranges = [c.time_range_s[0] <= c.measured_s <= c.time_range_s[1] for c in comparisons if c.time_range_s]
    expected = [f"{sum(ranges)} of {len(ranges)} measured times lie where nine in ten are expected"] if ranges else []
    print_table(title, columns, rows, [*expected, *(f"{number} {note}" for note, number in notes.items())])


def _ratio(value):
    return "-" if value is None else f"{value:.3f}"
