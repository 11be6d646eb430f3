"""Files that are written whole or not at all."""

import os
import tempfile
from os import PathLike
from pathlib import Path

from pencilmap.model.errors import MapfileError, PencilmapError


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
