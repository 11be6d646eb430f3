"""Files that are written or appended to whole or not at all, and temporary folders that are always removed in the end."""

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from os import PathLike
from pathlib import Path

from pencilmap.model.base.errors import MapfileError, PencilmapError

_TEMPORARY, _IN_USE = "pencilmap-", ".in-use"
_ASIDE = ".pencilmap-aside"


def write_whole(path: str | PathLike[str], content: str | bytes, error: type[PencilmapError] = MapfileError) -> None:
    """Write to a temporary file and rename it: a reader sees the old file or the new one, never a part.

    For a link the target file is replaced, not the link. Anything that is not a regular file, such as /dev/stdout or a
    pipe, is written directly. If a process is killed, the next call for the same file, a minute later or more, removes
    the temporary file.

    Parameters
    ----------
    path : str or PathLike
    content : str or bytes
        Text is written as UTF-8.
    error : type
        Class of the error.

    Raises
    ------
    error
        If the file cannot be written.
    """
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = Path(os.path.realpath(path))
        _remove_left_asides(target)
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=_aside_of(target), suffix=_ASIDE)
        try:
            with os.fdopen(handle, "wb") as file:
                with suppress(OSError):  # some network file systems have no locks
                    fcntl.flock(file, fcntl.LOCK_EX)
                file.write(data)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(aside, 0o666 & ~umask)
            os.replace(aside, target)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as problem:
        raise error(f"{path} cannot be written: {problem.strerror}") from problem


def _aside_of(target):
    """Return the beginning of the names of temporary files of `target`, short enough for every file system."""
    return f".{target.name[:50]}."


def _remove_left_asides(target):
    """Remove temporary files of killed processes: not locked, and older than a minute, long enough to take the lock."""
    for aside in target.parent.glob(f"{escape(_aside_of(target))}*{_ASIDE}"):
        with suppress(OSError):
            file = os.open(aside, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if time.time() - os.fstat(file).st_mtime > 60:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if the file is in use
                    os.unlink(aside)
            finally:
                os.close(file)


def append_whole(path: str | PathLike[str], text: str, error: type[PencilmapError] = MapfileError) -> None:
    """Append all of the text or nothing, in one piece even if other processes append to the file at the same time.

    Pipes and devices get as much text as they have room for.

    Parameters
    ----------
    path : str or PathLike
    text : str
    error : type
        Class of the error.

    Raises
    ------
    error
        If the file cannot be written, e.g. on a full disk.
    """
    left = memoryview(text.encode("utf-8"))
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            with suppress(OSError):  # some network file systems have no locks
                fcntl.flock(file, fcntl.LOCK_EX)
            before = os.fstat(file).st_size
            try:
                while left:
                    left = left[os.write(file, left):]
            except OSError:
                with suppress(OSError):
                    os.ftruncate(file, before)
                raise
        finally:
            os.close(file)
    except OSError as problem:
        raise error(f"{path} cannot be written: {problem.strerror}") from problem


def check_writable(path: str | PathLike[str], error: type[PencilmapError] = MapfileError) -> None:
    """Check before long work that `write_whole` can write a file. Leave nothing behind.

    Raises
    ------
    error
        If the file could not be written.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        return
    try:
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent) as file:
            file.write(b"x")  # a full disk has room for names
    except OSError as problem:
        raise error(f"{path} cannot be written: {problem.strerror}") from problem


def check_appendable(path: str | PathLike[str], error: type[PencilmapError] = MapfileError) -> None:
    """Check before long work that `append_whole` can write a file. Do not make a missing file.

    Raises
    ------
    error
        If the file could not be written.
    """
    if not Path(path).exists():
        check_writable(path, error)
        return
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK))
    except OSError as problem:
        if problem.errno != errno.ENXIO:  # a pipe that nobody reads yet
            raise error(f"{path} cannot be written: {problem.strerror}") from problem


@contextmanager
def temporary_folder(parent: str | None = None) -> Iterator[Path]:
    """Yield a folder that is removed at the end, or by the next call if this process is killed.

    A process holds a lock on a file in its folder. The system releases this lock however the process ends.
    """
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=parent, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        lock = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.rename(folder / "lock", folder / _IN_USE)  # no process sees the folder unlocked
            _remove_left_folders(folder.parent)
            yield folder
        finally:
            os.close(lock)


def _remove_left_folders(parent):
    """Remove folders of killed processes; leave folders alone that are in use or just being made."""
    for mark in parent.glob(f"{_TEMPORARY}*/{_IN_USE}"):
        with suppress(OSError):
            lock = os.open(mark, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(lock).st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if the folder is in use
                    shutil.rmtree(mark.parent, ignore_errors=True)
            finally:
                os.close(lock)
