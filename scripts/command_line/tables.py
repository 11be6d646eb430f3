"""Tables and JSON on standard output, the two output forms of every command.

Slow imports are inside the functions that need them, so that commands without predictions start at once.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from pencilmap.model.base.units import megabytes_per_second, milliseconds

if TYPE_CHECKING:
    from rich.console import Console

    from pencilmap.mapper.runs.compare import Comparison
    from pencilmap.mapper.studies.threads import Shared
    from pencilmap.model.predict.results import ExchangePrediction, Prediction
    from pencilmap.model.times.calibrate import Quality
    from pencilmap.model.times.held_out import Held

SCHEMA = "pencilmap-answers/1"  # see answers.schema.json
PLAIN_WIDTH = 400  # if standard output is not a terminal: as wide as the table
NARROW, SPACE = 80, 2  # columns of a terminal that fit tables without --wide; spaces between columns
TWO_COLUMNS = 0x300  # letters from here on may be wider or narrower than one column
IDLE, MOST_IDLE = "*", 4  # mark of a grid with idle tasks; their number is given for up to this many such grids
NARROW_NAME = 24   # characters of a placement on a line, unless one of its words is longer


def console(stderr: bool = False) -> Console:
    """Return a console that does not fold tables if its output is piped."""
    from rich.console import Console

    out = Console(stderr=stderr, highlight=False)
    return out if out.is_terminal else Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


def print_json(*found: Any) -> None:
    """Print one JSON object on standard output: the answers of the running command, one for each item of the request.

    ``answers.schema.json`` describes it.
    """
    context = click.get_current_context()
    command = context.command_path.partition(" ")[2]
    click.echo(json.dumps({"schema": SCHEMA, "command": command, "answers": found}, indent=2))


def print_table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[Any]],
                notes: Iterable[str] = ()) -> None:
    """Print a table; columns that start with ``>`` are numbers, aligned right."""
    cells = [[str(cell) for cell in row] for row in rows]
    if title:
        say(title, bold=True)
    click.echo((plain_table(columns, cells) if _is_plain() else None) or _drawn(columns, cells))
    for note in dict.fromkeys(notes):
        say(note)
    click.echo()


def _is_plain(err=False):
    """Whether an output gets plain text: no terminal, and no variable that forces terminal output."""
    forced = {"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"} & os.environ.keys()
    return not ((sys.stderr if err else sys.stdout).isatty() or forced)


def _drawn(columns, rows):
    """Return a table by rich, folded to the width of the terminal."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    out = console()
    with out.capture() as text:
        out.print(table)
    return "\n".join(line.rstrip() for line in text.get().splitlines())


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    """Return a table without rich, because rich takes longer to load than a short command. None if the table is too wide
    for piped output, or has letters that need two columns.

    >>> print(plain_table(["torus", ">tasks/\\nnode"], [["8x8x8", "1"], ["4x4", "16"]]))
           tasks/
    torus    node
    ─────────────
    8x8x8       1
    4x4        16
    """
    lines = [[cell.split("\n") for cell in row] for row in ([column.lstrip(">") for column in columns], *rows)]
    lines[0] = [[""] * (max(map(len, lines[0])) - len(cell)) + cell for cell in lines[0]]
    widths = [max(len(part) for row in lines for part in row[k]) for k in range(len(columns))]
    width = sum(widths) + SPACE * (len(widths) - 1)
    letters = "".join(part for row in lines for cell in row for part in cell)
    if width > PLAIN_WIDTH or any(ord(letter) >= TWO_COLUMNS for letter in letters):
        return None
    head, *others = [_aligned(row, widths, columns) for row in lines]
    return "\n".join([*head, "─" * width, *(line for row in others for line in row)])


def _aligned(row, widths, columns):
    """Return the lines of one row."""
    for k in range(max(map(len, row))):
        parts = [cell[k] if k < len(cell) else "" for cell in row]
        yield (" " * SPACE).join(part.rstrip().rjust(width) if column.startswith(">") else part.ljust(width)
                                 for part, width, column in zip(parts, widths, columns)).rstrip()


def say(text: str, bold: bool = False, err: bool = False) -> None:
    """Print a sentence on standard output, or with `err` on standard error; a terminal gets line breaks between words."""
    lines = text.splitlines()
    if not _is_plain(err) and (out := console(err)).is_terminal:
        lines = [part for line in lines for part in wrap(line, out.width, break_long_words=False, break_on_hyphens=False)]
    click.secho("\n".join(lines), bold=bold or None, err=err)


def lengths(values: Iterable[Any]) -> str:
    """Format effective lengths or loads, one for each dimension.

    >>> from fractions import Fraction
    >>> lengths([Fraction(4), Fraction(4, 3)])
    '4 1.333'
    """
    return " ".join(f"{float(v):.4g}" for v in values)


def prediction_table(predictions: Sequence[Prediction], title: str | None = None, wide: bool = False) -> None:
    """Print the predictions of one decomposition: times of the exchanges, distance from the optimum, slowest link.

    `wide` adds lengths, loads and link times of each exchange, and the lower bound."""
    columns, rows = (_wide_predictions if wide else _predictions)(predictions)
    print_table(title, columns, rows, [*unit_lines(predictions, wide), *idle_lines(predictions), *likely_lines(predictions),
                                       *bracket_lines(predictions),
                                       *(f"note: {n}" for p in predictions for n in p.notes)])


def scale(p: Prediction) -> Fraction:
    """Return displayed lengths and loads over the m scale: the usable nodes count.

    So the same bytes look alike, however large the surrounding network is.
    """
    return Fraction(p.bounds.site.allocation.n_nodes, p.network.n_nodes)


def unit_lines(predictions: Sequence[Prediction], wide: bool) -> list[str]:
    """Return the unit of lengths and loads, if some are shown."""
    if predictions[0].t_s is not None and not wide:
        return []
    n = predictions[0].bounds.site.allocation.n_nodes
    return [f"{'lengths and loads' if wide else 'busiest links'}: 1 is 1/{4 * n} of the array, a quarter of what one of {n} "
            f"node{'s' * (n != 1)} holds"]


def idle_lines(predictions: Iterable[Prediction]) -> list[str]:
    """Explain the mark of a grid; nothing if no grid is marked."""
    found = list(dict.fromkeys(f"{p.idle_tasks} of {p.grid.n_tasks} on {p.grid}" for p in predictions if p.idle_tasks))
    more = [f"and on {len(found) - MOST_IDLE} more grids"] if len(found) > MOST_IDLE else []
    return [f"{IDLE} tasks hold nothing, as an axis has fewer planes than parts: {', '.join([*found[:MOST_IDLE], *more])}"] \
        if found else []


def _grid(p):
    """The grid, marked if some of its tasks hold no data."""
    return f"{p.grid}{IDLE}" if p.idle_tasks else str(p.grid)


def _predictions(predictions):
    several, scheduled = len({p.routing for p in predictions}) > 1, any(_beside(p) for p in predictions)
    timed, predicted = predictions[0].t_s is not None, any(p.time_s != p.t_s for p in predictions)
    columns = ["grid", "placement", *(["routing"] if several else []), *(["schedule"] if scheduled else []),
               *([">predicted"] if predicted else []), ">at best" if timed else ">busiest links",
               *([">in sequence"] if scheduled else []), "at most", "slowest link"]
    rows = []
    for grids, p in _once(predictions):
        found = exchanges_of(p)
        rows.append([grids, broken(p.placement), *([p.routing] if several else []),
                     *([broken(found.schedule)] if scheduled else []), *([milliseconds(found.time_s)] if predicted else []),
                     _worth(found.t_s, found.cost * scale(p)), *([_in_sequence(p)] if scheduled else []),
                     from_optimal(found.certificate, found.proof), _slowest(p)])
    return fitted(columns, rows, ["slowest link", *([">at best"] if predicted else [])])


def fitted(columns: list[str], rows: list[list[str]], droppable: Iterable[str]) -> tuple[list[str], list[list[str]]]:
    """Drop columns, in this order, until the table fits the 80 columns of a terminal.

    >>> fitted(["grid", ">measured"], [["8x8", "-" * 78]], [">measured"])
    (['grid'], [['8x8']])
    """
    for name in droppable:
        if _width(columns, rows) > NARROW and name in columns:
            at = columns.index(name)
            columns, rows = columns[:at] + columns[at + 1:], [row[:at] + row[at + 1:] for row in rows]
    return columns, rows


def _width(columns, rows):
    cells = zip(*([[name.lstrip(">") for name in columns], *([str(cell) for cell in row] for row in rows)]))
    return sum(max(len(line) for cell in column for line in cell.split("\n")) + SPACE for column in cells) - SPACE


def threads_table(found: Sequence[Shared], time_of: Callable[[Prediction], float | None]) -> None:
    """Print the same cores as tasks and as threads, side by side."""
    columns = [">tasks/\nnode", ">threads", "grid", ">predicted", ">messages\na node", ">bytes\neach", ">MB a\nnode",
               ">table\nentries"]
    print_table("the same cores as tasks or threads", columns, [
        [s.tasks, s.threads, str(s.prediction.grid), _time(time_of(s.prediction)), s.messages,
         f"{s.message_bytes:.0f}", f"{s.node_bytes / 1e6:.4g}", s.peers] for s in found],
        ["messages to other nodes; MB: the array before and after an exchange; threads are",
         "taken to compute as fast as tasks, and what they cost each other is left out"])


def _time(seconds):
    return "-" if seconds is None else milliseconds(seconds)


def _wide_predictions(predictions):
    several, scheduled = len({p.routing for p in predictions}) > 1, any(_beside(p) for p in predictions)
    names = [stage.name for stage in predictions[0].moves]
    predicted = any(p.time_s != p.t_s for p in predictions)
    columns = ["grid", "placement", *(["routing"] if several else []), *(f"m {name}" for name in names),
               *(f"load {name}" for name in names), ">busiest links", ">lower bound",
               *(head for name in names for head in (f">{name} at best", ">messages", ">bytes each")),
               ">both at best", *([">predicted"] if predicted else []), "at most",
               *(["schedule", "load of both", ">at best", ">predicted", "at most"] if scheduled else []), "slowest link"]
    rows = []
    for p in predictions:
        found = exchanges_of(p)
        rows.append([_grid(p), p.placement, *([p.routing] if several else []), *(lengths(scale(p) * x for x in stage.m)
                                                                                   for stage in p.moves),
                     *(lengths(scale(p) * x for x in stage.load) for stage in p.moves), f"{float(p.cost * scale(p)):.4g}",
                     f"{float(p.lower_bound.value * scale(p)):.4g}", *(cell for stage in p.moves for cell in (
                         milliseconds(stage.t_s), *messages_of(stage))),
                     milliseconds(p.t_s), *([milliseconds(p.time_s)] if predicted else []),
                     from_optimal(p.certificate, found.proof),
                     *([found.schedule, lengths(scale(p) * x for x in p.schedule.load_joint), milliseconds(found.t_s),
                        milliseconds(found.time_s),
                        from_optimal(found.certificate, found.proof)] if scheduled and p.schedule else []), _slowest(p)])
    return columns, rows


def messages_of(stage: ExchangePrediction) -> tuple[str, str]:
    """Return the messages that a task sends in an exchange, and the bytes of each; "-" if unknown."""
    work = stage.work
    return ("-", "-") if work is None else (str(work.messages), f"{work.message_bytes:.0f}" if work.messages else "-")


@dataclass(frozen=True)
class Exchanges:
    """The exchanges of a prediction under its schedule: by all terms and by links alone, seconds."""

    schedule: str
    cost: Fraction
    t_s: float | None
    time_s: float | None
    certificate: float | None
    proof: str  #: of the certificate, see `pencilmap.model.bounds.certificates.Bounds.proof`


def exchanges_of(p: Prediction) -> Exchanges:
    """Return the exchanges under the schedule of the prediction."""
    found = p.schedule
    if found is None or not _beside(p):
        return Exchanges("sequence", p.cost, p.t_s, p.time_s, p.certificate, p.bounds.proof)
    name = f"{found.name} ({found.direction})" if found.transforms > 1 else found.name
    t_s, time_s = (None if seconds is None else seconds + found.transforms * sum(times) for seconds, times in (
        (found.t_s, [r.t_s or 0.0 for r in p.remaps]), (found.time_s, [r.time_s or 0.0 for r in p.remaps])))
    return Exchanges(name, found.cost, t_s, time_s, None if p.remaps else found.certificate, p.bounds.proof)


def _beside(p):
    """Whether it is of another schedule than the sequence, or of two transforms at once."""
    from pencilmap.model.schedules.schedule import SEQUENCE

    return p.schedule is not None and (p.schedule.name != SEQUENCE or p.schedule.transforms > 1)


def _in_sequence(p):
    transforms = p.schedule.transforms if p.schedule else 1
    return _worth(p.time_s and transforms * p.time_s, transforms * p.cost * scale(p))


def _once(predictions):
    """Each prediction with its grid; RxC and CxR are merged if they differ only in the order of the exchanges."""
    found: dict[tuple, list[Prediction]] = {}
    for p in predictions:
        e = exchanges_of(p)
        times = tuple(x and float(f"{x:.10g}") for x in (e.t_s, e.time_s, p.total_s, e.certificate))
        found.setdefault((tuple(sorted(p.grid.shape)), p.placement, p.routing, e.schedule, e.cost, *times), []).append(p)
    return [(", ".join(dict.fromkeys(map(_grid, same))), same[0]) for same in found.values()]


def broken(text: str) -> str:
    """Break a placement or schedule after commas into lines of at most 24 characters.

    >>> broken("digits:x=c2r4,y=c2r4,z=c2r4").splitlines()
    ['digits:x=c2r4,y=c2r4,', 'z=c2r4']
    """
    lines = [""]
    for word in re.findall(r"[^,]*,|[^,]+$", text):
        if lines[-1] and len(lines[-1] + word) > NARROW_NAME:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def from_optimal(certificate: float | None, proof: str = "") -> str:
    """Return the largest distance from the optimum; "-" without a bound. `proof` is named unless it is about links.

    >>> from_optimal(1.0), from_optimal(1.0004), from_optimal(1.5), from_optimal(1.0, "by exhaustion")
    ('optimal', '1.001x optimal', '1.5x optimal', 'optimal, by exhaustion')
    """
    if certificate is None:
        return "-"
    if certificate <= 1 + 1e-9:
        return f"optimal, {proof}" if proof else "optimal"
    return f"{ceil(1000 * certificate - 1e-6) / 1000:g}x optimal"


def _worth(seconds, cost):
    return f"{float(cost):.4g}" if seconds is None else milliseconds(seconds)


def _slowest(p):
    """The busiest link of the slowest exchange."""
    stage = max(p.moves, key=lambda stage: max(stage.load))
    return str(stage.busiest) if stage.busiest is not None and max(stage.load) else "-"


def terms_table(predictions: Iterable[Prediction]) -> None:
    """Print every term of the time model, for each exchange and for computing; "-" if the machine's figure is unknown."""
    columns = ["grid", "placement", "of", ">link", ">contention", ">injection", ">start", ">messages", ">hops", ">FFT",
               ">memory", ">time"]
    rows = []
    for p in predictions:
        for stage in p.moves:
            terms = stage.terms.as_dict().values() if stage.terms else [None] * 6
            rows.append([p.grid, p.placement, stage.name, *map(milliseconds, terms), "-", "-", milliseconds(stage.time_s)])
        if p.local:
            rows.append([p.grid, p.placement, "computing", *["-"] * 6, *map(milliseconds, p.local.as_dict().values()),
                         milliseconds(p.local.time_s)])
        rows.append([p.grid, p.placement, "total", *["-"] * 8, milliseconds(p.total_s)])
    print_table("time = max(link + contention, injection) + start + messages + hops", columns, rows)


def quality_table(rows: Iterable[Quality], title: str | None = None, wide: bool = False) -> None:
    """Print errors of the bound and the time model: exchanges, by size, and computing; held-out errors are "predicted"."""
    def pair(found):
        return ["-", "-"] if found is None else [f"{100 * found.mean:.1f} %", f"{100 * found.largest:.1f} %"]

    columns = ["of", "samples", ">number", ">bound\nmean", ">\nlargest", ">model\nmean", ">\nlargest", "worst of the model"]
    cells = [[_size(row.group), row.half, str(row.model.n), *pair(row.bound), *pair(row.model), row.model.worst]
             for row in rows if row.model]
    print_table(title, *(columns, cells) if wide else fitted(columns, cells, ["worst of the model"]))


def honest_table(rows: Iterable[Held], title: str | None = None) -> None:
    """Print the errors of whole held-out groups; for random halves also the range of their means."""
    print_table(title, ["rule", "predicted", ">number", ">mean", ">largest", "worst"], [
        [row.rule, row.held_out, row.n, f"{100 * row.mean:.1f} %" + _range(row.means), f"{100 * row.largest:.1f} %",
         row.worst] for row in rows])


def _range(means):
    return f" ({100 * means[0]:.1f} to {100 * means[-1]:.1f})" if len(means) > 1 else ""


def bracket_lines(predictions: Iterable[Prediction]) -> list[str]:
    """Return a line for each placement on a network whose routers adapt: its lengths, or times, under each rule."""
    lines = []
    for p in predictions:
        found = [f"{each.routing} {_worth(exchanges_of(each).t_s, exchanges_of(each).cost * scale(each))}"
                 for each in p.bracket]
        if found:
            lines.append(f"routers adapt, {p.grid} {p.placement}: {', '.join(found)}")
    return lines


def likely_lines(predictions: Iterable[Prediction]) -> list[str]:
    """Return a line about the expected error of predicted times; none if the machine was not calibrated."""
    return list(dict.fromkeys(f"nine in ten measured times are expected at {p.likely[0]:.3g} to {p.likely[1]:.3g} times "
                              "the predicted ones" for p in predictions if p.likely and p.time_s is not None))


def comparison_table(comparisons: Sequence[Comparison], title: str | None = None, wide: bool = False) -> None:
    """Print predicted and measured times; notes are numbered and follow the table.

    Values that all rows share stand above the table. `wide` shows every column."""
    notes = {note: f"[{number}]" for number, note in enumerate(dict.fromkeys(c.note for c in comparisons if c.note), 1)}
    columns: list[tuple[str, Callable[[Comparison], str]]] = [
        ("network", lambda c: c.network), ("grid", lambda c: c.grid), (">tasks/\nnode", lambda c: str(c.tasks_per_node)),
        ("size", lambda c: _size(c.transform)), ("placement", lambda c: c.placement if wide else broken(c.placement)),
        ("exchange", lambda c: c.stage), (">m", lambda c: "-" if c.m is None else f"{c.m:.4g}"),
        (">at best", lambda c: milliseconds(c.t_s)), (">predicted", lambda c: milliseconds(c.time_s)),
        (">measured", lambda c: milliseconds(c.measured_s)), (">measured/\nat best", lambda c: _ratio(c.t_ratio)),
        (">measured/\npredicted", lambda c: _ratio(c.time_ratio)),
        (">achieved link\nbandwidth", lambda c: megabytes_per_second(c.link_bandwidth)),
        ("slowest link", lambda c: c.busiest or "-"), ("note", lambda c: notes.get(c.note, ""))]
    same = [name for name, cell in columns[:4] if len({cell(c) for c in comparisons}) == 1]
    hidden = {*same, ">m", ">at best", ">achieved link\nbandwidth", *([] if notes else ["note"])}
    if all(c.t_s == c.time_s for c in comparisons):
        hidden = hidden - {">at best"} | {">predicted", ">measured/\npredicted"}
    shown = [(name, cell) for name, cell in columns if wide or name not in hidden]
    common = ", ".join(f"{name.strip('>')}: {cell(comparisons[0])}".replace("\n", "") for name, cell in columns
                       if name in same and not wide)
    names, rows = [name for name, _ in shown], [[cell(c) for _, cell in shown] for c in comparisons]
    if not wide:
        names, rows = fitted(names, rows, ["slowest link", ">measured/\nat best", ">tasks/\nnode"])
    ranges = [c.time_range_s[0] <= c.measured_s <= c.time_range_s[1] for c in comparisons if c.time_range_s]
    expected = [f"{sum(ranges)} of {len(ranges)} measured times lie where nine in ten are expected"] if ranges else []
    print_table(f"{title}\n{common}" if title and common else title or common or None, names, rows,
                [*expected, *(f"{number} {note}" for note, number in notes.items())])


def _size(transform):
    """Write a cube as 64^3."""
    return re.sub(r"^(\d+)x\1x\1(?=\D|$)", r"\1^3", transform)


def _ratio(value):
    return "-" if value is None else f"{value:.3f}"
