"""Readable tables on standard output and JSON, the two faces of every command."""

import json

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pencilmap.model.units import megabytes_per_second, milliseconds

PLAIN_WIDTH = 400  # when standard output is no terminal: as wide as the table is


def console(stderr=False):
    """A console that does not fold tables when its output is piped."""
    out = Console(stderr=stderr, highlight=False)
    return out if out.is_terminal else Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


def print_json(value):
    """One JSON document on standard output."""
    click.echo(json.dumps(value, indent=2))


def print_table(title, columns, rows, notes=()):
    """A table; columns that are numbers start with ``>`` and are set right."""
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


def lengths(values):
    """Effective lengths or loads, one for each dimension.

    >>> from fractions import Fraction
    >>> lengths([Fraction(4), Fraction(4, 3)])
    '4 1.333'
    """
    return " ".join(f"{float(v):.4g}" for v in values)


def prediction_table(predictions, torus, title=None):
    """The table of one or more predictions; times by all terms beside those of the busiest link where they differ."""
    full = any(p.time_s != p.t_s for p in predictions)
    several = len({p.routing for p in predictions}) > 1
    columns = ["grid", "placement", *(["routing"] if several else []), "m row", "m column", "load row", "load column",
               ">sum", ">t row", ">t column", ">t both", *([">all terms"] if full else []), ">lower bound", ">certificate"]
    rows = [[p.grid, p.placement, *([p.routing] if several else []), lengths(p.row.m), lengths(p.column.m),
             lengths(p.row.load), lengths(p.column.load), f"{float(p.cost):.4g}",
             milliseconds(p.row.t_s), milliseconds(p.column.t_s), milliseconds(p.t_s),
             *([milliseconds(p.time_s)] if full else []), f"{float(p.lower_bound.value):.4g}",
             "-" if p.certificate is None else f"{p.certificate:.3f}"]
            for p in predictions]
    print_table(title, columns, rows, [f"note: {n}" for p in predictions for n in p.notes])


def terms_table(predictions):
    """Every term of the time model, for each exchange and for the computing; "-" where the machine's figure is not known."""
    columns = ["grid", "placement", "of", ">link", ">contention", ">injection", ">start", ">messages", ">hops", ">FFT",
               ">memory", ">time"]
    rows = []
    for p in predictions:
        for name, exchange in (("row", p.row), ("column", p.column)):
            rows.append([p.grid, p.placement, name, *map(milliseconds, exchange.terms.as_dict().values()), "-", "-",
                         milliseconds(exchange.time_s)])
        rows.append([p.grid, p.placement, "computing", *["-"] * 6, *map(milliseconds, p.local.as_dict().values()),
                     milliseconds(p.local.time_s)])
        rows.append([p.grid, p.placement, "total", *["-"] * 8, milliseconds(p.total_s)])
    print_table("time = max(link + contention, injection) + start + messages + hops", columns, rows)


def quality_table(rows, title=None):
    """Errors of bound and full model, for all exchanges, by size, and for the computing; held-out cells are "predicted"."""
    def pair(found):
        return ["-", "-"] if found is None else [f"{100 * found.mean:.1f} %", f"{100 * found.largest:.1f} %"]

    columns = ["of", "samples", ">number", ">bound mean", ">largest", ">model mean", ">largest", "worst of the model"]
    print_table(title, columns, [[row.group, row.half, row.full.n, *pair(row.bound), *pair(row.full), row.full.worst]
                                 for row in rows])


def comparison_table(comparisons, title=None):
    """The table of predicted beside measured times; notes are numbered and stand below."""
    notes = {note: f"[{number}]" for number, note in enumerate(dict.fromkeys(c.note for c in comparisons if c.note), 1)}
    columns = ["network", "grid", ">tasks/node", "placement", "size", "exchange", ">m", ">predicted", ">measured", ">ratio",
               ">all terms", ">ratio", ">link B", "busiest", "note"]
    rows = [[c.network, c.grid, c.tasks_per_node, c.placement, c.transform, c.exchange, "-" if c.m is None else f"{c.m:.4g}",
             milliseconds(c.predicted_s), milliseconds(c.measured_s), _ratio(c.ratio), milliseconds(c.full_s),
             _ratio(c.full_ratio), megabytes_per_second(c.link_bandwidth), c.busiest or "-", notes.get(c.note, "")]
            for c in comparisons]
    print_table(title, columns, rows, [f"{number} {note}" for note, number in notes.items()])


def _ratio(value):
    return "-" if value is None else f"{value:.3f}"
