"""Files that are written whole or not at all, and temporary folders of which none is left for good."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from pencilmap.model.errors import MapfileError, PencilmapError

_TEMPORARY, _IN_USE = "pencilmap-", ".in-use"


def write_whole(path: str | PathLike[str], content: str | bytes, error: type[PencilmapError] = MapfileError) -> None:
    """Write to a temporary file and rename it: a reader sees the old file or the new one, never a part.

    The file behind a link is replaced, not the link; anything that is not a regular file, such as /dev/stdout or a pipe, is
    written directly. Text is written as UTF-8. Raises `error` when the file cannot be written.
    """
    path = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        target = Path(os.path.realpath(path))
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
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


def check_writable(path: str | PathLike[str], error: type[PencilmapError] = MapfileError) -> None:
    """Ask before long work, not after: raises `error` where `write_whole` could not make its file. Leaves nothing behind."""
    path = Path(path)
    if path.exists() and not path.is_file():
        return
    try:
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            pass
    except OSError as problem:
        raise error(f"{path} cannot be written: {problem.strerror}") from problem


@contextmanager
def temporary_folder(parent: str | None = None) -> Iterator[Path]:
    """A folder that is removed at the end, and by the next call where this process is killed.

    Who uses a folder holds a lock on a file in it, which the system releases however the process ends.
    """
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=parent, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        lock = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.rename(folder / "lock", folder / _IN_USE)  # nobody sees it unlocked
            _remove_left_folders(folder.parent)
            yield folder
        finally:
            os.close(lock)


def _remove_left_folders(parent):
    """Those of killed processes; another's, or one that is just being made, is left alone."""
    for mark in parent.glob(f"{_TEMPORARY}*/{_IN_USE}"):
        with suppress(OSError):
            lock = os.open(mark, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(lock).st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails where it is in use
                    shutil.rmtree(mark.parent, ignore_errors=True)
            finally:
                os.close(lock)
