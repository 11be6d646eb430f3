"""All input from elsewhere passes here: files, and the parsers that may expand their content.

A file has a budget before its content is used: bytes (`read_whole`), depth and expansion (`parse_json`, `parse_yaml`,
`parse_xml`, ... and `MOST_HOSTS`), and seconds (`reading`). So a file of 1 MB will be read or refused within two seconds and
half a gigabyte, and larger files in proportion. Every exception of a parser becomes the error of its reader.
`tests/test_layers.py` makes sure that no other module calls a parser or reads a file that a user names.
"""

import contextlib
import csv
import json
import os
import select
import signal
import stat
import sys
import threading
import time
import tomllib
from ast import literal_eval
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite
from os import PathLike
from pathlib import Path
from types import FrameType
from typing import Any
from warnings import catch_warnings
from xml.etree import ElementTree

from pencilmap.model.base.errors import PencilmapError, reason

MOST_BYTES = 1 << 28  # most bytes of any file
MOST_TOML_BYTES = 1 << 17  # ten times the largest machine file of the package; the parser is slow
MOST_YAML_EVENTS = 50_000
MOST_DEPTH = 64  # depth of brackets, if a parser would take any depth
MOST_HOSTS = 1 << 18  # in one file; the largest machines have 160,000 nodes
MOST_DIGITS = 40  # of an integer in JSON
SMALLEST, LARGEST = 1e-60, 1e60  # real numbers other than 0; products of a few such numbers are finite
MOST_UNITS = 1000  # different bandwidths in a graph
SECONDS = 3.0  # seconds of computing for each started megabyte; a correct file takes a part of this
NO_WRITER_S, SILENCE_S, TOTAL_S = 1.0, 10.0, 60.0  # limits of waiting for a pipe


class _TooLong(Exception):
    """The seconds are used up."""


@contextmanager
def reading(label: str, error: type[PencilmapError], size: int = 0) -> Iterator[None]:
    """Turn every exception of a parser in this block into `error` with the name of the input: no file ends in a traceback.

    Parameters
    ----------
    label : str
        Name of the input.
    error : type
        Class of the error.
    size : int
        Bytes of the input. The block may compute for `SECONDS` for each megabyte.

    Raises
    ------
    error
        If the block raises another exception or takes too long.

    Examples
    --------
    >>> from pencilmap.model.base.errors import MachineError
    >>> try:
    ...     with reading("a.toml", MachineError):
    ...         print(1 / 0)
    ... except MachineError as error:
    ...     print(error)
    a.toml cannot be read: division by zero (ZeroDivisionError)
    """
    seconds = SECONDS * (1 + (size >> 20))
    try:
        with _limited(seconds):
            yield
    except PencilmapError:
        raise
    except _TooLong as problem:
        raise error(f"{label} cannot be read: it takes more than {seconds:g} s of computing, which no file of its size "
                    "needs; divide it") from problem
    except Exception as problem:
        what = in_a_line(problem) or "no more is known"
        raise error(f"{label} cannot be read: {what} ({type(problem).__name__})") from problem


def in_a_line(problem: Exception | str) -> str:
    """Return a text of several lines, such as the message of a parser, as a line of at most 200 characters."""
    return " ".join(str(problem).split())[:200]


@contextmanager
def _limited(seconds: float) -> Iterator[Any]:
    """Raise `_TooLong` in the block after `seconds` of computing, and again after each `seconds` more.

    Repeat because an exception in a finalizer or during garbage collection is lost. The limit has no effect in threads
    and in blocks inside others.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getitimer(signal.ITIMER_VIRTUAL)[0]:
        yield
        return

    def too_long(number: int, frame: FrameType | None) -> None:
        # Do not interrupt an import: its time does not depend on the file, and half a module stays broken. Do not interrupt
        # an error that leaves a block: nobody would catch an exception raised here, or the timer would go on.
        leaves = frame is not None and (frame.f_code.co_filename == contextlib.__file__ or frame.f_code is own_code)
        if not leaves and not _is_import(frame):
            raise _TooLong

    own_code = sys._getframe().f_code
    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before if before is not None else signal.SIG_DFL)


def _is_import(frame: FrameType | None) -> bool:
    """Return whether a frame, or a frame that called it, loads a module."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


# ---- inputs ----------------------------------------------------------------------------------------------------------

_INPUTS: ContextVar[set[tuple[int, int]] | None] = ContextVar("inputs", default=None)  # device and number of each file


@contextmanager
def noting_inputs() -> Iterator[None]:
    """Inside this block, `is_input` knows the files that are read, so that no command replaces its own input."""
    token = _INPUTS.set(set())
    try:
        yield
    finally:
        _INPUTS.reset(token)


def note_input(file: str | PathLike[str] | int) -> None:
    """Note a regular file, by path or open file, as an input; other files may be read and written at once."""
    noted = _INPUTS.get()
    if noted is not None:
        state = os.stat(file)
        if stat.S_ISREG(state.st_mode):
            noted.add((state.st_dev, state.st_ino))


def is_input(path: str | PathLike[str]) -> bool:
    """Return whether a file was read in the present block of `noting_inputs`, under this name or another."""
    noted = _INPUTS.get()
    if not noted:
        return False
    state = os.stat(path)
    return (state.st_dev, state.st_ino) in noted


# ---- bytes -----------------------------------------------------------------------------------------------------------


def read_whole(path: str | PathLike[str], error: type[PencilmapError], most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file or pipe.

    Parameters
    ----------
    path : str or PathLike
    error : type
        Class of the error.
    most : int
        Most bytes to read.

    Raises
    ------
    error
        If the file cannot be read, is longer, has no end (``/dev/zero``), or is a pipe without a writer.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # or a pipe without a writer would wait here
        try:
            content = _read(handle, most, lambda why: error(f"{path} cannot be read: {why}"))
        finally:
            os.close(handle)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        why = reason(problem) if isinstance(problem, OSError) else problem
        raise error(f"{path} cannot be read: {why}") from problem
    return content


def _read(handle: int, most: int, refusal: Callable[[str], PencilmapError]) -> bytes:
    about = os.fstat(handle)
    note_input(handle)
    too_long = f"it has more than {most >> 20} MB" if most >> 20 else f"it has more than {most} bytes"
    if stat.S_ISREG(about.st_mode) and about.st_size > most:
        raise refusal(too_long)
    if stat.S_ISDIR(about.st_mode) or stat.S_ISBLK(about.st_mode):
        raise refusal("it is a directory" if stat.S_ISDIR(about.st_mode) else "it is a device")
    if stat.S_ISCHR(about.st_mode) and not os.isatty(handle):
        if os.read(handle, 1):
            raise refusal("it is a device, which has no end")
        return b""
    os.set_blocking(handle, os.isatty(handle))
    wait = _pipe_waiter(handle, refusal) if stat.S_ISFIFO(about.st_mode) else None
    parts, n_bytes = [], 0
    while (part := wait() if wait else os.read(handle, min(1 << 20, most + 1 - n_bytes))):
        parts.append(part)
        n_bytes += len(part)
        if n_bytes > most:
            raise refusal(too_long)
    return b"".join(parts)


def _pipe_waiter(handle: int, refusal: Callable[[str], PencilmapError]) -> Callable[[], bytes]:
    """Return a function that gives the next bytes of a pipe, and b"" at its end, without waiting forever."""
    poll, begin, last, written = select.poll(), time.monotonic(), time.monotonic(), False
    poll.register(handle, select.POLLIN)

    def read() -> bytes:
        nonlocal last, written
        while True:
            ready = poll.poll(100)
            try:
                part = os.read(handle, 1 << 16)
                if part:
                    last, written = time.monotonic(), True
                if part or written or any(event & select.POLLHUP for _, event in ready):
                    return part
                if time.monotonic() - begin > NO_WRITER_S:
                    raise refusal("it is a pipe that nobody writes to")
            except BlockingIOError:  # another process has the pipe open to write
                if time.monotonic() - last > SILENCE_S or time.monotonic() - begin > TOTAL_S:
                    raise refusal(f"it is a pipe that ends neither in {TOTAL_S:g} s nor writes in {SILENCE_S:g} s") from None
    return read


def own_table(name: str) -> list[dict[str, str]]:
    """Return the lines of a file of `model/data` by the names of its columns; comments in the file name its source."""
    text = (Path(__file__).parents[1] / "data" / name).read_text("utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


# ---- depth and expansion ---------------------------------------------------------------------------------------------


def parse_json(text: str, **options: Any) -> Any:
    """Return the value of a JSON text. The parser knows no references, and refuses depth itself.

    Raises
    ------
    ValueError
        If the text is not JSON, or a number is not finite or outside of the range of `SMALLEST` to `LARGEST`.
    """
    return json.loads(text, parse_int=_whole, parse_float=real, parse_constant=real, **options)


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"the number {text[:MOST_DIGITS]}... has {len(text)} digits; at most {MOST_DIGITS} are read")
    return int(text)


def real(text: str) -> float:
    """Return a real number of a file: 0, or of a size from `SMALLEST` to `LARGEST`. Raises ValueError."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"the number {text[:40]} is not finite")
    if value and not SMALLEST <= abs(value) <= LARGEST:
        raise ValueError(f"the number {text[:40]} is not 0 or {SMALLEST:g} to {LARGEST:g}")
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text.

    Raises
    ------
    ValueError
        If the text has more than `MOST_TOML_BYTES` characters or is not TOML.
    """
    if len(text) > MOST_TOML_BYTES:
        raise ValueError(f"it has more than {MOST_TOML_BYTES} characters")
    return tomllib.loads(text, parse_float=real)


def parse_literal(text: str) -> Any:
    """Return the value of a Python literal."""
    with catch_warnings(action="ignore"):  # about invalid escape sequences
        return literal_eval(text)


def parse_xml(text: str) -> Any:
    """Return the root of XML without definitions of entities or attributes, which may stand for any number of characters.

    Raises
    ------
    ValueError
        If the text has such definitions.
    """
    check_xml(text)
    return ElementTree.fromstring(text)


def check_xml(text: str) -> None:
    """Raise ValueError if XML defines entities or attributes, which each element then has, or GraphML has many graphs.

    Use this check for texts that another parser reads.

    >>> check_xml("<graphml><graph/></graphml>")
    """
    if "<!ENTITY" in text or "<!ATTLIST" in text:
        raise ValueError("it defines entities or attributes, which are not read")
    if text.count("<graph") > MOST_DEPTH:  # networkx makes all graphs, and the reader takes only the first
        raise ValueError("it has more than one graph")


def parse_yaml(text: str) -> Any:
    """Return YAML as lists, dicts and texts, with numbers as text.

    Raises
    ------
    ValueError
        For anchors and aliases, with which a few lines stand for any number of values, and for too many or too deep
        entries.

    Examples
    --------
    >>> parse_yaml("a: {b: 07}")
    {'a': {'b': '07'}}
    """
    import yaml  # slow to import, and few files need it

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=loader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ValueError("it has anchors or aliases (& and *), which are not read")
        if depth > MOST_DEPTH or count > MOST_YAML_EVENTS:
            raise ValueError(f"it is nested more than {MOST_DEPTH} deep" if depth > MOST_DEPTH
                             else f"it has more than {MOST_YAML_EVENTS} entries")
    return yaml.load(text, Loader=loader)
