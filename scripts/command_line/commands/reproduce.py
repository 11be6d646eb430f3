"""`pencilmap study reproduce`: every table and figure of the five sources, with its computed or measured substitute."""

import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Any

import click

from pencilmap.mapper.base.progress import heard_by
from pencilmap.model.base.errors import RecordError
from pencilmap.scripts.command_line.pages import JSON, Page, completed, with_options
from pencilmap.scripts.command_line.tables import broken, fitted, print_json, print_table, say, shown
from pencilmap.scripts.reproduce import SOURCES, figure_named, title_of
from pencilmap.scripts.reproduce.figure import SAME, Compared

SILENT_S = 10.0   # after so long without a word, the command says that it goes on
MOST_S = 1800.0   # by default: jocksch:break-even takes 3.5 min of processor time, and took 17 min beside a load of 25
NAMES = [f"{source}:{name}" for source, figures in SOURCES.items() for name in figures]


@click.command("reproduce", cls=Page)
@click.argument("figure", required=False, metavar="[SOURCE:FIGURE]", shell_complete=completed(lambda: NAMES))
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=MOST_S, show_default=True, metavar="S",
              help="The longest time that a figure may take.")
@with_options(JSON)
def command(figure: str | None, seconds: float, as_json: bool) -> None:
    """Compute a published table or figure again.

    Without an argument, all tables and figures are listed.
    """
    if figure is None:
        _list(as_json)
        return
    named = figure_named(figure)
    if named.takes_s:
        say(f"note: this takes about {named.takes} on two free processors", err=True)
    if named.measures:
        say("note: this runs programs under mpirun here; other work on the machine changes the times", err=True)
    with shown() as show, _within(seconds, figure), _words(show, figure):
        result = named.compute()
    if as_json:
        print_json({"figure": figure, "title": named.title, "published": named.published,
                    "here": named.here, "kind": named.kind} | result.as_dict())
        return
    source = figure.partition(":")[0]
    say(f"{title_of(source)}, {figure.partition(':')[2]}: {named.title}", bold=True)
    say(f"published: {named.published}; here: {named.here}")
    columns = [_folded(name) for name in result.columns]
    print_table(None, *fitted(columns, [[_cell(value) for value in row] for row in result.rows], []), result.notes)
    if result.compared:
        print_table("beside the published numbers", *fitted(
            ["of", ">published", ">here", ">ratio", "kind"],
            [[c.of, _cell(c.published), _cell(c.here), "-" if c.ratio is None else f"{c.ratio:.2f}", c.kind]
             for c in result.compared], []), _differences(result.compared))


def _differences(compared: list[Compared] | Sequence[Compared]) -> list[str]:
    """Return every sentence on a difference once, after the value if it is about a single one."""
    differences: dict[str, list[str]] = {}
    for row in compared:
        differences.setdefault(row.difference, []).append(row.of)
    return [f"{of[0]}: {sentence}" if len(of) == 1 < len(compared) else sentence for sentence, of in differences.items()
            if sentence != SAME]


@contextmanager
def _within(seconds: float, figure: str) -> Iterator[None]:
    """Raise RecordError if the block takes longer, and end the running programs as Ctrl-C does."""
    over = Event()

    def ring(number: int, frame: Any) -> None:
        over.set()
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except Exception as error:  # compiled code may have replaced the TimeoutError
        if not over.is_set():
            raise
        raise RecordError(f"{figure} is not done within {seconds:g} s; give more with --seconds") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _words(show: Callable[[str], None], figure: str) -> Iterator[None]:
    """Show the progress messages, and a line after every `SILENT_S` without a message, with the last known percentage."""
    done, began, last, share = Event(), monotonic(), [monotonic()], [""]

    def listener(line: str) -> None:
        last[0] = monotonic()
        match = re.match(r"\d+ %: ", line)
        share[0] = match[0] if match else share[0]
        show(line)

    def go_on() -> None:
        while not done.wait(max(0.01, last[0] + SILENT_S - monotonic())):
            if monotonic() >= last[0] + SILENT_S:
                listener(f"{share[0]}{figure}: still computing after {monotonic() - began:.0f} s")

    ticker = Thread(target=go_on, daemon=True)
    ticker.start()
    try:
        with heard_by(listener):
            yield
    finally:
        done.set()
        ticker.join()


def _list(as_json: bool) -> None:
    lines = [(f"{source}:{name}", figure) for source, figures in SOURCES.items() for name, figure in figures.items()]
    if as_json:
        print_json(*[{"figure": name, "command": f"pencilmap study reproduce {name}",
                      "title": f.title, "published": f.published, "here": f.here, "kind": f.kind, "takes_s": f.takes_s}
                     for name, f in lines])
        return
    for source, figures in SOURCES.items():
        print_table(title_of(source), ["figure", "what", "kind", "takes"],
                    [[f"{source}:{name}", f.title, f.kind, f.takes] for name, f in figures.items()])
    say("pencilmap study reproduce SOURCE:FIGURE computes one; docs/reproduced.md says what was published of each, and what "
        "differs")


def _folded(name: str) -> str:
    """Break a heading of several words into two lines."""
    mark, text = (">", name[1:]) if name.startswith(">") else ("", name)
    first, _, rest = text.partition(" ")
    return mark + (f"{first}\n{rest}" if rest else text)


def _cell(value: str | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.4g}" if isinstance(value, float) else broken(str(value))
