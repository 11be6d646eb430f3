"""Output of every command: tables and JSON on standard output, the progress of a long command on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from textwrap import wrap
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pencilmap.mapper.base.progress import heard_by
from pencilmap.mapper.base.shell import folded
from pencilmap.model.base.errors import printable
from pencilmap.model.base.units import could, expected_milliseconds, megabytes_per_second, milliseconds

# Tables and JSON on standard output, the two output forms of every command.
#
# Slow imports are inside the functions that need them, so that commands without predictions start at once.

if TYPE_CHECKING:
    from rich.console import Console

    from pencilmap.mapper.runs.compare import Comparison
    from pencilmap.model.times.calibrate import Errors, Held, Quality

T = TypeVar("T")
SCHEMA = "pencilmap-answers/1"  # see answers.schema.json
PLAIN_WIDTH = 400  # if standard output is not a terminal: as wide as the table
NARROW, SPACE = 80, 2  # columns of a terminal that fit tables without --wide; spaces between columns
LINE = 80  # columns of a sentence
LABEL = 8  # columns of the word before a line of an answer
LEAST_TEXT = 16  # columns of a text that is folded
TWO_COLUMNS = 0x300  # letters from here on may be wider or narrower than one column
NARROW_NAME = 24   # characters of a placement on a line, unless one of its words is longer
QUOTED = re.compile(r"""(?<![^\s(=,])\$?(?:'[^']*'|"'")+(?!\w)""")  # words of a shell in a sentence
UNIT = re.compile(r"(?<=\d) (?=(?:%|[mnuµ]?s|[kMGTP]?i?(?:B|bit|flop)(?:/s)?)(?![\w/]))")  # space between number and unit


def console(stderr: bool = False) -> Console:
    """Return a console that does not fold tables if its output is piped."""
    from rich.console import Console

    out = Console(stderr=stderr, highlight=False)
    return out if out.is_terminal else Console(stderr=stderr, highlight=False, width=PLAIN_WIDTH)


def print_json(*answers: Any) -> None:
    """Print one JSON object on standard output: the answers of the running command, one for each item of the request.

    ``answers.schema.json`` describes it.
    """
    context = click.get_current_context()
    command = context.command_path.partition(" ")[2] or context.command_path
    echo(json.dumps({"schema": SCHEMA, "command": command, "answers": answers}, indent=2))


def print_table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[Any]],
                notes: Iterable[str] = (), folds: bool = False) -> None:
    """Print a table; columns that start with ``>`` are numbers, aligned right.

    Texts are folded if the table is too wide, with --wide only if it `folds`.
    """
    columns, *cells = [[_harmless(str(cell)) for cell in row] for row in (columns, *rows)]
    context = click.get_current_context(silent=True)
    if folds or context is None or not context.params.get("wide"):
        cells = _folded(columns, cells)
    if title:
        say(*title.split("\n"), bold=True)
    _write((plain_table(columns, cells) if _is_plain() else None) or _drawn(columns, cells))
    say(*dict.fromkeys(notes))
    echo()


def _folded(columns: Sequence[str], rows: list[list[str]]) -> list[list[str]]:
    """Return the rows with texts in several lines, if the table is too wide."""
    excess = _width(columns, rows) - NARROW
    texts = [k for k, column in enumerate(columns) if not column.startswith(">")]
    room = {k: max((len(line) for row in rows for line in row[k].split("\n")), default=0) or 1 for k in texts}
    while excess > 0:  # the widest columns are folded first, alike, until the next one is as wide
        widest = max(room.values(), default=0)
        if widest <= LEAST_TEXT:
            return rows
        wide = [k for k in texts if room[k] == widest]
        least = max(LEAST_TEXT, *(width for width in (0, *room.values()) if width < widest))
        cut = min(-(-excess // len(wide)), widest - least)
        room.update((k, widest - cut) for k in wide)
        excess -= cut * len(wide)
    return [["\n".join(broken(part, room[k], "=/") for line in cell.split("\n") for part in wrapped(line, room[k]) or [""])
             if k in room else cell for k, cell in enumerate(row)] for row in rows]


def _is_plain(err: bool = False) -> bool:
    """Whether an output gets plain text: no terminal, and no variable that forces terminal output."""
    forced = {"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"} & os.environ.keys()
    return not ((sys.stderr if err else sys.stdout).isatty() or forced)


def _drawn(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
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


def _aligned(row: Sequence[Sequence[str]], widths: Sequence[int], columns: Sequence[str]) -> Iterator[str]:
    """Return the lines of one row."""
    for k in range(max(map(len, row))):
        parts = [cell[k] if k < len(cell) else "" for cell in row]
        yield (" " * SPACE).join(part.rstrip().rjust(width) if column.startswith(">") else part.ljust(width)
                                 for part, width, column in zip(parts, widths, columns)).rstrip()


def echo(text: str = "", err: bool = False) -> None:
    """Print lines as they are, on standard output, or with `err` on standard error.

    All output of commands passes here, so that no text of a file and no name can command the terminal. An error of standard
    error is not told, because there is no place for it.
    """
    _write(_harmless(text), err)


def say(*lines: str, bold: bool = False, err: bool = False) -> None:
    """Print sentences like `echo`, with line breaks between words; a line break in a sentence is written out."""
    if not lines:
        return
    parts = [part for line in lines for part in _lines(printable(line), err)]
    _write(click.style("\n".join(parts), bold=True) if bold else "\n".join(parts), err)


def labelled(label: str, text: str, shell: bool = False) -> None:
    """Print a line of an answer behind its label; its other lines begin below the text.

    Lines for a `shell` go on after a backslash, so that they can be pasted. Several lines without a shell are a program, and
    stand at the left margin.
    """
    if "\n" in text and not shell:
        echo("\n".join([*([f"  {label}"] if label else []), *map(printable, text.splitlines())]))
        return
    first, indent = f"  {label.ljust(LABEL - 1)} ", " " * (LABEL + 2)
    between = f" \\\n{indent}  " if shell else f"\n{indent}"
    for line in text.splitlines() or [""]:
        room = _room() - len(indent)
        parts = (folded(line.strip(), room - 4) if shell else wrapped(printable(line.strip()), room)) or [""]
        echo(first + between.join(parts))
        first = indent


def say_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Print some labels, each with its text."""
    for label, text in lines:
        labelled(label, text)


def paste(line: str) -> None:
    """Print a line to type; if it is long it goes on after a backslash, so that it can be pasted."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    parts = folded(line, _room() - len(indent) - 2)
    echo(f" \\\n{indent}".join([indent[2:] + parts[0], *parts[1:]]))


def _harmless(text: str) -> str:
    """Return lines without commands for the terminal."""
    return "\n".join(map(printable, text.split("\n")))


def _write(text: str, err: bool = False) -> None:
    try:
        click.echo(text, err=err)
    except OSError:
        if not err:
            raise


def _lines(line: str, err: bool) -> list[str]:
    """Return the lines of a sentence; it may begin with spaces."""
    indent = line[:len(line) - len(line.lstrip())]
    return wrapped(line, _room(err), indent) or [""]


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text between words into lines; `indent` precedes all lines but the first. Numbers keep their units, and
    words in quotes stay together.

    >>> wrapped("within 2.3 % of the limit, in 10 ms", 12)
    ['within 2.3 %', 'of the', 'limit, in', '10 ms']
    >>> wrapped("it is within 2.3 % of the limit", 16)
    ['it is within', '2.3 % of the', 'limit']
    """
    text = QUOTED.sub(lambda word: word[0].replace(" ", "\0"), UNIT.sub("\0", text))
    lines = wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def _room(err: bool = False) -> int:
    """Return the columns of a line: 80, or fewer in a narrower terminal."""
    return LINE if _is_plain(err) else min(LINE, console(err).width)


def broken(text: str, most: int = NARROW_NAME, marks: str = ",") -> str:
    """Break a placement, schedule or network after commas or other marks into lines of at most 24 or `most` characters.

    >>> broken("digits:x=c2r4,y=c2r4,z=c2r4").splitlines()
    ['digits:x=c2r4,y=c2r4,', 'z=c2r4']
    """
    lines = [""]
    for word in re.findall(f"[^{marks}]*[{marks}]|[^{marks}]+$", text):
        if lines[-1] and len(lines[-1] + word) > most:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)


def lengths(values: Iterable[Any]) -> str:
    """Format effective lengths or loads, one for each dimension.

    >>> from fractions import Fraction
    >>> lengths([Fraction(4), Fraction(4, 3)])
    '4 1.333'
    """
    return " ".join(f"{float(v):.4g}" for v in values)


def fitted(columns: list[str], rows: list[list[T]], droppable: Iterable[str]) -> tuple[list[str], list[list[T]]]:
    """Drop columns, in this order, until the table fits the 80 columns of a terminal.

    >>> fitted(["grid", ">measured"], [["8x8", "-" * 78]], [">measured"])
    (['grid'], [['8x8']])
    """
    for name in droppable:
        if _width(columns, rows) > NARROW and name in columns:
            at = columns.index(name)
            columns, rows = columns[:at] + columns[at + 1:], [row[:at] + row[at + 1:] for row in rows]
    return columns, rows


def fits(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a table fits the 80 columns of a terminal."""
    return _width(columns, rows) <= NARROW


def _width(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    cells = zip(*([[name.lstrip(">") for name in columns], *([str(cell) for cell in row] for row in rows)]))
    return sum(max(len(line) for cell in column for line in cell.split("\n")) + SPACE for column in cells) - SPACE


def quality_table(rows: Iterable[Quality], title: str | None = None, wide: bool = False) -> None:
    """Print errors of the bound and the time model: exchanges, by size, and computing; held-out errors are "predicted"."""
    def pair(errors: Errors | None) -> list[str]:
        return ["-", "-"] if errors is None else [f"{100 * errors.mean:.1f} %", f"{100 * errors.largest:.1f} %"]

    columns = ["of", "samples", ">number", ">bound\nmean", ">\nlargest", ">model\nmean", ">\nlargest", "worst of the model"]
    cells = [[_size(row.group), row.half, str(row.model.n), *pair(row.bound), *pair(row.model), row.model.worst]
             for row in rows if row.model]
    print_table(title, *(columns, cells) if wide else fitted(columns, cells, ["worst of the model"]))


def honest_table(rows: Iterable[Held], title: str | None = None) -> None:
    """Print the errors of whole held-out groups; for random halves also the range of their means."""
    print_table(title, ["rule", "predicted", ">number", ">mean", ">largest", "worst"], [
        [row.rule, row.held_out, row.n, f"{100 * row.mean:.1f} %" + _range(row.means), f"{100 * row.largest:.1f} %",
         row.worst] for row in rows])


def _range(means: Sequence[float]) -> str:
    return f" ({100 * means[0]:.1f} to {100 * means[-1]:.1f})" if len(means) > 1 else ""


def comparison_table(comparisons: Sequence[Comparison], title: str | None = None, wide: bool = False) -> None:
    """Print predicted and measured times; notes are numbered and follow the table.

    Values that all rows share stand above the table. `wide` shows every column."""
    notes = {note: f"[{number}]" for number, note in enumerate(dict.fromkeys(c.note for c in comparisons if c.note), 1)}
    launched = {_question(c): c.measured_s for c in comparisons if c.order}
    columns: list[tuple[str, Callable[[Comparison], str]]] = [
        ("network", lambda c: c.network), ("grid", lambda c: c.grid), (">tasks/\nnode", lambda c: str(c.tasks_per_node)),
        ("size", lambda c: _size(c.transform)), ("schedule", lambda c: broken(c.schedule)),
        ("placement", lambda c: c.name if wide else broken(c.name)),
        ("stage", lambda c: c.stage), (">m", lambda c: "-" if c.m is None else f"{c.m:.4g}"),
        (">links", lambda c: milliseconds(c.t_s)), (">time", lambda c: milliseconds(c.time_s)),
        (">range", lambda c: expected_milliseconds(c.time_range_s) if c.time_range_s else "-"),
        (">measured", lambda c: milliseconds(c.measured_s)), (">measured/\nlinks", lambda c: _ratio(c.t_ratio)),
        (">measured/\ntime", lambda c: _ratio(c.time_ratio)),
        (">achieved link\nbandwidth", lambda c: megabytes_per_second(c.link_bandwidth)),
        (">gain", lambda c: _gain(launched.get(_question(c)), c.measured_s)),
        (">links could\ngain", lambda c: could(c.certificate)),
        ("busiest link", lambda c: c.busiest or "-"), ("note", lambda c: notes.get(c.note, ""))]
    same = [name for name, cell in columns[:5] if len({cell(c) for c in comparisons}) == 1]
    hidden = {*same, ">m", ">links", ">measured/\nlinks", ">achieved link\nbandwidth", *([] if notes else ["note"]),
              *([] if any(c.time_range_s for c in comparisons) else [">range"]),
              *([] if launched else [">gain"]), *([] if any(c.certificate for c in comparisons) else [">links could\ngain"])}
    shown = [(name, cell) for name, cell in columns if wide or name not in hidden]
    common = ", ".join(f"{name.strip('>')}: {cell(comparisons[0])}".replace("\n", "") for name, cell in columns
                       if name in same and not wide)
    names, rows = [name for name, _ in shown], [[cell(c) for _, cell in shown] for c in comparisons]
    if not wide:
        names, rows = fitted(names, rows, ["busiest link", ">links could\ngain", ">tasks/\nnode", ">gain", ">range"])
    ranges = [c.time_range_s[0] <= c.measured_s <= c.time_range_s[1] for c in comparisons if c.time_range_s]
    expected = [f"{sum(ranges)} of {len(ranges)} measured times lie where nine in ten are expected"] if ranges else []
    print_table(f"{title}\n{common}" if title and common else title or common or None, names, rows,
                [*expected, *(f"no range: {c.unmeasured}" for c in comparisons if c.unmeasured and c.time_s is not None),
                 *(f"{number} {note}" for note, number in notes.items())])


def _question(c: Comparison) -> tuple[Any, ...]:
    """What a placement does not change: rows that a gain compares."""
    return c.network, c.torus, c.grid, c.tasks_per_node, c.transform, c.schedule, c.stage


def _gain(launched_s: float | None, seconds: float) -> str:
    """Return how many times faster the same exchange was than in the launch order."""
    return "-" if not launched_s or not seconds else f"{launched_s / seconds:.2f}x"


def _size(transform: str) -> str:
    """Write a cube as 64^3."""
    return re.sub(r"^(\d+)x\1x\1(?=\D|$)", r"\1^3", transform)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


MOST_WORD = 50  # characters of a word, such as the text of a placement: a line has no room for more


@contextmanager
def shown(began: float | None = None) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows one line of text for each step, after the seconds since `began`, by default now."""
    out, began = console(stderr=True), monotonic() if began is None else began
    if not out.is_terminal:
        yield lambda line: say(f"{monotonic() - began:.0f} s, {line}", err=True)
        return
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn  # slow to import

    with Progress(SpinnerColumn(), TimeElapsedColumn(), console=out, transient=True) as bar:
        bar.tasks[bar.add_task("", total=None)].start_time = began
        yield lambda line: bar.print(f"{monotonic() - began:.0f} s, {printable(line)}", markup=False)


@contextmanager
def hearing() -> Iterator[None]:
    """Show the mapper's progress messages, from the first message on."""
    began = monotonic()
    with ExitStack() as stack:
        shows: list[Callable[[str], None]] = []

        def listener(line: str) -> None:
            line = re.sub(rf"(\S{{{MOST_WORD}}})\S+", r"\1...", line)
            if not shows:
                shows.append(stack.enter_context(shown(began)))
            shows[0](line)

        with heard_by(listener):
            yield
