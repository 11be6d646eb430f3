"""Compilation of the inner loops of searches by numba, with a cache on disk, so that only the first search compiles.

Numba caches beside the source, or in the user's cache folder. If it can write to neither, the cache is a folder of the user
among the temporary files. Without any cache every process will compile again. Numba numbers the files of a function in an
index, which it writes before the file. So two processes at once, or a process that ends in between, leave an index that
names code for other arguments or for an older source; such code reads and writes anywhere. Here the name of a file is a
digest of arguments, source and machine instead, and the file begins with the digest of its code. Code whose file is damaged
or cannot be read is compiled and stored again; if nothing can be stored, the code is only used.
"""

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core.caching import IndexDataCacheFile

from pencilmap.mapper.base.files import write_whole
from pencilmap.mapper.base.progress import say
from pencilmap.model.base.errors import PencilmapError
from pencilmap.model.base.reading import noting_inputs, read_whole

COMPILING = "compiling the searches, once: about ten seconds"
_DIGEST_BYTES = 32


class _Told(event.Listener):  # type: ignore[misc]  # numba has no types
    """Report the first compilation of a process."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: object) -> None:
        if not self.told:
            say(COMPILING)
        self.told = True

    def on_end(self, event: object) -> None:
        pass


@cache
def _listen() -> None:
    event.register("numba:compile", _Told())


@cache
def _tell_unstored(folder: str, why: object) -> None:
    say(f"every command will compile again, because {folder} cannot store the searches: {why}")


class _Stored(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """The stored code of a function: a file for each signature, without an index."""

    def __init__(self, numbered: IndexDataCacheFile) -> None:
        self._base = numbered._index_name.removesuffix(".nbi")
        super().__init__(numbered._cache_path, self._base, numbered._source_stamp)

    def _name(self, key: object) -> str:
        digest = hashlib.sha256(repr((self._version, self._source_stamp, key)).encode()).hexdigest()
        return f"{self._base}.{digest[:24]}.nbc"

    def save(self, key: object, data: object) -> None:
        code = self._dump(data)
        try:
            write_whole(self._data_path(self._name(key)), hashlib.sha256(code).digest() + code, PencilmapError)
        except PencilmapError as problem:
            _tell_unstored(self._cache_path, getattr(problem.__cause__, "strerror", problem))

    def load(self, key: object) -> Any:
        try:
            with noting_inputs():  # not an input of the command: a damaged file is replaced
                content = read_whole(self._data_path(self._name(key)), PencilmapError)
            digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            return pickle.loads(code) if digest == hashlib.sha256(code).digest() else None
        except Exception:  # whatever is wrong with the file, the code is compiled and stored again
            return None


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with numba when first called, or load the stored code."""
    _listen()
    for use_folder in (None, _use_private_folder):  # None: the folder of numba
        try:
            if use_folder is None or use_folder():
                dispatcher: Any = numba.njit(cache=True)(function)
                if dispatcher is not function:  # with NUMBA_DISABLE_JIT, numba returns the function itself
                    dispatcher._cache._cache_file = _Stored(dispatcher._cache._cache_file)
                return dispatcher
        except RuntimeError:  # numba has no folder for a cache
            continue
    return numba.njit(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function a part of each compiled function that calls it. Use it for few lines that are called very often."""
    function_: Callable[..., Any] = numba.njit(inline="always")(function)
    return function_


def _use_private_folder() -> bool:
    folder = private_folder()
    if folder is not None:
        numba.config.CACHE_DIR = str(folder)
    return folder is not None


def private_folder() -> Path | None:
    """Return a folder among the temporary files that only this user can write, or None. Stored code is run when loaded."""
    folder = Path(tempfile.gettempdir()) / f"pencilmap-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
    except OSError:
        return None
    is_private = folder.is_dir() and not folder.is_symlink() and state.st_uid == os.getuid() and not state.st_mode & 0o077
    return folder if is_private else None


@compiled
def copy_into(target: np.ndarray, source: np.ndarray) -> None:
    """Copy a row of numbers. For ``target[:] = source`` numba would compile messages about shapes, which takes seconds."""
    for k in range(len(source)):
        target[k] = source[k]


@compiled
def random_bits(state: np.ndarray) -> Any:
    """Return the next 64 random bits (xorshift64*; S. Vigna, ACM Trans. Math. Softw. 42 (2016)); state has shape (1,)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@compiled
def random_below(state: np.ndarray, n: int) -> Any:
    """Return a random number below n, 0 for n = 0."""
    return np.int64((random_bits(state) >> np.uint64(33)) % np.uint64(max(n, 1)))
