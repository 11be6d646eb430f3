"""What a long step says while it works, to whoever wants to hear it.

The command line listens (`pencilmap.scripts.command_line.progress`); in a library call nobody does, and nothing is printed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with every line that is said inside.

    >>> with heard_by(print):
    ...     say("half done")
    half done
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def say(line: str) -> None:
    """One line of text; nothing happens where nobody listens."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(line)
