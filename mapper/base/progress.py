"""Progress messages of long steps, for any listener.

The command line listens (`pencilmap.scripts.command_line.tables`); a library call has no listener and prints nothing.

Test if an exception comes from a signal, although compiled code may have replaced the signal's exception.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any

SELDOM_S = 5.0  # between two lines of `now_and_then`
_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)
_PART: ContextVar[tuple[float, float]] = ContextVar("part", default=(0.0, 1.0))  # of the work, in which shares count


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with every line reported inside.

    >>> with heard_by(print):
    ...     say("half done")
    half done
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def part(begin: float, end: float) -> Iterator[None]:
    """Let the shares that are said inside go from `begin` to `end`: a step of longer work.

    >>> with heard_by(print), part(0.5, 1), part(0, 0.5):
    ...     say("third of four steps", 0.2)
    55 %: third of four steps
    """
    first, last = _PART.get()
    token = _PART.set((first + begin * (last - first), first + end * (last - first)))
    try:
        yield
    finally:
        _PART.reset(token)


def parts(number: int) -> Iterator[AbstractContextManager[None]]:
    """Yield a `part` for each of a number of equal steps."""
    return (part(k / number, (k + 1) / number) for k in range(number))


def say(line: str, share: float | None = None) -> None:
    """Report one line of text; without a listener nothing happens.

    `share` is the done part of the work, from 0 to 1.

    >>> with heard_by(print):
    ...     say("grid 8x64", 0.25)
    25 %: grid 8x64
    """
    listener = _LISTENER.get()
    if listener is not None:
        first, last = _PART.get()
        listener(line if share is None else f"{100 * (first + min(share, 1) * (last - first)):.0f} %: {line}")


def now_and_then(say_line: Callable[..., None]) -> Callable[..., None]:
    """Return a listener that passes on at most one line in `SELDOM_S`, the first line after that time.

    >>> now_and_then(print)("too soon")
    """
    last = [monotonic()]

    def report(*arguments: Any) -> None:
        if monotonic() - last[0] >= SELDOM_S:
            last[0] = monotonic()
            say_line(*arguments)

    return report


def by_signal(error: BaseException | None, *kinds: type[BaseException]) -> bool:
    """Return whether an exception, or one of its causes or contexts, is of these kinds; by default Ctrl-C or an exit.

    If C code such as numba's returns a result while an exception waits, Python raises a SystemError from this exception.

    >>> error = SystemError("returned a result with an exception set")
    >>> error.__cause__ = KeyboardInterrupt()
    >>> by_signal(error, KeyboardInterrupt), by_signal(SystemError("of another cause"))
    (True, False)
    """
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, kinds or (KeyboardInterrupt, SystemExit)):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
