"""Ctrl-C is one sentence at any moment, while modules load too; nothing here takes time to load.

A module that is interrupted while it loads may tell of an error of its own, or of an exception that it ignores. So while the
command line loads, the process ends at once, for there is nothing to clean up; while a command loads what it needs, the
interruption waits until that is done.
"""

import _thread
import os
import signal
import sys
import time
from types import FrameType

_IMPORTING = "<frozen importlib._bootstrap>"
_AGAIN_S = 0.02
_loading = True
_waiting = False  # whether an interruption waits for the end of an import


def listen() -> None:
    """Begin; a process that ignores Ctrl-C, as in the background of a shell, goes on to do so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _pressed)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def running(command: bool) -> None:
    """Whether a command runs from here on, which cleans up when it is interrupted.

    Raises:
        KeyboardInterrupt: a command has ended before an interruption that waits.
    """
    global _loading, _waiting
    _loading = not command
    if _loading and _waiting:
        _waiting = False
        raise KeyboardInterrupt


def _pressed(number: int, frame: FrameType | None) -> None:
    global _waiting
    if _loading:
        os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"pencilmap: interrupted\n")
        os._exit(130)
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            _waiting = True
            _thread.start_new_thread(_press_again, ())
            return
        frame = frame.f_back
    _waiting = False
    raise KeyboardInterrupt


def _terminated(number: int, frame: FrameType | None) -> None:
    """The end asked for by others, as a batch system: a command cleans up first."""
    if _loading:
        os._exit(128 + number)
    raise SystemExit(128 + number)


def _press_again():
    time.sleep(_AGAIN_S)
    if _waiting:
        os.kill(os.getpid(), signal.SIGINT)
