"""Ctrl-C and SIGTERM are one sentence at any moment, while modules load too; nothing here takes time to load.

A module that is interrupted while it loads may tell of an error of its own, or of an exception that it ignores. So while the
command line loads, the process ends at once, for there is nothing to clean up; while a command loads what it needs, the
interruption waits until that is done. Code in C (numba, scipy) may replace the exception of a signal by one of its own, or
ignore it. So the signal itself is remembered: whatever exception ends a command after it is the interruption, and an ignored
one is raised again.
"""

import _thread
import os
import signal
import sys
import time
from types import FrameType
from typing import Any

_IMPORTING = "<frozen importlib._bootstrap>"
_AGAIN_S = 0.02
_SAID = {signal.SIGINT: "pencilmap: interrupted", signal.SIGTERM: "pencilmap: terminated"}
_loading = True
_waiting = 0  # the signal that waits for the end of an import, or to be raised again
_asked = 0    # the signal that a running command has got


def listen() -> None:
    """Begin; a process that ignores Ctrl-C, as in the background of a shell, goes on to do so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _got)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _got)
    sys.unraisablehook = _ignored


def running(command: bool) -> None:
    """Whether a command runs from here on, which cleans up when it is interrupted.

    Raises:
        KeyboardInterrupt: a command has ended before an interruption that waits.
    """
    global _loading, _waiting
    _loading = not command
    if _loading and _waiting:
        _waiting = 0
        raise KeyboardInterrupt


def asked() -> int:
    """The number of the signal that the command has got and not answered; 0 without one."""
    return _asked


def said(number: int) -> str:
    """The sentence for an end by that signal."""
    return _SAID[signal.Signals(number or signal.SIGINT)]


def _got(number: int, frame: FrameType | None) -> None:
    """The end asked for by a user, or by others, as a batch system: a command cleans up first."""
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


def _again(number):
    global _waiting
    _waiting = number
    _thread.start_new_thread(_press_again, ())


def _press_again():
    time.sleep(_AGAIN_S)
    if _waiting:
        os.kill(os.getpid(), _waiting)


def _ignored(unraisable: Any) -> None:
    """An exception that Python would ignore with a traceback: that of a signal is raised again where it can be caught."""
    if _asked and isinstance(unraisable.exc_value, (KeyboardInterrupt, SystemExit)):
        _again(_asked)
        return
    sys.__unraisablehook__(unraisable)
