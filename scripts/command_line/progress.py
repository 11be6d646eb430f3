"""Progress of a long command on standard error; plain lines if that is not a terminal."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic

from pencilmap.mapper.base.progress import heard_by
from pencilmap.model.base.errors import printable
from pencilmap.scripts.command_line.tables import console, say

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
