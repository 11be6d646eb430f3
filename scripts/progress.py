"""What a long command is doing, on standard error; plain lines where that is no terminal."""

from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pencilmap.scripts.tables import console


@contextmanager
def shown():
    """Yields a function that is called with one line of text for each step."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield lambda line: out.print(line, markup=False)
        return
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=out,
                  transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(line):
            bar.update(task, description=line)
            bar.print(line, markup=False)

        yield show
