"""Files that are written or appended to whole or not at all, and temporary folders that are always removed in the end."""

import errno
import fcntl
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from pencilmap.mapper.base.shell import path as word_of_path
from pencilmap.model.base.errors import MapfileError, PencilmapError
from pencilmap.model.base.reading import is_input

READER_S = 10.0  # to wait for the reader of a pipe
_TEMPORARY, _IN_USE = "pencilmap-", ".in-use"
_ASIDE = ".pencilmap-aside"


def write_whole(path: str | PathLike[str], content: str | bytes, error: type[PencilmapError] = MapfileError) -> None:
    """Write to a temporary file and rename it: a reader sees the old file or the new one, never a part.

    The file will keep its mode. For a link the target file is replaced, not the link. A file with several names (hard links)
    or of another user is written in place, after room for all of it is reserved. Anything that is not a regular file, such
    as a pipe, is written directly, and so is the file that is standard output or standard error of this process. If a
    process is killed, the next call for the same file, a minute later or more, will remove the temporary file.

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
        If the file cannot be written, is write-protected, or is an input of this command.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        state = _state(path, error)
        if state is not None and (not stat.S_ISREG(state.st_mode) or _standard(state)):
            with _opened(path, state) as file:
                _write_all(file, data)
        elif state is not None and _is_kept(path, state):
            _overwrite(path, data)
        else:
            _replace(Path(os.path.realpath(path)), data, state)
    except OSError as problem:
        raise error(f"{path} cannot be written: {problem.strerror}") from problem


def _state(path: str | PathLike[str], error: type[PencilmapError]) -> os.stat_result | None:
    """Return the state of a file that may be written, None if it does not exist."""
    def refusal(why: str) -> MapfileError | PencilmapError:
        return error(f"{path} cannot be written: {why}")

    try:
        state = os.stat(Path(path))
    except FileNotFoundError:
        if os.fspath(path).endswith(os.sep):
            raise refusal("Is a directory") from None
        return None
    mode = state.st_mode
    if stat.S_ISDIR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise refusal("Is a " + ("directory" if stat.S_ISDIR(mode) else "disk" if stat.S_ISBLK(mode) else "socket"))
    if is_input(path):
        raise refusal("it is an input of this command; name another file")
    if stat.S_ISREG(mode) and not _standard(state) and not (mode & 0o222 and os.access(path, os.W_OK)):
        raise refusal(f"it is write-protected; name another file, or type chmod u+w {word_of_path(path)}")
    return state


def _standard(state: Any) -> int | None:
    """Return standard output or standard error if it is that file, else None: only this file has the right position."""
    for file, stream in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):
            if os.path.samestat(os.fstat(file), state):
                stream.flush()
                return file
    return None


def _is_kept(path: str | Path | PathLike[str], state: Any) -> bool:
    """Whether a file is written in place: another file would lose other names or the owner, or has no room."""
    return state.st_nlink > 1 or state.st_uid != os.geteuid() or not os.access(Path(os.path.realpath(path)).parent, os.W_OK)


@contextmanager
def _opened(path: str | Path | PathLike[str], state: Any) -> Iterator[int]:
    """Yield a file that is written directly; wait for the reader of a pipe."""
    file = _standard(state)
    if file is not None:
        yield file
        return
    end = time.monotonic() + READER_S
    while file is None:
        try:
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as problem:
            if problem.errno != errno.ENXIO:
                raise
            if time.monotonic() > end:
                raise OSError(errno.ENXIO, "it is a pipe that nobody reads") from problem
            time.sleep(0.05)
    try:
        os.set_blocking(file, True)
        yield file
    finally:
        os.close(file)


def _write_all(file: Any, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left):]


def _lock(file: int | BinaryIO) -> None:
    with suppress(OSError):  # some network file systems have no locks
        fcntl.flock(file, fcntl.LOCK_EX)


def _overwrite(path: Path | str | PathLike[str], data: bytes) -> None:
    """Write a file in place: all, or nothing if there is no room."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        _lock(file)
        before = os.fstat(file).st_size
        try:
            os.posix_fallocate(file, 0, max(len(data), 1))
        except OSError as problem:
            os.ftruncate(file, before)
            if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # of a file system that reserves no room
                raise
        _write_all(file, data)
        os.ftruncate(file, len(data))
    finally:
        os.close(file)


def _replace(target: Path, data: bytes, state: Any) -> None:
    _remove_left_asides(target)
    handle, aside = tempfile.mkstemp(dir=target.parent, prefix=_aside_of(target), suffix=_ASIDE)
    try:
        with os.fdopen(handle, "wb") as file:
            _lock(file)
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(aside, stat.S_IMODE(state.st_mode) if state else 0o666 & ~umask)
        os.replace(aside, target)
    except BaseException:
        os.unlink(aside)
        raise


def _aside_of(target: Path) -> str:
    """Return the beginning of the names of temporary files of `target`, short enough for every file system."""
    return f".{target.name[:50]}."


def _remove_left_asides(target: Path) -> None:
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
    data = text.encode("utf-8")
    try:
        state = _state(path, error)
        if state is not None and (not stat.S_ISREG(state.st_mode) or _standard(state)):
            with _opened(path, state) as file:
                _write_all(file, data)
            return
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _lock(file)
            before = os.fstat(file).st_size
            try:
                _write_all(file, data)
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
    try:
        state = _state(path, error)
        if state is not None and (not stat.S_ISREG(state.st_mode) or _standard(state) or _is_kept(path, state)):
            return
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
    try:
        if _state(path, error) is None:
            check_writable(path, error)
    except OSError as problem:
        raise error(f"{path} cannot be written: {problem.strerror}") from problem


@contextmanager
def temporary_folder(parent: str | None = None) -> Iterator[Path]:
    """Yield a folder that is removed when the block ends, or by the next call if this process is killed.

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


def _remove_left_folders(parent: Path) -> None:
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
