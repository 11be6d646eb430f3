"""Turn Ctrl-C and SIGTERM into one sentence at any moment, even while modules load; this file loads at once.

A module that is interrupted while loading may raise its own error, or Python may ignore the exception. So when a signal
comes while the command line loads, the process ends at once, because there is nothing to clean up. When a command loads its
modules, the interruption waits for the end of the import. Code in C (numba, scipy) may replace or ignore the exception of a
signal. So this file remembers the signal: any exception that ends a command after the signal counts as the interruption, and
an ignored exception is raised again.
"""

import _thread
import os
import signal
import sys
import time
from types import FrameType

_IMPORTING = "<frozen importlib._bootstrap>"
_AGAIN_S = 0.02
_SAID = {signal.SIGINT: "pencilmap: interrupted", signal.SIGTERM: "pencilmap: terminated"}
_loading = True
_waiting = 0  # signal that waits for the end of an import, or for another raise
_asked = 0    # signal that a running command has received


def listen() -> None:
    """Start listening, unless the process ignores Ctrl-C, as in the background of a shell."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _got)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _got)
    sys.unraisablehook = _ignored


def running(command: bool) -> None:
    """Tell whether a command runs from now on, which cleans up after an interruption.

    Raises
    ------
    KeyboardInterrupt
        If a command ends while an interruption waits.
    """
    global _loading, _waiting
    _loading = not command
    if _loading and _waiting:
        _waiting = 0
        raise KeyboardInterrupt


def asked() -> int:
    """Return the number of the received and unanswered signal; 0 if there is none."""
    return _asked


def said(number: int) -> str:
    """Return the sentence for an end by that signal."""
    return _SAID[signal.Signals(number or signal.SIGINT)]


def _got(number: int, frame: FrameType | None) -> None:
    """Handle a signal from a user or from a batch system: a command cleans up first."""
    global _waiting, _asked
    if _loading:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, (said(number) + "\n").encode())
        os._exit(128 + number)
    _asked = number
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            _again(number)
            return
        frame = frame.f_back
    _waiting = 0
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _again(number: int) -> None:
    global _waiting
    _waiting = number
    _thread.start_new_thread(_press_again, ())


def _press_again() -> None:
    time.sleep(_AGAIN_S)
    if _waiting:
        os.kill(os.getpid(), _waiting)


def _ignored(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise the ignored exception of a signal again at a place that can catch it; Python would print a traceback."""
    if _asked and isinstance(unraisable.exc_value, (KeyboardInterrupt, SystemExit)):
        _again(_asked)
        return
    sys.__unraisablehook__(unraisable)
